// SPDX-License-Identifier: MIT
// Candidate: concurrent_hash_map of oneTBB, a lock for every entry.
#include "hash.hpp"

#include <tbb/concurrent_hash_map.h>

struct compare {
    std::size_t hash(std::uint64_t key) const
    {
        return key_mix(key);
    }
    bool equal(std::uint64_t a, std::uint64_t b) const
    {
        return a == b;
    }
};

using map = tbb::concurrent_hash_map<std::uint64_t, std::uint64_t, compare>;

#include "map.hpp"

static inline bool at_get(seat *at, std::uint64_t key, std::uint64_t *value)
{
    map::const_accessor found;

    if (!at->table->find(found, key))
        return false;
    *value = found->second;
    return true;
}

static inline bool at_insert(seat *at, std::uint64_t key, std::uint64_t value, std::uint64_t *winner)
{
    map::const_accessor found;
    bool inserted = at->table->insert(found, map::value_type(key, value));

    *winner = found->second;
    return inserted;
}

static inline bool at_remove(seat *at, std::uint64_t key)
{
    return at->table->erase(key);
}

#include "loops.h"
