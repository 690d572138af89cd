/* SPDX-License-Identifier: MIT */
/* The tests of an audit against known values, and lines of CSV. */
#include <lade/split.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* p-values: erfc(sqrt(x / 2)) for one degree of freedom, exp(-x / 2) for two. */
Test(split_audit, known_values)
{
    struct lade_split_tests a;

    cr_assert_eq(lade_split_audit((uint64_t[]){10, 20, 30, 40}, 2, 2, NULL, &a), LADE_OK);
    cr_assert(is_near(a.classes, 0.79365079365079361) && a.classes_df == 1);
    cr_assert(is_near(a.classes_p, 0.37299848361348717));
    cr_assert(is_near(a.shares, 4) && a.shares_df == 1 && is_near(a.shares_p, 0.045500263896358417));
    cr_assert(is_near(a.least, 12));
    cr_assert_eq(lade_split_audit((uint64_t[]){70, 20, 10}, 1, 3, (uint32_t[]){6, 2, 2}, &a), LADE_OK);
    cr_assert(is_near(a.shares, 100.0 / 60 + 5) && a.shares_df == 2 && is_near(a.shares_p, exp(-(100.0 / 60 + 5) / 2)));
    cr_assert(a.classes_df == 0 && a.classes_p == 1);
    /* far out, where the continued fraction works */
    cr_assert_eq(lade_split_audit((uint64_t[]){600, 400, 0}, 1, 3, (uint32_t[]){1, 1, 0}, &a), LADE_OK);
    cr_assert(a.shares_df == 1 && is_near(a.shares_p, erfc(sqrt(20.0))));
}

Test(split_audit, what_is_empty_is_left_out)
{
    struct lade_split_tests a;

    cr_assert_eq(lade_split_audit((uint64_t[]){10, 0, 20, 0, 0, 0, 30, 0, 40}, 3, 3, (uint32_t[]){1, 0, 1}, &a),
                 LADE_OK);
    cr_assert(is_near(a.classes_p, 0.37299848361348717) && a.classes_df == 1 && a.shares_df == 1);
    cr_assert_eq(lade_split_audit((uint64_t[]){1, 1, 0, 0}, 2, 2, (uint32_t[]){1, 0}, &a), LADE_OK);
    cr_assert_eq(a.shares_p, 0); /* there is something in a part of weight 0 */
    cr_assert_eq(lade_split_audit((uint64_t[]){0, 0}, 1, 2, NULL, &a), LADE_OK);
    cr_assert(a.shares_p == 1 && a.classes_p == 1 && a.least == 0);
    cr_assert_eq(lade_split_audit((uint64_t[]){0}, 0, 1, NULL, &a), LADE_INVALID);
    cr_assert_eq(lade_split_audit((uint64_t[]){0}, 1, 0, NULL, &a), LADE_INVALID);
    cr_assert_eq(lade_split_audit((uint64_t[]){0}, 1, 256, NULL, &a), LADE_INVALID);
    cr_assert_eq(lade_split_audit(NULL, 1, 1, NULL, &a), LADE_INVALID);
}

static bool is_field(const struct lade_split_field *f, const char *text)
{
    return f->size == strlen(text) && memcmp(f->text, text, f->size) == 0;
}

Test(split_audit, csv_in)
{
    char text[] = "key,group\r\n\"a,\"\"b\"\"\",\"two\nlines\"\n\n,x\nlast,\"open";
    struct lade_split_field f[2];
    size_t fields, at = 0, size = strlen(text);

    at += lade_split_csv_read(text + at, size - at, f, 2, &fields);
    cr_assert(fields == 2 && is_field(&f[0], "key") && is_field(&f[1], "group"));
    at += lade_split_csv_read(text + at, size - at, f, 2, &fields);
    cr_assert(fields == 2 && is_field(&f[0], "a,\"b\"") && is_field(&f[1], "two\nlines") && !f[0].open && !f[1].open);
    at += lade_split_csv_read(text + at, size - at, f, 2, &fields);
    cr_assert(fields == 1 && is_field(&f[0], ""));
    at += lade_split_csv_read(text + at, size - at, f, 1, &fields);
    cr_assert(fields == 1 && is_field(&f[0], ""));
    at += lade_split_csv_read(text + at, size - at, f, 2, &fields);
    cr_assert(fields == 2 && is_field(&f[0], "last") && is_field(&f[1], "open") && !f[0].open && f[1].open);
    cr_assert_eq(at, size);
    cr_assert_eq(lade_split_csv_read(text + at, size - at, f, 2, &fields), 0);
    cr_assert_eq(fields, 0);
}

Test(split_audit, csv_out_and_in_again)
{
    const char *fields[] = {"", "plain", "a,b", "say \"so\"", "two\nlines", "\"", "trailing\r"};

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char line[64];
        struct lade_split_field f;
        size_t count, size = lade_split_csv_write(line, sizeof line, fields[i], strlen(fields[i]));
        cr_assert_leq(size, sizeof line);
        line[size] = '\n';
        cr_assert_eq(lade_split_csv_read(line, size + 1, &f, 1, &count), size + 1);
        cr_assert(count == 1 && is_field(&f, fields[i]));
    }
    char small[3] = "zz";
    cr_assert_eq(lade_split_csv_write(small, 2, "a,b", 3), 5);
    cr_assert_str_eq(small, "\"a");
}
