/* SPDX-License-Identifier: MIT */
/*
 * Two locks in opposite order.
 * expect: error deadlock
 */
#include <mutex>
#include <thread>

static std::mutex a, b;

int main()
{
    std::thread t([] {
        std::lock_guard<std::mutex> first(a), second(b);
    });
    {
        std::lock_guard<std::mutex> first(b), second(a);
    }
    t.join();
}
