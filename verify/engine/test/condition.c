/* SPDX-License-Identifier: MIT */
/*
 * What is not modelled is refused.
 *
 * expect: unsupported
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_cond_t c;

int main(void)
{
    return pthread_cond_signal(&c);
}
