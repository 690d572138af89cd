/* SPDX-License-Identifier: MIT */
/*
 * dump-source SOURCE: fields and samples of a source as text, for tests in other languages.
 * dump-source SOURCE SEED PART [THREADS]: the batches of a loader, of one part of two or of "all": labels and samples.
 */
#include <lade/loader.h>
#include <lade/source.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(const char *what, const struct lade_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->text);
    return 1;
}

static void print_hex(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
}

static void print_schema(struct lade_source *source)
{
    const struct lade_schema *schema = lade_source_schema(source);
    const struct lade_source_info *info = lade_source_info(source);

    printf("count %llu classes %llu label %d\n", (unsigned long long)info->count, (unsigned long long)info->classes,
           schema->label);
    for (unsigned f = 0; f < schema->fields; f++) {
        const struct lade_field *field = &schema->field[f];
        printf("field %s %s %llu", field->name, lade_dtype_name(field->dtype), (unsigned long long)field->ragged_max);
        for (unsigned d = 0; d < field->dims; d++)
            printf(" %llu", (unsigned long long)field->dim[d]);
        puts("");
    }
}

/* One line for each sample: its key, and each field in hexadecimal digits. */
static int print_samples(struct lade_source *source)
{
    const struct lade_schema *schema = lade_source_schema(source);
    struct lade_view views[LADE_FIELDS_MAX];
    struct lade_error error;
    int code = 0;

    for (uint64_t i = 0; i < lade_source_info(source)->count && code == 0; i++) {
        uint64_t steps[LADE_FIELDS_MAX];
        for (unsigned f = 0; f < schema->fields; f++) {
            if (lade_source_length(source, i, f, &steps[f], &error) != LADE_OK)
                return failed("length", &error);
            views[f] = (struct lade_view){malloc(steps[f] * lade_field_bytes(&schema->field[f]) + 1), 0, steps[f]};
        }
        if (lade_source_read_fields(source, i, views, &error) != LADE_OK)
            code = failed("read", &error);
        printf("%llx", (unsigned long long)lade_source_key(source, i));
        for (unsigned f = 0; f < schema->fields; f++) {
            putchar(' ');
            print_hex(views[f].data, code ? 0 : steps[f] * lade_field_bytes(&schema->field[f]));
            free(views[f].data);
        }
        puts("");
    }
    return code;
}

static int print_batches(struct lade_source *source, uint64_t seed, const char *part, unsigned threads)
{
    static const uint32_t weights[2] = {3, 1};
    const struct lade_split_config halves = {.parts = 2, .weights = weights, .store = LADE_SPLIT_PURE, .seed = seed};
    struct lade_split *split;
    struct lade_loader *loader;
    struct lade_batch batch;
    struct lade_error error = {.text = "out of memory"};

    if (lade_split_create(&split, &halves, NULL) != LADE_OK)
        return failed("split", &error);
    const struct lade_loader_config config = {.source = source,
                                              .split = strcmp(part, "all") ? split : NULL,
                                              .part = strcmp(part, "all") ? (unsigned)strtoul(part, NULL, 10) : 0,
                                              .batch = 32,
                                              .in_order = true,
                                              .epochs = 2,
                                              .seed = seed,
                                              .threads = threads};
    if (lade_loader_create(&loader, &config, &error) != LADE_OK) {
        lade_split_destroy(split);
        return failed("loader", &error);
    }
    int status;
    while ((status = lade_loader_next(loader, &batch, LADE_FOREVER, &error)) == LADE_OK) {
        for (uint64_t i = 0; i < batch.count; i++) {
            printf("%lld ", (long long)batch.labels[i]);
            print_hex((uint8_t *)batch.samples + i * batch.sample_bytes, batch.sample_bytes);
            puts("");
        }
        puts("");
        lade_loader_release(loader, &batch);
    }
    lade_loader_destroy(loader);
    lade_split_destroy(split);
    return status == LADE_CLOSED ? 0 : failed("next", &error);
}

int main(int argc, char **argv)
{
    struct lade_source *source;
    struct lade_error error;
    int code = 0;

    if (argc != 2 && argc != 4 && argc != 5)
        return 2;
    if (lade_source_open(&source, argv[1], NULL, &error) != LADE_OK)
        return failed("open", &error);
    if (argc > 2) {
        code = print_batches(source, strtoull(argv[2], NULL, 10), argv[3],
                             argc == 5 ? (unsigned)strtoul(argv[4], NULL, 10) : 0);
    } else {
        print_schema(source);
        code = print_samples(source);
    }
    lade_source_close(source);
    return code;
}
