/* SPDX-License-Identifier: MIT */
/*
 * ref: an intrusive reference count.
 *
 * Put a struct lade_ref into your object. It starts at one; whoever takes the count to zero runs the release function.
 *
 * When not to use it: for an object that is reached through a shared pointer which others replace, get() alone is too
 * late, because the object may be gone before the count is touched. There, read the pointer inside a liburcu read
 * section, use lade_ref_get_unless_zero() and release with lade_ref_put_deferred().
 *
 * Threads      every function but lade_ref_init() may be called by any number of threads at once.
 * Progress     get and put are wait-free (one atomic addition); get_unless_zero is lock-free, and put_deferred is once the
 *              library's thread is there.
 * Ordering     everything that any holder did to the object before its put happens before the release function.
 *              get orders nothing: holding a reference is what allows taking another one.
 * Memory       4 bytes in your object; 32 for the deferred form on 64-bit machines.
 * Misuse       the count saturates on overflow: the object then stays for ever rather than being freed under a holder.
 *              A put or get on a count of zero answers LADE_DEAD and saturates, so that the object is not released a
 *              second time. That protects against one such call at a time: a get and a put that meet on a dead object
 *              can release it again. And it works while the memory is still held, as it is during a grace period; after
 *              that no counter inside the object can tell.
 * Stopped      a thread that stops for ever keeps the references that it holds, and hinders nobody.
 * Fork         a child has its own copy of the count, in which the threads that it does not have hold their references for
 *              ever. It may use all functions, the deferred ones as far as table.h says.
 */
#ifndef LADE_REF_H
#define LADE_REF_H

#include <lade/api.h>
#include <lade/status.h>
#include <stdbool.h>
#include <stdint.h>

LADE_BEGIN

struct lade_ref {
    uint32_t count;
};

/* A count whose release waits for a liburcu (memb flavour) grace period. The fields belong to the library. */
struct lade_ref_deferred {
    struct lade_ref ref;
    void (*release)(struct lade_ref_deferred *);
    void *grace[2];
};

/* More references than this at a time saturate the count. */
#define LADE_REF_MAX UINT32_C(0x7fffffff)

/* Sets the count to one. Before the object is shared. */
LADE_API void lade_ref_init(struct lade_ref *ref);

/* Takes a reference; the caller holds one already. LADE_OK, LADE_SATURATED, or LADE_DEAD when the count was zero. */
LADE_API int lade_ref_get(struct lade_ref *ref);

/* Takes a reference unless the count is zero; says whether it did. The memory must be known to be there. */
LADE_API LADE_MUST_CHECK bool lade_ref_get_unless_zero(struct lade_ref *ref);

/*
 * Gives a reference back; the last one runs release(ref) in the calling thread, before this returns LADE_RELEASED.
 * Else LADE_OK, LADE_SATURATED, or LADE_DEAD when the count was zero already.
 */
LADE_API int lade_ref_put(struct lade_ref *ref, void (*release)(struct lade_ref *ref));

/*
 * The same, but release(ref) runs after a grace period: after every read section that could have found the object has ended.
 * LADE_RELEASED means that the release is on its way. It runs in a thread of the library's, or in one that is inside
 * lade_ref_barrier() or lade_table_destroy(), so it must not wait for what the callers of these hold. Where the library's thread
 * cannot be had, the release waits until it can, or for a barrier. A release may have read sections: the library's thread is
 * registered with liburcu, and a thread that calls a barrier must then be.
 */
LADE_API int lade_ref_put_deferred(struct lade_ref_deferred *ref, void (*release)(struct lade_ref_deferred *ref));

/*
 * Returns when every deferred release that was on its way before the call has run; may run them itself. For the end of a
 * program, or before code that release functions need goes away. Not inside a read section. A release function may call it; what
 * waits then runs inside that call.
 */
LADE_API void lade_ref_barrier(void);

/* The number of references at some moment of the call; UINT32_MAX when saturated. For reports and tests. */
LADE_API uint32_t lade_ref_count(const struct lade_ref *ref);

LADE_END

#endif
