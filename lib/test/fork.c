/* SPDX-License-Identifier: MIT */
/* What a child of fork() may use, and what it must know. */
#include "../reclaim.h"
#include "forked.h"

#include <criterion/criterion.h>
#include <lade/fork.h>
#include <lade/lade.h>
#include <pthread.h>
#include <stdatomic.h>
#include <urcu/urcu-memb.h>

static void differ(void *before)
{
    child_check(lade_fork_generation() != *(uint32_t *)before);
}

static void differ_again(void *before)
{
    uint32_t mine = lade_fork_generation();

    differ(before);
    child_check(child_runs(differ, &mine) && child_runs(differ, before));
    child_check(lade_fork_generation() == mine);
}

Test(fork, each_process_has_its_generation, .timeout = 60)
{
    uint32_t before = lade_fork_generation();

    cr_assert(lade_fork_is_counted());
    cr_assert(child_runs(differ_again, &before));
    cr_assert_eq(lade_fork_generation(), before, "the parent's is as it was");
}

/* Its child has the parent's memory until it ends, so nothing of it may change. */
Test(fork, vfork_is_not_counted, .timeout = 60)
{
    uint32_t before = lade_fork_generation();
    pid_t child = vfork();

    if (child == 0)
        _exit(0);
    cr_assert(child_is_well(child));
    cr_assert_eq(lade_fork_generation(), before);
}

/* ---- the containers, with no other thread ---- */

static void use_bag(void *handle)
{
    struct lade_bag_handle *h = handle;
    uint64_t word, sum = 0;

    for (int i = 0; i < 10; i++) {
        child_check(lade_bag_draw(h, &word) == LADE_OK);
        sum += word;
    }
    child_check(sum == 55 && lade_bag_draw(h, &word) == LADE_EMPTY);
    word = 3;
    child_check(lade_bag_put_wait(h, &word, 0) == LADE_OK && lade_bag_draw_wait(h, &word, 0) == LADE_OK);
    child_check(lade_bag_draw_wait(h, &word, 0) == LADE_TIMEOUT);
}

Test(fork, a_child_uses_a_bag, .timeout = 60)
{
    const struct lade_bag_config config = {.capacity = 10, .handles = 2};
    struct lade_bag *bag;
    struct lade_bag_handle *h;
    uint64_t word;

    cr_assert(lade_bag_create(&bag, &config) == LADE_OK && lade_bag_join(bag, &h) == LADE_OK);
    for (word = 1; word <= 10; word++)
        cr_assert_eq(lade_bag_put(h, &word), LADE_OK);
    cr_assert(child_runs(use_bag, h));
    cr_assert_eq(lade_bag_put(h, &word), LADE_FULL, "what the child does is its own");
    lade_bag_destroy(bag);
}

struct rings {
    struct lade_spsc *spsc;
    struct lade_mpmc *mpmc;
    struct lade_mpmc_handle *handle;
};

static void use_rings(void *context)
{
    struct rings *r = context;
    uint64_t word = 0;

    for (uint64_t i = 0; i < 5; i++) {
        child_check(lade_spsc_pop(r->spsc, &word) == LADE_OK && word == i);
        child_check(lade_mpmc_pop(r->handle, &word) == LADE_OK && word == i);
    }
    child_check(lade_spsc_pop(r->spsc, &word) == LADE_EMPTY && lade_mpmc_pop(r->handle, &word) == LADE_EMPTY);
    child_check(lade_spsc_push(r->spsc, 7) == LADE_OK && lade_mpmc_push(r->handle, 7) == LADE_OK);
    child_check(lade_spsc_pop(r->spsc, &word) == LADE_OK && lade_mpmc_pop(r->handle, &word) == LADE_OK && word == 7);
    lade_spsc_destroy(r->spsc);
    lade_mpmc_destroy(r->mpmc);
}

