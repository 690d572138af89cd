/* SPDX-License-Identifier: MIT */
/* Plans of packed batches: windows, rows, rounds, and where a saved run continues. */
#include "loader_pack.h"

#include "heap.h"
#include "ignore.h"
#include "thread.h"

enum { PACK = 0x6b636170 }; /* purpose of lade_key_make() */

static int no_memory(struct lade_error *error)
{
    return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory to pack a window of samples");
}

bool lade_pack_work_init(const struct lade_loader *l, struct lade_pack_work *w)
{
    const struct lade_pack *p = l->pack;

    *w =
        (struct lade_pack_work){.ids = lade_heap_raw(l->config.alloc, (size_t)p->window, sizeof *w->ids),
                                .piece = lade_heap_raw(l->config.alloc, (size_t)l->samples_max, sizeof *w->piece),
                                .begin = lade_heap_raw(l->config.alloc, (size_t)l->config.batch + 1, sizeof *w->begin)};
    if (w->ids && w->piece && w->begin)
        return true;
    lade_pack_work_free(l, w);
    return false;
}

void lade_pack_work_free(const struct lade_loader *l, struct lade_pack_work *w)
{
    const struct lade_alloc *alloc = l->config.alloc;

    lade_heap_put(alloc, w->ids);
    lade_heap_put(alloc, w->found);
    lade_heap_put(alloc, w->length);
    lade_heap_put(alloc, w->piece);
    lade_heap_put(alloc, w->begin);
    lade_heap_put(alloc, w->window.piece);
    lade_heap_put(alloc, w->window.begin);
    lade_packer_free(&w->packer, alloc);
    lade_walk_free(&w->walk, alloc);
    *w = (struct lade_pack_work){0};
}

/* Makes memory for this many pieces of a window. */
static int reserve(const struct lade_loader *l, struct lade_pack_work *w, uint64_t pieces, struct lade_error *error)
{
    const struct lade_alloc *alloc = l->config.alloc;
    size_t capacity = w->found_max ? w->found_max : (size_t)l->pack->window;

    if (pieces <= w->found_max)
        return LADE_OK;
    if (pieces > LADE_PACK_PIECES_MAX)
        return lade_fail(error, LADE_LIMITED, NULL, LADE_NO_OFFSET,
                         "the samples of a window are split into more than %u parts; use longer rows or fewer samples",
                         LADE_PACK_PIECES_MAX);
    while (capacity < pieces)
        capacity *= 2;
    struct lade_piece *found = lade_heap_resize(alloc, w->found, capacity, sizeof *found);
    w->found = found ? found : w->found;
    uint32_t *length = lade_heap_resize(alloc, w->length, capacity, sizeof *length);
    w->length = length ? length : w->length;
    struct lade_piece *piece = lade_heap_resize(alloc, w->window.piece, capacity, sizeof *piece);
    w->window.piece = piece ? piece : w->window.piece;
    uint32_t *begin = lade_heap_resize(alloc, w->window.begin, capacity + 1, sizeof *begin);
    w->window.begin = begin ? begin : w->window.begin;
    if (!found || !length || !piece || !begin || !lade_packer_reserve(&w->packer, capacity, alloc))
        return no_memory(error);
    w->found_max = capacity;
    return LADE_OK;
}

