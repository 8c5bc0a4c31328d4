/* Products with a matrix of few entries, such as spikes, row by row.

   Every sum is taken in one order, so results do not depend on the number of threads. */
#ifdef __AVX512F__
#include <immintrin.h>
#define COUNTING _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define WIDTH 64
#endif
#include "../native.h"

#define WIDE 8   /* vectors of columns held in registers at a time, */
#define MIDDLE 4 /* and where fewer columns are left */
#define NARROW 2
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

/* The entries that are not zero, row by row: their columns and values, row r from start[r] on. Rows are the positions
   of pictures W wide (1 for no pictures), and columns are counted along the picture's line: K from one to the next. */
void KERNEL(compress)(const real *restrict x, long rows, long K, long W, const long *restrict start,
                      int *restrict column, real *restrict value) {
#pragma omp parallel
    {
        long r0, r1;
        share(rows, &r0, &r1);
        for (long r = r0; r < r1; r++) {
            long at = start[r], end = start[r + 1], first = r % W * K;
#if defined __AVX512F__ && defined FLOAT
            for (long k = 0; at < end; k += LANES) {
                __mmask16 left = K - k < LANES ? (1 << (K - k)) - 1 : 0xffff;
                __m512 part = _mm512_maskz_loadu_ps(left, x + r * K + k);
                __mmask16 found = _mm512_cmp_ps_mask(part, _mm512_setzero_ps(), _CMP_NEQ_UQ);
                __m512i columns = _mm512_add_epi32(_mm512_set1_epi32((int)(first + k)), COUNTING);
                int n = __builtin_popcount(found);
                __mmask16 kept = (1 << n) - 1;
                _mm512_mask_storeu_ps(value + at, kept, _mm512_maskz_compress_ps(found, part));
                _mm512_mask_storeu_epi32(column + at, kept, _mm512_maskz_compress_epi32(found, columns));
                at += n;
            }
#else
            for (long k = 0; at < end; k++) {
                column[at] = (int)(first + k);
                value[at] = x[r * K + k];
                at += x[r * K + k] != 0;
            }
#endif
        }
    }
}

/* Pictures of H lines of W positions with K columns each; a row's neighbours are at most `reach` away. */
struct picture {
    long H, W, K, reach;
};

/* Where the entries of row r's neighbours in the line `down` below begin and end: they lie one behind the other. What
   is to be added to their columns, so that those of each neighbour have a place of their own, is returned. */
ALWAYS long neighbours(struct picture p, const long *restrict start, long r, long down, long *from, long *to) {
    if (p.reach == 0) { /* spares the divisions */
        *from = start[r];
        *to = start[r + 1];
        return 0;
    }
    long h = r / p.W % p.H + down, w = r % p.W, line = r + down * p.W;
    long left = w < p.reach ? w : p.reach, right = p.W - 1 - w < p.reach ? p.W - 1 - w : p.reach;
    int inside = h >= 0 && h < p.H;
    *from = inside ? start[line - left] : 0;
    *to = inside ? start[line + right + 1] : 0;
    return ((down + p.reach) * (2 * p.reach + 1) - (w - p.reach)) * p.K;
}

/* y[r, :] = bias + sum over the entries of row r's neighbours of value w[column, :], in `count` vectors of columns from
   n on. */
ALWAYS void gather(struct picture p, const long *restrict start, const int *restrict column,
                   const real *restrict value, const real *restrict w, const real *restrict bias, real *restrict y,
                   long r, long N, long n, int count) {
    vector sum[WIDE];
    for (int i = 0; i < count; i++) sum[i] = ((const anywhere *)(bias + n))[i];
    for (long down = -p.reach; down <= p.reach; down++) {
        long from, to, shift = neighbours(p, start, r, down, &from, &to);
        for (long e = from; e < to; e++) {
            const anywhere *in = (const anywhere *)(w + ((column[e] + shift) * N + n));
            for (int i = 0; i < count; i++) sum[i] += value[e] * in[i];
        }
    }
    for (int i = 0; i < count; i++) ((anywhere *)(y + (r * N + n)))[i] = sum[i];
}

