/* SPDX-License-Identifier: MIT */
/* Sources of an Arrow C stream: kept whole, or read again from its beginning when a window needs it. */
#include "arrow.h"

#include "checksum.h"
#include "heap.h"
#include "sized.h"

#include <pthread.h>
#include <string.h>

/* A stream that is read again. Batches that are passed on the way to another are kept for the threads that want them. */
struct again {
    pthread_mutex_t lock;
    struct ArrowArrayStream stream;
    int (*reopen)(void *context, struct ArrowArrayStream *stream);
    void *context;
    const struct lade_arrow *t;
    uint64_t next; /* batch of the stream */
    struct passed {
        uint64_t block;
        struct ArrowArray array;
    } passed[LADE_WINDOW_MAX];
};

static int stream_failed(const struct lade_arrow *t, struct ArrowArrayStream *stream, const char *what, int code,
                         struct lade_error *error)
{
    const char *why = stream->get_last_error ? stream->get_last_error(stream) : NULL;

    if (why)
        return lade_fail(error, LADE_IO, t->file, LADE_NO_OFFSET, "%s: %.200s", what, why);
    return lade_fail(error, LADE_IO, t->file, LADE_NO_OFFSET, "%s failed with code %d", what, code);
}

static int next_batch(const struct lade_arrow *t, struct ArrowArrayStream *stream, struct ArrowArray *array,
                      struct lade_error *error)
{
    array->release = NULL;
    const int code = stream->get_next(stream, array);
    return code == 0 ? LADE_OK : stream_failed(t, stream, "reading the stream", code, error);
}

static void release(struct ArrowArray *array)
{
    if (array->release)
        array->release(array);
    array->release = NULL;
}

static void end_stream(struct ArrowArrayStream *stream)
{
    if (stream->release)
        stream->release(stream);
    stream->release = NULL;
}

static int begin_again(struct again *a, struct lade_error *error)
{
    for (unsigned p = 0; p < LADE_WINDOW_MAX; p++)
        release(&a->passed[p].array);
    end_stream(&a->stream);
    a->next = 0;
    const int status = a->reopen(a->context, &a->stream);
    if (status == LADE_OK && a->stream.release && a->stream.get_next)
        return LADE_OK;
    end_stream(&a->stream);
    return lade_fail(error, status == LADE_OK ? LADE_INVALID : status, a->t->file, LADE_NO_OFFSET,
                     "the stream could not be opened again");
}

/* Reads on up to the block, which is not passed. */
static int read_up_to(struct again *a, uint64_t block, struct ArrowArray *array, struct lade_error *error)
{
    int status = LADE_OK;

    if (block < a->next || !a->stream.release)
        status = begin_again(a, error);
    while (status == LADE_OK) {
        status = next_batch(a->t, &a->stream, array, error);
        if (status != LADE_OK)
            break;
        if (!array->release)
            return lade_fail(error, LADE_DAMAGED, a->t->file, LADE_NO_OFFSET,
                             "the stream ends after %llu record batches; it had %llu", (unsigned long long)a->next,
                             (unsigned long long)a->t->blocks);
        const uint64_t number = a->next++;
        if (number == block)
            return LADE_OK;
        struct passed *p = &a->passed[number % LADE_WINDOW_MAX];
        release(&p->array);
        if (number + a->t->order.window >= block) {
            *p = (struct passed){number, *array};
            array->release = NULL;
        } else {
            release(array);
        }
    }
    return status;
}

static int fetch_again(void *self, uint64_t block, struct ArrowArray *array, struct lade_error *error)
{
    struct again *a = self;
    struct passed *p = &a->passed[block % LADE_WINDOW_MAX];
    int status = LADE_OK;

    (void)pthread_mutex_lock(&a->lock);
    if (p->array.release && p->block == block) {
        *array = p->array;
        p->array.release = NULL;
    } else {
        status = read_up_to(a, block, array, error);
    }
    (void)pthread_mutex_unlock(&a->lock);
    return status;
}

static void close_again(void *self)
{
    struct again *a = self;

    for (unsigned p = 0; p < LADE_WINDOW_MAX; p++)
        release(&a->passed[p].array);
    end_stream(&a->stream);
    (void)pthread_mutex_destroy(&a->lock);
    lade_heap_put(a->t->alloc, a);
}

