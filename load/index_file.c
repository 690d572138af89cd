/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700
#include "index_file.h"

#include "checksum.h"
#include "heap.h"

#include <fcntl.h>
#include <lade/version.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* Numbers are in the byte order of the machine: an index from another one does not begin with this. */
#define MAGIC UINT64_C(0x3178646e6964616c)
#define EMPTY_HASH UINT64_C(0xcbf29ce484222325)

enum { PLACES = 16, PLACE_BYTES = 256, SUFFIX = 40 };

/* FNV-1a (Fowler, Noll, Vo 1991). */
static uint64_t hash_of(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int lade_index_begin(struct lade_index *x, struct items *it)
{
    const char *want = option(it, "index");

    *x = (struct lade_index){.alloc = it->alloc, .want = INDEX_AUTO};
    if (want && !strcmp(want, "yes"))
        x->want = INDEX_YES;
    else if (want && !strcmp(want, "no"))
        x->want = INDEX_NO;
    else if (want && strcmp(want, "auto") != 0)
        return wrong(it, "index is auto, yes or no, not", want);
    for (unsigned i = 0; i < it->count; i++)
        x->item[i] =
            want && it->item[i] + strlen("index=") == want ? 0 : hash_of(EMPTY_HASH, it->item[i], strlen(it->item[i]));
    return LADE_OK;
}

void lade_index_options(struct lade_index *x, const struct items *it)
{
    x->key = hash_of(EMPTY_HASH, it->kind, strlen(it->kind));
    for (unsigned i = 0; i < it->count; i++)
        if (it->taken[i] && x->item[i])
            x->key = hash_of(x->key, &x->item[i], sizeof x->item[i]);
}

void lade_index_add(struct lade_index *x, const char *path, const struct lade_stamp *stamp)
{
    if (x->stamps == x->space && !x->failed) {
        const uint64_t space = x->space ? 2 * x->space : 16;
        struct lade_stamp *more = lade_heap_resize(x->alloc, x->stamp, (size_t)space, sizeof *more);
        x->stamp = more ? more : x->stamp;
        x->space = more ? space : x->space;
        x->failed = !more;
    }
    if (!x->first)
        x->first = lade_heap_text(x->alloc, path);
    x->failed = x->failed || !x->first;
    if (x->failed)
        return;
    x->stamp[x->stamps++] = *stamp;
    x->bytes += stamp->size;
    x->key = hash_of(x->key, base_of(path), strlen(base_of(path)) + 1);
}

void lade_index_end(struct lade_index *x)
{
    lade_heap_put(x->alloc, x->stamp);
    lade_heap_put(x->alloc, x->first);
    lade_heap_put(x->alloc, x->path);
}

uint32_t lade_index_sample(struct lade_bytes file)
{
    uint32_t crc = 0;

    if (file.size <= PLACES * PLACE_BYTES)
        return lade_crc32c(0, file.data, file.size);
    for (size_t p = 0; p < PLACES; p++)
        crc = lade_crc32c(
            crc, file.data + (p + 1 < PLACES ? (file.size - PLACE_BYTES) / (PLACES - 1) * p : file.size - PLACE_BYTES),
            PLACE_BYTES);
    return crc;
}

void lade_index_reader_init(struct lade_index_reader *r, struct lade_inlet from, uint64_t size, uint32_t checksum,
                            const struct lade_alloc *alloc)
{
    r->from = from;
    r->alloc = alloc;
    r->failed = size < sizeof checksum;
    r->left = r->failed ? 0 : size - sizeof checksum;
    r->crc = 0;
    r->stored = checksum;
    r->at = r->filled = 0;
}

/* Reads size bytes, which are not more than left. Large parts go past the buffer. */
static bool get_bytes(struct lade_index_reader *r, uint8_t *to, size_t size)
{
    while (size > 0) {
        if (r->at == r->filled && size >= sizeof r->buffer)
            return r->from.get(r->from.context, to, size) == LADE_OK;
        if (r->at == r->filled) {
            r->at = 0;
            r->filled = r->left < sizeof r->buffer ? (size_t)r->left : sizeof r->buffer;
            if (r->from.get(r->from.context, r->buffer, r->filled) != LADE_OK)
                return false;
        }
        const size_t part = size < r->filled - r->at ? size : r->filled - r->at;
        memcpy(to, r->buffer + r->at, part);
        r->at += part;
        to += part;
        size -= part;
        r->left -= part;
    }
    return true;
}

void lade_index_get(struct lade_index_reader *r, void *to, size_t size)
{
    const uint64_t left = r->left;

    r->failed = r->failed || size > left || !get_bytes(r, to, size);
    if (r->failed) {
        memset(to, 0, size);
        return;
    }
    r->left = left - size;
    r->crc = lade_crc32c(r->crc, to, size);
}

uint64_t lade_index_get_number(struct lade_index_reader *r)
{
    uint64_t number;

    lade_index_get(r, &number, sizeof number);
    return number;
}

void *lade_index_get_array(struct lade_index_reader *r, uint64_t count, size_t width)
{
    r->failed = r->failed || count > r->left / width;
    void *to = r->failed ? NULL : lade_heap_raw(r->alloc, (size_t)count + 1, width);
    r->failed = r->failed || !to;
    if (to)
        lade_index_get(r, to, (size_t)count * width);
    if (!r->failed)
        return to;
    lade_heap_put(r->alloc, to);
    return NULL;
}

char *lade_index_get_text(struct lade_index_reader *r, uint64_t most)
{
    const uint64_t length = lade_index_get_number(r);

    r->failed = r->failed || length == 0 || length > most;
    char *text = lade_index_get_array(r, r->failed ? 0 : length, 1); /* has one byte more */
    if (!text)
        return NULL;
    text[length] = 0;
    r->failed = strlen(text) != length;
    if (!r->failed)
        return text;
    lade_heap_put(r->alloc, text);
    return NULL;
}

bool lade_index_complete(struct lade_index_reader *r)
{
    return !r->failed && r->left == 0 && r->crc == r->stored;
}

void lade_index_put(struct lade_index_writer *w, const void *from, size_t size)
{
    const uint8_t *at = from;

    w->crc = lade_crc32c(w->crc, from, size);
    while (size > 0 && !w->failed) {
        if (w->filled == 0 && size >= sizeof w->buffer) {
            w->failed = !lade_file_put(&w->file, at, size);
            return;
        }
        const size_t room = sizeof w->buffer - w->filled, part = size < room ? size : room;
        memcpy(w->buffer + w->filled, at, part);
        w->filled += part;
        at += part;
        size -= part;
        if (w->filled == sizeof w->buffer) {
            w->failed = !lade_file_put(&w->file, w->buffer, w->filled);
            w->filled = 0;
        }
    }
}

void lade_index_put_number(struct lade_index_writer *w, uint64_t number)
{
    lade_index_put(w, &number, sizeof number);
}

void lade_index_put_text(struct lade_index_writer *w, const char *text)
{
    lade_index_put_number(w, strlen(text));
    lade_index_put(w, text, strlen(text));
}

/* What decides how files are read, besides their bytes and the options. */
static uint64_t program(void)
{
    uint64_t features = 0;

#ifdef LADE_JPEG
    features |= 1;
#endif
#ifdef LADE_PNG
    features |= 2;
#endif
#ifdef LADE_ZLIB
    features |= 4;
#endif
#ifdef LADE_ZSTD
    features |= 8;
#endif
    return (uint64_t)LADE_VERSION_NUMBER << 32 | features;
}

bool lade_index_matches(const struct lade_index *x, struct lade_index_reader *r)
{
    bool same = lade_index_get_number(r) == MAGIC;

    same = lade_index_get_number(r) == program() && same;
    same = lade_index_get_number(r) == x->key && same;
    same = lade_index_get_number(r) == x->stamps && same;
    for (uint64_t i = 0; i < x->stamps && same; i++) {
        struct lade_stamp stamp;
        lade_index_get(r, &stamp, sizeof stamp);
        same = !memcmp(&stamp, &x->stamp[i], sizeof stamp);
    }
    return same && !r->failed;
}

static void put_header(const struct lade_index *x, struct lade_index_writer *w)
{
    lade_index_put_number(w, MAGIC);
    lade_index_put_number(w, program());
    lade_index_put_number(w, x->key);
    lade_index_put_number(w, x->stamps);
    lade_index_put(w, x->stamp, (size_t)x->stamps * sizeof *x->stamp);
}

static char *beside(const struct lade_index *x)
{
    const size_t size = strlen(x->first) + SUFFIX;
    char *path = lade_heap_raw(x->alloc, size, 1);

    if (path)
        (void)snprintf(path, size, "%s.%016llx.lade-index", x->first, (unsigned long long)x->key);
    return path;
}

/* $LADE_CACHE, $XDG_CACHE_HOME/lade or ~/.cache/lade, if that is an absolute path; then "/index". */
static bool cache_folder(char *to, size_t size)
{
    static const char *const variable[] = {"LADE_CACHE", "XDG_CACHE_HOME", "HOME"};
    static const char *const below[] = {"", "/lade", "/.cache/lade"};

    for (size_t v = 0; v < 3; v++) {
        const char *value = getenv(variable[v]);
        if (value && *value == '/')
            return snprintf(to, size, "%s%s/index", value, below[v]) < (int)size;
    }
    return false;
}

/* Several folders have data files of one name. */
static char *in_cache(const struct lade_index *x)
{
    char folder[PATH_MAX], cache[PATH_MAX], *path = NULL;
    const size_t length = (size_t)(base_of(x->first) - x->first), size = sizeof cache + SUFFIX;

    if (length >= sizeof folder || !cache_folder(cache, sizeof cache))
        return NULL;
    memcpy(folder, x->first, length);
    folder[length] = 0;
    char *whole = realpath(length ? folder : ".", NULL);
    if (whole && (path = lade_heap_raw(x->alloc, size, 1)))
        (void)snprintf(path, size, "%s/%016llx.lade-index", cache,
                       (unsigned long long)hash_of(x->key, whole, strlen(whole)));
    free(whole);
    return path;
}

/* Opens neither a link nor what is no file. */
static bool load_from(struct lade_index *x, const char *path,
                      bool (*take)(void *self, struct lade_index_reader *reader), void *self)
{
    struct lade_file f = {.directory = -1, .guard = -1};
    struct lade_index_reader r;
    uint32_t checksum;

    f.file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (f.file < 0)
        return false;
    const uint64_t size = lade_file_size(&f);
    const bool whole = size < INT64_MAX && size >= sizeof checksum &&
                       pread(f.file, &checksum, sizeof checksum, (off_t)(size - sizeof checksum)) == sizeof checksum;
    lade_index_reader_init(&r, (struct lade_inlet){.get = lade_file_get, .context = &f}, whole ? size : 0,
                           whole ? checksum : 0, x->alloc);
    const bool taken = lade_index_matches(x, &r) && take(self, &r);
    lade_file_drop(&f);
    return taken;
}

static bool is_wanted(const struct lade_index *x)
{
    return !x->failed && x->first && (x->want == INDEX_YES || (x->want == INDEX_AUTO && x->bytes >= LADE_INDEX_LEAST));
}

bool lade_index_load(struct lade_index *x, bool (*take)(void *self, struct lade_index_reader *reader), void *self)
{
    for (int place = 0; place < 2 && is_wanted(x) && x->use != LADE_INDEX_READ; place++) {
        char *path = place == 0 ? beside(x) : in_cache(x);
        if (path && load_from(x, path, take, self)) {
            x->use = LADE_INDEX_READ;
            x->path = path;
        } else {
            lade_heap_put(x->alloc, path);
        }
    }
    return x->use == LADE_INDEX_READ;
}

static bool save_to(const struct lade_index *x, const char *path,
                    void (*put)(const void *self, struct lade_index_writer *writer), const void *self)
{
    struct lade_index_writer w;

    w.crc = 0;
    w.filled = 0;
    w.failed = false;
    if (lade_file_create(&w.file, path) != LADE_OK)
        return false;
    put_header(x, &w);
    put(self, &w);
    const uint32_t crc = w.crc;
    lade_index_put(&w, &crc, sizeof crc);
    if (!w.failed && lade_file_put(&w.file, w.buffer, w.filled))
        return lade_file_replace(&w.file) == LADE_OK;
    lade_file_drop(&w.file);
    return false;
}

/* Folders for the user alone. What fails here fails again when the file is created. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

void lade_index_save(struct lade_index *x, void (*put)(const void *self, struct lade_index_writer *writer),
                     const void *self)
{
    if (!is_wanted(x))
        return;
    x->use = LADE_INDEX_REFUSED;
    for (int place = 0; place < 2 && x->use == LADE_INDEX_REFUSED; place++) {
        char *path = place == 0 ? beside(x) : in_cache(x);
        if (path && place == 1)
            make_folders(path);
        if (path && save_to(x, path, put, self)) {
            x->use = LADE_INDEX_WRITTEN;
            x->path = path;
        } else {
            lade_heap_put(x->alloc, path);
        }
    }
}
