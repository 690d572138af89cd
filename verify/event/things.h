/* SPDX-License-Identifier: MIT */
/* An event, and items that waiters take one at a time. */
static struct lade_event event;
static _Atomic int things, ended;

static void make_event(void)
{
    lade_event_init(&event);
    atomic_init(&things, 0);
    atomic_init(&ended, LADE_OK);
}

/* Only the event orders anything here. */
static inline void put_things(int count)
{
    atomic_fetch_add_explicit(&things, count, memory_order_relaxed);
}

static inline void end_with(int status)
{
    atomic_store_explicit(&ended, status, memory_order_relaxed);
}

static inline int take_or_await(void *context, int64_t *until)
{
    int seen = atomic_load_explicit(&things, memory_order_relaxed);

    (void)context, (void)until;
    while (seen > 0)
        if (atomic_compare_exchange_strong_explicit(&things, &seen, seen - 1, memory_order_relaxed,
                                                    memory_order_relaxed))
            return LADE_OK;
    return LADE_AWAIT;
}

static inline int end_or_take(void *context, int64_t *until)
{
    int end = atomic_load_explicit(&ended, memory_order_relaxed);

    return end != LADE_OK ? end : take_or_await(context, until);
}
