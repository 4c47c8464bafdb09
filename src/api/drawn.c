/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the timeline is: tracks and names.
 *
 *     tracks       fingerprint, times, kinds, traces, tracks and series (JSON)
 *     names/PAGE   OSC_API_NAMES_PER_PAGE names, from PAGE times as many on: each as the
 *                  file has it, and its label, which for functions is short, and different
 *                  from those of its block (OSC_DRAWING_TOLD; JSON)
 */
#include "api/drawn.h"

#include <string.h>

#include "api/api.h"
#include "ask/request.h"
#include "base/parse.h"
#include "codec/json.h"
#include "timeline/packet.h"

bool osc_api_draw(struct osc_api_call *c, struct osc_api_drawn *d)
{
    const char *const known = osc_url_get(&c->url, "fp");
    struct osc_keeping kept;
    struct osc_err err = {0};
    uint32_t run;

    *d = (struct osc_api_drawn){0};
    if (!osc_api_find_run(c, "run", &run) || !osc_api_take_base(c, run, &d->set, &kept))
        return false;
    const osc_status st = osc_drawing_begin(&d->drawing, d->set, &err);
    /* What is drawn may be newer than what the keeper knows. */
    const char *const print = d->drawing.fingerprint;
    if (st != OSC_OK)
        osc_respond_failure(c, st, &err, NULL);
    else if (known && strcmp(known, print) != 0)
        osc_api_refuse_changed(c);
    else if (!osc_respond_unchanged(c, print))
        return true;
    osc_api_drawn_fini(d);
    return false;
}

void osc_api_drawn_fini(struct osc_api_drawn *d)
{
    osc_drawing_end(&d->drawing);
    osc_set_release(d->set);
    *d = (struct osc_api_drawn){0};
}

void osc_api_refuse(struct osc_api_call *c, const char *message)
{
    osc_respond_error(c, &(struct osc_api_error){.status = 400,
                                                 .code = "bad_request",
                                                 .message = message,
                                                 .what_to_do = "reload the page"});
}

bool osc_api_whole(struct osc_api_call *c, const char *name, int64_t least, int64_t most,
                   int64_t *value)
{
    const char *const text = osc_url_get(&c->url, name);
    struct osc_strbuf message = {0};

    if (text && osc_parse_whole(text, least, most, value))
        return true;
    osc_strbuf_addf(&message, "%s: it must be a whole number from %lld to %lld", name,
                    (long long)least, (long long)most);
    osc_api_refuse(c, message.s ? message.s : name);
    osc_strbuf_fini(&message);
    return false;
}

/* --- tracks ---------------------------------------------------------------------- */

static void add_text(struct osc_strbuf *out, const char *name, const struct osc_trace *t,
                     osc_sid id)
{
    osc_strbuf_addf(out, ", \"%s\": ", name);
    osc_json_quote(out, osc_trace_str(t, id));
}

static void add_optional(struct osc_strbuf *out, const char *name, const struct osc_trace *t,
                         osc_sid id)
{
    if (id.v != 0)
        add_text(out, name, t, id);
    else
        osc_strbuf_addf(out, ", \"%s\": null", name);
}

static void add_kinds(struct osc_strbuf *out)
{
    osc_strbuf_adds(out, ",\n\"kinds\": [");
    for (unsigned k = 0; k < OSC_KIND_COUNT; k++)
        osc_strbuf_addf(out, "%s\"%s\"", k > 0 ? ", " : "", osc_kind_text((enum osc_kind)k));
}

static void add_traces(struct osc_strbuf *out, const struct osc_timeline *tl)
{
    osc_strbuf_adds(out, "],\n\"traces\": [");
    for (uint32_t i = 0; i < tl->n_parts; i++) {
        const struct osc_trace *const t = tl->parts[i].t;

        osc_strbuf_addf(out, "%s\n {\"rank\": %d, \"span\": %d, \"first_event\": %u",
                        i > 0 ? "," : "", t->rank, t->span, tl->parts[i].first_event);
        add_optional(out, "worker", t, t->worker);
        if (t->events.n_rows > 0)
            osc_strbuf_addf(out, ", \"from_ns\": %lld, \"to_ns\": %lld}",
                            (long long)osc_timeline_time(t, t->min_ts_ns),
                            (long long)osc_timeline_time(t, t->max_end_ns));
        else
            osc_strbuf_adds(out, ", \"from_ns\": null, \"to_ns\": null}");
    }
}

