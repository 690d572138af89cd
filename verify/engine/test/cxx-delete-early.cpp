/* SPDX-License-Identifier: MIT */
/*
 * The object is deleted while another thread uses it.
 * expect: error use-after-free
 */
#include <thread>

int main()
{
    int *p = new int(1);
    std::thread t([p] { *p = 2; });
    delete p;
    t.join();
}
