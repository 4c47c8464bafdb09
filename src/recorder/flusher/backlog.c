/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/backlog.h"

#include <string.h>
#include <sys/mman.h>

#include "recorder/live/blocks.h"

#define PATIENCE_NS INT64_C(1000000000) /* for a call that has not finished */
#define BATCH       64u                 /* blocks: a megabyte */

static size_t bitmap_bytes(uint64_t n_blocks)
{
    return (n_blocks + 7) / 8;
}

static size_t map_bytes(uint64_t n_blocks)
{
    return n_blocks * sizeof(struct osc_backlog_entry) + bitmap_bytes(n_blocks);
}

osc_status osc_backlog_open(struct osc_backlog *backlog, uint64_t n_blocks)
{
    *backlog = (struct osc_backlog){0};
    if (n_blocks > UINT32_MAX / 4)
        n_blocks = UINT32_MAX / 4;
    void *p = mmap(NULL, map_bytes(n_blocks), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return OSC_ENOMEM;
    backlog->entries = p;
    backlog->is_entry = (unsigned char *)(backlog->entries + n_blocks);
    backlog->room = (uint32_t)n_blocks;
    return OSC_OK;
}

void osc_backlog_close(struct osc_backlog *backlog)
{
    if (backlog->entries)
        munmap(backlog->entries, map_bytes(backlog->room));
    osc_part_state_close(&backlog->evicted);
    *backlog = (struct osc_backlog){0};
}

static uint32_t used_slots(const struct osc_block *b)
{
    return b->used_slots < OSC_BLOCK_SLOTS ? b->used_slots : OSC_BLOCK_SLOTS;
}

/* Add B. There are never more blocks than entries. */
static void add(struct osc_backlog *backlog, struct osc_block *b, uint64_t now_ticks,
                int64_t now_ns)
{
    if (backlog->n < backlog->room)
        backlog->entries[backlog->n++] = (struct osc_backlog_entry){
            .block = b,
            .drained_ticks = now_ticks,
            .drained_ns = now_ns,
            .may_have_holes = b->written_slots > 0, /* by write_rest() */
        };
}

void osc_backlog_drain(struct osc_backlog *backlog, struct osc_sink *sink, uint64_t now_ticks,
                       int64_t now_ns)
{
    struct osc_block *next;

    backlog->now_ns = now_ns;
    for (struct osc_block *b = osc_blocks_drain(); b; b = next) {
        next = osc_blocks_next(b);
        if (sink)
            (void)osc_sink_store_persistent(sink, b,
                                            (struct osc_pack_range){0, used_slots(b), false});
        add(backlog, b, now_ticks, now_ns);
    }
}

static bool has(const struct osc_backlog *backlog, const struct osc_block *b)
{
    for (uint32_t i = 0; i < backlog->n; i++)
        if (backlog->entries[i].block == b)
            return true;
    return false;
}

void osc_backlog_gather(struct osc_backlog *backlog, uint64_t now_ticks, int64_t now_ns)
{
    const uint32_t n = osc_blocks_header()->n_blocks;
    uint32_t n_astray = 0;

    /* acquire: pairs with the release in osc_blocks_fill() */
    for (uint32_t i = 0; i < n; i++)
        n_astray +=
            __atomic_load_n(&osc_blocks_at(i)->state, __ATOMIC_ACQUIRE) == OSC_BLOCK_FULL;
    n_astray -= n_astray < backlog->n ? n_astray : backlog->n;
    for (uint32_t i = 0; i < n && n_astray > 0; i++) {
        struct osc_block *b = osc_blocks_at(i);

        if (__atomic_load_n(&b->state, __ATOMIC_ACQUIRE) != OSC_BLOCK_FULL || has(backlog, b))
            continue;
        add(backlog, b, now_ticks, now_ns);
        n_astray--;
    }
}

/* Whether the thread of B exists; it may still finish a recording call. */
static bool is_alive(const struct osc_block *b)
{
    const struct osc_live_thread *threads = osc_blocks_threads();
    /* relaxed: the entry of B's thread was there before B was full. */
    uint32_t n = __atomic_load_n(&osc_blocks_header()->n_threads, __ATOMIC_RELAXED);

    for (uint32_t i = 0; i < n && i < OSC_LIVE_THREADS; i++)
        /* acquire: pairs with the release of an exiting thread, which has written everything */
        if (__atomic_load_n(&threads[i].state, __ATOMIC_ACQUIRE) == OSC_THREAD_RUNS &&
            (uint32_t)threads[i].ordinal == b->thread)
            return true;
    return false;
}

static void add_thread(struct osc_thread_set *set, uint64_t ordinal)
{
    const uint32_t bit = ordinal & 0xffff;

    set->bits[bit / 8] |= (unsigned char)(1 << bit % 8);
}

static void find_alive(struct osc_thread_set *set)
{
    const struct osc_live_thread *threads = osc_blocks_threads();
    /* relaxed: a thread that enters meanwhile is found by is_alive(). */
    const uint32_t n = __atomic_load_n(&osc_blocks_header()->n_threads, __ATOMIC_RELAXED);

    memset(set, 0, sizeof *set);
    for (uint32_t i = 0; i < n && i < OSC_LIVE_THREADS; i++)
        /* acquire: as in is_alive() */
        if (__atomic_load_n(&threads[i].state, __ATOMIC_ACQUIRE) == OSC_THREAD_RUNS)
            add_thread(set, threads[i].ordinal);
}

uint32_t osc_backlog_adopt(struct osc_backlog *backlog, struct osc_sink *sink,
                           uint64_t now_ticks, int64_t now_ns)
{
    const uint32_t n = osc_blocks_header()->n_blocks;
    struct osc_thread_set alive;
    uint32_t n_found = 0;

    find_alive(&alive); /* is_alive() reads the whole table for each block */
    for (uint32_t i = 0; i < n; i++) {
        struct osc_block *b = osc_blocks_at(i);

        /* acquire: pairs with the release in osc_blocks_take(); the second one is after that in
         * is_alive(): a thread that ended as usual filled B before. */
        if (__atomic_load_n(&b->state, __ATOMIC_ACQUIRE) != OSC_BLOCK_OPEN ||
            osc_threads_in(&alive, b->thread) || is_alive(b) ||
            __atomic_load_n(&b->state, __ATOMIC_ACQUIRE) != OSC_BLOCK_OPEN)
            continue;
        b->used_slots = osc_pack_find(b, b->written_slots, OSC_BLOCK_SLOTS, UINT64_MAX);
        /* release: as in osc_blocks_fill() */
        __atomic_store_n(&b->state, OSC_BLOCK_FULL, __ATOMIC_RELEASE);
        if (sink)
            (void)osc_sink_store_persistent(sink, b,
                                            (struct osc_pack_range){0, used_slots(b), false});
        add(backlog, b, now_ticks, now_ns);
        n_found++;
    }
    return n_found;
}

static void give_back(struct osc_block *b)
{
    b->written_slots = 0;
    osc_blocks_give_back(b);
}

/* Whether the slots of a full block hold whole records only. All of it has been written out. */
static bool is_whole(const struct osc_block *b)
{
    const uint32_t end = used_slots(b);

    for (uint32_t i = 0, n; i < end; i += n) {
        const uint64_t word = osc_record_look(&b->slots[i]);

        n = osc_record_n_slots(word);
        if (osc_record_tag(word) != b->tag || n == 0)
            return false;
    }
    return true;
}

/* Whether a call that has not finished was left for good: B is full, so its thread went on, in
 * a handler or behind a jump out of one. */
static bool is_left(const struct osc_backlog *backlog, const struct osc_backlog_entry *e)
{
    return backlog->now_ns - e->drained_ns > PATIENCE_NS || !is_alive(e->block);
}

/* Entry E is written: give its block back, or let it sleep. True if the block was given
 * back. */
static bool finish(struct osc_backlog *backlog, struct osc_backlog_entry *e)
{
    if (e->may_have_holes && !is_whole(e->block) && !is_left(backlog, e)) {
        e->is_asleep = true;
        backlog->n_asleep++;
        return false;
    }
    give_back(e->block);
    return true;
}

/* The slots of B that are in RANGE; of an open block, up to its last finished record. */
static struct osc_pack_range slots_of(const struct osc_block *b, bool is_open,
                                      const struct osc_backlog_range *range)
{
    const uint32_t end = is_open ? OSC_BLOCK_SLOTS : used_slots(b);
    struct osc_pack_range slots = {b->written_slots, end, range->take_all};

    if (range->keep)
        slots.first_slot = osc_pack_find(b, 0, end, range->from_ticks);
    if (range->until_ticks != UINT64_MAX || is_open)
        slots.end_slot = osc_pack_find(b, slots.first_slot, end, range->until_ticks);
    return slots;
}

/* Write the entries from FIRST to before END. */
static osc_status write_full(struct osc_backlog *backlog, struct osc_sink *sink,
                             const struct osc_backlog_range *range, uint32_t first,
                             uint32_t end)
{
    osc_status st = OSC_OK;

    for (uint32_t i = first; i < end && st == OSC_OK; i++) {
        struct osc_backlog_entry *e = &backlog->entries[i];
        struct osc_pack_range slots;
        uint32_t end_slot;

        if (e->is_asleep)
            continue;
        slots = slots_of(e->block, false, range);
        slots.take_all |= range->now_ns - e->drained_ns > PATIENCE_NS;
        e->may_have_holes |= slots.take_all || !sink;
        end_slot = slots.end_slot;
        if (sink)
            st = osc_sink_put(sink, e->block, slots, &end_slot);
        else if (slots.end_slot > slots.first_slot)
            e->block->written_slots = slots.end_slot;
        e->is_waiting = end_slot < slots.end_slot;
    }
    return st == OSC_OK && sink ? osc_sink_flush(sink) : st;
}

/*
 * Give back the blocks that are written among the entries from FIRST to before END, and move
 * the other entries to N and after. Returns the index for the next one. The last block goes
 * back first: a thread that takes the blocks again gets them in the same order, which is that
 * of their addresses if it was so before.
 */
static uint32_t sweep(struct osc_backlog *backlog, uint32_t n, uint32_t first, uint32_t end)
{
    for (uint32_t i = end; i > first; i--) {
        struct osc_backlog_entry *e = &backlog->entries[i - 1];

        if (!e->is_asleep && e->block->written_slots >= used_slots(e->block) &&
            finish(backlog, e))
            e->block = NULL;
    }
    for (uint32_t i = first; i < end; i++) {
        if (backlog->entries[i].block)
            backlog->entries[n++] = backlog->entries[i];
    }
    return n;
}

/* Discard what E has; SINK stores its persistent records. True if its block was given back. */
static bool evict(struct osc_backlog *backlog, struct osc_sink *sink,
                  struct osc_backlog_entry *e)
{
    const struct osc_pack_range all = {0, used_slots(e->block), false};
    const uint64_t newest = osc_pack_newest(e->block, all.end_slot);
    const uint64_t until = newest < e->drained_ticks ? newest + 1 : e->drained_ticks;

    osc_part_state_follow(&backlog->evicted, e->block, 0, all.end_slot);
    e->may_have_holes = !osc_sink_store_persistent(sink, e->block, all);
    if (until > backlog->evicted_ticks)
        backlog->evicted_ticks = until;
    return finish(backlog, e);
}

/* Whether threads fill blocks faster than a dump is written. */
static bool is_nearly_out(void)
{
    return osc_blocks_free() < osc_blocks_header()->n_blocks / 16;
}

/* Give back the oldest of the first N entries, which SINK has, until threads have blocks again;
 * none that has records from UNTIL on. In their order, which osc_part_state_follow() needs.
 * Returns the number of those that stay. */
static uint32_t evict_oldest(struct osc_backlog *backlog, struct osc_sink *sink, uint64_t until,
                             uint32_t n)
{
    uint32_t n_kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct osc_backlog_entry e = backlog->entries[i];

        if (e.is_asleep || e.drained_ticks > until || !is_nearly_out() ||
            !evict(backlog, sink, &e))
            backlog->entries[n_kept++] = e;
    }
    osc_part_state_settle(&backlog->evicted);
    return n_kept;
}

