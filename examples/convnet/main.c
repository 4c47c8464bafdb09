/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convnet - train a small network in C, recorded by opscope.
 *
 *     picture -> conv 8 -> relu, pool -> conv 16 -> relu, pool -> dense 10 -> class
 *
 *     opscope run -o recording ./convnet         recorded from outside
 *     ./convnet --record convnet.osc             or by itself
 *
 * It prints the loss of each step. Every run has the same losses, recorded or not.
 */
#include <math.h>
#include <opscope/record.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader.h"
#include "pool.h"
#include "team.h"
#include "tensor.h"

struct options {
    int n_steps, n_threads, batch_size;
    const char *record; /* file to record into, or NULL */
};

struct layer {
    struct tensor w, b;
};

struct network {
    struct layer conv1, conv2, dense;
};

static void init_layer(struct layer *l, struct tensor w, int n_in, uint64_t *state)
{
    const size_t n = tensor_size(&w);

    l->w = w;
    l->b = tensor_new(1, w.dims[0], 0, 0, 0);
    memset(l->b.data, 0, tensor_size(&l->b) * sizeof *l->b.data);
    for (size_t i = 0; i < n; i++) {
        *state = *state * 48271 % 2147483647;
        w.data[i] = ((float)*state / 2147483647.0f - 0.5f) * sqrtf(12.0f / (float)n_in);
    }
}

static struct network make_network(void)
{
    const int side = LOADER_SIDE / 4;
    struct network net;
    uint64_t state = 7;

    init_layer(&net.conv1, tensor_new(4, 8, 1, 3, 3), 9, &state);
    init_layer(&net.conv2, tensor_new(4, 16, 8, 3, 3), 72, &state);
    init_layer(&net.dense, tensor_new(2, LOADER_CLASSES, 16 * side * side, 0, 0),
               16 * side * side, &state);
    return net;
}

static void free_layer(struct layer *l)
{
    tensor_free(&l->w);
    tensor_free(&l->b);
}

/* One step of the optimizer for one layer; frees G. */
static void update(struct layer *l, struct grads *g, float rate)
{
    static osc_name name;

    osc_name_once(&name, "Optimizer.step#SGD.step");
    osc_begin(OSC_SCOPE_OPTIMIZER, name);
    sgd(&l->w, &g->w, rate);
    sgd(&l->b, &g->b, rate);
    osc_end();
    tensor_free(&g->x);
    tensor_free(&g->w);
    tensor_free(&g->b);
}

/* Results of forward() that backward() needs. */
struct activations {
    struct tensor conv1, pool1, conv2, pool2, logits;
};

static struct activations forward(const struct network *net, const struct tensor *x)
{
    static osc_name name;
    struct activations a;

    osc_name_once(&name, "forward");
    osc_begin(OSC_SCOPE_ANNOTATION, name);
    a.conv1 = conv2d(x, &net->conv1.w, &net->conv1.b);
    a.pool1 = relu_pool(&a.conv1);
    a.conv2 = conv2d(&a.pool1, &net->conv2.w, &net->conv2.b);
    a.pool2 = relu_pool(&a.conv2);
    a.logits = linear(&a.pool2, &net->dense.w, &net->dense.b);
    osc_end();
    return a;
}

/* Compute the gradients of all layers and update the weights. Frees A and DLOGITS. */
static void backward(struct network *net, const struct tensor *x, struct activations *a,
                     struct tensor *dlogits)
{
    static osc_name name;
    const float rate = 0.1f;

    osc_name_once(&name, "backward");
    osc_begin(OSC_SCOPE_ANNOTATION, name);
    struct grads dense = linear_backward(&a->pool2, &net->dense.w, dlogits);
    struct tensor d = relu_pool_backward(&a->conv2, &dense.x);
    struct grads conv2 = conv2d_backward(&a->pool1, &net->conv2.w, &d);
    tensor_free(&d);
    d = relu_pool_backward(&a->conv1, &conv2.x);
    struct grads conv1 = conv2d_backward(x, &net->conv1.w, &d);
    tensor_free(&d);
    osc_end();

    update(&net->conv1, &conv1, rate);
    update(&net->conv2, &conv2, rate);
    update(&net->dense, &dense, rate);
    tensor_free(&a->conv1);
    tensor_free(&a->pool1);
    tensor_free(&a->conv2);
    tensor_free(&a->pool2);
    tensor_free(&a->logits);
    tensor_free(dlogits);
}

static void train(const struct options *o)
{
    struct network net = make_network();
    osc_name loss_name = 0;

    team_start(o->n_threads);
    loader_start(o->n_steps, o->batch_size);
    for (int step = 0; step < o->n_steps; step++) {
        osc_step();
        struct batch batch = loader_next();
        struct activations a = forward(&net, &batch.images);
        struct tensor dlogits;
        const float loss = cross_entropy(&a.logits, batch.labels, &dlogits);

        backward(&net, &batch.images, &a, &dlogits);
        batch_free(&batch);
        osc_name_once(&loss_name, "loss");
        if (osc_is_on())
            osc_counter_f64(loss_name, (double)loss);
        printf("step %3d  loss %.4f\n", step, (double)loss);
    }
    osc_step_end();
    loader_stop();
    team_stop();
    free_layer(&net.conv1);
    free_layer(&net.conv2);
    free_layer(&net.dense);
    pool_fini();
}

static int usage(FILE *to)
{
    fprintf(to, "usage: convnet [--steps N] [--threads N] [--batch N] [--record FILE.osc]\n"
                "Train a small network on made-up pictures and print the loss of each step.\n");
    return to == stdout ? EXIT_SUCCESS : 2;
}

/* Returns 0, or the exit status + 1 if the program must end. */
static int parse(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return usage(stdout) + 1;
        if (i + 1 == argc)
            return usage(stderr) + 1;
        const char *name = argv[i++];
        const int value = atoi(argv[i]);

        if (strcmp(name, "--record") == 0)
            o->record = argv[i];
        else if (value < 1 || value > 100000)
            return usage(stderr) + 1;
        else if (strcmp(name, "--steps") == 0)
            o->n_steps = value;
        else if (strcmp(name, "--threads") == 0)
            o->n_threads = value;
        else if (strcmp(name, "--batch") == 0)
            o->batch_size = value;
        else
            return usage(stderr) + 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct options o = {.n_steps = 30, .n_threads = 2, .batch_size = 64};
    const int ended = parse(&o, argc, argv);

    if (ended)
        return ended - 1;
    if (o.record) {
        const struct osc_start_options options = {.size = sizeof options, .out = o.record};

        if (osc_start(&options) != OSC_OK) {
            fprintf(stderr, "convnet: cannot record into %s\n", o.record);
            return EXIT_FAILURE;
        }
    }
    osc_process_name("convnet");
    osc_thread_name("main");
    train(&o);
    if (o.record && osc_stop() != OSC_OK) {
        fprintf(stderr, "convnet: not all was written to %s\n", o.record);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
