/* SPDX-License-Identifier: MIT */
/*
 * Reference counts under many threads: each object is released exactly once, never while a thread holds it, and with
 * lade_ref_put_deferred() not before the read sections that may have found it have ended. Objects are poisoned instead
 * of freed, so that a late access is detected; their memory is kept until the end of the check.
 */
#include "steps.h"

#include <lade/ref.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <urcu/urcu-memb.h>

#define ALIVE UINT64_C(0x616c6976655f6f6b)
#define POISON UINT64_C(0xdeaddeaddeaddead)
enum { THREADS = 4 };

/*
 * liburcu is not instrumented, so ThreadSanitizer does not see what a grace period orders. Checks that depend on one
 * (take_turn) are skipped; the release in the thread of the last put is not.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(WITH_TSAN)
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:liburcu-memb\nrace:take_turn\n";
}
#endif

/* Both counts at once would never be used; each check takes the one that it needs. */
struct object {
    union {
        struct lade_ref now;
        struct lade_ref_deferred later;
    } ref;
    _Atomic uint64_t state;
    _Atomic int32_t holders;   /* raised after a get, lowered before a put */
    _Atomic uint32_t released; /* how often */
    uint64_t written[THREADS]; /* plain memory: the release reads what all holders wrote */
    uint64_t sum;              /* of written[], as the release saw it */
};

static struct {
    _Atomic uint64_t released, early, again, dead_seen;
} seen;

static void seen_reset(void)
{
    atomic_store(&seen.released, 0);
    atomic_store(&seen.early, 0);
    atomic_store(&seen.again, 0);
    atomic_store(&seen.dead_seen, 0);
}

static void object_init(struct object *o)
{
    for (unsigned i = 0; i < THREADS; i++)
        o->written[i] = 0;
    o->sum = 0;
    atomic_init(&o->holders, 0);
    atomic_init(&o->released, 0);
    atomic_init(&o->state, ALIVE);
}

static void object_release(struct object *o)
{
    for (unsigned i = 0; i < THREADS; i++)
        o->sum += o->written[i];
    if (atomic_load(&o->holders) != 0)
        atomic_fetch_add(&seen.early, 1);
    if (atomic_fetch_add(&o->released, 1) != 0)
        atomic_fetch_add(&seen.again, 1);
    atomic_store(&o->state, POISON);
    atomic_fetch_add(&seen.released, 1);
}

static void release_now(struct lade_ref *ref)
{
    object_release((struct object *)((char *)ref - offsetof(struct object, ref)));
}

static void release_later(struct lade_ref_deferred *ref)
{
    object_release((struct object *)((char *)ref - offsetof(struct object, ref)));
}

/* Between get and put. */
static void use(struct object *o, unsigned thread)
{
    atomic_fetch_add(&o->holders, 1);
    if (atomic_load(&o->state) != ALIVE)
        atomic_fetch_add(&seen.dead_seen, 1);
    o->written[thread]++;
    atomic_fetch_sub(&o->holders, 1);
}

static bool clean(uint64_t released)
{
    return atomic_load(&seen.released) == released && atomic_load(&seen.early) == 0 && atomic_load(&seen.again) == 0 &&
           atomic_load(&seen.dead_seen) == 0;
}

#define SEEN_FORMAT "%llu released, %llu of them held, %llu twice, %llu seen dead by a holder"
#define SEEN_VALUES                                                                                                    \
    (unsigned long long)atomic_load(&seen.released), (unsigned long long)atomic_load(&seen.early),                     \
        (unsigned long long)atomic_load(&seen.again), (unsigned long long)atomic_load(&seen.dead_seen)

/*
 * Each thread begins with one reference to every object; the last put, wherever it is, releases. The threads
 * synchronise sometimes, so that they work on the same objects.
 */
enum { TOGETHER = 8 };
static pthread_barrier_t meeting;

struct party {
    struct object *object;
    size_t objects;
    unsigned number;
    uint64_t random, uses, failed, gained, last;
};

