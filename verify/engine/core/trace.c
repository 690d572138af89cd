/* SPDX-License-Identifier: MIT */
/*
 * A counterexample in readable form: one column per thread, time downwards, in an order that extends program order and
 * reads-from; and a sentence that describes what is missing.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

static const char *const order_names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};

const char *order_name(int order)
{
    return order_names[order];
}

const char *trace_value(word v)
{
    static char text[8][48];
    static int turn;
    char *out = text[turn = (turn + 1) % 8];
    uint64_t p = (uint64_t)v;

    if (v >> 64)
        snprintf(out, sizeof *text, "0x%lx%016lx", (unsigned long)(v >> 64), (unsigned long)v);
    else if (p < 1000000)
        snprintf(out, sizeof *text, "%lu", (unsigned long)p);
    else if ((v & 0xffffffff) > 0xffff0000 && v <= 0xffffffff)
        snprintf(out, sizeof *text, "%d", (int)v);
    else if (p > UINT64_MAX - 1000000)
        snprintf(out, sizeof *text, "%ld", (long)p);
    else
        snprintf(out, sizeof *text, "%.47s", symbol_pointer((uintptr_t)p));
    return out;
}

/* The write half of a read-modify-write is shown together with its read. */
bool trace_hidden(const struct event *e)
{
    return (e->kind == E_WRITE && (e->flags & F_RMW)) || e->op == OP_AGAIN;
}

static int missed(const struct event *load, int *first);

static void list_threads(word set, char *out, size_t room)
{
    size_t n = (size_t)snprintf(out, room, set ? "wakes" : "wakes nobody");

    for (int t = 0; t < MAX_THREADS && n < room; t++)
        if (set >> t & 1)
            n += (size_t)snprintf(out + n, room - n, " T%d", t);
}

/* How a call that may wait, or tries, has ended. */
static const char *lock_result(const struct event *e)
{
    if (e->flags & F_WAITS)
        return ": waits";
    if ((e->flags & F_SPURIOUS) && e->extra)
        return ": timed out";
    if (e->flags & F_SPURIOUS)
        return ": spurious";
    return e->op >= OP_TRYLOCK && !(e->flags & F_RMW) ? ": taken" : "";
}

static void describe_lock(const struct event *e, const char *x, const char *v, char *out, size_t room)
{
    static const char *const names[] = {[OP_ARRIVE] = "arrive at", [OP_POST] = "post", [OP_PEEK] = "value of", [OP_RUNLOCK] = "read-unlock",
                                        [OP_ENTER] = "begin to wait on", [OP_LEAVE] = "do not wait on", [OP_LOCK] = "lock", [OP_RLOCK] = "read-lock",
                                        [OP_TAKE] = "take", [OP_ONCE] = "once", [OP_AWAIT] = "pass", [OP_SLEEP] = "wait on",
                                        [OP_TRYLOCK] = "trylock", [OP_TRYRLOCK] = "try read-lock", [OP_TRYTAKE] = "try take"};
    char who[160];

    if (e->op == OP_SIGNAL) {
        word left = e->flags & F_RMW ? ev(G->thread[e->thread].at[e->index + 1])->value : 0;
        list_threads(e->value & ~left, who, sizeof who);
        snprintf(out, room, "%s %s: %s", e->operand ? "signal" : "broadcast", x, who);
    } else if (e->op == OP_ARRIVE || e->op == OP_PEEK) {
        snprintf(out, room, "%s %s: %s", names[e->op], x, v);
    } else if (e->op == OP_ONCE && !(e->flags & F_WAITS)) {
        snprintf(out, room, "once %s: %s", x, e->value ? "done" : "runs");
    } else if (e->op == OP_SLEEP && !(e->flags & (F_WAITS | F_SPURIOUS))) {
        snprintf(out, room, "wait on %s: woken", x);
    } else {
        snprintf(out, room, "%s%s %s%s", e->op == OP_LOCK && e->size > 1 ? "write-" : "", names[e->op], x, lock_result(e));
    }
}

