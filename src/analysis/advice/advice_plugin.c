/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice_list.h"

#include <string.h>

#include "analysis/advice/program.h"
#include "base/mem.h"
#include "base/wide.h"
#include "derive/allocations.h"
#include "derive/args.h"
#include "model/known_names.h"

/* What names of host ranges show about how the program uses several devices. */
struct seen {
    int64_t n_dp, n_ddp;
    bool has_nccl;
};

/* Whether the plugin examines rows of FORM. */
static bool is_looked_at(const struct osc_form *form, uint8_t flags)
{
    if (!(flags & OSC_FORM_RANGE) || (flags & (OSC_FORM_ON_DEVICE | OSC_FORM_FUNCTION)))
        return false;
    return (flags & OSC_FORM_OPERATOR) || osc_kind_is_label((enum osc_kind)form->kind) ||
           form->kind == OSC_KIND_PYTHON;
}

static struct seen look_at_names(const struct osc_advice_base *a)
{
    const struct osc_store *const events = &a->t->events;
    const struct osc_classes *const classes = &a->f->classes;
    const uint16_t comm = a->is_compat ? OSC_NAME_COMM_TB : OSC_NAME_COMM_HOST;
    struct seen seen = {.has_nccl = !a->is_compat && classes->has_device_comm};

    for (uint32_t k = 1; k < events->n_chunks; k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            const uint16_t flags = classes->names[c->name[i]];

            if (!(flags & (OSC_NAME_WRAPPER | comm)) || c->dur_ns[i] == OSC_NO_DUR ||
                !is_looked_at(osc_row_form(a->t, c, i), classes->forms[c->form[i]]))
                continue;
            const struct osc_str name = osc_row_name(a->t, c, i);
            seen.n_dp += osc_str_eq(name, OSC_STR("DataParallel.forward"));
            seen.n_ddp += osc_str_eq(name, OSC_STR("DistributedDataParallel.forward"));
            seen.has_nccl |= (flags & comm) && osc_known_is_nccl(name);
        }
    }
    return seen;
}

/* Measure the share of COST in the kept steps, and the number of steps that have any. */
static void measure_cost(const struct osc_advice_base *a, unsigned cost,
                         struct osc_advice_item *item)
{
    item->impact_ns = item->part = a->cost_ns[cost];
    item->whole = a->total_ns;
    for (uint32_t i = 0; i < a->b->n_steps; i++)
        item->count += a->b->steps[i].is_kept && a->b->steps[i].cost_ns[cost] > 0;
}

/*
 * Whether the steps wait for data even without the one that waits longest. Where no device
 * worked, one of several steps may just have been interrupted there.
 */
static bool is_usual(const struct osc_advice_base *a, const struct osc_advice_item *item)
{
    const struct osc_step_cost *most = NULL;

    for (uint32_t i = 0; i < a->b->n_steps; i++) {
        const struct osc_step_cost *const s = &a->b->steps[i];

        if (s->is_kept &&
            (!most || s->cost_ns[OSC_CLASS_DATALOADER] > most->cost_ns[OSC_CLASS_DATALOADER]))
            most = s;
    }
    if (!most || !a->split.steps || a->b->n_kept < 3)
        return true;
    return item->part - most->cost_ns[OSC_CLASS_DATALOADER] >
           (item->whole - (most->end_ns - most->start_ns)) / 20;
}

/* Add to ALL the time in which TRACK runs operators, but for collectives and what they run. */
static osc_status add_computation(const struct osc_advice_base *a, uint32_t track,
                                  struct osc_intervals *all)
{
    const struct osc_order *const o = &a->f->order;
    struct osc_intervals operators = {0}, collectives = {0}, rest = {0};

