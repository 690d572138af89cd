/* SPDX-License-Identifier: MIT */
/* lade split: assigns the items of a list or directory to parts, and audits the result. */
#include "split.h"

#include "lade.h"

#include <errno.h>
#include <getopt.h>
#include <lade/thread.h>
#include <stdlib.h>
#include <string.h>

static void help(void)
{
    puts("usage: lade split assign INPUT --table FILE [OPTION...]\n"
         "       lade split audit INPUT --table FILE [OPTION...]\n"
         "       lade split merge --table OUT TABLE... [OPTION...]\n"
         "       lade split show TABLE [--json FILE]\n"
         "\n"
         "assign decides which part each item belongs to and records it in the table; items already there keep their "
         "part.\n"
         "audit changes nothing. Both print the class frequencies of each part with a test, and the files that have "
         "the\n"
         "same bytes in several parts.\n"
         "\n"
         "INPUT is one of\n"
         "  a list with one key per line;\n"
         "  a CSV file whose first line names the columns key, group, class and part. Only key is required; a given "
         "part,\n"
         "  by name or number, is recorded unchanged. A file without the suffix .csv is read as CSV if its first line "
         "has\n"
         "  several columns, one of them key;\n"
         "  a directory: the path of a file is its key, the first folder its class, its bytes its content. Links to "
         "folders\n"
         "  are not followed;\n"
         "  - for standard input.\n"
         "\n"
         "Only the exact store knows which keys were assigned. With another store, audit counts the keys that its "
         "filter\n"
         "does not find, and a filter mistakes some keys for others.\n"
         "\n"
         "  --table FILE       the table; assign creates it if it does not exist\n"
         "  --weights A:B[:...]\n"
         "                     weights of a new table: 2 to 255 whole numbers such as 80:20 or 8,1,1\n"
         "  --folds K          K parts of equal weight\n"
         "  --names A,B,...    names of all parts (train,test or train,validation,test or part0,...)\n"
         "  --rule hash|coin|quota\n"
         "                     hash: a changed weight moves as few items as possible; coin: a random draw; quota: "
         "exact for\n"
         "                     each class of the first list, FILE.classes keeps the class names\n"
         "  --store exact|compact|arrays|pure\n"
         "                     exact; compact: 12.5 bits per item, with a small error; arrays (Lin 2026); pure: "
         "nothing is\n"
         "                     recorded, the rule is evaluated each time\n"
         "  --seed N|random    seed of the rule (0)\n"
         "  --content follow|drop|reject\n"
         "                     the same bytes under another key: same part, no part, or a conflict\n"
         "  --conflict refuse|group|content\n"
         "                     group and content demand different parts: a conflict, or group or content decides\n"
         "  --csv FILE         write key,group,class,part of every item\n"
         "  --json FILE        write the figures as JSON; - is standard output, for --csv too, and the text then goes "
         "to\n"
         "                     standard error\n"
         "  --alpha P          audit fails if a test gives less than P (1e-6)\n"
         "  --resolve          merge: settle differences by a rule that does not depend on the order of the tables\n"
         "  --salt N           merge: salt of that rule (0)\n"
         "  --keys INPUT       merge: names for the keys that differ\n"
         "  --wait SECONDS     wait at most this long for another process that writes the table (60)\n"
         "  --memory MIB       refuse a table that needs more memory than this (1024)\n"
         "  --help             show this text\n"
         "\n"
         "examples:\n"
         "  lade split assign images/ --table images.split --weights 8,1,1 --csv parts.csv\n"
         "  lade split assign list.csv --table list.split --weights 9,1 --rule quota --seed 7\n"
         "  lade split audit images/ --table images.split --json -\n"
         "  lade split merge --table all.split node0.split node1.split --resolve\n"
         "\n"
         "exit codes: 0 done; 1 items in conflict or beyond the quota, the same bytes in several parts, tables that "
         "differ,\n"
         "            audit: a key that is not in the table or a test below --alpha; 2 wrong use, or a list that is\n"
         "            not well formed; 3 system error");
}

