/* SPDX-License-Identifier: MIT */
/* lade feed: a data set through split and loader to a consumer, with a report of how that went. This file: options. */
#include "feed.h"

#include "lade.h"

#include <getopt.h>
#include <lade/bag.h>
#include <lade/thread.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void help(void)
{
    puts("usage: lade feed [SOURCE] [OPTION...]\n"
         "\n"
         "Feeds a part of a data set to a consumer in batches that worker threads make, and reports how fast that was, "
         "what\n"
         "waited for what, and whether each sample came exactly once. SOURCE is one of (default: synthetic)\n"
         "  synthetic[:count=N|endless,classes=N,shape=3x32x32,skew=R,duplicates=N|N%,seed=N|random]\n"
         "  cifar10:DIR[,part=train|test|all]      cifar100:DIR[,part=...][,labels=fine|coarse]\n"
         "  idx:SAMPLES[,LABELS]                   npy:SAMPLES[,labels=FILE]\n"
         "  records:FILE,size=N[,label=OFFSET:BYTES][,classes=N][,header=N][,shape=AxB...][,dtype=NAME]\n"
         "  images:DIR[,size=HEIGHTxWIDTH][,pixels=N]");
    puts("\n"
         "batches\n"
         "  --epochs N            times that the part is fed (2)\n"
         "  --batches N           stop after so many\n"
         "  --batch N             samples of a batch (128)\n"
         "  --drop-last           leave out what is less than a batch at the end of an epoch\n"
         "  --threads N           workers (processors)\n"
         "  --slots N             batches that wait for the consumer or are with it (2 for each worker, and 2)\n"
         "  --seed N|random       of order and transforms (1)\n"
         "  --as-ready            batches come as they are ready, not in order\n"
         "  --stream N            samples come as they are ready through a buffer of N, drawn uniformly\n"
         "  --balanced            each class equally often: samples are drawn with replacement\n"
         "  --shard R/N           shard R of N, from 0\n"
         "  --pad                 shards are made equally long by repeating samples, not by leaving some out\n"
         "  --fault fail|skip|substitute\n"
         "                        what happens where a sample cannot be read (fail)\n"
         "  --faults-max N        so many are borne in an epoch; the next one fails");
    puts("\n"
         "parts\n"
         "  --split A:B[:...]     weights of the parts, chosen by a hash of the sample's key; none: one part (80:20)\n"
         "  --split-seed N        of that hash (0)\n"
         "  --split-table FILE    parts of lade split assign instead, with its weights; it knows samples by their\n"
         "                        names\n"
         "  --memory MIB          that the quotas of a table may take when it is read, at most (1024)\n"
         "  --part N              that is fed, from 0 (0)\n"
         "\n"
         "transforms, in this order\n"
         "  --resize HxW          bilinear\n"
         "  --crop HxW            the rectangle in the middle\n"
         "  --crop-random P       zeros around, P wide, then a rectangle of the size before, anywhere\n"
         "  --flip                left becomes right, with probability 1/2\n"
         "  --normalise           to f32: (x - mean) / deviation, bytes as 0 to 1\n"
         "  --mean A[,B...]       for all channels, or for each (0.5)\n"
         "  --deviation A[,B...]  likewise (0.25)\n"
         "  --layout hwc|chw      channels of a pixel together, or each channel a picture");
    puts("\n"
         "consumer\n"
         "  --consumer softmax|null\n"
         "                        softmax regression, tested with the last part at the end; or nothing (softmax where\n"
         "                        there are labels and u8 or f32 samples, else null)\n"
         "  --device host|opencl|cuda\n"
         "                        batches go to a device, which normalises bytes, with mean 0.5 and deviation 0.25,\n"
         "                        without --normalise, --mean and --deviation; opencl: and learns by softmax\n"
         "  --depth N             batches on the device or on their way there (3)\n"
         "  --rate X              step of softmax (from the first batch)\n"
         "  --work N              microseconds that the consumer sleeps besides for each batch, as for a device\n"
         "\n"
         "state and reports\n"
         "  --save FILE           where the consumer stands, at the end, also after an error or a signal\n"
         "  --save-every N        and after every N batches\n"
         "  --resume FILE         goes on from there; several files: states of all shards, in any order. What softmax\n"
         "                        learnt is no part of it\n"
         "  --log FILE            epoch and numbers of the samples of each batch, a line each; on disk before a state\n"
         "                        is saved. With --resume it is continued\n"
         "  --check               count each sample, and classes and parts of all (up to 100 million samples)\n"
         "  --no-check            do not: nothing is remembered for a sample\n"
         "  --json FILE           the figures as JSON; - is standard output, and the words go to standard error\n"
         "  --html FILE           a page with plots\n"
         "  --timeline FILE       batches from the workers to the device against time, a picture (SVG)\n"
         "  --help");
    puts("\n"
         "examples:\n"
         "  lade feed\n"
         "  lade feed cifar10:/tmp/cifar --epochs 10 --crop-random 4 --flip --normalise --html report.html\n"
         "  lade feed images:/tmp/pictures,size=64x64 --split-table images.split --fault skip --json -\n"
         "  lade feed synthetic:count=1000000 --consumer null --save state --save-every 100\n"
         "  lade feed synthetic:count=1000000 --consumer null --save state --resume state\n"
         "  lade feed --device opencl --epochs 5 --timeline slots.svg\n"
         "  lade feed synthetic:count=endless --stream 10000 --batches 1000\n"
         "\n"
         "exit codes: 0 done, 1 a sample was lost, repeated or damaged, or too many were, 2 wrong use, 3 trouble of "
         "the\n"
         "            system, 130 ended by Ctrl-C and 143 by SIGTERM, in good order: state and reports are written\n"
         "            once batches are made");
}

