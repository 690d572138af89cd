/* SPDX-License-Identifier: MIT */
/*
 * A thread stops at each step of each operation. The others complete, the ring loses no capacity, and the stopped
 * thread holds at most one word. Then it is released and all counts must add up. Vyukov's ring under the same driver
 * must be found to block; the driver detects this by counting operations, not by a clock.
 */
#include "rings.h"

#include <pthread.h>

enum { BATCH = 3, HANDLES = 6, WORKERS = 2, DISTURBED_STEPS = 12 };

enum operation { OP_PUSH, OP_POP, OP_PUSH_MANY, OP_POP_MANY, OP_JOIN, OPERATIONS };
static const char *const operation_name[] = {"push", "pop", "push_many", "pop_many", "join"};

/* A multiset of words: a count, and two sums that a lost, duplicated or altered word changes. */
struct sum {
    uint64_t count, mixed, plain;
};

static void sum_add(struct sum *s, uint64_t word)
{
    uint64_t state = word;

    s->count++;
    s->mixed += check_next(&state);
    s->plain += word;
}

static void sum_all(struct sum *s, const struct sum *other)
{
    s->count += other->count;
    s->mixed += other->mixed;
    s->plain += other->plain;
}

struct trial {
    const struct ring_kind *kind;
    uint64_t capacity;
    void *ring;
    struct sum pushed, popped; /* by all but the victim and the workers */
    void *handle, *disturber;
    uint64_t next;
    /* the victim */
    enum operation op;
    struct step_plan plan;
    uint64_t word[BATCH], got[BATCH];
    size_t done;
};

/* A description of the fault; NULL when there is none. */
typedef const char *fault;

static bool try_push(struct trial *t, void *handle)
{
    if (t->kind->push(handle, t->next) != LADE_OK)
        return false;
    sum_add(&t->pushed, t->next++);
    return true;
}

static bool try_pop(struct trial *t, void *handle, uint64_t *word)
{
    if (t->kind->pop(handle, word) != LADE_OK)
        return false;
    sum_add(&t->popped, *word);
    return true;
}

/* Between two steps of the victim another thread does one push and one pop, so that its ticket is taken. */
static void disturb(void *context)
{
    struct trial *t = context;
    uint64_t word = 0;

    if (try_push(t, t->disturber)) {
        (void)try_pop(t, t->disturber, &word);
    } else {
        (void)try_pop(t, t->disturber, &word);
        (void)try_push(t, t->disturber);
    }
}

static void *victim_body(void *arg)
{
    struct trial *t = arg;
    void *handle = NULL;

    if (t->op == OP_JOIN)
        step_plan = &t->plan;
    handle = t->kind->join(t->ring);
    if (!handle)
        exit(2);
    step_plan = &t->plan;
    switch (t->op) {
    case OP_PUSH:
        t->done = t->kind->push(handle, t->word[0]) == LADE_OK;
        break;
    case OP_POP:
        t->done = t->kind->pop(handle, t->got) == LADE_OK;
        break;
    case OP_PUSH_MANY:
        t->done = t->kind->push_many(handle, t->word, BATCH);
        break;
    case OP_POP_MANY:
        t->done = t->kind->pop_many(handle, t->got, BATCH);
        break;
    default:
        break;
    }
    step_plan = NULL;
    t->kind->leave(handle);
    if (!t->plan.stopped)
        (void)sem_post(&t->plan.reached);
    return NULL;
}

/* A single thread fills and drains: each time exactly capacity words, in FIFO order. */
static fault alone(struct trial *t, uint64_t operations)
{
    uint64_t word = 0, done = 0;

    while (try_pop(t, t->handle, &word))
        continue;
    while (done < operations) {
        uint64_t first = t->next, count = 0;
        while (try_push(t, t->handle))
            count++;
        if (count != t->capacity)
            return "capacity is lost";
        for (count = 0; try_pop(t, t->handle, &word); count++)
            if (word != first + count)
                return "the order is lost";
        if (count != t->capacity)
            return "words are stuck";
        done += 2 * count + 2;
    }
    return NULL;
}

