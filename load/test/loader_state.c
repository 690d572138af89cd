/* SPDX-License-Identifier: MIT */
/* A loader continues where another one stopped: each sample of an epoch once, counted over both. */
#define _GNU_SOURCE
#include "files.h"
#include "states.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

enum { COUNT = 53 };

/* Members of the part were delivered this often, others never. */
static void expect_part(const struct tally *t, const struct lade_loader_config *c, uint32_t times)
{
    for (uint64_t i = 0; i < t->count; i++)
        cr_assert_eq(t->seen[i], is_in(c->split, c->part, i) ? times : 0, "sample %llu came %u times",
                     (unsigned long long)i, t->seen[i]);
}

/* Two epochs, stopped after batch number stop and again a batch later, each time with other threads and batches. */
static void stop_and_go(const struct lade_loader_config *config, uint64_t stop)
{
    struct lade_loader_config other = *config;
    struct tally t;

    tally_init(&t, COUNT);
    other.threads = config->threads == 1 ? 3 : 1;
    other.batch = config->batch + 2;
    other.slots = 2;
    char *first = leave_after(open_loader(config), stop, &t);
    char *second = leave_after(resume(&other, first), 1, &t);
    char *third = leave_after(resume(config, second), 0, &t);
    cr_assert_str_eq(second, third);
    free(leave_after(resume(config, third), UINT64_MAX, &t));
    expect_part(&t, config, 2);
    free(first);
    free(second);
    free(third);
    tally_free(&t);
}

Test(loader_state, at_every_batch)
{
    struct lade_source *source = numbers(COUNT);
    struct lade_split *split = fifths(5);

    for (unsigned kind = 0; kind < 16; kind++) {
        const struct lade_loader_config config = {.source = source,
                                                  .split = kind & 1 ? split : NULL,
                                                  .part = kind & 1 ? 1 : 0,
                                                  .in_order = kind & 2,
                                                  .consumer_assists = kind & 4,
                                                  .sequential = kind & 8,
                                                  .batch = 5,
                                                  .threads = 1 + kind % 3,
                                                  .epochs = 2,
                                                  .seed = kind};
        for (uint64_t stop = 0; stop <= 22; stop++)
            stop_and_go(&config, stop);
    }
    lade_split_destroy(split);
    lade_source_close(source);
}

/* The batches after a resume equal those without it, in draws and order, to the last bit. */
Test(loader_state, same_order)
{
    struct lade_source *source = numbers(COUNT);
    const double weight[COUNT] = {[3] = 1, [17] = 2, [50] = 1.5};

    for (unsigned kind = 0; kind < 3; kind++) {
        const struct lade_loader_config config = {.source = source,
                                                  .in_order = true,
                                                  .batch = 4,
                                                  .threads = 2,
                                                  .epochs = 2,
                                                  .draw = (enum lade_draw_kind)kind,
                                                  .weight = kind == LADE_DRAW_WEIGHTED ? weight : NULL};
        uint64_t straight[2 * COUNT], n = 0, m = 0;
        struct lade_loader *l = open_loader(&config);
        struct lade_batch b;
        while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
            memcpy(straight + n, b.ids, (size_t)b.count * sizeof *b.ids);
            n += b.count;
            lade_loader_release(l, &b);
        }
        cr_assert_eq(n, 2 * COUNT);
        lade_loader_destroy(l);
        l = open_loader(&config);
        while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
            for (uint64_t i = 0; i < b.count; i++)
                cr_assert_eq(b.ids[i], straight[m++]);
            lade_loader_release(l, &b);
            char *state = state_of(l);
            cr_assert_lt(strlen(state), 300);
            lade_loader_destroy(l);
            l = resume(&config, state);
            free(state);
        }
        cr_assert_eq(m, n);
        lade_loader_destroy(l);
    }
    lade_source_close(source);
}

/* A sample whose read blocks until the test allows it. */
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    bool open;
};

