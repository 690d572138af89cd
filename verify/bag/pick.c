/* harness
 * property: a draw tries the slots that its random words select: half a word per slot, each half used once, rejected halves skipped
 * engines: explore genmc/rc11
 * threads: 3
 * bound: 3 slots, full; two draws with each of four words, at the boundaries between slots, against one draw
 * executions: 10
 * cover: first taken
 */
#define THREADS 3
#define SLOTS_IN_GROUP 3
#define TRIES 4
#define RANDOM_WORDS
#include "harness.h"

#include "small.h"

/* The least and the greatest half for each of three slots. 0 is rejected: 2^32 is not a multiple of 3. */
enum { LOW_0 = 1, HIGH_0 = 0x55555555, LOW_1 = 0x55555556 };
#define HIGH_1 UINT64_C(0xaaaaaaaa)
#define LOW_2 UINT64_C(0xaaaaaaab)
#define HIGH_2 UINT64_C(0xffffffff)
#define WORD(first, second) ((uint64_t)(second) << 32 | (first))

static const uint64_t words[4] = {WORD(HIGH_0, LOW_1), WORD(0, LOW_2), WORD(HIGH_2, 0), WORD(HIGH_1, LOW_0)};
static const uint64_t slots[4][2] = {{0, 1}, {2, 1}, {2, 1}, {1, 0}}; /* that they select, followed by NEXT */
#define NEXT WORD(LOW_1, HIGH_2)

static _Atomic int choice; /* which word; a race models the choice */
static int chosen;
static uint64_t first_word[THREADS + 1];
static uint64_t drawn[2], other;

/* Each buffer begins with the word that was set for the handle. */
void lade_random_refill(struct lade_random *random)
{
    struct lade_bag_handle *h = (struct lade_bag_handle *)((char *)random - offsetof(struct lade_bag_handle, random));

    random->word[0] = first_word[h->number];
    for (int i = 1; i < LADE_RANDOM_BUFFER; i++)
        random->word[i] = NEXT;
    random->next = 0;
}

/* Twelve equidistant halves: each slot is selected four times. */
static void count_slots(struct lade_bag_handle *h)
{
    int count[3] = {0, 0, 0};

    for (uint64_t i = 0; i < 6; i++)
        h->random.word[LADE_RANDOM_BUFFER - 6 + i] = WORD((2 * i << 32) / 12 + 1, ((2 * i + 1) << 32) / 12 + 1);
    h->random.next = LADE_RANDOM_BUFFER - 6;
    for (int i = 0; i < 12; i++) {
        uint64_t slot = 3;
        if (i % 4 > 1 || !pick_at_once(h, 3, &slot))
            slot = pick(h, 3);
        assert(slot < 3);
        count[slot]++;
    }
    assert(count[0] == 4 && count[1] == 4 && count[2] == 4 && h->half == 0);
    h->random.next = LADE_RANDOM_BUFFER;
}

static void setup(void)
{
    make_bag(3);
    for (uint64_t word = 1; word <= 3; word++)
        assert(put(THREADS, word) == LADE_OK); /* slot word - 1 */
    for (uint64_t i = 0; i < 3; i++)
        assert(atomic_load(&bag->slot[i]) == i + 1);
    count_slots(handle[THREADS]);
    atomic_init(&choice, 0);
}

static void thread(int id)
{
    if (id == 0) {
        chosen = atomic_load_explicit(&choice, memory_order_relaxed);
        first_word[handle[0]->number] = words[chosen];
        drawn[0] = draw(0);
        drawn[1] = draw(0);
    } else if (id == 1) {
        first_word[handle[1]->number] = WORD(HIGH_1, HIGH_1);
        other = draw(1);
    } else {
        for (int i = 1; i < 4; i++)
            atomic_store_explicit(&choice, i, memory_order_relaxed);
    }
}

static void finish(void)
{
    assert(drawn[0] && drawn[1] && other && drawn[0] != drawn[1] && drawn[0] != other && drawn[1] != other);
    assert(drawn[0] == slots[chosen][0] + 1 || other == slots[chosen][0] + 1);
    assert(drawn[1] == slots[chosen][1] + 1 || other == slots[chosen][1] + 1 || drawn[0] == slots[chosen][1] + 1);
    if (drawn[0] == slots[chosen][0] + 1)
        cover(first);
    if (other == slots[chosen][0] + 1)
        cover(taken);
    assert(!draw(THREADS));
    lade_bag_destroy(bag);
}
