/* SPDX-License-Identifier: MIT */
/* One writer of a table at a time, among processes: a locked file beside it, which is gone when nobody writes. */
#include "split.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool name_lock(char *name, size_t room, const char *table)
{
    return snprintf(name, room, "%s.lock", table) < (int)room;
}

/* Whether the open file is still the one of that name: who had it before may have taken the name away. */
static bool is_named(int lock, const char *name)
{
    struct stat open, named;

    return fstat(lock, &open) == 0 && stat(name, &named) == 0 && open.st_dev == named.st_dev &&
           open.st_ino == named.st_ino;
}

int split_lock(const char *table)
{
    char name[4096];
    int lock;

    if (!name_lock(name, sizeof name, table)) {
        fprintf(stderr, "lade split: %s: the name is too long\n", table);
        return -1;
    }
    for (;;) {
        lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock < 0)
            break;
        if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
            if (errno == EWOULDBLOCK)
                fprintf(stderr, "lade split: waiting for another one that writes %s\n", table);
            int failed;
            while ((failed = flock(lock, LOCK_EX)) != 0 && errno == EINTR)
                continue;
            if (failed)
                fprintf(stderr, "lade split: %s cannot be locked (%s): let nobody else write it meanwhile\n", table,
                        strerror(errno));
        }
        if (is_named(lock, name))
            return lock;
        (void)close(lock);
    }
    fprintf(stderr, "lade split: %s: %s\n", name, strerror(errno));
    return -1;
}

void split_unlock(const char *table, int lock)
{
    char name[4096];

    if (lock >= 0 && name_lock(name, sizeof name, table)) {
        (void)unlink(name);
        (void)close(lock);
    }
}
