/* SPDX-License-Identifier: MIT */
/*
 * The notify comes before the store.
 * expect: error deadlock 17
 */
#include <atomic>
#include <thread>

static std::atomic<long> flag; /* not a word of 32 bits: waits at one of the library's own */

int main()
{
    std::thread t([] {
        flag.notify_one();
        flag.store(1);
    });
    flag.wait(0);
    t.join();
}
