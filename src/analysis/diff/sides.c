/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/sides.h"
#include "analysis/table_registry.h"

#include <string.h>

#include "analysis/call_logs.h"
#include "analysis/diff/side_tree.h"
#include "analysis/operators.h"
#include "base/mem.h"
#include "derive/breakdown.h"
#include "derive/facts.h"

/* Set column SPAN of all rows of PART to the span of its place. */
static osc_status set_spans(struct osc_result *part, uint32_t column,
                            const struct osc_placing *to)
{
    for (uint64_t i = 0; i < part->n_rows; i++)
        osc_result_set_int(part, i, column, to->span);
    return part->status;
}

/* --- devices and hosts ------------------------------------------------------------ */

static const struct osc_column about_columns[] = {
    OSC_COLUMN(OSC_ABOUT_KEY, "key", STRING, NULL, KEY, 0, 0,
               "device, family (of a device) or host."),
    OSC_COLUMN(OSC_ABOUT_VALUE, "value", STRING, NULL, KEY, 0, 0, "Its name."),
    OSC_COLUMN(OSC_ABOUT_COUNT, "count", INTEGER, NULL, SUM, 0, 0, "Traces that have it."),
};

static void add_about(struct osc_result *out, const char *key, struct osc_str value)
{
    osc_result_row(out);
    osc_result_str(out, OSC_ABOUT_KEY, osc_str_c(key));
    osc_result_str(out, OSC_ABOUT_VALUE, value);
    osc_result_int(out, OSC_ABOUT_COUNT, 1);
}

/* Whether any event of T ran on DEVICE: metadata may list devices that were not used. */
static bool is_used(const struct osc_trace *t, const struct osc_device *device)
{
    for (uint32_t k = 0; k < t->n_tracks; k++) {
        if (t->tracks[k].device.v == device->name.v && device->name.v != 0)
            return true;
    }
    return false;
}

/* Whether metadata describe DEVICE, or it is none. */
static bool is_described(const struct osc_trace *t, osc_sid device)
{
    for (uint32_t i = 0; i < t->n_devices; i++) {
        if (t->devices[i].name.v == device.v)
            return true;
    }
    return device.v == 0;
}

static osc_status map_about(const struct osc_trace *t, const struct osc_options *o,
                            struct osc_result *out, struct osc_err *err)
{
    (void)o;
    (void)err;
    for (uint32_t i = 0; i < t->n_devices; i++) {
        const struct osc_device *const d = &t->devices[i];

        if (!is_used(t, d))
            continue;
        add_about(out, "family", osc_trace_str(t, d->family));
        if (d->model.v != 0)
            add_about(out, "device", osc_trace_str(t, d->model));
    }
    for (uint32_t k = 0; k < t->n_tracks; k++) {
        if (!is_described(t, t->tracks[k].device))
            add_about(out, "family", OSC_STR("")); /* nobody says which */
    }
    for (uint32_t i = 0; i < t->n_metas; i++) {
        if (t->metas[i].is_string &&
            osc_str_eq(osc_trace_str(t, t->metas[i].key), OSC_STR("host_name")))
            add_about(out, "host", osc_trace_str(t, t->metas[i].value));
    }
    return out->status;
}

static const struct osc_table_def about = {
    .name = "side_about",
    .help = "Devices and hosts of one side of a comparison.",
    .columns = about_columns,
    .n_columns = OSC_ABOUT_COUNT + 1,
    OSC_MAPS(.map = map_about),
};

/* What operators can be grouped by. */
enum { BY_SHAPE };

/* --- steps ------------------------------------------------------------------------- */

#define STEPS_COLUMNS (OSC_STEPS_COST + OSC_COST_COUNT)

#define COST_COLUMN(name, text)                                                         \
    OSC_COLUMN(OSC_STEPS_COST + OSC_CLASS_##name, text "_ns", INTEGER, "ns", SUM, 0, 0, \
               "Time of the class."),

