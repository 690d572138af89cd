/* SPDX-License-Identifier: MIT */
/* Sources of Arrow streams: every type, nulls, slices, errors, windows, and that everything is released once. */
#define _GNU_SOURCE
#include <lade/loader.h>

#include "../../lib/test/allocator.h"
#include "arrows.h"
#include "members.h"
#include "source.h"
#include "test/forked.h"

#include <pthread.h>
#include <stdatomic.h>

static void setup(void)
{
    schemas_live = arrays_live = streams_live = released_twice = 0;
}

static void all_released(void)
{
    cr_assert_eq(schemas_live, 0);
    cr_assert_eq(arrays_live, 0);
    cr_assert_eq(streams_live, 0);
    cr_assert_eq(released_twice, 0);
}

static int open_made(struct lade_source **source, struct made *made, struct lade_source_arrow *config,
                     struct lade_error *error)
{
    struct ArrowArrayStream stream = stream_of(made);

    config->stream = &stream;
    int status = lade_source_open_arrow(source, config, error);
    cr_assert_null(stream.release, "the stream is moved");
    return status;
}

static struct lade_source *opened(struct made *made, struct lade_source_arrow config)
{
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(open_made(&source, made, &config, &error), LADE_OK, "%s", error.text);
    return source;
}

static void is_refused(struct made *made, struct lade_source_arrow config, int status, const char *words)
{
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(open_made(&source, made, &config, &error), status, "%s", error.text);
    cr_assert_null(source);
    cr_assert_not_null(strstr(error.text, words), "'%s', not '%s'", error.text, words);
    all_released();
}

/* Every type. Two batches, of 4 rows and of 2; most arrays are slices that begin at slot 1. */
static const int32_t id_values[] = {99, 10, 11, 12, 13, 14, 15};
static const uint8_t flags[] = {0x16}; /* slots 1, 2 and 4 */
static const float vectors[][2] = {{9, 9}, {0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}};
static const int32_t word_offsets[] = {0, 1, 3, 3, 6, 7, 7, 9};
static const int16_t words[] = {-1, 1, 2, 3, 4, 5, 6, 7, 8};
static const int64_t text_offsets[] = {0, 0, 2, 2, 5, 6, 6, 6};
static const char text[] = "abcdef";
static const int8_t colours[] = {0, 1, 0, 1, 0, 2, 1};
static const char colour_names[2][16] = {"redblue", "bluegreenred"};
static const int32_t colour_offsets[2][4] = {{0, 3, 7, 7}, {0, 4, 9, 12}};
static const uint16_t inner[] = {0, 0, 500, 501, 502, 503, 504, 505};
static const uint8_t codes[] = "..AABBCCDDEEFF";

static struct ArrowSchema every_schema(void)
{
    struct ArrowSchema table = schema_of("+s", ""), v = schema_of("+w:2", "v"), w = schema_of("+l", "words"),
                       colour = schema_of("c", "colour"), s = schema_of("+s", "s");

    add_schema(&table, schema_of("i", "id"));
    add_schema(&table, schema_of("b", "flag"));
    add_schema(&v, schema_of("f", "item"));
    add_schema(&table, v);
    add_schema(&w, schema_of("s", "item"));
    add_schema(&table, w);
    add_schema(&table, schema_of("U", "text"));
    set_dictionary_schema(&colour, schema_of("u", NULL));
    add_schema(&table, colour);
    add_schema(&s, schema_of("S", "inner"));
    add_schema(&s, schema_of("w:2", "code"));
    add_schema(&table, s);
    return table;
}

static struct ArrowArray every_batch(int number)
{
    const int64_t rows = number ? 2 : 4, at = number ? 5 : 1;
    struct ArrowArray table = array_of(rows, 0, 0, 1, NULL), v = array_of(rows, at, 0, 1, NULL),
                      w = array_of(rows, at, 0, 2, NULL, word_offsets),
                      colour = array_of(rows, at, 0, 2, NULL, colours), s = array_of(rows, at, 0, 1, NULL);

