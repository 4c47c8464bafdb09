/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/seal.h"

#include <stdio.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "codec/json.h"
#include "import/build/pairs.h"
#include "import/chrome/dialect.h"

/* Which tracks have events, how many, which first, which hold device work. */
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
            track->is_queue |= t->forms[k->form[i]].is_device;
        }
    }
}

/* The word for devices of this trace: that of the host calls that drive them. */
static struct osc_str device_family(const struct osc_trace *t)
{
    for (uint32_t i = 1; i < t->n_forms; i++) {
        const struct osc_str family =
            osc_dialect_device(osc_trace_str(t, t->forms[i].category));
        if (family.len > 0)
            return family;
    }
    return OSC_STR("cuda");
}

/*
 * "cuda:0", from the arguments of the queue's first device event, where recordings have it
 * whole and Kineto its number, or else from its pid.
 */
static osc_status name_device(struct osc_trace *t, struct osc_track *track,
                              struct osc_str family)
{
    const struct osc_chunk *k = osc_chunk_of(&t->events, track->first_event);
    const uint32_t i = osc_row_place(track->first_event);
    const struct osc_str pid = osc_trace_str(t, track->pid);
    struct osc_arg arg = {0};
    char name[64];
    int64_t device;
    int len;

    if (osc_row_arg(t, k, i, OSC_ARG_KEY_DEVICE, &arg) && arg.type == OSC_ARG_STRING &&
        !osc_json_int(osc_trace_str(t, arg.sid), &device)) {
        track->device = arg.sid;
        return OSC_OK;
    }
    if (osc_row_arg_int(t, k, i, OSC_ARG_KEY_DEVICE, &device) || osc_json_int(pid, &device))
        len = snprintf(name, sizeof name, "%s:%lld", family.s, (long long)device);
    else
        len = snprintf(name, sizeof name, "%s", family.s);
    return osc_strings_add(&t->strings, (struct osc_str){name, (uint32_t)len}, &track->device,
                           NULL);
}

static osc_status settle_tracks(struct osc_trace *t, struct osc_idmap *processes)
{
    const struct osc_str family = device_family(t);
    size_t cap = 0;

    for (uint32_t i = 1; i < t->n_tracks; i++) {
        struct osc_track *track = &t->tracks[i];
        uint32_t *place = osc_idmap_put(processes, track->pid.v);

        if (!place)
            return OSC_ENOMEM;
        if (*place == 0) {
            const osc_status st =
                osc_grow(&t->processes, &cap, (size_t)t->n_processes + 1, sizeof *t->processes);
            if (st != OSC_OK)
                return st;
            t->processes[t->n_processes++] = (struct osc_process){.pid = track->pid};
            *place = t->n_processes;
        }
        track->process = *place - 1;
        if (track->is_queue && track->n_events > 0) {
            const osc_status st = name_device(t, track, family);
            if (st != OSC_OK)
                return st;
        }
    }
    return OSC_OK;
}

/* Names from the metadata records. The last one of a name wins. */
static void read_metadata(struct osc_trace *t, const struct osc_idmap *processes)
{
    const osc_sid process_name = osc_strings_find(&t->strings, OSC_STR("process_name"));
    const osc_sid labels = osc_strings_find(&t->strings, OSC_STR("process_labels"));
    const osc_sid thread_name = osc_strings_find(&t->strings, OSC_STR("thread_name"));

    for (uint32_t c = 1; c < t->others.n_chunks; c++) {
        const struct osc_chunk *k = t->others.chunks[c];

        for (uint32_t i = 0; i < k->n_rows; i++) {
            const osc_sid name = {k->name[i]};
            struct osc_arg arg;

            if (osc_row_form(t, k, i)->ph != 'M' || name.v == 0)
                continue;
            const enum osc_arg_key key =
                name.v == labels.v ? OSC_ARG_KEY_LABELS : OSC_ARG_KEY_NAME;
            if (!osc_row_arg(t, k, i, key, &arg) || arg.type != OSC_ARG_STRING)
                continue;
            struct osc_track *track = &t->tracks[k->track[i]];
            const uint32_t at = osc_idmap_get(processes, track->pid.v);
            if (name.v == thread_name.v)
                track->name = arg.sid;
            else if (at > 0 && name.v == process_name.v)
                t->processes[at - 1].name = arg.sid;
            else if (at > 0 && name.v == labels.v)
                t->processes[at - 1].labels = arg.sid;
        }
    }
}

/* Who recorded it is found out from all files of the run: see run.h. */
static void read_metas(struct osc_trace *t)
{
    struct osc_str value;
    int64_t v;

    if (osc_trace_meta(t, "baseTimeNanoseconds", &value) && osc_json_int(value, &v))
        t->base_ns = v;
    if (osc_trace_meta(t, "names_alone", &value))
        osc_findings_add(&t->findings, OSC_FINDING_names_alone, OSC_NO_OFFSET, OSC_NO_TIME);
    for (uint32_t i = 0; i < t->n_metas; i++) {
        if (osc_str_starts(osc_trace_str(t, t->metas[i].key), OSC_STR("device_absent.")))
            osc_findings_add(&t->findings, OSC_FINDING_device_absent, OSC_NO_OFFSET,
                             OSC_NO_TIME);
    }
}

static void find_extent(struct osc_trace *t)
{
    int64_t min = INT64_MAX, max = INT64_MIN;

    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        const struct osc_chunk *k = t->events.chunks[c];
        min = k->min_ts_ns < min ? k->min_ts_ns : min;
        max = k->max_end_ns > max ? k->max_end_ns : max;
    }
    if (min <= max) {
        t->min_ts_ns = t->origin_ns = t->own_origin_ns = min;
        t->max_end_ns = max;
    }
}

/* Count names that are not UTF-8, and those that PyTorch gave up on. */
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

osc_status osc_trace_seal(struct osc_trace *t, unsigned n_threads)
{
    struct osc_idmap processes = {0};
    osc_status st = osc_pairs_match(t);

    if (st == OSC_OK)
        st = osc_dialect_classify(t, n_threads);
    if (st == OSC_OK) {
        count_tracks(t);
        st = settle_tracks(t, &processes);
    }
    if (st == OSC_OK) {
        read_metadata(t, &processes);
        read_metas(t);
        find_extent(t);
        st = look_at_names(t);
    }
    osc_idmap_fini(&processes);
    return st == OSC_OK ? osc_trace_share(t) : st;
}
