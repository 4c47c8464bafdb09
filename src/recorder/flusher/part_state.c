/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/part_state.h"

#include <string.h>
#include <sys/mman.h>

#include "opscope/record.h"
#include "recorder/live/blocks.h"

#define BYTES (OSC_PART_STATE_THREADS * sizeof(struct osc_part_state_thread))

#define COPY_TAG 1u /* of the block that copies are packed from */

void osc_part_state_open(struct osc_part_state *carry)
{
    void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    carry->threads = p == MAP_FAILED ? NULL : p;
}

void osc_part_state_close(struct osc_part_state *carry)
{
    if (carry->threads)
        munmap(carry->threads, BYTES);
    carry->threads = NULL;
}

/* Where THREAD stands, or else could; OSC_PART_STATE_THREADS: there is no room. */
static uint32_t find(const struct osc_part_state *carry, uint32_t thread)
{
    const uint32_t first = thread % OSC_LIVE_THREADS;
    uint32_t unused = OSC_PART_STATE_THREADS;

    for (uint32_t i = first + OSC_PART_STATE_PLACES; i-- > first;) {
        if (carry->ids[i] == thread)
            return i;
        if (carry->ids[i] == 0)
            unused = i;
    }
    return unused;
}

static void note_reading(struct osc_part_state *carry, uint32_t thread,
                         const struct osc_record_slot *s)
{
    const uint32_t device = osc_record_id(s->word);
    struct osc_part_state_device *d = carry->devices;

    while (d < carry->devices + carry->n_devices && d->device != device)
        d++;
    if (d == carry->devices + OSC_PART_STATE_DEVICES)
        return;
    if (d == carry->devices + carry->n_devices) {
        carry->n_devices++;
        *d = (struct osc_part_state_device){.device = device};
    }
    d->thread = thread;
    memcpy(d->readings[d->n_readings > 0], s, sizeof d->readings[0]);
    d->n_readings += d->n_readings < 2;
}

/* Take in the record at S of N_SLOTS. */
static void follow_one(struct osc_part_state *carry, struct osc_part_state_thread *t,
                       uint32_t thread, const struct osc_record_slot *s, uint64_t word,
                       uint32_t n_slots)
{
    const uint32_t kind = osc_record_kind(word);

    if (kind - OSC_RECORD_BEGIN < OSC_SCOPE_KIND_COUNT) {
        if (t->depth < OSC_PART_STATE_DEPTH)
            t->open[t->depth] = *s;
        t->depth++;
    } else if (kind == OSC_RECORD_END) {
        t->depth -= t->depth > 0;
    } else if (kind == OSC_RECORD_STEP_END) {
        t->has_step = false;
    } else if (kind == OSC_RECORD_STEP_BEGIN && n_slots == 2) {
        memcpy(t->step, s, sizeof t->step);
        t->has_step = true;
    } else if (kind == OSC_RECORD_DEVICE_CLOCK && n_slots == 2) {
        note_reading(carry, thread, s);
    }
}

/* Whether what is in B from slot FIRST on comes next in its thread. */
static bool goes_on(const struct osc_part_state_thread *t, const struct osc_block *b,
                    uint32_t first)
{
    if (b->seq == t->seq)
        return first == t->end_slot;
    return first == 0 && t->is_through;
}

static void settle(struct osc_part_state_thread *t, const struct osc_block *b, uint32_t end)
{
    /* acquire: pairs with the release of who filled it: how much is in it. */
    const bool is_full = __atomic_load_n(&b->state, __ATOMIC_ACQUIRE) == OSC_BLOCK_FULL;

    t->seq = b->seq;
    t->end_slot = end;
    t->is_through = end >= OSC_BLOCK_SLOTS || (is_full && end >= b->used_slots);
}

void osc_part_state_follow(struct osc_part_state *carry, const struct osc_block *b,
                           uint32_t first, uint32_t end)
{
    const uint32_t place = carry->threads ? find(carry, b->thread) : OSC_PART_STATE_THREADS;

    if (place == OSC_PART_STATE_THREADS)
        return;
    struct osc_part_state_thread *t = &carry->threads[place];
    const bool is_new = carry->ids[place] == 0;
    if (!is_new && b->seq < t->seq)
        return; /* it waited, and was given up when the next one came */
    if (is_new || !goes_on(t, b, first)) {
        t->depth = 0;
        t->has_step = false;
    }
    carry->ids[place] = b->thread;
    for (uint32_t i = first, n; i < end; i += n) {
        const uint64_t word = osc_record_look(&b->slots[i]);

        n = osc_record_n_slots(word);
        if (osc_record_tag(word) == b->tag && n > 0 && n <= end - i)
            follow_one(carry, t, b->thread, &b->slots[i], word, n);
        else
            n = 1; /* never finished */
    }
    settle(t, b, end);
}

