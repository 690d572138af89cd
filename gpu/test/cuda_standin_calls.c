/* SPDX-License-Identifier: MIT */
/* Devices, memory and events. */
#include "cuda_standin_inside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const char *cudaGetErrorName(cudaError_t code)
{
    return code == cudaErrorLaunchFailure ? "cudaErrorLaunchFailure" : "cudaErrorStandIn";
}

const char *cudaGetErrorString(cudaError_t code)
{
    return code == cudaErrorLaunchFailure ? "unspecified launch failure" : "a failure that a test asked for";
}

cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t code = standin_begin("cudaGetDeviceCount");

    *count = STANDIN_DEVICES;
    return standin_end(code);
}

cudaError_t cudaGetDevice(int *device)
{
    *device = standin_current;
    return standin_end(standin_begin("cudaGetDevice"));
}

cudaError_t cudaSetDevice(int device)
{
    cudaError_t code = standin_begin("cudaSetDevice");

    if (code == cudaSuccess)
        standin_current = device;
    return standin_end(code);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return standin_end(standin_begin("cudaDeviceGetStreamPriorityRange"));
}

/* The lock is taken. */
static void add_piece(void *memory, size_t bytes, bool on_device, bool registered)
{
    struct standin_piece *p = calloc(1, sizeof *p);

    if (!p)
        abort();
    p->begin = memory;
    p->bytes = bytes;
    p->on_device = on_device;
    p->registered = registered;
    p->next = standin.pieces;
    standin.pieces = p;
}

/* Page-aligned memory, as from the runtime, filled with bytes that are no sample. */
static cudaError_t get(const char *call, void **memory, size_t bytes, bool on_device)
{
    cudaError_t code = standin_begin(call);

    if (code != cudaSuccess)
        return standin_end(code);
    *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*memory == MAP_FAILED)
        return standin_end(cudaErrorMemoryAllocation);
    memset(*memory, 0xdb, bytes);
    add_piece(*memory, bytes, on_device, false);
    return standin_end(code);
}

static cudaError_t give_back(const char *call, const void *memory, bool on_device, bool registered)
{
    cudaError_t code = standin_begin(call);
    struct standin_piece *p = NULL;

    STANDIN_UNLINK(standin.pieces, standin_piece,
                   (*link_)->begin == memory && (*link_)->on_device == on_device && (*link_)->registered == registered,
                   p);
    if (!p) {
        standin_breaks("no such memory", call);
        return standin_end(cudaErrorInvalidValue);
    }
    if (!registered)
        munmap(p->begin, p->bytes);
    free(p);
    return standin_end(code);
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    return get("cudaHostAlloc", memory, bytes, false);
}

cudaError_t cudaFreeHost(void *memory)
{
    return give_back("cudaFreeHost", memory, false, false);
}

cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned flags)
{
    cudaError_t code = standin_begin("cudaHostRegister");

    (void)flags;
    if (code == cudaSuccess)
        add_piece(memory, bytes, false, true);
    return standin_end(code);
}

cudaError_t cudaHostUnregister(void *memory)
{
    return give_back("cudaHostUnregister", memory, false, true);
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    return get("cudaMalloc", memory, bytes, true);
}

cudaError_t cudaFree(void *memory)
{
    return give_back("cudaFree", memory, true, false);
}

/* At once, from memory of any kind. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t code = standin_begin("cudaMemcpy");

    if (!standin_lies_in(true, kind == cudaMemcpyHostToDevice ? to : from, bytes))
        standin_breaks("no memory of the device", "cudaMemcpy");
    else if (code == cudaSuccess)
        memcpy(to, from, bytes);
    return standin_end(code);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    cudaError_t code = standin_begin("cudaEventCreateWithFlags");

    if (code != cudaSuccess)
        return standin_end(code);
    struct CUevent_st *e = calloc(1, sizeof *e);
    if (!e)
        abort();
    e->device = standin_current;
    e->timing = !(flags & cudaEventDisableTiming);
    e->users = 1;
    e->next = standin.events;
    standin.events = e;
    *event = e;
    return standin_end(code);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    cudaError_t code = standin_begin("cudaEventDestroy");
    struct CUevent_st *e = NULL;

    STANDIN_UNLINK(standin.events, CUevent_st, *link_ == event, e);
    if (!e) {
        standin_breaks("no such event", "cudaEventDestroy");
        return standin_end(cudaErrorInvalidResourceHandle);
    }
    standin_drop(e);
    return standin_end(code);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    cudaError_t code = standin_begin("cudaEventQuery");

    if (code != cudaSuccess)
        return standin_end(code);
    STANDIN_LIVES(standin.events, CUevent_st, event, "cudaEventQuery");
    return standin_end(event->complete == event->recorded ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    cudaError_t code = standin_begin("cudaEventElapsedTime");

    if (code != cudaSuccess)
        return standin_end(code);
    STANDIN_LIVES(standin.events, CUevent_st, begin, "cudaEventElapsedTime");
    STANDIN_LIVES(standin.events, CUevent_st, end, "cudaEventElapsedTime");
    if (!begin->timing || !end->timing || begin->recorded == 0 || end->recorded == 0)
        return standin_end(cudaErrorInvalidResourceHandle);
    if (begin->complete != begin->recorded || end->complete != end->recorded)
        return standin_end(cudaErrorNotReady);
    *milliseconds = (float)((double)(end->at - begin->at) / 1e6);
    return standin_end(code);
}
