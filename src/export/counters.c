/* SPDX-License-Identifier: Apache-2.0 */
#include "export/counters.h"

#include "base/strbuf.h"
#include "codec/digits.h"
#include "codec/json.h"
#include "derive/facts.h"

#define PIECE_BYTES ((size_t)1 << 20)

struct counters {
    const struct osc_trace *t;
    const struct osc_loads *loads;
    struct osc_strbuf out;
    struct osc_strbuf head, series; /* of the track: text up to the time; name of its values */
    bool has_any;
    osc_status (*write)(void *ctx, const char *s, size_t len);
    void *ctx;
    osc_status status; /* sticky */
};

static void flush(struct counters *c, size_t full)
{
    if (c->status == OSC_OK)
        c->status = c->out.status;
    if (c->status != OSC_OK || c->out.len < full)
        return;
    c->status = c->write(c->ctx, c->out.s, c->out.len);
    osc_strbuf_clear(&c->out);
}

static void add_sample(struct counters *c, int64_t at_ns, double value)
{
    char number[OSC_DIGITS_MAX];

    osc_strbuf_adds(&c->out, c->has_any ? ",\n" : "");
    c->has_any = true;
    osc_strbuf_add(&c->out, c->head.s, c->head.len);
    osc_strbuf_add(&c->out, number, (size_t)(osc_digits_micros(number, at_ns) - number));
    osc_strbuf_add(&c->out, c->series.s, c->series.len);
    osc_strbuf_add(&c->out, number, (size_t)(osc_digits_double(number, value) - number));
    osc_strbuf_adds(&c->out, "}}");
    flush(c, PIECE_BYTES);
}

/* Whether T has samples of a counter called NAME. */
static bool has_track(const struct osc_trace *t, struct osc_str name)
{
    const osc_sid id = osc_strings_find(&t->strings, name);

    if (id.v == 0)
        return false;
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (c->name[i] == id.v && osc_row_form(t, c, i)->shape == OSC_SHAPE_COUNTER)
                return true;
        }
    }
    return false;
}

/*
 * Begin a track with WHAT of device D; its first samples set the scale. False: leave the track
 * out.
 */
static bool begin_track(struct counters *c, uint32_t d, const char *what)
{
    const struct osc_loads *const l = c->loads;
    const struct osc_device_load *const device = &l->devices[d];
    /* Devices are sorted by number: an equal number would be just before. */
    const bool has_number =
        device->number >= 0 && (d == 0 || l->devices[d - 1].number != device->number);
    const struct osc_str name = osc_trace_str(c->t, device->name);
    struct osc_strbuf title = {0};

    if (has_number)
        osc_strbuf_addf(&title, "GPU %lld", (long long)device->number);
    else
        osc_strbuf_addstr(&title, name);
    osc_strbuf_addf(&title, " %s", what);
    const struct osc_str track = {title.s, (uint32_t)title.len};
    if (title.status != OSC_OK && c->status == OSC_OK)
        c->status = title.status;
    if (c->status != OSC_OK || has_track(c->t, track)) {
        osc_strbuf_fini(&title);
        return false;
    }
    osc_strbuf_clear(&c->head);
    osc_strbuf_adds(&c->head, "{\"ph\":\"C\",\"name\":");
    osc_json_quote(&c->head, track);
    osc_strbuf_adds(&c->head, ",\"pid\":");
    if (has_number)
        osc_strbuf_addi(&c->head, device->number);
    else
        osc_json_quote(&c->head, name);
    osc_strbuf_adds(&c->head, ",\"ts\":");
    osc_strbuf_clear(&c->series);
    osc_strbuf_addf(&c->series, ",\"args\":{\"%s%s\":", *what == 'U' ? "GPU " : "", what);
    osc_strbuf_fini(&title);
    c->status = c->head.status != OSC_OK ? c->head.status : c->series.status;
    if (c->status != OSC_OK)
        return false;
    add_sample(c, l->start_ns, 1);
    add_sample(c, l->start_ns, 0);
    return true;
}

static void add_utilization(struct counters *c, uint32_t d)
{
    if (!begin_track(c, d, "Utilization"))
        return;
    for (uint32_t b = 0; b < c->loads->n_buckets && c->status == OSC_OK; b++) {
        const struct osc_load load = osc_loads_bucket(c->loads, d, b);

        add_sample(c, load.start_ns,
                   (double)load.busy_ns / (double)(load.end_ns - load.start_ns));
    }
    if (c->status == OSC_OK)
        add_sample(c, c->loads->end_ns, 0);
}

static void add_efficiency(struct counters *c, uint32_t d)
{
    const struct osc_device_load *const device = &c->loads->devices[d];

    if (!begin_track(c, d, "Est. SM Efficiency"))
        return;
    for (size_t i = 0; i < device->n_fills && c->status == OSC_OK; i++) {
        add_sample(c, device->fills[i].start_ns,
                   (double)device->fills[i].fill / (double)OSC_FILL_ONE);
        add_sample(c, device->fills[i].end_ns, 0);
    }
}

osc_status osc_counters_write(const struct osc_trace *t,
                              osc_status (*write)(void *ctx, const char *s, size_t len),
                              void *ctx)
{
    const struct osc_loads *const loads = &osc_trace_facts(t)->loads;
    struct counters c = {.t = t, .loads = loads, .write = write, .ctx = ctx};

    for (uint32_t d = 0; d < loads->n_devices && c.status == OSC_OK; d++) {
        if (!loads->devices[d].has_kernels || loads->n_buckets == 0)
            continue;
        add_utilization(&c, d);
        if (loads->devices[d].n_fills > 0 && c.status == OSC_OK)
            add_efficiency(&c, d);
    }
    if (c.has_any)
        flush(&c, 1);
    osc_strbuf_fini(&c.out);
    osc_strbuf_fini(&c.head);
    osc_strbuf_fini(&c.series);
    return c.status;
}
