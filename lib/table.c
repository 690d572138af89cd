/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "prefetch.h"

/* Whether keys are words with the library's hash, and liburcu's read sections need no fence. */
static inline bool is_plain(const struct lade_table *t)
{
    return t->quick.first != 0;
}

static bool has_words(const struct lade_table *t)
{
    return t && t->config.kind == LADE_TABLE_WORDS;
}

static inline uint64_t mixed(const struct lade_table *t, uint64_t key)
{
    return t->config.hash ? t->config.hash->mix(t->config.hash->context, key) : lade_table_mix(&t->mixer, key);
}

/* Whether a key is one of the two whose mixed form equals a code; these have separate vals in side[]. */
static inline bool is_side(uint64_t h)
{
    return h + 1 <= 1;
}

static inline _Atomic uint64_t *side_of(struct lade_table *t, uint64_t h)
{
    return &t->side[h == MOVED];
}

#ifdef __GNUC__
#define LADE_TABLE_NOINLINE static __attribute__((noinline))
#else
#define LADE_TABLE_NOINLINE static
#endif

enum action { INSERT, REPLACE, REMOVE };

/* Returns the val after an action, or the same val if there is nothing to do. */
static inline uint64_t changed(const struct sought *s, enum action action, uint64_t val, uint64_t new)
{
    bool live = is_live(s, val);

    if (action == INSERT)
        return live ? val : new;
    if (!live)
        return val;
    return action == REPLACE ? new : s->is_bytes ? val | TOMB : TOMB;
}

static inline int answer(const struct sought *s, enum action action, uint64_t before)
{
    if (action == INSERT)
        return is_live(s, before) ? LADE_PRESENT : LADE_OK;
    return is_live(s, before) ? LADE_OK : LADE_ABSENT;
}

/* The CAS on the val that decides. On failure *val is the current one. */
static inline bool swap_val(_Atomic uint64_t *place, uint64_t *val, uint64_t new)
{
    LADE_STEP();
    return atomic_compare_exchange_strong_explicit(
        place, val, new, memory_order_acq_rel,
        memory_order_acquire); /* [table.change] -> [table.val], [table.change], [table.freeze] */
}

static int change_side(struct lade_table *t, const struct sought *s, enum action action, uint64_t new, uint64_t *before)
{
    _Atomic uint64_t *place = side_of(t, s->h);
    uint64_t val = atomic_load_explicit(place, memory_order_acquire); /* [table.side] -> [table.change] */

    for (;;) {
        uint64_t to = changed(s, action, val, new);
        *before = val;
        if (to == val || swap_val(place, &val, to))
            return answer(s, action, *before);
    }
}

/* Counts a cell whose key was removed or reinserted. Only the choice of a size depends on it. */
static inline void count_dead(struct array *a, const struct cell *c, const struct sought *s, uint64_t from, uint64_t to)
{
    if (!LADE_TABLE_COUNTED(a, c))
        return;
    if (is_live(s, from) && !is_live(s, to))
        LADE_TABLE_COUNT(&a->dead, 1);
    else if (from != ABSENT && !is_live(s, from))
        LADE_TABLE_COUNT(&a->dead, -UINT64_C(1));
}

/*
 * Call it inside a read section. Stores the previous val in *before. In a table of byte strings new is a record, and the
 * record that it replaces is retired here; the record of a removed key stays in its cell.
 */