void KERNEL(gather)(const long *restrict start, const int *restrict column, const real *restrict value,
                    const real *restrict w, const real *restrict bias, real *restrict y, long rows, long N, long H,
                    long W, long K, long reach) {
    struct picture p = {H, W, K, reach};
#pragma omp parallel
    {
        long r0, r1;
        share(rows, &r0, &r1);
        for (long tile = r0; tile < r1; tile += TILE) {
            long last = tile + TILE < r1 ? tile + TILE : r1, n = 0;
            for (; n + WIDE * LANES <= N; n += WIDE * LANES)
                for (long r = tile; r < last; r++) gather(p, start, column, value, w, bias, y, r, N, n, WIDE);
            for (; n + MIDDLE * LANES <= N; n += MIDDLE * LANES)
                for (long r = tile; r < last; r++) gather(p, start, column, value, w, bias, y, r, N, n, MIDDLE);
            for (; n + NARROW * LANES <= N; n += NARROW * LANES)
                for (long r = tile; r < last; r++) gather(p, start, column, value, w, bias, y, r, N, n, NARROW);
            for (; n < N; n++)
                for (long r = tile; r < last; r++) {
                    real sum = bias[n];
                    for (long down = -reach; down <= reach; down++) {
                        long from, to, shift = neighbours(p, start, r, down, &from, &to);
                        for (long e = from; e < to; e++) sum += value[e] * w[(column[e] + shift) * N + n];
                    }
                    y[r * N + n] = sum;
                }
        }
    }
}

/* dw[column, :] += value dy[r, :] over the entries of row r's neighbours, in `count` vectors of columns from n on. */
ALWAYS void scatter(struct picture p, const long *restrict start, const int *restrict column,
                    const real *restrict value, const real *restrict dy, real *restrict dw, long r, long N, long n,
                    int count) {
    vector g[WIDE];
    for (int i = 0; i < count; i++) g[i] = ((const anywhere *)(dy + (r * N + n)))[i];
    for (long down = -p.reach; down <= p.reach; down++) {
        long from, to, shift = neighbours(p, start, r, down, &from, &to);
        for (long e = from; e < to; e++) {
            anywhere *out = (anywhere *)(dw + ((column[e] + shift) * N + n));
            real v = value[e];
            for (int i = 0; i < count; i++, out++) *out += v * g[i];
        }
    }
}

/* The same over all rows; threads share the columns of dw out. */
void KERNEL(scatter)(const long *restrict start, const int *restrict column, const real *restrict value,
                     const real *restrict dy, real *restrict dw, long rows, long N, long H, long W, long K,
                     long reach) {
    struct picture p = {H, W, K, reach};
#pragma omp parallel
    {
        long n, n1;
        share(N, &n, &n1);
        for (; n + WIDE * LANES <= n1; n += WIDE * LANES)
            for (long r = 0; r < rows; r++) scatter(p, start, column, value, dy, dw, r, N, n, WIDE);
        for (; n + MIDDLE * LANES <= n1; n += MIDDLE * LANES)
            for (long r = 0; r < rows; r++) scatter(p, start, column, value, dy, dw, r, N, n, MIDDLE);
        for (; n + NARROW * LANES <= n1; n += NARROW * LANES)
            for (long r = 0; r < rows; r++) scatter(p, start, column, value, dy, dw, r, N, n, NARROW);
        for (; n < n1; n++)
            for (long r = 0; r < rows; r++)
                for (long down = -reach; down <= reach; down++) {
                    long from, to, shift = neighbours(p, start, r, down, &from, &to);
                    for (long e = from; e < to; e++) dw[(column[e] + shift) * N + n] += value[e] * dy[r * N + n];
                }
    }
}
