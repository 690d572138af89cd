/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as npz, as gzip and as zstd: an error with its place, or arrays that can be read. The limit of what is unpacked is a
 * megabyte. The first byte chooses.
 */
#include "source_fuzz.h"
#include "source_zip.h"

enum { LIMIT = 1 << 20 };

static void check_npz(struct lade_bytes bytes, bool some)
{
    static const char *const names[] = {"a", "b"};
    static struct lade_npz npz;
    struct lade_error error = {.status = 0};
    int status = lade_npz_parse(&npz, bytes, names, some ? 2 : 0, LIMIT, false, NULL, &error);

    if (status != LADE_OK)
        check_error(status, &error, bytes.size);
    for (unsigned a = 0; status == LADE_OK && a < npz.arrays; a++) {
        must(npz.flat[a].count == npz.flat[0].count && npz.name[a][0]);
        check_flat(&npz.flat[a], npz.map[a].data ? npz.map[a].size : bytes.size);
    }
    lade_npz_drop(&npz, NULL);
}

/* The same bytes come into a mapping and into memory of the heap. */
static void check_packed(struct lade_bytes bytes, enum lade_packing packing)
{
    struct lade_error error = {.status = 0};
    struct lade_bytes to, value;
    int status = lade_unpack(&to, bytes, 0, packing, LIMIT, NULL, &error);

    const int same = lade_unpack_value(&value, bytes, 0, packing, LIMIT, NULL, NULL);
    if (status != LADE_OK) {
        must(same == status || (same == LADE_OK && value.size == 0)); /* a file has some bytes, a value may have none */
        check_error(status, &error, bytes.size);
        free((void *)(uintptr_t)value.data);
        return;
    }
    must(same == LADE_OK);
    must(to.size > 0 && to.size <= LIMIT && value.size == to.size && !memcmp(value.data, to.data, to.size));
    lade_unmap(&to, NULL);
    free((void *)(uintptr_t)value.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const struct lade_bytes bytes = {data + 1, size - 1, "input"};
    if (data[0] & 1)
        check_packed(bytes, data[0] & 4 ? LADE_ZSTD_FRAMES : LADE_GZIP);
    else
        check_npz(bytes, data[0] & 2);
    return 0;
}