static inline int change(struct lade_table *t, const struct sought *s, enum action action, uint64_t new,
                         uint64_t *before)
{
    struct array *a = root_of(t);
    struct array *back = NULL; /* the array before a, if we passed through it */
    uint64_t carried = ABSENT; /* the frozen value that arrays before a have, if present */

    if (next_of(a))
        lade_table_help(t, a);
    for (;;) {
        enum want want = carried != ABSENT ? COPY : action == INSERT ? TAKE : LOOK;
        bool counted = false;
        struct cell *c = NULL;
        uint64_t val = ABSENT;
        enum find found = find_cell(a, s, want, &c, &val, &counted);

        if (found == NOTHING) {
            *before = ABSENT;
            return LADE_ABSENT;
        }
        if (found == NO_ROOM) {
            if (!lade_table_grow(t, a, 0, false))
                return LADE_NO_MEMORY;
            continue;
        }
        if (counted && LADE_TABLE_COUNT(&a->used, 1) + 1 >= a->limit)
            (void)lade_table_grow(t, a, 0, false);
        while (found == FOUND && !(val & FROZEN) && is_of(s, val)) {
            uint64_t now = val == ABSENT ? carried : val;
            uint64_t to = changed(s, action, now, new);
            /* A carried value is stored first, so that it is visible to operations in between. */
            if (val == ABSENT && carried != ABSENT) {
                if (swap_val(&c->val, &val, carried))
                    val = carried;
                continue;
            }
            *before = now;
            if (to == now)
                return answer(s, action, now);
            if (swap_val(&c->val, &val, to)) {
                count_dead(a, c, s, now, to);
                if (s->is_bytes && now != ABSENT && action != REMOVE)
                    lade_table_retire(back, record_of(now));
                return answer(s, action, now);
            }
        }
        if (found == FOUND && (!(val & FROZEN) || !is_of(s, val)))
            continue; /* another byte string took the cell: search again */
        if (found == FOUND && val != (FROZEN | ABSENT))
            carried = is_live(s, val & ~FROZEN) ? val & ~FROZEN : ABSENT;
        back = a;
        a = next_of(a);
        if (want != LOOK)
            LADE_TABLE_TOUCH(&a->cell[home_of(a, s->h)].key);
    }
}

/* A word's value, not frozen. */
static inline bool is_open_value(uint64_t val)
{
    return (int64_t)val >= (int64_t)VALUE_0;
}

static inline int give(int status, uint64_t val, uint64_t *value)
{
    if (value && val >= VALUE_0)
        *value = val - VALUE_0;
    return status;
}

static inline uint64_t val_of(struct lade_table *t, uint64_t h)
{
    struct sought s;

    if (is_side(h))
        return atomic_load_explicit(side_of(t, h), memory_order_acquire); /* [table.side_get] -> [table.change] */
    seek(&s, h, false);
    return look_up(root_of(t), &s);
}

static inline int get(struct lade_table *t, uint64_t h, uint64_t *value)
{
    uint64_t val = val_of(t, h);

    return give(val >= VALUE_0 ? LADE_OK : LADE_ABSENT, val, value);
}

/* Inserts return the value that the key has, the other actions the value that it had. */
static int change_word(struct lade_table *t, uint64_t h, enum action action, uint64_t value, uint64_t *other)
{
    struct sought s;
    uint64_t before = ABSENT;
    int status;

    seek(&s, h, false);
    if (is_side(h))
        status = change_side(t, &s, action, value + VALUE_0, &before);
    else
        status = change(t, &s, action, value + VALUE_0, &before);
    if (action == INSERT && status == LADE_OK)
        before = value + VALUE_0;
    return give(status, before, other);
}

LADE_TABLE_NOINLINE int insert_and_unlock(struct lade_table *t, uint64_t h, uint64_t value, uint64_t *winner)
{
    int status = change_word(t, h, INSERT, value, winner);

    lade_rcu_read_unlock();
    return status;
}

LADE_TABLE_NOINLINE int change_key(struct lade_table *t, uint64_t key, enum action action, uint64_t value,
                                   uint64_t *other)
{
    int status;

    if (!has_words(t) || value > LADE_TABLE_VALUE_MAX)
        return LADE_INVALID;
    lade_rcu_read_lock();
    status = change_word(t, mixed(t, key), action, value, other);
    lade_rcu_read_unlock();
    return status;
}

LADE_TABLE_NOINLINE int get_mixed(struct lade_table *t, uint64_t key, uint64_t *value)
{
    int status;

    if (!has_words(t))
        return LADE_INVALID;
    lade_rcu_read_lock();
    status = get(t, mixed(t, key), value);
    lade_rcu_read_unlock();
    return status;
}

