/* SPDX-License-Identifier: MIT */
/*
 * Sleepers at a bag wake even if the thread that should have woken them has stopped at some step, whatever they waited
 * for. Waits end in time, also under signals. Close is safe while threads are stopped at any step of a put and an
 * exchange.
 */
#include "bags.h"

#include "bag_elements.h"
#include "storm.h"

#include <stdio.h>

enum { HANG_SECONDS = 20 };

/* A thread that does one operation, stopped at a step of it. */
enum deed { D_PUT, D_DRAW, D_EXCHANGE, D_EVICT, D_SAMPLE, D_CLOSE, D_CANCEL, DEEDS };
static const char *const deed_name[] = {"put", "draw", "exchange", "evict", "sample", "close", "cancel"};

struct doer {
    struct lade_bag *bag;
    enum lade_bag_kind kind;
    enum deed deed;
    uint64_t number;
    struct step_plan plan;
    pthread_t thread;
    int status;
    uint64_t got;
};

static void *doer_body(void *arg)
{
    struct doer *d = arg;
    struct lade_bag_handle *handle = bag_enter(d->bag);
    union element e, out;
    struct lade_loan loan;

    if (d->deed == D_PUT || d->deed == D_EXCHANGE)
        element_make(d->kind, &e, d->number);
    step_plan = &d->plan;
    switch (d->deed) {
    case D_PUT:
        d->status = lade_bag_put(handle, &e);
        break;
    case D_DRAW:
        d->status = lade_bag_draw(handle, &out);
        break;
    case D_EXCHANGE:
        d->status = lade_bag_exchange(handle, &e, &out);
        break;
    case D_EVICT:
        d->status = lade_bag_evict(handle);
        break;
    case D_SAMPLE:
        d->status = lade_bag_sample(handle, &loan);
        break;
    case D_CLOSE:
        lade_bag_close(d->bag);
        break;
    default:
        lade_bag_cancel(d->bag);
    }
    step_plan = NULL;
    if (d->status == LADE_OK && (d->deed == D_DRAW || d->deed == D_EXCHANGE)) {
        d->got = element_number(d->kind, &out);
        element_drop(d->kind, &out);
    }
    if (d->status == LADE_OK && d->deed == D_SAMPLE)
        lade_bag_give_back(handle, &loan);
    if (d->status != LADE_OK && (d->deed == D_PUT || d->deed == D_EXCHANGE))
        element_drop(d->kind, &e);
    lade_bag_leave(handle);
    if (!d->plan.stopped)
        (void)sem_post(&d->plan.reached);
    return NULL;
}

/* Begins the operation; it stops at the step, or completes when it has fewer. */
static void begin_deed(struct doer *d, struct lade_bag *bag, enum lade_bag_kind kind, enum deed deed, uint64_t number,
                       unsigned step)
{
    *d = (struct doer){.bag = bag, .kind = kind, .deed = deed, .number = number, .plan = {.stop_at = step}};
    (void)sem_init(&d->plan.reached, 0, 0);
    (void)sem_init(&d->plan.resume, 0, 0);
    if (pthread_create(&d->thread, NULL, doer_body, d) != 0)
        exit(2);
    step_wait(&d->plan.reached);
}

static void end_deed(struct doer *d)
{
    (void)sem_post(&d->plan.resume);
    (void)pthread_join(d->thread, NULL);
    (void)sem_destroy(&d->plan.reached);
    (void)sem_destroy(&d->plan.resume);
}

struct drawn_set {
    unsigned times[64];
};

static uint64_t draw_all(struct lade_bag_handle *handle, enum lade_bag_kind kind, struct drawn_set *set, int *end)
{
    union element e;
    uint64_t count = 0;

    while ((*end = lade_bag_draw(handle, &e)) == LADE_OK) {
        set->times[element_number(kind, &e) % 64]++;
        element_drop(kind, &e);
        count++;
    }
    return count;
}

/*
 * Two threads are stopped at steps of a put and of an exchange (or of a second put). A third draws all, puts one,
 * closes and draws until CLOSED. Then they continue, one after the other. Each element whose put returned LADE_OK is
 * drawn once, and so is that of the third thread. After the first CLOSED only what an exchange or evicting put left is
 * drawn.
 */
