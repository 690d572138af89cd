/* SPDX-License-Identifier: MIT */
/*
 * Message passing: the flag is seen, or it is not. The load is inside two functions of the library.
 * expect: pass 2
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
    if (flag.load(std::memory_order_acquire))
        assert(data == 42);
    t.join();
}
