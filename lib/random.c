/* SPDX-License-Identifier: MIT */
#include <lade/random.h>
#include <stdbool.h>
#include <stddef.h>

/* Constants of Philox4x32 and its number of rounds: Salmon et al. 2011. */
#define MULTIPLIER_0 UINT32_C(0xD2511F53)
#define MULTIPLIER_1 UINT32_C(0xCD9E8D57)
#define WEYL_0 UINT32_C(0x9E3779B9)
#define WEYL_1 UINT32_C(0xBB67AE85)
#define ROUNDS 10

/* Stream ids with the top bit set belong to the library. */
#define PERMUTATION_STREAM (UINT64_C(1) << 63)

static inline void philox(uint32_t c[4], uint32_t k0, uint32_t k1)
{
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t p0 = (uint64_t)MULTIPLIER_0 * c[0];
        uint64_t p1 = (uint64_t)MULTIPLIER_1 * c[2];
        uint32_t x0 = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
        uint32_t x2 = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
        c[0] = x0;
        c[1] = (uint32_t)p1;
        c[2] = x2;
        c[3] = (uint32_t)p0;
        k0 += WEYL_0;
        k1 += WEYL_1;
    }
}

void lade_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = counter[i];
    philox(out, key[0], key[1]);
}

static uint64_t join(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

/* Word 2b of a stream is the low half of block b, word 2b + 1 the high half. */
static inline void block_of(struct lade_key key, uint64_t id, uint64_t block, uint64_t out[2])
{
    uint32_t c[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)id, (uint32_t)(id >> 32)};

    philox(c, key.word[0], key.word[1]);
    out[0] = join(c[0], c[1]);
    out[1] = join(c[2], c[3]);
}

struct lade_key lade_key_make(uint64_t seed, uint64_t epoch, uint64_t purpose)
{
    /* Two steps of a chain: one half of the first block keys the second, the other half is its input. */
    struct lade_key key = {{UINT32_C(0x6564616c), UINT32_C(0x79656b20)}};
    uint64_t state[2];

    block_of(key, seed, purpose, state);
    key.word[0] = (uint32_t)state[0];
    key.word[1] = (uint32_t)(state[0] >> 32);
    block_of(key, state[1], epoch, state);
    key.word[0] = (uint32_t)state[0];
    key.word[1] = (uint32_t)(state[0] >> 32);
    return key;
}

uint64_t lade_random_at(struct lade_key key, uint64_t id, uint64_t position)
{
    uint64_t out[2];

    block_of(key, id, position / 2, out);
    return out[position % 2];
}

void lade_random_init(struct lade_random *random, struct lade_key key, uint64_t id)
{
    random->key = key;
    random->id = id;
    random->position = 0;
    random->next = LADE_RANDOM_BUFFER;
}

void lade_random_seek(struct lade_random *random, uint64_t position)
{
    random->position = position / 2 * 2;
    random->next = LADE_RANDOM_BUFFER;
    if (position % 2)
        (void)lade_random_word(random);
}

/* Whole arrays per step, so that the compiler uses vector instructions. */
void lade_random_refill(struct lade_random *random)
{
    enum { BLOCKS = LADE_RANDOM_BUFFER / 2 };
    uint32_t c0[BLOCKS], c1[BLOCKS], c2[BLOCKS], c3[BLOCKS];
    uint32_t k0 = random->key.word[0], k1 = random->key.word[1];
    uint64_t block = random->position / 2;

    for (unsigned i = 0; i < BLOCKS; i++) {
        c0[i] = (uint32_t)(block + i);
        c1[i] = (uint32_t)((block + i) >> 32);
        c2[i] = (uint32_t)random->id;
        c3[i] = (uint32_t)(random->id >> 32);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < BLOCKS; i++) {
            uint64_t p0 = (uint64_t)MULTIPLIER_0 * c0[i];
            uint64_t p1 = (uint64_t)MULTIPLIER_1 * c2[i];
            c0[i] = (uint32_t)(p1 >> 32) ^ c1[i] ^ k0;
            c1[i] = (uint32_t)p1;
            c2[i] = (uint32_t)(p0 >> 32) ^ c3[i] ^ k1;
            c3[i] = (uint32_t)p0;
        }
        k0 += WEYL_0;
        k1 += WEYL_1;
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        random->word[2 * i] = join(c0[i], c1[i]);
        random->word[2 * i + 1] = join(c2[i], c3[i]);
    }
    random->position += LADE_RANDOM_BUFFER;
    random->next = 0;
}