static const struct osc_column steps_columns[STEPS_COLUMNS] = {
    OSC_COLUMN(OSC_STEPS_SPAN, "span", INTEGER, NULL, KEY, 0, 0, "Span."),
    OSC_COLUMN(OSC_STEPS_STEP, "step", INTEGER, NULL, KEY, 0, 0, "Ordinal."),
    OSC_COLUMN(OSC_STEPS_PARTS, "parts", INTEGER, NULL, SUM, 0, 0, "Processes that have it."),
    OSC_COLUMN(OSC_STEPS_RANGE, "annotation_ns", INTEGER, "ns", SUM, 0, 0,
               "Length of the annotation."),
    OSC_COLUMN(OSC_STEPS_TOTAL, "total_ns", INTEGER, "ns", SUM, 0, 0, "Length."),
    OSC_CLASS_LIST(COST_COLUMN) OSC_COLUMN(OSC_STEPS_COST + OSC_COST_OTHER, "other_ns", INTEGER,
                                           "ns", SUM, 0, 0, "Time of no class."),
};

static osc_status map_steps(const struct osc_trace *t, const struct osc_options *o,
                            struct osc_result *out, struct osc_err *err)
{
    struct osc_breakdown own = {0};
    const struct osc_breakdown *b;
    const osc_status st =
        osc_breakdown_get(t, &(struct osc_step_rules){0}, o->n_threads, &own, &b);

    if (st != OSC_OK)
        return osc_fail(err, st, "comparing: %s", osc_status_text(st));
    for (uint32_t i = 0; i < b->n_steps; i++) {
        const struct osc_step_cost *const s = &b->steps[i];

        if (!s->is_kept)
            continue;
        osc_result_row(out);
        if (!b->is_whole && t->steps[i].row.v != 0)
            osc_result_int(out, OSC_STEPS_STEP, t->steps[i].ordinal);
        osc_result_int(out, OSC_STEPS_PARTS, 1);
        if (!b->is_whole)
            osc_result_int(out, OSC_STEPS_RANGE, t->steps[i].end_ns - t->steps[i].start_ns);
        osc_result_int(out, OSC_STEPS_TOTAL, s->end_ns - s->start_ns);
        for (uint32_t k = 0; k < OSC_COST_COUNT; k++)
            osc_result_int(out, OSC_STEPS_COST + k, s->cost_ns[k]);
    }
    osc_breakdown_fini(&own);
    return out->status;
}

static osc_status place_steps(struct osc_result *part, const struct osc_placing *from,
                              const struct osc_placing *to)
{
    (void)from;
    if (to->is_beside_steps)
        osc_result_empty(part);
    return set_spans(part, OSC_STEPS_SPAN, to);
}

static const struct osc_table_def steps = {
    .name = "side_steps",
    .help = "Steps of one side of a comparison.",
    .columns = steps_columns,
    .n_columns = STEPS_COLUMNS,
    OSC_MAPS(.facts = OSC_FACT_STEPS | OSC_FACT_UNIONS, .map = map_steps, .place = place_steps),
};

/* --- operators and kernels --------------------------------------------------------- */

#define LOG_COLUMNS(time, text)                                                      \
    OSC_COLUMN(OSC_WORK_LOG(time), text "_logs", INTEGER, NULL, SUM, 0, 0,           \
               "Sum of the logarithms of the times of calls."),                      \
        OSC_COLUMN(OSC_WORK_SQUARE(time), text "_squares", INTEGER, NULL, SUM, 0, 0, \
                   "Sum of the squares of these.")

static const struct osc_column work_columns[] = {
    OSC_COLUMN(OSC_WORK_NAME, "name", STRING, NULL, KEY, 0, 0, "Name."),
    OSC_COLUMN(OSC_WORK_SHAPE, "input_shape", STRING, NULL, KEY, 0, 0,
               "Shapes of the arguments, with --group-by shape."),
    OSC_COLUMN(OSC_WORK_SPAN, "span", INTEGER, NULL, KEY, 0, 0, "Span."),
    OSC_COLUMN(OSC_WORK_STEP, "step", INTEGER, NULL, KEY, 0, 0, "Ordinal of its step."),
    OSC_COLUMN(OSC_WORK_CALLS, "calls", INTEGER, NULL, SUM, 0, 0, "Calls."),
    OSC_COLUMN(OSC_WORK_TIME + OSC_TIME_DEVICE_SELF, "device_self_ns", INTEGER, "ns", SUM, 0, 0,
               "As in table operators; of kernels their time."),
    OSC_COLUMN(OSC_WORK_TIME + OSC_TIME_HOST_SELF, "host_self_ns", INTEGER, "ns", SUM, 0, 0,
               "As in table operators."),
    OSC_COLUMN(OSC_WORK_TIME + OSC_TIME_DEVICE_TOTAL, "device_total_ns", INTEGER, "ns", SUM, 0,
               0, "As in table operators."),
    OSC_COLUMN(OSC_WORK_TIME + OSC_TIME_HOST_TOTAL, "host_total_ns", INTEGER, "ns", SUM, 0, 0,
               "As in table operators."),
    LOG_COLUMNS(OSC_TIME_DEVICE_SELF, "device_self"),
    LOG_COLUMNS(OSC_TIME_HOST_SELF, "host_self"),
};

