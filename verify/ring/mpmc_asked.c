/* harness
 * property: as mpmc_once, where whoever loses one race is let through by the others, who leave a hint at every ticket meanwhile
 * threads: 3
 * bound: capacity 2, two producers (2 and 1 words), one consumer, wraps; asks after one lost race instead of 128
 * executions: 20
 * cover: full empty
 * timeout: 120
 */
#define RACES 1
#include "mpmc_once.c"
