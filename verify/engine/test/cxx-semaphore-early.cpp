/* SPDX-License-Identifier: MIT */
/*
 * Released before the data is there.
 * expect: error race
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
    ready.release();
    data = 1;
}
