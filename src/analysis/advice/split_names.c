/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/split_names.h"

#include <string.h>

#include "codec/json.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Operators that give a value of a tensor to the program, or need one to go on. */
static const char *const syncs[] = {
    "aten::item",    "aten::_local_scalar_dense", "aten::is_nonzero", "aten::equal",
    "aten::nonzero",
};

static const char *const copies[] = {
    "aten::copy_",
    "aten::clone",
    "aten::contiguous",
    "aten::_to_copy",
};

/* Operators that only look at a tensor in another way. */
static const char *const views[] = {
    "aten::view",           "aten::reshape",     "aten::permute",
    "aten::transpose",      "aten::t",           "aten::select",
    "aten::slice",          "aten::narrow",      "aten::unsqueeze",
    "aten::squeeze",        "aten::expand",      "aten::chunk",
    "aten::split",          "aten::unbind",      "aten::flatten",
    "aten::unflatten",      "aten::as_strided",  "aten::detach",
    "aten::alias",          "aten::to",          "aten::_unsafe_view",
    "aten::resolve_conj",   "aten::resolve_neg", "aten::movedim",
    "aten::_reshape_alias", "aten::swapaxes",    "aten::unsafe_chunk",
    "aten::unsafe_split",
};

static bool is_any(struct osc_str s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (osc_str_eq(s, osc_str_c(list[i])))
            return true;
    }
    return false;
}

/* Whether S is a convolution of torch's own, which it calls where no library has one. */
static bool is_slow_conv(struct osc_str s)
{
    static const char *const begins[] = {"aten::_slow_conv", "aten::slow_conv",
                                         "aten::thnn_conv", "aten::_thnn_conv"};

    for (size_t i = 0; i < COUNT(begins); i++) {
        if (osc_str_starts(s, osc_str_c(begins[i])))
            return true;
    }
    return false;
}

static uint32_t bits_of(struct osc_str s)
{
    uint32_t bits = OSC_SPLIT_IS_SEEN;

    if (is_any(s, syncs, COUNT(syncs)))
        bits |= OSC_SPLIT_IS_SYNC;
    if (is_any(s, copies, COUNT(copies)))
        bits |= OSC_SPLIT_IS_COPY;
    if (osc_str_eq(s, OSC_STR("aten::copy_")))
        bits |= OSC_SPLIT_IS_FILL;
    if (is_any(s, views, COUNT(views)))
        bits |= OSC_SPLIT_IS_VIEW;
    if (osc_str_starts(s, OSC_STR("aten::_foreach_")) ||
        osc_str_starts(s, OSC_STR("aten::_fused_")))
        bits |= OSC_SPLIT_IS_FOREACH;
    if (osc_str_has(s, OSC_STR(": _single_tensor_")))
        bits |= OSC_SPLIT_IS_SINGLE;
    if (osc_str_has(s, OSC_STR(": _default_to_fused_or_foreach")))
        bits |= OSC_SPLIT_IS_DEFAULT;
    if (osc_str_has(s, OSC_STR("built-in method run_backward ")))
        bits |= OSC_SPLIT_IS_ENGINE;
    if (is_slow_conv(s))
        bits |= OSC_SPLIT_IS_SLOW_CONV;
    if (osc_str_starts(s, OSC_STR("autograd::")))
        bits |= OSC_SPLIT_IS_BACKWARD;
    return bits;
}

osc_status osc_split_name_of(struct osc_split_cache *cache, const struct osc_trace *t,
                             const struct osc_chunk *k, uint32_t i, uint32_t *bits)
{
    uint32_t *const place = osc_idmap_put(&cache->names, k->name[i]);

    *bits = 0;
    if (!place)
        return OSC_ENOMEM;
    if (*place == 0)
        *place = bits_of(osc_row_name(t, k, i));
    *bits = *place;
    return OSC_OK;
}

