/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings: record chunks of .osc files, and live directories.
 *
 *   copy of the live directory  live_dir.h   records that are not yet in the file
 *   chunks of the file          osc_file.h
 *   facts, anchors, names       here, records_clock.h, records_names.h
 *   order of segments           segment_order.h
 *   records to rows             records_rows.h
 *
 * docs/format.md describes the format.
 */
#include "import/records/records_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"
#include "codec/json.h"
#include "import/build/reader.h"
#include "import/columns/columns_reader.h"
#include "import/osc/open_input.h"

/* --- facts --------------------------------------------------------------- */

/* What the process says of itself is a member, as in files of other programs; a few facts are
 * also needed to read on. */
static void read_fact(struct osc_records *n, struct osc_str key, struct osc_str value)
{
    struct osc_builder *b = &n->builder;
    int64_t v;

    if (osc_str_eq(key, OSC_STR("pid")) && osc_json_int(value, &v) && v > 0)
        n->pid = (osc_who)v;
    if (osc_str_eq(key, OSC_STR("ticks_hz")) && osc_json_int(value, &v) && v > 0)
        n->ticks_hz = (uint64_t)v;
    if (osc_str_eq(key, OSC_STR("failed_sources")) &&
        b->findings.by_code[OSC_FINDING_source_failed].count == 0) /* every part reports it */
        osc_findings_add(&b->findings, OSC_FINDING_source_failed, OSC_NO_OFFSET, OSC_NO_TIME);
    n->has_mode = n->has_mode || osc_str_eq(key, OSC_STR("mode"));
    if (osc_str_eq(key, OSC_STR("host")))
        key = OSC_STR("host_name"); /* the name in Kineto's files */
    osc_build_member(&n->builder, osc_build_string(b, key.s, key.len),
                     osc_build_string(b, value.s, value.len), true);
}

/* Read a payload of facts; false: it is malformed. */
static bool read_facts(struct osc_records *n, const unsigned char *data, size_t len)
{
    const char *at = (const char *)data, *const end = at + len;

    while (at < end) {
        struct osc_wire_fact f;

        if ((size_t)(end - at) < sizeof f)
            return false;
        memcpy(&f, at, sizeof f);
        at += sizeof f;
        if ((uint64_t)f.key_bytes + f.value_bytes > (size_t)(end - at))
            return false;
        read_fact(n, (struct osc_str){at, f.key_bytes},
                  (struct osc_str){at + f.key_bytes, f.value_bytes});
        at += f.key_bytes + f.value_bytes;
    }
    return true;
}

static osc_status read_anchors(struct osc_records *n, const unsigned char *data, size_t len)
{
    osc_status st = OSC_OK;

    for (size_t i = 0; i + sizeof(struct osc_clock_anchor) <= len && st == OSC_OK;
         i += sizeof(struct osc_clock_anchor)) {
        struct osc_clock_anchor a;

        memcpy(&a, data + i, sizeof a);
        st = osc_records_clock_add(&n->clock, &a, 1);
    }
    return st;
}

static osc_status add_thread(struct osc_records *n, const struct osc_wire_thread *t)
{
    const osc_status st =
        osc_build_grow(&n->threads, &n->cap_threads, n->n_threads + 1, sizeof *n->threads);

    if (st == OSC_OK)
        n->threads[n->n_threads++] = *t;
    return st;
}

static osc_status read_threads(struct osc_records *n, const unsigned char *data, size_t len)
{
    osc_status st = OSC_OK;

    for (size_t i = 0; i + sizeof(struct osc_wire_thread) <= len && st == OSC_OK;
         i += sizeof(struct osc_wire_thread)) {
        struct osc_wire_thread t;

        memcpy(&t, data + i, sizeof t);
        st = add_thread(n, &t);
    }
    return st;
}

static osc_status read_strings(struct osc_records *n, const unsigned char *data, size_t len)
{
    struct osc_wire_strings s;

    if (len < sizeof s)
        return OSC_OK;
    memcpy(&s, data, sizeof s);
    return osc_records_names_add(&n->names, s.log_offset, data + sizeof s, len - sizeof s);
}

