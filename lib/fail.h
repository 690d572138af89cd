/* SPDX-License-Identifier: MIT */
/* How the functions of the libraries fill a struct lade_error. Internal. */
#ifndef LADE_LIB_FAIL_H
#define LADE_LIB_FAIL_H

#include <lade/error.h>

/* Fills the error, unless it is NULL, and returns status. name may be NULL, offset LADE_NO_OFFSET. Preserves errno. */
#if defined __GNUC__
__attribute__((format(printf, 5, 6)))
#endif
int lade_fail(struct lade_error *error, int status, const char *name, uint64_t offset, const char *format, ...);

/* Returns LADE_INVALID: lade_sized_in() rejected a struct of the caller. */
int lade_fail_unknown(struct lade_error *error);

#endif
