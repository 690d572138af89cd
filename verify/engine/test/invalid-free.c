/* SPDX-License-Identifier: MIT */
/*
 * A free of an address inside a block.
 *
 * expect: error invalid-free
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int main(void)
{
    char *p = malloc(8);
    free(p + 1);
    return 0;
}
