/* SPDX-License-Identifier: MIT */
/*
 * Thread 0 writes data and closes the bag, thread 1 makes one call, and thread 2 chooses which; a race models the
 * choice.
 */
static uint64_t data;
static _Atomic int choice;

static void operate(int which);

static void begin(void)
{
    data = 0;
    atomic_init(&choice, 0);
}

/* The read is a race unless the close happens before it. */
static bool is_carried(void)
{
    assert(data == 7);
    return true;
}

static void thread(int id)
{
    if (id == 0) {
        data = 7;
        lade_bag_close(bag);
    } else if (id == 1) {
        operate(atomic_load_explicit(&choice, memory_order_relaxed));
    } else {
        for (int i = 1; i < 4; i++)
            atomic_store_explicit(&choice, i, memory_order_relaxed);
    }
}
