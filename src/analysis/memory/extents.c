/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/extents.h"

#include "analysis/dtypes.h"
#include "analysis/memory/numbers.h"
#include "base/mem.h"
#include "base/sort.h"
#include "codec/json.h"

#define DEVICE_MAX 0x7fff /* 127 types of 256 devices */

#define LIST_MAX (1u << 16) /* bytes: a hostile file has a long list that many calls share */

/* A tensor among the inputs of a call. */
struct tensor {
    int64_t bytes; /* -1: not known */
    bool is_empty; /* it has no element */
};

struct finding {
    const struct osc_trace *t;
    const struct osc_touches *touches;
    const struct osc_data_flow *flow;
    struct osc_extent *extents; /* by object */
    struct tensor *tensors;     /* owned; of one call */
    size_t n, cap;
};

/* The tensor of sizes DIMS and STRIDES, of which an element has EACH bytes. */
static struct tensor tensor_of(struct osc_str dims, struct osc_str strides, int64_t each)
{
    struct osc_str dim, stride;
    struct tensor tensor = {.bytes = -1};
    int64_t n = -1, d, s, own;

    while (osc_json_next(&dims, &dim)) {
        if (!osc_json_int(dim, &d) || d < 0 || !osc_json_next(&strides, &stride) ||
            !osc_json_int(stride, &s) || s < 0 || __builtin_mul_overflow(d, s, &own))
            return tensor;
        tensor.is_empty |= d == 0;
        n = own > n ? own : n;
    }
    if (each > 0 && !__builtin_mul_overflow(n < 0 ? 1 : n, each, &own))
        tensor.bytes = own;
    return tensor;
}

/* Whether the sizes DIMS have no strides STRIDES: a sparse tensor, which has no memory. */
static bool is_sparse(struct osc_str dims, struct osc_str strides)
{
    struct osc_str value;

    return osc_json_next(&dims, &value) && !osc_json_next(&strides, &value);
}

static osc_status add_tensor(struct finding *f, struct tensor tensor)
{
    if (osc_grow(&f->tensors, &f->cap, f->n + 1, sizeof *f->tensors) != OSC_OK)
        return OSC_ENOMEM;
    f->tensors[f->n++] = tensor;
    return OSC_OK;
}

/* Add the tensors of an input of TYPE. */
static osc_status add_input(struct finding *f, struct osc_str dims, struct osc_str strides,
                            struct osc_str type)
{
    const int64_t each = osc_dtype_bytes(type);
    osc_status st = OSC_OK;
    struct osc_str one, steps;

    if (osc_str_eq(type, OSC_STR("TensorList"))) {
        while (st == OSC_OK && osc_json_next(&dims, &one)) {
            if (osc_json_next(&strides, &steps) && is_sparse(one, steps))
                continue;
            struct tensor tensor = tensor_of(one, steps, 1);
            tensor.bytes = -1;
            st = add_tensor(f, tensor);
        }
        return st;
    }
    if (type.len == 0 || osc_str_eq(type, OSC_STR("Scalar")) ||
        osc_str_eq(type, OSC_STR("ScalarList")) || is_sparse(dims, strides))
        return OSC_OK;
    return add_tensor(f, tensor_of(dims, strides, each));
}

/* Argument KEY of row I of C, a list of JSON; empty: there is none, or it is too long. */
static struct osc_str list_of(const struct finding *f, const struct osc_chunk *c, uint32_t i,
                              enum osc_arg_key key)
{
    struct osc_arg arg;

    if (!osc_row_arg(f->t, c, i, key, &arg) || arg.type != OSC_ARG_TEXT)
        return OSC_STR("");
    const struct osc_str text = osc_trace_str(f->t, arg.sid);
    return text.len > 0 && text.s[0] == '[' && text.len <= LIST_MAX ? text : OSC_STR("");
}

/* Collect the tensors of the call in row I of C. */
static osc_status read_tensors(struct finding *f, const struct osc_chunk *c, uint32_t i)
{
    struct osc_str dims = list_of(f, c, i, OSC_ARG_KEY_INPUT_DIMS);
    struct osc_str strides = list_of(f, c, i, OSC_ARG_KEY_INPUT_STRIDES);
    struct osc_str types = list_of(f, c, i, OSC_ARG_KEY_INPUT_TYPE);
    struct osc_str own, steps, type;
    osc_status st = OSC_OK;

    f->n = 0;
    while (st == OSC_OK && osc_json_next(&dims, &own)) {
        if (!osc_json_next(&strides, &steps) || !osc_json_next(&types, &type)) {
            f->n = 0;
            break;
        }
        st = add_input(f, own, steps, osc_json_bare(type));
    }
    return st;
}

/* The touches of one row: [begin, end), in order of their addresses. */
struct group {
    size_t begin, end;
};

/* Tell the object at ADDRESS, which the touches G touch, what is SAID of it. */
static void tell(struct finding *f, struct group g, uint64_t address, struct osc_extent said)
{
    const struct osc_touch *const all = f->touches->all;
    size_t low = g.begin, high = g.end;

    OSC_BISECT(low, high, i, all[i].address < address);
    if (low == g.end || all[low].address != address)
        return;
    const uint32_t object = f->flow->object_of_touch[low];
    const struct osc_flow_object *const o = &f->flow->objects[object];
    struct osc_extent *const e = &f->extents[object];
    if (o->alloc != 0 || o->release != 0)
        return;
    e->bytes = said.bytes > e->bytes ? said.bytes : e->bytes;
    e->device = e->device < 0 ? said.device : e->device;
}

