/* harness
 * property: count is between the words that are certainly in the ring and those that may be, and exact when quiescent
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: spsc; capacity 2, one word; a push and a pop by one thread, a count by another
 * executions: 3
 * cover: one two
 */
#define SPSC
#include "mpmc_count.c"
