/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/seal.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "import/build/iterations.h"
#include "import/build/kinds.h"
#include "import/build/pairs.h"
#include "import/build/wild_times.h"

/* Count the events of each track, and find its first event and whether it has device work. */
static void count_tracks(struct osc_trace *t)
{
    uint32_t order = 0;

    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        const struct osc_chunk *k = t->events.chunks[c];

        for (uint32_t i = 0; i < k->n_rows; i++) {
            struct osc_track *track = &t->tracks[k->track[i]];

            if (track->n_events++ == 0) {
                track->first_event = osc_row_at(k, i);
                track->order = order++;
            }
            track->is_queue |= t->forms[k->form[i]].is_device && !track->is_summary;
        }
    }
}

/* Count findings that members of the file report. */
static void count_members(struct osc_trace *t)
{
    struct osc_str value;

    if (osc_trace_meta(t, "names_alone", &value))
        osc_findings_add(&t->findings, OSC_FINDING_names_alone, OSC_NO_OFFSET, OSC_NO_TIME);
    for (uint32_t i = 0; i < t->n_metas; i++) {
        const struct osc_str key = osc_trace_str(t, t->metas[i].key);

        if (osc_str_starts(key, OSC_STR("device_absent.")))
            osc_findings_add(&t->findings, OSC_FINDING_device_absent, OSC_NO_OFFSET,
                             OSC_NO_TIME);
        else if (osc_str_starts(key, OSC_STR("device_unasked.")))
            osc_findings_add(&t->findings, OSC_FINDING_device_unasked, OSC_NO_OFFSET,
                             OSC_NO_TIME);
    }
}

static void find_extent(struct osc_trace *t)
{
    int64_t min = INT64_MAX, max = INT64_MIN;

    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        const struct osc_chunk *k = t->events.chunks[c];

        if (k->n_rows == 0)
            continue;
        min = k->min_ts_ns < min ? k->min_ts_ns : min;
        max = k->max_end_ns > max ? k->max_end_ns : max;
    }
    if (min <= max) {
        t->min_ts_ns = t->origin_ns = t->own_origin_ns = min;
        t->max_end_ns = max;
    }
}

/* Count names that are not UTF-8, and names that PyTorch could not record. */
static osc_status look_at_names(struct osc_trace *t)
{
    const uint32_t n = osc_strings_bound(&t->strings);
    uint8_t *is_bad = osc_calloc(n, 1);
    bool any = false;

    if (!is_bad)
        return OSC_ENOMEM;
    for (uint32_t i = 1; i < n; i++) {
        if (!osc_strings_has(&t->strings, (osc_sid){i}))
            continue;
        const struct osc_str s = osc_strings_get(&t->strings, (osc_sid){i});
        is_bad[i] = !osc_utf8_valid(s.s, s.len) ? 1 : osc_str_eq(s, OSC_STR("unknown")) ? 2 : 0;
        any |= is_bad[i] != 0;
    }
    for (uint32_t c = 1; any && c < t->events.n_chunks; c++) {
        const struct osc_chunk *k = t->events.chunks[c];
        for (uint32_t i = 0; i < k->n_rows; i++) {
            const uint8_t bad = is_bad[k->name[i]];
            const bool is_host = k->kind[i] == OSC_KIND_OPERATOR ||
                                 k->kind[i] == OSC_KIND_ANNOTATION ||
                                 k->kind[i] == OSC_KIND_PYTHON;
            if (bad == 1 || (bad == 2 && is_host))
                osc_findings_add(&t->findings,
                                 bad == 1 ? OSC_FINDING_not_utf8 : OSC_FINDING_lost_name,
                                 OSC_NO_OFFSET, k->ts_ns[i]);
        }
    }
    osc_free(is_bad);
    return OSC_OK;
}

static bool find_steps(const struct osc_trace *t)
{
    bool has_steps = false;

    for (uint32_t c = 1; c < t->events.n_chunks && !has_steps; c++) {
        const struct osc_chunk *const k = t->events.chunks[c];

        has_steps = memchr(k->kind, OSC_KIND_STEP, k->n_rows) != NULL;
    }
    return has_steps;
}

osc_status osc_trace_seal(struct osc_trace *t, const struct osc_reader *reader,
                          unsigned n_threads, struct osc_loading *left_out)
{
    osc_status st = osc_pairs_match(t);

    if (st == OSC_OK)
        st = left_out ? osc_wild_times_leave_out(t, &left_out->minutes, &left_out->min_ts_ns)
                      : osc_wild_times_leave_out(t, NULL, NULL);
    if (st == OSC_OK)
        st = reader->kinds ? reader->kinds(t, n_threads) : osc_kinds_set(t, n_threads);
    if (st == OSC_OK)
        count_tracks(t);
    if (st == OSC_OK && reader->tracks)
        st = reader->tracks(t);
    if (st == OSC_OK) {
        count_members(t);
        find_extent(t);
        t->has_steps = find_steps(t);
        if (!t->has_steps)
            st = osc_iterations_mark(t);
    }
    return st == OSC_OK ? look_at_names(t) : st;
}
