/* SPDX-License-Identifier: MIT */
/* Creation and destruction of loaders. */
#include "loader.h"

#include "alloc.h"
#include "heap.h"
#include "ignore.h"
#include "seed.h"
#include "sized.h"

#include <lade/fork.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORKER_TIMEOUT INT64_C(60000000000)
#define REPLACED_MAX 16
#define OVERTAKING 64 /* minimum slots of the ring: how far a ready batch can overtake a late one */

static int out_of_memory(struct lade_error *error)
{
    return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET,
                     "out of memory; ask for fewer slots or a smaller batch");
}

static int refuse(struct lade_error *error, const char *why)
{
    return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "%s", why);
}

static int check(const struct lade_loader_config *c, struct lade_error *error)
{
    if (!c->source)
        return refuse(error, "config.source is NULL");
    const struct lade_source_info *info = lade_source_info(c->source);
    if (c->batch == 0 || c->batch > LADE_BATCH_MAX)
        return refuse(error, "batch must be 1 to 2^24 samples");
    if (c->threads > LADE_LOADER_THREADS_MAX || c->slots > LADE_LOADER_SLOTS_MAX)
        return refuse(error, "at most 256 threads and 1,024 slots");
    if (c->shards > LADE_LOADER_SHARDS_MAX || (c->shards ? c->shard >= c->shards : c->shard > 0))
        return refuse(error, "shard must be below shards, and shards at most 4,096");
    if (c->random_seed && c->shards > 1)
        return refuse(error, "all shards must have one seed: draw it once and pass it to each");
    if (c->replaced_max > LADE_LOADER_REPLACED_MAX)
        return refuse(error, "replaced_max must be at most 1,024");
    if (c->depth > LADE_LOADER_DEPTH_MAX || (c->device && c->align > LADE_DEVICE_ALIGN))
        return refuse(error, "depth must be at most 64, and device memory cannot be aligned further");
    if (c->align & (c->align - 1) || c->align > LADE_LOADER_ALIGN_MAX)
        return refuse(error, "align must be a power of two, at most 2^30");
    if ((unsigned)c->draw > LADE_DRAW_BALANCED || (unsigned)c->fault > LADE_FAULT_SUBSTITUTE)
        return refuse(error, "unknown draw or fault policy");
    if (c->sequential && c->draw != LADE_DRAW_ONCE)
        return refuse(error, "sequential needs LADE_DRAW_ONCE");
    if (c->split) {
        struct lade_split_config split;
        lade_split_get_config(c->split, &split);
        if (c->part >= split.parts)
            return refuse(error, "the split has no such part");
    } else if (c->part > 0) {
        return refuse(error, "part is set, but there is no split");
    }
    if (c->consumer_assists && c->buffer > 0)
        return refuse(error, "consumer_assists is not available in stream mode");
    if (c->buffer > 0 && (c->buffer > LADE_BAG_MAX || c->buffer < 2 * c->batch))
        return refuse(error, "buffer must hold at least two batches, and at most 2^30 samples");
    if (info->count == LADE_ENDLESS && (c->buffer == 0 || c->shards > 1 || c->draw != LADE_DRAW_ONCE))
        return refuse(error, "an endless source needs a buffer, one shard and LADE_DRAW_ONCE");
    if (lade_mixture_of(c->source) && (c->draw != LADE_DRAW_ONCE || c->buffer > 0 || c->split))
        return refuse(error, "a mixture takes neither a split, nor draws, nor stream mode: its weights decide which "
                             "source each sample is from; give a source for each part instead");
    if (c->pack_row == 0 ? c->pack_window > 0 || c->pack_samples > 0 || c->pack_longer != LADE_LONGER_FAULT
                         : !lade_fields_wanted(c))
        return refuse(error, "packing needs pack_row, and a source with a ragged field");
    if (c->pipeline_field > 0 && (!c->pipeline || !lade_fields_wanted(c)))
        return refuse(error, "pipeline_field is set, but there is no pipeline, or the source has no schema");
    if (info->count == 0)
        return lade_fail(error, LADE_EMPTY, NULL, LADE_NO_OFFSET, "the source has no samples");
    return LADE_OK;
}

