/* SPDX-License-Identifier: MIT */
/* Index files: when they are read, written, refused and replaced; that a second open reads little of the data. */
#define _GNU_SOURCE
#include "index_file.h"

#include "source_members.h"

#include "members.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { SAMPLES = 24, TIME = 1000000 };

static struct blob file;

static void name_of(char *to, size_t size, const char *name)
{
    snprintf(to, size, "%s/%s", files_folder, name);
}

/* A file with a time that does not depend on the clock. */
static void put_dated(const char *name, int64_t time)
{
    const struct timespec times[2] = {{.tv_sec = time}, {.tv_sec = time, .tv_nsec = 5}};
    char path[512];

    put_file(name, file.data, file.size);
    name_of(path, sizeof path, name);
    cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Texts of 1 to 7 bytes and labels; samples from..SAMPLES - 1. */
static void make_tar(int from, char letter)
{
    char name[32], text[8];

    file.size = 0;
    for (int i = from; i < SAMPLES; i++) {
        snprintf(name, sizeof name, "%04d.cls", i);
        snprintf(text, sizeof text, "%d", i % 3);
        add_file(&file, name, text);
        snprintf(name, sizeof name, "%04d.txt", i);
        memset(text, letter, sizeof text);
        text[1 + i % 7] = 0;
        add_file(&file, name, text);
    }
    add_end(&file);
}

static void make_records(void)
{
    static struct blob features;
    const float numbers[3] = {1, 2, 3};

    file.size = 0;
    for (int64_t i = 0; i < SAMPLES; i++) {
        add_integers(&features, "label", &i, 1, true);
        add_floats(&features, "x", numbers, (size_t)(i % 4), true);
        add_example(&file, &features);
    }
}

static void setup(void)
{
    char cache[128];

    make_folder();
    snprintf(cache, sizeof cache, "%s/cache", files_folder);
    cr_assert_eq(setenv("LADE_CACHE", cache, 1), 0);
    make_tar(0, 'a');
    put_dated("a.tar", TIME);
}

/* A checksum of all that a source has. */
static uint32_t digest(struct lade_source *source)
{
    const struct lade_schema *schema = lade_source_schema(source);
    uint32_t crc = (uint32_t)lade_source_info(source)->count;

    crc += (uint32_t)lade_source_info(source)->classes << 16;
    for (unsigned f = 0; f < schema->fields; f++) {
        const struct lade_field *field = &schema->field[f];
        const uint64_t about[] = {field->dtype, field->dims, field->dim[0], field->ragged_max, (uint64_t)schema->label};
        crc = lade_crc32c(crc, field->name, strlen(field->name));
        crc = lade_crc32c(crc, about, sizeof about);
        for (uint64_t i = 0; i < lade_source_info(source)->count; i++) {
            uint8_t to[64] = {0};
            struct lade_error error = {.text = "no text"};
            const uint64_t steps = steps_of(source, i, f);
            cr_assert(steps * lade_field_bytes(field) <= sizeof to);
            cr_assert_eq(read_part(source, i, f, 0, steps, to, &error), LADE_OK, "%s", error.text);
            crc = lade_crc32c(crc, to, sizeof to);
        }
    }
    return crc;
}

/* Opens, checks what became of the index, and returns the digest. */
static uint32_t opens(const char *text, enum lade_index_use use)
{
    struct lade_source *source = open_file(text);
    const struct lade_source_info *info = lade_source_info(source);
    const uint32_t is = digest(source);

    cr_assert_eq(info->index_use, use, "%s: %d, not %d", text, info->index_use, use);
    cr_assert_eq(info->index_file != NULL, use == LADE_INDEX_READ || use == LADE_INDEX_WRITTEN);
    cr_assert(!info->index_file || access(info->index_file, R_OK) == 0, "%s", info->index_file);
    lade_source_close(source);
    return is;
}

/* The path of the index of a source. */
static void index_of(char *to, size_t size, const char *text)
{
    struct lade_source *source = open_file(text);

    cr_assert_not_null(lade_source_info(source)->index_file);
    snprintf(to, size, "%s", lade_source_info(source)->index_file);
    lade_source_close(source);
}

/* Files in a folder whose names have these words; 0 without the folder. */
static unsigned files_with(const char *folder, const char *words)
{
    char path[512];
    unsigned count = 0;

    name_of(path, sizeof path, folder);
    DIR *list = opendir(path);
    for (struct dirent *entry; list && (entry = readdir(list));)
        count += strstr(entry->d_name, words) != NULL && (*words != '.' || entry->d_name[0] == '.');
    if (list)
        closedir(list);
    return count;
}

Test(index_file, once, .init = setup, .fini = remove_folder)
{
    const uint32_t is = opens("tar:@/a.tar,index=no", LADE_INDEX_NONE);

    cr_assert_eq(opens("tar:@/a.tar", LADE_INDEX_NONE), is, "less than 2^24 bytes");
    cr_assert_eq(files_with("", "lade-index"), 0);
    cr_assert_eq(opens("tar:@/a.tar,index=yes", LADE_INDEX_WRITTEN), is);
    cr_assert_eq(files_with("", "lade-index"), 1);
    cr_assert_eq(opens("tar:@/a.tar,index=yes", LADE_INDEX_READ), is);
    /* Other options are another index, wherever they stand; paths are not part of it. */
    const uint32_t one = opens("tar:@/a.tar,field=txt,index=yes", LADE_INDEX_WRITTEN);
    cr_assert_neq(one, is);
    cr_assert_eq(opens("tar:index=yes,field=txt,@/./a.tar", LADE_INDEX_READ), one);
    cr_assert_eq(files_with("", "lade-index"), 2);
    refuses("tar:@/a.tar,index=maybe", LADE_INVALID, LADE_NO_OFFSET, "index is auto, yes or no");
    make_records();
    put_dated("a.tfrecord", TIME);
    const uint32_t records = opens("tfrecord:@/a.tfrecord,index=no", LADE_INDEX_NONE);
    for (int check = 0; check < 2; check++) {
        const char *text = check ? "tfrecord:@/a.tfrecord,index=yes" : "tfrecord:@/a.tfrecord,index=yes,check=no";
        cr_assert_eq(opens(text, LADE_INDEX_WRITTEN), records);
        cr_assert_eq(opens(text, LADE_INDEX_READ), records);
    }
}

Test(index_file, several_files, .init = setup, .fini = remove_folder)
{
    put_dated("b-1.tar", TIME);
    make_tar(7, 'b');
    put_dated("b-2.tar", TIME);
    const uint32_t is = opens("tar:@/b-{1..2}.tar,index=yes", LADE_INDEX_WRITTEN);
    cr_assert_eq(opens("tar:@/b-{1..2}.tar,index=yes", LADE_INDEX_READ), is);
    cr_assert_eq(opens("tar:@/b-1.tar,@/b-2.tar,index=yes", LADE_INDEX_READ), is);
    cr_assert_neq(opens("tar:@/b-2.tar,@/b-1.tar,index=yes", LADE_INDEX_WRITTEN), is, "another order");
    put_dated("b-2.tar", TIME + 1);
    cr_assert_eq(opens("tar:@/b-{1..2}.tar,index=yes", LADE_INDEX_WRITTEN), is, "the second has changed");
}

static uint8_t *pages;
static size_t page_bytes;
static volatile size_t touched;

/* A page is read for the first time. */
static void touch(int number, siginfo_t *about, void *context)
{
    uint8_t *at = about->si_addr;

    (void)number, (void)context;
    if (at < pages || at >= pages + page_bytes)
        abort();
    touched++;
    (void)mprotect(pages + (size_t)(at - pages) / 4096 * 4096, 4096, PROT_READ);
}

/* Pages that opening reads of a file in memory, all of which is out of reach before. */
static size_t pages_read(const struct lade_members_format *format, enum lade_index_use use)
{
    const struct lade_members_config config = {.size = {.pixels_max = 1}};
    struct lade_index index = {.want = INDEX_YES, .key = 1};
    struct lade_bytes *bytes = malloc(sizeof *bytes);
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};
    char path[512];

    name_of(path, sizeof path, "pages");
    cr_assert_eq(mprotect(pages, page_bytes, PROT_NONE), 0);
    touched = 0;
    *bytes = (struct lade_bytes){pages, page_bytes, "pages"};
    const struct lade_stamp stamp = {page_bytes, TIME, 0, lade_index_sample(*bytes)};
    lade_index_add(&index, path, &stamp);
    cr_assert_eq(lade_members_open(&source, format, &config, bytes, 1, false, &index, &error), LADE_OK, "%s",
                 error.text);
    cr_assert_eq(lade_source_info(source)->index_use, use);
    cr_assert_eq(lade_source_info(source)->count, 1000);
    const size_t result = touched;
    lade_source_close(source);
    lade_index_end(&index);
    return result;
}

