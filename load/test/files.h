/* SPDX-License-Identifier: MIT */
/* Files of a test, in a separate folder below /tmp that is removed at the end. */
#ifndef LADE_LOAD_TEST_FILES_H
#define LADE_LOAD_TEST_FILES_H

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char files_folder[64];

static inline void make_folder(void)
{
    strcpy(files_folder, "/tmp/lade-test-XXXXXX");
    cr_assert_not_null(mkdtemp(files_folder));
}

static inline int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    return remove(path);
}

static inline void remove_folder(void)
{
    cr_assert_eq(nftw(files_folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Writes a file below the folder; folders in its name are created. */
static inline void put_file(const char *name, const void *bytes, size_t size)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", files_folder, name);
    for (char *slash = strchr(path + strlen(files_folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f);
    cr_assert_eq(fwrite(bytes, 1, size, f), size);
    cr_assert_eq(fclose(f), 0);
}

/* "text" with each @ replaced by the folder; one at a time. */
static inline const char *in_folder(const char *text)
{
    static char out[4096];
    size_t used = 0;

    for (; *text; text++)
        if (*text == '@')
            used += (size_t)snprintf(out + used, sizeof out - used, "%s", files_folder);
        else
            out[used++] = *text;
    out[used] = 0;
    return out;
}

#endif
