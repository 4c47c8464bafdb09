/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.h - batches of labelled pictures, made ahead by a thread of their own.
 *
 * A picture of class c is a bright bar turned by c tenths of half a turn, in noise. The
 * same seed gives the same pictures.
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
    int *labels;          /* owned, of the pool; n of them */
};

/* Begin to make N_BATCHES of BATCH_SIZE pictures each. */
void loader_start(int n_batches, int batch_size);

/* The next batch, waited for if need be; it is the caller's. There must be one left. */
struct batch loader_next(void);
void batch_free(struct batch *b);

/* Every batch has been taken: end the thread. */
void loader_stop(void);

#endif
