"""C source of softmax attention among tokens of few dimensions: no n x n matrix, a block of queries in registers.

Arrays are (S, H, n, d), systems, heads, tokens, dimensions, the tokens of one dimension adjacent. Each row is computed
in one order whatever the batch and the number of threads, so that a batch equals its systems one by one, bit for bit.
"""

from clusterlens.native import VECTORS, Library, in_precision

DIMENSIONS = 8  # up to here a block's queries and sums stay in registers or next to them
# 2^r for |r| <= 1/2, lowest power first: minimax polynomials, relative error 7e-8 and 2e-16.
COEFFICIENTS = {
    "float": (
        "1.00000007165471414", "0.693146967065035214", "0.240221197237107196", "0.055507132718556442",
        "0.00967554134312132739", "0.00132764726319508761",
    ),
    "double": (
        "1.00000000000000007", "0.693147180559949775", "0.240226506959087678", "0.0555041086644588332",
        "0.00961812910803458869", "0.00133335582285614755", "0.000154035299611359555", "0.0000152526581165613843",
        "1.32156628318461028e-6", "1.02085379045521639e-7", "7.03727953058280352e-9",
    ),
}  # fmt: skip
# Lowest exponent, 1.5 * 2^mantissa, bias of the exponent, bits of the mantissa.
FORMATS = {
    "float": ("-126.0f", "12582912.0f", "127", "23"),
    "double": ("-1022.0", "6755399441055744.0", "1023", "52"),
}

HEADER = r"""
#include <math.h>
#include <string.h>

#define W 2 /* vectors of queries in a block */
#define SMALL 30 /* powers of two whose sums with values of any usual size neither overflow nor vanish */
#define ALWAYS static inline __attribute__((always_inline))

struct strides { struct { long system, head, dimension; } q, k, v, y; };
"""

POWER = r"""
enum { BLOCK_REAL = W * LANES_REAL };

/* 2^x in place, x no less than LOWEST: x = n + r, a polynomial in r, n into the exponent bits. */
ALWAYS void power_REAL(vector_REAL x[W]) {
    vector_REAL rounded[W], r[W], p[W];
    for (int w = 0; w < W; w++) {
        rounded[w] = x[w] + ROUND; /* n in its lowest bits */
        r[w] = x[w] - (rounded[w] - ROUND);
        p[w] = (vector_REAL){0} + HIGHEST;
    }
    POLYNOMIAL
    for (int w = 0; w < W; w++) x[w] = p[w] * (vector_REAL)(((bits_REAL)rounded[w] + BIAS) << MANTISSA);
}
"""

ROWS = r"""
/* <q_i, k_j> for a block of queries i and one key j. */
ALWAYS void logits_REAL_D(vector_REAL q[][W], const REAL *restrict k, long dk, vector_REAL out[W]) {
    for (int w = 0; w < W; w++) {
        out[w] = q[0][w] * k[0];
        for (int c = 1; c < D; c++) out[w] += q[c][w] * k[c * dk];
    }
}

ALWAYS void maximum_REAL_D(vector_REAL q[][W], const REAL *restrict k, long dk, const bits_REAL row[W], INTEGER j,
                           int masked, vector_REAL m[W]) {
    vector_REAL l[W];
    logits_REAL_D(q, k, dk, l);
    for (int w = 0; w < W; w++) {
        bits_REAL larger = l[w] > m[w];
        if (masked) larger &= row[w] >= j;
        m[w] = select_REAL(larger, l[w], m[w]);
    }
}

ALWAYS void accumulate_REAL_D(vector_REAL q[][W], const REAL *restrict k, long dk, const REAL *restrict v, long dv,
                              const bits_REAL row[W], INTEGER j, int masked, int shifted, const vector_REAL m[W],
                              vector_REAL sum[W], vector_REAL u[][W]) {
    vector_REAL p[W];
    logits_REAL_D(q, k, dk, p);
    for (int w = 0; w < W && shifted; w++) {
        p[w] -= m[w];
        p[w] = select_REAL(p[w] < LOWEST, (vector_REAL){0} + LOWEST, p[w]);
    }
    power_REAL(p);
    for (int w = 0; w < W; w++) {
        if (masked) p[w] = select_REAL(row[w] >= j, p[w], (vector_REAL){0});
        sum[w] += p[w];
        for (int c = 0; c < D; c++) u[c][w] += p[w] * v[c * dv];
    }
}

/* Whether |<q_i, k_j>| <= |q_i| |k_j| <= SMALL for all queries of a block and all keys. */
ALWAYS int small_REAL_D(vector_REAL q[][W], const REAL *restrict k, long dk, long n) {
    vector_REAL queries = {0}, keys = {0};
    for (int w = 0; w < W; w++) {
        vector_REAL square = {0};
        for (int c = 0; c < D; c++) square += q[c][w] * q[c][w];
        queries = select_REAL(square > queries, square, queries);
    }
    long j = 0;
    for (; j + LANES_REAL <= n; j += LANES_REAL) {
        vector_REAL square = {0}, part;
        for (int c = 0; c < D; c++) {
            memcpy(&part, k + c * dk + j, sizeof part);
            square += part * part;
        }
        keys = select_REAL(square > keys, square, keys);
    }
    REAL query = 0, key = 0;
    for (int i = 0; i < LANES_REAL; i++) {
        query = queries[i] > query ? queries[i] : query;
        key = keys[i] > key ? keys[i] : key;
    }
    for (; j < n; j++) {
        REAL square = 0;
        for (int c = 0; c < D; c++) square += k[c * dk + j] * k[c * dk + j];
        key = square > key ? square : key;
    }
    return query * key <= SMALL * SMALL;
}

/* sum_j 2^(<q_i, k_j> - m_i) v_j / sum_j 2^(<q_i, k_j> - m_i) for the queries from `first` on; m_i is the largest where
   `shifted`, otherwise 0. Causal ones see the keys up to themselves: those up to `first` whole, the block's own through
   a mask. */
ALWAYS void rows_REAL_D(vector_REAL q[][W], const REAL *restrict k, long dk, const REAL *restrict v, long dv, long n,
                        long first, int causal, int shifted, vector_REAL out[][W]) {
    long seen = causal ? first + 1 : n, last = causal && first + BLOCK_REAL < n ? first + BLOCK_REAL : n;
    vector_REAL m[W], sum[W] = {0}, u[D][W] = {0};
    bits_REAL row[W];
    for (int w = 0; w < W; w++) {
        m[w] = (vector_REAL){0} - (REAL)INFINITY;
        for (int i = 0; i < LANES_REAL; i++) row[w][i] = first + w * LANES_REAL + i;
    }
    for (long j = 0; j < seen && shifted; j++) maximum_REAL_D(q, k + j, dk, row, j, 0, m);
    for (long j = seen; j < last && shifted; j++) maximum_REAL_D(q, k + j, dk, row, j, 1, m);
    for (long j = 0; j < seen; j++) accumulate_REAL_D(q, k + j, dk, v + j, dv, row, j, 0, shifted, m, sum, u);
    for (long j = seen; j < last; j++) accumulate_REAL_D(q, k + j, dk, v + j, dv, row, j, 1, shifted, m, sum, u);
    for (int c = 0; c < D; c++)
        for (int w = 0; w < W; w++) out[c][w] = u[c][w] / sum[w];
}

static void block_REAL_D(vector_REAL q[][W], const REAL *restrict k, long dk, const REAL *restrict v, long dv, long n,
                         long first, int causal, vector_REAL out[][W]) {
    if (small_REAL_D(q, k, dk, n))
        rows_REAL_D(q, k, dk, v, dv, n, first, causal, 0, out);
    else
        rows_REAL_D(q, k, dk, v, dv, n, first, causal, 1, out);
}
"""

