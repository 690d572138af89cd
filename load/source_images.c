/* SPDX-License-Identifier: MIT */
/*
 * A folder of images. Its subfolders are the classes, in byte order of their names; images may be in deeper folders.
 * Without subfolders the images have no labels. The order is that of the names, class by class, the same everywhere.
 */
#define _POSIX_C_SOURCE 200809L
#include "heap.h"
#include "source.h"
#include "transform.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <strings.h>
#include <sys/stat.h>

enum { PATH_LENGTH = 4096, DEPTH_MAX = 16 };

struct entry {
    char *name; /* below the folder */
    uint64_t class;
};

struct images {
    const struct lade_alloc *alloc;
    char *folder;
    char *names; /* of all entries, each with its final zero */
    struct entry *entry;
    uint64_t count, classes;
    size_t name_bytes, name_room;
    char **class_name; /* one block, with the texts behind the pointers */
    struct lade_picture size;
    bool scaled;
    struct lade_error *error; /* during open only */
};

static void close_images(void *self)
{
    struct images *m = self;

    lade_heap_put(m->alloc, m->names);
    lade_heap_put(m->alloc, m->entry);
    lade_heap_put(m->alloc, m->class_name);
    lade_heap_put(m->alloc, m->folder);
    lade_heap_put(m->alloc, m);
}

static int no_memory(struct lade_error *error)
{
    return lade_fail(error, LADE_NO_MEMORY, "images", LADE_NO_OFFSET, "out of memory");
}

/* "/" sorts before every other byte, so that a folder comes before longer names with the same prefix. */
static int by_name(const void *a, const void *b)
{
    const unsigned char *x = (const unsigned char *)((const struct entry *)a)->name;
    const unsigned char *y = (const unsigned char *)((const struct entry *)b)->name;

    for (; *x == *y && *x; x++, y++)
        continue;
    return (*x == '/' ? 1 : *x ? *x + 1 : 0) - (*y == '/' ? 1 : *y ? *y + 1 : 0);
}

static bool is_image(const char *name)
{
    static const char *const ends[] = {".jpg", ".jpeg", ".png"};
    size_t length = strlen(name);

    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
        if (length > strlen(ends[e]) && !strcasecmp(name + length - strlen(ends[e]), ends[e]))
            return true;
    return false;
}

static int add_file(struct images *m, const char *name)
{
    size_t size = strlen(name) + 1;

    if (size > m->name_room - m->name_bytes) {
        size_t room = 2 * m->name_room + PATH_LENGTH; /* no name is longer */
        char *more = lade_heap_resize(m->alloc, m->names, room, 1);
        if (!more)
            return no_memory(m->error);
        m->names = more;
        m->name_room = room;
    }
    memcpy(m->names + m->name_bytes, name, size);
    m->name_bytes += size;
    m->count++;
    return LADE_OK;
}

/* Collects everything below "folder/below"; at the top only the folders, or only the files. */
static int walk(struct images *m, const char *below, unsigned depth, bool folders, bool files)
{
    char path[PATH_LENGTH], name[PATH_LENGTH];
    struct dirent *found;
    int status = LADE_OK;

    if (snprintf(path, sizeof path, "%s/%s", m->folder, below) >= (int)sizeof path || depth == DEPTH_MAX)
        return lade_fail(m->error, LADE_IO, m->folder, LADE_NO_OFFSET, "a name is too long, or folders are too deep");
    DIR *folder = opendir(path);
    if (!folder)
        return lade_fail(m->error, LADE_IO, path, LADE_NO_OFFSET, "cannot be opened: %s", strerror(errno));
    while (status == LADE_OK && (errno = 0, found = readdir(folder))) {
        struct stat about;
        if (found->d_name[0] == '.')
            continue;
        if (snprintf(name, sizeof name, "%s%s%s", below, *below ? "/" : "", found->d_name) >= (int)sizeof name ||
            snprintf(path, sizeof path, "%s/%s", m->folder, name) >= (int)sizeof path)
            status = lade_fail(m->error, LADE_IO, m->folder, LADE_NO_OFFSET, "the name of a file is too long");
        else if (stat(path, &about) != 0)
            status = lade_fail(m->error, LADE_IO, path, LADE_NO_OFFSET, "cannot be examined: %s", strerror(errno));
        else if (S_ISDIR(about.st_mode) && folders)
            status = walk(m, name, depth + 1, true, true);
        else if (S_ISREG(about.st_mode) && files && is_image(name))
            status = add_file(m, name);
    }
    if (status == LADE_OK && errno)
        status = lade_fail(m->error, LADE_IO, m->folder, LADE_NO_OFFSET, "cannot be read: %s", strerror(errno));
    (void)closedir(folder);
    return status;
}

