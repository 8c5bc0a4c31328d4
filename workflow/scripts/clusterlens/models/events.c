/* Products with a matrix of few entries, such as spikes, row by row.

   Every sum is taken in one order, so results do not depend on the number of threads. */
#include "../native.h"

#define WIDE 8   /* vectors of columns held in registers at a time, */
#define NARROW 2 /* and where fewer columns are left */
#define TILE 128 /* rows computed for one stretch of columns before the next stretch */

/* How many entries of each row are not zero. */
void KERNEL(count)(const real *restrict x, long rows, long K, long *restrict counts) {
#pragma omp parallel
    {
        long r0, r1;
        share(rows, &r0, &r1);
        for (long r = r0; r < r1; r++) {
            int n = 0;
            for (long k = 0; k < K; k++) n += x[r * K + k] != 0;
            counts[r] = n;
        }
    }
}

/* The entries that are not zero, row by row: their columns and values, row r from start[r] on. */
void KERNEL(compress)(const real *restrict x, long rows, long K, const long *restrict start, int *restrict column,
                      real *restrict value) {
#pragma omp parallel
    {
        long r0, r1;
        share(rows, &r0, &r1);
        for (long r = r0; r < r1; r++) {
            long at = start[r], end = start[r + 1];
            for (long k = 0; at < end; k++) {
                column[at] = (int)k;
                value[at] = x[r * K + k];
                at += x[r * K + k] != 0;
            }
        }
    }
}

/* The same for the 3 x 3 neighbourhood of every position of B pictures, padded with zeros: neighbour p of 9, counted
   along rows, has its K columns behind those of the neighbours before it. Where counts is given, only count. */
void KERNEL(neighbours)(const long *restrict start, const int *restrict column, const real *restrict value, long B,
                        long H, long W, long K, long *restrict counts, const long *restrict starts,
                        int *restrict columns, real *restrict values) {
#pragma omp parallel
    {
        long r0, r1;
        share(B * H * W, &r0, &r1);
        for (long r = r0; r < r1; r++) {
            long h = r / W % H, w = r % W, at = counts ? 0 : starts[r];
            for (long p = 0; p < 9; p++) {
                long dh = p / 3 - 1, dw = p % 3 - 1;
                if (h + dh < 0 || h + dh >= H || w + dw < 0 || w + dw >= W) continue;
                long from = start[r + dh * W + dw], to = start[r + dh * W + dw + 1];
                if (counts)
                    at += to - from;
                else
                    for (long i = from; i < to; i++, at++) {
                        columns[at] = (int)(p * K) + column[i];
                        values[at] = value[i];
                    }
            }
            if (counts) counts[r] = at;
        }
    }
}

/* y[r, :] = bias + sum over the entries of row r of value w[column, :], in `count` vectors of columns from n on. */
ALWAYS void gather(const long *restrict start, const int *restrict column, const real *restrict value,
                   const real *restrict w, const real *restrict bias, real *restrict y, long r, long N, long n,
                   int count) {
    vector sum[WIDE];
    for (int i = 0; i < count; i++) sum[i] = ((const anywhere *)(bias + n))[i];
    for (long e = start[r]; e < start[r + 1]; e++) {
        const anywhere *in = (const anywhere *)(w + (column[e] * N + n));
        for (int i = 0; i < count; i++) sum[i] += value[e] * in[i];
    }
    for (int i = 0; i < count; i++) ((anywhere *)(y + (r * N + n)))[i] = sum[i];
}

void KERNEL(gather)(const long *restrict start, const int *restrict column, const real *restrict value,
                    const real *restrict w, const real *restrict bias, real *restrict y, long rows, long N) {
#pragma omp parallel
    {
        long r0, r1;
        share(rows, &r0, &r1);
        for (long tile = r0; tile < r1; tile += TILE) {
            long last = tile + TILE < r1 ? tile + TILE : r1, n = 0;
            for (; n + WIDE * LANES <= N; n += WIDE * LANES)
                for (long r = tile; r < last; r++) gather(start, column, value, w, bias, y, r, N, n, WIDE);
            for (; n + NARROW * LANES <= N; n += NARROW * LANES)
                for (long r = tile; r < last; r++) gather(start, column, value, w, bias, y, r, N, n, NARROW);
            for (; n < N; n++)
                for (long r = tile; r < last; r++) {
                    real sum = bias[n];
                    for (long e = start[r]; e < start[r + 1]; e++) sum += value[e] * w[column[e] * N + n];
                    y[r * N + n] = sum;
                }
        }
    }
}

/* dw[column, :] += value dy[r, :] over the entries of row r, in `count` vectors of columns from n on. */
ALWAYS void scatter(const long *restrict start, const int *restrict column, const real *restrict value,
                    const real *restrict dy, real *restrict dw, long r, long N, long n, int count) {
    vector g[WIDE];
    for (int i = 0; i < count; i++) g[i] = ((const anywhere *)(dy + (r * N + n)))[i];
    for (long e = start[r]; e < start[r + 1]; e++) {
        anywhere *out = (anywhere *)(dw + (column[e] * N + n));
        real v = value[e];
        for (int i = 0; i < count; i++, out++) *out += v * g[i];
    }
}

/* The same over all rows; threads share the columns of dw out. */
void KERNEL(scatter)(const long *restrict start, const int *restrict column, const real *restrict value,
                     const real *restrict dy, real *restrict dw, long rows, long N) {
#pragma omp parallel
    {
        long n, n1;
        share(N, &n, &n1);
        for (; n + WIDE * LANES <= n1; n += WIDE * LANES)
            for (long r = 0; r < rows; r++) scatter(start, column, value, dy, dw, r, N, n, WIDE);
        for (; n + NARROW * LANES <= n1; n += NARROW * LANES)
            for (long r = 0; r < rows; r++) scatter(start, column, value, dy, dw, r, N, n, NARROW);
        for (; n < n1; n++)
            for (long r = 0; r < rows; r++)
                for (long e = start[r]; e < start[r + 1]; e++) dw[column[e] * N + n] += value[e] * dy[r * N + n];
    }
}