static int pass(void *context, uint64_t i)
{
    struct gate *g = context;

    pthread_mutex_lock(&g->mutex);
    while (i == 2 && !g->open)
        pthread_cond_wait(&g->opened, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
    return LADE_OK;
}

/* Without in_order, batches delivered early leave a hole. */
Test(loader_state, holes)
{
    struct gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    struct lade_source *source = numbers_with(COUNT, pass, &g);
    struct lade_loader_config config = {
        .source = source, .batch = 5, .threads = 2, .epochs = 1, .sequential = true, .worker_timeout = LADE_FOREVER};
    struct lade_loader *l = open_loader(&config);
    struct tally t;

    tally_init(&t, COUNT);
    cr_assert_eq(take_batches(l, 3, &t), 3);
    char *state = state_of(l);
    cr_assert(strstr(state, " done=5-20 "), "%s", state);
    cr_assert_eq(take_batches(l, 7, &t), 7);
    char *later = state_of(l);
    cr_assert(strstr(later, " done=5-53 "), "%s", later);
    pthread_mutex_lock(&g.mutex);
    g.open = true;
    pthread_cond_broadcast(&g.opened);
    pthread_mutex_unlock(&g.mutex);
    struct lade_batch b = next_of(l);
    cr_assert(b.last && b.ids[0] == 0, "the last of its epoch is the last one that comes");
    lade_loader_destroy(l);
    config.batch = 7;
    config.in_order = true;
    free(leave_after(resume(&config, later), UINT64_MAX, &t));
    tally_expect(&t, 1);
    tally_free(&t);
    tally_init(&t, COUNT);
    l = resume(&config, state);
    b = next_of(l);
    static const uint64_t expected[7] = {0, 1, 2, 3, 4, 20, 21};
    cr_assert(b.count == 7 && memcmp(b.ids, expected, sizeof expected) == 0);
    lade_loader_release(l, &b);
    free(leave_after(l, UINT64_MAX, &t));
    tally_free(&t);
    free(state);
    free(later);
    lade_source_close(source);
}

Test(loader_state, whose_state_it_is)
{
    struct lade_source *source = numbers(COUNT), *longer = numbers(COUNT + 1);
    struct lade_split *split = fifths(5), *another = fifths(6);
    static const uint32_t even[2] = {1, 1};
    const struct lade_split_config halves = {.parts = 2, .weights = even, .store = LADE_SPLIT_PURE, .seed = 5};
    struct lade_split *half;
    double weight[COUNT], heavier[COUNT];
    struct tally t;

    for (int i = 0; i < COUNT; i++)
        weight[i] = heavier[i] = 1 + i % 3;
    heavier[9] = 7;
    cr_assert_eq(lade_split_create(&half, &halves, NULL), LADE_OK);
    const struct lade_loader_config plain = {.source = source, .batch = 5, .threads = 1},
                                    parted = {.source = source, .batch = 5, .threads = 1, .split = split},
                                    drawn = {.source = source,
                                             .batch = 5,
                                             .threads = 1,
                                             .draw = LADE_DRAW_WEIGHTED,
                                             .weight = weight};
    const struct {
        struct lade_loader_config of, wrong;
    } cases[] = {
        {plain, {.source = source, .batch = 5, .threads = 1, .seed = 1}},
        {plain, {.source = longer, .batch = 5, .threads = 1}},
        {plain, {.source = source, .batch = 5, .threads = 1, .sequential = true}},
        {plain, {.source = source, .batch = 5, .threads = 1, .shards = 2}},
        {plain, {.source = source, .batch = 5, .threads = 1, .draw = LADE_DRAW_BALANCED}},
        {plain, parted},
        {parted, plain},
        {parted, {.source = source, .batch = 5, .threads = 1, .split = split, .part = 1}},
        {parted, {.source = source, .batch = 5, .threads = 1, .split = another}},
        {parted, {.source = source, .batch = 5, .threads = 1, .split = half}},
        {drawn, {.source = source, .batch = 5, .threads = 1, .draw = LADE_DRAW_WEIGHTED, .weight = heavier}},
    };

    tally_init(&t, COUNT);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *state = leave_after(open_loader(&cases[i].of), 2, &t);
        struct lade_loader *l = NULL;
        struct lade_error error = {.text = ""};
        cr_assert_eq(lade_loader_resume(&l, &cases[i].wrong, state, &error), LADE_CONFLICT, "case %zu", i);
        cr_assert(error.status == LADE_CONFLICT && error.text[0] && !l, "case %zu", i);
        cr_assert_eq(lade_loader_resume(&l, &cases[i].wrong, state, NULL), LADE_CONFLICT);
        free(leave_after(resume(&cases[i].of, state), 1, &t));
        free(state);
    }
    tally_free(&t);
    lade_split_destroy(split);
    lade_split_destroy(another);
    lade_split_destroy(half);
    lade_source_close(source);
    lade_source_close(longer);
}