ATTEND = r"""
/* y = softmax(q k^T) v. */
void attend_REAL(const REAL *restrict q, const REAL *restrict k, const REAL *restrict v, REAL *restrict y,
                 const struct strides *restrict by, long S, long H, long n, long d, long causal) {
    long blocks = (n + BLOCK_REAL - 1) / BLOCK_REAL, tasks = S * H * blocks;
    long dk = by->k.dimension, dv = by->v.dimension;
#pragma omp parallel for schedule(static) if (tasks * n > 4096)
    for (long task = 0; task < tasks; task++) {
        long pair = task / blocks, s = pair / H, h = pair % H, first = task % blocks * BLOCK_REAL;
        long count = n - first < BLOCK_REAL ? n - first : BLOCK_REAL;
        const REAL *from = q + s * by->q.system + h * by->q.head + first;
        REAL *to = y + s * by->y.system + h * by->y.head + first;
        const REAL *keys = k + s * by->k.system + h * by->k.head, *values = v + s * by->v.system + h * by->v.head;
        vector_REAL queries[DIMENSIONS][W] = {0}, out[DIMENSIONS][W];
        for (long c = 0; c < d; c++) {
            memcpy(queries[c], from + c * by->q.dimension, count * sizeof(REAL));
            for (int w = 0; w < W; w++) queries[c][w] *= (REAL)1.4426950408889634; /* e^x = 2^(x log2 e) */
        }
        switch (d) {
            CASES
        }
        for (long c = 0; c < d; c++) memcpy(to + c * by->y.dimension, out[c], count * sizeof(REAL));
    }
}
"""


def source() -> str:
    """The whole unit: single and double precision, each for every number of dimensions."""
    parts = [HEADER]
    for real, numbers in FORMATS.items():
        *lower, highest = (number + "f" * (real == "float") for number in COEFFICIENTS[real])
        horner = "\n    ".join(f"for (int w = 0; w < W; w++) p[w] = p[w] * r[w] + {number};" for number in lower[::-1])
        unit = VECTORS + POWER.replace("POLYNOMIAL", horner).replace("HIGHEST", highest)
        calls = []
        for d in range(1, DIMENSIONS + 1):
            unit += ROWS.replace("REAL_D", f"REAL_{d}").replace("< D;", f"< {d};").replace("u[D]", f"u[{d}]")
            calls.append(f"case {d}: block_REAL_{d}(queries, keys, dk, values, dv, n, first, causal, out); break;")
        unit += ATTEND.replace("CASES", "\n            ".join(calls)).replace("DIMENSIONS", str(DIMENSIONS))
        for name, number in zip(("LOWEST", "ROUND", "BIAS", "MANTISSA"), numbers, strict=True):
            unit = unit.replace(name, number)
        parts.append(in_precision(unit, real))
    return "".join(parts)


KERNELS = Library(
    "attention", source, flags=("-ffp-contract=fast",), otherwise="attention among tokens runs on torch's own code"
)