    add_array(&table, array_of(rows, at, 0, 2, NULL, id_values));
    add_array(&table, array_of(rows, at, 0, 2, NULL, flags));
    add_array(&v, array_of(14, 0, 0, 2, NULL, vectors));
    add_array(&table, v);
    add_array(&w, array_of(9, 0, 0, 2, NULL, words));
    add_array(&table, w);
    add_array(&table, array_of(rows, at, 0, 3, NULL, text_offsets, text));
    set_dictionary(&colour, array_of(3, 0, 0, 3, NULL, colour_offsets[number], colour_names[number]));
    add_array(&table, colour);
    add_array(&s, array_of(7, 1, 0, 2, NULL, inner));
    add_array(&s, array_of(7, 0, 0, 2, NULL, codes));
    add_array(&table, s);
    return table;
}

static void check_every(struct lade_source *source)
{
    /* red, blue and "" are the names of the first batch, green comes with the second. */
    static const int32_t colour[] = {1, 0, 1, 0, 0, 3};

    cr_assert_eq(lade_source_info(source)->count, 6);
    check_field(source, 0, "id", LADE_I32, 0, 0, 0);
    check_field(source, 1, "flag", LADE_BOOL, 0, 0, 0);
    check_field(source, 2, "v", LADE_F32, 1, 2, 0);
    check_field(source, 3, "words", LADE_I16, 0, 0, 3);
    check_field(source, 4, "text", LADE_U8, 0, 0, 3);
    check_field(source, 5, "colour", LADE_I32, 0, 0, 0);
    check_field(source, 6, "s.inner", LADE_U16, 0, 0, 0);
    check_field(source, 7, "s.code", LADE_U8, 1, 2, 0);
    for (uint64_t i = 0; i < 6; i++) {
        const uint8_t flag = i == 0 || i == 1 || i == 3;
        uint64_t length;
        has(source, i, 0, &id_values[i + 1], 4);
        has(source, i, 1, &flag, 1);
        has(source, i, 2, vectors[i + 1], 8);
        cr_assert_eq(lade_source_length(source, i, 3, &length, NULL), LADE_OK);
        cr_assert_eq(length, (uint64_t)(word_offsets[i + 2] - word_offsets[i + 1]));
        has(source, i, 3, &words[word_offsets[i + 1]], length * 2);
        has(source, i, 4, &text[text_offsets[i + 1]], (size_t)(text_offsets[i + 2] - text_offsets[i + 1]));
        has(source, i, 5, &colour[i], 4);
        has(source, i, 6, &inner[i + 2], 2);
        has(source, i, 7, &codes[2 * i + 2], 2);
    }
}

Test(source_arrow, every_type, .init = setup, .fini = all_released)
{
    struct made made = {.schema = every_schema, .batch = every_batch, .batches = 2};
    struct lade_source *source =
        opened(&made, (struct lade_source_arrow){.label = "colour", .key = "id", .group = "text"});

    check_every(source);
    cr_assert_eq(lade_source_info(source)->classes, 4);
    cr_assert_str_eq(lade_source_info(source)->class_names[3], "green");
    cr_assert_eq(lade_source_key(source, 5), 15);
    cr_assert_neq(lade_source_group(source, 0), lade_source_group(source, 1));
    cr_assert_eq(lade_source_group(source, 1), lade_source_group(source, 4), "the same text, none");
    lade_source_close(source);
}

Test(source_arrow, part_of_list, .init = setup, .fini = all_released)
{
    struct made made = {.schema = every_schema, .batch = every_batch, .batches = 2};
    struct lade_source *source = opened(&made, (struct lade_source_arrow){.label = NULL});
    int16_t to[2] = {0};
    struct lade_view views[8] = {[3] = {to, 1, 2}};

    cr_assert_eq(lade_source_read_fields(source, 2, views, NULL), LADE_OK);
    cr_assert(to[0] == 4 && to[1] == 5);
    views[3].from = 2;
    cr_assert_eq(lade_source_read_fields(source, 2, views, NULL), LADE_INVALID);
    lade_source_close(source);
}