static void fill_in(struct lade_loader_config *c)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (c->threads == 0)
        c->threads = processors > 0 && processors < (long)LADE_LOADER_THREADS_MAX ? (unsigned)processors : 1;
    if (c->slots == 0)
        c->slots = 2 * c->threads + 2;
    if (c->epochs == 0)
        c->epochs = UINT64_MAX;
    if (c->shards == 0)
        c->shards = 1;
    if (c->faults_max == 0)
        c->faults_max = UINT64_MAX;
    if (c->worker_timeout <= 0 && c->worker_timeout != LADE_FOREVER)
        c->worker_timeout = WORKER_TIMEOUT;
    if (c->replaced_max == 0)
        c->replaced_max = REPLACED_MAX;
    if (c->align < LADE_DEVICE_ALIGN)
        c->align = LADE_DEVICE_ALIGN;
}

struct lade_shape lade_loader_output(const struct lade_pipeline *pipeline)
{
    const struct lade_image *image = lade_pipeline_output(pipeline);
    const uint64_t h = image->height, w = image->width, n = image->channels;
    const bool channels_first = image->layout == LADE_CHW;

    return (struct lade_shape){.dtype = image->dtype,
                               .dims = 3,
                               .dim = {channels_first ? n : h, channels_first ? h : w, channels_first ? w : n}};
}

/* Shapes of the samples, as output by the pipeline or the source, and of their labels. */
static void set_shapes(struct lade_loader *l)
{
    const struct lade_loader_config *c = &l->config;
    struct lade_shape sample = c->pipeline ? lade_loader_output(c->pipeline) : lade_source_info(c->source)->shape;

    if (sample.dims == LADE_DIMS_MAX) { /* one dimension is needed for the rows */
        sample.dims--;
        sample.dim[sample.dims - 1] *= sample.dim[sample.dims];
    }
    memmove(sample.dim + 1, sample.dim, sample.dims * sizeof *sample.dim);
    sample.dims++;
    sample.dim[0] = c->batch;
    l->tensors = LADE_BATCH_TENSORS;
    l->shape[LADE_SAMPLES] = sample;
    l->shape[LADE_LABELS] = (struct lade_shape){.dtype = LADE_I64, .dims = 1, .dim = {c->batch}};
}

static int set_sizes(struct lade_loader *l, struct lade_error *error)
{
    const struct lade_loader_config *c = &l->config;

    l->samples_max = c->batch;
    l->scratch_bytes = c->pipeline ? lade_pipeline_scratch(c->pipeline) : 0;
    if (lade_fields_wanted(c))
        return lade_fields_create(l, error);
    l->input_bytes = lade_source_info(c->source)->bytes;
    l->sample_bytes = c->pipeline ? lade_image_bytes(lade_pipeline_output(c->pipeline)) : l->input_bytes;
    if (c->pipeline && lade_image_bytes(lade_pipeline_input(c->pipeline)) != l->input_bytes)
        return refuse(error, "the pipeline takes samples of another size than the source has");
    if (l->sample_bytes == 0 || l->sample_bytes > SIZE_MAX / 4 / c->batch)
        return refuse(error, "a batch of such samples does not fit into memory");
    set_shapes(l);
    return LADE_OK;
}

/* The loader has fields on separate cache lines, so it needs alignment. */
static struct lade_loader *get_loader(const struct lade_alloc *alloc)
{
    return lade_fork_is_counted() ? lade_array_get(alloc ? alloc : &lade_default, 1, sizeof(struct lade_loader)) : NULL;
}

