/* SPDX-License-Identifier: MIT */
/*
 * Routing with names that the harness chooses, on any table. A name is one byte, NAME(high, low): names with the same
 * high have the same upper half of the hash. The harness defines choice(), the part that the running thread would
 * choose.
 */
#include "split.c"

#define NAME(high, low) ((high)*10 + (low))

/* Two places for each upper half; groups and contents are separate from keys. */
void lade_split_sip(const struct lade_split_sip *sip, const void *bytes, size_t size, struct lade_split_name *name)
{
    uint64_t number = *(const uint8_t *)bytes;

    (void)size;
    name->high = (number / 10) << 4;
    name->low = number % 10 + (sip->key[0] << 4);
}

static unsigned choice(void);

unsigned lade_split_choose(const struct lade_split *s, const struct lade_split_name *name)
{
    (void)s, (void)name;
    return choice();
}

uint64_t lade_split_below(const struct lade_split_name *name, uint32_t purpose, uint64_t n)
{
    (void)name, (void)purpose, (void)n;
    return 0;
}

int lade_split_route_compact(struct lade_split *s, const struct lade_split_name *name, unsigned *part)
{
    (void)s, (void)name, (void)part;
    return LADE_INVALID;
}

#ifndef TOKENS
int lade_split_draw_token(struct lade_split *s, unsigned class_number, struct lade_split_token *token, unsigned *part)
{
    (void)s, (void)class_number, (void)token, (void)part;
    return LADE_INVALID;
}

void lade_split_end_token(struct lade_split *s, unsigned class_number, struct lade_split_token *token, bool used)
{
    (void)s, (void)class_number, (void)token, (void)used;
}
#endif

static struct lade_split split;
static uint8_t key_byte[THREADS + 1], group_byte[THREADS + 1], content_byte[THREADS + 1];
static struct lade_split_item item[THREADS + 1];
static unsigned got_part[THREADS + 1];

static void make_names(enum lade_split_rule rule)
{
    split.config.parts = 4;
    split.config.rule = rule;
    split.config.store = LADE_SPLIT_EXACT;
    for (uint64_t i = 0; i < 4; i++)
        split.sip[i].key[0] = i;
}

/* The status; the part is in got_part[id]. Zero: no group, no content. */
static int route(int id, unsigned key, unsigned group, unsigned content)
{
    key_byte[id] = (uint8_t)key;
    group_byte[id] = (uint8_t)group;
    content_byte[id] = (uint8_t)content;
    item[id].key = &key_byte[id];
    item[id].key_size = 1;
    item[id].group = group ? &group_byte[id] : NULL;
    item[id].group_size = 1;
    item[id].content = content ? &content_byte[id] : NULL;
    item[id].content_size = 1;
    item[id].class_number = 0;
    return lade_split_route(&split, &item[id], &got_part[id]);
}
