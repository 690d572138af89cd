/* SPDX-License-Identifier: MIT */
#include "fail.h"

#include "escape.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* File names may contain any bytes; the text is one line that is safe to print. */
static void escape_text(char *text, size_t capacity)
{
    char raw[sizeof((struct lade_error *)0)->text];

    (void)snprintf(raw, sizeof raw, "%s", text);
    (void)lade_escape(text, capacity, raw, strlen(raw));
}

int lade_fail(struct lade_error *error, int status, const char *name, uint64_t offset, const char *format, ...)
{
    va_list arguments;
    size_t used = 0;
    int code = errno; /* callers may read it */

    if (!error)
        return status;
    error->status = status;
    error->offset = offset;
    error->text[0] = 0;
    if (name) {
        /* Of a long name, the end is more useful than the beginning. */
        size_t most = sizeof error->text / 2, length = strlen(name);
        if (length > most)
            (void)snprintf(error->text, sizeof error->text, "...%s: ", name + length - most);
        else
            (void)snprintf(error->text, sizeof error->text, "%s: ", name);
        used = strlen(error->text);
    }
    va_start(arguments, format);
    (void)vsnprintf(error->text + used, sizeof error->text - used, format, arguments);
    va_end(arguments);
    escape_text(error->text, sizeof error->text);
    used = strlen(error->text);
    if (offset != LADE_NO_OFFSET)
        (void)snprintf(error->text + used, sizeof error->text - used, ", at byte %llu", (unsigned long long)offset);
    errno = code;
    return status;
}

int lade_fail_unknown(struct lade_error *error)
{
    return lade_fail(
        error, LADE_INVALID, NULL, LADE_NO_OFFSET,
        "a struct has fields that this version of the library does not know: the program was compiled for a later one");
}
