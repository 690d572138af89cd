/* SPDX-License-Identifier: MIT */
/* Files that are replaced completely: also if any system call fails, is interrupted or does less than requested. */
#define _GNU_SOURCE
#include "folder.h"

#include <errno.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/random.h>

static int calls, fail_at, fail_with; /* the call that fails, from 1; fail_with 0: it does a part, or nothing */
static size_t at_once;                /* bytes that one call transfers */
static char trace[256];               /* the calls, in order */
static const char *failed;            /* the call that did */
static uint64_t numbers[2];           /* that are drawn for names before random ones, unless 0 */

static bool fails(const char *call)
{
    size_t length = strlen(trace);

    (void)snprintf(trace + length, sizeof trace - length, " %s", call);
    errno = ENOTTY; /* calls that succeed may change it */
    if (++calls != fail_at || fail_with == 0)
        return false;
    errno = fail_with;
    failed = call;
    return true;
}

static ssize_t faulty_write(int fd, const void *bytes, size_t size)
{
    if (fails("write"))
        return -1;
    if (calls == fail_at)
        return 0;
    return write(fd, bytes, at_once && size > at_once ? at_once : size);
}

static ssize_t faulty_read(int fd, void *bytes, size_t size)
{
    return fails("read") ? -1 : read(fd, bytes, at_once && size > at_once ? at_once : size);
}

static ssize_t faulty_random(void *bytes, size_t size, unsigned flags)
{
    if (fails("getrandom"))
        return -1;
    if (numbers[0] == 0)
        return getrandom(bytes, size, flags);
    memcpy(bytes, numbers, size);
    numbers[0] = numbers[1];
    numbers[1] = 0;
    return (ssize_t)size;
}

#define getrandom faulty_random
#define fcntl(fd, command, least) (fails("dup") ? -1 : fcntl(fd, command, least))
#define flock(fd, how) (fails("flock") ? -1 : flock(fd, how))
#define write faulty_write
#define read faulty_read
#define openat(d, name, flags, mode) (fails("openat") ? -1 : openat(d, name, flags, mode))
#define fstatat(d, name, s, flags) (fails("fstatat") ? -1 : fstatat(d, name, s, flags))
#define fchmod(fd, mode) (fails("fchmod") ? -1 : fchmod(fd, mode))
#define fsync(fd) (fails("fsync") ? -1 : fsync(fd))
#define close(fd) (close(fd) != 0 || fails("close") ? -1 : 0)
#define renameat(d, from, e, to) (fails("renameat") ? -1 : renameat(d, from, e, to))
#include "../file.c"
#undef write
#undef read
#undef flock

static const char old_text[] = "what was there before";
static const char new_text[] = "what comes now, in two parts";

/* Replaces the file "f" by new_text. */
static int replace(const char *path)
{
    struct lade_file f;

    calls = 0;
    trace[0] = '\0';
    int status = lade_file_create(&f, path);
    if (status != LADE_OK)
        return status;
    if (!lade_file_put(&f, new_text, 10) || !lade_file_put(&f, new_text + 10, sizeof new_text - 10)) {
        lade_file_drop(&f);
        return LADE_IO;
    }
    return lade_file_replace(&f);
}

Test(file, is_replaced, .init = enter_folder, .fini = leave_folder)
{
    int before = open_files();

    cr_assert_eq(replace("f"), LADE_OK);
    cr_assert(file_is("f", new_text, sizeof new_text));
    write_file("f", old_text, sizeof old_text);
    cr_assert_eq(replace("f"), LADE_OK);
    cr_assert(file_is("f", new_text, sizeof new_text));
    cr_assert_str_eq(trace,
                     " openat dup fstatat getrandom openat flock dup fchmod write write fsync close renameat fsync "
                     "close close",
                     "synced before it is renamed, and the directory after that");
    cr_assert_eq(files_in(".", false), 1);
    cr_assert_eq(open_files(), before);
}

/*
 * Every call fails once, with every kind of failure: the old file stays, or the new one is complete; no other file is
 * left.
 */