static bool number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *to)
{
    char *end = NULL;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value < least || value > most) {
        print_error("split: %s takes numbers from %llu to %llu, not '%s'", name, (big)least, (big)most, text);
        return false;
    }
    *to = value;
    return true;
}

/* Calls take for each piece between commas. */
static bool pieces(const char *text, unsigned most, unsigned *count,
                   bool (*take)(struct options *, unsigned, const char *), struct options *o)
{
    *count = 0;
    for (const char *end; *count < most; text = end + 1) {
        char piece[NAME];
        end = strchr(text, ',');
        size_t size = end ? (size_t)(end - text) : strlen(text);
        if (size == 0 || size >= sizeof piece)
            break;
        memcpy(piece, text, size);
        piece[size] = '\0';
        if (!take(o, (*count)++, piece))
            return false;
        if (!end)
            return true;
    }
    fputs("lade split: a list must have 1 to 255 short items, separated by commas\n", stderr);
    return false;
}

static bool take_name(struct options *o, unsigned i, const char *text)
{
    (void)snprintf(o->name_text[i], NAME, "%s", text);
    return true;
}

/* In the order of enum given. */
static const struct option option_names[] = {
    {"table", 1, 0, TABLE},       {"weights", 1, 0, WEIGHTS}, {"folds", 1, 0, FOLDS}, {"names", 1, 0, NAMES},
    {"rule", 1, 0, RULE},         {"store", 1, 0, STORE},     {"seed", 1, 0, SEED},   {"content", 1, 0, CONTENT},
    {"conflict", 1, 0, CONFLICT}, {"csv", 1, 0, CSV},         {"json", 1, 0, JSON},   {"alpha", 1, 0, ALPHA},
    {"resolve", 0, 0, RESOLVE},   {"salt", 1, 0, SALT},       {"keys", 1, 0, KEYS},   {"wait", 1, 0, WAIT},
    {"memory", 1, 0, MEMORY},     {"help", 0, 0, HELP},       {0, 0, 0, 0},
};

static bool parse(struct options *o, int argc, char **argv)
{
    static const char *const rules[] = {"hash", "coin", "quota", NULL},
                             *const stores[] = {"exact", "pure", "compact", "arrays", NULL},
                             *const contents[] = {"follow", "drop", "reject", NULL},
                             *const conflicts[] = {"refuse", "group", "content", NULL};
    bool good = true;
    uint64_t value = 0;
    int which = 0, c, picked = 0;
    char *end = NULL;

    while (good && (c = getopt_long(argc, argv, "", option_names, &which)) != -1) {
        o->given |= c <= HELP ? 1U << c : 0;
        switch (c) {
        case HELP:
            help();
            exit(EXIT_DONE);
        case TABLE:
            o->table = optarg;
            break;
        case CSV:
            o->csv = optarg;
            break;
        case JSON:
            o->json = optarg;
            break;
        case KEYS:
            o->keys = optarg;
            break;
        case RESOLVE:
            o->resolve = true;
            break;
        case WEIGHTS:
            good = take_weights("split", "weights", optarg, o->weight, &o->parts);
            break;
        case NAMES:
            good = pieces(optarg, PARTS_MAX, &o->names, take_name, o);
            break;
        case FOLDS:
            good = number("--folds", optarg, 1, PARTS_MAX, &value);
            o->parts = (unsigned)value;
            for (unsigned i = 0; i < o->parts; i++)
                o->weight[i] = 1;
            break;
        case RULE:
            good = take_word("split", "rule", optarg, rules, &picked);
            o->config.rule = (enum lade_split_rule)picked;
            break;
        case STORE:
            good = take_word("split", "store", optarg, stores, &picked);
            o->config.store = (enum lade_split_store)picked;
            break;
        case CONTENT:
            good = take_word("split", "content", optarg, contents, &picked);
            o->config.content = (enum lade_split_content)picked;
            break;
        case CONFLICT:
            good = take_word("split", "conflict", optarg, conflicts, &picked);
            o->config.conflict = (enum lade_split_conflict)picked;
            break;
        case SEED:
            o->config.random_seed = !strcmp(optarg, "random");
            good = o->config.random_seed || number("--seed", optarg, 0, UINT64_MAX, &o->config.seed);
            break;
        case SALT:
            good = number("--salt", optarg, 0, UINT64_MAX, &o->salt);
            break;
        case WAIT:
            good = number("--wait", optarg, 0, UINT32_MAX, &o->wait);
            break;
        case MEMORY:
            good = number("--memory", optarg, 1, UINT32_MAX, &o->memory);
            break;
        case ALPHA:
            o->alpha = strtod(optarg, &end);
            good = *optarg && !*end && o->alpha >= 0 && o->alpha <= 1;
            break;
        default:
            good = false;
        }
    }
    if (o->config.store >= LADE_SPLIT_COMPACT && !(o->given & 1U << RULE))
        o->config.rule = LADE_SPLIT_COIN;
    return good;
}

