/* SPDX-License-Identifier: MIT */
/* Records, loans and references. */
#include "bags.h"

Test(bag_lend, records_of_every_size_come_out_whole)
{
    static const size_t sizes[] = {1, 2, 7, 8, 9, 63, 64, 65, 100, 3072, 5000};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct lade_bag *bag =
            make_bag((struct lade_bag_config){.capacity = 70, .kind = LADE_BAG_RECORDS, .record_size = sizes[s]});
        struct lade_bag_handle *h[2] = {join_bag(bag), join_bag(bag)};
        unsigned char record[5000];
        bool seen[256] = {false};
        for (unsigned n = 1; n <= 70; n++) {
            memset(record, (int)n, sizeof record);
            cr_assert_eq(lade_bag_put(h[n % 2], record), LADE_OK);
        }
        for (unsigned n = 1; n <= 70; n++) {
            memset(record, 255, sizeof record);
            cr_assert_eq(lade_bag_draw(h[n % 2], record), LADE_OK);
            cr_assert_not(seen[record[0]]);
            seen[record[0]] = true;
            for (size_t i = 0; i < sizeof record; i++)
                cr_assert_eq(record[i], i < sizes[s] ? record[0] : 255);
        }
        lade_bag_destroy(bag);
    }
}

Test(bag_lend, a_buffer_saves_the_copies)
{
    struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 3, .kind = LADE_BAG_RECORDS});
    struct lade_bag_handle *h = join_bag(bag);
    bool seen[10] = {false};
    union element e;

    for (uint64_t n = 1; n <= 3; n++) {
        e = element_of(LADE_BAG_RECORDS, n);
        cr_assert_not_null(lade_bag_scratch(h));
        memcpy(lade_bag_scratch(h), &e, RECORD);
        cr_assert_eq(lade_bag_put(h, NULL), LADE_OK);
    }
    e = element_of(LADE_BAG_RECORDS, 4);
    memcpy(lade_bag_scratch(h), &e, RECORD);
    cr_assert_eq(lade_bag_put(h, NULL), LADE_FULL);
    cr_assert_eq(number_of(LADE_BAG_RECORDS, lade_bag_scratch(h)), 4, "a refused record stays in the scratch");
    cr_assert_eq(lade_bag_exchange(h, NULL, NULL), LADE_OK);
    uint64_t first = number_of(LADE_BAG_RECORDS, lade_bag_scratch(h));
    cr_assert(first >= 1 && first <= 3);
    seen[first] = true;
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(lade_bag_draw(h, NULL), LADE_OK);
        uint64_t n = number_of(LADE_BAG_RECORDS, lade_bag_scratch(h));
        cr_assert(n >= 1 && n <= 4 && !seen[n]);
        seen[n] = true;
    }
    cr_assert_eq(lade_bag_draw(h, NULL), LADE_EMPTY);
    lade_bag_destroy(bag);
}

/* A draw into the scratch of a record that is on loan gets a copy; the borrower keeps the original. */
Test(bag_lend, a_buffer_of_a_lent_record_is_a_copy)
{
    struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 1, .kind = LADE_BAG_RECORDS});
    struct lade_bag_handle *h = join_bag(bag);
    struct lade_loan loan;

    cr_assert_eq(put_number(h, LADE_BAG_RECORDS, 5), LADE_OK);
    cr_assert_eq(lade_bag_sample(h, &loan), LADE_OK);
    cr_assert_eq(lade_bag_draw(h, NULL), LADE_OK);
    unsigned char *scratch = lade_bag_scratch(h);
    cr_assert_neq((const void *)scratch, loan.record);
    cr_assert_eq(number_of(LADE_BAG_RECORDS, scratch), 5);
    memset(scratch, 0, RECORD);
    cr_assert_eq(number_of(LADE_BAG_RECORDS, loan.record), 5);
    lade_bag_give_back(h, &loan);
    lade_bag_destroy(bag);
}