int lade_worker_add(struct lade_loader *l, struct lade_worker **worker, struct lade_error *error)
{
    struct lade_worker *w = &l->worker[l->workers];

    if (l->workers == l->workers_max || (!l->bag && l->buffers == l->buffers_max))
        return out_of_memory(error);
    w->loader = l;
    atomic_store_explicit(&w->committed, LADE_JOB_NONE, memory_order_relaxed); /* no thread yet */
    w->spare_plan = l->workers + 1;                                            /* plan record 0 is the first plan */
    if (l->config.pipeline && !w->input) {
        w->input = lade_heap_get(l->config.alloc, 1, l->input_bytes);
        w->scratch = lade_heap_get(l->config.alloc, 1, l->scratch_bytes + 1);
    }
    if ((l->config.pipeline && (!w->input || !w->scratch)) || (l->fields && !lade_fields_prepare(w)))
        return out_of_memory(error);
    if (!l->bag) {
        int status = lade_batch_buffer_init(l, l->buffers, error);
        if (status != LADE_OK)
            return status;
        w->buffer = l->buffers++;
        w->has_buffer = true;
    }
    l->workers++;
    *worker = w;
    return LADE_OK;
}

static void write_plan(struct lade_loader *l)
{
    struct lade_plan *first = &l->ring.plans[0];
    uint64_t word[LADE_PLAN_WORDS] = {0};

    _Static_assert(LADE_PLAN_WORDS >= 1 + LADE_CURSOR_WORDS, "a plan record holds a number and a cursor");
    memcpy(word + 1, &l->next, sizeof l->next);
    for (int i = 0; i < LADE_PLAN_WORDS; i++)
        atomic_init(&first->word[i], word[i]);
    atomic_init(&l->ring.plan, 0);
}

/* Arrays of fixed length; lade_loader_free() frees those allocated. */
static int make_ring(struct lade_loader *l, struct lade_error *error)
{
    struct lade_batch_ring *r = &l->ring;

    l->workers_max = l->config.threads + l->config.replaced_max;
    l->buffers_max = l->bag ? l->config.slots : l->config.slots + l->workers_max;
    for (r->places = l->config.in_order ? 2 : OVERTAKING; r->places <= l->buffers_max; r->places *= 2)
        continue;
    r->free_words = l->buffers_max / 64 + 1;
    r->free = lade_heap_get(l->config.alloc, r->free_words, sizeof *r->free);
    r->place = lade_heap_get(l->config.alloc, (size_t)r->places, sizeof *r->place);
    r->plans = lade_heap_get(l->config.alloc, l->workers_max + 1, sizeof *r->plans);
    l->taken = lade_heap_get(l->config.alloc, (size_t)r->places, sizeof *l->taken);
    l->end = lade_heap_get(l->config.alloc, (size_t)r->places, sizeof *l->end);
    l->from = lade_heap_get(l->config.alloc, (size_t)r->places, sizeof *l->from);
    l->slot = lade_heap_get(l->config.alloc, l->buffers_max, sizeof *l->slot);
    l->worker = lade_heap_get(l->config.alloc, l->workers_max, sizeof *l->worker);
    if (!r->free || !r->place || !r->plans || !l->taken || !l->end || !l->from || !l->slot || !l->worker)
        return out_of_memory(error);
    for (; l->buffers < l->config.slots; l->buffers++) {
        int status = lade_batch_buffer_init(l, l->buffers, error);
        if (status != LADE_OK)
            return status;
        lade_batch_ring_give(r, l->buffers);
    }
    write_plan(l);
    return LADE_OK;
}

bool lade_loader_is_here(const struct lade_loader *l)
{
    return l->generation == lade_fork_generation();
}

