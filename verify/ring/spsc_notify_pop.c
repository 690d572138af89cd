/* harness
 * property: pop wakes a waiting push
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: spsc; capacity 1, full; pop against push_wait
 * executions: 3
 * cover: slept
 */
#define SPSC
#include "mpmc_notify_pop.c"