/* However the element leaves, the loan stays unchanged until it is given back, through any handle. */
Test(bag_lend, a_loan_outlives_its_element)
{
    enum { BY_DRAW, BY_EVICT, BY_EXCHANGE, BY_PUT, WAYS };

    for (int way = 0; way < WAYS; way++) {
        struct lade_bag *bag = make_bag((struct lade_bag_config){
            .capacity = 4, .handles = 2, .kind = LADE_BAG_RECORDS, .max_loans = 2, .full = LADE_BAG_EVICT_UNIFORM});
        struct lade_bag_handle *h[2] = {join_bag(bag), join_bag(bag)};
        struct lade_loan loan[2];
        uint64_t lent[2], number = 0;
        union element in, out;
        for (uint64_t n = 1; n <= 4; n++)
            cr_assert_eq(put_number(h[0], LADE_BAG_RECORDS, n), LADE_OK);
        for (unsigned round = 0; round < 500; round++) {
            cr_assert_eq(lade_bag_sample_many(h[round % 2], loan, 2), 2);
            for (int i = 0; i < 2; i++)
                lent[i] = number_of(LADE_BAG_RECORDS, loan[i].record);
            for (uint64_t n = 0; n < 40; n++) {
                uint64_t other = 100 + (round * 40 + n) % 3000;
                if (way == BY_DRAW || way == BY_EVICT) {
                    if (way == BY_DRAW)
                        cr_assert_eq(draw_number(h[n % 2], LADE_BAG_RECORDS, &number), LADE_OK);
                    else
                        cr_assert_eq(lade_bag_evict(h[n % 2]), LADE_OK);
                    cr_assert_eq(put_number(h[n / 2 % 2], LADE_BAG_RECORDS, other), LADE_OK);
                } else if (way == BY_EXCHANGE) {
                    in = element_of(LADE_BAG_RECORDS, other);
                    cr_assert_eq(lade_bag_exchange(h[n % 2], &in, &out), LADE_OK);
                } else {
                    cr_assert_eq(put_number(h[n % 2], LADE_BAG_RECORDS, other), LADE_OK);
                }
                for (int i = 0; i < 2; i++)
                    cr_assert_eq(number_of(LADE_BAG_RECORDS, loan[i].record), lent[i]);
            }
            lade_bag_give_back_many(h[round / 2 % 2], loan, 2);
        }
        struct lade_bag_stats c = stats_of(bag);
        cr_assert_eq(c.held, 4);
        cr_assert_eq(c.sampled, 1000);
        cr_assert_eq(c.given_back, 1000);
        lade_bag_destroy(bag);
    }
}

Test(bag_lend, no_more_loans_at_a_time_than_agreed)
{
    for (unsigned loans = 0; loans <= 3; loans++) {
        unsigned most = loans ? loans : 1;
        struct lade_bag *bag = make_bag(
            (struct lade_bag_config){.capacity = 2, .handles = 2, .kind = LADE_BAG_RECORDS, .max_loans = loans});
        struct lade_bag_handle *h[2] = {join_bag(bag), join_bag(bag)};
        struct lade_loan a[4], b[4];
        cr_assert_eq(put_number(h[0], LADE_BAG_RECORDS, 1), LADE_OK);
        cr_assert_eq(lade_bag_sample_many(h[0], a, 4), most);
        cr_assert_eq(lade_bag_sample(h[0], &a[3]), LADE_TOO_MANY);
        cr_assert_eq(lade_bag_sample_wait(h[0], &a[3], LADE_FOREVER), LADE_TOO_MANY);
        cr_assert_eq(lade_bag_sample_many(h[1], b, 4), most);
        lade_bag_give_back(h[1], &a[0]); /* it counts for the handle that borrowed */
        cr_assert_eq(lade_bag_sample(h[1], &b[3]), LADE_TOO_MANY);
        cr_assert_eq(lade_bag_sample(h[0], &a[0]), LADE_OK);
        lade_bag_give_back_many(h[0], a, most);
        lade_bag_give_back_many(h[0], b, most);
        cr_assert_eq(stats_of(bag).given_back, 2 * most + 1);
        lade_bag_destroy(bag);
    }
}

