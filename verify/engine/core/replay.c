/* SPDX-License-Identifier: MIT */
/*
 * One run of the program against the current graph.
 *
 * Each thread runs until its next operation that other threads can observe (an atomic access, a fence, a lock, a create
 * or join), and parks. First the events that the graph already has are replayed: a thread continues when the write that
 * its event reads has been executed. Then new events are added, always for the lowest thread that can continue, so that
 * the next event is a function of the graph.
 */
#include "engine.h"

#include <string.h>

struct thread thread[MAX_THREADS];
struct thread *self;
bool guessing, main_returned;
static int used; /* one more than the highest thread of this run */

/* ---- threads ---- */

static void run_begin(struct thread *t)
{
    if (t->id >= used)
        used = t->id + 1;
    t->state = T_PARKED;
    t->why = WHY_NOTHING;
    t->req = (struct request){.op = OP_START};
    t->done = 0;
    t->effects = 0;
    t->awaited = 0;
    t->stays = t->hashed = t->decided = false;
    t->skip = SKIP_NOT;
    t->shots = t->stores = 0;
    t->changes = 0;
    t->touches = 0;
    t->joined = t->detached = false;
    t->result = NULL;
    t->prints = 0;
    memset(&t->now, 0, sizeof t->now);
    program_start(t);
}

static void resume(struct thread *t, word answer)
{
    t->hashed = t->decided = false;
    t->skip = SKIP_NOT;
    t->plain = 0;
    program_resume(t, answer);
}

/* ---- executing events ---- */

static bool executed(int stamp)
{
    return stamp < 0 || thread[ev(stamp)->thread].done > ev(stamp)->index;
}

/* Memory holds the newest executed write, for the plain loads that may follow. */
static void write_memory(int stamp)
{
    struct event *e = ev(stamp);
    const struct place *p = &G->place[e->loc];

    if (is_lock(e->op))
        return;
    for (int i = e->pos + 1; i < p->count; i++)
        if (executed(p->mo[i]))
            return;
    program_write(p->addr, e->value, e->size);
}

static void diverged(const struct thread *t, const char *what)
{
    failure.thread = t->id;
    fail(ERR_DIVERGED, t->req.pc, t->req.addr, "the program behaved differently on a second run (%s); it must not depend on time, "
         "randomness, addresses or uninitialised locals", what);
}

static void first_touch(struct thread *t, struct event *e)
{
    struct place *p = &G->place[e->loc];

    if (!shadow_own(p->addr, p->size, e->loc)) {
        failure.thread = t->id;
        fail(ERR_UNSUPPORTED, e->pc, p->addr, "atomic accesses of different sizes overlap");
    }
    p->fresh = !shadow_defined(p->addr, p->size);
    /* A stack holds stale data, also of hooks; it matters only when it is read. */
    bool matters = !is_lock(e->op) && (!program_stale(p->addr) || (e->kind == E_READ && e->rf == INIT));
    if (matters && p->init != read_memory(p->addr, p->size))
        diverged(t, "initial value");
}

static void touch_access(struct thread *t, struct event *e, bool write)
{
    struct place *p = &G->place[e->loc];

    failure.thread = t->id;
    shadow_atomic(t->id, e, p->addr, p->size, write);
    if (failure.kind)
        return;
    if (shadow_owner(p->addr) != e->loc)
        first_touch(t, e);
    bool copied = e->rf >= 0 && ev(e->rf)->op == OP_PLAIN; /* its value is undefined if its source is */
    if (e->kind == E_READ && (e->rf == INIT ? p->fresh : copied && !shadow_defined(p->addr, p->size)) && !failure.kind)
        fail(ERR_UNINIT, e->pc, p->addr, "load of memory that was never stored to");
    if (write && !failure.kind && e->op != OP_PLAIN)
        shadow_define(p->addr, p->size);
}