/* Move the entries from FIRST to before END, which are written to SINK unless that is NULL, to
 * N and after. Returns the index for the next one. */
static uint32_t keep(struct osc_backlog *backlog, struct osc_sink *sink, uint64_t until,
                     uint32_t n, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        backlog->entries[n++] = backlog->entries[i];
    return sink ? evict_oldest(backlog, sink, until, n) : n;
}

/* Write a few blocks at a time, so that they are given back while they are in the cache. */
static osc_status write_batches(struct osc_backlog *backlog, struct osc_sink *sink,
                                const struct osc_backlog_range *range)
{
    const uint32_t n_before = backlog->n;
    osc_status st = OSC_OK;
    uint32_t n = 0, first = 0;

    while (first < n_before && st == OSC_OK) {
        const uint32_t end = n_before - first < BATCH ? n_before : first + BATCH;

        st = write_full(backlog, sink, range, first, end);
        n = range->keep
                ? keep(backlog, st == OSC_OK ? sink : NULL, range->until_ticks, n, first, end)
                : sweep(backlog, n, first, end);
        first = end;
    }
    while (first < n_before)
        backlog->entries[n++] = backlog->entries[first++];
    backlog->n = n;
    return st;
}

static void mark(const struct osc_backlog *backlog)
{
    memset(backlog->is_entry, 0, bitmap_bytes(backlog->room));
    for (uint32_t i = 0; i < backlog->n; i++) {
        const uint32_t at = osc_blocks_index(backlog->entries[i].block);

        if (at < backlog->room)
            backlog->is_entry[at / 8] |= (unsigned char)(1 << at % 8);
    }
}

