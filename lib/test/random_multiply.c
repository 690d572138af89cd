/* SPDX-License-Identifier: MIT */
/* lade_multiply() as machines without 128-bit integers get it. */
#undef __SIZEOF_INT128__
#include <lade/random.h>

uint64_t multiply_portably(uint64_t a, uint64_t b, uint64_t *low);

uint64_t multiply_portably(uint64_t a, uint64_t b, uint64_t *low)
{
    return lade_multiply(a, b, low);
}