static bool matches(const struct thread *t, const struct event *e)
{
    const struct request *q = &t->req;

    if (q->op != e->op)
        return false;
    if (e->loc < 0)
        return q->order == e->order && q->extra == e->extra && (q->op != OP_CHOOSE || q->operand == e->operand);
    if (q->addr != G->place[e->loc].addr || q->size != e->size)
        return false;
    if (e->kind == E_WRITE)
        return q->operand == e->value;
    return q->operand == e->operand && (q->op != OP_CAS || q->expected == e->expected);
}

static void lock_misuse(struct thread *t, const struct event *e)
{
    uintptr_t addr = is_lock(e->op) ? G->place[e->loc].addr : 0;

    failure.thread = t->id;
    if (is_lock(e->op) && e->op != OP_SLEEP && e->value == destroyed(e->size))
        fail(ERR_MUTEX, e->pc, addr, "the %s has been destroyed", e->size == 1 ? "mutex" : "object");
    if (e->op == OP_LOCK && (e->flags & F_WAITS) && e->value == (word)t->id + 1)
        fail(ERR_MUTEX, e->pc, addr, "the thread locks a mutex that it holds already");
}

/* After an iteration that changed nothing: the thread stops here, or continues with its next request. */
static bool execute_again(struct thread *t, const struct event *e)
{
    t->done++;
    statistics.steps++;
    t->now = e->hb;
    t->spin_from = (int)e->extra;
    t->decided = true;
    t->skip = SKIP_NOT;
    if (e->value)
        return true;
    t->state = T_BLOCKED;
    t->why = WHY_SPIN;
    return false;
}

/* Executes the next event of a thread that has it in the graph; true when the thread may continue. */
static bool execute(struct thread *t)
{
    int stamp = G->thread[t->id].at[t->done];
    struct event *e = ev(stamp);
    word result = 0;
    bool store = false;

    if (e->op == OP_AGAIN)
        return execute_again(t, e);
    e->cells = t->changes;
    if (!matches(t, e)) {
        diverged(t, "next step");
        return false;
    }
    if (options.spin && e->kind == E_READ && !(e->flags & F_RMW) && e->op <= OP_CAS)
        spin_shoot(t);
    else if (e->kind != E_FENCE && e->kind != E_CHOICE)
        t->shots = t->stores = 0;
    if (e->kind != E_READ && e->kind != E_FENCE && e->kind != E_CHOICE && e->op != OP_UNLOCK)
        t->touches = 0;
    switch (e->kind) {
    case E_READ:
        if (e->op != OP_SLEEP) /* once woken, it does not access the object, which may have been freed */
            touch_access(t, e, (e->flags & F_RMW) != 0);
        lock_misuse(t, e);
        if (failure.kind)
            return false;
        result = e->value;
        if (e->flags & F_RMW) {
            t->done++;
            stamp = G->thread[t->id].at[t->done];
            write_memory(stamp);
        }
        if (e->op == OP_SLEEP)
            result = (e->flags & F_SPURIOUS) ? 0 : 1;
        else if (e->op == OP_CAS || (e->op >= OP_LOCK && e->op <= OP_TRYTAKE && e->op != OP_ONCE))
            result = (e->flags & F_RMW) ? 1 : 0;
        if (e->op == OP_CAS && !(e->flags & F_RMW)) {
            if (t->req.by_value)
                result = e->value;
            else
                store = true;
        } else if (e->op == OP_CAS && t->req.by_value) {
            result = e->value;
        }
        break;
    case E_WRITE:
        touch_access(t, e, true);
        if (failure.kind)
            return false;
        write_memory(stamp);
        break;
    case E_CREATE:
        run_begin(&thread[e->extra]);
        thread[e->extra].creator = stamp;
        break;
    case E_END:
        t->state = T_DONE;
        break;
    case E_JOIN:
        result = (word)(uintptr_t)thread[e->extra].result;
        break;
    case E_CHOICE:
        result = e->value;
        break;
    default:
        break;
    }
    t->done++;
    statistics.steps++;
    t->now = ev(stamp)->hb;
    if (store && !program_failed_exchange(t, e))
        return false;
    if (e->kind == E_END)
        return false;
    if (e->flags & F_WAITS) {
        t->state = T_BLOCKED;
        t->why = WHY_LOCK;
        return false;
    }
    resume(t, result);
    return !failure.kind;
}