    for (uint32_t at = o->first[track]; at < o->first[track + 1]; at++) {
        const osc_row row = {o->rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (osc_is_on_device(&a->f->classes, c, i))
            continue;
        if ((a->f->classes.names[c->name[i]] & OSC_NAME_COMM_HOST) ||
            c->kind[i] == OSC_KIND_COMMUNICATION)
            osc_intervals_add(&collectives, c->ts_ns[i], osc_row_end(c, i));
        else if (c->kind[i] == OSC_KIND_OPERATOR)
            osc_intervals_add(&operators, c->ts_ns[i], osc_row_end(c, i));
    }
    osc_status st = osc_intervals_merge(&operators);
    if (st == OSC_OK)
        st = osc_intervals_merge(&collectives);
    if (st == OSC_OK)
        st = osc_intervals_subtract(&operators, &collectives, &rest);
    osc_intervals_concat(all, &rest);
    osc_intervals_fini(&operators);
    osc_intervals_fini(&collectives);
    osc_intervals_fini(&rest);
    return st;
}

/* Take from ITEM the time of collectives of hosts beside which other operators run. */
static osc_status take_hidden(const struct osc_advice_base *a, struct osc_advice_item *item)
{
    const struct osc_order *const o = &a->f->order;
    struct osc_intervals computation = {0}, hidden = {0};
    osc_status st = OSC_OK;
    int64_t hidden_ns;

    for (uint32_t k = 0; k < o->n_tracks && st == OSC_OK; k++)
        st = add_computation(a, o->tracks[k], &computation);
    if (st == OSC_OK)
        st = osc_intervals_merge(&computation);
    if (st == OSC_OK)
        st = osc_intervals_intersect(&computation, &a->f->unions.of[OSC_CLASS_COMMUNICATION],
                                     &hidden);
    if (st == OSC_OK)
        st = osc_advice_stake(a, &hidden, NULL, &hidden_ns);
    if (st == OSC_OK) {
        item->part = item->part > hidden_ns ? item->part - hidden_ns : 0;
        item->impact_ns = item->part;
    }
    osc_intervals_fini(&computation);
    osc_intervals_fini(&hidden);
    return st;
}

static osc_status check_costs(const struct osc_advice_base *a, struct osc_advice_list *l)
{
    osc_status st = OSC_OK;

    struct osc_advice_item *const loading = &l->of[OSC_ADVICE_DATA_LOADING];
    struct osc_advice_item *const communication = &l->of[OSC_ADVICE_COMMUNICATION];

    if (a->has_works && !a->is_compat)
        return OSC_OK; /* see advice_idle.c */
    measure_cost(a, OSC_CLASS_DATALOADER, loading);
    loading->applies = loading->part > loading->whole / 20 && is_usual(a, loading);
    measure_cost(a, OSC_CLASS_COMMUNICATION, communication);
    if (!a->is_compat && communication->part > communication->whole / 10)
        st = take_hidden(a, communication);
    communication->applies = communication->part > communication->whole / 10 && !a->is_thinned;
    return st;
}

/* DataParallel drives two or more devices, which then work in turns. */
static osc_status check_data_parallel(const struct osc_advice_base *a, const struct seen *seen,
                                      struct osc_advice_item *item)
{
    struct osc_intervals all = {0}, next = {0};
    osc_status st = OSC_OK;

