/* SPDX-License-Identifier: MIT */
/*
 * Header-only containers, strings, functions.
 * expect: pass 1
 */
#include <array>
#include <cassert>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

int main()
{
    std::vector<int> v;
    for (int i = 0; i < 9; i++)
        v.push_back(i);
    std::queue<int> q;
    q.push(v.back());
    std::list<int> l{1, 2, 3};
    l.remove(2);
    std::string s = "longer than the buffer that a string has inside";
    s += s;
    std::optional<int> o = q.front();
    std::function<int(int)> f = [&](int n) { return n + *o; };
    std::array<int, 2> a{1, 2};
    assert(f(a[1]) == 10 && l.size() == 2 && s.size() == 94 && v == std::vector<int>(v));
}