static void *party_body(void *arg)
{
    struct party *p = arg;

    for (size_t i = 0; i < p->objects; i++) {
        struct object *o = &p->object[i];
        unsigned held = 1;
        if (i % TOGETHER == 0)
            (void)pthread_barrier_wait(&meeting);
        for (unsigned turn = check_below(&p->random, 8); turn > 0; turn--) {
            use(o, p->number);
            p->uses++;
            if (check_below(&p->random, 2) == 0) {
                p->failed += lade_ref_get(&o->ref.now) != LADE_OK;
                held++;
            } else if (held > 1) {
                p->failed += lade_ref_put(&o->ref.now, release_now) != LADE_OK;
                held--;
            }
            step_pause(&p->random);
        }
        for (; held > 0; held--) {
            int status = lade_ref_put(&o->ref.now, release_now);
            p->failed += status != LADE_OK && status != LADE_RELEASED;
            p->last += status == LADE_RELEASED;
        }
        /* The memory is still there; a count of zero must stay zero. */
        if (lade_ref_get_unless_zero(&o->ref.now)) {
            use(o, p->number);
            p->uses++;
            p->gained++;
            p->last += lade_ref_put(&o->ref.now, release_now) == LADE_RELEASED;
        }
    }
    return NULL;
}

static void party(void)
{
    size_t objects = check_full() ? 2000000 : 100000;
    struct object *object = check_memory(objects, sizeof *object);
    struct party member[THREADS] = {{0}};
    uint64_t random = check_seed(), uses = 0, failed = 0, gained = 0, last = 0, sum = 0;

    seen_reset();
    for (size_t i = 0; i < objects; i++) {
        object_init(&object[i]);
        lade_ref_init(&object[i].ref.now);
        for (unsigned j = 1; j < THREADS; j++)
            failed += lade_ref_get(&object[i].ref.now) != LADE_OK;
    }
    for (unsigned i = 0; i < THREADS; i++)
        member[i] = (struct party){.object = object, .objects = objects, .number = i, .random = check_next(&random)};
    (void)pthread_barrier_init(&meeting, NULL, THREADS);
    check_threads(THREADS, party_body, member, sizeof *member);
    (void)pthread_barrier_destroy(&meeting);
    for (unsigned i = 0; i < THREADS; i++) {
        uses += member[i].uses;
        failed += member[i].failed;
        gained += member[i].gained;
        last += member[i].last;
    }
    for (size_t i = 0; i < objects; i++)
        sum += object[i].sum;
    check(clean(objects) && failed == 0 && last == objects && sum == uses, "get and put",
          "%zu objects, %d threads, " SEEN_FORMAT
          "; %llu uses, %llu seen by the release; revived before zero %llu times",
          objects, (int)THREADS, SEEN_VALUES, (unsigned long long)uses, (unsigned long long)sum,
          (unsigned long long)gained);
    free(object);
}

/* Places that hold one reference each to an object; writers replace it, readers find it in a read section. */
enum { PLACES = 4 };
struct shop {
    struct object *object;
    _Atomic size_t next;
    size_t objects;
    _Atomic(struct object *) place[PLACES];
};

struct clerk {
    struct shop *shop;
    unsigned number;
    uint64_t random, borrowed, missed, replaced, failed, dead;
};

static struct object *fresh(struct shop *s)
{
    size_t i = atomic_fetch_add(&s->next, 1);

    if (i >= s->objects)
        return NULL;
    object_init(&s->object[i]);
    lade_ref_init(&s->object[i].ref.later.ref);
    return &s->object[i];
}

static void replace(struct clerk *c)
{
    struct object *o = fresh(c->shop), *old = NULL;

    if (!o)
        return;
    old = atomic_exchange(&c->shop->place[check_below(&c->random, PLACES)], o);
    int status = lade_ref_put_deferred(&old->ref.later, release_later);
    c->failed += status != LADE_OK && status != LADE_RELEASED;
    c->replaced++;
}

