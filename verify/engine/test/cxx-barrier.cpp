/* SPDX-License-Identifier: MIT */
/*
 * Both threads see what the other did before the barrier.
 * expect: pass
 */
#include <barrier>
#include <cassert>
#include <thread>

static int a, b;

int main()
{
    std::barrier both(2);
    std::jthread t([&] {
        a = 1;
        both.arrive_and_wait();
        assert(b == 1);
    });
    b = 1;
    both.arrive_and_wait();
    assert(a == 1);
}
