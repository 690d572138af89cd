/* SPDX-License-Identifier: MIT */
/*
 * Uses every function that takes a struct with its size. After each struct lie bytes that the library must neither read nor
 * write: compiled with the headers of one version, this runs with the libraries of another. With -DLADE_GROWN it is
 * compiled with headers whose structs have one more array, lade_grown, and runs with libraries that do not know it.
 */
#include <lade/arrow.h>
#include <lade/convert.h>
#include <lade/feeder.h>
#include <lade/gpu.h>
#include <lade/lade.h>
#include <lade/loader.h>
#include <lade/mixture.h>
#include <lade/report.h>
#include <stdio.h>
#include <string.h>

enum { GUARD = 256 };

static unsigned failures;

static void expect(bool holds, const char *what)
{
    if (!holds)
        fprintf(stderr, "does not hold: %s\n", what);
    failures += !holds;
}
#define EXPECT(condition) expect(condition, #condition)

/* GUARDED(type, name): a struct of zeros with bytes after it that are not zero. */
#define GUARDED(type, name)                                                                                            \
    struct {                                                                                                           \
        type it;                                                                                                       \
        unsigned char guard[GUARD];                                                                                    \
    } name;                                                                                                            \
    memset(&name.it, 0, sizeof name.it);                                                                               \
    memset(name.guard, 0xa5, GUARD)

static bool is_intact(const unsigned char *guard)
{
    for (int i = 0; i < GUARD; i++)
        if (guard[i] != 0xa5)
            return false;
    return true;
}
#define INTACT(name) expect(is_intact(name.guard), "bytes behind " #name " are unchanged")

/* REFUSED(name, call): with a field that the libraries do not know, the call is refused; without it, it is done. */
#ifdef LADE_GROWN
#define REFUSED(name, call)                                                                                            \
    do {                                                                                                               \
        name.it.lade_grown[1] = 1;                                                                                     \
        EXPECT((call) == LADE_INVALID);                                                                                \
        name.it.lade_grown[1] = 0;                                                                                     \
    } while (0)
/* What the libraries do not fill is zero. */
#define FILLED(name, call)                                                                                             \
    do {                                                                                                               \
        memset(&name.it, 0xa5, sizeof name.it);                                                                        \
        EXPECT((call) == LADE_OK);                                                                                     \
        EXPECT(name.it.lade_grown[0] == 0 && name.it.lade_grown[3] == 0);                                              \
    } while (0)
#else
#define REFUSED(name, call) (void)0
#define FILLED(name, call) EXPECT((call) == LADE_OK)
#endif

static void use_bag(void)
{
    struct lade_bag *bag = NULL;
    GUARDED(struct lade_bag_config, config);
    GUARDED(struct lade_bag_stats, counts);

    config.it.capacity = 3;
    config.it.handles = 1;
    REFUSED(config, lade_bag_create(&bag, &config.it));
    EXPECT(lade_bag_create(&bag, &config.it) == LADE_OK);
    FILLED(counts, (lade_bag_stats(bag, &counts.it), LADE_OK));
    EXPECT(counts.it.put == 0 && counts.it.scanned == 0);
    INTACT(counts);
    lade_bag_destroy(bag);
}

static void use_rings(void)
{
    struct lade_spsc *spsc = NULL;
    struct lade_mpmc *mpmc = NULL;
    GUARDED(struct lade_ring_config, config);

    config.it.capacity = 3;
    REFUSED(config, lade_spsc_create(&spsc, &config.it));
    EXPECT(lade_spsc_create(&spsc, &config.it) == LADE_OK);
    config.it.handles = 1;
    REFUSED(config, lade_mpmc_create(&mpmc, &config.it));
    EXPECT(lade_mpmc_create(&mpmc, &config.it) == LADE_OK);
    EXPECT(lade_spsc_count(spsc) == 0 && lade_mpmc_count(mpmc) == 0);
    lade_spsc_destroy(spsc);
    lade_mpmc_destroy(mpmc);
}

static void use_table(void)
{
    struct lade_table *table = NULL;
    GUARDED(struct lade_table_config, config);
    GUARDED(struct lade_table_stats, stats);

    REFUSED(config, lade_table_create(&table, &config.it));
    EXPECT(lade_table_create(&table, &config.it) == LADE_OK && lade_table_insert(table, 7, 1, NULL) == LADE_OK);
    FILLED(stats, lade_table_stats(table, &stats.it));
    EXPECT(stats.it.keys == 1 && stats.it.growths == 0);
    INTACT(stats);
    lade_table_destroy(table);
}

