/* SPDX-License-Identifier: MIT */
/*
 * When the sample count of a slot has reached its maximum, the element is borrowed by the count of its cell. The
 * borrower stops at each of its steps, the element is drawn, and at each step of the draw the borrower continues.
 */
#include "bags.h"

#include "bag_elements.h"

#include <pthread.h>
#include <stdlib.h>

struct race {
    struct lade_bag *bag;
    struct lade_bag_handle *handle;
    struct step_plan plan, drawing;
    enum lade_bag_kind kind;
    unsigned release_at, at;
    bool released;
    pthread_t thread;
};

static void *borrower_body(void *arg)
{
    struct race *r = arg;
    struct lade_loan loan;
    struct lade_bag_handle *handle = bag_enter(r->bag);

    step_plan = &r->plan;
    int status = lade_bag_sample(handle, &loan);
    step_plan = NULL;
    if (!r->plan.stopped)
        (void)sem_post(&r->plan.reached);
    if (status == LADE_OK) {
        (void)loan_number(r->kind, &loan);
        lade_bag_give_back(handle, &loan);
    }
    lade_bag_leave(handle);
    return NULL;
}

static void let_borrower_go(void *context)
{
    struct race *r = context;

    if (++r->at != r->release_at)
        return;
    (void)sem_post(&r->plan.resume);
    (void)pthread_join(r->thread, NULL);
    r->released = true;
}

static const char *run_race(enum lade_bag_kind kind, unsigned stop_at, unsigned release_at, bool *stopped,
                            bool *released)
{
    static struct race r;
    struct lade_bag_config config = elements_config(kind, LADE_BAG_REJECT, 1, 3);
    union element e;

    r = (struct race){.kind = kind, .release_at = release_at};
    elements_begin(NULL);
    begin_plan(&r.plan, stop_at);
    r.drawing = (struct step_plan){.disturb = let_borrower_go, .context = &r};
    r.bag = bag_make(&config);
    r.handle = bag_enter(r.bag);
    element_make(kind, &e, 7);
    if (lade_bag_put(r.handle, &e) != LADE_OK)
        exit(2);
    /* As if it had been sampled and returned that often. */
    uint64_t word = atomic_load(&r.bag->slot[0]);
    atomic_store(&r.bag->slot[0], word | TIMES_FULL << TIMES_SHIFT);
    atomic_store(&r.bag->cell_refs[word & CELL_BITS], -(int64_t)TIMES_FULL);
    if (pthread_create(&r.thread, NULL, borrower_body, &r) != 0)
        exit(2);
    step_wait(&r.plan.reached);
    *stopped = r.plan.stopped;
    step_plan = &r.drawing;
    int status = lade_bag_draw(r.handle, &e);
    step_plan = NULL;
    *released = r.released;
    if (!r.released) {
        (void)sem_post(&r.plan.resume);
        (void)pthread_join(r.thread, NULL);
    }
    bool right = status == LADE_OK && element_number(kind, &e) == 7;
    element_drop(kind, &e);
    bool whole = cells_are_whole(r.bag);
    lade_bag_leave(r.handle);
    lade_bag_destroy(r.bag);
    end_plan(&r.plan);
    return !right                                                           ? "the element is lost or torn"
           : !whole                                                         ? "cells are lost or doubled"
           : atomic_load(&elements.made) != atomic_load(&elements.released) ? "an object was not released once"
                                                                            : NULL;
}

static void borrowed_and_drawn(enum lade_bag_kind kind)
{
    unsigned races = 0, faults = 0, steps = 0;
    bool stopped = true;
    const char *first = NULL;

    for (unsigned stop_at = 1; stopped; stop_at++) {
        bool released = true;
        for (unsigned release_at = 1; released; release_at++, races++) {
            const char *found = run_race(kind, stop_at, release_at, &stopped, &released);
            faults += found != NULL;
            first = first ? first : found;
        }
        steps += stopped;
    }
    check(faults == 0 && steps > 2, "lade_bag",
          "%s sampled once more than can be counted, stopped at each of %u steps while the element is drawn: %u races, "
          "%u "
          "faults%s%s",
          kind_name[kind], steps, races, faults, first ? ", first: " : "", first ? first : "");
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    check_within(60, "bag_borrowed");
    borrowed_and_drawn(LADE_BAG_REFS);
    borrowed_and_drawn(LADE_BAG_RECORDS);
    check_within(0, NULL);
    return check_end();
}