/* A well mixed function of 64 bits (the finaliser of SplitMix64, variant 13 of Stafford 2011). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* Returns what round r adds to the half that has size values, given the other half. */
static uint64_t addend(const struct lade_permutation *p, int r, uint64_t other, uint64_t size)
{
    uint64_t low;

    return lade_multiply(mix(other + p->round_key[r]), size, &low);
}

static uint64_t grid_forward(const struct lade_permutation *p, uint64_t x)
{
    uint64_t row = x / p->columns, column = x % p->columns;

    for (int r = 0; r < LADE_PERMUTATION_ROUNDS; r += 2) {
        row += addend(p, r, column, p->rows);
        row -= row >= p->rows ? p->rows : 0;
        column += addend(p, r + 1, row, p->columns);
        column -= column >= p->columns ? p->columns : 0;
    }
    return row * p->columns + column;
}

static uint64_t grid_backward(const struct lade_permutation *p, uint64_t x)
{
    uint64_t row = x / p->columns, column = x % p->columns;

    for (int r = LADE_PERMUTATION_ROUNDS - 2; r >= 0; r -= 2) {
        column += p->columns - addend(p, r + 1, row, p->columns);
        column -= column >= p->columns ? p->columns : 0;
        row += p->rows - addend(p, r, column, p->rows);
        row -= row >= p->rows ? p->rows : 0;
    }
    return row * p->columns + column;
}

/* Returns the least s with s * s >= n, for n up to 2^62. */
static uint64_t root_above(uint64_t n)
{
    uint64_t s = 0;

    for (uint64_t bit = UINT64_C(1) << 31; bit > 0; bit /= 2)
        if ((s + bit) * (s + bit) < n)
            s += bit;
    return s + 1;
}

static void shuffle_small(struct lade_permutation *p, struct lade_key key)
{
    struct lade_random random;

    lade_random_init(&random, key, PERMUTATION_STREAM);
    for (unsigned i = 0; i < p->n; i++)
        p->forward[i] = (uint8_t)i;
    for (unsigned i = (unsigned)p->n - 1; i > 0; i--) {
        unsigned j = (unsigned)lade_random_below(&random, i + 1);
        uint8_t t = p->forward[i];
        p->forward[i] = p->forward[j];
        p->forward[j] = t;
    }
    for (unsigned i = 0; i < p->n; i++)
        p->backward[p->forward[i]] = (uint8_t)i;
}

int lade_permutation_init(struct lade_permutation *p, struct lade_key key, uint64_t n)
{
    if (n == 0 || n > LADE_PERMUTATION_MAX)
        return LADE_INVALID;
    p->n = n;
    p->rows = p->columns = 0;
    if (n <= LADE_PERMUTATION_SMALL) {
        shuffle_small(p, key);
        return LADE_OK;
    }
    p->rows = root_above(n);
    p->columns = (n + p->rows - 1) / p->rows;
    for (int r = 0; r < LADE_PERMUTATION_ROUNDS; r++)
        p->round_key[r] = lade_random_at(key, PERMUTATION_STREAM, (uint64_t)r);
    return LADE_OK;
}

uint64_t lade_permutation_at(const struct lade_permutation *p, uint64_t position)
{
    if (position >= p->n)
        return UINT64_MAX;
    if (p->rows == 0)
        return p->forward[position];
    do
        position = grid_forward(p, position);
    while (position >= p->n);
    return position;
}

