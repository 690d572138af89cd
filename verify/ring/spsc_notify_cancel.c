/* harness
 * property: cancel wakes a waiting pop and a waiting push, which then observe the cancellation
 * engines: explore native tsan genmc/rc11
 * threads: 3
 * bound: spsc; capacity 1, empty or full; cancel against pop_wait or push_wait that has begun; a race stands for the choice
 * executions: 10
 * cover: slept cancelled
 */
#define SPSC
#include "mpmc_notify_cancel.c"
