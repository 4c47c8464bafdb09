/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/members.h"

#include <string.h>

#include "base/strbuf.h"
#include "codec/json.h"
#include "model/add_member.h"

const struct osc_member_limit osc_member_limits[] = {
    {"totalGlobalMem", offsetof(struct osc_device_limits, memory_bytes)},
    {"numSms", offsetof(struct osc_device_limits, n_units)},
    {"computeMajor", offsetof(struct osc_device_limits, major)},
    {"computeMinor", offsetof(struct osc_device_limits, minor)},
    {"maxThreadsPerBlock", offsetof(struct osc_device_limits, threads_per_block)},
    {"maxThreadsPerMultiprocessor", offsetof(struct osc_device_limits, threads_per_unit)},
    {"regsPerMultiprocessor", offsetof(struct osc_device_limits, registers_per_unit)},
    {"sharedMemPerBlock", offsetof(struct osc_device_limits, shared_bytes_per_block)},
    {"sharedMemPerMultiprocessor", offsetof(struct osc_device_limits, shared_bytes_per_unit)},
    {"warpSize", offsetof(struct osc_device_limits, simd_width)},
    {NULL, 0},
};

/* A number that is not known is left out, for 0 is one. */
static void add_device(const struct osc_trace *t, const struct osc_device *d,
                       struct osc_strbuf *text)
{
    int64_t value;

    osc_strbuf_addf(text, "%s{\"id\":%lld", text->len > 0 ? "," : "[", (long long)d->index);
    if (d->model.v != 0) {
        osc_strbuf_adds(text, ",\"name\":");
        osc_json_quote(text, osc_trace_str(t, d->model));
    }
    for (const struct osc_member_limit *m = osc_member_limits; m->key; m++) {
        memcpy(&value, (const char *)&d->limits + m->offset, sizeof value);
        if (value >= 0)
            osc_strbuf_addf(text, ",\"%s\":%lld", m->key, (long long)value);
    }
    osc_strbuf_addc(text, '}');
}

/* Add the member KEY with the value TEXT, unless that is empty. */
static osc_status add(struct osc_trace *t, struct osc_str key, struct osc_strbuf *text)
{
    osc_status st = text->status;

    if (st == OSC_OK && text->len > 0)
        st = osc_add_member(t, key, (struct osc_str){text->s, (uint32_t)text->len}, false);
    osc_strbuf_fini(text);
    return st;
}

osc_status osc_members_add(struct osc_trace *t)
{
    struct osc_strbuf devices = {0}, base = {0};

    for (uint32_t i = 0; i < t->n_devices; i++)
        add_device(t, &t->devices[i], &devices);
    if (t->n_devices > 0)
        osc_strbuf_addc(&devices, ']');
    const osc_status st = add(t, OSC_STR("deviceProperties"), &devices);
    if (st != OSC_OK)
        return st;
    if (t->base_ns != 0)
        osc_strbuf_addi(&base, t->base_ns);
    return add(t, OSC_STR("baseTimeNanoseconds"), &base);
}
