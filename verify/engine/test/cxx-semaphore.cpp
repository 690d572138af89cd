/* SPDX-License-Identifier: MIT */
/*
 * What comes before the release is seen after the acquire.
 * expect: pass
 */
#include <cassert>
#include <semaphore>
#include <thread>

static int data;

int main()
{
    std::binary_semaphore ready(0);
    std::jthread t([&] {
        ready.acquire();
        assert(data == 1);
    });
    data = 1;
    ready.release();
}
