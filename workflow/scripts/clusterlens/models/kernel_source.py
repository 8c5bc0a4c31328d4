"""C source of the neuron kernels: batch normalisation and a leaky integrate-and-fire neuron, fused over time.

Arrays are row-major (T, M, C): time steps, neurons of one channel, channels. Where a kernel sums over rows, threads
share the channels out and every channel is summed in one order, so results do not depend on the number of threads.
Without `-ffp-contract=off` the membrane potential would be rounded otherwise than by torch, and spikes could differ.
"""

from clusterlens.models.event_source import EVENTS
from clusterlens.native import Library

HEADER = r"""
#include <math.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#define CHUNK 64
#define BLOCK 32

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

/* e^x for x <= 0, to about one unit in the last place, and 0 below -87:
   x = n ln 2 + r, a polynomial in r, n into the exponent bits. */
static inline float exponential_float(float x) {
    float near = x > -87.0f; /* a factor instead of a branch, which would keep the loop from being vectorised */
    x *= near;
    float n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
    float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    union { int i; float f; } power = { .i = ((int)n + 127) << 23 };
    return near * p * power.f;
}

static inline double exponential_double(double x) { return exp(x); }
"""

NORM = r"""
/* Mean and biased variance of each column, blockwise in two passes, blocks merged by Chan's formula. */
void moments_REAL(const REAL *restrict y, long rows, long C, double *restrict mean, double *restrict variance) {
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
void factors_REAL(const double *restrict means, const double *restrict variances, const REAL *restrict weight,
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
void totals_REAL(const double *restrict to_shift, const double *restrict to_scale, REAL *restrict d_bias,
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
void normalise_REAL(const REAL *restrict y, REAL *restrict dx, long rows, long C, const REAL *restrict scale,
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

/* The neuron run again and then backwards, the reset detached: with s'(u) = alpha sig(alpha u) (1 - sig(alpha u)),
   dH[t] = dS[t] s'(H[t] - threshold) + (1 - S[t]) dV[t], dX[t] = dH[t] / tau, dV[t-1] = dH[t] - dH[t] / tau.
   Writes dX; sums over rows dX (to_shift), dX times the normalised y (to_scale) and dH (X - V) (to_rate). */
void gradient_REAL_MODE(const REAL *restrict y, const REAL *restrict scale, const REAL *restrict shift,
                        const REAL *restrict mean, const REAL *restrict inverse, const REAL *restrict ds,
                        REAL *restrict dx, long T, long M, long C, REAL rate, REAL threshold, REAL alpha,
                        double *restrict to_shift, double *restrict to_scale, double *restrict to_rate) {
#pragma omp parallel
    {
        long c0, c1;
        share(C, &c0, &c1);
        REAL h[T][CHUNK], rest[CHUNK] = {0};
        for (long c = c0; c < c1; c++) to_shift[c] = to_scale[c] = to_rate[c] = 0;
        for (long m0 = 0; m0 < M; m0 += BLOCK)
            for (long c = c0; c < c1; c += CHUNK) {
                long width = c1 - c < CHUNK ? c1 - c : CHUNK, m1 = m0 + BLOCK < M ? m0 + BLOCK : M;
                REAL a[CHUNK], b[CHUNK], centre[CHUNK], spread[CHUNK];
                REAL sum[CHUNK] = {0}, product[CHUNK] = {0}, slope[CHUNK] = {0};
                for (long j = 0; j < width; j++) {
                    a[j] = scale ? scale[c + j] : 1;
                    b[j] = shift ? shift[c + j] : 0;
                    centre[j] = mean ? mean[c + j] : 0;
                    spread[j] = inverse ? inverse[c + j] : 0;
                }
                for (long m = m0; m < m1; m++) {
                    REAL v[CHUNK] = {0}, dv[CHUNK] = {0};
                    for (long t = 0; t < T; t++) {
                        const REAL *restrict in = y + (t * M + m) * C + c;
                        for (long j = 0; j < width; j++) {
                            REAL x = in[j] * a[j] + b[j];
                            REAL charged = v[j] + (x - v[j]) BY rate;
                            h[t][j] = charged;
                            v[j] = (1 - (REAL)(charged >= threshold)) * charged;
                        }
                    }
                    for (long t = T - 1; t >= 0; t--) {
                        const REAL *restrict in = y + (t * M + m) * C + c, *restrict up = ds + (t * M + m) * C + c;
                        const REAL *restrict past = t ? h[t - 1] : rest;
                        REAL *restrict out = dx + (t * M + m) * C + c;
                        for (long j = 0; j < width; j++) {
                            REAL x = in[j] * a[j] + b[j], here = h[t][j], before = past[j];
                            REAL u = alpha * (here - threshold);
                            REAL e = exponential_REAL(-ABS(u)), one = 1 + e;
                            REAL dh = up[j] * (alpha * e / (one * one)) + (1 - (REAL)(here >= threshold)) * dv[j];
                            REAL d = dh BY rate;
                            dv[j] = dh - d;
                            out[j] = d;
                            sum[j] += d;
                            product[j] += d * ((in[j] - centre[j]) * spread[j]);
                            slope[j] += dh * (x - (1 - (REAL)(before >= threshold)) * before);
                        }
                    }
                }
                for (long j = 0; j < width; j++) {
                    to_shift[c + j] += sum[j];
                    to_scale[c + j] += product[j];
                    to_rate[c + j] += slope[j];
                }
            }
    }
}
"""


def source() -> str:
    """The whole unit: single and double precision, neurons that divide by tau and neurons that multiply by 1 / tau."""
    parts = [HEADER]
    for real, absolute in (("float", "fabsf"), ("double", "fabs")):
        parts += [NORM.replace("REAL", real), EVENTS.replace("REAL", real)]
        for mode, sign in (("divide", "/"), ("multiply", "*")):
            neuron = NEURON.replace("REAL", real).replace("MODE", mode).replace(" BY ", f" {sign} ")
            parts.append(neuron.replace("ABS", absolute))
    return "".join(parts)


KERNELS = Library(
    "neurons",
    source,
    flags=("-ffp-contract=off", "-fno-tree-pre"),
    otherwise="neurons run on spikingjelly's own code",
)
