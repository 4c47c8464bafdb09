/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <string.h>

#include "base/mem.h"

#define ALIGNMENT         16
#define FIRST_BLOCK_BYTES 512
#define MAX_BLOCK_BYTES   ((size_t)1 << 20)

struct osc_arena_block {
    struct osc_arena_block *next; /* owned; the next older block, or NULL */
    _Alignas(ALIGNMENT) char bytes[];
};

static struct osc_arena_block *new_block(struct osc_arena *a, size_t size)
{
    struct osc_arena_block *b = NULL;

    if (size <= PTRDIFF_MAX - sizeof *b)
        b = osc_malloc(sizeof *b + size);
    if (b)
        a->total_bytes += sizeof *b + size;
    return b;
}

/* Room for SIZE bytes that do not fit into the newest block. */
static char *alloc_slow(struct osc_arena *a, size_t size)
{
    size_t block_size = a->size ? a->size * 2 : FIRST_BLOCK_BYTES;

    if (block_size > MAX_BLOCK_BYTES)
        block_size = MAX_BLOCK_BYTES;
    const int is_large = size > block_size / 4;
    struct osc_arena_block *const b = new_block(a, is_large ? size : block_size);
    if (!b)
        return NULL;

    /* A large block goes behind the newest one, so that the rest of that stays in use. */
    if (is_large && a->head) {
        b->next = a->head->next;
        a->head->next = b;
        return b->bytes;
    }
    b->next = a->head;
    a->head = b;
    a->size = is_large ? size : block_size;
    a->used = size;
    return b->bytes;
}

void *osc_arena_alloc(struct osc_arena *a, size_t size)
{
    const size_t start = (a->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

    if (!a->head || start > a->size || size > a->size - start)
        return alloc_slow(a, size);
    a->used = start + size;
    return a->head->bytes + start;
}

void *osc_arena_calloc(struct osc_arena *a, size_t n, size_t size)
{
    if (size != 0 && n > PTRDIFF_MAX / size)
        return NULL;

    void *const p = osc_arena_alloc(a, n * size);
    return p ? memset(p, 0, n * size) : NULL;
}

char *osc_arena_dup(struct osc_arena *a, const char *s, size_t len)
{
    char *p;

    if (len >= PTRDIFF_MAX)
        return NULL;
    if (a->head && len < a->size - a->used) {
        p = a->head->bytes + a->used;
        a->used += len + 1;
    } else {
        p = alloc_slow(a, len + 1);
        if (!p)
            return NULL;
    }
    if (len > 0)
        memcpy(p, s, len);
    p[len] = '\0';
    return p;
}

void osc_arena_fini(struct osc_arena *a)
{
    for (struct osc_arena_block *b = a->head, *next; b; b = next) {
        next = b->next;
        osc_free(b);
    }
    *a = (struct osc_arena){0};
}
