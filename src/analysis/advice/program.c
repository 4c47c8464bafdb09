/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/program.h"

#include "model/producer.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool has_any(struct osc_str name, const char *const *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (osc_str_has(name, osc_str_c(parts[i])))
            return true;
    }
    return false;
}

/* Whether a range of the host or a kernel called NAME comes from torch.compile. */
static bool is_compiled(struct osc_str name, bool is_kernel)
{
    static const char *const ranges[] = {"Torch-Compiled Region", "CompiledFxGraph",
                                         "CompiledFunctionBackward"};
    static const char *const kernels[] = {"triton_poi_", "triton_red_", "triton_per_",
                                          "triton_tem_", "triton_mm"};

    return is_kernel ? has_any(name, kernels, COUNT(kernels))
                     : has_any(name, ranges, COUNT(ranges));
}

bool osc_program_is_half(struct osc_str name)
{
    static const char *const types[] = {"bf16",   "bfloat16", "BFloat16", "__half",
                                        "::Half", "fp16",     "f16"};

    return has_any(name, types, COUNT(types)) || osc_str_eq(name, OSC_STR("Half"));
}

/* What the names of a trace show. */
struct seen {
    bool has_graphs, is_compiled, has_half, is_fused;
    bool has_workers, lacks_workers; /* loaders of data with processes of their own; without */
    bool has_broadcast, has_buffers; /* tensors are packed into one to be broadcast */
};

static struct seen look(const struct osc_advice_base *a)
{
    const uint16_t *const names = a->f->classes.names;
    const uint32_t n = a->f->classes.n_names;
    struct seen seen = {0};

    for (uint32_t i = 1; i < n; i++) {
        const bool is_kernel = names[i] & OSC_NAME_SEEN_KERNEL;

        if (!(names[i] & (OSC_NAME_SEEN_KERNEL | OSC_NAME_SEEN_HOST)))
            continue;
        const struct osc_str name = osc_trace_str(a->t, (osc_sid){i});
        seen.has_graphs |= (names[i] & OSC_NAME_GRAPH) != 0;
        seen.is_compiled = seen.is_compiled || is_compiled(name, is_kernel);
        seen.is_fused = seen.is_fused || osc_str_starts(name, OSC_STR("aten::_foreach_")) ||
                        osc_str_starts(name, OSC_STR("aten::_fused_"));
        seen.has_broadcast = seen.has_broadcast || osc_str_has(name, OSC_STR("broadcast"));
        seen.has_buffers =
            seen.has_buffers || osc_str_eq(name, OSC_STR("aten::unflatten_dense_tensors"));
        seen.has_workers =
            seen.has_workers || osc_str_has(name, OSC_STR("_MultiProcessingDataLoaderIter"));
        seen.lacks_workers =
            seen.lacks_workers || osc_str_has(name, OSC_STR("_SingleProcessDataLoaderIter"));
        seen.has_half = seen.has_half || (is_kernel && osc_program_is_half(name));
    }
    return seen;
}

void osc_program_traits(const struct osc_advice_base *a, struct osc_strbuf *out)
{
    const struct osc_loads *const loads = &a->f->loads;
    const struct seen seen = look(a);
    struct osc_str name =
        loads->n_devices > 0 ? osc_trace_str(a->t, loads->devices[0].name) : OSC_STR("-");

    if (loads->n_devices > 1)
        (void)osc_device_split(name, &name);
    osc_strbuf_addstr(out, name.len > 0 ? name : OSC_STR("-"));
    if (a->t->is_torch)
        osc_strbuf_adds(out, a->has_operators ? " torch" : " torch hostless");
    if (osc_producer_dialect((enum osc_producer)a->t->producer) == OSC_DIALECT_XLA &&
        a->t->producer != OSC_PRODUCER_TENSORFLOW_XLA)
        osc_strbuf_adds(out, " jax");
    if (a->t->producer == OSC_PRODUCER_TENSORFLOW ||
        a->t->producer == OSC_PRODUCER_TENSORFLOW_XLA)
        osc_strbuf_adds(out, " tensorflow");
    osc_strbuf_adds(out, a->has_functions ? " functions" : "");
    osc_strbuf_adds(out, seen.has_graphs ? " graphs" : "");
    osc_strbuf_adds(out, seen.is_compiled ? " compile" : "");
    osc_strbuf_adds(out, seen.is_fused ? " fused" : "");
    osc_strbuf_adds(out, seen.has_half ? " half" : "");
    osc_strbuf_adds(out, seen.has_broadcast && seen.has_buffers ? " buffers" : "");
    osc_strbuf_adds(out, seen.has_workers && !seen.lacks_workers ? " workers" : "");
}

osc_status osc_program_uses_half(const struct osc_advice_base *a, bool *uses)
{
    const struct osc_store *const events = &a->t->events;
    struct osc_idmap known = {0};
    osc_status st = OSC_OK;

    *uses = look(a).has_half;
    for (uint32_t k = 1; k < events->n_chunks && !*uses && st == OSC_OK; k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; i < c->n_rows && !*uses && st == OSC_OK; i++) {
            struct osc_arg arg;

            if (c->kind[i] != OSC_KIND_OPERATOR ||
                !osc_row_arg(a->t, c, i, OSC_ARG_KEY_INPUT_TYPE, &arg) ||
                arg.type != OSC_ARG_TEXT)
                continue;
            uint32_t *const place = osc_idmap_put(&known, arg.sid.v);
            if (place && *place == 0)
                *uses = osc_str_has(osc_trace_str(a->t, arg.sid), OSC_STR("c10::Half")) ||
                        osc_str_has(osc_trace_str(a->t, arg.sid), OSC_STR("c10::BFloat16"));
            st = place ? OSC_OK : OSC_ENOMEM;
            if (place)
                *place = 1;
        }
    }
    osc_idmap_fini(&known);
    return st;
}
