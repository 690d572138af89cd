/* SPDX-License-Identifier: MIT */
#include <lade/ring.h>

#include "allocator.h"

#include <criterion/criterion.h>

/* Capacities around powers of two and around the sizes at which the rings change their behaviour. */
static const uint64_t capacities[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 100, 1000, 1024};

Test(spsc, refuses_bad_arguments)
{
    struct lade_spsc *ring = NULL;

    cr_assert_eq(lade_spsc_create(NULL, &(struct lade_ring_config){.capacity = 1}), LADE_INVALID);
    cr_assert_eq(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = 0}), LADE_INVALID);
    cr_assert_eq(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = LADE_RING_MAX + 1}), LADE_INVALID);
    cr_assert_eq(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = UINT64_MAX}), LADE_INVALID);
    cr_assert_eq(lade_spsc_create(&ring, NULL), LADE_INVALID);
    cr_assert_eq(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = 1, .handles = 1}), LADE_INVALID);
    cr_assert_null(ring);
    lade_spsc_destroy(NULL);
}

Test(spsc, out_of_memory_leaves_nothing_behind)
{
    for (int fail = 1; fail <= 2; fail++) {
        struct failing f = {.fail_at = fail};
        struct lade_alloc alloc = {failing_get, failing_put, &f};
        struct lade_spsc *ring = NULL;
        cr_assert_eq(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = 8, .alloc = &alloc}),
                     LADE_NO_MEMORY);
        cr_assert_null(ring);
        cr_assert_eq(f.calls, fail);
        cr_assert_eq(f.live, 0);
        cr_assert_eq(f.bytes, 0);
    }
}

Test(spsc, gives_its_memory_back)
{
    struct failing f = {0};
    struct lade_alloc alloc = {failing_get, failing_put, &f};
    struct lade_spsc *ring = NULL;

    cr_assert_eq(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = 1000, .alloc = &alloc}), LADE_OK);
    cr_assert_eq(f.live, 2);
    int before = f.calls;
    for (uint64_t i = 0, word; i < 5000; i++) {
        cr_assert_eq(lade_spsc_push(ring, i), LADE_OK);
        cr_assert_eq(lade_spsc_pop(ring, &word), LADE_OK);
    }
    cr_assert_eq(f.calls, before, "no allocation after creation");
    lade_spsc_destroy(ring);
    cr_assert_eq(f.live, 0);
    cr_assert_eq(f.bytes, 0);
}

Test(spsc, capacity_is_exact_and_order_is_kept)
{
    for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++) {
        uint64_t capacity = capacities[c], in = 0, out = 0, word = 0;
        struct lade_spsc *ring = NULL;
        cr_assert_eq(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = capacity}), LADE_OK);
        cr_assert_eq(lade_spsc_pop(ring, &word), LADE_EMPTY);
        for (int round = 0; round < 5; round++) {
            while (in - out < capacity)
                cr_assert_eq(lade_spsc_push(ring, in++), LADE_OK);
            cr_assert_eq(lade_spsc_push(ring, in), LADE_FULL);
            /* Leave a few, so that the next round starts elsewhere. */
            while (in - out > capacity / 3) {
                cr_assert_eq(lade_spsc_pop(ring, &word), LADE_OK);
                cr_assert_eq(word, out++);
            }
        }
        while (out < in) {
            cr_assert_eq(lade_spsc_pop(ring, &word), LADE_OK);
            cr_assert_eq(word, out++);
        }
        cr_assert_eq(lade_spsc_pop(ring, &word), LADE_EMPTY);
        lade_spsc_destroy(ring);
    }
}