#define WORK_COLUMNS OSC_WORK_LOG(OSC_LOG_TIMES)

/* Set the step of the last row of OUT to that of index STEP - 1 in T; 0: none. */
static void set_step(const struct osc_trace *t, uint32_t step, struct osc_result *out)
{
    if (step != 0 && t->steps[step - 1].row.v != 0)
        osc_result_int(out, OSC_WORK_STEP, t->steps[step - 1].ordinal);
}

static void set_logs(struct osc_result *out, uint32_t time, const struct osc_call_logs *logs)
{
    osc_result_int(out, OSC_WORK_LOG(time), logs->sum);
    osc_result_int(out, OSC_WORK_SQUARE(time), logs->squares);
}

static osc_status map_operators(const struct osc_trace *t, const struct osc_options *o,
                                struct osc_result *out, struct osc_err *err)
{
    const bool by_shape = osc_is_grouped(o, BY_SHAPE);
    const struct osc_operators_how how = {.by_shape = by_shape, .by_step = true};
    struct osc_operators ops = {0};
    const osc_status st = osc_operators_make(t, &how, &ops);

    if (st != OSC_OK)
        return osc_fail(err, st, "comparing: %s", osc_status_text(st));
    for (size_t g = 0; g < ops.n_groups; g++) {
        const struct osc_operator_group *const group = &ops.groups[g];
        const int64_t times_ns[OSC_WORK_TIMES] = {
            [OSC_TIME_DEVICE_SELF] = group->device_self_ns,
            [OSC_TIME_HOST_SELF] = group->host_self_ns,
            [OSC_TIME_DEVICE_TOTAL] = group->device_total_ns,
            [OSC_TIME_HOST_TOTAL] = group->host_total_ns,
        };

        osc_result_row(out);
        osc_result_str(out, OSC_WORK_NAME, osc_trace_str(t, group->name));
        if (by_shape)
            osc_result_str(out, OSC_WORK_SHAPE,
                           group->shape.v == 0
                               ? OSC_STR("[]")
                               : osc_intern_str(&ops.lists.texts, group->shape));
        set_step(t, group->step, out);
        osc_result_int(out, OSC_WORK_CALLS, (int64_t)group->n_calls);
        for (uint32_t k = 0; k < OSC_WORK_TIMES; k++)
            osc_result_int(out, OSC_WORK_TIME + k, times_ns[k]);
        set_logs(out, OSC_TIME_DEVICE_SELF, &group->device_self_logs);
        set_logs(out, OSC_TIME_HOST_SELF, &group->host_self_logs);
    }
    osc_operators_fini(&ops);
    return out->status;
}

static osc_status place_work(struct osc_result *part, const struct osc_placing *from,
                             const struct osc_placing *to)
{
    (void)from;
    return set_spans(part, OSC_WORK_SPAN, to);
}

static const char *const groupings[] = {[BY_SHAPE] = "shape", NULL};

static const struct osc_table_def operators = {
    .name = "side_operators",
    .help = "Operators of one side of a comparison.",
    .columns = work_columns,
    .n_columns = WORK_COLUMNS,
    .groupings = groupings,
    OSC_MAPS(.facts = OSC_FACT_LINKS | OSC_FACT_STEPS, .map = map_operators,
             .place = place_work),
};

/* Kernels of one name in one step. */
struct kernels {
    uint32_t name, step;
    int64_t n_calls, total_ns;
    struct osc_call_logs logs;
};

static osc_status map_kernels(const struct osc_trace *t, const struct osc_options *o,
                              struct osc_result *out, struct osc_err *err)
{
    const struct osc_links *const links = &osc_trace_facts(t)->links;
    struct kernels *all = NULL;
    size_t n = 0, cap = 0;
    struct osc_idmap places = {0};
    osc_status st = OSC_OK;

