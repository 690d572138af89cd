/* SPDX-License-Identifier: MIT */
/* lade feed: feeds a data set through split and loader to a consumer, and reports on the run. This file: options. */
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
    puts(
        "usage: lade feed [SOURCE] [OPTION...]\n"
        "\n"
        "Worker threads make batches of a data set and feed them to a consumer. The report at the end shows the speed, "
        "what\n"
        "was the bottleneck, and whether each sample arrived exactly once. SOURCE is one of (default: synthetic)\n"
        "  synthetic[:count=N|endless,classes=N,shape=3x32x32,skew=R,duplicates=N|N%,seed=N|random]\n"
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
        "  npz:FILE[,field=NAME...][,label=NAME][,key=NAME][,group=NAME][,unpacked=N]");
    puts(
        "\n"
        "mixtures, in place of SOURCE\n"
        "  --mix WEIGHT:SOURCE   take samples of this source by its weight; repeat it for up to 64 sources. Weights "
        "are\n"
        "                        numbers such as 3 or 0.25. With --resume they may differ from those before\n"
        "  --mix-end repeat|drop|stop\n"
        "                        a source that has ended begins again, is dropped, or ends the epoch (repeat)\n"
        "\n"
        "batches\n"
        "  --epochs N            number of epochs (2)\n"
        "  --batches N           stop after N batches\n"
        "  --batch N             samples per batch (128)\n"
        "  --drop-last           drop the last batch of an epoch if it is not full\n"
        "  --threads N           worker threads (one per processor)\n"
        "  --slots N             batches that are ready or with the consumer, at most (2 per worker, plus 2)\n"
        "  --seed N|random       seed of the order and of random transforms (1)\n"
        "  --as-ready            deliver batches as soon as they are ready, not in order\n"
        "  --stream N            shuffle through a buffer of N samples; epochs mix\n"
        "  --balanced            draw each class equally often, with replacement\n"
        "  --shard R/N           feed shard R of N, counted from 0\n"
        "  --pad                 make shards equally long by repeating samples instead of dropping some; with --pack,\n"
        "                        fill the last batch of an epoch with empty rows\n"
        "  --pack N              pack sequences into rows of N steps; --batch then counts rows\n"
        "  --pack-window N       samples that are packed together (1024)\n"
        "  --pack-longer fault|cut|split|drop\n"
        "                        what to do with a sample that is longer than a row (fault)\n"
        "  --fault fail|skip|substitute\n"
        "                        what to do with a sample that cannot be read (fail)\n"
        "  --faults-max N        tolerate N faults per epoch, then fail");
    puts("\n"
         "parts\n"
         "  --split A:B[:...]     split the source by weights, 80:20 or 8,1,1: a hash of the sample's key chooses its\n"
         "                        part (none: the whole source is one part)\n"
         "  --split-seed N        seed of that hash (0)\n"
         "  --split-table FILE    take parts and weights from a table of lade split assign, which knows samples by\n"
         "                        name\n"
         "  --memory MIB          memory limit for the quotas of the table (1024)\n"
         "  --part train|validation|test|N\n"
         "                        the part to feed: train or test of two, train, validation or test of three, or its\n"
         "                        number from 0 (0)\n"
         "\n"
         "transforms, in this order\n"
         "  --resize HxW          resize, bilinear\n"
         "  --crop HxW            keep a rectangle in the centre\n"
         "  --crop-random P       pad with P zeros on each side, then crop to the size before at a random position\n"
         "  --flip                mirror left and right with probability 1/2\n"
         "  --normalise           convert to f32: (x - mean) / deviation, with bytes scaled to 0 to 1\n"
         "  --mean A[,B...]       one mean for all channels, or one for each (0.5)\n"
         "  --deviation A[,B...]  one deviation for all channels, or one for each (0.25)\n"
         "  --layout hwc|chw      channels last, or channels first");
    puts("\n"
         "consumer\n"
         "  --consumer softmax|null\n"
         "                        train a softmax regression, and test it on the last part if the source is split; or\n"
         "                        do nothing (softmax for labelled u8 or f32 samples, else null)\n"
         "  --device host|opencl|cuda\n"
         "                        copy batches to a device, which normalises bytes, with mean 0.5 and deviation 0.25,\n"
         "                        in place of --normalise, --mean and --deviation; opencl also trains the softmax\n"
         "  --depth N             batches on the device or on their way there (3)\n"
         "  --rate X              learning rate of the softmax (chosen by the first batch)\n"
         "  --work N              sleep N microseconds after each batch, to stand for a slower consumer\n"
         "\n"
         "state and reports\n"
         "  --save FILE           save the position at the end, also after an error or a signal\n"
         "  --save-every N        and after every N batches\n"
         "  --resume FILE         continue from a saved position; repeat it for the states of all shards, in any\n"
         "                        order. The trained model is not part of a state\n"
         "  --in-step             the one state stands for all shards of its run: all took as many batches\n"
         "  --log FILE            write epoch and sample numbers of each batch, one line each; synced before a state\n"
         "                        is saved, and continued by --resume\n"
         "  --check               count every sample, class and part (default up to 100 million samples)\n"
         "  --no-check            do not count, and keep nothing in memory per sample\n"
         "  --json FILE           write the report as JSON; - is standard output, and the text goes to standard error\n"
         "  --html FILE           write the report as a page with plots\n"
         "  --timeline            add the first batches against time, from the workers to the consumer, to these two\n"
         "  --help                show this text");
    puts("\n"
         "examples:\n"
         "  lade feed\n"
         "  lade feed cifar10:/tmp/cifar --epochs 10 --crop-random 4 --flip --normalise --html report.html\n"
         "  lade feed cifar10:/tmp/cifar --split 80:20 --part train\n"
         "  lade feed images:/tmp/pictures,size=64x64 --split-table images.split --fault skip --json -\n"
         "  lade feed synthetic:count=1000000 --consumer null --save state --save-every 100\n"
         "  lade feed synthetic:count=1000000 --consumer null --save state --resume state\n"
         "  lade feed --device opencl --epochs 5 --timeline --html report.html\n"
         "  lade feed --mix 0.7:cifar10:/tmp/a --mix 0.3:cifar10:/tmp/b --mix-end drop\n"
         "  lade feed synthetic:count=endless --stream 10000 --batches 1000\n"
         "  lade feed megatron:/tmp/text --pack 2048 --pack-longer split --batch 8\n"
         "\n"
         "exit codes: 0 done, 1 a sample was lost, repeated or damaged, or there were too many faults, 2 wrong use,\n"
         "            3 system error, 130 ended by Ctrl-C and 143 by SIGTERM, after state and reports were written\n"
         "            if a batch had been delivered");
}

