/* SPDX-License-Identifier: MIT */
/* The history checker on hand-written histories, and on random ones against a search of all orders. */
#include "check.h"
#include "history.h"

#include <lade/status.h>

#define PUSH(thread, from, to, word)                                                                                   \
    {                                                                                                                  \
        from, to, thread, HISTORY_PUSH, LADE_OK, word                                                                  \
    }
#define FULL(thread, from, to, word)                                                                                   \
    {                                                                                                                  \
        from, to, thread, HISTORY_PUSH, LADE_FULL, word                                                                \
    }
#define POP(thread, from, to, word)                                                                                    \
    {                                                                                                                  \
        from, to, thread, HISTORY_POP, LADE_OK, word                                                                   \
    }
#define EMPTY(thread, from, to)                                                                                        \
    {                                                                                                                  \
        from, to, thread, HISTORY_POP, LADE_EMPTY, 0                                                                   \
    }
#define MOST 10

struct example {
    const char *name;
    uint64_t capacity;
    enum history_verdict verdict;
    struct history_op op[MOST];
};

static const struct example example[] = {
    {"nothing at all", 1, HISTORY_LINEARIZABLE, {{0}}},
    {"one after the other",
     2,
     HISTORY_LINEARIZABLE,
     {PUSH(0, 1, 2, 7), PUSH(0, 3, 4, 8), POP(1, 5, 6, 7), POP(1, 7, 8, 8), EMPTY(1, 9, 10)}},
    {"a pop beside the push it takes from", 1, HISTORY_LINEARIZABLE, {PUSH(0, 1, 4, 7), POP(1, 2, 3, 7)}},
    {"empty beside a push", 1, HISTORY_LINEARIZABLE, {PUSH(0, 1, 4, 7), EMPTY(1, 2, 3), POP(1, 5, 6, 7)}},
    {"pushes side by side, popped the other way round",
     2,
     HISTORY_LINEARIZABLE,
     {PUSH(0, 1, 4, 7), PUSH(1, 2, 3, 8), POP(1, 5, 6, 8), POP(0, 7, 8, 7)}},
    {"full, then a free slot",
     1,
     HISTORY_LINEARIZABLE,
     {PUSH(0, 1, 2, 7), FULL(0, 3, 4, 8), POP(1, 5, 6, 7), PUSH(0, 7, 8, 8), POP(1, 9, 10, 8)}},
    {"full beside the pop that frees a slot",
     1,
     HISTORY_LINEARIZABLE,
     {PUSH(0, 1, 2, 7), FULL(0, 4, 5, 8), POP(1, 3, 6, 7)}},
    {"a batch with a word of another thread between",
     3,
     HISTORY_LINEARIZABLE,
     {PUSH(0, 1, 6, 7), PUSH(0, 1, 6, 9), PUSH(1, 2, 3, 8), POP(1, 7, 8, 7), POP(1, 9, 10, 8), POP(1, 11, 12, 9)}},
    {"full and empty in one long push",
     1,
     HISTORY_LINEARIZABLE,
     {PUSH(0, 1, 10, 7), EMPTY(1, 2, 3), FULL(1, 4, 5, 8), POP(1, 6, 7, 7), EMPTY(1, 8, 9)}},
    {"a word from nowhere", 2, HISTORY_NOT, {PUSH(0, 1, 2, 7), POP(1, 3, 4, 9)}},
    {"a word twice", 2, HISTORY_NOT, {PUSH(0, 1, 2, 7), POP(0, 3, 6, 7), POP(1, 4, 5, 7)}},
    {"a pop before its push", 2, HISTORY_NOT, {POP(1, 1, 2, 7), PUSH(0, 3, 4, 7)}},
    {"false empty", 2, HISTORY_NOT, {PUSH(0, 1, 2, 7), EMPTY(1, 3, 4), POP(1, 5, 6, 7)}},
    {"false empty beside a slow push (Vyukov's ring)",
     2,
     HISTORY_NOT,
     {PUSH(0, 1, 8, 7), PUSH(1, 2, 3, 8), EMPTY(1, 4, 5), POP(1, 9, 10, 7), POP(1, 11, 12, 8)}},
    {"false full", 2, HISTORY_NOT, {PUSH(0, 1, 2, 7), FULL(1, 3, 4, 8), POP(0, 5, 6, 7)}},
    {"too many words", 1, HISTORY_NOT, {PUSH(0, 1, 2, 7), PUSH(1, 3, 4, 8), POP(0, 5, 6, 7), POP(0, 7, 8, 8)}},
    {"last in, first out", 2, HISTORY_NOT, {PUSH(0, 1, 2, 7), PUSH(0, 3, 4, 8), POP(1, 5, 6, 8), POP(1, 7, 8, 7)}},
    {"a lost word", 2, HISTORY_NOT, {PUSH(0, 1, 2, 7), PUSH(0, 3, 4, 8), POP(1, 5, 6, 8), EMPTY(1, 7, 8)}},
    {"a batch out of order", 3, HISTORY_NOT, {PUSH(0, 1, 2, 7), PUSH(0, 1, 2, 8), POP(1, 3, 4, 8), POP(1, 3, 4, 7)}},
    {"each pair explained, not the whole",
     2,
     HISTORY_NOT,
     {PUSH(0, 1, 4, 7), PUSH(1, 2, 3, 8), POP(0, 5, 6, 7), POP(0, 7, 8, 8), FULL(1, 9, 10, 9)}},
    {"a short batch that was never full",
     2,
     HISTORY_NOT,
     {PUSH(0, 1, 2, 1), PUSH(0, 3, 8, 2), FULL(0, 3, 8, 3), POP(1, 4, 5, 1), EMPTY(1, 6, 7), POP(1, 9, 10, 2)}},
    {"returns before it is invoked", 1, HISTORY_INVALID, {PUSH(0, 2, 1, 7)}},
    {"two at a time in one thread", 2, HISTORY_INVALID, {PUSH(0, 1, 4, 7), PUSH(0, 2, 3, 8)}},
};

