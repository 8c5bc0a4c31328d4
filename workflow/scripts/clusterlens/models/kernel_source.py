"""C source of the neuron kernels: batch normalisation and a leaky integrate-and-fire neuron, fused over time.

Arrays are row-major (T, M, C): time steps, neurons of one channel, channels. Where a kernel sums over rows, threads
share the channels out and every channel is summed in one order, so results do not depend on the number of threads.
Without `-ffp-contract=off` the membrane potential would be rounded otherwise than by torch, and spikes could differ.
"""

from clusterlens.models.event_source import EVENTS
from clusterlens.native import INTEGERS, VECTORS, Library, in_precision

MODES = {  # how the rate charges the membrane, and whether it is learned
    "divide": ("/", False),  # by tau
    "multiply": ("*", False),  # by 1 / tau
    "learn": ("*", True),
}

HEADER = r"""
#include <math.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#define CHUNK 64
#define BLOCK 32
#define ALWAYS static inline __attribute__((always_inline))

/* This thread's part of `count`, cut at multiples of 16. */
static void share(long count, long *from, long *to) {
    long threads = 1, thread = 0;
#ifdef _OPENMP
    threads = omp_get_num_threads();
    thread = omp_get_thread_num();
#endif
    long each = ((count + 15) / 16 + threads - 1) / threads * 16;
    *from = thread * each < count ? thread * each : count;
    *to = *from + each < count ? *from + each : count;
}
"""

LANES = r"""
/* A vector of so many numbers; what lies behind them is neither read nor written. */
ALWAYS vector_REAL load_REAL(const REAL *from, long lanes) {
    if (lanes == LANES_REAL) return *(const anywhere_REAL *)from;
    vector_REAL x = {0};
    for (int i = 0; i < lanes; i++) x[i] = from[i];
    return x;
}

ALWAYS void store_REAL(REAL *to, long lanes, vector_REAL x) {
    if (lanes == LANES_REAL)
        *(anywhere_REAL *)to = x;
    else
        for (int i = 0; i < lanes; i++) to[i] = x[i];
}
"""

EXPONENTIAL = r"""
/* e^-|x|, relative error 2e-7 near 0 and below 4e-6, and 0 below 2^-80, whose products could be too small to be normal:
   2^(n + r), a polynomial in r whose terms do not wait for one another, n into the exponent bits. */
ALWAYS vector_float exponential_float(vector_float x) {
    x = (vector_float)((bits_float)(x * 1.44269504f) | (int)0x80000000);
    bits_float far = x <= -80.0f; /* false for a number that is none, which so is passed on */
    x = (vector_float)((bits_float)x & ~far);
    vector_float rounded = x + 12582912.0f, r = x - (rounded - 12582912.0f), square = r * r;
    vector_float low = 1.00000007f + r * 0.693146967f, middle = 0.240221197f + r * 0.0555071327f;
    vector_float p = low + square * (middle + square * (0.00967554134f + r * 0.00132764726f));
    return (vector_float)((bits_float)(p * (vector_float)(((bits_float)rounded + 127) << 23)) & ~far);
}

ALWAYS vector_double exponential_double(vector_double x) {
    for (int i = 0; i < LANES_double; i++) x[i] = exp(-fabs(x[i]));
    return x;
}
"""

