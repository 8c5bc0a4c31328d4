/* Batch normalisation and a leaky integrate-and-fire neuron, fused over time.

   Arrays are row-major (T, M, C): time steps, neurons of one channel, channels. Where a kernel sums over rows, threads
   share the channels out and every channel is summed in one order, so results do not depend on the number of threads.
   Without -ffp-contract=off the membrane potential would be rounded otherwise than by torch, and spikes could differ.
*/
#include <math.h>

#ifdef __AVX512F__
#define WIDTH 64
#endif
#include "../native.h"

#define CHUNK 64   /* channels held in registers, */
#define STRIP 512  /* channels and */
#define BLOCK 32   /* rows taken at a time: memory is read along rows, as far as the sums fit into the first cache */

/* How the rate charges the membrane: divide by tau, multiply by 1 / tau, or multiply by a 1 / tau that is learned. */
enum { DIVIDE, MULTIPLY, LEARN };
#define CHARGE(x, rate, mode) ((mode) == DIVIDE ? (x) / (rate) : (x) * (rate))

/* A vector of so many numbers; what lies behind them is neither read nor written. */
ALWAYS vector load(const real *from, long lanes) {
    if (lanes == LANES) return *(const anywhere *)from;
    vector x = {0};
    for (int i = 0; i < lanes; i++) x[i] = from[i];
    return x;
}

ALWAYS void store(real *to, long lanes, vector x) {
    if (lanes == LANES)
        *(anywhere *)to = x;
    else
        for (int i = 0; i < lanes; i++) to[i] = x[i];
}

/* e^-|x|; in single precision with a relative error of 2e-7 near 0 and below 4e-6, and 0 below 2^-80, whose products
   could be too small to be normal: 2^(n + r), a polynomial in r whose terms do not wait for one another, n into the
   exponent bits. */
ALWAYS vector exponential(vector x) {
#ifdef DOUBLE
    for (int i = 0; i < LANES; i++) x[i] = exp(-fabs(x[i]));
    return x;
#else
    x = (vector)((bits)(x * 1.44269504f) | INT32_MIN);
    bits far = x <= -80.0f; /* false for a number that is none, which so is passed on */
    x = (vector)((bits)x & ~far);
    vector rounded = x + ROUND, r = x - (rounded - ROUND), square = r * r;
    vector low = 1.00000007f + r * 0.693146967f, middle = 0.240221197f + r * 0.0555071327f;
    vector p = low + square * (middle + square * (0.00967554134f + r * 0.00132764726f));
    return (vector)((bits)(p * (vector)(((bits)rounded + BIAS) << MANTISSA)) & ~far);
#endif
}

