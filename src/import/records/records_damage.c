/* SPDX-License-Identifier: Apache-2.0 */
/* Damage of a recording's file, and the losses that the recorder counted. See
 * records_reader.h. */
#include "import/records/records_reader.h"

#include "base/sort.h"
#include "wire/write_error.h"

osc_status osc_records_damaged(struct osc_records *n, const struct osc_records_damage *d)
{
    const osc_status st =
        osc_build_grow(&n->damages, &n->cap_damages, n->n_damages + 1, sizeof *n->damages);

    if (st == OSC_OK)
        n->damages[n->n_damages++] = *d;
    return st;
}

osc_status osc_records_payload(struct osc_records *n, size_t i, const unsigned char **data)
{
    const struct osc_wire_index_entry *const e = &n->file.chunks[i];
    const bool has_records = e->header.type == OSC_CHUNK_RECORDS;
    const osc_status st = osc_file_payload(&n->file, i, &n->payload, &n->cap_payload);

    *data = st == OSC_OK ? n->payload : NULL;
    if (st != OSC_EFORMAT)
        return st;
    return osc_records_damaged(n, &(struct osc_records_damage){
                                      .offset = e->offset,
                                      .n_bytes = osc_wire_chunk_bytes(e->header.payload_bytes),
                                      .next = i + 1,
                                      .n_records = has_records ? e->header.n_items : 0,
                                      .first_ticks = e->header.first_ticks,
                                      .last_ticks = e->header.last_ticks});
}

/* A walk over the chunks: the state before a gap. */
struct walk {
    size_t i; /* the next chunk */
    uint64_t n_records, last_ticks;
};

static void walk_to(struct walk *w, const struct osc_file *f, size_t end)
{
    for (; w->i < end; w->i++) {
        const struct osc_wire_header *h = &f->chunks[w->i].header;

        if (h->type != OSC_CHUNK_RECORDS)
            continue;
        w->n_records = h->n_before + h->n_items;
        w->last_ticks = h->last_ticks > 0 ? h->last_ticks : w->last_ticks;
    }
}

/* Measure a chunk that was cut off; its header is still there. */
static osc_status measure_cut(const struct osc_file *f, struct osc_records_damage *d)
{
    struct osc_wire_header h;
    const osc_status st = osc_file_read(f, d->offset, &h, sizeof h);

    if (st == OSC_OK && h.type == OSC_CHUNK_RECORDS) {
        d->n_records = h.n_items;
        d->first_ticks = h.first_ticks;
        d->last_ticks = h.last_ticks;
    }
    return st;
}

/* Measure a gap between good chunks: the next one says how many records precede it. */
static void measure_hole(const struct walk *w, const struct osc_file *f,
                         struct osc_records_damage *d)
{
    const struct osc_wire_header *h = &f->chunks[w->i].header;

    d->n_records = h->n_before > w->n_records ? h->n_before - w->n_records : 0;
    for (size_t k = w->i; k < f->n_chunks && d->last_ticks == 0; k++)
        d->last_ticks = f->chunks[k].header.first_ticks;
}

osc_status osc_records_measure_gaps(struct osc_records *n)
{
    const struct osc_file *f = &n->file;
    struct walk w = {0};
    osc_status st = OSC_OK;

    for (size_t g = 0; g < f->n_gaps && st == OSC_OK; g++) {
        const struct osc_file_gap *gap = &f->gaps[g];
        struct osc_records_damage d = {.offset = gap->offset,
                                       .n_bytes = gap->n_bytes,
                                       .next = gap->next,
                                       .is_cut = gap->is_cut};

        walk_to(&w, f, gap->next);
        if (gap->is_cut)
            st = measure_cut(f, &d);
        else if (w.i < f->n_chunks)
            measure_hole(&w, f, &d);
        if (d.n_records > 0 && d.first_ticks == 0)
            d.first_ticks = w.last_ticks;
        if (st == OSC_OK)
            st = osc_records_damaged(n, &d);
    }
    if (st == OSC_OK && !f->header_is_good)
        st = osc_records_damaged(n, &(struct osc_records_damage){.n_bytes = sizeof f->header});
    return st;
}

