/* SPDX-License-Identifier: MIT */
/* Marks what the shared library exports, and refuses targets on which the libraries would go wrong. */
#ifndef LADE_API_H
#define LADE_API_H

#include <stdint.h>

#if UINTPTR_MAX < UINT64_MAX
#error "lade needs a 64-bit target: sizes, pointers and the kernel's times are taken to have 64 bits"
#endif

#if defined __GNUC__
#define LADE_API __attribute__((visibility("default")))
#else
#define LADE_API
#endif

#ifdef __cplusplus
#define LADE_BEGIN extern "C" {
#define LADE_END }
#else
#define LADE_BEGIN
#define LADE_END
#endif

#endif
