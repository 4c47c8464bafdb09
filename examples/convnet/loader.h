/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.h - batches of labelled pictures, made in advance by a thread.
 *
 * A picture of class c is a bright bar turned by c tenths of half a turn, with noise. The same
 * seed gives the same pictures.
 *
 * Threading: one thread takes batches.
 */
#ifndef EXAMPLE_LOADER_H
#define EXAMPLE_LOADER_H

#include "tensor.h"

#define LOADER_CLASSES 10
#define LOADER_SIDE    16

struct batch {
    struct tensor images; /* n, 1, LOADER_SIDE, LOADER_SIDE */
    int *labels;          /* owned, from the pool; n of them */
};

/* Start the thread, which makes N_BATCHES of BATCH_SIZE pictures each. */
void loader_start(int n_batches, int batch_size);

/* The next batch; waits until it is ready. The caller owns it. There must be one left. */
struct batch loader_next(void);
void batch_free(struct batch *b);

/* End the thread, after every batch was taken. */
void loader_stop(void);

#endif