/* Mean and biased variance of each column, blockwise in two passes, blocks merged by Chan's formula. */
static void column_moments(const real *restrict y, long rows, long C, double *restrict mean,
                           double *restrict variance) {
#pragma omp parallel
    {
        long c0, c1;
        share(C, &c0, &c1);
        for (long c = c0; c < c1; c++) mean[c] = variance[c] = 0;
        for (long m = 0; m < rows; m += BLOCK) {
            long n = rows - m < BLOCK ? rows - m : BLOCK;
            for (long c = c0; c < c1; c += CHUNK) {
                long width = c1 - c < CHUNK ? c1 - c : CHUNK;
                real sum[CHUNK] = {0}, square[CHUNK] = {0};
                for (long i = 0; i < n; i++)
                    for (long j = 0; j < width; j++) sum[j] += y[(m + i) * C + c + j];
                for (long j = 0; j < width; j++) sum[j] /= n;
                for (long i = 0; i < n; i++)
                    for (long j = 0; j < width; j++) {
                        real d = y[(m + i) * C + c + j] - sum[j];
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
static void norm_factors(const double *restrict means, const double *restrict variances, const real *restrict weight,
                         const real *restrict bias, real *restrict running_mean, real *restrict running_variance,
                         real *restrict out, long rows, long fold, long C, real eps, real momentum) {
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
static void norm_gradients(const double *restrict to_shift, const double *restrict to_scale, real *restrict d_bias,
                           real *restrict d_weight, real *restrict mean_shift, real *restrict mean_scale, long rows,
                           long fold, long C) {
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
static void norm_backward(const real *restrict y, real *restrict dx, long rows, long C, const real *restrict scale,
                          const real *restrict mean, const real *restrict inverse, const real *restrict mean_shift,
                          const real *restrict mean_scale) {
#pragma omp parallel
    {
        long m0, m1;
        share(rows, &m0, &m1);
        for (long m = m0; m < m1; m++)
            for (long c = 0; c < C; c++) {
                real normalised = (y[m * C + c] - mean[c]) * inverse[c];
                dx[m * C + c] = scale[c] * (dx[m * C + c] - mean_shift[c] - normalised * mean_scale[c]);
            }
    }
}

/* x = scale y + shift for the rows from m0 to m1, then
   H[t] = V[t-1] + (X[t] - V[t-1]) / tau, S[t] = [H[t] >= threshold], V[t] = (1 - S[t]) H[t]. */
ALWAYS void fire(const real *restrict y, const real *restrict scale, const real *restrict shift, real *restrict s,
                 long T, long M, long C, long m0, long m1, int mode, real rate, real threshold) {
    for (long m = m0; m < m1; m++)
        for (long c = 0; c < C; c += CHUNK) {
            long width = C - c < CHUNK ? C - c : CHUNK;
            real v[CHUNK] = {0}, a[CHUNK], b[CHUNK];
            for (long j = 0; j < width; j++) {
                a[j] = scale ? scale[c + j] : 1;
                b[j] = shift ? shift[c + j] : 0;
            }
            for (long t = 0; t < T; t++) {
                const real *restrict in = y + (t * M + m) * C + c;
                real *restrict out = s + (t * M + m) * C + c;
                for (long j = 0; j < width; j++) {
                    real x = in[j] * a[j] + b[j];
                    real h = v[j] + CHARGE(x - v[j], rate, mode);
                    out[j] = h >= threshold;
                    v[j] = (1 - out[j]) * h;
                }
            }
        }
}

void KERNEL(spikes)(const real *restrict y, const real *restrict scale, const real *restrict shift, real *restrict s,
                    long T, long M, long C, long mode, real rate, real threshold) {
#pragma omp parallel
    {
        long m0, m1;
        share(M, &m0, &m1);
        if (mode == DIVIDE) /* a mode known to the compiler in each case */
            fire(y, scale, shift, s, T, M, C, m0, m1, DIVIDE, rate, threshold);
        else
            fire(y, scale, shift, s, T, M, C, m0, m1, MULTIPLY, rate, threshold);
    }
}

/* One neuron per lane, run again and then backwards, the reset detached:
   with s'(u) = alpha sig(alpha u) (1 - sig(alpha u)),
   dH[t] = dS[t] s'(H[t] - threshold) + (1 - S[t]) dV[t], dX[t] = dH[t] / tau, dV[t-1] = dH[t] - dH[t] / tau.
   Writes dX; adds to `sums` dX, dX times the normalised y and, if tau is learned, dH (X - V). */
ALWAYS void neurons(const real *restrict y, const real *restrict ds, real *restrict dx, long T, long step, long lanes,
                    const vector factors[4], int mode, real rate, real threshold, real alpha, vector sums[3]) {
    vector zero = {0}, v = zero, dv = zero, h[T], scale = factors[0], shift = factors[1];
    for (long t = 0; t < T; t++) {
        vector x = load(y + t * step, lanes) * scale + shift;
        h[t] = v + CHARGE(x - v, rate, mode);
        v = choose(h[t] >= threshold, zero, h[t]);
    }
    for (long t = T - 1; t >= 0; t--) {
        vector in = load(y + t * step, lanes), e = exponential(alpha * (h[t] - threshold));
        vector dh = load(ds + t * step, lanes) * (alpha * e / ((1 + e) * (1 + e))) +
                    choose(h[t] >= threshold, zero, dv);
        vector d = CHARGE(dh, rate, mode);
        dv = dh - d;
        store(dx + t * step, lanes, d);
        sums[0] += d;
        sums[1] += d * ((in - factors[2]) * factors[3]);
        if (mode == LEARN) {
            vector before = t ? choose(h[t - 1] >= threshold, zero, h[t - 1]) : zero;
            sums[2] += dh * (in * scale + shift - before);
        }
    }
}

/* The same for `width` channels of several rows. */
ALWAYS void chunk(const real *restrict y, const real *restrict ds, real *restrict dx, long T, long M, long C, long rows,
                  long width, vector factors[][4], int mode, real rate, real threshold, real alpha, vector sums[][3]) {
    for (long m = 0; m < rows; m++)
        for (long i = 0; i < width; i += LANES) {
            long at = m * C + i, j = i / LANES;
            if (width - i >= LANES) /* a number known to the compiler */
                neurons(y + at, ds + at, dx + at, T, M * C, LANES, factors[j], mode, rate, threshold, alpha, sums[j]);
            else
                neurons(y + at, ds + at, dx + at, T, M * C, width - i, factors[j], mode, rate, threshold, alpha,
                        sums[j]);
        }
}

/* The gradient of all channels; to_shift, to_scale and to_rate are the three sums of `neurons` over rows. */
void KERNEL(gradient)(const real *restrict y, const real *restrict scale, const real *restrict shift,
                      const real *restrict mean, const real *restrict inverse, const real *restrict ds,
                      real *restrict dx, long T, long M, long C, long mode, real rate, real threshold, real alpha,
                      double *restrict to_shift, double *restrict to_scale, double *restrict to_rate) {
    const real *given[4] = {scale, shift, mean, inverse};
    double *totals[3] = {to_shift, to_scale, to_rate};
#pragma omp parallel
    {
        long c0, c1;
        share(C, &c0, &c1);
        for (int s = 0; s < 3; s++)
            for (long c = c0; c < c1; c++) totals[s][c] = 0;
        for (long m = 0; m < M; m += BLOCK)
            for (long c = c0; c < c1; c += STRIP) {
                long width = c1 - c < STRIP ? c1 - c : STRIP, rows = M - m < BLOCK ? M - m : BLOCK, at = m * C + c;
                vector f[STRIP / LANES][4], sums[STRIP / LANES][3] = {0};
                for (long i = 0; i < (width + LANES - 1) / LANES * LANES; i++)
                    for (int g = 0; g < 4; g++)
                        f[i / LANES][g][i % LANES] = given[g] && i < width ? given[g][c + i] : g == 0;
                if (mode == DIVIDE) /* a mode known to the compiler in each case */
                    chunk(y + at, ds + at, dx + at, T, M, C, rows, width, f, DIVIDE, rate, threshold, alpha, sums);
                else if (mode == MULTIPLY)
                    chunk(y + at, ds + at, dx + at, T, M, C, rows, width, f, MULTIPLY, rate, threshold, alpha, sums);
                else
                    chunk(y + at, ds + at, dx + at, T, M, C, rows, width, f, LEARN, rate, threshold, alpha, sums);
                for (long i = 0; i < width; i++)
                    for (int s = 0; s < 3; s++) totals[s][c + i] += sums[i / LANES][s][i % LANES];
            }
    }
}

/* Batch normalisation and the neuron: (T M, C), `fold` rows of C / fold channels side by side. Writes the moments of
   each column, the factors of the normalisation, and the spikes; updates the running statistics. */
void KERNEL(forward)(const real *restrict y, const real *restrict weight, const real *restrict bias,
                     real *restrict running_mean, real *restrict running_variance, double *restrict moments,
                     real *restrict factors, real *restrict s, long T, long M, long C, long fold, real eps,
                     real momentum, long mode, real rate, real threshold) {
    column_moments(y, T * M, C, moments, moments + C);
    norm_factors(moments, moments + C, weight, bias, running_mean, running_variance, factors, T * M * fold, fold,
                 C / fold, eps, momentum);
    KERNEL(spikes)(y, factors, factors + C, s, T, M, C, mode, rate, threshold);
}

/* The same backwards. Writes dy, the three sums of the gradient, and to `out` the gradients of bias and weight and the
   two means of the normalisation. */
void KERNEL(backward)(const real *restrict y, const real *restrict factors, const real *restrict ds, real *restrict dy,
                      double *restrict sums, real *restrict out, long T, long M, long C, long fold, long mode,
                      real rate, real threshold, real alpha) {
    const real *mean = factors + 2 * C, *inverse = factors + 3 * C;
    real *d_bias = out, *d_weight = out + C / fold, *mean_shift = out + 2 * (C / fold), *mean_scale = mean_shift + C;
    KERNEL(gradient)(y, factors, factors + C, mean, inverse, ds, dy, T, M, C, mode, rate, threshold, alpha, sums,
                     sums + C, sums + 2 * C);
    norm_gradients(sums, sums + C, d_bias, d_weight, mean_shift, mean_scale, T * M * fold, fold, C / fold);
    norm_backward(y, dy, T * M, C, factors, mean, inverse, mean_shift, mean_scale);
}
