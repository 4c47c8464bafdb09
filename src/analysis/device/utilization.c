/* SPDX-License-Identifier: Apache-2.0 */
/* `utilization`: what each device did over time, by bucket. */
#include "analysis/table_registry.h"
#include "derive/facts.h"

/* No machine has more; a hostile file may list a million devices. */
#define DEVICES_MAX 1024

enum { DEVICE, START, DUR, UTILIZATION, SM_EFFICIENCY, BUSY, CAPACITY, FILL, N_COLUMNS };

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(DEVICE, "device", STRING, NULL, KEY, 0, OSC_RULE_DEVICES,
               "Device, such as cuda:0 or xpu:0. Rows are the devices that ran kernels, at "
               "most 1,024."),
    OSC_COLUMN(START, "start_ns", INTEGER, "ns", KEY, OSC_COLUMN_MOMENT,
               OSC_RULE_LOADS | OSC_RULE_TIME,
               "Start of the bucket, from the origin of all files. The first bucket starts "
               "with the recording (event `PyTorch Profiler (0)`), or without that event with "
               "the first event."),
    OSC_COLUMN(DUR, "dur_ns", INTEGER, "ns", KEY, 0, OSC_RULE_LOADS,
               "Length of the bucket: the smallest power of ten of microseconds that gives at "
               "most 100 buckets. The last bucket reaches to the end and is longer."),
    OSC_COLUMN(UTILIZATION, "utilization_ratio", NUMBER, "ratio", FINISH, 0, OSC_RULE_LOADS,
               "Time of the bucket in which at least one kernel of the device ran / dur_ns. "
               "Copies do not count; one thread of one block counts as much as a full device."),
    OSC_COLUMN(SM_EFFICIENCY, "sm_efficiency_ratio", NUMBER, "ratio", FINISH,
               OSC_COLUMN_OPTIONAL, OSC_RULE_LOADS,
               "Estimated share of the multiprocessors that had work: integral of min(sum of "
               "`blocks per SM` of the running kernels, 1) over the bucket / dur_ns. Missing "
               "for a device whose kernels do not have the argument."),
    OSC_COLUMN(BUSY, "busy_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Time with a kernel."),
    OSC_COLUMN(CAPACITY, "capacity_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "dur_ns, summed over devices of the same name."),
    OSC_COLUMN(FILL, "weighted_fill", NUMBER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Efficiency, summed over time."),
};

static void add_row(const struct osc_trace *t, const struct osc_device_load *d,
                    const struct osc_load *load, struct osc_result *out)
{
    osc_result_row(out);
    osc_result_str(out, DEVICE, osc_trace_str(t, d->name));
    osc_result_int(out, START, load->start_ns - t->origin_ns);
    osc_result_int(out, DUR, load->end_ns - load->start_ns);
    osc_result_int(out, BUSY, load->busy_ns);
    osc_result_int(out, CAPACITY, load->end_ns - load->start_ns);
    if (d->n_fills > 0) {
        osc_result_num(out, FILL, load->fill_ns);
        osc_result_show(out, SM_EFFICIENCY);
    }
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    const struct osc_loads *const loads = &osc_trace_facts(t)->loads;
    uint32_t n_devices = 0;

    (void)o;
    (void)err;
    for (uint32_t d = 0; d < loads->n_devices; d++) {
        if (!loads->devices[d].has_kernels || ++n_devices > DEVICES_MAX)
            continue;
        for (uint32_t b = 0; b < loads->n_buckets; b++) {
            const struct osc_load load = osc_loads_bucket(loads, d, b);

            add_row(t, &loads->devices[d], &load, out);
        }
    }
    if (n_devices > DEVICES_MAX)
        osc_result_note(out, "only the first %d of %u devices are shown", DEVICES_MAX,
                        n_devices);
    if (out->n_rows == 0)
        osc_result_why_empty(out, "no kernels: no device work of kind kernel in the trace");
    return out->status;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    (void)o;
    (void)err;
    for (uint64_t i = 0; i < r->n_rows; i++) {
        const double capacity_ns = (double)osc_result_get_int(r, i, CAPACITY);

        osc_result_set_num(r, i, UTILIZATION,
                           (double)osc_result_get_int(r, i, BUSY) / capacity_ns);
        if (osc_result_has(r, i, FILL))
            osc_result_set_num(r, i, SM_EFFICIENCY,
                               osc_result_get_num(r, i, FILL) / capacity_ns);
    }
    return OSC_OK;
}

const struct osc_table_def osc_table_utilization = {
    .name = "utilization",
    .help = "How busy each device was over time.",
    .source = "device work of kind kernel and their arguments; GPU utilization of "
              "torch-tb-profiler.",
    .rules = OSC_RULE_LOADS,
    .columns = columns,
    .n_columns = N_COLUMNS,
    OSC_MAPS(.facts = OSC_FACT_LOADS, .map = map, .finish = finish),
};