static void use_split(void)
{
    static const uint64_t count[4] = {10, 10, 10, 10};
    struct lade_split *split = NULL;
    GUARDED(struct lade_split_config, config);
    GUARDED(struct lade_split_stats, stats);
    GUARDED(struct lade_split_tests, tests);

    config.it.parts = 2;
    REFUSED(config, lade_split_create(&split, &config.it, NULL));
    EXPECT(lade_split_create(&split, &config.it, NULL) == LADE_OK);
    FILLED(stats, lade_split_stats(split, &stats.it, NULL));
    EXPECT(stats.it.keys == 0);
    FILLED(config, (lade_split_get_config(split, &config.it), LADE_OK));
    EXPECT(config.it.parts == 2);
    FILLED(tests, lade_split_audit(count, 2, 2, NULL, &tests.it));
    EXPECT(tests.it.least == 10);
    INTACT(stats);
    INTACT(config);
    INTACT(tests);
    lade_split_destroy(split);
}

static int write_nothing(void *context, const char *text, size_t size)
{
    (void)text;
    *(size_t *)context += size;
    return LADE_OK;
}

static void use_report(void)
{
    size_t written = 0;
    GUARDED(struct lade_report, report);
    GUARDED(struct lade_report_times, times);

    report.it.seconds = 1;
    report.it.running_time = 1;
    report.it.samples = 7;
    REFUSED(report, lade_report_json(&report.it, write_nothing, &written));
    EXPECT(lade_report_json(&report.it, write_nothing, &written) == LADE_OK && written > 0);
    REFUSED(report, lade_report_compute(&report.it, &times.it));
    FILLED(times, lade_report_compute(&report.it, &times.it));
    EXPECT(times.it.samples_rate > 6.5 && times.it.samples_rate < 7.5);
    INTACT(times);
}

static int read_nothing(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    (void)self, (void)error;
    *(unsigned char *)to = (unsigned char)i;
    if (label)
        *label = LADE_NO_LABEL;
    return LADE_OK;
}

static void use_sources(void)
{
    static const unsigned char bytes[6];
    struct lade_source *source = NULL;
    struct lade_source_column column = {.values = NULL};
    GUARDED(struct lade_source_array, array);
    GUARDED(struct lade_source_arrays, arrays);
    GUARDED(struct lade_source_synthetic, synthetic);
    GUARDED(struct lade_source_arrow, arrow);
    GUARDED(struct lade_source_ops, ops);
    GUARDED(struct lade_source_info, info);

    array.it.samples = bytes;
    array.it.count = 6;
    array.it.shape.dtype = LADE_U8;
    REFUSED(array, lade_source_open_array(&source, &array.it, NULL));
    EXPECT(lade_source_open_array(&source, &array.it, NULL) == LADE_OK);
    lade_source_close(source);
    column.field.name = "bytes";
    column.field.dtype = LADE_U8;
    column.values = bytes;
    arrays.it.count = 6;
    arrays.it.column = &column;
    arrays.it.columns = 1;
    REFUSED(arrays, lade_source_open_arrays(&source, &arrays.it, NULL));
    EXPECT(lade_source_open_arrays(&source, &arrays.it, NULL) == LADE_OK);
    lade_source_close(source);
    REFUSED(arrow, lade_source_open_arrow(&source, &arrow.it, NULL));
    EXPECT(lade_source_open_arrow(&source, &arrow.it, NULL) == LADE_INVALID); /* no stream */
    FILLED(synthetic, (lade_source_synthetic_default(&synthetic.it), LADE_OK));
    INTACT(synthetic);
    REFUSED(synthetic, lade_source_open_synthetic(&source, &synthetic.it, NULL));
    EXPECT(lade_source_open_synthetic(&source, &synthetic.it, NULL) == LADE_OK);
    GUARDED(struct lade_source_mixture, mixture);
    struct lade_source *mixed;
    const uint32_t weight = 1;
    mixture.it.source = &source;
    mixture.it.weight = &weight;
    mixture.it.sources = 1;
    mixture.it.owned = true;
    REFUSED(mixture, lade_source_open_mixture(&mixed, &mixture.it, NULL));
    EXPECT(lade_source_open_mixture(&mixed, &mixture.it, NULL) == LADE_OK);
    lade_source_close(mixed);
    ops.it.read = read_nothing;
    info.it.kind = "nothing";
    info.it.count = 4;
    info.it.shape.dtype = LADE_U8;
    info.it.bytes = 1;
    REFUSED(ops, lade_source_open_custom(&source, &ops.it, NULL, &info.it, NULL, NULL));
    REFUSED(info, lade_source_open_custom(&source, &ops.it, NULL, &info.it, NULL, NULL));
    EXPECT(lade_source_open_custom(&source, &ops.it, NULL, &info.it, NULL, NULL) == LADE_OK);
    EXPECT(lade_source_info(source)->count == 4);
    lade_source_close(source);
}

