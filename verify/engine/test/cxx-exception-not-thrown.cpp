/* SPDX-License-Identifier: MIT */
/*
 * Handlers that nothing reaches.
 * expect: pass 1
 */
#include <stdexcept>
#include <vector>

int main()
{
    std::vector<int> v{1, 2};
    try {
        v.at(1) = 3;
    } catch (const std::out_of_range &) {
        return 1;
    }
    return v[1] != 3;
}
