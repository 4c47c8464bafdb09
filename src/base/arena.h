/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory that is freed as a whole.
 *
 * One arena per load, per analysis, per request. Blocks grow to 1 MiB; addresses stay valid
 * until osc_arena_fini(). A zeroed struct is an empty arena.
 *
 * Threading: not locked; one thread at a time.
 */
#pragma once

#include <stddef.h>

struct osc_arena_block;

struct osc_arena {
    struct osc_arena_block *head; /* owned; newest first */
    size_t used, size;            /* of the newest block, in bytes */
    size_t total_bytes;           /* of all blocks */
};

/* SIZE bytes, aligned to 16, not zeroed; NULL when memory is exhausted. */
void *osc_arena_alloc(struct osc_arena *a, size_t size) __attribute__((warn_unused_result));

/* N zeroed elements of SIZE bytes, aligned to 16; NULL also on overflow. */
void *osc_arena_calloc(struct osc_arena *a, size_t n, size_t size)
    __attribute__((warn_unused_result));

/* A copy of LEN bytes, followed by a NUL. Not aligned. */
char *osc_arena_dup(struct osc_arena *a, const char *s, size_t len)
    __attribute__((warn_unused_result));

/* Free every block and leave the arena empty. */
void osc_arena_fini(struct osc_arena *a);