static bool complain(const char *option, const char *takes, const char *text)
{
    say_error("feed: --%s takes %s, not '%s'", option, takes, text);
    return false;
}

/* Two numbers with a letter between them. */
static bool take_pair(const char *option, const char *text, char between, uint64_t most, uint64_t *a, uint64_t *b)
{
    char *end = NULL, *last = NULL;

    *a = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != between || end[1] < '0' || end[1] > '9')
        return complain(option, between == 'x' ? "HEIGHTxWIDTH" : "R/N", text);
    *b = strtoull(end + 1, &last, 10);
    if (*last || *a > most || *b > most || *b == 0 || (between == 'x' && *a == 0))
        return complain(option, between == 'x' ? "HEIGHTxWIDTH" : "R/N", text);
    return true;
}

static bool take_weights(struct feed_options *o, const char *text)
{
    char *end = NULL;

    o->weight[0] = 1;
    o->parts = 1;
    if (!strcmp(text, "none"))
        return true;
    for (o->parts = 0;; text = end + 1) {
        if (o->parts == LADE_SPLIT_PARTS_MAX || *text < '0' || *text > '9')
            return complain("split", "up to 255 weights like 80:20, or none", text);
        unsigned long long value = strtoull(text, &end, 10);
        if (value > UINT32_MAX || (*end && *end != ':'))
            return complain("split", "up to 255 weights like 80:20, or none", text);
        o->weight[o->parts++] = (uint32_t)value;
        if (!*end)
            return true;
    }
}

static bool take_numbers(const char *option, const char *text, bool above_zero, double *to, unsigned *count)
{
    const char *const all = text;
    char *end = NULL;

    for (*count = 0; *count < LADE_CHANNELS_MAX; text = end + 1) {
        const double value = to[(*count)++] = strtod(text, &end);
        if (end == text || (*end && *end != ',') || !isfinite(value) || (above_zero && value <= 0))
            break;
        if (!*end)
            return true;
    }
    return complain(
        option, above_zero ? "numbers above zero with commas between them" : "numbers with commas between them", all);
}

static bool take_word(const char *option, const char *text, const char *const *words, int *to)
{
    for (*to = 0; words[*to]; ++*to)
        if (!strcmp(text, words[*to]))
            return true;
    say_error("feed: --%s does not know '%s'", option, text);
    return false;
}

enum { DEPTH_MAX = 64 }; /* slots of a feeder */

