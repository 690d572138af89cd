/* SPDX-License-Identifier: MIT */
/*
 * A store by a special instruction has no hook.
 * expect: unsupported
 */
#include <emmintrin.h>
static int data;

int main(void)
{
    _mm_stream_si32(&data, 1);
    return 0;
}
