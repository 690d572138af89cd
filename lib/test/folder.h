/* SPDX-License-Identifier: MIT */
/* A separate folder for each test, which is the current directory while the test runs. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[PATH_MAX];

static inline void enter_folder(void)
{
    const char *top = getenv("TMPDIR");

    (void)snprintf(folder, sizeof folder, "%s/lade-test-XXXXXX", top ? top : "/tmp");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

/* Files in a folder; with remove they are removed. */
static inline int files_in(const char *name, bool remove_them)
{
    DIR *d = opendir(name);
    int files = 0;

    cr_assert_not_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        files++;
        if (remove_them)
            cr_assert_eq(unlinkat(dirfd(d), entry->d_name, entry->d_type == DT_DIR ? AT_REMOVEDIR : 0), 0);
    }
    (void)closedir(d);
    return files;
}

static inline void leave_folder(void)
{
    while (files_in(".", true) > 0) /* removing may make readdir() miss some */
        continue;
    cr_assert_eq(chdir("/"), 0);
    cr_assert_eq(rmdir(folder), 0);
}

static inline void write_file(const char *name, const void *bytes, size_t size)
{
    FILE *f = fopen(name, "wb");

    cr_assert_not_null(f);
    cr_assert_eq(fwrite(bytes, 1, size, f), size);
    cr_assert_eq(fclose(f), 0);
}

/* Returns the size of the file; stores as much of it as fits in bytes. */
static inline size_t read_file(const char *name, void *bytes, size_t most)
{
    FILE *f = fopen(name, "rb");
    struct stat s;

    cr_assert_not_null(f);
    cr_assert_eq(fstat(fileno(f), &s), 0);
    cr_assert_eq(fread(bytes, 1, most, f), (size_t)s.st_size < most ? (size_t)s.st_size : most);
    cr_assert_eq(fclose(f), 0);
    return (size_t)s.st_size;
}

static inline bool file_is(const char *name, const void *bytes, size_t size)
{
    static char content[4096];

    return read_file(name, content, sizeof content) == size && memcmp(content, bytes, size) == 0;
}

/* Files that this process has open. */
static inline int open_files(void)
{
    return files_in("/proc/self/fd", false);
}
