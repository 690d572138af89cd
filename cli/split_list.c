/* SPDX-License-Identifier: MIT */
/* Lists of items: one key per line, CSV with a header, or the files of a directory. */
#include "split.h"

#include "csv.h"
#include "lade.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CHUNK (1 << 20)

/* Names live in chunks, which are not moved. */
struct chunk {
    struct chunk *next;
    size_t used, room;
    char text[];
};

static bool complain(const char *path, const char *why)
{
    print_error("split: %s: %s", path, why);
    return false;
}

/* Reports an error in a line of the input. */
static bool complain_of(struct list *list, size_t line, const char *why)
{
    print_error("split: %s, line %zu: %s", list->path, line, why);
    list->wrong = true;
    return false;
}

static const char *keep(struct list *list, const char *text, size_t size)
{
    struct chunk *c = list->names;

    if (!c || c->room - c->used < size + 1) {
        size_t room = size + 1 > CHUNK ? size + 1 : CHUNK;
        c = malloc(sizeof *c + room);
        if (!c)
            return NULL;
        *c = (struct chunk){.next = list->names, .room = room};
        list->names = c;
    }
    char *to = c->text + c->used;
    memcpy(to, text, size);
    to[size] = '\0';
    c->used += size + 1;
    return to;
}

static struct row *add_row(struct list *list)
{
    if (list->rows == list->room) {
        size_t room = list->room ? 2 * list->room : 1024;
        struct row *row = realloc(list->row, room * sizeof *row);
        if (!row)
            return NULL;
        list->row = row;
        list->room = room;
    }
    list->row[list->rows] = (struct row){.part = LADE_SPLIT_NO_PART};
    return &list->row[list->rows++];
}

/* Data sets have few classes, and items of one class are often adjacent: a search from the last one suffices. */
static bool number_class(struct list *list, struct text name, unsigned *number)
{
    static unsigned last;

    for (unsigned i = 0; i < list->classes; i++) {
        unsigned at = (last + i) % list->classes;
        const struct text *t = &list->class_name[at];
        if (t->size == name.size && memcmp(t->at, name.at, name.size) == 0) {
            *number = last = at;
            return true;
        }
    }
    if (list->fixed) {
        print_error("split: %s: the table has no class '%.*s'", list->path, (int)name.size, name.at);
        list->wrong = true;
        return false;
    }
    if (list->classes == LADE_SPLIT_CLASSES_MAX) {
        list->wrong = true;
        return complain(list->path, "more than 65536 classes");
    }
    list->class_name[list->classes] = name;
    *number = last = list->classes++;
    return true;
}

static char *read_all(FILE *file, size_t *size)
{
    size_t room = 1 << 16, used = 0;
    char *bytes = malloc(room);

    while (bytes) {
        used += fread(bytes + used, 1, room - used, file);
        if (used < room)
            break;
        char *more = realloc(bytes, room *= 2);
        if (!more)
            free(bytes);
        bytes = more;
    }
    if (bytes && ferror(file)) {
        free(bytes);
        return NULL;
    }
    *size = used;
    return bytes;
}

char *read_path(const char *path, size_t *size)
{
    errno = 0;
    FILE *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    char *bytes = file ? read_all(file, size) : NULL;

    if (!bytes)
        (void)complain(path, errno ? strerror(errno) : "could not be read");
    if (file && file != stdin)
        (void)fclose(file);
    return bytes;
}

static bool is_word(const struct csv_field *f, const char *word)
{
    return f->size == strlen(word) && memcmp(f->text, word, f->size) == 0;
}

enum { KEY, GROUP, CLASS, PART, COLUMNS, FIELDS = 64 };

/* Finds the columns by the first line. */
static bool read_columns(struct list *list, const struct csv_field *field, size_t fields, size_t column[COLUMNS])
{
    static const char *const name[COLUMNS] = {"key", "group", "class", "part"};

    for (int i = 0; i < COLUMNS; i++) {
        column[i] = FIELDS;
        for (size_t j = 0; j < fields; j++)
            if (is_word(&field[j], name[i]))
                column[i] = j;
    }
    list->has_parts = column[PART] < FIELDS;
    return column[KEY] < FIELDS ||
           complain_of(list, 1, "no column is named 'key'; the columns are key, group, class and part");
}

static bool part_by_name(struct row *row, const struct csv_field *f, char *const *names, unsigned parts)
{
    return f->size == 0 || find_part(names, parts, f->text, f->size, &row->part);
}

/* Number of lines of a record. */
static size_t lines_of(const struct csv_field *field, size_t fields)
{
    size_t lines = 1;

    for (size_t i = 0; i < fields; i++)
        for (size_t j = 0; j < field[i].size; j++)
            lines += field[i].text[j] == '\n';
    return lines;
}

static bool read_csv(struct list *list, char *text, size_t size, char *const *names, unsigned parts)
{
    struct csv_field field[FIELDS];
    size_t fields, column[COLUMNS];
    size_t at = csv_read(text, size, field, FIELDS, &fields), line = 1;

    if (fields > 0 && field[fields - 1].open)
        return complain_of(list, line, "a quote is not closed");
    if (!read_columns(list, field, fields, column))
        return false;
    line += lines_of(field, fields);
    for (size_t taken; (taken = csv_read(text + at, size - at, field, FIELDS, &fields)) > 0;
         at += taken, line += lines_of(field, fields)) {
        if (field[fields - 1].open)
            return complain_of(list, line, "a quote is not closed");
        if (fields == 1 && field[0].size == 0 && column[KEY] == 0)
            continue; /* an empty line */
        struct row *row = add_row(list);
        if (!row)
            return complain(list->path, "out of memory");
        if (fields <= column[KEY] || field[column[KEY]].size == 0)
            return complain_of(list, line, "the key is missing");
        row->key = (struct text){field[column[KEY]].text, field[column[KEY]].size};
        if (fields > column[GROUP] && field[column[GROUP]].size > 0)
            row->group = (struct text){field[column[GROUP]].text, field[column[GROUP]].size};
        struct text name = {"", 0};
        if (fields > column[CLASS])
            name = (struct text){field[column[CLASS]].text, field[column[CLASS]].size};
        if (!number_class(list, name, &row->class_number))
            return false;
        if (fields > column[PART] && !part_by_name(row, &field[column[PART]], names, parts))
            return complain_of(list, line, "no part has that name or number; --names sets the names");
    }
    return true;
}

