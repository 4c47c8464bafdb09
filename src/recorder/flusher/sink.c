/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/sink.h"

#include <string.h>
#include <sys/mman.h>

#include "recorder/live/blocks.h"
#include "recorder/thread/stack.h"

#define CHUNK_BYTES ((size_t)1 << 20) /* of records, approximately */
/* Room for thousands of code mappings; more are left out. */
#define MODULES_BYTES ((size_t)1 << 19)
/* Room for copies of what was open when the last part ended; scopes that do not fit have no
 * begin. */
#define COPIES_BYTES ((size_t)1 << 20)
/* The entries as written to the part, followed by those that are to be written. */
#define THREADS_BYTES ((size_t)2 * OSC_LIVE_THREADS * sizeof(struct osc_wire_thread))

static void *get_pages(size_t len)
{
    void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Begin a part, which contains nothing yet. */
static void begin_part(struct osc_sink *sink)
{
    sink->has_facts = false;
    sink->has_before = false;
    sink->has_persistent = false;
    sink->has_modules = false;
    sink->n_anchors = 0;
    osc_name_log_rewind(&sink->names);
    memset(sink->threads, 0, sink->n_threads * sizeof *sink->threads);
    sink->n_threads = 0;
}

osc_status osc_sink_open(struct osc_sink *sink, int live_fd,
                         const struct osc_process_facts *facts)
{
    const size_t least = osc_pack_bound(OSC_BLOCK_SLOTS);

    sink->chunk_room = CHUNK_BYTES;
    if (sink->part_bytes && sink->part_bytes / 4 < CHUNK_BYTES)
        sink->chunk_room = (size_t)sink->part_bytes / 4;
    if (sink->chunk_room < least)
        sink->chunk_room = least;
    sink->chunk = get_pages(sink->chunk_room);
    sink->threads = get_pages(THREADS_BYTES);
    sink->before = get_pages(THREADS_BYTES);
    sink->copies = get_pages(COPIES_BYTES);
    sink->modules = get_pages(2 * MODULES_BYTES);
    if (!sink->chunk || !sink->threads || !sink->before || !sink->copies || !sink->modules)
        return OSC_ENOMEM;
    osc_status st = osc_name_log_open(&sink->names, live_fd);
    if (st == OSC_OK && sink->has_parts)
        st = osc_persistent_open(&sink->persistent, live_fd, sink->file.recording);
    if (st != OSC_OK)
        return st;
    if (sink->part_bytes)
        osc_part_state_open(&sink->state);
    sink->facts_len = osc_process_facts_collect(facts, sink->facts, &sink->n_facts);
    begin_part(sink);
    st = osc_parts_open(&sink->file);
    return st == OSC_OK ? osc_sink_flush(sink) : st;
}

void osc_sink_close(struct osc_sink *sink)
{
    if (sink->chunk)
        munmap(sink->chunk, sink->chunk_room);
    if (sink->threads)
        munmap(sink->threads, THREADS_BYTES);
    if (sink->before)
        munmap(sink->before, THREADS_BYTES);
    if (sink->copies)
        munmap(sink->copies, COPIES_BYTES);
    if (sink->modules)
        munmap(sink->modules, 2 * MODULES_BYTES);
    sink->chunk = NULL;
    sink->modules = NULL;
    sink->copies = NULL;
    sink->threads = NULL;
    sink->before = NULL;
    osc_persistent_close(&sink->persistent);
    osc_part_state_close(&sink->state);
    osc_name_log_close(&sink->names);
    osc_parts_forget(&sink->file);
}

static osc_status append(struct osc_sink *sink, uint16_t type, const void *payload, size_t len,
                         uint64_t n_items)
{
    const struct osc_wire_header header = {
        .type = type, .payload_bytes = len, .n_items = n_items};

    return osc_parts_append(&sink->file, header, payload);
}

/* Write the anchors of the live directory that the part lacks; older ones may have been
 * overwritten. */
static osc_status write_anchors(struct osc_sink *sink)
{
    const struct osc_live_header *live = osc_blocks_header();
    struct osc_clock_anchor anchors[OSC_LIVE_ANCHORS] = {0};
    const uint64_t end = live->n_anchors;
    uint64_t i = sink->n_anchors;
    uint32_t n = 0;

    if (i >= end)
        return OSC_OK;
    if (i == 0)
        anchors[n++] = live->anchors[i++];
    if (end - i > OSC_LIVE_ANCHORS - 1)
        i = end - (OSC_LIVE_ANCHORS - 1);
    for (; i < end; i++)
        anchors[n++] = live->anchors[(i - 1) % (OSC_LIVE_ANCHORS - 1) + 1];

    const struct osc_wire_header header = {
        .type = OSC_CHUNK_CLOCK,
        .payload_bytes = n * sizeof *anchors,
        .n_items = n,
        .first_ticks = anchors[0].ticks,
        .last_ticks = anchors[n - 1].ticks,
    };
    const osc_status st = osc_parts_append(&sink->file, header, anchors);
    if (st == OSC_OK)
        sink->n_anchors = end;
    return st;
}

void osc_sink_add_anchor(const struct osc_clock_anchor *anchor)
{
    struct osc_live_header *live = osc_blocks_header();
    const uint64_t i = live->n_anchors;

    live->anchors[i == 0 ? 0 : (i - 1) % (OSC_LIVE_ANCHORS - 1) + 1] = *anchor;
    /* release: a reader of the live directory finds every counted anchor. */
    __atomic_store_n(&live->n_anchors, i + 1, __ATOMIC_RELEASE);
}

void osc_sink_drop(struct osc_sink *sink)
{
    sink->chunk_len = 0;
    sink->n_records = 0;
    sink->n_blocks = 0;
    sink->times = (struct osc_pack_times){0};
}

/* Store how many records were LOST by threads that have ended, and that no part contains.
 * relaxed: readers of the live directory use each number on its own. */
static void store_gone(const uint64_t lost[OSC_LOSS_COUNT])
{
    for (uint32_t cause = 0; cause < OSC_LOSS_COUNT; cause++)
        __atomic_store_n(&osc_blocks_header()->lost_gone[cause], lost[cause], __ATOMIC_RELAXED);
}

/* Store how much of what the live directory counts is in the part that ended, which no part
 * continues. */
static void store_before(const struct osc_sink *sink)
{
    struct osc_live_header *const live = osc_blocks_header();
    const struct osc_live_thread *const threads = osc_blocks_threads();

    for (uint32_t cause = 0; cause < OSC_LOSS_COUNT; cause++) {
        uint64_t n = sink->lost_before[cause];

        for (uint32_t i = 0; i < sink->n_threads; i++)
            /* acquire: pairs with the release where an entry is filled; this thread frees it.
             */
            if (__atomic_load_n(&threads[i].state, __ATOMIC_ACQUIRE) != OSC_THREAD_UNUSED &&
                sink->before[i].ordinal == threads[i].ordinal)
                n += sink->before[i].lost[cause];
        /* relaxed: as above */
        __atomic_store_n(&live->lost_before[cause], n, __ATOMIC_RELAXED);
    }
}

/* Write how much earlier parts contained, because they may be deleted, and what was lost by
 * threads that ended before a window. It precedes the part's first records and threads. */
static osc_status write_before(struct osc_sink *sink)
{
    static const struct osc_wire_before nothing;
    osc_status st = OSC_OK;

    if (sink->has_before)
        return OSC_OK;
    if (memcmp(&sink->gone, &nothing, sizeof nothing) != 0)
        st = append(sink, OSC_CHUNK_BEFORE, &sink->gone, sizeof sink->gone, 1);
    sink->has_before = st == OSC_OK;
    if (sink->has_before)
        store_gone(nothing.lost);
    return st;
}

/* Write the records of earlier parts that still apply in this one. */
static osc_status write_persistent(struct osc_sink *sink)
{
    const unsigned char *segments;
    osc_status st = OSC_OK;
    uint64_t n;
    size_t len;

    if (sink->has_persistent)
        return OSC_OK;
    if (sink->persistent.base) {
        n = osc_persistent_get(&sink->persistent, &segments, &len);
        if (len > 0)
            st = append(sink, OSC_CHUNK_RECORDS, segments, len, n);
    }
    len = osc_part_state_write(sink->before_kept ? sink->before_kept : &sink->state,
                               sink->copies, COPIES_BYTES, &n);
    if (len > 0 && st == OSC_OK)
        st = append(sink, OSC_CHUNK_RECORDS, sink->copies, len, n);
    sink->has_persistent = st == OSC_OK;
    if (sink->has_persistent)
        sink->before_kept = NULL;
    return st;
}

/* Write the code mappings, if there are stacks and the mappings changed or the part lacks
 * them. */
static osc_status write_modules(struct osc_sink *sink)
{
    unsigned char *now = sink->modules + MODULES_BYTES;
    osc_status st = OSC_OK;
    uint64_t n;

    if (osc_stack_was_used()) {
        const size_t len = osc_stack_modules(now, MODULES_BYTES, &n);

        if (len != sink->modules_len || memcmp(now, sink->modules, len) != 0) {
            memcpy(sink->modules, now, len);
            sink->modules_len = len;
            sink->n_modules = n;
            sink->has_modules = false;
        }
    }
    if (sink->has_modules || sink->modules_len == 0)
        return OSC_OK;
    st = append(sink, OSC_CHUNK_MODULES, sink->modules, sink->modules_len, sink->n_modules);
    sink->has_modules = st == OSC_OK;
    return st;
}

static osc_status flush_records(struct osc_sink *sink)
{
    const struct osc_wire_header header = {
        .type = OSC_CHUNK_RECORDS,
        .payload_bytes = sink->chunk_len,
        .n_items = sink->n_records,
        .first_ticks = sink->times.first,
        .last_ticks = sink->times.last,
    };
    osc_status st = OSC_OK;

    if (sink->chunk_len > 0)
        st = osc_parts_append(&sink->file, header, sink->chunk);
    if (st != OSC_OK)
        return st;
    sink->gone.n_records += sink->n_records;
    for (uint32_t i = 0; i < sink->n_blocks; i++) {
        const uint32_t end = sink->blocks[i].written_slots;

        osc_part_state_follow(&sink->state, sink->blocks[i].block, sink->blocks[i].first_slot,
                              end);
        sink->blocks[i].block->written_slots = end;
    }
    osc_part_state_settle(&sink->state);
    return OSC_OK;
}

/* Look what has become of the open part; if it lost chunks, write again what a part needs. */
static osc_status look_at_part(struct osc_sink *sink)
{
    bool is_anew;
    const osc_status st = osc_parts_look(&sink->file, &is_anew);

    if (sink->file.harm)
        osc_blocks_header()->write_error = (uint32_t)sink->file.harm;
    if (is_anew) {
        begin_part(sink);
        sink->has_before = true; /* it would count as missing what is in this part */
    }
    return st;
}

osc_status osc_sink_flush(struct osc_sink *sink)
{
    const uint64_t last_ticks = sink->times.last;
    osc_status st = look_at_part(sink);

    if (!sink->file.is_open) {
        begin_part(sink);
        st = osc_parts_open(&sink->file);
    }
    if (st == OSC_OK && !sink->has_facts) {
        st = append(sink, OSC_CHUNK_PROCESS, sink->facts, sink->facts_len, sink->n_facts);
        sink->has_facts = st == OSC_OK;
    }
    if (st == OSC_OK && sink->has_dump) {
        st = append(sink, OSC_CHUNK_DUMP, &sink->dump, sizeof sink->dump, 1);
        sink->has_dump = st != OSC_OK;
    }
    if (st == OSC_OK && (sink->gone.n_records > 0 || sink->chunk_len > 0))
        st = write_before(sink);
    if (st == OSC_OK)
        st = write_anchors(sink);
    if (st == OSC_OK)
        st = osc_name_log_append(&sink->names, &sink->file);
    if (st == OSC_OK)
        st = write_persistent(sink);
    if (st == OSC_OK)
        st = write_modules(sink);
    if (st == OSC_OK)
        st = flush_records(sink);
    osc_sink_drop(sink);
    if (st == OSC_OK && sink->part_bytes && sink->file.bytes > sink->part_bytes)
        st = osc_sink_end(sink, OSC_END_CONTINUED, last_ticks);
    return st;
}

/* Make room for the packed form of RANGE. */
static osc_status make_room(struct osc_sink *sink, struct osc_pack_range range)
{
    if (sink->n_blocks < OSC_SINK_BLOCKS &&
        osc_pack_bound(range.end_slot - range.first_slot) <= sink->chunk_room - sink->chunk_len)
        return OSC_OK;
    return osc_sink_flush(sink);
}

osc_status osc_sink_put(struct osc_sink *sink, struct osc_block *b, struct osc_pack_range range,
                        uint32_t *end_slot)
{
    struct osc_pack_segment segment;

    *end_slot = range.first_slot;
    if (range.first_slot >= range.end_slot)
        return OSC_OK;
    const osc_status st = make_room(sink, range);
    if (st != OSC_OK)
        return st;
    unsigned char *at = sink->chunk + sink->chunk_len;
    const size_t len = osc_pack_block(b, range, &segment, at + sizeof segment, &sink->times);

    if (segment.n_slots == 0)
        return OSC_OK;
    memcpy(at, &segment, sizeof segment);
    sink->chunk_len += sizeof segment + len;
    sink->n_records += segment.n_records;
    *end_slot = range.first_slot + segment.n_slots;
    sink->blocks[sink->n_blocks].block = b;
    sink->blocks[sink->n_blocks].first_slot = range.first_slot;
    sink->blocks[sink->n_blocks++].written_slots = *end_slot;
    return OSC_OK;
}

bool osc_sink_store_persistent(struct osc_sink *sink, const struct osc_block *b,
                               struct osc_pack_range range)
{
    return sink->persistent.base && osc_persistent_add(&sink->persistent, b, range);
}

void osc_sink_repeat_persistent(struct osc_sink *sink)
{
    sink->has_persistent = false;
}

void osc_sink_begin_dump(struct osc_sink *sink, const struct osc_wire_dump *dump,
                         struct osc_part_state *before)
{
    sink->dump = *dump;
    sink->has_dump = true;
    sink->before_kept = before;
}

osc_status osc_sink_put_persistent(struct osc_sink *sink, const struct osc_block *b,
                                   struct osc_pack_range range)
{
    struct osc_pack_segment segment;

    if (range.first_slot >= range.end_slot)
        return OSC_OK;
    const osc_status st = make_room(sink, range);
    if (st != OSC_OK)
        return st;
    unsigned char *at = sink->chunk + sink->chunk_len;
    const size_t len = osc_pack_standing(b, range, &segment, at + sizeof segment);
    segment.n_unfinished = 0; /* counted in the segment that contains the slots */
    if (segment.n_records > 0) {
        memcpy(at, &segment, sizeof segment);
        sink->chunk_len += sizeof segment + len;
        sink->n_records += segment.n_records;
    }
    return OSC_OK;
}

/* THREAD as the part states it: without the losses of entry I before the first part of the
 * chain. */
static struct osc_wire_thread in_part(const struct osc_sink *sink, uint32_t i,
                                      struct osc_wire_thread thread)
{
    const struct osc_wire_thread *before = &sink->before[i];

    for (uint32_t cause = 0; cause < OSC_LOSS_COUNT && before->ordinal == thread.ordinal;
         cause++)
        thread.lost[cause] -= before->lost[cause];
    return thread;
}

/* The number of entries of threads that were ever used. */
static uint32_t count_entries(const struct osc_live_header *live)
{
    /* relaxed: an entry is read only if its state says so. */
    const uint32_t n = __atomic_load_n(&live->n_threads, __ATOMIC_RELAXED);

    return n < OSC_LIVE_THREADS ? n : OSC_LIVE_THREADS;
}

osc_status osc_sink_write_threads(struct osc_sink *sink)
{
    const struct osc_live_header *live = osc_blocks_header();
    const struct osc_live_thread *threads = osc_blocks_threads();
    struct osc_wire_thread *out = sink->threads + OSC_LIVE_THREADS;
    const uint32_t n_threads = count_entries(live);
    uint32_t n = 0;

    if (!sink->file.is_open)
        return OSC_EINVAL;
    for (uint32_t i = 0; i < n_threads; i++) {
        const struct osc_live_thread *t = &threads[i];
        /* acquire: pairs with the releases where an entry is filled and where its thread exits.
         */
        const uint32_t state = __atomic_load_n(&t->state, __ATOMIC_ACQUIRE);
        if (state == OSC_THREAD_UNUSED)
            continue;
        struct osc_wire_thread now = {.ordinal = t->ordinal, .tid = t->tid, .state = state};
        for (uint32_t cause = 0; cause < OSC_LOSS_COUNT; cause++)
            /* relaxed: independent numbers. */
            now.lost[cause] = __atomic_load_n(&t->lost[cause], __ATOMIC_RELAXED);
        if (memcmp(&now, &sink->threads[i], sizeof now) == 0)
            continue;
        sink->threads[i] = now;
        out[n++] = in_part(sink, i, now);
    }
    if (n == 0)
        return OSC_OK;
    sink->n_threads = n_threads > sink->n_threads ? n_threads : sink->n_threads;
    osc_status st = write_before(sink);
    if (st == OSC_OK)
        st = append(sink, OSC_CHUNK_THREADS, out, n * sizeof *out, n);
    if (st != OSC_OK)
        memset(sink->threads, 0, n_threads * sizeof *out); /* write them all again */
    return st;
}

void osc_sink_thread_done(struct osc_sink *sink, uint32_t i)
{
    struct osc_live_header *const live = osc_blocks_header();
    const struct osc_live_thread *t = &osc_blocks_threads()[i];
    const struct osc_wire_thread *const told = &sink->threads[i], *const before =
                                                                      &sink->before[i];
    uint64_t lost_gone[OSC_LOSS_COUNT];

    for (uint32_t cause = 0; cause < OSC_LOSS_COUNT; cause++) {
        /* relaxed: its thread has ended. */
        const uint64_t lost = __atomic_load_n(&t->lost[cause], __ATOMIC_RELAXED);
        const uint64_t n_before = before->ordinal == t->ordinal ? before->lost[cause] : 0;
        const uint64_t n_told = told->ordinal == t->ordinal ? told->lost[cause] : n_before;

        sink->gone.lost[cause] += lost - n_before;
        lost_gone[cause] = live->lost_gone[cause] + lost - n_told;
        __atomic_store_n(&live->lost_before[cause], live->lost_before[cause] - n_before,
                         __ATOMIC_RELAXED);
    }
    store_gone(lost_gone);
}

osc_status osc_sink_end(struct osc_sink *sink, uint32_t reason, uint64_t ticks)
{
    const struct osc_live_header *live = osc_blocks_header();
    struct osc_wire_end end = {
        .reason = reason, .write_error = live->write_error, .ticks = ticks};

    if (!sink->file.is_open)
        return OSC_OK;
    osc_status st = write_before(sink);
    if (st == OSC_OK)
        st = osc_sink_write_threads(sink);
    if (st != OSC_OK)
        return st;
    for (uint32_t cause = 0; cause < OSC_LOSS_COUNT; cause++)
        end.lost[cause] = live->lost[cause] - sink->lost_before[cause];
    st = osc_parts_close(&sink->file, &end);
    if (st != OSC_OK)
        return st;
    if (reason == OSC_END_CONTINUED)
        return OSC_OK;
    osc_part_state_forget(&sink->state);
    sink->gone = (struct osc_wire_before){0};
    memcpy(sink->before, sink->threads, count_entries(live) * sizeof *sink->threads);
    memcpy(sink->lost_before, live->lost, sizeof live->lost);
    store_before(sink);
    return OSC_OK;
}
