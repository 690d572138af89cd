/* harness
 * property: with one pusher beside the thread that closes, the mpmc ring with waits is linearizable to a bounded queue that is closed in one step, including FULL, EMPTY and CLOSED
 * engines: explore
 * threads: 3
 * bound: mpmc; capacity 1; two pushes, two pops, a push and close
 * executions: 20
 * cover: full empty push_closed pop_closed
 * timeout: 240
 */
#define THREADS 3
#define CAPACITY 1
#ifndef TWO_STEPS
#define TWO_STEPS 0
#endif
#include "harness.h"

#include <lade_explore.h>

#include "event/futex.h"

#include "either.h"

enum lin_operation { LIN_PUSH, LIN_POP, LIN_CLOSE };

enum lin_phase { LIN_OPEN, LIN_CLOSING, LIN_SEALED };

struct lin_queue {
    long word[CAPACITY];
    long count, phase;
};

/*
 * push: LADE_OK, LADE_FULL, LADE_CLOSED; pop: the word, or LADE_EMPTY, LADE_CLOSED. Closing takes one step, or with
 * TWO_STEPS two: pushes in progress may still succeed until a pop returns LADE_CLOSED.
 */
static bool lin_step(void *state, int operation, long argument, long result)
{
    struct lin_queue *q = state;

    if (operation == LIN_CLOSE)
        return q->phase = LIN_CLOSING;
    if (operation == LIN_PUSH) {
        if (q->phase == LIN_SEALED || (q->phase == LIN_CLOSING && (result == LADE_CLOSED || !TWO_STEPS)))
            return result == LADE_CLOSED;
        if (q->count == CAPACITY)
            return result == LADE_FULL;
        q->word[q->count++] = argument;
        return result == LADE_OK;
    }
    if (q->count == 0 && q->phase == LIN_OPEN)
        return result == LADE_EMPTY;
    if (q->count == 0) {
        q->phase = LIN_SEALED;
        return result == LADE_CLOSED;
    }
    long first = q->word[0];
    for (long i = 1; i < q->count; i++)
        q->word[i - 1] = q->word[i];
    q->count--;
    return result == first;
}

static void setup(void)
{
    explore_spec(sizeof(struct lin_queue), lin_step);
    make(CAPACITY);
}

static void do_push(int id, uint64_t word)
{
    explore_begin(LIN_PUSH, (long)word);
    int status = push(id, word);
    explore_end(status);
    if (status == LADE_FULL)
        cover(full);
    if (status == LADE_CLOSED)
        cover(push_closed);
}

static void do_pop(int id)
{
    explore_begin(LIN_POP, 0);
    int status = pop(id, &out[id]);
    explore_end(status == LADE_OK ? (long)out[id] : status);
    if (status == LADE_EMPTY)
        cover(empty);
    if (status == LADE_CLOSED)
        cover(pop_closed);
}

static void do_close(void)
{
    explore_begin(LIN_CLOSE, 0);
    close_ring();
    explore_end(0);
}

static void thread(int id)
{
    if (TWO_STEPS && id == 0) {
        do_push(id, 2);
    } else if (TWO_STEPS && id == 1) {
        do_push(id, 3);
        do_pop(id);
    } else if (id == 0) {
        do_push(id, 1);
        do_push(id, 2);
    } else if (id == 1) {
        do_pop(id);
        do_pop(id);
    } else {
#ifndef SPSC
        do_push(id, 3);
#endif
        do_close();
    }
}

static void finish(void)
{
    destroy_ring();
}