Test(fork, a_child_uses_rings, .timeout = 60)
{
    struct rings r;
    uint64_t word;

    cr_assert_eq(lade_spsc_create(&r.spsc, &(struct lade_ring_config){.capacity = 5}), LADE_OK);
    cr_assert_eq(lade_mpmc_create(&r.mpmc, &(struct lade_ring_config){.capacity = 5, .handles = 1}), LADE_OK);
    cr_assert_eq(lade_mpmc_join(r.mpmc, &r.handle), LADE_OK);
    for (uint64_t i = 0; i < 5; i++)
        cr_assert(lade_spsc_push(r.spsc, i) == LADE_OK && lade_mpmc_push(r.handle, i) == LADE_OK);
    cr_assert(child_runs(use_rings, &r));
    cr_assert(lade_spsc_pop(r.spsc, &word) == LADE_OK && word == 0);
    cr_assert(lade_mpmc_pop(r.handle, &word) == LADE_OK && word == 0);
    lade_spsc_destroy(r.spsc);
    lade_mpmc_destroy(r.mpmc);
}

static void grow(struct lade_table *table, uint64_t from, uint64_t to)
{
    for (uint64_t key = from; key < to; key++)
        child_check(lade_table_insert(table, key, key + 1, NULL) == LADE_OK);
    for (uint64_t key = 0; key < to; key++) {
        uint64_t value = 0;
        child_check(lade_table_get(table, key, &value) == LADE_OK && value == key + 1);
    }
}

static void use_table(void *table)
{
    grow(table, 1000, 20000); /* its arrays are freed by a thread of the child's */
    lade_table_destroy(table);
}

Test(fork, a_child_uses_a_table, .timeout = 60)
{
    struct lade_table *table;

    if (!child_may_have_threads())
        return;
    urcu_memb_register_thread();
    cr_assert_eq(lade_table_create(&table, NULL), LADE_OK);
    grow(table, 0, 1000);
    await_library_thread();
    cr_assert(child_runs(use_table, table));
    grow(table, 1000, 2000);
    cr_assert_eq(forked_line, 0);
    lade_table_destroy(table);
    urcu_memb_unregister_thread();
}

static void use_split(void *split)
{
    unsigned part, again;

    for (uint64_t key = 0; key < 2000; key++)
        child_check(lade_split_route_word(split, key, &part) == LADE_OK &&
                    lade_split_route_word(split, key, &again) == LADE_OK && part == again);
    lade_split_destroy(split);
}

Test(fork, a_child_uses_a_split, .timeout = 60)
{
    static const uint32_t weights[2] = {8, 2};
    const struct lade_split_config config = {.parts = 2, .weights = weights, .rule = LADE_SPLIT_COIN};
    struct lade_split *split;
    unsigned part;

    if (!child_may_have_threads())
        return;
    urcu_memb_register_thread();
    cr_assert_eq(lade_split_create(&split, &config, NULL), LADE_OK);
    for (uint64_t key = 0; key < 1000; key++)
        cr_assert_eq(lade_split_route_word(split, key, &part), LADE_OK);
    await_library_thread();
    cr_assert(child_runs(use_split, split));
    lade_split_destroy(split);
    urcu_memb_unregister_thread();
}

struct counted {
    struct lade_ref_deferred ref;
    struct lade_ref plain;
    int released;
};

static void release_plain(struct lade_ref *ref)
{
    ((struct counted *)((char *)ref - offsetof(struct counted, plain)))->released++;
}

static void release_deferred(struct lade_ref_deferred *ref)
{
    ((struct counted *)ref)->released++;
}

static void use_refs(void *object)
{
    struct counted *o = object;

    child_check(lade_ref_put(&o->plain, release_plain) == LADE_RELEASED && o->released == 1);
    if (!child_may_have_threads())
        return;
    child_check(lade_ref_put_deferred(&o->ref, release_deferred) == LADE_RELEASED);
    lade_ref_barrier();
    child_check(o->released == 2);
}

Test(fork, a_child_has_its_own_references, .timeout = 60)
{
    struct counted object = {.released = 0};

    lade_ref_init(&object.plain);
    lade_ref_init(&object.ref.ref);
    cr_assert(child_runs(use_refs, &object));
    cr_assert(object.released == 0 && lade_ref_count(&object.plain) == 1 && lade_ref_count(&object.ref.ref) == 1);
}

/* ---- while other threads are inside ---- */

enum { BUSY = 3, ROUNDS = 100, HELD = 50 };

static atomic_bool ends;
static pthread_barrier_t meeting;
static struct lade_bag *busy_bag;
static struct lade_mpmc *busy_ring;

