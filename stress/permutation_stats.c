/* SPDX-License-Identifier: MIT */
/*
 * The keyed permutation over its keys: all orders of few elements, images of fixed positions, differences of
 * neighbours, and permutations of neighbouring epochs. Assumptions, false alarms and power of each test: chi.h. Each
 * test must fail for a permutation with a known fault.
 */
#include "check.h"
#include "chi.h"

#include <lade/random.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PURPOSE = 7, MOST = 1000 };

/* A family of permutations: element at a position, for each key number. Created by make(), evaluated by at(). */
struct family {
    void (*make)(struct family *f, uint64_t number, uint64_t n);
    uint64_t (*at)(const struct family *f, uint64_t position);
    uint64_t n;
    struct lade_permutation permutation;
    uint64_t key[4], bits;
    uint64_t order[16];
};

static void library_make(struct family *f, uint64_t number, uint64_t n)
{
    f->n = n;
    if (lade_permutation_init(&f->permutation, lade_key_make(check_seed(), number, PURPOSE), n) != LADE_OK)
        exit(2);
}

static uint64_t library_at(const struct family *f, uint64_t position)
{
    return lade_permutation_at(&f->permutation, position);
}

static uint64_t library_find(const struct family *f, uint64_t element)
{
    return lade_permutation_find(&f->permutation, element);
}

/*
 * Fault: every element is swapped with any other, not with one that is not yet placed; n^n outcomes do not divide
 * evenly among n! orders.
 */
static void naive_make(struct family *f, uint64_t number, uint64_t n)
{
    struct lade_key key = lade_key_make(check_seed(), number, PURPOSE);

    for (uint64_t i = 0; i < n; i++)
        f->order[i] = i;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t j = lade_random_at(key, 0, i) % n, kept = f->order[i];
        f->order[i] = f->order[j];
        f->order[j] = kept;
    }
}

static uint64_t order_at(const struct family *f, uint64_t position)
{
    return f->order[position];
}

/* Fault: only rotations. */
static void rotation_make(struct family *f, uint64_t number, uint64_t n)
{
    f->n = n;
    f->key[0] = lade_random_at(lade_key_make(check_seed(), number, PURPOSE), 0, 0) % n;
}

static uint64_t rotation_at(const struct family *f, uint64_t position)
{
    return (position + f->key[0]) % f->n;
}

/* Fault: four rounds of a balanced Feistel network on a power of two with cycle walking, and too simple a round. */
static void weak_make(struct family *f, uint64_t number, uint64_t n)
{
    struct lade_key key = lade_key_make(check_seed(), number, PURPOSE);

    f->n = n;
    for (f->bits = 1; UINT64_C(1) << 2 * f->bits < n;)
        f->bits++;
    for (unsigned i = 0; i < 4; i++)
        f->key[i] = lade_random_at(key, 0, i);
}

static uint64_t weak_at(const struct family *f, uint64_t x)
{
    uint64_t mask = (UINT64_C(1) << f->bits) - 1;

    do {
        uint64_t left = x >> f->bits, right = x & mask;
        for (unsigned i = 0; i < 4; i++) {
            uint64_t kept = right;
            right = left ^ ((right + f->key[i]) * UINT64_C(0x9E3779B1) & mask);
            left = kept;
        }
        x = left << f->bits | right;
    } while (x >= f->n);
    return x;
}

/* Fault: each odd epoch repeats the even one before it, moved by a third. */
static void again_make(struct family *f, uint64_t number, uint64_t n)
{
    library_make(f, number - number % 2, n);
}

static uint64_t again_at(const struct family *f, uint64_t position)
{
    return (lade_permutation_at(&f->permutation, position) + f->n / 3) % f->n;
}

/* Fault: the last twentieth of the elements is never reached, the one before it twice as often. */
static uint64_t shy_at(const struct family *f, uint64_t position)
{
    uint64_t element = lade_permutation_at(&f->permutation, position);

    return element >= f->n - f->n / 20 ? element - f->n / 20 : element;
}

static struct family library(void)
{
    return (struct family){.make = library_make, .at = library_at};
}

/* Null: all n! orders equally likely. The order's number is read off in the factorial system. */
static struct chi_result all_orders(struct family f, unsigned n, uint64_t keys)
{
    uint64_t orders = 1;