static void borrow(struct clerk *c)
{
    struct object *o = NULL;
    bool got = false;

    urcu_memb_read_lock();
    o = atomic_load(&c->shop->place[check_below(&c->random, PLACES)]);
    step_pause(&c->random);
    c->dead += atomic_load(&o->state) != ALIVE; /* released inside the section that found it */
    got = lade_ref_get_unless_zero(&o->ref.later.ref);
    c->dead += atomic_load(&o->state) != ALIVE;
    urcu_memb_read_unlock();
    if (!got) {
        c->missed++;
        return;
    }
    use(o, c->number);
    if (check_below(&c->random, 4) == 0) {
        c->failed += lade_ref_get(&o->ref.later.ref) != LADE_OK;
        use(o, c->number);
        c->borrowed++;
        int status = lade_ref_put_deferred(&o->ref.later, release_later);
        c->failed += status != LADE_OK;
    }
    step_pause(&c->random);
    int status = lade_ref_put_deferred(&o->ref.later, release_later);
    c->failed += status != LADE_OK && status != LADE_RELEASED;
    c->borrowed++;
}

static void *clerk_body(void *arg)
{
    struct clerk *c = arg;

    urcu_memb_register_thread();
    while (atomic_load_explicit(&c->shop->next, memory_order_relaxed) < c->shop->objects) {
        if (check_below(&c->random, 4) == 0)
            replace(c);
        else
            borrow(c);
    }
    urcu_memb_unregister_thread();
    return NULL;
}

static void shop(void)
{
    struct shop s = {.objects = check_full() ? 1000000 : 100000};
    struct clerk clerk[THREADS] = {{0}}, all = {0};
    uint64_t random = check_seed(), sum = 0;

    s.object = check_memory(s.objects, sizeof *s.object);
    seen_reset();
    for (unsigned i = 0; i < PLACES; i++)
        atomic_init(&s.place[i], fresh(&s));
    for (unsigned i = 0; i < THREADS; i++)
        clerk[i] = (struct clerk){.shop = &s, .number = i, .random = check_next(&random)};
    check_threads(THREADS, clerk_body, clerk, sizeof *clerk);
    urcu_memb_register_thread();
    for (unsigned i = 0; i < PLACES; i++)
        all.failed += lade_ref_put_deferred(&atomic_load(&s.place[i])->ref.later, release_later) != LADE_RELEASED;
    urcu_memb_unregister_thread();
    lade_ref_barrier();
    for (unsigned i = 0; i < THREADS; i++) {
        all.borrowed += clerk[i].borrowed;
        all.missed += clerk[i].missed;
        all.failed += clerk[i].failed;
        all.dead += clerk[i].dead;
    }
    for (size_t i = 0; i < s.objects; i++)
        if (atomic_load(&s.object[i].released) > 0) /* which also makes the helper's writes visible */
            sum += s.object[i].sum;
    check(clean(s.objects) && all.failed == 0 && all.dead == 0 && sum == all.borrowed, "put_deferred with readers",
          "%zu objects, %d threads, " SEEN_FORMAT
          "; %llu borrowed, %llu found too late, %llu dead inside a read section",
          s.objects, (int)THREADS, SEEN_VALUES, (unsigned long long)all.borrowed, (unsigned long long)all.missed,
          (unsigned long long)all.dead);
    check(all.borrowed > 0, "put_deferred with readers", "cover: %llu borrowed", (unsigned long long)all.borrowed);
    free(s.object);
}

/* More references than the count can hold: saturated forever, never released. */
struct crowd {
    struct object *object;
    uint64_t gets, saturated, released;
};

static void *crowd_body(void *arg)
{
    struct crowd *c = arg;

    for (uint64_t i = 0; i < c->gets; i++)
        c->saturated += lade_ref_get(&c->object->ref.now) == LADE_SATURATED;
    for (uint64_t i = 0; i < c->gets; i++) {
        c->released += lade_ref_put(&c->object->ref.now, release_now) == LADE_RELEASED;
        c->released += !lade_ref_get_unless_zero(&c->object->ref.now);
    }
    return NULL;
}

