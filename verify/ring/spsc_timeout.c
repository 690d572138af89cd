/* harness
 * property: a wait ends when its time is over, not before, and no word is lost then
 * engines: explore
 * threads: 2
 * bound: spsc; capacity 1; pop_wait with a timeout against the clock and a push
 * executions: 5
 * cover: over took
 */
#define SPSC
#include "mpmc_timeout.c"