NORM = r"""
/* Mean and biased variance of each column, blockwise in two passes, blocks merged by Chan's formula. */
static void moments_REAL(const REAL *restrict y, long rows, long C, double *restrict mean, double *restrict variance) {
#pragma omp parallel
    {
        long c0, c1;
        share(C, &c0, &c1);
        for (long c = c0; c < c1; c++) mean[c] = variance[c] = 0;
        for (long m = 0; m < rows; m += BLOCK) {
            long n = rows - m < BLOCK ? rows - m : BLOCK;
            for (long c = c0; c < c1; c += CHUNK) {
                long width = c1 - c < CHUNK ? c1 - c : CHUNK;
                REAL sum[CHUNK] = {0}, square[CHUNK] = {0};
                for (long i = 0; i < n; i++)
                    for (long j = 0; j < width; j++) sum[j] += y[(m + i) * C + c + j];
                for (long j = 0; j < width; j++) sum[j] /= n;
                for (long i = 0; i < n; i++)
                    for (long j = 0; j < width; j++) {
                        REAL d = y[(m + i) * C + c + j] - sum[j];
                        square[j] += d * d;
                    }
                for (long j = 0; j < width; j++) {
                    double delta = sum[j] - mean[c + j];
                    mean[c + j] += delta * n / (m + n);
                    variance[c + j] += square[j] + delta * delta * m * n / (m + n);
                }
            }
        }
        for (long c = c0; c < c1; c++) variance[c] /= rows;
    }
}

/* From the moments of `fold` groups of C columns to those of all rows, the running statistics (momentum, unbiased
   variance), and the factors of batch normalisation: scale, shift, mean, 1 / standard deviation, each `fold` times. */
static void factors_REAL(const double *restrict means, const double *restrict variances, const REAL *restrict weight,
                  const REAL *restrict bias, REAL *restrict running_mean, REAL *restrict running_variance,
                  REAL *restrict out, long rows, long fold, long C, REAL eps, REAL momentum) {
    for (long c = 0; c < C; c++) {
        double mean = 0, variance = 0;
        for (long f = 0; f < fold; f++) mean += means[f * C + c] / fold;
        for (long f = 0; f < fold; f++) {
            double d = means[f * C + c] - mean;
            variance += (variances[f * C + c] + d * d) / fold;
        }
        double unbiased = rows > 1 ? variance * rows / (rows - 1) : variance;
        running_mean[c] += momentum * (mean - running_mean[c]);
        running_variance[c] += momentum * (unbiased - running_variance[c]);
        double inverse = 1 / sqrt(variance + eps), scale = weight[c] * inverse;
        for (long f = 0; f < fold; f++) {
            out[f * C + c] = scale;
            out[(fold + f) * C + c] = bias[c] - mean * scale;
            out[(2 * fold + f) * C + c] = mean;
            out[(3 * fold + f) * C + c] = inverse;
        }
    }
}

/* From the sums of `fold` groups of C columns to the gradients of bias and weight, and their means, `fold` times. */
static void totals_REAL(const double *restrict to_shift, const double *restrict to_scale, REAL *restrict d_bias,
                 REAL *restrict d_weight, REAL *restrict mean_shift, REAL *restrict mean_scale, long rows, long fold,
                 long C) {
    for (long c = 0; c < C; c++) {
        double shift = 0, scale = 0;
        for (long f = 0; f < fold; f++) {
            shift += to_shift[f * C + c];
            scale += to_scale[f * C + c];
        }
        d_bias[c] = shift;
        d_weight[c] = scale;
        for (long f = 0; f < fold; f++) {
            mean_shift[f * C + c] = shift / rows;
            mean_scale[f * C + c] = scale / rows;
        }
    }
}

/* Batch normalisation backwards, in place: dy = scale (dx - mean(dx) - yhat mean(dx yhat)). */
static void normalise_REAL(const REAL *restrict y, REAL *restrict dx, long rows, long C, const REAL *restrict scale,
                    const REAL *restrict mean, const REAL *restrict inverse,
                    const REAL *restrict mean_shift, const REAL *restrict mean_scale) {
#pragma omp parallel
    {
        long m0, m1;
        share(rows, &m0, &m1);
        for (long m = m0; m < m1; m++)
            for (long c = 0; c < C; c++) {
                REAL normalised = (y[m * C + c] - mean[c]) * inverse[c];
                dx[m * C + c] = scale[c] * (dx[m * C + c] - mean_shift[c] - normalised * mean_scale[c]);
            }
    }
}
"""