#define PUT(thread, from, to, word) PUSH(thread, from, to, word) /* the same numbers */
#define DRAW(thread, from, to, word) POP(thread, from, to, word)
#define TRADE(thread, from, to, in, out)                                                                               \
    {                                                                                                                  \
        from, to, thread, HISTORY_EXCHANGE, LADE_OK, HISTORY_PAIR(in, out)                                             \
    }
#define NO_TRADE(thread, from, to, in)                                                                                 \
    {                                                                                                                  \
        from, to, thread, HISTORY_EXCHANGE, LADE_EMPTY, HISTORY_PAIR(in, 0)                                            \
    }

static const struct example bag_example[] = {
    {"bag: drawn in any order",
     2,
     HISTORY_LINEARIZABLE,
     {PUT(0, 1, 2, 7), PUT(0, 3, 4, 8), DRAW(1, 5, 6, 8), DRAW(1, 7, 8, 7), EMPTY(1, 9, 10)}},
    {"bag: equal words",
     2,
     HISTORY_LINEARIZABLE,
     {PUT(0, 1, 2, 7), PUT(0, 3, 4, 7), FULL(0, 5, 6, 7), DRAW(1, 7, 8, 7), DRAW(1, 9, 10, 7), EMPTY(1, 11, 12)}},
    {"bag: exchange leaves what went in",
     1,
     HISTORY_LINEARIZABLE,
     {NO_TRADE(0, 1, 2, 6), PUT(0, 3, 4, 7), TRADE(1, 5, 6, 8, 7), FULL(0, 7, 8, 9), DRAW(0, 9, 10, 8)}},
    {"bag: a put after the thread that checks",
     2,
     HISTORY_NOT,
     {PUT(0, 1, 2, 7), EMPTY(1, 3, 8), PUT(0, 4, 5, 8), DRAW(0, 6, 7, 7), DRAW(0, 9, 10, 8)}},
    {"bag: a draw after the thread that checks",
     2,
     HISTORY_NOT,
     {PUT(0, 1, 2, 7), FULL(1, 3, 8, 9), DRAW(0, 4, 5, 7), PUT(0, 6, 7, 8)}},
    {"bag: false full", 2, HISTORY_NOT, {PUT(0, 1, 2, 7), FULL(1, 3, 4, 8)}},
    {"bag: a word twice", 2, HISTORY_NOT, {PUT(0, 1, 2, 7), DRAW(0, 3, 6, 7), DRAW(1, 4, 5, 7)}},
    {"bag: what was exchanged is gone", 2, HISTORY_NOT, {PUT(0, 1, 2, 7), TRADE(0, 3, 4, 8, 7), DRAW(1, 5, 6, 7)}},
    {"bag: exchanged for itself", 2, HISTORY_NOT, {TRADE(0, 1, 2, 8, 8)}},
    {"bag: no exchange though there was a word", 2, HISTORY_NOT, {PUT(0, 1, 2, 7), NO_TRADE(1, 3, 4, 8)}},
};

