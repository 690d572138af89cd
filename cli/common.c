/* SPDX-License-Identifier: MIT */
#include "lade.h"

#include <errno.h>
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
        fprintf(stderr, "lade %s: --%s takes a number from %llu to %llu, not '%s'\n", command, option,
                (unsigned long long)least, (unsigned long long)most, text);
        return false;
    }
    *to = value;
    return true;
}

int source_trouble(const char *command, const struct lade_error *error)
{
    fprintf(stderr, "lade %s: %s\n", command, error->text);
    switch (error->status) {
    case LADE_INVALID:
        return EXIT_USAGE;
    case LADE_DAMAGED:
        return EXIT_WRONG;
    default:
        return EXIT_TROUBLE;
    }
}

const char *part_name(unsigned parts, unsigned part, char *room, size_t size)
{
    static const char *const two[] = {"train", "test"}, *const three[] = {"train", "valid", "test"};

    if (parts == 2 || parts == 3)
        return parts == 2 ? two[part] : three[part];
    (void)snprintf(room, size, "part%u", part);
    return room;
}

double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_line(const char *what, uint64_t done, uint64_t total)
{
    static int terminal = -1;
    static double last;

    if (terminal < 0)
        terminal = isatty(STDERR_FILENO);
    if (!terminal)
        return;
    if (done == total)
        fputs("\r\033[K", stderr);
    else if (seconds_now() - last >= 0.1) {
        int full = (int)(40.0 * (double)done / (double)total);
        fprintf(stderr, "\r%s [%.*s%*s] %3d %%", what, full, "########################################", 40 - full, "",
                (int)(100.0 * (double)done / (double)total));
        last = seconds_now();
    }
}

FILE *json_begin(const char *command, const char *path)
{
    FILE *json = strcmp(path, "-") ? fopen(path, "w") : stdout;

    if (json)
        return json;
    fprintf(stderr, "lade %s: %s: %s\n", command, path, strerror(errno));
    exit(EXIT_TROUBLE);
}

void json_end(const char *command, const char *path, FILE *json)
{
    if (fflush(json) == 0 && !ferror(json) && (json == stdout || fclose(json) == 0))
        return;
    fprintf(stderr, "lade %s: %s: could not be written\n", command, path);
    exit(EXIT_TROUBLE);
}

unsigned utf8_length(const unsigned char *text)
{
    unsigned length = text[0] < 0x80 ? 1 : text[0] < 0xc2 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;

    if (text[0] > 0xf4)
        return 0;
    for (unsigned i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    /* Longer forms than needed, surrogates, and what is above U+10FFFF. */
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

void json_bytes(FILE *json, const char *text, size_t size)
{
    fputc('"', json);
    for (size_t at = 0; at < size;) {
        unsigned char next[5] = {0}; /* ends with zero, as the text may not */
        memcpy(next, text + at, size - at < 4 ? size - at : 4);
        unsigned length = utf8_length(next);
        if (length == 0)
            fputs("\\ufffd", json);
        else if (*next == '"' || *next == '\\')
            fprintf(json, "\\%c", *next);
        else if (*next < ' ' || *next == 0x7f)
            fprintf(json, "\\u%04x", *next);
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
