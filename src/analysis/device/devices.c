/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `devices`: what each device is and how much of it the steps used. All shares refer to one
 * window, from the start of the first kept step to the end of the last, including gaps between
 * steps.
 */
#include "analysis/table_registry.h"

#include <stdio.h>
#include <string.h>

#include "analysis/shared_options.h"
#include "analysis/step_rules.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "derive/args.h"
#include "derive/facts.h"
#include "derive/select.h"

#define NO_WORK "no device work in the trace"

enum {
    DEVICE,
    NAME,
    MEMORY,
    CAPABILITY,
    SM_COUNT,
    UTILIZATION,
    SM_EFFICIENCY,
    OCCUPANCY,
    TENSOR_CORES,
    WINDOW,
    BUSY,
    FILL,
    OCCUPIED,
    OCCUPIED_OF,
    TENSOR,
    TENSOR_OF,
    TENSOR_MAYBE,
    TENSOR_UNKNOWN,
    MARK,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(DEVICE, "device", STRING, NULL, KEY, 0, OSC_RULE_DEVICES,
               "Device, such as cuda:0 or xpu:0. Rows are the devices that did any work in the "
               "trace."),
    OSC_COLUMN(NAME, "name", STRING, NULL, FIRST, 0, OSC_RULE_DEVICES,
               "Name of the device, as the trace says."),
    OSC_COLUMN(MEMORY, "memory_bytes", INTEGER, "bytes", FIRST, OSC_COLUMN_MINOR,
               OSC_RULE_DEVICES, "Memory of the device, as the trace says."),
    OSC_COLUMN(CAPABILITY, "compute_capability", STRING, NULL, FIRST, OSC_COLUMN_MINOR,
               OSC_RULE_DEVICES, "Generation of its instruction set, as the trace says."),
    OSC_COLUMN(SM_COUNT, "sm_count", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR, OSC_RULE_DEVICES,
               "Number of its multiprocessors (compute units), as the trace says."),
    OSC_COLUMN(UTILIZATION, "utilization_ratio", NUMBER, "ratio", FINISH, 0,
               OSC_RULE_LOADS | OSC_RULE_STEP_LENGTH,
               "Time in which at least one kernel ran / time from the start of the first kept "
               "step to the end of the last. Copies do not count; one thread of one block "
               "counts as much as a full device."),
    OSC_COLUMN(
        SM_EFFICIENCY, "sm_efficiency_ratio", NUMBER, "ratio", FINISH, 0,
        OSC_RULE_LOADS | OSC_RULE_STEP_LENGTH,
        "Estimated share of the multiprocessors that had work: integral of min(sum of `blocks "
        "per SM` of the running kernels, 1) / time from the start of the first kept step to "
        "the end of the last. Missing if no kernel in that time has the argument."),
    OSC_COLUMN(OCCUPANCY, "occupancy_ratio", NUMBER, "ratio", FINISH, 0,
               OSC_RULE_LOADS | OSC_RULE_STEP_LENGTH,
               "Mean of argument `est. achieved occupancy %` / 100 over the kernels from the "
               "start of the first kept step to the end of the last, weighted by their time in "
               "it. Kernels without the argument do not count."),
    OSC_COLUMN(
        TENSOR_CORES, "tensor_core_ratio", NUMBER, "ratio", FINISH, 0,
        OSC_RULE_TENSOR_CORES | OSC_RULE_LINKS,
        "Time of kernels that use Tensor Cores (tensor_cores in table kernels) / time of all "
        "kernels that operators launched, in steps or not. Missing where no rule covers the "
        "names of more than 1 % of that time, and where it would be 0 although a kernel of the "
        "device uses them, or no rule covers its name. With --compat tb names that no rule "
        "covers count as no, and it is 0 for a device without kernels of operators."),
    OSC_COLUMN(WINDOW, "window_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "From the first kept step to the last."),
    OSC_COLUMN(BUSY, "busy_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Time of it with a kernel."),
    OSC_COLUMN(FILL, "weighted_fill", NUMBER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Efficiency, summed over it."),
    OSC_COLUMN(OCCUPIED, "occupied", NUMBER, NULL, SUM, OSC_COLUMN_HIDDEN, 0,
               "Sum of occupancy in percent times nanoseconds in it."),
    OSC_COLUMN(OCCUPIED_OF, "occupied_of_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Time in it of the kernels that say it."),
    OSC_COLUMN(TENSOR, "tensor_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Time of kernels of operators that use Tensor Cores."),
    OSC_COLUMN(TENSOR_OF, "tensor_of_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Time of kernels of operators."),
    OSC_COLUMN(TENSOR_MAYBE, "tensor_maybe_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Time of all kernels that use Tensor Cores, or whose names no rule covers."),
    OSC_COLUMN(TENSOR_UNKNOWN, "tensor_unknown_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Time of kernels of operators whose names no rule covers."),
    OSC_COLUMN(
        MARK, "mark", STRING, NULL, KEY, OSC_COLUMN_HIDDEN, 0,
        "Of a row that is made for together(): + and the host of a device that worked, - of "
        "one that is listed alone."),
};

/* Sums over the kernels of one device. */
struct sums {
    double occupied;
    int64_t occupied_of_ns, tensor_ns, tensor_of_ns, tensor_maybe_ns, tensor_unknown_ns;
};

struct work {
    const struct osc_trace *t;
    const struct osc_facts *f;
    const struct osc_breakdown *b;
    const struct osc_loads *loads;
    struct sums *sums;  /* owned; by device */
    bool has_operators; /* some kernel belongs to an operator */
};

/* If row I of C is a kernel, add the share of threads it occupied, within the window. */
static void add_occupancy(const struct work *w, const struct osc_chunk *c, uint32_t i,
                          struct sums *s)
{
    const int64_t from_ns = w->b->window_start_ns, to_ns = w->b->window_end_ns;
    const int64_t end_ns = osc_row_end(c, i);
    const int64_t start_ns = c->ts_ns[i] > from_ns ? c->ts_ns[i] : from_ns;
    const int64_t inside_ns = (end_ns < to_ns ? end_ns : to_ns) - start_ns;
    double percent;

    if (inside_ns <= 0 || !osc_args_quantity(w->t, c, i, OSC_ARG_KEY_OCCUPANCY, &percent))
        return;
    s->occupied += percent * (double)inside_ns;
    s->occupied_of_ns += inside_ns;
}

static osc_status add_kernels(struct work *w, bool compat_tb)
{
    const struct osc_links *const links = &w->f->links;

    w->sums = osc_calloc((size_t)w->loads->n_devices + 1, sizeof *w->sums);
    if (!w->sums)
        return OSC_ENOMEM;
    for (size_t n = 0; n < links->n_works; n++) {
        const struct osc_work *const work = &links->works[n];
        const struct osc_chunk *const c = osc_chunk_of(&w->t->events, (osc_row){work->row});
        const uint32_t i = work->row & OSC_CHUNK_MASK;
        struct sums *const s = &w->sums[w->loads->of_track[c->track[i]] - 1];

        if (c->kind[i] != OSC_KIND_KERNEL)
            continue;
        add_occupancy(w, c, i, s);
        const bool has_operator = work->call != 0 && links->calls[work->call - 1].node != 0;
        const enum osc_tensor_cores uses =
            osc_name_tensor_cores(w->f->classes.names[c->name[i]], compat_tb);
        if (uses != OSC_TENSOR_CORES_NO && !compat_tb)
            s->tensor_maybe_ns += c->dur_ns[i];
        if (!has_operator)
            continue;
        w->has_operators = true;
        s->tensor_of_ns += c->dur_ns[i];
        s->tensor_ns += uses == OSC_TENSOR_CORES_YES ? c->dur_ns[i] : 0;
        if (uses == OSC_TENSOR_CORES_UNKNOWN && !compat_tb)
            s->tensor_unknown_ns += c->dur_ns[i];
    }
    return OSC_OK;
}

/* Whether all devices that T lists are the same model. */
static bool are_alike(const struct osc_trace *t)
{
    for (uint32_t i = 1; i < t->n_devices; i++) {
        if (t->devices[i].model.v != t->devices[0].model.v ||
            memcmp(&t->devices[i].limits, &t->devices[0].limits, sizeof t->devices[0].limits) !=
                0)
            return false;
    }
    return true;
}

/* The device of load D as the file describes it, or NULL. */
static const struct osc_device *device_of(const struct work *w, uint32_t d)
{
    const struct osc_device_load *const load = &w->loads->devices[d];

    /* Where the number may be another one's, only what all have in common is known. */
    if (w->t->findings.by_code[OSC_FINDING_device_unmatched].count > 0 && !are_alike(w->t))
        return NULL;
    return osc_trace_device(w->t, osc_trace_str(w->t, load->name), load->number);
}

static void add_device(const struct osc_trace *t, const struct osc_device *d,
                       struct osc_result *out)
{
    const struct osc_device_limits *const l = &d->limits;
    char text[48];

    if (d->model.v != 0)
        osc_result_str(out, NAME, osc_trace_str(t, d->model));
    if (l->memory_bytes >= 0)
        osc_result_int(out, MEMORY, l->memory_bytes);
    if (l->major >= 0 && l->minor >= 0) {
        const int len =
            snprintf(text, sizeof text, "%lld.%lld", (long long)l->major, (long long)l->minor);

        osc_result_str(out, CAPABILITY, (struct osc_str){text, (uint32_t)len});
    }
    if (l->n_units >= 0)
        osc_result_int(out, SM_COUNT, l->n_units);
}

static void add_row(const struct work *w, uint32_t d, bool compat_tb, struct osc_result *out)
{
    const struct osc_device_load *const device = &w->loads->devices[d];
    const struct osc_device *const known = device_of(w, d);
    const struct sums *const s = &w->sums[d];
    const int64_t window_ns = w->b->window_end_ns - w->b->window_start_ns;

    osc_result_row(out);
    osc_result_str(out, DEVICE, osc_trace_str(w->t, device->name));
    if (known)
        add_device(w->t, known, out);
    if (window_ns > 0) {
        const struct osc_load load =
            osc_loads_between(w->loads, d, w->b->window_start_ns, w->b->window_end_ns);

        osc_result_int(out, WINDOW, window_ns);
        osc_result_int(out, BUSY, load.busy_ns);
        if (load.fill_ns > 0)
            osc_result_num(out, FILL, load.fill_ns);
        osc_result_num(out, OCCUPIED, s->occupied);
        osc_result_int(out, OCCUPIED_OF, s->occupied_of_ns);
    }
    if (s->tensor_of_ns > 0 || (compat_tb && w->has_operators && device->has_kernels)) {
        osc_result_int(out, TENSOR, s->tensor_ns);
        osc_result_int(out, TENSOR_OF, s->tensor_of_ns);
        osc_result_int(out, TENSOR_MAYBE, s->tensor_maybe_ns);
        osc_result_int(out, TENSOR_UNKNOWN, s->tensor_unknown_ns);
    }
}

static void add_notes(const struct work *w, struct osc_result *out)
{
    uint32_t n_known = 0;

    for (uint32_t d = 0; d < w->loads->n_devices; d++)
        n_known += device_of(w, d) != NULL;
    if (w->loads->n_devices == 0)
        osc_result_why_empty(out, NO_WORK);
    else if (n_known < w->loads->n_devices)
        osc_result_note(out, "the file does not say what %u of %u devices are",
                        w->loads->n_devices - n_known, w->loads->n_devices);
    if (w->loads->n_devices > 0 && w->b->n_kept == 0)
        osc_result_note(out, "%s: there are no shares",
                        osc_breakdown_why_none(w->b->n_steps > 0));
}

/* Add a row for each device that T lists, for together(). */
static osc_status add_marks(const struct work *w, struct osc_result *out)
{
    const struct osc_trace *const t = w->t;
    bool *const has_worked = osc_calloc((size_t)t->n_devices + 1, sizeof *has_worked);
    struct osc_str host = OSC_STR("");
    struct osc_strbuf mark = {0};

    if (!has_worked)
        return OSC_ENOMEM;
    for (uint32_t d = 0; d < w->loads->n_devices; d++) {
        const struct osc_device *const known = device_of(w, d);

        if (known)
            has_worked[known - t->devices] = true;
    }
    (void)osc_trace_meta(t, "host_name", &host);
    for (uint32_t i = 0; i < t->n_devices; i++) {
        osc_strbuf_clear(&mark);
        osc_strbuf_addc(&mark, has_worked[i] ? '+' : '-');
        osc_strbuf_addstr(&mark, host);
        osc_result_row(out);
        osc_result_str(out, DEVICE, osc_trace_str(t, t->devices[i].name));
        osc_result_str(out, MARK, (struct osc_str){mark.s, (uint32_t)mark.len});
    }
    const osc_status st = mark.status != OSC_OK ? mark.status : out->status;
    osc_strbuf_fini(&mark);
    osc_free(has_worked);
    return st;
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    const struct osc_step_rules rules = osc_step_rules_of(o);
    struct work w = {.t = t, .f = osc_trace_facts(t)};
    struct osc_breakdown own = {0};

    w.loads = &w.f->loads;
    osc_status st = osc_breakdown_get(t, &rules, 1, &own, &w.b);
    if (st == OSC_OK)
        st = add_kernels(&w, osc_is_compat_tb(o));
    if (st == OSC_OK) {
        for (uint32_t d = 0; d < w.loads->n_devices; d++)
            add_row(&w, d, osc_is_compat_tb(o), out);
        add_notes(&w, out);
        st = o->selection && o->selection->device ? out->status : add_marks(&w, out);
    }
    osc_free(w.sums);
    osc_breakdown_fini(&own);
    return st == OSC_OK ? st : osc_fail(err, st, "devices: %s", osc_status_text(st));
}

/* The mark of row I: '+', '-', or 0 for none. */
static char mark_of(const struct osc_result *r, uint64_t i)
{
    if (!osc_result_has(r, i, MARK))
        return '\0';
    return osc_result_get_str(r, i, MARK).s[0];
}

/* Add the device and the host of row I to SEEN. False: they are there; *ST may fail. */
static bool is_new(struct osc_idmap *seen, uint64_t seed, const struct osc_result *r,
                   uint64_t i, osc_status *st)
{
    const struct osc_str device = osc_result_get_str(r, i, DEVICE);
    const struct osc_str mark = osc_result_get_str(r, i, MARK);
    uint32_t *const is_known = osc_idmap_put(
        seen, osc_hash(device.s, device.len, osc_hash(mark.s + 1, mark.len - 1, seed)));
    const bool was_known = is_known && *is_known != 0;

    if (is_known)
        *is_known = 1;
    else
        *st = OSC_ENOMEM;
    return !was_known;
}

/* Take the marks out of R, and note how many devices are not yet in SEEN. */
static osc_status take_marks(struct osc_result *r, struct osc_idmap *seen, uint64_t seed,
                             const char *where)
{
    bool *const keep = osc_calloc(r->n_rows + 1, sizeof *keep);
    osc_status st = keep ? OSC_OK : OSC_ENOMEM;
    uint32_t n = 0;

    for (uint64_t i = 0; i < r->n_rows && st == OSC_OK; i++) {
        keep[i] = mark_of(r, i) == 0;
        n += mark_of(r, i) == '-' && is_new(seen, seed, r, i, &st);
    }
    if (st == OSC_OK) {
        osc_result_keep(r, keep);
        if (r->n_rows == 0 && !r->says_why_empty)
            osc_result_why_empty(r, NO_WORK);
        if (n > 0)
            osc_result_note(r, "%u other %s of the machine did no work in %s", n,
                            n == 1 ? "device" : "devices", where);
        st = r->status;
    }
    osc_free(keep);
    return st;
}

/* A device that is idle in one trace may work in another of the same machine. */
static osc_status together(struct osc_result *const *blocks, uint32_t n,
                           const struct osc_options *o, struct osc_err *err)
{
    const uint64_t seed = osc_hash_seed();
    struct osc_idmap seen = {0}; /* those that worked, then all */
    const char *const where = o->selection && !osc_selection_is_all(o->selection)
                                  ? "what is selected"
                              : o->n_traces == 1 ? "the trace"
                                                 : "any of the traces";
    osc_status st = OSC_OK;

    for (uint32_t b = 0; b < n; b++) {
        for (uint64_t i = 0; i < blocks[b]->n_rows && st == OSC_OK; i++) {
            if (mark_of(blocks[b], i) == '+')
                (void)is_new(&seen, seed, blocks[b], i, &st);
        }
    }
    for (uint32_t b = 0; b < n && st == OSC_OK; b++)
        st = take_marks(blocks[b], &seen, seed, where);
    osc_idmap_fini(&seen);
    return st == OSC_OK ? st : osc_fail(err, st, "devices: %s", osc_status_text(st));
}

/* Whether rules say enough of the kernels of row I. */
static bool is_tensor_known(const struct osc_result *r, uint64_t i)
{
    const int64_t tensor_ns = osc_result_get_int(r, i, TENSOR);

    return osc_result_has(r, i, TENSOR_OF) &&
           (tensor_ns > 0 || osc_result_get_int(r, i, TENSOR_MAYBE) == 0) &&
           osc_tensor_share_is_known(tensor_ns, osc_result_get_int(r, i, TENSOR_UNKNOWN),
                                     osc_result_get_int(r, i, TENSOR_OF));
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    (void)o;
    (void)err;
    for (uint64_t i = 0; i < r->n_rows; i++) {
        const double window_ns = (double)osc_result_get_int(r, i, WINDOW);
        const double occupied_of_ns = (double)osc_result_get_int(r, i, OCCUPIED_OF);
        const double tensor_of_ns = (double)osc_result_get_int(r, i, TENSOR_OF);

        if (window_ns > 0)
            osc_result_set_num(r, i, UTILIZATION,
                               (double)osc_result_get_int(r, i, BUSY) / window_ns);
        if (window_ns > 0 && osc_result_has(r, i, FILL))
            osc_result_set_num(r, i, SM_EFFICIENCY, osc_result_get_num(r, i, FILL) / window_ns);
        if (occupied_of_ns > 0)
            osc_result_set_num(r, i, OCCUPANCY,
                               osc_result_get_num(r, i, OCCUPIED) / occupied_of_ns / 100);
        if (is_tensor_known(r, i))
            osc_result_set_num(
                r, i, TENSOR_CORES,
                tensor_of_ns > 0 ? (double)osc_result_get_int(r, i, TENSOR) / tensor_of_ns : 0);
    }
    return OSC_OK;
}

static const struct osc_table_option *const options[] = {
    &osc_option_compat, &osc_option_step_length, &osc_option_all_steps, NULL};

const struct osc_table_def osc_table_devices = {
    .name = "devices",
    .help = "What each device is, and how much of it was used.",
    .source = "what the trace says of its devices, and the kernels.",
    .rules = OSC_RULE_LOADS,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sort_words = &osc_torch_words_of_names,
    .options = options,
    OSC_MAPS(.facts = OSC_FACT_LOADS | OSC_FACT_STEPS | OSC_FACT_UNIONS, .map = map,
             .together = together, .finish = finish),
};