struct worker {
    struct trial *trial;
    uint64_t first, operations, failed;
    struct sum pushed, popped;
};

/*
 * Push, then pop. Each worker has pushed at most one word more than it popped, so with a slot for each worker nothing
 * can fail.
 */
static void *worker_body(void *arg)
{
    struct worker *w = arg;
    const struct ring_kind *kind = w->trial->kind;
    void *handle = kind->join(w->trial->ring);

    if (!handle)
        exit(2);
    for (uint64_t i = 0; i < w->operations; i += 2) {
        uint64_t word = w->first + i;
        if (kind->push(handle, word) == LADE_OK)
            sum_add(&w->pushed, word);
        else
            w->failed++;
        if (kind->pop(handle, &word) == LADE_OK)
            sum_add(&w->popped, word);
        else
            w->failed++;
    }
    kind->leave(handle);
    return NULL;
}

static fault together(struct trial *t, uint64_t operations)
{
    struct worker worker[WORKERS] = {{0}};
    uint64_t word = 0, failed = 0;

    for (unsigned i = 0; i < WORKERS; i++) {
        worker[i].trial = t;
        worker[i].first = (uint64_t)(i + 1) << 48;
        worker[i].operations = operations / WORKERS;
    }
    check_threads(WORKERS, worker_body, worker, sizeof *worker);
    for (unsigned i = 0; i < WORKERS; i++) {
        sum_all(&t->pushed, &worker[i].pushed);
        sum_all(&t->popped, &worker[i].popped);
        failed += worker[i].failed;
    }
    while (try_pop(t, t->handle, &word))
        continue;
    return t->capacity >= WORKERS && failed > 0 ? "operations that cannot fail did" : NULL;
}

/* While the victim is stopped and the ring is empty: words that were neither popped nor are held by the victim. */
static fault few_lost(const struct trial *t)
{
    uint64_t held = 0;

    if (t->op == OP_POP || t->op == OP_POP_MANY) {
        for (unsigned i = 0; i < BATCH; i++)
            held += t->got[i] != 0;
        return t->pushed.count - t->popped.count - held > 1 ? "more than one word is lost" : NULL;
    }
    uint64_t extra = t->popped.count - t->pushed.count; /* words that the victim pushed and others popped */
    return extra > BATCH ? "a word is lost" : NULL;
}

static fault settle(struct trial *t)
{
    uint64_t word = 0;

    for (size_t i = 0; i < t->done; i++) {
        if (t->op == OP_PUSH || t->op == OP_PUSH_MANY)
            sum_add(&t->pushed, t->word[i]);
        else
            sum_add(&t->popped, t->got[i]);
    }
    while (try_pop(t, t->handle, &word))
        continue;
    if (t->pushed.count != t->popped.count || t->pushed.mixed != t->popped.mixed || t->pushed.plain != t->popped.plain)
        return "words do not add up";
    return NULL;
}

/*
 * Advances the ring, fills it with some words and stops the victim at the step. *stopped is set if it got there. A
 * fault found while it is stopped ends the trial early; the counts are checked in any case.
 */
static fault run_trial(const struct ring_kind *kind, uint64_t capacity, uint64_t turned, uint64_t filled,
                       enum operation op, unsigned step, bool disturbed, uint64_t operations, bool *stopped)
{
    static struct trial t;
    pthread_t victim;
    uint64_t word = 0;
    fault found = NULL, unsettled = NULL;