Test(file, any_call_may_fail, .init = enter_folder, .fini = leave_folder)
{
    static const int errors[] = {EIO, ENOSPC, EDQUOT, EACCES};
    int before = open_files();

    for (at_once = 0; at_once < 4; at_once++)
        for (int had = 0; had < 2; had++) {
            fail_at = 0;
            (void)unlink("f");
            if (had)
                write_file("f", old_text, sizeof old_text);
            cr_assert_eq(replace("f"), LADE_OK);
            int all = calls, directory_sync = all - 2;
            for (fail_at = 1; fail_at <= all; fail_at++) {
                fail_with = errors[fail_at % 4];
                (void)unlink("f");
                if (had)
                    write_file("f", old_text, sizeof old_text);
                errno = 0;
                int status = replace("f");
                /* Without its first copy of the directory nothing is cleaned, without locks nothing protected. */
                bool tolerated = fail_at == 2 || strcmp(failed, "flock") == 0;
                if (fail_at <= directory_sync && !tolerated) {
                    cr_assert_eq(status, LADE_IO);
                    cr_assert_eq(errno, fail_with);
                } else {
                    cr_assert_eq(status, LADE_OK); /* or closing the directory */
                }
                if (fail_at >= directory_sync || tolerated)
                    cr_assert(file_is("f", new_text, sizeof new_text));
                else if (had)
                    cr_assert(file_is("f", old_text, sizeof old_text));
                cr_assert_eq(files_in(".", false), had || fail_at >= directory_sync || tolerated);
                cr_assert_eq(open_files(), before);
            }
        }
}

/* Signals, and writes that do nothing. */
Test(file, interrupted_calls_are_made_again, .init = enter_folder, .fini = leave_folder)
{
    int made_again = 0;

    cr_assert_eq(replace("f"), LADE_OK);
    int all = calls;
    for (fail_at = 1; fail_at <= all; fail_at++) {
        fail_with = EINTR;
        write_file("f", old_text, sizeof old_text);
        int status = replace("f");
        /* Calls that never return EINTR may fail with it: they are those for permissions and names. */
        cr_assert(status == LADE_OK || (status == LADE_IO && errno == EINTR));
        cr_assert(status == LADE_OK ? file_is("f", new_text, sizeof new_text)
                                    : file_is("f", old_text, sizeof old_text));
        made_again += status == LADE_OK;
        cr_assert_eq(files_in(".", false), 1);
    }
    cr_assert_eq(made_again, all - 5);
    fail_at = 9; /* the first write */
    fail_with = 0;
    write_file("f", old_text, sizeof old_text);
    cr_assert_eq(replace("f"), LADE_IO);
    cr_assert_eq(errno, ENOSPC);
    cr_assert(file_is("f", old_text, sizeof old_text));
}

Test(file, paths, .init = enter_folder, .fini = leave_folder)
{
    char path[PATH_MAX + 300], base[256] = {0};

    (void)snprintf(path, sizeof path, "%s/f", folder);
    cr_assert_eq(replace(path), LADE_OK);
    cr_assert(file_is("f", new_text, sizeof new_text));
    memset(base, 'n', 255); /* the longest that there is */
    cr_assert_eq(replace(base), LADE_OK);
    cr_assert(file_is(base, new_text, sizeof new_text));
    cr_assert_eq(unlink(base), 0);

    cr_assert_eq(mkdir("d", 0777), 0);
    static const struct {
        const char *path;
        int error;
    } wrong[] = {{"", EISDIR}, {"d", EISDIR}, {"d/", EISDIR}, {".", EISDIR}, {"none/f", ENOENT}, {"f/g", ENOTDIR}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        errno = 0;
        cr_assert_eq(replace(wrong[i].path), LADE_IO);
        cr_assert_eq(errno, wrong[i].error);
    }
    memset(path, '/', sizeof path);
    strcpy(path + PATH_MAX, "f");
    cr_assert_eq(replace(path), LADE_IO);
    cr_assert_eq(errno, ENAMETOOLONG);
    cr_assert_eq(files_in(".", false), 2);
}

