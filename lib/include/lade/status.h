/* SPDX-License-Identifier: MIT */
/*
 * status: the return values of operations. Zero and above: success. Below zero: the operation failed, and changed
 * nothing unless the description of the function states otherwise.
 */
#ifndef LADE_STATUS_H
#define LADE_STATUS_H

#include <lade/api.h>
#include <stdint.h>

LADE_BEGIN

/* What an operation returns; each function lists the ones that it can return. */
enum lade_status {
    LADE_RELEASED = 1,    /* success, and it was the last reference */
    LADE_OK = 0,          /* success */
    LADE_EMPTY = -1,      /* nothing to take */
    LADE_FULL = -2,       /* no free slot, or no space left */
    LADE_INVALID = -3,    /* an argument is outside its range */
    LADE_NO_MEMORY = -4,  /* the allocator returned no memory */
    LADE_TOO_MANY = -5,   /* every handle, or loan, is in use */
    LADE_SATURATED = -6,  /* the reference count overflowed; the object is never released */
    LADE_DEAD = -7,       /* the reference count was already zero */
    LADE_CLOSED = -8,     /* the container accepts no more elements, and holds none */
    LADE_TIMEOUT = -9,    /* the timeout expired */
    LADE_CANCELLED = -10, /* another thread cancelled the wait, or a callback stopped the operation */
    LADE_LIMITED = -11,   /* a configured limit does not allow it yet */
    LADE_DAMAGED = -12,   /* the bytes differ from what was written */
    LADE_IO = -13,        /* reading or writing failed */
    LADE_ABSENT = -14,    /* no such key */
    LADE_PRESENT = -15,   /* the key is already present */
    LADE_CONFLICT = -16,  /* two decisions or rules contradict each other; a state belongs to another run */
    LADE_DEVICE = -17,    /* a call to the device failed */
};

/* Timeout value: wait forever. Any other negative timeout is the same as 0. */
#define LADE_FOREVER INT64_C(-1)

/* Returns a short English text, never NULL, also for values outside the enumeration. */
LADE_API const char *lade_status_text(int status);

LADE_END

#endif
