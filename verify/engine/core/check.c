/* SPDX-License-Identifier: MIT */
/* Errors, and the checks on a finished run. */
#include "engine.h"

#include <stdarg.h>

struct options options = {.model = RC11, .leaks = true, .liveness = true, .races = true, .spurious = true, .spin = true,
                          .uninit = true, .jobs = 1, .bound = 2000, .high = 1, .seconds = 10, .seed = 1, .stop_thread = -1};
struct failure failure;
volatile bool time_is_up;

static const char *const error_names[ERR_KINDS] = {
    [ERR_NONE] = "none", [ERR_ASSERT] = "assertion", [ERR_RACE] = "race", [ERR_UNINIT] = "uninitialised",
    [ERR_FREED] = "use-after-free", [ERR_DOUBLE_FREE] = "double-free", [ERR_BAD_FREE] = "invalid-free",
    [ERR_BOUNDS] = "out-of-bounds", [ERR_LEAK] = "leak", [ERR_ALLOCATION] = "allocation", [ERR_MUTEX] = "mutex", [ERR_DEADLOCK] = "deadlock",
    [ERR_LIVELOCK] = "livelock", [ERR_BLOCKING] = "blocking", [ERR_CRASH] = "crash", [ERR_THREAD] = "thread",
    [ERR_LIN] = "linearizability", [ERR_SHOWN] = "shown", [ERR_UNSUPPORTED] = "unsupported", [ERR_DIVERGED] = "nondeterministic",
};

const char *error_name(enum error kind)
{
    return error_names[kind];
}

/* Records a failure. Does not return when called by a thread of the program; returns when called by the engine. */
void fail(enum error kind, uint64_t pc, uintptr_t addr, const char *format, ...)
{
    if (guessing)
        guess_stop();
    if (!failure.kind) {
        va_list list;
        va_start(list, format);
        vsnprintf(failure.text, sizeof failure.text, format, list);
        va_end(list);
        failure.kind = kind;
        failure.pc = pc;
        failure.addr = addr;
        if (self)
            failure.thread = self->id;
    }
    program_failed();
}

/* ---- checks on a finished run ---- */

/* Whether a thread waits although nothing can change. */
static void check_progress(void)
{
    struct thread *spins = NULL, *locks = NULL, *joins = NULL;
    bool stopped = false;

    for (int t = 0; t < run_threads(); t++) {
        struct thread *x = &thread[t];
        if (run_over(x))
            continue;
        if (x->why != WHY_STOPPED && !run_stuck(x))
            return;
        if (x->why == WHY_SPIN && !spins)
            spins = x;
        if (x->why == WHY_LOCK && !locks)
            locks = x;
        if (x->state == T_PARKED && x->req.op == OP_JOIN && !joins)
            joins = x;
        stopped |= x->why == WHY_STOPPED;
    }
    struct thread *who = spins ? spins : locks ? locks : joins;
    if (!who || (who == joins && stopped))
        return; /* a join of a stopped thread may wait forever */
    uint64_t pc = who != locks ? who->req.pc : ev(G->thread[who->id].at[who->done - 1])->pc;
    failure.thread = who->id;
    if (stopped)
        fail(ERR_BLOCKING, pc, who->req.addr, "thread %d waits for thread %d, which has been stopped", who->id,
             options.stop_thread);
    else if (spins)
        fail(ERR_LIVELOCK, pc, who->req.addr, "the loop waits although nothing can change");
    else if (who == locks && ev(G->thread[who->id].at[who->done - 1])->op == OP_SLEEP)
        fail(ERR_DEADLOCK, pc, who->req.addr, 
             ev(G->thread[who->id].at[who->done - 1])->order == RELAXED
                 ? "the thread sleeps, and no thread is left to wake it" /* a futex */
                 : "the thread waits on a condition variable that no thread is left to signal");
    else
        fail(ERR_DEADLOCK, pc, who->req.addr, "every thread that is left waits for a lock or for another thread");
}

void finish_run(enum outcome o)
{
    if (o == RUN_BLOCKED && options.liveness)
        check_progress();
    if (o == RUN_COMPLETE && !explore_went_on())
        outcome_end();
    if (o == RUN_COMPLETE && lin_active())
        lin_check();
}
