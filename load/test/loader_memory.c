/* SPDX-License-Identifier: MIT */
/* Loaders and states without memory. */
#define _GNU_SOURCE
#include "../../lib/test/allocator.h"
#include "failing.h"
#include "fields.h"
#include "files.h"
#include "states.h"

#include <lade/mixture.h>

enum { COUNT = 60, TRIES = 1000 };

/* Whether the status is LADE_NO_MEMORY, with a text. */
static bool is_lack(int status, const struct lade_error *error)
{
    return status == LADE_NO_MEMORY && error->status == status && strstr(error->text, "out of memory") != NULL;
}

/*
 * Creates and takes some batches with the first, second, ... allocation failing, until none fails. The number of
 * failures.
 */
static int try_all(const struct lade_loader_config *config, const char *state)
{
    int failures = 0;

    for (int n = 0; n < TRIES; n++) {
        struct lade_loader *l = NULL;
        struct lade_batch b;
        struct lade_error error = {.text = "no text"};
        until_failure = n;
        int status = state ? lade_loader_resume(&l, config, state, &error) : lade_loader_create(&l, config, &error);
        for (int i = 0; status == LADE_OK && i < 3; i++) {
            status = lade_loader_next(l, &b, LADE_FOREVER, &error);
            if (status == LADE_OK)
                lade_loader_release(l, &b);
        }
        bool all_used = until_failure >= 0;
        until_failure = -1;
        cr_assert(status == LADE_OK || is_lack(status, &error), "%d: %d, %s", n, status, error.text);
        failures += status != LADE_OK;
        lade_loader_destroy(l);
        if (all_used)
            return failures;
    }
    return -1;
}

static struct lade_source *mixed(struct lade_source *const *source, uint32_t first)
{
    const uint32_t weight[2] = {first, 2};
    const struct lade_source_mixture config = {
        .source = source, .weight = weight, .sources = 2, .end = LADE_MIXTURE_DROP};
    struct lade_source *mixture;

    cr_assert_eq(lade_source_open_mixture(&mixture, &config, NULL), LADE_OK);
    return mixture;
}

Test(loader_memory, mixture)
{
    struct lade_source *source[2] = {numbers(COUNT), numbers(COUNT / 2)};
    struct lade_source *before = mixed(source, 1), *after = mixed(source, 3);
    struct lade_loader_config config = {.source = before, .batch = 8, .in_order = true, .threads = 1, .slots = 2};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch b = next_of(l);

    lade_loader_release(l, &b);
    char *state = state_of(l);
    lade_loader_destroy(l);
    cr_assert_gt(try_all(&config, NULL), 4);
    config.source = after;
    cr_assert_gt(try_all(&config, state), 6);
    free(state);
    lade_source_close(before);
    lade_source_close(after);
    lade_source_close(source[0]);
    lade_source_close(source[1]);
}

