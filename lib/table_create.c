/* SPDX-License-Identifier: MIT */
/* Creation, scans and destruction of tables. */
#include "table.h"

#include "seed.h"
#include "sized.h"

static bool is_complete(const struct lade_table_hash *hash, enum lade_table_kind kind)
{
    return !hash || (kind == LADE_TABLE_WORDS ? hash->mix && hash->unmix : hash->bytes != NULL);
}

/* Large arrays count only a part of their cells; the result includes the possible error of that count. */
static uint64_t cells_for_all(uint64_t keys)
{
    uint64_t cells = lade_table_cells_for(keys, false);

    return cells + LADE_TABLE_LINE <= LADE_TABLE_SAMPLED ? cells : lade_table_cells_for(keys + keys / 32 + 8192, false);
}

static int create_table(struct lade_table **table, const struct lade_table_config *c)
{
    const struct lade_alloc *alloc = c->alloc ? c->alloc : &lade_default;
    struct lade_table *t = NULL;
    struct array *first = NULL;
    uint64_t seed = c->seed;

    if (!table || (c->kind != LADE_TABLE_WORDS && c->kind != LADE_TABLE_BYTES) || c->reserve > LADE_TABLE_MAX / 2 ||
        !is_complete(c->hash, c->kind))
        return LADE_INVALID;
    if (!c->seeded && !lade_seed_draw(&seed))
        return LADE_IO;
    /* Starts the thread that frees old arrays, so that no operation has to. */
    if (lade_reclaim_start() != LADE_OK)
        return LADE_NO_MEMORY;
    t = lade_array_get(alloc, 1, sizeof *t);
    if (!t)
        return LADE_NO_MEMORY;
    atomic_init(&t->side[0], ABSENT);
    atomic_init(&t->side[1], ABSENT);
    atomic_init(&t->bytes, 0);
    atomic_init(&t->waiting, 0);
    atomic_init(&t->moved_cells, 0);
    atomic_init(&t->growths, 0);
    memcpy(&t->config, c, sizeof *c);
    if (c->hash) {
        t->hash.mix = c->hash->mix;
        t->hash.unmix = c->hash->unmix;
        t->hash.bytes = c->hash->bytes;
        t->hash.context = c->hash->context;
        t->config.hash = &t->hash;
    }
    lade_table_mixer_init(&t->mixer, seed);
    if (c->kind == LADE_TABLE_WORDS && !c->hash && lade_rcu_read_is_light())
        lade_table_mixer_init(&t->quick, seed);
    else
        t->quick.first = t->quick.second = 0;
    first = lade_table_array(t, cells_for_all(c->reserve), false);
    if (!first) {
        lade_array_put(alloc, t, 1, sizeof *t);
        return LADE_NO_MEMORY;
    }
    atomic_init(&t->root, first);
    *table = t;
    return LADE_OK;
}

int lade_table_create_sized(struct lade_table **table, const struct lade_table_config *config, size_t size)
{
    static const struct lade_table_config plain;
    struct lade_table_config copy;

    config = config ? lade_sized_in(config, size, &copy, sizeof copy) : &plain;
    return config ? create_table(table, config) : LADE_INVALID;
}

/* Records that were not yet copied to the next array are referenced only here. */
static void free_waiting(struct array *a)
{
    for (uint64_t i = 0; i < a->cells; i++) {
        uint64_t val = atomic_load_explicit(&a->cell[i].val, memory_order_relaxed);
        struct sought s;
        if (!(val & FROZEN) || (val & ~FROZEN) == ABSENT || val & TOMB)
            continue;
        seek_record(&s, atomic_load_explicit(&a->cell[i].key, memory_order_relaxed), record_of(val));
        if (look_up(next_of(a), &s) == ABSENT)
            lade_table_record_free(record_of(val));
    }
}

void lade_table_destroy(struct lade_table *t)
{
    const struct lade_alloc *alloc;
    struct array *a;

    if (!t)
        return;
    alloc = t->config.alloc ? t->config.alloc : &lade_default;
    /* lade_table_complete() retires the completed array at once, and still reads it. */
    lade_rcu_read_lock();
    if (!lade_table_complete(t) && t->config.kind == LADE_TABLE_BYTES)
        free_waiting(root_of(t));
    lade_rcu_read_unlock();
    lade_reclaim_barrier();
    if (t->config.kind == LADE_TABLE_BYTES)
        lade_reclaim_barrier(); /* arrays with records need two grace periods */
    a = root_of(t);
    while (a) {
        struct array *next = next_of(a);
        lade_table_array_free(a);
        a = next;
    }
    lade_array_put(alloc, t, 1, sizeof *t);
}

