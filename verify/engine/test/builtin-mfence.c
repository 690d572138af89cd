/* SPDX-License-Identifier: MIT */
/*
 * A processor's fence is none of C11.
 * expect: unsupported
 */
#include <emmintrin.h>

int main(void)
{
    _mm_mfence();
    return 0;
}
