/* SPDX-License-Identifier: MIT */
/*
 * A thread stops at each step of each operation on a bag. The others complete, and the stopped thread holds at most one
 * slot and one element. Then it is released, all counts must add up, and the full capacity must be available again.
 * Threads that are never released and are replaced by others cost at most one slot each.
 */
#include "bags.h"

#include "bag_elements.h"

#include <pthread.h>
#include <stdio.h>

enum { HANDLES = 6, WORKERS = 2, V_BATCH = 3, DISTURBED_STEPS = 24, NUMBERS = 1 << 22 };

enum operation {
    V_PUT,
    V_DRAW,
    V_EXCHANGE,
    V_EVICT,
    V_SAMPLE,
    V_SAMPLE_OUT, /* the sample that reaches max_times_sampled */
    V_GIVE_BACK,
    V_FOR_EACH,
    V_PUT_MANY,
    V_DRAW_MANY,
    V_PUT_WAIT,
    V_DRAW_WAIT,
    V_JOIN,
    OPERATIONS
};
static const char *const operation_name[] = {
    "put",      "draw",      "exchange", "evict",     "sample", "sample that takes out", "give_back", "for_each",
    "put_many", "draw_many", "put_wait", "draw_wait", "join"};

/* What other threads put and drew. A drawn number is marked with its trial. */
struct ledger {
    uint64_t put, drawn, wrong; /* wrong: drawn twice, or never put */
};

static _Atomic uint32_t mark[NUMBERS];
static uint32_t trial_mark;

static void mark_drawn(struct ledger *l, enum lade_bag_kind kind, union element *e)
{
    uint64_t number = element_number(kind, e);

    l->drawn++;
    l->wrong += number == 0 || number >= NUMBERS ||
                atomic_exchange_explicit(&mark[number % NUMBERS], trial_mark, memory_order_relaxed) == trial_mark;
    element_drop(kind, e);
}

struct trial {
    struct lade_bag_config config;
    struct lade_bag *bag;
    struct lade_bag_handle *handle, *disturber;
    struct ledger others;
    uint64_t next;
    /* the victim */
    enum operation op;
    struct step_plan plan;
    struct ledger mine;
    struct lade_bag_handle *its_handle;
    uint64_t first; /* of its numbers */
    bool drains_first;
};

typedef const char *fault;

static int try_put(struct trial *t, struct lade_bag_handle *handle)
{
    union element e;

    element_make(t->config.kind, &e, t->next);
    int status = lade_bag_put(handle, &e);
    if (status == LADE_OK) {
        t->others.put++;
        t->next++;
    } else {
        element_drop(t->config.kind, &e);
    }
    return status;
}

static int try_draw(struct trial *t, struct lade_bag_handle *handle)
{
    union element e;
    int status = lade_bag_draw(handle, &e);

    if (status == LADE_OK)
        mark_drawn(&t->others, t->config.kind, &e);
    return status;
}

/* Between two steps of the victim another thread puts and draws. */
static void disturb(void *context)
{
    struct trial *t = context;

    if (try_put(t, t->disturber) == LADE_OK) {
        (void)try_draw(t, t->disturber);
    } else {
        (void)try_draw(t, t->disturber);
        (void)try_put(t, t->disturber);
    }
}

static bool see(void *context, const void *element)
{
    struct trial *t = context;

    t->mine.wrong += element_number(t->config.kind, element) == 0;
    return true;
}

static void victim_puts(struct trial *t, bool many, bool waits)
{
    uint64_t batch[(V_BATCH + 1) * RECORD_WORDS];
    enum lade_bag_kind kind = t->config.kind;
    size_t count = many ? V_BATCH : 1, done;

    for (size_t i = 0; i < count; i++)
        element_make(kind, (union element *)(void *)((unsigned char *)batch + i * element_size(kind)), t->first + i);
    step_plan = &t->plan;
    done = many    ? lade_bag_put_many(t->its_handle, batch, count)
           : waits ? lade_bag_put_wait(t->its_handle, batch, 0) == LADE_OK
                   : lade_bag_put(t->its_handle, batch) == LADE_OK;
    step_plan = NULL;
    t->mine.put += done;
    for (size_t i = done; i < count; i++)
        element_drop(kind, (union element *)(void *)((unsigned char *)batch + i * element_size(kind)));
}

