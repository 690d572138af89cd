/* SPDX-License-Identifier: MIT */
/*
 * The last owner deletes, after all others have let go.
 * expect: pass
 */
#include <cassert>
#include <memory>
#include <thread>
#include <vector>

struct thing {
    int value = 7;
    ~thing() { value = 0; }
};

int main()
{
    auto p = std::make_shared<thing>();
    std::weak_ptr<thing> w = p;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([p] { assert(p->value == 7); });
    p.reset();
    for (auto &t : threads)
        t.join();
    assert(w.expired());
}
