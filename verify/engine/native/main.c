/* SPDX-License-Identifier: MIT */
/*
 * Options, limits, the verdict. The program under test is linked with a stub whose main calls lade_explore_main.
 */
#include "native.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>


static double started;
static volatile bool ticked;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double elapsed(void)
{
    return now() - started;
}

/* A place for a breakpoint. */
__attribute__((noinline, visibility("default"))) void lade_explore_failed(void)
{
    __asm__ volatile("");
}

void program_failed(void)
{
    lade_explore_failed();
    if (self)
        run_abandon();
}

void engine_bug(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "explore: internal error: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    _exit(4);
}

/* ---- limits and progress ---- */

static void show_progress(double t)
{
    double left = statistics.share > 1e-9 ? t / statistics.share - t : 0;
    fprintf(stderr, "\r%.0f s, %llu executions, %llu blocked, %.1f %% of the tree, about %.0f s left   ", t,
            (unsigned long long)statistics.executions, (unsigned long long)statistics.blocked, 100 * statistics.share, left);
}

/* The timer checks the clock for the whole process. */
static void tick(int number)
{
    static uint64_t runs, steps;
    static int still;

    (void)number;
    ticked = true;
    if (options.timeout > 0 && now() - started > options.timeout)
        time_is_up = true;
    still = runs == statistics.runs && steps == statistics.steps ? still + 1 : 0;
    runs = statistics.runs;
    steps = statistics.steps;
    if (still > 40 || (time_is_up && still > 4))
        run_hangs(time_is_up);
}

