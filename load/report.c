/* SPDX-License-Identifier: MIT */
#include <lade/report.h>

#include "escape.h"
#include "sized.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static double clamp(double share)
{
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

static const char *bottleneck(const struct lade_report_times *t)
{
    const double half = 0.5, working = 1 - t->wait;

    if (t->busy >= half && t->busy >= working)
        return "consumer";
    if (working < half)
        return "hand-over";
    return t->transform >= t->read && t->transform >= t->plan ? "transform" : t->read >= t->plan ? "read" : "plan";
}

static void compute(const struct lade_report *r, struct lade_report_times *t)
{
    const double running = (double)r->running_time, batches = (double)r->batches;

    *t = (struct lade_report_times){.bottleneck = "none"};
    if (!(r->seconds > 0) || !(running > 0))
        return;
    t->samples_rate = (double)r->samples / r->seconds;
    t->bytes_rate = (double)r->bytes / r->seconds;
    t->read = clamp((double)r->read_time / running);
    t->transform = clamp((double)r->transform_time / running);
    t->wait = clamp((double)r->worker_wait_time / running);
    t->plan = clamp(1 - t->read - t->transform - t->wait);
    t->busy = 1 - clamp((double)r->consumer_wait_time * 1e-9 / r->seconds);
    /* While the device works, the consumer may wait for buffers that are still being copied, not for data. */
    if (r->device && r->device_compute / r->seconds > t->busy)
        t->busy = clamp(r->device_compute / r->seconds);
    t->stall = 1 - t->busy;
    t->bottleneck = bottleneck(t);
    t->load = ratio(running * 1e-9 * (1 - t->wait) / (double)(r->threads ? r->threads : 1), batches);
    t->use = ratio(r->seconds * t->busy, batches);
    t->batch = ratio(r->seconds, batches);
    t->bound = ratio(t->load < t->use ? t->load : t->use, t->load + t->use);
    t->saved = t->load + t->use > 0 ? clamp(1 - t->batch / (t->load + t->use)) : 0;
}

int lade_report_compute_sized(const struct lade_report *report, size_t report_size, struct lade_report_times *times,
                              size_t times_size)
{
    struct lade_report copy;
    struct lade_report_times whole;
    const struct lade_report *r = lade_sized_in(report, report_size, &copy, sizeof copy);

    if (!r)
        return LADE_INVALID;
    compute(r, &whole);
    lade_sized_out(times, times_size, &whole, sizeof whole);
    return LADE_OK;
}

/* JSON output to the caller's function, buffered in a few hundred bytes. */
struct json {
    lade_report_write *write;
    void *context;
    int status;
    bool first; /* of its object or array */
    size_t used;
    char bytes[512];
};

static void flush(struct json *j)
{
    if (j->status == LADE_OK && j->used > 0)
        j->status = j->write(j->context, j->bytes, j->used);
    j->used = 0;
}

static void put(struct json *j, const char *text, size_t size)
{
    if (size > sizeof j->bytes - j->used)
        flush(j);
    memcpy(j->bytes + j->used, text, size); /* at most a name or a number */
    j->used += size;
}

static void put_text(struct json *j, const char *text)
{
    put(j, text, strlen(text));
}

static void quoted(struct json *j, const char *text)
{
    const size_t size = strlen(text);

    put_text(j, "\"");
    for (size_t at = 0; at < size;) {
        const unsigned char *next = (const unsigned char *)text + at;
        const unsigned length = lade_utf8_length(text + at, size - at);
        const bool control = length == 2 && *next == 0xc2 && next[1] < 0xa0;
        char escape[8];
        if (length == 0) {
            put_text(j, "\\ufffd");
        } else if (*next < ' ' || *next == 0x7f || control || memchr("\"\\<>&", *next, 5)) {
            (void)snprintf(escape, sizeof escape, "\\u%04x", control ? next[1] : *next);
            put_text(j, escape);
        } else {
            put(j, text + at, length);
        }
        at += length ? length : 1;
    }
    put_text(j, "\"");
}

/* Writes the separator before an element, and its name inside an object. */
static void name(struct json *j, const char *text)
{
    if (!j->first)
        put_text(j, ", ");
    j->first = false;
    if (!text)
        return;
    quoted(j, text);
    put_text(j, ": ");
}

static void begin(struct json *j, const char *of, const char *bracket)
{
    name(j, of);
    put_text(j, bracket);
    j->first = true;
}

static void end(struct json *j, const char *bracket)
{
    put_text(j, bracket);
    j->first = false;
}

static void text(struct json *j, const char *of, const char *value)
{
    if (!value)
        return;
    name(j, of);
    quoted(j, value);
}

static void whole(struct json *j, const char *of, uint64_t value)
{
    char digits[24];

    name(j, of);
    (void)snprintf(digits, sizeof digits, "%" PRIu64, value);
    put_text(j, digits);
}

static void truth(struct json *j, const char *of, bool value)
{
    name(j, of);
    put_text(j, value ? "true" : "false");
}

/* The decimal mark of the locale becomes a point. */
static void number(struct json *j, const char *of, double value)
{
    char from[40], to[40];
    size_t size = 0;

    name(j, of);
    if (!isfinite(value)) {
        put_text(j, "null");
        return;
    }
    (void)snprintf(from, sizeof from, "%.9g", value);
    for (const char *at = from; *at; at++) {
        if (strchr("0123456789+-e", *at))
            to[size++] = *at;
        else if (size == 0 || to[size - 1] != '.')
            to[size++] = '.';
    }
    put(j, to, size);
}

static void curve(struct json *j, const char *of, const char *x, const char *y, const struct lade_report_curve *c)
{
    if (c->points == 0)
        return;
    begin(j, of, "{");
    begin(j, x, "[");
    for (size_t i = 0; i < c->points; i++)
        number(j, NULL, c->x[i]);
    end(j, "]");
    begin(j, y, "[");
    for (size_t i = 0; i < c->points; i++)
        number(j, NULL, c->y[i]);
    end(j, "]");
    end(j, "}");
}

static void put_run(struct json *j, const struct lade_report *r)
{
    text(j, "source", r->source);
    text(j, "ended", r->ended);
    if (r->source_samples != LADE_ENDLESS)
        whole(j, "source_samples", r->source_samples);
    whole(j, "samples", r->samples);
    whole(j, "batches", r->batches);
    whole(j, "bytes", r->bytes);
    whole(j, "batch", r->batch);
    if (r->epochs > 0) {
        whole(j, "first_epoch", r->first_epoch);
        whole(j, "last_epoch", r->first_epoch + r->epochs - 1);
    }
    whole(j, "threads", r->threads);
    whole(j, "seed", r->seed);
    text(j, "order", r->order);
    truth(j, "replacement", r->replacement);
    whole(j, "shard", r->shard);
    whole(j, "shards", r->shards ? r->shards : 1);
    text(j, "claim", r->guarantee);
}

static void put_times(struct json *j, const struct lade_report *r)
{
    struct lade_report_times t;

    compute(r, &t);
    number(j, "seconds", r->seconds);
    number(j, "samples_per_second", t.samples_rate);
    number(j, "bytes_per_second", t.bytes_rate);
    begin(j, "workers", "{");
    number(j, "read", t.read);
    number(j, "transform", t.transform);
    number(j, "plan", t.plan);
    number(j, "wait", t.wait);
    end(j, "}");
    begin(j, "consumer", "{");
    text(j, "name", r->consumer);
    number(j, "busy", t.busy);
    number(j, "stall", t.stall);
    end(j, "}");
    text(j, "bottleneck", t.bottleneck);
    begin(j, "overlap", "{");
    number(j, "t1", t.load);
    number(j, "t2", t.use);
    number(j, "batch", t.batch);
    number(j, "saved", t.saved);
    number(j, "bound", t.bound);
    end(j, "}");
    begin(j, "memory", "{");
    whole(j, "peak", r->peak_memory);
    whole(j, "anonymous", r->anonymous_memory);
    whole(j, "slot", r->slot_bytes);
    end(j, "}");
}

static void put_arrivals(struct json *j, const struct lade_report *r)
{
    begin(j, "check", "{");
    truth(j, "counted", r->checked);
    if (r->checked) {
        truth(j, "right", r->right);
        whole(j, "missing", r->missing);
        whole(j, "repeated", r->repeated);
        whole(j, "foreign", r->foreign);
        whole(j, "wrong_length", r->wrong_length);
    }
    end(j, "}");
    begin(j, "faults", "{");
    whole(j, "count", r->faults);
    begin(j, "named", "[");
    for (size_t i = 0; i < r->faults_named; i++) {
        begin(j, NULL, "{");
        text(j, "sample", r->fault[i].sample);
        text(j, "error", r->fault[i].error);
        end(j, "}");
    }
    end(j, "]");
    end(j, "}");
    whole(j, "replaced_workers", r->replaced);
    whole(j, "saves", r->saves);
}

static void put_split(struct json *j, const struct lade_report *r)
{
    if (r->parts == 0)
        return;
    begin(j, "split", "{");
    whole(j, "part", r->part);
    begin(j, "parts", "[");
    for (unsigned p = 0; p < r->parts; p++) {
        begin(j, NULL, "{");
        if (r->part_name)
            text(j, "name", r->part_name[p]);
        whole(j, "weight", r->part_weight ? r->part_weight[p] : 1);
        if (r->part_samples)
            whole(j, "samples", r->part_samples[p]);
        end(j, "}");
    }
    end(j, "]");
    if (r->has_split_p) {
        number(j, "shares_p", r->shares_p);
        number(j, "classes_p", r->classes_p);
    }
    if (r->has_drawn_p)
        number(j, "drawn_p", r->drawn_p);
    end(j, "}");
}

static void put_class(struct json *j, const struct lade_report *r, uint64_t c)
{
    const uint64_t *own = r->class_samples ? r->class_samples + c * r->parts : NULL;
    uint64_t all = 0;
    char digits[24];

    (void)snprintf(digits, sizeof digits, "%" PRIu64, c);
    begin(j, NULL, "{");
    text(j, "name", r->class_name ? r->class_name[c] : digits);
    if (own) {
        for (unsigned p = 0; p < r->parts; p++)
            all += own[p];
        whole(j, "source", all);
        begin(j, "parts", "[");
        for (unsigned p = 0; p < r->parts; p++)
            whole(j, NULL, own[p]);
        end(j, "]");
    }
    if (r->class_drawn)
        whole(j, "drawn", r->class_drawn[c]);
    end(j, "}");
}

static void put_shares(struct json *j, const struct lade_report *r)
{
    if (r->shares == 0)
        return;
    begin(j, "mixture", "[");
    for (unsigned i = 0; i < r->shares; i++) {
        const struct lade_loader_share *s = &r->share[i];
        begin(j, NULL, "{");
        text(j, "source", r->share_name ? r->share_name[i] : s->kind);
        whole(j, "weight", s->weight);
        number(j, "target", s->target);
        number(j, "share", s->share);
        whole(j, "samples", s->samples);
        whole(j, "delivered", s->delivered);
        number(j, "epochs", s->epochs);
        whole(j, "faults", s->faults);
        end(j, "}");
    }
    end(j, "]");
}

static void put_device(struct json *j, const struct lade_report *r)
{
    if (!r->device)
        return;
    begin(j, "device", "{");
    text(j, "name", r->device);
    whole(j, "depth", r->device_depth);
    whole(j, "copied_bytes", r->copied_bytes);
    number(j, "copy", r->device_copy);
    number(j, "compute", r->device_compute);
    number(j, "stall", r->seconds > 0 ? 1 - clamp(r->device_compute / r->seconds) : 0);
    whole(j, "consumer_waits", r->device_waits);
    end(j, "}");
}

static void put_sequences(struct json *j, const struct lade_report *r)
{
    if (r->sequence) {
        begin(j, "sequences", "{");
        text(j, "field", r->sequence);
        whole(j, "steps", r->sequence_steps);
        number(j, "steps_per_second", r->seconds > 0 ? (double)r->sequence_steps / r->seconds : 0);
        end(j, "}");
    }
    if (r->pack_row == 0)
        return;
    begin(j, "packing", "{");
    whole(j, "row", r->pack_row);
    whole(j, "rows", r->packed_rows);
    whole(j, "steps", r->packed_steps);
    number(j, "fill", ratio((double)r->packed_steps, (double)r->packed_slots));
    whole(j, "cut", r->samples_cut);
    whole(j, "split", r->samples_split);
    whole(j, "dropped", r->samples_dropped);
    end(j, "}");
}

static void put_learnt(struct json *j, const struct lade_report *r)
{
    if (!r->model)
        return;
    begin(j, "learnt", "{");
    text(j, "model", r->model);
    number(j, "first_loss", r->first_loss);
    number(j, "last_loss", r->last_loss);
    if (r->tested) {
        number(j, "test_loss", r->test_loss);
        number(j, "test_right", r->test_right);
        whole(j, "test_samples", r->test_samples);
    }
    end(j, "}");
}

/* The phases of a batch, each from one step to another; where the device copies, a batch waits until it is copied. */
static const struct phase {
    enum lade_loader_step begin, end;
    const char *name;
} phases[] = {{LADE_STEP_MAKE, LADE_STEP_MADE, "write"},
              {LADE_STEP_MADE, LADE_STEP_TAKEN, "wait"},
              {LADE_STEP_COPY, LADE_STEP_COPIED, "copy"},
              {LADE_STEP_TAKEN, LADE_STEP_RELEASED, "use"}};

/* The end of the phase that begins with step s; a phase that has not ended ends with the last step. */
static int64_t phase_end(const struct lade_report *r, const struct lade_report_step *s, const struct phase *p,
                         int64_t last)
{
    const enum lade_loader_step end = s->step == LADE_STEP_MADE && r->device_depth > 0 ? LADE_STEP_COPIED : p->end;

    for (size_t i = 0; i < r->steps; i++)
        if (r->step[i].step == end && r->step[i].number == s->number)
            return r->step[i].at > s->at ? r->step[i].at : s->at;
    return last;
}

static void put_phase(struct json *j, const struct lade_report *r, const struct lade_report_step *s, int64_t first,
                      int64_t last)
{
    const bool on_host = r->device_depth == 0 || s->step == LADE_STEP_MAKE || s->step == LADE_STEP_MADE;

    for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        const struct phase *p = &phases[i];
        if (p->begin != s->step)
            continue;
        begin(j, NULL, "{");
        whole(j, "batch", s->number);
        text(j, "phase", p->name);
        text(j, "on", on_host ? "host" : "device");
        whole(j, "slot", s->slot);
        number(j, "begin", (double)(s->at - first) * 1e-9);
        number(j, "end", (double)(phase_end(r, s, p, last) - first) * 1e-9);
        end(j, "}");
    }
}

