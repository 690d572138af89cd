/* SPDX-License-Identifier: MIT */
/*
 * Included before any C++ file that explore compiles: settings of libstdc++ under which its code is compiled into the
 * program, where gcc instruments it.
 */
#define _GLIBCXX_ALWAYS_INLINE inline /* each call stays one, so that the program's own call is told by line and column */
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0 /* std::string and the like */

/* These builtins are expanded without instrumentation; the functions are modelled. */
extern "C" {
int memcmp(const void *, const void *, __SIZE_TYPE__) noexcept __attribute__((__pure__, __nonnull__(1, 2)));
void *memcpy(void *, const void *, __SIZE_TYPE__) noexcept __attribute__((__nonnull__(1, 2)));
void *memmove(void *, const void *, __SIZE_TYPE__) noexcept __attribute__((__nonnull__(1, 2)));
__SIZE_TYPE__ strlen(const char *) noexcept __attribute__((__pure__, __nonnull__(1)));
void *memset(void *, int, __SIZE_TYPE__) noexcept __attribute__((__nonnull__(1)));
}
#define __builtin_memcmp ::memcmp
#define __builtin_memcpy ::memcpy
#define __builtin_memmove ::memmove
#define __builtin_memset ::memset
#define __builtin_strlen ::strlen
#define __sync_synchronize() __atomic_thread_fence(__ATOMIC_SEQ_CST)
