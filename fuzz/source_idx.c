/* SPDX-License-Identifier: MIT */
/* Any bytes as a file of idx, and the same as its labels: an error with its place, or samples that can be read. */
#include "source_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct lade_bytes bytes = {data, size, "input"};
    struct lade_error error = {.status = 0};
    struct lade_flat flat, labels;
    int status = lade_idx_parse(&flat, bytes, &error);

    if (status != LADE_OK) {
        check_error(status, &error, size);
        return 0;
    }
    check_flat(&flat, size);
    labels = flat;
    status = lade_flat_take_labels(&flat, &labels, &error);
    if (status != LADE_OK)
        check_error(status, &error, size);
    else
        check_flat(&flat, size);
    return 0;
}