static uint64_t unmixed(const struct lade_table *t, uint64_t h)
{
    return t->config.hash ? t->config.hash->unmix(t->config.hash->context, h) : lade_table_unmix(&t->mixer, h);
}

/*
 * Returns the array to scan, which has all keys that were present before the call; NULL if memory ran out. Kept until
 * put.
 */
static struct array *hold(struct lade_table *t)
{
    struct array *a;

    lade_rcu_read_lock();
    a = lade_table_complete(t);
    if (a)
        (void)lade_ref_get(&a->ref);
    lade_rcu_read_unlock();
    return a;
}

/* Visits a word with its current value: after the array was replaced, the value may have changed elsewhere. */
static bool visit_word(struct lade_table *t, uint64_t h, uint64_t val,
                       bool (*visit)(void *, const struct lade_table_entry *), void *context)
{
    struct lade_table_entry entry;

    if (val < VALUE_0)
        return true;
    entry.key = unmixed(t, h);
    entry.bytes = NULL;
    entry.size = 0;
    entry.value = val - VALUE_0;
    return visit(context, &entry);
}

static bool visit_words(struct lade_table *t, struct array *a, bool (*visit)(void *, const struct lade_table_entry *),
                        void *context)
{
    for (int i = 0; i < 2; i++) {
        uint64_t val =
            atomic_load_explicit(&t->side[i], memory_order_acquire); /* [table.side_visit] -> [table.change] */
        if (!visit_word(t, i ? MOVED : KEY_EMPTY, val, visit, context))
            return false;
    }
    for (uint64_t i = 0; i < a->cells; i++) {
        uint64_t key = atomic_load_explicit(&a->cell[i].key, memory_order_relaxed); /* the key alone */
        struct sought s;
        uint64_t val;
        if (key == KEY_EMPTY || key == MOVED)
            continue;
        seek(&s, key, false);
        lade_rcu_read_lock();
        val = look_up(root_of(t), &s);
        lade_rcu_read_unlock();
        if (!visit_word(t, s.h, val, visit, context))
            return false;
    }
    return true;
}

static bool visit_bytes(struct lade_table *t, struct array *a, bool (*visit)(void *, const struct lade_table_entry *),
                        void *context)
{
    for (uint64_t i = 0; i < a->cells; i++) {
        uint64_t val = load_val(&a->cell[i]);
        struct lade_table_entry entry;
        struct sought s;
        if ((val & ~FROZEN) == ABSENT)
            continue;
        seek_record(&s, atomic_load_explicit(&a->cell[i].key, memory_order_relaxed), record_of(val));
        val = look_up(root_of(t), &s);
        if (!is_live(&s, val))
            continue;
        entry.key = 0;
        entry.bytes = record_of(val)->bytes;
        entry.size = record_of(val)->size;
        entry.value = record_of(val)->value;
        if (!visit(context, &entry))
            return false;
    }
    return true;
}

struct table_visitor {
    bool (*visit)(void *context, const struct lade_table_entry *entry);
    void *context;
    uint64_t visited;
};

static bool count_visit(void *context, const struct lade_table_entry *entry)
{
    struct table_visitor *v = context;

    v->visited++;
    return v->visit(v->context, entry);
}

int lade_table_for_each(struct lade_table *t, bool (*visit)(void *, const struct lade_table_entry *), void *context,
                        uint64_t *visited)
{
    struct table_visitor v = {visit, context, 0};
    struct array *a;
    bool all;

    if (visited)
        *visited = 0;
    if (!t || !visit)
        return LADE_INVALID;
    /* Records may be freed while their cells are still in the array: therefore the whole scan is one read section. */
    if (t->config.kind == LADE_TABLE_BYTES)
        lade_rcu_read_lock();
    a = hold(t);
    all = a && (t->config.kind == LADE_TABLE_BYTES ? visit_bytes : visit_words)(t, a, count_visit, &v);
    if (a)
        lade_table_array_put(a);
    if (t->config.kind == LADE_TABLE_BYTES)
        lade_rcu_read_unlock();
    if (visited)
        *visited = v.visited;
    return all ? LADE_OK : a ? LADE_CANCELLED : LADE_NO_MEMORY;
}

