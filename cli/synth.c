/* SPDX-License-Identifier: MIT */
/* lade synth: writes a synthetic data set to files of a common format. */
#include "lade.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
    const char *name;
    int (*write)(struct synth *s);
} formats[] = {{"cifar10", write_cifar10},
               {"idx", write_idx},
               {"npy", write_npy},
               {"records", write_records},
               {"images", write_images}};

static void help(void)
{
    puts(
        "usage: lade synth FORMAT OUT [OPTION...]\n"
        "\n"
        "Writes a synthetic data set into the folder OUT, which is created if necessary. FORMAT is one of\n"
        "  cifar10   data_batch_1.bin to data_batch_5.bin and batches.meta.txt\n"
        "  idx       samples.idx and labels.idx, the format of MNIST\n"
        "  npy       samples.npy and labels.npy, NumPy's format\n"
        "  records   samples.bin: records that begin with the label\n"
        "  images    a folder for each class, with a PNG (or JPEG) for each sample; shape 3xHEIGHTxWIDTH\n"
        "A file has a temporary name until it is complete. The same options write the same bytes. For images, folders\n"
        "that exist in OUT must be empty.\n"
        "\n"
        "  --samples N      number of samples (50000)\n"
        "  --classes N      number of classes, at most 65536 (10)\n"
        "  --shape AxB...   shape of a sample, in bytes (3x32x32)\n"
        "  --skew R         the first class is R times as frequent as the last (1)\n"
        "  --duplicates N   samples that are copies of others; N or N% (0)\n"
        "  --seed N|random  seed of the contents (1)\n"
        "  --jpeg           write images as JPEG of quality 90\n"
        "  --json FILE      report what was written as JSON; - is standard output, and the text goes to\n"
        "                   standard error\n"
        "  --help           show this text\n"
        "\n"
        "examples:\n"
        "  lade synth cifar10 /tmp/cifar\n"
        "  lade synth idx /tmp/digits --shape 28x28 --samples 60000\n"
        "  lade synth images /tmp/pictures --samples 1000 --shape 3x224x224 --jpeg\n"
        "\n"
        "exit codes: 0 done, 2 wrong use, 3 system error");
}

int synth_begin(struct synth *s, struct output *o, const char *name, bool bulk)
{
    if (snprintf(s->path, sizeof s->path, "%s/%s", s->folder, name) >= (int)sizeof s->path) {
        print_error("synth: %s: the name is too long", s->folder);
        return EXIT_USAGE;
    }
    bool good = bulk ? output_begin_bulk(o, "synth", s->path) : output_begin(o, "synth", s->path);
    return good ? EXIT_DONE : EXIT_TROUBLE;
}

bool synth_put(struct synth *s, struct output *o, const void *bytes, size_t size)
{
    s->bytes += size;
    return fwrite(bytes, 1, size, o->to) == size;
}

int synth_end(struct output *o, int code)
{
    if (code == EXIT_DONE)
        return output_end(o) ? EXIT_DONE : EXIT_TROUBLE;
    output_drop(o);
    return code;
}

int synth_read(struct synth *s, uint64_t i, int64_t *label)
{
    struct lade_error error;

    progress_line("writing", "samples", i, s->info->count);
    if (lade_source_read(s->source, i, s->sample, label, &error) != LADE_OK)
        return source_trouble("synth", &error);
    if (i + 1 == s->info->count)
        progress_line("writing", "samples", 1, 1);
    return EXIT_DONE;
}

static int report(const struct synth *s, const char *format, const char *json_path)
{
    struct output json;
    FILE *text = json_path && !strcmp(json_path, "-") ? stderr : stdout;

    fprintf(text, "%s samples, %.1f MB, seed %llu; to open it: %s\n", grouped(s->info->count), (double)s->bytes / 1e6,
            (unsigned long long)lade_source_synthetic_seed(s->source), shown(s->opens));
    if (!json_path)
        return EXIT_DONE;
    if (!output_begin(&json, "synth", json_path))
        return EXIT_TROUBLE;
    fprintf(json.to, "{\"format\": \"%s\", \"samples\": %llu, \"bytes\": %llu, \"seed\": %llu, \"source\": ", format,
            (unsigned long long)s->info->count, (unsigned long long)s->bytes,
            (unsigned long long)lade_source_synthetic_seed(s->source));
    json_quoted(json.to, s->opens);
    fputs("}\n", json.to);
    return output_end(&json) ? EXIT_DONE : EXIT_TROUBLE;
}