/* Counts page faults of the program itself: 16 places of the data are read again, and nothing else. */
Test(index_file, second_open_reads_little, .init = setup, .fini = remove_folder)
{
    static const char text[700] = "text";
    const struct sigaction action = {.sa_sigaction = touch, .sa_flags = SA_SIGINFO};
    char name[32];

    page_bytes = (1000 * (512 + 1024) + 1024 + 4095) / 4096 * 4096;
    pages = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(pages, MAP_FAILED);
    for (int i = 0; i < 1000; i++) {
        file.size = 0;
        snprintf(name, sizeof name, "%04d.x", i);
        add_member(&file, name, '0', text, sizeof text - (size_t)i % 2);
        memcpy(pages + (size_t)i * 1536, file.data, file.size);
    }
    cr_assert_eq(sigaction(SIGSEGV, &action, NULL), 0);
    cr_assert(pages_read(&lade_tar, LADE_INDEX_WRITTEN) > page_bytes / 4096 * 9 / 10);
    const size_t second = pages_read(&lade_tar, LADE_INDEX_READ);
    cr_assert(second <= 2 * 16, "%zu pages of %zu", second, page_bytes / 4096);
    munmap(pages, page_bytes);
}

Test(index_file, changed_data, .init = setup, .fini = remove_folder)
{
    const char *const text = "tar:@/a.tar,index=yes";
    const uint32_t old = opens(text, LADE_INDEX_WRITTEN);

    put_dated("a.tar", TIME + 1);
    cr_assert_eq(opens(text, LADE_INDEX_WRITTEN), old, "another time");
    cr_assert_eq(opens(text, LADE_INDEX_READ), old);
    make_tar(1, 'a');
    put_dated("a.tar", TIME + 1);
    const uint32_t shorter = opens(text, LADE_INDEX_WRITTEN);
    cr_assert_neq(shorter, old, "another size");
    /* The same size and time: the first bytes are among those that are compared. */
    make_tar(1, 'b');
    for (uint8_t *header = file.data; header <= file.data + 1024; header += 1024) {
        const unsigned sum = (unsigned)strtoul((char *)header + 148, NULL, 8);
        header[0] = '9';
        snprintf((char *)header + 148, 8, "%06o", sum + '9' - '0');
    }
    put_dated("a.tar", TIME + 1);
    cr_assert_neq(opens(text, LADE_INDEX_WRITTEN), shorter, "another content");
    cr_assert_eq(files_with("", "lade-index"), 1, "replaced");
}

