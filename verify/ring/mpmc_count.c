/* harness
 * property: count is between the words that are certainly in the ring and those that may be, and exact when quiescent
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: mpmc; capacity 2, one word; a push and a pop by one thread, a count by another
 * executions: 3
 * cover: one two
 */
#define THREADS 2
#include "harness.h"

#include "either.h"

static void setup(void)
{
    make(2);
    /* Makes the pop below leave a hint. */
    assert(push(THREADS, 7) == LADE_OK);
    assert(pop(THREADS, &out[THREADS]) == LADE_OK);
    assert(push(THREADS, 8) == LADE_OK);
}

static void thread(int id)
{
    if (id == 0) {
        assert(push(0, 5) == LADE_OK);
        assert(pop(0, &out[0]) == LADE_OK && out[0] == 8);
        return;
    }
    uint64_t count = count_of_ring();
    assert(count >= 1 && count <= 2);
    if (count == 1)
        cover(one);
    else
        cover(two);
}

static void finish(void)
{
    assert(count_of_ring() == 1);
    assert(push(THREADS, 9) == LADE_OK);
    assert(count_of_ring() == 2);
    destroy_ring();
}