LADE_TABLE_NOINLINE int get_and_unlock(struct lade_table *t, uint64_t h, uint64_t *value)
{
    int status = get(t, h, value);

    lade_rcu_read_unlock();
    return status;
}

static inline int give_and_unlock(int status, uint64_t val, uint64_t *value, unsigned long before)
{
    if (value)
        *value = val - VALUE_0;
    return lade_rcu_read_unlock_light(before, status);
}

/*
 * The common case of get and insert: a key in its home cell. The fewer instructions it has, the more calls a processor
 * executes at once. So it has separate functions, which save no register and end with the read section. Keys that are
 * mixed to KEY_EMPTY take the slow path; in tables that need it, every key does. A key that is mixed to MOVED may be
 * compared with a moved cell, which never has a val.
 */
LADE_TABLE_NOINLINE int get_near(struct lade_table *t, uint64_t h, uint64_t *value, unsigned long before)
{
    struct array *a = root_of(t);
    uint64_t found;
    struct cell *c = find_near(a, home_of(a, h), h, &found);

    if (found == h) {
        uint64_t val = load_val(c);
        if (is_open_value(val))
            return give_and_unlock(LADE_OK, val, value, before);
    }
    if (found != KEY_EMPTY || is_side(h))
        return get_and_unlock(t, h, value);
    return lade_rcu_read_unlock_light(before, LADE_ABSENT);
}

int lade_table_get(struct lade_table *t, uint64_t key, uint64_t *value)
{
    unsigned long before;
    uint64_t h, val;
    struct array *a;
    struct cell *c;

    if (!t)
        return LADE_INVALID;
    h = lade_table_mix(&t->quick, key);
    if (h == KEY_EMPTY)
        return get_mixed(t, key, value);
    before = lade_rcu_read_lock_light();
    a = root_of(t);
    c = a->cell + home_of(a, h);
    if (load_key(c) != h)
        return get_near(t, h, value, before);
    val = load_val(c);
    if (!is_open_value(val))
        return get_and_unlock(t, h, value);
    return give_and_unlock(LADE_OK, val, value, before);
}

/* Stores a key and a val in an empty cell. False if another thread was faster; the cell may have the key then. */
static inline bool take_cell(struct cell *c, uint64_t h, uint64_t val)
{
    uint64_t empty = KEY_EMPTY, absent = ABSENT;

    LADE_STEP();
    if (!atomic_compare_exchange_strong_explicit(&c->key, &empty, h, memory_order_relaxed, memory_order_relaxed))
        return false;
    LADE_STEP();
    /* A thread that loads the value observes everything before this store. */
    return atomic_compare_exchange_strong_explicit(
        &c->val, &absent, val, memory_order_release,
        memory_order_relaxed); /* [table.insert] -> [table.val], [table.change], [table.freeze] */
}

LADE_TABLE_NOINLINE int insert_near(struct lade_table *t, uint64_t h, uint64_t value, uint64_t *winner,
                                    unsigned long before)
{
    struct array *a = root_of(t);
    uint64_t found;
    struct cell *c = find_near(a, home_of(a, h), h, &found);

    if (found == h) {
        uint64_t val = load_val(c);
        if (is_open_value(val))
            return give_and_unlock(LADE_PRESENT, val, winner, before);
    }
    if (found != KEY_EMPTY || is_side(h) || next_of(a) || LADE_TABLE_COUNTED(a, c) ||
        atomic_load_explicit(&a->starved, memory_order_relaxed) || !take_cell(c, h, value + VALUE_0))
        return insert_and_unlock(t, h, value, winner);
    if (winner)
        *winner = value;
    return lade_rcu_read_unlock_light(before, LADE_OK);
}

