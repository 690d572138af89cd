/* SPDX-License-Identifier: MIT */
/*
 * Puts many elements through bags of every kind and full policy. No element is lost, duplicated or torn, objects are
 * released once, the counts add up, the bag never holds more than its capacity, no element is sampled too often, and
 * the oldest is evicted first. Also with handles that move between threads, and while the bag grows and shrinks.
 */
#include "bag_elements.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { THREADS_MOST = 8, LOANS = 4, BATCH_MOST = 16 };

/* A deliberate fault, to see that it is detected. */
enum sabotage { NOTHING, LOSE, TWICE, TEAR, ONE_MORE, OVERSAMPLE, EARLY, SABOTAGES };

struct scene {
    struct lade_bag_config config;
    struct lade_bag *bag;
    unsigned threads;
    uint64_t operations, each; /* of a thread; puts at most of a thread */
    enum sabotage sabotage;
    bool sabotaged;
    bool short_lived; /* leave and join sometimes */
    /* by number */
    _Atomic uint32_t *left;     /* removed */
    _Atomic uint32_t *released; /* refs */
    _Atomic uint32_t *sampled;
    uint64_t *born; /* puts complete before this one began */
    _Alignas(128) _Atomic int64_t level;
    _Atomic int64_t highest;
    _Alignas(128) _Atomic uint64_t begun, done; /* puts */
    _Atomic uint64_t early;                     /* evicted though they were not the oldest */
    pthread_mutex_t mutex;
    struct lade_loan box; /* a loan that another thread returns; times 0: none */
    pthread_barrier_t gate;
};

static struct scene scene;
static _Thread_local uint64_t own_number; /* of the put in progress */

struct actor {
    struct lade_bag_handle *handle;
    unsigned number;
    uint64_t random, put, drawn, evicted, samples, visits, strange, refused, failed;
    union element next; /* created, and not put yet */
    bool has_next;
    struct lade_loan loan[LOANS];
    uint64_t loan_number[LOANS];
    unsigned loans;
};

/* Is this the moment, the only one, to do that wrong? */
static bool goes_wrong(enum sabotage how, uint64_t count)
{
    if (scene.sabotage != how || count < 50 || scene.sabotaged)
        return false;
    scene.sabotaged = true;
    return true;
}

/* Yields at random steps inside an operation. */
static void pause_at_steps(uint64_t seed)
{
#ifdef WITH_PAUSES
    static _Thread_local struct step_plan plan;

    plan.pauses = seed | 1;
    step_plan = &plan;
#else
    (void)seed;
#endif
}

static bool is_known(uint64_t number)
{
    return number > 0 && number <= scene.threads * scene.each;
}

static void level_by(int64_t change)
{
    if (scene.config.full != LADE_BAG_REJECT || scene.config.max_times_sampled > 0)
        return;
    int64_t level = atomic_fetch_add_explicit(&scene.level, change, memory_order_seq_cst) + change;
    int64_t highest = atomic_load_explicit(&scene.highest, memory_order_relaxed);
    while (level > highest && !atomic_compare_exchange_weak_explicit(&scene.highest, &highest, level,
                                                                     memory_order_relaxed, memory_order_relaxed))
        continue;
}

/*
 * Evict oldest: put number t removes the element of put t - capacity. t is below the number of puts begun, and the number
 * of an element's put is not below the puts that were complete before it began. So born + capacity <= begun.
 */
static void check_age(uint64_t number)
{
    if (scene.config.full == LADE_BAG_EVICT_OLDEST && number != own_number &&
        scene.born[number] + scene.config.capacity > atomic_load_explicit(&scene.begun, memory_order_seq_cst))
        atomic_fetch_add_explicit(&scene.early, 1, memory_order_relaxed);
}

/* A word was evicted; an object has lost its last reference. */
static void gone(uint64_t number)
{
    if (!is_known(number))
        return;
    if (scene.config.kind == LADE_BAG_WORDS) {
        check_age(number);
        atomic_fetch_add_explicit(&scene.left[number], 1, memory_order_relaxed);
        return;
    }
    if (atomic_load_explicit(&scene.left[number], memory_order_relaxed) == 0)
        check_age(number);
    atomic_fetch_add_explicit(&scene.released[number], 1, memory_order_relaxed);
}