/* What TRACK has of its ranges: all, those without Python frames, of all packed queues, or of a
 * domain. */
static const char *ranges_of(const struct osc_timeline_track *track)
{
    return track->group == OSC_LANE_NO_FRAMES ? "no_frames"
           : track->group == OSC_LANE_PACKED  ? "packed"
           : track->group == OSC_LANE_DOMAIN  ? "domain"
                                              : "all";
}

static void add_tracks(struct osc_strbuf *out, const struct osc_timeline *tl)
{
    osc_strbuf_adds(out, "],\n\"tracks\": [");
    for (uint32_t i = 0; i < tl->n_tracks; i++) {
        const struct osc_timeline_track *const track = &tl->tracks[i];
        const struct osc_trace *const t = tl->parts[track->part].t;
        const struct osc_track *const of = &t->tracks[track->track];
        const struct osc_packing *const packing = &tl->parts[track->part].lanes.packing;
        const char *const sort = track->group == OSC_LANE_INSTANTS ? "instants"
                                 : track->group == OSC_LANE_ASYNC  ? "async"
                                 : of->is_queue                    ? "queue"
                                                                   : "thread";

        osc_strbuf_addf(out, "%s\n {\"id\": %u, \"sort\": \"%s\", \"trace\": %u",
                        i > 0 ? "," : "", i, sort, track->part);
        add_text(out, "process", t, of->pid);
        add_text(out, "process_name", t, t->processes[of->process].name);
        add_text(out, "thread", t, of->tid);
        add_text(out, "thread_name", t, of->name);
        add_optional(out, "device", t, of->is_queue ? of->device : (osc_sid){0});
        osc_strbuf_addf(out, ", \"of\": \"%s\", \"has_frames\": %s, \"is_packed\": %s",
                        ranges_of(track),
                        packing->n_frames[track->track] > 0 ? "true" : "false",
                        packing->first[track->track] != 0 ? "true" : "false");
        add_optional(out, "domain", t, track->domain);
        osc_strbuf_addf(out, ", \"is_summary\": %s, \"lanes\": %u, \"ranges\": %llu}",
                        of->is_summary ? "true" : "false", track->n_lanes,
                        (unsigned long long)track->n_ranges);
    }
}

/* The memory of the device of S, if that has bytes; null: unknown. */
static void add_capacity(struct osc_strbuf *out, const struct osc_trace *t,
                         const struct osc_series *s)
{
    struct osc_str family;
    const int64_t index = osc_series_is_usage(s) ? -1 : osc_device_split(s->device, &family);
    /* The file describes devices with numbers, not the host. */
    const struct osc_device *const device =
        index >= 0 ? osc_trace_device(t, s->device, index) : NULL;

    if (device && device->limits.memory_bytes >= 0)
        osc_strbuf_addf(out, ", \"capacity_bytes\": %lld",
                        (long long)device->limits.memory_bytes);
    else
        osc_strbuf_adds(out, ", \"capacity_bytes\": null");
}

static void add_series(struct osc_strbuf *out, const struct osc_timeline *tl)
{
    static const char *const sorts[] = {"counter", "allocated", "reserved", "utilization",
                                        "sm_efficiency"};

    osc_strbuf_adds(out, "],\n\"series\": [");
    for (uint32_t i = 0; i < tl->n_series; i++) {
        const struct osc_timeline_part *const part = osc_timeline_series(tl, i);
        const struct osc_series *const s = &part->series.v[i - part->first_series];
        const struct osc_trace *const t = part->t;

        osc_strbuf_addf(out, "%s\n {\"id\": %u, \"trace\": %u, \"sort\": \"%s\"",
                        i > 0 ? "," : "", i, (unsigned)(part - tl->parts), sorts[s->sort]);
        add_text(out, "process", t, t->tracks[s->track].pid);
        add_text(out, "name", t, s->name);
        add_text(out, "key", t, s->key);
        osc_strbuf_adds(out, ", \"device\": ");
        if (s->device.len > 0)
            osc_json_quote(out, s->device);
        else
            osc_strbuf_adds(out, "null");
        add_capacity(out, t, s);
        osc_strbuf_addf(out, ", \"samples\": %llu}",
                        (unsigned long long)(osc_series_is_usage(s) ? s->usage.n : s->n));
    }
}