void osc_records_forgive_torn(struct osc_records *n)
{
    const struct osc_file *f = &n->file;
    const struct osc_file_gap *last = f->n_gaps > 0 ? &f->gaps[f->n_gaps - 1] : NULL;

    if (!last || !(n->has_end ? osc_file_is_torn(f, last)
                              : n->is_live_used && osc_live_dir_has(&n->live, f, last)))
        return;
    for (size_t i = 0; i < n->n_damages; i++)
        if (n->damages[i].offset == last->offset)
            n->damages[i--] = n->damages[--n->n_damages];
}

static int compare_damages(const void *pa, const void *pb)
{
    const struct osc_records_damage *const a = pa, *const b = pb;

    return (a->offset > b->offset) - (a->offset < b->offset);
}

void osc_records_sort_damages(struct osc_records *n)
{
    if (n->n_damages > 1)
        osc_sort(n->damages, n->n_damages, sizeof *n->damages, compare_damages);
}

/* --- findings ------------------------------------------------------------ */

static void count(struct osc_records *n, enum osc_finding_code code, uint64_t times,
                  uint64_t offset, int64_t first_ns)
{
    struct osc_findings *f = &n->builder.findings;

    if (times == 0)
        return;
    osc_findings_add(f, code, offset, first_ns);
    f->by_code[code].count += times - 1;
}

/* If no records precede a damaged place, date it from the begin of the recording. */
static void date_damages(struct osc_records *n)
{
    for (size_t i = 0; i < n->n_damages; i++) {
        struct osc_records_damage *d = &n->damages[i];

        if (d->n_records > 0 && d->first_ticks == 0 && n->clock.n_anchors > 0)
            d->first_ticks = n->clock.anchors[0].ticks;
        if (d->last_ticks > 0 && d->first_ticks > d->last_ticks)
            d->first_ticks = d->last_ticks;
    }
}

/* Store a list of the damaged places as a fact of the file. */
static void store_damages(struct osc_records *n)
{
    struct osc_strbuf text = {0};

    osc_strbuf_addc(&text, '[');
    for (size_t i = 0; i < n->n_damages && i < OSC_RECORDS_DAMAGES_TOLD; i++) {
        const struct osc_records_damage *d = &n->damages[i];

        uint64_t offset = d->offset;
        const size_t file = osc_file_find(&n->file, &offset);

        osc_strbuf_addf(&text, "%s{\"offset\":%llu,\"bytes\":%llu,\"records\":%llu",
                        i > 0 ? "," : "", (unsigned long long)offset,
                        (unsigned long long)d->n_bytes, (unsigned long long)d->n_records);
        if (file > 0)
            osc_strbuf_addf(&text, ",\"file\":%zu", file);
        if (d->first_ticks > 0)
            osc_strbuf_addf(&text, ",\"first_ns\":%lld",
                            (long long)osc_records_clock_ns(&n->clock, d->first_ticks));
        if (d->last_ticks > 0)
            osc_strbuf_addf(&text, ",\"last_ns\":%lld",
                            (long long)osc_records_clock_ns(&n->clock, d->last_ticks));
        osc_strbuf_addc(&text, '}');
    }
    osc_strbuf_addc(&text, ']');
    if (text.status == OSC_OK)
        osc_build_member(&n->builder, osc_build_string(&n->builder, "damage", 6),
                         osc_build_string(&n->builder, text.s, (uint32_t)text.len), false);
    else
        n->builder.status = text.status;
    osc_strbuf_fini(&text);
}

/* Make findings of the damages, and a member that lists them, so that `info` can say where the
 * file is broken. */
static void count_damages(struct osc_records *n)
{
    struct osc_finding *lost = &n->builder.findings.by_code[OSC_FINDING_lost_records];

    date_damages(n);
    for (size_t i = 0; i < n->n_damages; i++) {
        const struct osc_records_damage *d = &n->damages[i];
        const int64_t first_ns =
            d->first_ticks > 0 ? osc_records_clock_ns(&n->clock, d->first_ticks) : OSC_NO_TIME;
        uint64_t offset = d->offset;

        (void)osc_file_find(&n->file, &offset);
        count(n, d->is_cut ? OSC_FINDING_truncated : OSC_FINDING_corrupt, 1, offset, first_ns);
        count(n, OSC_FINDING_lost_records, d->n_records, offset, first_ns);
        if (d->n_records > 0 && d->last_ticks > 0) {
            const int64_t last_ns = osc_records_clock_ns(&n->clock, d->last_ticks);
            lost->last_ns = last_ns > lost->last_ns ? last_ns : lost->last_ns;
        }
    }
    if (n->n_damages > 0)
        store_damages(n);
}