static void read_end(struct osc_records *n, const unsigned char *data, size_t len, size_t part)
{
    struct osc_wire_end end;

    if (len < sizeof end)
        return;
    memcpy(&end, data, sizeof end);
    for (unsigned k = 0; k < OSC_LOSS_COUNT; k++)
        n->no_thread[k] = n->no_thread[k] > end.lost[k] ? n->no_thread[k] : end.lost[k];
    n->end = end;
    n->has_end = part == n->n_inputs;
}

/* Add NUMBER as a member of the source. */
static void add_number(struct osc_builder *b, struct osc_str key, uint64_t number)
{
    char text[24];
    const int len = snprintf(text, sizeof text, "%" PRIu64, number);

    osc_build_member(b, osc_build_string(b, key.s, key.len),
                     osc_build_string(b, text, (uint32_t)len), false);
}

/* A flight recorder says what it was asked for, so that `quality` can say that it had less. */
static void read_dump(struct osc_records *n, const unsigned char *data, size_t len)
{
    struct osc_wire_dump dump;

    if (len < sizeof dump)
        return;
    memcpy(&dump, data, sizeof dump);
    if (dump.asked_ns)
        add_number(&n->builder, OSC_STR("dump_asked_ns"), dump.asked_ns);
    if (dump.asked_steps)
        add_number(&n->builder, OSC_STR("dump_asked_steps"), dump.asked_steps);
    add_number(&n->builder, OSC_STR("dump_steps"), dump.n_steps);
    if (!dump.is_cut)
        return;
    osc_findings_add(&n->builder.findings, OSC_FINDING_flight_short, OSC_NO_OFFSET,
                     OSC_NO_TIME);
    n->builder.findings.by_code[OSC_FINDING_flight_short].count +=
        dump.n_steps > 0 ? dump.n_steps - 1 : 0;
}

/* Read chunk I if it is of another type than records. */
static osc_status read_small_chunk(struct osc_records *n, size_t i)
{
    const struct osc_wire_header *h = &n->file.chunks[i].header;
    const size_t len = (size_t)h->payload_bytes;
    uint64_t offset = n->file.chunks[i].offset;
    const size_t part = osc_file_find(&n->file, &offset);
    const unsigned char *data;
    osc_status st;

    if (h->type == OSC_CHUNK_RECORDS || h->type == OSC_CHUNK_INDEX || h->type > OSC_CHUNK_DUMP)
        return OSC_OK;
    st = osc_records_payload(n, i, &data);
    const bool is_first = h->type == OSC_CHUNK_BEFORE && part == 0;
    const bool is_good = data && len >= sizeof n->before;
    if (is_first && !is_good)
        n->bad_before = offset + 1;
    if (st != OSC_OK || !data)
        return st;
    switch (h->type) {
    case OSC_CHUNK_PROCESS:
        st = read_facts(n, data, len) ? OSC_OK : OSC_EFORMAT;
        break;
    case OSC_CHUNK_MODULES:
        st = osc_records_stacks_add(&n->rows.stacks, data, len);
        break;
    case OSC_CHUNK_CLOCK:
        st = read_anchors(n, data, len);
        break;
    case OSC_CHUNK_STRINGS:
        st = read_strings(n, data, len);
        break;
    case OSC_CHUNK_BEFORE:
        if (is_first && is_good)
            memcpy(&n->before, data, sizeof n->before);
        break;
    case OSC_CHUNK_DUMP:
        read_dump(n, data, len);
        break;
    case OSC_CHUNK_THREADS:
        st = read_threads(n, data, len);
        break;
    default:
        read_end(n, data, len, part);
        break;
    }
    if (st == OSC_EFORMAT)
        st = osc_records_damaged(
            n, &(struct osc_records_damage){
                   .offset = n->file.chunks[i].offset, .n_bytes = len, .next = i + 1});
    return st;
}

/* --- the live directory -------------------------------------------------- */