/* A path that is not a file is not replaced. */
Test(file, other_things_stay, .init = enter_folder, .fini = leave_folder)
{
    struct stat s;

    cr_assert_eq(mkfifo("pipe", 0666), 0);
    cr_assert_eq(replace("pipe"), LADE_IO);
    cr_assert_eq(errno, EINVAL);
    cr_assert_eq(stat("pipe", &s), 0);
    cr_assert(S_ISFIFO(s.st_mode));
    cr_assert_eq(files_in(".", false), 1);
}

Test(file, permissions_stay, .init = enter_folder, .fini = leave_folder)
{
    struct stat s;

    (void)umask(022);
    cr_assert_eq(replace("f"), LADE_OK);
    cr_assert_eq(stat("f", &s), 0);
    cr_assert_eq(s.st_mode & 0777, 0644u);
    for (mode_t mode = 0400; mode <= 0777; mode += 011) {
        cr_assert_eq(chmod("f", mode), 0);
        cr_assert_eq(replace("f"), LADE_OK);
        cr_assert_eq(stat("f", &s), 0);
        cr_assert_eq(s.st_mode & 0777, mode);
    }
}

static void name_of(char name[64], uint64_t number)
{
    (void)snprintf(name, 64, PREFIX "%016llx", (unsigned long long)number);
}

/* A link or a file that has the name, by chance or because it was guessed, is not touched. */
Test(file, names_that_are_taken, .init = enter_folder, .fini = leave_folder)
{
    struct lade_file f, g;
    char name[64], other[64];
    struct stat s;

    cr_assert_eq(lade_file_create(&f, "f"), LADE_OK);
    strcpy(name, f.name);
    numbers[0] = strtoull(name + strlen(PREFIX), NULL, 16);
    cr_assert_eq(lade_file_create(&g, "f"), LADE_OK);
    cr_assert_str_neq(g.name, name);
    cr_assert(lade_file_put(&f, "1", 1));
    cr_assert(lade_file_put(&g, "22", 2));
    cr_assert_eq(lade_file_replace(&g), LADE_OK);
    cr_assert(file_is("f", "22", 2));
    cr_assert_eq(lade_file_replace(&f), LADE_OK);
    cr_assert(file_is("f", "1", 1));

    write_file("victim", old_text, sizeof old_text);
    name_of(name, 7);
    name_of(other, 8);
    cr_assert_eq(symlink("victim", name), 0);
    cr_assert_eq(symlink("none", other), 0);
    numbers[0] = 7;
    numbers[1] = 8;
    cr_assert_eq(replace("f"), LADE_OK);
    cr_assert_eq(numbers[0], 0);
    cr_assert(file_is("victim", old_text, sizeof old_text));
    cr_assert_eq(lstat("none", &s), -1);
    cr_assert_eq(files_in(".", false), 4);
}

/* The next create removes files of killed writers; files of live writers and files with similar names stay. */
Test(file, what_is_left_is_removed, .init = enter_folder, .fini = leave_folder)
{
    struct lade_file f;
    char name[64];

    cr_assert_eq(lade_file_create(&f, "g"), LADE_OK);
    for (uint64_t i = 1; i <= 1000; i++) {
        name_of(name, i);
        write_file(name, old_text, sizeof old_text);
    }
    write_file(PREFIX "0123456789abcdef0", old_text, sizeof old_text);
    write_file(PREFIX "0123456789abcdeg", old_text, sizeof old_text);
    cr_assert_eq(replace("f"), LADE_OK);
    cr_assert_eq(files_in(".", false), 4);
    cr_assert(lade_file_put(&f, "1", 1));
    cr_assert_eq(lade_file_replace(&f), LADE_OK);
    cr_assert(file_is("g", "1", 1));
    name_of(name, 1);
    write_file(name, old_text, sizeof old_text);
    lade_file_clean(".");
    cr_assert_eq(files_in(".", false), 4);
    lade_file_clean("none");
}

