/* SPDX-License-Identifier: MIT */
/* lade inspect: describes the content of a source. */
#include "fields.h"
#include "lade.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

struct options {
    uint64_t samples, classes;
    bool check;
    const char *json;
};

struct look {
    const char *text;
    struct lade_source *source;
    const struct lade_source_info *info;
    struct options o;
    uint64_t *frequency; /* NULL: not counted */
    struct whole sample;
    struct lengths lengths[LADE_FIELDS_MAX];
    uint64_t damaged, digest;
    bool trouble; /* a sample could not be read for a reason that is not in the file */
    struct lade_error first_damage;
};

static void help(void)
{
    puts("usage: lade inspect SOURCE [OPTION...]\n"
         "\n"
         "Prints the number of samples of a data set, their shape, the class frequencies and the first samples.\n"
         "SOURCE is one of\n"
         "  synthetic[:count=N,classes=N,shape=3x32x32,skew=R,duplicates=N|N%,seed=N|random]\n"
         "  cifar10:DIR[,part=train|test|all]      cifar100:DIR[,part=...][,labels=fine|coarse]\n"
         "  idx:SAMPLES[,LABELS]                   npy:SAMPLES[,labels=FILE] or npy:NAME=FILE[,NAME=FILE...]\n"
         "  records:FILE,size=N[,label=OFFSET:BYTES][,classes=N][,header=N][,shape=AxB...][,dtype=NAME]\n"
         "  images:DIR[,size=HEIGHTxWIDTH][,pixels=N]\n"
         "  tokens:FILE[,FILE...],length=N[,stride=N][,dtype=u16][,header=N]\n"
         "  megatron:PREFIX[,samples=documents|sequences]\n"
         "  tfrecord:FILES, tar:FILES, each with "
         "[,field=NAME[:TYPE[:SHAPE]]...][,label=NAME][,classes=N][,size=HEIGHTxWIDTH]\n"
         "  parquet:FILES[,field=NAME[:image]...][,label=NAME][,classes=N][,nulls=fail|skip|fill][,window=K]\n"
         "    tfrecord, tar and parquet also take [,index=auto|yes|no]: whether an index file is read and written\n"
         "  npz:FILE[,field=NAME...][,label=NAME][,key=NAME][,group=NAME][,unpacked=N]\n"
         "\n"
         "  --samples N   show the first N samples (3)\n"
         "  --classes N   show at most N classes (20)\n"
         "  --check       read every sample; print how many are damaged, and a digest of the others\n"
         "  --json FILE   write the same as JSON, with all classes; - is standard output, and the text goes to\n"
         "                standard error\n"
         "  --help        show this text\n"
         "\n"
         "examples:\n"
         "  lade inspect synthetic:skew=5\n"
         "  lade inspect idx:train-images-idx3-ubyte,train-labels-idx1-ubyte --check\n"
         "  lade inspect images:/tmp/pictures,size=224x224 --json -\n"
         "\n"
         "exit codes: 0 done, 1 a file or a sample is damaged, 2 wrong use, 3 system error");
}

/* FNV-1a (Fowler, Noll, Vo 1991) over words, so that it costs less than reading. */
static uint64_t digest(uint64_t hash, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        for (size_t b = i; b < size && b < i + 8; b++)
            word |= (uint64_t)bytes[b] << 8 * (b - i);
        hash = (hash ^ word) * UINT64_C(0x100000001b3);
        hash ^= hash >> 32;
    }
    return hash;
}

/* Reads all of a sample. */
static int read_all(struct look *l, uint64_t i, int64_t *label, struct lade_error *error)
{
    if (!l->info->schema)
        return lade_source_read(l->source, i, l->sample.bytes, label, error);
    int status = lade_source_label(l->source, i, label, error);
    return status == LADE_OK ? whole_read(&l->sample, l->source, i, error) : status;
}

/* Reads the label and the lengths of a sample, and with --check all of it. */
static int read_one(struct look *l, uint64_t i, int64_t *label, struct lade_error *error)
{
    int status = l->info->schema ? lengths_add(l->lengths, l->source, i, error) : LADE_OK;

    if (status != LADE_OK)
        return status;
    return l->o.check ? read_all(l, i, label, error) : lade_source_label(l->source, i, label, error);
}

