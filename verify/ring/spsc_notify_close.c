/* harness
 * property: close wakes a pop that waits on the empty ring, and a push that waits on the full ring
 * engines: explore native tsan genmc/rc11
 * threads: 3
 * bound: spsc; capacity 1, empty or full; close against pop_wait or push_wait; a race stands for the choice
 * executions: 10
 * cover: slept popped pushed
 */
#define SPSC
#include "mpmc_notify_close.c"
