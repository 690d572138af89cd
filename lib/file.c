/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "file.h"

#include "fail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 100 /* names */
#define PREFIX ".lade-"
#define DIGITS 16

/* Retries after a signal, which can interrupt slow file systems. */
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

/* Draws a name that no other process can guess and occupy in advance. */
static bool draw_name(struct lade_file *f)
{
    uint64_t number;

    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return false;
    (void)snprintf(f->name, sizeof f->name, PREFIX "%0*llx", DIGITS, (unsigned long long)number);
    return true;
}

/*
 * Locks the new file, so that clean() recognises that its writer is alive. False: a cleaner was faster and has removed
 * the file, or is about to. Without locks in the file system nothing is ever cleaned, and nothing needs protection.
 */
static bool protect(struct lade_file *f)
{
    struct stat s;

    if (flock(f->file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(f->file, &s) != 0 || s.st_nlink > 0;
}

static bool create_aside(struct lade_file *f, mode_t mode)
{
    for (unsigned n = 0; n < TRIES && draw_name(f); n++) {
        f->file = open_again(f->directory, f->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
        if (f->file >= 0 && protect(f)) {
            /* The lock lasts until both descriptors are closed: until the file has its final name. */
            f->guard = fcntl(f->file, F_DUPFD_CLOEXEC, 0);
            return f->guard >= 0;
        }
        if (f->file >= 0)
            (void)close(f->file);
        else if (errno != EEXIST)
            break;
        f->file = -1;
    }
    f->name[0] = '\0'; /* the file is not ours */
    return false;
}

static bool is_ours(const char *name)
{
    const size_t prefix = strlen(PREFIX);

    return strncmp(name, PREFIX, prefix) == 0 && strspn(name + prefix, "0123456789abcdef") == DIGITS &&
           name[prefix + DIGITS] == '\0';
}

/* A file that a writer still uses is locked. */
static void remove_left(int directory, const char *name)
{
    struct stat s;
    int left = open_again(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);

    if (left < 0)
        return;
    if (fstat(left, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && flock(left, LOCK_EX | LOCK_NB) == 0)
        (void)unlinkat(directory, name, 0);
    (void)close(left);
}

/* Removes files that killed writers have left. A file that cannot be removed does no harm. */
static void clean(int directory)
{
    int copy = fcntl(directory, F_DUPFD_CLOEXEC, 0);
    DIR *list = copy >= 0 ? fdopendir(copy) : NULL;

    if (!list) {
        if (copy >= 0)
            (void)close(copy);
        return;
    }
    rewinddir(list);
    for (struct dirent *entry; (entry = readdir(list));)
        if (is_ours(entry->d_name))
            remove_left(directory, entry->d_name);
    (void)closedir(list);
}

static bool begin_aside(struct lade_file *f)
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

static int create(struct lade_file *f, const char *path, bool bulk)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

    *f = (struct lade_file){.file = -1, .directory = -1, .guard = -1, .bulk = bulk};
    if (strlen(base) >= sizeof f->base) {
        errno = ENAMETOOLONG;
        return LADE_IO;
    }
    strcpy(f->base, base);
    f->directory = open_directory(path, (size_t)(base - path));
    if (f->directory >= 0 && !bulk)
        clean(f->directory);
    if (f->directory >= 0 && begin_aside(f))
        return LADE_OK;
    lade_file_drop(f);
    return LADE_IO;
}

int lade_file_create(struct lade_file *f, const char *path)
{
    return create(f, path, false);
}

int lade_file_create_bulk(struct lade_file *f, const char *path)
{
    return create(f, path, true);
}

void lade_file_clean(const char *path)
{
    int directory = open_directory(path, strlen(path));

    if (directory < 0)
        return;
    clean(directory);
    (void)close(directory);
}

int lade_file_open(struct lade_file *f, const char *path)
{
    *f = (struct lade_file){.directory = -1, .guard = -1};
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
    if (f->guard >= 0)
        (void)close(f->guard);
    if (f->directory >= 0)
        (void)close(f->directory);
    f->name[0] = '\0';
    f->file = f->guard = f->directory = -1;
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
    int status;

    do
        status = fsync(fd);
    while (status != 0 && errno == EINTR);
    return status == 0;
}

/* Some file systems report earlier write errors here. After EINTR the file is closed on Linux. */
static bool closed(struct lade_file *f)
{
    int fd = f->file;

    f->file = -1;
    return close(fd) == 0 || errno == EINTR;
}

int lade_file_replace(struct lade_file *f)
{
    bool good =
        (f->bulk || synced(f->file)) && closed(f) && renameat(f->directory, f->name, f->directory, f->base) == 0;

    if (good) {
        f->name[0] = '\0';
        good = f->bulk || synced(f->directory) || errno == EINVAL; /* a file system that does not sync directories */
    }
    lade_file_drop(f);
    return good ? LADE_OK : LADE_IO;
}

int lade_file_explain(struct lade_error *error, int status, const char *path, uint64_t offset, const char *verb)
{
    switch (status) {
    case LADE_OK:
        return LADE_OK;
    case LADE_IO:
        return lade_fail(error, status, path, offset, "cannot %s: %s", verb, strerror(errno));
    case LADE_DAMAGED:
        return lade_fail(error, status, path, offset, "not a file of this kind, or damaged or cut short");
    case LADE_NO_MEMORY:
        return lade_fail(error, status, path, offset, "cannot %s: out of memory", verb);
    default:
        return lade_fail(error, status, path, offset, "cannot %s: status %d", verb, status);
    }
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