/* From here on batches are dropped as soon as they are measured. */
static int stop_keeping(struct lade_arrow *t, const struct lade_source_arrow *config, struct lade_error *error)
{
    struct again *a;

    if (!config->reopen)
        return lade_fail(error, LADE_LIMITED, t->file, LADE_NO_OFFSET,
                         "the stream has more than memory=%llu bytes in the chosen columns: allow more, choose fewer "
                         "columns, or give reopen",
                         (unsigned long long)(config->memory ? config->memory : LADE_ARROW_MEMORY));
    a = lade_heap_get(t->alloc, 1, sizeof *a);
    if (!a)
        return lade_members_no_memory(error);
    a->reopen = config->reopen;
    a->context = config->context;
    a->t = t;
    (void)pthread_mutex_init(&a->lock, NULL); /* does not fail with default attributes */
    t->feed = (struct lade_arrow_feed){.fetch = fetch_again, .close = close_again, .self = a};
    for (uint64_t b = 0; b < t->blocks; b++)
        lade_arrow_drop(t, &t->block[b]);
    return LADE_OK;
}

/* Reads the stream to its end. */
static int take_batches(struct lade_arrow *t, struct ArrowArrayStream *stream, const struct lade_source_arrow *config,
                        uint32_t *identity, struct lade_error *error)
{
    const uint64_t memory = config->memory ? config->memory : LADE_ARROW_MEMORY;
    uint32_t child[LADE_FIELDS_MAX];
    int status = LADE_OK;

    memcpy(child, t->top, sizeof child);
    while (status == LADE_OK) {
        struct lade_arrow_block block = {.rows = 0};
        struct ArrowArray array;
        status = next_batch(t, stream, &array, error);
        if (status != LADE_OK || !array.release)
            break;
        status = lade_arrow_resolve(t, &block, &array, child, t->blocks, true, error);
        if (status == LADE_OK)
            status = lade_arrow_measure(t, &block, child, config->reopen != NULL, block.bytes, error);
        if (status == LADE_OK) {
            unsigned char bytes[16];
            lade_write_number(bytes, block.rows, 8);
            lade_write_number(bytes + 8, block.bytes, 8);
            *identity = lade_crc32c(*identity, bytes, sizeof bytes);
        }
        if (status == LADE_OK && t->feed.fetch)
            lade_arrow_drop(t, &t->block[t->blocks - 1]);
        else if (status == LADE_OK && t->bytes > memory)
            status = stop_keeping(t, config, error);
    }
    return status;
}

static int take_schema(struct lade_arrow *t, struct ArrowArrayStream *stream, const struct lade_source_arrow *config,
                       struct lade_error *error)
{
    const int code = stream->get_schema(stream, &t->schema);

    if (code != 0) {
        t->schema.release = NULL;
        return stream_failed(t, stream, "the schema of the stream", code, error);
    }
    return t->schema.release ? lade_arrow_choose(t, config, error)
                             : lade_fail(error, LADE_DAMAGED, t->file, LADE_NO_OFFSET, "the stream has no schema");
}

static int open_stream(struct lade_source **source, struct ArrowArrayStream *stream,
                       const struct lade_source_arrow *config, struct lade_error *error)
{
    struct lade_arrow *t = lade_heap_get(config->alloc, 1, sizeof *t);
    uint32_t identity = 0;

    if (!t)
        return lade_members_no_memory(error);
    t->kind = "arrow";
    t->alloc = config->alloc;
    t->classes = config->classes;
    t->largest = UINT64_MAX;
    t->file = lade_heap_text(t->alloc, config->name ? config->name : "arrow");
    int status = t->file ? take_schema(t, stream, config, error) : lade_members_no_memory(error);
    if (status == LADE_OK)
        status = take_batches(t, stream, config, &identity, error);
    if (status == LADE_OK)
        return lade_arrow_source(source, t, config, true, identity, error);
    lade_arrow_close(t);
    return status;
}

int lade_source_open_arrow_sized(struct lade_source **source, const struct lade_source_arrow *arrow, size_t size,
                                 struct lade_error *error)
{
    struct lade_source_arrow copy;

    *source = NULL;
    struct ArrowArrayStream stream = {.release = NULL};
    if (arrow->stream) { /* moved, so that it is released on all paths */
        stream = *arrow->stream;
        arrow->stream->release = NULL;
    }
    arrow = lade_sized_in(arrow, size, &copy, sizeof copy);
    int status = LADE_INVALID;
    if (!arrow)
        status = lade_fail_unknown(error);
    else if (!stream.release || !stream.get_schema || !stream.get_next)
        (void)lade_fail(error, LADE_INVALID, "arrow", LADE_NO_OFFSET, "there is no stream, or it was released");
    else if (arrow->window > LADE_WINDOW_MAX || (arrow->height == 0) != (arrow->width == 0) || arrow->height > 16384 ||
             arrow->width > 16384 || arrow->pixels > UINT32_MAX || arrow->nulls < LADE_NULLS_FAIL ||
             arrow->nulls > LADE_NULLS_FILL)
        (void)lade_fail(error, LADE_INVALID, "arrow", LADE_NO_OFFSET,
                        "window is above 64, height, width or pixels is out of range, or nulls is unknown");
    else
        status = open_stream(source, &stream, arrow, error);
    end_stream(&stream);
    return status;
}
