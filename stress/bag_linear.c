/* SPDX-License-Identifier: MIT */
/*
 * Recorded histories of bags are linearizable against a multiset with a capacity: many short random ones, scripted ones
 * in which a thread is stopped at each step, and ones in which the only element moves away from a thread that searches
 * for it (or the only free slot from one that searches for that). A bag that merely scans its slots must be detected.
 */
#include "history.h"

#include "bags.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLAYERS = 3, ALL_OPS = (PLAYERS + 1) * HISTORY_LOG_MAX, CAPACITY_MOST = 5, BATCH = 3 };

/* The word that an evicting put of this thread dropped. */
static _Thread_local uint64_t dropped;

static void note_drop(void *context, uint64_t word)
{
    (void)context;
    dropped = word;
}

static struct lade_bag *make_bag(enum lade_bag_kind kind, enum lade_bag_full full, uint64_t capacity, uint64_t seed)
{
    struct lade_bag_config config = {
        .capacity = capacity,
        .handles = PLAYERS + 2,
        .kind = kind,
        .record_size = kind == LADE_BAG_RECORDS ? sizeof(uint64_t) : 0,
        .full = full,
        .seed = seed,
        .drop = kind == LADE_BAG_WORDS ? note_drop : NULL,
    };
    struct lade_bag *bag = NULL;

    if (lade_bag_create(&bag, &config) != LADE_OK)
        exit(2);
    return bag;
}

static struct lade_bag_handle *bag_enter(struct lade_bag *bag)
{
    struct lade_bag_handle *handle = NULL;

    if (lade_bag_join(bag, &handle) != LADE_OK)
        exit(2);
    return handle;
}

/*
 * A put that evicted found the bag full at one instant and replaced an element at a later one, when there may be a free
 * slot.
 */
static int do_put(struct history_log *log, struct lade_bag_handle *handle, uint64_t word)
{
    dropped = 0;
    history_invoke(log);
    int status = lade_bag_put(handle, &word);
    uint64_t returned = history_return(log);
    history_add(log, returned, HISTORY_PUT, dropped ? LADE_FULL : status, word);
    if (dropped)
        history_add(log, returned, HISTORY_EXCHANGE, status, HISTORY_PAIR(word, dropped));
    return status;
}

static int do_draw(struct history_log *log, struct lade_bag_handle *handle)
{
    uint64_t word = 0;

    history_invoke(log);
    int status = lade_bag_draw(handle, &word);
    history_add(log, history_return(log), HISTORY_DRAW, status, word);
    return status;
}

static int do_exchange(struct history_log *log, struct lade_bag_handle *handle, uint64_t word)
{
    uint64_t out = 0;

    history_invoke(log);
    int status = lade_bag_exchange(handle, &word, &out);
    history_add(log, history_return(log), HISTORY_EXCHANGE, status, HISTORY_PAIR(word, out));
    return status;
}

/*
 * A batch is recorded as its single operations, with common stamps; a short batch ends with the result that ended it.
 * The elements of a put arrive in any order, as if each had a separate thread.
 */
static void do_batch(struct history_log *log, struct lade_bag_handle *handle, int kind, uint64_t first)
{
    uint64_t word[BATCH] = {0}, out[BATCH] = {0};
    size_t done = 0;

    for (unsigned i = 0; i < BATCH && kind != HISTORY_DRAW; i++)
        word[i] = first + i;
    history_invoke(log);
    done = kind == HISTORY_PUT    ? lade_bag_put_many(handle, word, BATCH)
           : kind == HISTORY_DRAW ? lade_bag_draw_many(handle, word, BATCH)
                                  : lade_bag_exchange_many(handle, word, out, BATCH);
    uint64_t returned = history_return(log);
    unsigned thread = log->thread;
    for (size_t i = 0; i < BATCH && i <= done; i++) {
        int status = i < done ? LADE_OK : kind == HISTORY_PUT ? LADE_FULL : LADE_EMPTY;
        log->thread = kind == HISTORY_PUT && i < done ? thread + (unsigned)(i + 1) * (PLAYERS + 1) : thread;
        history_add(log, returned, kind, status, kind == HISTORY_EXCHANGE ? HISTORY_PAIR(word[i], out[i]) : word[i]);
    }
    log->thread = thread;
}

