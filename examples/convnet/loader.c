/* SPDX-License-Identifier: Apache-2.0 */
#include "loader.h"

#include <math.h>
#include <opscope/record.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "pool.h"

#define N_AHEAD 3

static struct {
    pthread_mutex_t lock;
    pthread_cond_t has_batch, has_room;
    pthread_t thread;
    struct batch ahead[N_AHEAD]; /* a ring with N_READY batches, the first at FIRST */
    int first, n_ready;
    int n_batches, batch_size;
} loader = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .has_batch = PTHREAD_COND_INITIALIZER,
    .has_room = PTHREAD_COND_INITIALIZER,
};

/* Pseudo-random numbers from 0 to 1: Lehmer's generator. */
static float next_random(uint64_t *state)
{
    *state = *state * 48271 % 2147483647;
    return (float)*state / 2147483647.0f;
}

static void draw(float *picture, int label, uint64_t *state)
{
    const float angle = 3.14159265f * (float)label / LOADER_CLASSES;
    const float mid = (LOADER_SIDE - 1) / 2.0f;

    for (int i = 0; i < LOADER_SIDE * LOADER_SIDE; i++) {
        const float y = (float)(i / LOADER_SIDE) - mid, x = (float)(i % LOADER_SIDE) - mid;
        const float off = fabsf(x * sinf(angle) - y * cosf(angle));

        picture[i] = (off < 1.5f ? 1.0f : 0.0f) + 0.5f * (next_random(state) - 0.5f);
    }
}

static struct batch make_batch(uint64_t *state)
{
    static osc_name name;
    const size_t n = (size_t)loader.batch_size;
    struct batch b;

    osc_name_once(&name, "make_batch");
    osc_begin(OSC_SCOPE_DATALOADER, name);
    b.images = tensor_new(4, loader.batch_size, 1, LOADER_SIDE, LOADER_SIDE);
    b.labels = pool_alloc(n * sizeof *b.labels);
    for (size_t i = 0; i < n; i++) {
        b.labels[i] = (int)(next_random(state) * LOADER_CLASSES) % LOADER_CLASSES;
        draw(b.images.data + i * LOADER_SIDE * LOADER_SIDE, b.labels[i], state);
    }
    osc_end();
    return b;
}

static void *make_all(void *arg)
{
    static osc_name ready;
    uint64_t state = 1;

    (void)arg;
    osc_thread_name("loader");
    for (int i = 0; i < loader.n_batches; i++) {
        const struct batch b = make_batch(&state);

        pthread_mutex_lock(&loader.lock);
        while (loader.n_ready == N_AHEAD)
            pthread_cond_wait(&loader.has_room, &loader.lock);
        loader.ahead[(loader.first + loader.n_ready++) % N_AHEAD] = b;
        osc_name_once(&ready, "batches ready");
        if (osc_is_on())
            osc_counter_i64(ready, loader.n_ready);
        pthread_cond_signal(&loader.has_batch);
        pthread_mutex_unlock(&loader.lock);
    }
    return NULL;
}

void loader_start(int n_batches, int batch_size)
{
    loader.n_batches = n_batches;
    loader.batch_size = batch_size;
    if (pthread_create(&loader.thread, NULL, make_all, NULL) != 0) {
        fprintf(stderr, "convnet: cannot start a thread\n");
        exit(EXIT_FAILURE);
    }
}

struct batch loader_next(void)
{
    static osc_name name;
    struct batch b;

    osc_name_once(&name, "enumerate(DataLoader)#loader.__next__");
    osc_begin(OSC_SCOPE_DATALOADER, name);
    pthread_mutex_lock(&loader.lock);
    while (loader.n_ready == 0)
        pthread_cond_wait(&loader.has_batch, &loader.lock);
    b = loader.ahead[loader.first];
    loader.first = (loader.first + 1) % N_AHEAD;
    loader.n_ready--;
    pthread_cond_signal(&loader.has_room);
    pthread_mutex_unlock(&loader.lock);
    osc_end();
    return b;
}

void batch_free(struct batch *b)
{
    tensor_free(&b->images);
    pool_free(b->labels);
    b->labels = NULL;
}

void loader_stop(void)
{
    pthread_join(loader.thread, NULL);
}
