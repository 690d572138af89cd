/* SPDX-License-Identifier: MIT */
/*
 * One writes, one reads.
 * expect: pass
 */
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static int data;

int main()
{
    std::thread t([] {
        std::unique_lock<std::shared_mutex> held(lock);
        data++;
    });
    {
        std::shared_lock<std::shared_mutex> held(lock);
        int copy = data;
        (void)copy;
    }
    t.join();
}
