/* SPDX-License-Identifier: MIT */
/*
 * What a C++ program calls in libstdc++, by mangled name (gcc's ABI): threads, condition variables, new and delete,
 * statics of functions. Templates and inline functions are compiled into the program and need nothing here.
 */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

/* ---- hooks that only g++ inserts ---- */

/* A constructor or destructor sets the pointer to the virtual functions. */
void __tsan_vptr_update(void **p, void *value)
{
    if (*p != value) /* otherwise it stores nothing new, as for gcc's own sanitizer */
        plain((uintptr_t)p, sizeof *p, true, false, HOOK_PC);
}

void __tsan_vptr_read(void **p) { plain((uintptr_t)p, sizeof *p, false, false, HOOK_PC); }

/* ---- new and delete ---- */

#define NEW(RENAMED) void *RENAMED(size_t n) { return flush_plain(), shadow_alloc(n, 16, false, PC); }
#define NEW_NOTHROW(RENAMED) void *RENAMED(size_t n, const void *tag) { (void)tag; return flush_plain(), shadow_alloc(n, 16, false, PC); }
#define NEW_ALIGNED(RENAMED) void *RENAMED(size_t n, size_t align) { return flush_plain(), shadow_alloc(n, align, false, PC); }
#define NEW_BOTH(RENAMED) \
    void *RENAMED(size_t n, size_t align, const void *tag) { (void)tag; return flush_plain(), shadow_alloc(n, align, false, PC); }
#define DELETE(RENAMED) void RENAMED(void *p) { flush_plain(), shadow_free(p, PC); }
#define DELETE_2(RENAMED) void RENAMED(void *p, size_t more) { (void)more, flush_plain(), shadow_free(p, PC); }
#define DELETE_3(RENAMED) void RENAMED(void *p, size_t more, size_t rest) { (void)more, (void)rest, flush_plain(), shadow_free(p, PC); }

NEW(X(_Znwm))
NEW(X(_Znam))
NEW_NOTHROW(X(_ZnwmRKSt9nothrow_t))
NEW_NOTHROW(X(_ZnamRKSt9nothrow_t))
NEW_ALIGNED(X(_ZnwmSt11align_val_t))
NEW_ALIGNED(X(_ZnamSt11align_val_t))
NEW_BOTH(X(_ZnwmSt11align_val_tRKSt9nothrow_t))
NEW_BOTH(X(_ZnamSt11align_val_tRKSt9nothrow_t))
DELETE(X(_ZdlPv))
DELETE(X(_ZdaPv))
DELETE_2(X(_ZdlPvm))
DELETE_2(X(_ZdaPvm))
DELETE_2(X(_ZdlPvSt11align_val_t))
DELETE_2(X(_ZdaPvSt11align_val_t))
DELETE_2(X(_ZdlPvRKSt9nothrow_t))
DELETE_2(X(_ZdaPvRKSt9nothrow_t))
DELETE_3(X(_ZdlPvmSt11align_val_t))
DELETE_3(X(_ZdaPvmSt11align_val_t))
DELETE_3(X(_ZdlPvSt11align_val_tRKSt9nothrow_t))
DELETE_3(X(_ZdaPvSt11align_val_tRKSt9nothrow_t))

/* ---- static variables of functions: byte 0: whether it is initialised, bytes 4 to 7 are a lock ---- */

int X(__cxa_guard_acquire)(char *guard)
{
    return ask(OP_ONCE, guard + 4, 4, 0, ACQUIRE, 0, PC) == 0;
}

static void guard_end(char *guard, word done, uint64_t pc)
{
    if (done)
        ask(OP_STORE, guard, 1, 1, RELEASE, 0, pc);
    ask(OP_UNLOCK, guard + 4, 4, done ? ONCE_DONE : 0, RELEASE, 0, pc);
}

void X(__cxa_guard_release)(char *guard) { guard_end(guard, 1, PC); }
void X(__cxa_guard_abort)(char *guard) { guard_end(guard, 0, PC); }

/* ---- std::thread ---- */

/* A std::thread::_State begins with its virtual functions: destructor, deleting destructor, _M_run. */
static void *run_state(void *state)
{
    void (**virtual)(void *) = *(void (***)(void *))state;

    virtual[2](state);
    virtual = *(void (***)(void *))state;
    virtual[1](state);
    return NULL;
}

/* thread::_M_start_thread(unique_ptr<_State>, void (*)()): the pointer is passed by reference and is taken. */
void X(_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE)(unsigned long *id, void **state, void *unused)
{
    uint64_t pc = PC;
    void *taken = *state;

    (void)unused;
    plain((uintptr_t)state, sizeof *state, true, false, pc);
    *state = NULL;
    thread_spawn(id, run_state, NULL, taken, pc);
}

void X(_ZNSt6thread6_StateD2Ev)(void *state) { (void)state; }
void X(_ZNSt6thread6_StateD1Ev)(void *state) { (void)state; }