Test(source_arrow, chosen_columns, .init = setup, .fini = all_released)
{
    const struct lade_arrow_column columns[] = {{"s.code", false}, {"id", false}}, none[] = {{"nothing", false}},
                                   image[] = {{"id", true}};
    struct made made = {.schema = every_schema, .batch = every_batch, .batches = 2};
    struct lade_source *source =
        opened(&made, (struct lade_source_arrow){.column = columns, .columns = 2, .label = "id"});

    check_field(source, 0, "s.code", LADE_U8, 1, 2, 0);
    has(source, 1, 0, "BB", 2);
    cr_assert_eq(lade_source_info(source)->classes, 16);
    lade_source_close(source);
    is_refused(&made, (struct lade_source_arrow){.column = none, .columns = 1}, LADE_INVALID, "no column 'nothing'");
    is_refused(&made, (struct lade_source_arrow){.column = image, .columns = 1}, LADE_INVALID, "not binary");
    is_refused(&made, (struct lade_source_arrow){.label = "x"}, LADE_INVALID, "names no chosen column");
    is_refused(&made, (struct lade_source_arrow){.label = "v"}, LADE_INVALID, "not one integer");
}

Test(source_arrow, failing_streams, .init = setup, .fini = all_released)
{
    for (int at = -1; at <= 3; at++) {
        struct made made = {.schema = every_schema, .batch = every_batch, .batches = 2, .fails_at = at};
        if (at != 0)
            is_refused(&made, (struct lade_source_arrow){.label = NULL}, LADE_IO, "the disk is on fire");
    }
    struct made empty = {.schema = every_schema, .batch = every_batch};
    is_refused(&empty, (struct lade_source_arrow){.label = NULL}, LADE_INVALID, "no samples");
    struct made large = {.schema = every_schema, .batch = every_batch, .batches = 2};
    is_refused(&large, (struct lade_source_arrow){.memory = 100}, LADE_LIMITED, "more than memory=100 bytes");
}

/* Nulls: rows 1 of x, row 2 of the list itself, an element of row 0 of the list, row 3 of the colour. */
static const uint8_t x_valid[] = {0x0d}, list_valid[] = {0x0b}, item_valid[] = {0x1d}, colour_valid[] = {0x07};
static const double xs[] = {1, 2, 3, 4};
static const int32_t list_offsets[] = {0, 2, 3, 4, 5};
static const int32_t items[] = {1, 2, 3, 4, 5};

static struct ArrowSchema null_schema(void)
{
    struct ArrowSchema table = schema_of("+s", ""), list = schema_of("+l", "list"), colour = schema_of("c", "colour");

    add_schema(&table, schema_of("g", "x"));
    add_schema(&list, schema_of("i", "item"));
    add_schema(&table, list);
    set_dictionary_schema(&colour, schema_of("u", NULL));
    add_schema(&table, colour);
    return table;
}

static struct ArrowArray null_batch(int number)
{
    struct ArrowArray table = array_of(4, 0, 0, 1, NULL), list = array_of(4, 0, -1, 2, list_valid, list_offsets),
                      colour = array_of(4, 0, 1, 2, colour_valid, colours);

    add_array(&table, array_of(4, 0, 1, 2, x_valid, xs));
    add_array(&list, array_of(5, 0, 1, 2, item_valid, items));
    add_array(&table, list);
    set_dictionary(&colour, array_of(2, 0, 0, 3, NULL, colour_offsets[0], colour_names[0]));
    add_array(&table, colour);
    (void)number;
    return table;
}

Test(source_arrow, nulls_fail, .init = setup, .fini = all_released)
{
    struct made made = {.schema = null_schema, .batch = null_batch, .batches = 2};
    struct lade_source *source = opened(&made, (struct lade_source_arrow){.name = "rows"});
    double x;
    struct lade_view views[3] = {{&x, 0, 1}};
    struct lade_error error;

    has(source, 4, 0, &xs[0], 8);
    cr_assert_eq(lade_source_read_fields(source, 5, views, &error), LADE_DAMAGED);
    cr_assert_not_null(strstr(error.text, "rows: column 'x' of sample 5, row 1 of"), "%s", error.text);
    lade_source_close(source);
}

