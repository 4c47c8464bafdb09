/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/part_state.h"

#include <string.h>
#include <sys/mman.h>

#include "opscope/record.h"
#include "recorder/live/blocks.h"

#define BYTES (OSC_PART_STATE_THREADS * sizeof(struct osc_part_state_thread))

#define COPY_TAG 1u /* of the block of copies */

void osc_part_state_open(struct osc_part_state *state)
{
    void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    state->threads = p == MAP_FAILED ? NULL : p;
}

void osc_part_state_close(struct osc_part_state *state)
{
    if (state->threads)
        munmap(state->threads, BYTES);
    state->threads = NULL;
}

/* The index of THREAD, or else a free one for it; OSC_PART_STATE_THREADS if there is none. */
static uint32_t find(const struct osc_part_state *state, uint32_t thread)
{
    const uint32_t first = thread % OSC_LIVE_THREADS;
    uint32_t unused = OSC_PART_STATE_THREADS;

    for (uint32_t i = first + OSC_PART_STATE_PLACES; i-- > first;) {
        if (state->ids[i] == thread)
            return i;
        if (state->ids[i] == 0)
            unused = i;
    }
    return unused;
}

static void store_reading(struct osc_part_state *state, uint32_t thread,
                          const struct osc_record_slot *s)
{
    const uint32_t device = osc_record_id(s->word);
    struct osc_part_state_device *d = state->devices;

    while (d < state->devices + state->n_devices && d->device != device)
        d++;
    if (d == state->devices + OSC_PART_STATE_DEVICES)
        return;
    if (d == state->devices + state->n_devices) {
        state->n_devices++;
        *d = (struct osc_part_state_device){.device = device};
    }
    d->thread = thread;
    memcpy(d->readings[d->n_readings > 0], s, sizeof d->readings[0]);
    d->n_readings += d->n_readings < 2;
}

/* The scope of T whose begin has TOKEN as the low half of its time has ended; false: T has
 * none, or not among those it has room for. One that is too deep then takes a place, unknown.
 */
static bool end_scope(struct osc_part_state_thread *t, uint32_t token)
{
    const uint32_t n = t->depth < OSC_PART_STATE_DEPTH ? t->depth : OSC_PART_STATE_DEPTH;

    for (uint32_t i = n; i-- > 0;) {
        if (t->open[i].word == 0 || (uint32_t)t->open[i].value != token)
            continue;
        memmove(&t->open[i], &t->open[i + 1], (n - 1 - i) * sizeof *t->open);
        t->open[n - 1].word = 0;
        t->depth--;
        return true;
    }
    return false;
}

/* The same of any thread, first of that at PLACE. */
static bool end_scope_of(struct osc_part_state *state, uint32_t place, uint32_t token)
{
    bool is_found = end_scope(&state->threads[place], token);

    for (uint32_t i = 0; i < OSC_PART_STATE_THREADS && !is_found; i++)
        is_found = state->ids[i] != 0 && end_scope(&state->threads[i], token);
    return is_found;
}

void osc_part_state_settle(struct osc_part_state *state)
{
    uint32_t n_kept = 0;

    for (uint32_t i = 0; i < state->n_late; i++) {
        struct osc_part_state_late late = state->late[i];
        struct osc_part_state_thread *const t = &state->threads[late.place];

        if (end_scope_of(state, late.place, late.token))
            continue;
        if (!late.is_old) {
            late.is_old = true;
            state->late[n_kept++] = late;
        } else if (t->depth > OSC_PART_STATE_DEPTH) {
            t->depth--; /* it was one of those that are only counted */
        }
    }
    state->n_late = n_kept;
}

static void end_or_wait(struct osc_part_state *state, struct osc_part_state_thread *t,
                        uint32_t token)
{
    const uint32_t place = (uint32_t)(t - state->threads);

    if (!end_scope_of(state, place, token) && state->n_late < OSC_PART_STATE_LATE)
        state->late[state->n_late++] = (struct osc_part_state_late){token, place, false};
}

/* Apply the record of N_SLOTS at S. */
static void follow_one(struct osc_part_state *state, struct osc_part_state_thread *t,
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
    } else if (kind == OSC_RECORD_END_OF) {
        end_or_wait(state, t, osc_record_id(word));
    } else if (kind == OSC_RECORD_STEP_END) {
        t->has_step = false;
    } else if (kind == OSC_RECORD_STEP_BEGIN && n_slots == 2) {
        memcpy(t->step, s, sizeof t->step);
        t->has_step = true;
    } else if (kind == OSC_RECORD_DEVICE_CLOCK && n_slots == 2) {
        store_reading(state, thread, s);
    }
}

/* Whether slot FIRST of B directly follows what was read of its thread. */
static bool goes_on(const struct osc_part_state_thread *t, const struct osc_block *b,
                    uint32_t first)
{
    if (b->seq == t->seq)
        return first == t->end_slot;
    return first == 0 && t->is_through;
}

static void store_end(struct osc_part_state_thread *t, const struct osc_block *b, uint32_t end)
{
    /* acquire: pairs with the release in osc_blocks_fill(), for used_slots */
    const bool is_full = __atomic_load_n(&b->state, __ATOMIC_ACQUIRE) == OSC_BLOCK_FULL;

    t->seq = b->seq;
    t->end_slot = end;
    t->is_through = end >= OSC_BLOCK_SLOTS || (is_full && end >= b->used_slots);
}

