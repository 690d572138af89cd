// SPDX-License-Identifier: MIT
// Candidate: concurrent_unordered_map of oneTBB, which has no removal while others use it.
#include "hash.hpp"

#include <tbb/concurrent_unordered_map.h>

#define CAN_REMOVE 0

using map = tbb::concurrent_unordered_map<std::uint64_t, std::uint64_t, mixer>;

#include "map.hpp"

static inline bool at_get(seat *at, std::uint64_t key, std::uint64_t *value)
{
    auto found = at->table->find(key);

    if (found == at->table->end())
        return false;
    *value = found->second;
    return true;
}

static inline bool at_insert(seat *at, std::uint64_t key, std::uint64_t value, std::uint64_t *winner)
{
    auto found = at->table->insert(map::value_type(key, value));

    *winner = found.first->second;
    return found.second;
}

#include "loops.h"
