/* SPDX-License-Identifier: MIT */
/* How a part is chosen: names, the keyed coin, and weighted rendezvous. All in integers. */
#include "split.h"

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static void sip_rounds(uint64_t v[4], int rounds)
{
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static uint64_t little_endian(const unsigned char *byte, size_t size)
{
    uint64_t word = 0;

    for (size_t i = 0; i < size; i++)
        word |= (uint64_t)byte[i] << 8 * i;
    return word;
}

void lade_split_sip(const struct lade_split_sip *sip, const void *bytes, size_t size, struct lade_split_name *name)
{
    uint64_t v[4] = {sip->key[0] ^ UINT64_C(0x736f6d6570736575), sip->key[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
                     sip->key[0] ^ UINT64_C(0x6c7967656e657261), sip->key[1] ^ UINT64_C(0x7465646279746573)};
    const unsigned char *byte = bytes;
    size_t left = size;

    for (; left >= 8; left -= 8, byte += 8) {
        uint64_t word = little_endian(byte, 8);
        v[3] ^= word;
        sip_rounds(v, 2);
        v[0] ^= word;
    }
    uint64_t last = (uint64_t)size << 56 | (left > 0 ? little_endian(byte, left) : 0);
    v[3] ^= last;
    sip_rounds(v, 2);
    v[0] ^= last;
    v[2] ^= 0xee;
    sip_rounds(v, 4);
    name->low = v[0] ^ v[1] ^ v[2] ^ v[3];
    v[1] ^= 0xdd;
    sip_rounds(v, 4);
    name->high = v[0] ^ v[1] ^ v[2] ^ v[3];
}

void lade_split_random(const struct lade_split_name *name, uint32_t purpose, uint32_t number, uint64_t out[2])
{
    const uint32_t counter[4] = {(uint32_t)name->high, (uint32_t)(name->high >> 32), (uint32_t)name->low,
                                 (uint32_t)(name->low >> 32)};
    const uint32_t key[2] = {purpose, number};
    uint32_t block[4];

    /* The name is already the output of a keyed hash; Philox derives as many independent words from it as needed. */
    lade_philox(counter, key, block);
    out[0] = (uint64_t)block[1] << 32 | block[0];
    out[1] = (uint64_t)block[3] << 32 | block[2];
}

/* As lade_random_below(): without the rejection, some numbers would be more likely. */
uint64_t lade_split_below(const struct lade_split_name *name, uint32_t purpose, uint64_t n)
{
    const uint64_t unfair = (0 - n) % n; /* 2^64 mod n */

    for (uint32_t i = 0;; i++) {
        uint64_t word[2], low;
        lade_split_random(name, purpose, i, word);
        for (int j = 0; j < 2; j++) {
            uint64_t number = lade_multiply(word[j], n, &low);
            if (low >= unfair)
                return number;
        }
    }
}

/*
 * Logarithms, times 2^57. For each number 1 + i/256 we store the inverse, rounded up to 63 fractional bits, and the
 * logarithm of exactly that inverse, computed bit by bit: squaring a number doubles its logarithm. A number t from 1 to
 * 2, multiplied by the inverse for its upper bits, is 1 + r with 0 <= r < 2^-8, whose logarithm has a short series. The
 * error is below 2^-41; more important, it is the same on every machine.
 */
#define ONE (UINT64_C(1) << 57)
#define LOG2_E_FRACTION UINT64_C(0x71547652b82fe177) /* of log2(e), times 2^64 */

/* log2(z / 2^63) for z from 2^63 to 2^64. */
static uint64_t log_by_squaring(uint64_t z)
{
    uint64_t log = 0;

    for (uint64_t bit = ONE / 2; bit > 0; bit /= 2) {
        uint64_t low, high = lade_multiply(z, z, &low);
        if (high >> 63) {
            log += bit;
            z = high;
        } else {
            z = high << 1 | low >> 63;
        }
    }
    return log;
}

void lade_split_make_logs(struct lade_split_logs *logs)
{
    for (uint64_t i = 0; i < 1 << LADE_SPLIT_LOG_BITS; i++) {
        uint64_t inverse = ((UINT64_C(1) << 63) / (256 + i) + 1) * 256;
        logs->inverse[i] = inverse;
        logs->log[i] = i == 0 ? 0 : ONE - log_by_squaring(inverse << 1);
    }
}

static int leading_zeros(uint64_t word)
{
    int zeros = 0;

    for (int half = 32; half > 0; half /= 2) {
        if (word >> (64 - half) == 0) {
            zeros += half;
            word <<= half;
        }
    }
    return zeros;
}

/* -log2(word / 2^64), times 2^57; word 0 counts as 1. */
uint64_t lade_split_minus_log(const struct lade_split_logs *logs, uint64_t word)
{
    int zeros = leading_zeros(word | 1);
    uint64_t t = (word | 1) << zeros, low;
    unsigned i = (unsigned)(t >> (63 - LADE_SPLIT_LOG_BITS) & ((1 << LADE_SPLIT_LOG_BITS) - 1));
    uint64_t r = (lade_multiply(t, logs->inverse[i], &low) - (UINT64_C(1) << 62)) << 2; /* times 2^64 */
    uint64_t r2 = lade_multiply(r, r, &low), r3 = lade_multiply(r2, r, &low), r4 = lade_multiply(r2, r2, &low);
    uint64_t natural = r - r2 / 2 + r3 / 3 - r4 / 4;
    uint64_t log = logs->log[i] + ((natural + lade_multiply(natural, LOG2_E_FRACTION, &low)) >> 7);
    uint64_t whole = ((uint64_t)zeros + 1) * ONE;

    return whole > log ? whole - log : 0;
}

/* a * b < c * d */
static bool less(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t left_low, right_low;
    uint64_t left = lade_multiply(a, b, &left_low), right = lade_multiply(c, d, &right_low);

    return left < right || (left == right && left_low < right_low);
}

/*
 * Weighted rendezvous: chooses the part with the smallest -log(u) / weight, where u is a random number of name and part
 * (Efraimidis, Spirakis, "Weighted random sampling with a reservoir", 2006). A different weight changes the number of
 * one part only.
 */
static unsigned by_hash(const struct lade_split *s, const struct lade_split_name *name)
{
    unsigned best = LADE_SPLIT_NO_PART;
    uint64_t least = 0, word[2] = {0, 0};

    for (unsigned part = 0; part < s->config.parts; part++) {
        if (part % 2 == 0)
            lade_split_random(name, LADE_SPLIT_FOR_PART, part / 2, word);
        if (s->weight[part] == 0)
            continue;
        uint64_t number = lade_split_minus_log(s->logs, word[part % 2]);
        if (best == LADE_SPLIT_NO_PART || less(number, s->weight[best], least, s->weight[part])) {
            best = part;
            least = number;
        }
    }
    return best;
}

unsigned lade_split_choose(const struct lade_split *s, const struct lade_split_name *name)
{
    if (s->config.rule == LADE_SPLIT_HASH)
        return by_hash(s, name);

    uint64_t number = lade_split_below(name, LADE_SPLIT_FOR_COIN, s->weights);
    unsigned part = 0;
    while (number >= s->weight[part])
        number -= s->weight[part++];
    return part;
}

int lade_split_shares(const uint32_t *weights, unsigned parts, uint64_t n, uint64_t *count)
{
    uint64_t sum = 0, left = n;

    if (parts == 0 || parts > LADE_SPLIT_PARTS_MAX || !count)
        return LADE_INVALID;
    for (unsigned i = 0; i < parts; i++)
        sum += weights ? weights[i] : 1;
    if (sum == 0 || n > UINT64_MAX / UINT32_MAX)
        return LADE_INVALID;
    for (unsigned i = 0; i < parts; i++) {
        count[i] = n * (weights ? weights[i] : 1) / sum;
        left -= count[i];
    }
    bool given[LADE_SPLIT_PARTS_MAX] = {false};
    for (; left > 0; left--) {
        unsigned best = parts;
        uint64_t most = 0;
        for (unsigned i = 0; i < parts; i++) {
            uint64_t rest = n * (weights ? weights[i] : 1) % sum;
            if (!given[i] && rest > most) {
                best = i;
                most = rest;
            }
        }
        given[best] = true;
        count[best]++;
    }
    return LADE_OK;
}
