/* harness
 * property: once an operation has returned CLOSED, a waiting pop observes the close or has been woken, even if the closing thread stopped before it woke any thread
 * engines: explore genmc/rc11
 * threads: 3
 * bound: spsc; capacity 1; pop_wait against the first step of close, and a push
 * executions: 10
 * cover: slept asleep
 */
#define SPSC
#include "mpmc_closed_notifies.c"
