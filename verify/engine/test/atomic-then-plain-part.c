/* SPDX-License-Identifier: MIT */
/*
 * Half of the word has been stored to atomically, the other half never.
 * expect: error uninitialised 18
 */
#include <stdlib.h>
#include <string.h>
union word {
    int half[2];
    long whole;
};

int main(void)
{
    long whole;
    union word *w = malloc(sizeof *w);
    __atomic_store_n(&w->half[0], 1, __ATOMIC_RELAXED);
    whole = w->whole;
    free(w);
    return whole == 7;
}
