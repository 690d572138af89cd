/* SPDX-License-Identifier: MIT */
/*
 * A wait without a condition misses the notify that comes first.
 * expect: error deadlock 24
 */
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static bool ready;

int main()
{
    std::thread t([] {
        std::lock_guard<std::mutex> held(lock);
        ready = true;
        changed.notify_one();
    });
    {
        std::unique_lock<std::mutex> held(lock);
        changed.wait(held);
    }
    t.join();
}
