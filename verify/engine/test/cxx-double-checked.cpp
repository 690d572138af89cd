/* SPDX-License-Identifier: MIT */
/*
 * Initialisation checked twice, with orders.
 * expect: pass
 */
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

static std::atomic<int *> instance;
static std::mutex lock;

static int *get()
{
    int *p = instance.load(std::memory_order_acquire);
    if (!p) {
        std::lock_guard<std::mutex> held(lock);
        p = instance.load(std::memory_order_relaxed);
        if (!p) {
            p = new int(7);
            instance.store(p, std::memory_order_release);
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
