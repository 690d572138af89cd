/* harness
 * property: count is never below the words that surely are inside, nor above those that may be, and exact in the end
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: spsc; capacity 2, one word; a push and a pop by one thread, a count by another
 * executions: 3
 * cover: one two
 */
#define SPSC
#include "mpmc_count.c"