static void victim_draws(struct trial *t, bool many, bool waits)
{
    uint64_t batch[(V_BATCH + 1) * RECORD_WORDS];
    enum lade_bag_kind kind = t->config.kind;
    size_t done;

    step_plan = &t->plan;
    done = many    ? lade_bag_draw_many(t->its_handle, batch, V_BATCH)
           : waits ? lade_bag_draw_wait(t->its_handle, batch, 0) == LADE_OK
                   : lade_bag_draw(t->its_handle, batch) == LADE_OK;
    step_plan = NULL;
    for (size_t i = 0; i < done; i++)
        mark_drawn(&t->mine, kind, (union element *)(void *)((unsigned char *)batch + i * element_size(kind)));
}

static void victim_exchanges(struct trial *t)
{
    union element e;

    element_make(t->config.kind, &e, t->first);
    step_plan = &t->plan;
    int status = lade_bag_exchange(t->its_handle, &e, &e);
    step_plan = NULL;
    if (status == LADE_OK) {
        t->mine.put++;
        mark_drawn(&t->mine, t->config.kind, &e);
    } else {
        element_drop(t->config.kind, &e);
    }
}

static void victim_samples(struct trial *t)
{
    struct lade_loan loan;
    enum lade_bag_kind kind = t->config.kind;

    step_plan = t->op == V_GIVE_BACK ? NULL : &t->plan;
    int status = lade_bag_sample(t->its_handle, &loan);
    step_plan = NULL;
    if (status != LADE_OK)
        return;
    t->mine.wrong += loan_number(kind, &loan) == 0;
    t->mine.drawn += t->op == V_SAMPLE_OUT;
    step_plan = t->op == V_GIVE_BACK ? &t->plan : NULL;
    lade_bag_give_back(t->its_handle, &loan);
    step_plan = NULL;
}

static void *victim_body(void *arg)
{
    struct trial *t = arg;

    step_plan = t->op == V_JOIN ? &t->plan : NULL;
    t->its_handle = bag_enter(t->bag);
    step_plan = NULL;
    switch (t->op) {
    case V_PUT:
    case V_PUT_MANY:
    case V_PUT_WAIT:
        victim_puts(t, t->op == V_PUT_MANY, t->op == V_PUT_WAIT);
        break;
    case V_DRAW:
    case V_DRAW_MANY:
    case V_DRAW_WAIT:
        victim_draws(t, t->op == V_DRAW_MANY, t->op == V_DRAW_WAIT);
        break;
    case V_EXCHANGE:
        victim_exchanges(t);
        break;
    case V_EVICT:
        step_plan = &t->plan;
        (void)lade_bag_evict(t->its_handle);
        break;
    case V_FOR_EACH:
        step_plan = &t->plan;
        (void)lade_bag_for_each(t->its_handle, see, t, NULL);
        break;
    case V_JOIN:
        break;
    default:
        victim_samples(t);
    }
    step_plan = NULL;
    lade_bag_leave(t->its_handle);
    if (!t->plan.stopped)
        (void)sem_post(&t->plan.reached);
    return NULL;
}

/* Draws until EMPTY; returns the count. */
static uint64_t drain(struct trial *t)
{
    uint64_t count = 0;

    while (try_draw(t, t->handle) == LADE_OK)
        count++;
    return count;
}

/* Puts until FULL, or capacity elements where put never returns FULL; returns the count. */
static uint64_t refill(struct trial *t)
{
    uint64_t count = 0, most = t->config.full == LADE_BAG_REJECT ? UINT64_MAX : t->config.capacity;

    while (count < most && try_put(t, t->handle) == LADE_OK)
        count++;
    return count;
}

