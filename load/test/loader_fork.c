/* SPDX-License-Identifier: MIT */
/* Loaders and fork(): the workers stay in the process that created the loader. */
#include "states.h"
#include "test/forked.h"

#include <pthread.h>
#include <stdatomic.h>

/* Reads do not return while held is set. begun: threads that have read. */
static atomic_bool held;
static atomic_uint begun;

static int read_one(void *context, uint64_t i)
{
    static _Thread_local bool has_begun;

    (void)context, (void)i;
    if (!has_begun)
        atomic_fetch_add(&begun, 1);
    has_begun = true;
    while (atomic_load(&held))
        usleep(100);
    return LADE_OK;
}

/* Takes batches until all workers have begun. */
static void await_workers(struct lade_loader *l, unsigned workers)
{
    while (atomic_load(&begun) < workers) {
        struct lade_batch batch;
        if (lade_loader_next(l, &batch, LADE_FOREVER, NULL) != LADE_OK)
            abort();
        lade_loader_release(l, &batch);
    }
}

static bool is_refused(struct lade_loader *l, int64_t timeout)
{
    struct lade_batch batch;
    struct lade_error error = {.text = ""};

    return lade_loader_next(l, &batch, timeout, &error) == LADE_INVALID && strstr(error.text, "fork()") &&
           error.status == LADE_INVALID;
}

/* The other functions work on memory; the consumer's position is known. */
static void leave_loader(void *loader)
{
    struct lade_loader *l = loader;
    struct lade_loader_stats stats;

    child_check(is_refused(l, LADE_FOREVER) && is_refused(l, 0));
    lade_loader_stats(l, &stats);
    lade_loader_cancel(l);
    child_check(is_refused(l, LADE_FOREVER));
    child_check(lade_loader_stop(l, LADE_FOREVER) == LADE_INVALID);
    lade_loader_destroy(l);
}

/* A loader of each mode exists at the fork, with batches that are ready, or with all workers inside a user callback. */
static void leave_each(bool in_user_function)
{
    for (int mode = 0; mode < 4; mode++) {
        struct lade_source *source = numbers_with(1000, read_one, NULL);
        const struct lade_loader_config config = {.source = source,
                                                  .batch = 5,
                                                  .threads = 3,
                                                  .in_order = mode == 1,
                                                  .consumer_assists = mode == 2,
                                                  .buffer = mode == 3 ? 100 : 0};
        atomic_store(&held, in_user_function);
        atomic_store(&begun, 0);
        struct lade_loader *l = open_loader(&config);
        if (!in_user_function)
            await_workers(l, 3);
        while (atomic_load(&begun) < (mode == 2 ? 2 : 3))
            usleep(100);
        cr_assert(child_runs(leave_loader, l), "mode %d", mode);
        atomic_store(&held, false);
        struct lade_batch batch = next_of(l);
        lade_loader_release(l, &batch);
        lade_loader_destroy(l);
        lade_source_close(source);
    }
}

Test(loader_fork, a_child_gets_an_error_at_once_and_frees, .timeout = 60)
{
    leave_each(false);
}

Test(loader_fork, workers_inside_user_callbacks_are_not_waited_for, .timeout = 60)
{
    leave_each(true);
}

/* The consumer's position is in the child's memory. */
static void read_state(void *context)
{
    struct lade_loader *l = *(struct lade_loader **)context;
    char *state = state_of(l);

    child_check(strcmp(state, ((char **)context)[1]) == 0);
    free(state);
    lade_loader_destroy(l);
}

Test(loader_fork, a_child_knows_the_state, .timeout = 60)
{
    struct lade_source *source = numbers(100);
    const struct lade_loader_config config = {.source = source, .batch = 5, .threads = 1};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch batch = next_of(l);
    void *context[2] = {l, state_of(l)};

    lade_loader_release(l, &batch);
    cr_assert(child_runs(read_state, context));
    free(context[1]);
    lade_loader_destroy(l);
    lade_source_close(source);
}

/* ---- loaders created by the child ---- */

struct together {
    struct lade_loader_config config;
    struct lade_loader *of_parent, *of_child;
};

static void read_all(const struct lade_loader_config *config)
{
    struct lade_loader *l;
    struct lade_batch batch;
    bool seen[500] = {false};
    int count = 0;

    child_check(lade_loader_create(&l, config, NULL) == LADE_OK);
    while (lade_loader_next(l, &batch, LADE_FOREVER, NULL) == LADE_OK) {
        for (uint64_t i = 0; i < batch.count; i++) {
            child_check(batch.ids[i] < 500 && !seen[batch.ids[i]]);
            seen[batch.ids[i]] = true;
            count++;
        }
        lade_loader_release(l, &batch);
    }
    child_check(count > 0);
    lade_loader_destroy(l);
}

/* In the child's child neither of the loaders has workers. */
static void leave_both(void *context)
{
    struct together *t = context;

    child_check(is_refused(t->of_parent, LADE_FOREVER) && is_refused(t->of_child, LADE_FOREVER));
    read_all(&t->config);
    lade_loader_destroy(t->of_child);
    lade_loader_destroy(t->of_parent);
}

