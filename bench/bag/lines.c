/* SPDX-License-Identifier: MIT */
/*
 * Counted, not timed: PROGRAM allocations|put|draw|exchange|put_mean|draw_mean|exchange_mean SECONDS
 *
 *   allocations   calls of the allocator, and of malloc and similar functions, from the creation of bags of each kind to their end
 *   put, draw, exchange   contended cache lines written by an operation: the number that 9 of 10 operations stay within
 *   ..._mean      the mean
 *
 * The library is compiled with lines.h. Two handles take turns; a line is contended when both have touched it with an
 * atomic access by the end. A compare-and-swap that fails counts as a write. Prints a count, what it is to be divided
 * by, and 1, as the measuring programs print words, seconds and a share.
 */
#include "lines.h"

#include "../clock.h"

#include <lade/bag.h>
#include <lade/random.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY 1000
#define LEVEL 500
#define TURNS 20000 /* operations of each kind and handle */
#define LINE 64

struct touch {
    uintptr_t line;
    uint32_t operation;
    uint8_t handle;
    bool written;
};

static struct {
    struct touch *touch;
    size_t count, room;
    uint32_t operation;
    uint8_t handle;
    bool on;
} tape;

static void fail(const char *reason)
{
    fprintf(stderr, "%s\n", reason);
    exit(3);
}

void lines_touched(const volatile void *place, bool written)
{
    if (!tape.on)
        return;
    if (tape.count == tape.room)
        fail("too many accesses");
    tape.touch[tape.count++] = (struct touch){(uintptr_t)place / LINE, tape.operation, tape.handle, written};
}

static int by_line(const void *a, const void *b)
{
    const struct touch *x = a, *y = b;

    return (x->line > y->line) - (x->line < y->line);
}

static int by_operation(const void *a, const void *b)
{
    const struct touch *x = a, *y = b;

    if (x->operation != y->operation)
        return x->operation < y->operation ? -1 : 1;
    return by_line(a, b);
}

/* Leaves only the writes to lines that both handles touched. */
static void keep_contended(void)
{
    size_t kept = 0;

    qsort(tape.touch, tape.count, sizeof *tape.touch, by_line);
    for (size_t i = 0, end; i < tape.count; i = end) {
        unsigned handles = 0;
        for (end = i; end < tape.count && tape.touch[end].line == tape.touch[i].line; end++)
            handles |= 1u << tape.touch[end].handle;
        for (size_t k = i; k < end && handles == 3; k++) {
            if (tape.touch[k].written)
                tape.touch[kept++] = tape.touch[k];
        }
    }
    tape.count = kept;
    qsort(tape.touch, tape.count, sizeof *tape.touch, by_operation);
}

enum operation { OP_PUT, OP_DRAW, OP_EXCHANGE, OPERATIONS };

static int by_number(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

/* Lines of each operation of one kind. Operation number i is of kind i % OPERATIONS. */
static void report(enum operation which, bool mean)
{
    uint32_t operations = tape.operation;
    unsigned *lines = calloc(operations, sizeof *lines);
    size_t n = 0;
    unsigned long long sum = 0;

    if (!lines)
        fail("no memory");
    keep_contended();
    for (size_t i = 0; i < tape.count; i++) {
        const struct touch *t = &tape.touch[i];
        if (i == 0 || t->operation != t[-1].operation || t->line != t[-1].line)
            lines[t->operation]++;
    }
    for (uint32_t i = which; i < operations; i += OPERATIONS) {
        sum += lines[i];
        lines[n++] = lines[i];
    }
    qsort(lines, n, sizeof *lines, by_number);
    if (mean)
        printf("%llu %zu 1\n", sum, n);
    else
        printf("%u 1 1\n", lines[n * 9 / 10]);
    free(lines);
}

static void count_lines(enum operation which, bool mean)
{
    struct lade_bag_config config = {.capacity = CAPACITY, .handles = 2};
    struct lade_bag *bag;
    struct lade_bag_handle *handle[2];
    uint64_t word = 1;
    uint64_t out;

    tape.room = (size_t)TURNS * 2 * OPERATIONS * 64;
    tape.touch = malloc(tape.room * sizeof *tape.touch);
    if (!tape.touch || lade_bag_create(&bag, &config) != LADE_OK)
        fail("no memory");
    for (int i = 0; i < 2; i++) {
        if (lade_bag_join(bag, &handle[i]) != LADE_OK)
            fail("no handle");
    }
    for (; word <= LEVEL; word++)
        if (lade_bag_put(handle[word % 2], &word) != LADE_OK)
            fail("no room");
    tape.on = true;
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        for (unsigned i = 0; i < 2; i++) {
            struct lade_bag_handle *h = handle[i];
            tape.handle = (uint8_t)i;
            bool done = lade_bag_put(h, &word) == LADE_OK;
            tape.operation++;
            done &= lade_bag_draw(h, &out) == LADE_OK;
            tape.operation++;
            done &= lade_bag_exchange(h, &word, &out) == LADE_OK;
            tape.operation++;
            if (!done)
                fail("an operation failed");
        }
    }
    tape.on = false;
    report(which, mean);
    lade_bag_destroy(bag);
    free(tape.touch);
}

