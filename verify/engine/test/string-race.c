/* SPDX-License-Identifier: MIT */
/*
 * So do the string functions.
 * expect: error race
 */
#include <pthread.h>
#include <stdlib.h>
static char text[] = "12";

static void *run(void *arg)
{
    text[1] = '3';
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    long n = strtol(text, NULL, 10);
    pthread_join(t, NULL);
    return n == 7;
}
