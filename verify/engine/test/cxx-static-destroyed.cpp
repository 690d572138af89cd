/* SPDX-License-Identifier: MIT */
/*
 * main returns, and destroys what a detached thread uses.
 * expect: error race
 */
#include <thread>

struct thing {
    int value = 1;
    ~thing() { value = 0; }
};

static thing shared;

int main()
{
    std::thread([] { shared.value++; }).detach();
}
