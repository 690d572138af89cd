/* harness
 * property: the mpmc ring is linearizable to a bounded queue that is closed in two steps: until a pop returns CLOSED, pushes in progress may succeed although others were refused
 * engines: explore
 * threads: 3
 * bound: mpmc; capacity 1; a push, a push and a pop, a push and close
 * executions: 200
 * cover: full push_closed
 * timeout: 240
 */
#define TWO_STEPS 1
#include "mpmc_close_lin.c"
