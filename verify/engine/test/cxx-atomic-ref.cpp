/* SPDX-License-Identifier: MIT */
/*
 * atomic_ref makes a plain object atomic for a while.
 * expect: pass 2
 */
#include <atomic>
#include <cassert>
#include <thread>

int main()
{
    int n = 0;
    auto count = [&] { std::atomic_ref<int>(n).fetch_add(1, std::memory_order_relaxed); };
    std::thread t(count), u(count);
    t.join();
    u.join();
    assert(n == 2);
}