static void make_another(void *context)
{
    struct together *t = context;
    struct lade_loader_config for_ever = t->config;
    struct lade_batch batch;

    for_ever.epochs = 0;
    read_all(&t->config);
    child_check(is_refused(t->of_parent, LADE_FOREVER));
    atomic_store(&begun, 0);
    child_check(lade_loader_create(&t->of_child, &for_ever, NULL) == LADE_OK);
    await_workers(t->of_child, 3);
    await_library_thread(); /* that thread waits for readers */
    child_check(child_runs(leave_both, t));
    child_check(lade_loader_next(t->of_child, &batch, LADE_FOREVER, NULL) == LADE_OK);
    lade_loader_destroy(t->of_child);
    lade_loader_destroy(t->of_parent);
}

/* Workers of both processes read the same split, whose memory the child frees with its own threads. */
Test(loader_fork, a_child_makes_its_own_loaders, .timeout = 60)
{
    static const uint32_t weights[2] = {8, 2};
    const struct lade_split_config exact = {.parts = 2, .weights = weights};
    struct lade_split *split;
    struct together t = {.config = {.batch = 7, .threads = 3, .epochs = 1}};

    if (!child_may_have_threads())
        return;
    cr_assert_eq(lade_split_create(&split, &exact, NULL), LADE_OK);
    struct lade_source *source = numbers_with(500, read_one, NULL);
    t.config.source = source;
    t.config.split = split;
    for (int round = 0; round < 10; round++) {
        struct lade_loader_config for_ever = t.config;
        for_ever.epochs = 0;
        atomic_store(&begun, 0);
        t.of_parent = open_loader(&for_ever);
        await_workers(t.of_parent, 3);
        await_library_thread();
        cr_assert(child_runs(make_another, &t), "round %d", round);
        (void)next_of(t.of_parent);
        lade_loader_destroy(t.of_parent);
    }
    lade_split_destroy(split);
    lade_source_close(source);
}

/* ---- forks at any time ---- */

static atomic_bool ends;

static void *come_and_go(void *config)
{
    while (!atomic_load(&ends)) {
        struct lade_loader *l = open_loader(config);
        struct lade_batch batch = next_of(l);
        lade_loader_release(l, &batch);
        lade_loader_destroy(l);
    }
    return NULL;
}

/* The object that the other thread was creating is leaked in the child, which has no pointer to it. */
Test(loader_fork, forks_while_loaders_come_and_go, .timeout = 60)
{
    static const uint32_t weights[2] = {8, 2};
    const struct lade_split_config exact = {.parts = 2, .weights = weights};
    struct lade_loader_config config = {.batch = 7, .threads = 2, .epochs = 1};
    struct lade_split *split;
    pthread_t thread;

    if (!child_may_have_threads() || !child_may_come_any_time())
        return;
    cr_assert_eq(lade_split_create(&split, &exact, NULL), LADE_OK);
    struct lade_source *source = numbers(500);
    config.source = source;
    config.split = split;
    cr_assert_eq(pthread_create(&thread, NULL, come_and_go, &config), 0);
    for (int round = 0; round < 30; round++) {
        pid_t child = fork();
        if (child == 0) {
            (void)alarm(FORKED_SECONDS);
            read_all(&config);
            _exit(forked_line ? 1 : 0);
        }
        cr_assert(child_is_well(child), "round %d", round);
    }
    atomic_store(&ends, true);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    lade_split_destroy(split);
    lade_source_close(source);
}

static pthread_t consumer;
static bool well;

/* The worker blocks in the first batch; the consumer forks in the second one, which it makes itself. */
static int fork_in_next(void *context, uint64_t i)
{
    pid_t *child = context;

    if (!pthread_equal(pthread_self(), consumer))
        return read_one(NULL, i);
    if (*child < 0) {
        *child = fork();
        if (*child == 0)
            (void)alarm(FORKED_SECONDS);
        else
            well = child_is_well(*child);
        atomic_store(&held, false);
    }
    return LADE_OK;
}

Test(loader_fork, a_child_that_begins_inside_next_gets_an_error_too, .timeout = 60)
{
    pid_t child = -1;
    struct lade_source *source = numbers_with(100, fork_in_next, &child);
    const struct lade_loader_config config = {
        .source = source, .batch = 5, .threads = 2, .in_order = true, .consumer_assists = true};
    struct lade_error error = {.text = ""};
    struct lade_batch batch;

    consumer = pthread_self();
    atomic_store(&held, true);
    struct lade_loader *l = open_loader(&config);
    while (!atomic_load(&begun))
        usleep(100);
    int status = lade_loader_next(l, &batch, LADE_FOREVER, &error);
    if (child == 0) {
        child_check(status == LADE_INVALID && strstr(error.text, "fork()"));
        lade_loader_destroy(l);
        child_end();
    }
    cr_assert(status == LADE_OK && child > 0 && well);
    lade_loader_destroy(l);
    lade_source_close(source);
}