Test(source_arrow, nulls_skip, .init = setup, .fini = all_released)
{
    const struct lade_arrow_column x[] = {{"x", false}}, list[] = {{"list", false}};
    struct made made = {.schema = null_schema, .batch = null_batch, .batches = 2};
    struct lade_source *source =
        opened(&made, (struct lade_source_arrow){.nulls = LADE_NULLS_SKIP, .column = x, .columns = 1});

    cr_assert_eq(lade_source_info(source)->count, 6);
    has(source, 4, 0, &xs[2], 8);
    lade_source_close(source);
    source = opened(&made, (struct lade_source_arrow){.nulls = LADE_NULLS_SKIP, .column = list, .columns = 1});
    cr_assert_eq(lade_source_info(source)->count, 4, "row 0 has an element that is null, row 2 is null");
    has(source, 0, 0, &items[2], 4);
    lade_source_close(source);
    is_refused(&made, (struct lade_source_arrow){.nulls = LADE_NULLS_SKIP}, LADE_INVALID, "no samples");
}

Test(source_arrow, nulls_fill, .init = setup, .fini = all_released)
{
    struct made made = {.schema = null_schema, .batch = null_batch, .batches = 1};
    struct lade_source *source = opened(&made, (struct lade_source_arrow){.nulls = LADE_NULLS_FILL, .fill = 7});
    uint64_t length;

    has(source, 1, 0, (double[]){7}, 8);
    has(source, 0, 1, (int32_t[]){1, 7}, 8);
    cr_assert_eq(lade_source_length(source, 2, 1, &length, NULL), LADE_OK);
    cr_assert_eq(length, 0);
    int32_t item;
    struct lade_view views[3] = {[1] = {&item, 0, 1}};
    struct lade_error error;
    cr_assert_eq(source->read_many(source->self, (uint64_t[]){2}, 1, views, &error), LADE_INVALID);
    cr_assert_not_null(strstr(error.text, "column 'list' of sample 2 has 0 steps"), "%s", error.text);
    has(source, 3, 2, (int32_t[]){7}, 4);
    has(source, 1, 2, (int32_t[]){1}, 4);
    lade_source_close(source);
    is_refused(&made, (struct lade_source_arrow){.nulls = LADE_NULLS_FILL, .fill = 0.5}, LADE_INVALID,
               "column 'list' cannot have the value");
}

/* Each breaks one thing of a batch that is right. */
static int breaks;
static struct ArrowArray broken_batch(int number)
{
    static const int32_t falling[] = {0, 2, 1, 4, 5}, negative[] = {-1, 2, 3, 4, 5}, beyond[] = {0, 2, 3, 4, 6};
    static const void *offsets[] = {NULL, NULL};
    struct ArrowArray table = null_batch(number), *x = table.children[0], *list = table.children[1],
                      *colour = table.children[2];

    switch (breaks) {
    case 0:
        x->n_buffers = 3;
        break;
    case 1:
        x->length = 3;
        break;
    case 2:
        x->offset = -1;
        break;
    case 3:
        x->offset = INT64_MAX;
        break;
    case 4:
        x->buffers[1] = NULL;
        break;
    case 5:
        x->null_count = 5;
        break;
    case 6:
        x->null_count = 2, x->buffers[0] = NULL;
        break;
    case 7:
        x->buffers = NULL;
        break;
    case 8:
        list->n_children = 0;
        break;
    case 9:
        list->children = NULL;
        break;
    case 10:
        list->buffers[1] = falling;
        break;
    case 11:
        list->buffers[1] = negative;
        break;
    case 12:
        list->buffers[1] = beyond;
        break;
    case 13:
        list->buffers[1] = offsets[0];
        break;
    case 14:
        list->children[0]->length = 4;
        break;
    case 15:
        list->children[0]->buffers[1] = NULL;
        break;
    case 16:
        colour->dictionary = NULL;
        break;
    case 17:
        colour->dictionary->length = -1;
        break;
    case 18:
        colour->dictionary->buffers[1] = falling;
        break;
    case 19:
        colour->dictionary->buffers[2] = NULL;
        break;
    case 20:
        table.n_children = 2;
        break;
    case 21:
        table.length = -1;
        break;
    case 22:
        table.length = 5;
        break;
    case 23:
        table.offset = 1;
        break;
    case 24:
        table.n_children = -1;
        break;
    case 25:
        x->length = INT64_MAX;
        break;
    default:
        break;
    }
    return table;
}

