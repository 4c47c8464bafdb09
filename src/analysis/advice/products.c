/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of matrices that devices compute slower than they could: in FP32 where they have
 * TF32, or of values of 16 bits with sizes that are no multiples of 8. torch's pattern matcher
 * has both (torch.profiler._pattern_matcher); here the time at stake is that of the kernels.
 */
#include "analysis/advice/advice_list.h"
#include "base/wide.h"
#include "codec/json.h"
#include "model/known_names.h"

/* Sizes shall be multiples of this. */
#define ALIGNED 8
/* Inputs are looked for in so many bytes of a list: a hostile file has endless ones. */
#define LIST_MAX 4096u

struct event {
    const struct osc_chunk *c;
    uint32_t i;
};

static struct event event_of(const struct osc_trace *t, osc_row row)
{
    return (struct event){osc_chunk_of(&t->events, row), osc_row_place(row)};
}

/* The list in argument KEY of the event, as JSON text. */
static bool list_of(const struct osc_trace *t, struct event e, enum osc_arg_key key,
                    struct osc_str *list)
{
    struct osc_arg arg;

    if (!osc_row_arg(t, e.c, e.i, key, &arg) || arg.type != OSC_ARG_TEXT)
        return false;
    *list = osc_trace_str(t, arg.sid);
    list->len = list->len < LIST_MAX ? list->len : LIST_MAX;
    return true;
}

/* Whether the first input of the event has the type TYPE, in quotation marks. */
static bool has_type(const struct osc_trace *t, struct event e, struct osc_str type)
{
    struct osc_str types, first;

    return list_of(t, e, OSC_ARG_KEY_INPUT_TYPE, &types) && osc_json_next(&types, &first) &&
           osc_str_eq(first, type);
}

/* Whether the last two of the sizes LIST are multiples of ALIGNED. */
static bool is_aligned(struct osc_str list)
{
    struct osc_str size;
    int64_t last[2] = {0}, n = 0;

    while (osc_json_next(&list, &size)) {
        if (!osc_json_int(size, &n))
            return true; /* no tensor but a list of them, or unknown */
        last[0] = last[1];
        last[1] = n;
    }
    return last[0] % ALIGNED == 0 && last[1] % ALIGNED == 0;
}

static bool are_aligned(const struct osc_trace *t, struct event e)
{
    struct osc_str shapes, shape;

    if (!list_of(t, e, OSC_ARG_KEY_INPUT_DIMS, &shapes) &&
        !list_of(t, e, OSC_ARG_KEY_INPUT_DIMS_OLD, &shapes))
        return true;
    while (osc_json_next(&shapes, &shape))
        if (!is_aligned(shape))
            return false;
    return true;
}

static bool is_product(struct osc_str name)
{
    return osc_str_eq(name, OSC_STR("aten::mm")) || osc_str_eq(name, OSC_STR("aten::bmm")) ||
           osc_str_eq(name, OSC_STR("aten::addmm"));
}

/* Whether the kernel E runs on a device that has TF32, without its Tensor Cores. */
static bool is_plain(const struct osc_advice_base *a, struct event e)
{
    const struct osc_track *const track = &a->t->tracks[e.c->track[e.i]];
    struct osc_str family = osc_trace_str(a->t, track->device);
    const int64_t index = osc_device_split(family, &family);
    const struct osc_device *const device =
        osc_trace_device(a->t, osc_trace_str(a->t, track->device), index);

    return device && osc_known_has_tf32(family, device->limits.major) &&
           osc_name_tensor_cores(a->f->classes.names[e.c->name[e.i]], false) ==
               OSC_TENSOR_CORES_NO;
}

/* Which rule the device work E falls under, which OP launched; OSC_ADVICE_COUNT: none. */
static enum osc_advice_code rule_of(const struct osc_advice_base *a, struct event e,
                                    struct event op)
{
    if (e.c->kind[e.i] != OSC_KIND_KERNEL || !is_product(osc_row_name(a->t, op.c, op.i)))
        return OSC_ADVICE_COUNT;
    if (has_type(a->t, op, OSC_STR("\"float\"")))
        return is_plain(a, e) ? OSC_ADVICE_FP32_MATMUL : OSC_ADVICE_COUNT;
    if (!has_type(a->t, op, OSC_STR("\"c10::Half\"")) &&
        !has_type(a->t, op, OSC_STR("\"c10::BFloat16\"")))
        return OSC_ADVICE_COUNT;
    return are_aligned(a->t, op) ? OSC_ADVICE_COUNT : OSC_ADVICE_UNALIGNED;
}

/* Add the kernel E of the operator OP to ITEM and KERNELS, if it ran in kept steps. */
static osc_status add_kernel(const struct osc_ruler *ruler, struct event e, struct event op,
                             struct osc_advice_item *item, struct osc_intervals *kernels)
{
    const int64_t ns = osc_ruler_length(ruler, e.c->ts_ns[e.i], osc_row_end(e.c, e.i));

    if (ns == 0)
        return OSC_OK;
    item->count++;
    osc_intervals_add(kernels, e.c->ts_ns[e.i], osc_row_end(e.c, e.i));
    return osc_name_sums_add(&item->names, (osc_sid){op.c->name[op.i]}, ns);
}

/* Measure what ITEM says by its KERNELS. */
static osc_status measure(const struct osc_advice_base *a, struct osc_intervals *kernels,
                          struct osc_advice_item *item)
{
    const osc_status st = osc_advice_stake(a, kernels, NULL, &item->impact_ns);

    item->part = item->impact_ns;
    item->whole = a->kept_ns;
    item->subject = osc_trace_str(a->t, osc_name_sums_top(&item->names).name);
    item->applies = (osc_wide)item->part * OSC_ADVICE_MUCH > a->kept_ns;
    return st;
}

osc_status osc_advice_products(const struct osc_advice_base *a, struct osc_advice_list *l)
{
    /* Without any kernel on Tensor Cores, tensor_cores has the time of those in FP32. */
    const bool has_fp32 = !l->of[OSC_ADVICE_TENSOR_CORES].applies;
    struct osc_intervals unaligned = {0}, fp32 = {0};
    struct osc_ruler ruler = {0};
    osc_status st = osc_ruler_init(&ruler, &a->kept);

    for (size_t n = 0; n < a->f->links.n_works && st == OSC_OK; n++) {
        const struct osc_work *const work = &a->f->links.works[n];
        const osc_row row = osc_advice_operator_row(a, work->call);

        if (row.v == 0)
            continue;
        const struct event e = event_of(a->t, (osc_row){work->row}), op = event_of(a->t, row);
        const enum osc_advice_code code = rule_of(a, e, op);
        if (code == OSC_ADVICE_UNALIGNED)
            st = add_kernel(&ruler, e, op, &l->of[code], &unaligned);
        else if (code == OSC_ADVICE_FP32_MATMUL && has_fp32)
            st = add_kernel(&ruler, e, op, &l->of[code], &fp32);
    }
    if (st == OSC_OK)
        st = measure(a, &unaligned, &l->of[OSC_ADVICE_UNALIGNED]);
    if (st == OSC_OK && has_fp32)
        st = measure(a, &fp32, &l->of[OSC_ADVICE_FP32_MATMUL]);
    osc_intervals_fini(&unaligned);
    osc_intervals_fini(&fp32);
    osc_ruler_fini(&ruler);
    return st;
}
