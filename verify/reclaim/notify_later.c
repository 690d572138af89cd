/* harness
 * property: a thread that defers a callback wakes the thread that runs it
 * engines: explore genmc/rc11
 * threads: 3
 * bound: two threads defer a callback each, the freeing thread awaits work until both have run
 * executions: 1000
 * cover: slept
 * flags explore: --allow prctl --allow pthread_mutex_timedlock --allow clock_gettime
 * timeout: 120
 */
#define THREADS 3
#include "harness.h"

#include "event/futex.h"

#ifdef ENGINE_GENMC /* its headers lack these; only fork and the start of the thread, which are not run, call them */
#define pthread_mutex_timedlock(mutex, until) pthread_mutex_lock(mutex)
#define pthread_detach(thread) ((void)(thread), 0)
#endif

#include "reclaim.c"

#include "reclaim_thread.c"

bool lade_fork_is_counted(void)
{
    return true;
}

bool lade_thread_start(pthread_t *thread, void *(*body)(void *context), void *context)
{
    return (void)thread, (void)body, (void)context, false;
}

static struct lade_later piece[2];
static int ran;

static void run(struct lade_later *later)
{
    (void)later;
    ran++;
}

static void setup(void)
{
    atomic_init(&started, true); /* thread 2 is the freeing thread */
}

static void thread(int id)
{
    if (id < 2) {
        lade_reclaim_later(&piece[id], run);
        return;
    }
    while (ran < 2) {
        await_work();
        lade_reclaim_turn();
    }
    if (atomic_load_explicit(&futex_woken[2], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
    assert(ran == 2);
}