/* A cleaner that has locked the new file before its writer could will remove it: the writer takes another name. */
static int cleaner = -1;

static void cleaner_is_faster(const char *name)
{
    cleaner = open(name, O_RDONLY);
    cr_assert_eq(flock(cleaner, LOCK_EX | LOCK_NB), 0);
}

Test(file, a_cleaner_is_faster, .init = enter_folder, .fini = leave_folder)
{
    struct lade_file f = {.directory = AT_FDCWD, .guard = -1};

    write_file("mine", "", 0);
    cleaner_is_faster("mine");
    f.file = open("mine", O_WRONLY);
    cr_assert(!protect(&f));
    cr_assert_eq(unlink("mine"), 0);
    (void)close(cleaner);
    cr_assert(!protect(&f), "it has no name any more");
    (void)close(f.file);
}

/* Many files that can be regenerated: no sync, the rest as above. */
Test(file, bulk, .init = enter_folder, .fini = leave_folder)
{
    struct lade_file f;

    trace[0] = '\0';
    cr_assert_eq(lade_file_create_bulk(&f, "f"), LADE_OK);
    cr_assert(lade_file_put(&f, new_text, sizeof new_text));
    cr_assert_eq(lade_file_replace(&f), LADE_OK);
    cr_assert_str_eq(trace, " openat fstatat getrandom openat flock dup write close renameat close close");
    cr_assert(file_is("f", new_text, sizeof new_text));
    cr_assert_eq(files_in(".", false), 1);
}

Test(file, is_read, .init = enter_folder, .fini = leave_folder)
{
    struct lade_file f;
    char bytes[sizeof old_text];
    int before = open_files();

    write_file("f", old_text, sizeof old_text);
    for (at_once = 0; at_once < 4; at_once++)
        for (size_t size = 0; size <= sizeof old_text; size++)
            for (fail_at = 0; fail_at < 3; fail_at++) {
                fail_with = EINTR;
                calls = 0;
                cr_assert_eq(lade_file_open(&f, "f"), LADE_OK);
                cr_assert_eq(lade_file_get(&f, bytes, size), LADE_OK);
                cr_assert_arr_eq(bytes, old_text, size);
                cr_assert_eq(lade_file_get(&f, bytes, sizeof old_text + 1 - size), LADE_EMPTY);
                lade_file_drop(&f);
            }
    at_once = 0;
    fail_at = 2;
    fail_with = EIO;
    calls = 0;
    cr_assert_eq(lade_file_open(&f, "f"), LADE_OK);
    cr_assert_eq(lade_file_get(&f, bytes, 5), LADE_IO);
    lade_file_drop(&f);
    cr_assert_eq(errno, EIO);
    cr_assert_eq(lade_file_open(&f, "none"), LADE_IO);
    cr_assert_eq(errno, ENOENT);
    cr_assert_eq(open_files(), before);
    cr_assert_eq(lade_file_open(&f, "."), LADE_OK);
    cr_assert_eq(lade_file_get(&f, bytes, 5), LADE_IO);
    cr_assert_eq(errno, EISDIR);
    lade_file_drop(&f);
}

Test(file, its_end, .init = enter_folder, .fini = leave_folder)
{
    struct lade_file f;
    char end[4];

    write_file("f", "ab", 2);
    cr_assert_eq(lade_file_open(&f, "f"), LADE_OK);
    cr_assert_eq(lade_file_tail(&f, end, 4), 0);
    cr_assert_eq(lade_file_tail(&f, end, 2), 2);
    lade_file_drop(&f);
    write_file("f", old_text, sizeof old_text);
    cr_assert_eq(truncate("f", 1 << 30), 0); /* a hole */
    cr_assert_eq(lade_file_open(&f, "f"), LADE_OK);
    cr_assert_lt(lade_file_tail(&f, end, 4), 1 << 20);
    lade_file_drop(&f);
    cr_assert_eq(lade_file_open(&f, "."), LADE_OK);
    cr_assert_eq(lade_file_tail(&f, end, 4), 0);
    lade_file_drop(&f);
}
