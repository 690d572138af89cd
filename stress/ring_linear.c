/* SPDX-License-Identifier: MIT */
/*
 * Recorded histories of the rings are linearizable: many short random ones, and scripted ones in which a thread is
 * stopped at each step. Under the same scripts two broken rings must be detected.
 */
/* Rings here are small: the copy of the other side's index is kept from the second word on, so that it is used too. */
#define WORTH_KEEPING 2

#include "history.h"
#include "rings.h"

#include <pthread.h>

enum { THREADS = 4, ALL_OPS = (THREADS + 1) * HISTORY_LOG_MAX, CAPACITY_MOST = 4, BATCH_MOST = 3 };

struct player {
    struct history_log log;
    struct step_plan plan;
    uint64_t random;
    uint64_t next_word;
    pthread_t thread;
};

/* One history, set up by the main thread between the barriers. */
static struct {
    struct lade_mpmc *mpmc;
    struct lade_spsc *spsc;
    unsigned threads, items;
    bool over;
    pthread_barrier_t gate;
    _Atomic uint64_t clock;
} game;

static struct player player[THREADS];

static void add_batch(struct history_log *log, uint64_t returned, int kind, size_t done, size_t count,
                      const uint64_t *word, bool stops)
{
    for (size_t i = 0; i < done; i++)
        history_add(log, returned, kind, LADE_OK, word[i]);
    if (done < count && stops)
        history_add(log, returned, kind, kind == HISTORY_PUSH ? LADE_FULL : LADE_EMPTY,
                    kind == HISTORY_PUSH ? word[done] : 0);
}

static void mpmc_item(struct player *p, struct lade_mpmc_handle *handle, int kind, size_t count, bool batch)
{
    uint64_t word[BATCH_MOST] = {0};
    size_t done = 0;

    for (size_t i = 0; i < count && kind == HISTORY_PUSH; i++)
        word[i] = p->next_word++;
    history_invoke(&p->log);
    if (kind == HISTORY_PUSH)
        done = batch ? lade_mpmc_push_many(handle, word, count) : lade_mpmc_push(handle, word[0]) == LADE_OK;
    else
        done = batch ? lade_mpmc_pop_many(handle, word, count) : lade_mpmc_pop(handle, word) == LADE_OK;
    add_batch(&p->log, history_return(&p->log), kind, done, count, word, true);
}

/* A short batch of the spsc ring means "no more at the time of the check", not a FULL or EMPTY after its words. */
static void spsc_item(struct player *p, int kind, size_t count, bool batch)
{
    uint64_t word[BATCH_MOST] = {0};
    size_t done = 0;

    for (size_t i = 0; i < count && kind == HISTORY_PUSH; i++)
        word[i] = p->next_word++;
    history_invoke(&p->log);
    if (kind == HISTORY_PUSH)
        done = batch ? lade_spsc_push_many(game.spsc, word, count) : lade_spsc_push(game.spsc, word[0]) == LADE_OK;
    else
        done = batch ? lade_spsc_pop_many(game.spsc, word, count) : lade_spsc_pop(game.spsc, word) == LADE_OK;
    add_batch(&p->log, history_return(&p->log), kind, done, count, word, !batch || done == 0);
}

static void play(struct player *p)
{
    struct lade_mpmc_handle *handle = NULL;
    unsigned pushes = 1 + check_below(&p->random, 3); /* of 4 */

    if (game.mpmc && lade_mpmc_join(game.mpmc, &handle) != LADE_OK)
        exit(2);
    for (unsigned i = 0; i < game.items; i++) {
        bool batch = check_below(&p->random, 3) == 0;
        size_t count = batch ? 1 + check_below(&p->random, BATCH_MOST) : 1;
        step_pause(&p->random);
        if (game.mpmc)
            mpmc_item(p, handle, check_below(&p->random, 4) < pushes ? HISTORY_PUSH : HISTORY_POP, count, batch);
        else
            spsc_item(p, p->log.thread == 0 ? HISTORY_PUSH : HISTORY_POP, count, batch);
    }
    lade_mpmc_leave(handle);
}

static void *player_body(void *arg)
{
    struct player *p = arg;

    step_plan = &p->plan;
    for (;;) {
        (void)pthread_barrier_wait(&game.gate);
        if (game.over)
            return NULL;
        if (p->log.thread < game.threads)
            play(p);
        (void)pthread_barrier_wait(&game.gate);
    }
}

/* Coverage of the histories: a run in which nothing overlapped or was ever full would show little. */
struct tally {
    unsigned histories, bad, overlapping, with_full, with_empty, altered, altered_accepted;
    size_t operations, visited;
};

