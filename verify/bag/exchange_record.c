/* harness
 * property: the record that an exchange leaves is not missed, even if the put that it replaced has not completed
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 2 slots in 2 groups, one element; put into the empty group against exchange there and two draws
 * executions: 3
 * cover: swapped
 * timeout: 120
 */
#define THREADS 2
#define TRIES 1
#define below(n) ((n) - 1)
#include "harness.h"

#include "records.h"

static void setup(void)
{
    make_records(2);
    assert(put_record(0, 4) == LADE_OK);
    assert(put_record(0, 9) == LADE_OK && draw_record(0) == 9);
    /* The second group is known to be empty. */
    assert(scan_group(bag, 1, true) == 0);
}

/* Scans the groups at once: a random probe would find the slot, whatever the state of its group. */
static uint64_t find(int id)
{
    if (lade_bag_choose_by_passes(handle[id], DRAW, 0) != LADE_OK)
        return 0;
    release_element(handle[id], handle[id]->seen, HAND_OUT, record[id], false);
    return check_record(record[id]);
}

static void thread(int id)
{
    if (id == 0) {
        assert(put_record(0, 1) == LADE_OK);
        return;
    }
    record[1][0] = 2;
    record[1][1] = 20;
    assert(lade_bag_exchange(handle[1], record[1], record[1]) == LADE_OK);
    if (check_record(record[1]) == 1) {
        assert(find(1) + find(1) == 4 + 2);
        cover(swapped);
    }
}

static void finish(void)
{
    lade_bag_destroy(bag);
}