/* Whether the thread's next event, which the graph has, can be executed already. */
static bool ready(const struct thread *t)
{
    if (t->state != T_PARKED || t->done >= G->thread[t->id].count)
        return false;
    const struct event *e = ev(G->thread[t->id].at[t->done]);
    return e->rf < 0 || executed(e->rf);
}

static void replay(void)
{
    bool moved = true;

    while (moved && !failure.kind) {
        moved = false;
        for (int t = 0; t < G->threads && !failure.kind; t++)
            while (ready(&thread[t])) {
                moved = true;
                if (!execute(&thread[t]))
                    break;
            }
    }
    for (int t = 0; t < G->threads && !failure.kind; t++)
        if (thread[t].done != G->thread[t].count)
            diverged(&thread[t], "missing step");
}

/* ---- new events ---- */

static bool blocked_by(struct thread *t, enum why why)
{
    t->state = T_BLOCKED;
    t->why = why;
    return false;
}

/*
 * Waiting on an old value, or for a value that the location has had, is not permanent: other executions read another
 * value.
 */
static bool lock_stuck(const struct event *e)
{
    const struct place *p = &G->place[e->loc];

    if (e->extra) /* it may time out */
        return false;
    for (int i = 0; i < p->count && e->op == OP_AWAIT; i++)
        if ((i ? ev(p->mo[i])->value : p->init) == e->operand)
            return false;
    return pos_of(e) == p->count - 1;
}

/* At the end of a run: whether the thread waits and nothing in the graph could wake it. */
bool run_stuck(const struct thread *t)
{
    if (t->why == WHY_LOCK)
        return lock_stuck(ev(G->thread[t->id].at[t->done - 1]));
    return t->why == WHY_SPIN ? spin_stuck(t, false) : t->state == T_PARKED && t->req.op == OP_JOIN;
}

static bool process_ends(void)
{
    for (int t = 0; t < used; t++)
        if (thread[t].why == WHY_EXIT)
            return true;
    return main_returned && thread[0].state == T_DONE;
}

/*
 * Whether the thread has ended, or waits and ends with the process. With --stop-threads only a detached one may wait
 * then: the others must finish, whichever thread is stopped.
 */
bool run_over(const struct thread *t)
{
    if (t->state == T_DONE || t->why == WHY_EXIT)
        return true;
    return (t->why == WHY_SPIN ? spin_stuck(t, true) : run_stuck(t)) && process_ends() && (t->detached || options.stop_thread < 0);
}

static int fresh;     /* first event that was added in this run */
static bool hopeless; /* some thread waits permanently: this run can show nothing else */

/* Whether the thread has executed this call site as often as --unroll allows. */
static bool unrolled(const struct thread *t)
{
    int n = 0;

    for (int i = 0; i < t->done && t->req.pc; i++) {
        const struct event *e = ev(G->thread[t->id].at[i]);
        n += e->pc == t->req.pc && e->op == t->req.op && !(e->kind == E_WRITE && (e->flags & F_RMW));
    }
    return n >= options.unroll;
}

