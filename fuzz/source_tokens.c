/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as flat tokens and as Megatron's index. The first 8 bytes choose; the rest is the file, or the index
 * followed by a chosen number of bytes of tokens.
 */
#include "source_fuzz.h"
#include "source_members.h"

enum { CHOICE = 8 };

static void check_megatron(const uint8_t *choice, struct lade_bytes bytes)
{
    struct lade_error error = {.status = 0};
    struct lade_megatron m;
    const size_t tokens = choice[1] < bytes.size ? choice[1] : bytes.size, index = bytes.size - tokens;
    int status = lade_megatron_parse(&m, (struct lade_bytes){bytes.data, index, "index"},
                                     (struct lade_bytes){bytes.data + index, tokens, "tokens"}, choice[0] & 2, &error);

    if (status != LADE_OK) {
        check_error(status, &error, bytes.size);
        return;
    }
    must(m.count > 0 && m.longest > 0);
    for (uint64_t i = 0; i < m.count; i++) {
        uint64_t length;
        must(lade_megatron_length(&m, i, &length, &error) == LADE_OK);
        const uint64_t from = choice[2] < length ? choice[2] : 0;
        must(length <= m.longest && length * lade_dtype_size(m.dtype) <= tokens);
        uint8_t *to = malloc((size_t)(length - from) * lade_dtype_size(m.dtype) + 1);
        must(to);
        must(lade_megatron_read(&m, i, &(struct lade_view){to, from, length - from}, &error) == LADE_OK);
        must(lade_megatron_read(&m, i, &(struct lade_view){to, from, length - from + 1}, &error) == LADE_INVALID);
        free(to);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lade_error error = {.status = 0};
    struct lade_flat flat = {.count = 0};

    if (size < CHOICE)
        return 0;
    const struct lade_bytes bytes = {data + CHOICE, size - CHOICE, "input"};
    if (data[0] & 1) {
        check_megatron(data, bytes);
        return 0;
    }
    const uint64_t huge = data[7] == 255 ? UINT64_MAX : 0;
    const struct lade_tokens tokens = {(enum lade_dtype)(data[1] % 16), data[2] | huge << data[3] % 64,
                                       data[4] | huge << data[5] % 64, data[6]};
    int status = lade_tokens_add(&flat, &tokens, bytes, &error);
    if (status != LADE_OK) {
        check_error(status, &error, bytes.size);
        return 0;
    }
    uint8_t *to = malloc(flat.bytes);
    must(to && flat.count > 0 && flat.bytes == lade_shape_bytes(&flat.shape));
    for (uint64_t i = 0; i < flat.count; i++) {
        int64_t label;
        must(lade_flat_read(&flat, i, to, &label, &error) == LADE_OK && label == LADE_NO_LABEL);
    }
    free(to);
    return 0;
}