Test(spsc, batches_stop_at_full_and_empty)
{
    for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++) {
        uint64_t capacity = capacities[c], in = 0, out = 0;
        uint64_t words[2048];
        struct lade_spsc *ring = NULL;
        cr_assert_eq(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = capacity}), LADE_OK);
        cr_assert_eq(lade_spsc_push_many(ring, words, 0), 0);
        cr_assert_eq(lade_spsc_pop_many(ring, words, 7), 0);
        for (int round = 0; round < 20; round++) {
            for (uint64_t i = 0; i < 2048; i++)
                words[i] = in + i;
            size_t ask = (size_t)(capacity * (unsigned)round / 7 + 1);
            size_t room = (size_t)(capacity - (in - out));
            size_t done = lade_spsc_push_many(ring, words, ask < 2048 ? ask : 2048);
            cr_assert_eq(done, ask < room ? ask : room);
            in += done;
            ask = (size_t)(capacity * (unsigned)(round % 5) / 4 + 1);
            done = lade_spsc_pop_many(ring, words, ask);
            cr_assert_eq(done, ask < in - out ? ask : in - out);
            for (size_t i = 0; i < done; i++)
                cr_assert_eq(words[i], out++);
        }
        lade_spsc_destroy(ring);
    }
}

Test(spsc, a_batch_larger_than_any_ring_is_cut)
{
    struct lade_spsc *ring = NULL;
    uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};

    cr_assert_eq(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = 3}), LADE_OK);
    cr_assert_eq(lade_spsc_push_many(ring, words, SIZE_MAX), 3);
    cr_assert_eq(lade_spsc_push_many(ring, words, SIZE_MAX), 0);
    cr_assert_eq(lade_spsc_pop_many(ring, words, SIZE_MAX), 3);
    cr_assert_eq(words[2], 3);
    cr_assert_eq(lade_spsc_pop_many(ring, words, SIZE_MAX), 0);
    lade_spsc_destroy(ring);
}

Test(mpmc, refuses_bad_arguments)
{
    struct lade_mpmc *ring = NULL;

    cr_assert_eq(lade_mpmc_create(NULL, &(struct lade_ring_config){.capacity = 1, .handles = 1}), LADE_INVALID);
    cr_assert_eq(lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = 0, .handles = 1}), LADE_INVALID);
    cr_assert_eq(lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = 1, .handles = 0}), LADE_INVALID);
    cr_assert_eq(lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = LADE_RING_MAX + 1, .handles = 1}),
                 LADE_INVALID);
    cr_assert_eq(
        lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = 1, .handles = LADE_RING_HANDLES_MAX + 1}),
        LADE_INVALID);
    cr_assert_eq(lade_mpmc_create(&ring, NULL), LADE_INVALID);
    cr_assert_null(ring);
    lade_mpmc_destroy(NULL);
    lade_mpmc_leave(NULL);
}

Test(mpmc, out_of_memory_leaves_nothing_behind)
{
    for (int fail = 1; fail <= 4; fail++) {
        struct failing f = {.fail_at = fail};
        struct lade_alloc alloc = {failing_get, failing_put, &f};
        struct lade_mpmc *ring = NULL;
        cr_assert_eq(lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = 8, .handles = 2, .alloc = &alloc}),
                     LADE_NO_MEMORY);
        cr_assert_null(ring);
        cr_assert_geq(f.calls, fail);
        cr_assert_eq(f.live, 0);
        cr_assert_eq(f.bytes, 0);
    }
}

Test(mpmc, gives_its_memory_back)
{
    struct failing f = {0};
    struct lade_alloc alloc = {failing_get, failing_put, &f};
    struct lade_mpmc *ring = NULL;
    struct lade_mpmc_handle *h = NULL;

    cr_assert_eq(lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = 1000, .handles = 3, .alloc = &alloc}),
                 LADE_OK);
    int before = f.calls;
    cr_assert_eq(lade_mpmc_join(ring, &h), LADE_OK);
    for (uint64_t i = 0, word; i < 5000; i++) {
        cr_assert_eq(lade_mpmc_push(h, i), LADE_OK);
        cr_assert_eq(lade_mpmc_pop(h, &word), LADE_OK);
    }
    cr_assert_eq(f.calls, before, "no allocation after creation");
    lade_mpmc_destroy(ring);
    cr_assert_eq(f.live, 0);
    cr_assert_eq(f.bytes, 0);
}

