/* SPDX-License-Identifier: MIT */
#include "../futex.h"

#include <criterion/criterion.h>

/* No thread wakes this one, so a wait that returns before its deadline used a different deadline, or none. */
Test(futex, one_call_sleeps_up_to_the_deadline)
{
    /* Up to a full second of nanoseconds, and just above one: the two parts of a deadline. */
    for (int i = 0; i < 8; i++) {
        _Atomic uint32_t word = 7;
        int64_t deadline = lade_now() + 3000000 + i * 1000003;
        lade_futex_wait(&word, 7, deadline);
        cr_assert_geq(lade_now(), deadline);
    }
    for (int64_t part = 0; part < 2; part++) {
        _Atomic uint32_t word = 7;
        int64_t deadline = (lade_now() / 1000000000 + 1) * 1000000000 - 1 + part;
        lade_futex_wait(&word, 7, deadline);
        cr_assert_geq(lade_now(), deadline);
    }
}

Test(futex, a_changed_word_is_not_waited_for, .timeout = 20)
{
    _Atomic uint32_t word = 7;

    lade_futex_wait(&word, 8, -1);
    lade_futex_wake(&word, 1);
}

Test(futex, a_deadline_that_is_over_is_not_waited_for, .timeout = 20)
{
    _Atomic uint32_t word = 7;

    lade_futex_wait(&word, 7, 0);
    lade_futex_wait(&word, 7, lade_now());
}

Test(futex, deadlines_do_not_overflow)
{
    cr_assert_eq(lade_deadline(5, LADE_FOREVER), -1);
    cr_assert_eq(lade_deadline(5, -3), 5);
    cr_assert_eq(lade_deadline(5, 3), 8);
    cr_assert_eq(lade_deadline(5, INT64_MAX), INT64_MAX);
    cr_assert_eq(lade_deadline(5, INT64_MAX - 5), INT64_MAX);
}