/* Whether the next request of the thread can be added. */
static bool enabled(struct thread *t)
{
    const struct request *q = &t->req;

    if (t->state != T_PARKED)
        return false;
    if (q->op == OP_ASSUME) {
        statistics.assumed = true;
        return blocked_by(t, WHY_ASSUME);
    }
    if (t->id == options.stop_thread && t->done >= options.stop_at && q->op != OP_START)
        return blocked_by(t, WHY_STOPPED);
    if (q->op == OP_EXIT)
        return blocked_by(t, WHY_EXIT);
    if (q->op == OP_JOIN)
        return thread[q->extra].state == T_DONE;
    if (t->done >= options.bound) {
        statistics.cut |= CUT_EVENTS;
        return blocked_by(t, WHY_BOUND);
    }
    if (options.unroll && unrolled(t)) {
        statistics.cut |= CUT_UNROLL;
        statistics.unrolled = q->pc;
        return blocked_by(t, WHY_BOUND);
    }
    if (t->awaited && !spin_waits(t))
        t->awaited = 0;
    if (options.search)
        return search_goes(t);
    if (t->awaited)
        return false;
    if (options.spin && !t->decided)
        t->skip = spin_skips(t);
    t->decided = true;
    if (t->skip == SKIP_NOT)
        return true;
    if (t->skip != SKIP_RETRY && spin_rewind(t, fresh))
        return false;
    if (lost_keeps && t->skip != SKIP_BARE)
        return true; /* with the choice to stop here or to continue */
    if (t->skip == SKIP_BARE)
        spin_learn(t);
    if (!lost_keeps)
        lost_iteration(t, t->spin_from, t->spin_end);
    hopeless |= spin_hopeless(t);
    return blocked_by(t, WHY_SPIN);
}

/* Only waiting threads are left: the iteration of the lowest one becomes part of the graph, and blocks it. */
static struct thread *lowest_that_waits(void)
{
    for (int t = 0; t < run_threads(); t++)
        if (thread[t].state == T_PARKED && thread[t].awaited) {
            thread[t].awaited = 0;
            thread[t].stays = true;
            return &thread[t];
        }
    return NULL;
}

static struct thread *lowest_enabled(void)
{
    for (int t = 0; t < run_threads(); t++)
        if (enabled(&thread[t]))
            return &thread[t];
    return lowest_that_waits();
}

static enum outcome extend(void)
{
    fresh = G->count;
    hopeless = false;
    for (int t = 0; t < run_threads(); t++)
        enabled(&thread[t]);
    for (;;) {
        struct thread *next = options.search ? search_next(enabled) : lowest_enabled();
        if (!next)
            break;
        if (time_is_up || hopeless || lost_alarm)
            break;
        /* A thread that runs endlessly must not prevent the others from starting. */
        for (int t = next->id + 1; t < run_threads() && next->done > LONG && !options.search; t++)
            if (thread[t].done + LONG < next->done && enabled(&thread[t]))
                next = &thread[t];
        failure.thread = next->id;
        if (next->skip != SKIP_NOT)
            explore_again(next->id);
        else if (!explore_add(next->id))
            return RUN_PRUNED;
        execute(next);
        if (failure.kind)
            return RUN_ERROR;
    }
    if (time_is_up || hopeless || lost_alarm)
        return RUN_PRUNED;
    for (int t = 0; t < run_threads(); t++)
        if (!run_over(&thread[t]))
            return RUN_BLOCKED;
    return RUN_COMPLETE;
}

int run_threads(void)
{
    return used;
}

static enum outcome extended;

static void work(void)
{
    replay();
    if (failure.kind)
        return;
    extended = extend();
    if (extended == RUN_COMPLETE)
        program_ended();
}

enum outcome run_once(void)
{
    memset(&failure, 0, offsetof(struct failure, text) + 1);
    race_begin();
    program_begin();
    for (int t = 0; t < used; t++) {
        thread[t].state = T_NONE;
        thread[t].done = 0;
    }
    used = 0;
    main_returned = false;
    run_begin(&thread[0]);
    lin_begin_run();
    lost_begin();
    outcome_begin();
    statistics.runs++;
    enum stopped stopped = program_run(work);
    if (stopped == STOPPED_TIME)
        return RUN_PRUNED;
    return stopped == STOPPED_ERROR || failure.kind ? RUN_ERROR : extended;
}
