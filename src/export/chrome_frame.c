/* SPDX-License-Identifier: Apache-2.0 */
/* Everything outside the list of events: Kineto's top-level members. */
#include "export/chrome_text.h"

#include <string.h>

#include "base/mem.h"
#include "codec/json.h"
#include "export/chrome_ids.h"
#include "export/write_devices.h"

/* Only this member comes after the events, as in Kineto. */
#define TRACE_NAME "traceName"

static bool is_key(const struct osc_trace *t, const struct osc_meta *meta, const char *key)
{
    return osc_str_eq(osc_trace_str(t, meta->key), osc_str_c(key));
}

/*
 * Whether META is an option of torch.profiler in a recording. A recording has all options, on
 * or off; Kineto writes only those that are on, as the number 1.
 */
static bool is_option(const struct osc_trace *t, const struct osc_meta *meta)
{
    static const char *const options[] = {"record_shapes", "profile_memory", "with_stack",
                                          "with_modules", "with_flops"};

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (is_key(t, meta, options[i]))
            return osc_chrome_is_ours(t);
    }
    return false;
}

static void add_member(struct osc_strbuf *out, const struct osc_trace *t,
                       const struct osc_meta *meta)
{
    const struct osc_str value = osc_trace_str(t, meta->value);
    const bool is_text = meta->is_string && !is_option(t, meta);

    osc_json_quote(out, osc_trace_str(t, meta->key));
    osc_strbuf_adds(out, ": ");
    const size_t start = out->len;
    if (is_text || !osc_json_check(value, out))
        osc_json_quote(out, value);
    else if (out->len == start)
        osc_strbuf_addstr(out, value);
}

static bool is_left_out(const struct osc_trace *t, const struct osc_meta *meta)
{
    return is_key(t, meta, TRACE_NAME) || is_key(t, meta, "traceEvents") ||
           (is_option(t, meta) && osc_str_eq(osc_trace_str(t, meta->value), OSC_STR("0")));
}

static bool has_member(const struct osc_trace *t, const char *key)
{
    struct osc_str value;

    return osc_trace_meta(t, key, &value);
}

/* Whether the members of the file contain its rank; otherwise only its name does. */
static bool says_rank(const struct osc_trace *t)
{
    static const char *const keys[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                       "SLURM_PROCID"};
    struct osc_str value, rank;

    if (osc_trace_meta(t, "distributedInfo", &value) && osc_json_member(value, "rank", &rank))
        return true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (has_member(t, keys[i]))
            return true;
    }
    return false;
}

void osc_chrome_text_head(const struct osc_trace *t, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "{\n");
    /* A recording becomes a trace like Kineto's; a trace of somebody else stays what it was. */
    if (osc_chrome_is_ours(t) && !has_member(t, "schemaVersion"))
        osc_strbuf_adds(out, "\"schemaVersion\": 1,\n");
    if (osc_chrome_is_ours(t) && !has_member(t, "displayTimeUnit"))
        osc_strbuf_adds(out, "\"displayTimeUnit\": \"ms\",\n");
    if (osc_chrome_is_ours(t) && t->has_rank && !says_rank(t)) {
        osc_strbuf_addf(out,
                        has_member(t, "distributedInfo")
                            ? "\"RANK\": \"%d\",\n"
                            : "\"distributedInfo\": {\"rank\": %d},\n",
                        t->rank);
    }
    for (uint32_t i = 0; i < t->n_metas; i++) {
        if (is_left_out(t, &t->metas[i]))
            continue;
        add_member(out, t, &t->metas[i]);
        osc_strbuf_adds(out, ",\n");
    }
    osc_strbuf_adds(out, "\"traceEvents\": [\n");
}

static void add_who(struct osc_strbuf *out, const char *key, struct osc_str who)
{
    int64_t number;

    if (who.len == 0)
        return;
    osc_strbuf_adds(out, key);
    if (osc_json_int(who, &number) && number >= 0)
        osc_strbuf_addstr(out, who);
    else
        osc_json_quote(out, who);
}

