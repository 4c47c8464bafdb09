/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `memory_versions`: each piece of memory, also from before the trace, and when calls changed
 * it.
 */
#include "analysis/table_registry.h"

#include "analysis/memory/categories.h"
#include "analysis/memory/extents.h"
#include "analysis/memory/memory_view.h"
#include "base/mem.h"

enum {
    PROCESS,
    PROCESS_NAME,
    DEVICE,
    OBJECT,
    VERSION,
    OPERATOR,
    BYTES,
    START,
    END,
    CATEGORY,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(PROCESS, "process", STRING, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_NAMES,
               "Process that held the memory, as the file names it."),
    OSC_COLUMN(PROCESS_NAME, "process_name", STRING, NULL, FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_NAMES, "Name of that process, from the metadata of the file."),
    OSC_COLUMN(DEVICE, "device", STRING, NULL, FIRST, 0, OSC_RULE_DEVICES,
               "Whose memory: cpu, cuda:0, xpu:0 and so on, as its records say. Memory without "
               "a record is where the first call that took it had it, if calls took tensors of "
               "devices and tell that (metadata tensors_on_devices: told); else of the one "
               "device of which its process has records, if no call took tensors of devices."),
    OSC_COLUMN(OBJECT, "object", INTEGER, NULL, FIRST, 0, OSC_RULE_CATEGORIES,
               "Number of the memory within its file, from 1 in the order in which it is first "
               "shown."),
    OSC_COLUMN(VERSION, "version", INTEGER, NULL, FIRST, 0, OSC_RULE_CATEGORIES,
               "Number of its content: 0 is what was allocated, or there before the trace; "
               "each outermost call that changes it makes the next one."),
    OSC_COLUMN(OPERATOR, "operator", STRING, NULL, FIRST, 0, OSC_RULE_CATEGORIES,
               "Call that made the version; for version 0 that of the allocation, as in "
               "memory_events. Missing for memory from before the trace."),
    OSC_COLUMN(BYTES, "bytes", INTEGER, "bytes", FIRST, 0, OSC_RULE_CATEGORIES,
               "Size as its first record says; without one, of the largest tensor that a call, "
               "a module or an optimizer used there. Missing if nothing says it."),
    OSC_COLUMN(
        START, "start_ns", INTEGER, "ns", FIRST, OSC_COLUMN_MOMENT,
        OSC_RULE_CATEGORIES | OSC_RULE_TIME,
        "When the version was made, from the origin: the allocation, or the start of the "
        "call. Missing for memory from before the trace."),
    OSC_COLUMN(END, "end_ns", INTEGER, "ns", FIRST, OSC_COLUMN_MOMENT,
               OSC_RULE_CATEGORIES | OSC_RULE_TIME,
               "When the next version was made, or for the last one when the memory was "
               "released, from the origin. Missing if the trace does not have it."),
    OSC_COLUMN(CATEGORY, "category", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL,
               OSC_RULE_CATEGORIES,
               "What the version was for: parameter, gradient, optimizer_state, activation, "
               "input, temporary or autograd_detail. Missing if the rules give none."),
};

struct listing {
    struct osc_memory_view v;
    struct osc_memory_categories categories;
    struct osc_extent *extents; /* owned; by object without a record */
    bool tells_devices;         /* calls do, of the tensors that they took */
    uint32_t *only_device; /* owned; by process: the one with records + 1; 0: none; SEVERAL */
};

#define SEVERAL UINT32_MAX

/* Find the only device of each process, unless tensors lie where there may be no records. */
static osc_status find_only_devices(struct listing *l)
{
    const struct osc_allocations *const a = l->v.a;
    struct osc_str value;

    l->only_device = osc_calloc((size_t)l->v.t->n_processes + 1, sizeof *l->only_device);
    if (!l->only_device)
        return OSC_ENOMEM;
    if (osc_trace_meta(l->v.t, "tensors_on_devices", &value)) {
        l->tells_devices = osc_str_eq(value, OSC_STR("told"));
        return OSC_OK;
    }
    for (uint32_t d = 0; d < a->n_devices; d++) {
        uint32_t *const only = &l->only_device[a->devices[d].process];

        if (!a->devices[d].is_unknown)
            *only = *only == 0 ? d + 1 : SEVERAL;
    }
    return OSC_OK;
}

/* The device that the record of OBJECT names, or the only one of its process; NULL: neither. */
static const struct osc_memory_device *device_of(const struct listing *l,
                                                 const struct osc_flow_object *object)
{
    const struct osc_allocations *const a = l->v.a;
    const uint32_t record = object->alloc != 0 ? object->alloc : object->release;
    const uint32_t only = l->only_device[object->process];

    if (record != 0)
        return osc_allocations_device(a, record - 1);
    return only == 0 || only == SEVERAL ? NULL : &a->devices[only - 1];
}

static void add_place(struct listing *l, uint32_t i, struct osc_result *out)
{
    const struct osc_flow_object *const object = &l->categories.flow.objects[i];
    const int32_t told = l->tells_devices ? l->extents[i].device : -1;
    const struct osc_memory_device *d = device_of(l, object);
    struct osc_memory_device from_calls = {.process = object->process};

    if (!d && told >= 0) {
        osc_memory_device_name(l->v.t, (uint32_t)told >> 8, told == 0 ? -1 : told & 0xff,
                               from_calls.name);
        d = &from_calls;
    }
    if (!d)
        return;
    osc_memory_view_add_process(&l->v, d, out, PROCESS);
    osc_result_str(out, DEVICE, osc_str_c(d->name));
}

