/* What all kernels share. Every .c file is compiled twice, once with -DFLOAT and once with -DDOUBLE; KERNEL names the
   functions that Python calls. */
#ifndef NATIVE_H
#define NATIVE_H

#include <stdint.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef DOUBLE
#define KERNEL(name) name##_double
typedef double real;
typedef int64_t integer; /* of the same size */
#define MANTISSA 52
#define BIAS 1023
#define ROUND 6755399441055744.0 /* 1.5 * 2^MANTISSA: x + ROUND holds x, rounded, in its lowest bits */
#else
#define KERNEL(name) name##_float
typedef float real;
typedef int32_t integer;
#define MANTISSA 23
#define BIAS 127
#define ROUND 12582912.0f
#endif

#define ALWAYS static inline __attribute__((always_inline)) /* so that arguments known to the compiler are constants */

#ifndef WIDTH
#define WIDTH 32 /* bytes of a vector */
#endif
typedef real vector __attribute__((vector_size(WIDTH)));
typedef integer bits __attribute__((vector_size(WIDTH)));
/* Lies at the address of any element of an array, but is slower to use. */
typedef real anywhere __attribute__((vector_size(WIDTH), aligned(sizeof(real)), may_alias));
enum { LANES = WIDTH / sizeof(real) };

ALWAYS vector choose(bits mask, vector yes, vector no) { return (vector)((mask & (bits)yes) | (~mask & (bits)no)); }

/* This thread's part of `count`, cut at multiples of 16. */
static inline void share(long count, long *from, long *to) {
    long threads = 1, thread = 0;
#ifdef _OPENMP
    threads = omp_get_num_threads();
    thread = omp_get_thread_num();
#endif
    long each = ((count + 15) / 16 + threads - 1) / threads * 16;
    *from = thread * each < count ? thread * each : count;
    *to = *from + each < count ? *from + each : count;
}

#endif
