/* SPDX-License-Identifier: MIT */
/*
 * The position of a loader, and its text, one line:
 *
 *   lade-loader 1 identity=HEX seed=N epoch=N shard=N/N|any mix=HEX,... from=HEX:HEX,... of=N done=RANGES
 *   level=N:RANGES/RANGES... crc=HEX
 *
 * done: the numbers of this shard's samples of the epoch that were delivered. Each level: the same for all shards of an
 * earlier run of the epoch. of: samples of the epoch, of all shards. mix: the weights of a mixture. from: where its law
 * restarted in this epoch, and how many samples of each source came before. Packed batches: rows instead of samples,
 * packed=N,... is where their window begins, and one level of one shard has the rows of all shards that earlier runs
 * delivered. RANGES is A-B,A-B,... (from A, below B), in rising order. Internal.
 */
#ifndef LADE_LOAD_LOADER_STATE_H
#define LADE_LOAD_LOADER_STATE_H

#include "loader.h"

#define LADE_STATE_RANGES_MAX (1 << 20) /* of one shard */

struct lade_state {
    const struct lade_alloc *alloc; /* NULL: the C library's */
    uint32_t identity;
    uint64_t seed, epoch, total;
    unsigned shard, shards; /* shards 0: any */
    struct lade_ranges done;
    struct lade_level level[LADE_LEVELS_MAX];
    unsigned levels;
    /* Of a mixture: its weights, and samples of each source before the position where the law restarted; from 0: nowhere. */
    unsigned sources;
    uint32_t weight[LADE_MIXTURE_SOURCES_MAX];
    uint64_t from, taken[LADE_MIXTURE_SOURCES_MAX];
    bool is_packed;
    uint64_t packed[LADE_PACK_WORDS]; /* see lade_pack_position() */
};

/* Writes as much of the text as fits. Returns the size that it needs. */
size_t lade_state_write(const struct lade_state *s, char *to, size_t size);
/* LADE_OK, LADE_DAMAGED, LADE_NO_MEMORY. The caller frees it in any case. */
int lade_state_read(struct lade_state *s, const char *text, const struct lade_alloc *alloc, struct lade_error *error);
void lade_state_free(struct lade_state *s);
int lade_state_no_memory(struct lade_error *error);

#endif