    if (seen->n_dp == 0 || a->f->loads.n_devices < 2)
        return OSC_OK;
    osc_intervals_concat(&all, &a->kept);
    st = osc_intervals_merge(&all);
    for (uint32_t d = 0; d < a->f->loads.n_devices && st == OSC_OK; d++) {
        st = osc_intervals_intersect(&all, &a->f->loads.devices[d].busy, &next);
        osc_intervals_fini(&all);
        all = next;
        next = (struct osc_intervals){0};
    }
    item->applies = true;
    item->impact_ns = a->kept_ns - osc_intervals_length(&all);
    if (!a->is_compat)
        item->impact_ns -= a->gaps_ns; /* which has causes of its own */
    item->part = item->impact_ns;
    item->whole = a->kept_ns;
    item->count = seen->n_dp;
    item->facts.n_devices = a->f->loads.n_devices;
    osc_intervals_fini(&all);
    return st;
}

static bool has_nccl_device(const struct osc_advice_base *a)
{
    for (uint32_t i = 0; i < a->t->n_devices; i++) {
        const struct osc_device_limits *const l = &a->t->devices[i].limits;

        if (a->is_compat ? l->major > 3 || (l->major == 3 && l->minor >= 5)
                         : osc_known_has_nccl(osc_trace_str(a->t, a->t->devices[i].family),
                                              l->major, l->minor))
            return true;
    }
    return false;
}

static void check_backend(const struct osc_advice_base *a, const struct seen *seen,
                          struct osc_advice_item *item)
{
    measure_cost(a, OSC_CLASS_COMMUNICATION, item);
    item->count = seen->n_ddp;
    /* NCCL is of no use to a program that uses no device. */
    item->applies = seen->n_ddp > 0 && !seen->has_nccl && has_nccl_device(a) &&
                    (a->is_compat || a->has_works);
}

static osc_status check_utilization(const struct osc_advice_base *a, struct osc_advice_list *l)
{
    struct osc_advice_item *const item = &l->of[OSC_ADVICE_LOW_UTILIZATION];
    const int64_t window_ns = a->b->window_end_ns - a->b->window_start_ns;
    struct osc_strbuf names = {0};
    osc_status st = OSC_OK;

    for (uint32_t d = 0; d < a->f->loads.n_devices && window_ns > 0 && st == OSC_OK; d++) {
        const struct osc_device_load *const device = &a->f->loads.devices[d];
        const struct osc_load load =
            osc_loads_between(&a->f->loads, d, a->b->window_start_ns, a->b->window_end_ns);
        struct osc_intervals idle = {0};

        if (!device->has_kernels || load.busy_ns >= window_ns - load.busy_ns)
            continue;
        st = osc_intervals_subtract(&a->kept, &device->busy, &idle);
        const int64_t idle_ns = osc_intervals_length(&idle);
        osc_intervals_fini(&idle);
        item->impact_ns = idle_ns > item->impact_ns ? idle_ns : item->impact_ns;
        item->part += load.busy_ns;
        item->whole += window_ns;
        osc_strbuf_adds(&names, item->count++ > 0 ? ", " : "");
        osc_strbuf_addstr(&names, osc_trace_str(a->t, device->name));
    }
    item->applies = item->count > 0;
    if (st == OSC_OK && item->applies) {
        const char *const text =
            names.status == OSC_OK ? osc_arena_dup(&l->arena, names.s, names.len) : NULL;

        st = text ? OSC_OK : OSC_ENOMEM;
        item->subject = (struct osc_str){text, (uint32_t)names.len};
    }
    osc_strbuf_fini(&names);
    return st;
}

/* Whether device D of the loads ran kernels and has Tensor Cores. */
static bool has_tensor_cores(const struct osc_advice_base *a, uint32_t d)
{
    const struct osc_device_load *const load = &a->f->loads.devices[d];
    struct osc_str family = osc_trace_str(a->t, load->name);
    const struct osc_device *const device = osc_trace_device(a->t, family, load->number);

    (void)osc_device_split(family, &family);
    return load->has_kernels && device &&
           osc_known_has_tensor_cores(family, device->limits.major);
}

/*
 * Mark the devices of the loads that have Tensor Cores. The plugin looks at the first device
 * of the file, and at kernels of all. False: there are none.
 */
static bool find_tensor_cores(const struct osc_advice_base *a, bool *has)
{
    const bool is_first = a->t->n_devices > 0 && a->t->devices[0].limits.major >= 7;
    bool is_any = a->is_compat && is_first;

    for (uint32_t d = 0; d < a->f->loads.n_devices; d++) {
        has[d] = a->is_compat ? is_first : has_tensor_cores(a, d);
        is_any |= has[d];
    }
    return is_any;
}

/* Whether row I of C, which is device work, is a kernel of a device that HAS Tensor Cores. */
static bool is_candidate(const struct osc_advice_base *a, const bool *has,
                         const struct osc_chunk *c, uint32_t i)
{
    return c->kind[i] == OSC_KIND_KERNEL && has[a->f->loads.of_track[c->track[i]] - 1];
}

/* Mark the nodes that contain an operator that can use Tensor Cores. */
static uint8_t *find_eligible(const struct osc_advice_base *a, size_t *bytes)
{
    const struct osc_optree *const tree = &a->f->tree;
    uint8_t *below;

    *bytes = (size_t)a->f->order.n_rows + 1;
    below = osc_pages_alloc(*bytes);
    for (uint32_t node = a->f->order.n_rows; below && node > 0; node--) {
        const osc_row row = {a->f->order.rows[node - 1]};
        const uint32_t name = osc_chunk_of(&a->t->events, row)->name[osc_row_place(row)];

        if ((tree->flags[node - 1] & (OSC_NODE | OSC_NODE_MERGED)) == OSC_NODE &&
            (below[node] || osc_name_is_eligible(a->f->classes.names[name], a->is_compat)))
            below[tree->parent[node - 1]] = 1;
    }
    return below;
}

/* Sum the kernels of operators, and of operators that could use Tensor Cores. */
static void sum_kernels(const struct osc_advice_base *a, const bool *has, const uint8_t *below,
                        struct osc_advice_item *item, struct osc_intervals *eligible)
{
    const struct osc_links *const links = &a->f->links;

