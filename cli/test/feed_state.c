/* SPDX-License-Identifier: MIT */
/* Files of states that are replaced while lade feed reads them. */
#include "feed.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What happens after each reading of a file, and how often one was read. */
static void (*behind_read)(const char *path, unsigned reads);
static unsigned reads, joins, join_fails_at;

static size_t read_and_disturb(const char *path, char *to, size_t size, const struct lade_alloc *alloc,
                               struct lade_error *error)
{
    size_t answer = lade_loader_read_state(path, to, size, alloc, error);

    behind_read(path, ++reads);
    return answer;
}

static size_t join_or_fail(const char *const *states, unsigned count, char *to, size_t size,
                           const struct lade_alloc *alloc, struct lade_error *error)
{
    (void)states, (void)count, (void)to, (void)size, (void)alloc;
    if (++joins != join_fails_at)
        return 8;
    error->status = LADE_NO_MEMORY;
    return 0;
}

#define lade_loader_read_state read_and_disturb
#define lade_loader_merge_states join_or_fail
#include "../feed_state.c"
#undef lade_loader_read_state

static char path[] = "/tmp/lade-feed-state-XXXXXX";

/* As a run does that saves there: a file of one letter and its line feed takes the place of the old one. */
static void replace_by(const char *name, char letter, size_t size)
{
    char other[64], *text = malloc(size);

    cr_assert(text);
    memset(text, letter, size - 1);
    text[size - 1] = '\n';
    (void)snprintf(other, sizeof other, "%s.new", name);
    FILE *file = fopen(other, "wb");
    cr_assert(file && fwrite(text, 1, size, file) == size && fclose(file) == 0);
    cr_assert_eq(rename(other, name), 0);
    free(text);
}

static void make_file(void)
{
    int file = mkstemp(path);

    cr_assert(file >= 0 && close(file) == 0);
    reads = joins = join_fails_at = 0;
}

static void remove_file(void)
{
    (void)unlink(path);
}

TestSuite(feed_state, .init = make_file, .fini = remove_file);

static void leave(const char *name, unsigned n)
{
    (void)name, (void)n;
}

/* Longer, longer again, and then much shorter than the buffer that was made. */
static void replace(const char *name, unsigned n)
{
    static const size_t size[] = {9000, 20000, 100};

    if (n <= 3)
        replace_by(name, (char)('a' + n), size[n - 1]);
}

static void take_away(const char *name, unsigned n)
{
    cr_assert(n > 1 || unlink(name) == 0);
}

static void make_empty(const char *name, unsigned n)
{
    (void)n;
    replace_by(name, 'x', 1);
}

static void expect_letters(char letter, size_t count)
{
    const struct feed_options o = {.resume = {path}, .resumes = 1};
    struct lade_error error = {.text = ""};
    char *state = feed_read_states(&o, &error);

    cr_assert(state, "%s", error.text);
    cr_assert_eq(strlen(state), count);
    cr_assert_eq(strspn(state, (char[]){letter, '\0'}), count);
    free(state);
}

Test(feed_state, is_read_whole)
{
    behind_read = leave;
    for (size_t size = 1000; size < 1050; size++) {
        replace_by(path, 'a', size);
        expect_letters('a', size - 1);
    }
}

Test(feed_state, one_that_is_replaced_between_two_reads_is_one_of_them)
{
    behind_read = replace;
    replace_by(path, 'a', 3000);
    expect_letters('d', 99);
    cr_assert_eq(reads, 4);
}

static void expect_error(int status)
{
    const struct feed_options o = {.resume = {path}, .resumes = 1};
    struct lade_error error = {.text = ""};

    reads = 0;
    replace_by(path, 'a', 3000);
    cr_assert_null(feed_read_states(&o, &error));
    cr_assert(reads == 2 && error.status == status && strstr(error.text, path), "%u, %s", reads, error.text);
}

Test(feed_state, one_that_is_gone_or_empty_between_two_reads_is_an_error)
{
    behind_read = take_away;
    expect_error(LADE_IO);
    behind_read = make_empty;
    expect_error(LADE_DAMAGED);
}

/* What is joined is not used when it is not there. */
Test(feed_state, memory_runs_out_while_states_are_joined)
{
    const struct feed_options o = {.resume = {path, path}, .resumes = 2};
    struct lade_error error = {.text = ""};

    behind_read = leave;
    replace_by(path, 'a', 100);
    for (join_fails_at = 1; join_fails_at <= 2; join_fails_at++) {
        joins = 0;
        error.status = LADE_OK;
        cr_assert_null(feed_read_states(&o, &error));
        cr_assert(joins == join_fails_at && error.status == LADE_NO_MEMORY);
    }
}