/* Labels of all samples, and with --check the samples as well. */
static void go_through(struct look *l)
{
    uint64_t count = l->info->count;

    l->digest = UINT64_C(0xcbf29ce484222325);
    if (count == LADE_ENDLESS || (!l->frequency && !l->o.check && !l->info->schema))
        return;
    for (uint64_t i = 0; i < count; i++) {
        struct lade_error error;
        int64_t label = LADE_NO_LABEL;
        int status = read_one(l, i, &label, &error);
        if (i % 256 == 0)
            progress_line("reading", "samples", i, count);
        if (status != LADE_OK) {
            if (l->damaged++ == 0)
                l->first_damage = error;
            l->trouble = l->trouble || (status != LADE_DAMAGED && status != LADE_LIMITED);
            continue;
        }
        if (l->frequency)
            l->frequency[label]++;
        if (l->o.check) {
            uint64_t word = (uint64_t)label;
            l->digest = digest(l->digest, l->sample.bytes, l->sample.size);
            l->digest = (l->digest ^ word) * UINT64_C(0x100000001b3);
        }
    }
    progress_line("reading", "samples", count, count);
}

static void print_classes(FILE *to, const struct look *l)
{
    const struct lade_source_info *info = l->info;
    uint64_t most = info->classes < l->o.classes ? info->classes : l->o.classes;

    if (info->classes == 0) {
        fputs("  classes   no labels\n", to);
        return;
    }
    fprintf(to, "  classes   %s\n", grouped(info->classes));
    for (uint64_t c = 0; c < most && l->frequency; c++)
        fprintf(to, "    %-5llu %10llu  %.4f  %s\n", (unsigned long long)c, (unsigned long long)l->frequency[c],
                (double)l->frequency[c] / (double)info->count, info->class_names ? shown(info->class_names[c]) : "");
    if (most < info->classes && l->frequency)
        fprintf(to, "    and %s more; --classes shows them\n", grouped(info->classes - most));
}

static void print_samples(FILE *to, struct look *l)
{
    for (uint64_t i = 0; i < l->o.samples && i < l->info->count; i++) {
        struct lade_error error;
        char name[256];
        int64_t label;
        lade_source_name(l->source, i, name, sizeof name);
        if (read_all(l, i, &label, &error) != LADE_OK) {
            fprintf(to, "  sample %s: %s\n", shown(name), error.text);
            continue;
        }
        fprintf(to, "  sample %s: key %016llx", shown(name), (unsigned long long)lade_source_key(l->source, i));
        if (label != LADE_NO_LABEL)
            fprintf(to, ", label %lld", (long long)label);
        fputs(", begins", to);
        for (size_t b = 0; b < 8 && b < l->sample.size; b++)
            fprintf(to, " %02x", l->sample.bytes[b]);
        fputc('\n', to);
    }
}

/* Bytes of all samples, with a schema of those whose lengths are known. */
static double total_bytes(const struct look *l)
{
    const struct lade_schema *schema = lade_source_schema(l->source);
    double bytes = 0;

    if (!l->info->schema)
        return (double)l->info->count * (double)l->info->bytes;
    for (unsigned f = 0; f < schema->fields; f++)
        bytes += (double)l->lengths[f].total * (double)lade_field_bytes(&schema->field[f]);
    return bytes;
}

static void print_index(FILE *to, const struct lade_source_info *info)
{
    fprintf(to, "  index     %s bytes", grouped(info->index_bytes));
    if (info->index_use == LADE_INDEX_REFUSED)
        fputs(", not kept: neither the folder of the files nor the cache folder can be written", to);
    else if (info->index_file)
        fprintf(to, ", %s %s", info->index_use == LADE_INDEX_READ ? "read from" : "written to",
                shown(info->index_file));
    fputc('\n', to);
}

static void print_words(FILE *to, struct look *l)
{
    const struct lade_source_info *info = l->info;

    fprintf(to, "%s\n", shown(l->text));
    if (info->count == LADE_ENDLESS)
        fputs("  samples   endless\n", to);
    else
        fprintf(to, "  samples   %s, %.1f MB\n", grouped(info->count), total_bytes(l) / 1e6);
    if (info->schema) {
        print_fields(to, l->source, l->lengths);
    } else {
        fputs("  sample    ", to);
        print_sample(to, l->source);
        fprintf(to, ", %s bytes\n", grouped(info->bytes));
    }
    print_index(to, info);
    print_classes(to, l);
    print_samples(to, l);
    if (l->o.check)
        fprintf(to, "  digest    %016llx\n", (unsigned long long)l->digest);
    if (l->damaged)
        fprintf(to, "  damaged   %s; the first: %s\n", grouped(l->damaged), l->first_damage.text);
}