static void timer_start(void)
{
    struct sigaction sa = {.sa_handler = tick, .sa_flags = SA_RESTART | SA_ONSTACK | SA_NODEFER};
    struct itimerval every = {{0, 250000}, {0, 250000}};

    sigaction(SIGALRM, &sa, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

static void timer_stop(void)
{
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
}

bool stop_now(void)
{
    if (options.most && !options.search && statistics.executions >= options.most)
        statistics.cut |= CUT_EXECUTIONS;
    if (time_is_up)
        statistics.cut |= CUT_TIME;
    if (statistics.cut & (CUT_EXECUTIONS | CUT_TIME))
        return true;
    if (ticked) {
        ticked = false;
        if (!options.quiet && isatty(2))
            show_progress(now() - started);
    }
    return false;
}

/* ---- options ---- */

static const char *const usage_text =
    "options:\n"
    "  --model rc11|ra|sc|tso   memory model (rc11)\n"
    "  --json FILE              result as JSON (- for standard output; repeat)\n"
    "  --save FILE              keep the failing execution for --replay\n"
    "  --replay FILE            run one saved execution again (under gdb: break lade_explore_failed)\n"
    "  --jobs N, -j N           use N processes\n"
    "  --stop-threads           also stop each thread at each step: the others must finish (lock-freedom)\n"
    "  --max-events N           most events of one thread (2000)\n"
    "  --unroll N               most times that a thread executes one call site; a loop that is cut is named\n"
    "  --nondet LO:HI           values of __VERIFIER_nondet_int and its like (0:1)\n"
    "  --max-executions N       stop after N executions\n"
    "  --timeout SECONDS        stop after that time\n"
    "  --no-leaks --no-liveness --no-races --no-uninit --no-spurious --no-spin\n"
    "                           leave these checks out; --no-spin runs waiting loops up to the bound\n"
    "  --reuse                  malloc may return the address of a block that its thread has freed\n"
    "  --all-leaks              memory that static memory leads to must be freed too\n"
    "  --weaken FILE:LINE[:COLUMN]=ORDER[,FAILURE_ORDER]\n"
    "                           change the orders of a source line, or at a column of it (repeat)\n"
    "  --order ...              the same, but the call need not be executed\n"
    "  --search                 executions at random instead of all of them; --seconds S (10), --seed N (1)\n"
    "  --outcomes               print what complete executions print, each distinct output once\n"
    "  --show OUTCOME           show an execution that prints it\n"
    "  --entry FUNCTION         start with this function instead of main\n"
    "  --genmc                  copy GenMC's deviations, to compare counts\n"
    "  --quiet                  no progress line\n";

static _Noreturn void usage(const char *why)
{
    fprintf(stderr, "explore: %s\n%s", why, usage_text);
    _exit(2);
}

static double number(const char *option, const char *text)
{
    char *end, why[80];
    double n = strtod(text, &end);

    if (end == text || *end || !(n > 0 && n < 1e9)) {
        snprintf(why, sizeof why, "%s takes a number above 0", option);
        usage(why);
    }
    return n;
}

static uint64_t seed(const char *text)
{
    char *end;
    uint64_t n = strtoull(text, &end, 10);

    if (end == text || *end || *text == '-')
        usage("--seed takes a number from 0 on");
    return n;
}

static void range(const char *text)
{
    char *end;

    options.low = strtol(text, &end, 10);
    if (*end++ == ':')
        options.high = strtol(end, &end, 10);
    if (end[0] || options.low > options.high || options.high - options.low > 1000)
        usage("--nondet takes LO:HI, at most 1000 apart");
}

static bool model_option(const char *name)
{
    static const char *const names[] = {"rc11", "ra", "sc", "tso"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, names[i])) {
            options.model = (enum model)i;
            return true;
        }
    return false;
}

static bool flag_option(const char *a)
{
    static const struct {
        const char *name;
        bool *flag, value;
    } flags[] = {
        {"--no-leaks", &options.leaks, false}, {"--no-liveness", &options.liveness, false},
        {"--all-leaks", &options.all_leaks, true}, {"--no-races", &options.races, false},
        {"--no-uninit", &options.uninit, false}, {"--reuse", &options.reuse, true},
        {"--no-spurious", &options.spurious, false}, {"--no-spin", &options.spin, false},
        {"--genmc", &options.genmc, true}, {"--search", &options.search, true}, {"--outcomes", &options.outcomes, true}, {"--quiet", &options.quiet, true}, {"--stop-threads", &options.stop_threads, true},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!strcmp(a, flags[i].name)) {
            *flags[i].flag = flags[i].value;
            return true;
        }
    return false;
}

static void parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (flag_option(a))
            continue;
        if (i + 1 == argc)
            usage("unknown option or missing value");
        const char *v = argv[++i];
        if (!strcmp(a, "--model") && model_option(v))
            continue;
        if (!strcmp(a, "--json") && options.jsons < (int)(sizeof options.json / sizeof *options.json))
            options.json[options.jsons++] = v;
        else if (!strcmp(a, "--save"))
            options.save = v;
        else if (!strcmp(a, "--replay"))
            options.replay = v;
        else if (!strcmp(a, "-j") || !strcmp(a, "--jobs"))
            options.jobs = (int)number(a, v);
        else if (!strcmp(a, "--weaken") || !strcmp(a, "--order")) {
            if (!weaken_parse(v, a[2] == 'o'))
                usage("--weaken FILE:LINE[:COLUMN][<FILE:LINE:COLUMN...]=ORDER[,FAILURE_ORDER], at most 64 times (--order: 512)");
        } else if (!strcmp(a, "--entry"))
            options.entry = strcmp(v, "main") ? v : NULL; /* the program's own has another name here */
        else if (!strcmp(a, "--max-events"))
            options.bound = (int)number(a, v);
        else if (!strcmp(a, "--unroll"))
            options.unroll = (int)number(a, v);
        else if (!strcmp(a, "--show")) {
            options.show = v;
            options.outcomes = true;
        } else if (!strcmp(a, "--seconds"))
            options.seconds = number(a, v);
        else if (!strcmp(a, "--seed"))
            options.seed = seed(v);
        else if (!strcmp(a, "--nondet"))
            range(v);
        else if (!strcmp(a, "--max-executions"))
            options.most = (uint64_t)number(a, v);
        else if (!strcmp(a, "--timeout"))
            options.timeout = number(a, v);
        else
            usage("unknown option");
    }
    if (options.genmc)
        options.spurious = false;
    if (options.search && (options.jobs > 1 || options.stop_threads || options.replay))
        usage("--search goes with neither --jobs nor --stop-threads nor --replay");
    if (options.jobs > 1 && (options.outcomes || options.stop_threads))
        usage("--jobs goes with neither --outcomes nor --stop-threads");
    if (options.bound < 1 || options.bound > 30000)
        usage("--max-events 1 to 30000");
}

