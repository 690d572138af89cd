// SPDX-License-Identifier: MIT
// The mixer of keys.h as the C++ tables take it.
#ifndef LADE_BENCH_TABLE_HASH_HPP
#define LADE_BENCH_TABLE_HASH_HPP

#include "job.h"
#include "keys.h"

#include <cstddef>
#include <cstdint>
#include <new>

struct mixer {
    using is_avalanching = void; // Boost: no further mixing

    std::size_t operator()(std::uint64_t key) const noexcept
    {
        return key_mix(key);
    }
};

#endif
