// SPDX-License-Identifier: MIT
// Candidate: boost::concurrent_flat_map. A batch is its bulk visit.
#include "hash.hpp"

#include <boost/unordered/concurrent_flat_map.hpp>

#define CAN_BATCH 1
#define CAN_TRIM 1

using map = boost::concurrent_flat_map<std::uint64_t, std::uint64_t, mixer>;

#include "map.hpp"

bool table_trim(void *table)
{
    static_cast<map *>(table)->rehash(0);
    return true;
}

static inline bool at_get(seat *at, std::uint64_t key, std::uint64_t *value)
{
    return at->table->cvisit(key, [=](const map::value_type &pair) { *value = pair.second; }) != 0;
}

static inline bool at_insert(seat *at, std::uint64_t key, std::uint64_t value, std::uint64_t *winner)
{
    *winner = value;
    return at->table->try_emplace_or_cvisit(key, value, [=](const map::value_type &pair) { *winner = pair.second; });
}

static inline bool at_remove(seat *at, std::uint64_t key)
{
    return at->table->erase(key) != 0;
}

static inline std::uint64_t at_get_many(seat *at, const std::uint64_t *keys, unsigned count, std::uint64_t *sum)
{
    return at->table->cvisit(keys, keys + count, [=](const map::value_type &pair) { *sum += pair.second; });
}

#include "loops.h"
