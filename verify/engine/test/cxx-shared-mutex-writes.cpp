/* SPDX-License-Identifier: MIT */
/*
 * A store under a shared lock.
 * expect: error race
 */
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static int data;

int main()
{
    std::thread t([] {
        std::shared_lock<std::shared_mutex> held(lock);
        data++;
    });
    {
        std::shared_lock<std::shared_mutex> held(lock);
        int copy = data;
        (void)copy;
    }
    t.join();
}