static void describe_read(const struct event *e, char *out, size_t room)
{
    const char *order = order_name(e->order), *v = trace_value(e->value);
    char x[200]; /* symbol_name overwrites its result, and values may be names too */

    snprintf(x, sizeof x, "%s", symbol_name(G->place[e->loc].addr));

    if (is_lock(e->op)) {
        describe_lock(e, x, v, out, room);
    } else if (e->op == OP_LOAD) {
        snprintf(out, room, "%s -> %s %s", x, v, order);
    } else if (e->flags & F_RMW) {
        const struct event *w = ev(G->thread[e->thread].at[e->index + 1]);
        snprintf(out, room, "%s: %s => %s %s", x, v, trace_value(w->value), order);
    } else {
        snprintf(out, room, "%s: cas fails, saw %s%s %s", x, v, e->flags & F_SPURIOUS ? " (spurious)" : "",
                 order_name(e->fail_order));
    }
}

const char *trace_event(const struct event *e)
{
    static char out[600];
    char name[200];

    out[0] = 0;
    snprintf(name, sizeof name, "%s", e->kind == E_WRITE ? symbol_name(G->place[e->loc].addr) : "");
    switch (e->kind) {
    case E_READ:
        describe_read(e, out, sizeof out);
        break;
    case E_WRITE:
        if (e->op == OP_UNLOCK)
            snprintf(out, sizeof out, "%s %s", e->value == destroyed(e->size) ? "destroy" : e->order == RELAXED ? "init" : "unlock", name);
        else
            snprintf(out, sizeof out, "%s = %s %s", name, trace_value(e->value), e->op == OP_PLAIN ? "plain" : order_name(e->order));
        break;
    case E_FENCE:
        snprintf(out, sizeof out, "fence %s", order_name(e->order));
        break;
    case E_CREATE:
        snprintf(out, sizeof out, "create T%u", e->extra);
        break;
    case E_JOIN:
        snprintf(out, sizeof out, "join T%u", e->extra);
        break;
    case E_START:
        snprintf(out, sizeof out, "start");
        break;
    case E_END:
        snprintf(out, sizeof out, "end");
        break;
    case E_CHOICE:
        snprintf(out, sizeof out, "choose %s of %s", trace_value(e->value), trace_value(e->operand));
        break;
    default:
        snprintf(out, sizeof out, "mark");
        break;
    }
    if (e->kind == E_READ && !(e->flags & F_RMW) && !is_lock(e->op)) {
        int first, newer = missed(e, &first);
        size_t n = strlen(out);
        if (newer > 0)
            snprintf(out + n, sizeof out - n, " (stale: %d newer)", newer);
    }
    if (e->weakened) {
        size_t n = strlen(out);
        snprintf(out + n, sizeof out - n, " [weakened]");
    }
    return out;
}

/* ---- the order in which events are shown ---- */

static int done[MAX_THREADS]; /* how many events of each thread are shown so far */

static bool is_shown(int stamp)
{
    return stamp < 0 || done[ev(stamp)->thread] > ev(stamp)->index;
}

/* Whether a store or a load may come next in an interleaving: whatever is older at its location is shown already. */
static bool in_turn(const struct event *e)
{
    if (e->kind == E_READ || e->kind == E_WRITE)
        for (int x = G->place[e->loc].last; x >= 0; x = ev(x)->prev) {
            const struct event *a = ev(x);
            bool before = a->kind == E_WRITE ? a->pos < pos_of(e) : e->kind == E_WRITE && pos_of(a) < e->pos;
            if (before && a != e && !is_shown(x) && !(a->thread == e->thread && (a->flags & F_RMW)))
                return false;
        }
    return !(e->kind == E_READ && (e->flags & F_RMW)) || in_turn(ev(G->thread[e->thread].at[e->index + 1]));
}

