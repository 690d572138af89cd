/* SPDX-License-Identifier: MIT */
/* Arrow schemas, arrays and streams made by hand, which count what is not released. */
#ifndef LADE_LOAD_TEST_ARROWS_H
#define LADE_LOAD_TEST_ARROWS_H

#include <lade/arrow.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int schemas_live, arrays_live, streams_live, released_twice; /* arrays: by several threads at once */

enum { PARTS = 8 };

struct schema_parts {
    struct ArrowSchema child[PARTS], *list[PARTS], dictionary;
};

struct array_parts {
    struct ArrowArray child[PARTS], *list[PARTS], dictionary;
    const void *buffers[3];
};

static inline void release_schema(struct ArrowSchema *s)
{
    struct schema_parts *p = s->private_data;

    for (int64_t i = 0; i < s->n_children; i++)
        if (p->child[i].release)
            p->child[i].release(&p->child[i]);
    if (p->dictionary.release)
        p->dictionary.release(&p->dictionary);
    free(p);
    schemas_live--;
    released_twice += s->release == NULL;
    s->release = NULL;
}

static inline void release_array(struct ArrowArray *a)
{
    struct array_parts *p = a->private_data;

    for (int64_t i = 0; i < PARTS; i++)
        if (p->child[i].release)
            p->child[i].release(&p->child[i]);
    if (p->dictionary.release)
        p->dictionary.release(&p->dictionary);
    free(p);
    arrays_live--;
    released_twice += a->release == NULL;
    a->release = NULL;
}

/* A schema without children; format and name must live as long. */
static inline struct ArrowSchema schema_of(const char *format, const char *name)
{
    struct schema_parts *p = calloc(1, sizeof *p);

    schemas_live++;
    for (int i = 0; i < PARTS; i++)
        p->list[i] = &p->child[i];
    return (struct ArrowSchema){.format = format,
                                .name = name,
                                .flags = ARROW_FLAG_NULLABLE,
                                .children = p->list,
                                .release = release_schema,
                                .private_data = p};
}

static inline void add_schema(struct ArrowSchema *to, struct ArrowSchema child)
{
    ((struct schema_parts *)to->private_data)->child[to->n_children++] = child;
}

static inline void set_dictionary_schema(struct ArrowSchema *to, struct ArrowSchema values)
{
    struct schema_parts *p = to->private_data;

    p->dictionary = values;
    to->dictionary = &p->dictionary;
}

/* An array that does not own its buffers. */
static inline struct ArrowArray array_of(int64_t length, int64_t offset, int64_t nulls, int64_t buffers, ...)
{
    struct array_parts *p = calloc(1, sizeof *p);
    va_list list;

    arrays_live++;
    for (int i = 0; i < PARTS; i++)
        p->list[i] = &p->child[i];
    va_start(list, buffers);
    for (int64_t i = 0; i < buffers; i++)
        p->buffers[i] = va_arg(list, const void *);
    va_end(list);
    return (struct ArrowArray){.length = length,
                               .null_count = nulls,
                               .offset = offset,
                               .n_buffers = buffers,
                               .buffers = p->buffers,
                               .children = p->list,
                               .release = release_array,
                               .private_data = p};
}

static inline void add_array(struct ArrowArray *to, struct ArrowArray child)
{
    ((struct array_parts *)to->private_data)->child[to->n_children++] = child;
}

static inline void set_dictionary(struct ArrowArray *to, struct ArrowArray values)
{
    struct array_parts *p = to->private_data;

    p->dictionary = values;
    to->dictionary = &p->dictionary;
}

/* A stream of batches that functions make. */
struct made {
    struct ArrowSchema (*schema)(void);
    struct ArrowArray (*batch)(int number);
    int batches, next;
    int fails_at; /* batch that fails, + 1; -1: the schema does; 0: none */
    int opened;
};

static inline int made_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const struct made *m = stream->private_data;

    if (m->fails_at == -1)
        return 5;
    *out = m->schema();
    return 0;
}

static inline int made_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct made *m = stream->private_data;

    if (m->fails_at == m->next + 1)
        return 5;
    out->release = NULL;
    if (m->next < m->batches)
        *out = m->batch(m->next++);
    return 0;
}

static inline const char *made_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "the disk is on fire";
}

static inline void release_stream(struct ArrowArrayStream *stream)
{
    streams_live--;
    released_twice += stream->release == NULL;
    stream->release = NULL;
}

static inline struct ArrowArrayStream stream_of(struct made *made)
{
    made->next = 0;
    made->opened++;
    streams_live++;
    return (struct ArrowArrayStream){made_schema, made_next, made_error, release_stream, made};
}

#endif
