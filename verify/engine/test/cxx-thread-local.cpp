/* SPDX-License-Identifier: MIT */
/*
 * Each thread has its own object, constructed when first used and destroyed at the thread's end.
 * expect: pass
 */
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> alive;

struct thing {
    int *value;
    thing() : value(new int(0)) { alive++; }
    ~thing() { delete value, alive--; }
};

static thread_local thing own;

int main()
{
    std::thread t([] { assert(++*own.value == 1); });
    assert(++*own.value == 1);
    t.join();
    assert(alive == 1);
}