    for (unsigned i = 2; i <= n; i++)
        orders *= i;
    uint64_t *count = check_memory((size_t)orders, sizeof *count);
    for (uint64_t k = 0; k < keys; k++) {
        uint64_t number = 0, element[8];
        f.make(&f, k, n);
        for (unsigned i = 0; i < n; i++) {
            unsigned smaller = 0;
            element[i] = f.at(&f, i);
            for (unsigned j = 0; j < i; j++)
                smaller += element[j] < element[i];
            number = number * (i + 1) + smaller;
        }
        count[number]++;
    }
    struct chi_result r = chi_test(count, NULL, (size_t)orders);
    free(count);
    return r;
}

/* Part number of an element when [0, n) is cut into parts whose sizes differ by at most one; and the size of a part. */
static size_t part_of(uint64_t element, uint64_t n, size_t parts)
{
    return (size_t)(element * parts / n);
}

static double part_size(size_t part, uint64_t n, size_t parts)
{
    uint64_t from = (part * n + parts - 1) / parts, to = ((part + 1) * n + parts - 1) / parts;

    return (double)(to - from);
}

/* Null: over the keys, the image of a position is uniform. */
static struct chi_result image(struct family f, uint64_t n, uint64_t position, uint64_t keys)
{
    size_t parts = n < MOST ? (size_t)n : MOST;
    uint64_t count[MOST] = {0};
    double weight[MOST];

    for (size_t i = 0; i < parts; i++)
        weight[i] = part_size(i, n, parts);
    for (uint64_t k = 0; k < keys; k++) {
        f.make(&f, k, n);
        count[part_of(f.at(&f, position), n, parts)]++;
    }
    return chi_test(count, weight, parts);
}

/* Null: the images of two positions are a uniform pair of different elements. */
static struct chi_result two_images(struct family f, uint64_t n, uint64_t first, uint64_t second, uint64_t keys)
{
    enum { PARTS = 25 };
    uint64_t count[PARTS * PARTS] = {0};
    double weight[PARTS * PARTS];

    for (size_t i = 0; i < PARTS; i++)
        for (size_t j = 0; j < PARTS; j++)
            weight[i * PARTS + j] = part_size(i, n, PARTS) * (part_size(j, n, PARTS) - (i == j));
    for (uint64_t k = 0; k < keys; k++) {
        f.make(&f, k, n);
        count[part_of(f.at(&f, first), n, PARTS) * PARTS + part_of(f.at(&f, second), n, PARTS)]++;
    }
    return chi_test(count, weight, PARTS * PARTS);
}

/*
 * Null: the difference of neighbours, modulo n, is uniform on 1 .. n - 1. Neighbours are taken in pairs that do not
 * overlap; what is left of the dependence within one permutation changes the variance by about 1/n of itself.
 */
static struct chi_result differences(struct family f, uint64_t n, uint64_t keys)
{
    size_t parts = n - 1 < MOST ? (size_t)(n - 1) : MOST;
    uint64_t count[MOST] = {0};
    double weight[MOST];

    for (size_t i = 0; i < parts; i++)
        weight[i] = part_size(i, n - 1, parts);
    for (uint64_t k = 0; k < keys; k++) {
        f.make(&f, k, n);
        for (uint64_t i = 0; i + 1 < n; i += 2) {
            uint64_t difference = (f.at(&f, i + 1) + n - f.at(&f, i)) % n;
            count[part_of(difference - 1, n - 1, parts)]++;
        }
    }
    return chi_test(count, weight, parts);
}

/* Null: two permutations have independent images of a position, each uniform. Few positions of each are tested. */
static struct chi_result two_epochs(struct family f, struct family g, uint64_t n, uint64_t keys)
{
    enum { PARTS = 32, POSITIONS = 10 };
    uint64_t count[PARTS * PARTS] = {0};
    double weight[PARTS * PARTS];

