/* SPDX-License-Identifier: MIT */
/*
 * A C++ file and a C file.
 * expect: pass 2
 * with: with/counter.c
 */
#include <atomic>
#include <cassert>
#include <thread>

extern "C" int counter_add(void);

int main()
{
    int a = 0;
    std::thread t([&] { a = counter_add(); });
    int b = counter_add();
    t.join();
    assert(a + b == 1);
}
