/* SPDX-License-Identifier: MIT */
/*
 * Files that change while they are read. The library's own file reading is compiled here, with a read() that returns a
 * few bytes at a time and changes the file before one of the reads.
 */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
#include <sys/types.h>
#include <unistd.h>

static void (*meanwhile)(void);
static unsigned calls, disturbed_at;
static size_t at_most;

static ssize_t read_and_disturb(int file, void *to, size_t size)
{
    if (++calls == disturbed_at)
        meanwhile();
    return (read)(file, to, size < at_most ? size : at_most);
}

#define read(file, to, size) read_and_disturb(file, to, size)
#include "../source_map.c"
#undef read

#include "files.h"
#include "states.h"

static char old_text[600], new_text[600], path[300], aside[300];

static void write_text(const char *name, const char *text, size_t size)
{
    FILE *file = fopen(name, "wb");

    cr_assert(file && fwrite(text, 1, size, file) == size && fclose(file) == 0);
}

/* As lade does it: another file replaces the old one. */
static void rename_new(void)
{
    write_text(aside, new_text, strlen(new_text));
    cr_assert_eq(rename(aside, path), 0);
}

/* As others might do it: the file is written in place. */
static void overwrite(void)
{
    FILE *file = fopen(path, "r+b");

    cr_assert(file && fwrite(new_text, 1, strlen(new_text), file) == strlen(new_text) && fclose(file) == 0);
}

static void cut(void)
{
    cr_assert_eq(truncate(path, 10), 0);
}

static void take_away(void)
{
    cr_assert_eq(unlink(path), 0);
}

/* The file of a loader's state after this many batches. */
static void make_state(const struct lade_loader_config *config, uint64_t batches, char *to, size_t size)
{
    struct tally t;

    tally_init(&t, 200);
    char *state = leave_after(open_loader(config), batches, &t);
    cr_assert_lt(snprintf(to, size, "%s\n", state), (int)size);
    free(state);
    tally_free(&t);
}

static bool is_state(const char *text, const char *file)
{
    return strlen(text) + 1 == strlen(file) && strncmp(text, file, strlen(text)) == 0;
}

/* Reads the state once, with a change before read number n. Whether there was such a read. */
static bool read_once(void (*change)(void), unsigned n, int *status)
{
    char text[1000], joined[1000];
    const char *state = text;
    struct lade_error error = {.text = ""};

    write_text(path, old_text, strlen(old_text));
    calls = 0;
    disturbed_at = n;
    meanwhile = change;
    size_t size = lade_loader_read_state(path, text, sizeof text, NULL, &error);
    disturbed_at = 0;
    if (size == 0) {
        *status = error.status;
        cr_assert(error.status < 0 && strstr(error.text, path), "%s", error.text);
        return calls >= n;
    }
    cr_assert_eq(size, strlen(text) + 1);
    /* Merging checks a state as resuming does, and needs no threads. */
    *status = lade_loader_merge_states(&state, 1, joined, sizeof joined, NULL, &error) > 0 ? LADE_OK : error.status;
    cr_assert_eq(*status == LADE_OK, is_state(text, old_text) || is_state(text, new_text), "taken for a state: %s",
                 text);
    cr_assert(*status == LADE_OK || (*status == LADE_DAMAGED && error.text[0]));
    return calls >= n;
}

/* Before every read, with pieces of several sizes: the old state, the new one, or an error with a reason. */
Test(source_map, a_state_that_changes_while_it_is_read, .init = make_folder, .fini = remove_folder)
{
    struct lade_source *source = numbers(200);
    const struct lade_loader_config config = {.source = source, .batch = 5, .threads = 1, .in_order = true};
    void (*const change[])(void) = {rename_new, take_away, overwrite, cut};

    strcpy(path, in_folder("@/state"));
    strcpy(aside, in_folder("@/new"));
    for (unsigned p = 0; p < 3; p++) {
        static const uint64_t before[] = {0, 3, 3}, after[] = {3, 0, 4}; /* longer, shorter, equally long */
        make_state(&config, before[p], old_text, sizeof old_text);
        make_state(&config, after[p], new_text, sizeof new_text);
        cr_assert(p < 2 || strlen(old_text) == strlen(new_text));
        for (at_most = 1; at_most < 100; at_most += 7) {
            for (unsigned c = 0; c < 4; c++) {
                int status;
                unsigned damaged = 0;
                for (unsigned n = 1; read_once(change[c], n, &status); n++) {
                    cr_assert(c > 1 || status == LADE_OK, "what was opened is whole, whatever happens to its name");
                    damaged += status == LADE_DAMAGED;
                }
                cr_assert(c < 2 || at_most > 1 || damaged > 0, "nothing happened");
            }
        }
    }
    lade_source_close(source);
}

/* A truncated file is damaged; a file that grows is read with its size at open. */
Test(source_map, a_file_that_changes_its_size, .init = make_folder, .fini = remove_folder)
{
    struct lade_bytes bytes;
    struct lade_error error = {.text = ""};

    strcpy(path, in_folder("@/file"));
    strcpy(old_text, "0123456789abcdef");
    strcpy(new_text, "0123456789abcdefghij");
    write_text(path, old_text, 16);
    at_most = 4;
    for (disturbed_at = 1; disturbed_at <= 5; disturbed_at++) {
        calls = 0;
        meanwhile = overwrite;
        cr_assert_eq(lade_read_file(&bytes, path, NULL, &error), LADE_OK);
        cr_assert(bytes.size == 16 && memcmp(bytes.data, old_text, 16) == 0 && strcmp(bytes.name, path) == 0);
        lade_free_file(&bytes, NULL);
        write_text(path, old_text, 16);
    }
    calls = 0;
    disturbed_at = 4;
    meanwhile = cut;
    cr_assert_eq(lade_read_file(&bytes, path, NULL, &error), LADE_DAMAGED);
    cr_assert(strstr(error.text, "became shorter while it was read, at byte 12"), "%s", error.text);
}
