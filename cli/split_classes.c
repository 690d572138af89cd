/* SPDX-License-Identifier: MIT */
/*
 * The classes of a table with quotas, by name and in the order of their numbers, which the table itself does not store:
 * a file beside it, one name per line. Without it, a list with its classes in another order would take the tokens of
 * others.
 */
#include "split.h"

#include "csv.h"
#include "lade.h"

#include <string.h>

static bool name_file(char *name, size_t room, const char *table)
{
    return snprintf(name, room, "%s.classes", table) < (int)room;
}

static bool complain(const char *name, const char *why)
{
    print_error("split: %s: %s", name, why);
    return false;
}

bool classes_write(const struct list *list, const char *table)
{
    char name[4096];
    struct output o;

    if (!name_file(name, sizeof name, table))
        return complain(table, "the name is too long");
    if (!output_begin(&o, "split", name))
        return false;
    for (unsigned c = 0; c < list->classes; c++)
        if (!csv_field(o.to, list->class_name[c].at, list->class_name[c].size, '\n')) {
            output_drop(&o);
            return complain(name, "could not be written, or out of memory");
        }
    return output_end(&o);
}

bool classes_equal(const struct list *a, const struct list *b)
{
    if (a->classes != b->classes)
        return false;
    for (unsigned c = 0; c < a->classes; c++)
        if (a->class_name[c].size != b->class_name[c].size ||
            memcmp(a->class_name[c].at, b->class_name[c].at, a->class_name[c].size) != 0)
            return false;
    return true;
}

bool classes_read(struct list *list, const char *table, unsigned classes)
{
    char name[4096];
    struct csv_field field;
    size_t size = 0, fields;

    if (!name_file(name, sizeof name, table))
        return complain(table, "the name is too long");
    char *text = list->known = read_path(name, &size);
    if (!text)
        return complain(
            name, "cannot be read; it lists the classes of the quotas in order, one per line, and assign needs it");
    for (size_t at = 0, taken; (taken = csv_read(text + at, size - at, &field, 1, &fields)) > 0; at += taken)
        if (list->classes < LADE_SPLIT_CLASSES_MAX)
            list->class_name[list->classes++] = (struct text){field.text, field.size};
    list->fixed = true;
    return list->classes == classes || complain(name, "lists a different number of classes than the table has");
}