static void taken_out(struct actor *a, uint64_t number)
{
    a->drawn++;
    if (!is_known(number))
        a->strange++;
    else
        atomic_fetch_add_explicit(&scene.left[number], 1, memory_order_relaxed);
}

static void got(struct actor *a, union element *e)
{
    uint64_t number = element_number(scene.config.kind, e);

    if (goes_wrong(LOSE, a->drawn))
        a->drawn++;
    else
        taken_out(a, number);
    if (goes_wrong(TWICE, a->drawn))
        taken_out(a, number);
    element_drop(scene.config.kind, e);
}

/* The element to put next; false when this thread has reached its number of puts. */
static bool has_next(struct actor *a)
{
    if (a->has_next)
        return true;
    if (a->put == scene.each)
        return false;
    uint64_t number = a->number * scene.each + a->put + 1;
    element_make(scene.config.kind, &a->next, number);
    if (scene.sabotage == TEAR && a->put >= 50) /* more than one: a single element may be evicted unread */
        a->next.record[3] ^= 1;
    a->has_next = true;
    return true;
}

static void begin_put(struct actor *a, size_t count)
{
    own_number = a->number * scene.each + a->put + 1;
    if (scene.config.full != LADE_BAG_EVICT_OLDEST)
        return;
    uint64_t done = atomic_load_explicit(&scene.done, memory_order_seq_cst);
    for (size_t i = 0; i < count; i++)
        scene.born[own_number + i] = done + (scene.sabotage == EARLY ? scene.config.capacity : 0);
    atomic_fetch_add_explicit(&scene.begun, count, memory_order_seq_cst);
}

static void end_put(struct actor *a, size_t count)
{
    a->put += count;
    if (count > 0)
        a->has_next = false;
    if (scene.config.full == LADE_BAG_EVICT_OLDEST)
        atomic_fetch_add_explicit(&scene.done, count, memory_order_seq_cst);
    own_number = 0;
}

static void put_single(struct actor *a)
{
    if (!has_next(a))
        return;
    begin_put(a, 1);
    int status = lade_bag_put(a->handle, &a->next);
    a->failed += status != LADE_OK && status != LADE_FULL;
    if (status == LADE_OK)
        level_by(1 + (scene.sabotage == ONE_MORE && a->put % 50 == 49));
    end_put(a, status == LADE_OK);
}

/* Batches are contiguous arrays. */
static union element *in_batch(uint64_t *batch, size_t i)
{
    return (union element *)(void *)((unsigned char *)batch + i * element_size(scene.config.kind));
}

static void put_batch(struct actor *a)
{
    uint64_t batch[(BATCH_MOST + 1) * RECORD_WORDS];
    size_t count = 1 + check_below(&a->random, BATCH_MOST), done;
    enum lade_bag_kind kind = scene.config.kind;

    if (a->has_next || scene.config.full == LADE_BAG_EVICT_OLDEST || scene.each - a->put < count)
        return; /* check_age() requires a separate call for each put */
    for (size_t i = 0; i < count; i++)
        element_make(kind, in_batch(batch, i), a->number * scene.each + a->put + 1 + i);
    begin_put(a, count);
    done = lade_bag_put_many(a->handle, batch, count);
    level_by((int64_t)done);
    for (size_t i = done; i < count; i++)
        element_drop(kind, in_batch(batch, i)); /* refs: the number will be created again */
    end_put(a, done);
}

static void draw_one(struct actor *a)
{
    union element e;

    level_by(-1);
    int status = lade_bag_draw(a->handle, &e);
    a->failed += status != LADE_OK && status != LADE_EMPTY;
    if (status == LADE_OK)
        got(a, &e);
    else
        level_by(1);
}

