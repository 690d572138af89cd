/* SPDX-License-Identifier: MIT */
/* What makes a pass show less than it seems to: each reason is printed, and the verdict is not a plain pass. */
#include "engine.h"

#include <string.h>

/* One byte for each name of --allow, in the order of the notes: the program has called that function. */
__attribute__((visibility("default"))) char lade_explore_called[64];

static const char *notes, *notes_end;

/* The wrapper's strings: names of --allow, an empty one, then reasons that hold in any case. */
void weaker_init(const void *from, const void *to)
{
    notes = from;
    notes_end = to;
}

/* Which of them this process has called. */
void weaker_calls(void)
{
    for (size_t i = 0; i < sizeof lade_explore_called; i++)
        statistics.called |= (uint64_t)(lade_explore_called[i] != 0) << i;
}

/* Both kinds of notes; all other reasons are in weaker_each. */
static void each_note(void (*report)(FILE *out, const char *reason), FILE *out)
{
    const char *s = notes;
    char text[300];

    weaker_calls();
    for (int i = 0; s < notes_end && *s; i++, s += strlen(s) + 1)
        if (statistics.called >> i & 1) {
            snprintf(text, sizeof text, "%.200s ran natively (--allow)", s);
            report(out, text);
        }
    for (s += s < notes_end; s < notes_end; s += strlen(s) + 1)
        report(out, s);
}

void weaker_each(void (*report)(FILE *out, const char *reason), FILE *out)
{
    char text[120];
    const struct {
        bool holds;
        const char *reason;
    } list[] = {
        {!options.races, "races are not looked for, and plain loads read only the newest value (--no-races)"},
        {!options.leaks, "leaks are not looked for (--no-leaks)"},
        {!options.uninit, "loads of uninitialised memory are not looked for (--no-uninit)"},
        {!options.liveness, "a thread may wait forever (--no-liveness)"},
        {!options.spurious && !options.genmc, "no wait ends and no compare-exchange fails for no reason (--no-spurious)"},
        {options.genmc, "GenMC's deviations from RC11 are copied (--genmc)"},
        {statistics.clock, "the clock stands still; a wait with a deadline may time out at any point"},
        {statistics.consume, "a consume load orders as much as an acquire load, also what does not depend on it"},
        {statistics.ranges, text},
    };

    snprintf(text, sizeof text, "nondeterministic integers are %ld to %ld only (--nondet)", options.low, options.high);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].holds)
            report(out, list[i].reason);
    each_note(report, out);
}

static bool any;

static void note_any(FILE *out, const char *reason)
{
    (void)out, (void)reason;
    any = true;
}

bool weaker(void)
{
    any = false;
    weaker_each(note_any, NULL);
    return any;
}
