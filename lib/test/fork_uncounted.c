/* SPDX-License-Identifier: MIT */
/* Forks cannot be counted when there is no memory for it. */
#include "../reclaim.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <lade/fork.h>
#include <lade/table.h>
#include <pthread.h>

static bool has_memory;
static int calls;

/* Takes the place of the system's. */
int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
    (void)before, (void)parent, (void)child;
    calls++;
    return has_memory ? 0 : ENOMEM;
}

Test(fork_uncounted, nothing_with_threads_is_made_until_there_is_memory)
{
    struct lade_table *table = NULL;

    cr_assert_eq(calls, 1, "it was tried when the library was loaded");
    cr_assert(!lade_fork_is_counted());
    cr_assert_eq(lade_reclaim_start(), LADE_NO_MEMORY);
    cr_assert_eq(lade_table_create(&table, NULL), LADE_NO_MEMORY);
    has_memory = true;
    calls = 0;
    cr_assert_eq(lade_table_create(&table, NULL), LADE_OK);
    cr_assert(lade_fork_is_counted());
    cr_assert_eq(calls, 1, "once is enough");
    lade_table_destroy(table);
}