enum {
    EPOCHS,
    BATCHES,
    BATCH,
    THREADS,
    SLOTS,
    SEED,
    STREAM,
    FAULTS_MAX,
    SPLIT_SEED,
    PART,
    WORK,
    DEPTH,
    MEMORY,
    SAVE_EVERY, /* those up to here take a number */
    DROP_LAST,
    AS_READY,
    BALANCED,
    PAD,
    FLIP,
    NORMALISE,
    CHECK,
    NO_CHECK, /* those up to here take nothing */
    SPLIT_TABLE,
    SAVE,
    LOG,
    JSON,
    HTML,
    TIMELINE, /* those up to here take a text */
    SHARD,
    FAULT,
    SPLIT,
    RESIZE,
    CROP,
    CROP_RANDOM,
    MEAN,
    DEVIATION,
    LAYOUT,
    CONSUMER,
    DEVICE,
    RATE,
    RESUME,
    HELP
};

static const struct option names[] = {{"epochs", 1, 0, EPOCHS},
                                      {"batches", 1, 0, BATCHES},
                                      {"batch", 1, 0, BATCH},
                                      {"threads", 1, 0, THREADS},
                                      {"slots", 1, 0, SLOTS},
                                      {"seed", 1, 0, SEED},
                                      {"stream", 1, 0, STREAM},
                                      {"faults-max", 1, 0, FAULTS_MAX},
                                      {"split-seed", 1, 0, SPLIT_SEED},
                                      {"part", 1, 0, PART},
                                      {"work", 1, 0, WORK},
                                      {"depth", 1, 0, DEPTH},
                                      {"memory", 1, 0, MEMORY},
                                      {"save-every", 1, 0, SAVE_EVERY},
                                      {"drop-last", 0, 0, DROP_LAST},
                                      {"as-ready", 0, 0, AS_READY},
                                      {"balanced", 0, 0, BALANCED},
                                      {"pad", 0, 0, PAD},
                                      {"flip", 0, 0, FLIP},
                                      {"normalise", 0, 0, NORMALISE},
                                      {"check", 0, 0, CHECK},
                                      {"no-check", 0, 0, NO_CHECK},
                                      {"split-table", 1, 0, SPLIT_TABLE},
                                      {"save", 1, 0, SAVE},
                                      {"log", 1, 0, LOG},
                                      {"json", 1, 0, JSON},
                                      {"html", 1, 0, HTML},
                                      {"timeline", 1, 0, TIMELINE},
                                      {"shard", 1, 0, SHARD},
                                      {"fault", 1, 0, FAULT},
                                      {"split", 1, 0, SPLIT},
                                      {"resize", 1, 0, RESIZE},
                                      {"crop", 1, 0, CROP},
                                      {"crop-random", 1, 0, CROP_RANDOM},
                                      {"mean", 1, 0, MEAN},
                                      {"deviation", 1, 0, DEVIATION},
                                      {"layout", 1, 0, LAYOUT},
                                      {"consumer", 1, 0, CONSUMER},
                                      {"device", 1, 0, DEVICE},
                                      {"rate", 1, 0, RATE},
                                      {"resume", 1, 0, RESUME},
                                      {"help", 0, 0, HELP},
                                      {0, 0, 0, 0}};

/* Options that take a number: their place and range. */
static bool take_count(struct feed_options *o, int which)
{
    const struct {
        uint64_t *to, least, most;
    } place[] = {[EPOCHS] = {&o->epochs, 1, UINT32_MAX},
                 [BATCHES] = {&o->batches, 1, UINT64_MAX},
                 [BATCH] = {&o->batch, 1, LADE_BATCH_MAX},
                 [THREADS] = {&o->threads, 1, LADE_LOADER_THREADS_MAX},
                 [SLOTS] = {&o->slots, 1, LADE_LOADER_SLOTS_MAX},
                 [SEED] = {&o->seed, 0, UINT64_MAX},
                 [STREAM] = {&o->stream, 1, LADE_BAG_MAX},
                 [FAULTS_MAX] = {&o->faults_max, 1, UINT64_MAX},
                 [SPLIT_SEED] = {&o->split_seed, 0, UINT64_MAX},
                 [PART] = {&o->part, 0, LADE_SPLIT_PARTS_MAX - 1},
                 [WORK] = {&o->work, 0, 3600000000},
                 [DEPTH] = {&o->depth, 1, DEPTH_MAX},
                 [MEMORY] = {&o->memory, 1, UINT32_MAX},
                 [SAVE_EVERY] = {&o->save_every, 1, UINT64_MAX}};

    if (which == SEED && (o->random_seed = !strcmp(optarg, "random")))
        return true;
    return take_number("feed", names[which].name, optarg, place[which].least, place[which].most, place[which].to);
}