/* Write the blocks that are no entries: the open ones, and those that threads have filled since
 * the last drain, where the newest records are. */
static osc_status write_rest(const struct osc_backlog *backlog, struct osc_sink *sink,
                             const struct osc_backlog_range *range, uint32_t *n_waiting)
{
    /* acquire: pairs with the release where blocks are added */
    const uint32_t n = __atomic_load_n(&osc_blocks_header()->n_blocks, __ATOMIC_ACQUIRE);
    osc_status st = OSC_OK;

    mark(backlog);
    for (uint32_t i = 0; i < n && i < backlog->room && st == OSC_OK; i++) {
        struct osc_block *b = osc_blocks_at(i);
        /* acquire: pairs with the release in osc_blocks_take() and osc_blocks_fill() */
        const uint32_t state = __atomic_load_n(&b->state, __ATOMIC_ACQUIRE);

        if (state == OSC_BLOCK_FREE || backlog->is_entry[i / 8] >> i % 8 & 1)
            continue;
        const struct osc_pack_range slots = slots_of(b, state == OSC_BLOCK_OPEN, range);
        uint32_t end = slots.end_slot;
        if (sink)
            st = osc_sink_put(sink, b, slots, &end);
        else if (slots.end_slot > slots.first_slot)
            b->written_slots = slots.end_slot;
        *n_waiting += end < slots.end_slot;
    }
    return st;
}