static void use_loader(void)
{
    struct lade_source *source = NULL;
    struct lade_loader *loader = NULL;
    struct lade_device *device = NULL;
    char state[4096];
    GUARDED(struct lade_loader_config, config);
    GUARDED(struct lade_device_config, device_config);
    GUARDED(struct lade_batch, batch);
    GUARDED(struct lade_loader_stats, stats);

    EXPECT(lade_source_open(&source, "synthetic:count=100,shape=8", NULL, NULL) == LADE_OK);
    REFUSED(device_config, lade_device_open(&device, &device_config.it, NULL));
    EXPECT(lade_device_open(&device, &device_config.it, NULL) == LADE_OK);
    config.it.source = source;
    config.it.batch = 10;
    config.it.threads = 1;
    config.it.device = device;
    REFUSED(config, lade_loader_create(&loader, &config.it, NULL));
    EXPECT(lade_loader_create(&loader, &config.it, NULL) == LADE_OK);
    FILLED(batch, lade_loader_next(loader, &batch.it, LADE_FOREVER, NULL));
    EXPECT(batch.it.count == 10 && batch.it.memory);
    INTACT(batch);
    lade_loader_release(loader, &batch.it);
    FILLED(stats, (lade_loader_stats(loader, &stats.it), LADE_OK));
    EXPECT(stats.it.delivered == 1 && stats.it.samples == 100);
    INTACT(stats);
    EXPECT(lade_loader_state(loader, state, sizeof state) <= sizeof state);
    lade_loader_destroy(loader);
    REFUSED(config, lade_loader_resume(&loader, &config.it, state, NULL));
    EXPECT(lade_loader_resume(&loader, &config.it, state, NULL) == LADE_OK);
    lade_loader_destroy(loader);
    lade_device_close(device);
    lade_source_close(source);
}

static int fill(void *self, struct lade_feeder_slot *slot, struct lade_error *error)
{
    (void)self, (void)error;
    memset(slot->data[0], 1, slot->bytes[0]);
    return LADE_OK;
}

static void use_feeder(void)
{
    struct lade_shape shape = {.dtype = LADE_U8, .dims = 1, .dim = {64}};
    struct lade_feeder *feeder = NULL;
    GUARDED(struct lade_feeder_config, config);
    GUARDED(struct lade_feeder_batch, batch);
    GUARDED(struct lade_feeder_stats, stats);

    config.it.fill = fill;
    config.it.tensors = 1;
    config.it.shape = &shape;
    REFUSED(config, lade_feeder_create(&feeder, &config.it, NULL));
    EXPECT(lade_feeder_create(&feeder, &config.it, NULL) == LADE_OK);
    FILLED(batch, lade_feeder_next(feeder, &batch.it, LADE_FOREVER, NULL));
    EXPECT(batch.it.rows == 64);
    INTACT(batch);
    EXPECT(lade_feeder_release(feeder, &batch.it, LADE_DONE_NOW, NULL, NULL) == LADE_OK);
    FILLED(stats, (lade_feeder_stats(feeder, &stats.it), LADE_OK));
    EXPECT(stats.it.taken == 1);
    INTACT(stats);
    lade_feeder_destroy(feeder);
}

static void use_converter(void)
{
    static const float table[2] = {1, 0};
    struct lade_converter *converter = NULL;
    GUARDED(struct lade_converter_config, config);

    config.it.pixels = 1;
    config.it.channels = 1;
    config.it.dtype = LADE_F32;
    config.it.table = table;
    REFUSED(config, lade_converter_create(&converter, &config.it, NULL));
    EXPECT(lade_converter_create(&converter, &config.it, NULL) == LADE_OK);
    lade_converter_destroy(converter);
}

int main(void)
{
    EXPECT(lade_thread_enter() == LADE_OK);
    use_bag();
    use_rings();
    use_table();
    use_split();
    use_sources();
    use_report();
    use_loader();
    use_feeder();
    use_converter();
    lade_thread_leave();
    return failures != 0;
}
