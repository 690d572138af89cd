/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 1000 /* names */

/* Again after a signal, which slow file systems notice. */
static int open_again(int directory, const char *name, int flags, mode_t mode)
{
    int fd;

    do
        fd = openat(directory, name, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static int open_directory(const char *path, size_t size)
{
    char name[PATH_MAX] = ".";

    if (size >= sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (size > 0) {
        memcpy(name, path, size);
        name[size] = '\0';
    }
    return open_again(AT_FDCWD, name, O_RDONLY | O_DIRECTORY, 0);
}

/* Two threads, or processes that do not see each other, may come to the same name: O_EXCL tells them apart. */
static bool create_aside(struct lade_file *f, mode_t mode)
{
    for (unsigned n = 0; n < TRIES; n++) {
        (void)snprintf(f->name, sizeof f->name, ".lade-%ld-%u", (long)getpid(), n);
        f->file = open_again(f->directory, f->name, O_WRONLY | O_CREAT | O_EXCL, mode);
        if (f->file >= 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    f->name[0] = '\0'; /* it is not ours */
    return false;
}

static bool begin(struct lade_file *f)
{
    struct stat old;

    if (*f->base == '\0') {
        errno = EISDIR;
        return false;
    }
    if (fstatat(f->directory, f->base, &old, 0) != 0)
        return errno == ENOENT && create_aside(f, 0666);
    if (!S_ISREG(old.st_mode)) {
        errno = S_ISDIR(old.st_mode) ? EISDIR : EINVAL;
        return false;
    }
    return create_aside(f, old.st_mode & 0777) && fchmod(f->file, old.st_mode & 0777) == 0;
}

int lade_file_create(struct lade_file *f, const char *path)
{
    const char *slash = strrchr(path, '/');

    f->base = slash ? slash + 1 : path;
    f->name[0] = '\0';
    f->file = -1;
    f->directory = open_directory(path, (size_t)(f->base - path));
    if (f->directory >= 0 && begin(f))
        return LADE_OK;
    lade_file_drop(f);
    return LADE_IO;
}

int lade_file_open(struct lade_file *f, const char *path)
{
    f->name[0] = '\0';
    f->directory = -1;
    f->file = open_again(AT_FDCWD, path, O_RDONLY, 0);
    return f->file >= 0 ? LADE_OK : LADE_IO;
}

void lade_file_drop(struct lade_file *f)
{
    int error = errno;

    if (f->name[0] != '\0')
        (void)unlinkat(f->directory, f->name, 0);
    if (f->file >= 0)
        (void)close(f->file);
    if (f->directory >= 0)
        (void)close(f->directory);
    f->name[0] = '\0';
    f->file = f->directory = -1;
    errno = error;
}

bool lade_file_put(void *file, const void *bytes, size_t size)
{
    struct lade_file *f = file;
    const char *at = bytes;

    while (size > 0) {
        ssize_t done = write(f->file, at, size);
        if (done == 0)
            errno = ENOSPC;
        if (done == 0 || (done < 0 && errno != EINTR))
            return false;
        if (done > 0) {
            at += done;
            size -= (size_t)done;
        }
    }
    return true;
}

int lade_file_get(void *file, void *bytes, size_t size)
{
    struct lade_file *f = file;
    char *at = bytes;

    while (size > 0) {
        ssize_t done = read(f->file, at, size);
        if (done == 0)
            return LADE_EMPTY;
        if (done < 0 && errno != EINTR)
            return LADE_IO;
        if (done > 0) {
            at += done;
            size -= (size_t)done;
        }
    }
    return LADE_OK;
}

static bool synced(int fd)
{
    int answer;

    do
        answer = fsync(fd);
    while (answer != 0 && errno == EINTR);
    return answer == 0;
}

/* Some file systems tell here what went wrong before. After EINTR the file is closed on Linux. */
static bool closed(struct lade_file *f)
{
    int fd = f->file;

    f->file = -1;
    return close(fd) == 0 || errno == EINTR;
}

int lade_file_replace(struct lade_file *f)
{
    bool good = synced(f->file) && closed(f) && renameat(f->directory, f->name, f->directory, f->base) == 0;

    if (good) {
        f->name[0] = '\0';
        good = synced(f->directory) || errno == EINVAL; /* a file system that does not sync directories */
    }
    lade_file_drop(f);
    return good ? LADE_OK : LADE_IO;
}

uint64_t lade_file_size(const struct lade_file *f)
{
    struct stat s;

    return fstat(f->file, &s) == 0 && S_ISREG(s.st_mode) ? (uint64_t)s.st_size : UINT64_MAX;
}

uint64_t lade_file_tail(struct lade_file *f, void *bytes, size_t size)
{
    struct stat s;

    if (fstat(f->file, &s) != 0 || !S_ISREG(s.st_mode) || (uint64_t)s.st_size < size ||
        pread(f->file, bytes, size, s.st_size - (off_t)size) != (ssize_t)size)
        return 0;
    uint64_t most = (uint64_t)s.st_blocks * 512 * 4;
    return (uint64_t)s.st_size < most ? (uint64_t)s.st_size : most;
}
