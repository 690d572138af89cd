/* SPDX-License-Identifier: MIT */
/* The release after a grace period. Separate from the counts, which need no liburcu. */
#include <lade/ref.h>

#include "reclaim.h"

#include <stddef.h>

_Static_assert(sizeof(struct lade_later) <= sizeof(((struct lade_ref_deferred *)0)->grace), "space for the node");

static void grace_over(struct lade_later *later)
{
    struct lade_ref_deferred *ref =
        (struct lade_ref_deferred *)((char *)later - offsetof(struct lade_ref_deferred, grace));

    ref->release(ref);
}

/* The caller of put gets LADE_RELEASED, and continues from there. */
static void release_nothing(struct lade_ref *ref)
{
    (void)ref;
}

int lade_ref_put_deferred(struct lade_ref_deferred *ref, void (*release)(struct lade_ref_deferred *))
{
    int status = lade_ref_put(&ref->ref, release_nothing);

    if (status == LADE_RELEASED) {
        ref->release = release;
        lade_reclaim_later((struct lade_later *)ref->grace, grace_over);
    }
    return status;
}

void lade_ref_barrier(void)
{
    lade_reclaim_barrier();
}