/* A source of the same length as that of the state. */
Test(loader_state, another_source_of_the_same_length)
{
    static const char *const others[] = {"synthetic:count=53,shape=2x8,seed=2", "synthetic:count=53,shape=8x2",
                                         "synthetic:count=53,shape=16", "synthetic:count=53,shape=2x8,classes=9"};
    struct lade_source *source = open_source("synthetic:count=53,shape=2x8"), *same;
    struct lade_loader_config config = {.source = source, .batch = 5, .threads = 1};
    struct lade_loader *l = open_loader(&config), *wrong = NULL;
    char *state = state_of(l);

    lade_loader_destroy(l);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        config.source = open_source(others[i]);
        cr_assert_eq(lade_loader_resume(&wrong, &config, state, NULL), LADE_CONFLICT, "%s", others[i]);
        lade_source_close(config.source);
    }
    config.source = same = open_source("synthetic:count=53,shape=2x8");
    cr_assert_eq(lade_loader_resume(&l, &config, state, NULL), LADE_OK);
    lade_loader_destroy(l);
    lade_source_close(same);
    lade_source_close(source);
    free(state);
}

static void expect_damage(const struct lade_loader_config *config, const char *text)
{
    struct lade_loader *l = NULL;
    struct lade_error error = {.text = ""};
    char joined[1000];

    cr_assert_eq(lade_loader_resume(&l, config, text, &error), LADE_DAMAGED, "%s", text);
    cr_assert(error.text[0] && !l);
    error.status = LADE_OK;
    cr_assert_eq(lade_loader_merge_states(&text, 1, joined, sizeof joined, NULL, &error), 0, "%s", text);
    cr_assert_eq(error.status, LADE_DAMAGED);
}

Test(loader_state, damage)
{
    struct lade_source *source = numbers(COUNT);
    const struct lade_loader_config config = {.source = source, .batch = 5, .threads = 1, .in_order = true};
    struct tally t;

    tally_init(&t, COUNT);
    char *state = leave_after(open_loader(&config), 3, &t);
    size_t size = strlen(state);
    for (size_t i = 0; i < size; i++) {
        char kept = state[i];
        for (int bit = 0; bit < 8; bit++) {
            state[i] = (char)(kept ^ 1 << bit);
            expect_damage(&config, state);
        }
        state[i] = '\0';
        expect_damage(&config, state);
        state[i] = kept;
    }
    char *more = malloc(size + 2);
    cr_assert(more);
    memcpy(more, state, size);
    strcpy(more + size, " ");
    expect_damage(&config, more);
    free(more);
    struct lade_loader *l;
    cr_assert_eq(lade_loader_resume(&l, &config, NULL, NULL), LADE_INVALID);
    const struct lade_loader_config stream = {.source = source, .batch = 5, .buffer = 20};
    cr_assert_eq(lade_loader_resume(&l, &stream, state, NULL), LADE_INVALID);
    free(state);
    tally_free(&t);
    lade_source_close(source);
}

/* The text is cut to the size of the buffer; the returned size is always the full one. */
Test(loader_state, size_of_the_buffer)
{
    struct lade_source *source = numbers(COUNT);
    const struct lade_loader_config config = {.source = source, .batch = 5, .threads = 1};
    struct lade_loader *l = open_loader(&config);
    char *state = state_of(l), text[400];
    size_t size = strlen(state) + 1;

    for (size_t size_max = 0; size_max <= size + 1; size_max++) {
        memset(text, 'x', sizeof text);
        cr_assert_eq(lade_loader_state(l, text, size_max), size);
        for (size_t i = size_max; i < sizeof text; i++)
            cr_assert_eq(text[i], 'x');
        if (size_max > 0)
            cr_assert(strlen(text) == (size_max < size ? size_max - 1 : size - 1) &&
                      strncmp(text, state, strlen(text)) == 0);
    }
    free(state);
    lade_loader_destroy(l);
    lade_source_close(source);
}