static void take_switch(struct feed_options *o, int which)
{
    bool *const place[] = {[DROP_LAST] = &o->drop_last,  [AS_READY] = &o->as_ready,
                           [BALANCED] = &o->balanced,    [PAD] = &o->pad,
                           [FLIP] = &o->transforms.flip, [NORMALISE] = &o->transforms.normalise};

    if (which == CHECK || which == NO_CHECK)
        o->check = which == CHECK;
    else
        *place[which] = true;
}

static void take_text(struct feed_options *o, int which)
{
    const char **const place[] = {[SPLIT_TABLE] = &o->table, [SAVE] = &o->save, [LOG] = &o->log,
                                  [JSON] = &o->json,         [HTML] = &o->html, [TIMELINE] = &o->timeline};

    *place[which] = optarg;
}

static bool take_other(struct feed_options *o, int which)
{
    static const char *const faults[] = {"fail", "skip", "substitute", NULL}, *const layouts[] = {"hwc", "chw", NULL},
                             *const consumers[] = {"softmax", "null", NULL},
                             *const devices[] = {"host", "opencl", "cuda", NULL};
    struct feed_transforms *t = &o->transforms;
    const char *name = names[which].name;
    char *end = NULL;
    int picked = 0;
    bool good;

    switch (which) {
    case SHARD:
        good = take_pair(name, optarg, '/', LADE_LOADER_SHARDS_MAX, &o->shard, &o->shards);
        return good && (o->shard < o->shards || complain(name, "R/N with R below N", optarg));
    case FAULT:
        good = take_word(name, optarg, faults, &picked);
        o->fault = (enum lade_fault)picked;
        return good;
    case SPLIT:
        return take_weights(o, optarg);
    case RESIZE:
        return take_pair(name, optarg, 'x', LADE_IMAGE_MAX, &t->resize_height, &t->resize_width);
    case CROP:
        return take_pair(name, optarg, 'x', LADE_IMAGE_MAX, &t->crop_height, &t->crop_width);
    case CROP_RANDOM:
        t->crop_random = true;
        return take_number("feed", name, optarg, 0, LADE_IMAGE_MAX, &t->padding);
    case MEAN:
        return take_numbers(name, optarg, false, t->mean, &t->means);
    case DEVIATION:
        return take_numbers(name, optarg, true, t->deviation, &t->deviations);
    case LAYOUT:
        return take_word(name, optarg, layouts, &t->layout);
    case CONSUMER:
        o->consumer = optarg;
        return take_word(name, optarg, consumers, &picked);
    case DEVICE:
        o->device = optarg;
        return take_word(name, optarg, devices, &picked);
    case RATE:
        o->rate = strtod(optarg, &end);
        return (*optarg && !*end && o->rate > 0 && isfinite(o->rate)) || complain(name, "a number above zero", optarg);
    default:
        if (o->resumes == JOINED_MAX)
            return complain(name, "up to 64 files", optarg);
        o->resume[o->resumes++] = optarg;
        return true;
    }
}

/* What does not go together. */
static const char *contradiction(const struct feed_options *o)
{
    if (o->stream && (o->save || o->resumes))
        return "--stream has no state to save or resume";
    if (o->stream && (o->as_ready || o->balanced))
        return "--stream does not go with --as-ready or --balanced";
    if ((o->depth || o->timeline) && !o->device)
        return "--depth and --timeline need --device";
    if (o->device && o->consumer)
        return "--device is a consumer of its own";
    if (o->save_every && !o->save)
        return "--save-every needs --save";
    if (o->table && o->weights_given)
        return "--split-table has weights and a seed of its own; leave --split and --split-seed out";
    if (o->pad && o->shards == 0)
        return "--pad needs --shard";
    if (o->faults_max && o->fault == LADE_FAULT_FAIL)
        return "--faults-max needs --fault skip or substitute";
    if ((o->transforms.means || o->transforms.deviations) && !o->transforms.normalise)
        return "--mean and --deviation need --normalise";
    return NULL;
}

