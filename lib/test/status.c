/* SPDX-License-Identifier: MIT */
#include <lade/status.h>

#include <criterion/criterion.h>
#include <string.h>

Test(status, every_status_has_its_own_text)
{
    for (int a = LADE_DEVICE; a <= LADE_RELEASED; a++) {
        cr_assert_str_neq(lade_status_text(a), "unknown status", "status %d has no text", a);
        for (int b = LADE_DEVICE; b < a; b++)
            cr_assert_str_neq(lade_status_text(a), lade_status_text(b));
    }
}

Test(status, other_values_have_a_text_too)
{
    cr_assert_str_eq(lade_status_text(LADE_DEVICE - 1), "unknown status");
    cr_assert_str_eq(lade_status_text(1000), "unknown status");
}
