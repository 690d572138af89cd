/* SPDX-License-Identifier: MIT */
/* The tokens of a quota. */
#include "split.h"

#include "ignore.h"

/*
 * A token is drawn before the decision and kept until the decision has a winner; the loser puts it back. So the number
 * of tokens in the bag, held by threads and used by decisions is constant. The handle is kept as well, because joining
 * could fail.
 */
int lade_split_draw_token(struct lade_split *s, unsigned class_number, struct lade_split_token *token, unsigned *part)
{
    struct lade_split_class *c = &s->class_of[class_number];
    uint64_t word = 0;

    if (!c->tokens)
        return LADE_FULL;
    int status = lade_bag_join(c->tokens, &token->handle);
    if (status != LADE_OK)
        return status;
    status = lade_bag_draw(token->handle, &word);
    if (status == LADE_OK) {
        *part = token->part = (unsigned)word - 1;
        return LADE_OK;
    }
    lade_bag_leave(token->handle);
    token->handle = NULL;
    /* It only decreases: zero is final. Then the decisions that used the tokens are visible. */
    uint64_t left = atomic_load_explicit(&c->left, memory_order_acquire); /* [split.none] -> [split.used] */
    return left > 0 ? LADE_LIMITED : LADE_FULL;
}

void lade_split_end_token(struct lade_split *s, unsigned class_number, struct lade_split_token *token, bool used)
{
    if (!token->handle)
        return;
    if (used) {
        struct lade_split_class *c = &s->class_of[class_number];
        atomic_fetch_sub_explicit(&c->left, 1, memory_order_release); /* [split.used] -> [split.none] */
    } else {
        /* The bag has a free slot, because the token came from there. */
        lade_ignore(lade_bag_put(token->handle, &(uint64_t){token->part + 1}));
    }
    lade_bag_leave(token->handle);
}