struct player {
    struct history_log log;
    struct step_plan plan;
    uint64_t random;
    pthread_t thread;
};

/* One history, set up by the main thread between the barriers. */
static struct {
    struct lade_bag *bag;
    enum lade_bag_full full;
    unsigned threads, items;
    bool over;
    pthread_barrier_t gate;
    _Atomic uint64_t clock;
} game;

static struct player player[PLAYERS];

static void play(struct player *p)
{
    struct lade_bag_handle *handle = bag_enter(game.bag);
    unsigned puts = 1 + check_below(&p->random, 3); /* of 4, where it is not an exchange */
    uint64_t word = (uint64_t)(p->log.thread + 1) << 16;

    for (unsigned i = 0; i < game.items; i++, word += BATCH) {
        bool batch = check_below(&p->random, 8) == 0 && game.full == LADE_BAG_REJECT;
        int kind = check_below(&p->random, 4) == 0     ? HISTORY_EXCHANGE
                   : check_below(&p->random, 4) < puts ? HISTORY_PUT
                                                       : HISTORY_DRAW;
        step_pause(&p->random);
        if (batch)
            do_batch(&p->log, handle, kind, word);
        else if (kind == HISTORY_PUT)
            (void)do_put(&p->log, handle, word);
        else if (kind == HISTORY_DRAW)
            (void)do_draw(&p->log, handle);
        else
            (void)do_exchange(&p->log, handle, word);
    }
    lade_bag_leave(handle);
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

struct tally {
    unsigned histories, bad, overlapping, with_full, with_empty, with_trade, altered, altered_accepted;
    size_t operations, visited;
};

/* Replaces a drawn word by one that was never put, or by the word of another draw: never linearizable. */
static void alter(uint64_t capacity, struct history_op *op, size_t count, struct tally *t)
{
    struct history_op *first = NULL;

    for (size_t i = 0; i < count; i++) {
        if (op[i].kind != HISTORY_DRAW || op[i].status != LADE_OK)
            continue;
        if (!first) {
            first = &op[i];
            continue;
        }
        uint64_t kept = op[i].word;
        op[i].word = t->altered % 2 ? first->word : UINT32_MAX;
        t->altered++;
        t->altered_accepted += history_check(&history_bag, capacity, op, count, NULL, NULL) != HISTORY_NOT;
        op[i].word = kept;
        return;
    }
}

static void judge(uint64_t capacity, struct history_op *op, size_t count, struct tally *t)
{
    size_t order[ALL_OPS], visited = 0;
    enum history_verdict verdict = history_check(&history_bag, capacity, op, count, order, &visited);
    bool full = false, empty = false, trade = false;

    if (verdict != HISTORY_LINEARIZABLE || !history_replay(&history_bag, capacity, op, count, order)) {
        if (t->bad++ == 0) {
            printf("history %u, capacity %u, is not explained (verdict %d):\n", t->histories, (unsigned)capacity,
                   (int)verdict);
            history_print(stdout, &history_bag, op, count);
        }
    }
    for (size_t i = 0; i + 1 < count; i++) { /* without the closing EMPTY of the drain */
        full = full || op[i].status == LADE_FULL;
        empty = empty || op[i].status == LADE_EMPTY;
        trade = trade || (op[i].kind == HISTORY_EXCHANGE && op[i].status == LADE_OK);
    }
    t->histories++;
    t->operations += count;
    t->visited += visited;
    t->overlapping += history_overlaps(op, count);
    t->with_full += full;
    t->with_empty += empty;
    t->with_trade += trade;
    if (t->histories % 8 == 0)
        alter(capacity, op, count, t);
}

static size_t gather(struct history_op *op, const struct history_log *log, size_t count)
{
    for (size_t i = 0; i < log->count; i++)
        op[count++] = log->op[i];
    return count;
}

/* Empties the bag at the end, so that lost words count too. */
static void drain(struct history_log *log, struct lade_bag *bag)
{
    struct lade_bag_handle *handle = bag_enter(bag);

    while (do_draw(log, handle) == LADE_OK)
        continue;
    lade_bag_leave(handle);
}

/* A bag serves a few histories, so that its groups are left in all states. */
static void random_histories(enum lade_bag_kind kind, enum lade_bag_full full, unsigned bags, uint64_t *random,
                             struct tally *t)
{
    static struct history_op op[ALL_OPS];
    static struct history_log last = {.thread = PLAYERS, .clock = &game.clock};

    game.full = full;
    for (unsigned bag = 0; bag < bags; bag++) {
        uint64_t capacity = 1 + check_below(random, CAPACITY_MOST);
        game.bag = make_bag(kind, full, capacity, check_next(random));
        for (unsigned i = 0; i < 16; i++) {
            size_t count = 0;
            game.threads = 2 + check_below(random, PLAYERS - 1);
            game.items = 2 + check_below(random, 5);
            atomic_store_explicit(&game.clock, 0, memory_order_relaxed);
            for (unsigned j = 0; j < PLAYERS; j++)
                player[j].log.count = 0;
            last.count = 0;
            (void)pthread_barrier_wait(&game.gate);
            (void)pthread_barrier_wait(&game.gate);
            drain(&last, game.bag);
            for (unsigned j = 0; j < game.threads; j++)
                count = gather(op, &player[j].log, count);
            count = gather(op, &last, count);
            judge(capacity, op, count, t);
        }
        lade_bag_destroy(game.bag);
    }
}

static void report(const char *name, const struct tally *t)
{
    check(t->bad == 0 && t->histories > 0, name,
          "%u histories, %zu operations, %u not linearizable; %zu states searched", t->histories, t->operations, t->bad,
          t->visited);
    check(t->overlapping > 0 && t->with_full > 0 && t->with_empty > 0 && t->with_trade > 0, name,
          "cover: operations overlap in %u, FULL in %u, EMPTY in %u, exchange in %u", t->overlapping, t->with_full,
          t->with_empty, t->with_trade);
    check(t->altered > 0 && t->altered_accepted == 0, name, "negative: one drawn word altered in %u, %u accepted",
          t->altered, t->altered_accepted);
}

static void all_random(void)
{
    uint64_t random = check_seed();
    struct tally words = {0}, records = {0}, evicting = {0};
    unsigned bags = (check_full() ? 10000u : 500u) / SLOW;

    (void)pthread_barrier_init(&game.gate, NULL, PLAYERS + 1);
    for (unsigned i = 0; i < PLAYERS; i++) {
        player[i].log.thread = i;
        player[i].log.clock = &game.clock;
        player[i].random = check_next(&random);
        player[i].plan.pauses = check_next(&random) | 1;
        if (pthread_create(&player[i].thread, NULL, player_body, &player[i]) != 0)
            exit(2);
    }
    random_histories(LADE_BAG_WORDS, LADE_BAG_REJECT, bags, &random, &words);
    random_histories(LADE_BAG_RECORDS, LADE_BAG_REJECT, bags, &random, &records);
    random_histories(LADE_BAG_WORDS, LADE_BAG_EVICT_UNIFORM, bags, &random, &evicting);
    game.over = true;
    (void)pthread_barrier_wait(&game.gate);
    for (unsigned i = 0; i < PLAYERS; i++)
        (void)pthread_join(player[i].thread, NULL);
    (void)pthread_barrier_destroy(&game.gate);
    report("lade_bag of words", &words);
    report("lade_bag of records", &records);
    report("lade_bag that evicts", &evicting);
}

/* A thread stops at a step of its operation, another continues, then the first is released. */
struct script {
    int op;
    struct lade_bag *bag;
    struct step_plan plan;
    struct history_log log, other;
    _Atomic uint64_t clock;
};

static void *script_body(void *arg)
{
    struct script *s = arg;
    struct lade_bag_handle *handle = bag_enter(s->bag);

    step_plan = &s->plan;
    if (s->op == HISTORY_PUT)
        (void)do_put(&s->log, handle, 1);
    else if (s->op == HISTORY_DRAW)
        (void)do_draw(&s->log, handle);
    else
        (void)do_exchange(&s->log, handle, 1);
    step_plan = NULL;
    lade_bag_leave(handle);
    if (!s->plan.stopped)
        (void)sem_post(&s->plan.reached);
    return NULL;
}

/* Other threads in the meantime: fill and drain, or a few random operations. */
static void meanwhile(struct script *s, struct lade_bag_handle *handle, uint64_t capacity, uint64_t *random)
{
    uint64_t word = 100;

    if (!random) {
        for (uint64_t i = 0; i <= capacity; i++)
            (void)do_put(&s->other, handle, word++);
        while (do_draw(&s->other, handle) == LADE_OK)
            continue;
        (void)do_exchange(&s->other, handle, word++);
        for (uint64_t i = 0; i <= capacity; i++)
            (void)do_put(&s->other, handle, word++);
        return;
    }
    for (unsigned i = 0; i < 6; i++) {
        unsigned r = check_below(random, 5);
        if (r < 2)
            (void)do_put(&s->other, handle, word++);
        else if (r < 4)
            (void)do_draw(&s->other, handle);
        else
            (void)do_exchange(&s->other, handle, word++);
    }
}

static enum history_verdict run_script(enum lade_bag_full full, int op, uint64_t capacity, uint64_t inside, bool grown,
                                       unsigned stop_at, uint64_t *random, bool *stopped)
{
    static struct script s;
    static struct history_op ops[2 * HISTORY_LOG_MAX];
    pthread_t thread;

    s.op = op;
    s.bag = make_bag(LADE_BAG_WORDS, full, capacity, random ? *random : 1);
    s.plan = (struct step_plan){.stop_at = stop_at};
    s.log = (struct history_log){.clock = &s.clock, .thread = 0};
    s.other = (struct history_log){.clock = &s.clock, .thread = 1};
    (void)sem_init(&s.plan.reached, 0, 0);
    (void)sem_init(&s.plan.resume, 0, 0);
    struct lade_bag_handle *handle = bag_enter(s.bag);
    /* In every other round the bag was full before, and its groups are not marked empty. */
    for (uint64_t i = 0; i < (grown ? capacity : inside); i++)
        (void)do_put(&s.other, handle, 10 + i);
    for (uint64_t i = inside; grown && i < capacity; i++)
        (void)do_draw(&s.other, handle);
    if (pthread_create(&thread, NULL, script_body, &s) != 0)
        exit(2);
    step_wait(&s.plan.reached);
    *stopped = s.plan.stopped;
    meanwhile(&s, handle, capacity, random);
    (void)sem_post(&s.plan.resume);
    (void)pthread_join(thread, NULL);
    while (do_draw(&s.other, handle) == LADE_OK)
        continue;
    lade_bag_leave(handle);
    lade_bag_destroy(s.bag);
    (void)sem_destroy(&s.plan.reached);
    (void)sem_destroy(&s.plan.resume);
    size_t count = gather(ops, &s.other, gather(ops, &s.log, 0));
    enum history_verdict verdict = history_check(&history_bag, capacity, ops, count, NULL, NULL);
    if (verdict != HISTORY_LINEARIZABLE && !bag_scans_plainly) {
        printf("capacity %u, %u inside, stopped at step %u:\n", (unsigned)capacity, (unsigned)inside, stop_at);
        history_print(stdout, &history_bag, ops, count);
    }
    return verdict;
}

static void scripted(enum lade_bag_full full, int op)
{
    static const char *const name[] = {"put", "draw", "exchange"};
    uint64_t random = check_seed();
    unsigned steps = 0, histories = 0, rejected = 0, other = 0, rounds = check_full() ? 40 : SLOW > 1 ? 3 : 7;

    for (uint64_t capacity = 1; capacity <= 5; capacity += capacity) { /* 1, 2, 4: one group, one, two */
        for (uint64_t inside = 0; inside <= capacity; inside++) {
            for (unsigned round = 0; round <= rounds; round++) {
                bool stopped = true;
                for (unsigned at = 1; stopped; at++, histories++) {
                    enum history_verdict verdict =
                        run_script(full, op, capacity, inside, round % 2, at, round > 1 ? &random : NULL, &stopped);
                    (void)check_next(&random);
                    rejected += verdict == HISTORY_NOT;
                    other += verdict != HISTORY_NOT && verdict != HISTORY_LINEARIZABLE;
                    steps = stopped && at > steps ? at : steps;
                }
            }
        }
    }
    check(rejected == 0 && other == 0 && steps > 0, full == LADE_BAG_REJECT ? "lade_bag" : "lade_bag that evicts",
          "%s stopped at each of up to %u steps: %u histories, %u not linearizable", name[op], steps, histories,
          rejected);
}

/*
 * A bag of two slots holds one element at any time. Whenever the victim is about to take a step, the element may move to
 * the other slot: put there and drawn here, so that the bag is never empty; or for a put drawn here and put there, so that
 * it is never full. Every pattern of moves over the first steps is tried. EMPTY, or FULL, would be false.
 */
struct mover {
    struct lade_bag_handle *handle;
    struct history_log log;
    unsigned pattern, at;
    bool put_first;
    uint64_t slot, word;
};

static void put_there(struct mover *m)
{
    /* As if the handle had emptied that slot last: its next put goes there. */
    m->handle->remembered = 1;
    m->handle->free_hints[m->handle->last % REMEMBERED] = (uint32_t)(1 - m->slot);
    (void)do_put(&m->log, m->handle, m->word++);
}

static void draw_here(struct mover *m)
{
    bag_choice = &m->slot;
    (void)do_draw(&m->log, m->handle);
    bag_choice = NULL;
}

static void move(void *context)
{
    struct mover *m = context;
    const uint64_t *choice = bag_choice;

    if (m->pattern >> m->at++ & 1) {
        if (m->put_first)
            put_there(m);
        draw_here(m);
        if (!m->put_first)
            put_there(m);
        m->slot = 1 - m->slot;
    }
    bag_choice = choice;
}

static void moving(int op, bool plainly)
{
    enum { STEPS = SLOW > 1 ? 11 : 14 };
    static struct history_op ops[2 * HISTORY_LOG_MAX];
    static const char *const name[] = {"put", "draw", "exchange"};
    unsigned wrong = 0, other = 0, returned = 0;

    bag_scans_plainly = plainly;
    for (unsigned pattern = 0; pattern < 1u << STEPS; pattern++) {
        _Atomic uint64_t clock = 0;
        static struct mover m;
        static struct history_log log;
        struct step_plan plan = {.disturb = move, .context = &m};
        struct lade_bag *bag = make_bag(LADE_BAG_WORDS, LADE_BAG_REJECT, 2, pattern);
        struct lade_bag_handle *victim = bag_enter(bag);

        m = (struct mover){.handle = bag_enter(bag), .pattern = pattern, .put_first = op != HISTORY_PUT, .word = 10};
        m.log = (struct history_log){.clock = &clock, .thread = 1};
        log = (struct history_log){.clock = &clock};
        (void)do_put(&m.log, m.handle, m.word++);
        step_plan = &plan;
        int status = op == HISTORY_PUT    ? do_put(&log, victim, 1)
                     : op == HISTORY_DRAW ? do_draw(&log, victim)
                                          : do_exchange(&log, victim, 1);
        step_plan = NULL;
        returned += status != LADE_OK;
        drain(&m.log, bag);
        lade_bag_destroy(bag);
        /* The operation of the victim overlaps those that interrupted it. */
        size_t count = gather(ops, &m.log, gather(ops, &log, 0));
        enum history_verdict verdict = history_check(&history_bag, 2, ops, count, NULL, NULL);
        wrong += verdict == HISTORY_NOT;
        other += verdict != HISTORY_NOT && verdict != HISTORY_LINEARIZABLE;
        if (verdict != HISTORY_LINEARIZABLE && !plainly && wrong + other == 1)
            history_print(stdout, &history_bag, ops, count);
    }
    bag_scans_plainly = false;
    if (plainly)
        check(wrong > 0 && other == 0, "a bag that scans plainly",
              "negative: %s while things move, %u patterns, %u false answers, %u histories rejected", name[op],
              1u << STEPS, returned, wrong);
    else
        check(wrong == 0 && other == 0 && returned == 0, "lade_bag",
              "%s while things move, %u patterns, %u false answers, %u histories rejected", name[op], 1u << STEPS,
              returned, wrong);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    check_within(check_full() ? 1800 : 300, "bag_linear");
    for (int plainly = 0; plainly < 2; plainly++) {
        moving(HISTORY_PUT, plainly);
        moving(HISTORY_DRAW, plainly);
        moving(HISTORY_EXCHANGE, plainly);
    }
    for (int op = HISTORY_PUT; op <= HISTORY_EXCHANGE; op++)
        scripted(LADE_BAG_REJECT, op);
    scripted(LADE_BAG_EVICT_UNIFORM, HISTORY_PUT);
    all_random();
    check_within(0, NULL);
    return check_end();
}
