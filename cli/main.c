/* SPDX-License-Identifier: MIT */
#include "lade.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"feed", feed_main, "feed a data set to a consumer in batches, and report how that went"},
    {"split", split_main, "assign the items of a data set to parts, and audit the result"},
    {"lab", lab_main, "open the lab: a page that explores small programs under four memory models"},
    {"inspect", inspect_main, "print what a data set holds"},
    {"convert", convert_main, "write a data set in another format, and check the result"},
    {"synth", synth_main, "write a synthetic data set in a format of your choice"},
};

static void help(FILE *to)
{
    fputs("usage: lade SUBCOMMAND [OPTION...]\n\n", to);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].what);
    fputs("\n  lade SUBCOMMAND --help shows its options. lade --version prints the version.\n\nexit codes: 0 done, 1 a "
          "check failed, 2 wrong use, 3 out of memory or another system error\n",
          to);
}

/* The printed text may be the whole result, so a full disk is an error. */
static int printed(const char *command, int code)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code > EXIT_WRONG)
        return code;
    print_error("%s: standard output: could not be written", command);
    return EXIT_TROUBLE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        help(stdout);
        return printed(argv[1], EXIT_DONE);
    }
    if (!strcmp(argv[1], "--version")) {
        puts("lade " LADE_VERSION);
        return printed(argv[1], EXIT_DONE);
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (!strcmp(argv[1], commands[i].name)) {
            char name[32]; /* which getopt_long() puts before its messages */
            (void)snprintf(name, sizeof name, "lade %s", commands[i].name);
            argv[1] = name;
            return printed(commands[i].name, commands[i].main(argc - 1, argv + 1));
        }
    }
    fprintf(stderr, "lade: there is no subcommand '%s'; lade --help lists them\n", shown(argv[1]));
    return EXIT_USAGE;
}