static char *read_back(const char *path)
{
    struct lade_error error = {.text = "no text"};
    size_t size = lade_loader_read_state(path, NULL, 0, NULL, &error);
    char *text = malloc(size ? size : 1);

    cr_assert(size > 0 && text, "%s", error.text);
    cr_assert_eq(lade_loader_read_state(path, text, size, NULL, &error), size);
    return text;
}

Test(loader_state, files, .init = make_folder, .fini = remove_folder)
{
    struct lade_source *source = numbers(COUNT);
    const struct lade_loader_config config = {.source = source, .batch = 5, .threads = 1, .in_order = true};
    struct lade_loader *l = open_loader(&config);
    struct tally t;
    char path[300], text[20];

    tally_init(&t, COUNT);
    strcpy(path, in_folder("@/state"));
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(lade_loader_save(l, path, NULL), LADE_OK);
        char *state = state_of(l), *back = read_back(path);
        cr_assert_str_eq(state, back);
        free(state);
        free(back);
        cr_assert_eq(take_batches(l, 1, &t), 1);
    }
    /* A file without a state. */
    static const char *const none[] = {"\n", "\0\n"};
    for (size_t i = 0; i < 2; i++) {
        struct lade_error error = {.text = ""};
        put_file("none", none[i], i + 1);
        cr_assert_eq(lade_loader_read_state(in_folder("@/none"), text, sizeof text, NULL, &error), 0);
        cr_assert(error.status == LADE_DAMAGED && strstr(error.text, "none: not a loader state"));
    }
    /* A text that is too long is cut, and the size is the full one. */
    memset(text, 'x', sizeof text);
    cr_assert_gt(lade_loader_read_state(path, text, 12, NULL, NULL), 12);
    cr_assert_str_eq(text, "lade-loader");
    cr_assert_eq(text[12], 'x');
    lade_loader_destroy(l);
    tally_free(&t);
    lade_source_close(source);
}

/* If the state cannot be written, the old one stays. */
Test(loader_state, files_that_fail, .init = make_folder, .fini = remove_folder)
{
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {.source = source, .batch = 5, .threads = 1, .in_order = true};
    struct lade_loader *l = open_loader(&config);
    struct lade_error error = {.text = ""};
    struct tally t;
    char path[300];

    tally_init(&t, COUNT);
    static const char *const bad[] = {"/dev/full", "@", "@/", "@/none/state", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        error.text[0] = '\0';
        cr_assert_eq(lade_loader_save(l, in_folder(bad[i]), &error), LADE_IO, "%s", bad[i]);
        cr_assert(error.status == LADE_IO && error.text[0], "%s", bad[i]);
    }
    strcpy(path, in_folder("@/state"));
    cr_assert_eq(lade_loader_save(l, path, NULL), LADE_OK);
    char *before = read_back(path);
    cr_assert_eq(take_batches(l, 1, &t), 1);
    /* No byte can be written to a file. */
    struct rlimit limit;
    (void)signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlim_t soft = limit.rlim_cur;
    limit.rlim_cur = 10;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cr_assert_eq(lade_loader_save(l, path, &error), LADE_IO);
    limit.rlim_cur = soft;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    char *after = read_back(path);
    cr_assert_str_eq(before, after);
    free(before);
    free(after);
    lade_loader_destroy(l);

    put_file("empty", "", 0);
    put_file("zeros", "a\0b", 3);
    static const char *const unread[] = {"@/missing", "@/empty", "@/zeros", "@"};
    for (size_t i = 0; i < sizeof unread / sizeof unread[0]; i++) {
        error.text[0] = '\0';
        error.status = LADE_OK;
        cr_assert_eq(lade_loader_read_state(in_folder(unread[i]), NULL, 0, NULL, &error), 0, "%s", unread[i]);
        cr_assert(error.status < 0 && error.text[0], "%s", unread[i]);
    }
    config.buffer = 20;
    l = open_loader(&config);
    cr_assert_eq(lade_loader_state(l, NULL, 0), 0);
    cr_assert_eq(lade_loader_save(l, path, &error), LADE_INVALID);
    lade_loader_destroy(l);
    tally_free(&t);
    lade_source_close(source);
}