Test(mpmc, handles_are_counted_and_reused)
{
    struct lade_mpmc *ring = NULL;
    struct lade_mpmc_handle *h[3] = {NULL, NULL, NULL}, *extra = NULL;

    cr_assert_eq(lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = 4, .handles = 3}), LADE_OK);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(lade_mpmc_join(ring, &h[i]), LADE_OK);
        for (int j = 0; j < i; j++)
            cr_assert_neq(h[i], h[j]);
    }
    cr_assert_eq(lade_mpmc_join(ring, &extra), LADE_TOO_MANY);
    cr_assert_null(extra);
    lade_mpmc_leave(h[1]);
    cr_assert_eq(lade_mpmc_join(ring, &extra), LADE_OK);
    cr_assert_eq(extra, h[1]);
    lade_mpmc_destroy(ring);
}

Test(mpmc, capacity_is_exact_and_order_is_kept_for_all_handles)
{
    for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++) {
        uint64_t capacity = capacities[c], in = 0, out = 0, word = 0;
        struct lade_mpmc *ring = NULL;
        struct lade_mpmc_handle *h[3];
        cr_assert_eq(lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = capacity, .handles = 3}), LADE_OK);
        for (int i = 0; i < 3; i++)
            cr_assert_eq(lade_mpmc_join(ring, &h[i]), LADE_OK);
        for (int i = 0; i < 3; i++)
            cr_assert_eq(lade_mpmc_pop(h[i], &word), LADE_EMPTY);
        for (unsigned round = 0; round < 7; round++) {
            while (in - out < capacity) {
                cr_assert_eq(lade_mpmc_push(h[(in + round) % 3], in), LADE_OK);
                in++;
            }
            for (int i = 0; i < 3; i++)
                cr_assert_eq(lade_mpmc_push(h[i], in), LADE_FULL);
            while (in - out > capacity / 3) {
                cr_assert_eq(lade_mpmc_pop(h[(out / 5 + round) % 3], &word), LADE_OK);
                cr_assert_eq(word, out++);
            }
        }
        while (out < in) {
            cr_assert_eq(lade_mpmc_pop(h[0], &word), LADE_OK);
            cr_assert_eq(word, out++);
        }
        for (int i = 0; i < 3; i++)
            cr_assert_eq(lade_mpmc_pop(h[i], &word), LADE_EMPTY);
        lade_mpmc_destroy(ring);
    }
}

/* A handle that slept through many rounds catches up, with or without hints. */
Test(mpmc, a_handle_left_far_behind_catches_up)
{
    for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++) {
        uint64_t capacity = capacities[c], in = 0, out = 0, word = 0;
        struct lade_mpmc *ring = NULL;
        struct lade_mpmc_handle *busy, *sleeper;
        cr_assert_eq(lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = capacity, .handles = 2}), LADE_OK);
        cr_assert_eq(lade_mpmc_join(ring, &busy), LADE_OK);
        cr_assert_eq(lade_mpmc_join(ring, &sleeper), LADE_OK);
        for (uint64_t steps = 1; steps < 20 * capacity + 40; steps = steps * 3 / 2 + 1) {
            for (uint64_t i = 0; i < steps; i++) {
                cr_assert_eq(lade_mpmc_push(busy, in++), LADE_OK);
                cr_assert_eq(lade_mpmc_pop(busy, &word), LADE_OK);
                cr_assert_eq(word, out++);
            }
            cr_assert_eq(lade_mpmc_pop(sleeper, &word), LADE_EMPTY);
            cr_assert_eq(lade_mpmc_push(sleeper, in++), LADE_OK);
            cr_assert_eq(lade_mpmc_pop(sleeper, &word), LADE_OK);
            cr_assert_eq(word, out++);
        }
        lade_mpmc_destroy(ring);
    }
}

