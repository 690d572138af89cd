/* SPDX-License-Identifier: MIT */
/*
 * std::call_once.
 * expect: pass
 */
#include <cassert>
#include <mutex>
#include <thread>

static std::once_flag once;
static int made;

int main()
{
    auto init = [] { std::call_once(once, [] { made++; }); };
    std::thread t(init);
    init();
    assert(made == 1);
    t.join();
}
