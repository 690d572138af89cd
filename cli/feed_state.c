/* SPDX-License-Identifier: MIT */
/* The states that lade feed resumes. */
#include "feed.h"

#include <stdlib.h>

void feed_out_of_memory(struct lade_error *error)
{
    error->status = LADE_NO_MEMORY;
    (void)snprintf(error->text, sizeof error->text, "out of memory");
}

/*
 * The state in a file. NULL and an error on failure. A run that saves there may replace the file between two reads, so
 * the text must come from a single read that fits.
 */
static char *read_state(const char *path, struct lade_error *error)
{
    size_t room = 1024;
    char *state = NULL;

    for (;;) {
        char *more = realloc(state, room);
        if (!more) {
            free(state);
            feed_out_of_memory(error);
            return NULL;
        }
        state = more;
        size_t size = lade_loader_read_state(path, state, room, NULL, error);
        if (size > 0 && size <= room)
            return state;
        if (size == 0) {
            free(state);
            return NULL;
        }
        room = size;
    }
}

char *feed_read_states(const struct feed_options *o, struct lade_error *error)
{
    char *state[JOINED_MAX] = {NULL}, *joined = NULL;
    size_t size = 0;
    bool good = true;

    for (unsigned i = 0; i < o->resumes && good; i++) {
        state[i] = read_state(o->resume[i], error);
        good = state[i] != NULL;
    }
    if (good && o->resumes == 1 && !o->in_step) {
        joined = state[0];
        state[0] = NULL;
    } else if (good) {
        size = lade_loader_merge_states((const char *const *)state, o->resumes, NULL, 0, NULL, error);
        if (size > 0 && !(joined = malloc(size)))
            feed_out_of_memory(error);
        if (joined &&
            lade_loader_merge_states((const char *const *)state, o->resumes, joined, size, NULL, error) != size) {
            free(joined); /* out of memory, as the error reports */
            joined = NULL;
        }
    }
    for (unsigned i = 0; i < o->resumes; i++)
        free(state[i]);
    return joined;
}