/* Stops each thread except main after each of its steps: the others must still end. */
static void stop_each(void)
{
    struct statistics all = statistics;

    for (int t = 1; t < MAX_THREADS; t++)
        for (int k = 1; k < all.most_events[t] - 1; k++) {
            options.stop_thread = t;
            options.stop_at = k;
            uint64_t ended = statistics.executions + statistics.blocked + statistics.again;
            explore_all(true);
            all.stops++;
            if (!failure.kind && !statistics.cut && ended == statistics.executions + statistics.blocked + statistics.again)
                engine_bug("no run came to an end with thread %d stopped", t);
            if (failure.kind || statistics.cut) {
                all.cut |= statistics.cut;
                statistics = all;
                return;
            }
        }
    options.stop_thread = -1;
    statistics = all;
    if (!all.stops)
        fail(ERR_UNSUPPORTED, 0, 0, "--stop-threads: no thread has a step to be stopped at");
}

/* ---- the verdict ---- */

/* Runs the failing execution again, with every plain access logged. */
static void diagnose(void)
{
    struct failure first = failure;

    shadow_logging = true;
    enum outcome o = run_once();
    if (o != RUN_ERROR)
        finish_run(o);
    if (shadow_logged && shadow_log[shadow_logged - 1].pc != failure.pc) /* that one was not executed */
        shadow_log_value();
    shadow_logging = false;
    first.other_pc = first.other_pc ? first.other_pc : failure.other_pc;
    failure = first;
    trace_partner();
}

static void print_failure(void)
{
    char why[800];
    struct site s = symbol_site(failure.pc);

    if (failure.kind == ERR_SHOWN) {
        printf("shown: %s\n", failure.text);
        trace_print(stdout);
        return;
    }
    printf("error: %s: ", error_name(failure.kind));
    if (s.file)
        printf("%s:%d: ", s.file, s.line);
    printf("T%d: %s", failure.thread, failure.text);
    if (failure.addr)
        printf(" (%s)", symbol_name(failure.addr));
    printf("\n");
    trace_sentence(why, sizeof why);
    if (why[0])
        printf("why: %s\n", why);
    trace_print(stdout);
}

static void print_bound(void)
{
    struct site s = symbol_site(statistics.unrolled);

    if (statistics.cut & CUT_TIME)
        printf("bound: time\n");
    else if (statistics.cut & CUT_EXECUTIONS)
        printf("bound: executions\n");
    else if (statistics.cut & CUT_UNROLL)
        printf("bound: a thread may execute %s:%d more than %d times\n", s.file ? s.file : "?", s.line, options.unroll);
    else if (statistics.cut & CUT_POLL)
        printf("bound: a loop polls behind a mutex, and the program has a try-lock\n");
    else
        printf("bound: events of a thread\n");
}

static void print_weaker(FILE *out, const char *reason)
{
    fprintf(out, "weaker: %s\n", reason);
}

/* Good (1953): the share of the runs that are alone of their kind estimates how often the next one would be new. */
static void print_search(void)
{
    printf("runs: %llu\ndistinct: %llu\n", (unsigned long long)found.runs, (unsigned long long)found.distinct);
    if (!failure.kind && found.runs)
        printf("unseen: about %.2g %% of the next runs would be new\n", 100 * (double)found.once / (double)found.runs);
    printf("seed: %llu\n", (unsigned long long)options.seed);
    if (failure.kind)
        printf("found: in run %llu\n", (unsigned long long)found.failing);
}

