/* SPDX-License-Identifier: MIT */
/* lade convert: writes the samples of a source in another format. This file: options and the report. */
#define _POSIX_C_SOURCE 200809L
#include "convert.h"

#include "seed.h"

#include <errno.h>
#include <getopt.h>
#include <lade/thread.h>
#include <stdlib.h>
#include <string.h>

const char *const convert_formats[FORMATS] = {"records", "npy", "tar", "tfrecord"};

static void help(void)
{
    puts("usage: lade convert SOURCE OUT [OPTION...]\n"
         "\n"
         "Writes the samples of SOURCE in another format, reads them back and compares a checksum of every field. "
         "SOURCE is\n"
         "that of lade inspect. The end of OUT names the format:\n"
         "  .tar       WebDataset: members 000000000.NAME; arrays as npy, the label as cls, bytes as they are\n"
         "  .tfrecord  a tf.train.Example for each sample: integers, floats, all else as bytes\n"
         "  .npy       OUT without .npy, and .FIELD.npy, for each field; ragged fields also .FIELD.offsets.npy\n"
         "  .records   records of one size: the label, then the sample; one tensor and at most one label\n"
         "Images are written as their pixels; declare their bytes in SOURCE, as in field=jpg:u8:*, to keep them "
         "encoded.\n"
         "\n"
         "A file has a temporary name until it is complete. After a kill the same command continues with the shards "
         "that\n"
         "are not done, which OUT.convert lists, and checks all of them.\n"
         "\n"
         "  --to records|npy|tar|tfrecord\n"
         "                        the format, if OUT does not end with its name\n"
         "  --field NAME[=AS]     write this field, under another name if AS is given; several times for several "
         "fields\n"
         "  --shard-size N        N samples in each file: OUT-00000.tar, OUT-00001.tar, ...; tar and tfrecord only\n"
         "  --order sequential|shuffled\n"
         "                        as in SOURCE, or a permutation that --seed determines (sequential)\n"
         "  --seed N|random       seed of the permutation (1)\n"
         "  --split A:B[:...]     split the source by weights, as lade feed does\n"
         "  --split-seed N        seed of the hash that chooses parts (0)\n"
         "  --split-table FILE    take parts from a table of lade split assign\n"
         "  --part train|validation|test|N\n"
         "                        the part to write (train)\n"
         "  --memory MB           most memory for a table (1024)\n"
         "  --replace             overwrite what is there; the same conversion is continued\n"
         "  --no-check            do not read the result back\n"
         "  --json FILE           report as JSON; - is standard output, and the text goes to standard error\n"
         "  --help                show this text\n"
         "\n"
         "examples:\n"
         "  lade convert cifar10:/tmp/cifar /tmp/cifar.tar --shard-size 5000 --order shuffled --seed 1\n"
         "  lade convert tar:photos.tar,field=jpg:u8:*,field=cls photos.tfrecord\n"
         "  lade convert npz:digits.npz test.npy --split 80:20 --part test\n"
         "\n"
         "exit codes: 0 done, 1 a sample is damaged or the result differs, 2 wrong use, 3 system error");
}

int convert_trouble(const char *what, const char *why)
{
    print_error("convert: %s: %s", what, why);
    return EXIT_TROUBLE;
}

int convert_no_memory(void)
{
    fputs("lade convert: out of memory\n", stderr);
    return EXIT_TROUBLE;
}

static bool complain(const char *option, const char *takes, const char *text)
{
    print_error("convert: --%s takes %s, not '%s'", option, takes, text);
    return false;
}

static bool take_format(struct convert *c, const char *text)
{
    for (int f = 0; f < FORMATS; f++)
        if (!strcmp(convert_formats[f], text)) {
            c->format = (enum convert_format)f;
            return true;
        }
    return complain("to", "records, npy, tar or tfrecord", text);
}

/* OUT without the end that names the format. */
static bool take_out(struct convert *c, bool format_given)
{
    const char *slash = strrchr(c->out, '/'), *dot = strrchr(c->out, '.'), *end = dot && dot > slash ? dot + 1 : "";

    for (int f = 0; f < FORMATS && !format_given; f++)
        if (!strcmp(convert_formats[f], end)) {
            c->format = (enum convert_format)f;
            format_given = true;
        }
    if (!format_given) {
        print_error("convert: '%s' ends with no format; use .tar, .tfrecord, .npy or .records, or --to", c->out);
        return false;
    }
    const bool ends = !strcmp(convert_formats[c->format], end);
    c->base = strndup(c->out, ends ? (size_t)(dot - c->out) : strlen(c->out));
    return c->base != NULL;
}

static bool take_order(struct convert *c, const char *text)
{
    c->shuffled = !strcmp(text, "shuffled");
    return c->shuffled || !strcmp(text, "sequential") || complain("order", "sequential or shuffled", text);
}

