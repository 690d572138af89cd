/* SPDX-License-Identifier: MIT */
/* Lines of CSV (RFC 4180; also lines that end with a line feed alone). */
#include "csv.h"

/* Reads a quoted field after its opening quote: compacts it and returns the position after the closing quote. */
static size_t take_quoted(char *text, size_t size, size_t at, struct csv_field *f)
{
    size_t to = at, from = at;

    while (from < size) {
        if (text[from] == '"') {
            if (from + 1 >= size || text[from + 1] != '"')
                break;
            from++;
        }
        text[to++] = text[from++];
    }
    f->size = to - at;
    f->open = from >= size;
    return f->open ? from : from + 1;
}

size_t csv_read(char *text, size_t size, struct csv_field *field, size_t most, size_t *fields)
{
    size_t at = 0, count = 0;

    *fields = 0;
    if (size == 0)
        return 0;
    for (;;) {
        struct csv_field f = {text + at, 0, false};
        if (at < size && text[at] == '"') {
            f.text = text + at + 1;
            at = take_quoted(text, size, at + 1, &f);
            while (at < size && text[at] != ',' && text[at] != '\n') /* text after a quoted field is not part of it */
                at++;
        } else {
            const char *begin = text + at;
            while (at < size && text[at] != ',' && text[at] != '\n')
                at++;
            f.size = (size_t)(text + at - begin);
            if (at < size && text[at] == '\n' && f.size > 0 && f.text[f.size - 1] == '\r')
                f.size--;
        }
        if (count < most)
            field[count++] = f;
        if (at >= size || text[at++] == '\n')
            break;
    }
    *fields = count;
    return at;
}

size_t csv_write(char *to, size_t room, const void *text, size_t size)
{
    const char *from = text;
    size_t at = 0;
    bool quoted = false;

    for (size_t i = 0; i < size; i++)
        quoted = quoted || from[i] == '"' || from[i] == ',' || from[i] == '\n' || from[i] == '\r';
#define PUT(c) (at < room ? (void)(to[at] = (c)) : (void)0, at++)
    if (quoted)
        PUT('"');
    for (size_t i = 0; i < size; i++) {
        if (from[i] == '"')
            PUT('"');
        PUT(from[i]);
    }
    if (quoted)
        PUT('"');
#undef PUT
    return at;
}
