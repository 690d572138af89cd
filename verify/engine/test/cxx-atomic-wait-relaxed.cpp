/* SPDX-License-Identifier: MIT */
/*
 * That it has been woken orders nothing.
 * expect: error race
 */
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> flag;
static int data;

int main()
{
    std::thread t([] {
        data = 42;
        flag.store(1, std::memory_order_relaxed);
        flag.notify_one();
    });
    flag.wait(0, std::memory_order_acquire);
    assert(data == 42);
    t.join();
}