/* Replaces a popped word by one that was never pushed, or by the word of another pop: never linearizable. */
static void alter(uint64_t capacity, struct history_op *op, size_t count, struct tally *t)
{
    struct history_op *first = NULL;

    for (size_t i = 0; i < count; i++) {
        if (op[i].kind != HISTORY_POP || op[i].status != LADE_OK)
            continue;
        if (!first) {
            first = &op[i];
            continue;
        }
        uint64_t kept = op[i].word;
        op[i].word = t->altered % 2 ? first->word : UINT64_MAX;
        t->altered++;
        t->altered_accepted += history_check(&history_queue, capacity, op, count, NULL, NULL) != HISTORY_NOT;
        op[i].word = kept;
        return;
    }
}

static void judge(uint64_t capacity, struct history_op *op, size_t count, struct tally *t)
{
    size_t order[ALL_OPS], visited = 0;
    enum history_verdict verdict = history_check(&history_queue, capacity, op, count, order, &visited);
    bool full = false, empty = false;

    if (verdict != HISTORY_LINEARIZABLE || !history_replay(&history_queue, capacity, op, count, order)) {
        if (t->bad++ == 0) {
            printf("history %u, capacity %u, is not explained (verdict %d):\n", t->histories, (unsigned)capacity,
                   (int)verdict);
            history_print(stdout, &history_queue, op, count);
        }
    }
    for (size_t i = 0; i + 1 < count; i++) { /* without the closing EMPTY of the drain */
        full = full || op[i].status == LADE_FULL;
        empty = empty || op[i].status == LADE_EMPTY;
    }
    t->histories++;
    t->operations += count;
    t->visited += visited;
    t->overlapping += history_overlaps(op, count);
    t->with_full += full;
    t->with_empty += empty;
    if (t->histories % 8 == 0)
        alter(capacity, op, count, t);
}

/* Empties the ring at the end, so that lost words count too. */
static void drain(struct history_log *log, struct lade_mpmc_handle *handle)
{
    int status = LADE_OK;

    while (status == LADE_OK) {
        uint64_t word = 0;
        history_invoke(log);
        status = handle ? lade_mpmc_pop(handle, &word) : lade_spsc_pop(game.spsc, &word);
        history_add(log, history_return(log), HISTORY_POP, status, word);
    }
}

static size_t gather(struct history_op *op, const struct history_log *log, size_t count)
{
    for (size_t i = 0; i < log->count; i++)
        op[count++] = log->op[i];
    return count;
}

/* A ring serves a few histories, so that it wraps many times and has stale cursors. */
static void random_histories(bool mpmc, unsigned rings, unsigned games, uint64_t *random, struct tally *t)
{
    static struct history_op op[ALL_OPS];
    static struct history_log last = {.thread = THREADS, .clock = &game.clock};

    for (unsigned ring = 0; ring < rings; ring++) {
        uint64_t capacity = 1 + check_below(random, CAPACITY_MOST);
        game.mpmc = NULL;
        game.spsc = NULL;
        if ((mpmc ? lade_mpmc_create(&game.mpmc,
                                     &(struct lade_ring_config){.capacity = capacity, .handles = THREADS + 1})
                  : lade_spsc_create(&game.spsc, &(struct lade_ring_config){.capacity = capacity})) != LADE_OK)
            exit(2);
        for (unsigned i = 0; i < games; i++) {
            struct lade_mpmc_handle *handle = NULL;
            size_t count = 0;
            game.threads = mpmc ? 2 + check_below(random, THREADS - 1) : 2;
            game.items = 2 + check_below(random, mpmc ? 5 : 9);
            atomic_store_explicit(&game.clock, 0, memory_order_relaxed);
            for (unsigned j = 0; j < THREADS; j++)
                player[j].log.count = 0;
            last.count = 0;
            (void)pthread_barrier_wait(&game.gate);
            (void)pthread_barrier_wait(&game.gate);
            if (mpmc && lade_mpmc_join(game.mpmc, &handle) != LADE_OK)
                exit(2);
            drain(&last, handle);
            lade_mpmc_leave(handle);
            for (unsigned j = 0; j < game.threads; j++)
                count = gather(op, &player[j].log, count);
            count = gather(op, &last, count);
            judge(capacity, op, count, t);
        }
        lade_mpmc_destroy(game.mpmc);
        lade_spsc_destroy(game.spsc);
    }
}