/* Write a WHAT record about TRACK or its process, with the argument KEY unless it is NULL. */
static void add_about(const struct osc_trace *t, const struct osc_track *track,
                      const char *what, const char *key, osc_sid value, struct osc_strbuf *out)
{
    osc_strbuf_addf(out, "%s{\"ph\":\"M\",\"name\":\"%s\"", out->len > 0 ? ",\n" : "", what);
    add_who(out, ",\"pid\":", osc_trace_str(t, track->pid));
    add_who(out, ",\"tid\":", osc_trace_str(t, track->tid));
    osc_strbuf_adds(out, ",\"ts\":0.000,\"args\":{");
    if (key) {
        osc_strbuf_addf(out, "\"%s\":", key);
        osc_json_quote(out, osc_trace_str(t, value));
    }
    osc_strbuf_adds(out, "}}");
}

/* Names that no record of the file gives. */
static void add_names(const struct osc_trace *t, struct osc_strbuf *out)
{
    uint32_t last = UINT32_MAX; /* the process of the last name */

    for (uint32_t i = 0; i < t->n_forms; i++) {
        if (t->forms[i].shape == OSC_SHAPE_ABOUT)
            return;
    }
    for (uint32_t i = 1; i < t->n_tracks; i++) {
        const struct osc_track *const track = &t->tracks[i];
        const osc_sid process = t->processes[track->process].name;

        if (process.v != 0 && track->process != last)
            add_about(t, track, "process_name", "name", process, out);
        last = track->process;
        if (track->name.v != 0)
            add_about(t, track, "thread_name", "name", track->name, out);
    }
}

/* What is told of a track. */
enum { TOLD_QUEUE = 1, TOLD_ALL = 2 };

/* Mark in IS_TOLD, by track, the queues that an event of T tells. */
static void see_events(const struct osc_trace *t, uint8_t *is_told)
{
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (osc_row_form(t, c, i)->is_device)
                is_told[c->track[i]] |= TOLD_QUEUE;
        }
    }
}

/* The same of those that a record of T tells, in full. */
static void see_records(const struct osc_trace *t, uint8_t *is_told)
{
    const osc_sid word = osc_strings_find(&t->strings, OSC_STR(OSC_QUEUE_RECORD));

    for (uint32_t k = 1; k < t->others.n_chunks && word.v != 0; k++) {
        const struct osc_chunk *const c = t->others.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (c->name[i] == word.v && osc_row_form(t, c, i)->shape == OSC_SHAPE_ABOUT)
                is_told[c->track[i]] |= TOLD_ALL;
        }
    }
}

/* Say of queues what their events do not: in a part of a trace may be none that is work, or
 * only one of several ranks. */
static void add_queues(const struct osc_trace *t, struct osc_strbuf *out)
{
    uint8_t *const is_told = osc_calloc((size_t)t->n_tracks + 1, 1);

    if (!is_told) {
        out->status = OSC_ENOMEM;
        return;
    }
    see_events(t, is_told);
    see_records(t, is_told);
    for (uint32_t i = 1; i < t->n_tracks; i++) {
        const struct osc_track *const track = &t->tracks[i];

        if (!track->is_queue || track->n_events == 0 || (is_told[i] & TOLD_ALL))
            continue;
        if (osc_write_devices_is_moved(t, track))
            add_about(t, track, OSC_QUEUE_RECORD, "device", track->device, out);
        else if (!is_told[i])
            add_about(t, track, OSC_QUEUE_RECORD, NULL, track->device, out);
    }
    osc_free(is_told);
}

void osc_chrome_text_names(const struct osc_trace *t, struct osc_strbuf *out)
{
    add_names(t, out);
    add_queues(t, out);
}

void osc_chrome_text_tail(const struct osc_trace *t, struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "\n]");
    for (uint32_t i = 0; i < t->n_metas; i++) {
        if (!is_key(t, &t->metas[i], TRACE_NAME))
            continue;
        osc_strbuf_adds(out, ",\n");
        add_member(out, t, &t->metas[i]);
    }
    osc_strbuf_adds(out, "\n}\n");
}
