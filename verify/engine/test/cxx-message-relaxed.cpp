/* SPDX-License-Identifier: MIT */
/*
 * The lines are those of the program, not of the library's header.
 * expect: error race 20 16
 */
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<bool> flag;
static int data;

int main()
{
    std::thread t([] {
        data = 42;
        flag.store(true, std::memory_order_release);
    });
    if (flag.load(std::memory_order_relaxed))
        assert(data == 42);
    t.join();
}
