/* harness
 * property: a bounded queue closed in one step explains all results of spsc with waits, FULL, EMPTY and CLOSED included
 * engines: explore
 * threads: 3
 * bound: spsc; capacity 1; two pushes, two pops, close
 * executions: 20
 * cover: full empty push_closed pop_closed
 * timeout: 240
 */
#define SPSC
#include "mpmc_close_lin.c"