int lade_table_insert(struct lade_table *t, uint64_t key, uint64_t value, uint64_t *winner)
{
    unsigned long before;
    uint64_t h, val;
    struct array *a;
    struct cell *c;

    if (!t || !is_open_value(value + VALUE_0))
        return LADE_INVALID;
    h = lade_table_mix(&t->quick, key);
    if (h == KEY_EMPTY)
        return change_key(t, key, INSERT, value, winner);
    before = lade_rcu_read_lock_light();
    a = root_of(t);
    c = a->cell + home_of(a, h);
    if (load_key(c) != h)
        return insert_near(t, h, value, winner, before);
    val = load_val(c);
    if (!is_open_value(val))
        return insert_and_unlock(t, h, value, winner);
    return give_and_unlock(LADE_PRESENT, val, winner, before);
}

int lade_table_replace(struct lade_table *t, uint64_t key, uint64_t value, uint64_t *old)
{
    return change_key(t, key, REPLACE, value, old);
}

int lade_table_remove(struct lade_table *t, uint64_t key, uint64_t *old)
{
    return change_key(t, key, REMOVE, 0, old);
}

/* Number of lines that are prefetched before the first is used. */
#define TOGETHER 16

/* A group of keys that are prefetched together: mixed keys, and the line where the search for each begins. */
struct batch {
    uint64_t h[TOGETHER];
    struct cell *line[TOGETHER];
};

/* Mixes the next keys and prefetches their cells; returns the number of keys. */
static inline size_t prefetch_many(struct lade_table *t, const uint64_t *keys, size_t count, struct batch *b)
{
    struct array *a = root_of(t);
    size_t n = count < TOGETHER ? count : TOGETHER;

    for (size_t i = 0; i < n; i++) {
        uint64_t home;
        b->h[i] = mixed(t, keys[i]);
        home = home_of(a, b->h[i]);
        b->line[i] = a->cell + (home - home % LADE_TABLE_LINE);
        lade_prefetch_read(b->line[i]);
    }
    return n;
}

/*
 * Returns the val of a word if its cell is in this line and not frozen, else ABSENT: look_up() then decides. Which cell
 * it is cannot be predicted, so there is no branch on it: a misprediction would delay the following keys. A cell that
 * has the key keeps it, and only the val orders earlier operations: the order in which keys are loaded does not matter.
 */
static inline uint64_t val_in_line(struct cell *line, uint64_t h)
{
    struct cell *c = line;
    uint64_t val;

#pragma GCC unroll 4
    for (unsigned n = 1; n < LADE_TABLE_LINE; n++)
        c = atomic_load_explicit(&line[n].key, memory_order_relaxed) == h ? line + n : c;
    if (atomic_load_explicit(&c->key, memory_order_relaxed) != h || h == KEY_EMPTY)
        return ABSENT;
    val = load_val(c);
    return is_open_value(val) ? val : ABSENT;
}

LADE_TABLE_NOINLINE int get_late(struct lade_table *t, uint64_t h, uint64_t *value)
{
    return get(t, h, value);
}

/* Whether the arguments are valid; if not, stores LADE_INVALID for all keys. */
static bool can_batch(const struct lade_table *t, const uint64_t *keys, const uint64_t *values, int *status,
                      size_t count)
{
    if (has_words(t) && keys && values && status)
        return true;
    for (size_t i = 0; status && i < count; i++)
        status[i] = LADE_INVALID;
    return false;
}

size_t lade_table_get_many(struct lade_table *t, const uint64_t *keys, size_t count, uint64_t *values, int *status)
{
    struct batch b;
    size_t good = count;
    unsigned long before = 0;

    if (!can_batch(t, keys, values, status, count))
        return 0;
    if (is_plain(t))
        before = lade_rcu_read_lock_light();
    else
        lade_rcu_read_lock();
    for (size_t i = 0, n; i < count; i += n) {
        n = prefetch_many(t, keys + i, count - i, &b);
        for (size_t j = 0; j < n; j++) {
            uint64_t val = val_in_line(b.line[j], b.h[j]), *value = &values[i + j];
            status[i + j] = val != ABSENT ? give(LADE_OK, val, value) : get_late(t, b.h[j], value);
            good -= status[i + j] != LADE_OK;
        }
    }
    if (is_plain(t))
        (void)lade_rcu_read_unlock_light(before, LADE_OK);
    else
        lade_rcu_read_unlock();
    return good;
}