/* Returns whether the table had this number of cells at some moment: other threads may shrink it afterwards. */
static bool grow_to(struct lade_table *t, uint64_t cells)
{
    struct array *a;

    while (a = lade_table_complete(t), a) {
        if (a->cells >= cells)
            return true;
        if (!lade_table_grow(t, a, lade_table_cells_after(t, a, cells), false) && !lade_table_grow(t, a, cells, false))
            return false;
    }
    return false;
}

int lade_table_reserve(struct lade_table *t, uint64_t keys)
{
    bool good;

    if (!t || keys > LADE_TABLE_MAX / 2)
        return LADE_INVALID;
    lade_rcu_read_lock();
    good = grow_to(t, cells_for_all(keys));
    lade_rcu_read_unlock();
    return good ? LADE_OK : LADE_NO_MEMORY;
}

/* Reads cell i for counts only; false if it belongs to no key. */
static bool is_used(struct lade_table *t, struct array *a, uint64_t i, uint64_t *h, bool *live)
{
    uint64_t val = atomic_load_explicit(&a->cell[i].val, memory_order_relaxed) & ~FROZEN;
    struct sought s;

    *h = atomic_load_explicit(&a->cell[i].key, memory_order_relaxed);
    seek(&s, *h, t->config.kind == LADE_TABLE_BYTES);
    *live = is_live(&s, val);
    return *h != KEY_EMPTY && *h != MOVED;
}

static uint64_t count_live(struct lade_table *t, struct array *a)
{
    uint64_t count = 0, h = KEY_EMPTY;
    bool live = false;

    for (uint64_t i = 0; i < a->cells; i++)
        count += is_used(t, a, i, &h, &live) && live;
    return count;
}

static void count_probes(struct lade_table *t, struct array *a, struct lade_table_stats *stats)
{
    uint64_t sum = 0, h = KEY_EMPTY;
    bool live = false;

    for (uint64_t i = 0; i < a->cells; i++) {
        uint64_t probe, home, from, to;
        if (!is_used(t, a, i, &h, &live))
            continue;
        if (!live) {
            stats->removed++;
            continue;
        }
        home = home_of(a, h);
        from = home - home % LADE_TABLE_LINE;
        to = i - i % LADE_TABLE_LINE;
        probe = (to >= from ? to - from : to + a->cells - from) + (i - home) % LADE_TABLE_LINE + 1;
        stats->keys++;
        sum += probe;
        if (probe > stats->longest_probe)
            stats->longest_probe = probe;
    }
    stats->mean_probe = stats->keys ? (double)sum / (double)stats->keys : 0;
}

int lade_table_trim(struct lade_table *t)
{
    struct array *a;
    uint64_t cells;
    int status = LADE_OK;

    if (!t)
        return LADE_INVALID;
    lade_rcu_read_lock();
    if (atomic_load_explicit(&t->waiting, memory_order_relaxed) > 0) {
        status = LADE_LIMITED;
    } else if (a = lade_table_complete(t), !a) {
        status = LADE_NO_MEMORY;
    } else {
        cells = lade_table_cells_for(count_live(t, a), true);
        if (cells < a->cells && (!lade_table_grow(t, a, cells, true) || !lade_table_complete(t)))
            status = LADE_NO_MEMORY;
    }
    lade_rcu_read_unlock();
    return status;
}

static int measure_table(struct lade_table *t, struct lade_table_stats *stats)
{
    struct array *a;

    memset(stats, 0, sizeof *stats);
    if (!t)
        return LADE_INVALID;
    a = hold(t);
    if (a) {
        count_probes(t, a, stats);
        stats->cells = a->cells;
        lade_table_array_put(a);
    }
    for (int i = 0; i < 2 && t->config.kind == LADE_TABLE_WORDS; i++)
        stats->keys += atomic_load_explicit(&t->side[i], memory_order_relaxed) >= VALUE_0;
    stats->bytes = atomic_load_explicit(&t->bytes, memory_order_relaxed);
    stats->arrays_waiting = atomic_load_explicit(&t->waiting, memory_order_relaxed);
    stats->moved_cells = atomic_load_explicit(&t->moved_cells, memory_order_relaxed);
    stats->growths = atomic_load_explicit(&t->growths, memory_order_relaxed);
    return a ? LADE_OK : LADE_NO_MEMORY;
}

int lade_table_stats_sized(struct lade_table *table, struct lade_table_stats *stats, size_t size)
{
    struct lade_table_stats whole;
    int status = measure_table(table, &whole);

    lade_sized_out(stats, size, &whole, sizeof whole);
    return status;
}