NEURON = r"""
/* x = scale y + shift, then
   H[t] = V[t-1] + (X[t] - V[t-1]) / tau, S[t] = [H[t] >= threshold], V[t] = (1 - S[t]) H[t]. */
void spikes_REAL_MODE(const REAL *restrict y, const REAL *restrict scale, const REAL *restrict shift,
                      REAL *restrict s, long T, long M, long C, REAL rate, REAL threshold) {
#pragma omp parallel
    {
        long m0, m1;
        share(M, &m0, &m1);
        for (long m = m0; m < m1; m++)
            for (long c = 0; c < C; c += CHUNK) {
                long width = C - c < CHUNK ? C - c : CHUNK;
                REAL v[CHUNK] = {0}, a[CHUNK], b[CHUNK];
                for (long j = 0; j < width; j++) {
                    a[j] = scale ? scale[c + j] : 1;
                    b[j] = shift ? shift[c + j] : 0;
                }
                for (long t = 0; t < T; t++) {
                    const REAL *restrict in = y + (t * M + m) * C + c;
                    REAL *restrict out = s + (t * M + m) * C + c;
                    for (long j = 0; j < width; j++) {
                        REAL x = in[j] * a[j] + b[j];
                        REAL h = v[j] + (x - v[j]) BY rate;
                        out[j] = h >= threshold;
                        v[j] = (1 - out[j]) * h;
                    }
                }
            }
    }
}

/* One neuron per lane, run again and then backwards, the reset detached:
   with s'(u) = alpha sig(alpha u) (1 - sig(alpha u)),
   dH[t] = dS[t] s'(H[t] - threshold) + (1 - S[t]) dV[t], dX[t] = dH[t] / tau, dV[t-1] = dH[t] - dH[t] / tau.
   Writes dX; adds to `sums` dX, dX times the normalised y and, if tau is learned, dH (X - V). */
ALWAYS void neurons_REAL_MODE(const REAL *restrict y, const REAL *restrict ds, REAL *restrict dx, long T, long step,
                              long lanes, const vector_REAL factors[4], REAL rate, REAL threshold, REAL alpha,
                              vector_REAL sums[3]) {
    vector_REAL zero = {0}, v = zero, dv = zero, h[T], scale = factors[0], shift = factors[1];
    for (long t = 0; t < T; t++) {
        vector_REAL x = load_REAL(y + t * step, lanes) * scale + shift;
        h[t] = v + (x - v) BY rate;
        v = select_REAL(h[t] >= threshold, zero, h[t]);
    }
    for (long t = T - 1; t >= 0; t--) {
        vector_REAL in = load_REAL(y + t * step, lanes), e = exponential_REAL(alpha * (h[t] - threshold));
        vector_REAL dh = load_REAL(ds + t * step, lanes) * (alpha * e / ((1 + e) * (1 + e)))
                       + select_REAL(h[t] >= threshold, zero, dv);
        vector_REAL d = dh BY rate;
        dv = dh - d;
        store_REAL(dx + t * step, lanes, d);
        sums[0] += d;
        sums[1] += d * ((in - factors[2]) * factors[3]);
        if (LEARNED) {
            vector_REAL before = t ? select_REAL(h[t - 1] >= threshold, zero, h[t - 1]) : zero;
            sums[2] += dh * (in * scale + shift - before);
        }
    }
}

/* The gradient of all channels; to_shift, to_scale and to_rate are the three sums of `neurons` over rows. */
void gradient_REAL_MODE(const REAL *restrict y, const REAL *restrict scale, const REAL *restrict shift,
                        const REAL *restrict mean, const REAL *restrict inverse, const REAL *restrict ds,
                        REAL *restrict dx, long T, long M, long C, REAL rate, REAL threshold, REAL alpha,
                        double *restrict to_shift, double *restrict to_scale, double *restrict to_rate) {
    const REAL *given[4] = {scale, shift, mean, inverse};
    double *totals[3] = {to_shift, to_scale, to_rate};
#pragma omp parallel
    {
        long c0, c1;
        share(C, &c0, &c1);
        for (int s = 0; s < 3; s++)
            for (long c = c0; c < c1; c++) totals[s][c] = 0;
        for (long m0 = 0; m0 < M; m0 += BLOCK)
            for (long c = c0; c < c1; c += CHUNK) {
                long chunk = c1 - c < CHUNK ? c1 - c : CHUNK, m1 = m0 + BLOCK < M ? m0 + BLOCK : M;
                vector_REAL factors[CHUNK / LANES_REAL][4], sums[CHUNK / LANES_REAL][3] = {0};
                for (long i = 0; i < CHUNK; i++)
                    for (int f = 0; f < 4; f++)
                        factors[i / LANES_REAL][f][i % LANES_REAL] = given[f] && i < chunk ? given[f][c + i] : f == 0;
                for (long m = m0; m < m1; m++)
                    for (long i = 0; i < chunk; i += LANES_REAL) {
                        long at = m * C + c + i, j = i / LANES_REAL;
                        if (chunk - i >= LANES_REAL) /* a number known to the compiler */
                            neurons_REAL_MODE(y + at, ds + at, dx + at, T, M * C, LANES_REAL, factors[j], rate,
                                              threshold, alpha, sums[j]);
                        else
                            neurons_REAL_MODE(y + at, ds + at, dx + at, T, M * C, chunk - i, factors[j], rate,
                                              threshold, alpha, sums[j]);
                    }
                for (long i = 0; i < chunk; i++)
                    for (int s = 0; s < 3; s++) totals[s][c + i] += sums[i / LANES_REAL][s][i % LANES_REAL];
            }
    }
}

/* Batch normalisation and the neuron: (T M, C), `fold` rows of C / fold channels side by side. Writes the moments of
   each column, the factors of the normalisation, and the spikes; updates the running statistics. */
void forward_REAL_MODE(const REAL *restrict y, const REAL *restrict weight, const REAL *restrict bias,
                       REAL *restrict running_mean, REAL *restrict running_variance, double *restrict moments,
                       REAL *restrict factors, REAL *restrict s, long T, long M, long C, long fold, REAL eps,
                       REAL momentum, REAL rate, REAL threshold) {
    moments_REAL(y, T * M, C, moments, moments + C);
    factors_REAL(moments, moments + C, weight, bias, running_mean, running_variance, factors, T * M * fold, fold,
                 C / fold, eps, momentum);
    spikes_REAL_MODE(y, factors, factors + C, s, T, M, C, rate, threshold);
}

/* The same backwards. Writes dy, the three sums of the gradient, and to `out` the gradients of bias and weight and the
   two means of the normalisation. */
void backward_REAL_MODE(const REAL *restrict y, const REAL *restrict factors, const REAL *restrict ds,
                        REAL *restrict dy, double *restrict sums, REAL *restrict out, long T, long M, long C, long fold,
                        REAL rate, REAL threshold, REAL alpha) {
    const REAL *mean = factors + 2 * C, *inverse = factors + 3 * C;
    REAL *d_bias = out, *d_weight = out + C / fold, *mean_shift = out + 2 * (C / fold), *mean_scale = mean_shift + C;
    gradient_REAL_MODE(y, factors, factors + C, mean, inverse, ds, dy, T, M, C, rate, threshold, alpha, sums, sums + C,
                       sums + 2 * C);
    totals_REAL(sums, sums + C, d_bias, d_weight, mean_shift, mean_scale, T * M * fold, fold, C / fold);
    normalise_REAL(y, dy, T * M, C, factors, mean, inverse, mean_shift, mean_scale);
}
"""


def source() -> str:
    """The whole unit: single and double precision, each for every mode of the neuron."""
    parts = [HEADER, *(in_precision(VECTORS + LANES, real) for real in INTEGERS), EXPONENTIAL]
    for real in INTEGERS:
        parts.append(in_precision(NORM + EVENTS, real))
        for mode, (sign, learned) in MODES.items():
            neuron = NEURON.replace("MODE", mode).replace(" BY ", f" {sign} ").replace("LEARNED", str(int(learned)))
            parts.append(in_precision(neuron, real))
    return "".join(parts)


KERNELS = Library(
    "neurons",
    source,
    flags=("-ffp-contract=off", "-fno-tree-pre"),
    otherwise="neurons run on spikingjelly's own code",
)
