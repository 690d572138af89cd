/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as files of CIFAR and of records. The first 24 bytes choose the kind and the form of a record, the rest is
 * the file; they are whole words, so that sizes near 2^64 come as well.
 */
#include "source_fuzz.h"

enum { CHOICE = 24 };

static uint64_t word_at(const uint8_t *data)
{
    uint64_t word;

    memcpy(&word, data, sizeof word);
    /* Mostly small: the high half counts only when all of its bits are set. */
    return word >> 32 == UINT32_MAX ? word : word & 0xff;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lade_error error = {.status = 0};
    struct lade_flat flat = {.count = 0};
    int status;

    if (size < CHOICE)
        return 0;
    const struct lade_bytes bytes = {data + CHOICE, size - CHOICE, "input"};
    unsigned kind = data[CHOICE - 1] % 8;
    if (kind < 3) {
        status = lade_cifar_add(&flat, (enum lade_cifar_labels)kind, bytes, &error);
        if (status == LADE_OK)
            status = lade_cifar_add(&flat, (enum lade_cifar_labels)kind, bytes, &error);
        if (status == LADE_OK)
            check_flat(&flat, 2 * bytes.size);
    } else {
        struct lade_records r = {
            .size = word_at(data), .header = kind & 1 ? 0 : data[22], .label_at = word_at(data + 8)};
        r.label_width = data[16] % 10;
        r.classes = data[17];
        r.shaped = data[18] & 1;
        r.shape = (struct lade_shape){(enum lade_dtype)(data[19] % 16), data[20] % 3, {data[21], r.size}};
        status = lade_records_parse(&flat, &r, bytes, &error);
        if (status == LADE_OK)
            check_flat(&flat, bytes.size);
    }
    if (status != LADE_OK)
        check_error(status, &error, bytes.size);
    return 0;
}