static void draw_batch(struct actor *a)
{
    uint64_t batch[(BATCH_MOST + 1) * RECORD_WORDS];
    size_t count = 1 + check_below(&a->random, BATCH_MOST), done;

    level_by(-(int64_t)count);
    done = lade_bag_draw_many(a->handle, batch, count);
    level_by((int64_t)(count - done));
    for (size_t i = 0; i < done; i++)
        got(a, in_batch(batch, i));
}

static void exchange_single(struct actor *a)
{
    union element e;

    if (scene.config.full == LADE_BAG_EVICT_OLDEST || !has_next(a))
        return;
    e = a->next;
    begin_put(a, 1);
    int status = lade_bag_exchange(a->handle, &e, &e); /* one buffer for both */
    a->failed += status != LADE_OK && status != LADE_EMPTY;
    end_put(a, status == LADE_OK);
    if (status == LADE_OK)
        got(a, &e);
}

static void exchange_batch(struct actor *a)
{
    uint64_t in[(BATCH_MOST + 1) * RECORD_WORDS], out[(BATCH_MOST + 1) * RECORD_WORDS];
    size_t count = 1 + check_below(&a->random, BATCH_MOST), done;
    enum lade_bag_kind kind = scene.config.kind;

    if (a->has_next || scene.config.full == LADE_BAG_EVICT_OLDEST || scene.each - a->put < count)
        return;
    for (size_t i = 0; i < count; i++)
        element_make(kind, in_batch(in, i), a->number * scene.each + a->put + 1 + i);
    begin_put(a, count);
    done = lade_bag_exchange_many(a->handle, in, out, count);
    for (size_t i = done; i < count; i++)
        element_drop(kind, in_batch(in, i));
    end_put(a, done);
    for (size_t i = 0; i < done; i++)
        got(a, in_batch(out, i));
}

static void note_sample(struct actor *a, const struct lade_loan *loan, uint64_t number)
{
    unsigned most = scene.config.max_times_sampled;

    a->samples++;
    if (!is_known(number)) {
        a->strange++;
        return;
    }
    atomic_fetch_add_explicit(&scene.sampled[number], 1 + (goes_wrong(OVERSAMPLE, a->samples) ? most : 0),
                              memory_order_relaxed);
    if (most > 0 && loan->times >= most)
        taken_out(a, number);
}

static void sample(struct actor *a, bool batch)
{
    size_t count = batch ? LOANS - a->loans : 1, done;

    if (a->loans == LOANS)
        return;
    done = batch ? lade_bag_sample_many(a->handle, &a->loan[a->loans], count)
                 : lade_bag_sample(a->handle, &a->loan[a->loans]) == LADE_OK;
    for (; done > 0; done--) {
        struct lade_loan *loan = &a->loan[a->loans];
        uint64_t number = loan_number(scene.config.kind, loan);
        a->loan_number[a->loans++] = number;
        note_sample(a, loan, number);
    }
}

/* The lent element is unchanged. */
static void give_back(struct actor *a)
{
    struct lade_loan *loan = &a->loan[--a->loans];

    a->strange += loan_number(scene.config.kind, loan) != a->loan_number[a->loans];
    lade_bag_give_back(a->handle, loan);
}

/* Leaves a loan for another thread to return and takes the one that was left. */
static void hand_on(struct actor *a)
{
    struct lade_loan mine = a->loan[a->loans - 1];

    (void)pthread_mutex_lock(&scene.mutex);
    struct lade_loan theirs = scene.box;
    scene.box = mine;
    (void)pthread_mutex_unlock(&scene.mutex);
    a->loans--;
    if (theirs.times == 0)
        return;
    a->loan_number[a->loans] = loan_number(scene.config.kind, &theirs);
    a->loan[a->loans++] = theirs;
}

static bool visit(void *context, const void *element)
{
    struct actor *a = context;

    a->visits++;
    a->strange += !is_known(element_number(scene.config.kind, element));
    return true;
}

static void visit_all(struct actor *a)
{
    uint64_t visited = 0;

    a->strange += lade_bag_for_each(a->handle, visit, a, &visited) != LADE_OK || visited > scene.config.capacity;
}

