/* SPDX-License-Identifier: MIT */
#include <lade/ref.h>

#include <stdatomic.h>

/*
 * Counts from this value on are saturated. It is far from both ends, so that racing additions cannot leave the range.
 */
#define SATURATED UINT32_C(0xc0000000)

_Static_assert(sizeof(_Atomic uint32_t) == sizeof(uint32_t), "the public field holds the atomic one");

static _Atomic uint32_t *count_of(const struct lade_ref *ref)
{
    return (_Atomic uint32_t *)&ref->count;
}

static int saturate(struct lade_ref *ref, int status)
{
    atomic_store_explicit(count_of(ref), SATURATED, memory_order_relaxed);
    return status;
}

void lade_ref_init(struct lade_ref *ref)
{
    atomic_init(count_of(ref), 1);
}

int lade_ref_get(struct lade_ref *ref)
{
    uint32_t old = atomic_fetch_add_explicit(count_of(ref), 1, memory_order_relaxed);

    if (old == 0)
        return saturate(ref, LADE_DEAD);
    if (old >= LADE_REF_MAX)
        return saturate(ref, LADE_SATURATED);
    return LADE_OK;
}

bool lade_ref_get_unless_zero(struct lade_ref *ref)
{
    uint32_t old = atomic_load_explicit(count_of(ref), memory_order_relaxed);

    while (old != 0) {
        uint32_t new = old >= LADE_REF_MAX ? SATURATED : old + 1;
        if (atomic_compare_exchange_weak_explicit(count_of(ref), &old, new, memory_order_relaxed, memory_order_relaxed))
            return true;
    }
    return false;
}

/* Subtracts one; returns LADE_RELEASED if it was the last. */
static int drop(struct lade_ref *ref)
{
    /* Everything that this holder did to the object happens before the release, in any thread. */
    uint32_t old = atomic_fetch_sub_explicit(count_of(ref), 1, memory_order_release); /* [ref.put] -> [ref.last] */

    if (old == 0)
        return saturate(ref, LADE_DEAD);
    if (old > LADE_REF_MAX)
        return saturate(ref, LADE_SATURATED);
    if (old > 1)
        return LADE_OK;
    /* Zero was written at the end of a chain of subtractions: loading it synchronises with all of them. */
    (void)atomic_load_explicit(count_of(ref), memory_order_acquire); /* [ref.last] -> [ref.put] */
    return LADE_RELEASED;
}

int lade_ref_put(struct lade_ref *ref, void (*release)(struct lade_ref *))
{
    int status = drop(ref);

    if (status == LADE_RELEASED)
        release(ref);
    return status;
}

uint32_t lade_ref_count(const struct lade_ref *ref)
{
    uint32_t count = atomic_load_explicit(count_of(ref), memory_order_relaxed);

    return count > LADE_REF_MAX ? UINT32_MAX : count;
}