static const char *contradiction(const struct convert *c)
{
    if (c->shard_size && c->format != TO_TAR && c->format != TO_TFRECORD)
        return "--shard-size is for tar and tfrecord: the sources of records and npy read one file";
    if (c->format != TO_NPY && (strchr(c->out, '{') || strchr(c->out, '}')))
        return "OUT has a brace, which stands for a range of files in the source that reads it";
    if (c->random_seed && !c->shuffled)
        return "--seed needs --order shuffled";
    if (c->parts.table && c->weights_given)
        return "--split-table already contains weights and a seed; leave out --split and --split-seed";
    if (c->split_seeded && c->parts.parts == 1 && !c->parts.table)
        return "--split-seed needs --split";
    return NULL;
}

enum {
    FIELD,
    SHARD_SIZE,
    ORDER,
    SEED,
    SPLIT,
    SPLIT_SEED,
    SPLIT_TABLE,
    PART,
    MEMORY,
    REPLACE,
    NO_CHECK,
    JSON,
    TO,
    HELP
};
static const struct option names[] = {{"field", 1, 0, FIELD},
                                      {"shard-size", 1, 0, SHARD_SIZE},
                                      {"order", 1, 0, ORDER},
                                      {"seed", 1, 0, SEED},
                                      {"split", 1, 0, SPLIT},
                                      {"split-seed", 1, 0, SPLIT_SEED},
                                      {"split-table", 1, 0, SPLIT_TABLE},
                                      {"part", 1, 0, PART},
                                      {"memory", 1, 0, MEMORY},
                                      {"replace", 0, 0, REPLACE},
                                      {"no-check", 0, 0, NO_CHECK},
                                      {"json", 1, 0, JSON},
                                      {"to", 1, 0, TO},
                                      {"help", 0, 0, HELP},
                                      {0, 0, 0, 0}};

static bool take(struct convert *c, int which)
{
    switch (which) {
    case FIELD:
        if (c->chosen == LADE_FIELDS_MAX)
            return complain("field", "up to 16 fields", optarg);
        c->field[c->chosen++] = optarg;
        return true;
    case SHARD_SIZE:
        return take_number("convert", "shard-size", optarg, 1, UINT64_MAX / 2, &c->shard_size);
    case ORDER:
        return take_order(c, optarg);
    case SEED:
        c->random_seed = !strcmp(optarg, "random");
        return c->random_seed || take_number("convert", "seed", optarg, 0, UINT64_MAX, &c->seed);
    case SPLIT:
        c->weights_given = true;
        return take_weights("convert", "split", optarg, c->parts.weight, &c->parts.parts);
    case SPLIT_SEED:
        c->split_seeded = c->weights_given = true;
        return take_number("convert", "split-seed", optarg, 0, UINT64_MAX, &c->parts.seed);
    case MEMORY:
        return take_number("convert", "memory", optarg, 1, UINT64_MAX >> 20, &c->parts.memory);
    case SPLIT_TABLE:
        c->parts.table = optarg;
        return true;
    case PART:
        c->parts.part_name = optarg;
        return true;
    case JSON:
        c->json = optarg;
        return true;
    case REPLACE:
        return c->replace = true;
    default:
        return c->unchecked = true;
    }
}

