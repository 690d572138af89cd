/* SPDX-License-Identifier: MIT */
/*
 * Numbers in JSON (RFC 8259): a number, an array of numbers, or such a member of an object. The whole text is checked.
 * Numbers longer than 120 characters and texts nested deeper than 64 are refused.
 */
#define _GNU_SOURCE
#include "source_members.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, DIGITS_MAX = 120 };

struct reader {
    const struct lade_value *value;
    const uint8_t *at, *end;
    struct lade_error *error;
};

static int wrong(const struct reader *r, const char *what)
{
    return lade_fail(r->error, LADE_DAMAGED, r->value->file, r->value->offset + (uint64_t)(r->at - r->value->data),
                     "JSON: %s", what);
}

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

static bool peek(struct reader *r, char c)
{
    skip_space(r);
    return r->at < r->end && *r->at == (uint8_t)c;
}

static bool take(struct reader *r, char c)
{
    const bool found = peek(r, c);

    r->at += found;
    return found;
}

/* The text between the quotes, with its escapes as they are. */
static int take_string(struct reader *r, const char **text, size_t *length)
{
    if (!take(r, '"'))
        return wrong(r, "a quoted string is missing");
    *text = (const char *)r->at;
    for (; r->at < r->end && *r->at != '"'; r->at++) {
        if (*r->at < ' ')
            return wrong(r, "a control character in a text");
        if (*r->at == '\\' && ++r->at == r->end)
            break;
    }
    if (r->at == r->end)
        return wrong(r, "a string has no end");
    *length = (size_t)(r->at++ - (const uint8_t *)*text);
    return LADE_OK;
}

