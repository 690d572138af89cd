/* SPDX-License-Identifier: MIT */
/*
 * Linearizability by refinement (GenMC's --collect-lin-spec and --check-lin-spec): the same threads run first on the
 * specification, a bounded queue protected by a lock, and then on the ring. Every combination of results and
 * synchronisation that the ring shows must be one that the specification has.
 *
 * The lock of the specification orders its critical sections but does not synchronise them: the release store of a push
 * and the acquire load of the pop of its word do.
 */
#include <genmc.h>

/* method_begin and method_end mark the calls for GenMC. */
#define OPERATION(name, argument, result, body)                                                                        \
    do {                                                                                                               \
        __VERIFIER_method_begin(name, argument);                                                                       \
        body;                                                                                                          \
        __VERIFIER_method_end(name, result);                                                                           \
    } while (0)

#ifdef LIN_SPEC
static __VERIFIER_plock_t turn;
static atomic_int slot[CAPACITY], first, count;

static void make(void)
{
}

static void unmake(void)
{
}

/* 1, or 0 for FULL. */
static int push(int id, int word)
{
    int done = 0;

    (void)id;
    __VERIFIER_plock_lock(&turn);
    int n = atomic_load_explicit(&count, memory_order_relaxed);
    if (n < CAPACITY) {
        int at = (atomic_load_explicit(&first, memory_order_relaxed) + n) % CAPACITY;
        atomic_store_explicit(&slot[at], word, memory_order_release);
        atomic_store_explicit(&count, n + 1, memory_order_relaxed);
        done = 1;
    }
    __VERIFIER_plock_unlock(&turn);
    return done;
}

/* The word, or 0 for EMPTY. */
static int pop(int id)
{
    int word = 0;

    (void)id;
    __VERIFIER_plock_lock(&turn);
    int n = atomic_load_explicit(&count, memory_order_relaxed);
    if (n > 0) {
        int at = atomic_load_explicit(&first, memory_order_relaxed);
        word = atomic_load_explicit(&slot[at], memory_order_acquire);
        atomic_store_explicit(&first, (at + 1) % CAPACITY, memory_order_relaxed);
        atomic_store_explicit(&count, n - 1, memory_order_relaxed);
    }
    __VERIFIER_plock_unlock(&turn);
    return word;
}

#elif defined LINEAR_MPMC
#include "event/nobody_waits.h"

#include "ring.c"

static struct lade_mpmc *ring;
static struct lade_mpmc_handle *handle[THREADS + 1];

static void make(void)
{
    int status = lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = CAPACITY, .handles = THREADS + 1});

    assert(status == LADE_OK);
    for (int i = 0; i <= THREADS; i++)
        status = status == LADE_OK ? lade_mpmc_join(ring, &handle[i]) : status;
    assert(status == LADE_OK);
}

static void unmake(void)
{
    lade_mpmc_destroy(ring);
}

static int push(int id, int word)
{
    return lade_mpmc_push(handle[id], (uint64_t)word) == LADE_OK;
}

static int pop(int id)
{
    uint64_t word = 0;
    return lade_mpmc_pop(handle[id], &word) == LADE_OK ? (int)word : 0;
}

#else
#include "event/nobody_waits.h"

#include "ring.c"

static struct lade_spsc *ring;

static void make(void)
{
    int status = lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = CAPACITY});

    assert(status == LADE_OK);
}

static void unmake(void)
{
    lade_spsc_destroy(ring);
}

static int push(int id, int word)
{
    (void)id;
    return lade_spsc_push(ring, (uint64_t)word) == LADE_OK;
}

static int pop(int id)
{
    uint64_t word = 0;
    (void)id;
    return lade_spsc_pop(ring, &word) == LADE_OK ? (int)word : 0;
}
#endif

/* Called by address: inlined, their variables would be allocated outside of the operation, which GenMC does not accept. */
static int (*volatile call_push)(int id, int word) = push;
static int (*volatile call_pop)(int id) = pop;

static void do_push(int id, int word)
{
    int done = 0;
    OPERATION("push", word, done, done = call_push(id, word));
}

static void do_pop(int id)
{
    int word = 0;
    OPERATION("pop", 0, word, word = call_pop(id));
}
