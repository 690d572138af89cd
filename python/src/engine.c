/* SPDX-License-Identifier: MIT */
/* A loader and its batches, whose memory any thread may release, attached to the interpreter or not. */
#include "package.h"

#include <lade/fork.h>

#include <stdlib.h>

struct package_engine *package_engine_create(struct lade_loader *loader, uint32_t limit)
{
    struct package_engine *e = malloc(sizeof *e);

    if (!e)
        return NULL;
    *e = (struct package_engine){.loader = loader, .generation = lade_fork_generation(), .limit = limit};
    lade_ref_init(&e->users);
    lade_ref_init(&e->attached);
    return e;
}

static void free_engine(struct lade_ref *users)
{
    struct package_engine *e =
        (struct package_engine *)(void *)((char *)users - offsetof(struct package_engine, users));

    lade_loader_destroy(e->loader);
    free(e);
}

void package_engine_put(struct package_engine *engine)
{
    (void)lade_ref_put(&engine->users, free_engine);
}

static void keep_engine(struct lade_ref *attached)
{
    (void)attached; /* only a count */
}

/*
 * The new batch gets separate memory when the consumer keeps as many as the limit: then the loader never waits for one
 * that is kept. No other thread has seen this batch, so that none can release it at the same time.
 */
static int detach(struct package_engine *e, struct package_hold *hold, struct lade_error *error)
{
    int status = lade_loader_detach(e->loader, &hold->batch, error);

    hold->detached = status == LADE_OK;
    return status;
}

int package_engine_next(struct package_engine *e, struct package_hold **hold, int64_t timeout, struct lade_error *error)
{
    struct package_hold *h = malloc(sizeof *h);

    if (!h)
        return LADE_NO_MEMORY;
    int status = lade_loader_next(e->loader, &h->batch, timeout, error);
    if (status != LADE_OK) {
        free(h);
        return status;
    }
    h->engine = e;
    h->detached = false;
    lade_ref_init(&h->users);
    if (lade_ref_count(&e->attached) > e->limit)
        status = detach(e, h, error);
    if (!h->detached) {
        (void)lade_ref_get(&e->users);
        (void)lade_ref_get(&e->attached);
    }
    if (status == LADE_OK)
        *hold = h;
    else
        package_hold_put(h);
    return status;
}

void package_hold_get(struct package_hold *hold)
{
    (void)lade_ref_get(&hold->users);
}

static void free_hold(struct lade_ref *users)
{
    struct package_hold *h = (struct package_hold *)(void *)((char *)users - offsetof(struct package_hold, users));
    struct package_engine *e = h->engine;

    lade_loader_release(h->detached ? NULL : e->loader, &h->batch);
    if (!h->detached) {
        (void)lade_ref_put(&e->attached, keep_engine);
        package_engine_put(e);
    }
    free(h);
}

void package_hold_put(struct package_hold *hold)
{
    (void)lade_ref_put(&hold->users, free_hold);
}