/* Take from the live directory what the parts of the file lack, because the process was killed
 * or still runs: clocks, names, threads and their losses. */
static osc_status read_live(struct osc_records *n)
{
    const struct osc_live_dir *l = &n->live;
    const struct osc_live_header *h = &l->header;
    const uint64_t n_anchors =
        h->n_anchors < OSC_LIVE_ANCHORS ? h->n_anchors : OSC_LIVE_ANCHORS;
    osc_status st = osc_records_clock_add(&n->clock, h->anchors, (size_t)n_anchors);

    if (st == OSC_OK && l->strings_bytes > OSC_STRINGS_AT)
        st = osc_records_names_add(&n->names, OSC_STRINGS_AT, l->strings + OSC_STRINGS_AT,
                                   l->strings_bytes - OSC_STRINGS_AT);
    for (size_t i = 0; i < l->n_threads && st == OSC_OK; i++) {
        const struct osc_live_thread *t = &l->threads[i];
        struct osc_wire_thread thread = {
            .ordinal = t->ordinal, .tid = t->tid, .state = t->state};

        memcpy(thread.lost, t->lost, sizeof thread.lost);
        if (t->state != OSC_THREAD_UNUSED)
            st = add_thread(n, &thread);
    }
    for (size_t i = 0; i < l->n_blocks && st == OSC_OK; i++) {
        const struct osc_wire_thread thread = {.ordinal = l->blocks[i].thread,
                                               .tid = l->blocks[i].tid};
        st = add_thread(n, &thread);
    }
    for (unsigned k = 0; k < OSC_LOSS_COUNT; k++)
        n->before.lost[k] += h->lost_gone[k];
    if (n->pid == 0)
        n->pid = h->pid;
    return st;
}

/* The part number in the header of the file IN, of which nothing else has been read yet. */
static uint32_t part_of(const struct osc_input *in)
{
    struct osc_file_header h;

    if (in->n_probe < sizeof h)
        return 1;
    memcpy(&h, in->probe, sizeof h);
    return osc_file_header_is_good(&h) ? h.part : 1;
}

static const struct osc_input *last_input(const struct osc_records *n)
{
    return n->n_inputs > 0 ? &n->inputs[n->n_inputs - 1] : n->r->in;
}

/* Copy the live directory of the last part, before any file is read. */
static osc_status open_live(struct osc_records *n, struct osc_err *err)
{
    const struct osc_input *in = last_input(n);
    char *path;

    if (in->is_live)
        return osc_live_dir_open(&n->live, in->path, err);
    if (in->fd < 0 || in->is_stdin)
        return OSC_OK;
    path = osc_live_dir_path(in->path, part_of(in));
    if (!path)
        return OSC_ENOMEM;
    struct osc_err ignored = {0};
    const osc_status st = osc_live_dir_open(&n->live, path, &ignored);
    osc_free(path);
    /* A damaged live directory must not prevent the file from being read. */
    n->is_live_damaged = st == OSC_EFORMAT;
    return st == OSC_ENOMEM ? st : OSC_OK;
}

/* Find out whether the last part is continued by one that is not among the inputs. */
static osc_status ask_next(struct osc_records *n)
{
    const struct osc_input *in = last_input(n);
    const struct osc_live_dir *l = &n->live;

    if (!n->has_end || n->end.reason != OSC_END_CONTINUED || in->is_live || in->fd < 0)
        return OSC_OK;
    return osc_live_dir_part_follows(
        in->path, part_of(in),
        l->is_there && !n->file.header_is_good ? l->header.recording : n->file.header.recording,
        &n->is_followed);
}

/* Whether the live directory continues the file. */
static bool ask_live(const struct osc_records *n)
{
    const uint64_t *a = n->live.header.recording, *b = n->file.header.recording;

    if (!n->live.is_there || n->r->in->is_live)
        return n->live.is_there;
    if (n->file.header_is_good && (a[0] != b[0] || a[1] != b[1]))
        return false; /* it belongs to another recording of that name */
    return !n->has_end || n->end.reason == OSC_END_STOPPED ||
           (n->end.reason == OSC_END_CONTINUED && !n->is_followed);
}

