/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/memory_view.h"

#include <string.h>

#include "analysis/remedies.h"
#include "analysis/shared_options.h"
#include "base/mem.h"
#include "base/strbuf.h"

/* The device of A called DEVICE, or else the one for which that is PyTorch's word. */
static const char *device_called(const struct osc_allocations *a, const char *device)
{
    const char *found = device;

    for (uint32_t d = 0; device && d < a->n_devices; d++) {
        const char *const name = a->devices[d].name;

        if (strcmp(name, device) == 0)
            return device;
        if (!a->devices[d].is_unknown &&
            osc_device_has_word(osc_str_c(name), osc_str_c(device)))
            found = name;
    }
    return found;
}

osc_status osc_memory_view_init(struct osc_memory_view *v, const struct osc_trace *t,
                                const struct osc_options *o, struct osc_err *err)
{
    const struct osc_option_value *const at = osc_option_get(o, &osc_option_at);
    const struct osc_selection *const s = o->selection;

    *v = (struct osc_memory_view){.t = t, .from_ns = INT64_MIN, .to_ns = INT64_MAX};
    v->f = osc_trace_facts(t);
    v->a = &v->f->allocations;
    v->has_at = at != NULL;
    if (at)
        v->at_ns = osc_wide_nearest((osc_wide)t->origin_ns + at->number);
    if (!s)
        return OSC_OK;
    v->device = device_called(v->a, s->device);
    v->rest = *s;
    v->rest.device = NULL;
    v->has_rest = s->process || s->thread || s->steps;
    if (s->has_from)
        v->from_ns = osc_wide_nearest((osc_wide)t->origin_ns + s->from_ns);
    if (s->has_to)
        v->to_ns = osc_wide_nearest((osc_wide)t->origin_ns + s->to_ns);
    return osc_filter_make(&v->filter, t, &v->rest, err);
}

void osc_memory_view_fini(struct osc_memory_view *v)
{
    osc_filter_fini(&v->filter);
    osc_free(v->modules);
    osc_strbuf_fini(&v->label);
}

struct osc_memory_range osc_memory_view_range(const struct osc_memory_view *v,
                                              const struct osc_memory_device *d)
{
    struct osc_memory_range r = {d->first, d->first + d->n};

    if (v->device && strcmp(v->device, d->name) != 0)
        return (struct osc_memory_range){0};
    if (v->from_ns != INT64_MIN)
        r.begin = osc_allocations_at(v->a, d, v->from_ns);
    if (v->to_ns != INT64_MAX)
        r.end = osc_allocations_at(v->a, d, v->to_ns);
    r.end = r.end < r.begin ? r.begin : r.end;
    return r;
}

bool osc_memory_view_wants(const struct osc_memory_view *v, uint32_t k)
{
    const osc_row row = {v->a->records[k].row};

    return !v->has_rest ||
           osc_filter_wants(&v->filter, osc_chunk_of(&v->t->events, row), osc_row_place(row));
}

bool osc_memory_view_has(const struct osc_memory_view *v, uint32_t k)
{
    const int64_t at_ns = v->a->records[k].time_ns;

    return at_ns >= v->from_ns && at_ns < v->to_ns && osc_memory_view_wants(v, k);
}

bool osc_memory_view_arg(const struct osc_memory_view *v, uint32_t k, enum osc_arg_key key,
                         int64_t *value)
{
    const osc_row row = {v->a->records[k].row};

    return osc_args_int(v->t, osc_chunk_of(&v->t->events, row), osc_row_place(row), key, value);
}

bool osc_memory_view_peak(const struct osc_memory_view *v, const struct osc_memory_device *d,
                          uint32_t *at)
{
    const struct osc_memory_range range = osc_memory_view_range(v, d);
    int64_t most = 0, total;
    bool is_any = false;

    for (uint32_t k = range.begin; k < range.end; k++) {
        if (!osc_memory_view_arg(v, k, OSC_ARG_KEY_TOTAL_ALLOCATED, &total) ||
            (is_any && total <= most) || !osc_memory_view_wants(v, k))
            continue;
        most = total;
        *at = k;
        is_any = true;
    }
    return is_any;
}

