/* SPDX-License-Identifier: MIT */
/*
 * kill -9 while a table is saved. A child dies at each step of a save: before and after each system call, and in the
 * middle of each write. Then another one saves repeatedly, and is killed from outside after a random number of steps.
 * Each time the path is the old file or the new one, byte for byte, and the next save works. A save that writes in
 * place must be found to break its file under the same driver.
 *
 * What a power failure leaves depends on the order of writes, syncs and rename as well; the unit test of file checks
 * that.
 */
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared with the child. */
static struct shared {
    atomic_uint steps; /* that it has reached */
    unsigned die_at;   /* 0: nowhere */
    uint64_t random;   /* decides how much of a write is done */
} * shared;

static void step(void)
{
    if (atomic_fetch_add(&shared->steps, 1) + 1 == shared->die_at)
        (void)kill(getpid(), SIGKILL);
}

static long stepped(long result)
{
    step();
    return result;
}

static ssize_t stepped_write(int fd, const void *bytes, size_t size)
{
    size_t part = size ? (size_t)(check_next(&shared->random) % size) : 0;
    ssize_t done = write(fd, bytes, part);

    step();
    return done < 0 ? done : done + write(fd, (const char *)bytes + part, size - part);
}

/* A step before a call and one after it. */
#define STEPPED(call) (step(), stepped(call))
#define openat(...) ((int)STEPPED(openat(__VA_ARGS__)))
#define fstatat(...) STEPPED(fstatat(__VA_ARGS__))
#define fchmod(...) STEPPED(fchmod(__VA_ARGS__))
#define write(...) STEPPED(stepped_write(__VA_ARGS__))
#define fsync(...) ((int)STEPPED(fsync(__VA_ARGS__)))
#define renameat(...) STEPPED(renameat(__VA_ARGS__))
#define close(...) STEPPED(close(__VA_ARGS__))
#include "../lib/file.c"
#undef openat
#undef fstatat
#undef fchmod
#undef write
#undef fsync
#undef renameat
#undef close

#include "../lib/table_save.h"

#include <urcu/urcu-memb.h>

#define PATH "table"

enum content { OLD, NEW, CONTENTS };
enum way { BY_RENAME, IN_PLACE };

static const uint64_t entries[CONTENTS] = {9000, 17000};

/* Each content as a file; the same in every run, because the seed is. */
static struct {
    char *bytes;
    size_t size;
} image[CONTENTS];

static struct lade_table *make(enum lade_table_kind kind, enum content content)
{
    struct lade_table_config config = {.kind = kind, .seeded = true, .seed = content};
    struct lade_table *table = NULL;
    char key[32];

    if (lade_table_create(&table, &config) != LADE_OK)
        abort();
    for (uint64_t i = 0; i < entries[content]; i++) {
        int size = snprintf(key, sizeof key, "%d/%ju", (int)content, (uintmax_t)i * i);
        int status = kind == LADE_TABLE_WORDS ? lade_table_insert(table, i * 31 + content, i, NULL)
                                              : lade_table_insert_bytes(table, key, (size_t)size, i, NULL);
        if (status != LADE_OK)
            abort();
    }
    return table;
}