/* How well the next event of the thread fits: 0 not possible yet, 1 a load or store comes too late or too early, 2 in order. */
static int fits(int t)
{
    if (done[t] >= G->thread[t].count)
        return 0;
    const struct event *e = ev(G->thread[t].at[done[t]]);
    if (e->rf >= 0 && !is_shown(e->rf))
        return 0;
    return in_turn(e) ? 3 : e->kind == E_WRITE ? 2 : 1;
}

/*
 * Stamps in an order that extends program order and reads-from, and is an interleaving if there is one that explains the
 * execution; with few changes of thread. The caller frees.
 */
int *trace_order(int *count)
{
    int *out = malloc((size_t)(G->count + 1) * sizeof *out), n = 0, t = 0;

    if (!out)
        engine_bug("out of memory");
    memset(done, 0, sizeof done);
    for (;;) {
        int best = t;
        for (int i = 0; i < G->threads && fits(best) < 3; i++)
            if (fits(i) > fits(best))
                best = i;
        if (!fits(best))
            break;
        t = best;
        do
            out[n++] = G->thread[t].at[done[t]++];
        while (ev(out[n - 1])->kind == E_READ && (ev(out[n - 1])->flags & F_RMW));
    }
    *count = n;
    return out;
}

/* How often the thread changes in that order. */
int trace_switches(void)
{
    int count, *order = trace_order(&count), n = 0;

    for (int i = 1; i < count; i++)
        n += ev(order[i])->thread != ev(order[i - 1])->thread;
    free(order);
    return n;
}

/* How many newer stores are shown before the load, and the first of them. */
static int missed(const struct event *load, int *first)
{
    int count, *order = trace_order(&count), n = 0;

    for (int i = 0; i < count && ev(order[i]) != load; i++) {
        const struct event *w = ev(order[i]);
        if (w->kind != E_WRITE || w->loc != load->loc || w->pos <= pos_of(load))
            continue;
        if (!n++ || w->pos < ev(*first)->pos)
            *first = order[i];
    }
    free(order);
    return n;
}

/* The logged plain access of a thread that took part in the failure, or NULL. */
static const struct access *partner(int t, int epoch, uintptr_t addr, bool need_write)
{
    const struct access *best = NULL;
    for (int i = 0; i < shadow_logged; i++) {
        const struct access *a = &shadow_log[i];
        if (a->thread == t && a->epoch == epoch && addr >= a->addr && addr < a->addr + a->size && a->write == need_write)
            best = a;
    }
    return best;
}

/* A block whose allocation is not ordered before an access: what its thread has stored there since then is more precise. */
static void stored_since(void)
{
    for (int i = 0; i < shadow_logged; i++) {
        const struct access *a = &shadow_log[i];
        if (a->thread == failure.other_thread && a->epoch >= failure.other_epoch && a->write && failure.addr >= a->addr &&
            failure.addr < a->addr + a->size) {
            failure.other_epoch = a->epoch;
            failure.other_pc = a->pc;
        }
    }
}

/* Fills in the source position of the other access of a race, which the shadow does not keep. */
void trace_partner(void)
{
    if (failure.kind == ERR_RACE && failure.other_pc && !failure.other_atomic)
        stored_since();
    if ((failure.kind != ERR_RACE && !failure.freeing) || failure.other_pc)
        return;
    const struct access *a = partner(failure.other_thread, failure.other_epoch, failure.addr, failure.other_write);
    if (a)
        failure.other_pc = a->pc;
}

/* ---- the sentence ---- */

static bool released(const struct event *w)
{
    for (int t = 0; t < MAX_THREADS; t++)
        if (w->rel.n[t])
            return true;
    return false;
}

static const char *where(uint64_t pc)
{
    static char out[4][300];
    static int turn;
    char *o = out[turn = (turn + 1) % 4];
    struct site s = symbol_site(pc);
    const char *base = s.file ? strrchr(s.file, '/') : NULL;

    snprintf(o, sizeof *out, "%s:%d", s.file ? (base ? base + 1 : s.file) : "?", s.line);
    return o;
}

