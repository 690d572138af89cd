/* SPDX-License-Identifier: MIT */
#include "csv.h"

#include <criterion/criterion.h>
#include <string.h>

static bool is_field(const struct csv_field *f, const char *text)
{
    return f->size == strlen(text) && memcmp(f->text, text, f->size) == 0;
}

Test(csv, read)
{
    char text[] = "key,group\r\n\"a,\"\"b\"\"\",\"two\nlines\"\n\n,x\nlast,\"open";
    struct csv_field f[2];
    size_t fields, at = 0, size = strlen(text);

    at += csv_read(text + at, size - at, f, 2, &fields);
    cr_assert(fields == 2 && is_field(&f[0], "key") && is_field(&f[1], "group"));
    at += csv_read(text + at, size - at, f, 2, &fields);
    cr_assert(fields == 2 && is_field(&f[0], "a,\"b\"") && is_field(&f[1], "two\nlines") && !f[0].open && !f[1].open);
    at += csv_read(text + at, size - at, f, 2, &fields);
    cr_assert(fields == 1 && is_field(&f[0], ""));
    at += csv_read(text + at, size - at, f, 1, &fields);
    cr_assert(fields == 1 && is_field(&f[0], ""));
    at += csv_read(text + at, size - at, f, 2, &fields);
    cr_assert(fields == 2 && is_field(&f[0], "last") && is_field(&f[1], "open") && !f[0].open && f[1].open);
    cr_assert_eq(at, size);
    cr_assert_eq(csv_read(text + at, size - at, f, 2, &fields), 0);
    cr_assert_eq(fields, 0);
}

Test(csv, write_and_read_again)
{
    const char *fields[] = {"", "plain", "a,b", "say \"so\"", "two\nlines", "\"", "trailing\r"};

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char line[64];
        struct csv_field f;
        size_t count, size = csv_write(line, sizeof line, fields[i], strlen(fields[i]));
        cr_assert_leq(size, sizeof line);
        line[size] = '\n';
        cr_assert_eq(csv_read(line, size + 1, &f, 1, &count), size + 1);
        cr_assert(count == 1 && is_field(&f, fields[i]));
    }
    char small[3] = "zz";
    cr_assert_eq(csv_write(small, 2, "a,b", 3), 5);
    cr_assert_str_eq(small, "\"a");
}
