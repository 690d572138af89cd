// SPDX-License-Identifier: MIT
// concurrent_queue of oneTBB for tbb_queue.c.
#include <cstdint>
#include <new>
#include <tbb/concurrent_queue.h>

using queue = tbb::concurrent_queue<std::uint64_t>;

extern "C" {
void *tbb_queue_make();
void tbb_queue_free(void *q);
void tbb_queue_push(void *q, std::uint64_t word);
bool tbb_queue_pop(void *q, std::uint64_t *word);
}

void *tbb_queue_make()
{
    return new (std::nothrow) queue;
}

void tbb_queue_free(void *q)
{
    delete static_cast<queue *>(q);
}

void tbb_queue_push(void *q, std::uint64_t word)
{
    static_cast<queue *>(q)->push(word);
}

bool tbb_queue_pop(void *q, std::uint64_t *word)
{
    return static_cast<queue *>(q)->try_pop(*word);
}
