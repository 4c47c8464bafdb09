/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `memory_curve`: what the allocators reported as held after each record, by device. It has
 * every point, in nanoseconds; a program that draws it may thin it out.
 */
#include "analysis/table_registry.h"

#include "analysis/memory/memory_view.h"
#include "derive/args.h"

enum { PROCESS, PROCESS_NAME, DEVICE, TIME, ALLOCATED, RESERVED, N_COLUMNS };

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(PROCESS, "process", STRING, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_NAMES,
               "Process of the allocator, as the file names it."),
    OSC_COLUMN(PROCESS_NAME, "process_name", STRING, NULL, FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_NAMES, "Name of that process, from the metadata of the file."),
    OSC_COLUMN(DEVICE, "device", STRING, NULL, FIRST, 0, OSC_RULE_DEVICES,
               "Whose memory: cpu, cuda:0, xpu:0 and so on, as its records say."),
    OSC_COLUMN(TIME, "time_ns", INTEGER, "ns", FIRST, OSC_COLUMN_MOMENT, OSC_RULE_TIME,
               "Time of the record, from the origin of all files."),
    OSC_COLUMN(ALLOCATED, "allocated_bytes", INTEGER, "bytes", FIRST, 0, OSC_RULE_MEMORY,
               "Memory in use after the record, as the allocator counts it. It holds until the "
               "next row of the device."),
    OSC_COLUMN(RESERVED, "reserved_bytes", INTEGER, "bytes", FIRST, 0, OSC_RULE_MEMORY,
               "Memory that the allocator holds, in use or not. The "
               "allocator of the CPU says 0."),
};

static void add_device(const struct osc_memory_view *v, const struct osc_memory_device *d,
                       struct osc_result *out)
{
    const struct osc_memory_range range = osc_memory_view_range(v, d);

    for (uint32_t k = range.begin; k < range.end && out->status == OSC_OK; k++) {
        const struct osc_chunk *const c =
            osc_chunk_of(&v->t->events, (osc_row){v->a->records[k].row});
        const uint32_t i = v->a->records[k].row & OSC_CHUNK_MASK;
        int64_t bytes;

        if (!osc_args_int(v->t, c, i, OSC_ARG_KEY_TOTAL_ALLOCATED, &bytes) ||
            !osc_memory_view_wants(v, k))
            continue;
        osc_result_row(out);
        osc_memory_view_add_process(v, d, out, PROCESS);
        osc_result_str(out, DEVICE, osc_str_c(d->name));
        osc_result_int(out, TIME, c->ts_ns[i] - v->t->origin_ns);
        osc_result_int(out, ALLOCATED, bytes);
        if (osc_args_int(v->t, c, i, OSC_ARG_KEY_TOTAL_RESERVED, &bytes))
            osc_result_int(out, RESERVED, bytes);
    }
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct osc_memory_view v;
    osc_status st = osc_memory_view_init(&v, t, o, err);

    if (st != OSC_OK)
        return st == OSC_EINVAL ? st
                                : osc_fail(err, st, "memory_curve: %s", osc_status_text(st));
    for (uint32_t d = 0; d < v.a->n_devices; d++)
        add_device(&v, &v.a->devices[d], out);
    osc_memory_view_show_process(&v, out, PROCESS);
    osc_memory_view_note(&v, out);
    osc_memory_view_note_totals(&v, out, "curve");
    osc_memory_view_fini(&v);
    return out->status;
}

const struct osc_table_def osc_table_memory_curve = {
    .name = "memory_curve",
    .help = "Memory in use and reserved after every record, by device.",
    .source = "records of memory: what the allocator counted itself.",
    .rules = OSC_RULE_MEMORY,
    .columns = columns,
    .n_columns = N_COLUMNS,
    OSC_MAPS(.facts = OSC_FACT_ALLOCATIONS | OSC_FACT_STEPS, .selects_itself = true,
             .map = map),
};