/* --- records ------------------------------------------------------------- */

/* List the segments of the record chunk I. */
static osc_status list_chunk(struct osc_records *n, size_t i)
{
    const struct osc_wire_index_entry *const e = &n->file.chunks[i];
    const size_t len = (size_t)e->header.payload_bytes;
    const unsigned char *data;
    uint64_t n_records = 0, offset = e->offset;
    size_t at = 0;
    const bool is_later = osc_file_find(&n->file, &offset) > 0;
    osc_status st = osc_records_payload(n, i, &data);

    if (st != OSC_OK || !data)
        return st;
    struct osc_segment s = {.due = i};

    while (st == OSC_OK && osc_pack_next_segment(data, len, &at, &s.head)) {
        s.offset = e->offset + sizeof e->header + at - s.head.n_bytes;
        n_records += s.head.n_records;
        /* In later parts segments without slots are copies from earlier parts; skip them. */
        if (s.head.n_slots > 0 || !is_later)
            st = osc_segment_order_add(&n->order, &s);
    }
    if (st == OSC_OK && (at != len || n_records != e->header.n_items))
        st = osc_records_damaged(
            n, &(struct osc_records_damage){.offset = e->offset,
                                            .n_bytes = len,
                                            .next = i + 1,
                                            .n_records = e->header.n_items > n_records
                                                             ? e->header.n_items - n_records
                                                             : 0,
                                            .first_ticks = e->header.first_ticks,
                                            .last_ticks = e->header.last_ticks});
    return st;
}

/* List the segments of live blocks that the file lacks. */
static osc_status list_blocks(struct osc_records *n)
{
    osc_status st = OSC_OK;

    for (size_t i = 0; i < n->live.n_blocks && st == OSC_OK; i++) {
        const struct osc_block *b = &n->live.blocks[i];
        const uint32_t written = osc_segment_order_written(&n->order, b->seq);
        struct osc_segment s = {.due = n->file.n_chunks, .block = i + 1};

        s.head.seq = b->seq;
        s.head.thread = b->thread;
        s.head.first_slot = osc_live_dir_first(&n->live, b, written);
        s.head.n_slots = OSC_BLOCK_SLOTS;
        if (s.head.first_slot < osc_live_dir_end(b))
            st = osc_segment_order_add(&n->order, &s);
    }
    return st;
}

/* List the copies of persistent records in the live directory. */
static osc_status list_copies(struct osc_records *n)
{
    const size_t len = n->live.standing_bytes;
    struct osc_segment s = {.is_standing = true};
    osc_status st = OSC_OK;
    size_t at = 0;

    while (st == OSC_OK && osc_pack_next_segment(n->live.standing, len, &at, &s.head)) {
        s.offset = at - s.head.n_bytes;
        st = osc_segment_order_add(&n->order, &s);
    }
    return st;
}

/* List the persistent records, if the file has no records: their copies, and those in blocks
 * before the begin of the window or of the flight recorder's contents. */
static osc_status list_standing(struct osc_records *n)
{
    if (osc_file_has(&n->file, OSC_CHUNK_RECORDS))
        return OSC_OK;
    osc_status st = list_copies(n);
    for (size_t i = 0; i < n->live.n_blocks && st == OSC_OK; i++) {
        const struct osc_block *b = &n->live.blocks[i];
        struct osc_segment s = {.block = i + 1, .is_standing = true};

        s.head.seq = b->seq;
        s.head.thread = b->thread;
        if (osc_live_dir_first(&n->live, b, 0) > 0)
            st = osc_segment_order_add(&n->order, &s);
    }
    return st;
}

