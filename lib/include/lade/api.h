/* SPDX-License-Identifier: MIT */
/*
 * Marks what the shared library exports and which results must be checked; refuses targets on which the libraries would go
 * wrong.
 *
 * Structs      Those that are passed with their size, by functions named _sized, grow at their end. Call the function of the
 *              same name without _sized, which gives the size of the headers that you compile with: your program then runs
 *              with later libraries, and with older ones as long as the fields that they do not know are zero (else
 *              LADE_INVALID). Fill what you pass from zero. Structs that the library passes to your functions grow too: read
 *              them in place. All other structs are frozen. docs/abi.md lists them.
 */
#ifndef LADE_API_H
#define LADE_API_H

#include <stdint.h>

#if UINTPTR_MAX < UINT64_MAX
#error "lade needs a 64-bit target: sizes, pointers and the kernel's times are taken to have 64 bits"
#endif

#if defined __GNUC__
#define LADE_API __attribute__((visibility("default")))
#define LADE_MUST_CHECK __attribute__((warn_unused_result))
#else
#define LADE_API
#define LADE_MUST_CHECK
#endif

/* A function that fills a struct has the struct's name, as stat() has. g++ -Wshadow would warn about the constructor. */
#ifdef __cplusplus
#ifdef __GNUC__
#define LADE_BEGIN                                                                                                     \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") extern "C"                           \
    {
#define LADE_END                                                                                                       \
    }                                                                                                                  \
    _Pragma("GCC diagnostic pop")
#else
#define LADE_BEGIN extern "C" {
#define LADE_END }
#endif
#else
#define LADE_BEGIN
#define LADE_END
#endif

#endif