size_t lade_table_insert_many(struct lade_table *t, const uint64_t *keys, size_t count, const uint64_t *values,
                              uint64_t *winners, int *status)
{
    struct batch b;
    size_t good = 0;

    if (!can_batch(t, keys, values, status, count))
        return 0;
    for (size_t i = 0, n; i < count; i += n) {
        lade_rcu_read_lock();
        n = prefetch_many(t, keys + i, count - i, &b);
        for (size_t j = 0; j < n; j++) {
            uint64_t *winner = winners ? &winners[i + j] : NULL;
            status[i + j] = values[i + j] > LADE_TABLE_VALUE_MAX
                                ? LADE_INVALID
                                : change_word(t, b.h[j], INSERT, values[i + j], winner);
            good += status[i + j] == LADE_OK;
        }
        lade_rcu_read_unlock();
    }
    return good;
}

static bool seek_bytes(struct lade_table *t, struct sought *s, const void *key, size_t size)
{
    seek(s, KEY_EMPTY, true);
    if (!t || t->config.kind != LADE_TABLE_BYTES || (!key && size) || size > LADE_TABLE_BYTES_MAX)
        return false;
    s->h = t->config.hash ? t->config.hash->bytes(t->config.hash->context, key, size)
                          : lade_table_mix_bytes(&t->mixer, key, size);
    if (is_side(s->h))
        s->h = 1; /* the bytes distinguish equal hashes */
    s->bytes = key;
    s->size = size;
    return true;
}

int lade_table_get_bytes(struct lade_table *t, const void *key, size_t size, uint64_t *value)
{
    struct sought s;
    uint64_t val;
    int status = LADE_ABSENT;

    if (!seek_bytes(t, &s, key, size))
        return LADE_INVALID;
    lade_rcu_read_lock();
    val = look_up(root_of(t), &s);
    if (is_live(&s, val)) {
        status = LADE_OK;
        if (value)
            *value = record_of(val)->value;
    }
    lade_rcu_read_unlock();
    return status;
}

static int change_bytes(struct lade_table *t, const void *key, size_t size, enum action action, uint64_t value,
                        uint64_t *other)
{
    struct sought s;
    struct record *r = NULL;
    uint64_t before = ABSENT;
    int status;

    if (!seek_bytes(t, &s, key, size) || value > LADE_TABLE_VALUE_MAX)
        return LADE_INVALID;
    if (action == INSERT && lade_table_get_bytes(t, key, size, other) == LADE_OK)
        return LADE_PRESENT; /* no need for a record */
    if (action != REMOVE) {
        r = lade_table_record(t, key, size, value);
        if (!r)
            return LADE_NO_MEMORY;
    }
    lade_rcu_read_lock();
    status = change(t, &s, action, (uint64_t)(uintptr_t)r, &before);
    if (other && is_live(&s, before))
        *other = record_of(before)->value;
    lade_rcu_read_unlock();
    if (other && action == INSERT && status == LADE_OK)
        *other = value;
    if (r && status != LADE_OK)
        lade_table_record_free(r);
    return status;
}

int lade_table_insert_bytes(struct lade_table *t, const void *key, size_t size, uint64_t value, uint64_t *winner)
{
    return change_bytes(t, key, size, INSERT, value, winner);
}

int lade_table_replace_bytes(struct lade_table *t, const void *key, size_t size, uint64_t value, uint64_t *old)
{
    return change_bytes(t, key, size, REPLACE, value, old);
}

int lade_table_remove_bytes(struct lade_table *t, const void *key, size_t size, uint64_t *old)
{
    return change_bytes(t, key, size, REMOVE, 0, old);
}
