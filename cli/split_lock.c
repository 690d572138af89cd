/* SPDX-License-Identifier: MIT */
/*
 * One writer of a table at a time, among processes: a locked file beside the table holds the process number, and is
 * removed when no process writes.
 */
#include "split.h"

#include "lade.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const struct timespec pause_between = {0, 20000000};

static bool name_lock(char *name, size_t room, const char *table)
{
    return snprintf(name, room, "%s.lock", table) < (int)room;
}

/* 1: the open file still has that name; 0: the previous holder has removed it; -1: unknown. */
static int is_named(int lock, const char *name)
{
    struct stat open, named;

    if (fstat(lock, &open) != 0)
        return -1;
    if (!S_ISREG(open.st_mode) || open.st_nlink > 1) {
        errno = EINVAL; /* not created by lade: nothing is written to it */
        return -1;
    }
    if (lstat(name, &named) != 0)
        return errno == ENOENT ? 0 : -1;
    return open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/* The process number that the holder wrote; 0: unknown. */
static long holder_of(int lock)
{
    char text[32] = {0};
    ssize_t size = pread(lock, text, sizeof text - 1, 0);

    return size > 0 ? strtol(text, NULL, 10) : 0;
}

static bool write_holder(int lock)
{
    char text[32];
    int size = snprintf(text, sizeof text, "%ld\n", (long)getpid());

    return ftruncate(lock, 0) == 0 && pwrite(lock, text, (size_t)size, 0) == size;
}

/* A file system without locks: the user must be warned. */
static bool has_no_locks(int error)
{
    return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP;
}

enum { TAKEN, HELD, GONE, FAILED };

/* One attempt; FAILED: see errno. */
static int try_lock(int lock, const char *name, const char *table)
{
    if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK || errno == EINTR)
            return HELD;
        if (!has_no_locks(errno))
            return FAILED;
        print_error("split: %s cannot be locked (%s); make sure that no other process writes it", table,
                    strerror(errno));
    }
    int named = is_named(lock, name);
    if (named <= 0)
        return named == 0 ? GONE : FAILED;
    if (write_holder(lock))
        return TAKEN;
    int error = errno;
    (void)unlink(name); /* this process holds it */
    errno = error;
    return FAILED;
}

int split_lock(const char *table, uint64_t seconds)
{
    const double deadline = seconds_now() + (double)seconds;
    char name[4096];
    bool told = false;

    if (!name_lock(name, sizeof name, table)) {
        print_error("split: %s: the name is too long", table);
        return -1;
    }
    for (;;) {
        int lock = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
        int state = lock < 0 ? FAILED : try_lock(lock, name, table);
        if (state == TAKEN)
            return lock;
        if (state == FAILED) {
            print_error("split: %s: %s", name, strerror(errno));
            if (lock >= 0)
                (void)close(lock);
            return -1;
        }
        const long holder = state == HELD ? holder_of(lock) : 0;
        (void)close(lock);
        if (seconds_now() >= deadline) {
            print_error("split: %s: process %ld still writes it after %llu s; --wait N waits longer", table, holder,
                        (big)seconds);
            return -1;
        }
        if (state == GONE)
            continue;
        if (!told)
            print_error("split: waiting up to %llu s for process %ld, which writes %s", (big)seconds, holder, table);
        told = true;
        (void)nanosleep(&pause_between, NULL);
    }
}

void split_unlock(const char *table, int lock)
{
    char name[4096];

    if (lock >= 0 && name_lock(name, sizeof name, table)) {
        (void)unlink(name);
        (void)close(lock);
    }
}
