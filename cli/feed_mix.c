/* SPDX-License-Identifier: MIT */
/* The mixture of lade feed: --mix WEIGHT:SOURCE. */
#include "feed.h"

#include "lade.h"

#include <stdlib.h>
#include <string.h>

/* Reads a decimal number such as 0.25 as digits, and how many follow the point. */
static bool take_decimal(const char *text, const char *end, uint64_t *digits, unsigned *places)
{
    bool point = false;

    *digits = 0;
    *places = 0;
    for (const char *c = text; c < end; c++) {
        if (*c == '.' && !point && c > text) {
            point = true;
            continue;
        }
        if (*c < '0' || *c > '9' || *digits > 99999999)
            return false;
        *digits = 10 * *digits + (uint64_t)(*c - '0');
        *places += point;
    }
    return end > text && end[-1] != '.';
}

/* The weights as whole numbers with the same ratios. */
static bool whole_weights(const struct feed_options *o, uint32_t *weight)
{
    uint64_t digits[LADE_MIXTURE_SOURCES_MAX], factor = 0;
    unsigned places[LADE_MIXTURE_SOURCES_MAX], most = 0;

    for (unsigned i = 0; i < o->mixes; i++) {
        if (!take_decimal(o->mix[i], strchr(o->mix[i], ':'), &digits[i], &places[i]))
            return false;
        most = places[i] > most ? places[i] : most;
    }
    for (unsigned i = 0; i < o->mixes; i++) {
        for (unsigned p = places[i]; p < most; p++)
            digits[i] *= 10;                        /* below 10^9 * 10^9 */
        for (uint64_t a = digits[i], b; a; a = b) { /* the common factor */
            b = factor % a;
            factor = a;
        }
    }
    for (unsigned i = 0; i < o->mixes; i++) {
        const uint64_t w = factor ? digits[i] / factor : 0;
        weight[i] = w > LADE_MIXTURE_WEIGHT_MAX ? LADE_MIXTURE_WEIGHT_MAX + 1 : (uint32_t)w;
    }
    return true;
}

const char *feed_mix_source(const struct feed_options *o, unsigned i)
{
    return strchr(o->mix[i], ':') + 1;
}

bool feed_mix_take(struct feed_options *o, const char *text)
{
    const char *colon = strchr(text, ':');
    uint64_t digits;
    unsigned places;

    if (!colon || !colon[1] || !take_decimal(text, colon, &digits, &places)) {
        print_error("feed: --mix takes WEIGHT:SOURCE, such as 0.25:tokens:a.bin,length=512, not '%s'", text);
        return false;
    }
    if (o->mixes == LADE_MIXTURE_SOURCES_MAX) {
        print_error("feed: a mixture has at most %u sources", LADE_MIXTURE_SOURCES_MAX);
        return false;
    }
    o->mix[o->mixes++] = text;
    return true;
}

int feed_mix_open(struct feed *f)
{
    struct feed_options *o = &f->o;
    struct lade_source *source[LADE_MIXTURE_SOURCES_MAX];
    uint32_t weight[LADE_MIXTURE_SOURCES_MAX];
    unsigned open = 0;
    int status = whole_weights(o, weight) ? LADE_OK : LADE_INVALID;

    while (status == LADE_OK && open < o->mixes) {
        status = lade_source_open(&source[open], feed_mix_source(o, open), NULL, &f->error);
        open += status == LADE_OK;
    }
    const struct lade_source_mixture mixture = {.source = source,
                                                .weight = weight,
                                                .sources = o->mixes,
                                                .end = (enum lade_mixture_end)o->mix_end,
                                                .owned = true};
    if (status == LADE_OK)
        status = lade_source_open_mixture(&f->source, &mixture, &f->error);
    for (unsigned i = 0; status != LADE_OK && i < open; i++)
        lade_source_close(source[i]);
    bool is_complete = o->mix_end == LADE_MIXTURE_DROP;
    for (unsigned i = 0; i < o->mixes; i++)
        is_complete = is_complete && weight[i] > 0;
    if (status == LADE_OK && !is_complete && o->check > 0) {
        print_error(
            "feed: --check counts samples that come once in each epoch: it needs --mix-end drop, and no weight 0");
        return EXIT_USAGE;
    }
    if (!is_complete)
        o->check = 0;
    return status == LADE_OK ? EXIT_DONE : feed_trouble(&f->error);
}

void report_shares(FILE *to, const struct feed *f)
{
    for (unsigned i = 0; i < f->shares; i++) {
        const struct lade_loader_share *s = &f->share[i];
        if (i == 0)
            fputs("  mixture      weight    share    delivered     epochs   faults  source\n", to);
        fprintf(to, "             %8.4f %8.4f %12s", s->target, s->share, grouped(s->delivered));
        fprintf(to, " %10.3f %8s", s->epochs, grouped(s->faults));
        fprintf(to, "  %s\n", shown(feed_mix_source(&f->o, i)));
    }
}
