/* SPDX-License-Identifier: MIT */
/* The text of a source, "KIND:ITEM,ITEM,...": its items, numbers and shapes. Internal. */
#ifndef LADE_LOAD_SOURCE_TEXT_H
#define LADE_LOAD_SOURCE_TEXT_H

#include "source.h"

#include <lade/alloc.h>

#include <stdio.h>
#include <string.h>

enum { ITEMS_MAX = 40 }; /* 16 ragged fields take 32 */

struct items {
    const char *kind;
    unsigned count;
    char *item[ITEMS_MAX];
    bool taken[ITEMS_MAX];
    const struct lade_alloc *alloc;
    struct lade_error *error;
};

static inline int wrong(const struct items *it, const char *what, const char *item)
{
    return lade_fail(it->error, LADE_INVALID, it->kind, LADE_NO_OFFSET, "%s%s%s%s", what, *item ? " '" : "", item,
                     *item ? "'" : "");
}

/* Cuts text at its commas, in place. */
static inline int cut(struct items *it, char *text)
{
    char *to = text;

    if (!*text)
        return LADE_OK;
    it->item[it->count++] = text;
    for (char *from = text; *from; from++) {
        if (*from == '\\' && (from[1] == ',' || from[1] == '\\')) {
            *to++ = *++from;
        } else if (*from == ',') {
            *to++ = 0;
            if (it->count == ITEMS_MAX)
                return wrong(it, "more than 40 items", "");
            it->item[it->count++] = to;
        } else {
            *to++ = *from;
        }
    }
    *to = 0;
    return LADE_OK;
}

/* The value of NAME=VALUE, or NULL. */
static inline char *option(struct items *it, const char *name)
{
    size_t length = strlen(name);

    for (unsigned i = 0; i < it->count; i++)
        if (!it->taken[i] && !strncmp(it->item[i], name, length) && it->item[i][length] == '=') {
            it->taken[i] = true;
            return it->item[i] + length + 1;
        }
    return NULL;
}

/* The first unused item, or NULL. */
static inline char *next_file(struct items *it)
{
    for (unsigned i = 0; i < it->count; i++)
        if (!it->taken[i]) {
            it->taken[i] = true;
            return it->item[i];
        }
    return NULL;
}

static inline int all_taken(struct items *it)
{
    char *left = next_file(it);

    return left ? wrong(it, "does not take", left) : LADE_OK;
}

/* Decimal digits; *end is where they stop. */
static inline bool digits(const char *text, uint64_t *to, const char **end)
{
    const char *at = text;

    for (*to = 0; *at >= '0' && *at <= '9'; at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (*to > (UINT64_MAX - digit) / 10)
            return false;
        *to = *to * 10 + digit;
    }
    *end = at;
    return at != text;
}

static inline int number(struct items *it, const char *name, uint64_t *to)
{
    const char *value = option(it, name), *end;
    char what[64];

    if (!value || (digits(value, to, &end) && !*end))
        return LADE_OK;
    (void)snprintf(what, sizeof what, "%s takes a number below 2^64, not", name);
    return wrong(it, what, value);
}

static inline int dimensions(struct items *it, const char *value, struct lade_shape *shape)
{
    const char *at = value;

    for (shape->dims = 0; shape->dims < LADE_DIMS_MAX; at++) {
        if (!digits(at, &shape->dim[shape->dims++], &at) || (*at && *at != 'x'))
            break;
        if (!*at)
            return lade_shape_bytes(shape)
                       ? LADE_OK
                       : wrong(it, "a shape must have no zero and fewer than 2^63 bytes, unlike", value);
    }
    return wrong(it, "a shape is numbers with x between them, not", value);
}

/* The element type of a name; false if there is none. */
static inline bool dtype_named(const char *name, enum lade_dtype *to)
{
    for (unsigned d = 0; lade_dtype_name((enum lade_dtype)d); d++)
        if (!strcmp(lade_dtype_name((enum lade_dtype)d), name)) {
            *to = (enum lade_dtype)d;
            return true;
        }
    return false;
}

/* The name of a file is missing, or *path is one. */
static inline int no_file(const struct items *it, const char *path)
{
    return path && *path ? LADE_OK : wrong(it, "the name of a file is missing", "");
}

/* Openers in other files. */
int lade_open_tokens(struct lade_source **source, struct items *it);
int lade_open_megatron(struct lade_source **source, struct items *it);
int lade_open_tfrecord(struct lade_source **source, struct items *it);
int lade_open_parquet(struct lade_source **source, struct items *it);
/* Calls each for a path, or for several: "name-{000..123}.tar", with as many digits as the first number has. */
int lade_each_path(struct items *it, const char *path, int (*each)(void *context, const char *path, struct items *it),
                   void *context);
int lade_open_tar(struct lade_source **source, struct items *it);

#endif