    for (size_t i = 0; i < PARTS * PARTS; i++)
        weight[i] = part_size(i / PARTS, n, PARTS) * part_size(i % PARTS, n, PARTS);
    for (uint64_t k = 0; k < keys; k++) {
        f.make(&f, 2 * k, n);
        g.make(&g, 2 * k + 1, n);
        for (uint64_t i = 0; i < POSITIONS; i++) {
            uint64_t position = (k * POSITIONS + i) * UINT64_C(7919) % n;
            count[part_of(f.at(&f, position), n, PARTS) * PARTS + part_of(g.at(&g, position), n, PARTS)]++;
        }
    }
    return chi_test(count, weight, PARTS * PARTS);
}

static void make_from(struct family *f, struct lade_key key, uint64_t n)
{
    f->n = n;
    if (lade_permutation_init(&f->permutation, key, n) != LADE_OK)
        exit(2);
}

/* How two keys are made from a seed and an epoch, and what they differ in. */
enum relation { NEXT_EPOCH, NEXT_SEED, SWAPPED, SWAPPED_ADDED };

static struct lade_key related(enum relation relation, uint64_t k, bool second)
{
    uint64_t seed = check_seed();

    switch (relation) {
    case NEXT_EPOCH:
        return lade_key_make(seed, 2 * k + second, PURPOSE);
    case NEXT_SEED:
        return lade_key_make(seed + 2 * k + second, 1, PURPOSE);
    case SWAPPED:
        return second ? lade_key_make(seed - k, seed + k, PURPOSE) : lade_key_make(seed + k, seed - k, PURPOSE);
    default: /* fault: seed and epoch are added */
        return second ? lade_key_make(seed - k + seed + k, 0, PURPOSE) : lade_key_make(seed + k + seed - k, 0, PURPOSE);
    }
}

/*
 * Null: two independent uniform permutations of n elements agree in j positions with probability e^-1 / j!, up to an
 * error of 1 / n!. Five or more agreements are one cell.
 */
static struct chi_result agreements(enum relation relation, uint64_t n, uint64_t pairs)
{
    enum { CELLS = 6 };
    uint64_t count[CELLS] = {0};
    double weight[CELLS], left = 1, term = exp(-1);
    struct family f = library(), g = library();

    for (unsigned j = 0; j + 1 < CELLS; j++) {
        weight[j] = term;
        left -= term;
        term /= j + 1;
    }
    weight[CELLS - 1] = left;
    for (uint64_t k = 1; k <= pairs; k++) {
        unsigned same = 0;
        make_from(&f, related(relation, k, false), n);
        make_from(&g, related(relation, k, true), n);
        for (uint64_t i = 0; i < n; i++)
            same += f.at(&f, i) == g.at(&g, i);
        count[same < CELLS ? same : CELLS - 1]++;
    }
    return chi_test(count, weight, CELLS);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Seeds and epochs from zero on: as many keys as pairs. Two equal ones by chance: 3 * 10^-12. */
static void keys_differ(void)
{
    enum { SIDE = 100 };
    static uint64_t key[2][SIDE * SIDE];
    unsigned distinct[2] = {0};

    for (uint64_t i = 0; i < SIDE * SIDE; i++) {
        struct lade_key hashed = lade_key_make(i / SIDE, i % SIDE, PURPOSE);
        struct lade_key added = lade_key_make(i / SIDE + i % SIDE, 0, PURPOSE);
        key[0][i] = (uint64_t)hashed.word[0] << 32 | hashed.word[1];
        key[1][i] = (uint64_t)added.word[0] << 32 | added.word[1];
    }
    for (unsigned which = 0; which < 2; which++) {
        qsort(key[which], SIDE * SIDE, sizeof **key, by_value);
        for (unsigned i = 0; i < SIDE * SIDE; i++)
            distinct[which] += i == 0 || key[which][i] != key[which][i - 1];
    }
    check(distinct[0] == SIDE * SIDE && distinct[1] == 2 * SIDE - 1, "keys",
          "%u of %d seeds and epochs give keys of their own; %u when added", distinct[0], SIDE * SIDE, distinct[1]);
}

static void small(void)
{
    static const struct {
        unsigned n;
        uint64_t keys;
    } row[] = {{5, 200000}, {6, 400000}, {7, 800000}, {8, 40320 * 110}};
    struct family f = library();
    char text[80];

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        (void)snprintf(text, sizeof text, "n = %u", row[i].n);
        chi_expect(all_orders(f, row[i].n, row[i].keys * (check_full() ? 10 : 1)), "all orders", text);
    }
    f.make = naive_make;
    f.at = order_at;
    chi_expect_failure(all_orders(f, 5, row[0].keys), "all orders", "shuffle that trades with any position, n = 5");
    chi_expect_failure(all_orders(f, 8, row[3].keys), "all orders", "shuffle that trades with any position, n = 8");
    f.make = rotation_make;
    f.at = rotation_at;
    chi_expect_failure(all_orders(f, 5, row[0].keys), "all orders", "rotations, n = 5");
}

