/* harness
 * property: cancel notifies a pop and a push that wait, which see then that they are cancelled
 * engines: explore native tsan genmc/rc11
 * threads: 3
 * bound: spsc; capacity 1, empty or full; cancel against pop_wait or push_wait that has begun; a race stands for the choice
 * executions: 10
 * cover: slept cancelled
 */
#define SPSC
#include "mpmc_notify_cancel.c"