Test(source_arrow, hostile_arrays, .init = setup, .fini = all_released)
{
    struct made made = {.schema = null_schema, .batch = broken_batch, .batches = 1};

    for (breaks = 0; breaks <= 25; breaks++) {
        struct lade_source_arrow config = {.name = "data"};
        struct lade_source *source;
        struct lade_error error = {.text = "no text"};
        cr_assert_eq(open_made(&source, &made, &config, &error), LADE_DAMAGED, "%d: %s", breaks, error.text);
        cr_assert_not_null(strstr(error.text, "data: "), "%s", error.text);
        cr_assert_not_null(strstr(error.text, "record batch 0"), "%s", error.text);
        all_released();
    }
    lade_source_close(opened(&made, (struct lade_source_arrow){.name = "none of these"}));
}

/* An entry that the dictionary does not have is a fault of its sample. */
static struct ArrowArray odd_entry(int number)
{
    static const int8_t odd[] = {0, -1, 2, 0};
    struct ArrowArray table = null_batch(number);

    table.children[2]->buffers[1] = odd;
    return table;
}

Test(source_arrow, no_entry, .init = setup, .fini = all_released)
{
    struct made made = {.schema = null_schema, .batch = odd_entry, .batches = 1};
    struct lade_source *source = opened(&made, (struct lade_source_arrow){.label = "colour"});
    int64_t label;

    cr_assert_eq(lade_source_label(source, 0, &label, NULL), LADE_OK);
    cr_assert_eq(lade_source_label(source, 1, &label, NULL), LADE_DAMAGED);
    cr_assert_eq(lade_source_label(source, 2, &label, NULL), LADE_DAMAGED);
    lade_source_close(source);
}

static const char *format;
static struct ArrowSchema one_schema(void)
{
    struct ArrowSchema table = schema_of("+s", "");

    add_schema(&table, schema_of(format, "c"));
    return table;
}

Test(source_arrow, types_that_are_no_fields, .init = setup, .fini = all_released)
{
    static const char *const formats[] = {"n",   "d:3,1", "+s.", "+m",   "+r", "vu", "vz", "tiM",
                                          "w:0", "w:",    "w:x", "+w:2", "+l", "",   "ts", "ts?:"};
    struct made made = {.schema = one_schema, .batch = every_batch, .batches = 1};

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        format = formats[i];
        is_refused(&made, (struct lade_source_arrow){.label = NULL}, LADE_INVALID, "column 'c' ");
    }
}

Test(source_arrow, without_memory, .init = setup, .fini = all_released)
{
    int n = 1;

    for (; n < 1000; n++) {
        struct failing f = {.fail_at = n};
        const struct lade_alloc alloc = {failing_get, failing_put, &f};
        struct made made = {.schema = every_schema, .batch = every_batch, .batches = 2};
        struct lade_source_arrow config = {.alloc = &alloc, .nulls = LADE_NULLS_SKIP};
        struct lade_source *source;
        struct lade_error error = {.text = "no text"};
        int status = open_made(&source, &made, &config, &error);
        if (status == LADE_OK)
            check_every(source);
        lade_source_close(source);
        cr_assert(status == LADE_OK || status == LADE_NO_MEMORY, "%d: %s", n, error.text);
        cr_assert_eq(f.live, 0);
        all_released();
        if (f.calls < n)
            break;
    }
    cr_assert(n > 10 && n < 1000, "%d allocations", n);
}

/* Windows: batches of 0 to 6 rows; the rows are numbered through. */
enum { MANY_BATCHES = 40, MANY_ROWS = 120, WINDOW = 4 };

