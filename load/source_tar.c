/* SPDX-License-Identifier: MIT */
/*
 * tar as WebDataset uses it: adjacent members whose paths are equal up to the first dot of the base name form a sample;
 * the rest of the name, in lower case, names the field, without .gz or .zst, which compressed members have. ustar, pax headers and GNU's long names are read. Members
 * without such a name, folders, links and paths that begin with a name like "__meta__" are left out.
 */
#define _POSIX_C_SOURCE 200809L
#include "source_members.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 512, PATH_MAX_LENGTH = 4096 };

struct member {
    char name[PATH_MAX_LENGTH + 1];
    size_t key;     /* length of the key; 0: not part of a sample */
    uint64_t begin; /* of its first header */
    uint64_t data, size;
};

/* What headers in front of a member set for it. */
struct before {
    char name[PATH_MAX_LENGTH + 1];
    bool named, sized;
    uint64_t size;
};

static int wrong(struct lade_bytes file, uint64_t at, const char *what, struct lade_error *error)
{
    return lade_fail(error, LADE_DAMAGED, file.name, at, "%s", what);
}

/* A number: octal digits, or big-endian bytes after 0x80. */
static bool number_at(const uint8_t *at, size_t length, uint64_t *to)
{
    size_t i = 0;

    *to = 0;
    if (at[0] == 0x80) {
        for (i = 1; i < length; i++) {
            if (*to >> 56)
                return false;
            *to = *to << 8 | at[i];
        }
        return true;
    }
    while (i < length && at[i] == ' ')
        i++;
    for (; i < length && at[i] >= '0' && at[i] <= '7'; i++)
        *to = *to << 3 | (uint64_t)(at[i] - '0'); /* 12 digits at most */
    return i == length || at[i] == 0 || at[i] == ' ';
}

/* The sum of all bytes, with spaces in place of the checksum itself. Old programs added signed characters. */
static bool checks(const uint8_t *header)
{
    uint64_t stored;
    uint32_t sum = 8 * ' ', high = 0;

    for (size_t i = 0; i < BLOCK; i++)
        sum += header[i];
    for (size_t i = 148; i < 156; i++)
        sum -= header[i];
    if (!number_at(header + 148, 8, &stored))
        return false;
    for (size_t i = 0; i < BLOCK && stored != sum; i++)
        high += header[i] >= 0x80 && (i < 148 || i >= 156);
    return stored == sum || stored == (uint64_t)sum - 256 * high;
}

static bool is_zero(const uint8_t *block)
{
    return block[0] == 0 && !memcmp(block, block + 1, BLOCK - 1);
}

static bool set_name(struct before *b, const uint8_t *text, uint64_t length)
{
    while (length > 0 && text[length - 1] == 0)
        length--;
    if (length > PATH_MAX_LENGTH)
        return false;
    if (memchr(text, 0, (size_t)length))
        return false;
    memcpy(b->name, text, (size_t)length);
    b->name[length] = 0;
    b->named = true;
    return true;
}

static bool parse_size(const uint8_t *text, uint64_t length, uint64_t *to)
{
    *to = 0;
    for (uint64_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || *to > (UINT64_MAX >> 1) / 10)
            return false;
        *to = *to * 10 + (uint64_t)(text[i] - '0');
    }
    return length > 0;
}

/* One "LENGTH KEY=VALUE\n" of a pax header; its length, or 0. */
static uint64_t pax_record(const uint8_t *at, uint64_t left, const uint8_t **equals, const uint8_t **key)
{
    uint64_t length = 0, digits = 0;

    while (digits < left && digits < 12 && at[digits] >= '0' && at[digits] <= '9')
        length = length * 10 + (uint64_t)(at[digits++] - '0');
    if (digits == 0 || digits == left || at[digits] != ' ' || length > left || length < digits + 3 ||
        at[length - 1] != '\n')
        return 0;
    *key = at + digits + 1;
    *equals = memchr(*key, '=', (size_t)(length - digits - 2));
    return *equals ? length : 0;
}

