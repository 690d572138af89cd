/* harness
 * property: the spsc ring with waits is linearizable to a bounded queue that is closed in one step, including FULL, EMPTY and CLOSED
 * engines: explore
 * threads: 3
 * bound: spsc; capacity 1; two pushes, two pops, close
 * executions: 20
 * cover: full empty push_closed pop_closed
 * timeout: 240
 */
#define SPSC
#include "mpmc_close_lin.c"
