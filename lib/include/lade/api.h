/* SPDX-License-Identifier: MIT */
/* Marks what the shared library exports. */
#ifndef LADE_API_H
#define LADE_API_H

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