static void report(const char *name, const struct tally *t)
{
    check(t->bad == 0 && t->histories > 0, name,
          "%u histories, %zu operations, %u not linearizable; %zu states searched", t->histories, t->operations, t->bad,
          t->visited);
    check(t->overlapping > 0 && t->with_full > 0 && t->with_empty > 0, name,
          "cover: operations overlap in %u, FULL in %u, EMPTY in %u", t->overlapping, t->with_full, t->with_empty);
    check(t->altered > 0 && t->altered_accepted == 0, name, "negative: one popped word altered in %u, %u accepted",
          t->altered, t->altered_accepted);
}

static void all_random(void)
{
    uint64_t random = check_seed();
    struct tally mpmc = {0}, spsc = {0};
    unsigned rings = check_full() ? 20000 : 1500;

    (void)pthread_barrier_init(&game.gate, NULL, THREADS + 1);
    for (unsigned i = 0; i < THREADS; i++) {
        player[i].log.thread = i;
        player[i].log.clock = &game.clock;
        player[i].random = check_next(&random);
        player[i].plan.pauses = check_next(&random) | 1;
        player[i].next_word = (uint64_t)(i + 1) << 32;
        if (pthread_create(&player[i].thread, NULL, player_body, &player[i]) != 0)
            exit(2);
    }
    random_histories(true, rings, 16, &random, &mpmc);
    random_histories(false, rings, 8, &random, &spsc);
    game.over = true;
    (void)pthread_barrier_wait(&game.gate);
    for (unsigned i = 0; i < THREADS; i++)
        (void)pthread_join(player[i].thread, NULL);
    (void)pthread_barrier_destroy(&game.gate);
    report("lade_mpmc", &mpmc);
    report("lade_spsc", &spsc);
}

/* A scripted history: one thread stops at a step of its push or pop, another continues, then the first is released. */
struct script {
    const struct ring_kind *kind;
    int op;
    void *ring;
    struct step_plan plan;
    struct history_log log, other;
    _Atomic uint64_t clock;
};

static void do_push(const struct script *s, struct history_log *log, void *handle, uint64_t word)
{
    history_invoke(log);
    int status = s->kind->push(handle, word);
    history_add(log, history_return(log), HISTORY_PUSH, status, word);
}

static int do_pop(const struct script *s, struct history_log *log, void *handle)
{
    uint64_t word = 0;

    history_invoke(log);
    int status = s->kind->pop(handle, &word);
    history_add(log, history_return(log), HISTORY_POP, status, word);
    return status;
}

static void *script_body(void *arg)
{
    struct script *s = arg;
    void *handle = s->kind->join(s->ring);

    step_plan = &s->plan;
    if (s->op == HISTORY_PUSH)
        do_push(s, &s->log, handle, 1);
    else
        (void)do_pop(s, &s->log, handle);
    step_plan = NULL;
    s->kind->leave(handle);
    if (!s->plan.stopped)
        (void)sem_post(&s->plan.reached);
    return NULL;
}

/* Returns the verdict; *stopped is set if the operation has that many steps. */
static enum history_verdict run_script(const struct ring_kind *kind, int op, unsigned stop_at, bool *stopped)
{
    enum { CAPACITY = 2 };
    static struct script s;
    static struct history_op ops[2 * HISTORY_LOG_MAX];
    pthread_t thread;

    s.kind = kind;
    s.op = op;
    s.ring = kind->create(CAPACITY, 2);
    s.plan = (struct step_plan){.stop_at = stop_at};
    s.log = (struct history_log){.clock = &s.clock, .thread = 0};
    s.other = (struct history_log){.clock = &s.clock, .thread = 1};
    (void)sem_init(&s.plan.reached, 0, 0);
    (void)sem_init(&s.plan.resume, 0, 0);
    void *handle = kind->join(s.ring);
    if (op == HISTORY_POP)
        for (uint64_t word = 2; word < 2 + CAPACITY; word++)
            do_push(&s, &s.other, handle, word);
    if (pthread_create(&thread, NULL, script_body, &s) != 0)
        exit(2);
    step_wait(&s.plan.reached);
    *stopped = s.plan.stopped;
    for (uint64_t word = 8; word < 9 + CAPACITY && op == HISTORY_PUSH; word++)
        do_push(&s, &s.other, handle, word);
    while (do_pop(&s, &s.other, handle) == LADE_OK)
        continue;
    for (uint64_t word = 16; word < 17 + CAPACITY; word++)
        do_push(&s, &s.other, handle, word);
    (void)sem_post(&s.plan.resume);
    (void)pthread_join(thread, NULL);
    while (do_pop(&s, &s.other, handle) == LADE_OK)
        continue;
    kind->leave(handle);
    kind->destroy(s.ring);
    (void)sem_destroy(&s.plan.reached);
    (void)sem_destroy(&s.plan.resume);
    size_t count = gather(ops, &s.other, gather(ops, &s.log, 0));
    return history_check(&history_queue, CAPACITY, ops, count, NULL, NULL);
}