/* Frees unused memory, and lists the names, sorted: what remains is the memory per sample. */
static int list_names(struct images *m)
{
    char *at = lade_heap_resize(m->alloc, m->names, m->name_bytes, 1);

    m->names = at ? at : m->names;
    m->entry = lade_heap_raw(m->alloc, (size_t)m->count, sizeof *m->entry);
    if (!m->entry)
        return no_memory(m->error);
    at = m->names;
    for (uint64_t i = 0; i < m->count; i++) {
        m->entry[i] = (struct entry){at, 0};
        at += strlen(at) + 1;
    }
    qsort(m->entry, (size_t)m->count, sizeof *m->entry, by_name);
    return LADE_OK;
}

/* Bytes of the name of the class that begins with entry i, with its final zero; 0: the entry before is of the same. */
static size_t class_begins(const struct images *m, uint64_t i)
{
    const char *name = m->entry[i].name;
    size_t length = strcspn(name, "/");

    return i > 0 && !strncmp(name, m->entry[i - 1].name, length + 1) ? 0 : length + 1;
}

/* The names are sorted: a class ends where the part before the first slash changes. */
static int name_classes(struct images *m)
{
    size_t bytes = 0;

    for (uint64_t i = 0; i < m->count; i++) {
        size_t size = class_begins(m, i);
        m->classes += size > 0;
        bytes += size;
        m->entry[i].class = m->classes - 1;
    }
    m->class_name = lade_heap_raw(m->alloc, (size_t)m->classes * sizeof *m->class_name + bytes, 1);
    if (!m->class_name)
        return no_memory(m->error);
    char *to = (char *)(m->class_name + m->classes);
    for (uint64_t i = 0; i < m->count; i++) {
        size_t size = class_begins(m, i);
        if (size == 0)
            continue;
        m->class_name[m->entry[i].class] = memcpy(to, m->entry[i].name, size);
        to[size - 1] = 0; /* in place of the slash */
        to += size;
    }
    return LADE_OK;
}

static int read_file(const struct images *m, uint64_t i, struct lade_bytes *bytes, struct lade_error *error)
{
    char path[PATH_LENGTH];

    (void)snprintf(path, sizeof path, "%s/%s", m->folder, m->entry[i].name); /* walk() has checked that it fits */
    return lade_read_file(bytes, path, m->alloc, error);
}

int lade_decode_scaled(struct lade_picture is, struct lade_picture size, struct lade_bytes bytes, uint8_t *to,
                       const struct lade_alloc *alloc, struct lade_error *error)
{
    const struct lade_image image = {LADE_U8, LADE_HWC, is.height, is.width, 3};
    uint8_t *whole = lade_heap_raw(alloc, (size_t)3 * is.height * is.width, 1);
    struct lade_tap *taps = lade_heap_raw(alloc, (size_t)size.height + size.width, sizeof *taps);
    int status = whole && taps ? lade_decode(is, bytes, whole, alloc, error) : no_memory(error);

    if (status == LADE_OK) {
        lade_taps(taps, is.height, size.height);
        lade_taps(taps + size.height, is.width, size.width);
        lade_resize(&image, whole, size.height, taps, size.width, taps + size.height, to);
    }
    lade_heap_put(alloc, whole);
    lade_heap_put(alloc, taps);
    return status;
}

static int read_images(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    const struct images *m = self;
    struct lade_bytes bytes;
    struct lade_picture is = {.pixels_max = m->size.pixels_max};
    int status = read_file(m, i, &bytes, error);

    if (status != LADE_OK)
        return status;
    status = lade_decode_size(&is, bytes, error);
    if (status == LADE_OK && is.height == m->size.height && is.width == m->size.width)
        status = lade_decode(is, bytes, to, m->alloc, error);
    else if (status == LADE_OK && m->scaled)
        status = lade_decode_scaled(is, m->size, bytes, to, m->alloc, error);
    else if (status == LADE_OK)
        status = lade_fail(error, LADE_DAMAGED, bytes.name, LADE_NO_OFFSET,
                           "has %u x %u pixels, the first image %u x %u; size=HEIGHTxWIDTH scales all to one",
                           is.height, is.width, m->size.height, m->size.width);
    lade_free_file(&bytes, m->alloc);
    *label = m->classes ? (int64_t)m->entry[i].class : LADE_NO_LABEL;
    return status;
}

