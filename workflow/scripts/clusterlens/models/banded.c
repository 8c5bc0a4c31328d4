/* Softmax attention within a band and to global keys, and its gradient: see banded.py.

   Arrays are (texts, n, heads, d). A thread takes one head of one text and goes through its queries in strips. The scores
   of a strip are a small matrix: first the keys in its reach, then the g global ones. `bias` (texts, n + g) is 0 for keys
   that are seen, global ones only in the last g places, and -1e30 for others. `gone` (texts, heads, n, 2 half + 1 + g)
   is 1 where dropout takes a share away, or absent; what stays is multiplied by `gain`. With P = softmax(S),
   S = scale Q K^T + bias, P' = dropout(P) and O = P' V: dV = P'^T dO, dP = dropout(dO V^T),
   dS = P (dP - sum over keys of P dP), dQ = scale dS K, dK = scale dS^T Q. */
#include <string.h>

#include "../power.h"

#define LOG2E ((real)1.4426950408889634)
#define OUTSIDE ((real)-2e30) /* below -1e30 / ln 2: padding sees padding rather than nothing */
enum { STRIP = 30, TALL = 6, WIDE = 2, PAD = WIDE * LANES }; /* TALL x WIDE vectors of a product fill the registers */

struct sizes {
    long texts, n, heads, d, half, globals;
};

struct head {
    long n, d, half, globals;
    long first, row;     /* where its first token is, and how far the next */
    long columns, width; /* of the matrices of a strip; of the turned keys and values */
    real scale, gain;
    const real *q, *k, *v, *bias;
    const uint8_t *gone;
    real *turned_k, *turned_v; /* (d, width), tokens adjacent, the global ones last */
    real *global_k, *global_v; /* (g, d) */
    real *by_k, *by_v;         /* (g, d), their gradients */
    real *shares, *slopes;     /* (STRIP, columns) */
};

struct strip {
    long start, rows, from, keys; /* the first query, how many; the first key in reach, how many */
};

static long up(long count) { return (count + PAD - 1) / PAD * PAD; }

static real *aligned(void *memory) { return (real *)(((uintptr_t)memory + 63) / 64 * 64); }

ALWAYS void tile(const int tall, const int wide, long depth, const real *a, long down, long across, const real *b,
                 long b_row, real *c, long c_row, int add) {
    vector sum[TALL][WIDE];
    for (int i = 0; i < tall; i++)
        for (int v = 0; v < wide; v++) {
            sum[i][v] = (vector){0};
            if (add) sum[i][v] = *(anywhere *)(c + i * c_row + v * LANES);
        }
    for (long k = 0; k < depth; k++) {
        vector right[WIDE];
        for (int v = 0; v < wide; v++) right[v] = *(const anywhere *)(b + k * b_row + v * LANES);
        for (int i = 0; i < tall; i++)
            for (int v = 0; v < wide; v++) sum[i][v] += a[i * down + k * across] * right[v];
    }
    for (int i = 0; i < tall; i++)
        for (int v = 0; v < wide; v++) *(anywhere *)(c + i * c_row + v * LANES) = sum[i][v];
}

/* C = A B or C += A B, C being (m, n): A(i, k) = a[i down + k across], rows of B and of C are b_row and c_row apart. */
static void multiply(long m, long n, long depth, const real *a, long down, long across, const real *b, long b_row,
                     real *c, long c_row, int add) {
    long j = 0, i;
    for (; j + PAD <= n; j += PAD) {
        for (i = 0; i + TALL <= m; i += TALL)
            tile(TALL, WIDE, depth, a + i * down, down, across, b + j, b_row, c + i * c_row + j, c_row, add);
        for (; i < m; i++)
            tile(1, WIDE, depth, a + i * down, down, across, b + j, b_row, c + i * c_row + j, c_row, add);
    }
    for (; j < n; j++)
        for (i = 0; i < m; i++) {
            real sum = add ? c[i * c_row + j] : 0;
            for (long k = 0; k < depth; k++) sum += a[i * down + k * across] * b[k * b_row + j];
            c[i * c_row + j] = sum;
        }
}

/* e^s over its sum, in place, s being in units of ln 2; what is far below the largest becomes 0. */
static void softmax(real *s, long columns) {
    vector *x = (vector *)s, top = (vector){0} + OUTSIDE, sum = {0};
    for (long j = 0; j < columns / LANES; j++) top = choose(x[j] > top, x[j], top);
    real most = top[0], all = 0;
    for (int i = 1; i < LANES; i++) most = top[i] > most ? top[i] : most;
    for (long j = 0; j < columns / LANES; j++) {
        vector y = x[j] - most;
        bits far = y <= LOWEST;
        y = (vector)((bits)y & ~far);
        vector rounded = y + ROUND, r = y - (rounded - ROUND), p = (vector){0} + COEFFICIENTS[0];
        for (int c = 1; c <= DEGREE; c++) p = p * r + COEFFICIENTS[c];
        x[j] = (vector)((bits)(p * (vector)(((bits)rounded + BIAS) << MANTISSA)) & ~far);
        sum += x[j];
    }
    for (int i = 0; i < LANES; i++) all += sum[i];
    for (long j = 0; j < columns / LANES; j++) x[j] *= 1 / all;
}

