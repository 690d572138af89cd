/* harness
 * property: without a fence both sides of the spsc ring can be refused at once (what ring.h does not promise)
 * engines: genmc explore
 * threads: 2
 * bound: capacity 2, one word; two pushes against two pops
 * expect: FAIL assertion
 */
#define AFTER_CALL() ((void)0)
#include "spsc_agree.c"