static int label_images(void *self, uint64_t i, int64_t *label, struct lade_error *error)
{
    const struct images *m = self;

    (void)error;
    *label = (int64_t)m->entry[i].class;
    return LADE_OK;
}

/* FNV-1a (Fowler, Noll, Vo 1991) of the name. */
static uint64_t key_images(void *self, uint64_t i)
{
    const struct images *m = self;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *c = m->entry[i].name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return hash;
}

static void name_images(void *self, uint64_t i, char *to, size_t size)
{
    const struct images *m = self;

    (void)snprintf(to, size, "%s", m->entry[i].name);
}

/* The size is that of the first image whose header can be read: a damaged image must not make open fail. */
static int find_size(struct images *m)
{
    struct lade_error first = {.status = LADE_OK};

    for (uint64_t i = 0; i < m->count; i++) {
        struct lade_picture size = {.pixels_max = m->size.pixels_max};
        struct lade_error error = {.status = LADE_OK};
        struct lade_bytes bytes;
        int status = read_file(m, i, &bytes, &error);
        if (status == LADE_OK) {
            status = lade_decode_size(&size, bytes, &error);
            lade_free_file(&bytes, m->alloc);
        }
        if (status == LADE_OK) {
            m->size = size;
            return LADE_OK;
        }
        if (first.status == LADE_OK)
            first = error;
        if (status != LADE_DAMAGED && status != LADE_LIMITED)
            break;
    }
    if (m->error)
        *m->error = first;
    return first.status;
}

static int fill(struct images *m)
{
    int status = walk(m, "", 0, true, false);
    bool labelled = m->count > 0;

    if (status == LADE_OK && !labelled)
        status = walk(m, "", 0, false, true);
    if (status == LADE_OK && m->count == 0)
        status = lade_fail(m->error, LADE_INVALID, m->folder, LADE_NO_OFFSET, "there is no .jpg, .jpeg or .png below");
    if (status != LADE_OK)
        return status;
    status = list_names(m);
    if (status == LADE_OK && labelled)
        status = name_classes(m);
    return status == LADE_OK && !m->scaled ? find_size(m) : status;
}

int lade_images_open(struct lade_source **source, const char *folder, struct lade_picture size,
                     const struct lade_alloc *alloc, struct lade_error *error)
{
    static const struct lade_source_ops ops = {
        .read = read_images, .label = label_images, .key = key_images, .name = name_images, .close = close_images};

    *source = NULL;
    if (!lade_decode_offered())
        return lade_fail(error, LADE_INVALID, "images", LADE_NO_OFFSET,
                         "this build reads no images: it was made without libturbojpeg and libspng. tools/setup codecs "
                         "installs them (Debian: apt-get install libturbojpeg0-dev libspng-dev); then build again");
    struct images *m = lade_heap_get(alloc, 1, sizeof *m);
    if (!m || !(m->folder = lade_heap_text(alloc, folder))) {
        lade_heap_put(alloc, m);
        return no_memory(error);
    }
    m->alloc = alloc;
    m->size = size;
    m->scaled = size.height > 0;
    m->error = error;
    int status = fill(m);
    m->error = NULL;
    if (status == LADE_OK) {
        struct lade_source_info info = {.kind = "images",
                                        .count = m->count,
                                        .shape = {.dtype = LADE_U8, .dims = 3},
                                        .classes = m->classes,
                                        .class_names = (const char *const *)m->class_name,
                                        .index_bytes = m->count * sizeof *m->entry + m->name_bytes};
        info.shape.dim[0] = m->size.height;
        info.shape.dim[1] = m->size.width;
        info.shape.dim[2] = 3;
        info.bytes = lade_shape_bytes(&info.shape);
        status = lade_source_open_custom(source, &ops, m, &info, alloc, error);
    }
    if (status != LADE_OK)
        close_images(m);
    return status;
}
