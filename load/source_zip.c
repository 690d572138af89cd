/* SPDX-License-Identifier: MIT */
/* The directory of a zip file, with the extension for 64 bits (PKWARE, APPNOTE 6.3). Only the directory is trusted. */
#include "source_zip.h"

#include "checksum.h"

#include <string.h>

enum { END = 22, LOCATOR = 20, END_64 = 56, ENTRY = 46, LOCAL = 30, COMMENT_MAX = 65535 };

static int wrong(struct lade_bytes b, uint64_t at, const char *what, struct lade_error *error)
{
    return lade_fail(error, LADE_DAMAGED, b.name, at, "%s", what);
}

static uint64_t number(struct lade_bytes b, uint64_t at, int size)
{
    return lade_read_number(b.data + at, size);
}

static bool is_at(struct lade_bytes b, uint64_t at, uint32_t signature)
{
    return number(b, at, 4) == signature;
}

/* The record at the end of the file, before a comment. */
static bool find_end(struct lade_bytes b, uint64_t *at)
{
    for (uint64_t comment = 0; comment <= COMMENT_MAX && comment + END <= b.size; comment++) {
        *at = b.size - END - comment;
        if (is_at(b, *at, 0x06054b50) && number(b, *at + 20, 2) == comment)
            return true;
    }
    return false;
}

int lade_zip_open(struct lade_zip *zip, struct lade_bytes b, struct lade_error *error)
{
    uint64_t end;

    *zip = (struct lade_zip){.file = b};
    if (b.size < 4 || (b.data[0] != 'P' || b.data[1] != 'K'))
        return wrong(b, 0, "is not zip: it begins with other bytes", error);
    if (!find_end(b, &end))
        return wrong(b, b.size, "ends without the directory of a zip file", error);
    uint64_t count = number(b, end + 10, 2), size = number(b, end + 12, 4), at = number(b, end + 16, 4);
    if (end >= LOCATOR && is_at(b, end - LOCATOR, 0x07064b50)) {
        const uint64_t far = number(b, end - LOCATOR + 8, 8);
        if (far > b.size || b.size - far < END_64 || !is_at(b, far, 0x06064b50))
            return wrong(b, end - LOCATOR + 8, "the directory lies outside the file", error);
        count = number(b, far + 32, 8);
        size = number(b, far + 40, 8);
        at = number(b, far + 48, 8);
    }
    if (at > end || size > end - at)
        return wrong(b, end + 12, "the directory lies outside the file", error);
    zip->at = at;
    zip->end = at + size;
    zip->left = count;
    return LADE_OK;
}

/* Values that do not fit into 32 bits are in an extra field, in this order. */
static int read_extra(const struct lade_zip *zip, uint64_t at, uint64_t size, uint64_t *const values[3],
                      struct lade_error *error)
{
    while (size >= 4) {
        const uint64_t id = number(zip->file, at, 2), length = number(zip->file, at + 2, 2);
        if (length > size - 4)
            return wrong(zip->file, at, "an extra field is longer than its entry", error);
        uint64_t from = at + 4, left = length;
        for (unsigned v = 0; v < 3 && id == 1; v++)
            if (*values[v] == UINT32_MAX) {
                if (left < 8)
                    return wrong(zip->file, at, "an extra field of 64 bits is too short", error);
                *values[v] = number(zip->file, from, 8);
                from += 8;
                left -= 8;
            }
        at += 4 + length;
        size -= 4 + length;
    }
    return LADE_OK;
}

/* Where the data begins: behind a header whose name and extra field may differ from those of the directory. */
static int find_data(const struct lade_zip *zip, uint64_t header, struct lade_zip_member *m, struct lade_error *error)
{
    const struct lade_bytes b = zip->file;

    if (header > b.size || b.size - header < LOCAL || !is_at(b, header, 0x04034b50))
        return wrong(b, zip->at + 42, "an entry of the directory leads to no header", error);
    const uint64_t names = number(b, header + 26, 2) + number(b, header + 28, 2), left = b.size - header - LOCAL;
    if (names > left || m->packed > left - names)
        return wrong(b, header, "ends inside a member", error);
    m->data = header + LOCAL + names;
    return LADE_OK;
}

int lade_zip_next(struct lade_zip *zip, struct lade_zip_member *m, struct lade_error *error)
{
    const struct lade_bytes b = zip->file;
    const uint64_t at = zip->at;

    if (zip->left == 0)
        return LADE_EMPTY;
    if (zip->end - at < ENTRY || !is_at(b, at, 0x02014b50))
        return wrong(b, at, "an entry of the directory is malformed", error);
    const uint64_t name = number(b, at + 28, 2), extra = number(b, at + 30, 2), comment = number(b, at + 32, 2);
    if (name + extra + comment > zip->end - at - ENTRY)
        return wrong(b, at, "an entry of the directory is longer than the directory", error);
    uint64_t header = number(b, at + 42, 4);
    *m = (struct lade_zip_member){.name = (const char *)b.data + at + ENTRY,
                                  .length = (size_t)name,
                                  .method = (unsigned)number(b, at + 10, 2),
                                  .checksum = (uint32_t)number(b, at + 16, 4),
                                  .size = number(b, at + 24, 4),
                                  .packed = number(b, at + 20, 4)};
    int status = read_extra(zip, at + ENTRY + name, extra, (uint64_t *const[]){&m->size, &m->packed, &header}, error);
    if (status == LADE_OK && number(b, at + 8, 2) & 1)
        status = wrong(b, at + 8, "a member is encrypted", error);
    if (status == LADE_OK)
        status = find_data(zip, header, m, error);
    if (status == LADE_OK && m->method == 0 && m->size != m->packed)
        status = wrong(b, at + 20, "a stored member has two sizes", error);
    zip->at += ENTRY + name + extra + comment;
    zip->left--;
    return status;
}
