/* Softmax attention among tokens of few dimensions: no n x n matrix, a block of queries in registers.

   Arrays are (S, H, n, d): systems, heads, tokens, dimensions, the tokens of one dimension adjacent. Each row is
   computed in one order whatever the batch and the number of threads, so that a batch equals its systems one by one,
   bit for bit. */
#include <math.h>
#include <string.h>

#include "../power.h"

#define DIMENSIONS 8 /* up to here a block's queries and sums stay in registers or next to them */
#define W 2          /* vectors of queries in a block */
#define BLOCK (W * LANES)
#define SMALL 30 /* powers of two whose sums with values of any usual size neither overflow nor vanish */

struct strides {
    struct {
        long system, head, dimension;
    } q, k, v, y;
};

/* 2^x in place, x no less than LOWEST: x = n + r, a polynomial in r, n into the exponent bits. */
ALWAYS void power(vector x[W]) {
    vector rounded[W], r[W], p[W];
    for (int w = 0; w < W; w++) {
        rounded[w] = x[w] + ROUND;
        r[w] = x[w] - (rounded[w] - ROUND);
        p[w] = (vector){0} + COEFFICIENTS[0];
    }
    for (int c = 1; c <= DEGREE; c++)
        for (int w = 0; w < W; w++) p[w] = p[w] * r[w] + COEFFICIENTS[c];
    for (int w = 0; w < W; w++) x[w] = p[w] * (vector)(((bits)rounded[w] + BIAS) << MANTISSA);
}

/* <q_i, k_j> for a block of queries i and one key j. */
ALWAYS void logits(vector q[][W], const real *restrict k, long dk, int d, vector out[W]) {
    for (int w = 0; w < W; w++) {
        out[w] = q[0][w] * k[0];
        for (int c = 1; c < d; c++) out[w] += q[c][w] * k[c * dk];
    }
}

ALWAYS void maximum(vector q[][W], const real *restrict k, long dk, int d, const bits row[W], integer j, int masked,
                    vector m[W]) {
    vector l[W];
    logits(q, k, dk, d, l);
    for (int w = 0; w < W; w++) {
        bits larger = l[w] > m[w];
        if (masked) larger &= row[w] >= j;
        m[w] = choose(larger, l[w], m[w]);
    }
}

ALWAYS void accumulate(vector q[][W], const real *restrict k, long dk, const real *restrict v, long dv, int d,
                       const bits row[W], integer j, int masked, int shifted, const vector m[W], vector sum[W],
                       vector u[][W]) {
    vector p[W];
    logits(q, k, dk, d, p);
    for (int w = 0; w < W && shifted; w++) {
        p[w] -= m[w];
        p[w] = choose(p[w] < LOWEST, (vector){0} + LOWEST, p[w]);
    }
    power(p);
    for (int w = 0; w < W; w++) {
        if (masked) p[w] = choose(row[w] >= j, p[w], (vector){0});
        sum[w] += p[w];
        for (int c = 0; c < d; c++) u[c][w] += p[w] * v[c * dv];
    }
}

/* Whether |<q_i, k_j>| <= |q_i| |k_j| <= SMALL for all queries of a block and all keys. */
ALWAYS int small(vector q[][W], const real *restrict k, long dk, long n, int d) {
    vector queries = {0}, keys = {0};
    for (int w = 0; w < W; w++) {
        vector square = {0};
        for (int c = 0; c < d; c++) square += q[c][w] * q[c][w];
        queries = choose(square > queries, square, queries);
    }
    long j = 0;
    for (; j + LANES <= n; j += LANES) {
        vector square = {0}, part;
        for (int c = 0; c < d; c++) {
            memcpy(&part, k + c * dk + j, sizeof part);
            square += part * part;
        }
        keys = choose(square > keys, square, keys);
    }
    real query = 0, key = 0;
    for (int i = 0; i < LANES; i++) {
        query = queries[i] > query ? queries[i] : query;
        key = keys[i] > key ? keys[i] : key;
    }
    for (; j < n; j++) {
        real square = 0;
        for (int c = 0; c < d; c++) square += k[c * dk + j] * k[c * dk + j];
        key = square > key ? square : key;
    }
    return query * key <= SMALL * SMALL;
}

