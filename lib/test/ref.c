/* SPDX-License-Identifier: MIT */
#include <lade/ref.h>

#include <criterion/criterion.h>
#include <urcu/urcu-memb.h>

static int released;

static void release(struct lade_ref *ref)
{
    (void)ref;
    released++;
}

static void release_deferred(struct lade_ref_deferred *ref)
{
    (void)ref;
    released++;
}

Test(ref, starts_at_one_and_the_last_put_releases)
{
    struct lade_ref ref;

    lade_ref_init(&ref);
    cr_assert_eq(lade_ref_count(&ref), 1);
    cr_assert_eq(lade_ref_get(&ref), LADE_OK);
    cr_assert_eq(lade_ref_count(&ref), 2);
    cr_assert_eq(lade_ref_put(&ref, release), LADE_OK);
    cr_assert_eq(released, 0);
    cr_assert_eq(lade_ref_put(&ref, release), LADE_RELEASED);
    cr_assert_eq(released, 1);
    cr_assert_eq(lade_ref_count(&ref), 0);
}

Test(ref, get_unless_zero_takes_only_what_lives)
{
    struct lade_ref ref;

    lade_ref_init(&ref);
    cr_assert(lade_ref_get_unless_zero(&ref));
    cr_assert_eq(lade_ref_count(&ref), 2);
    lade_ref_put(&ref, release);
    lade_ref_put(&ref, release);
    cr_assert_not(lade_ref_get_unless_zero(&ref));
    cr_assert_eq(lade_ref_count(&ref), 0);
    cr_assert_eq(released, 1);
}

Test(ref, one_put_too_many_is_reported_and_does_not_release_again)
{
    struct lade_ref ref;

    lade_ref_init(&ref);
    lade_ref_put(&ref, release);
    cr_assert_eq(lade_ref_put(&ref, release), LADE_DEAD);
    cr_assert_eq(lade_ref_put(&ref, release), LADE_SATURATED);
    cr_assert_eq(released, 1);
}

Test(ref, a_get_on_zero_is_reported_and_does_not_revive)
{
    struct lade_ref ref;

    lade_ref_init(&ref);
    lade_ref_put(&ref, release);
    cr_assert_eq(lade_ref_get(&ref), LADE_DEAD);
    cr_assert_eq(lade_ref_put(&ref, release), LADE_SATURATED);
    cr_assert_eq(released, 1);
}

Test(ref, overflow_saturates_and_the_object_stays)
{
    struct lade_ref ref;

    lade_ref_init(&ref);
    ref.count = LADE_REF_MAX - 1;
    cr_assert_eq(lade_ref_get(&ref), LADE_OK);
    cr_assert_eq(lade_ref_count(&ref), LADE_REF_MAX);
    cr_assert_eq(lade_ref_get(&ref), LADE_SATURATED);
    cr_assert_eq(lade_ref_count(&ref), UINT32_MAX);
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(lade_ref_put(&ref, release), LADE_SATURATED);
    cr_assert_eq(lade_ref_count(&ref), UINT32_MAX);
    cr_assert(lade_ref_get_unless_zero(&ref));
    cr_assert_eq(released, 0);
}

Test(ref, get_unless_zero_saturates_too)
{
    struct lade_ref ref;

    lade_ref_init(&ref);
    ref.count = LADE_REF_MAX;
    cr_assert(lade_ref_get_unless_zero(&ref));
    cr_assert_eq(lade_ref_count(&ref), UINT32_MAX);
}

Test(ref, deferred_release_waits_for_the_grace_period)
{
    struct lade_ref_deferred ref;

    urcu_memb_register_thread();
    lade_ref_init(&ref.ref);
    cr_assert_eq(lade_ref_get(&ref.ref), LADE_OK);
    cr_assert_eq(lade_ref_put_deferred(&ref, release_deferred), LADE_OK);
    urcu_memb_read_lock();
    cr_assert_eq(lade_ref_put_deferred(&ref, release_deferred), LADE_RELEASED);
    /* This read section is open: the grace period cannot have ended. */
    cr_assert_eq(__atomic_load_n(&released, __ATOMIC_SEQ_CST), 0);
    cr_assert_not(lade_ref_get_unless_zero(&ref.ref));
    cr_assert_eq(lade_ref_put_deferred(&ref, release_deferred), LADE_DEAD, "underflow while the memory is held");
    urcu_memb_read_unlock();
    lade_ref_barrier();
    cr_assert_eq(released, 1);
    urcu_memb_unregister_thread();
}

Test(ref, takes_the_memory_that_the_header_states)
{
    cr_assert_eq(sizeof(struct lade_ref), 4);
    cr_assert(sizeof(void *) != 8 || sizeof(struct lade_ref_deferred) == 32);
}