#define KEY(thread, from, to, kind, status, in, out)                                                                   \
    {                                                                                                                  \
        from, to, thread, HISTORY_##kind, LADE_##status, HISTORY_PAIR(in, out)                                         \
    }

/* The capacity is the initial value. */
static const struct example key_example[] = {
    {"key: all operations in a row",
     0,
     HISTORY_LINEARIZABLE,
     {KEY(0, 1, 2, GET, ABSENT, 0, 0), KEY(0, 3, 4, INSERT, OK, 7, 7), KEY(1, 5, 6, INSERT, PRESENT, 8, 7),
      KEY(1, 7, 8, REPLACE, OK, 9, 7), KEY(0, 9, 10, GET, OK, 0, 9), KEY(0, 11, 12, REMOVE, OK, 0, 9),
      KEY(1, 13, 14, REPLACE, ABSENT, 6, 0), KEY(1, 15, 16, REMOVE, ABSENT, 0, 0)}},
    {"key: what was there at the beginning", 5, HISTORY_LINEARIZABLE, {KEY(0, 1, 2, REMOVE, OK, 0, 5)}},
    {"key: the later of two inserts wins beside the earlier",
     0,
     HISTORY_LINEARIZABLE,
     {KEY(0, 1, 4, INSERT, PRESENT, 7, 8), KEY(1, 2, 3, INSERT, OK, 8, 8)}},
    {"key: two winners", 0, HISTORY_NOT, {KEY(0, 1, 4, INSERT, OK, 7, 7), KEY(1, 2, 3, INSERT, OK, 8, 8)}},
    {"key: another winner's value",
     0,
     HISTORY_NOT,
     {KEY(0, 1, 2, INSERT, OK, 7, 7), KEY(1, 3, 4, INSERT, PRESENT, 8, 9)}},
    {"key: a value from before", 5, HISTORY_NOT, {KEY(0, 1, 2, REPLACE, OK, 7, 5), KEY(1, 3, 4, GET, OK, 0, 5)}},
    {"key: removed and back again", 5, HISTORY_NOT, {KEY(0, 1, 2, REMOVE, OK, 0, 5), KEY(1, 3, 4, GET, OK, 0, 5)}},
    {"key: removed twice", 5, HISTORY_NOT, {KEY(0, 1, 4, REMOVE, OK, 0, 5), KEY(1, 2, 3, REMOVE, OK, 0, 5)}},
    {"key: lost", 0, HISTORY_NOT, {KEY(0, 1, 2, INSERT, OK, 7, 7), KEY(1, 3, 4, GET, ABSENT, 0, 0)}},
};

static size_t length_of(const struct history_op *op)
{
    size_t count = 0;

    while (count < MOST && op[count].returned != 0)
        count++;
    return count;
}

/* Tries every order; only for a handful of operations. */
static bool any_order(const struct history_spec *spec, uint64_t capacity, const struct history_op *op, size_t count,
                      size_t *order, size_t depth, unsigned used)
{
    if (depth == count)
        return history_replay(spec, capacity, op, count, order);
    for (size_t i = 0; i < count; i++) {
        if (used >> i & 1)
            continue;
        order[depth] = i;
        if (any_order(spec, capacity, op, count, order, depth + 1, used | 1u << i))
            return true;
    }
    return false;
}

