/* harness
 * property: a wait ends when its timeout has expired, not before, and loses no word
 * engines: explore
 * threads: 2
 * bound: spsc; capacity 1; pop_wait with a timeout against the clock and a push
 * executions: 5
 * cover: over took
 */
#define SPSC
#include "mpmc_timeout.c"