/* A byte or the length of the index is wrong: it is written again, and the data are right. */
Test(index_file, damaged, .init = setup, .fini = remove_folder)
{
    const char *const text = "tar:@/a.tar,index=yes";
    const uint32_t is = opens(text, LADE_INDEX_WRITTEN);
    static uint8_t good[4096], bad[4097];
    char path[512];

    index_of(path, sizeof path, text);
    FILE *f = fopen(path, "rb");
    cr_assert_not_null(f);
    const size_t size = fread(good, 1, sizeof good, f);
    fclose(f);
    cr_assert(size > 400 && size < sizeof good, "%zu", size);
    for (size_t i = 0; i < 2 * size + 2; i += i < 64 || i >= 2 * size - 4 ? 1 : 7) {
        size_t length = size;
        memcpy(bad, good, size);
        bad[size] = 0;
        if (i < size)
            bad[i] ^= 0x10;
        else
            length = i - size; /* 0 to size + 1: once it is whole */
        f = fopen(path, "wb");
        cr_assert_not_null(f);
        cr_assert_eq(fwrite(bad, 1, length, f), length);
        fclose(f);
        cr_assert_eq(opens(text, i == 2 * size ? LADE_INDEX_READ : LADE_INDEX_WRITTEN), is, "case %zu", i);
    }
    cr_assert_eq(opens(text, LADE_INDEX_READ), is);
    cr_assert_eq(files_with("", ".lade-"), 0, "a file was left");
}

/* A link or a pipe in place of the index is neither followed nor waited for. */
Test(index_file, no_file, .init = setup, .fini = remove_folder)
{
    const char *const text = "tar:@/a.tar,index=yes";
    const uint32_t is = opens(text, LADE_INDEX_WRITTEN);
    char path[512], other[512], cached[512];

    index_of(path, sizeof path, text);
    name_of(other, sizeof other, "other");
    cr_assert_eq(rename(path, other), 0);
    cr_assert_eq(symlink(other, path), 0);
    cr_assert_eq(opens(text, LADE_INDEX_WRITTEN), is);
    cr_assert_eq(opens(text, LADE_INDEX_READ), is);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_assert_eq(opens(text, LADE_INDEX_WRITTEN), is);
    index_of(cached, sizeof cached, text);
    cr_assert_not_null(strstr(cached, "/cache/index/"), "%s", cached);
}