    (void)o;
    for (size_t w = 0; w < links->n_works && st == OSC_OK; w++) {
        const osc_row row = {links->works[w].row};
        const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
        const uint32_t i = osc_row_place(row);

        if (c->kind[i] != OSC_KIND_KERNEL)
            continue;
        uint32_t *const place = osc_idmap_put(&places, (uint64_t)c->name[i] << 32 | c->step[i]);
        if (!place || (*place == 0 && osc_grow(&all, &cap, n + 1, sizeof *all) != OSC_OK) ||
            !all) {
            st = OSC_ENOMEM;
            break;
        }
        if (*place == 0) {
            all[n] = (struct kernels){.name = c->name[i], .step = c->step[i]};
            *place = (uint32_t)++n;
        }
        all[*place - 1].n_calls++;
        all[*place - 1].total_ns += c->dur_ns[i];
        osc_call_logs_add(&all[*place - 1].logs, c->dur_ns[i]);
    }
    for (size_t k = 0; k < n && st == OSC_OK; k++) {
        osc_result_row(out);
        osc_result_str(out, OSC_WORK_NAME, osc_trace_str(t, (osc_sid){all[k].name}));
        set_step(t, all[k].step, out);
        osc_result_int(out, OSC_WORK_CALLS, all[k].n_calls);
        osc_result_int(out, OSC_WORK_TIME, all[k].total_ns);
        set_logs(out, OSC_TIME_DEVICE_SELF, &all[k].logs);
    }
    osc_free(all);
    osc_idmap_fini(&places);
    st = st == OSC_OK ? out->status : st;
    return st == OSC_OK ? st : osc_fail(err, st, "comparing: %s", osc_status_text(st));
}

static const struct osc_table_def kernels = {
    .name = "side_kernels",
    .help = "Kernels of one side of a comparison.",
    .columns = work_columns,
    .n_columns = WORK_COLUMNS,
    OSC_MAPS(.facts = OSC_FACT_LINKS | OSC_FACT_STEPS, .map = map_kernels, .place = place_work),
};

/* --- who calls whom ---------------------------------------------------------------- */

static const struct osc_column calls_columns[] = {
    OSC_COLUMN(OSC_CALLS_CALLER, "caller", STRING, NULL, KEY, 0, 0,
               "Innermost operator around the call; missing if there is none."),
    OSC_COLUMN(OSC_CALLS_NAME, "name", STRING, NULL, KEY, 0, 0, "Operator or kernel."),
    OSC_COLUMN(OSC_CALLS_CALLS, "calls", INTEGER, NULL, SUM, 0, 0, "Calls."),
    OSC_COLUMN(OSC_CALLS_HOST, "host_ns", INTEGER, "ns", SUM, 0, 0,
               "Host time of the calls; of kernels their time."),
    OSC_COLUMN(OSC_CALLS_IS_KERNEL, "is_kernel", BOOLEAN, NULL, KEY, 0, 0,
               "Whether it is a kernel."),
};

struct pair {
    uint32_t caller, name; /* osc_sid; 0: none */
    int64_t n_calls, host_ns;
    bool is_kernel;
};

struct pairs {
    const struct osc_trace *t;
    struct pair *all; /* owned */
    size_t n, cap;
    struct osc_idmap places[2]; /* of operators and of kernels */
};

/* The name of NODE, or 0 if NODE is 0. */
static uint32_t name_of(const struct osc_trace *t, uint32_t node)
{
    if (node == 0)
        return 0;
    const osc_row row = {osc_trace_facts(t)->order.rows[node - 1]};

    return osc_chunk_of(&t->events, row)->name[osc_row_place(row)];
}

static osc_status count_pair(struct pairs *p, uint32_t caller, uint32_t name, bool is_kernel,
                             int64_t ns)
{
    uint32_t *const place = osc_idmap_put(&p->places[is_kernel], (uint64_t)caller << 32 | name);

    if (!place ||
        (*place == 0 && osc_grow(&p->all, &p->cap, p->n + 1, sizeof *p->all) != OSC_OK))
        return OSC_ENOMEM;
    if (*place == 0) {
        p->all[p->n] = (struct pair){.caller = caller, .name = name, .is_kernel = is_kernel};
        *place = (uint32_t)++p->n;
    }
    p->all[*place - 1].n_calls++;
    p->all[*place - 1].host_ns += ns;
    return OSC_OK;
}

