/* SPDX-License-Identifier: MIT */
/*
 * Only the block that came first is still reachable, and a block that is freed keeps nothing: its neighbour is lost.
 * expect: error leak 19
 */
#include <stdlib.h>
struct node {
    long value;
    struct node *next;
};
static struct node *kept, *freed;

int main(void)
{
    kept = malloc(sizeof *kept);
    kept->value = 1;
    kept->next = NULL;
    freed = malloc(sizeof *freed);
    freed->next = malloc(sizeof *freed);
    freed->next->next = NULL;
    free(freed);
    return 0;
}
