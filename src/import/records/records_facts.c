/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/records_facts.h"

#include <string.h>

#include "codec/json.h"
#include "import/records/deferred.h"

/* Read the limits of the device with the number TEXT. VALUE has them in the order of
 * docs/format.md. */
static void read_limits(struct osc_records_rows *rows, struct osc_str text,
                        struct osc_str value)
{
    int64_t number, limit;
    size_t at = 0;

    if (!osc_json_int(text, &number) || number < 0 || number > UINT32_MAX)
        return;
    struct osc_records_device *const d = osc_records_device(rows, (uint32_t)number);
    if (!d)
        return;
    int64_t *const limits[] = {&d->limits.n_units,
                               &d->limits.major,
                               &d->limits.minor,
                               &d->limits.threads_per_block,
                               &d->limits.threads_per_unit,
                               &d->limits.registers_per_unit,
                               &d->limits.shared_bytes_per_block,
                               &d->limits.shared_bytes_per_unit,
                               &d->limits.simd_width};
    for (size_t i = 0; i < sizeof limits / sizeof *limits && at < value.len; i++) {
        const char *const start = value.s + at;
        const char *const end = memchr(start, ' ', value.len - at);
        const struct osc_str word = {start,
                                     (uint32_t)(end ? end - start : (long)(value.len - at))};

        if (osc_json_int(word, &limit) && limit >= 0)
            *limits[i] = limit;
        at += (size_t)word.len + 1;
    }
}

void osc_records_fact_read(struct osc_records_rows *rows, const struct osc_packed *p)
{
    const osc_sid key = osc_records_name(rows->names, p->id),
                  value = osc_records_name(rows->names, (uint32_t)p->value);
    const struct osc_trace *t = rows->builder->loading->trace;
    const struct osc_str text = osc_trace_str(t, value), word = osc_trace_str(t, key);
    const struct osc_str limits = OSC_STR(OSC_RECORD_FACT_LIMITS);

    if (osc_str_starts(word, limits)) {
        read_limits(rows, (struct osc_str){word.s + limits.len, word.len - limits.len}, text);
        return;
    }
    if (!osc_str_eq(word, OSC_STR(OSC_RECORD_FACT_OPEN_END))) {
        osc_build_member(rows->builder, key, value, !osc_records_is_nested(text));
        return;
    }
    rows->open_end_ticks = 0;
    for (size_t i = 0; i < text.len && text.s[i] >= '0' && text.s[i] <= '9'; i++)
        rows->open_end_ticks = rows->open_end_ticks * 10 + (uint64_t)(text.s[i] - '0');
}

void osc_records_device_read(struct osc_records_rows *rows, const struct osc_packed *p)
{
    const bool is_queue = p->kind == OSC_RECORD_QUEUE;
    const uint32_t number =
        p->kind == OSC_RECORD_DEVICE_CLOCK ? p->id : (uint32_t)p->words[is_queue ? 1 : 0];
    struct osc_records_device *d = osc_records_device(rows, number);
    struct osc_records_queue *q;

    if (!d)
        return;
    switch (p->kind) {
    case OSC_RECORD_DEVICE:
        d->type = osc_records_name(rows->names, p->id);
        d->index = (uint32_t)p->words[1];
        if (p->words[2] > 0) /* else another record may have told it */
            d->limits.memory_bytes = (int64_t)p->words[2];
        d->hz = p->words[3] > 0 ? p->words[3] : d->hz;
        break;
    case OSC_RECORD_DEVICE_NAME:
        d->name = osc_records_name(rows->names, p->id);
        break;
    case OSC_RECORD_QUEUE:
        q = osc_records_queue(rows, (uint32_t)p->words[0]);
        if (q) {
            q->device = number;
            q->name = osc_records_name(rows->names, p->id);
        }
        break;
    default: {
        const osc_status st =
            osc_build_grow(&d->pairs, &d->cap_pairs, d->n_pairs + 1, sizeof *d->pairs);
        if (st == OSC_OK)
            d->pairs[d->n_pairs++] =
                (struct osc_records_pair){p->words[0], p->ticks, p->words[1]};
        else
            rows->builder->status = st;
    }
    }
}
