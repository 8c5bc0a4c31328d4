/* What it takes to compute 2^x for vectors: 2^(n + r), a polynomial in r, n into the exponent bits. */
#ifndef POWER_H
#define POWER_H

#include "native.h"

/* 2^r for |r| <= 1/2, highest power first: minimax polynomials, relative error 2e-16 and 7e-8. */
#ifdef DOUBLE
#define LOWEST -1022.0
static const real COEFFICIENTS[] = {7.03727953058280352e-9, 1.02085379045521639e-7,  1.32156628318461028e-6,
                                    1.52526581165613843e-5, 0.000154035299611359555, 0.00133335582285614755,
                                    0.00961812910803458869, 0.0555041086644588332,   0.240226506959087678,
                                    0.693147180559949775,   1.00000000000000007};
#else
#define LOWEST -126.0f
static const real COEFFICIENTS[] = {0.00132764726319508761f, 0.00967554134312132739f, 0.055507132718556442f,
                                    0.240221197237107196f,   0.693146967065035214f,   1.00000007165471414f};
#endif
enum { DEGREE = sizeof COEFFICIENTS / sizeof(real) - 1 };

#endif