static struct strip strip_at(const struct head *h, long start) {
    long n = h->n, rows = n - start < STRIP ? n - start : STRIP, from = start - h->half;
    long to = start + rows + h->half;
    from = from < 0 ? 0 : from;
    return (struct strip){start, rows, from, (to < n ? to : n) - from};
}

/* The columns [*low, *high) of a strip that hold the window of its row r. */
static void window(const struct head *h, const struct strip *s, long r, long *low, long *high) {
    long i = s->start + r - s->from;
    *low = i - h->half < 0 ? 0 : i - h->half;
    *high = i + h->half + 1 < s->keys ? i + h->half + 1 : s->keys;
}

/* The products of a strip's rows of x (n, row) with turned keys or values, and with the global ones. */
static void against(const struct head *h, const struct strip *s, const real *x, const real *turned, real *out) {
    const real *rows = x + s->start * h->row;
    multiply(s->rows, up(s->keys), h->d, rows, h->row, 1, turned + s->from, h->width, out, h->columns, 0);
    multiply(s->rows, h->globals, h->d, rows, h->row, 1, turned + h->n, h->width, out + s->keys,
             h->columns, 0);
}

/* out (rows of the strip) = matrix · x, x being keys or values, with the global ones apart. */
static void combine(const struct head *h, const struct strip *s, const real *matrix, const real *x, const real *global,
                    real *out) {
    real *rows = out + s->start * h->row;
    multiply(s->rows, h->d, s->keys, matrix, h->columns, 1, x + s->from * h->row, h->row, rows, h->row, 0);
    multiply(s->rows, h->d, h->globals, matrix + s->keys, h->columns, 1, global, h->d, rows, h->row, 1);
}

/* out (keys) += matrix^T · x (rows of the strip), with the global ones apart. */
static void spread(const struct head *h, const struct strip *s, const real *matrix, const real *x, real *out,
                   real *global) {
    const real *rows = x + s->start * h->row;
    multiply(s->keys, h->d, s->rows, matrix, 1, h->columns, rows, h->row, out + s->from * h->row, h->row, 1);
    multiply(h->globals, h->d, s->rows, matrix + s->keys, 1, h->columns, rows, h->row, global, h->d, 1);
}

/* P of a strip before dropout. */
static void attend(const struct head *h, const struct strip *s) {
    against(h, s, h->q, h->turned_k, h->shares);
    for (long r = 0; r < s->rows; r++) {
        long low, high, end = s->keys + h->globals;
        real *row = h->shares + r * h->columns;
        window(h, s, r, &low, &high);
        for (long j = 0; j < low; j++) row[j] = OUTSIDE;
        for (long j = low; j < high; j++) row[j] = (row[j] * h->scale + h->bias[s->from + j]) * LOG2E;
        for (long j = high; j < s->keys; j++) row[j] = OUTSIDE;
        for (long t = 0; t < h->globals; t++)
            row[s->keys + t] = (row[s->keys + t] * h->scale + h->bias[h->n + t]) * LOG2E;
        for (long j = end; j < up(end); j++) row[j] = OUTSIDE;
        softmax(row, up(end));
    }
}

static void drop(const struct head *h, const struct strip *s, real *matrix) {
    if (!h->gone) return;
    long half = h->half, globals = h->globals, band = 2 * half + 1;
    for (long r = 0; r < s->rows; r++) {
        long low, high, i = s->start + r;
        real *row = matrix + r * h->columns;
        window(h, s, r, &low, &high);
        const uint8_t *gone = h->gone + i * (band + globals), *near = gone + s->from - i + half;
        for (long j = low; j < high; j++) row[j] *= near[j] ? 0 : h->gain;
        for (long t = 0; t < globals; t++) row[s->keys + t] *= gone[band + t] ? 0 : h->gain;
    }
}

/* A head of these sizes in `memory`, or, without memory, how many numbers it needs. */
static long lay_out(struct head *h, const struct sizes *size, real *memory) {
    long reach = STRIP + 2 * size->half < size->n ? STRIP + 2 * size->half : size->n, at = 0;
    *h = (struct head){.n = size->n, .d = size->d, .half = size->half, .globals = size->globals};
    h->columns = up(reach + PAD + size->globals);
    h->width = up(size->n + size->globals) + PAD + LANES;
    long turned = up(size->d * h->width), few = up(size->globals * size->d), matrix = STRIP * h->columns;
    real **parts[] = {&h->turned_k, &h->turned_v, &h->global_k, &h->global_v, &h->by_k, &h->by_v, &h->shares, &h->slopes};
    long lengths[] = {turned, turned, few, few, few, few, matrix, matrix};
    for (int i = 0; i < 8; at += lengths[i++])
        if (memory) *parts[i] = memory + at;
    return at;
}