static unsigned long long allocations;

/* The linker sends the library's calls here. */
#define WRAPPED(type, name, parameters, ...)                                                                           \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        allocations++;                                                                                                 \
        return __real_##name(__VA_ARGS__);                                                                             \
    }

WRAPPED(void *, malloc, (size_t size), size)
WRAPPED(void *, calloc, (size_t count, size_t size), count, size)
WRAPPED(void *, realloc, (void *old, size_t size), old, size)
WRAPPED(void *, aligned_alloc, (size_t align, size_t size), align, size)

static void *get(void *context, size_t size, size_t align)
{
    (void)context;
    allocations++;
    return __real_aligned_alloc(align, size);
}

static void put(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    allocations++;
    free(memory);
}

static void release(struct lade_ref *ref)
{
    (void)ref;
}

static bool visit(void *context, const void *element)
{
    (void)context;
    (void)element;
    return true;
}

/* Every operation often, also on a full and on an empty bag. */
static void exercise(struct lade_bag_handle *h, enum lade_bag_kind kind, bool oldest)
{
    static struct lade_ref ref;
    struct lade_ref *pointer = &ref;
    uint64_t word = 7;
    unsigned char record[64] = {1};
    const void *in = kind == LADE_BAG_REFS ? (const void *)&pointer : kind == LADE_BAG_WORDS ? (void *)&word : record;
    unsigned char out[64];
    struct lade_loan loan;

    lade_ref_init(&ref);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2 * CAPACITY; i++) {
            if (kind == LADE_BAG_REFS)
                (void)lade_ref_get(&ref);
            if (lade_bag_put(h, in) == LADE_FULL && kind == LADE_BAG_REFS)
                (void)lade_ref_put(&ref, release);
            if (i % 3 == 0 && lade_bag_draw(h, out) == LADE_OK && kind == LADE_BAG_REFS)
                (void)lade_ref_put(&ref, release);
            if (!oldest && kind != LADE_BAG_REFS && lade_bag_exchange(h, in, out) == LADE_INVALID)
                fail("an exchange was refused");
            if (lade_bag_sample(h, &loan) == LADE_OK)
                lade_bag_give_back(h, &loan);
        }
        (void)lade_bag_for_each(h, visit, NULL, NULL);
        (void)lade_bag_drain(h);
        if (lade_bag_draw_wait(h, out, 1000) != LADE_TIMEOUT)
            fail("something was left");
    }
}

static void count_allocations(void)
{
    const struct lade_alloc alloc = {get, put, NULL};
    unsigned long long during = 0;

    for (int kind = LADE_BAG_WORDS; kind <= LADE_BAG_RECORDS; kind++) {
        for (int full = LADE_BAG_REJECT; full <= LADE_BAG_EVICT_OLDEST; full++) {
            struct lade_bag_config config = {
                .capacity = CAPACITY, .handles = 2, .kind = (enum lade_bag_kind)kind, .full = (enum lade_bag_full)full};
            struct lade_bag *bag;
            struct lade_bag_handle *handle;
            unsigned long long before;

            config.alloc = &alloc;
            config.record_size = kind == LADE_BAG_RECORDS ? 64 : 0;
            config.release = kind == LADE_BAG_REFS ? release : NULL;
            if (lade_bag_create(&bag, &config) != LADE_OK)
                fail("no bag");
            before = allocations;
            if (lade_bag_join(bag, &handle) != LADE_OK)
                fail("no handle");
            exercise(handle, config.kind, config.full == LADE_BAG_EVICT_OLDEST);
            lade_bag_leave(handle);
            during += allocations - before;
            lade_bag_destroy(bag);
        }
    }
    printf("%llu 1 1\n", during);
}

int main(int argc, char **argv)
{
    static const char *const name[OPERATIONS] = {"put", "draw", "exchange"};

    fuse();
    if (argc == 3 && strcmp(argv[1], "allocations") == 0) {
        count_allocations();
        return allocations == 0; /* the creations were counted, or nothing is */
    }
    for (int i = 0; argc == 3 && i < OPERATIONS; i++) {
        size_t length = strlen(name[i]);
        if (strncmp(argv[1], name[i], length) == 0 &&
            (argv[1][length] == 0 || strcmp(argv[1] + length, "_mean") == 0)) {
            count_lines((enum operation)i, argv[1][length] != 0);
            return 0;
        }
    }
    fprintf(stderr, "usage: %s allocations|put|draw|exchange|put_mean|draw_mean|exchange_mean SECONDS\n", argv[0]);
    return 2;
}