static bool parse(struct feed_options *o, int argc, char **argv)
{
    bool good = true;
    int c;

    while (good && (c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (c == HELP) {
            help();
            exit(EXIT_DONE);
        }
        o->weights_given = o->weights_given || c == SPLIT || c == SPLIT_SEED;
        if (c == '?') {
            good = false;
        } else if (c <= SAVE_EVERY) {
            good = take_count(o, c);
        } else if (c <= NO_CHECK) {
            take_switch(o, c);
        } else if (c <= TIMELINE) {
            take_text(o, c);
        } else {
            good = take_other(o, c);
        }
    }
    if (good && argc - optind > 1) {
        fputs("lade feed: it takes one source\n", stderr);
        good = false;
    } else if (good && argc - optind == 1) {
        o->source = argv[optind];
    }
    const char *why = good ? contradiction(o) : NULL;
    if (why)
        say_error("feed: %s", why);
    return good && !why;
}

static unsigned processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    return count < 1 ? 1 : count > (long)LADE_LOADER_THREADS_MAX ? LADE_LOADER_THREADS_MAX : (unsigned)count;
}

/* True where there is nothing to write. */
static bool write_report(const char *path, void (*report)(FILE *, const struct feed *, const struct figures *),
                         const struct feed *f, const struct figures *g)
{
    struct output o;

    if (!path)
        return true;
    if (!output_begin(&o, "feed", path))
        return false;
    report(o.to, f, g);
    return output_end(&o);
}

static bool write_reports(struct feed *f)
{
    static struct figures g;

    feed_figure(f, &g);
    report_words(f->o.json && !strcmp(f->o.json, "-") ? stderr : stdout, f, &g);
    /* Each, also when another one could not be written. */
    bool json = write_report(f->o.json, report_json, f, &g);
    bool timeline = write_report(f->o.timeline, report_timeline, f, &g);
    bool html = write_report(f->o.html, report_html, f, &g);
    return json && timeline && html;
}

/* A wrong name costs no time, and a run that does not begin leaves the last one's reports alone. */
static bool can_report(const struct feed_options *o)
{
    return output_probe("feed", o->json) && output_probe("feed", o->html) && output_probe("feed", o->timeline) &&
           output_probe_file("feed", o->save);
}

static int feed(struct feed *f)
{
    int code = can_report(&f->o) ? feed_open(f) : EXIT_TROUBLE;

    if (code != EXIT_DONE)
        return code;
    const bool can_learn = f->info->classes > 0 && (f->shape.dtype == LADE_U8 || f->shape.dtype == LADE_F32);
    const char *name = f->o.consumer ? f->o.consumer : can_learn ? "softmax" : "null";
    f->consumer = strcmp(name, "null") ? &consumer_softmax : &consumer_null;
    if (f->o.device) {
#ifdef LADE_GPU
        f->consumer = &consumer_device;
#else
        fputs("lade feed: this build has no devices\n", stderr);
        return EXIT_USAGE;
#endif
    }
    code = feed_run(f);
    /* What was fed before it went wrong is reported as well. */
    if ((f->batches > 0 || code == EXIT_DONE) && !write_reports(f))
        return EXIT_TROUBLE;
    if (code == EXIT_DONE && !tally_right(&f->tally))
        code = EXIT_WRONG;
    return code == EXIT_DONE && feed_signal() ? 128 + feed_signal() : code;
}

int feed_main(int argc, char **argv)
{
    static struct feed f;

    f.o = (struct feed_options){.source = "synthetic",
                                .epochs = 2,
                                .batch = 128,
                                .threads = processors(),
                                .seed = 1,
                                .memory = 1024,
                                .weight = {80, 20},
                                .parts = 2,
                                .transforms = {.layout = -1},
                                .check = -1};
    if (!parse(&f.o, argc, argv)) {
        fputs("lade feed --help shows the options\n", stderr);
        return EXIT_USAGE;
    }
    if (lade_thread_enter() != LADE_OK) { /* splits that remember want that */
        fputs("lade feed: out of memory\n", stderr);
        return EXIT_TROUBLE;
    }
    int code = feed(&f);
    feed_close(&f);
    lade_thread_leave();
    return code;
}