static void evict(struct actor *a)
{
    if (scene.config.full == LADE_BAG_EVICT_OLDEST)
        return;
    level_by(-1);
    if (lade_bag_evict(a->handle) != LADE_OK)
        level_by(1);
}

static void rejoin(struct actor *a)
{
    lade_bag_leave(a->handle);
    (void)sched_yield();
    while (lade_bag_join(scene.bag, &a->handle) != LADE_OK) {
        a->refused++;
        (void)sched_yield();
    }
}

/* Alternates between phases in which the bag tends to fill and to drain. */
static void act(struct actor *a, bool filling)
{
    unsigned r = check_below(&a->random, 100);
    bool batch = check_below(&a->random, 4) == 0;

    if (r < 60) {
        bool put = check_below(&a->random, 4) < (filling ? 3 : 1);
        if (put && batch)
            put_batch(a);
        if (put)
            put_single(a);
        else if (batch)
            draw_batch(a);
        else
            draw_one(a);
    } else if (r < 72) {
        if (batch)
            exchange_batch(a);
        else
            exchange_single(a);
    } else if (r < 84) {
        sample(a, batch);
    } else if (r < 93) {
        if (a->loans > 0 && batch)
            hand_on(a);
        else if (a->loans > 0)
            give_back(a);
    } else if (r < 96) {
        evict(a);
    } else if (scene.short_lived) {
        rejoin(a);
    } else if (check_below(&a->random, 1 + (unsigned)scene.config.capacity / 16) == 0) {
        visit_all(a);
    }
}

static void *actor_body(void *arg)
{
    struct actor *a = arg;
    uint64_t phase = scene.operations / 6 + 1;

    pause_at_steps(a->random);
    (void)pthread_barrier_wait(&scene.gate);
    while (lade_bag_join(scene.bag, &a->handle) != LADE_OK) {
        a->refused++;
        (void)sched_yield();
    }
    for (uint64_t i = 0; i < scene.operations; i++) {
        act(a, i / phase % 2 == 0);
        if (check_below(&a->random, 64) == 0)
            (void)sched_yield();
    }
    while (a->loans > 0)
        give_back(a);
    if (a->has_next)
        element_drop(scene.config.kind, &a->next);
    lade_bag_leave(a->handle);
    return NULL;
}

struct account {
    uint64_t put, drawn, evicted, samples, visits;
    uint64_t twice, missing, strange, torn, unreleased, oversampled, early, uncounted, failed, refused;
    int64_t above;
};

static bool adds_up(const struct account *a)
{
    return a->twice == 0 && a->missing == 0 && a->strange == 0 && a->torn == 0 && a->unreleased == 0 &&
           a->oversampled == 0 && a->early == 0 && a->uncounted == 0 && a->failed == 0 && a->above <= 0;
}