void osc_part_state_forget(struct osc_part_state *carry)
{
    memset(carry->ids, 0, sizeof carry->ids);
}

/* --- telling it ------------------------------------------------------------------ */

/* Add the record at S of N slots to the block of copies, which has USED. */
static uint32_t copy(struct osc_part_state *carry, uint32_t used,
                     const struct osc_record_slot *s, uint32_t n)
{
    struct osc_record_slot *to = &carry->block.slots[used];

    memcpy(to, s, n * sizeof *s);
    to->word = osc_record_word(osc_record_id(s->word), COPY_TAG, osc_record_kind(s->word), n);
    return used + n;
}

/* Pack the USED slots of the block of copies, whose SEQ and THREAD are set. */
static size_t pack(struct osc_part_state *carry, uint32_t used, unsigned char *out, size_t room,
                   uint64_t *n_records)
{
    struct osc_pack_segment segment;
    struct osc_pack_times times = {0};

    if (used == 0 || room < osc_pack_bound(used))
        return 0;
    carry->block.tag = COPY_TAG;
    const size_t len = osc_pack_block(&carry->block, (struct osc_pack_range){.end_slot = used},
                                      &segment, out + sizeof segment, &times);
    segment.n_slots = 0;
    memcpy(out, &segment, sizeof segment);
    *n_records += segment.n_records;
    return sizeof segment + len;
}

static size_t tell_thread(struct osc_part_state *carry, uint32_t place, unsigned char *out,
                          size_t room, uint64_t *n_records)
{
    const struct osc_part_state_thread *t = &carry->threads[place];
    uint32_t used = 0;

    if (t->has_step)
        used = copy(carry, used, t->step, 2);
    for (uint32_t i = 0; i < t->depth && t->depth <= OSC_PART_STATE_DEPTH; i++)
        used = copy(carry, used, &t->open[i], 1);
    carry->block.seq = t->seq;
    carry->block.thread = carry->ids[place];
    return pack(carry, used, out, room, n_records);
}

/* Tell those of the threads that are still there; the others are forgotten. */
static size_t tell_threads(struct osc_part_state *carry, unsigned char *out, size_t room,
                           uint64_t *n_records)
{
    const struct osc_live_thread *threads = osc_blocks_threads();
    /* relaxed: an entry is read only if its state says so. */
    const uint32_t n = __atomic_load_n(&osc_blocks_header()->n_threads, __ATOMIC_RELAXED);
    size_t len = 0;

    for (uint32_t i = 0; i < n && i < OSC_LIVE_THREADS; i++) {
        /* acquire: pairs with the release of who fills an entry. */
        if (__atomic_load_n(&threads[i].state, __ATOMIC_ACQUIRE) == OSC_THREAD_UNUSED)
            continue;
        const uint32_t place = find(carry, (uint32_t)threads[i].ordinal);
        if (place == OSC_PART_STATE_THREADS || carry->ids[place] == 0)
            continue;
        carry->threads[place].is_seen = true;
        len += tell_thread(carry, place, out + len, room - len, n_records);
    }
    for (uint32_t i = 0; i < OSC_PART_STATE_THREADS; i++) {
        if (carry->ids[i] == 0)
            continue;
        if (!carry->threads[i].is_seen)
            carry->ids[i] = 0;
        carry->threads[i].is_seen = false;
    }
    return len;
}

size_t osc_part_state_tell(struct osc_part_state *carry, unsigned char *out, size_t room,
                           uint64_t *n_records)
{
    size_t len = 0;

    *n_records = 0;
    if (!carry->threads)
        return 0;
    for (uint32_t i = 0; i < carry->n_devices; i++) {
        const struct osc_part_state_device *d = &carry->devices[i];
        uint32_t used = 0;

        for (uint32_t k = 0; k < d->n_readings; k++)
            used = copy(carry, used, d->readings[k], 2);
        carry->block.seq = 0;
        carry->block.thread = d->thread;
        len += pack(carry, used, out + len, room - len, n_records);
    }
    return len + tell_threads(carry, out + len, room - len, n_records);
}
