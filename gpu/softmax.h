/* SPDX-License-Identifier: MIT */
/*
 * A small training step on an OpenCL device, which shows feeding from end to end: softmax regression on the numbers that a
 * converter makes of a batch's images. Internal; for one thread at a time. Errors as in convert.h.
 */
#ifndef LADE_GPU_SOFTMAX_H
#define LADE_GPU_SOFTMAX_H

#include <lade/feeder.h>

struct lade_softmax_config {
    void *native[2];          /* cl_context and cl_device_id, see lade_feeder_native() */
    uint32_t rows;            /* of a batch, at most */
    uint32_t inputs, classes; /* numbers of a row; labels are below classes */
    float rate;               /* by which an error moves the weights */
};

struct lade_softmax;

/* Begins with weights of zero. */
int lade_softmax_create(struct lade_softmax **softmax, const struct lade_softmax_config *config,
                        struct lade_error *error);

/* What was put into queues has been done. NULL is fine. */
void lade_softmax_destroy(struct lade_softmax *softmax);

/*
 * Puts one step into an in-order queue (cl_command_queue): numbers is a cl_mem of rows * inputs floats, labels a tensor of
 * LADE_I32 or LADE_I64. Does not wait.
 */
int lade_softmax_step(struct lade_softmax *softmax, void *queue, void *numbers, const struct lade_tensor *labels,
                      struct lade_error *error);

/* Of the rows since this was called last, before each was learnt from: mean loss, and the share that was right. */
struct lade_softmax_report {
    double rows, loss, right;
};

/* Waits for the queue. */
int lade_softmax_read(struct lade_softmax *softmax, void *queue, struct lade_softmax_report *report,
                      struct lade_error *error);

#endif
