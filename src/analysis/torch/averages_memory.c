/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/torch/averages_memory.h"

#include "base/mem.h"
#include "base/sort.h"
#include "model/known_names.h"

/* Numbers of c10::DeviceType. */
enum {
    C10_CPU = 0,
    C10_CUDA = 1,
    C10_MKLDNN = 2,
    C10_IDEEP = 5,
    C10_HIP = 6,
    C10_XPU = 12,
    C10_PRIVATEUSE1 = 20
};

void osc_avg_records_fini(struct osc_avg_records *r)
{
    osc_free(r->all);
    *r = (struct osc_avg_records){0};
}

void osc_avg_record_bytes(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                          osc_wide *cpu_bytes, osc_wide *device_bytes)
{
    int64_t type = -1, bytes = 0;

    *cpu_bytes = *device_bytes = 0;
    if (!osc_row_arg_int(t, c, i, OSC_ARG_KEY_DEVICE_TYPE, &type) ||
        !osc_row_arg_int(t, c, i, OSC_ARG_KEY_BYTES, &bytes))
        return;
    if (type == C10_CPU || type == C10_MKLDNN || type == C10_IDEEP)
        *cpu_bytes = bytes;
    else if (type == C10_CUDA || type == C10_HIP || type == C10_XPU ||
             type == C10_PRIVATEUSE1 || type >= OSC_KNOWN_OWN_TYPE)
        *device_bytes = bytes;
}

osc_status osc_avg_records_add(struct osc_avg_records *r, const struct osc_trace *t,
                               const struct osc_chunk *c, uint32_t i)
{
    /* One spare element: seal() ends the list with the total. */
    const osc_status st = osc_grow(&r->all, &r->cap, r->n + 2, sizeof *r->all);

    if (st != OSC_OK)
        return st;

    struct osc_avg_record *rec = &r->all[r->n++];
    *rec = (struct osc_avg_record){.time_ns = c->ts_ns[i], .row = osc_row_at(c, i).v};
    osc_avg_record_bytes(t, c, i, &rec->cpu_bytes, &rec->device_bytes);
    return OSC_OK;
}

static int compare_records(const void *pa, const void *pb)
{
    const struct osc_avg_record *a = pa, *b = pb;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

osc_status osc_avg_records_seal(struct osc_avg_records *r)
{
    osc_wide cpu = 0, device = 0;
    const osc_status st = osc_grow(&r->all, &r->cap, r->n + 1, sizeof *r->all);

    if (st != OSC_OK)
        return st;
    for (size_t i = 1; i < r->n; i++) {
        if (r->all[i - 1].time_ns > r->all[i].time_ns) {
            osc_sort(r->all, r->n, sizeof *r->all, compare_records);
            break;
        }
    }
    r->all[r->n] = (struct osc_avg_record){.time_ns = INT64_MAX};
    for (size_t i = 0; i <= r->n; i++) {
        const osc_wide own_cpu = r->all[i].cpu_bytes, own_device = r->all[i].device_bytes;

        r->all[i].cpu_bytes = cpu;
        r->all[i].device_bytes = device;
        cpu += own_cpu;
        device += own_device;
    }
    return OSC_OK;
}

/* The first record from LOW on that is later than TIME_NS; most ranges contain few. */
static size_t find_after(const struct osc_avg_records *r, size_t low, int64_t time_ns)
{
    size_t step = 1, high = low;

    while (high < r->n && r->all[high].time_ns <= time_ns) {
        low = high + 1;
        high += step;
        step *= 2;
    }
    if (high > r->n)
        high = r->n;
    OSC_BISECT(low, high, i, r->all[i].time_ns <= time_ns);
    return low;
}

void osc_avg_records_between(const struct osc_avg_records *r, size_t *first, int64_t start_ns,
                             int64_t end_ns, osc_wide *cpu_bytes, osc_wide *device_bytes)
{
    while (*first < r->n && r->all[*first].time_ns < start_ns)
        (*first)++;

    const struct osc_avg_record *a = &r->all[*first];
    const struct osc_avg_record *b = &r->all[find_after(r, *first, end_ns)];
    *cpu_bytes = b->cpu_bytes - a->cpu_bytes;
    *device_bytes = b->device_bytes - a->device_bytes;
}
