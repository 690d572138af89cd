/* SPDX-License-Identifier: MIT */
/*
 * A wait with its condition.
 * expect: pass
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
        changed.wait(held, [] { return ready; });
    }
    t.join();
}