/*
 * A single thread fills and drains. With `lost` slots lost it puts at least capacity - lost elements and draws them;
 * the element of the stopped thread is also drawn, once. *least is the smallest number that fitted.
 */
static fault alone(struct trial *t, uint64_t operations, uint64_t lost, uint64_t strangers, uint64_t *least)
{
    uint64_t capacity = t->config.capacity, extra = 0;
    bool rejects = t->config.full == LADE_BAG_REJECT;

    if (!t->drains_first) { /* until a thread has found the bag empty, a slot may be taken for full */
        (void)refill(t);
        *least = drain(t);
        if (*least + lost < capacity || *least > capacity)
            return "the bag does not fill up";
    }
    (void)drain(t);
    for (uint64_t done = 0; done < operations; done += 2 * capacity) {
        uint64_t before = t->others.put, filled_now = refill(t), drawn = drain(t);
        uint64_t held = rejects ? filled_now : drawn;
        *least = held < *least ? held : *least;
        if (t->others.put - before != filled_now || held + lost < capacity)
            return "capacity is lost";
        if (held > capacity)
            return "more than capacity went in";
        if (rejects && drawn < filled_now)
            return "elements are stuck";
        extra += rejects ? drawn - filled_now : 0;
        if (extra > strangers)
            return "elements from nowhere";
    }
    return NULL;
}

struct worker {
    struct trial *trial;
    struct ledger ledger;
    uint64_t next, operations, failed;
    uint64_t random;
};

/* Put, sample, draw: with a slot for each thread no operation may fail. */
static void *worker_body(void *arg)
{
    struct worker *w = arg;
    struct trial *t = w->trial;
    enum lade_bag_kind kind = t->config.kind;
    struct lade_bag_handle *handle = bag_enter(t->bag);

    for (uint64_t i = 0; i < w->operations; i += 2) {
        union element e;
        struct lade_loan loan;
        element_make(kind, &e, w->next);
        if (lade_bag_put(handle, &e) == LADE_OK) {
            w->ledger.put++;
            w->next++;
        } else {
            element_drop(kind, &e);
            w->failed++;
        }
        if (i % 8 == 0 && t->op != V_SAMPLE_OUT && lade_bag_sample(handle, &loan) == LADE_OK) {
            w->ledger.wrong += loan_number(kind, &loan) == 0;
            lade_bag_give_back(handle, &loan);
        }
        if (lade_bag_draw(handle, &e) == LADE_OK)
            mark_drawn(&w->ledger, kind, &e);
        else
            w->failed++;
    }
    lade_bag_leave(handle);
    return NULL;
}

static fault together(struct trial *t, uint64_t operations, uint64_t lost)
{
    struct worker worker[WORKERS] = {{0}};
    uint64_t failed = 0;

    for (unsigned i = 0; i < WORKERS; i++) {
        worker[i].trial = t;
        worker[i].next = (uint64_t)(i + 2) << 20;
        worker[i].operations = operations / WORKERS;
    }
    check_threads(WORKERS, worker_body, worker, sizeof *worker);
    for (unsigned i = 0; i < WORKERS; i++) {
        t->others.put += worker[i].ledger.put;
        t->others.drawn += worker[i].ledger.drawn;
        t->others.wrong += worker[i].ledger.wrong;
        failed += worker[i].failed;
    }
    (void)drain(t);
    return t->config.capacity >= WORKERS + lost && t->config.full == LADE_BAG_REJECT && failed > 0
               ? "operations that cannot fail did"
               : NULL;
}

/*
 * While the victims are stopped and the bag is empty: elements that were put and are not accounted for, or came from
 * the victims.
 */
static fault few_missing(const struct trial *t, int64_t most)
{
    struct lade_bag_stats counts;

    lade_bag_stats(t->bag, &counts);
    int64_t missing = (int64_t)(t->others.put - t->others.drawn - counts.evicted);
    return missing > most || missing < -most ? "more elements are missing than the stopped threads can hold" : NULL;
}

