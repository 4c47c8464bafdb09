/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor.h - arrays of floats with a shape, and the operators of a small network.
 *
 * Every operator is a recorded scope with the shapes of its inputs as an argument, in
 * the form that PyTorch writes: "Input Dims": [[64,1,16,16],[8,1,3,3],[8]].
 *
 * Shapes are batch, channels, height, width; vectors and matrices have fewer. The operator
 * allocates its results; the caller owns them.
 *
 * Threading: one thread calls operators, which use the team (team.h).
 */
#ifndef EXAMPLE_TENSOR_H
#define EXAMPLE_TENSOR_H

#include <stddef.h>

struct tensor {
    float *data; /* owned, from the pool */
    int n_dims;
    int dims[4];
};

/* An uninitialised tensor; sizes beyond N_DIMS are ignored. */
struct tensor tensor_new(int n_dims, int d0, int d1, int d2, int d3);
struct tensor tensor_like(const struct tensor *x);
void tensor_free(struct tensor *x);
size_t tensor_size(const struct tensor *x);

/* Gradients of a layer: of its input, its weights and its bias. */
struct grads {
    struct tensor x, w, b;
};

/* Convolution, 3 x 3, stride 1, padded with zeroes: y has the height and width of X. */
struct tensor conv2d(const struct tensor *x, const struct tensor *w, const struct tensor *b);
struct grads conv2d_backward(const struct tensor *x, const struct tensor *w,
                             const struct tensor *dy);

/* y = x w' + b; X of any shape is treated as a matrix with one row per element of the batch. */
struct tensor linear(const struct tensor *x, const struct tensor *w, const struct tensor *b);
struct grads linear_backward(const struct tensor *x, const struct tensor *w,
                             const struct tensor *dy);

/* The maximum of each 2 x 2 square, and at least 0. */
struct tensor relu_pool(const struct tensor *x);
struct tensor relu_pool_backward(const struct tensor *x, const struct tensor *dy);

/* Mean cross entropy of softmax(LOGITS) and LABELS; *DLOGITS is its gradient. */
float cross_entropy(const struct tensor *logits, const int *labels, struct tensor *dlogits);

/* W -= RATE * DW. */
void sgd(struct tensor *w, const struct tensor *dw, float rate);

#endif