/* Where the folder of the data cannot be written, here since the name would be too long, and for others than root. */
Test(index_file, cache_folder, .init = setup, .fini = remove_folder)
{
    char name[260], text[300], folder[512];

    memset(name, 'x', 225);
    strcpy(name + 225, ".tar");
    put_dated(name, TIME);
    snprintf(text, sizeof text, "tar:@/%s,index=yes", name);
    const uint32_t is = opens(text, LADE_INDEX_WRITTEN);
    cr_assert_eq(opens(text, LADE_INDEX_READ), is);
    cr_assert_eq(files_with("cache/index", "lade-index"), 1);
    /* The same name in another folder. */
    char below[300];
    snprintf(below, sizeof below, "d/%s", name);
    make_tar(2, 'a');
    put_dated(below, TIME);
    snprintf(text, sizeof text, "tar:@/d/%s,index=yes", name);
    cr_assert_neq(opens(text, LADE_INDEX_WRITTEN), is);
    cr_assert_eq(files_with("cache/index", "lade-index"), 2);
    name_of(folder, sizeof folder, "e");
    put_dated("e/a.tar", TIME);
    if (geteuid() != 0) {
        cr_assert_eq(chmod(folder, 0555), 0);
        (void)opens("tar:@/e/a.tar,index=yes", LADE_INDEX_WRITTEN);
        (void)opens("tar:@/e/a.tar,index=yes", LADE_INDEX_READ);
        cr_assert_eq(files_with("cache/index", "lade-index"), 3);
        cr_assert_eq(chmod(folder, 0755), 0);
    }
    /* Nowhere: the source opens. A relative folder is none. */
    cr_assert_eq(setenv("LADE_CACHE", "/proc/none", 1), 0);
    (void)opens(text, LADE_INDEX_REFUSED);
    cr_assert_eq(setenv("LADE_CACHE", "relative", 1), 0);
    cr_assert_eq(setenv("XDG_CACHE_HOME", "", 1), 0);
    cr_assert_eq(setenv("HOME", "none", 1), 0);
    (void)opens(text, LADE_INDEX_REFUSED);
    cr_assert_eq(setenv("XDG_CACHE_HOME", folder, 1), 0);
    (void)opens(text, LADE_INDEX_WRITTEN);
    cr_assert_eq(files_with("e/lade/index", "lade-index"), 1);
    cr_assert_eq(unsetenv("XDG_CACHE_HOME"), 0);
    cr_assert_eq(setenv("HOME", folder, 1), 0);
    (void)opens(text, LADE_INDEX_WRITTEN);
    cr_assert_eq(files_with("e/.cache/lade/index", "lade-index"), 1);
}

/* Processes that find none, or remove it while others use it, all get the same samples. */
Test(index_file, several_processes, .init = setup, .fini = remove_folder)
{
    const char *const text = "tar:@/a.tar,index=yes";
    const uint32_t is = opens("tar:@/a.tar", LADE_INDEX_NONE);
    enum { PROCESSES = 6, TURNS = 30 };
    pid_t child[PROCESSES];

    for (int p = 0; p < PROCESSES; p++) {
        child[p] = fork();
        cr_assert_neq(child[p], -1);
        for (int i = 0; child[p] == 0 && i < TURNS; i++) {
            struct lade_source *source;
            if (lade_source_open(&source, in_folder(text), NULL, NULL) != LADE_OK || digest(source) != is)
                _exit(1);
            const struct lade_source_info *info = lade_source_info(source);
            if (info->index_use != LADE_INDEX_READ && info->index_use != LADE_INDEX_WRITTEN)
                _exit(2);
            if (i % PROCESSES == p && i + 1 < TURNS)
                (void)unlink(info->index_file);
            lade_source_close(source);
        }
        if (child[p] == 0)
            _exit(0);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int code = -1;
        cr_assert_eq(waitpid(child[p], &code, 0), child[p]);
        cr_assert_eq(code, 0, "process %d: %x", p, (unsigned)code);
    }
    (void)opens(text, files_with("", "lade-index") ? LADE_INDEX_READ : LADE_INDEX_WRITTEN);
    cr_assert_eq(files_with("", ".lade-"), 0, "a file was left");
}