/* All threads are released: every element was drawn or is counted as evicted, and the full capacity is available. */
static fault settle(struct trial *t)
{
    struct lade_bag_stats counts;
    uint64_t least = UINT64_MAX;

    (void)drain(t);
    lade_bag_stats(t->bag, &counts);
    t->others.put += t->mine.put;
    t->others.drawn += t->mine.drawn;
    t->others.wrong += t->mine.wrong;
    if (t->others.wrong > 0)
        return "an element came twice, or torn";
    if (counts.held != 0 || counts.put != t->others.put || counts.drawn != t->others.drawn ||
        counts.put != counts.drawn + counts.evicted)
        return "elements do not add up";
    t->mine = (struct ledger){0};
    if (!cells_are_whole(t->bag))
        return "cells are lost or doubled";
    fault found = alone(t, 4 * t->config.capacity, 0, 0, &least);
    return found ? "something is missing after the release" : NULL;
}

static void begin_trial(struct trial *t, struct lade_bag_config config, uint64_t inside, bool grown)
{
    trial_mark++;
    elements_begin(NULL);
    t->config = config;
    t->bag = bag_make(&config);
    t->next = 1000;
    t->handle = bag_enter(t->bag);
    t->disturber = bag_enter(t->bag);
    /* Either the bag has grown only as far as needed, or all its groups are active and none is marked empty. */
    for (uint64_t i = 0; i < (grown ? config.capacity : inside); i++)
        (void)try_put(t, t->handle);
    for (uint64_t i = inside; grown && i < config.capacity; i++)
        (void)try_draw(t, t->handle);
    if (inside == config.capacity && config.full != LADE_BAG_EVICT_OLDEST)
        (void)try_put(t, t->handle); /* so that it is known to be full */
}

static fault end_trial(struct trial *t)
{
    fault found = settle(t);

    lade_bag_leave(t->handle);
    lade_bag_leave(t->disturber);
    lade_bag_destroy(t->bag);
    if (atomic_load(&elements.made) != atomic_load(&elements.released))
        found = "objects were not released once";
    return found;
}

struct tally {
    unsigned trials, faults, most_steps, short_of_one;
    fault first;
    unsigned first_step;
};

static bool can_hold(enum operation op)
{
    return op == V_PUT_MANY || op == V_DRAW_MANY;
}

/* Slots that a thread stopped inside the operation may cost: a batch of words fills several before it completes them. */
static uint64_t can_cost(const struct lade_bag_config *config, enum operation op)
{
    if (config->full == LADE_BAG_EVICT_OLDEST)
        return 0;
    return op == V_PUT_MANY && config->kind == LADE_BAG_WORDS ? V_BATCH : 1;
}