Test(mpmc, batches_stop_at_full_and_empty)
{
    struct lade_mpmc *ring = NULL;
    struct lade_mpmc_handle *h = NULL;
    uint64_t words[16] = {0};

    for (uint64_t i = 0; i < 16; i++)
        words[i] = 100 + i;
    cr_assert_eq(lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = 10, .handles = 1}), LADE_OK);
    cr_assert_eq(lade_mpmc_join(ring, &h), LADE_OK);
    cr_assert_eq(lade_mpmc_push_many(h, words, 0), 0);
    cr_assert_eq(lade_mpmc_pop_many(h, words, 16), 0);
    cr_assert_eq(lade_mpmc_push_many(h, words, 7), 7);
    cr_assert_eq(lade_mpmc_push_many(h, words + 7, 9), 3);
    cr_assert_eq(lade_mpmc_push(h, 1), LADE_FULL);
    for (int i = 0; i < 16; i++)
        words[i] = 0;
    cr_assert_eq(lade_mpmc_pop_many(h, words, 4), 4);
    cr_assert_eq(lade_mpmc_pop_many(h, words + 4, 12), 6);
    for (uint64_t i = 0; i < 10; i++)
        cr_assert_eq(words[i], 100 + i);
    lade_mpmc_destroy(ring);
}

/* The ends of a word are words like any other. */
Test(mpmc, all_words_can_be_stored)
{
    struct lade_mpmc *ring = NULL;
    struct lade_mpmc_handle *h = NULL;
    const uint64_t words[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 1};

    cr_assert_eq(lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = 5, .handles = 1}), LADE_OK);
    cr_assert_eq(lade_mpmc_join(ring, &h), LADE_OK);
    for (int i = 0; i < 5; i++)
        cr_assert_eq(lade_mpmc_push(h, words[i]), LADE_OK);
    for (int i = 0; i < 5; i++) {
        uint64_t word = 42;
        cr_assert_eq(lade_mpmc_pop(h, &word), LADE_OK);
        cr_assert_eq(word, words[i]);
    }
    lade_mpmc_destroy(ring);
}

/* The size of the rings' own structures, and the padding of arrays to whole units. */
enum { FIXED = 1024 };

Test(spsc, takes_the_memory_that_the_header_states)
{
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        struct failing f = {0};
        struct lade_alloc alloc = {failing_get, failing_put, &f};
        struct lade_spsc *ring = NULL;
        uint64_t slots = 1;
        while (slots < 1000 * capacities[i])
            slots *= 2;
        cr_assert_eq(
            lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = 1000 * capacities[i], .alloc = &alloc}),
            LADE_OK);
        cr_assert_leq(f.bytes, 8 * slots + FIXED);
        lade_spsc_destroy(ring);
    }
    for (uint64_t capacity = 1; capacity <= 65536; capacity *= 2) {
        struct failing f = {0};
        struct lade_alloc alloc = {failing_get, failing_put, &f};
        struct lade_spsc *ring = NULL;
        cr_assert_eq(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = capacity, .alloc = &alloc}),
                     LADE_OK);
        cr_assert_leq(f.bytes, 8 * capacity + FIXED);
        lade_spsc_destroy(ring);
    }
}

Test(mpmc, takes_the_memory_that_the_header_states)
{
    for (uint64_t capacity = 1; capacity <= 100000; capacity = 3 * capacity + 1)
        for (unsigned handles = 1; handles <= 1000; handles *= 10) {
            struct failing f = {0};
            struct lade_alloc alloc = {failing_get, failing_put, &f};
            struct lade_mpmc *ring = NULL;
            cr_assert_eq(
                lade_mpmc_create(&ring,
                                 &(struct lade_ring_config){.capacity = capacity, .handles = handles, .alloc = &alloc}),
                LADE_OK);
            cr_assert_leq(f.bytes, 16 * capacity + 136 * (size_t)handles + FIXED);
            lade_mpmc_destroy(ring);
        }
}
