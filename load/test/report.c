/* SPDX-License-Identifier: MIT */
/* Shares of time, the bottleneck, and the JSON of a report. */
#include <lade/report.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* A run of 10 s with 2 workers: shares of the workers' time, and of the consumer's. */
static struct lade_report_times times_of(double read, double transform, double wait, double stall)
{
    const double nanoseconds = 1e9, seconds = 10, workers = 2;
    const struct lade_report r = {.seconds = seconds,
                                  .threads = 2,
                                  .batches = 100,
                                  .samples = 1000,
                                  .bytes = 5000,
                                  .running_time = (uint64_t)(workers * seconds * nanoseconds),
                                  .read_time = (uint64_t)(read * workers * seconds * nanoseconds),
                                  .transform_time = (uint64_t)(transform * workers * seconds * nanoseconds),
                                  .worker_wait_time = (uint64_t)(wait * workers * seconds * nanoseconds),
                                  .consumer_wait_time = (uint64_t)(stall * seconds * nanoseconds)};
    struct lade_report_times t;

    cr_assert_eq(lade_report_compute(&r, &t), LADE_OK);
    return t;
}

Test(report, bottleneck)
{
    static const struct {
        double read, transform, wait, stall;
        const char *is;
    } runs[] = {
        {0.02, 0, 0.97, 0, "consumer"},      {0.3, 0.1, 0.5, 0.3, "consumer"}, {0.9, 0.05, 0, 0.9, "read"},
        {0.2, 0.7, 0.05, 0.8, "transform"},  {0.1, 0.1, 0, 0.9, "plan"},       {0.9, 0, 0.05, 0.4, "read"},
        {0.1, 0.1, 0.75, 0.69, "hand-over"},
    };

    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const struct lade_report_times t = times_of(runs[i].read, runs[i].transform, runs[i].wait, runs[i].stall);
        cr_expect(!strcmp(t.bottleneck, runs[i].is), "run %zu: %s", i, t.bottleneck);
        cr_expect(fabs(t.read + t.transform + t.plan + t.wait - 1) < 1e-6 && fabs(t.busy + t.stall - 1) < 1e-6);
    }
}

/* A consumer that was stalled for most of the time is no bottleneck, whatever the workers did. */
Test(report, a_stalled_consumer_is_no_bottleneck)
{
    for (double wait = 0; wait <= 1; wait += 0.05)
        for (double stall = 0.51; stall <= 1; stall += 0.05)
            cr_expect(strcmp(times_of(0, 0, wait, stall).bottleneck, "consumer") != 0, "wait %g, stall %g", wait,
                      stall);
}

Test(report, times)
{
    const struct lade_report_times t = times_of(0.5, 0, 0.5, 0.25);

    cr_expect(fabs(t.samples_rate - 100) < 1e-6 && fabs(t.bytes_rate - 500) < 1e-6);
    cr_expect(fabs(t.load - 0.05) < 1e-6 && fabs(t.use - 0.075) < 1e-6 && fabs(t.batch - 0.1) < 1e-6);
    cr_expect(fabs(t.saved - 0.2) < 1e-6 && fabs(t.bound - 0.4) < 1e-6);
    /* Both sides waited: one after the other would have been faster, and nothing was saved. */
    cr_expect(times_of(0.1, 0, 0.9, 0.9).saved == 0);
}

Test(report, nothing_measured)
{
    const struct lade_report r = {.source = "x"};
    struct lade_report_times t;

    cr_assert_eq(lade_report_compute(&r, &t), LADE_OK);
    cr_expect(t.samples_rate == 0 && t.saved == 0 && t.load == 0);
    cr_expect(!strcmp(t.bottleneck, "none"));
}

Test(report, compute_of_a_device_is_no_stall)
{
    const struct lade_report r = {.seconds = 1,
                                  .running_time = 1000000000,
                                  .worker_wait_time = 900000000,
                                  .consumer_wait_time = 900000000,
                                  .batches = 1,
                                  .device = "gpu",
                                  .device_compute = 0.8};
    struct lade_report_times t;

    cr_assert_eq(lade_report_compute(&r, &t), LADE_OK);
    cr_expect(fabs(t.busy - 0.8) < 1e-6);
    cr_expect(!strcmp(t.bottleneck, "consumer"));
}

