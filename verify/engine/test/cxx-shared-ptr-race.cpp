/* SPDX-License-Identifier: MIT */
/*
 * The count of a shared_ptr is safe, what it points to is not.
 * expect: error race 13 13
 */
#include <memory>
#include <thread>

int main()
{
    auto p = std::make_shared<int>(0);
    auto count = [p] {
        (*p)++;
    };
    std::thread t(count), u(count);
    t.join();
    u.join();
}
