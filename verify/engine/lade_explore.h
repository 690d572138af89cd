/* SPDX-License-Identifier: MIT */
/*
 * The interface of explore for programs, beyond assert and __VERIFIER_assume. The wrapper adds this header to the
 * include path.
 *
 * Linearizability: mark each operation with explore_begin and explore_end, and register the sequential specification
 * once, before the threads start. In every complete execution there must be an order of the operations that respects
 * "ended before the other began" (happens-before) and in which the specification allows every result.
 *
 *     struct spec { int value; };
 *     static bool step(void *s, int op, long arg, long result);   true when the result is right; changes *s
 *     ...
 *     explore_spec(sizeof(struct spec), step);                     the state starts as zero bytes
 *
 *     explore_begin(OP_POP, 0);
 *     long v = pop();
 *     explore_end(v);
 *
 * The specification runs outside of the program: it may only use its arguments.
 *
 * explore_choose(n) returns each of 0 to n - 1 in some executions: a random word, a malloc that fails, an event that
 * may or may not happen. __VERIFIER_nondet_bool() has both values, __VERIFIER_nondet_int() and the other integers those
 * of --nondet.
 *
 * explore_cover("name") marks a point that some execution must reach, or else the program shows less than it seems to.
 * The names that were reached are printed after the verdict and listed in the JSON result.
 */
#ifndef LADE_EXPLORE_H
#define LADE_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void explore_spec(size_t size, bool (*step)(void *state, int op, long arg, long result));
void explore_begin(int op, long arg);
void explore_end(long result);
int explore_choose(int n);
void explore_cover(const char *name);
void __VERIFIER_assume(bool);

#ifdef __cplusplus
}
#endif

#endif