static bool parse(struct convert *c, int argc, char **argv)
{
    bool good = true, format_given = false;
    int which;

    while (good && (which = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (which == HELP) {
            help();
            exit(EXIT_DONE);
        }
        if (which == TO)
            good = format_given = take_format(c, optarg);
        else
            good = which != '?' && take(c, which);
    }
    if (good && argc - optind != 2) {
        fputs("lade convert: give SOURCE and OUT\n", stderr);
        good = false;
    }
    if (!good)
        return false;
    c->text = argv[optind];
    c->out = argv[optind + 1];
    good = take_out(c, format_given);
    const char *why = good ? contradiction(c) : NULL;
    if (why)
        print_error("convert: %s", why);
    return good && !why;
}

/* The samples of the part. */
static int take_members(struct convert *c)
{
    const uint64_t count = c->info->count;
    unsigned part = 0;

    c->count = count;
    if (!c->parts.split)
        return EXIT_DONE;
    c->member = count <= SIZE_MAX / sizeof *c->member ? malloc((size_t)count * sizeof *c->member) : NULL;
    if (!c->member)
        return convert_no_memory();
    c->count = 0;
    for (uint64_t i = 0; i < count; i++) {
        const int status = lade_split_route_word(c->parts.split, lade_source_group(c->source, i), &part);
        if (status != LADE_OK)
            return convert_trouble("split", lade_status_text(status));
        if (part == c->parts.part)
            c->member[c->count++] = i;
    }
    if (c->count > 0)
        return EXIT_DONE;
    print_error("convert: the part has no samples");
    return EXIT_USAGE;
}

static int open_order(struct convert *c)
{
    const uint64_t purpose = UINT64_C(0x636f6e76657274); /* "convert" */

    if (c->shuffled && lade_permutation_init(&c->permutation, lade_key_make(c->seed, 0, purpose), c->count) != LADE_OK)
        return convert_trouble("--order", "there are too many samples");
    c->shards = c->shard_size ? (c->count - 1) / c->shard_size + 1 : 1;
    if (c->shards > SHARDS_MAX) {
        print_error("convert: --shard-size %llu makes %llu files, more than 65536", (big)c->shard_size, (big)c->shards);
        return EXIT_USAGE;
    }
    c->shard = calloc((size_t)c->shards, sizeof *c->shard);
    return c->shard ? EXIT_DONE : convert_no_memory();
}

static int open_source(struct convert *c)
{
    struct lade_error error;

    if (lade_source_open(&c->source, c->text, NULL, &error) != LADE_OK)
        return source_trouble("convert", &error);
    c->info = lade_source_info(c->source);
    if (c->info->count == LADE_ENDLESS) {
        print_error("convert: the source is endless; give it a number of samples with count=N");
        return EXIT_USAGE;
    }
    c->parts.source = c->source;
    int code = parts_open(&c->parts);
    if (code == EXIT_DONE)
        code = take_members(c);
    return code == EXIT_DONE ? open_order(c) : code;
}

static uint64_t total_bytes(const struct convert *c, uint64_t *kept)
{
    uint64_t bytes = 0;

    *kept = 0;
    for (uint64_t s = 0; s < c->shards; s++) {
        bytes += c->shard[s].bytes;
        *kept += c->shard[s].kept;
    }
    return bytes;
}

static int report(const struct convert *c)
{
    FILE *text = c->json && !strcmp(c->json, "-") ? stderr : stdout;
    struct output json;
    uint64_t kept;
    const uint64_t bytes = total_bytes(c, &kept);

    fprintf(text, "%s samples, %.1f MB, %s %s", grouped(c->count), (double)bytes / 1e6, grouped(c->shards),
            c->shards == 1 ? "part" : "shards");
    if (kept)
        fprintf(text, ", %s of them already there", grouped(kept));
    if (c->shuffled)
        fprintf(text, ", shuffled with seed %llu", (big)c->seed);
    fprintf(text, ", %s; to open it: %s\n", c->unchecked ? "not checked" : "checked", shown(c->opens));
    if (!c->json)
        return EXIT_DONE;
    if (!output_begin(&json, "convert", c->json))
        return EXIT_TROUBLE;
    fprintf(json.to, "{\"format\": \"%s\", \"samples\": %llu, \"bytes\": %llu, \"shards\": %llu, \"kept\": %llu",
            convert_formats[c->format], (big)c->count, (big)bytes, (big)c->shards, (big)kept);
    if (c->shuffled)
        fprintf(json.to, ", \"seed\": %llu", (big)c->seed);
    fprintf(json.to, ", \"checked\": %s, \"fields\": [", c->unchecked ? "false" : "true");
    for (unsigned f = 0; f < c->columns; f++) {
        fputs(f ? ", " : "", json.to);
        json_quoted(json.to, c->column[f].name);
    }
    fputs("], \"source\": ", json.to);
    json_quoted(json.to, c->opens);
    fputs("}\n", json.to);
    return output_end(&json) ? EXIT_DONE : EXIT_TROUBLE;
}

static int convert(struct convert *c)
{
    int code = c->random_seed && !lade_seed_draw(&c->seed) ? convert_trouble("--seed random", strerror(errno))
                                                           : open_source(c);

    if (code == EXIT_DONE)
        code = convert_plan(c);
    if (code == EXIT_DONE)
        code = convert_load_state(c);
    if (code == EXIT_DONE)
        code = convert_write(c);
    if (code == EXIT_DONE && !c->unchecked)
        code = convert_check(c);
    return code == EXIT_DONE ? report(c) : code;
}

int convert_main(int argc, char **argv)
{
    struct convert c = {.seed = 1, .parts = {.command = "convert", .parts = 1, .memory = 1024}};
    int code = EXIT_USAGE;

    if (!parse(&c, argc, argv)) {
        fputs("lade convert --help shows the options\n", stderr);
    } else if (lade_thread_enter() != LADE_OK) { /* exact splits require it */
        code = convert_no_memory();
    } else {
        code = output_probe("convert", c.json) ? convert(&c) : EXIT_TROUBLE;
        lade_split_destroy(c.parts.split);
        lade_source_close(c.source);
        lade_thread_leave();
    }
    free(c.member);
    free(c.shard);
    free(c.base);
    free(c.opens);
    free(c.integers);
    whole_free(&c.sample);
    return code;
}