/* Adds a number to a checksum. */
static uint64_t add(uint64_t sum, uint64_t number)
{
    sum = (sum ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 32;
}

/* Lists the pieces of a sample. LADE_OK or an error. */
static int add_sample(const struct lade_loader *l, struct lade_pack_work *w, uint64_t id, uint64_t *pieces,
                      uint64_t *sum, struct lade_error *error)
{
    const struct lade_pack *p = l->pack;
    uint64_t length = 0;
    const bool known = lade_fields_packed_length(l, id, &length, NULL) == LADE_OK;
    const bool longer = known && length > p->steps;
    const bool faulty = !known || (longer && p->longer == LADE_LONGER_FAULT);

    *sum = add(add(*sum, id), known ? length : UINT64_MAX);
    if (longer && p->longer == LADE_LONGER_DROP) {
        w->window.dropped++;
        return LADE_OK;
    }
    if (faulty || (longer && p->longer == LADE_LONGER_CUT))
        length = p->steps;
    const uint64_t more = length > 0 ? (length - 1) / p->steps + 1 : 1;
    int status = more > LADE_PACK_PIECES_MAX ? reserve(l, w, more, error) : reserve(l, w, *pieces + more, error);
    for (uint64_t k = 0; k < more && status == LADE_OK; k++) {
        const uint64_t from = k * p->steps, left = length - from;
        const uint32_t here = left < p->steps ? (uint32_t)left : p->steps;
        w->length[*pieces] = here;
        w->found[(*pieces)++] = (struct lade_piece){.id = id,
                                                    .from = from,
                                                    .length = here,
                                                    .cut = longer && p->longer == LADE_LONGER_CUT,
                                                    .split = more > 1,
                                                    .faulty = faulty};
    }
    return status;
}

/* Orders the rows at random, and the pieces by rows; those of a row stay in the order of the samples. */
static void arrange(const struct lade_loader *l, struct lade_pack_work *w, uint32_t pieces)
{
    struct lade_pack_window *x = &w->window;
    uint32_t *to = w->packer.sorted, *row = w->packer.row; /* where a row goes; the row of a piece */
    struct lade_random random;

    for (uint32_t r = 0; r < x->rows; r++)
        to[r] = r;
    lade_random_init(&random, lade_key_make(l->config.seed, x->epoch, PACK), x->members);
    for (uint32_t r = x->rows; r > 1 && !l->config.sequential; r--) {
        const uint32_t other = (uint32_t)lade_random_below(&random, r), kept = to[r - 1];
        to[r - 1] = to[other];
        to[other] = kept;
    }
    memset(x->begin, 0, (x->rows + (size_t)1) * sizeof *x->begin);
    for (uint32_t i = 0; i < pieces; i++)
        x->begin[row[i] = to[row[i]]]++;
    for (uint32_t r = 0, sum = 0; r <= x->rows; r++) {
        const uint32_t count = x->begin[r];
        x->begin[r] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < pieces; i++)
        x->piece[x->begin[row[i]]++] = w->found[i];
    memmove(x->begin + 1, x->begin, x->rows * sizeof *x->begin); /* each is the end of its row */
    x->begin[0] = 0;
}

int lade_pack_window(const struct lade_loader *l, struct lade_pack_work *w, const struct lade_pack_cursor *at,
                     struct lade_error *error)
{
    const struct lade_pack *p = l->pack;
    struct lade_pack_window *x = &w->window;
    const uint64_t left = p->order.members - at->members, count = left < p->window ? left : p->window;
    uint64_t pieces = 0, sum = 0;
    int status = LADE_OK;

    if (x->is_valid && x->epoch == at->epoch && x->members == at->members)
        return LADE_OK;
    x->is_valid = false;
    x->epoch = at->epoch;
    x->members = at->members;
    x->dropped = 0;
    x->after = (struct lade_cursor){.epoch = at->epoch, .place = at->place, .seen = {at->members}};
    lade_order_take(&p->order, &w->walk, &x->after, w->ids, count);
    for (uint64_t i = 0; i < count && status == LADE_OK; i++)
        status = add_sample(l, w, w->ids[i], &pieces, &sum, error);
    if (status != LADE_OK)
        return status;
    x->rows = pieces ? lade_packer_run(&w->packer, w->length, (uint32_t)pieces, p->steps, p->most) : 0;
    x->law = (uint32_t)(sum ^ sum >> 32);
    if (x->rows > 0)
        arrange(l, w, (uint32_t)pieces);
    x->is_valid = true;
    return LADE_OK;
}

/* Rows that earlier runs of this epoch delivered, of all shards; and rounds in which this shard has its row already. */
static const struct lade_ranges *rows_done(const struct lade_loader *l, uint64_t epoch)
{
    return epoch == l->order.first && l->order.levels > 0 ? &l->order.level[0].shard[0] : NULL;
}

static bool is_round_done(const struct lade_loader *l, const struct lade_pack_cursor *c)
{
    return c->epoch == l->order.first && lade_ranges_hold(&l->order.done, c->round);
}

enum moved { MOVED, ENDED }; /* or an error, which is negative */

/* Moves to the first row that is not done, from this one on. */
static int seek(const struct lade_loader *l, struct lade_pack_work *w, struct lade_pack_cursor *c,
                struct lade_error *error)
{
    const struct lade_pack *p = l->pack;
    const struct lade_ranges *done = rows_done(l, c->epoch);

    while (c->members < p->order.members) {
        const struct lade_pack_window *x = &w->window;
        int status = lade_pack_window(l, w, c, error);
        if (status != LADE_OK)
            return status;
        while (c->row < x->rows && done && lade_ranges_hold(done, c->number)) {
            c->row++;
            c->number++;
        }
        if (c->row < x->rows) {
            c->law = x->law;
            return MOVED;
        }
        if (c->members / p->window % l->config.shards == l->config.shard) /* each shard counts some windows */
            w->dropped += x->dropped;
        c->place = x->after.place;
        c->members += c->members + p->window < p->order.members ? p->window : p->order.members - c->members;
        c->row = 0;
    }
    return ENDED;
}

static int step(const struct lade_loader *l, struct lade_pack_work *w, struct lade_pack_cursor *c,
                struct lade_error *error)
{
    c->row++;
    c->number++;
    return seek(l, w, c, error);
}

/* Moves past a round. take, unless NULL: called with the row of this shard, if there is one. */
static int pass_round(const struct lade_loader *l, struct lade_pack_work *w, struct lade_pack_cursor *c,
                      void take(struct lade_pack_work *w, uint64_t row, uint32_t of_window), uint64_t row,
                      struct lade_error *error)
{
    int moved = MOVED;

    for (unsigned s = 0; s < l->config.shards && moved == MOVED; s++) {
        if (take && s == l->config.shard)
            take(w, row, c->row);
        moved = step(l, w, c, error);
    }
    c->round++;
    return moved;
}

/*
 * Moves from where an epoch may begin, or a round may, to the next round that this shard has a row in. LADE_OK or an error.
 */
static int settle(const struct lade_loader *l, struct lade_pack_work *w, struct lade_pack_cursor *c, int moved,
                  struct lade_error *error)
{
    uint64_t empty = 0;

    for (;;) {
        while (moved == MOVED && is_round_done(l, c))
            moved = pass_round(l, w, c, NULL, 0, error);
        if (moved != ENDED)
            return moved;
        if (c->round == 0 && c->epoch != l->order.first && empty++ > 0)
            return lade_fail(error, LADE_EMPTY, NULL, LADE_NO_OFFSET,
                             "no sample of epoch %llu fits a row; pack into longer rows, or cut or split samples",
                             (unsigned long long)c->epoch);
        *c = (struct lade_pack_cursor){.epoch = c->epoch + 1, .before = c->round};
        moved = seek(l, w, c, error);
    }
}

static void take_row(struct lade_pack_work *w, uint64_t row, uint32_t of_window)
{
    const struct lade_pack_window *x = &w->window;
    const uint32_t from = x->begin[of_window], count = x->begin[of_window + 1] - from;

    memcpy(w->piece + w->begin[row], x->piece + from, count * sizeof *w->piece);
    w->begin[row + 1] = w->begin[row] + count;
}

/* Lists the rows of the batch that begins at c, which becomes its end. LADE_OK or an error. */
static int list_rows(const struct lade_loader *l, struct lade_pack_work *w, struct lade_pack_cursor *c, uint64_t *rows)
{
    struct lade_error *error = &w->error;
    const uint32_t law = c->law;
    int moved = seek(l, w, c, error);

    if (moved == MOVED && (c->law != law || c->row >= w->window.rows))
        moved = ENDED;
    if (moved == ENDED)
        return lade_fail(error, LADE_LIMITED, NULL, LADE_NO_OFFSET,
                         "samples of a window have other lengths than when it was packed first");
    while (*rows < l->config.batch && moved == MOVED) {
        if (is_round_done(l, c)) {
            moved = pass_round(l, w, c, NULL, 0, error);
            continue;
        }
        w->begin[*rows + 1] = w->begin[*rows]; /* an empty row, unless there is one */
        moved = pass_round(l, w, c, take_row, *rows, error);
        ++*rows;
    }
    for (; *rows < l->config.batch && moved == ENDED && l->config.pad; ++*rows)
        w->begin[*rows + 1] = w->begin[*rows];
    return settle(l, w, c, moved, error);
}

void lade_pack_plan(struct lade_worker *w, struct lade_batch_buffer *slot)
{
    const struct lade_loader *l = w->loader;
    struct lade_pack_cursor c = lade_pack_cursor_of(&w->job.start);
    struct lade_pack_work *p = w->pack;

    slot->rows = 0;
    p->dropped = 0;
    p->begin[0] = 0;
    p->status = list_rows(l, p, &c, &slot->rows);
    if (p->status != LADE_OK) { /* the batch fails, and no other one follows */
        c = (struct lade_pack_cursor){.epoch = w->job.start.epoch + 1};
        slot->rows = 0;
    }
    slot->count = p->begin[slot->rows];
    slot->packed = (struct lade_packed){.dropped = p->dropped};
    w->job.end = (struct lade_cursor){0};
    memcpy(&w->job.end, &c, sizeof c);
}

uint64_t lade_pack_mine(const struct lade_cursor *cursor)
{
    return lade_pack_cursor_of(cursor).round;
}

uint64_t lade_pack_length(const struct lade_cursor *cursor)
{
    return lade_pack_cursor_of(cursor).before;
}

/* Finds the first batch. Runs in a separate thread, because the split may need one that is registered. */
struct beginning {
    struct lade_loader *loader;
    struct lade_pack_cursor cursor;
    const uint64_t *from; /* NULL: the start of epoch 0 */
    int status;
    struct lade_error *error;
};

/* Whether a window can begin there: enough places are left for the members that are. */
static bool is_position(const struct lade_order *o, const struct lade_pack_cursor *c, uint64_t window)
{
    if (c->place > o->places || c->members > o->members || (c->members % window != 0 && c->members != o->members))
        return false;
    return lade_order_is_even(o, c->epoch) ? c->place == c->members
                                           : c->place >= c->members && o->places - c->place >= o->members - c->members;
}

/* Moves to the first round that a saved run did not complete; from: where a window begins that does not follow it. */
static int continue_run(struct beginning *b, struct lade_pack_work *w)
{
    const struct lade_loader *l = b->loader;
    const struct lade_ranges *done = rows_done(l, l->order.first);
    const uint64_t from = b->from[LADE_PACK_NUMBER], rest = from - (done ? lade_ranges_count(done, 0, from) : 0);
    struct lade_pack_cursor *c = &b->cursor;
    struct lade_pack_cursor first = {.epoch = l->order.first,
                                     .place = b->from[LADE_PACK_PLACE],
                                     .members = b->from[LADE_PACK_MEMBERS],
                                     .number = from,
                                     .before = b->from[LADE_PACK_BEFORE]};
    uint64_t round = 0;

    for (size_t i = 0; i < l->order.done.count && l->order.done.range[i].from <= round; i++)
        round = l->order.done.range[i].end;
    if (!is_position(&l->pack->order, &first, l->pack->window) || round > UINT64_MAX / l->config.shards ||
        rest > round * l->config.shards)
        return lade_fail(b->error, LADE_DAMAGED, "state", LADE_NO_OFFSET, "its position is not one of this data set");
    *c = first;
    if (first.members < l->pack->order.members) {
        int status = lade_pack_window(l, w, c, b->error);
        if (status != LADE_OK)
            return status;
        if (w->window.law != b->from[LADE_PACK_LAW])
            return lade_fail(b->error, LADE_CONFLICT, NULL, LADE_NO_OFFSET,
                             "samples have other lengths than when the state was saved");
    }
    int moved = seek(l, w, c, b->error);
    for (uint64_t x = rest; x < round * l->config.shards && moved == MOVED; x++)
        moved = step(l, w, c, b->error);
    c->round = round;
    return moved < 0 ? moved : settle(l, w, c, moved, b->error);
}

static void *find_first(void *context)
{
    struct beginning *b = context;
    struct lade_loader *l = b->loader;
    struct lade_pack_work w;

    b->status = lade_thread_enter();
    if (b->status != LADE_OK)
        return NULL;
    if (!lade_pack_work_init(l, &w)) {
        b->status = no_memory(b->error);
    } else if (b->from) {
        b->status = continue_run(b, &w);
    } else {
        int moved = seek(l, &w, &b->cursor, b->error);
        b->status = moved < 0 ? moved : moved == MOVED ? LADE_OK : LADE_EMPTY;
        l->pack->dropped = w.dropped;
    }
    lade_pack_work_free(l, &w);
    lade_thread_leave();
    return NULL;
}

int lade_pack_begin(struct lade_loader *l, const uint64_t *from, struct lade_error *error)
{
    struct beginning b = {.loader = l, .from = from, .error = error};
    struct lade_order *order = &l->pack->order;
    pthread_t thread;

    *order = l->order;
    order->shard = 0;
    order->shards = 1;
    order->pad = false;
    order->first = UINT64_MAX;
    order->levels = 0;
    order->done = (struct lade_ranges){NULL, 0};
    lade_pack_describe(l);
    if (!lade_thread_start(&thread, find_first, &b))
        return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "no thread could be started");
    (void)pthread_join(thread, NULL);
    if (b.status == LADE_EMPTY)
        return lade_fail(error, LADE_EMPTY, NULL, LADE_NO_OFFSET, "%s",
                         order->members ? "no sample fits a row; pack into longer rows, or cut or split samples"
                                        : "no sample of the source is in this part");
    memcpy(&l->next, &b.cursor, sizeof b.cursor);
    return b.status;
}

void lade_pack_position(const struct lade_loader *l, uint64_t to[LADE_PACK_WORDS])
{
    const struct lade_pack_cursor c = lade_pack_cursor_of(&l->next);

    to[LADE_PACK_PLACE] = c.place;
    to[LADE_PACK_MEMBERS] = c.members;
    to[LADE_PACK_NUMBER] = c.number - c.row;
    to[LADE_PACK_LAW] = c.law;
    to[LADE_PACK_BEFORE] = c.before;
}
