/* SPDX-License-Identifier: MIT */
/* Names that are safe to print. */
#include "../escape.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *escaped(const char *text, size_t capacity)
{
    static char to[256];

    memset(to, '#', sizeof to);
    size_t used = lade_escape(to, capacity, text, strlen(text));
    cr_assert_eq(used, strlen(to));
    cr_assert_lt(used, capacity);
    for (size_t i = capacity; i < sizeof to; i++)
        cr_assert_eq(to[i], '#');
    return to;
}

Test(escape, what_is_harmless_stays)
{
    cr_assert_str_eq(escaped("", 256), "");
    cr_assert_str_eq(escaped("a b/c.png \\ '\"", 256), "a b/c.png \\ '\"");
    cr_assert_str_eq(escaped("\u00e4\u20ac\U0001f600\u00a0", 256), "\u00e4\u20ac\U0001f600\u00a0");
}

Test(escape, controls_and_other_bytes)
{
    cr_assert_str_eq(escaped("a\nb\tc\rd\033[31m\177", 256), "a\\nb\\tc\\x0dd\\x1b[31m\\x7f");
    cr_assert_str_eq(escaped("\xc2\x9b"
                             "31m",
                             256),
                     "\\xc2\\x9b31m", "the same sequence, as one character");
    cr_assert_str_eq(escaped("\xff\xc3(\xed\xa0\x80\xe2\x82", 256), "\\xff\\xc3(\\xed\\xa0\\x80\\xe2\\x82");
    char to[8];
    cr_assert_eq(lade_escape(to, sizeof to, "a\0b", 3), 6);
    cr_assert_str_eq(to, "a\\x00b");
}

/* Nothing is cut in the middle. */
Test(escape, size_of_the_buffer)
{
    cr_assert_str_eq(escaped("ab\n", 1), "");
    cr_assert_str_eq(escaped("ab\n", 3), "ab");
    cr_assert_str_eq(escaped("ab\n", 4), "ab");
    cr_assert_str_eq(escaped("ab\n", 5), "ab\\n");
    cr_assert_str_eq(escaped("\u20ac\u20ac", 6), "\u20ac");
    cr_assert_eq(lade_escape(NULL, 0, "abc", 3), 0);
}

/* Every character of UTF-8 at its borders. */
Test(escape, lengths)
{
    static const struct {
        const char *text;
        unsigned length;
    } known[] = {{"a", 1},
                 {"\xc2\x80", 2},
                 {"\xc1\x80", 0},
                 {"\xdf\xbf", 2},
                 {"\xe0\xa0\x80", 3},
                 {"\xe0\x9f\x80", 0},
                 {"\xed\x9f\xbf", 3},
                 {"\xed\xa0\x80", 0},
                 {"\xef\xbf\xbf", 3},
                 {"\xf0\x90\x80\x80", 4},
                 {"\xf0\x8f\x80\x80", 0},
                 {"\xf4\x8f\xbf\xbf", 4},
                 {"\xf4\x90\x80\x80", 0},
                 {"\xf5\x80\x80\x80", 0},
                 {"\x80", 0},
                 {"\xc3", 0}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        cr_assert_eq(lade_utf8_length(known[i].text, strlen(known[i].text)), known[i].length);
}
