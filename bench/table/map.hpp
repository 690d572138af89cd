// SPDX-License-Identifier: MIT
// Table and seats of candidates that are one object of the class map, which is defined before this is included.
#ifndef LADE_BENCH_TABLE_MAP_HPP
#define LADE_BENCH_TABLE_MAP_HPP

struct seat {
    map *table;
};

void *table_make(std::uint64_t, unsigned)
{
    return new (std::nothrow) map;
}

void table_free(void *table)
{
    delete static_cast<map *>(table);
}

void *seat_make(void *table, unsigned)
{
    return new (std::nothrow) seat{static_cast<map *>(table)};
}

void seat_free(void *at)
{
    delete static_cast<seat *>(at);
}

#endif