/* Set *BYTES to the packed records of S, which is in the live directory. */
static void fetch_live(struct osc_records *n, struct osc_segment *s,
                       const unsigned char **bytes)
{
    const struct osc_block *const b = s->block > 0 ? &n->live.blocks[s->block - 1] : NULL;
    struct osc_pack_range range = {.first_slot = s->head.first_slot, .take_all = true};
    struct osc_pack_times times = {0};

    if (!b) {
        *bytes = n->live.standing + s->offset;
    } else if (s->is_standing) {
        range.end_slot = osc_live_dir_first(&n->live, b, 0);
        (void)osc_pack_standing(b, range, &s->head, n->packed);
        s->head.n_unfinished = 0; /* reported with the segment of its slots */
    } else {
        range.end_slot = osc_live_dir_end(b);
        (void)osc_pack_block(b, range, &s->head, n->packed, &times);
    }
}

/* Set *BYTES to the packed records of S. */
static osc_status fetch(struct osc_records *n, struct osc_segment *s,
                        const unsigned char **bytes)
{
    const size_t need = s->block > 0 ? osc_pack_bound(OSC_BLOCK_SLOTS) : s->head.n_bytes;
    osc_status st = osc_build_grow(&n->packed, &n->cap_packed, need + 1, 1);

    *bytes = n->packed;
    if (st != OSC_OK)
        return st;
    if (s->block > 0 || s->is_standing) {
        fetch_live(n, s, bytes);
        return OSC_OK;
    }
    st = osc_file_read(&n->file, s->offset, n->packed, s->head.n_bytes);
    return st == OSC_EFORMAT ? OSC_EIO : st;
}

/* Leave open scopes open if records were lost before chunk DUE: their ends may be among
 * these. */
static void break_at(struct osc_records *n, size_t due, size_t *next)
{
    for (; *next < n->n_damages && n->damages[*next].next <= due; ++*next)
        if (n->damages[*next].n_records > 0)
            osc_records_rows_break(&n->rows);
}

static osc_status tick(struct osc_records *n, uint64_t done)
{
    const struct osc_import_options *o = n->r->options;

    if (n->r->loading->reserve.for_text)
        osc_build_reserve(&n->builder, (size_t)(done - n->n_done));
    n->n_done = done;
    const bool is_wanted = !o->progress || o->progress(o->progress_ctx, done, n->file.size);
    return is_wanted && !osc_mem_is_cancelled() ? OSC_OK : OSC_ECANCELED;
}

/* Read the segments in the order of time, so that an end follows its begin, also if threads
 * went through different parts. What one loses is counted, and the next one is read. */
static osc_status read_segments(struct osc_records *n)
{
    uint64_t done = 0;
    size_t next = 0;
    osc_status st = OSC_OK;

    for (size_t i = 0; i < n->order.n && st == OSC_OK && n->builder.status == OSC_OK; i++) {
        struct osc_segment *s = &n->order.segments[i];
        const unsigned char *bytes;

        break_at(n, s->due, &next);
        st = fetch(n, s, &bytes);
        if (st != OSC_OK)
            break;
        n->n_unfinished += s->head.n_unfinished;
        const uint64_t before = n->rows.n_records;
        if (!osc_records_rows_read(&n->rows, &s->head, bytes))
            st = osc_records_damaged(
                n, &(struct osc_records_damage){.offset = s->offset,
                                                .n_bytes = s->head.n_bytes,
                                                .next = n->file.n_chunks + 1,
                                                .n_records = s->head.n_records -
                                                             (n->rows.n_records - before)});
        done += sizeof s->head + s->head.n_bytes;
        if (st == OSC_OK && i % 64 == 0)
            st = tick(n, done);
    }
    return st;
}

/* --- totals ---------------------------------------------------------------- */

static int compare_threads(const void *pa, const void *pb)
{
    const struct osc_wire_thread *const a = pa, *const b = pb;
    const uint32_t x = (uint32_t)a->ordinal, y = (uint32_t)b->ordinal;

    return (x > y) - (x < y);
}

/* Add each thread once and sum the losses. The counts of a thread only rise, so the largest
 * holds. */