static bool read_lines(struct list *list, char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        const char *begin = text + at, *line_end = memchr(begin, '\n', size - at);
        size_t length = line_end ? (size_t)(line_end - begin) : size - at;
        at += length + 1;
        if (length > 0 && begin[length - 1] == '\r')
            length--;
        if (length == 0)
            continue;
        struct row *row = add_row(list);
        if (!row)
            return complain(list->path, "out of memory");
        row->key = (struct text){begin, length};
        if (!number_class(list, (struct text){"", 0}, &row->class_number))
            return false;
    }
    return true;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool add_file(struct list *list, const char *name)
{
    struct row *row = add_row(list);
    const char *kept = keep(list, name, strlen(name)), *slash = kept ? strchr(kept, '/') : NULL;

    if (!row || !kept)
        return complain(name, "out of memory");
    row->key = (struct text){kept, strlen(kept)};
    return number_class(list, (struct text){kept, slash ? (size_t)(slash - kept) : 0}, &row->class_number);
}

/*
 * Reads the files below list->place, a path of length characters. Names that begin with a dot are left out, and links
 * to directories are not followed, because they may form cycles. Names are sorted, so that the order is the same
 * everywhere.
 */
static bool read_directory(struct list *list, size_t length)
{
    struct dirent **entry = NULL;
    bool good = true;
    int entries = scandir(list->place, &entry, NULL, by_name);

    if (entries < 0)
        return complain(list->place, strerror(errno));
    for (int i = 0; i < entries; i++) {
        const char *base = entry[i]->d_name;
        struct stat s, link;
        if (good && *base != '.') {
            int size = snprintf(list->place + length, sizeof list->place - length, "/%s", base);
            if ((size_t)size >= sizeof list->place - length)
                good = complain(list->place, "the name is too long");
            else if (stat(list->place, &s) != 0 || lstat(list->place, &link) != 0)
                good = complain(list->place, strerror(errno));
            else if (S_ISDIR(s.st_mode))
                good = S_ISLNK(link.st_mode) || read_directory(list, length + (size_t)size);
            else if (S_ISREG(s.st_mode))
                good = add_file(list, list->place + strlen(list->path) + 1);
        }
        free(entry[i]);
    }
    free(entry);
    list->place[length] = '\0';
    return good;
}

static bool read_tree(struct list *list)
{
    int size = snprintf(list->place, sizeof list->place, "%s", list->path);

    return (size_t)size < sizeof list->place ? read_directory(list, (size_t)size)
                                             : complain(list->path, "the name is too long");
}

/* Whether the first line has several columns, and one is key. */
static bool looks_like_csv(const char *text, size_t size)
{
    const char *line_end = memchr(text, '\n', size), *comma;
    bool has_key = false;

    if (line_end)
        size = (size_t)(line_end - text);
    if (size > 0 && text[size - 1] == '\r')
        size--;
    if (!memchr(text, ',', size))
        return false;
    for (;; size -= (size_t)(comma + 1 - text), text = comma + 1) {
        comma = memchr(text, ',', size);
        size_t length = comma ? (size_t)(comma - text) : size;
        has_key =
            has_key || (length == 3 && memcmp(text, "key", 3) == 0) || (length == 5 && memcmp(text, "\"key\"", 5) == 0);
        if (!comma)
            return has_key;
    }
}

static bool read_list(struct list *list, char *const *names, unsigned parts)
{
    static const char mark[3] = {'\xef', '\xbb', '\xbf'}; /* some programs write it before UTF-8 */
    const size_t length = strlen(list->path);
    size_t size = 0;

    list->text = read_path(list->path, &size);
    if (!list->text)
        return false;
    char *text = list->text;
    if (size >= sizeof mark && memcmp(text, mark, sizeof mark) == 0) {
        text += sizeof mark;
        size -= sizeof mark;
    }
    bool csv = (length > 4 && strcmp(list->path + length - 4, ".csv") == 0) || looks_like_csv(text, size);
    return csv ? read_csv(list, text, size, names, parts) : read_lines(list, text, size);
}

int list_read(struct list *list, const char *path, char *const *names, unsigned parts)
{
    struct stat s;
    bool good;

    list->path = path;
    if (strcmp(path, "-") != 0 && stat(path, &s) != 0) {
        (void)complain(path, strerror(errno));
        return EXIT_TROUBLE;
    }
    list->directory = strcmp(path, "-") != 0 && S_ISDIR(s.st_mode);
    good = list->directory ? read_tree(list) : read_list(list, names, parts);
    return good ? EXIT_DONE : list->wrong ? EXIT_USAGE : EXIT_TROUBLE;
}

void list_free(struct list *list)
{
    free(list->row);
    free(list->text);
    free(list->known);
    while (list->names) {
        struct chunk *next = list->names->next;
        free(list->names);
        list->names = next;
    }
}

void *content_read(const struct list *list, const struct row *row, size_t *size)
{
    char path[8192];

    (void)snprintf(path, sizeof path, "%s/%.*s", list->path, (int)row->key.size, row->key.at);
    return read_path(path, size);
}