static void print_json(FILE *to, const struct look *l)
{
    static const char *const uses[] = {"none", "read", "written", "refused"};
    const struct lade_source_info *info = l->info;

    fputs("{\"source\": ", to);
    json_quoted(to, l->text);
    fprintf(to, ", \"kind\": \"%s\", \"count\": ", info->kind);
    if (info->count == LADE_ENDLESS)
        fputs("null", to);
    else
        fprintf(to, "%llu", (unsigned long long)info->count);
    fprintf(to, ", \"dtype\": \"%s\", \"shape\": [", lade_dtype_name(info->shape.dtype));
    for (unsigned d = 0; d < info->shape.dims; d++)
        fprintf(to, "%s%llu", d ? ", " : "", (unsigned long long)info->shape.dim[d]);
    fprintf(to, "], \"bytes\": %zu, \"index_bytes\": %llu, \"classes\": %llu", info->bytes,
            (unsigned long long)info->index_bytes, (unsigned long long)info->classes);
    fprintf(to, ", \"index_use\": \"%s\"", uses[info->index_use]);
    if (info->index_file) {
        fputs(", \"index_file\": ", to);
        json_quoted(to, info->index_file);
    }
    if (info->class_names) {
        fputs(", \"class_names\": [", to);
        for (uint64_t c = 0; c < info->classes; c++) {
            fputs(c ? ", " : "", to);
            json_quoted(to, info->class_names[c]);
        }
        fputs("]", to);
    }
    if (l->frequency) {
        fputs(", \"frequencies\": [", to);
        for (uint64_t c = 0; c < info->classes; c++)
            fprintf(to, "%s%llu", c ? ", " : "", (unsigned long long)l->frequency[c]);
        fputs("]", to);
    }
    if (info->schema)
        json_fields(to, l->source, l->lengths);
    if (l->o.check)
        fprintf(to, ", \"digest\": \"%016llx\"", (unsigned long long)l->digest);
    fprintf(to, ", \"damaged\": %llu", (unsigned long long)l->damaged);
    if (l->damaged) {
        fputs(", \"first_damage\": ", to);
        json_quoted(to, l->first_damage.text);
    }
    fputs("}\n", to);
}

static bool parse(struct options *o, int argc, char **argv)
{
    enum { SAMPLES, CLASSES, CHECK, JSON, HELP };
    static const struct option names[] = {{"samples", 1, 0, SAMPLES}, {"classes", 1, 0, CLASSES},
                                          {"check", 0, 0, CHECK},     {"json", 1, 0, JSON},
                                          {"help", 0, 0, HELP},       {0, 0, 0, 0}};
    int c;

    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (c == HELP) {
            help();
            exit(EXIT_DONE);
        } else if (c == CHECK) {
            o->check = true;
        } else if (c == JSON) {
            o->json = optarg;
        } else if (c == '?' || !take_number("inspect", names[c].name, optarg, 0, UINT64_MAX,
                                            c == SAMPLES ? &o->samples : &o->classes)) {
            return false;
        }
    }
    if (argc - optind != 1)
        fputs("lade inspect: give exactly one SOURCE\n", stderr);
    return argc - optind == 1;
}

int inspect_main(int argc, char **argv)
{
    struct look l = {.o = {.samples = 3, .classes = 20}};
    struct lade_error error;

    if (!parse(&l.o, argc, argv)) {
        fputs("lade inspect --help shows the options\n", stderr);
        return EXIT_USAGE;
    }
    l.text = argv[optind];
    if (!output_probe("inspect", l.o.json))
        return EXIT_TROUBLE;
    if (lade_source_open(&l.source, l.text, NULL, &error) != LADE_OK)
        return source_trouble("inspect", &error);
    l.info = lade_source_info(l.source);
    l.sample = (struct whole){.bytes = malloc(l.info->bytes + 1), .size = l.info->bytes, .room = l.info->bytes};
    if (l.info->classes && l.info->count != LADE_ENDLESS)
        l.frequency = calloc((size_t)l.info->classes, sizeof *l.frequency);
    int code = EXIT_TROUBLE;
    bool written = true;
    if (!l.sample.bytes || (l.info->classes && l.info->count != LADE_ENDLESS && !l.frequency)) {
        fputs("lade inspect: out of memory\n", stderr);
    } else {
        go_through(&l);
        /* JSON on standard output is not mixed with text. */
        print_words(l.o.json && !strcmp(l.o.json, "-") ? stderr : stdout, &l);
        if (l.o.json) {
            struct output json;
            if (!output_begin(&json, "inspect", l.o.json))
                written = false;
            else {
                print_json(json.to, &l);
                written = output_end(&json);
            }
        }
        if (l.trouble)
            print_error("inspect: %s", l.first_damage.text);
        code = !written || l.trouble ? EXIT_TROUBLE : l.damaged ? EXIT_WRONG : EXIT_DONE;
    }
    free(l.frequency);
    whole_free(&l.sample);
    lade_source_close(l.source);
    return code;
}