struct way {
    bool grown, drains_first, disturbed;
};
static const struct way way[] = {{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {1, 1, 0}, {1, 0, 1}};
enum { WAYS = sizeof way / sizeof *way };

/* *stopped is set if the operation has that many steps. */
static fault run_trial(struct lade_bag_config config, enum operation op, uint64_t inside, struct way how, unsigned step,
                       uint64_t operations, bool *stopped, uint64_t *least)
{
    static struct trial t;
    pthread_t victim;
    fault found = NULL, unsettled;

    t = (struct trial){.op = op, .first = 1, .drains_first = how.drains_first};
    begin_trial(&t, config, inside, how.grown);
    begin_plan(&t.plan, step);
    t.plan.disturb = how.disturbed ? disturb : NULL;
    t.plan.context = &t;
    *least = UINT64_MAX;
    if (pthread_create(&victim, NULL, victim_body, &t) != 0)
        exit(2);
    step_wait(&t.plan.reached);
    *stopped = t.plan.stopped;
    if (*stopped) {
        found = alone(&t, operations / 2, can_cost(&config, op), can_hold(op) ? V_BATCH : 1, least);
        if (!found && (step % 4 == 1 || check_full()))
            found = together(&t, operations / 2, can_cost(&config, op));
        if (!found)
            found = few_missing(&t, can_hold(op) ? V_BATCH : 1);
        (void)sem_post(&t.plan.resume);
    }
    (void)pthread_join(victim, NULL);
    unsettled = end_trial(&t);
    end_plan(&t.plan);
    return unsettled ? unsettled : found;
}

static void each_step(struct lade_bag_config config, enum operation op, uint64_t inside, struct way how,
                      uint64_t operations, struct tally *tally)
{
    bool stopped = true;

    for (unsigned step = 1; stopped && (!how.disturbed || step <= DISTURBED_STEPS); step++) {
        uint64_t least;
        fault found = run_trial(config, op, inside, how, step, operations, &stopped, &least);
        tally->trials += stopped;
        tally->short_of_one += stopped && least < config.capacity;
        if (stopped && step > tally->most_steps)
            tally->most_steps = step;
        if (found && tally->faults++ == 0) {
            tally->first = found;
            tally->first_step = step;
            printf("%s, %s, capacity %u, %u inside%s%s, %s at step %u: %s\n", kind_name[config.kind],
                   full_name[config.full], (unsigned)config.capacity, (unsigned)inside, how.grown ? ", grown" : "",
                   how.disturbed ? ", disturbed" : "", operation_name[op], step, found);
        }
    }
}

static void never_blocks(enum operation op)
{
    static const uint64_t capacity[] = {5, 1, 2};
    uint64_t operations = (check_full() ? 10000u : 200u) / SLOW;
    struct tally tally = {0};

    for (unsigned kind = 0; kind <= LADE_BAG_RECORDS; kind++)
        for (unsigned full = 0; full <= LADE_BAG_EVICT_OLDEST; full++)
            for (unsigned c = 0; c < (SLOW > 1 ? 1 : sizeof capacity / sizeof *capacity); c++) {
                uint64_t inside[] = {0, 1, capacity[c]};
                struct lade_bag_config config = elements_config(kind, full, capacity[c], HANDLES);
                config.max_times_sampled = op == V_SAMPLE_OUT;
                for (unsigned i = 0; i < (capacity[c] > 1 ? 3 : 2); i++)
                    for (unsigned w = SLOW > 1 ? WAYS - 2 : 0; w < WAYS; w++)
                        each_step(config, op, inside[i], way[w], operations, &tally);
            }
    check(tally.faults == 0 && tally.trials > 0, "lade_bag",
          "%s stopped in %u trials at up to %u steps, then %llu operations of others: in %u slots are lost, %u "
          "faults%s%s",
          operation_name[op], tally.trials, tally.most_steps, (unsigned long long)operations, tally.short_of_one,
          tally.faults, tally.first ? ", first: " : "", tally.first ? tally.first : "");
}

/* A longer run, with many operations of other threads in fewer cases. */
static void never_blocks_for_long(enum operation op, uint64_t operations)
{
    struct tally tally = {0};

    for (unsigned kind = 0; kind <= LADE_BAG_RECORDS; kind++)
        for (unsigned full = 0; full <= LADE_BAG_EVICT_OLDEST; full++)
            each_step(elements_config(kind, full, 5, HANDLES), op, 3, way[2], operations, &tally);
    check(tally.faults == 0 && tally.trials > 0, "lade_bag",
          "%s stopped in %u trials at up to %u steps, then %llu operations of others: %u faults%s%s",
          operation_name[op], tally.trials, tally.most_steps, (unsigned long long)operations, tally.faults,
          tally.first ? ", first: " : "", tally.first ? tally.first : "");
}

/* Threads stop one after the other at random steps and are replaced by others with separate handles. */
static void abandoned(void)
{
    enum { VICTIMS = 12, CAPACITY = 20 };
    uint64_t random = check_seed(), operations = (check_full() ? 20000u : 2000u) / SLOW;
    unsigned rounds = check_full() ? 300 : 30, stopped = 0, faults = 0;
    fault first = NULL;

    for (unsigned round = 0; round < rounds; round++) {
        static struct trial t, victim[VICTIMS];
        pthread_t thread[VICTIMS];
        uint64_t least = UINT64_MAX, held = 0, cost = 0;
        fault found = NULL;
        struct lade_bag_config config = elements_config(round % 3, round / 3 % 3, CAPACITY, VICTIMS + 2 + WORKERS);

        t = (struct trial){.op = V_DRAW};
        begin_trial(&t, config, CAPACITY / 2, true);
        for (unsigned i = 0; i < VICTIMS && !found; i++) {
            victim[i] = (struct trial){
                .config = config, .bag = t.bag, .op = check_below(&random, V_PUT_WAIT), .first = 1 + i * V_BATCH};
            if (victim[i].op == V_SAMPLE_OUT)
                victim[i].op = V_DRAW;
            begin_plan(&victim[i].plan, 1 + check_below(&random, 20));
            if (pthread_create(&thread[i], NULL, victim_body, &victim[i]) != 0)
                exit(2);
            step_wait(&victim[i].plan.reached);
            stopped += victim[i].plan.stopped;
            held += V_BATCH;
            cost += can_cost(&config, victim[i].op);
            if (!found)
                found = alone(&t, operations, cost, VICTIMS * V_BATCH, &least);
        }
        if (!found)
            found = together(&t, operations, cost);
        if (!found)
            found = few_missing(&t, (int64_t)held);
        for (unsigned i = 0; i < VICTIMS && held >= (i + 1) * V_BATCH; i++) {
            (void)sem_post(&victim[i].plan.resume);
            (void)pthread_join(thread[i], NULL);
            t.mine.put += victim[i].mine.put;
            t.mine.drawn += victim[i].mine.drawn;
            t.mine.wrong += victim[i].mine.wrong;
            end_plan(&victim[i].plan);
        }
        fault unsettled = end_trial(&t);
        found = found ? found : unsettled;
        faults += found != NULL;
        first = first ? first : found;
    }
    check(faults == 0 && stopped > 0, "lade_bag",
          "%u times %d threads stop one after the other, %u inside an operation, and others take over: %u faults%s%s",
          rounds, (int)VICTIMS, stopped, faults, first ? ", first: " : "", first ? first : "");
}

/* The driver must detect a lost slot, a lost element, and a cell that is in two places. */
static void negatives(void)
{
    static struct trial t;
    uint64_t least;
    struct lade_bag_config config = elements_config(LADE_BAG_RECORDS, LADE_BAG_REJECT, 5, HANDLES);

    t = (struct trial){.op = V_DRAW};
    begin_trial(&t, config, 3, true);
    t.config.capacity = 7; /* as if two were lost */
    fault slots = alone(&t, 100, 1, 1, &least);
    t.config.capacity = 5;
    fault fine = alone(&t, 100, 0, 0, &least);
    t.others.put += 2;
    fault missing = few_missing(&t, 1);
    t.others.put -= 2;
    bool whole = cells_are_whole(t.bag);
    uint32_t spare = t.handle->spare;
    t.handle->spare = t.disturber->spare;
    bool doubled = !cells_are_whole(t.bag);
    t.handle->spare = spare;
    fault rest = end_trial(&t);
    check(slots && missing && doubled && whole && !fine && !rest, "driver",
          "negative: two slots lost: %s; two elements lost: %s; a cell doubled: %s", slots ? slots : "accepted",
          missing ? missing : "accepted", doubled ? "noticed" : "accepted");
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    check_within(check_full() ? 3000 : 300, "bag_stopped");
    negatives();
    for (unsigned op = 0; op < OPERATIONS; op++)
        never_blocks(op);
    abandoned();
    for (unsigned op = 0; op < V_PUT_WAIT; op++)
        if (op != V_SAMPLE_OUT)
            never_blocks_for_long(op, (check_full() ? 1000000u : 20000u) / SLOW / SLOW);
    check_within(0, NULL);
    return check_end();
}
