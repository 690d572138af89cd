/* SPDX-License-Identifier: MIT */
/*
 * What comes before the count-down is seen after the wait.
 * expect: pass
 */
#include <cassert>
#include <latch>
#include <thread>

static int data;

int main()
{
    std::latch done(1);
    std::jthread t([&] {
        data = 1;
        done.count_down();
    });
    done.wait();
    assert(data == 1);
}