static void forget(unsigned long *id, uint64_t pc)
{
    plain((uintptr_t)id, sizeof *id, true, false, pc);
    *id = 0;
}

void X(_ZNSt6thread4joinEv)(unsigned long *id)
{
    uint64_t pc = PC;

    plain((uintptr_t)id, sizeof *id, false, false, pc);
    thread_join(*id, pc);
    forget(id, pc);
}

void X(_ZNSt6thread6detachEv)(unsigned long *id)
{
    uint64_t pc = PC;

    plain((uintptr_t)id, sizeof *id, false, false, pc);
    thread_detach(*id, pc);
    forget(id, pc);
}

unsigned X(_ZNSt6thread20hardware_concurrencyEv)(void) { return 2; }
void X(_ZNSt11this_thread11__sleep_forENSt6chrono8durationIlSt5ratioILl1ELl1EEEENS1_IlS2_ILl1ELl1000000000EEEE)(long s, long ns)
{
    (void)s, (void)ns;
}

static long stands_still(void)
{
    statistics.clock = true;
    return 1000000000;
}

long X(_ZNSt6chrono3_V212system_clock3nowEv)(void) { return stands_still(); }
long X(_ZNSt6chrono3_V212steady_clock3nowEv)(void) { return stands_still(); }

/* ---- std::condition_variable ---- */

struct unique_lock {
    void *mutex;
    bool owns;
};

void X(_ZNSt18condition_variableC1Ev)(void *c) { (void)c; } /* no constructor that could be seen: its bytes are a pthread_cond_t */
void X(_ZNSt18condition_variableD1Ev)(void *c) { cond_destroy(c, PC); }
void X(_ZNSt18condition_variable10notify_oneEv)(void *c) { cond_wake(c, false, PC); }
void X(_ZNSt18condition_variable10notify_allEv)(void *c) { cond_wake(c, true, PC); }

void X(_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE)(void *c, const struct unique_lock *lock)
{
    uint64_t pc = PC;

    plain((uintptr_t)lock, sizeof lock->mutex + sizeof lock->owns, false, false, pc);
    cond_wait(c, lock->mutex, pc);
}

/* ---- what ends a program ---- */

/* Modelled too: an exception that no handler takes, but a program with handlers is refused at the throw. */
_Noreturn void X(_ZSt9terminatev)(void)
{
    fail(ERR_ASSERT, PC, 0, "std::terminate() was called");
    abort();
}

_Noreturn void X(__cxa_pure_virtual)(void)
{
    fail(ERR_ASSERT, PC, 0, "a pure virtual function was called");
    abort();
}

_Noreturn void X(__cxa_allocate_exception)(size_t n)
{
    (void)n;
    fail(ERR_UNSUPPORTED, PC, 0, "an exception is thrown: exceptions are not modelled");
    abort();
}

/* ---- standard streams exist; what is done with them is not modelled ---- */

void X(_ZNSt8ios_base4InitC1Ev)(void *i) { (void)i; }
void X(_ZNSt8ios_base4InitD1Ev)(void *i) { (void)i; }

/* ---- lists and hashes, which libstdc++ keeps out of line ---- */

struct node {
    struct node *next, *prev;
};

static struct node *get(struct node **p, uint64_t pc) { return plain((uintptr_t)p, sizeof *p, false, false, pc), *p; }
static void set(struct node **p, struct node *n, uint64_t pc) { plain((uintptr_t)p, sizeof *p, true, false, pc), *p = n; }

void X(_ZNSt8__detail15_List_node_base7_M_hookEPS0_)(struct node *n, struct node *at)
{
    uint64_t pc = PC;

    set(&n->next, at, pc);
    set(&n->prev, get(&at->prev, pc), pc);
    set(&n->prev->next, n, pc);
    set(&at->prev, n, pc);
}

void X(_ZNSt8__detail15_List_node_base9_M_unhookEv)(struct node *n)
{
    uint64_t pc = PC;
    struct node *next = get(&n->next, pc), *prev = get(&n->prev, pc);

    set(&prev->next, next, pc);
    set(&next->prev, prev, pc);
}

/* Moves the nodes from first up to last, which is excluded, in front of this one. */
void X(_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_)(struct node *at, struct node *first, struct node *last)
{
    uint64_t pc = PC;

    if (at == last)
        return;
    struct node *before = get(&first->prev, pc), *end = get(&last->prev, pc), *left = get(&at->prev, pc);
    set(&before->next, last, pc);
    set(&last->prev, before, pc);
    set(&left->next, first, pc);
    set(&first->prev, left, pc);
    set(&end->next, at, pc);
    set(&at->prev, end, pc);
}

/* FNV-1a of Fowler, Noll and Vo. libstdc++ has another hash: a program must not depend on which. */
size_t X(_ZSt11_Hash_bytesPKvmm)(const unsigned char *p, size_t n, size_t seed)
{
    size_t h = 0xcbf29ce484222325u ^ seed;

    plain((uintptr_t)p, n, false, false, PC);
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

#pragma GCC visibility pop