/* Count damage of the live directory, if the file does not have its records. */
static void count_live(struct osc_records *n)
{
    const struct osc_live_dir *l = &n->live;
    const bool is_other = l->is_there && !n->is_live_used;

    if (n->has_end)
        return;
    count(n, OSC_FINDING_truncated, l->is_lost, OSC_NO_OFFSET, OSC_NO_TIME);
    count(n, OSC_FINDING_corrupt, n->is_live_damaged || is_other, OSC_NO_OFFSET, OSC_NO_TIME);
    if (!n->is_live_used)
        return;
    count(n, OSC_FINDING_truncated, (uint64_t)l->is_cut + l->names_are_cut, OSC_NO_OFFSET,
          OSC_NO_TIME);
    count(n, OSC_FINDING_corrupt, l->n_bad_blocks + l->names_are_bad, OSC_NO_OFFSET,
          OSC_NO_TIME);
    count(n, OSC_FINDING_lost_records, l->n_bad_records, OSC_NO_OFFSET, OSC_NO_TIME);
}

/* How many records were lost by CAUSE: in threads, in none of them, and before what was read.
 * The live directory counts from the start of the recording, a file from the last window or
 * dump. */
static uint64_t sum_lost(const struct osc_records *n, unsigned cause)
{
    const struct osc_live_header *const live = &n->live.header;
    uint64_t no_thread = n->no_thread[cause], elsewhere = 0;

    if (n->is_live_used) {
        no_thread = live->lost[cause] > no_thread ? live->lost[cause] : no_thread;
        elsewhere = live->lost_before[cause];
    }
    const uint64_t sum = n->lost[cause] + no_thread + n->before.lost[cause];

    return sum > elsewhere ? sum - elsewhere : 0;
}

static void count_losses(struct osc_records *n)
{
#define CODE(cause, member, words) [OSC_LOSS_##cause] = OSC_FINDING_dropped_##member,
    static const enum osc_finding_code codes[OSC_LOSS_COUNT] = {OSC_LOSS_LIST(CODE)};

    for (unsigned k = 0; k < OSC_LOSS_COUNT; k++)
        count(n, codes[k], sum_lost(n, k), OSC_NO_OFFSET, n->rows.first_lost_ns[k]);
    count(n, OSC_FINDING_lost_counts, n->bad_before > 0, n->bad_before - 1, OSC_NO_TIME);
    count(n, OSC_FINDING_disk_full,
          osc_write_error_is_full(n->end.write_error) ||
              (n->is_live_used && osc_write_error_is_full(n->live.header.write_error)),
          OSC_NO_OFFSET, OSC_NO_TIME);
    count(n, OSC_FINDING_output_harmed,
          osc_write_error_is_harm(n->end.write_error) ||
              (n->is_live_used && osc_write_error_is_harm(n->live.header.write_error)),
          OSC_NO_OFFSET, OSC_NO_TIME);
    count(n, OSC_FINDING_dropped_parts, n->before.n_records, OSC_NO_OFFSET, OSC_NO_TIME);
    count(n, OSC_FINDING_unfinished, n->n_unfinished, OSC_NO_OFFSET, OSC_NO_TIME);
    count(n, OSC_FINDING_lost_name, n->names.n_lost, OSC_NO_OFFSET, OSC_NO_TIME);
    if (n->is_live_used && n->live.is_running)
        count(n, OSC_FINDING_still_recording, 1, OSC_NO_OFFSET, OSC_NO_TIME);
    else if (!n->is_live_used && n->has_end && n->end.reason == OSC_END_LEFT &&
             n->rows.n_open == 0)
        count(n, OSC_FINDING_ended_silently, 1, OSC_NO_OFFSET, OSC_NO_TIME);
    else if (n->is_live_used ? n->live.header.state != OSC_LIVE_STOPPED &&
                                   (!n->has_end || n->end.reason != OSC_END_STOPPED)
             : n->has_end ? n->end.reason >= OSC_END_KILLED
                          : !n->file.has_index)
        count(n, OSC_FINDING_killed, 1, OSC_NO_OFFSET, OSC_NO_TIME);
}