static osc_status merge_threads(struct osc_records *n)
{
    osc_status st = OSC_OK;

    if (!n->threads)
        return OSC_OK;
    if (n->n_threads > 1)
        osc_sort(n->threads, n->n_threads, sizeof *n->threads, compare_threads);
    for (size_t i = 0; i < n->n_threads && st == OSC_OK; i++) {
        const struct osc_wire_thread *const t = &n->threads[i];
        struct osc_wire_thread *const next = i + 1 < n->n_threads ? &n->threads[i + 1] : NULL;
        const bool is_last = !next || (uint32_t)next->ordinal != (uint32_t)t->ordinal;

        for (unsigned k = 0; k < OSC_LOSS_COUNT; k++) {
            if (is_last)
                n->lost[k] += t->lost[k];
            else if (next->lost[k] < t->lost[k])
                next->lost[k] = t->lost[k];
        }
        if (is_last)
            st = osc_records_rows_thread(&n->rows, t->ordinal, t->tid);
        else if (next->tid == 0)
            next->tid = t->tid;
    }
    return st;
}

/* Store the difference between Unix time and times of the trace, and, unless it is a window or
 * a dump, what the recording covers. */
static void store_times(struct osc_records *n)
{
    struct osc_trace *const t = n->r->loading->trace;
    const size_t n_anchors = n->clock.n_anchors;

    if (n_anchors == 0)
        return;
    t->base_ns = n->clock.anchors[0].realtime_ns - n->clock.anchors[0].monotonic_ns;
    if (n->has_mode)
        return;
    t->from_ns = n->clock.anchors[0].monotonic_ns;
    t->to_ns = n->clock.anchors[n_anchors - 1].monotonic_ns;
}

/* --- the reader ---------------------------------------------------------- */

/* Open the parts that continue the input. */
static osc_status open_later(struct osc_records *n, struct osc_err *err)
{
    const struct osc_import_options *o = n->r->options;
    osc_status st = OSC_OK;

    n->inputs = osc_calloc((size_t)o->n_later + 1, sizeof *n->inputs);
    if (!n->inputs)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < o->n_later && st == OSC_OK; i++)
        st = osc_input_open(&n->inputs[n->n_inputs++], o->later[i], err);
    return st;
}

/* Open all inputs, the live directory first: records that move from it to the file meanwhile
 * are then in both. */
static osc_status open_all(struct osc_records *n, struct osc_err *err)
{
    osc_status st = open_later(n, err);

    if (st == OSC_OK)
        st = open_live(n, err);
    if (st != OSC_OK || n->r->in->is_live)
        return st;
    st = osc_file_open(&n->file, n->r->in, n->r->inflate, err);
    for (uint32_t i = 0; i < n->n_inputs && st == OSC_OK; i++)
        if (n->inputs[i].n_probe > 0 && !n->inputs[i].is_live) /* else it has only just begun */
            st = osc_file_append(&n->file, &n->inputs[i], err);
    return st;
}

/* Read everything but the records. */
static osc_status prepare(struct osc_records *n)
{
    osc_status st = osc_records_rows_init(&n->rows, &n->builder, &n->clock, &n->names, 0);

    if (st == OSC_OK && !n->r->in->is_live)
        st = osc_records_measure_gaps(n);
    for (size_t i = 0; i < n->file.n_chunks && st == OSC_OK; i++)
        st = read_small_chunk(n, i);
    if (st == OSC_OK)
        st = ask_next(n);
    n->is_live_used = st == OSC_OK && ask_live(n);
    osc_records_forgive_torn(n);
    if (n->is_live_used)
        st = read_live(n);
    if (st == OSC_OK)
        st = osc_records_clock_sort(&n->clock, n->ticks_hz);
    osc_records_names_sort(&n->names);
    n->rows.pid = n->pid;
    return st == OSC_OK ? merge_threads(n) : st;
}

/* Records cannot be read as they come: their names, clocks and threads may stand behind them
 * in the file, and blocks of the live directory belong between those of the file. So all are
 * listed, sorted, then read. */
