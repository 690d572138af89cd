/* SPDX-License-Identifier: MIT */
#include <lade/status.h>

const char *lade_status_text(int status)
{
    switch (status) {
    case LADE_RELEASED:
        return "done, the last reference is gone";
    case LADE_OK:
        return "done";
    case LADE_EMPTY:
        return "empty";
    case LADE_FULL:
        return "full";
    case LADE_INVALID:
        return "an argument is outside its range";
    case LADE_NO_MEMORY:
        return "out of memory";
    case LADE_TOO_MANY:
        return "every handle or loan is in use";
    case LADE_SATURATED:
        return "the reference count overflowed, the object is kept";
    case LADE_DEAD:
        return "the reference count was already zero";
    case LADE_CLOSED:
        return "closed";
    case LADE_TIMEOUT:
        return "timed out";
    case LADE_CANCELLED:
        return "cancelled";
    case LADE_LIMITED:
        return "not allowed yet by a limit that was set";
    case LADE_DAMAGED:
        return "damaged data";
    case LADE_IO:
        return "reading or writing failed";
    case LADE_ABSENT:
        return "no such key";
    case LADE_PRESENT:
        return "the key is already present";
    case LADE_CONFLICT:
        return "two rules contradict each other";
    case LADE_DEVICE:
        return "a call to the device failed";
    }
    return "unknown status";
}
