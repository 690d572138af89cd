/* harness
 * property: as spsc.c, but each side always keeps its copy of the other index
 * threads: 2
 * bound: capacity 2, 3 pushes, 3 pops, wraps
 * executions: 10
 * cover: full empty wrapped
 */
#define WORTH_KEEPING 1
#include "spsc.c"
