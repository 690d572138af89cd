/* SPDX-License-Identifier: MIT */
/*
 * api: marks exported functions and results that must be checked, and rejects targets that the libraries do not
 * support.
 *
 * Structs      A struct that is passed with its size, to a function named _sized, can grow at its end. Call the
 *              function of the same name without _sized: it passes the size that your headers define. Your program then
 *              also runs with later libraries. It runs with older libraries as long as the fields that they do not know
 *              are zero (otherwise LADE_INVALID). Zero-initialise each struct that you pass. Structs that the library
 *              passes to your callbacks can grow too: read them in place, do not copy them. All other structs are
 *              frozen. docs/abi.md lists them.
 */
#ifndef LADE_API_H
#define LADE_API_H

#include <stdint.h>

#if UINTPTR_MAX < UINT64_MAX
#error "lade needs a 64-bit target: sizes, pointers and the kernel's times are taken to have 64 bits"
#endif

/*
 * LADE_API exports a function from its shared library. LADE_MUST_CHECK makes the compiler warn about a result that is
 * not used.
 */
#if defined __GNUC__
#define LADE_API __attribute__((visibility("default")))
#define LADE_MUST_CHECK __attribute__((warn_unused_result))
#else
#define LADE_API
#define LADE_MUST_CHECK
#endif

/*
 * A function that fills a struct has the name of the struct, like stat(). g++ -Wshadow would warn about the
 * constructor.
 */
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