    t = (struct trial){
        .kind = kind, .capacity = capacity, .op = op, .next = 1, .ring = kind->create(capacity, HANDLES)};
    t.plan.stop_at = step;
    t.plan.disturb = disturbed ? disturb : NULL;
    t.plan.context = &t;
    (void)sem_init(&t.plan.reached, 0, 0);
    (void)sem_init(&t.plan.resume, 0, 0);
    t.handle = kind->join(t.ring);
    t.disturber = kind->join(t.ring);
    for (uint64_t i = 0; i < turned; i++) {
        (void)try_push(&t, t.handle);
        (void)try_pop(&t, t.handle, &word);
    }
    for (uint64_t i = 0; i < filled; i++)
        (void)try_push(&t, t.handle);
    for (unsigned i = 0; i < BATCH; i++)
        t.word[i] = (UINT64_C(1) << 60) + i;
    if (pthread_create(&victim, NULL, victim_body, &t) != 0)
        exit(2);
    step_wait(&t.plan.reached);
    *stopped = t.plan.stopped;
    if (*stopped) {
        found = alone(&t, operations / 2);
        if (!found)
            found = together(&t, operations / 2);
        if (!found)
            found = few_lost(&t);
        (void)sem_post(&t.plan.resume);
    }
    (void)pthread_join(victim, NULL);
    unsettled = settle(&t);
    kind->leave(t.handle);
    kind->leave(t.disturber);
    kind->destroy(t.ring);
    (void)sem_destroy(&t.plan.reached);
    (void)sem_destroy(&t.plan.resume);
    return unsettled ? unsettled : found;
}

struct tally {
    unsigned trials, faults, most_steps, unsettled;
    const char *first;
    unsigned first_step;
};

static void each_step(const struct ring_kind *kind, uint64_t capacity, uint64_t turned, uint64_t filled,
                      enum operation op, bool disturbed, uint64_t operations, struct tally *tally)
{
    bool stopped = true;

    for (unsigned step = 1; stopped && (!disturbed || step <= DISTURBED_STEPS); step++) {
        fault found = run_trial(kind, capacity, turned, filled, op, step, disturbed, operations, &stopped);
        tally->trials += stopped;
        if (stopped && step > tally->most_steps)
            tally->most_steps = step;
        if (!found)
            continue;
        tally->unsettled += !stopped;
        if (tally->faults++ == 0) {
            tally->first = found;
            tally->first_step = step;
        }
    }
}

static struct tally each_case(const struct ring_kind *kind, enum operation op, uint64_t operations)
{
    static const uint64_t capacity[] = {1, 2, 3, 16};
    struct tally tally = {0};

    for (size_t c = 0; c < sizeof capacity / sizeof *capacity; c++) {
        uint64_t places[] = {0, capacity[c] - 1}, words[] = {0, 1, capacity[c]};
        for (unsigned turned = 0; turned < (capacity[c] > 1 ? 2 : 1); turned++)
            for (unsigned filled = 0; filled < (capacity[c] > 1 ? 3 : 2); filled++)
                for (unsigned disturbed = 0; disturbed < 2; disturbed++)
                    each_step(kind, capacity[c], places[turned], words[filled], op, disturbed, operations, &tally);
    }
    return tally;
}

static void never_blocks(enum operation op, uint64_t operations)
{
    struct tally t = each_case(&lade_kind, op, operations);

    check(t.faults == 0 && t.trials > 0, "lade_mpmc",
          "%s stopped in %u trials at up to %u steps, then %llu operations of others: %u faults%s%s",
          operation_name[op], t.trials, t.most_steps, (unsigned long long)operations, t.faults,
          t.first ? ", first: " : "", t.first ? t.first : "");
}

static void must_block(const struct ring_kind *kind, enum operation op, uint64_t operations)
{
    struct tally t = each_case(kind, op, operations);

    check(t.faults > 0 && t.unsettled == 0, kind->name,
          "negative: %s stopped in %u trials, the driver found %u faults, first at step %u: %s", operation_name[op],
          t.trials, t.faults, t.first_step, t.first ? t.first : "none");
}

/*
 * spsc: the other side continues until FULL or EMPTY, its calls always return, and no word is missing after the
 * release.
 */
struct half {
    struct lade_spsc *ring;
    struct step_plan plan;
    bool produces, batch;
    size_t done;
    uint64_t word[BATCH];
};

