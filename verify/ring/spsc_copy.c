/* harness
 * property: as spsc.c, with copies of the other index kept however little they are worth
 * threads: 2
 * bound: capacity 2, 3 pushes, 3 pops, wraps
 * executions: 10
 * cover: full empty wrapped
 */
#define WORTH_KEEPING 1
#include "spsc.c"
