/* SPDX-License-Identifier: MIT */
/*
 * Destroying a jthread asks it to stop and joins.
 * expect: pass
 */
#include <atomic>
#include <cassert>
#include <thread>

static int stopped;

int main()
{
    {
        std::jthread t([](std::stop_token stop) {
            while (!stop.stop_requested())
                std::this_thread::yield();
            stopped = 1;
        });
    }
    assert(stopped == 1);
}
