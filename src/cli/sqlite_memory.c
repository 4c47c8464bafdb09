/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sqlite_memory.h"

#include <malloc.h>
#include <sqlite3.h>

#include "base/mem.h"

static void *take_block(int size)
{
    return osc_malloc((size_t)size);
}

static void *resize_block(void *p, int size)
{
    return osc_realloc(p, (size_t)size);
}

static int block_size(void *p)
{
    return p ? (int)malloc_usable_size(p) : 0;
}

static int round_up(int size)
{
    return (size + 7) & ~7;
}

static int start_memory(void *ctx)
{
    (void)ctx;
    return SQLITE_OK;
}

static void stop_memory(void *ctx)
{
    (void)ctx;
}

void osc_sqlite_lend_memory(void)
{
    static const sqlite3_mem_methods methods = {.xMalloc = take_block,
                                                .xFree = osc_free,
                                                .xRealloc = resize_block,
                                                .xSize = block_size,
                                                .xRoundup = round_up,
                                                .xInit = start_memory,
                                                .xShutdown = stop_memory};

    (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}
