/* SPDX-License-Identifier: MIT */
/*
 * Linearizability under explore: every call is marked, and each explored execution must have a linearization: an order
 * of the calls that a map allows and that respects happens-before. Keys are 1 and 2.
 */
#include <lade_explore.h>

enum lin_operation { LIN_GET, LIN_INSERT, LIN_REPLACE, LIN_REMOVE };

/* An argument is key * 100 + value; values are 1 to 99, 0 is none. */
static bool lin_step(void *state, int operation, long argument, long result)
{
    long *value = (long *)state + argument / 100 - 1;
    long before = *value;

    if (operation == LIN_INSERT) {
        if (before == 0)
            *value = argument % 100;
        return result == *value;
    }
    if (operation == LIN_REPLACE && before != 0)
        *value = argument % 100;
    if (operation == LIN_REMOVE)
        *value = 0;
    return result == before;
}

static void lin_setup(void)
{
    explore_spec(2 * sizeof(long), lin_step);
}

static long lin_result(uint64_t value)
{
    return value == NONE ? 0 : (long)value;
}

#ifdef LIN_BYTES
/* Both have the same hash. */
static size_t lin_size(uint64_t key)
{
    return (size_t)key;
}
#define lin_call(call, id, key, ...) call##text(id, "ab", lin_size(key), ##__VA_ARGS__)
#else
#define lin_call(call, id, key, ...) call(id, key, ##__VA_ARGS__)
#endif

static uint64_t lin_get(int id, uint64_t key)
{
    explore_begin(LIN_GET, (long)key * 100);
    uint64_t value = lin_call(get_, id, key);
    explore_end(lin_result(value));
    return value;
}

static uint64_t lin_insert(int id, uint64_t key, uint64_t value)
{
    explore_begin(LIN_INSERT, (long)(key * 100 + value));
    uint64_t winner = lin_call(insert_, id, key, value);
    explore_end(lin_result(winner));
    return winner;
}

static uint64_t lin_replace(int id, uint64_t key, uint64_t value)
{
    explore_begin(LIN_REPLACE, (long)(key * 100 + value));
    uint64_t old = lin_call(replace_, id, key, value);
    explore_end(lin_result(old));
    return old;
}

static uint64_t lin_remove(int id, uint64_t key)
{
    explore_begin(LIN_REMOVE, (long)key * 100);
    uint64_t old = lin_call(remove_, id, key);
    explore_end(lin_result(old));
    return old;
}