struct written {
    char text[8192];
    size_t size, fails_at, calls_after;
};

static int write_some(void *context, const char *text, size_t size)
{
    struct written *w = context;

    if (w->fails_at && w->size + size > w->fails_at) {
        w->calls_after++;
        return LADE_IO;
    }
    cr_assert(w->size + size < sizeof w->text);
    memcpy(w->text + w->size, text, size);
    w->size += size;
    return LADE_OK;
}

static void has(const struct lade_report *r, const char *part)
{
    struct written w = {.size = 0};

    cr_assert_eq(lade_report_json(r, write_some, &w), LADE_OK);
    cr_expect(strstr(w.text, part), "%s\nis not in\n%s", part, w.text);
    cr_expect(w.text[0] == '{' && !strcmp(w.text + w.size - 2, "}\n"));
}

static void has_not(const struct lade_report *r, const char *part)
{
    struct written w = {.size = 0};

    cr_assert_eq(lade_report_json(r, write_some, &w), LADE_OK);
    cr_expect(!strstr(w.text, part), "%s\nis in\n%s", part, w.text);
}

Test(report, json_of_texts)
{
    const struct lade_report r = {.source = "a\"b\\c\n</script>&\xc3\x28\xc2\x85\xc3\xa4"};

    has(&r, "{\"source\": \"a\\u0022b\\u005cc\\u000a\\u003c/script\\u003e\\u0026\\ufffd(\\u0085\xc3\xa4\", ");
}

Test(report, json_of_sections)
{
    static const char *const names[] = {"train", "test"};
    static const uint32_t weight[] = {8, 2};
    static const uint64_t size[] = {5, 1}, count[] = {3, 1, 2, 0}, drawn[] = {6, 4};
    static const double x[] = {0, 1}, y[] = {0.5, NAN};
    struct lade_report r = {.source_samples = 6,
                            .seconds = INFINITY,
                            .part = 1,
                            .parts = 2,
                            .part_name = names,
                            .part_weight = weight,
                            .part_samples = size,
                            .classes = 2,
                            .class_samples = count,
                            .class_drawn = drawn,
                            .first_epoch = 3,
                            .epochs = 2,
                            .loss = {x, y, 2}};

    has(&r, "\"source_samples\": 6, ");
    has(&r, "\"first_epoch\": 3, \"last_epoch\": 4, ");
    has(&r, "\"seconds\": null, ");
    has(&r, "\"split\": {\"part\": 1, \"parts\": [{\"name\": \"train\", \"weight\": 8, \"samples\": 5}, "
            "{\"name\": \"test\", \"weight\": 2, \"samples\": 1}]}");
    has(&r, "\"classes\": [{\"name\": \"0\", \"source\": 4, \"parts\": [3, 1], \"drawn\": 6}, {\"name\": \"1\", "
            "\"source\": 2, \"parts\": [2, 0], \"drawn\": 4}]");
    has(&r, "\"loss\": {\"batch\": [0, 1], \"loss\": [0.5, null]}}");
    has_not(&r, "\"speed\"");
    has_not(&r, "\"learnt\"");
    has_not(&r, "\"device\"");
    has_not(&r, "_p\"");
    r.source_samples = LADE_ENDLESS;
    r.epochs = 0;
    has_not(&r, "\"source_samples\"");
    has_not(&r, "_epoch");
}

Test(report, json_of_sequences)
{
    const struct lade_loader_stats begin = {.packed_rows = 1, .packed_steps = 5, .packed_slots = 10, .samples_cut = 1},
                                   end = {.packed_rows = 5,
                                          .packed_steps = 35,
                                          .packed_slots = 50,
                                          .samples_cut = 3,
                                          .samples_split = 4,
                                          .samples_dropped = 5};
    struct lade_report r = {.seconds = 2, .sequence = "words", .sequence_steps = 30};

    has(&r, "\"sequences\": {\"field\": \"words\", \"steps\": 30, \"steps_per_second\": 15}");
    has_not(&r, "\"packing\"");
    lade_report_loader(&r, &begin, &end);
    r.pack_row = 10;
    has(&r, "\"packing\": {\"row\": 10, \"rows\": 4, \"steps\": 30, \"fill\": 0.75, \"cut\": 2, \"split\": 4, "
            "\"dropped\": 5}");
}