Test(bag_lend, times_are_counted)
{
    for (enum lade_bag_kind kind = LADE_BAG_REFS; kind <= LADE_BAG_RECORDS; kind++) {
        struct lade_bag *bag = make_bag((struct lade_bag_config){.capacity = 1, .kind = kind});
        struct lade_bag_handle *h = join_bag(bag);
        struct lade_loan loan;
        cr_assert_eq(lade_bag_sample(h, &loan), LADE_EMPTY);
        cr_assert_eq(put_number(h, kind, 1), LADE_OK);
        for (uint32_t i = 1; i <= 300; i++) {
            cr_assert_eq(lade_bag_sample(h, &loan), LADE_OK);
            cr_assert_eq(loan.times, i);
            lade_bag_give_back(h, &loan);
        }
        lade_bag_close(bag);
        cr_assert_eq(lade_bag_sample(h, &loan), LADE_OK);
        lade_bag_give_back(h, &loan);
        cr_assert_eq(lade_bag_evict(h), LADE_OK);
        cr_assert_eq(lade_bag_sample(h, &loan), LADE_CLOSED);
        cr_assert(kind != LADE_BAG_REFS || objects[1].released == 1);
        lade_bag_destroy(bag);
    }
}

/* The slot's count ends at 65535; above that, a loan is counted at the cell. */
Test(bag_lend, one_element_is_sampled_more_often_than_a_slot_can_count)
{
    for (int ways = 0; ways < 3; ways++) {
        bool refs = ways == 1;
        enum lade_bag_kind kind = refs ? LADE_BAG_REFS : ways == 0 ? LADE_BAG_RECORDS : LADE_BAG_WORDS;
        struct lade_bag *bag = make_bag(
            (struct lade_bag_config){.capacity = 1,
                                     .handles = 2,
                                     .kind = kind,
                                     .max_loans = kind == LADE_BAG_RECORDS ? 3 : 0,
                                     .full = kind == LADE_BAG_WORDS ? LADE_BAG_EVICT_OLDEST : LADE_BAG_REJECT});
        struct lade_bag_handle *h[2] = {join_bag(bag), join_bag(bag)};
        struct lade_loan loan, early, late;
        uint64_t number = 0;
        cr_assert_eq(put_number(h[0], kind, 9), LADE_OK);
        cr_assert_eq(lade_bag_sample(h[0], &early), LADE_OK);
        for (uint32_t i = 2; i <= 70000; i++) {
            cr_assert_eq(lade_bag_sample(h[0], &loan), LADE_OK);
            cr_assert_eq(loan.times, i < 65535 ? i : 65535);
            lade_bag_give_back(h[i % 2], &loan);
        }
        cr_assert_eq(lade_bag_sample(h[0], &late), LADE_OK);
        cr_assert_eq(draw_number(h[1], kind, &number), LADE_OK);
        cr_assert_eq(number, 9);
        /* Cells circulate while the two loans are out. */
        for (uint64_t n = 100; n < 200; n++) {
            cr_assert_eq(put_number(h[0], kind, n), LADE_OK);
            cr_assert_eq(lade_bag_sample(h[0], &loan), LADE_OK);
            lade_bag_give_back(h[0], &loan);
            cr_assert_eq(draw_number(h[1], kind, &number), LADE_OK);
            cr_assert_eq(number, n);
        }
        if (kind == LADE_BAG_RECORDS) {
            cr_assert_eq(number_of(kind, early.record), 9);
            cr_assert_eq(number_of(kind, late.record), 9);
        } else if (refs) {
            cr_assert_eq(objects[9].released, 0);
            cr_assert_eq(lade_ref_count(early.ref), 2);
        } else {
            cr_assert_eq(early.word, 9);
        }
        lade_bag_give_back(h[1], &early);
        lade_bag_give_back(h[1], &late);
        cr_assert(!refs || objects[9].released == 1);
        lade_bag_destroy(bag);
    }
}