static bool closed_around(enum lade_bag_kind kind, enum lade_bag_full full, enum deed second, unsigned first_step,
                          unsigned second_step, unsigned way, bool *first_stopped, bool *second_stopped)
{
    static struct doer one, two;
    struct lade_bag_config config = elements_config(kind, full, 2, 4);
    struct drawn_set set = {{0}};
    union element e;
    int end;
    bool right = true, may_leave = second == D_EXCHANGE || full == LADE_BAG_EVICT_UNIFORM;

    elements_begin(NULL);
    struct lade_bag *bag = bag_make(&config);
    struct lade_bag_handle *handle = bag_enter(bag);
    for (uint64_t number = 1; number <= (way & 1 ? 2 : 1); number++) {
        element_make(kind, &e, number);
        right = right && lade_bag_put(handle, &e) == LADE_OK;
    }
    begin_deed(&one, bag, kind, second, 11, second_step); /* sees an element inside */
    *second_stopped = one.plan.stopped;
    if (way & 2)
        (void)draw_all(handle, kind, &set, &end);
    begin_deed(&two, bag, kind, D_PUT, 10, first_step);
    *first_stopped = two.plan.stopped;
    if (!(way & 4))
        (void)draw_all(handle, kind, &set, &end);
    element_make(kind, &e, 12);
    int third = lade_bag_put(handle, &e);
    if (third != LADE_OK)
        element_drop(kind, &e);
    lade_bag_close(bag);
    (void)draw_all(handle, kind, &set, &end);
    right = right && end == LADE_CLOSED;
    end_deed(way & 8 ? &two : &one);
    end_deed(way & 8 ? &one : &two);
    uint64_t late = draw_all(handle, kind, &set, &end);
    set.times[one.got % 64] += one.got > 0;
    right = right && (late == 0 || may_leave) && end == LADE_CLOSED;
    if (full == LADE_BAG_REJECT) {
        right = right && set.times[1] == 1 && set.times[10] == (two.status == LADE_OK) &&
                set.times[11] == (one.status == LADE_OK) && set.times[12] == (third == LADE_OK);
    } else {
        for (unsigned i = 0; i < 64; i++)
            right = right && set.times[i] <= 1;
    }
    struct lade_bag_stats counts;
    lade_bag_stats(bag, &counts);
    right = right && counts.put == counts.drawn + counts.evicted;
    lade_bag_leave(handle);
    lade_bag_destroy(bag);
    return right && atomic_load(&elements.made) == atomic_load(&elements.released) && atomic_load(&elements.torn) == 0;
}

static void closed_around_all(enum lade_bag_kind kind, enum lade_bag_full full, enum deed second)
{
    unsigned trials = 0, wrong = 0, first[3] = {0};

    check_within(HANG_SECONDS * 6, "close around stopped threads");
    for (unsigned way = 0; way<16; way += SLOW> 1 ? 5 : 1) {
        bool second_stopped = true;
        for (unsigned j = 1; second_stopped; j++) {
            bool first_stopped = true;
            for (unsigned i = 1; first_stopped; i++, trials++) {
                if (closed_around(kind, full, second, i, j, way, &first_stopped, &second_stopped))
                    continue;
                if (wrong++ == 0) {
                    first[0] = way;
                    first[1] = i;
                    first[2] = j;
                }
            }
        }
    }
    check(
        wrong == 0, "close",
        "%s, %s, around a put and another %s stopped at each of their steps: %u trials, %u wrong (first: way %u, steps "
        "%u and %u)",
        kind_name[kind], full_name[full], deed_name[second], trials, wrong, first[0], first[1], first[2]);
}

/*
 * A thread sleeps. The thread whose operation would wake it stops at a step; another one completes the same operation.
 * The sleeper must wake.
 */
enum sleeping { S_DRAW, S_PUT, S_SAMPLE, S_EXCHANGE, S_RATIO_PUT, S_RATIO_SAMPLE, S_BYTES_PUT, SLEEPINGS };
static const char *const sleeping_name[] = {"draw_wait on an empty bag",    "put_wait on a full bag",
                                            "sample_wait on an empty bag",  "exchange_wait on an empty bag",
                                            "put_wait behind the ratio",    "sample_wait behind the ratio",
                                            "put_wait over the byte budget"};

struct sleeper {
    struct lade_bag *bag;
    enum sleeping how;
    int64_t timeout;
    pthread_t thread;
    sem_t over;
    int status;
};

static int sleep_through(struct sleeper *s, struct lade_bag_handle *handle)
{
    uint64_t word = 40, out;
    struct lade_loan loan;

    switch (s->how) {
    case S_DRAW:
        return lade_bag_draw_wait(handle, &word, s->timeout);
    case S_SAMPLE:
    case S_RATIO_SAMPLE:
        return lade_bag_sample_wait(handle, &loan, s->timeout);
    case S_EXCHANGE:
        return lade_bag_exchange_wait(handle, &word, &out, s->timeout);
    default:
        return lade_bag_put_wait(handle, &word, s->timeout);
    }
}

