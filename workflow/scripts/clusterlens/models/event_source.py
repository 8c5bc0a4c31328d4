"""C source of the event kernels: products with a matrix of few entries, such as spikes, row by row.

Every sum is taken in one order, so results do not depend on the number of threads.
"""

EVENTS = r"""
enum { WIDTH_REAL = 8 * LANES_REAL };

/* How many entries of each row are not zero. */
void count_REAL(const REAL *restrict x, long rows, long K, long *restrict counts) {
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
void compress_REAL(const REAL *restrict x, long rows, long K, const long *restrict start, int *restrict column,
                   REAL *restrict value) {
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
void neighbours_REAL(const long *restrict start, const int *restrict column, const REAL *restrict value, long B, long H,
                     long W, long K, long *restrict counts, const long *restrict starts, int *restrict columns,
                     REAL *restrict values) {
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

/* y[r, :] = bias + sum over the entries of row r of value w[column, :], eight vectors of y in registers at a time. */
void gather_REAL(const long *restrict start, const int *restrict column, const REAL *restrict value,
                 const REAL *restrict w, const REAL *restrict bias, REAL *restrict y, long rows, long N) {
#pragma omp parallel
    {
        long r0, r1;
        share(rows, &r0, &r1);
        for (long tile = r0; tile < r1; tile += 128) {
            long last = tile + 128 < r1 ? tile + 128 : r1, n = 0;
            for (; n + WIDTH_REAL <= N; n += WIDTH_REAL)
                for (long r = tile; r < last; r++) {
                    const anywhere_REAL *b = (const anywhere_REAL *)(bias + n);
                    vector_REAL s0 = b[0], s1 = b[1], s2 = b[2], s3 = b[3];
                    vector_REAL s4 = b[4], s5 = b[5], s6 = b[6], s7 = b[7];
                    for (long i = start[r]; i < start[r + 1]; i++) {
                        const anywhere_REAL *in = (const anywhere_REAL *)(w + column[i] * N + n);
                        REAL v = value[i];
                        s0 += v * in[0]; s1 += v * in[1]; s2 += v * in[2]; s3 += v * in[3];
                        s4 += v * in[4]; s5 += v * in[5]; s6 += v * in[6]; s7 += v * in[7];
                    }
                    anywhere_REAL *out = (anywhere_REAL *)(y + r * N + n);
                    out[0] = s0; out[1] = s1; out[2] = s2; out[3] = s3;
                    out[4] = s4; out[5] = s5; out[6] = s6; out[7] = s7;
                }
            for (; n + 2 * LANES_REAL <= N; n += 2 * LANES_REAL)
                for (long r = tile; r < last; r++) {
                    const anywhere_REAL *b = (const anywhere_REAL *)(bias + n);
                    vector_REAL s0 = b[0], s1 = b[1];
                    for (long i = start[r]; i < start[r + 1]; i++) {
                        const anywhere_REAL *in = (const anywhere_REAL *)(w + column[i] * N + n);
                        s0 += value[i] * in[0]; s1 += value[i] * in[1];
                    }
                    anywhere_REAL *out = (anywhere_REAL *)(y + r * N + n);
                    out[0] = s0; out[1] = s1;
                }
            for (; n < N; n++)
                for (long r = tile; r < last; r++) {
                    REAL sum = bias[n];
                    for (long i = start[r]; i < start[r + 1]; i++) sum += value[i] * w[column[i] * N + n];
                    y[r * N + n] = sum;
                }
        }
    }
}

/* dw[column, :] += value dy[r, :] over all entries of all rows; threads share the columns of dw out. */
void scatter_REAL(const long *restrict start, const int *restrict column, const REAL *restrict value,
                  const REAL *restrict dy, REAL *restrict dw, long rows, long N) {
#pragma omp parallel
    {
        long n, n1;
        share(N, &n, &n1);
        for (; n + WIDTH_REAL <= n1; n += WIDTH_REAL)
            for (long r = 0; r < rows; r++) {
                const anywhere_REAL *in = (const anywhere_REAL *)(dy + r * N + n);
                vector_REAL g0 = in[0], g1 = in[1], g2 = in[2], g3 = in[3];
                vector_REAL g4 = in[4], g5 = in[5], g6 = in[6], g7 = in[7];
                for (long i = start[r]; i < start[r + 1]; i++) {
                    anywhere_REAL *out = (anywhere_REAL *)(dw + column[i] * N + n);
                    REAL v = value[i];
                    out[0] += v * g0; out[1] += v * g1; out[2] += v * g2; out[3] += v * g3;
                    out[4] += v * g4; out[5] += v * g5; out[6] += v * g6; out[7] += v * g7;
                }
            }
        for (; n + 2 * LANES_REAL <= n1; n += 2 * LANES_REAL)
            for (long r = 0; r < rows; r++) {
                const anywhere_REAL *in = (const anywhere_REAL *)(dy + r * N + n);
                vector_REAL g0 = in[0], g1 = in[1];
                for (long i = start[r]; i < start[r + 1]; i++) {
                    anywhere_REAL *out = (anywhere_REAL *)(dw + column[i] * N + n);
                    out[0] += value[i] * g0; out[1] += value[i] * g1;
                }
            }
        for (; n < n1; n++)
            for (long r = 0; r < rows; r++)
                for (long i = start[r]; i < start[r + 1]; i++) dw[column[i] * N + n] += value[i] * dy[r * N + n];
    }
}
"""