Test(loader_memory, create)
{
    const struct lade_image form = {LADE_U8, LADE_HWC, 4, 4, 1};
    struct lade_source *source = numbers(COUNT);
    struct lade_split *split = fifths(1);
    struct lade_pipeline *pipeline;
    double weight[COUNT];
    static uint8_t bytes[COUNT];
    const struct lade_source_array about = {.samples = bytes, .count = COUNT, .shape = {LADE_U8, 0, {0}}};
    struct lade_source *array;

    cr_assert_eq(lade_source_open_array(&array, &about, NULL), LADE_OK);
    for (int i = 0; i < COUNT; i++)
        weight[i] = i;
    cr_assert_eq(lade_pipeline_create(&pipeline, &form, NULL), LADE_OK);
    struct lade_loader_config config = {.source = source, .batch = 5, .threads = 2, .slots = 2};
    int plain = try_all(&config, NULL);
    cr_assert_geq(plain, 1 + 8 + 4 * 3, "the loader, its arrays, three for each slot");
    config.pipeline = pipeline;
    cr_assert_geq(try_all(&config, NULL), plain + 4);
    config.pipeline = NULL;
    config.split = split;
    cr_assert_geq(try_all(&config, NULL), plain);
    config.fault = LADE_FAULT_SUBSTITUTE;
    cr_assert_geq(try_all(&config, NULL), plain + 1, "the list of the part");
    config.fault = LADE_FAULT_FAIL;
    config.draw = LADE_DRAW_WEIGHTED;
    config.weight = weight;
    cr_assert_geq(try_all(&config, NULL), plain + 5);
    config.draw = LADE_DRAW_BALANCED;
    cr_assert_geq(try_all(&config, NULL), plain + 5 + 20, "a sample is read for each label");
    config.draw = LADE_DRAW_ONCE;
    config.buffer = 20;
    cr_assert_geq(try_all(&config, NULL), 1 + 8 + 2 * 3);
    config.split = NULL;
    config.source = array;
    cr_assert_geq(try_all(&config, NULL), plain + 6 + 4 * 2,
                  "numbers in a buffer, and a list for each slot and worker");
    struct lade_source *fields = open_many();
    config = (struct lade_loader_config){.source = fields, .batch = 5, .threads = 2, .slots = 2};
    cr_assert_geq(try_all(&config, NULL), plain + 1 + 4 + 2 * 2,
                  "the fields, labels of each slot, rows and lengths of each worker");
    lade_source_close(fields);
    struct sequences sequences = {.length = tokens_of};
    fields = open_sequences(&sequences, COUNT, TOKENS);
    config = (struct lade_loader_config){.source = fields, .batch = 5, .threads = 2, .slots = 2, .pack_row = 20};
    cr_assert_geq(try_all(&config, NULL), plain + 1 + 4 + 2 * 4 + 12,
                  "the fields, the packing, labels of each slot, lists of each worker, a window");
    lade_source_close(fields);
    lade_pipeline_destroy(pipeline);
    lade_split_destroy(split);
    lade_source_close(array);
    lade_source_close(source);
}

/* Memory of a loader after creation; *most: the peak during creation. */
static size_t taken_by(const struct lade_loader_config *config, uint64_t *slot_bytes, size_t *most)
{
    const size_t before = bytes_out;

    bytes_most = before;
    struct lade_loader *l = open_loader(config);
    const size_t taken = bytes_out - before;
    struct lade_loader_stats stats;
    lade_loader_stats(l, &stats);
    *slot_bytes = stats.slot_bytes;
    *most = bytes_most - before;
    lade_loader_destroy(l);
    cr_assert_eq(bytes_out, before);
    return taken;
}

/* Memory of a loader's own structures, per slot and worker, of the table of each worker, and of the ends of arrays. */
enum { FIXED = 131072, EACH = 4096, TABLE = 17 * 1024 };

Test(loader_memory, takes_the_memory_that_the_header_states)
{
    struct lade_split *split = fifths(1);
    size_t plain[2], most, taken;
    uint64_t slot;

    for (unsigned threads = 1; threads <= 8; threads *= 2)
        for (unsigned slots = 1; slots <= 64; slots *= 8) {
            struct lade_source *source = numbers(100000);
            const struct lade_loader_config config = {
                .source = source, .batch = 1000, .threads = threads, .slots = slots};
            taken = taken_by(&config, &slot, &most);
            cr_assert_geq(slot, 1000 * 32);
            cr_assert_geq(taken, (slots + threads) * slot);
            cr_assert_leq(taken, (slots + threads) * (slot + EACH) + threads * TABLE + FIXED, "%u workers, %u slots",
                          threads, slots);
            lade_source_close(source);
        }
    /* With ten times as many samples: nothing more, 12 bytes for each, and for substitutes a list of a small part. */
    for (int i = 0; i < 2; i++) {
        const uint64_t count = i ? 1000000 : 100000;
        struct lade_source *source = numbers(count);
        struct lade_loader_config config = {.source = source, .batch = 10, .threads = 1, .slots = 2};
        plain[i] = taken_by(&config, &slot, &most);
        config.split = split;
        cr_assert_leq(taken_by(&config, &slot, &most), plain[i] + FIXED);
        config.fault = LADE_FAULT_SUBSTITUTE;
        taken = taken_by(&config, &slot, &most); /* 60,000 members, and then 600,000 */
        cr_assert_leq(taken, plain[i] + (i ? 0 : 60 * 1024 * 8) + FIXED);
        cr_assert(i || taken + FIXED >= plain[i] + 50000 * 8);
        cr_assert_leq(most, plain[i] + (512 << 10) + FIXED);
        config = (struct lade_loader_config){
            .source = source, .batch = 10, .threads = 1, .slots = 2, .draw = LADE_DRAW_BALANCED};
        /* The worker may have allocated some memory already, or not. */
        taken = taken_by(&config, &slot, &most);
        cr_assert(taken + FIXED >= plain[i] + 12 * count && taken <= plain[i] + 12 * count + FIXED,
                  "%zu bytes, %zu without the draw", taken, plain[i]);
        lade_source_close(source);
    }
    cr_assert_leq(plain[1], plain[0] + FIXED);
    lade_split_destroy(split);
}

