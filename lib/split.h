/* SPDX-License-Identifier: MIT */
/* The internal structures of a split, shared by lib/split*.c. Internal. */
#ifndef LADE_LIB_SPLIT_H
#define LADE_LIB_SPLIT_H

#include <lade/bag.h>
#include <lade/random.h>
#include <lade/split.h>
#include <lade/table.h>

#include "alloc.h"

#include <stdatomic.h>

/* The hash that identifies an item, group or content. */
struct lade_split_name {
    uint64_t high, low;
};

/* Key of the hash, one for each kind of name: a group called "a" is unrelated to a key called "a". */
struct lade_split_sip {
    uint64_t key[2];
};

/* SipHash-2-4 with 128 bits (Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012). */
void lade_split_sip(const struct lade_split_sip *sip, const void *bytes, size_t size, struct lade_split_name *name);

/* Logarithms in integers, for weighted rendezvous: split_choose.c. */
#define LADE_SPLIT_LOG_BITS 8
struct lade_split_logs {
    uint64_t inverse[1 << LADE_SPLIT_LOG_BITS]; /* of 1 + (i + 1/2) / 256, times 2^63 */
    uint64_t log[1 << LADE_SPLIT_LOG_BITS];     /* -log2 of that inverse, times 2^57 */
};

void lade_split_make_logs(struct lade_split_logs *logs);
uint64_t lade_split_minus_log(const struct lade_split_logs *logs, uint64_t word);

struct lade_split_class {
    struct lade_bag *tokens; /* words: part + 1; NULL if the class has none */
    _Atomic uint64_t left;   /* tokens that no decision has used yet */
};

struct lade_split {
    struct lade_split_config config; /* weights and quota point to the copies */
    uint32_t weight[LADE_SPLIT_PARTS_MAX];
    uint64_t weights;                  /* their sum */
    struct lade_split_sip sip[4];      /* by kind */
    struct lade_split_logs *logs;      /* rule hash */
    struct lade_table *table;          /* exact */
    _Atomic uint64_t *word;            /* compact, arrays */
    uint64_t words;                    /* of them */
    uint64_t share;                    /* of part 0, times LADE_SPLIT_WHOLE */
    struct lade_split_class *class_of; /* quota */
    uint64_t *quota;
    _Atomic uint64_t conflicts, dropped;
};

/* Creates a split; left: the remaining tokens, in the form of config->quota. */
int lade_split_make(struct lade_split **split, const struct lade_split_config *config, const uint64_t *left);

/* Chooses a part by the weights, for rules hash and coin. */
unsigned lade_split_choose(const struct lade_split *s, const struct lade_split_name *name);

/* Returns a number below n, the same for the same name and purpose: the coin. */
enum { LADE_SPLIT_FOR_PART = 1, LADE_SPLIT_FOR_COIN, LADE_SPLIT_FOR_FOLD, LADE_SPLIT_FOR_FILTER, LADE_SPLIT_FOR_MERGE };
uint64_t lade_split_below(const struct lade_split_name *name, uint32_t purpose, uint64_t n);

/* Stores 128 random bits for a name, a purpose and a number. */
void lade_split_random(const struct lade_split_name *name, uint32_t purpose, uint32_t number, uint64_t out[2]);

/* A token of a class, and the handle that holds it. */
struct lade_split_token {
    struct lade_bag_handle *handle; /* NULL: none */
    unsigned part;
};

int lade_split_draw_token(struct lade_split *s, unsigned class_number, struct lade_split_token *token, unsigned *part);
void lade_split_end_token(struct lade_split *s, unsigned class_number, struct lade_split_token *token, bool used);

/*
 * compact and arrays: split_compact.c. Probabilities are integers, so that the coin gives the same result on every
 * machine.
 */
#define LADE_SPLIT_WHOLE (UINT64_C(1) << 62)
int lade_split_make_words(struct lade_split *s);
int lade_split_route_compact(struct lade_split *s, const struct lade_split_name *name, unsigned *part);

/*
 * Exact: an entry of the table. Key: the position, see below. Value, from the top: 8 bits part, 2 bits kind, 53 bits of
 * the lower half. Kind 0 is a content that belongs to one key: 8 bits of the owner, 2 bits kind, 24 bits of the
 * content, 29 bits of the owner. The uppermost 8 bits are at most 254, so values never collide with the codes of
 * tables.
 */
#define LADE_SPLIT_FINGERPRINT ((UINT64_C(1) << 53) - 1)
#define LADE_SPLIT_OWNER ((UINT64_C(1) << 29) - 1)
#define LADE_SPLIT_PART_SHIFT 55
#define LADE_SPLIT_KIND_SHIFT 53

static inline unsigned lade_split_part_of(uint64_t value)
{
    return (unsigned)(value >> LADE_SPLIT_PART_SHIFT);
}

static inline unsigned lade_split_kind_of(uint64_t value)
{
    return (unsigned)(value >> LADE_SPLIT_KIND_SHIFT & 3);
}

/* Returns the bits of a value that identify its name; the others encode the decision. */
static inline uint64_t lade_split_identity(uint64_t value)
{
    uint64_t identity = value & ((UINT64_C(1) << LADE_SPLIT_PART_SHIFT) - 1);

    return lade_split_kind_of(value) == 0 ? identity & ~LADE_SPLIT_OWNER : identity;
}

/*
 * Names with the same upper half are stored at the positions high, high + 1, ... in order of arrival; the four lowest
 * bits of high are zero for that. Nothing is ever removed, so all threads always skip a position that another name has.
 * Therefore all threads that search for one name reach the same position: the guarantees of the table for a key also
 * hold for a name.
 */
#define LADE_SPLIT_PLACE (~UINT64_C(15))

/* Advances *place to the entry of the name in value: LADE_OK, or LADE_ABSENT. */
int lade_split_look(struct lade_table *table, uint64_t *place, uint64_t value, uint64_t *found);

/*
 * Records a name. *winner is the value that it has afterwards.
 * LADE_OK          recorded.
 * LADE_PRESENT     it was already recorded.
 * else             as lade_table_insert().
 */
int lade_split_claim(struct lade_table *table, uint64_t place, uint64_t value, uint64_t *winner);

#endif