/* When quiescent: this thread drains the bag, and what it draws must match the counts. */
static void settle(struct actor *actor, struct account *sum)
{
    struct actor rest = {.random = 1};
    struct lade_bag_stats before, after;
    enum lade_bag_kind kind = scene.config.kind;

    rest.handle = bag_enter(scene.bag);
    if (scene.box.times > 0)
        lade_bag_give_back(rest.handle, &scene.box);
    lade_bag_stats(scene.bag, &before);
    uint64_t visited = 0;
    sum->uncounted += lade_bag_for_each(rest.handle, visit, &rest, &visited) != LADE_OK || visited != before.held;
    uint64_t held = 0;
    for (union element e; lade_bag_draw(rest.handle, &e) == LADE_OK; held++)
        got(&rest, &e);
    lade_bag_stats(scene.bag, &after);
    lade_bag_leave(rest.handle);
    lade_bag_destroy(scene.bag);
    sum->uncounted += held != before.held || after.held != 0 || after.put != after.drawn + after.evicted;
    sum->evicted += after.evicted;
    sum->strange += rest.strange;
    uint64_t put = 0, drawn = rest.drawn, samples = 0, lost = 0;
    for (unsigned t = 0; t < scene.threads; t++) {
        put += actor[t].put;
        drawn += actor[t].drawn;
        samples += actor[t].samples;
        sum->strange += actor[t].strange;
        sum->visits += actor[t].visits;
        sum->failed += actor[t].failed;
        sum->refused += actor[t].refused;
        for (uint64_t i = 0; i < scene.each; i++) {
            uint64_t number = t * scene.each + i + 1;
            uint32_t left = atomic_load_explicit(&scene.left[number], memory_order_relaxed);
            sum->twice += left > 1;
            sum->strange += left > 0 && i >= actor[t].put;
            lost += left == 0 && i < actor[t].put;
            if (kind == LADE_BAG_REFS && i < actor[t].put)
                sum->unreleased += atomic_load_explicit(&scene.released[number], memory_order_relaxed) == 0;
            sum->oversampled +=
                scene.config.max_times_sampled > 0 &&
                atomic_load_explicit(&scene.sampled[number], memory_order_relaxed) > scene.config.max_times_sampled;
        }
    }
    /* Evictions of words are reported. Of the other kinds, exactly the evicted elements are missing. */
    uint64_t silent = kind == LADE_BAG_WORDS ? 0 : after.evicted;
    sum->missing += lost > silent ? lost - silent : silent - lost;
    sum->uncounted +=
        after.put != put || after.drawn != drawn || after.sampled != samples || after.given_back != samples;
    sum->unreleased += atomic_load_explicit(&elements.made, memory_order_relaxed) !=
                       atomic_load_explicit(&elements.released, memory_order_relaxed);
    sum->put += put;
    sum->drawn += drawn;
    sum->samples += samples;
}

static void play(const struct lade_bag_config *config, unsigned threads, uint64_t operations, bool short_lived,
                 enum sabotage sabotage, struct account *sum)
{
    static struct actor actor[THREADS_MOST];
    uint64_t random = check_seed() ^ config->capacity << 8 ^ threads;

    scene.config = *config;
    scene.threads = threads;
    scene.operations = operations / threads;
    scene.each = scene.operations * 2;
    scene.sabotage = sabotage;
    scene.sabotaged = false;
    scene.short_lived = short_lived;
    size_t numbers = (size_t)(scene.threads * scene.each) + 1 + BATCH_MOST;
    scene.left = check_memory(numbers, sizeof *scene.left);
    scene.released = check_memory(numbers, sizeof *scene.released);
    scene.sampled = check_memory(numbers, sizeof *scene.sampled);
    scene.born = check_memory(numbers, sizeof *scene.born);
    scene.box.times = 0;
    atomic_store(&scene.level, 0);
    atomic_store(&scene.highest, 0);
    atomic_store(&scene.begun, 0);
    atomic_store(&scene.done, 0);
    atomic_store(&scene.early, 0);
    elements_begin(gone);
    scene.bag = bag_make(config);
    for (unsigned i = 0; i < threads; i++)
        actor[i] = (struct actor){.number = i, .random = check_next(&random)};
    (void)pthread_barrier_init(&scene.gate, NULL, threads);
    check_threads(threads, actor_body, actor, sizeof *actor);
    (void)pthread_barrier_destroy(&scene.gate);
    settle(actor, sum);
    sum->torn += atomic_load(&elements.torn);
    sum->early += atomic_load(&scene.early);
    int64_t above = atomic_load(&scene.highest) - (int64_t)config->capacity;
    if (config->full == LADE_BAG_REJECT && above > sum->above)
        sum->above = above;
    free(scene.left);
    free(scene.released);
    free(scene.sampled);
    free(scene.born);
}

#define ULL(x) ((unsigned long long)(x))

static struct lade_bag_config config_of(enum lade_bag_kind kind, enum lade_bag_full full, uint64_t capacity,
                                        unsigned handles)
{
    struct lade_bag_config c = elements_config(kind, full, capacity, handles);

    c.max_loans = kind == LADE_BAG_RECORDS ? LOANS : 0;
    return c;
}

