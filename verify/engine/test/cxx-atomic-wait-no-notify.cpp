/* SPDX-License-Identifier: MIT */
/*
 * No thread wakes the one that sleeps already.
 * expect: error deadlock 20
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
        flag.store(1, std::memory_order_release);
        
    });
    flag.wait(0, std::memory_order_acquire);
    assert(data == 42);
    t.join();
}
