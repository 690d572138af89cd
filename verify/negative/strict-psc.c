/* harness
 * property: seq_cst accesses around a relaxed read rule out this outcome (RC11 allows it; GenMC's order of seq_cst events is too strong and never shows it)
 * engines: explore
 * threads: 3
 * bound: two locations
 * expect: FAIL assertion
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#include "harness.h"

static atomic_int x, y;
static int a, b, c;

static void setup(void) {}

static void thread(int id)
{
    if (id == 0) {
        atomic_store_explicit(&x, 1, memory_order_seq_cst);
        atomic_store_explicit(&y, 1, memory_order_release);
    } else if (id == 1) {
        a = atomic_fetch_add_explicit(&y, 1, memory_order_seq_cst);
        b = atomic_load_explicit(&y, memory_order_relaxed);
    } else {
        atomic_store_explicit(&y, 3, memory_order_seq_cst);
        c = atomic_load_explicit(&x, memory_order_seq_cst);
    }
}

static void finish(void)
{
    assert(!(a == 1 && b == 3 && c == 0));
}
