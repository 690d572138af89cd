/* SPDX-License-Identifier: MIT */
/* The run of lade feed: batches from the loader to the consumer, counted, logged and saved. */
#include "feed.h"

#include "lade.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const int64_t patience = 200000000;   /* nanoseconds between two checks of signals and the progress line */
static const int64_t farewell = 10000000000; /* time limit for workers that are inside a function of the source */
static volatile sig_atomic_t caught;         /* the signal that requested the end */
static atomic_bool making; /* the loader is being created: it cannot be cancelled, and there is nothing to save */
static struct lade_loader *_Atomic cancellable; /* the loader that the handler cancels */

int feed_signal(void)
{
    return caught;
}

/* A second signal ends the program at once: the handler is set for one only. */
static void stop(int signal_number)
{
    struct lade_loader *loader = atomic_load(&cancellable);

    if (atomic_load(&making))
        _exit(128 + signal_number);
    caught = signal_number;
    if (loader)
        lade_loader_cancel(loader);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int start(struct feed *f, struct lade_loader **loader)
{
    const struct feed_options *o = &f->o;
    const struct lade_loader_config config = {
        .source = f->source,
        .pipeline = f->pipeline,
        .split = f->split,
        .part = o->part,
        .seed = o->seed,
        .random_seed = o->random_seed,
        .batch = o->batch,
        .drop_last = o->drop_last,
        .in_order = !o->as_ready && o->stream == 0,
        .threads = (unsigned)o->threads,
        .slots = (unsigned)o->slots,
        .epochs = f->info->count == LADE_ENDLESS ? 0 : o->epochs,
        .shard = (unsigned)o->shard,
        .shards = (unsigned)o->shards,
        .pad = o->pad,
        .draw = o->balanced ? LADE_DRAW_BALANCED : LADE_DRAW_ONCE,
        .buffer = o->stream,
        .fault = o->fault,
        .faults_max = o->faults_max,
        .device = f->gpu,
        .depth = (unsigned)o->depth,
        .trace = o->timeline ? feed_trace : NULL,
        .trace_context = f,
        .pack_row = o->pack,
        .pack_window = o->pack_window,
        .pack_longer = o->pack_longer,
    };

    if (o->resumes == 0)
        return lade_loader_create(loader, &config, &f->error);
    char *state = feed_read_states(o, &f->error);
    if (!state)
        return f->error.status;
    int status = lade_loader_resume(loader, &config, state, &f->error);
    free(state);
    return status;
}

static void prepare_tally(struct feed *f)
{
    struct tally *t = &f->tally;

    t->mixed = f->o.stream > 0;
    t->asked = f->o.epochs;
    t->excused = f->o.drop_last ? f->o.batch - 1 : 0;
    t->expected = f->o.drop_last && !t->mixed ? f->before.batches * f->o.batch : f->before.samples;
    t->whole = f->o.shards <= 1;
    t->repeats = f->o.balanced;
    t->pad_repeats = f->o.pad && f->o.shards > 1 && !f->o.pack ? 1 : 0;
    t->packed = f->o.pack > 0;
    t->parts = f->o.pack_longer == LADE_LONGER_SPLIT;
    if (t->packed)
        t->expected = t->members;
    t->fault = f->o.fault;
}

/* Sets a failed write of a file as the error of the run. */
static int file_error(struct feed *f, const char *path)
{
    f->error.status = LADE_IO;
    (void)snprintf(f->error.text, sizeof f->error.text, "%s: %s", path, strerror(errno));
    return LADE_IO;
}

static int open_log(struct feed *f, FILE **log)
{
    *log = NULL;
    if (!f->o.log)
        return LADE_OK;
    *log = fopen(f->o.log, f->o.resumes ? "a" : "w");
    if (!*log)
        return file_error(f, f->o.log);
    /* Ends a line that a killed run left unfinished. */
    if (f->o.resumes)
        fputs("\n# resumed\n", *log);
    return LADE_OK;
}

/* Writes the log to the system. */
static bool log_flush(FILE *log)
{
    return fflush(log) == 0 && !ferror(log);
}

/* Writes the log to the disk. A pipe or a device cannot be synced. */
static bool log_sync(FILE *log)
{
    return log_flush(log) && (fsync(fileno(log)) == 0 || errno == EINVAL || errno == EROFS);
}

static void log_batch(FILE *log, const struct lade_batch *batch)
{
    fprintf(log, "%" PRIu64, batch->epoch);
    for (uint64_t i = 0; i < batch->count; i++)
        fprintf(log, " %" PRIu64, batch->ids[i]);
    fputc('\n', log);
}

/* The log must be on disk before the state that covers it. */
static int save(struct feed *f, struct lade_loader *loader, FILE *log)
{
    int status = LADE_OK;

    if (log && !log_sync(log))
        status = file_error(f, f->o.log);
    if (status == LADE_OK)
        status = lade_loader_save(loader, f->o.save, &f->error);
    if (status == LADE_OK && log)
        fputs("# saved\n", log);
    f->saves += status == LADE_OK;
    return status;
}

/* Simulates the duration of a device's work. */
static void work(uint64_t microseconds)
{
    struct timespec t = {(time_t)(microseconds / 1000000), (long)(microseconds % 1000000) * 1000};

    if (microseconds)
        while (nanosleep(&t, &t) != 0 && !caught)
            continue;
}

/* Bytes of all tensors. */
static uint64_t bytes_of(const struct lade_batch *batch)
{
    uint64_t bytes = 0;

    for (unsigned t = 0; t < batch->tensors; t++)
        bytes += lade_shape_bytes(batch->tensor[t].shape);
    return bytes;
}

/* Steps of the samples of a batch; packed rows are counted by the loader. */
static uint64_t steps_of(struct feed *f, const struct lade_batch *batch)
{
    uint64_t steps = 0, length;

    for (uint64_t i = 0; i < batch->count && f->sequence != LADE_NO_FIELD && !f->o.pack; i++)
        if (lade_source_length(f->source, batch->ids[i], (unsigned)f->sequence, &length, NULL) == LADE_OK)
            steps += length;
    return steps;
}

static int use_batch(struct feed *f, struct lade_loader *loader, const struct lade_batch *batch, FILE *log)
{
    if (f->batches == 0)
        f->first_epoch = batch->epoch;
    if (batch->epoch >= f->first_epoch + f->epochs)
        f->epochs = batch->epoch - f->first_epoch + 1;
    /* Arrivals before the resumed state are unknown: those of the open epoch, or of all open ones with --as-ready. */
    bool before = f->o.resumes && (batch->epoch == f->first_epoch || f->o.as_ready);
    if (f->tally.on && !tally_batch(&f->tally, batch, before)) {
        feed_out_of_memory(&f->error);
        return LADE_NO_MEMORY;
    }
    for (uint64_t i = 0; i < batch->count && f->info->classes; i++)
        f->drawn[batch->labels[i]]++;
    if (log)
        log_batch(log, batch);
    f->batches++;
    f->samples += batch->count;
    f->steps_fed += steps_of(f, batch);
    f->bytes += f->info->schema ? bytes_of(batch) : batch->count * batch->sample_bytes;
    int status = f->consumer->take(f->consumer_self, loader, batch, &f->error);
    work(f->o.work);
    return status;
}

/* Samples to be fed; UINT64_MAX: unknown. A resumed run begins somewhere in its first epoch. */
static uint64_t samples_in_all(const struct feed *f)
{
    const uint64_t epochs = f->o.epochs > f->first_epoch ? f->o.epochs - f->first_epoch : 0;
    const uint64_t all = f->info->count == LADE_ENDLESS ? UINT64_MAX : f->before.samples * epochs;
    const uint64_t most = f->o.batches > UINT64_MAX / f->o.batch ? UINT64_MAX : f->o.batches * f->o.batch;

    return f->o.batches && !f->o.pack && most < all ? most : all; /* of packed rows the samples are not known */
}

/* Runs until the loader ends, --batches is reached, a signal arrives or an error occurs. */
static int feed_batches(struct feed *f, struct lade_loader *loader, FILE *log)
{
    const double begin = seconds_now();
    struct lade_batch batch;
    int status = LADE_OK;

    while (status == LADE_OK && (f->o.batches == 0 || f->batches < f->o.batches)) {
        status = lade_loader_next(loader, &batch, patience, &f->error);
        if (status == LADE_TIMEOUT) {
            status = caught ? LADE_CANCELLED : LADE_OK;
            continue;
        }
        if (status == LADE_OK) {
            status = use_batch(f, loader, &batch, log);
            f->lost = status != LADE_OK;
        }
        f->seconds = seconds_now() - begin;
        if (status == LADE_OK)
            curve_add(&f->speed, f->seconds, (double)f->samples);
        if (status == LADE_OK && f->o.save_every && f->batches % f->o.save_every == 0)
            status = save(f, loader, log);
        if (f->samples < samples_in_all(f))
            progress_line("feeding", "samples", f->samples, samples_in_all(f));
    }
    progress_line("feeding", "samples", 1, 1);
    return status;
}

/* Epochs of a stream mix, and a batch names the earliest of its samples: the samples determine the number of epochs. */
static void count_stream_epochs(struct feed *f)
{
    const uint64_t in_epoch = f->info->count == LADE_ENDLESS ? 0 : f->before.samples;

    if (f->o.stream == 0)
        return;
    f->first_epoch = 0;
    f->epochs = in_epoch == 0 ? 0 : f->status == LADE_CLOSED ? f->o.epochs : (f->samples + in_epoch - 1) / in_epoch;
}

/* Tests the model with the last part, unless that is the part that is fed. */
static int test(struct feed *f)
{
    struct lade_loader *loader = NULL;
    struct lade_batch batch;
    const struct lade_loader_config config = {.source = f->source,
                                              .pipeline = f->test_pipeline,
                                              .split = f->split,
                                              .part = f->parts - 1,
                                              .seed = f->o.seed,
                                              .batch = f->o.batch,
                                              .in_order = true,
                                              .sequential = true,
                                              .threads = (unsigned)f->o.threads,
                                              .slots = (unsigned)f->o.slots,
                                              .epochs = 1,
                                              .fault = f->o.fault,
                                              .faults_max = f->o.faults_max};

    if (!f->consumer->test || f->parts < 2 || f->o.part == f->parts - 1 || f->info->count == LADE_ENDLESS)
        return LADE_OK;
    int status = lade_loader_create(&loader, &config, &f->error);
    if (status == LADE_EMPTY)
        return LADE_OK;
    if (status != LADE_OK)
        return status;
    atomic_store(&cancellable, loader);
    if (caught)
        lade_loader_cancel(loader);
    while (status == LADE_OK || status == LADE_TIMEOUT) {
        status = lade_loader_next(loader, &batch, patience, &f->error);
        if (status == LADE_OK)
            status = f->consumer->test(f->consumer_self, loader, &batch, &f->error);
        else if (status == LADE_TIMEOUT && caught)
            status = LADE_CANCELLED;
    }
    atomic_store(&cancellable, NULL);
    if (lade_loader_stop(loader, farewell) != LADE_OK)
        exit(EXIT_TROUBLE); /* a worker did not return: the memory it uses cannot be freed */
    lade_loader_destroy(loader);
    return status == LADE_CLOSED ? LADE_OK : status;
}

/* Ends the loader, with the last state saved. */
static int end(struct feed *f, struct lade_loader *loader, FILE *log)
{
    const struct lade_error first = f->error;
    int status = LADE_OK;

    lade_loader_stats(loader, &f->stats);
    f->shares = lade_loader_shares(loader, f->share, LADE_MIXTURE_SOURCES_MAX);
    if (f->o.pack)
        f->steps_fed = f->stats.packed_steps;
    f->anonymous = anonymous_memory();
    if (f->o.save && !f->lost)
        status = save(f, loader, log);
    /* The stream records an error, also one of an earlier write. */
    bool logged = !log || log_sync(log);
    logged = (!log || fclose(log) == 0) && logged;
    if (!logged && status == LADE_OK)
        status = file_error(f, f->o.log);
    atomic_store(&cancellable, NULL);
    if (lade_loader_stop(loader, farewell) != LADE_OK) {
        fputs("lade feed: gave up waiting for a worker that is still reading or transforming, or for the device\n",
              stderr);
        exit(EXIT_TROUBLE);
    }
    lade_loader_destroy(loader);
    if (status == LADE_OK)
        f->error = first;
    else if (f->status == LADE_OK || f->status == LADE_CLOSED || f->status == LADE_CANCELLED)
        f->status = status;
    else
        f->error = first; /* the first error matters more */
    return f->status == LADE_OK || f->status == LADE_CLOSED || f->status == LADE_CANCELLED ? EXIT_DONE
                                                                                           : feed_trouble(&f->error);
}

int feed_run(struct feed *f)
{
    struct lade_loader *loader = NULL;
    FILE *log = NULL;

    catch_signals();
    int code = feed_classify(f);
    if (code != EXIT_DONE)
        return code;
    if (f->consumer->open(&f->consumer_self, f, &f->error) != LADE_OK)
        return feed_trouble(&f->error);
    atomic_store(&making, true);
    if (caught)
        return 128 + caught; /* before the first batch there is nothing to save or to report */
    int status = start(f, &loader);
    atomic_store(&making, false);
    if (status != LADE_OK || open_log(f, &log) != LADE_OK) {
        code = feed_trouble(&f->error);
        lade_loader_destroy(loader);
        return code;
    }
    atomic_store(&cancellable, loader);
    if (caught) /* the signal came before there was a loader to cancel */
        lade_loader_cancel(loader);
    lade_loader_stats(loader, &f->before);
    f->o.seed = f->before.seed; /* --seed random: the drawn seed */
    (void)snprintf(f->guarantee, sizeof f->guarantee, "%s", f->before.guarantee);
    prepare_tally(f);
    f->status = feed_batches(f, loader, log);
    count_stream_epochs(f);
    code = end(f, loader, log);
    tally_end(&f->tally, f->status == LADE_CLOSED);
    if (code == EXIT_DONE && f->status != LADE_CANCELLED && !caught && test(f) != LADE_OK && !caught)
        code = feed_trouble(&f->error);
    f->consumer->learnt(f->consumer_self, &f->learnt);
    return code;
}