/* Takes words out and puts them back. */
static void *turn_over(void *unused)
{
    struct lade_bag_handle *b;
    struct lade_mpmc_handle *m;

    if (lade_bag_join(busy_bag, &b) != LADE_OK || lade_mpmc_join(busy_ring, &m) != LADE_OK)
        abort();
    pthread_barrier_wait(&meeting);
    while (!atomic_load(&ends)) {
        uint64_t word;
        if (lade_bag_draw(b, &word) == LADE_OK && lade_bag_put(b, &word) != LADE_OK)
            abort();
        if (lade_mpmc_pop(m, &word) == LADE_OK && lade_mpmc_push(m, word) != LADE_OK)
            abort();
    }
    return unused;
}

/* To the child the other threads have stopped: each has a word of each container at most. */
static void take_all(void *unused)
{
    struct lade_bag_handle *b;
    struct lade_mpmc_handle *m;
    bool drawn[HELD + 1] = {false}, popped[HELD + 1] = {false};
    uint64_t word;
    int bag = 0, ring = 0;

    (void)unused;
    child_check(lade_bag_join(busy_bag, &b) == LADE_OK && lade_mpmc_join(busy_ring, &m) == LADE_OK);
    for (; lade_bag_draw(b, &word) == LADE_OK; bag++) {
        child_check(word <= HELD && !drawn[word]);
        drawn[word % (HELD + 1)] = true;
    }
    for (; lade_mpmc_pop(m, &word) == LADE_OK; ring++) {
        child_check(word <= HELD && !popped[word]);
        popped[word % (HELD + 1)] = true;
    }
    child_check(bag >= HELD - BUSY && ring >= HELD - BUSY);
    lade_bag_destroy(busy_bag);
    lade_mpmc_destroy(busy_ring);
}

Test(fork, a_child_continues_where_others_were_inside, .timeout = 60)
{
    const struct lade_bag_config config = {.capacity = HELD, .handles = BUSY + 2};
    struct lade_bag_handle *b;
    struct lade_mpmc_handle *m;
    pthread_t thread[BUSY];

    cr_assert(lade_bag_create(&busy_bag, &config) == LADE_OK && lade_bag_join(busy_bag, &b) == LADE_OK);
    cr_assert_eq(lade_mpmc_create(&busy_ring, &(struct lade_ring_config){.capacity = HELD, .handles = BUSY + 2}),
                 LADE_OK);
    cr_assert_eq(lade_mpmc_join(busy_ring, &m), LADE_OK);
    for (uint64_t word = 1; word <= HELD; word++)
        cr_assert(lade_bag_put(b, &word) == LADE_OK && lade_mpmc_push(m, word) == LADE_OK);
    pthread_barrier_init(&meeting, NULL, BUSY + 1);
    for (int i = 0; i < BUSY; i++)
        cr_assert_eq(pthread_create(&thread[i], NULL, turn_over, NULL), 0);
    pthread_barrier_wait(&meeting);
    for (int round = 0; round < ROUNDS; round++)
        cr_assert(child_runs(take_all, NULL), "round %d", round);
    atomic_store(&ends, true);
    for (int i = 0; i < BUSY; i++)
        cr_assert_eq(pthread_join(thread[i], NULL), 0);
    lade_bag_destroy(busy_bag);
    lade_mpmc_destroy(busy_ring);
}

/* ---- while another thread makes the first object ---- */

static void *start_first(void *unused)
{
    pthread_barrier_wait(&meeting);
    return lade_reclaim_start() == LADE_OK ? &meeting : unused;
}

static void start_again(void *unused)
{
    (void)unused;
    child_check(lade_reclaim_start() == LADE_OK);
    lade_ref_barrier();
}

static void fork_at_the_start(void *unused)
{
    pthread_t thread;
    void *answer = NULL;

    (void)unused;
    pthread_barrier_init(&meeting, NULL, 2);
    child_check(pthread_create(&thread, NULL, start_first, NULL) == 0);
    pthread_barrier_wait(&meeting);
    child_check(child_runs(start_again, NULL));
    child_check(pthread_join(thread, &answer) == 0 && answer);
}

Test(fork, forks_while_the_library_starts_its_thread, .timeout = 60)
{
    if (!child_may_have_threads() || !child_may_come_any_time())
        return;
    for (int round = 0; round < 2 * ROUNDS; round++)
        cr_assert(child_runs(fork_at_the_start, NULL), "round %d", round);
}
