/* SPDX-License-Identifier: MIT */
#include "lade.h"

#include "escape.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool take_number(const char *command, const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *to)
{
    char *end = NULL;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value < least || value > most) {
        if (most == UINT64_MAX)
            print_error("%s: --%s takes a number of at least %llu, not '%s'", command, option,
                        (unsigned long long)least, text);
        else
            print_error("%s: --%s takes a number from %llu to %llu, not '%s'", command, option,
                        (unsigned long long)least, (unsigned long long)most, text);
        return false;
    }
    *to = value;
    return true;
}

bool take_word(const char *command, const char *option, const char *text, const char *const *words, int *to)
{
    char all[256] = "";
    size_t size = 0;

    for (*to = 0; words[*to]; ++*to) {
        if (!strcmp(text, words[*to]))
            return true;
        const char *between = *to == 0 ? "" : words[*to + 1] ? ", " : " or ";
        size += (size_t)snprintf(all + size, sizeof all - size, "%s%s", between, words[*to]);
    }
    print_error("%s: --%s takes %s, not '%s'", command, option, all, text);
    return false;
}

int source_trouble(const char *command, const struct lade_error *error)
{
    print_error("%s: %s", command, error->text);
    switch (error->status) {
    case LADE_INVALID:
        return EXIT_USAGE;
    case LADE_DAMAGED:
        return EXIT_WRONG;
    default:
        return EXIT_TROUBLE;
    }
}

static bool bad_weights(const char *command, const char *option, const char *text)
{
    print_error("%s: --%s takes 2 to %d weights such as 80:20 or 8,1,1, not '%s'", command, option,
                LADE_SPLIT_PARTS_MAX, text);
    return false;
}

/* A single weight is usually meant as a percentage. */
static bool single_weight(const char *command, const char *option, const char *text, unsigned long value)
{
    if (value > 1 && value < 100)
        print_error("%s: --%s takes 2 or more weights, not '%s'; did you mean %lu:%lu?", command, option, text, value,
                    100 - value);
    else
        print_error("%s: --%s takes 2 or more weights such as 80:20, not '%s'", command, option, text);
    return false;
}

bool take_weights(const char *command, const char *option, const char *text, uint32_t *weight, unsigned *parts)
{
    const char *const between = strpbrk(text, ":,"), *at = text;

    for (*parts = 0; *parts < LADE_SPLIT_PARTS_MAX; at++) {
        char *end = NULL;
        errno = 0;
        const unsigned long long value = strtoull(at, &end, 10);
        if (*at < '0' || *at > '9' || errno || value > UINT32_MAX || (*end && (!between || *end != *between)))
            break;
        weight[(*parts)++] = (uint32_t)value;
        at = end;
        if (!*end)
            return *parts > 1 || single_weight(command, option, text, (unsigned long)value);
    }
    return bad_weights(command, option, text);
}

const char *part_name(unsigned parts, unsigned part, char *room, size_t size)
{
    static const char *const two[] = {"train", "test"}, *const three[] = {"train", "validation", "test"};

    if (parts == 2 || parts == 3)
        return parts == 2 ? two[part] : three[part];
    (void)snprintf(room, size, "part%u", part);
    return room;
}

static bool same_text(const char *name, const char *text, size_t size)
{
    return strlen(name) == size && memcmp(name, text, size) == 0;
}

bool find_part(char *const *names, unsigned parts, const char *text, size_t size, unsigned *part)
{
    const bool short_form = same_text("valid", text, size) || same_text("val", text, size);
    unsigned number = 0;
    char room[32];

    for (unsigned i = 0; i < parts; i++) {
        const char *name = names ? names[i] : part_name(parts, i, room, sizeof room);
        if (same_text(name, text, size) || (short_form && strcmp(name, "validation") == 0)) {
            *part = i;
            return true;
        }
    }
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || number >= parts)
            return false;
        number = number * 10 + (unsigned)(text[i] - '0');
    }
    *part = number;
    return size > 0 && number < parts;
}

double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

const char *grouped(uint64_t number)
{
    static char text[8][32];
    static unsigned next;
    char *const room = text[next++ % 8], *to = room + sizeof text[0] - 1;
    unsigned digits = 0;

    *to = '\0';
    do {
        if (digits > 0 && digits % 3 == 0)
            *--to = ',';
        *--to = (char)('0' + number % 10);
        digits++;
    } while (number /= 10);
    return to;
}

static void print_progress(const char *what, const char *unit, double done, double total, double seconds)
{
    const double rate = seconds > 0 ? done / seconds : 0;

    if (total < (double)UINT64_MAX) {
        const int full = (int)(40 * done / total);
        fprintf(stderr, "\r%s [%.*s%*s] %3d %%", what, full, "########################################", 40 - full, "",
                (int)(100 * done / total));
    } else {
        fprintf(stderr, "\r%s %s", what, grouped((uint64_t)done));
    }
    fprintf(stderr, ", %s %s/s", grouped((uint64_t)(rate + 0.5)), unit);
    if (total < (double)UINT64_MAX && rate > 0) {
        const uint64_t left = (uint64_t)((total - done) / rate);
        fprintf(stderr, ", %s:%02u:%02u left", grouped(left / 3600), (unsigned)(left / 60 % 60), (unsigned)(left % 60));
    }
    fputs("\033[K", stderr);
}

void progress_line(const char *what, const char *unit, uint64_t done, uint64_t total)
{
    static int terminal = -1;
    static double begin, last;
    static const char *current;

    if (terminal < 0)
        terminal = isatty(STDERR_FILENO);
    if (!terminal)
        return;
    const double now = seconds_now();
    if (done == total) {
        fputs("\r\033[K", stderr);
        current = NULL;
        return;
    }
    if (!current || strcmp(current, what) != 0) {
        current = what;
        begin = now;
    }
    if (now - last >= 0.1) {
        print_progress(what, unit, (double)done, (double)total, now - begin);
        last = now;
    }
}

void print_error(const char *format, ...)
{
    char text[8192], safe[8192];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)lade_escape(safe, sizeof safe, text, strlen(text));
    fprintf(stderr, "lade %s\n", safe);
}

const char *shown_bytes(const char *text, size_t size)
{
    static char safe[4][4096];
    static unsigned next;
    char *to = safe[next++ % 4];

    (void)lade_escape(to, sizeof safe[0], text, size);
    return to;
}

const char *shown(const char *text)
{
    return shown_bytes(text, strlen(text));
}

void json_bytes(FILE *json, const char *text, size_t size)
{
    fputc('"', json);
    for (size_t at = 0; at < size;) {
        const unsigned char *next = (const unsigned char *)text + at;
        unsigned length = lade_utf8_length(text + at, size - at);
        if (length == 0)
            fputs("\\ufffd", json);
        else if (*next == '"' || *next == '\\')
            fprintf(json, "\\%c", *next);
        else if (*next < ' ' || *next == 0x7f)
            fprintf(json, "\\u%04x", *next);
        else if (*next == 0xc2 && next[1] < 0xa0) /* control characters as well */
            fprintf(json, "\\u%04x", next[1]);
        else
            fwrite(next, 1, length, json);
        at += length ? length : 1;
    }
    fputc('"', json);
}

void json_quoted(FILE *json, const char *text)
{
    json_bytes(json, text, strlen(text));
}
