/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as npz and as gzip: an error with its place, or arrays that can be read. The limit of what is unpacked is a
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

static void check_gzip(struct lade_bytes bytes)
{
    struct lade_error error = {.status = 0};
    struct lade_bytes to;
    int status = lade_unpack(&to, bytes, 0, LADE_GZIP, LIMIT, NULL, &error);

    if (status != LADE_OK) {
        check_error(status, &error, bytes.size);
        return;
    }
    must(to.size > 0 && to.size <= LIMIT);
    lade_unmap(&to, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const struct lade_bytes bytes = {data + 1, size - 1, "input"};
    if (data[0] & 1)
        check_gzip(bytes);
    else
        check_npz(bytes, data[0] & 2);
    return 0;
}
