/* SPDX-License-Identifier: MIT */
/*
 * One run of the program against the current graph.
 *
 * The program's threads are coroutines. Each runs natively until its next operation that other threads can observe (an
 * atomic access, a fence, a lock, a create or join), and parks. First the events that the graph already has are
 * replayed: a thread continues when the write that its event reads has been executed. Then new events are added, always
 * for the lowest thread that can continue, so that the next event is a function of the graph.
 */
#include "engine.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void engine_switch(void **save, void *to, word w) __attribute__((visibility("hidden")));

struct thread thread[MAX_THREADS];
struct thread *self;

void *engine_sp __attribute__((visibility("hidden")));
static void *engine_home; /* where the last switch of an abandoned thread saves its state */
static jmp_buf escape;
static uintptr_t data_low;
static size_t data_size;
static char *data_copy;
static char *tls_low;
static size_t tls_size;
static char *tls_copy;
static int (*program)(int, char **);
enum { HOOKS = 512 }; /* stack space that hooks use below the stack pointer of a parked thread */
static volatile bool touching;
static bool main_returned;
bool guessing;
static bool guess_failed;
static jmp_buf guess_escape;
static int used; /* one more than the highest thread of this run */

/* ---- set-up ---- */

/* Thread-local variables of the program lie just below the thread pointer of the one system thread. */
static int find_tls(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_TLS && h->p_memsz) {
            tls_low = info->dlpi_tls_data;
            tls_size = h->p_memsz;
        }
    }
    return 1; /* the first object is the program itself */
}

static void crash(int number, siginfo_t *info, void *context)
{
    const ucontext_t *c = context;
    uintptr_t at = (uintptr_t)info->si_addr;
    uint64_t pc = (uint64_t)c->uc_mcontext.gregs[REG_RIP];
    int t = self ? self->id : failure.thread;

    if (!self && !touching) {
        signal(number, SIG_DFL);
        return;
    }
    if (guessing)
        siglongjmp(guess_escape, 1);
    if (!self)
        pc = thread[t].req.pc;
    touching = false;
    self = NULL;
    failure.thread = t;
    /* Frames are probed page by page (-fstack-clash-protection), so that none jumps the guard page. */
    if (at >= (uintptr_t)thread[t].stack_low && at < (uintptr_t)thread[t].stack_low + 4096)
        fail(ERR_UNSUPPORTED, pc, 0, "a thread needs more than %d kB of stack", STACK_SIZE / 1024);
    else
        fail(ERR_CRASH, pc, at, "%s",
             number == SIGFPE ? "arithmetic error" : number == SIGILL ? "illegal instruction" : "invalid address");
    siglongjmp(escape, 1);
}

/* The child that each thread number stands for: the same in every run and, in shared memory, in every process. */
static struct family {
    atomic_flag busy;
    int count;
    struct {
        int parent, n;
    } known[MAX_THREADS];
} *family;

/* The number of a parent's n-th child, or -1 when there are too many threads. */
int run_child(int parent, int n)
{
    static int8_t cached[MAX_THREADS][MAX_THREADS];
    int found = -1;

    if (n < MAX_THREADS && cached[parent][n])
        return cached[parent][n];
    while (atomic_flag_test_and_set(&family->busy))
        ;
    for (int i = 1; i < family->count && found < 0; i++)
        if (family->known[i].parent == parent && family->known[i].n == n)
            found = i;
    if (found < 0 && family->count < MAX_THREADS) {
        found = family->count++;
        family->known[found].parent = parent;
        family->known[found].n = n;
    }
    atomic_flag_clear(&family->busy);
    if (n < MAX_THREADS && found > 0)
        cached[parent][n] = (int8_t)found;
    return found;
}

/* The program has not reached a step for too long; called by the timer. */
void run_hangs(bool expired)
{
    if (!self)
        return;
    if (guessing)
        siglongjmp(guess_escape, 1);
    struct thread *t = self;
    self = NULL;
    if (expired)
        siglongjmp(escape, 2);
    failure.thread = t->id;
    failure.hangs = true;
    fail(ERR_LIVELOCK, t->req.pc, 0, "the thread has run for seconds after this without a step that others can see");
    siglongjmp(escape, 1);
}

