/* SPDX-License-Identifier: MIT */
/* The text of an error: the name, what is wrong, where; one line that is safe to print. */
#include "../fail.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

Test(fail, names_the_file_the_fault_and_the_offset)
{
    struct lade_error error;

    errno = ENOSPC;
    cr_assert_eq(lade_fail(&error, LADE_DAMAGED, "a/b", 17, "%d bytes are wrong", 3), LADE_DAMAGED);
    cr_assert_str_eq(error.text, "a/b: 3 bytes are wrong, at byte 17");
    cr_assert(error.status == LADE_DAMAGED && error.offset == 17 && errno == ENOSPC);
    cr_assert_eq(lade_fail(&error, LADE_IO, NULL, LADE_NO_OFFSET, "no %s", "room"), LADE_IO);
    cr_assert_str_eq(error.text, "no room");
    cr_assert(error.status == LADE_IO && error.offset == LADE_NO_OFFSET);
    cr_assert_eq(lade_fail(NULL, LADE_IO, "a", 1, "nobody listens"), LADE_IO);
    cr_assert_eq(lade_fail_unknown(&error), LADE_INVALID);
    cr_assert(error.status == LADE_INVALID && strstr(error.text, "does not know"));
}

Test(fail, names_are_escaped_and_cut)
{
    struct lade_error error;
    char name[2000];

    (void)lade_fail(&error, LADE_IO, "a\nb\x1b", LADE_NO_OFFSET, "it is wrong");
    cr_assert_str_eq(error.text, "a\\nb\\x1b: it is wrong");
    memset(name, 'x', sizeof name);
    memcpy(name + sizeof name - 5, "/end", 5);
    (void)lade_fail(&error, LADE_IO, name, LADE_NO_OFFSET, "it is wrong");
    cr_assert(strncmp(error.text, "...xxx", 6) == 0 && strstr(error.text, "x/end: it is wrong"));
    (void)lade_fail(&error, LADE_IO, NULL, LADE_NO_OFFSET, "%.1999s", name);
    cr_assert_eq(strlen(error.text), sizeof error.text - 1);
}
