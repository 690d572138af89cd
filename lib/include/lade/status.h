/* SPDX-License-Identifier: MIT */
/* What operations answer. Zero and above: done. Below zero: not done, and nothing changed unless the function says so. */
#ifndef LADE_STATUS_H
#define LADE_STATUS_H

#include <lade/api.h>
#include <stdint.h>

LADE_BEGIN

enum lade_status {
    LADE_RELEASED = 1,    /* done, and it was the last reference */
    LADE_OK = 0,          /* done */
    LADE_EMPTY = -1,      /* nothing to take */
    LADE_FULL = -2,       /* no room */
    LADE_INVALID = -3,    /* an argument is outside its range */
    LADE_NO_MEMORY = -4,  /* the allocator gave nothing */
    LADE_TOO_MANY = -5,   /* every handle, or loan, is in use */
    LADE_SATURATED = -6,  /* the reference count overflowed; the object is kept for ever */
    LADE_DEAD = -7,       /* the reference count was already zero */
    LADE_CLOSED = -8,     /* the container takes no more, and holds nothing more */
    LADE_TIMEOUT = -9,    /* the time to wait is over */
    LADE_CANCELLED = -10, /* somebody ended the waiting */
    LADE_LIMITED = -11,   /* a limit that was asked for does not allow it yet */
    LADE_DAMAGED = -12,   /* the bytes are not what was written */
    LADE_IO = -13,        /* reading or writing failed */
    LADE_ABSENT = -14,    /* no such key */
    LADE_PRESENT = -15,   /* the key is there already */
    LADE_CONFLICT = -16,  /* two rules that were asked for contradict each other */
    LADE_DEVICE = -17,    /* a call of the device failed */
};

/* As a time to wait: without end. Any other negative time is the same as 0. */
#define LADE_FOREVER INT64_C(-1)

/* A short English text, never NULL, also for values outside the enumeration. */
LADE_API const char *lade_status_text(int status);

LADE_END

#endif