static int rows_before(int batch)
{
    return batch / 7 * 21 + batch % 7 * (batch % 7 - 1) / 2; /* 0, 1, ..., 6, 0, 1, ... rows */
}

static int32_t numbers[MANY_ROWS];
static int32_t number_offsets[MANY_ROWS + 1];

static struct ArrowSchema many_schema(void)
{
    struct ArrowSchema table = schema_of("+s", ""), list = schema_of("+l", "list");

    add_schema(&table, schema_of("i", "id"));
    add_schema(&list, schema_of("i", "item"));
    add_schema(&table, list);
    return table;
}

static struct ArrowArray many_batch(int number)
{
    const int at = rows_before(number), rows = rows_before(number + 1) - at;
    struct ArrowArray table = array_of(rows, 0, 0, 1, NULL), list = array_of(rows, at, 0, 2, NULL, number_offsets);

    add_array(&table, array_of(rows, at, 0, 2, NULL, numbers));
    add_array(&list, array_of(MANY_ROWS, 0, 0, 2, NULL, numbers));
    add_array(&table, list);
    return table;
}

static int reopen_made(void *context, struct ArrowArrayStream *stream)
{
    *stream = stream_of(context);
    return LADE_OK;
}

static struct lade_source *open_windows(struct made *made, unsigned window)
{
    const struct lade_source_arrow config = {
        .memory = 460, .window = window, .reopen = reopen_made, .context = made, .label = NULL};

    *made = (struct made){.schema = many_schema, .batch = many_batch, .batches = MANY_BATCHES};
    for (int i = 0; i < MANY_ROWS; i++) {
        numbers[i] = i;
        number_offsets[i + 1] = number_offsets[i] + i % 2;
    }
    return opened(made, config);
}

/* The ids of two epochs, or of those from a state on; also writes the state after each batch. */
static unsigned take_epochs(struct lade_source *source, unsigned threads, const char *from, uint64_t *ids,
                            char (*states)[1024])
{
    const struct lade_loader_config config = {
        .source = source, .batch = 11, .in_order = true, .epochs = 2, .seed = 3, .threads = threads};
    struct lade_loader *loader;
    struct lade_loader_stats stats;
    struct lade_batch batch;
    struct lade_error error = {.text = "no text"};
    unsigned count = 0, batches = 0;

    int status =
        from ? lade_loader_resume(&loader, &config, from, &error) : lade_loader_create(&loader, &config, &error);
    cr_assert_eq(status, LADE_OK, "%s", error.text);
    while ((status = lade_loader_next(loader, &batch, LADE_FOREVER, &error)) == LADE_OK) {
        const int32_t *id = batch.tensor[0].host, *item = batch.tensor[1].host, *length = batch.tensor[2].host;
        const uint64_t steps = batch.tensor[1].shape->dim[1];
        for (uint64_t i = 0; i < batch.count; i++) {
            cr_assert_eq((uint64_t)id[i], batch.ids[i]);
            cr_assert_eq(length[i], id[i] % 2);
            cr_assert(length[i] == 0 || item[i * steps] == number_offsets[id[i]]);
            ids[count++] = batch.ids[i];
        }
        lade_loader_release(loader, &batch);
        if (states)
            cr_assert_lt(lade_loader_state(loader, states[batches++], sizeof *states), sizeof *states);
    }
    cr_assert_eq(status, LADE_CLOSED, "%s", error.text);
    lade_loader_stats(loader, &stats);
    cr_assert_not_null(strstr(stats.guarantee, "windows in the order of the stream"), "%s", stats.guarantee);
    lade_loader_destroy(loader);
    return count;
}