/* Cells that are lent, given back and drawn in every order never run out. */
Test(bag_lend, cells_do_not_run_out)
{
    enum { LOANS = 5 };
    struct lade_bag *bag =
        make_bag((struct lade_bag_config){.capacity = 3, .handles = 2, .kind = LADE_BAG_RECORDS, .max_loans = LOANS});
    struct lade_bag_handle *h[2] = {join_bag(bag), join_bag(bag)};
    struct lade_loan loan[2][LOANS];
    uint64_t lent[2][LOANS], number = 0, next = 1;

    for (unsigned round = 0; round < 2000; round++) {
        for (int who = 0; who < 2; who++)
            for (int i = 0; i < LOANS; i++) { /* each loan keeps a separate cell */
                cr_assert_eq(put_number(h[who], LADE_BAG_RECORDS, next), LADE_OK);
                cr_assert_eq(lade_bag_sample(h[who], &loan[who][i]), LADE_OK);
                lent[who][i] = next;
                cr_assert_eq(draw_number(h[1 - who], LADE_BAG_RECORDS, &number), LADE_OK);
                cr_assert_eq(number, next);
                next = next % 4000 + 1;
            }
        for (uint64_t n = 4001; n <= 4003; n++)
            cr_assert_eq(put_number(h[n % 2], LADE_BAG_RECORDS, n), LADE_OK);
        cr_assert_eq(put_number(h[0], LADE_BAG_RECORDS, 4004), LADE_FULL);
        for (int who = 0; who < 2; who++)
            for (int i = 0; i < LOANS; i++) {
                cr_assert_eq(number_of(LADE_BAG_RECORDS, loan[who][i].record), lent[who][i]);
                lade_bag_give_back(h[(round + (unsigned)i) % 2], &loan[who][i]);
            }
        for (int i = 0; i < 3; i++) {
            cr_assert_eq(draw_number(h[i % 2], LADE_BAG_RECORDS, &number), LADE_OK);
            cr_assert_gt(number, 4000);
        }
    }
    lade_bag_destroy(bag);
}

Test(bag_lend, references_are_handed_over_exactly)
{
    struct lade_bag *bag =
        make_bag((struct lade_bag_config){.capacity = 2, .kind = LADE_BAG_REFS, .full = LADE_BAG_EVICT_UNIFORM});
    struct lade_bag_handle *h = join_bag(bag);
    struct object *o = &objects[1];
    struct lade_loan loan[3];
    struct lade_ref *out = NULL;

    cr_assert_eq(put_number(h, LADE_BAG_REFS, 1), LADE_OK);
    cr_assert_eq(lade_ref_count(&o->ref), 1, "put hands the caller's over");
    cr_assert_eq(lade_bag_sample_many(h, loan, 3), 3);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(loan[i].ref, &o->ref);
    cr_assert_eq(lade_ref_count(&o->ref), 4, "each borrower has one of his own");
    lade_bag_give_back(h, &loan[0]);
    cr_assert_eq(lade_ref_count(&o->ref), 3);
    cr_assert_eq(lade_bag_draw(h, &out), LADE_OK);
    cr_assert_eq(out, &o->ref);
    cr_assert_eq(lade_ref_count(&o->ref), 3, "draw hands the bag's out");
    cr_assert_eq(lade_bag_put(h, &out), LADE_OK);
    lade_bag_give_back_many(h, loan + 1, 2);
    cr_assert_eq(lade_ref_count(&o->ref), 1);
    cr_assert_eq(o->released, 0);
    cr_assert_eq(lade_bag_sample(h, &loan[0]), LADE_OK);
    cr_assert_eq(lade_bag_evict(h), LADE_OK);
    cr_assert_eq(lade_ref_count(&o->ref), 1);
    cr_assert_eq(o->released, 0, "lent, though evicted");
    lade_bag_give_back(h, &loan[0]);
    cr_assert_eq(o->released, 1);
    for (uint64_t n = 2; n <= 101; n++)
        cr_assert_eq(put_number(h, LADE_BAG_REFS, n), LADE_OK);
    int released = 0;
    for (uint64_t n = 2; n <= 101; n++)
        released += objects[n].released;
    cr_assert_eq(released, 98);
    union element in = element_of(LADE_BAG_REFS, 102);
    cr_assert_eq(lade_bag_exchange(h, &in, &out), LADE_OK);
    cr_assert_eq(lade_ref_count(out), 1);
    (void)lade_ref_put(out, release_object);
    lade_bag_destroy(bag);
    for (uint64_t n = 1; n <= 102; n++)
        cr_assert_eq(objects[n].released, 1);
}