osc_status osc_backlog_put_persistent(const struct osc_backlog *backlog, struct osc_sink *sink,
                                      uint64_t from_ticks)
{
    /* acquire: as in write_rest() */
    const uint32_t n = __atomic_load_n(&osc_blocks_header()->n_blocks, __ATOMIC_ACQUIRE);
    osc_status st = OSC_OK;

    osc_sink_repeat_persistent(sink);
    for (uint32_t i = 0; from_ticks && i < backlog->n && st == OSC_OK; i++) {
        const struct osc_block *b = backlog->entries[i].block;
        const uint32_t end = osc_pack_find(b, 0, used_slots(b), from_ticks);

        st = osc_sink_put_persistent(sink, b, (struct osc_pack_range){0, end, false});
    }
    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        const struct osc_block *b = osc_blocks_at(i);

        /* acquire: as in write_rest() */
        if (__atomic_load_n(&b->state, __ATOMIC_ACQUIRE) != OSC_BLOCK_OPEN)
            continue;
        const uint32_t end =
            from_ticks ? osc_pack_find(b, 0, OSC_BLOCK_SLOTS, from_ticks) : b->written_slots;
        st = osc_sink_put_persistent(sink, b, (struct osc_pack_range){0, end, false});
    }
    return st;
}

osc_status osc_backlog_write(struct osc_backlog *backlog, struct osc_sink *sink,
                             const struct osc_backlog_range *range, uint32_t *n_waiting)
{
    backlog->now_ns = range->now_ns;
    osc_status st = write_batches(backlog, sink, range);

    *n_waiting = 0;
    for (uint32_t i = 0; i < backlog->n; i++)
        *n_waiting += backlog->entries[i].is_waiting;
    if (st == OSC_OK && range->with_open)
        st = write_rest(backlog, sink, range, n_waiting);
    if (st == OSC_OK && sink)
        st = osc_sink_flush(sink);
    if (sink && st != OSC_OK)
        osc_sink_drop(sink);
    return st;
}