Test(source_arrow, windows, .init = setup, .fini = all_released)
{
    static uint64_t ids[2 * MANY_ROWS], other[2 * MANY_ROWS];
    static char states[40][1024];
    const unsigned samples = (unsigned)rows_before(MANY_BATCHES);
    unsigned moved = 0;
    struct made made;
    struct lade_source *source = open_windows(&made, WINDOW);

    cr_assert_eq(take_epochs(source, 1, NULL, ids, states), 2 * samples);
    cr_assert_eq(made.opened, 3, "read once to be measured, and once an epoch");
    for (unsigned e = 0; e < 2; e++)
        for (int w = 0; w < MANY_BATCHES / WINDOW; w++) {
            const unsigned from = (unsigned)rows_before(w * WINDOW), end = (unsigned)rows_before((w + 1) * WINDOW);
            bool seen[MANY_ROWS] = {false};
            for (unsigned i = from; i < end; i++) {
                const uint64_t id = ids[e * samples + i];
                cr_assert(id >= from && id < end && !seen[id], "sample %d in window %d", (int)id, w);
                seen[id] = true;
                moved += id != i;
            }
        }
    cr_assert_gt(moved, samples, "about one of ten stays, in windows of 10 samples");
    for (unsigned threads = 2; threads <= 5; threads++) {
        cr_assert_eq(take_epochs(source, threads, NULL, other, NULL), 2 * samples);
        cr_assert_arr_eq(ids, other, 2 * samples * sizeof *ids);
    }
    for (unsigned b = 0; b < 2 * ((samples + 10) / 11) - 1; b++) {
        const unsigned left = take_epochs(source, 1 + b % 3, states[b], other, NULL);
        cr_assert_arr_eq(ids + 2 * samples - left, other, left * sizeof *ids);
    }
    lade_source_close(source);
}

Test(source_arrow, other_windows_are_another_order, .init = setup, .fini = all_released)
{
    static uint64_t ids[2 * MANY_ROWS];
    static char states[40][1024];
    struct made made;
    struct lade_source *source = open_windows(&made, WINDOW);
    struct lade_loader_config config = {.batch = 11, .in_order = true, .epochs = 2, .seed = 3, .threads = 1};
    struct lade_loader *loader;

    (void)take_epochs(source, 1, NULL, ids, states);
    lade_source_close(source);
    config.source = source = open_windows(&made, WINDOW - 1);
    cr_assert_eq(lade_loader_resume(&loader, &config, states[0], NULL), LADE_CONFLICT);
    config.draw = LADE_DRAW_WEIGHTED;
    config.weight = (const double[MANY_ROWS]){1};
    struct lade_error error;
    cr_assert_eq(lade_loader_create(&loader, &config, &error), LADE_INVALID);
    cr_assert_not_null(strstr(error.text, "read in windows"), "%s", error.text);
    lade_source_close(source);
}

/* A stream that is another one the second time. */
static struct ArrowArray shrinking_batch(int number)
{
    struct ArrowArray table = many_batch(number);

    if (breaks > 0 && number == 6) {
        table.release(&table);
        table = many_batch(5);
    }
    return table;
}

Test(source_arrow, changed_stream, .init = setup, .fini = all_released)
{
    struct made made;
    struct lade_source *source = open_windows(&made, WINDOW);
    int32_t id;
    struct lade_view views[2] = {{&id, 0, 1}};
    struct lade_error error;

    made.batch = shrinking_batch;
    breaks = 1;
    cr_assert_eq(lade_source_read_fields(source, 20, views, &error), LADE_DAMAGED);
    cr_assert_not_null(strstr(error.text, "record batch 6 is not what it was"), "%s", error.text);
    made.batches = 3;
    cr_assert_eq(lade_source_read_fields(source, 100, views, &error), LADE_DAMAGED);
    cr_assert_not_null(strstr(error.text, "the stream ends after 7 record batches"), "%s", error.text);
    made.fails_at = made.next + 1;
    cr_assert_eq(lade_source_read_fields(source, 100, views, &error), LADE_IO);
    made = (struct made){.schema = many_schema, .batch = many_batch, .batches = MANY_BATCHES};
    cr_assert_eq(lade_source_read_fields(source, 3, views, &error), LADE_OK, "the source stays usable");
    cr_assert_eq(id, 3);
    lade_source_close(source);
    breaks = 0;
    struct lade_source_arrow config = {.memory = 50, .reopen = reopen_made, .context = &made};
    cr_assert_eq(open_made(&source, &made, &config, &error), LADE_LIMITED);
    cr_assert_not_null(strstr(error.text, "allow more memory"), "%s", error.text);
}