/* Two shards stop, the rest is divided again, and one of the next shards stops, out of order. */
static char *state_with_levels(struct lade_loader_config *config, char *second[2])
{
    struct tally t;
    char *first[2], joined[1000];

    tally_init(&t, COUNT);
    config->shards = 2;
    for (config->shard = 0; config->shard < 2; config->shard++)
        first[config->shard] = leave_after(open_loader(config), 2, &t);
    cr_assert_gt(lade_loader_merge_states((const char *const *)first, 2, joined, sizeof joined, NULL, NULL), 0);
    for (config->shard = 0; config->shard < 2; config->shard++)
        second[config->shard] = leave_after(resume(config, joined), 1, &t);
    config->shard = 0;
    free(first[0]);
    free(first[1]);
    tally_free(&t);
    return second[0];
}

Test(loader_memory, states, .init = make_folder, .fini = remove_folder)
{
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {.source = source, .batch = 3, .threads = 1, .slots = 2};
    char *second[2], text[1000], path[300], *whole;
    struct lade_error error;
    size_t size;
    int n;

    const char *state = state_with_levels(&config, second);
    cr_assert_geq(try_all(&config, state), 1 + 8 + 3 * 3 + 3, "three for what the state says");
    for (n = 0, size = 0; size == 0 && n < TRIES; n++) {
        until_failure = n;
        size = lade_loader_merge_states((const char *const *)second, 2, text, sizeof text, NULL, &error);
        until_failure = -1;
        cr_assert(size > 0 || is_lack(error.status, &error), "%d: %s", n, error.text);
    }
    cr_assert(size > 0 && n > 10);
    struct lade_loader *l = resume(&config, state);
    for (n = 0, size = 0; size == 0 && n < TRIES; n++) {
        until_failure = n;
        size = lade_loader_state(l, text, sizeof text);
        until_failure = -1;
    }
    cr_assert_eq(size, strlen(text) + 1);
    cr_assert_gt(n, 4);
    /* A file is replaced completely or not at all. */
    strcpy(path, in_folder("@/state"));
    put_file("state", "before\n", 7);
    int status = LADE_NO_MEMORY;
    for (n = 0; status != LADE_OK && n < TRIES; n++) {
        char read[1000];
        until_failure = n;
        status = lade_loader_save(l, path, &error);
        until_failure = -1;
        cr_assert(status == LADE_OK || is_lack(status, &error), "%d: %s", n, error.text);
        cr_assert_gt(lade_loader_read_state(path, read, sizeof read, NULL, NULL), 0);
        whole = status == LADE_OK ? text : "before";
        cr_assert_str_eq(read, whole);
    }
    cr_assert(status == LADE_OK && n > 8);
    lade_loader_destroy(l);
    free(second[0]);
    free(second[1]);
    lade_source_close(source);
}

/* Creates or resumes a loader, takes batches, saves. LADE_OK, or the first error. */
static int use(const struct lade_loader_config *config, const char *state, struct lade_error *error)
{
    struct lade_loader *l = NULL;
    struct lade_batch b;
    char text[4096];
    int status = state ? lade_loader_resume(&l, config, state, error) : lade_loader_create(&l, config, error);

    for (int i = 0; status == LADE_OK && i < 3; i++) {
        status = lade_loader_next(l, &b, LADE_FOREVER, error);
        if (status == LADE_OK)
            lade_loader_release(l, &b);
    }
    if (status == LADE_OK && config->buffer == 0) {
        status = lade_loader_save(l, in_folder("@/state"), error);
        if (status == LADE_OK && lade_loader_state(l, text, sizeof text) == 0)
            status = LADE_NO_MEMORY;
        if (status == LADE_OK &&
            lade_loader_read_state(in_folder("@/state"), text, sizeof text, config->alloc, error) == 0)
            status = error->status;
    }
    lade_loader_destroy(l);
    return status;
}