static void free_loader(struct lade_ref *users)
{
    struct lade_loader *l = (struct lade_loader *)(void *)((char *)users - offsetof(struct lade_loader, users));

    if (lade_loader_is_here(l)) /* a tensor that outlived the loader may be in use by a stream */
        (void)lade_stage_finish(l, -1);
    lade_stage_free(l);
    for (unsigned i = 0; l->slot && i < l->buffers_max; i++)
        lade_memory_free(l->slot[i].memory);
    for (unsigned i = 0; l->worker && i < l->workers_max; i++) {
        lade_heap_put(l->config.alloc, l->worker[i].input);
        lade_heap_put(l->config.alloc, l->worker[i].scratch);
        lade_heap_put(l->config.alloc, l->worker[i].ids);
        lade_heap_put(l->config.alloc, l->worker[i].row);
        lade_heap_put(l->config.alloc, l->worker[i].lengths);
        if (l->worker[i].pack)
            lade_pack_release(&l->worker[i]);
        lade_walk_free(&l->worker[i].walk, l->config.alloc);
    }
    lade_bag_destroy(l->bag);
    lade_shuffle_free(l);
    lade_fields_free(l);
    lade_order_free(&l->order);
    lade_heap_put(l->config.alloc, (void *)l->ring.free);
    lade_heap_put(l->config.alloc, (void *)l->ring.place);
    lade_heap_put(l->config.alloc, l->ring.plans);
    lade_heap_put(l->config.alloc, l->taken);
    lade_heap_put(l->config.alloc, l->end);
    lade_heap_put(l->config.alloc, l->from);
    lade_heap_put(l->config.alloc, l->slot);
    lade_heap_put(l->config.alloc, l->worker);
    if (l->config.device)
        lade_device_leave(l->config.device);
    lade_array_put(l->config.alloc ? l->config.alloc : &lade_default, l, 1, sizeof *l);
}

void lade_loader_leave(struct lade_loader *l)
{
    lade_ref_put(&l->users, free_loader);
}

/* Checks that there is at least one batch. */
static int look_for_samples(struct lade_loader *l, struct lade_error *error)
{
    uint64_t least = l->config.drop_last ? l->config.batch : 1;

    if (lade_order_length(&l->order, UINT64_MAX) < least)
        return lade_fail(error, LADE_EMPTY, NULL, LADE_NO_OFFSET, "%s",
                         l->order.members ? "the part, or this shard of it, has less than one full batch; use a "
                                            "smaller batch, or do not set drop_last"
                                          : "no sample of the source is in this part");
    lade_order_settle(&l->order, &l->next, least);
    return LADE_OK;
}

static int start_workers(struct lade_loader *l, struct lade_error *error)
{
    for (unsigned i = 0; i < l->config.threads; i++) {
        struct lade_worker *w;
        int status = lade_worker_add(l, &w, error);
        if (status != LADE_OK)
            return status;
        if (l->config.consumer_assists && i == 0)
            l->helper = w;
        else if (lade_worker_start(w) != LADE_OK)
            return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET,
                             "thread %u of %u could not be started; ask for fewer", i + 1, l->config.threads);
    }
    return LADE_OK;
}

static int make(struct lade_loader *l, const char *state, struct lade_error *error)
{
    bool endless = lade_source_info(l->config.source)->count == LADE_ENDLESS;
    int status = set_sizes(l, error);

    if (status == LADE_OK && !endless)
        status = lade_order_init(&l->order, &l->config, error);
    if (status == LADE_OK && state)
        status = lade_loader_restore(l, state, error);
    else if (status == LADE_OK && l->pack)
        status = lade_pack_begin(l, NULL, error);
    if (status == LADE_OK && !endless && !l->pack)
        status = look_for_samples(l, error);
    if (status == LADE_OK && l->config.buffer > 0 && !lade_shuffle_fits(l))
        status = lade_stream_create(l, error);
    if (status == LADE_OK)
        status = make_ring(l, error);
    if (status == LADE_OK && lade_shuffle_fits(l))
        status = lade_shuffle_create(l, error);
    if (status == LADE_OK && l->config.device && l->config.device->backend->copies)
        status = lade_stage_create(l, error);
    return status == LADE_OK ? start_workers(l, error) : status;
}

/* A device serves one loader at a time. The flag orders nothing: it detects misuse. */
static int take_device(struct lade_device *device, struct lade_error *error)
{
    if (!device)
        return LADE_OK;
    if (device->generation != lade_fork_generation())
        return refuse(error, "the device was opened before fork(); open one in each process");
    if (atomic_exchange_explicit(&device->is_used, 1, memory_order_relaxed))
        return refuse(
            error, "another loader uses the device; destroy that loader first, or open the device again for this one");
    lade_ref_get(&device->users);
    return LADE_OK;
}

