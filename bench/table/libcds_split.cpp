// SPDX-License-Identifier: MIT
// Candidate: SplitListMap of libcds over Michael's list, with its RCU (general_buffered). Its buckets need to know how many
// keys it will have. Inserts look first, so that a node is made only for a key that is not there.
#include "hash.hpp"

#include <cds/init.h>
#include <cds/urcu/general_buffered.h>
#include <cds/container/michael_kvlist_rcu.h>
#include <cds/container/split_list_map_rcu.h>

using rcu = cds::urcu::gc<cds::urcu::general_buffered<>>;

struct traits : cds::container::split_list::traits {
    using ordered_list = cds::container::michael_list_tag;
    using hash = mixer;
    struct ordered_list_traits : cds::container::michael_list::traits {
        using less = std::less<std::uint64_t>;
    };
};

using map = cds::container::SplitListMap<rcu, std::uint64_t, std::uint64_t, traits>;

struct seat {
    map *table;
    bool attached;
};

void *table_make(std::uint64_t expected, unsigned)
{
    static rcu *domain;

    if (!domain) {
        cds::Initialize();
        domain = new rcu;
        cds::threading::Manager::attachThread(); // until the end
    }
    return new (std::nothrow) map(expected, 1);
}

void table_free(void *)
{
    // ends with the program: its nodes are freed by threads that are gone
}

void *seat_make(void *table, unsigned)
{
    bool attach = !cds::threading::Manager::isThreadAttached();

    if (attach)
        cds::threading::Manager::attachThread();
    return new (std::nothrow) seat{static_cast<map *>(table), attach};
}

void seat_free(void *at)
{
    if (static_cast<seat *>(at)->attached)
        cds::threading::Manager::detachThread();
    delete static_cast<seat *>(at);
}

static inline bool at_get(seat *at, std::uint64_t key, std::uint64_t *value)
{
    return at->table->find(key, [=](map::value_type &pair) { *value = pair.second; });
}

static inline bool at_insert(seat *at, std::uint64_t key, std::uint64_t value, std::uint64_t *winner)
{
    if (at_get(at, key, winner))
        return false;
    bool inserted = at->table->insert(key, value);
    if (inserted)
        *winner = value;
    else
        at_get(at, key, winner);
    return inserted;
}

static inline bool at_remove(seat *at, std::uint64_t key)
{
    return at->table->erase(key);
}

#include "loops.h"
