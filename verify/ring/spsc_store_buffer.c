/* harness
 * property: without a fence, FULL and EMPTY on the two sides of the spsc ring never contradict each other (ring.h does not promise this)
 * engines: genmc explore
 * threads: 2
 * bound: capacity 2, one word; two pushes against two pops
 * expect: FAIL assertion
 */
#define AFTER_CALL() ((void)0)
#include "spsc_agree.c"