static int conclude(double seconds)
{
    if (statistics.polls && statistics.tries)
        statistics.cut |= CUT_POLL; /* states that a try-lock could see in between were omitted */
    /*
     * Each blocked execution stands for others that continue; if no execution ends, there is an error. And some run
     * must have ended one way or the other; otherwise every execution was omitted.
     */
    bool nothing = !failure.kind && !statistics.executions && !statistics.cut && !options.replay && !options.search &&
                   (!statistics.blocked || (!statistics.assumed && options.liveness));
    if (nothing)
        fail(ERR_LIVELOCK, 0, 0, "no execution completes");
    bool found = failure.kind && failure.kind < ERR_UNSUPPORTED;
    bool vacuous = !statistics.executions && !options.replay;
    bool shown = failure.kind == ERR_SHOWN;
    if (options.show && !failure.kind)
        printf("shown: no execution prints it\n");
    const char *verdict = shown            ? "shown"
                          : found          ? "error"
                          : failure.kind   ? "unsupported"
                          : statistics.cut && !options.search ? "bound"
                          : vacuous        ? "vacuous"
                          : options.search ? "nothing-found"
                          : weaker()       ? "weaker"
                                           : "pass";

    if (!options.quiet && isatty(2))
        fprintf(stderr, "\r%80s\r", "");
    if (!failure.kind && !statistics.cut && !options.replay && !weaken_used())
        return 2;
    if (found && !nothing && !failure.hangs) {
        diagnose();
        if (!options.replay && !options.stop_threads)
            search_smaller(diagnose);
    }
    if (failure.kind)
        print_failure();
    if (!options.show)
        outcome_print(stdout);
    if (found && options.save)
        share_save(options.save);
    for (int i = 0; i < options.jsons; i++)
        report_write(options.json[i], verdict, seconds);
    weaker_each(print_weaker, stdout);
    for (int i = 0; i < COVER_NAMES && statistics.covered[i][0]; i++)
        printf("covered: %s\n", statistics.covered[i]);
    if (statistics.cut & ~(options.search ? CUT_POLL : 0))
        print_bound();
    else if (vacuous && !failure.kind)
        printf("vacuous: no execution completed: every one %s\n",
               !statistics.assumed ? "waits" : options.liveness ? "failed an assume" : "failed an assume or waits");
    if (options.search)
        print_search();
    printf("verdict: %s\nexecutions: %llu\nblocked: %llu\nseconds: %.3f\n", !strcmp(verdict, "weaker") ? "pass, but weaker" : !strcmp(verdict, "nothing-found") ? "nothing found" : verdict,
           (unsigned long long)statistics.executions, (unsigned long long)statistics.blocked, seconds);
    if (options.show && (shown || !failure.kind))
        return shown ? 0 : 2;
    return found ? 42 : failure.kind ? 5 : statistics.cut && !options.search ? 3 : vacuous ? 6 : 0;
}

void end_with_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it ended before */
        _exit(4);
}

__attribute__((visibility("default"))) int lade_explore_main(int argc, char **argv, int (*program)(int, char **),
                                                             void *data, void *end, const void *const *tables)
{
    parse(argc, argv);
    const char *parent = getenv("LADE_EXPLORE_CHILD");
    if (parent)
        end_with_parent((pid_t)atol(parent)); /* the wrapper must remove it */
    symbol_init(tables[0], tables[1]);
    state_init(tables[2], tables[3]);
    weaker_init(tables[4], tables[5]);
    lifetime_init(tables[6], tables[7]);
    if (!weaken_resolve())
        return 2;
    if (options.entry)
        program = (int (*)(int, char **))symbol_function(options.entry); /* NOLINT */
    if (!program)
        usage("no such function to start with");
    started = now();
    shadow_init((uintptr_t)data, (uintptr_t)end);
    run_init(program, (uintptr_t)data, (uintptr_t)end);
    if (options.replay) {
        timer_start();
        explore_replay();
        timer_stop();
        return conclude(now() - started);
    }
    bool begins = share_start();
    timer_start();
    if (options.search)
        search_all();
    else
        explore_all(begins);
    if (options.stop_threads && !failure.kind && !statistics.cut)
        stop_each();
    timer_stop();
    int code = 0;
    if (!share_finish(failure.kind != ERR_NONE, &code))
        return code;
    code = conclude(now() - started);
    fflush(stdout);
    return code;
}