/* An option that a command would ignore is an error. */
static bool takes_options(const struct options *o, const char *command)
{
    const unsigned decides = 1U << TABLE | 1U << WEIGHTS | 1U << FOLDS | 1U << NAMES | 1U << RULE | 1U << STORE |
                             1U << SEED | 1U << CONTENT | 1U << CONFLICT | 1U << CSV | 1U << JSON | 1U << MEMORY;
    const struct {
        const char *command;
        unsigned takes;
    } commands[] = {
        {"assign", decides | 1U << WAIT},
        {"audit", decides | 1U << ALPHA},
        {"merge", 1U << TABLE | 1U << NAMES | 1U << RESOLVE | 1U << SALT | 1U << KEYS | 1U << WAIT | 1U << MEMORY},
        {"show", 1U << NAMES | 1U << JSON | 1U << MEMORY}};

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        unsigned passed_over = strcmp(command, commands[i].command) ? 0 : o->given & ~commands[i].takes;
        for (int j = 0; j < HELP; j++) {
            if (passed_over & 1U << j) {
                print_error("split: %s does not take --%s; lade split --help shows the use", command,
                            option_names[j].name);
                return false;
            }
        }
    }
    if (o->csv && o->json && strcmp(o->csv, "-") == 0 && strcmp(o->json, "-") == 0) {
        fputs("lade split: --csv - and --json - would both go to standard output; name a file for one\n", stderr);
        return false;
    }
    return true;
}

int split_main(int argc, char **argv)
{
    static struct options o = {.alpha = 1e-6, .wait = 60, .memory = 1024};
    const char *command = argc > 1 ? argv[1] : "";
    int code;

    if (!parse(&o, argc, argv))
        return fputs("lade split --help shows the options\n", stderr), EXIT_USAGE;
    int left = argc - optind; /* including the command */
    char **rest = argv + optind;
    if (left < 1 || strcmp(rest[0], command) != 0)
        return wrong_use("the first word must be assign, audit, merge or show");
    if (!takes_options(&o, command))
        return EXIT_USAGE;
    if (lade_thread_enter() != LADE_OK) {
        fputs("lade split: out of memory\n", stderr);
        return EXIT_TROUBLE;
    }
    if (strcmp(command, "merge") == 0)
        code = split_merge(&o, rest + 1, left - 1);
    else if (left != 2)
        code = wrong_use("give one input");
    else if (strcmp(command, "assign") == 0 || strcmp(command, "audit") == 0)
        code = split_assign_or_audit(&o, rest[1], strcmp(command, "assign") == 0);
    else if (strcmp(command, "show") == 0)
        code = split_show(&o, rest[1]);
    else
        code = wrong_use("there is no such command; use assign, audit, merge or show");
    lade_thread_leave();
    return code;
}