static void put_timeline(struct json *j, const struct lade_report *r)
{
    int64_t first = INT64_MAX, last = INT64_MIN;

    if (r->steps == 0)
        return;
    for (size_t i = 0; i < r->steps; i++) {
        first = r->step[i].at < first ? r->step[i].at : first;
        last = r->step[i].at > last ? r->step[i].at : last;
    }
    begin(j, "timeline", "[");
    for (size_t i = 0; i < r->steps; i++)
        put_phase(j, r, &r->step[i], first, last);
    end(j, "]");
}

int lade_report_json_sized(const struct lade_report *report, size_t size, lade_report_write *write, void *context)
{
    struct lade_report copy;
    const struct lade_report *r = lade_sized_in(report, size, &copy, sizeof copy);
    struct json j = {.write = write, .context = context, .status = LADE_OK, .first = true};

    if (!r)
        return LADE_INVALID;
    begin(&j, NULL, "{");
    put_run(&j, r);
    put_times(&j, r);
    put_arrivals(&j, r);
    put_split(&j, r);
    begin(&j, "classes", "[");
    for (uint64_t c = 0; c < r->classes; c++)
        put_class(&j, r, c);
    end(&j, "]");
    put_shares(&j, r);
    put_device(&j, r);
    put_sequences(&j, r);
    put_learnt(&j, r);
    curve(&j, "speed", "seconds", "samples", &r->speed);
    curve(&j, "loss", "batch", "loss", &r->loss);
    put_timeline(&j, r);
    end(&j, "}\n");
    flush(&j);
    return j.status;
}