static void *sleeper_body(void *arg)
{
    struct sleeper *s = arg;
    struct lade_bag_handle *handle = bag_enter(s->bag);

    s->status = sleep_through(s, handle);
    lade_bag_leave(handle);
    (void)sem_post(&s->over);
    return NULL;
}

static size_t one_byte(void *context, const void *element)
{
    (void)context;
    (void)element;
    return 1;
}

static uint32_t waiters(struct lade_bag *bag)
{
    return atomic_load(&bag->arrived.waiters) + atomic_load(&bag->left.waiters);
}

static struct lade_bag *bag_to_sleep_on(enum sleeping how, struct lade_bag_handle **handle)
{
    struct lade_bag_config config = elements_config(LADE_BAG_WORDS, LADE_BAG_REJECT, 4, 8);

    config.drop = NULL;
    if (how == S_RATIO_PUT || how == S_RATIO_SAMPLE) {
        config.samples_per_insert = 1;
        config.ratio_slack = 1;
    }
    if (how == S_BYTES_PUT) {
        config.bytes = one_byte;
        config.byte_budget = 2;
    }
    struct lade_bag *bag = bag_make(&config);
    *handle = bag_enter(bag);
    /* Full, or as full as the limits allow; empty for threads that wait for an element. */
    uint64_t word = 1;
    struct lade_loan loan;
    if (how == S_PUT || how == S_RATIO_PUT || how == S_RATIO_SAMPLE || how == S_BYTES_PUT)
        while (lade_bag_put(*handle, &word) == LADE_OK)
            word++;
    while (how == S_RATIO_SAMPLE && lade_bag_sample(*handle, &loan) == LADE_OK)
        lade_bag_give_back(*handle, &loan);
    return bag;
}

static enum deed deed_that_wakes(enum sleeping how)
{
    return how == S_PUT || how == S_BYTES_PUT ? D_DRAW : how == S_RATIO_PUT ? D_SAMPLE : D_PUT;
}

static void begin_sleep(struct sleeper *s, struct lade_bag *bag, enum sleeping how, int64_t timeout)
{
    *s = (struct sleeper){.bag = bag, .how = how, .timeout = timeout, .status = 1};
    (void)sem_init(&s->over, 0, 0);
    if (pthread_create(&s->thread, NULL, sleeper_body, s) != 0)
        exit(2);
}

/* Whether it ends within a few seconds. If not, the sleeper is woken by other means. */
static bool wakes(struct sleeper *s)
{
    struct timespec until;
    bool woke;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    while (!(woke = sem_timedwait(&s->over, &until) == 0) && errno == EINTR)
        continue;
    if (!woke) {
        lade_bag_close(s->bag);
        lade_bag_cancel(s->bag);
    }
    (void)pthread_join(s->thread, NULL);
    (void)sem_destroy(&s->over);
    return woke;
}

static void stopped_tellers(enum sleeping how)
{
    unsigned steps = 0, slept = 0, wrong = 0, first = 0;
    bool stopped = true;

    check_within(HANG_SECONDS * 6, sleeping_name[how]);
    for (unsigned step = 1; stopped && wrong < 3; step++) {
        static struct doer one, two;
        static struct sleeper sleeper;
        struct lade_bag_handle *handle;
        struct lade_bag *bag = bag_to_sleep_on(how, &handle);
        enum deed deed = deed_that_wakes(how);

        begin_sleep(&sleeper, bag, how, LADE_FOREVER);
        while (waiters(bag) == 0)
            (void)sched_yield();
        sleep_for(300000); /* most likely it sleeps by then; if not, the test covers less */
        begin_deed(&one, bag, LADE_BAG_WORDS, deed, 20, step);
        stopped = one.plan.stopped;
        bool woke = sem_trywait(&sleeper.over) == 0;
        if (woke)
            (void)sem_post(&sleeper.over);
        slept += !woke;
        begin_deed(&two, bag, LADE_BAG_WORDS, deed, 21, 0);
        if (two.status == LADE_OK ? !wakes(&sleeper) || sleeper.status != LADE_OK
                                  : (end_deed(&one), !wakes(&sleeper) || sleeper.status != LADE_OK)) {
            wrong++;
            first = first ? first : step;
        }
        if (two.status == LADE_OK)
            end_deed(&one);
        end_deed(&two);
        steps += stopped;
        lade_bag_leave(handle);
        lade_bag_destroy(bag);
    }
    check(wrong == 0 && steps > 0 && slept > 0, "waiting",
          "%s: %s stopped at each of %u steps, another one completes, %u times not woken (first at step %u)",
          sleeping_name[how], deed_name[deed_that_wakes(how)], steps, wrong, first);
}

