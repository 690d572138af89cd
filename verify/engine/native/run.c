/* SPDX-License-Identifier: MIT */
/* A C program run natively: its threads are coroutines, its static data is restored before each run. */
#include "native.h"

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
static bool guess_failed;
static struct request held[MAX_THREADS]; /* waits until a late store has become an event */
static jmp_buf guess_escape;

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
    siglongjmp(escape, STOPPED_ERROR);
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
        siglongjmp(escape, STOPPED_TIME);
    failure.thread = t->id;
    failure.hangs = true;
    fail(ERR_LIVELOCK, t->req.pc, 0, "the thread has run for seconds after this without a step that others can see");
    siglongjmp(escape, STOPPED_ERROR);
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

bool run_has_locals(void)
{
    return tls_size != 0;
}

bool program_private(uintptr_t addr)
{
    return tls_size && addr >= (uintptr_t)tls_low && addr < (uintptr_t)tls_low + tls_size;
}

void program_start(struct thread *t)
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
    t->spawned = 0;
    t->top = t->stack_low;
    t->atomic_low = (uintptr_t)t->stack_high;
    t->late = 0;
    t->view.size = 0;
    t->holds = false;
    t->error = 0;
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
    held[t->id] = t->req;
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

void program_resume(struct thread *t, word answer)
{
    if (t->holds) { /* a late store has become an event */
        t->holds = t->late > 0;
        t->req = t->holds ? late_request(t) : held[t->id];
        return;
    }
    self = t;
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
    if (tls_size && !failure.kind) {
        failure.thread = t->id;
        check_pointer_store();
    }
    parked(t);
    if (t->req.op <= OP_CAS || t->req.op == OP_FENCE)
        t->top = (char *)t->sp + 56; /* six registers and a return address, see switch.S */
    if (weaken_count)
        weaken_request(t);
    if (t->late && t->req.op != OP_PLAIN)
        hold(t);
    if ((char *)t->sp < t->deepest)
        t->deepest = (char *)t->sp - HOOKS < t->stack_low + 4096 ? t->stack_low + 4096 : (char *)t->sp - HOOKS;
}

/* A late store has no separate call. */
void program_callers(const struct thread *t, uint64_t out[CALLERS])
{
    memset(out, 0, CALLERS * sizeof *out);
    if (!t->holds)
        symbol_callers(t->req.hook, ((const uintptr_t *)t->sp)[5], out); /* the saved rbp, see switch.S */
}

/* The running thread stops permanently. */
void run_abandon(void)
{
    engine_switch(&engine_home, engine_sp, 0);
    abort();
}

/* ---- speculative runs ---- */

void program_shoot(const struct thread *t, struct shot *s)
{
    size_t size = (size_t)(t->stack_high - (char *)t->sp);

    if (s->room < size) {
        s->stack = realloc(s->stack, s->room = size * 2);
        if (!s->stack)
            engine_bug("out of memory");
    }
    memcpy(s->stack, t->sp, size);
    s->sp = t->sp;
    s->error = t->error;
}

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
bool program_same_with(struct thread *t, const struct shot *from, word value)
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

/* ---- memory ---- */

/* The program's memory, read by the engine for a thread: a bad address is that thread's fault. */
word read_memory(uintptr_t addr, int size)
{
    word w = 0;
    touching = true;
    memcpy(&w, (const void *)addr, (size_t)size); /* NOLINT */
    touching = false;
    return w;
}

void program_write(uintptr_t addr, word value, int size)
{
    memcpy((void *)addr, &value, (size_t)size); /* NOLINT */
}

/* A compare-exchange that failed stores what it read: a plain store of the thread, which is parked. */
bool program_failed_exchange(struct thread *t, const struct event *e)
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

void program_check(const struct request *q)
{
    if (program_private(q->addr))
        fail(ERR_UNSUPPORTED, q->pc, q->addr, "atomic access to a thread-local variable");
    if (q->size == sizeof(uintptr_t) && program_private((uintptr_t)q->operand))
        fail(ERR_UNSUPPORTED, q->pc, q->addr, "the address of a thread-local variable goes to other threads");
}

/* ---- runs ---- */

void program_begin(void)
{
    shadow_begin();
    forget_pointer_store();
    lifetime_begin_run();
    memcpy((void *)data_low, data_copy, data_size); /* NOLINT */
}

enum stopped program_run(void (*work)(void))
{
    enum stopped stopped = (enum stopped)sigsetjmp(escape, 0);

    if (!stopped)
        work();
    return stopped;
}