static void free_device(struct lade_device *device)
{
    if (!device)
        return;
    atomic_store_explicit(&device->is_used, 0, memory_order_relaxed);
    lade_device_leave(device);
}

static int create(struct lade_loader **loader, const struct lade_loader_config *config, const char *state,
                  struct lade_error *error)
{
    if (!loader || !config)
        return refuse(error, "loader or config is NULL");
    int status = check(config, error);
    if (status == LADE_OK)
        status = take_device(config->device, error);
    if (status != LADE_OK)
        return status;
    struct lade_loader *l = get_loader(config->alloc);
    if (!l) {
        free_device(config->device);
        return out_of_memory(error);
    }
    memset(l, 0, sizeof *l);
    l->config = *config;
    l->generation = lade_fork_generation();
    lade_ref_init(&l->users);
    fill_in(&l->config);
    status = l->config.random_seed && !lade_seed_draw(&l->config.seed)
                 ? lade_fail(error, LADE_IO, NULL, LADE_NO_OFFSET, "the system returned no random bytes for the seed")
                 : make(l, state, error);
    if (status == LADE_OK)
        *loader = l;
    else
        lade_loader_destroy(l);
    return status;
}

int lade_loader_create_sized(struct lade_loader **loader, const struct lade_loader_config *config, size_t size,
                             struct lade_error *error)
{
    struct lade_loader_config copy;
    const struct lade_loader_config *known = config ? lade_sized_in(config, size, &copy, sizeof copy) : NULL;

    return known || !config ? create(loader, known, NULL, error) : lade_fail_unknown(error);
}

int lade_loader_resume_sized(struct lade_loader **loader, const struct lade_loader_config *config, size_t size,
                             const char *state, struct lade_error *error)
{
    struct lade_loader_config copy;
    const struct lade_loader_config *known = config ? lade_sized_in(config, size, &copy, sizeof copy) : NULL;

    if (config && !known)
        return lade_fail_unknown(error);
    if (!state || (known && known->buffer > 0))
        return refuse(error, state ? "stream mode has no state" : "state is NULL");
    return create(loader, known, state, error);
}

int lade_loader_refuse_child(struct lade_error *error)
{
    return refuse(
        error, "the loader was made before fork(); its workers belong to the parent process: make one in each process");
}

static bool all_have_ended(struct lade_loader *l)
{
    for (unsigned i = 0; i < l->workers; i++)
        if (atomic_load_explicit(&l->worker[i].state, memory_order_relaxed) ==
            LADE_WORKER_RUNS) /* then they are joined */
            return false;
    return true;
}

static int ended_or_await(void *context, int64_t *until)
{
    (void)until;
    return all_have_ended(context) ? LADE_OK : LADE_AWAIT;
}

int lade_loader_stop(struct lade_loader *l, int64_t timeout)
{
    int64_t deadline = lade_deadline(lade_now(), timeout);

    if (!lade_loader_is_here(l))
        return LADE_INVALID;
    lade_loader_cancel(l);
    if (!all_have_ended(l) && lade_event_await(&l->ready, ended_or_await, l, deadline) != LADE_OK)
        return LADE_TIMEOUT;
    return lade_stage_finish(l, deadline);
}

static void end_workers(struct lade_loader *l)
{
    lade_ignore(lade_loader_stop(l, LADE_FOREVER)); /* without a timeout it always succeeds */
    for (unsigned i = 0; i < l->workers; i++)
        if (atomic_load_explicit(&l->worker[i].state, memory_order_relaxed) != LADE_WORKER_NONE)
            (void)pthread_join(l->worker[i].thread, NULL);
    if (l->config.device)
        atomic_store_explicit(&l->config.device->is_used, 0, memory_order_relaxed);
}

void lade_loader_destroy(struct lade_loader *l)
{
    if (!l)
        return;
    if (lade_loader_is_here(l)) /* a child of fork() has no workers to wait for */
        end_workers(l);
    lade_loader_leave(l);
}