static void *half_body(void *arg)
{
    struct half *s = arg;

    step_plan = &s->plan;
    if (s->produces)
        s->done =
            s->batch ? lade_spsc_push_many(s->ring, s->word, BATCH) : lade_spsc_push(s->ring, s->word[0]) == LADE_OK;
    else
        s->done = s->batch ? lade_spsc_pop_many(s->ring, s->word, BATCH) : lade_spsc_pop(s->ring, s->word) == LADE_OK;
    step_plan = NULL;
    if (!s->plan.stopped)
        (void)sem_post(&s->plan.reached);
    return NULL;
}

static bool spsc_stopped(bool produces, bool batch, unsigned step, uint64_t operations, bool *stopped)
{
    enum { CAPACITY = 5, INSIDE = 2 };
    static struct half s;
    pthread_t thread;
    uint64_t moved = 0, word = 0, next = INSIDE;
    bool right = true;

    s = (struct half){.produces = produces, .batch = batch};
    s.plan.stop_at = step;
    (void)sem_init(&s.plan.reached, 0, 0);
    (void)sem_init(&s.plan.resume, 0, 0);
    if (lade_spsc_create(&s.ring, &(struct lade_ring_config){.capacity = CAPACITY}) != LADE_OK)
        exit(2);
    for (uint64_t i = 0; i < INSIDE; i++)
        right = right && lade_spsc_push(s.ring, i) == LADE_OK;
    for (uint64_t i = 0; i < BATCH && produces; i++)
        s.word[i] = next++;
    if (pthread_create(&thread, NULL, half_body, &s) != 0)
        exit(2);
    step_wait(&s.plan.reached);
    *stopped = s.plan.stopped;
    for (uint64_t i = 0; i < operations && *stopped; i++) {
        int status = produces ? lade_spsc_pop(s.ring, &word) : lade_spsc_push(s.ring, next);
        if (status != LADE_OK)
            continue;
        right = right && (!produces || word == moved);
        next += !produces;
        moved++;
    }
    right = right && (!*stopped || moved == (produces ? INSIDE : CAPACITY - INSIDE));
    (void)sem_post(&s.plan.resume);
    (void)pthread_join(thread, NULL);
    uint64_t expected = produces ? moved : s.done;
    for (size_t i = 0; i < s.done && !produces; i++)
        right = right && s.word[i] == i;
    while (lade_spsc_pop(s.ring, &word) == LADE_OK)
        right = right && word == expected++;
    right = right && expected == (produces ? INSIDE + s.done : next) && s.done > 0;
    lade_spsc_destroy(s.ring);
    (void)sem_destroy(&s.plan.reached);
    (void)sem_destroy(&s.plan.resume);
    return right;
}

static void spsc_never_waits(uint64_t operations)
{
    for (unsigned which = 0; which < 4; which++) {
        bool stopped = true, right = true;
        unsigned steps = 0;
        for (unsigned step = 1; stopped; step++) {
            right = spsc_stopped(which / 2 == 0, which % 2, step, operations, &stopped) && right;
            steps += stopped;
        }
        check(right && steps > 0, "lade_spsc",
              "%s stopped at each of %u steps, %llu calls of the other side returned, no word lost",
              operation_name[which / 2 ? (which % 2 ? OP_POP_MANY : OP_POP) : (which % 2 ? OP_PUSH_MANY : OP_PUSH)],
              steps, (unsigned long long)operations);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    uint64_t operations = check_full() ? 1000000 : 100000;
    for (unsigned op = 0; op < OPERATIONS; op++)
        never_blocks((enum operation)op, operations);
    must_block(&vyukov_kind, OP_PUSH, operations);
    must_block(&vyukov_kind, OP_POP, operations);
    must_block(&vyukov_kind, OP_PUSH_MANY, operations);
    must_block(&vyukov_kind, OP_POP_MANY, operations);
    spsc_never_waits(operations);
    return check_end();
}
