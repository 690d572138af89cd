/* SPDX-License-Identifier: MIT */
#include "mixture.h"

#include "heap.h"

#include <lade/random.h>
#include <string.h>

#define SOURCES LADE_MIXTURE_SOURCES_MAX

static uint32_t common_factor(uint32_t a, uint32_t b)
{
    while (b) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint32_t lade_mixture_reduce(uint32_t *weight, unsigned sources)
{
    uint32_t factor = 0;
    uint64_t sum = 0;

    for (unsigned i = 0; i < sources; i++)
        factor = common_factor(weight[i], factor);
    for (unsigned i = 0; i < sources && factor; i++)
        sum += weight[i] /= factor;
    return sum > LADE_MIXTURE_WEIGHT_MAX ? LADE_MIXTURE_WEIGHT_MAX + 1 : (uint32_t)sum;
}

/* Earliest deadline first. Sum and weights are below 2^21, so nothing overflows. */
static void deal(struct lade_mixture_span *span, unsigned sources)
{
    const uint64_t sum = span->period;
    uint64_t due[SOURCES], begin[SOURCES] = {0};
    uint32_t dealt[SOURCES] = {0};

    for (unsigned i = 0; i < sources; i++)
        due[i] = span->weight[i] ? (sum + span->weight[i] - 1) / span->weight[i] : UINT64_MAX;
    for (uint64_t t = 0; t < sum; t++) {
        unsigned best = SOURCES;
        for (unsigned i = 0; i < sources; i++)
            if (begin[i] <= t && due[i] != UINT64_MAX && (best == SOURCES || due[i] < due[best]))
                best = i;
        /* There always is one: up to here more units may be dealt than there were positions. */
        const uint64_t w = span->weight[best], k = ++dealt[best];
        span->unit[t] = (uint32_t)(k - 1) * SOURCES + best;
        begin[best] = k * sum / w;
        due[best] = ((k + 1) * sum + w - 1) / w;
    }
}

/* Positions of the span before sample more[i] + 1 of each source; LADE_PERMUTATION_MAX: or later. */
static void find(const struct lade_mixture_span *span, unsigned sources, const uint64_t *more, uint64_t *found)
{
    for (unsigned i = 0; i < sources; i++)
        found[i] = LADE_PERMUTATION_MAX;
    for (uint32_t t = 0; t < span->period; t++) {
        const unsigned i = span->unit[t] % SOURCES;
        const uint64_t w = span->weight[i], periods = more[i] / w;
        if (span->unit[t] / SOURCES == more[i] % w && periods < LADE_PERMUTATION_MAX / 2 / span->period)
            found[i] = periods * span->period + t;
    }
}

static int add_span(struct lade_mixture_law *law, const struct lade_mixture *m, const uint32_t *weight, uint64_t from,
                    const uint64_t *taken, const struct lade_alloc *alloc)
{
    struct lade_mixture_span *more = lade_heap_resize(alloc, law->span, law->spans + 1, sizeof *more);

    if (!more)
        return LADE_NO_MEMORY;
    law->span = more;
    struct lade_mixture_span *span = &law->span[law->spans];
    memset(span, 0, sizeof *span);
    span->from = from;
    for (unsigned i = 0; i < m->sources; i++) {
        const bool is_over = m->end == LADE_MIXTURE_DROP && taken && taken[i] >= m->first[i + 1] - m->first[i];
        span->taken[i] = taken ? taken[i] : 0;
        span->weight[i] = is_over ? 0 : weight[i];
    }
    span->period = lade_mixture_reduce(span->weight, m->sources);
    if (span->period == 0)
        return LADE_OK;
    span->unit = lade_heap_raw(alloc, span->period, sizeof *span->unit);
    if (!span->unit)
        return LADE_NO_MEMORY;
    law->spans++;
    deal(span, m->sources);
    return LADE_OK;
}

/* Positions of the span up to its end, by the rule of the mixture. */
static uint64_t length_of(const struct lade_mixture_span *span, const struct lade_mixture *m)
{
    uint64_t more[SOURCES], found[SOURCES], least = LADE_PERMUTATION_MAX, most = 0;

    for (unsigned i = 0; i < m->sources; i++) {
        const uint64_t samples = m->first[i + 1] - m->first[i];
        const uint64_t left = span->taken[i] < samples ? samples - span->taken[i] : 0;
        more[i] = m->end == LADE_MIXTURE_STOP || left == 0 ? left : left - 1;
    }
    find(span, m->sources, more, found);
    for (unsigned i = 0; i < m->sources; i++) {
        if (span->weight[i] == 0)
            continue;
        least = found[i] < least ? found[i] : least;
        if (span->taken[i] < m->first[i + 1] - m->first[i])
            most = found[i] + 1 > most ? found[i] + 1 : most;
    }
    return m->end == LADE_MIXTURE_REPEAT ? most : m->end == LADE_MIXTURE_DROP ? least + 1 : least;
}

int lade_mixture_law_init(struct lade_mixture_law *law, const struct lade_mixture *m, const uint32_t *weight,
                          uint64_t from, const uint64_t *taken, const struct lade_alloc *alloc)
{
    uint64_t now[SOURCES] = {0};

    *law = (struct lade_mixture_law){NULL, 0, from};
    if (taken)
        memcpy(now, taken, m->sources * sizeof *now);
    for (;;) {
        const unsigned before = law->spans;
        int status = add_span(law, m, weight, law->length, now, alloc);
        if (status != LADE_OK)
            return status;
        if (law->spans == before) /* all sources have ended */
            return LADE_OK;
        const uint64_t length = length_of(&law->span[before], m);
        if (length >= LADE_PERMUTATION_MAX - law->length)
            return LADE_LIMITED;
        law->length += length;
        if (m->end != LADE_MIXTURE_DROP)
            return LADE_OK;
        lade_mixture_law_taken(law, m->sources, law->length, now);
    }
}

void lade_mixture_law_free(struct lade_mixture_law *law, const struct lade_alloc *alloc)
{
    for (unsigned s = 0; s < law->spans; s++)
        lade_heap_put(alloc, law->span[s].unit);
    lade_heap_put(alloc, law->span);
    *law = (struct lade_mixture_law){NULL, 0, 0};
}

/* The span of a position; the end of the epoch belongs to the last one. */
static const struct lade_mixture_span *span_of(const struct lade_mixture_law *law, uint64_t position)
{
    unsigned s = law->spans - 1;

    while (s > 0 && law->span[s].from > position)
        s--;
    return &law->span[s];
}

unsigned lade_mixture_law_at(const struct lade_mixture_law *law, uint64_t position, uint64_t *number)
{
    const struct lade_mixture_span *span = span_of(law, position);
    const uint64_t t = position - span->from;
    const uint32_t unit = span->unit[t % span->period];

    *number = span->taken[unit % SOURCES] + t / span->period * span->weight[unit % SOURCES] + unit / SOURCES;
    return unit % SOURCES;
}

void lade_mixture_law_taken(const struct lade_mixture_law *law, unsigned sources, uint64_t position, uint64_t *taken)
{
    const struct lade_mixture_span *span = span_of(law, position);
    const uint64_t t = position - span->from;

    for (unsigned i = 0; i < sources; i++)
        taken[i] = span->taken[i] + t / span->period * span->weight[i];
    for (uint64_t s = 0; s < t % span->period; s++)
        taken[span->unit[s] % SOURCES]++;
}