static bool complain(const char *option, const char *takes, const char *text)
{
    print_error("feed: --%s takes %s, not '%s'", option, takes, text);
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

enum { DEPTH_MAX = 64 }; /* batches on the device */

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
    WORK,
    DEPTH,
    MEMORY,
    PACK,
    PACK_WINDOW,
    SAVE_EVERY, /* options up to here take a number */
    DROP_LAST,
    AS_READY,
    BALANCED,
    PAD,
    FLIP,
    NORMALISE,
    TIMELINE,
    IN_STEP,
    CHECK,
    NO_CHECK, /* options up to here take no value */
    SPLIT_TABLE,
    PART,
    SAVE,
    LOG,
    JSON,
    HTML, /* options up to here take a text */
    SHARD,
    PACK_LONGER,
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
    MIX,
    MIX_END,
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
                                      {"work", 1, 0, WORK},
                                      {"depth", 1, 0, DEPTH},
                                      {"memory", 1, 0, MEMORY},
                                      {"pack", 1, 0, PACK},
                                      {"pack-window", 1, 0, PACK_WINDOW},
                                      {"save-every", 1, 0, SAVE_EVERY},
                                      {"drop-last", 0, 0, DROP_LAST},
                                      {"as-ready", 0, 0, AS_READY},
                                      {"balanced", 0, 0, BALANCED},
                                      {"pad", 0, 0, PAD},
                                      {"flip", 0, 0, FLIP},
                                      {"normalise", 0, 0, NORMALISE},
                                      {"timeline", 0, 0, TIMELINE},
                                      {"in-step", 0, 0, IN_STEP},
                                      {"check", 0, 0, CHECK},
                                      {"no-check", 0, 0, NO_CHECK},
                                      {"split-table", 1, 0, SPLIT_TABLE},
                                      {"part", 1, 0, PART},
                                      {"save", 1, 0, SAVE},
                                      {"log", 1, 0, LOG},
                                      {"json", 1, 0, JSON},
                                      {"html", 1, 0, HTML},
                                      {"shard", 1, 0, SHARD},
                                      {"pack-longer", 1, 0, PACK_LONGER},
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
                                      {"mix", 1, 0, MIX},
                                      {"mix-end", 1, 0, MIX_END},
                                      {"help", 0, 0, HELP},
                                      {0, 0, 0, 0}};

