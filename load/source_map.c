/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(struct lade_error *error, const char *path, const char *what)
{
    return lade_fail(error, LADE_IO, path, LADE_NO_OFFSET, "%s: %s", what, strerror(errno));
}

int lade_map(struct lade_bytes *bytes, const char *path, struct lade_error *error)
{
    struct stat about;

    *bytes = (struct lade_bytes){NULL, 0, NULL};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return refuse(error, path, "cannot be opened");
    int status = LADE_OK;
    char *name = strdup(path);
    if (fstat(file, &about) != 0)
        status = refuse(error, path, "cannot be looked at");
    else if (!S_ISREG(about.st_mode))
        status = lade_fail(error, LADE_IO, path, LADE_NO_OFFSET, "is not a file");
    else if (about.st_size == 0)
        status = lade_fail(error, LADE_DAMAGED, path, 0, "is empty");
    else if (!name)
        status = lade_fail(error, LADE_NO_MEMORY, path, LADE_NO_OFFSET, "out of memory");
    if (status == LADE_OK) {
        void *data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, file, 0);
        if (data == MAP_FAILED)
            status = refuse(error, path, "cannot be mapped");
        else
            *bytes = (struct lade_bytes){data, (size_t)about.st_size, name};
    }
    (void)close(file);
    if (status != LADE_OK)
        free(name);
    return status;
}

void lade_unmap(struct lade_bytes *bytes)
{
    /* The two casts: mapping and name were made by lade_map and are constant only for readers. */
    if (bytes->data)
        (void)munmap((void *)(uintptr_t)bytes->data, bytes->size);
    free((void *)(uintptr_t)bytes->name);
    *bytes = (struct lade_bytes){NULL, 0, NULL};
}