void run_init(int (*entry)(int, char **), uintptr_t data, uintptr_t end)
{
    static char handler_stack[65536];
    stack_t ss = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    struct sigaction sa = {.sa_sigaction = crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

    program = entry;
    family = mmap(NULL, sizeof *family, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (family == MAP_FAILED)
        engine_bug("out of memory");
    family->count = 1;
    sigaltstack(&ss, NULL);
    sigaction(SIGSEGV, &sa, NULL);
    sigaction(SIGBUS, &sa, NULL);
    sigaction(SIGFPE, &sa, NULL);
    sigaction(SIGILL, &sa, NULL);
    dl_iterate_phdr(find_tls, NULL);
    data_low = data;
    data_size = end - data;
    data_copy = malloc(data_size + tls_size + 1);
    tls_copy = malloc(tls_size * (MAX_THREADS + 1) + 1);
    if (!data_copy || !tls_copy)
        engine_bug("out of memory");
    memcpy(data_copy, (void *)data_low, data_size); /* NOLINT */
    if (tls_size)
        memcpy(tls_copy, tls_low, tls_size);
    for (int t = 0; t < MAX_THREADS; t++) {
        thread[t].id = t;
        thread[t].stack_low = shadow_stack(t);
        thread[t].stack_high = thread[t].stack_low + STACK_SIZE;
        thread[t].deepest = thread[t].stack_high;
    }
}

/* ---- coroutines ---- */

__attribute__((optimize("no-omit-frame-pointer"))) static void thread_body(void)
{
    struct thread *t = self;

    if (t->id == 0) {
        static char name[] = "program", *argv[] = {name, NULL};
        lifetime_start();
        int code = program(1, argv);
        if (code && !options.entry)
            fail(ERR_ASSERT, t->req.pc, 0, "main returned %d", code);
        lifetime_end();
        main_returned = true;
    } else if (t->start11) {
        t->result = (void *)(intptr_t)t->start11(t->arg); /* NOLINT */
    } else {
        t->result = t->start(t->arg);
    }
    thread_exit();
}

/* Ends the running thread. */
void thread_exit(void)
{
    if (self->id || !main_returned)
        lifetime_thread_ends();
    if (self->specifics && !(self->id == 0 && main_returned))
        keys_end();
    self->req = (struct request){.op = OP_END};
    step();
    engine_bug("an ended thread was resumed");
}

/* Main's thread-local variables, as it left them. */
uintptr_t run_main_locals(size_t *size)
{
    *size = tls_size;
    return (uintptr_t)tls_copy + tls_size;
}

bool run_is_thread_local(uintptr_t addr)
{
    return tls_size && addr >= (uintptr_t)tls_low && addr < (uintptr_t)tls_low + tls_size;
}

static void thread_begin(struct thread *t)
{
    void **sp = (void **)(void *)t->stack_high;

    /* The stack has the same initial content in every run. */
    memset(t->deepest, 0, (size_t)(t->stack_high - t->deepest));
    t->deepest = t->stack_high;
    *--sp = NULL; /* return address of thread_body, which never returns */
    *--sp = (void *)thread_body; /* NOLINT */
    sp -= 6;
    memset(sp, 0, 6 * sizeof *sp);
    t->sp = sp;
    if (t->id >= used)
        used = t->id + 1;
    t->spawned = 0;
    t->top = t->stack_low;
    t->atomic_low = (uintptr_t)t->stack_high;
    t->state = T_PARKED;
    t->why = WHY_NOTHING;
    t->req = (struct request){.op = OP_START};
    t->done = 0;
    t->effects = 0;
    t->late = 0;
    t->view.size = 0;
    t->awaited = 0;
    t->stays = t->hashed = t->decided = false;
    t->skip = SKIP_NOT;
    t->shots = t->stores = 0;
    t->changes = 0;
    t->touches = 0;
    t->holds = false;
    t->joined = t->detached = false;
    t->result = NULL;
    t->error = 0;
    t->prints = 0;
    memset(&t->now, 0, sizeof t->now);
    t->keys_created = t->specifics = 0;
    if (tls_size)
        memcpy(tls_copy + tls_size * (size_t)(t->id + 1), tls_copy, tls_size);
}

/*
 * A plain store to a location that is otherwise atomic (for example, initialisation for reuse) is an event, but its
 * hook ran before the store. The thread has parked since: the value is in memory, and the event is inserted before its
 * next request.
 */
static void hold(struct thread *t)
{
    t->held = t->req;
    t->holds = true;
    late_values(t);
    t->req = late_request(t);
}

/* The thread has parked with a request. */
static void parked(struct thread *t)
{
    t->req.hook = t->req.pc;
    if (t->req.op <= OP_CAS || t->req.op == OP_FENCE)
        t->req.pc = symbol_caller(t->req.pc, ((const uintptr_t *)t->sp)[5]); /* the saved rbp, see switch.S */
}

static void resume(struct thread *t, word answer)
{
    self = t;
    t->hashed = t->decided = false;
    t->skip = SKIP_NOT;
    t->plain = 0;
    if (tls_size)
        memcpy(tls_low, tls_copy + tls_size * (size_t)(t->id + 1), tls_size);
    errno = t->error; /* the C library keeps one for the system thread that all share */
    view_begin(t, &t->req, answer);
    engine_switch(&engine_sp, t->sp, answer);
    view_end(t);
    t->error = errno;
    if (tls_size)
        memcpy(tls_copy + tls_size * (size_t)(t->id + 1), tls_low, tls_size);
    self = NULL;
    parked(t);
    if (t->req.op <= OP_CAS || t->req.op == OP_FENCE)
        t->top = (char *)t->sp + 56; /* six registers and a return address, see switch.S */
    if (weaken_count)
        weaken_request(&t->req);
    if (t->late && t->req.op != OP_PLAIN)
        hold(t);
    if ((char *)t->sp < t->deepest)
        t->deepest = (char *)t->sp - HOOKS < t->stack_low + 4096 ? t->stack_low + 4096 : (char *)t->sp - HOOKS;
}

/* The running thread stops permanently. */
void run_abandon(void)
{
    engine_switch(&engine_home, engine_sp, 0);
    abort();
}

/* ---- speculative runs ---- */

void guess_stop(void)
{
    guess_failed = true;
    run_abandon();
}

/* The accesses that it makes in that run; an access beyond the limit counts as not made. */
static struct touch guessed[64];
static int guesses;

void guess_touch(uintptr_t addr, size_t size, bool write)
{
    if (guesses < (int)(sizeof guessed / sizeof *guessed))
        guessed[guesses++] = (struct touch){.addr = addr, .size = (uint32_t)size, .write = write};
}

/* Marks the accesses since the last event of the thread that were made in that run too. True when all were. */
static bool guessed_all(struct thread *t)
{
    bool all = true;

    for (int i = t->touches; i-- > 0 && t->touch[i].epoch == t->done;) {
        int k = 0;
        while (k < guesses && (guessed[k].addr != t->touch[i].addr || guessed[k].size != t->touch[i].size ||
                               guessed[k].write != t->touch[i].write))
            k++;
        t->touch[i].made = k < guesses;
        all = all && k < guesses;
    }
    return all;
}

static void copy_stored(const struct stored *s, word *out)
{
    *out = 0;
    memcpy(out, (const void *)s->addr, (size_t)s->size); /* NOLINT */
}

static void put_stored(const struct stored *s, const word *value)
{
    memcpy((void *)s->addr, value, (size_t)s->size); /* NOLINT */
}

/* Runs the thread up to its next request; false when it did something that cannot be undone. */
static bool guess_request(struct thread *t, const struct shot *from, word value)
{
    guesses = 0;
    if (from->req.op == OP_CAS && !from->req.by_value) { /* it fails */
        guess_touch((uintptr_t)from->req.out, from->req.size, true);
        char *out = from->req.out;
        int before = t->stores;
        bool own = out >= t->stack_low && out < t->stack_high;
        if (!own)
            spin_log(t, (uintptr_t)out, from->req.size);
        if (!own && t->stores == before)
            return false;
        memcpy(from->req.out, &value, from->req.size);
        value = 0;
    }
    t->sp = from->sp;
    guess_failed = false;
    guessing = true;
    if (sigsetjmp(guess_escape, 0)) {
        guess_failed = true;
    } else {
        self = t;
        if (tls_size)
            memcpy(tls_low, tls_copy + tls_size * (size_t)(t->id + 1), tls_size);
        errno = from->error;
        view_begin(t, &from->req, value);
        engine_switch(&engine_sp, t->sp, value);
        parked(t);
    }
    guessing = false;
    self = NULL;
    view_end(t);
    return !guess_failed && !t->late && errno == t->error;
}

static bool same_request(const struct request *a, const struct request *b)
{
    return a->pc == b->pc && a->op == b->op && a->order == b->order && a->fail_order == b->fail_order && a->addr == b->addr && a->size == b->size && a->operand == b->operand &&
           a->expected == b->expected && a->out == b->out && a->extra == b->extra;
}

/*
 * Whether the thread would be in its current state, with the same memory, if its read at `from` had read this value.
 * This is tested by a run: stack and plain stores since then are rolled back, the thread runs to its next request, and
 * everything is restored. If it got here without an access that it has made since its last event, that access too is
 * lost with the iteration (spin_end).
 */
bool run_guess(struct thread *t, const struct shot *from, word value)
{
    static char kept[STACK_SIZE];
    static struct thread before;
    enum { BELOW = 512, HEAD = offsetof(struct thread, shot) }; /* below: stack used by functions */
    char *low = (char *)(t->sp < from->sp ? t->sp : from->sp) - BELOW;
    word now[STORED], then[STORED];
    uint64_t state = spin_state(t);

    if (low < t->stack_low + 4096)
        low = t->stack_low + 4096;
    memcpy(&before, t, HEAD);
    memcpy(kept, low, (size_t)(t->stack_high - low));
    for (int i = from->stores; i < t->stores; i++)
        copy_stored(&t->stored[i], &now[i]);
    for (int i = t->stores; i-- > from->stores;)
        put_stored(&t->stored[i], &t->stored[i].old);
    memcpy(from->sp, from->stack, (size_t)(t->stack_high - (char *)from->sp));
    bool same = guess_request(t, from, value) && same_request(&t->req, &before.req) && t->result == before.result;
    if (same) {
        t->effects = before.effects;
        t->hashed = false;
        same = spin_state(t) == state;
    }
    for (int i = from->stores; i < t->stores; i++)
        copy_stored(&t->stored[i], &then[i]);
    for (int i = t->stores; i-- > before.stores;)
        put_stored(&t->stored[i], &t->stored[i].old);
    for (int i = from->stores; i < before.stores; i++) {
        put_stored(&t->stored[i], &now[i]);
        same = same && now[i] == then[i];
    }
    for (int i = before.stores; i < t->stores; i++) {
        copy_stored(&t->stored[i], &now[i]);
        same = same && now[i] == then[i];
    }
    memcpy(t, &before, HEAD);
    memcpy(low, kept, (size_t)(t->stack_high - low));
    t->spin_end = t->done - guessed_all(t);
    return same;
}

/* ---- executing events ---- */

/* The program's memory, read by the engine for a thread: a bad address is that thread's fault. */
word read_memory(uintptr_t addr, int size)
{
    word w = 0;
    touching = true;
    memcpy(&w, (const void *)addr, (size_t)size); /* NOLINT */
    touching = false;
    return w;
}

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
    memcpy((void *)p->addr, &e->value, (size_t)e->size); /* NOLINT */
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
    bool matters = !is_lock(e->op) && (!shadow_on_stack(p->addr) || (e->kind == E_READ && e->rf == INIT));
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

/* A compare-exchange that failed stores what it read: a plain store of the thread, which is parked. */
static bool store_expected(struct thread *t, const struct event *e)
{
    uintptr_t out = (uintptr_t)t->req.out;

    failure.thread = t->id;
    if (shadow_plain_of(t, out, e->size, true, false, e->pc, (uintptr_t)t->sp))
        fail(ERR_UNSUPPORTED, e->pc, out, "the expected value of a compare-exchange is an atomic location itself");
    if (failure.kind)
        return false;
    touching = true;
    memcpy(t->req.out, &e->value, e->size);
    touching = false;
    return true;
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
        thread_begin(&thread[e->extra]);
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
    if (store && !store_expected(t, e))
        return false;
    if (e->kind == E_END)
        return false;
    if (e->flags & F_WAITS) {
        t->state = T_BLOCKED;
        t->why = WHY_LOCK;
        return false;
    }
    if (t->holds) {
        t->holds = t->late > 0;
        t->req = t->holds ? late_request(t) : t->held;
        t->hashed = t->decided = false;
        t->plain = 0;
    } else {
        resume(t, result);
    }
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

static enum outcome extend(void)
{
    fresh = G->count;
    hopeless = false;
    for (int t = 0; t < run_threads(); t++)
        enabled(&thread[t]);
    for (;;) {
        struct thread *next = NULL;
        for (int t = 0; t < run_threads() && !next; t++)
            if (enabled(&thread[t]))
                next = &thread[t];
        if (!next && !(next = lowest_that_waits()))
            break;
        if (time_is_up || hopeless || lost_alarm)
            break;
        /* A thread that runs endlessly must not prevent the others from starting. */
        for (int t = next->id + 1; t < run_threads() && next->done > LONG; t++)
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

enum outcome run_once(void)
{
    memset(&failure, 0, offsetof(struct failure, text) + 1);
    shadow_begin();
    memcpy((void *)data_low, data_copy, data_size); /* NOLINT */
    for (int t = 0; t < used; t++) {
        thread[t].state = T_NONE;
        thread[t].done = 0;
    }
    used = 0;
    main_returned = false;
    thread_begin(&thread[0]);
    lifetime_begin_run();
    lin_begin_run();
    lost_begin();
    outcome_begin();
    statistics.runs++;
    int jump = sigsetjmp(escape, 0);
    if (jump)
        return jump == 2 ? RUN_PRUNED : RUN_ERROR;
    replay();
    if (failure.kind)
        return RUN_ERROR;
    enum outcome o = extend();
    if (o == RUN_COMPLETE)
        shadow_end();
    return failure.kind ? RUN_ERROR : o;
}