Test(report, json_of_the_timeline)
{
    static const struct lade_report_step step[] = {
        {5000, 7, 1, LADE_STEP_MAKE},     {7000, 7, 1, LADE_STEP_MADE},  {8000, 8, 0, LADE_STEP_MAKE},
        {8000, 7, 2, LADE_STEP_COPY},     {8500, 7, 2, LADE_STEP_TAKEN}, {9000, 7, 2, LADE_STEP_COPIED},
        {9500, 7, 2, LADE_STEP_RELEASED},
    };
    struct lade_report r = {.device_depth = 3, .step = step, .steps = sizeof step / sizeof step[0]};

    has(&r,
        "\"timeline\": [{\"batch\": 7, \"phase\": \"write\", \"on\": \"host\", \"slot\": 1, \"begin\": 0, \"end\": "
        "2e-06}, "
        "{\"batch\": 7, \"phase\": \"wait\", \"on\": \"host\", \"slot\": 1, \"begin\": 2e-06, \"end\": 4e-06}, "
        "{\"batch\": 8, \"phase\": \"write\", \"on\": \"host\", \"slot\": 0, \"begin\": 3e-06, \"end\": 4.5e-06}, "
        "{\"batch\": 7, \"phase\": \"copy\", \"on\": \"device\", \"slot\": 2, \"begin\": 3e-06, \"end\": 4e-06}, "
        "{\"batch\": 7, \"phase\": \"use\", \"on\": \"device\", \"slot\": 2, \"begin\": 3.5e-06, \"end\": 4.5e-06}]}");
    r.device_depth = 0; /* nothing is copied: a batch waits until it is taken, and is used where it was written */
    has(&r, "\"phase\": \"wait\", \"on\": \"host\", \"slot\": 1, \"begin\": 2e-06, \"end\": 3.5e-06}");
    has(&r, "\"phase\": \"use\", \"on\": \"host\"");
    r.steps = 0;
    has_not(&r, "\"timeline\"");
}

Test(report, json_of_a_mixture)
{
    static const struct lade_loader_share share[2] = {{"npy", 10, 3, 0.75, 9, 0, 0.9, 0.5625},
                                                      {"images", 20, 1, 0.25, 7, 2, 0.35, 0.4375}};
    static const char *const name[2] = {"npy:a.npy", "images:b"};
    struct lade_report r = {.share = share, .share_name = name, .shares = 2};

    has(&r, "\"mixture\": [{\"source\": \"npy:a.npy\", \"weight\": 3, \"target\": 0.75, \"share\": 0.5625, "
            "\"samples\": 10, \"delivered\": 9, \"epochs\": 0.9, \"faults\": 0}, {\"source\": \"images:b\", "
            "\"weight\": 1, \"target\": 0.25, \"share\": 0.4375, \"samples\": 20, \"delivered\": 7, \"epochs\": 0.35, "
            "\"faults\": 2}]}");
    r.share_name = NULL;
    has(&r, "\"source\": \"images\"");
    r.shares = 0;
    has_not(&r, "\"mixture\"");
}

Test(report, a_write_that_fails_ends_it)
{
    struct written whole = {.size = 0}, w = {.fails_at = 600};
    char source[2000];
    const struct lade_report r = {.source = source};

    memset(source, 'x', sizeof source);
    source[sizeof source - 1] = '\0';
    cr_assert_eq(lade_report_json(&r, write_some, &whole), LADE_OK);
    cr_assert(whole.size > sizeof source);
    cr_expect_eq(lade_report_json(&r, write_some, &w), LADE_IO);
    cr_expect_eq(w.calls_after, 1);
}

Test(report, fields_that_are_not_known)
{
    struct {
        struct lade_report report;
        uint64_t more;
    } r = {.more = 0};
    struct written w = {.size = 0};

    cr_expect_eq(lade_report_json_sized(&r.report, sizeof r, write_some, &w), LADE_OK);
    r.more = 1;
    cr_expect_eq(lade_report_json_sized(&r.report, sizeof r, write_some, &w), LADE_INVALID);
}