static void saturation(void)
{
    enum { GETS = 20000 };
    struct object object;
    struct crowd crowd[THREADS];
    uint64_t saturated = 0, released = 0;

    seen_reset();
    object_init(&object);
    lade_ref_init(&object.ref.now);
    object.ref.now.count = LADE_REF_MAX - GETS; /* as if that number of references had been taken */
    for (unsigned i = 0; i < THREADS; i++)
        crowd[i] = (struct crowd){&object, GETS, 0, 0};
    check_threads(THREADS, crowd_body, crowd, sizeof *crowd);
    for (unsigned i = 0; i < THREADS; i++) {
        saturated += crowd[i].saturated;
        released += crowd[i].released;
    }
    check(saturated > 0 && released == 0 && clean(0) && lade_ref_count(&object.ref.now) == UINT32_MAX, "saturation",
          "%d threads, %d gets and puts each around the limit, %llu returned SATURATED, released %llu times",
          (int)THREADS, (int)GETS, (unsigned long long)saturated, (unsigned long long)released);
}

/* A reader stays inside a read section with a pointer while the last reference is put. */
struct reader {
    _Atomic(struct object *) place;
    sem_t inside, look, looked, leave;
    bool alive;
};

static void *reader_body(void *arg)
{
    struct reader *r = arg;

    urcu_memb_register_thread();
    urcu_memb_read_lock();
    struct object *o = atomic_load(&r->place);
    (void)sem_post(&r->inside);
    step_wait(&r->look);
    r->alive = atomic_load(&o->state) == ALIVE;
    (void)sem_post(&r->looked);
    step_wait(&r->leave);
    urcu_memb_read_unlock();
    urcu_memb_unregister_thread();
    return NULL;
}

/* Does the reader find the object alive after the put, and is it released in the end? */
static bool reader_safe(bool deferred, bool *released_after)
{
    static struct object object;
    struct reader r = {.alive = false};
    pthread_t thread;

    seen_reset();
    object_init(&object);
    lade_ref_init(&object.ref.now);
    atomic_init(&r.place, &object);
    (void)sem_init(&r.inside, 0, 0);
    (void)sem_init(&r.look, 0, 0);
    (void)sem_init(&r.looked, 0, 0);
    (void)sem_init(&r.leave, 0, 0);
    if (pthread_create(&thread, NULL, reader_body, &r) != 0)
        exit(2);
    step_wait(&r.inside);
    urcu_memb_register_thread();
    atomic_store(&r.place, NULL);
    int status =
        deferred ? lade_ref_put_deferred(&object.ref.later, release_later) : lade_ref_put(&object.ref.now, release_now);
    urcu_memb_unregister_thread();
    (void)sem_post(&r.look);
    step_wait(&r.looked);
    (void)sem_post(&r.leave);
    (void)pthread_join(thread, NULL);
    lade_ref_barrier();
    *released_after = status == LADE_RELEASED && clean(1);
    (void)sem_destroy(&r.inside);
    (void)sem_destroy(&r.look);
    (void)sem_destroy(&r.looked);
    (void)sem_destroy(&r.leave);
    return r.alive;
}

/* get_unless_zero as a load and then an addition. The hook puts the last reference in between. */
static bool broken_get_unless_zero(struct object *o)
{
    bool alive = lade_ref_count(&o->ref.now) != 0;

    (void)lade_ref_put(&o->ref.now, release_now);
    return alive;
}

static void negatives(void)
{
    static struct object object;
    bool released = false, alive = reader_safe(true, &released);

    check(alive && released, "deferred release", "object %s in the read section after the last put, %s afterwards",
          alive ? "alive" : "dead", released ? "released once" : "not released once");
    alive = reader_safe(false, &released);
    check(!alive && released, "release at once under a reader", "negative: the reader found the object %s",
          alive ? "alive" : "dead");

    seen_reset();
    object_init(&object);
    lade_ref_init(&object.ref.now);
    if (broken_get_unless_zero(&object))
        use(&object, 0);
    check(!clean(1), "look, then add", "negative: " SEEN_FORMAT, SEEN_VALUES);

    seen_reset();
    object_init(&object);
    lade_ref_init(&object.ref.now);
    atomic_fetch_add(&object.holders, 1); /* a holder that took no reference */
    (void)lade_ref_put(&object.ref.now, release_now);
    release_now(&object.ref.now); /* and one release too many */
    check(!clean(2) && atomic_load(&seen.early) > 0 && atomic_load(&seen.again) > 0, "held and twice",
          "negative: " SEEN_FORMAT, SEEN_VALUES);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    negatives();
    party();
    shop();
    saturation();
    return check_end();
}