static int read_pax(struct lade_bytes file, uint64_t at, uint64_t size, struct before *b, struct lade_error *error)
{
    while (size > 0) {
        const uint8_t *equals, *key;
        const uint64_t length = pax_record(file.data + at, size, &equals, &key);
        if (length == 0)
            return wrong(file, at, "a record of a pax header is malformed", error);
        const size_t name = (size_t)(equals - key);
        const uint64_t value = (uint64_t)(file.data + at + length - 1 - (equals + 1));
        if (name == 4 && !memcmp(key, "path", 4) && !set_name(b, equals + 1, value))
            return wrong(file, at, "the name of a member has a zero byte, or more than 4096 bytes", error);
        if (name == 4 && !memcmp(key, "size", 4) && !(b->sized = parse_size(equals + 1, value, &b->size)))
            return wrong(file, at, "a size in a pax header is not a number", error);
        if (name >= 10 && !memcmp(key, "GNU.sparse", 10))
            return wrong(file, at, "a sparse member cannot be read", error);
        at += length;
        size -= length;
    }
    return LADE_OK;
}

static void plain_name(const uint8_t *header, char *to)
{
    const size_t name = strnlen((const char *)header, 100);
    const bool posix = !memcmp(header + 257, "ustar\0", 6);
    const size_t prefix = posix ? strnlen((const char *)header + 345, 155) : 0;

    memcpy(to, header + 345, prefix);
    if (prefix > 0)
        to[prefix] = '/';
    memcpy(to + prefix + (prefix > 0), header, name);
    to[prefix + (prefix > 0) + name] = 0;
}

/* Whether the path begins with a component like "__meta__". */
static bool is_for_programs(const char *name)
{
    const size_t length = strcspn(name, "/");

    return length >= 4 && !memcmp(name, "__", 2) && !memcmp(name + length - 2, "__", 2);
}

/* The key ends at the first dot of the base name. */
static size_t key_length(const char *name)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    const char *dot = strchr(base, '.');

    return !dot || dot == base || is_for_programs(name) ? 0 : (size_t)(dot - name);
}

/* The header at *at: type and size of what follows it; LADE_EMPTY at the end. */
static int read_header(struct lade_bytes file, uint64_t at, bool check, struct before *b, uint8_t *type, uint64_t *size,
                       struct lade_error *error)
{
    const uint8_t *header = file.data + at;

    if (at >= file.size)
        return LADE_EMPTY;
    if (file.size - at < BLOCK)
        return wrong(file, at, "ends inside the header of a member", error);
    if (is_zero(header))
        return LADE_EMPTY;
    if (check && !checks(header))
        return wrong(file, at, at ? "the checksum of a header is wrong" : "is not tar: it begins with other bytes",
                     error);
    *type = header[156];
    if (!number_at(header + 124, 12, size))
        return wrong(file, at + 124, "the size of a member is not a number", error);
    const bool about = *type == 'x' || *type == 'g' || *type == 'L' || *type == 'K';
    if (b->sized && !about)
        *size = b->size;
    if (*type >= '1' && *type <= '6' && !b->sized) /* links, devices and folders have no data */
        *size = 0;
    if (*size > file.size - at - BLOCK)
        return wrong(file, at, "ends inside a member", error);
    if (*type == 'S')
        return wrong(file, at, "a sparse member cannot be read", error);
    return LADE_OK;
}

/* The next member, which is a file; *at becomes the end of it. */
static int next_member(struct lade_bytes file, uint64_t *at, bool check, struct member *m, struct lade_error *error)
{
    struct before b; /* without clearing its name, for each member */
    uint8_t type = 0;
    uint64_t size = 0;
    int status;

    b.named = b.sized = false;
    b.size = 0;
    m->begin = *at;
    while ((status = read_header(file, *at, check, &b, &type, &size, error)) == LADE_OK) {
        const uint64_t header = *at, data = header + BLOCK, padded = (size + BLOCK - 1) / BLOCK * BLOCK;
        *at = padded > file.size - data ? file.size : data + padded;
        if (type == 'x')
            status = read_pax(file, data, size, &b, error);
        else if (type == 'L' && !set_name(&b, file.data + data, size))
            status = wrong(file, data, "the name of a member has a zero byte, or more than 4096 bytes", error);
        if (status != LADE_OK)
            return status;
        if (type == 'x' || type == 'g' || type == 'L' || type == 'K')
            continue;
        if (b.named)
            strcpy(m->name, b.name);
        else
            plain_name(file.data + header, m->name);
        m->key = type == 0 || type == '0' || type == '7' ? key_length(m->name) : 0;
        m->data = data;
        m->size = size;
        return LADE_OK;
    }
    if (status == LADE_EMPTY && *at != m->begin)
        return wrong(file, m->begin, "ends after a header that describes a member", error);
    return status;
}

