/* SPDX-License-Identifier: MIT */
/* What went wrong, in words: a status and a text that names the file and the place in it. */
#ifndef LADE_ERROR_H
#define LADE_ERROR_H

#include <lade/api.h>
#include <lade/status.h>
#include <stdint.h>

LADE_BEGIN

#define LADE_NO_OFFSET UINT64_MAX

/*
 * Filled by functions that fail, untouched by those that do not; every function takes NULL for it. The text is one line,
 * "FILE: what is wrong, at byte N". Control characters of names are escaped (\n, \xNN). A text that is longer than the array
 * is cut. Frozen.
 */
struct lade_error {
    int status;      /* what the function returned */
    uint64_t offset; /* byte of the file, or LADE_NO_OFFSET */
    char text[512];
};

LADE_END

#endif