static bool is_digit(const struct reader *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static bool take_digits(struct reader *r)
{
    const uint8_t *begin = r->at;

    while (is_digit(r))
        r->at++;
    return r->at > begin;
}

/* The decimal point of strtod() is that of the program's locale, which another thread may be changing. */
static locale_t plain;
static pthread_once_t plain_once = PTHREAD_ONCE_INIT;

static void make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static bool convert(const char *text, double *to)
{
    (void)pthread_once(&plain_once, make_plain);
    if (plain != (locale_t)0)
        *to = strtod_l(text, NULL, plain);
    return plain != (locale_t)0;
}

static bool begins_number(struct reader *r)
{
    return peek(r, '-') || is_digit(r);
}

static int take_number(struct reader *r, double *to)
{
    const uint8_t *begin = r->at;
    char text[DIGITS_MAX + 1];

    r->at += *r->at == '-';
    const bool zero = r->at < r->end && *r->at == '0';
    const uint8_t *digits = r->at;
    bool good = take_digits(r) && !(zero && r->at - digits > 1);
    if (good && r->at < r->end && *r->at == '.') {
        r->at++;
        good = take_digits(r);
    }
    if (good && r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
            r->at++;
        good = take_digits(r);
    }
    if (!good)
        return wrong(r, "something that is not a number");
    const size_t length = (size_t)(r->at - begin);
    if (length > DIGITS_MAX)
        return wrong(r, "a number of more than 120 characters");
    memcpy(text, begin, length);
    text[length] = 0;
    if (convert(text, to))
        return LADE_OK;
    return lade_fail(r->error, LADE_NO_MEMORY, r->value->file, LADE_NO_OFFSET, "out of memory");
}

static int skip_value(struct reader *r, unsigned depth);

static int skip_array(struct reader *r, unsigned depth)
{
    int status = LADE_OK;

    (void)take(r, '[');
    if (take(r, ']'))
        return LADE_OK;
    do
        status = skip_value(r, depth + 1);
    while (status == LADE_OK && take(r, ','));
    return status != LADE_OK || take(r, ']') ? status : wrong(r, "an array has no end");
}

static int skip_object(struct reader *r, unsigned depth)
{
    const char *name;
    size_t length;
    int status = LADE_OK;

    (void)take(r, '{');
    if (take(r, '}'))
        return LADE_OK;
    do {
        status = take_string(r, &name, &length);
        if (status == LADE_OK && !take(r, ':'))
            status = wrong(r, "a colon is missing");
        if (status == LADE_OK)
            status = skip_value(r, depth + 1);
    } while (status == LADE_OK && take(r, ','));
    return status != LADE_OK || take(r, '}') ? status : wrong(r, "an object has no end");
}

static int skip_value(struct reader *r, unsigned depth)
{
    static const char *const words[] = {"true", "false", "null"};
    const char *text;
    size_t length;
    double number;

    if (depth > DEPTH_MAX)
        return wrong(r, "nested deeper than 64");
    if (peek(r, '['))
        return skip_array(r, depth);
    if (peek(r, '{'))
        return skip_object(r, depth);
    if (peek(r, '"'))
        return take_string(r, &text, &length);
    if (begins_number(r))
        return take_number(r, &number);
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if ((size_t)(r->end - r->at) >= strlen(words[w]) && !memcmp(r->at, words[w], strlen(words[w]))) {
            r->at += strlen(words[w]);
            return LADE_OK;
        }
    return wrong(r, "a value is missing");
}

/* A number or an array of numbers: counts them, and stores those from, ... */
struct numbers {
    struct lade_json *json;
    uint8_t *to;
    uint64_t from, length;
};

static int take_one(struct reader *r, const struct numbers *n)
{
    double number = 0;

    if (!begins_number(r))
        return wrong(r, "neither a number nor an array of numbers");
    int status = take_number(r, &number);
    const uint64_t i = n->json->count++;
    if (status == LADE_OK && n->to && i >= n->from && i - n->from < n->length)
        memcpy(n->to + (i - n->from) * sizeof number, &number, sizeof number);
    return status;
}

static int take_numbers(struct reader *r, const struct numbers *n)
{
    int status;

    n->json->is_array = take(r, '[');
    if (!n->json->is_array)
        return take_one(r, n);
    if (take(r, ']'))
        return LADE_OK;
    do
        status = take_one(r, n);
    while (status == LADE_OK && take(r, ','));
    return status != LADE_OK || take(r, ']') ? status : wrong(r, "an array has no end");
}

static struct reader open_reader(const struct lade_value *v, struct lade_error *error)
{
    return (struct reader){v, v->data, v->data + v->size, error};
}

/* Checks all of the text, and moves the reader to a member of the object. */
static int find_member(struct reader *r, const char *member)
{
    struct reader whole = *r;
    int status = skip_value(&whole, 0);

    skip_space(&whole);
    if (status == LADE_OK && whole.at != whole.end)
        status = wrong(&whole, "there are bytes after the value");
    if (status != LADE_OK || !member)
        return status;
    if (!take(r, '{'))
        return wrong(r, "is no object");
    while (r->at < r->end && !peek(r, '}')) {
        const char *name;
        size_t length;
        (void)take_string(r, &name, &length); /* all of it was checked above */
        (void)take(r, ':');
        if (length == strlen(member) && !memcmp(name, member, length))
            return LADE_OK;
        (void)skip_value(r, 1);
        (void)take(r, ',');
    }
    return lade_fail(r->error, LADE_DAMAGED, r->value->file, r->value->offset, "JSON: there is no member '%.64s'",
                     member);
}

int lade_json_numbers(struct lade_json *json, const struct lade_value *value, const char *member, void *to,
                      uint64_t from, uint64_t length, struct lade_error *error)
{
    struct reader r = open_reader(value, error);
    const struct numbers n = {json, to, from, length};

    *json = (struct lade_json){0, false};
    int status = find_member(&r, member);
    return status == LADE_OK ? take_numbers(&r, &n) : status;
}

int lade_json_members(const struct lade_value *value, int (*found)(void *context, const char *name, size_t length),
                      void *context, struct lade_error *error)
{
    struct reader r = open_reader(value, error);
    int status = find_member(&r, NULL);

    if (status != LADE_OK || !take(&r, '{'))
        return status;
    while (status == LADE_OK && r.at < r.end && !peek(&r, '}')) {
        struct lade_json json = {0, false};
        const char *name;
        size_t length;
        (void)take_string(&r, &name, &length);
        (void)take(&r, ':');
        struct reader try = r;
        try.error = NULL;
        if (take_numbers(&try, &(struct numbers){&json, NULL, 0, 0}) == LADE_OK)
            status = found(context, name, length);
        (void)skip_value(&r, 1);
        (void)take(&r, ',');
    }
    return status;
}