/*
 * Count each operator below the innermost one that contains it. Parents stand before their
 * children, so what is around a node is known when it is reached.
 */
static osc_status count_operators(struct pairs *p, uint32_t *around)
{
    const struct osc_facts *const f = osc_trace_facts(p->t);

    for (uint32_t node = 1; node <= f->order.n_rows; node++) {
        const uint8_t flags = f->tree.flags[node - 1];
        const osc_row row = {f->order.rows[node - 1]};
        const uint32_t parent = f->tree.parent[node - 1];
        const uint32_t caller = parent == 0 ? 0 : around[parent];

        around[node] = caller;
        if (!(flags & OSC_NODE_ROW) || flags & OSC_NODE_MERGED)
            continue;
        around[node] = node;
        const osc_status st =
            count_pair(p, name_of(p->t, caller), name_of(p->t, node), false,
                       osc_chunk_of(&p->t->events, row)->dur_ns[osc_row_place(row)]);
        if (st != OSC_OK)
            return st;
    }
    return OSC_OK;
}

static osc_status count_kernels(struct pairs *p, const uint32_t *around)
{
    const struct osc_facts *const f = osc_trace_facts(p->t);

    for (size_t w = 0; w < f->links.n_works; w++) {
        const osc_row row = {f->links.works[w].row};
        const struct osc_chunk *const c = osc_chunk_of(&p->t->events, row);
        const uint32_t i = osc_row_place(row), call = f->links.works[w].call;

        if (c->kind[i] != OSC_KIND_KERNEL || call == 0)
            continue;
        const uint32_t node = osc_optree_owner(&f->tree, f->links.calls[call - 1].node);
        const osc_status st = count_pair(p, node == 0 ? 0 : name_of(p->t, around[node]),
                                         c->name[i], true, c->dur_ns[i]);
        if (st != OSC_OK)
            return st;
    }
    return OSC_OK;
}

static osc_status map_calls(const struct osc_trace *t, const struct osc_options *o,
                            struct osc_result *out, struct osc_err *err)
{
    struct pairs p = {.t = t};
    const size_t bytes = ((size_t)osc_trace_facts(t)->order.n_rows + 1) * sizeof(uint32_t);
    uint32_t *const around = osc_pages_alloc(bytes);
    osc_status st = around ? count_operators(&p, around) : OSC_ENOMEM;

    (void)o;
    if (st == OSC_OK)
        st = count_kernels(&p, around);
    for (size_t i = 0; i < p.n && st == OSC_OK; i++) {
        osc_result_row(out);
        if (p.all[i].caller != 0)
            osc_result_str(out, OSC_CALLS_CALLER, osc_trace_str(t, (osc_sid){p.all[i].caller}));
        osc_result_str(out, OSC_CALLS_NAME, osc_trace_str(t, (osc_sid){p.all[i].name}));
        osc_result_int(out, OSC_CALLS_CALLS, p.all[i].n_calls);
        osc_result_int(out, OSC_CALLS_HOST, p.all[i].host_ns);
        osc_result_bool(out, OSC_CALLS_IS_KERNEL, p.all[i].is_kernel);
    }
    osc_pages_free(around, bytes);
    osc_free(p.all);
    osc_idmap_fini(&p.places[0]);
    osc_idmap_fini(&p.places[1]);
    st = st == OSC_OK ? out->status : st;
    return st == OSC_OK ? st : osc_fail(err, st, "comparing: %s", osc_status_text(st));
}

static const struct osc_table_def calls = {
    .name = "side_calls",
    .help = "Who calls whom on one side of a comparison.",
    .columns = calls_columns,
    .n_columns = OSC_CALLS_IS_KERNEL + 1,
    OSC_MAPS(.facts = OSC_FACT_LINKS, .map = map_calls),
};

const struct osc_table_def *const osc_side_defs[OSC_SIDES] = {
    [OSC_SIDE_ABOUT] = &about,
    [OSC_SIDE_STEPS] = &steps,
    [OSC_SIDE_OPERATORS] = &operators,
    [OSC_SIDE_KERNELS] = &kernels,
    [OSC_SIDE_CALLS] = &calls,
    [OSC_SIDE_TREE] = &osc_side_tree,
    [OSC_SIDE_RANGES] = &osc_table_ranges,
};