/* Options that take a number: their field and range. */
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
                 [WORK] = {&o->work, 0, 3600000000},
                 [DEPTH] = {&o->depth, 1, DEPTH_MAX},
                 [MEMORY] = {&o->memory, 1, UINT32_MAX},
                 [PACK] = {&o->pack, 1, INT32_MAX},
                 [PACK_WINDOW] = {&o->pack_window, 1, 1 << 20},
                 [SAVE_EVERY] = {&o->save_every, 1, UINT64_MAX}};

    if (which == SEED && (o->random_seed = !strcmp(optarg, "random")))
        return true;
    return take_number("feed", names[which].name, optarg, place[which].least, place[which].most, place[which].to);
}

static void take_switch(struct feed_options *o, int which)
{
    bool *const place[] = {[DROP_LAST] = &o->drop_last,  [AS_READY] = &o->as_ready,
                           [BALANCED] = &o->balanced,    [PAD] = &o->pad,
                           [FLIP] = &o->transforms.flip, [NORMALISE] = &o->transforms.normalise,
                           [TIMELINE] = &o->timeline,    [IN_STEP] = &o->in_step};

    if (which == CHECK || which == NO_CHECK)
        o->check = which == CHECK;
    else
        *place[which] = true;
}

static void take_text(struct feed_options *o, int which)
{
    const char **const place[] = {[SPLIT_TABLE] = &o->table, [PART] = &o->part_name, [SAVE] = &o->save,
                                  [LOG] = &o->log,           [JSON] = &o->json,      [HTML] = &o->html};

    *place[which] = optarg;
}