static void add_size(const struct listing *l, uint32_t i, struct osc_result *out)
{
    const struct osc_flow_object *const object = &l->categories.flow.objects[i];
    const uint32_t record = object->alloc != 0 ? object->alloc : object->release;
    const int64_t bytes = record != 0 ? l->v.a->records[record - 1].bytes : l->extents[i].bytes;

    if (record != 0 || bytes >= 0)
        osc_result_int(out, BYTES, bytes < 0 ? -bytes : bytes);
}

/* Write when VERSION of object I was made, and by what. */
static void add_start(struct listing *l, uint32_t i, uint32_t version, struct osc_result *out)
{
    const struct osc_data_flow *const flow = &l->categories.flow;
    const struct osc_trace *const t = l->v.t;
    const uint32_t at = flow->first_version[i] + version;
    const uint32_t alloc = flow->objects[i].alloc;

    if (version == 0) {
        if (alloc == 0)
            return;
        osc_result_int(out, START, l->v.a->records[alloc - 1].time_ns - t->origin_ns);
        osc_result_str(out, OPERATOR, osc_memory_view_operator(&l->v, alloc - 1));
        return;
    }
    const osc_row row = {flow->row_of_version[at]};
    osc_result_int(out, START, flow->since_ns[at] - t->origin_ns);
    osc_result_str(out, OPERATOR,
                   osc_row_name(t, osc_chunk_of(&t->events, row), osc_row_place(row)));
}

static void add_end(const struct listing *l, uint32_t i, uint32_t version,
                    struct osc_result *out)
{
    const struct osc_data_flow *const flow = &l->categories.flow;
    const uint32_t next = flow->first_version[i] + version + 1;
    const uint32_t release = flow->objects[i].release;

    if (next < flow->first_version[i + 1])
        osc_result_int(out, END, flow->since_ns[next] - l->v.t->origin_ns);
    else if (release != 0)
        osc_result_int(out, END, l->v.a->records[release - 1].time_ns - l->v.t->origin_ns);
}

static void add_row(struct listing *l, uint32_t i, uint32_t version, struct osc_result *out)
{
    const struct osc_memory_categories *const c = &l->categories;
    const char *const word = osc_memory_category_word(
        (enum osc_memory_category)c->of_version[c->flow.first_version[i] + version]);

    osc_result_row(out);
    add_place(l, i, out);
    osc_result_int(out, OBJECT, (int64_t)i + 1);
    osc_result_int(out, VERSION, version);
    add_size(l, i, out);
    add_start(l, i, version, out);
    add_end(l, i, version, out);
    if (word) {
        osc_result_str(out, CATEGORY, osc_str_c(word));
        osc_result_show(out, CATEGORY);
    }
}

static osc_status add_rows(struct listing *l, struct osc_result *out)
{
    const struct osc_data_flow *const flow = &l->categories.flow;

    l->extents = osc_malloc(((size_t)flow->n_objects + 1) * sizeof *l->extents);
    if (!l->extents)
        return OSC_ENOMEM;
    osc_status st = osc_extents_find(l->v.t, &l->categories.touches, flow, l->extents);
    if (st == OSC_OK)
        st = find_only_devices(l);
    if (st != OSC_OK)
        return st;
    for (uint32_t i = 0; i < flow->n_objects && out->status == OSC_OK; i++) {
        const uint32_t n = flow->first_version[i + 1] - flow->first_version[i];

        for (uint32_t version = 0; version < n && out->status == OSC_OK; version++)
            add_row(l, i, version, out);
    }
    return out->status;
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct listing l = {0};
    struct osc_options all = *o;

    all.selection = NULL; /* T has the selected rows alone */
    osc_status st = osc_memory_view_init(&l.v, t, &all, err);

    if (st == OSC_EINVAL)
        return st;
    if (st == OSC_OK)
        st = osc_memory_categories_make(t, l.v.f, &l.categories);
    if (st == OSC_OK && l.categories.of_version)
        st = add_rows(&l, out);
    if (st == OSC_OK && !l.categories.of_version)
        osc_result_why_empty(out, "the trace does not tell which memory its calls used: record "
                                  "with opscope.torch.profile and record_shapes, "
                                  "profile_memory and with_stack");
    if (st == OSC_OK) {
        osc_memory_view_show_process(&l.v, out, PROCESS);
        st = out->status;
    }
    osc_free(l.extents);
    osc_free(l.only_device);
    osc_memory_categories_fini(&l.categories);
    osc_memory_view_fini(&l.v);
    return st == OSC_OK ? st : osc_fail(err, st, "memory_versions: %s", osc_status_text(st));
}

const struct osc_table_def osc_table_memory_versions = {
    .name = "memory_versions",
    .help = "Each piece of memory that the recording saw, also from before it, and when calls "
            "changed it.",
    .source = "records of memory, the memory that calls used, and what modules and optimizers "
              "held.",
    .rules = OSC_RULE_CATEGORIES,
    .columns = columns,
    .n_columns = N_COLUMNS,
    OSC_MAPS(.facts = OSC_FACT_ALLOCATIONS, .map = map),
};