void osc_records_count(struct osc_records *n)
{
    count_damages(n);
    count_live(n);
    count_losses(n);
}

/* Whether SOURCE, such as "itt" or "torch=stack", has reported to T. */
static bool has_reported(const struct osc_trace *t, struct osc_str source)
{
    static const struct osc_str prefixes[] = {{"source.", 7}, {"source_failed.", 14}};

    for (uint32_t i = 0; i < source.len; i++) {
        if (source.s[i] == '=')
            source.len = i;
    }
    for (uint32_t i = 0; i < t->n_metas; i++) {
        const struct osc_str key = osc_trace_str(t, t->metas[i].key);

        for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++) {
            const struct osc_str prefix = prefixes[k];

            if (osc_str_starts(key, prefix) &&
                osc_str_starts((struct osc_str){key.s + prefix.len, key.len - prefix.len},
                               source))
                return true;
        }
    }
    return false;
}

/* Whether one of the sources in LIST was asked for by name and has not reported. Calls of
 * libopscope need no report; '-' is before those that could not be used, '?' before those that
 * nobody named. */
static bool lacks_report(const struct osc_trace *t, struct osc_str list)
{
    uint32_t from = 0;

    for (uint32_t i = 0; i <= list.len; i++) {
        if (i < list.len && list.s[i] != ',')
            continue;
        const struct osc_str source = {list.s + from, i - from};
        from = i + 1;
        if (source.len > 0 && source.s[0] != '-' && source.s[0] != '?' &&
            !osc_str_eq(source, OSC_STR("api")) && !osc_str_eq(source, OSC_STR("none")) &&
            !has_reported(t, source))
            return true;
    }
    return false;
}

/* Count a finding if a recorder whose MODE writes only at certain times never wrote. False: it
 * wrote something. */
static bool count_idle(struct osc_trace *t, struct osc_str mode)
{
    if (t->events.n_rows > 0)
        return false;
    osc_findings_add(&t->findings,
                     osc_str_eq(mode, OSC_STR("flight")) ? OSC_FINDING_nothing_dumped
                                                         : OSC_FINDING_no_window,
                     OSC_NO_OFFSET, OSC_NO_TIME);
    return true;
}

/* Whether parts of the recording are lost, which may have held whatever is not there. */
static bool is_damaged(const struct osc_trace *t)
{
    static const enum osc_finding_code codes[] = {OSC_FINDING_truncated, OSC_FINDING_corrupt,
                                                  OSC_FINDING_lost_records};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (t->findings.by_code[codes[i]].count > 0)
            return true;
    return false;
}

void osc_records_count_absent(struct osc_trace *t)
{
    bool is_missing = false, is_idle = false; /* idle: nothing was written, reports neither */
    const bool is_known = !is_damaged(t);

    for (uint32_t i = 0; i < t->n_metas; i++) {
        const struct osc_str key = osc_trace_str(t, t->metas[i].key);
        const struct osc_str value = osc_trace_str(t, t->metas[i].value);

        if (osc_str_eq(key, OSC_STR("sources")))
            is_missing = lacks_report(t, value);
        if (osc_str_starts(key, OSC_STR("source_failed.")))
            osc_findings_add(&t->findings, OSC_FINDING_source_failed, OSC_NO_OFFSET,
                             OSC_NO_TIME);
        if (is_known && osc_str_eq(key, OSC_STR("mode")))
            is_idle |= count_idle(t, value);
    }
    is_missing |= t->events.n_rows == 0 && has_reported(t, OSC_STR("itt"));
    if (is_missing && is_known && !is_idle)
        osc_findings_add(&t->findings, OSC_FINDING_source_missing, OSC_NO_OFFSET, OSC_NO_TIME);
}