struct options {
    const char *samples, *classes, *shape, *skew, *duplicates, *seed, *json;
    bool jpeg;
};

static bool parse(struct options *o, int argc, char **argv)
{
    enum { SAMPLES, CLASSES, SHAPE, SKEW, DUPLICATES, SEED, JSON, JPEG, HELP };
    static const struct option names[] = {{"samples", 1, 0, SAMPLES},
                                          {"classes", 1, 0, CLASSES},
                                          {"shape", 1, 0, SHAPE},
                                          {"skew", 1, 0, SKEW},
                                          {"duplicates", 1, 0, DUPLICATES},
                                          {"seed", 1, 0, SEED},
                                          {"json", 1, 0, JSON},
                                          {"jpeg", 0, 0, JPEG},
                                          {"help", 0, 0, HELP},
                                          {0, 0, 0, 0}};
    const char **to[] = {&o->samples, &o->classes, &o->shape, &o->skew, &o->duplicates, &o->seed, &o->json};
    int c;

    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (c == HELP) {
            help();
            exit(EXIT_DONE);
        } else if (c == JPEG) {
            o->jpeg = true;
        } else if (c == '?') {
            return false;
        } else {
            if (strchr(optarg, ',')) {
                print_error("synth: '%s' has a comma, which separates the options of a source", optarg);
                return false;
            }
            *to[c] = optarg;
        }
    }
    if (argc - optind != 2)
        fputs("lade synth: it takes a format and a folder\n", stderr);
    return argc - optind == 2;
}

/* Formats the options as the text of a source, so that both are checked in one place. */
static int open_source(struct synth *s, const struct options *o)
{
    struct lade_error error;
    char text[1024];

    if (!strcmp(o->samples, "endless")) {
        fputs("lade synth: --samples takes a number\n", stderr);
        return EXIT_USAGE;
    }
    if (snprintf(text, sizeof text, "synthetic:count=%s,classes=%s,shape=%s,skew=%s,duplicates=%s,seed=%s", o->samples,
                 o->classes, o->shape, o->skew, o->duplicates, o->seed) >= (int)sizeof text) {
        fputs("lade synth: the options are too long\n", stderr);
        return EXIT_USAGE;
    }
    if (lade_source_open(&s->source, text, NULL, &error) != LADE_OK)
        return source_trouble("synth", &error);
    s->info = lade_source_info(s->source);
    s->sample = malloc(s->info->bytes);
    if (!s->sample)
        fputs("lade synth: out of memory\n", stderr);
    return s->sample ? EXIT_DONE : EXIT_TROUBLE;
}

int synth_main(int argc, char **argv)
{
    struct options o = {"50000", "10", "3x32x32", "1", "0", "1", NULL, false};
    struct synth s = {.source = NULL};
    int (*write)(struct synth *) = NULL;

    if (!parse(&o, argc, argv)) {
        fputs("lade synth --help shows the options\n", stderr);
        return EXIT_USAGE;
    }
    const char *format = argv[optind];
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        if (!strcmp(formats[f].name, format))
            write = formats[f].write;
    if (!write) {
        print_error("synth: there is no format '%s'; there are cifar10, idx, npy, records and images", format);
        return EXIT_USAGE;
    }
    s.folder = argv[optind + 1];
    s.jpeg = o.jpeg;
    int code = open_source(&s, &o);
    if (code == EXIT_DONE && mkdir(s.folder, 0777) != 0 && errno != EEXIST) {
        print_error("synth: %s: %s", s.folder, strerror(errno));
        code = EXIT_TROUBLE;
    }
    if (code == EXIT_DONE)
        code = output_probe("synth", o.json) ? write(&s) : EXIT_TROUBLE;
    if (code == EXIT_DONE)
        code = report(&s, format, o.json);
    free(s.sample);
    lade_source_close(s.source);
    return code;
}
