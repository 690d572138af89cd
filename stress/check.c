/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    bool full;
    uint64_t seed;
    unsigned passed, failed;
} state;

static uint64_t fresh_seed(void)
{
    uint64_t seed = 0;
    FILE *file = fopen("/dev/urandom", "rb");
    struct timespec now;

    if (file) {
        size_t got = fread(&seed, sizeof seed, 1, file);
        (void)fclose(file);
        if (got == 1)
            return seed;
    }
    (void)clock_gettime(CLOCK_REALTIME, &now);
    seed = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    return check_next(&seed);
}

static void usage(const char *program, FILE *to)
{
    fprintf(to, "usage: %s [--full] [--seed S]\n\n--full    more rounds\n--seed S  repeat a run; decimal or 0x...\n",
            program);
}

void check_begin(int argc, char **argv)
{
    bool seeded = false;

    for (int i = 1; i < argc; i++) {
        char *end = NULL;
        if (strcmp(argv[i], "--full") == 0) {
            state.full = true;
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            state.seed = strtoull(argv[++i], &end, 0);
            seeded = *argv[i] != '\0' && *end == '\0';
            if (!seeded) {
                usage(argv[0], stderr);
                exit(2);
            }
        } else if (strcmp(argv[i], "--help") == 0) {
            usage(argv[0], stdout);
            exit(0);
        } else {
            usage(argv[0], stderr);
            exit(2);
        }
    }
    if (!seeded)
        state.seed = fresh_seed();
    printf("seed 0x%016" PRIx64 "%s\n", state.seed, state.full ? ", full" : "");
    (void)fflush(stdout);
}

bool check_full(void)
{
    return state.full;
}

uint64_t check_seed(void)
{
    return state.seed;
}

bool check(bool ok, const char *name, const char *format, ...)
{
    va_list args;

    printf("%s %s: ", ok ? "PASS" : "FAIL", name);
    va_start(args, format);
    (void)vprintf(format, args);
    va_end(args);
    (void)putchar('\n');
    (void)fflush(stdout);
    state.passed += ok;
    state.failed += !ok;
    return ok;
}

int check_end(void)
{
    printf("%u passed, %u failed, 0 skipped\n", state.passed, state.failed);
    return state.failed > 0 || state.passed == 0;
}

static const char *watched;

static void write_text(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(2);
}

static void too_late(int signal)
{
    (void)signal;
    write_text("FAIL ");
    write_text(watched);
    write_text(": it hangs\n0 passed, 1 failed, 0 skipped\n");
    _exit(1);
}

void check_within(unsigned seconds, const char *what)
{
    struct sigaction action = {.sa_handler = too_late};

    watched = what;
    (void)sigaction(SIGALRM, &action, NULL);
    (void)alarm(seconds);
}

void *check_memory(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return memory;
}

void check_threads(unsigned count, void *(*body)(void *), void *arg, size_t size)
{
    pthread_t *thread = check_memory(count, sizeof *thread);

    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&thread[i], NULL, body, (char *)arg + i * size) != 0) {
            fprintf(stderr, "no thread\n");
            exit(2);
        }
    }
    for (unsigned i = 0; i < count; i++)
        (void)pthread_join(thread[i], NULL);
    free(thread);
}
