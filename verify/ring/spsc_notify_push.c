/* harness
 * property: push wakes a waiting pop
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: spsc; capacity 1; push against pop_wait
 * executions: 3
 * cover: slept
 */
#define SPSC
#include "mpmc_notify_push.c"
