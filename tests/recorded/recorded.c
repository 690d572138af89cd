/* SPDX-License-Identifier: MIT */
/*
 * What a later version must keep: orders of epochs and parts of splits for given seeds (`orders`), and files of this version
 * (`write DIR`), whose contents any later version reads (`read DIR`). All are printed as text, which tests/release compares.
 */
#include <inttypes.h>
#include <lade/lade.h>
#include <lade/loader.h>
#include <lade/mixture.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 40, BYTES = 16, WAIT_SECONDS = 60 };
static const char *folder;
static const char *at; /* what is made or read, for a failure */

static void must(int status, int expected)
{
    if (status == expected)
        return;
    fprintf(stderr, "%s: %s\n", at, lade_status_text(status));
    exit(1);
}

static const char *in_folder(const char *name)
{
    static char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static FILE *open_in_folder(const char *name, const char *mode)
{
    FILE *file = fopen(in_folder(name), mode);
    if (!file) {
        perror(in_folder(name));
        exit(1);
    }
    return file;
}

/* Sources */

static unsigned char pixels[SAMPLES * BYTES];
static uint8_t labels[SAMPLES];
static int32_t steps[SAMPLES * 8];
static int32_t offsets[SAMPLES + 1];
static const double weights[SAMPLES] = {5, 0, 1, 1, 9, 2, 3, 0.5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4};

static struct lade_source *images(uint64_t count)
{
    struct lade_source *source;
    const struct lade_source_array array = {.samples = pixels,
                                            .count = count,
                                            .labels = labels,
                                            .label_dtype = LADE_U8,
                                            .shape = {.dtype = LADE_U8, .dims = 3, .dim = {1, 4, 4}}};
    must(lade_source_open_array(&source, &array, NULL), LADE_OK);
    return source;
}

static struct lade_source *sequences(void)
{
    struct lade_source *source;
    const struct lade_source_column column = {.field = {.name = "tokens", .dtype = LADE_I32},
                                              .values = steps,
                                              .offsets = offsets,
                                              .offset_dtype = LADE_I32,
                                              .steps = (uint64_t)offsets[SAMPLES]};
    const struct lade_source_arrays arrays = {.count = SAMPLES, .column = &column, .columns = 1};
    must(lade_source_open_arrays(&source, &arrays, NULL), LADE_OK);
    return source;
}

static struct lade_source *synthetic(uint64_t count)
{
    struct lade_source *source;
    const struct lade_source_synthetic about = {
        .count = count, .shape = {.dtype = LADE_U8}, .classes = 4, .skew = 3, .seed = 7};
    must(lade_source_open_synthetic(&source, &about, NULL), LADE_OK);
    return source;
}

static struct lade_source *mixture(enum lade_mixture_end end)
{
    static const uint32_t weight[3] = {5, 3, 1};
    struct lade_source *source, *sources[3] = {images(12), images(20), images(8)};
    const struct lade_source_mixture about = {
        .source = sources, .weight = weight, .sources = 3, .end = end, .owned = true};
    must(lade_source_open_mixture(&source, &about, NULL), LADE_OK);
    return source;
}

static int read_with_faults(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    (void)self, (void)error;
    if (i % 7 == 3)
        return LADE_DAMAGED;
    memcpy(to, pixels + i * BYTES, BYTES);
    *label = LADE_NO_LABEL;
    return LADE_OK;
}

static struct lade_source *faulty(void)
{
    struct lade_source *source;
    const struct lade_source_ops ops = {.read = read_with_faults};
    const struct lade_source_info info = {
        .kind = "faulty", .count = SAMPLES, .bytes = BYTES, .shape = {.dtype = LADE_U8, .dims = 1, .dim = {BYTES}}};
    must(lade_source_open_custom(&source, &ops, NULL, &info, NULL, NULL), LADE_OK);
    return source;
}

static struct lade_pipeline *crop_and_flip(void)
{
    const struct lade_image input = {.dtype = LADE_U8, .layout = LADE_CHW, .height = 4, .width = 4, .channels = 1};
    struct lade_pipeline *pipeline;
    must(lade_pipeline_create(&pipeline, &input, NULL), LADE_OK);
    must(lade_pipeline_crop_random(pipeline, 1, 4, 4), LADE_OK);
    must(lade_pipeline_flip(pipeline), LADE_OK);
    return pipeline;
}

/* Splits */

static struct lade_split *split_of(enum lade_split_rule rule, enum lade_split_store store)
{
    static const uint32_t parts[2] = {3, 2};
    static const uint64_t quota[2] = {30, 20};
    struct lade_split *split;
    const struct lade_split_config config = {.parts = 2,
                                             .weights = rule == LADE_SPLIT_QUOTA ? NULL : parts,
                                             .rule = rule,
                                             .store = store,
                                             .seed = 11,
                                             .capacity = store == LADE_SPLIT_EXACT || store == LADE_SPLIT_PURE ? 0 : 64,
                                             .classes = rule == LADE_SPLIT_QUOTA,
                                             .quota = rule == LADE_SPLIT_QUOTA ? quota : NULL};
    must(lade_split_create(&split, &config, NULL), LADE_OK);
    return split;
}

static void print_parts(const char *name, struct lade_split *split)
{
    printf("%s:", name);
    for (uint64_t key = 0; key < SAMPLES; key++) {
        unsigned part;
        must(lade_split_route_word(split, key, &part), LADE_OK);
        printf(" %u", part);
    }
    printf("\n");
}

/* Epochs */

struct epoch {
    const char *name;
    struct lade_source *(*open)(void);
    struct lade_loader_config config; /* batch 8, 2 epochs, unless set */
    bool split, pipeline;
    uint64_t most; /* batches that are printed; 0: all */
};

static struct lade_source *open_images(void)
{
    return images(SAMPLES);
}
static struct lade_source *open_large(void)
{
    return synthetic(3000000);
}
static struct lade_source *open_repeat(void)
{
    return mixture(LADE_MIXTURE_REPEAT);
}
static struct lade_source *open_drop(void)
{
    return mixture(LADE_MIXTURE_DROP);
}
static struct lade_source *open_stop(void)
{
    return mixture(LADE_MIXTURE_STOP);
}

static const struct epoch epochs[] = {
    {.name = "plain", .open = open_images, .config = {.seed = 1}},
    {.name = "seed 0", .open = open_images},
    {.name = "seed 2^64-1", .open = open_images, .config = {.seed = UINT64_MAX}},
    {.name = "batches of 7, the last dropped",
     .open = open_images,
     .config = {.seed = 1, .batch = 7, .drop_last = true}},
    {.name = "sequential", .open = open_images, .config = {.sequential = true, .epochs = 1}},
    {.name = "shard 1 of 3", .open = open_images, .config = {.seed = 1, .shard = 1, .shards = 3}},
    {.name = "shard 2 of 3, padded", .open = open_images, .config = {.seed = 1, .shard = 2, .shards = 3, .pad = true}},
    {.name = "part 0 of a split", .open = open_images, .config = {.seed = 1}, .split = true},
    {.name = "weighted", .open = open_images, .config = {.seed = 1, .draw = LADE_DRAW_WEIGHTED, .weight = weights}},
    {.name = "balanced", .open = open_images, .config = {.seed = 1, .draw = LADE_DRAW_BALANCED}},
    {.name = "substituted faults", .open = faulty, .config = {.seed = 1, .fault = LADE_FAULT_SUBSTITUTE}},
    {.name = "mixture, repeat", .open = open_repeat, .config = {.seed = 1, .epochs = 1}},
    {.name = "mixture, drop", .open = open_drop, .config = {.seed = 1, .epochs = 1}},
    {.name = "mixture, stop", .open = open_stop, .config = {.seed = 1, .epochs = 1}},
    {.name = "packed", .open = sequences, .config = {.seed = 1, .batch = 4, .pack_row = 16, .pack_window = 16}},
    {.name = "packed, split",
     .open = sequences,
     .config = {.seed = 1, .batch = 4, .pack_row = 5, .pack_longer = LADE_LONGER_SPLIT, .epochs = 1}},
    {.name = "random crop and flip", .open = open_images, .config = {.seed = 1}, .pipeline = true},
    {.name = "3,000,000 samples", .open = open_large, .config = {.seed = 1, .batch = 16}, .most = 2},
};

/* Everything that a loader needs, while it is open. */
struct running {
    struct lade_source *source;
    struct lade_pipeline *pipeline;
    struct lade_split *split;
    struct lade_loader *loader;
};

static struct running begin(const struct epoch *epoch, const char *state)
{
    struct running run = {.source = epoch->open()};
    struct lade_loader_config config = epoch->config;
    struct lade_error error = {.text = ""};

    at = epoch->name;
    config.source = run.source;
    config.split = run.split = epoch->split ? split_of(LADE_SPLIT_HASH, LADE_SPLIT_PURE) : NULL;
    config.pipeline = run.pipeline = epoch->pipeline ? crop_and_flip() : NULL;
    config.in_order = true;
    config.threads = 2;
    config.batch = config.batch ? config.batch : 8;
    config.epochs = config.epochs ? config.epochs : 2;
    int status = state ? lade_loader_resume(&run.loader, &config, state, &error)
                       : lade_loader_create(&run.loader, &config, &error);
    if (status != LADE_OK)
        fprintf(stderr, "%s\n", error.text);
    must(status, LADE_OK);
    return run;
}

static void end(struct running *run)
{
    lade_loader_destroy(run->loader);
    lade_source_close(run->source);
    lade_pipeline_destroy(run->pipeline);
    lade_split_destroy(run->split);
}

/* Takes up to most batches (0: all), and prints their samples; with a pipeline or packing also a hash of their bytes. */
static void take(const struct epoch *epoch, struct running *run, uint64_t most, bool print)
{
    struct lade_batch batch;
    int status = LADE_OK;

    for (uint64_t n = 0;
         (!most || n < most) &&
         (status = lade_loader_next(run->loader, &batch, WAIT_SECONDS * INT64_C(1000000000), NULL)) == LADE_OK;
         n++) {
        uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
        for (uint64_t i = 0; print && i < batch.count; i++)
            printf(" %" PRIu64, batch.ids[i]);
        for (unsigned k = 0; k < batch.tensors; k++) {
            const struct lade_shape *shape = batch.tensor[k].shape;
            for (size_t i = 0; i < lade_shape_bytes(shape); i++)
                hash = (hash ^ ((const unsigned char *)batch.tensor[k].host)[i]) * UINT64_C(1099511628211);
        }
        if (print && (epoch->pipeline || epoch->config.pack_row))
            printf(" =%08" PRIx64, hash >> 32);
        if (print)
            printf(batch.last ? " ||" : " |");
        lade_loader_release(run->loader, &batch);
    }
    must(status, most ? LADE_OK : LADE_CLOSED);
}

static void print_orders(void)
{
    for (size_t i = 0; i < sizeof epochs / sizeof *epochs; i++) {
        struct running run = begin(&epochs[i], NULL);
        printf("%s:", epochs[i].name);
        take(&epochs[i], &run, epochs[i].most, true);
        printf("\n");
        end(&run);
    }
    static const char *const stores[] = {"exact", "pure", "compact", "arrays"};
    for (unsigned store = 0; store < 4; store++) {
        at = stores[store];
        struct lade_split *stored = split_of(store < 2 ? LADE_SPLIT_HASH : LADE_SPLIT_COIN, store);
        printf("split, ");
        print_parts(at, stored);
        lade_split_destroy(stored);
    }
    struct lade_split *split = split_of(LADE_SPLIT_HASH, LADE_SPLIT_PURE);
    printf("folds:");
    for (uint64_t key = 0; key < SAMPLES; key++) {
        unsigned fold;
        must(lade_split_fold(split, &(struct lade_split_item){.key = &key, .key_size = sizeof key}, 5, &fold), LADE_OK);
        printf(" %u", fold);
    }
    printf("\n");
    lade_split_destroy(split);
}

/* Files */

static bool to_file(void *file, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, file) == size;
}
static bool from_file(void *file, void *bytes, size_t size)
{
    return fread(bytes, 1, size, file) == size;
}

