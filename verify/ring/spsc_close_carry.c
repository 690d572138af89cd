/* harness
 * property: what a thread did before close happens before every return of CLOSED from push and pop
 * engines: explore genmc/rc11
 * threads: 3
 * bound: spsc; capacity 1; close against two pushes by one thread and two pops by another
 * executions: 10
 * cover: pushed popped
 */
#define SPSC
#include "mpmc_close_carry.c"