/* A read before the second access that reads what the first access's thread wrote after it, without synchronising. */
static bool missing_link(char *out, size_t room, int from, int epoch, int to, int limit)
{
    for (int i = limit < G->thread[to].count ? limit - 1 : G->thread[to].count - 1; i >= 0; i--) {
        const struct event *r = ev(G->thread[to].at[i]);
        if (r->kind != E_READ || r->rf < 0)
            continue;
        const struct event *w = ev(r->rf);
        while (w->thread != from && (w->flags & F_RMW)) {
            int back = ev(G->thread[w->thread].at[w->index - 1])->rf;
            if (back < 0)
                break;
            w = ev(back);
        }
        if (w->thread != from || w->index < epoch)
            continue;
        bool wr = released(w);
        if (!wr)
            snprintf(out, room, "the load at %s reads the store at %s, but that store is %s", where(r->pc), where(w->pc),
                     order_name(w->order));
        else
            snprintf(out, room, "the load at %s reads the store at %s, but the load is %s", where(r->pc), where(w->pc),
                     order_name((r->op == OP_CAS && !(r->flags & F_RMW)) ? r->fail_order : r->order));
        return true;
    }
    return false;
}

/* The loads that miss a store, each line once; at most two. */
static void stale_sentence(char *out, size_t room)
{
    uint64_t told[2];
    size_t n = 0;
    int tell = 0, next;

    out[0] = 0;
    for (int s = 0; s < G->count && n + 1 < room && tell < 2; s++) {
        const struct event *e = ev(s);
        if (e->kind != E_READ || (e->flags & F_RMW) || is_lock(e->op) || !missed(e, &next) || (tell && told[0] == e->pc))
            continue;
        told[tell] = e->pc;
        n += (size_t)snprintf(out + n, room - n, "%sthe load at %s (T%d) misses the store at %s (T%d), which nothing orders before it",
                              tell++ ? "; " : "", where(e->pc), e->thread, where(ev(next)->pc), ev(next)->thread);
    }
}

static void race_sentence(char *out, size_t room)
{
    char link[400];
    int me = failure.thread;
    /* Indices that each side had reached; the later access is the one that was reported. */
    int upto = thread[me].done;

    size_t n = (size_t)snprintf(out, room, "nothing orders %s (T%d) before %s (T%d)", where(failure.other_pc),
                                failure.other_thread, where(failure.pc), me);
    if (n >= room)
        return;
    if (missing_link(link, sizeof link, failure.other_thread, failure.other_epoch, me, upto))
        snprintf(out + n, room - n, ": %s", link);
    else {
        stale_sentence(link, sizeof link);
        snprintf(out + n, room - n, ": %s", link[0] ? link : "no load of the one reads what the other stored after that");
    }
}

/* A thread waits on a condition variable forever: a signal that was there too early. */
static void signal_sentence(char *out, size_t room)
{
    const struct thread *t = &thread[failure.thread];
    const struct event *e = t->done ? ev(G->thread[t->id].at[t->done - 1]) : NULL;

    if (!e || e->op != OP_SLEEP)
        return;
    for (int x = G->place[e->loc].last; x >= 0; x = ev(x)->prev)
        if (ev(x)->op == OP_SIGNAL && ev(x)->kind == E_READ && !(ev(x)->flags & F_RMW)) {
            snprintf(out, room, "the %s at %s (T%d) woke no thread: the thread that waits at %s (T%d) had not begun to wait; change the "
                     "condition, and check it before the wait, under the mutex",
                     ev(x)->operand ? "signal" : "broadcast", where(ev(x)->pc), ev(x)->thread, where(e->pc), e->thread);
            return;
        }
}