static osc_status read_all(struct osc_records *n)
{
    osc_status st = prepare(n);

    for (size_t i = 0; i < n->file.n_chunks && st == OSC_OK; i++)
        if (n->file.chunks[i].header.type == OSC_CHUNK_RECORDS)
            st = list_chunk(n, i);
    osc_records_sort_damages(n);
    if (st == OSC_OK && n->is_live_used)
        st = list_standing(n);
    if (st == OSC_OK && n->is_live_used)
        st = list_blocks(n);
    if (st == OSC_OK)
        st = osc_segment_order_sort(&n->order);
    if (st == OSC_OK)
        st = read_segments(n);
    if (st != OSC_OK)
        return st;
    osc_records_rows_finish(&n->rows);
    osc_records_count(n);
    store_times(n);
    return n->builder.status;
}

static void free_all(struct osc_records *n)
{
    osc_records_rows_fini(&n->rows);
    osc_segment_order_fini(&n->order);
    osc_records_names_fini(&n->names);
    osc_records_clock_fini(&n->clock);
    osc_live_dir_close(&n->live);
    osc_file_close(&n->file);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        osc_input_close(&n->inputs[i]);
    osc_free(n->inputs);
    osc_builder_fini(&n->builder);
    osc_free(n->damages);
    osc_free(n->threads);
    osc_free(n->payload);
    osc_free(n->packed);
    osc_free(n);
}

static bool is_nothing(const struct osc_records *n)
{
    return n->file.n_chunks == 0 && !n->is_live_used;
}

/* Fill the trace from the files of N; ST is the status of opening them. */
static osc_status read_records(struct osc_records *n, osc_status st, struct osc_err *err)
{
    struct osc_reading *const r = n->r;
    struct osc_trace *t = r->loading->trace;
    struct osc_batch_of_rows batch = {0};

    n->names.builder = &n->builder;
    if (st == OSC_OK)
        st = osc_builder_init(&n->builder, r->loading);
    if (st == OSC_OK)
        st = read_all(n);
    const bool is_empty = is_nothing(n);
    t->goes_on = n->is_followed;
    t->text_bytes = n->file.size;
    st = osc_mem_reason(st);
    if (st == OSC_OK || st == OSC_ELIMIT) {
        const osc_status taken = osc_builder_take(&n->builder, &batch);

        if (taken != OSC_OK)
            st = taken;
        else if (osc_loading_join(r->loading, &batch) != OSC_OK)
            st = OSC_ENOMEM;
    }
    if (st == OSC_OK && !r->options->keep.is_on)
        osc_records_count_absent(t);
    if (st == OSC_ELIMIT) {
        t->is_partial = true;
        osc_findings_add(&t->findings, OSC_FINDING_limit_reached, OSC_NO_OFFSET, OSC_NO_TIME);
        st = osc_fail(err, st, "%s: memory limit reached", r->in->path);
    } else if (st == OSC_OK && is_empty) {
        st = osc_fail_at(
            err, OSC_EFORMAT, 64,
            "%s: it contains no whole chunk; it is not a recording, or all of it is damaged",
            r->in->path);
    } else if (st != OSC_OK && (!err || err->code == OSC_OK)) {
        st = osc_fail(err, st, "%s: %s", r->in->path, osc_status_text(st));
    }
    return st;
}

osc_status osc_records_read(struct osc_reading *r, struct osc_err *err)
{
    struct osc_records *n = osc_calloc(1, sizeof *n);

    if (!n)
        return osc_fail(err, OSC_ENOMEM, "%s: out of memory", r->in->path);
    n->r = r;
    r->loading->trace->producer = OSC_PRODUCER_OPSCOPE;
    osc_status st = open_all(n, err);
    if (st == OSC_OK && osc_file_has_columns(&n->file))
        st = osc_columns_read(r, &n->file, err);
    else
        st = read_records(n, st, err);
    free_all(n);
    return st;
}

static int records_probe(const char *head, size_t len)
{
    const uint64_t live = OSC_LIVE_MAGIC;

    if (len >= sizeof live && memcmp(head, &live, sizeof live) == 0)
        return 100;
    return osc_file_probe(head, len);
}

const struct osc_reader osc_reader_records = {
    .name = "opscope",
    .suffixes = ".osc",
    .probe = records_probe,
    .read = osc_records_read,
};
