/* SPDX-License-Identifier: MIT */
/*
 * A small training step on an OpenCL device, an end-to-end example of feeding: softmax regression on the numbers that a
 * converter produces from a batch's images. Internal; one thread at a time. Errors as in convert.h.
 */
#ifndef LADE_GPU_SOFTMAX_H
#define LADE_GPU_SOFTMAX_H

#include <lade/feeder.h>

struct lade_softmax_config {
    void *native[2];          /* cl_context and cl_device_id, see lade_feeder_native() */
    uint32_t rows;            /* maximum, of a batch */
    uint32_t inputs, classes; /* numbers of a row; labels are below classes */
    float rate;               /* learning rate */
};

struct lade_softmax;

/* Starts with weights of zero. */
int lade_softmax_create(struct lade_softmax **softmax, const struct lade_softmax_config *config,
                        struct lade_error *error);

/* All work that was enqueued must have completed. NULL is allowed. */
void lade_softmax_destroy(struct lade_softmax *softmax);

/*
 * Enqueues one step on an in-order queue (cl_command_queue): numbers is a cl_mem of rows * inputs floats, labels a
 * tensor of LADE_I32 or LADE_I64. Does not wait.
 */
int lade_softmax_step(struct lade_softmax *softmax, void *queue, void *numbers, const struct lade_tensor *labels,
                      struct lade_error *error);

/* Mean loss and share of correct rows since the last call, each measured before its training step. */
struct lade_softmax_report {
    double rows, loss, right;
};

/* Waits for the queue. */
int lade_softmax_read(struct lade_softmax *softmax, void *queue, struct lade_softmax_report *report,
                      struct lade_error *error);

#endif