/* All memory is the allocator's, every allocation fails once, and everything is freed. The number of failures. */
static int try_allocator(struct lade_loader_config config, const char *state)
{
    int failures = 0;

    for (int n = 1; n < TRIES; n++) {
        struct failing f = {.fail_at = n};
        const struct lade_alloc alloc = {failing_get, failing_put, &f};
        struct lade_error error = {.text = "no text"};
        config.alloc = &alloc;
        asked = 0;
        int status = use(&config, state, &error);
        cr_assert(status == LADE_OK || status == LADE_NO_MEMORY, "%d: %d, %s", n, status, error.text);
        cr_assert_eq(asked, 0, "%d: the C library's memory", n);
        cr_assert_eq(f.live, 0);
        cr_assert_eq(f.bytes, 0);
        failures += status != LADE_OK;
        if (f.calls < n)
            return failures;
    }
    return -1;
}

Test(loader_memory, all_memory_is_of_the_allocator, .init = make_folder, .fini = remove_folder)
{
    /* PLAIN: the loader, its arrays, three for each slot; states. Tables of workers may come on top, at any moment. */
    enum { MANY = 1 << 12, PLAIN = 1 + 8 + 4 * 3 + 4 };
    static uint8_t bytes[MANY];
    static double weight[MANY];
    struct lade_source_array about = {.samples = bytes, .count = MANY, .labels = bytes, .label_dtype = LADE_U8};
    struct lade_split *split = fifths(1);
    struct lade_source *array;

    for (int i = 0; i < MANY; i++) {
        bytes[i] = (uint8_t)(i % 3);
        weight[i] = i;
    }
    about.shape.dtype = LADE_U8;
    cr_assert_eq(lade_source_open_array(&array, &about, NULL), LADE_OK);
    struct lade_loader_config config = {.source = array, .batch = 5, .threads = 2, .slots = 2};
    cr_assert_geq(try_allocator(config, NULL), PLAIN);
    config.sequential = true;
    cr_assert_geq(try_allocator(config, NULL), PLAIN);
    config.sequential = false;
    config.buffer = 20;
    cr_assert_geq(try_allocator(config, NULL), 1 + 8 + 4 * 3);
    config.buffer = 0;
    config.split = split;
    config.fault = LADE_FAULT_SUBSTITUTE;
    cr_assert_geq(try_allocator(config, NULL), PLAIN + 1, "the list of the part");
    config.fault = LADE_FAULT_FAIL;
    config.draw = LADE_DRAW_WEIGHTED;
    config.weight = weight;
    cr_assert_geq(try_allocator(config, NULL), PLAIN + 5);
    config.draw = LADE_DRAW_BALANCED;
    cr_assert_geq(try_allocator(config, NULL), PLAIN + 5);
    lade_split_destroy(split);
    lade_source_close(array);
}

Test(loader_memory, states_of_an_allocator, .init = make_folder, .fini = remove_folder)
{
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {.source = source, .batch = 3, .threads = 1, .slots = 2};
    char *second[2], text[1000];
    const char *state = state_with_levels(&config, second);
    size_t size = 0;
    int n = 0;

    cr_assert_geq(try_allocator(config, state), 1 + 8 + 3 * 3 + 3 + 4, "three for what the state says");
    while (size == 0 && n < TRIES) {
        struct failing f = {.fail_at = ++n};
        const struct lade_alloc alloc = {failing_get, failing_put, &f};
        struct lade_error error;
        asked = 0;
        size = lade_loader_merge_states((const char *const *)second, 2, text, sizeof text, &alloc, &error);
        cr_assert(size > 0 || is_lack(error.status, &error), "%d: %s", n, error.text);
        cr_assert_eq(asked, 0);
        cr_assert_eq(f.live, 0);
    }
    cr_assert(size > 0 && n > 6);
    free(second[0]);
    free(second[1]);
    lade_source_close(source);
}