bool osc_split_has_double(struct osc_str types, struct osc_str dims)
{
    struct osc_str type, dim, first;

    while (osc_json_next(&types, &type) && osc_json_next(&dims, &dim)) {
        if (osc_str_eq(type, OSC_STR("\"double\"")) && osc_json_next(&dim, &first))
            return true;
    }
    return false;
}

/* The text argument KEY of row I of K; 0: none. */
static osc_sid text_arg(const struct osc_trace *t, const struct osc_chunk *k, uint32_t i,
                        enum osc_arg_key key)
{
    struct osc_arg arg;

    if (!osc_row_arg(t, k, i, key, &arg) || arg.type != OSC_ARG_TEXT)
        return (osc_sid){0};
    return arg.sid;
}

static osc_status has_double_inputs(struct osc_split_cache *cache, const struct osc_trace *t,
                                    const struct osc_chunk *k, uint32_t i, bool *has)
{
    const osc_sid types = text_arg(t, k, i, OSC_ARG_KEY_INPUT_TYPE);
    osc_sid dims = text_arg(t, k, i, OSC_ARG_KEY_INPUT_DIMS);

    *has = false;
    if (dims.v == 0)
        dims = text_arg(t, k, i, OSC_ARG_KEY_INPUT_DIMS_OLD);
    if (types.v == 0 || dims.v == 0)
        return OSC_OK;
    uint32_t *const place = osc_idmap_put(&cache->doubles, (uint64_t)types.v << 32 | dims.v);
    if (!place)
        return OSC_ENOMEM;
    if (*place == 0)
        *place = osc_split_has_double(osc_trace_str(t, types), osc_trace_str(t, dims)) ? 2 : 1;
    *has = *place == 2;
    return OSC_OK;
}

osc_status osc_split_class_of(struct osc_split_cache *cache, const struct osc_trace *t,
                              const struct osc_classes *c, const struct osc_chunk *k,
                              uint32_t i, enum osc_split_class *class)
{
    const enum osc_kind kind = (enum osc_kind)k->kind[i];
    uint32_t bits = 0;
    bool has_double = false;

    *class = OSC_SPLIT_NOTHING;
    if (osc_is_on_device(c, k, i))
        return OSC_OK;
    if (kind == OSC_KIND_DATALOADER)
        *class = OSC_SPLIT_DATALOADER;
    else if (kind == OSC_KIND_OPTIMIZER)
        *class = OSC_SPLIT_OPTIMIZER;
    else if (kind == OSC_KIND_PYTHON || kind == OSC_KIND_MODULE || kind == OSC_KIND_FRAME)
        *class = OSC_SPLIT_FUNCTION;
    else if (kind == OSC_KIND_ANNOTATION || kind == OSC_KIND_SCOPE)
        *class = OSC_SPLIT_NOTE;
    if (kind != OSC_KIND_OPERATOR)
        return OSC_OK;
    osc_status st = osc_split_name_of(cache, t, k, i, &bits);
    if (st == OSC_OK && !(bits & (OSC_SPLIT_IS_SYNC | OSC_SPLIT_IS_COPY)))
        st = has_double_inputs(cache, t, k, i, &has_double);
    *class = bits & OSC_SPLIT_IS_SYNC        ? OSC_SPLIT_SYNC
             : bits & OSC_SPLIT_IS_COPY      ? OSC_SPLIT_COPY
             : has_double                    ? OSC_SPLIT_DOUBLE
             : bits & OSC_SPLIT_IS_SLOW_CONV ? OSC_SPLIT_SLOW_CONV
                                             : OSC_SPLIT_OPERATOR;
    return st;
}

void osc_split_cache_fini(struct osc_split_cache *cache)
{
    osc_idmap_fini(&cache->names);
    osc_idmap_fini(&cache->doubles);
}

struct osc_str osc_split_without_address(struct osc_str name)
{
    static const char at[] = " at 0x";
    const uint32_t len = sizeof at - 1;

    for (uint32_t i = name.len; i >= len; i--) {
        if (memcmp(name.s + i - len, at, len) == 0)
            return (struct osc_str){name.s, i - len};
    }
    return name;
}
