/* SPDX-License-Identifier: MIT */
/*
 * Graphs outside of this process: saved executions, and several processes on one exploration.
 *
 * A work item is a graph and one choice to take on it, and is self-contained. With --jobs the processes share memory:
 * an idle process requests work, and a process that has choices left gives away the oldest, which is the largest.
 */
#include "native.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- packing ---- */

struct packed {
    uint32_t magic, events, places, bytes;
    uint64_t program;
};

struct packed_place {
    uint64_t addr;
    word init;
    int32_t id, size, count, life;
};

enum { MAGIC = 0x6c616465 };

/* Its call sites identify a program. */
static uint64_t program_hash(void)
{
    static uint64_t h;

    if (!h) {
        h = 0xcbf29ce484222325u;
        for (size_t i = 0; i < symbol_sites(); i++) {
            struct site s = symbol_nth(i);
            h = (h ^ s.pc) * 0x100000001b3u;
            h = (h ^ (uint64_t)s.line) * 0x100000001b3u;
        }
    }
    return h;
}

/* Writes the graph into the buffer; 0 when it does not fit. */
size_t share_pack(const struct graph *g, char *out, size_t room)
{
    struct packed head = {MAGIC, (uint32_t)g->count, 0, 0, program_hash()};
    size_t at = sizeof head, size = (size_t)g->count * sizeof *g->event;

    if (at + size > room)
        return 0;
    memcpy(out + at, g->event, size);
    at += size;
    for (int i = 0; i < g->places; i++) {
        const struct place *p = &g->place[i];
        struct packed_place q = {p->addr, p->init, i, p->size, p->count, p->life};
        size_t line = (size_t)p->count * sizeof *p->mo;
        if (p->last < 0)
            continue;
        if (at + sizeof q + line > room)
            return 0;
        memcpy(out + at, &q, sizeof q);
        memcpy(out + at + sizeof q, p->mo, line);
        at += sizeof q + line;
        head.places++;
    }
    head.bytes = (uint32_t)at;
    memcpy(out, &head, sizeof head);
    return at;
}

/* Rebuilds a graph; locations get new numbers. */
bool share_unpack(struct graph *g, const char *in, size_t size)
{
    struct packed head;
    int32_t *number = NULL;
    int numbers = 0;

    memcpy(&head, in, sizeof head);
    if (size < sizeof head || head.magic != MAGIC || head.bytes > size || head.program != program_hash())
        return false;
    const char *events = in + sizeof head, *at = events + head.events * sizeof(struct event);
    graph_reset(g);
    for (uint32_t i = 0; i < head.places; i++) {
        struct packed_place q;
        bool clash;
        memcpy(&q, at, sizeof q);
        int id = graph_place(g, q.addr, q.life, q.size, q.init, &clash);
        if (q.id >= numbers) {
            number = realloc(number, (size_t)(q.id + 1) * sizeof *number);
            if (!number)
                engine_bug("out of memory");
            numbers = q.id + 1;
        }
        number[q.id] = id;
        struct place *p = &g->place[id];
        if (p->room < q.count) {
            p->mo = realloc(p->mo, (size_t)q.count * sizeof *p->mo);
            if (!p->mo)
                engine_bug("out of memory");
            p->room = q.count;
        }
        memcpy(p->mo, at + sizeof q, (size_t)q.count * sizeof *p->mo);
        p->count = q.count;
        at += sizeof q + (size_t)q.count * sizeof *p->mo;
    }
    for (uint32_t i = 0; i < head.events; i++) {
        struct event e;
        memcpy(&e, events + i * sizeof e, sizeof e);
        struct event *f = graph_add(g, e.thread);
        int loc = e.loc;
        *f = e;
        if (loc >= 0)
            graph_link(g, (int)i, number[loc]);
    }
    free(number);
    return true;
}

void share_save(const char *path)
{
    size_t room = 1 << 26;
    char *buffer = malloc(room);
    FILE *f = fopen(path, "wb");
    size_t n = buffer ? share_pack(G, buffer, room) : 0;

    if (!f || !n || fwrite(buffer, 1, n, f) != n || fclose(f))
        engine_bug("cannot write %s", path);
    free(buffer);
}

bool share_load(const char *path, struct graph *g)
{
    size_t room = 1 << 26;
    char *buffer = malloc(room);
    FILE *f = fopen(path, "rb");
    size_t n = f && buffer ? fread(buffer, 1, room, f) : 0;
    bool ok = n > sizeof(struct packed) && share_unpack(g, buffer, n);

    if (f)
        fclose(f);
    free(buffer);
    return ok;
}

/* ---- several processes ---- */

enum { JOBS = 64, SLOT = 1 << 20 };

struct shared {
    atomic_int hungry, active, stop, reporter;
    struct {
        atomic_int full; /* 0 free, 1 being filled, 2 work inside, 3 its owner wants work */
        size_t size;
        char item[64];
        struct statistics statistics;
        atomic_bool done;
    } job[JOBS];
};

static struct shared *shared;
static char *slots;
static int me, helper_code;

