/* SPDX-License-Identifier: MIT */
/*
 * The word changes, but no thread wakes the one that waits.
 * expect: error deadlock 29
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int word;
static int data;

static void *sender(void *arg)
{
    data = 1;
    atomic_store(&word, 1);
    
    return arg;
}

int main(void)
{
    pthread_t t;

    pthread_create(&t, NULL, sender, NULL);
    while (atomic_load(&word) == 0)
        syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
    pthread_join(t, NULL);
    return data != 1;
}
