/* SPDX-License-Identifier: MIT */
/* The version of the library, of its headers and of the project (LADE_PROJECT_VERSION, from meson.build) are one. */
#include <criterion/criterion.h>
#include <lade/lade.h>
#include <stdio.h>

Test(version, is_that_of_the_project)
{
    cr_assert_str_eq(lade_version(), LADE_PROJECT_VERSION);
}

Test(version, headers_and_library_agree)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%d.%d.%d", LADE_VERSION_MAJOR, LADE_VERSION_MINOR, LADE_VERSION_PATCH);
    cr_assert_str_eq(lade_version(), text);
    cr_assert_eq(lade_version_number(), LADE_VERSION_NUMBER);
}

Test(version, numbers_grow_with_the_version)
{
    cr_assert_eq(LADE_VERSION_NUMBER, LADE_VERSION_MAJOR * 10000 + LADE_VERSION_MINOR * 100 + LADE_VERSION_PATCH);
    cr_assert(LADE_VERSION_MINOR < 100 && LADE_VERSION_PATCH < 100);
}
