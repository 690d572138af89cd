/* harness
 * property: with batches of one producer and one consumer, every word is popped once, complete and in order, and a short count is accurate
 * threads: 2
 * bound: capacity 2, batches of 2 and 3, wraps
 * executions: 4
 * cover: short_push whole_pop wrapped
 */
#define THREADS 2
#include "harness.h"

#include "event/nobody_waits.h"

#include "ring.c"

enum { CAPACITY = 2 };

static struct lade_spsc *ring;
static uint64_t pushed, popped;

static void setup(void)
{
    assert(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = CAPACITY}) == LADE_OK);
    pushed = 0;
    popped = 0;
}

static void push(size_t count)
{
    uint64_t word[3];

    for (size_t i = 0; i < count; i++)
        word[i] = 100 + pushed + i;
    size_t n = lade_spsc_push_many(ring, word, count);
    assert(n <= count);
    if (n < count)
        cover(short_push);
    pushed += n;
}

static void pop(size_t count)
{
    uint64_t word[3];
    size_t n = lade_spsc_pop_many(ring, word, count);

    assert(n <= count);
    if (n == 2)
        cover(whole_pop);
    for (size_t i = 0; i < n; i++)
        assert(word[i] == 100 + popped++);
}

static void thread(int id)
{
    if (id == 0) {
        push(2);
        pause_here();
        push(3);
    } else {
        pop(3);
        pause_here();
        pop(2);
    }
}

static void finish(void)
{
    assert(popped <= pushed && pushed - popped <= CAPACITY);
    if (pushed > CAPACITY)
        cover(wrapped);
    pop(3);
    assert(popped == pushed);
    lade_spsc_destroy(ring);
}