bool osc_memory_view_last(const struct osc_memory_view *v, const struct osc_memory_device *d,
                          bool has_total, uint32_t *at)
{
    const struct osc_memory_range range = osc_memory_view_range(v, d);
    const uint32_t after = osc_allocations_after(v->a, d, v->at_ns);
    int64_t total;

    for (uint32_t k = range.end < after ? range.end : after; k > range.begin; k--) {
        if ((has_total &&
             !osc_memory_view_arg(v, k - 1, OSC_ARG_KEY_TOTAL_ALLOCATED, &total)) ||
            !osc_memory_view_wants(v, k - 1))
            continue;
        *at = k - 1;
        return true;
    }
    return false;
}

/* Whether any record is selected. */
static bool has_any(const struct osc_memory_view *v)
{
    for (uint32_t d = 0; d < v->a->n_devices; d++) {
        const struct osc_memory_range r = osc_memory_view_range(v, &v->a->devices[d]);

        for (uint32_t k = r.begin; k < r.end; k++) {
            if (osc_memory_view_wants(v, k))
                return true;
        }
    }
    return false;
}

void osc_memory_view_note_totals(const struct osc_memory_view *v, struct osc_result *out,
                                 const char *what)
{
    if (out->n_rows == 0 && has_any(v))
        osc_result_note(out,
                        "the records have no totals, which PyTorch before 1.10 did not "
                        "write: there is no %s",
                        what);
}

/* The row of node NODE. */
static osc_row row_of(const struct osc_memory_view *v, uint32_t node)
{
    return (osc_row){v->f->order.rows[node - 1]};
}

static struct osc_str name_of(const struct osc_memory_view *v, uint32_t node)
{
    const osc_row row = row_of(v, node);

    return osc_row_name(v->t, osc_chunk_of(&v->t->events, row), osc_row_place(row));
}

struct osc_str osc_memory_view_operator(struct osc_memory_view *v, uint32_t k)
{
    static const char empty[] = "aten::empty";
    const struct osc_optree *const tree = &v->f->tree;
    const uint32_t node = v->a->records[k].node;

    if (v->a->records[k].bytes <= 0 || node == 0 || !(tree->flags[node - 1] & OSC_NODE_ROW))
        return OSC_STR("(none)");
    const struct osc_str name = name_of(v, node);
    const uint32_t parent = tree->parent[node - 1];
    if (parent == 0 || name.len < sizeof empty - 1 ||
        memcmp(name.s, empty, sizeof empty - 1) != 0)
        return name;
    osc_strbuf_clear(&v->label);
    osc_strbuf_addstr(&v->label, name_of(v, parent));
    osc_strbuf_adds(&v->label, " (");
    osc_strbuf_addstr(&v->label, name);
    osc_strbuf_addc(&v->label, ')');
    return v->label.status == OSC_OK ? (struct osc_str){v->label.s, (uint32_t)v->label.len}
                                     : name;
}

/*
 * The innermost module at or above NODE, or 0. The answer is cached for every node on the way,
 * so that many records below many nodes cost one walk.
 */
static uint32_t module_of(struct osc_memory_view *v, uint32_t node)
{
    uint32_t at = node, known = 0;

    if (!v->modules) /* out of memory: without the cache it is slower, not wrong */
        v->modules = osc_calloc((size_t)v->f->order.n_rows + 1, sizeof *v->modules);
    while (at != 0 && known == 0) {
        const osc_row row = row_of(v, at);

        known = v->modules ? v->modules[at - 1] : 0;
        if (osc_chunk_of(&v->t->events, row)->kind[osc_row_place(row)] == OSC_KIND_MODULE)
            known = at + 1;
        at = v->f->tree.parent[at - 1];
    }
    known = known == 0 ? 1 : known;
    for (at = node; v->modules && at != 0 && v->modules[at - 1] == 0;
         at = v->f->tree.parent[at - 1]) {
        v->modules[at - 1] = known;
        if (at + 1 == known)
            break;
    }
    return known - 1;
}

