/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <opscope/record.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N_CLASSES 40

/* Header of every block; as long as a cache line. */
struct block {
    struct block *next; /* next free block of its class */
    size_t bytes;       /* requested */
    unsigned size_class;
    char unused[64 - sizeof(void *) - sizeof(size_t) - sizeof(unsigned)];
};

static struct {
    pthread_mutex_t lock;
    struct block *waiting[N_CLASSES]; /* class I holds blocks of 64 << I bytes */
    uint64_t allocated_bytes, reserved_bytes;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned class_of(size_t bytes)
{
    unsigned c = 0;

    while (c < N_CLASSES - 1 && (size_t)64 << c < bytes)
        c++;
    return c;
}

/* Take a block of class C, a free one or one from the system. */
static struct block *take(unsigned c)
{
    struct block *b = pool.waiting[c];

    if (b) {
        pool.waiting[c] = b->next;
        return b;
    }
    b = aligned_alloc(64, sizeof *b + ((size_t)64 << c));
    if (!b) {
        fprintf(stderr, "convnet: out of memory\n");
        exit(EXIT_FAILURE);
    }
    b->size_class = c;
    pool.reserved_bytes += (size_t)64 << c;
    return b;
}

void *pool_alloc(size_t bytes)
{
    pthread_mutex_lock(&pool.lock);
    struct block *b = take(class_of(bytes));

    b->bytes = bytes;
    pool.allocated_bytes += bytes;
    if (osc_is_on())
        osc_memory_alloc_total(OSC_DEVICE_CPU, (uintptr_t)(b + 1), bytes, pool.allocated_bytes,
                               pool.reserved_bytes);
    pthread_mutex_unlock(&pool.lock);
    return b + 1;
}

void pool_free(void *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&pool.lock);
    struct block *b = (struct block *)p - 1;

    pool.allocated_bytes -= b->bytes;
    b->next = pool.waiting[b->size_class];
    pool.waiting[b->size_class] = b;
    if (osc_is_on())
        osc_memory_free_total(OSC_DEVICE_CPU, (uintptr_t)p, b->bytes, pool.allocated_bytes,
                              pool.reserved_bytes);
    pthread_mutex_unlock(&pool.lock);
}

void pool_fini(void)
{
    for (unsigned c = 0; c < N_CLASSES; c++)
        while (pool.waiting[c]) {
            struct block *b = pool.waiting[c];

            pool.waiting[c] = b->next;
            free(b);
        }
}