/* Take up one head of one text: its keys and values are turned, its sums set to 0. */
static void take(struct head *h, long task, const struct sizes *size, const real *q, const real *k, const real *v,
                 const real *bias, const long *chosen, const uint8_t *gone, real scale, real gain) {
    long text = task / size->heads;
    h->row = size->heads * h->d, h->first = text * h->n * h->row + task % size->heads * h->d;
    h->q = q + h->first, h->k = k + h->first, h->v = v + h->first, h->bias = bias + text * (h->n + h->globals);
    h->gone = gone ? gone + task * h->n * (2 * h->half + 1 + h->globals) : NULL;
    h->scale = scale, h->gain = gain;
    for (long j = 0; j < h->n + h->globals; j++) {
        const real *key = h->k + (j < h->n ? j : chosen[j - h->n]) * h->row, *value = h->v + (key - h->k);
        for (long c = 0; c < h->d; c++) {
            h->turned_k[c * h->width + j] = key[c];
            h->turned_v[c * h->width + j] = value[c];
        }
        if (j < h->n) continue;
        memcpy(h->global_k + (j - h->n) * h->d, key, h->d * sizeof(real));
        memcpy(h->global_v + (j - h->n) * h->d, value, h->d * sizeof(real));
    }
    memset(h->by_k, 0, h->globals * h->d * sizeof(real));
    memset(h->by_v, 0, h->globals * h->d * sizeof(real));
}

/* dS = scale P (dP - sum over keys of P dP), in place of dP. */
static void differentiate(const struct head *h, const struct strip *s) {
    for (long r = 0; r < s->rows; r++) {
        vector *p = (vector *)(h->shares + r * h->columns), *slope = (vector *)(h->slopes + r * h->columns), sum = {0};
        long vectors = up(s->keys + h->globals) / LANES;
        real mean = 0;
        for (long j = 0; j < vectors; j++) sum += p[j] * slope[j];
        for (int i = 0; i < LANES; i++) mean += sum[i];
        for (long j = 0; j < vectors; j++) slope[j] = h->scale * p[j] * (slope[j] - mean);
    }
}

void KERNEL(attend)(const real *q, const real *k, const real *v, const real *bias, const long *chosen,
                    const uint8_t *gone, real *out, const struct sizes *size, real scale, real gain) {
#pragma omp parallel
    {
        struct head h;
        void *memory = __builtin_calloc(lay_out(&h, size, NULL) + PAD, sizeof(real));
        lay_out(&h, size, aligned(memory));
#pragma omp for schedule(dynamic)
        for (long task = 0; task < size->texts * size->heads; task++) {
            take(&h, task, size, q, k, v, bias, chosen, gone, scale, gain);
            for (long start = 0; start < h.n; start += STRIP) {
                struct strip s = strip_at(&h, start);
                attend(&h, &s);
                drop(&h, &s, h.shares);
                combine(&h, &s, h.shares, h.v, h.global_v, out + h.first);
            }
        }
        __builtin_free(memory);
    }
}

/* by_q is written, by_k and by_v are added to. */
void KERNEL(gradient)(const real *q, const real *k, const real *v, const real *bias, const long *chosen,
                      const uint8_t *gone, const real *by_out, real *by_q, real *by_k, real *by_v,
                      const struct sizes *size, real scale, real gain) {
#pragma omp parallel
    {
        struct head h;
        void *memory = __builtin_calloc(lay_out(&h, size, NULL) + PAD, sizeof(real));
        lay_out(&h, size, aligned(memory));
#pragma omp for schedule(dynamic)
        for (long task = 0; task < size->texts * size->heads; task++) {
            take(&h, task, size, q, k, v, bias, chosen, gone, scale, gain);
            for (long start = 0; start < h.n; start += STRIP) {
                struct strip s = strip_at(&h, start);
                attend(&h, &s);
                against(&h, &s, by_out + h.first, h.turned_v, h.slopes);
                drop(&h, &s, h.slopes);
                differentiate(&h, &s);
                drop(&h, &s, h.shares);
                combine(&h, &s, h.slopes, h.k, h.global_k, by_q + h.first);
                spread(&h, &s, h.slopes, h.q, by_k + h.first, h.by_k);
                spread(&h, &s, h.shares, by_out + h.first, by_v + h.first, h.by_v);
            }
            for (long t = 0; t < h.globals; t++)
                for (long c = 0; c < h.d; c++) {
                    by_k[h.first + chosen[t] * h.row + c] += h.by_k[t * h.d + c];
                    by_v[h.first + chosen[t] * h.row + c] += h.by_v[t * h.d + c];
                }
        }
        __builtin_free(memory);
    }
}