osc_sid osc_memory_view_module(struct osc_memory_view *v, uint32_t k)
{
    const uint32_t node = v->a->records[k].node;
    const uint32_t module = node == 0 ? 0 : module_of(v, node);

    if (module == 0)
        return (osc_sid){0};
    const osc_row row = row_of(v, module);
    return osc_row_module(v->t, osc_chunk_of(&v->t->events, row), osc_row_place(row));
}

struct osc_str osc_memory_view_process_name(const struct osc_memory_view *v,
                                            const struct osc_memory_device *d)
{
    return osc_trace_str(v->t, v->t->processes[d->process].name);
}

void osc_memory_view_add_process(const struct osc_memory_view *v,
                                 const struct osc_memory_device *d, struct osc_result *out,
                                 uint32_t column)
{
    const struct osc_str name = osc_memory_view_process_name(v, d);

    osc_result_str(out, column, osc_trace_str(v->t, v->t->processes[d->process].pid));
    if (name.len > 0)
        osc_result_str(out, column + 1, name);
}

/* Write "cpu, xpu:0": the devices with records, each once. */
static void note_devices(const struct osc_memory_view *v, struct osc_result *out)
{
    struct osc_strbuf names = {0};

    for (uint32_t d = 0; d < v->a->n_devices && d < 16; d++)
        osc_strbuf_addf(&names, "%s%s", d > 0 ? ", " : "", v->a->devices[d].name);
    if (names.status == OSC_OK)
        osc_result_note(out, "no memory records of %s; there are some of %s", v->device,
                        names.s ? names.s : "no device");
    else
        out->status = names.status;
    osc_strbuf_fini(&names);
}

void osc_memory_view_show_process(const struct osc_memory_view *v, struct osc_result *out,
                                  uint32_t column)
{
    for (uint32_t d = 1; d < v->a->n_devices; d++) {
        if (v->a->devices[d].process == v->a->devices[0].process)
            continue;
        osc_result_show(out, column);
        osc_result_show(out, column + 1);
    }
}

/* Say why there are no records of memory, and how the next trace gets them. */
static void note_absence(const struct osc_memory_view *v, struct osc_result *out)
{
    const char *remedy = osc_remedy(v->t, OSC_FINDING_no_memory);
    struct osc_strbuf why = {0};

    if (!v->t->is_torch)
        remedy = v->t->producer == OSC_PRODUCER_OPSCOPE
                     ? "the program told of no memory"
                     : "only traces of PyTorch and recordings have them";
    osc_strbuf_adds(&why, "no memory records in the trace");
    if (remedy[0] != '\0')
        osc_strbuf_addf(&why, ": %s", remedy);
    if (why.status == OSC_OK)
        osc_result_why_empty(out, why.s);
    else
        out->status = why.status;
    osc_strbuf_fini(&why);
}

void osc_memory_view_note(const struct osc_memory_view *v, struct osc_result *out)
{
    bool is_any = !v->device;

    for (uint32_t d = 0; d < v->a->n_devices && !is_any; d++)
        is_any = strcmp(v->device, v->a->devices[d].name) == 0;
    if (v->a->n_records == 0)
        note_absence(v, out);
    else if (!is_any)
        note_devices(v, out);
    else if (out->n_rows == 0 && (v->rest.has_from || v->rest.has_to || v->has_rest))
        osc_result_why_empty(out, "no memory records in the selection");
    if (v->a->n_unusable > 0)
        osc_result_note(out, "%u memory records without a size are left out", v->a->n_unusable);
}