static void positions(void)
{
    static const uint64_t size[] = {100, 257, 1000, 1000000};
    uint64_t keys = check_full() ? 5000000 : 250000;
    struct family f = library(), inverse = library(), shy = library(), weak = {.make = weak_make, .at = weak_at};
    char text[80];

    inverse.at = library_find;
    shy.at = shy_at;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        uint64_t n = size[i], position[] = {0, 1, n / 2, n - 1};
        for (size_t j = 0; j < 4; j++) {
            (void)snprintf(text, sizeof text, "n = %llu, image of %llu", (unsigned long long)n,
                           (unsigned long long)position[j]);
            chi_expect(image(f, n, position[j], keys), "fixed positions", text);
        }
        (void)snprintf(text, sizeof text, "n = %llu, position of element 0", (unsigned long long)n);
        chi_expect(image(inverse, n, 0, keys), "fixed positions", text);
        (void)snprintf(text, sizeof text, "n = %llu, images of 0 and 1", (unsigned long long)n);
        chi_expect(two_images(f, n, 0, 1, keys), "fixed positions", text);
    }
    chi_expect_failure(image(shy, 1000, 0, keys), "fixed positions", "one element in twenty never reached");
    chi_expect_failure(two_images((struct family){.make = rotation_make, .at = rotation_at}, 1000, 0, 1, keys),
                       "fixed positions", "rotations, images of 0 and 1");
    chi_expect_failure(two_images(weak, 1000, 0, 1, keys), "fixed positions",
                       "weak Feistel network of four rounds, images of 0 and 1");
}

static void neighbours(void)
{
    unsigned more = check_full() ? 20 : 1;
    struct family f = library(), weak = {.make = weak_make, .at = weak_at},
                  rotation = {.make = rotation_make, .at = rotation_at};

    chi_expect(differences(f, 257, 1000 * more), "differences", "n = 257");
    chi_expect(differences(f, 1000, 1000 * more), "differences", "n = 1000");
    chi_expect(differences(f, 1000000, 2 * more), "differences", "n = 10^6");
    chi_expect_failure(differences(weak, 1000, 1000), "differences", "weak Feistel network of four rounds, n = 1000");
    chi_expect_failure(differences(weak, 1000000, 2), "differences", "weak Feistel network of four rounds, n = 10^6");
    chi_expect_failure(differences(rotation, 1000, 1000), "differences", "rotations, n = 1000");
}

static void epochs(void)
{
    uint64_t pairs = check_full() ? 300000 : 30000;
    struct family f = library(), again = {.make = again_make, .at = again_at};

    chi_expect(agreements(NEXT_EPOCH, 100, pairs), "agreements", "neighbouring epochs, n = 100");
    chi_expect(agreements(NEXT_EPOCH, 300, pairs), "agreements", "neighbouring epochs, n = 300");
    chi_expect(agreements(NEXT_SEED, 300, pairs), "agreements", "neighbouring seeds, n = 300");
    chi_expect(agreements(SWAPPED, 300, pairs), "agreements", "seed and epoch swapped, n = 300");
    chi_expect_failure(agreements(SWAPPED_ADDED, 300, pairs), "agreements",
                       "seed and epoch swapped and added, n = 300");
    chi_expect(two_epochs(f, f, 1000, pairs), "correlation", "neighbouring epochs, n = 1000");
    chi_expect(two_epochs(f, f, 1000000, pairs), "correlation", "neighbouring epochs, n = 10^6");
    chi_expect_failure(two_epochs(f, again, 1000000, pairs), "correlation",
                       "the order of the epoch before, moved by a third");
    keys_differ();
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    small();
    positions();
    neighbours();
    epochs();
    chi_budget();
    return check_end();
}