static int save(struct lade_table *table, enum way way)
{
    struct lade_file file = {.directory = -1};
    struct lade_sink sink = {lade_file_put, &file};

    if (way == BY_RENAME)
        return lade_table_save(table, PATH, NULL);
    file.file = open(PATH, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int status = lade_table_write(table, &sink);
    lade_file_drop(&file);
    return status;
}

/* In a child, so that the driver itself never uses liburcu, which does not support fork well. */
static pid_t begin_save(enum lade_table_kind kind, enum content content, enum way way, bool for_ever, unsigned die_at)
{
    pid_t child;

    atomic_store(&shared->steps, 0);
    shared->die_at = die_at;
    child = fork();
    if (child < 0)
        abort();
    if (child > 0)
        return child;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* no child outlives the driver */
    urcu_memb_register_thread();
    struct lade_table *table[CONTENTS] = {NULL};
    table[content] = make(kind, content);
    if (for_ever)
        table[!content] = make(kind, (enum content) !content);
    int status = save(table[content], way);
    while (for_ever && status == LADE_OK) {
        content = (enum content) !content;
        status = save(table[content], way);
    }
    _exit(status == LADE_OK ? 0 : 1);
}

/* True when it exited successfully. */
static bool end_save(pid_t child)
{
    int status = 0;

    if (waitpid(child, &status, 0) != child || (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL))
        abort();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static char *read_whole(size_t *size)
{
    FILE *file = fopen(PATH, "rb");
    struct stat s;

    if (!file)
        return NULL;
    if (fstat(fileno(file), &s) != 0)
        abort();
    *size = (size_t)s.st_size;
    char *bytes = check_memory(*size + 1, 1);
    if (fread(bytes, 1, *size, file) != *size)
        abort();
    (void)fclose(file);
    return bytes;
}

static void put_image(enum content content)
{
    FILE *file = fopen(PATH, "wb");

    if (!file || fwrite(image[content].bytes, 1, image[content].size, file) != image[content].size || fclose(file) != 0)
        abort();
}

/* The content of the path, or -1 when it is neither. */
static int what_is_there(void)
{
    size_t size = 0;
    char *bytes = read_whole(&size);
    int found = -1;

    for (int i = 0; bytes && i < CONTENTS; i++)
        if (size == image[i].size && memcmp(bytes, image[i].bytes, size) == 0)
            found = i;
    free(bytes);
    return found;
}

/* Removes the files that a killed child left beside the path, and returns their number. */
static unsigned sweep(void)
{
    unsigned left = 0;
    DIR *d = opendir(".");

    if (!d)
        abort();
    for (struct dirent *entry; (entry = readdir(d));)
        if (strncmp(entry->d_name, ".lade-", 6) == 0) {
            left++;
            (void)unlinkat(dirfd(d), entry->d_name, 0);
        }
    (void)closedir(d);
    return left;
}

static unsigned kills, broken, too_many_left, back, failed_after;

/* Checks the files after a kill. Sometimes also runs a save that is not killed. */
static void look(enum lade_table_kind kind)
{
    kills++;
    broken += what_is_there() < 0;
    too_many_left += sweep() > 1;
    if (kills % 5 == 0)
        failed_after += !end_save(begin_save(kind, NEW, BY_RENAME, false, 0)) || what_is_there() != NEW || sweep() != 0;
}

static void forget(void)
{
    kills = broken = too_many_left = back = failed_after = 0;
}

/* Dies at every step; with renaming, the file is the old one up to some step and the new one from there on. */
static void kill_at_each_step(enum lade_table_kind kind, enum way way)
{
    bool new_seen = false;

    put_image(OLD);
    if (!end_save(begin_save(kind, NEW, way, false, 0)) || what_is_there() != NEW)
        abort();
    unsigned steps = atomic_load(&shared->steps);
    for (unsigned die_at = 1; die_at <= steps; die_at++) {
        put_image(OLD);
        if (end_save(begin_save(kind, NEW, way, false, die_at)))
            abort(); /* it did not die */
        bool is_new = what_is_there() == NEW;
        back += new_seen && !is_new;
        new_seen |= is_new;
        look(kind);
    }
}

static void kill_from_outside(enum lade_table_kind kind, uint64_t *random)
{
    unsigned after = 1 + check_below(random, 400);

    put_image(OLD);
    pid_t child = begin_save(kind, NEW, BY_RENAME, true, 0);
    while (atomic_load(&shared->steps) < after)
        sched_yield();
    (void)kill(child, SIGKILL);
    (void)end_save(child);
    look(kind);
}

static void make_images(enum lade_table_kind kind)
{
    for (int i = 0; i < CONTENTS; i++) {
        free(image[i].bytes);
        if (!end_save(begin_save(kind, (enum content)i, BY_RENAME, false, 0)))
            abort();
        image[i].bytes = read_whole(&image[i].size);
    }
}

static void report(const char *name)
{
    check(kills > 0 && broken + too_many_left + back + failed_after == 0, name,
          "%u kills; %u files broken, %u with more than one file left, %u old again, %u saves failed afterwards", kills,
          broken, too_many_left, back, failed_after);
    forget();
}

int main(int argc, char **argv)
{
    static const char *const kind_name[] = {"words", "byte strings"};
    char folder[] = "/tmp/lade-save-XXXXXX", name[64];

    check_begin(argc, argv);
    uint64_t random = check_seed();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || !mkdtemp(folder) || chdir(folder) != 0)
        abort();
    shared->random = check_next(&random);
    for (int kind = LADE_TABLE_WORDS; kind <= (int)LADE_TABLE_BYTES; kind++) {
        unsigned rounds = check_full() ? 10 : 2, outside = check_full() ? 1000 : 60;
        make_images((enum lade_table_kind)kind);
        check_within(check_full() ? 3000 : 300, "kills");
        for (unsigned i = 0; i < rounds; i++)
            kill_at_each_step((enum lade_table_kind)kind, BY_RENAME);
        (void)snprintf(name, sizeof name, "%s, killed at each step", kind_name[kind]);
        report(name);
        for (unsigned i = 0; i < outside; i++)
            kill_from_outside((enum lade_table_kind)kind, &random);
        (void)snprintf(name, sizeof name, "%s, killed from outside", kind_name[kind]);
        report(name);
        kill_at_each_step((enum lade_table_kind)kind, IN_PLACE);
        check(broken > kills / 2, "negative: a save that writes in place", "%u of %u files broken", broken, kills);
        forget();
    }
    check_within(0, "");
    (void)unlink(PATH);
    if (rmdir(folder) != 0)
        check(false, "folder", "something was left in %s: %s", folder, strerror(errno));
    return check_end();
}