/* The sample that reaches the limit removes the element: each element is sampled exactly that often. */
Test(bag_lend, elements_are_sampled_at_most_so_often)
{
    static const unsigned limits[] = {1, 2, 3, 100};

    for (enum lade_bag_kind kind = LADE_BAG_WORDS; kind <= LADE_BAG_RECORDS; kind++)
        for (int full = LADE_BAG_REJECT; full <= LADE_BAG_EVICT_OLDEST; full++)
            for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
                struct lade_bag *bag = make_bag((struct lade_bag_config){
                    .capacity = 70, .kind = kind, .full = (enum lade_bag_full)full, .max_times_sampled = limits[l]});
                struct lade_bag_handle *h = join_bag(bag);
                struct lade_loan loan;
                unsigned times[NUMBERS] = {0};
                for (uint64_t n = 1; n <= 70; n++)
                    cr_assert_eq(put_number(h, kind, n), LADE_OK);
                for (unsigned i = 1; i <= 70 * limits[l]; i++) {
                    cr_assert_eq(lade_bag_sample(h, &loan), LADE_OK);
                    uint64_t number = kind == LADE_BAG_RECORDS ? number_of(kind, loan.record) : number_of(kind, &loan);
                    cr_assert_eq(++times[number], loan.times);
                    cr_assert_leq(loan.times, limits[l]);
                    lade_bag_give_back(h, &loan);
                }
                cr_assert_eq(lade_bag_sample(h, &loan), LADE_EMPTY);
                struct lade_bag_stats c = stats_of(bag);
                cr_assert_eq(c.drawn, 70);
                cr_assert_eq(c.held, 0);
                for (uint64_t n = 1; n <= 70 && kind == LADE_BAG_REFS; n++)
                    cr_assert_eq(objects[n].released, 1);
                lade_bag_destroy(bag);
            }
}

Test(bag_lend, the_largest_limit_of_samples)
{
    for (enum lade_bag_kind kind = LADE_BAG_WORDS; kind <= LADE_BAG_RECORDS; kind++) {
        struct lade_bag *bag =
            make_bag((struct lade_bag_config){.capacity = 1, .kind = kind, .max_times_sampled = LADE_BAG_TIMES_MAX});
        struct lade_bag_handle *h = join_bag(bag);
        struct lade_loan loan;
        cr_assert_eq(put_number(h, kind, 3), LADE_OK);
        for (uint32_t i = 1; i <= LADE_BAG_TIMES_MAX; i++) {
            cr_assert_eq(lade_bag_sample(h, &loan), LADE_OK);
            cr_assert_eq(loan.times, i);
            lade_bag_give_back(h, &loan);
        }
        cr_assert_eq(lade_bag_sample(h, &loan), LADE_EMPTY);
        lade_bag_destroy(bag);
    }
}

/* The last sample's loan is valid although the element has left. */
Test(bag_lend, the_sample_that_takes_out_lends_too)
{
    struct lade_bag *bag = make_bag(
        (struct lade_bag_config){.capacity = 2, .kind = LADE_BAG_RECORDS, .max_loans = 2, .max_times_sampled = 1});
    struct lade_bag_handle *h = join_bag(bag);
    struct lade_loan loan[2];

    for (unsigned round = 0; round < 100; round++) {
        cr_assert_eq(put_number(h, LADE_BAG_RECORDS, 1 + round), LADE_OK);
        cr_assert_eq(lade_bag_sample(h, &loan[0]), LADE_OK);
        cr_assert_eq(put_number(h, LADE_BAG_RECORDS, 1000 + round), LADE_OK);
        cr_assert_eq(lade_bag_sample(h, &loan[1]), LADE_OK);
        cr_assert_eq(lade_bag_draw(h, NULL), LADE_EMPTY);
        cr_assert_eq(number_of(LADE_BAG_RECORDS, loan[0].record), 1 + round);
        cr_assert_eq(number_of(LADE_BAG_RECORDS, loan[1].record), 1000 + round);
        lade_bag_give_back_many(h, loan, 2);
    }
    lade_bag_destroy(bag);
}
