/* harness
 * property: each callback that a thread deferred runs once, sees all that the thread wrote, and ends before the barrier of that thread returns
 * engines: native genmc explore
 * allow genmc/imm: Atomic xchg support
 * threads: 3
 * bound: three callbacks; two threads defer one, one of them two, and wait; another one waits at any time
 * executions: 30
 * cover: by_another in_one_go
 * timeout: 120
 */
#define THREADS 3
#include "harness.h"

#include "without_thread.h"

struct piece {
    struct lade_later later;
    int value, ran, by;
};

static struct piece piece[3];
static int done[2]; /* the threads that ran the callbacks of a barrier */

static void run(struct lade_later *later)
{
    struct piece *p = (struct piece *)later;

    assert(p->value == 7);
    p->ran++;
    p->by = harness_id;
}

static void setup(void)
{
    for (int i = 0; i < 3; i++) {
        piece[i].value = 0;
        piece[i].ran = 0;
        piece[i].by = -2;
    }
}

static void give(struct piece *p)
{
    p->value = 7;
    lade_reclaim_later(&p->later, run);
}

static void thread(int id)
{
    urcu_memb_register_thread();
    if (id == 0)
        give(&piece[0]);
    if (id == 1) {
        give(&piece[1]);
        give(&piece[2]);
        lade_reclaim_barrier();
        assert(piece[1].ran == 1 && piece[2].ran == 1);
        done[0] = piece[1].by;
        done[1] = piece[2].by;
    }
    if (id == 2)
        lade_reclaim_barrier();
    urcu_memb_unregister_thread();
}

static void finish(void)
{
    lade_reclaim_barrier();
    for (int i = 0; i < 3; i++)
        assert(piece[i].ran == 1);
    if (done[0] == 2)
        cover(by_another);
    if (done[0] == 1 && piece[0].by == 1)
        cover(in_one_go);
}
