/* harness
 * property: a thread that stops forever at any step of put or draw blocks no other thread
 * engines: explore
 * threads: 2
 * bound: 1 slot; put and draw against draw
 * flags explore: --stop-threads
 * executions: 10
 * timeout: 120
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make_bag(1);
}

static void thread(int id)
{
    if (id == 0) {
        (void)put(0, 1);
        (void)draw(0);
    } else {
        (void)draw(1);
    }
}

static void finish(void)
{
    lade_bag_destroy(bag);
}
