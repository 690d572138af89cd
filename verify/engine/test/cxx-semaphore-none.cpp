/* SPDX-License-Identifier: MIT */
/*
 * Never released.
 * expect: error deadlock 16
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
    
}