static bool take_other(struct feed_options *o, int which)
{
    static const char *const longer[] = {"fault", "cut", "split", "drop", NULL};
    static const char *const faults[] = {"fail", "skip", "substitute", NULL}, *const layouts[] = {"hwc", "chw", NULL},
                             *const consumers[] = {"softmax", "null", NULL},
                             *const devices[] = {"host", "opencl", "cuda", NULL},
                             *const ends[] = {"repeat", "drop", "stop", NULL};
    struct feed_transforms *t = &o->transforms;
    const char *name = names[which].name;
    char *end = NULL;
    int picked = 0;
    bool good;

    switch (which) {
    case SHARD:
        good = take_pair(name, optarg, '/', LADE_LOADER_SHARDS_MAX, &o->shard, &o->shards);
        return good && (o->shard < o->shards || complain(name, "R/N with R below N", optarg));
    case PACK_LONGER:
        o->longer_given = true;
        good = take_word("feed", name, optarg, longer, &picked);
        o->pack_longer = (enum lade_longer)picked;
        return good;
    case FAULT:
        good = take_word("feed", name, optarg, faults, &picked);
        o->fault = (enum lade_fault)picked;
        return good;
    case SPLIT:
        if (strcmp(optarg, "none") != 0)
            return take_weights("feed", name, optarg, o->weight, &o->parts);
        o->parts = 1;
        return true;
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
        return take_word("feed", name, optarg, layouts, &t->layout);
    case CONSUMER:
        o->consumer = optarg;
        return take_word("feed", name, optarg, consumers, &picked);
    case DEVICE:
        o->device = optarg;
        return take_word("feed", name, optarg, devices, &picked);
    case MIX:
        return feed_mix_take(o, optarg);
    case MIX_END:
        return take_word("feed", name, optarg, ends, &o->mix_end);
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

/* Options that exclude each other; NULL: none. */
static const char *contradiction(const struct feed_options *o)
{
    if (o->stream && (o->save || o->resumes))
        return "--stream cannot be combined with --save or --resume: a stream has no saved position";
    if (o->stream && (o->as_ready || o->balanced))
        return "--stream cannot be combined with --as-ready or --balanced";
    if (o->mixes && (o->table || o->parts > 1 || o->stream || o->balanced))
        return "--mix cannot be combined with --split, --split-table, --stream or --balanced";
    if (o->depth && !o->device)
        return "--depth needs --device";
    if (o->timeline && !o->json && !o->html)
        return "--timeline takes no file: it adds to the report of --html or --json";
    if (o->device && o->consumer)
        return "--device replaces --consumer; give one of them";
    if (o->in_step && o->resumes != 1)
        return "--in-step needs one --resume";
    if (o->save_every && !o->save)
        return "--save-every needs --save";
    if (o->table && o->weights_given)
        return "--split-table already contains weights and a seed; leave out --split and --split-seed";
    if (o->split_seeded && o->parts == 1 && !o->table)
        return "--split-seed needs --split";
    if (o->pad && o->shards == 0 && !o->pack)
        return "--pad needs --shard or --pack";
    if ((o->pack_window || o->longer_given) && !o->pack)
        return "--pack-window and --pack-longer need --pack";
    if (o->pack && (o->stream || o->drop_last || o->fault == LADE_FAULT_SUBSTITUTE))
        return "--pack cannot be combined with --stream, --drop-last or --fault substitute";
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
        o->split_seeded = o->split_seeded || c == SPLIT_SEED;
        if (c == '?') {
            good = false;
        } else if (c <= SAVE_EVERY) {
            good = take_count(o, c);
        } else if (c <= NO_CHECK) {
            take_switch(o, c);
        } else if (c <= HTML) {
            take_text(o, c);
        } else {
            good = take_other(o, c);
        }
    }
    if (good && argc - optind > 1) {
        fputs("lade feed: give one SOURCE only\n", stderr);
        good = false;
    } else if (good && argc - optind == 1) {
        o->source = argv[optind];
    }
    if (good && o->mixes > 0 && argc - optind > 0) {
        fputs("lade feed: --mix takes the place of SOURCE; give one of them\n", stderr);
        good = false;
    } else if (good && o->mixes > 0) {
        o->source = "mixture";
    }
    const char *why = good ? contradiction(o) : NULL;
    if (why)
        print_error("feed: %s", why);
    return good && !why;
}

static unsigned processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    return count < 1 ? 1 : count > (long)LADE_LOADER_THREADS_MAX ? LADE_LOADER_THREADS_MAX : (unsigned)count;
}

/* True also if there is nothing to write. */
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
    /* Write each report, even if another one failed. */
    bool json = write_report(f->o.json, report_json, f, &g);
    bool html = write_report(f->o.html, report_html, f, &g);
    return json && html;
}

/* A wrong name fails before the run, and a run that does not start keeps the reports of the last one. */
static bool can_report(const struct feed_options *o)
{
    return output_probe("feed", o->json) && output_probe("feed", o->html) && output_probe_file("feed", o->save);
}

static int feed(struct feed *f)
{
    int code = can_report(&f->o) ? feed_open(f) : EXIT_TROUBLE;

    if (code != EXIT_DONE)
        return code;
    const bool can_learn =
        f->info->classes > 0 && f->info->bytes > 0 && (f->shape.dtype == LADE_U8 || f->shape.dtype == LADE_F32);
    const char *name = f->o.consumer ? f->o.consumer : can_learn ? "softmax" : "null";
    f->consumer = strcmp(name, "null") ? &consumer_softmax : &consumer_null;
    if (f->o.device) {
#ifdef LADE_GPU
        f->consumer = &consumer_device;
#else
        fputs("lade feed: this build has no device support; configure it with -Dgpu=enabled and build again\n", stderr);
        return EXIT_USAGE;
#endif
    }
    code = feed_run(f);
    /* What was fed before a failure is reported as well. */
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
                                .weight = {1},
                                .parts = 1,
                                .transforms = {.layout = -1},
                                .check = -1};
    if (!parse(&f.o, argc, argv)) {
        fputs("lade feed --help shows the options\n", stderr);
        return EXIT_USAGE;
    }
    if (lade_thread_enter() != LADE_OK) { /* exact splits require it */
        fputs("lade feed: out of memory\n", stderr);
        return EXIT_TROUBLE;
    }
    int code = feed(&f);
    feed_close(&f);
    lade_thread_leave();
    return code;
}
