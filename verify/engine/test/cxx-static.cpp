/* SPDX-License-Identifier: MIT */
/*
 * Static variables of a function are initialised once; static objects before main; destructors run at the end.
 * expect: pass
 */
#include <cassert>
#include <thread>

struct thing {
    int *value = new int(7);
    ~thing() { delete value; }
};

static thing before;
static int made;

static thing &one()
{
    static thing t = [] {
        made++;
        return thing();
    }();
    return t;
}

int main()
{
    assert(*before.value == 7);
    std::thread t([] { assert(*one().value == 7); });
    assert(*one().value == 7);
    t.join();
    assert(made == 1);
}
