/* SPDX-License-Identifier: MIT */
/* Internal. */
#ifndef LADE_LOAD_ORDER_MEMBERS_H
#define LADE_LOAD_ORDER_MEMBERS_H

#include "order.h"
#include "source.h"

/* Whether a sample belongs to the part. */
static inline bool lade_order_is_member(const struct lade_order *o, uint64_t id)
{
    unsigned part = LADE_SPLIT_NO_PART;

    if (o->in_part)
        return o->in_part[id / 64] >> id % 64 & 1;
    return !o->split ||
           (lade_split_route_word(o->split, lade_source_group(o->source, id), &part) == LADE_OK && part == o->part);
}

#endif