#define ABREAST 4

/* A cell of the grid. */
struct grid_cell {
    uint64_t row, column;
};

/*
 * As grid_forward(), for consecutive cells from next on; advances next past them. Their computations are independent of
 * each other.
 */
static void grid_forward_abreast(const struct lade_permutation *p, const struct lade_permutation_table *t,
                                 struct grid_cell *next, uint64_t *to)
{
    uint64_t row[ABREAST], column[ABREAST];
    int r = 0;

    for (int i = 0; i < ABREAST; i++) {
        bool last = next->column + 1 == p->columns;
        row[i] = next->row;
        column[i] = next->column;
        next->row += last;
        next->column = last ? 0 : next->column + 1;
    }
    for (; t && r < t->rounds; r += 2) {
        const uint16_t *add = t->addend + (uint64_t)r * p->rows;
        for (int i = 0; i < ABREAST; i++) {
            row[i] += add[column[i]];
            row[i] -= row[i] >= p->rows ? p->rows : 0;
        }
        add += p->rows;
        for (int i = 0; i < ABREAST; i++) {
            column[i] += add[row[i]];
            column[i] -= column[i] >= p->columns ? p->columns : 0;
        }
    }
    for (; r < LADE_PERMUTATION_ROUNDS; r += 2) {
        for (int i = 0; i < ABREAST; i++) {
            row[i] += addend(p, r, column[i], p->rows);
            row[i] -= row[i] >= p->rows ? p->rows : 0;
        }
        for (int i = 0; i < ABREAST; i++) {
            column[i] += addend(p, r + 1, row[i], p->columns);
            column[i] -= column[i] >= p->columns ? p->columns : 0;
        }
    }
    for (int i = 0; i < ABREAST; i++)
        to[i] = row[i] * p->columns + column[i];
}

/* Round r depends on the column if it is even and on the row if it is odd; there are at least as many rows. */
void lade_permutation_tabulate(const struct lade_permutation *p, struct lade_permutation_table *t)
{
    uint64_t fit = p->rows > 0 ? LADE_PERMUTATION_TABLE / p->rows : 0;

    t->rounds = fit < LADE_PERMUTATION_ROUNDS ? (int)(fit / 2 * 2) : LADE_PERMUTATION_ROUNDS;
    for (int r = 0; r < t->rounds; r++) {
        const uint64_t values = r % 2 ? p->rows : p->columns, size = r % 2 ? p->columns : p->rows;
        for (uint64_t other = 0; other < values; other++)
            t->addend[(uint64_t)r * p->rows + other] = (uint16_t)addend(p, r, other, size);
    }
}

void lade_permutation_walk(const struct lade_permutation *p, const struct lade_permutation_table *t, uint64_t first,
                           uint64_t count, uint64_t *to)
{
    struct grid_cell next = {0, 0};
    uint64_t i = 0;

    if (p->rows > 0)
        next = (struct grid_cell){first / p->columns, first % p->columns};
    for (; p->rows > 0 && i + ABREAST <= count; i += ABREAST) {
        grid_forward_abreast(p, t, &next, to + i);
        for (int k = 0; k < ABREAST; k++)
            while (to[i + (uint64_t)k] >= p->n)
                to[i + (uint64_t)k] = grid_forward(p, to[i + (uint64_t)k]);
    }
    for (; i < count; i++)
        to[i] = lade_permutation_at(p, first + i);
}

void lade_permutation_many(const struct lade_permutation *p, uint64_t first, uint64_t count, uint64_t *to)
{
    lade_permutation_walk(p, NULL, first, count, to);
}

uint64_t lade_permutation_find(const struct lade_permutation *p, uint64_t element)
{
    if (element >= p->n)
        return UINT64_MAX;
    if (p->rows == 0)
        return p->backward[element];
    do
        element = grid_backward(p, element);
    while (element >= p->n);
    return element;
}
