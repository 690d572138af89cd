/* SPDX-License-Identifier: MIT */
/*
 * An atomic access that is not aligned to its size is none on any processor that counts.
 *
 * expect: unsupported
 * says: not aligned
 */
#include <stddef.h>

static struct __attribute__((packed)) {
    char c;
    int n;
} x;

int main(void)
{
    return __atomic_load_n(&x.n, __ATOMIC_RELAXED);
}
