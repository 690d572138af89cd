/* SPDX-License-Identifier: MIT */
/*
 * version: the version of the headers that a program was compiled with, and of the library that it runs with.
 * docs/abi.md lists the differences that are allowed.
 *
 *     if (lade_version_number() < LADE_VERSION_NUMBER)
 *         fprintf(stderr, "lade %s is older than the headers\n", lade_version());
 *
 * Threads      any number, at any time.
 * Progress     wait-free.
 */
#ifndef LADE_VERSION_H
#define LADE_VERSION_H

#include <lade/api.h>
#include <stdint.h>

LADE_BEGIN

/* The version of the headers, in three numbers. */
#define LADE_VERSION_MAJOR 1
#define LADE_VERSION_MINOR 0
#define LADE_VERSION_PATCH 0

/* One number that increases with each version: 1.2.3 is 10203. */
#define LADE_VERSION_NUMBER (LADE_VERSION_MAJOR * 10000 + LADE_VERSION_MINOR * 100 + LADE_VERSION_PATCH)

/* Returns the version of the library: "MAJOR.MINOR.PATCH". */
LADE_API const char *lade_version(void);

/* Returns the version of the library in the form of LADE_VERSION_NUMBER. */
LADE_API uint32_t lade_version_number(void);

LADE_END

#endif
