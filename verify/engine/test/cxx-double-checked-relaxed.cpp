/* SPDX-License-Identifier: MIT */
/*
 * Without orders the other thread may see the pointer before what it points to.
 * expect: error race 30 21
 */
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

static std::atomic<int *> instance;
static std::mutex lock;

static int *get()
{
    int *p = instance.load(std::memory_order_relaxed);
    if (!p) {
        std::lock_guard<std::mutex> held(lock);
        p = instance.load(std::memory_order_relaxed);
        if (!p) {
            p = new int(7);
            instance.store(p, std::memory_order_relaxed);
        }
    }
    return p;
}

int main()
{
    std::thread t([] { assert(*get() == 7); });
    assert(*get() == 7);
    t.join();
}