/* The next of DEVICES; without a list, the CPU. */
static int32_t next_device(struct osc_numbers *devices)
{
    bool is_negative = false;
    uint64_t value = 0;

    if (devices->at &&
        (!osc_numbers_next(devices, &is_negative, &value) || is_negative || value > DEVICE_MAX))
        return -1;
    return (int32_t)value;
}

/* How many tensors `Storages` of row I of C tells. */
static size_t count_storages(const struct finding *f, const struct osc_chunk *c, uint32_t i)
{
    size_t n = 0;
    bool is_negative;
    uint64_t value;

    for (int k = 0; k < OSC_STORAGES_KEYS; k++) {
        struct osc_numbers all =
            osc_numbers_of(f->t, c, i, (enum osc_arg_key)(OSC_ARG_KEY_STORAGES + k));

        if (!all.at)
            break;
        while (osc_numbers_next(&all, &is_negative, &value))
            n++;
    }
    return n == 0 ? 0 : n - 1; /* the first one says what the call is */
}

/* Leave out the tensors without an element, unless N tensors are left as they are. */
static void leave_empty_out(struct finding *f, size_t n)
{
    size_t kept = 0;

    if (f->n == n)
        return;
    for (size_t i = 0; i < f->n; i++) {
        if (!f->tensors[i].is_empty)
            f->tensors[kept++] = f->tensors[i];
    }
    f->n = kept;
}

/* Tell the objects that the call in row I of C took. */
static osc_status tell_call(struct finding *f, struct group g, const struct osc_chunk *c,
                            uint32_t i)
{
    const size_t n_storages = count_storages(f, c, i);
    const osc_status st = n_storages > 0 ? read_tensors(f, c, i) : OSC_OK;
    struct osc_numbers devices = osc_numbers_of(f->t, c, i, OSC_ARG_KEY_STORAGE_DEVICES);
    bool is_negative, is_first = true;
    uint64_t address;
    size_t n = 0;

    if (n_storages == 0 || st != OSC_OK)
        return st;
    leave_empty_out(f, n_storages);
    const bool has_sizes = f->n == n_storages;
    for (int k = 0; k < OSC_STORAGES_KEYS; k++) {
        struct osc_numbers all =
            osc_numbers_of(f->t, c, i, (enum osc_arg_key)(OSC_ARG_KEY_STORAGES + k));

        for (; osc_numbers_next(&all, &is_negative, &address); is_first = false) {
            if (is_first)
                continue;
            tell(f, g, address,
                 (struct osc_extent){has_sizes ? f->tensors[n].bytes : -1,
                                     next_device(&devices)});
            n++;
        }
        if (!all.at)
            break;
    }
    return OSC_OK;
}

/* Tell the objects in the list KEY of row I of C, whose sizes are in the list SIZES. */
static void tell_list(struct finding *f, struct group g, const struct osc_chunk *c, uint32_t i,
                      enum osc_arg_key key, enum osc_arg_key sizes)
{
    struct osc_numbers addresses = osc_numbers_of(f->t, c, i, key);
    struct osc_numbers bytes = osc_numbers_of(f->t, c, i, sizes);
    bool is_negative;
    uint64_t address, size;

    while (osc_numbers_next(&addresses, &is_negative, &address) &&
           osc_numbers_next(&bytes, &is_negative, &size)) {
        if (!is_negative && size <= INT64_MAX)
            tell(f, g, address, (struct osc_extent){(int64_t)size, -1});
    }
}

/* Whether some touch of G is of an object without records. */
static bool is_wanted(const struct finding *f, struct group g)
{
    for (size_t i = g.begin; i < g.end; i++) {
        const struct osc_flow_object *const o = &f->flow->objects[f->flow->object_of_touch[i]];

        if (o->alloc == 0 && o->release == 0)
            return true;
    }
    return false;
}

osc_status osc_extents_find(const struct osc_trace *t, const struct osc_touches *touches,
                            const struct osc_data_flow *flow, struct osc_extent *extents)
{
    struct finding f = {.t = t, .touches = touches, .flow = flow, .extents = extents};
    osc_status st = OSC_OK;
    size_t end;

    for (uint32_t i = 0; i < flow->n_objects; i++)
        extents[i] = (struct osc_extent){-1, -1};
    for (size_t i = 0; i < touches->n && st == OSC_OK; i = end) {
        const osc_row row = {touches->all[i].row};
        const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
        const uint32_t at = osc_row_place(row);

        for (end = i; end < touches->n && touches->all[end].row == row.v;)
            end++;
        const struct group g = {i, end};
        if (!is_wanted(&f, g))
            continue;
        st = tell_call(&f, g, c, at);
        tell_list(&f, g, c, at, OSC_ARG_KEY_PARAMETERS, OSC_ARG_KEY_PARAMETERS_BYTES);
        tell_list(&f, g, c, at, OSC_ARG_KEY_OPTIMIZER_STATE, OSC_ARG_KEY_STATE_BYTES);
    }
    osc_free(f.tensors);
    return st;
}
