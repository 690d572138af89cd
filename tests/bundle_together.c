/* SPDX-License-Identifier: MIT */
/* Every module from a separate bundle: copies of the same code are static in several of them, and objects pass between them. */
#include <lade_all.h> /* guards must let the same declarations come again */

#include <lade_bag.h>
#include <lade_deferred.h>
#include <lade_event.h>
#include <lade_random.h>
#include <lade_ref.h>
#include <lade_ring.h>
#include <lade_split.h>
#include <lade_status.h>
#include <lade_table.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <urcu/urcu-memb.h>

static void expect(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    exit(1);
}
#define EXPECT(condition) expect(condition, #condition)

static int freed;

static void release_now(struct lade_ref *ref)
{
    (void)ref;
    freed++;
}

static void release_later(struct lade_ref_deferred *ref)
{
    (void)ref;
    freed++;
}

/* The bag has its own copy of the functions that count. */
static void bag_of_refs(void)
{
    struct lade_bag_config config = {.kind = LADE_BAG_REFS, .capacity = 4, .handles = 1, .release = release_now};
    struct lade_bag *bag;
    struct lade_bag_handle *h;
    struct lade_ref object, *p = &object;

    lade_ref_init(&object);
    EXPECT(lade_ref_get(&object) == LADE_OK);
    EXPECT(lade_bag_create(&bag, &config) == LADE_OK && lade_bag_join(bag, &h) == LADE_OK);
    EXPECT(lade_bag_put(h, &p) == LADE_OK && lade_bag_draw(h, &p) == LADE_OK && p == &object);
    EXPECT(lade_ref_count(&object) == 2);
    EXPECT(lade_ref_put(&object, release_now) == LADE_OK && lade_ref_put(&object, release_now) == LADE_RELEASED);
    EXPECT(freed == 1);
    lade_bag_destroy(bag);
}

static void ring_and_random(void)
{
    struct lade_spsc *ring;
    uint64_t word;

    EXPECT(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = 1}) == LADE_OK);
    EXPECT(lade_spsc_push(ring, lade_random_at(lade_key_make(1, 2, 3), 4, 5)) == LADE_OK);
    EXPECT(lade_spsc_pop(ring, &word) == LADE_OK && word == lade_random_at(lade_key_make(1, 2, 3), 4, 5));
    lade_spsc_destroy(ring);
}

static int never(void *context, int64_t *until)
{
    (void)context, (void)until;
    return LADE_AWAIT;
}

/* Table, split and deferred have a thread and a fork() handler each. */
static void with_liburcu(void)
{
    struct lade_table *table;
    struct lade_split_config config = {.parts = 2};
    struct lade_split *split;
    struct lade_ref_deferred object;
    unsigned part, again;
    uint64_t value = 0;

    lade_ref_init(&object.ref);
    EXPECT(lade_table_create(&table, NULL) == LADE_OK && lade_split_create(&split, &config, NULL) == LADE_OK);
    for (uint64_t i = 0; i < 10000; i++)
        EXPECT(lade_table_insert(table, i, i + 1, NULL) == LADE_OK &&
               lade_split_route_word(split, i, &part) == LADE_OK);
    EXPECT(lade_table_get(table, 9999, &value) == LADE_OK && value == 10000);
    EXPECT(lade_split_route_word(split, 9999, &again) == LADE_OK && again == part);
    EXPECT(lade_ref_put_deferred(&object, release_later) == LADE_RELEASED);
    lade_ref_barrier();
    EXPECT(freed == 2);
    lade_split_destroy(split);
    lade_table_destroy(table);
}

int main(void)
{
    struct lade_event event = {0};
    int status;

    urcu_memb_register_thread();
    bag_of_refs();
    ring_and_random();
    EXPECT(lade_event_await(&event, never, NULL, 0) == LADE_TIMEOUT);
    EXPECT(lade_status_text(LADE_OK)[0] == 'd');
    with_liburcu();
    /* A child, whose threads are gone, does the same again. */
    freed = 0;
    pid_t child = fork();
    if (child == 0) {
        bag_of_refs();
        with_liburcu();
        _exit(0);
    }
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    urcu_memb_unregister_thread();
    return 0;
}