static void report(const struct account *a, const char *what, const char *kind, const char *full, unsigned scenes)
{
    char name[80];

    (void)snprintf(name, sizeof name, "lade_bag %s, %s", kind, full);
    check(
        adds_up(a) && a->drawn > 0 && a->samples > 0, name,
        "%s, %u bags, %llu put, %llu drawn, %llu evicted, %llu sampled, %llu visited: %llu missing, %llu twice, "
        "%llu strange, %llu torn, %llu not released once, %llu sampled too often, %llu evicted too early, counts wrong "
        "%llu times, %lld above capacity",
        what, scenes, ULL(a->put), ULL(a->drawn), ULL(a->evicted), ULL(a->samples), ULL(a->visits), ULL(a->missing),
        ULL(a->twice), ULL(a->strange), ULL(a->torn), ULL(a->unreleased), ULL(a->oversampled), ULL(a->early),
        ULL(a->uncounted), (long long)(a->above > 0 ? a->above : 0));
}

#ifdef WITH_PAUSES /* groups are small */
static const uint64_t capacities[] = {1, 2, 3, 4, 5, 9};
#else
static const uint64_t capacities[] = {1, 2, 3, 63, 64, 65, 1000, 100000};
#endif
enum { CAPACITIES = sizeof capacities / sizeof *capacities };

static void all_mixes(void)
{
    uint64_t operations = (check_full() ? 2000000u : 60000u) / SLOW;
    unsigned turn = 0;

    for (unsigned kind = 0; kind <= LADE_BAG_RECORDS; kind++) {
        for (unsigned full = 0; full <= LADE_BAG_EVICT_OLDEST; full++) {
            struct account sum = {.above = INT64_MIN};
            for (unsigned c = 0; c < CAPACITIES; c++, turn++) {
                unsigned threads = 2 + (turn * 3) % (THREADS_MOST - 1);
                struct lade_bag_config config = config_of(kind, full, capacities[c], threads);
                config.max_times_sampled = turn % 3 == 0 ? 1 + turn % 5 : 0;
                play(&config, threads, operations + 4 * capacities[c] / SLOW, false, NOTHING, &sum);
            }
            report(&sum, "2 to 8 threads", kind_name[kind], full_name[full], CAPACITIES);
        }
    }
}

/* More threads than handles leave and join every few operations. */
static void changing_hands(void)
{
    for (unsigned kind = 0; kind <= LADE_BAG_RECORDS; kind++) {
        struct account sum = {.above = INT64_MIN};
        for (unsigned full = 0; full <= LADE_BAG_EVICT_OLDEST; full++) {
            struct lade_bag_config config = config_of(kind, full, 10, 3);
            config.max_loans =
                kind == LADE_BAG_RECORDS ? 2 * THREADS_MOST * LOANS : 0; /* loans stay with their handle */
            play(&config, 6, (check_full() ? 2000000u : 100000u) / SLOW, true, NOTHING, &sum);
        }
        report(&sum, "6 threads, 3 handles", kind_name[kind], "all ways", 3);
        check(sum.refused > 0, "lade_bag handles", "cover: %llu times no handle was free", ULL(sum.refused));
    }
}

static void sabotaged(void)
{
    static const char *const what[] = {"nothing",      "a lost element",    "an element drawn twice", "a torn record",
                                       "one too many", "a sample too many", "an eviction too early"};

    for (unsigned s = NOTHING; s < SABOTAGES; s++) {
        struct account sum = {.above = INT64_MIN};
        struct lade_bag_config config = config_of(s == EARLY || s == OVERSAMPLE ? LADE_BAG_WORDS : LADE_BAG_RECORDS,
                                                  s == EARLY ? LADE_BAG_EVICT_OLDEST : LADE_BAG_REJECT, 8, 1);
        config.max_times_sampled = s == OVERSAMPLE ? 3 : 0;
        play(&config, 1, 10000, false, s, &sum);
        bool noticed = !adds_up(&sum);
        check(noticed == (s != NOTHING), "accounting", "negative: %s is %s", what[s], noticed ? "noticed" : "accepted");
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    (void)pthread_mutex_init(&scene.mutex, NULL);
    check_within(check_full() ? 1800 : 300, "lade_bag");
    sabotaged();
    changing_hands();
    all_mixes();
    check_within(0, NULL);
    return check_end();
}
