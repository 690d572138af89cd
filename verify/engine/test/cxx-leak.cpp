/* SPDX-License-Identifier: MIT */
/*
 * What new returned must be deleted.
 * expect: error leak 10
 */
#include <thread>

int main()
{
    std::thread t([] { new int(1); });
    t.join();
}
