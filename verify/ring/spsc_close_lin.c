/* harness
 * property: pushes, pops and a close on a ring with waits are linearizable to a bounded queue that can be closed, including FULL, EMPTY and CLOSED
 * engines: explore
 * threads: 3
 * bound: spsc; capacity 1; two pushes, two pops, close
 * executions: 20
 * cover: full empty push_closed pop_closed
 * timeout: 240
 */
#define SPSC
#include "mpmc_close_lin.c"
