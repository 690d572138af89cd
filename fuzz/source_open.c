/* SPDX-License-Identifier: MIT */
/* Any text as the name of a source. The names of files that it asks for do not exist, but for those of the system. */
#include "source_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lade_error error = {.status = 0};
    struct lade_source *source;
    char *text = malloc(size + 1);

    must(text);
    memcpy(text, data, size);
    text[size] = 0;
    /* Folders are not searched, and devices and other people's files are not opened. */
    if (strchr(text, '/') || !strncmp(text, "images", 6)) {
        free(text);
        return 0;
    }
    int status = lade_source_open(&source, text, NULL, &error);
    if (status != LADE_OK) {
        must(!source);
        check_error(status, &error, SIZE_MAX);
    } else {
        const struct lade_source_info *info = lade_source_info(source);
        must(info->count > 0 && info->bytes == lade_shape_bytes(&info->shape));
        if (info->bytes < 1 << 20) {
            uint8_t *to = malloc(info->bytes);
            int64_t label;
            must(to);
            for (uint64_t i = 0; i < 3 && i < info->count; i++) {
                must(lade_source_read(source, info->count - 1 - i, to, &label, &error) == LADE_OK);
                must((uint64_t)label < info->classes || info->classes == 0);
            }
            free(to);
        }
        lade_source_close(source);
    }
    free(text);
    return 0;
}