    for (size_t n = 0; n < links->n_works; n++) {
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row), call = links->works[n].call;
        const uint32_t node =
            call == 0 ? 0 : osc_optree_owner(&a->f->tree, links->calls[call - 1].node);

        if (node == 0 || !is_candidate(a, has, c, i))
            continue;
        const osc_row op = {a->f->order.rows[node - 1]};
        const uint32_t name = osc_chunk_of(&a->t->events, op)->name[osc_row_place(op)];
        item->whole += c->dur_ns[i];
        if (below[node] || !osc_name_is_eligible(a->f->classes.names[name], a->is_compat))
            continue;
        item->part += c->dur_ns[i];
        item->count++;
        osc_intervals_add(eligible, c->ts_ns[i], osc_row_end(c, i));
    }
}

/* Whether any kernel is known to use Tensor Cores. */
static bool uses_tensor_cores(const struct osc_advice_base *a, const bool *has)
{
    const struct osc_links *const links = &a->f->links;

    for (size_t n = 0; n < links->n_works; n++) {
        const osc_row row = {links->works[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (is_candidate(a, has, c, i) && c->dur_ns[i] > 0 &&
            osc_name_tensor_cores(a->f->classes.names[c->name[i]], a->is_compat) ==
                OSC_TENSOR_CORES_YES)
            return true;
    }
    return false;
}

static osc_status check_tensor_cores(const struct osc_advice_base *a,
                                     struct osc_advice_item *item)
{
    struct osc_intervals eligible = {0};
    bool *const has = osc_calloc((size_t)a->f->loads.n_devices + 1, sizeof *has);
    osc_status st = has ? OSC_OK : OSC_ENOMEM;
    uint8_t *below = NULL;
    size_t bytes = 0;

    const bool is_open =
        st == OSC_OK && find_tensor_cores(a, has) && !uses_tensor_cores(a, has);
    bool has_half = false;
    if (is_open && !a->is_compat)
        st = osc_program_uses_half(a, &has_half);
    if (is_open && st == OSC_OK && !has_half) {
        below = find_eligible(a, &bytes);
        st = below ? OSC_OK : OSC_ENOMEM;
    }
    if (below) {
        sum_kernels(a, has, below, item, &eligible);
        st = osc_advice_stake(a, &eligible, NULL, &item->facts.eligible_ns);
        /* Half of it, as values of 16 bits have half of the bytes. */
        item->impact_ns = a->is_compat ? item->facts.eligible_ns : item->facts.eligible_ns / 2;
        item->applies = item->part > 0;
        osc_pages_free(below, bytes);
    }
    osc_intervals_fini(&eligible);
    osc_free(has);
    return st;
}

/* The memory use of one device that the file lists. */
struct peak {
    int64_t bytes, n_near; /* the largest total; number of records above nine tenths of the
                            * capacity */
    uint32_t type;         /* argument Device Type of the record with the largest total */
};

/* The memory use from which D counts as nearly full. */
static int64_t limit_of(const struct osc_device *d)
{
    const int64_t bytes = d->limits.memory_bytes;

    return bytes / 10 * 9 + bytes % 10 * 9 / 10;
}

/* A cache for the device of the last record's TYPE and ID, or NULL. */
struct owner {
    int64_t type, id;
    const struct osc_device *device;
};

static const struct osc_device *owner_of(const struct osc_trace *t, struct owner *last,
                                         int64_t type, int64_t id)
{
    char name[OSC_MEMORY_DEVICE_NAME];

    if (last->type == type && last->id == id)
        return last->device;
    osc_memory_device_name(t, (uint32_t)type, (int32_t)id, name);
    *last = (struct owner){type, id, osc_trace_device(t, osc_str_c(name), id)};
    return last->device;
}

/* Add row I of C, a record with the total in use on a device. */
static void add_total(const struct osc_advice_base *a, const struct osc_chunk *c, uint32_t i,
                      struct owner *last, struct peak *peaks)
{
    int64_t type, id, total;

    if (!osc_args_int(a->t, c, i, OSC_ARG_KEY_DEVICE_TYPE, &type) || type <= 0 || type > 127 ||
        !osc_args_int(a->t, c, i, OSC_ARG_KEY_DEVICE_ID, &id) || id < 0 || id > 32766 ||
        !osc_args_int(a->t, c, i, OSC_ARG_KEY_TOTAL_ALLOCATED, &total))
        return;
    const struct osc_device *const d = owner_of(a->t, last, type, id);
    if (!d || d->limits.memory_bytes <= 0)
        return;
    struct peak *const peak = &peaks[d - a->t->devices];
    if (total > peak->bytes || peak->type == 0) {
        peak->bytes = total > peak->bytes ? total : peak->bytes;
        peak->type = (uint32_t)type;
    }
    peak->n_near += total > limit_of(d);
}

/* Measure the time in calls of the device's allocator within kept steps. */
static osc_status measure_allocator(const struct osc_advice_base *a, int64_t *stake_ns)
{
    const struct osc_links *const links = &a->f->links;
    struct osc_intervals calls = {0};

    for (size_t n = 0; n < links->n_calls; n++) {
        const osc_row row = {links->calls[n].row};
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);

        if (a->f->classes.names[c->name[i]] & OSC_NAME_ALLOCATOR)
            osc_intervals_add(&calls, c->ts_ns[i], osc_row_end(c, i));
    }
    const osc_status st = osc_advice_stake(a, &calls, NULL, stake_ns);
    osc_intervals_fini(&calls);
    return st;
}

/* The fullest of the devices that were nearly full. */
static const struct osc_device *fullest(const struct osc_trace *t, const struct peak *peaks)
{
    const struct osc_device *full = NULL;

    for (uint32_t i = 0; i < t->n_devices; i++) {
        const struct osc_device *const d = &t->devices[i];

        if (peaks[i].n_near > 0 &&
            (!full || (osc_wide)peaks[i].bytes * full->limits.memory_bytes >
                          (osc_wide)peaks[full - t->devices].bytes * d->limits.memory_bytes))
            full = d;
    }
    return full;
}

static osc_status check_memory(const struct osc_advice_base *a, struct osc_advice_list *l)
{
    struct osc_advice_item *const item = &l->of[OSC_ADVICE_MEMORY_LIMIT];
    const struct osc_store *const events = &a->t->events;
    struct peak *peaks = osc_calloc((size_t)a->t->n_devices + 1, sizeof *peaks);
    struct owner last = {.type = -1};
    osc_status st = peaks ? OSC_OK : OSC_ENOMEM;

    for (uint32_t k = 1; k < events->n_chunks && st == OSC_OK && a->t->n_devices > 0; k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (c->kind[i] == OSC_KIND_ALLOC || c->kind[i] == OSC_KIND_FREE)
                add_total(a, c, i, &last, peaks);
        }
    }
    const struct osc_device *const full = st == OSC_OK ? fullest(a->t, peaks) : NULL;
    if (full) {
        const struct peak *const peak = &peaks[full - a->t->devices];
        char name[OSC_MEMORY_DEVICE_NAME];

        osc_memory_device_name(a->t, peak->type, (int32_t)full->index, name);
        const char *const text = osc_arena_dup(&l->arena, name, strlen(name));
        item->applies = true;
        item->part = peak->bytes;
        item->whole = full->limits.memory_bytes;
        item->count = peak->n_near;
        item->subject = (struct osc_str){text, (uint32_t)strlen(name)};
        st = text ? measure_allocator(a, &item->impact_ns) : OSC_ENOMEM;
    }
    osc_free(peaks);
    return st;
}

osc_status osc_advice_plugin_rules(const struct osc_advice_base *a, struct osc_advice_list *l)
{
    const struct seen seen = look_at_names(a);

    osc_status st = check_costs(a, l);
    check_backend(a, &seen, &l->of[OSC_ADVICE_BACKEND]);
    if (st == OSC_OK)
        st = check_data_parallel(a, &seen, &l->of[OSC_ADVICE_DATA_PARALLEL]);
    if (st == OSC_OK && a->is_compat)
        st = check_utilization(a, l);
    if (st == OSC_OK)
        st = check_tensor_cores(a, &l->of[OSC_ADVICE_TENSOR_CORES]);
    if (st == OSC_OK)
        st = check_memory(a, l);
    return st;
}
