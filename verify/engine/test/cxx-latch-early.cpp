/* SPDX-License-Identifier: MIT */
/*
 * The latch is released before the work is done.
 * expect: error race 20 17
 */
#include <cassert>
#include <latch>
#include <thread>

static int data;

int main()
{
    std::latch done(1);
    std::jthread t([&] {
        done.count_down();
        data = 1;
    });
    done.wait();
    assert(data == 1);
}