void trace_sentence(char *out, size_t room)
{
    out[0] = 0;
    if (failure.kind == ERR_RACE || failure.freeing)
        race_sentence(out, room);
    else if (failure.kind == ERR_FREED || failure.kind == ERR_DOUBLE_FREE)
        snprintf(out, room, "freed at %s by T%d", where(failure.other_pc), failure.other_thread);
    else if (failure.kind == ERR_BOUNDS && failure.other_pc)
        snprintf(out, room, "the block was allocated at %s", where(failure.other_pc));
    else if (failure.kind == ERR_ASSERT || failure.kind == ERR_LIN)
        stale_sentence(out, room);
    else if (failure.kind == ERR_DEADLOCK)
        signal_sentence(out, room);
}

/* ---- the columns ---- */

enum { LEAST = 26, MOST = 60, SOURCE = 100 }; /* characters of a column, of a source line */

static int width;

static void row(FILE *out, int t, const char *text, uint64_t pc, bool mark)
{
    struct site s = symbol_site(pc);
    const char *base = s.file ? strrchr(s.file, '/') : NULL;

    fprintf(out, "%s", mark ? "=> " : "   ");
    for (int i = 0; i < run_threads(); i++)
        fprintf(out, "%-*.*s", width, width - 1, i == t ? text : i ? "|" : "|");
    if (s.file) {
        const char *line = symbol_line(s.file, s.line);
        int n = (int)strlen(line);
        if (n > SOURCE)
            for (n = SOURCE; n > SOURCE / 2 && line[n] != ' ' && line[n] != '('; n--)
                ;
        fprintf(out, "%s:%d  %.*s%s", base ? base + 1 : s.file, s.line, n, line, line[n] ? " ..." : "");
    }
    fprintf(out, "\n");
}

/* A plain access of the race, which is no event. */
static const char *plain_text(bool write)
{
    static char text[200];

    snprintf(text, sizeof text, "%s %s plain", write ? "store" : "load", symbol_name(failure.addr));
    return text;
}

const char *trace_failure(void)
{
    return failure.kind == ERR_RACE && !failure.atomic ? plain_text(failure.write) : error_name(failure.kind);
}

const char *trace_other(void)
{
    if (!failure.other_pc)
        return NULL;
    if (failure.kind == ERR_RACE)
        return failure.other_atomic ? NULL : plain_text(failure.other_write);
    return failure.freeing ? "access" : failure.kind == ERR_BOUNDS ? "allocation" : "free";
}

bool trace_other_precedes(const struct event *e)
{
    return failure.kind == ERR_RACE && trace_other() && e->thread == failure.other_thread && e->index == failure.other_epoch;
}

void trace_print(FILE *out)
{
    int count, *order = trace_order(&count);
    bool told = false;

    width = LEAST;
    for (int i = 0; i < count; i++) {
        int n = trace_hidden(ev(order[i])) ? 0 : (int)strlen(trace_event(ev(order[i]))) + 2;
        width = n > MOST ? MOST : n > width ? n : width;
    }
    fprintf(out, "\n   ");
    for (int t = 0; t < run_threads(); t++)
        fprintf(out, "T%-*d", width - 1, t);
    fprintf(out, "\n");
    for (int i = 0; i < count; i++) {
        const struct event *e = ev(order[i]);
        if (!told && trace_other_precedes(e)) {
            row(out, failure.other_thread, trace_other(), failure.other_pc, true);
            told = true;
        }
        if (trace_hidden(e) || e->kind == E_START || e->kind == E_END)
            continue;
        row(out, e->thread, trace_event(e), e->pc, failure.pc == e->pc && e->thread == failure.thread);
    }
    if (failure.kind == ERR_RACE && trace_other() && !told)
        row(out, failure.other_thread, trace_other(), failure.other_pc, true);
    if (failure.kind != ERR_SHOWN && (failure.kind != ERR_RACE || !failure.atomic))
        row(out, failure.thread, trace_failure(), failure.pc, true);
    fprintf(out, "\n");
    free(order);
}
