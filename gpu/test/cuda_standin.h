/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for the calls of the CUDA runtime that liblade-gpu-cuda uses, so that its code can run without a device.
 * There are two devices. A stream is a thread that executes its work in order; device memory is memory of the process
 * that only streams may access. Never installed.
 *
 * Every broken rule is counted, and the first is kept as a text:
 *   - memory that is copied from is pinned, from the call until the copy is done, and does not change in between;
 *   - memory that is copied to, or that a kernel uses, is memory of the device, and is not freed before that is done;
 *   - streams and events are valid, and the thread has set their device.
 */
#ifndef LADE_TEST_CUDA_STANDIN_H
#define LADE_TEST_CUDA_STANDIN_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

enum { STANDIN_DEVICES = 2 };

/* Number of broken rules so far, and the first; the text is "" if there is none. */
unsigned standin_broken(const char **first);

/* Streams, events and blocks of memory that were not freed. */
unsigned standin_left(void);

/* Closed: streams accept work but do not start it. */
void standin_gate(bool open);

/* The same for one stream. */
void standin_hold(cudaStream_t stream, bool held);

/* Waits until no stream can make progress: each is empty, held, or waits for an event. */
void standin_settle(void);

/* Before each piece of work a stream waits a random time, up to this many nanoseconds. */
void standin_delay(int64_t most, uint64_t seed);

/* The n-th call (from 1) of this name after this one returns code, once. */
void standin_fail(const char *call, unsigned n, cudaError_t code);

/* The n-th piece of work after this call is not done, and every call after that returns code. n == 0 ends that. */
void standin_lose(unsigned n, cudaError_t code);

#endif
