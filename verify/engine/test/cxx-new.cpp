/* SPDX-License-Identifier: MIT */
/*
 * All forms of new and delete.
 * expect: pass 1
 */
#include <cassert>
#include <cstdint>
#include <memory>
#include <new>

struct alignas(128) wide {
    int value[32];
};

int main()
{
    delete new int(1);
    delete[] new int[3];
    delete new (std::nothrow) int(2);
    delete[] new (std::nothrow) int[4];
    wide *w = new wide;
    assert((uintptr_t)w % 128 == 0);
    delete w;
    delete[] new wide[2];
    ::operator delete(::operator new(8), (std::size_t)8);
    std::unique_ptr<int[]> p(new int[2]);
}