static void answer_tracks(struct osc_api_call *c)
{
    struct osc_api_drawn d;
    struct osc_strbuf out = {0};

    if (!osc_api_draw(c, &d))
        return;
    const struct osc_timeline *const tl = d.drawing.timeline;
    osc_strbuf_addf(&out,
                    "{\"fingerprint\": \"%s\", \"from_ns\": %lld, \"to_ns\": %lld, "
                    "\"names\": %u, \"names_per_page\": %u",
                    d.drawing.fingerprint, (long long)tl->from_ns, (long long)tl->to_ns,
                    osc_timeline_names(tl), OSC_API_NAMES_PER_PAGE);
    osc_strbuf_adds(&out, ", \"base_ns\": ");
    if (tl->n_parts > 0 && tl->parts[0].t->base_ns != 0)
        osc_strbuf_addf(&out, "\"%lld\"",
                        (long long)tl->parts[0].t->base_ns + tl->parts[0].t->origin_ns);
    else
        osc_strbuf_adds(&out, "null");
    add_kinds(&out);
    add_traces(&out, tl);
    add_tracks(&out, tl);
    add_series(&out, tl);
    osc_strbuf_adds(&out, "]}\n");
    osc_respond_json(c, &out);
    osc_strbuf_fini(&out);
    osc_api_drawn_fini(&d);
}

const struct osc_api_endpoint osc_api_endpoint_tracks = {"tracks", false, answer_tracks};

/* --- names ----------------------------------------------------------------------- */

static void add_name(struct osc_strbuf *out, struct osc_str name,
                     const struct osc_labels *labels)
{
    const osc_sid id = osc_intern_find(&labels->names, name);

    osc_strbuf_addc(out, '[');
    osc_json_quote(out, name);
    osc_strbuf_adds(out, ", ");
    osc_json_quote(out, id.v > 0 ? osc_labels_get(labels, id) : name);
    osc_strbuf_addc(out, ']');
}

static void answer_names(struct osc_api_call *c)
{
    struct osc_strbuf out = {0};
    const struct osc_labels *labels = NULL;
    struct osc_err err = {0};
    struct osc_api_drawn d;
    int64_t page;

    if (!osc_parse_whole(c->rest, 0, UINT32_MAX / OSC_API_NAMES_PER_PAGE, &page)) {
        osc_api_refuse(c, "the page of names must be a whole number");
        return;
    }
    if (!osc_api_draw(c, &d))
        return;
    const uint32_t first = (uint32_t)page * OSC_API_NAMES_PER_PAGE;
    const uint32_t n = osc_timeline_names(d.drawing.timeline);
    const uint32_t end =
        n - first < OSC_API_NAMES_PER_PAGE || first > n ? n : first + OSC_API_NAMES_PER_PAGE;
    osc_status st = OSC_OK;
    if (first < end)
        st = osc_drawing_labels(&d.drawing, first, &labels, &err);
    osc_strbuf_addf(&out, "{\"first\": %u, \"names\": [", first);
    for (uint32_t i = first; i < end && st == OSC_OK; i++) {
        osc_strbuf_adds(&out, i > first ? ",\n" : "\n");
        add_name(&out, osc_timeline_name(d.drawing.timeline, i), labels);
    }
    osc_strbuf_adds(&out, "]}\n");
    if (st == OSC_OK)
        osc_respond_json(c, &out);
    else
        osc_respond_failure(c, st, &err, NULL);
    osc_strbuf_fini(&out);
    osc_api_drawn_fini(&d);
}

const struct osc_api_endpoint osc_api_endpoint_names = {"names", true, answer_names};
