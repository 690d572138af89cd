/* harness
 * property: as mpmc_once, where a thread that loses one race asks the others to yield, which then leave a hint at every ticket
 * threads: 3
 * bound: capacity 2, two producers (2 and 1 words), one consumer, wraps; asks after one lost race instead of 128
 * executions: 20
 * cover: full empty
 * timeout: 120
 */
#define RACES 1
#include "mpmc_once.c"
