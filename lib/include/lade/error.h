/* SPDX-License-Identifier: MIT */
/* error: the description of a failure: a status, and a text that names the file and the position in it. */
#ifndef LADE_ERROR_H
#define LADE_ERROR_H

#include <lade/api.h>
#include <lade/status.h>
#include <stdint.h>

LADE_BEGIN

/* The offset of an error that is at no byte of a file. */
#define LADE_NO_OFFSET UINT64_MAX

/*
 * Written by a function that fails; a function that succeeds leaves it unchanged. Every function accepts NULL for it.
 * The text is one line, "FILE: what is wrong, at byte N". Control characters in names are escaped (\n, \xNN). A text
 * longer than the array is truncated. Frozen.
 */
struct lade_error {
    int status;      /* the return value of the function */
    uint64_t offset; /* byte of the file, or LADE_NO_OFFSET */
    char text[512];  /* what is wrong, ended by a zero byte */
};

LADE_END

#endif
