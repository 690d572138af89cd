// SPDX-License-Identifier: MIT
/*
 * Blocks of new, make_shared and make_unique have the names of the program.
 *
 * expect: error assertion
 * says: one->next = 0 relaxed
 * says: shared->value = 3 relaxed
 * says: unique->value = 4 relaxed
 * says: top: 0 => one relaxed
 */
#include <atomic>
#include <cassert>
#include <memory>

class node {
public:
    std::atomic<int> value{1};
    std::atomic<node *> next{nullptr};
};

static std::atomic<node *> top;

int main()
{
    node *one = new node;
    auto shared = std::make_shared<node>();
    auto unique = std::make_unique<node>();

    one->next.store(nullptr, std::memory_order_relaxed);
    shared->value.store(3, std::memory_order_relaxed);
    unique->value.store(4, std::memory_order_relaxed);
    top.exchange(one, std::memory_order_relaxed);
    assert(one->value.load(std::memory_order_relaxed) == 2);
    delete one;
}
