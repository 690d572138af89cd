/* SPDX-License-Identifier: MIT */
/*
 * C11 threads and mutexes.
 *
 * expect: pass 2
 */
#include <assert.h>
#include <threads.h>

static mtx_t m;
static int x;

static int body(void *arg)
{
    mtx_lock(&m);
    x++;
    mtx_unlock(&m);
    return *(int *)arg;
}

int main(void)
{
    thrd_t a, b;
    int one = 1, two = 2, r;

    mtx_init(&m, mtx_plain);
    thrd_create(&a, body, &one);
    thrd_create(&b, body, &two);
    thrd_join(a, &r);
    assert(r == 1);
    thrd_join(b, &r);
    assert(r == 2 && x == 2);
    mtx_destroy(&m);
    return 0;
}
