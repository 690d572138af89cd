/* SPDX-License-Identifier: MIT */
/*
 * The constructor stores the pointer to the virtual functions.
 * expect: error race
 */
#include <atomic>
#include <thread>

struct base {
    virtual int value() { return 1; }
    virtual ~base() {}
};

static std::atomic<base *> shared;

int main()
{
    std::thread t([] { shared.store(new base, std::memory_order_relaxed); });
    if (base *b = shared.load(std::memory_order_relaxed))
        b->value();
    t.join();
    delete shared.load();
}
