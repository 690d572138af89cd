/* SPDX-License-Identifier: MIT */
/*
 * A try may fail, and a wait with a deadline may time out, only when there is no permit.
 *
 * expect: pass
 */
#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <time.h>

static sem_t s;

int main(void)
{
    struct timespec end = {.tv_sec = 1};
    int n;
    sem_init(&s, 0, 2);
    assert(sem_trywait(&s) == 0);
    assert(sem_timedwait(&s, &end) == 0);
    assert(sem_trywait(&s) == -1 && errno == EAGAIN);
    assert(sem_timedwait(&s, &end) == -1 && errno == ETIMEDOUT);
    sem_post(&s);
    assert(sem_getvalue(&s, &n) == 0 && n == 1);
    return 0;
}
