/* SPDX-License-Identifier: MIT */
/*
 * Exceptions are refused at the throw, and only there.
 * expect: unsupported
 * says: cxx-exception.cpp:12: T0: an exception is thrown: exceptions are not modelled
 */
#include <thread>

static int positive(int n)
{
    if (n < 0)
        throw n;
    return n;
}

int main()
{
    try {
        positive(1);
        positive(-1);
    } catch (int) {
    }
}
