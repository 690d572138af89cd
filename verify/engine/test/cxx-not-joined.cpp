/* SPDX-License-Identifier: MIT */
/*
 * A thread object is destroyed with its thread.
 * expect: error assertion
 * says: std::terminate() was called
 */
#include <thread>

int main()
{
    std::thread t([] {});
}