static struct lade_table *table(enum lade_table_kind kind)
{
    struct lade_table *t;
    must(lade_table_create(&t, &(struct lade_table_config){.kind = kind}), LADE_OK);
    return t;
}

static struct lade_bag_handle *bag(struct lade_bag **made, bool records)
{
    struct lade_bag_handle *handle;
    const struct lade_bag_config config = {
        .capacity = 8,
        .handles = 1,
        .kind = records ? LADE_BAG_RECORDS : LADE_BAG_WORDS,
        .record_size = records ? 24 : 0,
    };
    must(lade_bag_create(made, &config), LADE_OK);
    must(lade_bag_join(*made, &handle), LADE_OK);
    return handle;
}

/* The name of its file. */
static const char *state_name(const struct epoch *epoch)
{
    static char name[128];
    size_t size = (size_t)snprintf(name, sizeof name, "state-%s", epoch->name);
    for (size_t i = 0; i < size; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-", name[i]))
            name[i] = '_';
    return name;
}

static void write_states(void)
{
    for (size_t i = 0; i < sizeof epochs / sizeof *epochs; i++) {
        struct running run = begin(&epochs[i], NULL);
        take(&epochs[i], &run, 1, false);
        must(lade_loader_save(run.loader, in_folder(state_name(&epochs[i])), NULL), LADE_OK);
        end(&run);
    }
}

/* Three shards after a batch each, as one state. */
static void write_merged(void)
{
    struct epoch epoch = epochs[0];
    char states[3][1024], merged[4096];

    for (unsigned shard = 0; shard < 3; shard++) {
        epoch.config.shard = shard;
        epoch.config.shards = 3;
        struct running run = begin(&epoch, NULL);
        take(&epoch, &run, 1, false);
        size_t size = lade_loader_state(run.loader, states[shard], sizeof states[shard]);
        must(size > 0 && size <= sizeof states[shard] ? LADE_OK : LADE_LIMITED, LADE_OK);
        end(&run);
    }
    const char *const all[3] = {states[0], states[1], states[2]};
    size_t size = lade_loader_merge_states(all, 3, merged, sizeof merged, NULL, NULL);
    must(size > 0 && size <= sizeof merged ? LADE_OK : LADE_LIMITED, LADE_OK);
    FILE *file = open_in_folder("state-merged", "w");
    (void)fprintf(file, "%s\n", merged);
    (void)fclose(file);
}

static void write_splits(void)
{
    static const struct {
        const char *name;
        enum lade_split_rule rule;
        enum lade_split_store store;
    } kinds[] = {
        {"split-exact", LADE_SPLIT_HASH, LADE_SPLIT_EXACT},   {"split-coin", LADE_SPLIT_COIN, LADE_SPLIT_EXACT},
        {"split-pure", LADE_SPLIT_HASH, LADE_SPLIT_PURE},     {"split-compact", LADE_SPLIT_COIN, LADE_SPLIT_COMPACT},
        {"split-arrays", LADE_SPLIT_COIN, LADE_SPLIT_ARRAYS}, {"split-quota", LADE_SPLIT_QUOTA, LADE_SPLIT_EXACT}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        at = kinds[i].name;
        struct lade_split *split = split_of(kinds[i].rule, kinds[i].store);
        for (uint64_t key = 0; key < SAMPLES / 2; key++) {
            unsigned part;
            must(lade_split_route_word(split, key, &part), LADE_OK);
        }
        must(lade_split_save(split, in_folder(at), NULL), LADE_OK);
        lade_split_destroy(split);
    }
}

static void write_files(void)
{
    struct lade_table *words = table(LADE_TABLE_WORDS), *bytes = table(LADE_TABLE_BYTES);
    struct lade_bag *made;

    for (uint64_t i = 0; i < 20; i++) {
        char key[16];
        must(lade_table_insert(words, i * i * UINT64_C(0x9e3779b97f4a7c15), i, NULL), LADE_OK);
        must(lade_table_insert_bytes(bytes, key, (size_t)snprintf(key, sizeof key, "key %" PRIu64, i), i, NULL),
             LADE_OK);
    }
    must(lade_table_save(words, in_folder(at = "table-words"), NULL), LADE_OK);
    must(lade_table_save(bytes, in_folder(at = "table-bytes"), NULL), LADE_OK);
    lade_table_destroy(words);
    lade_table_destroy(bytes);
    for (int records = 0; records < 2; records++) {
        struct lade_bag_handle *handle = bag(&made, records);
        for (uint64_t i = 0; i < 6; i++)
            must(lade_bag_put(handle, (uint64_t[]){i + 1, i * 2, i * 3}), LADE_OK);
        FILE *file = open_in_folder(at = records ? "bag-records" : "bag-words", "wb");
        must(lade_bag_snapshot(handle, to_file, file, NULL), LADE_OK);
        (void)fclose(file);
        lade_bag_leave(handle);
        lade_bag_destroy(made);
    }
    write_splits();
    write_states();
    write_merged();
}

static void print_table(const char *name, enum lade_table_kind kind)
{
    struct lade_table *t = table(kind);
    uint64_t value;

    must(lade_table_load(t, in_folder(at = name), NULL), LADE_OK);
    printf("%s:", name);
    for (uint64_t i = 0; i < 20; i++) {
        char key[16];
        int size = snprintf(key, sizeof key, "key %" PRIu64, i);
        must(kind == LADE_TABLE_WORDS ? lade_table_get(t, i * i * UINT64_C(0x9e3779b97f4a7c15), &value)
                                      : lade_table_get_bytes(t, key, (size_t)size, &value),
             LADE_OK);
        printf(" %" PRIu64, value);
    }
    struct lade_table_stats stats;
    must(lade_table_stats(t, &stats), LADE_OK);
    printf(" of %" PRIu64 "\n", stats.keys);
    lade_table_destroy(t);
}

static bool print_element(void *words, const void *element)
{
    for (int i = 0; i < *(int *)words; i++)
        printf(" %" PRIu64, ((const uint64_t *)element)[i]);
    return true;
}

static void print_bag(const char *name, bool records)
{
    struct lade_bag *made;
    struct lade_bag_handle *handle = bag(&made, records);
    FILE *file = open_in_folder(at = name, "rb");

    must(lade_bag_restore(handle, from_file, file, NULL), LADE_OK);
    (void)fclose(file);
    printf("%s:", name);
    must(lade_bag_for_each(handle, print_element, &(int){records ? 3 : 1}, NULL), LADE_OK);
    printf("\n");
    lade_bag_leave(handle);
    lade_bag_destroy(made);
}

static void print_split(const char *name)
{
    struct lade_split *split;
    struct lade_split_found found;

    must(lade_split_load(&split, in_folder(at = name), NULL, NULL), LADE_OK);
    printf("%s:", name);
    for (uint64_t key = 0; key < SAMPLES / 2; key++) {
        const struct lade_split_item item = {.key = &key, .key_size = sizeof key};
        int status = lade_split_find(split, &item, &found); /* which only stores with names have */
        must(status == LADE_INVALID ? lade_split_route(split, &item, &found.key) : status, LADE_OK);
        printf(" %u", found.key);
    }
    printf("\n");
    lade_split_destroy(split);
}

/* The rest of an epoch, from its state in a file. */
static void print_rest(const struct epoch *epoch, const char *file)
{
    char state[4096];

    at = file;
    size_t size = lade_loader_read_state(in_folder(file), state, sizeof state, NULL, NULL);
    must(size > 0 && size <= sizeof state ? LADE_OK : LADE_IO, LADE_OK);
    struct running run = begin(epoch, state);
    printf("%s:", file);
    take(epoch, &run, epoch->most ? 1 : 0, true);
    printf("\n");
    end(&run);
}

static void print_files(void)
{
    static const char *const splits[] = {"split-exact",   "split-coin",   "split-pure",
                                         "split-compact", "split-arrays", "split-quota"};

    print_table("table-words", LADE_TABLE_WORDS);
    print_table("table-bytes", LADE_TABLE_BYTES);
    print_bag("bag-words", false);
    print_bag("bag-records", true);
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++)
        print_split(splits[i]);
    for (size_t i = 0; i < sizeof epochs / sizeof *epochs; i++)
        print_rest(&epochs[i], state_name(&epochs[i]));
    struct epoch half = epochs[0];
    half.config.shards = 2;
    print_rest(&half, "state-merged");
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (unsigned char)(i * 31 + i / 7);
    for (int i = 0; i < SAMPLES; i++) {
        labels[i] = (uint8_t)(i % 5);
        offsets[i + 1] = offsets[i] + i * 5 % 8;
        for (int step = offsets[i]; step < offsets[i + 1]; step++)
            steps[step] = i * 100 + step;
    }
    folder = argc == 3 ? argv[2] : NULL;
    if (argc == 2 && strcmp(argv[1], "orders") == 0)
        print_orders();
    else if (argc == 3 && strcmp(argv[1], "write") == 0)
        write_files();
    else if (argc == 3 && strcmp(argv[1], "read") == 0)
        print_files();
    else
        return fprintf(stderr, "usage: recorded orders | write DIR | read DIR\n"), 2;
    return 0;
}