bool share_hungry(void)
{
    return shared && atomic_load_explicit(&shared->hungry, memory_order_relaxed) > 0;
}

bool share_stopped(void)
{
    return shared && atomic_load_explicit(&shared->stop, memory_order_relaxed);
}

/* The first process monitors the others: it must not wait for one that died. */
static void look_after(void)
{
    int status;

    if (me)
        return;
    while (waitpid(-1, &status, WNOHANG) > 0) {
        if (!WIFEXITED(status) || WEXITSTATUS(status) == 4)
            engine_bug("a helping process died");
        if (WEXITSTATUS(status))
            helper_code = WEXITSTATUS(status);
    }
}

/* Passes a work item to a process that requested one; false when it stays here. */
bool share_give(const struct graph *g, const void *item, size_t size)
{
    for (int j = 0; j < options.jobs; j++) {
        int wanted = 3;
        if (!atomic_compare_exchange_strong(&shared->job[j].full, &wanted, 1))
            continue;
        size_t n = share_pack(g, slots + (size_t)j * SLOT, SLOT);
        if (!n) {
            atomic_store(&shared->job[j].full, 3);
            return false;
        }
        memcpy(shared->job[j].item, item, size);
        shared->job[j].size = n;
        atomic_fetch_add(&shared->active, 1);
        atomic_fetch_sub(&shared->hungry, 1);
        atomic_store(&shared->job[j].full, 2);
        return true;
    }
    return false;
}

/* Waits for work; false when there is none left anywhere. */
bool share_take(struct graph *g, void *item, size_t size)
{
    if (!shared)
        return false;
    atomic_store(&shared->job[me].full, 3);
    atomic_fetch_add(&shared->hungry, 1);
    atomic_fetch_sub(&shared->active, 1);
    for (;;) {
        if (atomic_load(&shared->job[me].full) == 2) {
            memcpy(item, shared->job[me].item, size);
            if (!share_unpack(g, slots + (size_t)me * SLOT, shared->job[me].size))
                engine_bug("shared work is damaged");
            atomic_store(&shared->job[me].full, 0);
            return true;
        }
        if (atomic_load(&shared->stop) || atomic_load(&shared->active) == 0)
            return false;
        look_after();
        usleep(200);
    }
}

/* Starts the other processes; true in the first one. */
bool share_start(void)
{
    if (options.jobs < 2)
        return true;
    if (options.jobs > JOBS)
        options.jobs = JOBS;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    slots = mmap(NULL, (size_t)options.jobs * SLOT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED || slots == MAP_FAILED)
        engine_bug("cannot share memory");
    shared->reporter = -1;
    shared->active = options.jobs;
    fflush(NULL);
    pid_t first = getpid();
    for (int j = 1; j < options.jobs; j++) {
        pid_t p = fork();
        if (p < 0)
            engine_bug("cannot fork");
        if (!p) {
            end_with_parent(first);
            me = j;
            return false;
        }
    }
    return true;
}

static void add_up(void)
{
    for (int j = 0; j < options.jobs; j++) {
        if (j == me)
            continue;
        const struct statistics *s = &shared->job[j].statistics;
        statistics.executions += s->executions;
        statistics.blocked += s->blocked;
        statistics.runs += s->runs;
        statistics.longest = s->longest > statistics.longest ? s->longest : statistics.longest;
        statistics.frames = s->frames > statistics.frames ? s->frames : statistics.frames;
        statistics.cut |= s->cut;
        statistics.weakened |= s->weakened;
        statistics.again += s->again;
        statistics.assumed |= s->assumed;
        statistics.polls |= s->polls;
        statistics.tries |= s->tries;
        statistics.ranges |= s->ranges;
        statistics.clock |= s->clock;
        statistics.consume |= s->consume;
        statistics.called |= s->called;
        if (s->unrolled)
            statistics.unrolled = s->unrolled;
        for (int i = 0; i < COVER_NAMES && s->covered[i][0]; i++)
            cover_add(s->covered[i]);
    }
}

/*
 * Called when this process has finished its part. One process continues and reports, with the counts of all: the first
 * that failed, or else the one that began. The others end here; code is the exit code of the whole exploration.
 */
bool share_finish(bool failed, int *code)
{
    if (!shared)
        return true;
    int nobody = -1;
    bool report = false;
    if (failed) {
        report = atomic_compare_exchange_strong(&shared->reporter, &nobody, me);
        atomic_store(&shared->stop, 1);
    }
    weaker_calls();
    shared->job[me].statistics = statistics;
    atomic_store(&shared->job[me].done, true);
    if (me && !report)
        _exit(0);
    for (int j = 0; j < options.jobs; j++)
        while (!atomic_load(&shared->job[j].done)) {
            look_after();
            usleep(200);
        }
    if (!report && atomic_load(&shared->reporter) < 0)
        report = true;
    if (report)
        add_up();
    if (me || report)
        return true;
    for (int status; wait(&status) > 0;)
        if (WIFEXITED(status) && WEXITSTATUS(status))
            helper_code = WEXITSTATUS(status);
    *code = helper_code;
    return false;
}
