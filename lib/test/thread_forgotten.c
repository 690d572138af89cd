/* SPDX-License-Identifier: MIT */
/* With the library of debug builds: a call by a thread that has not entered is reported. */
#include <criterion/criterion.h>
#include <lade/lade.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct lade_table *made(void)
{
    struct lade_table *table;

    cr_assert_eq(lade_table_create(&table, &(struct lade_table_config){.seed = 1}), LADE_OK);
    return table;
}

Test(thread_forgotten, a_thread_that_has_entered_continues)
{
    uint64_t value = 0;

    cr_assert_eq(lade_thread_enter(), LADE_OK);
    struct lade_table *table = made();
    cr_assert_eq(lade_table_insert(table, 1, 2, &value), LADE_OK);
    cr_assert_eq(lade_table_get(table, 1, &value), LADE_OK);
    cr_assert_eq(value, 2);
    lade_table_destroy(table);
    lade_thread_leave();
}

/* How a child ends that runs this. */
static int signal_of(void (*body)(struct lade_table *table))
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        body(made());
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void get(struct lade_table *table)
{
    uint64_t value = 0;

    cr_assert_eq(lade_table_get(table, 1, &value), LADE_ABSENT);
}

static void insert(struct lade_table *table)
{
    uint64_t value = 0;

    cr_assert_eq(lade_table_insert(table, 1, 2, &value), LADE_OK);
}

static void get_after_leave(struct lade_table *table)
{
    if (lade_thread_enter() != LADE_OK)
        _exit(1);
    lade_thread_leave();
    get(table);
}

static void get_inside(struct lade_table *table)
{
    if (lade_thread_enter() != LADE_OK)
        _exit(1);
    get(table);
}

Test(thread_forgotten, aborts)
{
    cr_assert_eq(signal_of(get), SIGABRT);
    cr_assert_eq(signal_of(insert), SIGABRT);
    cr_assert_eq(signal_of(get_after_leave), SIGABRT);
    cr_assert_eq(signal_of(get_inside), 0);
}