static void scripted(const struct ring_kind *kind, int op, bool correct)
{
    unsigned steps = 0, rejected = 0, other = 0, first = 0;
    bool stopped = true;

    for (unsigned at = 1; stopped; at++) {
        enum history_verdict verdict = run_script(kind, op, at, &stopped);
        if (verdict == HISTORY_NOT && rejected++ == 0)
            first = at;
        other += verdict != HISTORY_NOT && verdict != HISTORY_LINEARIZABLE;
        steps += stopped;
    }
    const char *what = op == HISTORY_PUSH ? "push" : "pop";
    if (correct)
        check(rejected == 0 && other == 0 && steps > 0, kind->name,
              "%s stopped at each of %u steps, %u histories not linearizable", what, steps, rejected);
    else
        check(rejected > 0 && other == 0, kind->name,
              "negative: %s stopped at each of %u steps, %u histories rejected, first at step %u", what, steps,
              rejected, first);
}

/*
 * A short batch of the spsc ring. The producer finds a free slot for one of its two words, and stops before it
 * publishes; the consumer takes what is there and gets EMPTY. For the words alone this is linearizable. With a FULL
 * after the word, as if the batch were single pushes, it is not: at no time did the ring hold two words.
 */
struct short_batch {
    struct lade_spsc *ring;
    struct step_plan plan;
    struct history_log log, other;
    _Atomic uint64_t clock;
};

static void *short_batch_body(void *arg)
{
    static const uint64_t word[] = {2, 3};
    struct short_batch *s = arg;

    step_plan = &s->plan;
    history_invoke(&s->log);
    size_t done = lade_spsc_push_many(s->ring, word, 2);
    add_batch(&s->log, history_return(&s->log), HISTORY_PUSH, done, 2, word, true);
    step_plan = NULL;
    return NULL;
}

static void short_batch(void)
{
    static struct short_batch s = {.plan = {.stop_at = 1}};
    struct history_op op[2 * HISTORY_LOG_MAX];
    pthread_t thread;
    int status = LADE_OK;

    s.log.clock = s.other.clock = &s.clock;
    s.other.thread = 1;
    (void)sem_init(&s.plan.reached, 0, 0);
    (void)sem_init(&s.plan.resume, 0, 0);
    if (lade_spsc_create(&s.ring, &(struct lade_ring_config){.capacity = 2}) != LADE_OK)
        exit(2);
    history_invoke(&s.log);
    if (lade_spsc_push(s.ring, 1) != LADE_OK)
        exit(2);
    history_add(&s.log, history_return(&s.log), HISTORY_PUSH, LADE_OK, 1);
    if (pthread_create(&thread, NULL, short_batch_body, &s) != 0)
        exit(2);
    step_wait(&s.plan.reached);
    while (status == LADE_OK) {
        uint64_t word = 0;
        history_invoke(&s.other);
        status = lade_spsc_pop(s.ring, &word);
        history_add(&s.other, history_return(&s.other), HISTORY_POP, status, word);
    }
    (void)sem_post(&s.plan.resume);
    (void)pthread_join(thread, NULL);
    (void)sem_destroy(&s.plan.reached);
    (void)sem_destroy(&s.plan.resume);
    lade_spsc_destroy(s.ring);
    bool is_short = s.log.op[s.log.count - 1].status == LADE_FULL;
    enum history_verdict strict =
        history_check(&history_queue, 2, op, gather(op, &s.other, gather(op, &s.log, 0)), NULL, NULL);
    s.log.count -= is_short;
    enum history_verdict words =
        history_check(&history_queue, 2, op, gather(op, &s.other, gather(op, &s.log, 0)), NULL, NULL);
    check(words == HISTORY_LINEARIZABLE, "lade_spsc",
          "short batch: its words are linearizable; with a FULL behind them %s",
          strict == HISTORY_LINEARIZABLE ? "too" : "they are not");
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    short_batch();
    scripted(&lade_kind, HISTORY_PUSH, true);
    scripted(&lade_kind, HISTORY_POP, true);
    scripted(&vyukov_kind, HISTORY_PUSH, false);
    scripted(&vyukov_kind, HISTORY_POP, false);
    scripted(&unchecked_kind, HISTORY_PUSH, false);
    all_random();
    return check_end();
}
