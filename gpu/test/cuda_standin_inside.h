/* SPDX-License-Identifier: MIT */
/* Declarations shared by the two files of the stand-in. */
#ifndef LADE_TEST_CUDA_STANDIN_INSIDE_H
#define LADE_TEST_CUDA_STANDIN_INSIDE_H

#include "cuda_standin.h"

#include <pthread.h>

struct CUevent_st {
    struct CUevent_st *next;
    int device;
    bool timing;
    unsigned users;              /* the owner, and work in streams */
    uint64_t recorded, complete; /* tickets */
    int64_t at;                  /* nanosecond of the last completion */
};

/* A piece of memory, of the device or pinned. */
struct standin_piece {
    struct standin_piece *next;
    char *begin;
    size_t bytes;
    bool on_device, registered;
};

/* One lock for all: this is for small tests. */
struct standin {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct CUstream_st *streams;
    struct CUevent_st *events;
    struct standin_piece *pieces;
    bool gate_closed;
    int64_t delay_most;
    uint64_t delay_state;
    unsigned broken;
    char broken_first[200];
    char fail_call[64];
    unsigned fail_n;
    cudaError_t fail_code;
    unsigned lose_n;
    cudaError_t lose_code, lost;
};
extern struct standin standin;
extern _Thread_local int standin_current;

/* Records a broken rule. The lock is held. */
void standin_breaks(const char *rule, const char *call);

/* Every call begins with begin, which takes the lock and returns the status to return, and ends with end. */
cudaError_t standin_begin(const char *call);
cudaError_t standin_end(cudaError_t code);

/* Whether this is memory of the device, or pinned memory. */
bool standin_lies_in(bool on_device, const void *begins, uint64_t bytes);

/* One user less. */
void standin_drop(struct CUevent_st *event);

/* Checks that it is in the list and that the thread has set its device. If it is not in the list, the call ends. */
#define STANDIN_LIVES(LIST, TYPE, WHAT, CALL)                                                                          \
    do {                                                                                                               \
        const struct TYPE *each_ = (LIST);                                                                             \
        while (each_ && each_ != (WHAT))                                                                               \
            each_ = each_->next;                                                                                       \
        if (!each_) {                                                                                                  \
            standin_breaks("no such " #TYPE, CALL);                                                                    \
            return standin_end(cudaErrorInvalidResourceHandle);                                                        \
        }                                                                                                              \
        if (each_->device != standin_current)                                                                          \
            standin_breaks("the thread stands at another device", CALL);                                               \
    } while (0)

/* Removes the first match (TEST inspects *link_) from the list; NULL if there is none. */
#define STANDIN_UNLINK(LIST, TYPE, TEST, FOUND)                                                                        \
    do {                                                                                                               \
        struct TYPE **link_ = &(LIST);                                                                                 \
        while (*link_ && !(TEST))                                                                                      \
            link_ = &(*link_)->next;                                                                                   \
        (FOUND) = *link_;                                                                                              \
        if (*link_)                                                                                                    \
            *link_ = (*link_)->next;                                                                                   \
    } while (0)

#endif