/* While held is set, a thread that fetches a record batch stays inside; inside: it is there. */
static atomic_bool held, inside;
static bool spoils; /* the next batch 6 has the rows of another one */

static struct ArrowArray held_batch(int number)
{
    const bool wrong = spoils && number == 6;

    atomic_store(&inside, true);
    while (atomic_load(&held))
        usleep(100);
    spoils = spoils && !wrong;
    return many_batch(wrong ? 5 : number);
}

static int read_id(struct lade_source *source, uint64_t i, int32_t *id, struct lade_error *error)
{
    struct lade_view views[2] = {{id, 0, 1}};

    return lade_source_read_fields(source, i, views, error);
}

static void *read_in_thread(void *source)
{
    int32_t id = -1;
    struct lade_error error;

    cr_assert_eq(read_id(source, 20, &id, &error), LADE_OK, "%s", error.text);
    cr_assert_eq(id, 20);
    return NULL;
}

static void *read_damaged(void *source)
{
    int32_t id;
    struct lade_error error;

    cr_assert_eq(read_id(source, 20, &id, &error), LADE_DAMAGED);
    return NULL;
}

static _Atomic pid_t reader;

static void *read_as_reader(void *source)
{
    atomic_store(&reader, gettid());
    return read_in_thread(source);
}

/* Until the reader sleeps: it waits for the fetch, the only thing that takes long. */
static void await_sleep(void)
{
    char name[64], state = 'R';

    while (!atomic_load(&reader))
        usleep(100);
    (void)snprintf(name, sizeof name, "/proc/self/task/%d/stat", (int)atomic_load(&reader));
    while (state != 'S') {
        FILE *file = fopen(name, "r");
        cr_assert_not_null(file);
        cr_assert_eq(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
        (void)fclose(file);
    }
}

Test(source_arrow, a_fetch_that_fails_wakes_those_that_wait_for_it, .init = setup, .fini = all_released)
{
    struct made made;
    struct lade_source *source = open_windows(&made, WINDOW);
    pthread_t fetches, waits;

    made.batch = held_batch;
    spoils = true;
    atomic_store(&held, true);
    cr_assert_eq(pthread_create(&fetches, NULL, read_damaged, source), 0);
    while (!atomic_load(&inside))
        usleep(100);
    cr_assert_eq(pthread_create(&waits, NULL, read_as_reader, source), 0);
    await_sleep();
    atomic_store(&held, false);
    cr_assert_eq(pthread_join(fetches, NULL), 0);
    cr_assert_eq(pthread_join(waits, NULL), 0, "it fetches the batch itself");
    lade_source_close(source);
}

static void is_refused_in_child(void *source)
{
    int32_t id;
    struct lade_error error = {.text = "no text"};

    child_check(read_id(source, 20, &id, &error) == LADE_INVALID && strstr(error.text, "fork()"));
    child_check(read_id(source, 3, &id, NULL) == LADE_INVALID);
    lade_source_close(source);
    child_check(released_twice == 0);
}

/* Another thread is inside a fetch, or waits for one, at the fork; or none is. */
Test(source_arrow, windows_after_fork, .init = setup, .fini = all_released)
{
    struct made made;
    struct lade_source *source = open_windows(&made, WINDOW);
    pthread_t fetches, waits;

    made.batch = held_batch;
    atomic_store(&held, true);
    cr_assert_eq(pthread_create(&fetches, NULL, read_in_thread, source), 0);
    while (!atomic_load(&inside))
        usleep(100);
    cr_assert_eq(pthread_create(&waits, NULL, read_in_thread, source), 0);
    cr_assert(child_runs(is_refused_in_child, source));
    atomic_store(&held, false);
    cr_assert_eq(pthread_join(fetches, NULL), 0);
    cr_assert_eq(pthread_join(waits, NULL), 0);
    cr_assert(child_runs(is_refused_in_child, source));
    read_in_thread(source);
    lade_source_close(source);
}