/* sum_j 2^(<q_i, k_j> - m_i) v_j / sum_j 2^(<q_i, k_j> - m_i) for the queries from `first` on; m_i is the largest where
   `shifted`, otherwise 0. Causal ones see the keys up to themselves: those up to `first` whole, the block's own through
   a mask. */
ALWAYS void rows(vector q[][W], const real *restrict k, long dk, const real *restrict v, long dv, long n, int d,
                 long first, int causal, int shifted, vector out[][W]) {
    long seen = causal ? first + 1 : n, last = causal && first + BLOCK < n ? first + BLOCK : n;
    vector m[W], sum[W] = {0}, u[DIMENSIONS][W] = {0};
    bits lane = {0}, row[W];
    for (int i = 0; i < LANES; i++) lane[i] = i;
    for (int w = 0; w < W; w++) {
        m[w] = (vector){0} - (real)INFINITY;
        row[w] = lane + (integer)(first + w * LANES);
    }
    for (long j = 0; j < seen && shifted; j++) maximum(q, k + j, dk, d, row, j, 0, m);
    for (long j = seen; j < last && shifted; j++) maximum(q, k + j, dk, d, row, j, 1, m);
    for (long j = 0; j < seen; j++) accumulate(q, k + j, dk, v + j, dv, d, row, j, 0, shifted, m, sum, u);
    for (long j = seen; j < last; j++) accumulate(q, k + j, dk, v + j, dv, d, row, j, 1, shifted, m, sum, u);
    for (int c = 0; c < d; c++)
        for (int w = 0; w < W; w++) out[c][w] = u[c][w] / sum[w];
}

ALWAYS void block(vector q[][W], const real *restrict k, long dk, const real *restrict v, long dv, long n, int d,
                  long first, int causal, vector out[][W]) {
    if (small(q, k, dk, n, d))
        rows(q, k, dk, v, dv, n, d, first, causal, 0, out);
    else
        rows(q, k, dk, v, dv, n, d, first, causal, 1, out);
}

/* y = softmax(q k^T) v. */
void KERNEL(attend)(const real *restrict q, const real *restrict k, const real *restrict v, real *restrict y,
                    const struct strides *restrict by, long S, long H, long n, long d, long causal) {
    long blocks = (n + BLOCK - 1) / BLOCK, tasks = S * H * blocks;
    long dk = by->k.dimension, dv = by->v.dimension;
#pragma omp parallel for schedule(static) if (tasks * n > 4096)
    for (long task = 0; task < tasks; task++) {
        long pair = task / blocks, s = pair / H, h = pair % H, first = task % blocks * BLOCK;
        long count = n - first < BLOCK ? n - first : BLOCK;
        const real *from = q + s * by->q.system + h * by->q.head + first;
        real *to = y + s * by->y.system + h * by->y.head + first;
        const real *keys = k + s * by->k.system + h * by->k.head, *values = v + s * by->v.system + h * by->v.head;
        vector queries[DIMENSIONS][W] = {0}, out[DIMENSIONS][W];
        for (long c = 0; c < d; c++) {
            memcpy(queries[c], from + c * by->q.dimension, count * sizeof(real));
            for (int w = 0; w < W; w++) queries[c][w] *= (real)1.4426950408889634; /* e^x = 2^(x log2 e) */
        }
        switch (d) { /* a number known to the compiler in each case */
            case 1: block(queries, keys, dk, values, dv, n, 1, first, causal, out); break;
            case 2: block(queries, keys, dk, values, dv, n, 2, first, causal, out); break;
            case 3: block(queries, keys, dk, values, dv, n, 3, first, causal, out); break;
            case 4: block(queries, keys, dk, values, dv, n, 4, first, causal, out); break;
            case 5: block(queries, keys, dk, values, dv, n, 5, first, causal, out); break;
            case 6: block(queries, keys, dk, values, dv, n, 6, first, causal, out); break;
            case 7: block(queries, keys, dk, values, dv, n, 7, first, causal, out); break;
            case 8: block(queries, keys, dk, values, dv, n, 8, first, causal, out); break;
        }
        for (long c = 0; c < d; c++) memcpy(to + c * by->y.dimension, out[c], count * sizeof(real));
    }
}
