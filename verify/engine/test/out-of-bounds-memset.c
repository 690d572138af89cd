/* SPDX-License-Identifier: MIT */
/*
 * The same by memset.
 *
 * expect: error out-of-bounds
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <string.h>
int main(void)
{
    char *p = malloc(10);
    memset(p, 0, 11);
    free(p);
    return 0;
}
