/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "heap.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(struct lade_error *error, const char *path, const char *what)
{
    return lade_fail(error, LADE_IO, path, LADE_NO_OFFSET, "%s: %s", what, strerror(errno));
}

/* Opens a file that is not empty, and stores its size and time. Returns the descriptor, or a negative status. */
static int open_file(const char *path, struct lade_stamp *stamp, struct lade_error *error)
{
    struct stat about;
    int status = LADE_OK;
    /* Opening a pipe must not wait for its other end. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (file < 0)
        return refuse(error, path, "cannot be opened");
    if (fstat(file, &about) != 0)
        status = refuse(error, path, "cannot be examined");
    else if (!S_ISREG(about.st_mode))
        status = lade_fail(error, LADE_IO, path, LADE_NO_OFFSET, "is not a file");
    else if (about.st_size == 0)
        status = lade_fail(error, LADE_DAMAGED, path, 0, "is empty");
    else
        *stamp = (struct lade_stamp){(uint64_t)about.st_size, about.st_mtim.tv_sec, (uint32_t)about.st_mtim.tv_nsec, 0};
    if (status == LADE_OK)
        return file;
    (void)close(file);
    return status;
}

int lade_map_stamped(struct lade_bytes *bytes, struct lade_stamp *stamp, const char *path,
                     const struct lade_alloc *alloc, struct lade_error *error)
{
    int status = LADE_OK, file = open_file(path, stamp, error);

    *bytes = (struct lade_bytes){NULL, 0, NULL};
    if (file < 0)
        return file;
    const size_t size = (size_t)stamp->size;
    char *name = lade_heap_text(alloc, path);
    void *data = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    if (data == MAP_FAILED)
        status = refuse(error, path, "cannot be mapped");
    else if (!name)
        status = lade_fail(error, LADE_NO_MEMORY, path, LADE_NO_OFFSET, "out of memory");
    (void)close(file);
    if (status == LADE_OK) {
        *bytes = (struct lade_bytes){data, size, name};
        return status;
    }
    if (data != MAP_FAILED)
        (void)munmap(data, size);
    lade_heap_put(alloc, name);
    return status;
}

int lade_map(struct lade_bytes *bytes, const char *path, const struct lade_alloc *alloc, struct lade_error *error)
{
    struct lade_stamp stamp;

    return lade_map_stamped(bytes, &stamp, path, alloc, error);
}

void lade_unmap(struct lade_bytes *bytes, const struct lade_alloc *alloc)
{
    /* The two casts: lade_map created mapping and name, which are constant only for readers. */
    if (bytes->data)
        (void)munmap((void *)(uintptr_t)bytes->data, bytes->size);
    lade_heap_put(alloc, (void *)(uintptr_t)bytes->name);
    *bytes = (struct lade_bytes){NULL, 0, NULL};
}

int lade_read_file(struct lade_bytes *bytes, const char *path, const struct lade_alloc *alloc, struct lade_error *error)
{
    struct lade_stamp stamp;
    size_t done = 0, name = strlen(path) + 1;
    int status = LADE_OK, file = open_file(path, &stamp, error);

    *bytes = (struct lade_bytes){NULL, 0, NULL};
    if (file < 0)
        return file;
    const size_t size = (size_t)stamp.size;
    uint8_t *data = NULL;
    if (size > 1 << 30)
        status = lade_fail(error, LADE_DAMAGED, path, 1 << 30, "is larger than 2^30 bytes");
    else if (!(data = lade_heap_raw(alloc, size + name, 1)))
        status = lade_fail(error, LADE_NO_MEMORY, path, LADE_NO_OFFSET, "out of memory");
    while (status == LADE_OK && done < size) {
        ssize_t got = read(file, data + done, size - done);
        if (got > 0)
            done += (size_t)got;
        else if (got == 0)
            status = lade_fail(error, LADE_DAMAGED, path, done, "became shorter while it was read");
        else if (errno != EINTR)
            status = refuse(error, path, "cannot be read");
    }
    (void)close(file);
    if (status != LADE_OK) {
        lade_heap_put(alloc, data);
        return status;
    }
    /* The name is stored after the bytes. */
    *bytes = (struct lade_bytes){data, size, memcpy(data + size, path, name)};
    return LADE_OK;
}

void lade_free_file(struct lade_bytes *bytes, const struct lade_alloc *alloc)
{
    lade_heap_put(alloc, (void *)(uintptr_t)bytes->data);
    *bytes = (struct lade_bytes){NULL, 0, NULL};
}