/* Random results and stamps: some are linearizable, most are not. */
static size_t random_history(uint64_t *random, unsigned kinds, struct history_op *op)
{
    size_t count = 3 + check_below(random, 4);
    uint64_t last[3] = {0, 0, 0};

    for (size_t i = 0; i < count; i++) {
        unsigned thread = check_below(random, 3);
        uint64_t from = last[thread] + 1 + check_below(random, 3);
        uint64_t to = from + 1 + check_below(random, 5);
        int kind = i == 0 ? HISTORY_PUSH : (int)check_below(random, kinds);
        int status = check_below(random, 4) != 0 ? LADE_OK : kind == HISTORY_PUSH ? LADE_FULL : LADE_EMPTY;
        uint64_t word = 1 + check_below(random, 2);
        if (kind > HISTORY_POP)
            word = HISTORY_PAIR(1 + check_below(random, 2), word);
        op[i] = (struct history_op){from, to, thread, kind, status, word};
        last[thread] = to;
    }
    return count;
}

static void against_all_orders(const struct history_spec *spec, unsigned kinds, const char *name)
{
    uint64_t random = check_seed();
    unsigned rounds = check_full() ? 100000 : 10000, accepted = 0, rejected = 0, wrong = 0;

    for (unsigned round = 0; round < rounds; round++) {
        struct history_op op[MOST];
        size_t order[MOST], count = random_history(&random, kinds, op);
        uint64_t capacity = 1 + check_below(&random, 2);
        bool expected = any_order(spec, capacity, op, count, order, 0, 0);
        enum history_verdict verdict = history_check(spec, capacity, op, count, order, NULL);

        if (verdict == HISTORY_LINEARIZABLE && !history_replay(spec, capacity, op, count, order))
            wrong++;
        wrong += (verdict == HISTORY_LINEARIZABLE) != expected || verdict == HISTORY_INVALID;
        accepted += expected;
        rejected += !expected;
    }
    check(wrong == 0 && accepted > 0 && rejected > 0, name,
          "random histories: %u linearizable, %u not, %u judged otherwise than by trying all orders", accepted,
          rejected, wrong);
}

/* Many concurrent operations: infeasible without a record of the visited states. */
static void wide(void)
{
    enum { WIDE = 16 };
    struct history_op op[WIDE + 2];
    size_t visited = 0;

    for (unsigned i = 0; i < WIDE; i++)
        op[i] = (struct history_op){1, 100, i, HISTORY_POP, LADE_EMPTY, 0};
    op[WIDE] = (struct history_op)PUSH(WIDE, 101, 102, 7);
    op[WIDE + 1] = (struct history_op)EMPTY(WIDE, 103, 104);
    enum history_verdict verdict = history_check(&history_queue, 1, op, WIDE + 2, NULL, &visited);
    check(verdict == HISTORY_NOT && visited <= (1u << WIDE) + 2, "wide history",
          "%d operations at once, rejected after %zu states", WIDE, visited);
}

/* The witness checker must be able to reject. */
static void replay(void)
{
    static const struct history_op op[] = {PUSH(0, 1, 2, 7), PUSH(0, 3, 4, 8), POP(1, 1, 6, 7)};
    static const size_t right[] = {0, 2, 1}, early[] = {1, 0, 2}, twice[] = {0, 2, 0}, false_pop[] = {2, 0, 1};

    check(history_replay(&history_queue, 2, op, 3, right) && !history_replay(&history_queue, 2, op, 3, early) &&
              !history_replay(&history_queue, 2, op, 3, twice) && !history_replay(&history_queue, 2, op, 3, false_pop),
          "witness", "one right order accepted, three wrong ones rejected");
}

static void examples(const struct history_spec *spec, const struct example *all, size_t count_all)
{
    static const char *const text[] = {"linearizable", "not linearizable", "gave up", "invalid"};

    for (size_t i = 0; i < count_all; i++) {
        const struct example *e = &all[i];
        size_t count = length_of(e->op), order[MOST];
        enum history_verdict verdict = history_check(spec, e->capacity, e->op, count, order, NULL);
        bool right = verdict == e->verdict;
        if (verdict == HISTORY_LINEARIZABLE)
            right = right && history_replay(spec, e->capacity, e->op, count, order);
        check(right, e->name, "%zu operations, %s", count, text[verdict]);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    examples(&history_queue, example, sizeof example / sizeof *example);
    examples(&history_bag, bag_example, sizeof bag_example / sizeof *bag_example);
    examples(&history_key, key_example, sizeof key_example / sizeof *key_example);
    replay();
    wide();
    against_all_orders(&history_queue, 2, "queue");
    against_all_orders(&history_bag, 3, "bag");
    return check_end();
}