/* How many more blocks must be freed, besides the free ones and the N_OLD to be given back, to
 * last until a flight recorder looks again. */
static uint32_t n_missing(uint32_t n_old, uint32_t n_in_stall)
{
    const uint32_t n = osc_blocks_header()->n_blocks, n_free = n_old + osc_blocks_free();
    uint32_t reserve = n_in_stall > n / 8 ? n_in_stall : n / 8;

    reserve = reserve < n / 8 * 3 ? reserve : n / 8 * 3;
    return reserve > n_free ? reserve - n_free : 0;
}

uint32_t osc_backlog_keep(const struct osc_backlog *backlog, uint64_t ticks,
                          uint32_t n_in_stall)
{
    uint32_t n_old = 0, missing;

    for (uint32_t i = 0; i < backlog->n; i++)
        n_old += !backlog->entries[i].is_asleep && backlog->entries[i].drained_ticks < ticks;
    do
        missing = n_missing(n_old, n_in_stall);
    while (missing > 0 && osc_blocks_add());

    const uint32_t n_young = backlog->n - backlog->n_asleep - n_old;
    return n_young > missing ? n_young - missing : 0;
}

uint64_t osc_backlog_evicts(const struct osc_backlog *backlog, uint64_t ticks, uint32_t n_max)
{
    const uint32_t n_awake = backlog->n - backlog->n_asleep;
    uint32_t n_over = n_awake > n_max ? n_awake - n_max : 0;

    for (uint32_t i = 0; i < backlog->n && n_over > 0; i++) {
        const struct osc_backlog_entry *e = &backlog->entries[i];

        if (e->is_asleep)
            continue;
        n_over--;
        ticks = e->drained_ticks > ticks ? e->drained_ticks : ticks;
    }
    return ticks;
}

void osc_backlog_evict(struct osc_backlog *backlog, struct osc_sink *sink, uint64_t ticks,
                       uint32_t n_max)
{
    const uint32_t n_awake = backlog->n - backlog->n_asleep;
    uint32_t n_over = n_awake > n_max ? n_awake - n_max : 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < backlog->n; i++) {
        struct osc_backlog_entry *e = &backlog->entries[i];
        const bool is_old = e->drained_ticks < ticks;

        if (e->is_asleep || (!is_old && n_over == 0)) {
            backlog->entries[n++] = *e;
            continue;
        }
        n_over -= n_over > 0;
        struct osc_backlog_entry old = *e;
        if (!evict(backlog, sink, &old))
            backlog->entries[n++] = old;
    }
    backlog->n = n;
}

bool osc_backlog_is_small_part(const struct osc_backlog *backlog, uint64_t ticks)
{
    uint32_t n_since = 0;

    for (uint32_t i = 0; i < backlog->n; i++) {
        const struct osc_backlog_entry *e = &backlog->entries[i];

        n_since += !e->is_asleep && e->drained_ticks > ticks;
    }
    return n_since < osc_blocks_header()->n_blocks / 2;
}

void osc_backlog_wake(struct osc_backlog *backlog)
{
    uint32_t n = 0;

    if (backlog->n_asleep == 0)
        return;
    for (uint32_t i = 0; i < backlog->n; i++) {
        const struct osc_backlog_entry e = backlog->entries[i];

        if (e.is_asleep && is_left(backlog, &e)) {
            give_back(e.block);
            backlog->n_asleep--;
        } else {
            backlog->entries[n++] = e;
        }
    }
    backlog->n = n;
}

void osc_backlog_threads(const struct osc_backlog *backlog, struct osc_thread_set *set)
{
    memset(set, 0, sizeof *set);
    for (uint32_t i = 0; i < backlog->n; i++)
        add_thread(set, backlog->entries[i].block->thread);
}

bool osc_threads_in(const struct osc_thread_set *set, uint64_t ordinal)
{
    const uint32_t bit = ordinal & 0xffff;

    return set->bits[bit / 8] >> bit % 8 & 1;
}
