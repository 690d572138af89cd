/* SPDX-License-Identifier: MIT */
/*
 * random: numbers and permutations that are pure functions of a key and a position.
 *
 * The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). A
 * key and an id name a stream. Word number c of the stream is lade_random_at(key, id, c), whichever words were drawn
 * before and whichever thread calls it. struct lade_random returns these words in order, from a small buffer.
 *
 * When not to use it: for secrets. Philox is not a cipher.
 *
 * Threads      any thread may call the pure functions. A struct lade_random or lade_permutation belongs to one thread
 *              at a time. After its init, any number of threads may read a permutation.
 * Progress     wait-free, except that lade_random_below() and lade_permutation_at() repeat until a value is accepted.
 *              The probability that a step is rejected is below n / 2^64 for lade_random_below(), and below 1 / sqrt(n)
 *              for lade_permutation_at().
 * Memory       no allocation.
 */
#ifndef LADE_RANDOM_H
#define LADE_RANDOM_H

#include <lade/api.h>
#include <lade/status.h>
#include <stdint.h>

LADE_BEGIN

/* Names the streams of one purpose, see lade_key_make(). Frozen. */
struct lade_key {
    uint32_t word[2]; /* Philox's key */
};

/*
 * Derives a key. Seed, epoch and purpose are hashed, never added: seed 0 of epoch 1 is unrelated to seed 1 of epoch 0.
 * Every value of each is equally good, zero included. The purpose separates several uses of one seed (order of samples,
 * augmentation, split, ...).
 */
LADE_API struct lade_key lade_key_make(uint64_t seed, uint64_t epoch, uint64_t purpose);

/* The Philox4x32-10 bijection of 128-bit counters under a 64-bit key. */
LADE_API void lade_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/*
 * Returns word number position of stream id. The id is part of Philox's counter, so streams of one key never overlap.
 */
LADE_API uint64_t lade_random_at(struct lade_key key, uint64_t id, uint64_t position);

/* Words that a generator computes at a time. */
#define LADE_RANDOM_BUFFER 64

/* Returns the words of one stream in order. The fields belong to the library. Frozen. */
struct lade_random {
    uint64_t word[LADE_RANDOM_BUFFER]; /* the buffer */
    uint64_t position;                 /* in the stream, of the first word after the buffer */
    uint64_t id;                       /* of the stream */
    struct lade_key key;               /* of the stream */
    uint32_t next;                     /* index into word[] */
};

/* Initialises the generator at word number zero of stream id. */
LADE_API void lade_random_init(struct lade_random *random, struct lade_key key, uint64_t id);

/* Moves the generator to word number position of the same stream. */
LADE_API void lade_random_seek(struct lade_random *random, uint64_t position);

/* Refills the buffer. Called by lade_random_word(). */
LADE_API void lade_random_refill(struct lade_random *random);

/* Returns the next 64 random bits. */
static inline uint64_t lade_random_word(struct lade_random *random)
{
    if (random->next == LADE_RANDOM_BUFFER)
        lade_random_refill(random);
    return random->word[random->next++];
}

/* Returns the high half of a * b and stores the low half. */
static inline uint64_t lade_multiply(uint64_t a, uint64_t b, uint64_t *low)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t other = a0 * b1 + (uint32_t)middle;
    *low = a * b;
    return a1 * b1 + (middle >> 32) + (other >> 32);
#endif
}

/*
 * Returns a number in [0, n), each with exactly the same probability; n = 0 stands for 2^64. Multiplication with
 * rejection (Lemire, "Fast random integer generation in an interval", 2019).
 */
static inline uint64_t lade_random_below(struct lade_random *random, uint64_t n)
{
    uint64_t low;
    uint64_t high;

    if (n == 0)
        return lade_random_word(random);
    high = lade_multiply(lade_random_word(random), n, &low);
    if (low < n) {
        uint64_t unfair = (0 - n) % n; /* 2^64 mod n */
        while (low < unfair)
            high = lade_multiply(lade_random_word(random), n, &low);
    }
    return high;
}

/*
 * A bijection of [0, n) selected by the key. Up to LADE_PERMUTATION_SMALL elements it is a Fisher-Yates shuffle: every
 * order has the same probability, up to the quality of the generator. Above that it is an 8-round Feistel network on a
 * grid of a x b >= n cells with cycle walking (Black, Rogaway, "Ciphers with arbitrary finite domains", 2002). It takes
 * constant memory, and any position can be computed at any time. The fields belong to the library. Frozen.
 */
#define LADE_PERMUTATION_SMALL 256
#define LADE_PERMUTATION_ROUNDS 8
#define LADE_PERMUTATION_MAX (UINT64_C(1) << 62)

/* The fields belong to the library. Frozen. */
struct lade_permutation {
    uint64_t n;                                  /* elements */
    uint64_t rows, columns;                      /* of the grid; 0 if n <= LADE_PERMUTATION_SMALL */
    uint64_t round_key[LADE_PERMUTATION_ROUNDS]; /* of the Feistel network */
    uint8_t forward[LADE_PERMUTATION_SMALL];     /* the shuffle, if n is small: element at a position */
    uint8_t backward[LADE_PERMUTATION_SMALL];    /* position of an element */
};

/*
 * Initialises a permutation of n elements.
 * LADE_OK
 * LADE_INVALID     n is zero or above LADE_PERMUTATION_MAX.
 */
LADE_API LADE_MUST_CHECK int lade_permutation_init(struct lade_permutation *permutation, struct lade_key key,
                                                   uint64_t n);

/* Returns the element at a position below n; UINT64_MAX for any other position. */
LADE_API uint64_t lade_permutation_at(const struct lade_permutation *permutation, uint64_t position);

/*
 * Stores the elements at count consecutive positions, all below n: to[i] is the element at first + i. Faster than
 * single calls.
 */
LADE_API void lade_permutation_many(const struct lade_permutation *permutation, uint64_t first, uint64_t count,
                                    uint64_t *to);

/*
 * Evaluation with a table. A round adds a number to one half of a position, and that number depends only on the other
 * half. A half has about sqrt(n) values, so the addends of the rounds fit into a small table. A lookup takes a third of
 * the time of the arithmetic; the permutation is the same. The fields belong to the library. Frozen.
 */
#define LADE_PERMUTATION_TABLE 8192 /* entries: all rounds for up to a million elements, fewer rounds above */

/* The addends of the first rounds. Frozen. */
struct lade_permutation_table {
    int rounds;                              /* number of leading rounds in the table; even */
    uint16_t addend[LADE_PERMUTATION_TABLE]; /* of each round and half */
};

/* Fills the table for a permutation. */
LADE_API void lade_permutation_tabulate(const struct lade_permutation *permutation,
                                        struct lade_permutation_table *table);

/* As lade_permutation_many(), with the table of this permutation or with NULL. */
LADE_API void lade_permutation_walk(const struct lade_permutation *permutation,
                                    const struct lade_permutation_table *table, uint64_t first, uint64_t count,
                                    uint64_t *to);

/* Returns the position of an element below n; UINT64_MAX for any other element. */
LADE_API uint64_t lade_permutation_find(const struct lade_permutation *permutation, uint64_t element);

LADE_END

#endif