void osc_part_state_follow(struct osc_part_state *state, const struct osc_block *b,
                           uint32_t first, uint32_t end)
{
    const uint32_t place = state->threads ? find(state, b->thread) : OSC_PART_STATE_THREADS;

    if (place == OSC_PART_STATE_THREADS)
        return;
    struct osc_part_state_thread *t = &state->threads[place];
    const bool is_new = state->ids[place] == 0;
    if (!is_new && b->seq < t->seq)
        return; /* a late block: a newer one of its thread was followed before */
    if (is_new || !goes_on(t, b, first)) {
        t->depth = 0;
        t->has_step = false;
    }
    state->ids[place] = b->thread;
    for (uint32_t i = first, n; i < end; i += n) {
        const uint64_t word = osc_record_look(&b->slots[i]);

        n = osc_record_n_slots(word);
        if (osc_record_tag(word) == b->tag && n > 0 && n <= end - i)
            follow_one(state, t, b->thread, &b->slots[i], word, n);
        else
            n = 1; /* never finished */
    }
    store_end(t, b, end);
}

void osc_part_state_forget(struct osc_part_state *state)
{
    memset(state->ids, 0, sizeof state->ids);
    state->n_late = 0;
}

/* --- writing the copies --------------------------------------------------------------- */

/* Append the record of N slots at S to the block of copies, which has USED slots; returns the
 * new number. */
static uint32_t copy(struct osc_part_state *state, uint32_t used,
                     const struct osc_record_slot *s, uint32_t n)
{
    struct osc_record_slot *to = &state->block.slots[used];

    memcpy(to, s, n * sizeof *s);
    to->word = osc_record_word(osc_record_id(s->word), COPY_TAG, osc_record_kind(s->word), n);
    return used + n;
}

/* Pack the USED slots of the block of copies, whose SEQ and THREAD are set. */
static size_t pack(struct osc_part_state *state, uint32_t used, unsigned char *out, size_t room,
                   uint64_t *n_records)
{
    struct osc_pack_segment segment;
    struct osc_pack_times times = {0};

    if (used == 0 || room < osc_pack_bound(used))
        return 0;
    state->block.tag = COPY_TAG;
    const size_t len = osc_pack_block(&state->block, (struct osc_pack_range){.end_slot = used},
                                      &segment, out + sizeof segment, &times);
    segment.n_slots = 0;
    memcpy(out, &segment, sizeof segment);
    *n_records += segment.n_records;
    return sizeof segment + len;
}

static size_t write_thread(struct osc_part_state *state, uint32_t place, unsigned char *out,
                           size_t room, uint64_t *n_records)
{
    const struct osc_part_state_thread *t = &state->threads[place];
    uint32_t used = 0;

    if (t->has_step)
        used = copy(state, used, t->step, 2);
    for (uint32_t i = 0; i < t->depth && t->depth <= OSC_PART_STATE_DEPTH; i++)
        if (t->open[i].word != 0)
            used = copy(state, used, &t->open[i], 1);
    state->block.seq = t->seq;
    state->block.thread = state->ids[place];
    return pack(state, used, out, room, n_records);
}

/* Write the scopes of threads that still exist; forget the other threads. */
static size_t write_threads(struct osc_part_state *state, unsigned char *out, size_t room,
                            uint64_t *n_records)
{
    const struct osc_live_thread *threads = osc_blocks_threads();
    /* relaxed: an entry is read only if its state says so. */
    const uint32_t n = __atomic_load_n(&osc_blocks_header()->n_threads, __ATOMIC_RELAXED);
    size_t len = 0;

    for (uint32_t i = 0; i < n && i < OSC_LIVE_THREADS; i++) {
        /* acquire: pairs with the release in osc_threads_enter() */
        if (__atomic_load_n(&threads[i].state, __ATOMIC_ACQUIRE) == OSC_THREAD_UNUSED)
            continue;
        const uint32_t place = find(state, (uint32_t)threads[i].ordinal);
        if (place == OSC_PART_STATE_THREADS || state->ids[place] == 0)
            continue;
        state->threads[place].is_seen = true;
        len += write_thread(state, place, out + len, room - len, n_records);
    }
    for (uint32_t i = 0; i < OSC_PART_STATE_THREADS; i++) {
        if (state->ids[i] == 0)
            continue;
        if (!state->threads[i].is_seen)
            state->ids[i] = 0;
        state->threads[i].is_seen = false;
    }
    return len;
}

size_t osc_part_state_write(struct osc_part_state *state, unsigned char *out, size_t room,
                            uint64_t *n_records)
{
    size_t len = 0;

    *n_records = 0;
    if (!state->threads)
        return 0;
    for (uint32_t i = 0; i < state->n_devices; i++) {
        const struct osc_part_state_device *d = &state->devices[i];
        uint32_t used = 0;

        for (uint32_t k = 0; k < d->n_readings; k++)
            used = copy(state, used, d->readings[k], 2);
        state->block.seq = 0;
        state->block.thread = d->thread;
        len += pack(state, used, out + len, room - len, n_records);
    }
    return len + write_threads(state, out + len, room - len, n_records);
}