/* The next member that is part of a sample. */
static int next_keyed(struct lade_bytes file, uint64_t *at, bool check, struct member *m, struct lade_error *error)
{
    int status;

    do
        status = next_member(file, at, check, m, error);
    while (status == LADE_OK && m->key == 0);
    return status;
}

static bool same_key(const struct member *a, const struct member *b)
{
    return a->key == b->key && !memcmp(a->name, b->name, a->key);
}

static int next_sample(struct lade_bytes file, uint64_t *at, uint64_t *begin, struct lade_error *error)
{
    struct member first, more;
    int status = next_keyed(file, at, true, &first, error);

    if (status != LADE_OK)
        return status;
    *begin = first.begin;
    uint64_t end = *at;
    while ((status = next_keyed(file, &end, true, &more, error)) == LADE_OK && same_key(&first, &more))
        *at = end;
    if (status == LADE_OK)
        *at = more.begin;
    else if (status == LADE_EMPTY)
        *at = file.size;
    return status == LADE_EMPTY ? LADE_OK : status;
}

/* "json.gz" is a compressed "json". */
static enum lade_packing take_packing(char *name)
{
    char *dot = strrchr(name, '.');
    const bool gzip = dot && !strcmp(dot, ".gz"), zstd = dot && !strcmp(dot, ".zst");

    if ((gzip || zstd) && dot > name)
        *dot = 0;
    else
        return LADE_STORED;
    return gzip ? LADE_GZIP : LADE_ZSTD_FRAMES;
}

static int visit_member(struct lade_bytes file, struct member *m, lade_visitor *visitor, void *context,
                        struct lade_error *error)
{
    struct lade_value value = {.data = file.data + m->data,
                               .size = (size_t)m->size,
                               .offset = m->data,
                               .file = file.name,
                               .kind = LADE_VALUE_RAW};
    char *name = m->name + m->key + 1;

    for (char *c = name; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    value.packing = take_packing(name);
    return visitor(context, name, strlen(name), &value, error);
}

static int visit_sample(struct lade_bytes file, uint64_t begin, bool check, lade_visitor *visitor, void *context,
                        struct lade_error *error)
{
    struct member first, more;
    uint64_t at = begin;
    int status = next_keyed(file, &at, check, &first, error); /* the data has no checksum */

    if (status == LADE_OK)
        status = visit_member(file, &first, visitor, context, error);
    while (status == LADE_OK && (status = next_keyed(file, &at, check, &more, error)) == LADE_OK &&
           same_key(&first, &more))
        status = visit_member(file, &more, visitor, context, error);
    return status == LADE_EMPTY ? LADE_OK : status;
}

static int name_sample(struct lade_bytes file, uint64_t begin, char *to, size_t size)
{
    struct member m;
    int status = next_keyed(file, &begin, false, &m, NULL);

    if (status == LADE_OK)
        (void)snprintf(to, size, "%.*s", (int)m.key, m.name);
    return status;
}

static enum lade_value_kind kind_of(const char *name, const struct lade_value *value)
{
    static const struct {
        const char *end;
        enum lade_value_kind kind;
    } kinds[] = {{"jpg", LADE_VALUE_IMAGE}, {"jpeg", LADE_VALUE_IMAGE},  {"png", LADE_VALUE_IMAGE},
                 {"npy", LADE_VALUE_NPY},   {"cls", LADE_VALUE_INTEGER}, {"json", LADE_VALUE_JSON}};
    const char *dot = strrchr(name, '.'), *end = dot ? dot + 1 : name;

    (void)value;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!strcmp(end, kinds[k].end))
            return kinds[k].kind;
    return LADE_VALUE_RAW;
}

const struct lade_members_format lade_tar = {.kind = "tar",
                                             .label = "cls",
                                             .json = "json.",
                                             .scan_checks = true,
                                             .next = next_sample,
                                             .visit = visit_sample,
                                             .name = name_sample,
                                             .kind_of = kind_of};
