/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for the calls of the CUDA runtime that liblade-gpu-cuda uses, so that its own code runs where no device is.
 * There are two devices. A stream is a thread that works on what was put into it, in order; device memory is memory of the
 * process that only streams may touch. Never installed.
 *
 * Every rule that the code must keep and breaks is counted, and the first is kept as a text:
 *   - memory that is copied from is pinned, from the call until the copy is done, and does not change in between;
 *   - memory that is copied to, or that a kernel uses, is memory of the device, and is not freed before that is done;
 *   - streams and events live, and the thread stands at their device.
 */
#ifndef LADE_TEST_CUDA_STANDIN_H
#define LADE_TEST_CUDA_STANDIN_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

enum { STANDIN_DEVICES = 2 };

/* How many rules were broken so far, and the first; the text is "" when there is none. */
unsigned standin_broken(const char **first);

/* Streams, events and pieces of memory that were not given back. */
unsigned standin_left(void);

/* Closed: streams take what is put into them but do not begin. */
void standin_gate(bool open);

/* The same for one stream. */
void standin_hold(cudaStream_t stream, bool held);

/* Waits until no stream can do anything: each is empty, held, or waits for an event. */
void standin_settle(void);

/* Before each piece of work a stream waits up to so many nanoseconds, at random. */
void standin_delay(int64_t most, uint64_t seed);

/* The n-th call (from 1) of this name from here on answers code, once. */
void standin_fail(const char *call, unsigned n, cudaError_t code);

/* The n-th piece of work from here on is not done, and every call after that answers code. n == 0 ends that. */
void standin_lose(unsigned n, cudaError_t code);

#endif
