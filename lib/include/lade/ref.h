/* SPDX-License-Identifier: MIT */
/*
 * ref: an intrusive reference count.
 *
 * Put a struct lade_ref into your object. The count starts at one. The thread that drops it to zero runs the release
 * function.
 *
 * When not to use it: get() alone is not enough for an object that is reached through a shared pointer which other
 * threads replace: the object may be freed before get() touches the count. In that case read the pointer inside a
 * liburcu read section, use lade_ref_get_unless_zero(), and release with lade_ref_put_deferred().
 *
 * Threads      any number of threads may call every function at the same time, except lade_ref_init().
 * Progress     get and put are wait-free (one atomic addition). get_unless_zero is lock-free. put_deferred is lock-free
 *              once the library's thread is running.
 * Ordering     everything that any holder did to the object before its put happens before the release function. get
 *              orders nothing: only a thread that holds a reference may take another one.
 * Memory       4 bytes in your object; 32 for the deferred form on 64-bit machines.
 * Misuse       the count saturates on overflow: the object is then never freed, rather than freed while a thread holds
 *              it. A put or get on a count of zero returns LADE_DEAD and saturates the count, so that the object is not
 *              released a second time. This protects against one such call at a time: a concurrent get and put on a
 *              dead object can release it again. It also requires that the memory is still allocated, as it is during a
 *              grace period. After that, no counter inside the object can detect the misuse.
 * Stopped      a thread that stops forever keeps the references that it holds, and blocks no other thread. If it
 *              stops in a read section of liburcu, deferred puts release nothing from then on: see Stopped in table.h.
 * Fork         a child has its own copy of the count. Threads that do not exist in the child hold their references
 *              there forever. The child may use all functions; for the deferred ones see Fork in table.h.
 */
#ifndef LADE_REF_H
#define LADE_REF_H

#include <lade/api.h>
#include <lade/status.h>
#include <stdbool.h>
#include <stdint.h>

LADE_BEGIN

/* The field belongs to the library. Frozen, because it is part of your objects. */
struct lade_ref {
    uint32_t count; /* references; above LADE_REF_MAX: saturated */
};

/* A count whose release waits for a liburcu (memb flavour) grace period. The fields belong to the library. Frozen. */
struct lade_ref_deferred {
    struct lade_ref ref;                         /* the count */
    void (*release)(struct lade_ref_deferred *); /* of the last put */
    void *grace[2];                              /* for liburcu */
};

/* The maximum number of references at a time; more saturate the count. */
#define LADE_REF_MAX UINT32_C(0x7fffffff)

/* Sets the count to one. Call it before the object is shared. */
LADE_API void lade_ref_init(struct lade_ref *ref);

/*
 * Takes a reference. The caller must already hold one.
 * LADE_OK
 * LADE_SATURATED   the count overflowed; the object is never released.
 * LADE_DEAD        the count was zero.
 */
LADE_API int lade_ref_get(struct lade_ref *ref);

/*
 * Takes a reference unless the count is zero. The caller must guarantee that the memory is still allocated.
 * true     the caller holds a reference.
 * false    the count was zero.
 */
LADE_API LADE_MUST_CHECK bool lade_ref_get_unless_zero(struct lade_ref *ref);

/*
 * Drops a reference. The last put runs release(ref) in the calling thread, before it returns.
 * LADE_OK
 * LADE_RELEASED    this was the last reference, and release(ref) has run.
 * LADE_SATURATED   the count has overflowed; the object is never released.
 * LADE_DEAD        the count was already zero.
 */
LADE_API int lade_ref_put(struct lade_ref *ref, void (*release)(struct lade_ref *ref));

/*
 * As lade_ref_put(), but release(ref) runs after a grace period: after the end of every read section that could have
 * found the object. It runs in the library's thread, or in a thread that is inside lade_ref_barrier() or
 * lade_table_destroy(). Therefore it must not wait for anything that the callers of these functions hold. If the
 * library's thread cannot be started, the release is delayed until it can be, or until a barrier. A release function
 * may contain read sections: the library's thread is registered with liburcu, and a thread that calls a barrier must
 * then be registered too.
 * LADE_OK
 * LADE_RELEASED    this was the last reference, and the release is pending.
 * LADE_SATURATED   the count has overflowed; the object is never released.
 * LADE_DEAD        the count was already zero.
 */
LADE_API int lade_ref_put_deferred(struct lade_ref_deferred *ref, void (*release)(struct lade_ref_deferred *ref));

/*
 * Waits until every deferred release that was pending before the call has run; may run them itself. Call it at the end
 * of a program, or before code that release functions need is unloaded. Do not call it inside a read section. A release
 * function may call it; pending releases then run inside that call.
 */
LADE_API void lade_ref_barrier(void);

/* Returns the number of references at some moment during the call; UINT32_MAX if saturated. For reports and tests. */
LADE_API uint32_t lade_ref_count(const struct lade_ref *ref);

LADE_END

#endif