/* close and cancel, stopped at each step, then done by another thread: every sleeper wakes. */
static void stopped_enders(enum deed deed)
{
    unsigned steps = 0, wrong = 0;
    bool stopped = true;

    check_within(HANG_SECONDS * 6, deed_name[deed]);
    for (unsigned step = 1; stopped; step++, steps++) {
        for (unsigned how = 0; how < SLEEPINGS; how++) {
            static struct doer one, two;
            static struct sleeper sleeper[2];
            struct lade_bag_handle *handle;
            struct lade_bag *bag = bag_to_sleep_on(how, &handle);
            for (unsigned i = 0; i < 2; i++)
                begin_sleep(&sleeper[i], bag, how, LADE_FOREVER);
            while (waiters(bag) < 2)
                (void)sched_yield();
            sleep_for(100000);
            begin_deed(&one, bag, LADE_BAG_WORDS, deed, 0, step);
            stopped = one.plan.stopped;
            begin_deed(&two, bag, LADE_BAG_WORDS, deed, 0, 0);
            for (unsigned i = 0; i < 2; i++) {
                wrong += !wakes(&sleeper[i]);
                wrong += sleeper[i].status != (deed == D_CLOSE ? LADE_CLOSED : LADE_CANCELLED);
            }
            end_deed(&one);
            end_deed(&two);
            wrong += deed == D_CANCEL && how != S_PUT && how != S_RATIO_PUT && how != S_BYTES_PUT &&
                     lade_bag_put_wait(handle, &(uint64_t){5}, 0) == LADE_CANCELLED;
            lade_bag_leave(handle);
            lade_bag_destroy(bag);
        }
    }
    check(wrong == 0 && steps > 0, "waiting",
          "%s stopped at each of %u steps, then done by another thread: %u wrong ends", deed_name[deed], steps, wrong);
}

/* Not before the deadline, and soon after it; with signals too. */
static void timeouts(bool with_signals)
{
    static const int64_t timeout[] = {0, 1, 1000000, 30000000};
    unsigned calls = 0, early = 0, wrong = 0;
    int64_t latest = 0;
    pthread_t thread;

    check_within(HANG_SECONDS, "timeouts");
    if (with_signals)
        begin_storm(&thread, false);
    for (unsigned how = 0; how < SLEEPINGS; how++) {
        struct lade_bag_handle *handle;
        struct lade_bag *bag = bag_to_sleep_on(how, &handle);
        for (unsigned i = 0; i < 4; i++, calls++) {
            struct sleeper s = {.bag = bag, .how = how, .timeout = timeout[i]};
            int64_t begin = lade_now();
            wrong += sleep_through(&s, handle) != LADE_TIMEOUT;
            int64_t took = lade_now() - begin;
            early += took < timeout[i];
            latest = took - timeout[i] > latest ? took - timeout[i] : latest;
        }
        wrong += waiters(bag) != 0;
        lade_bag_leave(handle);
        lade_bag_destroy(bag);
    }
    if (with_signals)
        end_storm(thread);
    check(early == 0 && wrong == 0 && (!with_signals || atomic_load(&signals) > 0), "timeouts",
          "%u waits%s: %u too short, %u with another status; the latest came %lld microseconds late", calls,
          with_signals ? " under signals" : "", early, wrong, (long long)(latest / 1000));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    timeouts(false);
    timeouts(true);
    for (unsigned how = 0; how < SLEEPINGS; how++)
        stopped_tellers(how);
    stopped_enders(D_CLOSE);
    stopped_enders(D_CANCEL);
    for (unsigned kind = 0; kind <= LADE_BAG_RECORDS; kind++) {
        closed_around_all(kind, LADE_BAG_REJECT, D_EXCHANGE);
        closed_around_all(kind, LADE_BAG_REJECT, D_PUT);
    }
    closed_around_all(LADE_BAG_WORDS, LADE_BAG_EVICT_UNIFORM, D_EXCHANGE);
    closed_around_all(LADE_BAG_WORDS, LADE_BAG_EVICT_UNIFORM, D_PUT);
    check_within(0, NULL);
    return check_end();
}
