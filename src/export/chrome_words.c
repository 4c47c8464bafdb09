/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome_words.h"

#include <string.h>

#include "import/chrome/dialect.h"
#include "model/known_names.h"

static const char *const categories[OSC_KIND_COUNT] = {
    [OSC_KIND_OPERATOR] = "cpu_op",         [OSC_KIND_ANNOTATION] = "user_annotation",
    [OSC_KIND_STEP] = "user_annotation",    [OSC_KIND_MODULE] = "module",
    [OSC_KIND_PYTHON] = "python_function",  [OSC_KIND_KERNEL] = "kernel",
    [OSC_KIND_MEMCPY] = "gpu_memcpy",       [OSC_KIND_MEMSET] = "gpu_memset",
    [OSC_KIND_SYNC] = "cuda_sync",          [OSC_KIND_COMMUNICATION] = "collective_comm",
    [OSC_KIND_OVERHEAD] = "overhead",       [OSC_KIND_DATALOADER] = "dataloader",
    [OSC_KIND_OPTIMIZER] = "optimizer",     [OSC_KIND_SCOPE] = "scope",
    [OSC_KIND_ALLOC] = "cpu_instant_event", [OSC_KIND_FREE] = "cpu_instant_event",
    [OSC_KIND_OOM] = "cpu_instant_event",
};

static const char *const arrows[] = {
    [OSC_ARROW_OTHER] = "flow",
    [OSC_ARROW_LAUNCH] = "ac2g",
    [OSC_ARROW_FORWARD] = "fwdbwd",
};

/* Calls into the runtime and the driver of devices, by PyTorch's word for these. */
static const struct calls {
    const char *device, *runtime, *driver;
} calls[] = {
    {"cuda", "cuda_runtime", "cuda_driver"},
    {"xpu", "xpu_runtime", "xpu_driver"},
    {"mtia", "mtia_runtime", "cuda_driver"},
    {"hpu", "hpu_runtime", "cuda_driver"},
    {"privateuse1", "privateuse1_runtime", "privateuse1_driver"},
};

/* The words for calls that drive the devices of T; if they are of several families, or none is
 * known, those of CUDA. */
static const struct calls *find_calls(const struct osc_trace *t)
{
    const struct calls *found = NULL;

    for (uint32_t i = 0; i < t->n_tracks; i++) {
        struct osc_str family = osc_trace_str(t, t->tracks[i].device);
        const char *const colon = family.len > 0 ? memchr(family.s, ':', family.len) : NULL;
        const struct calls *of = &calls[sizeof calls / sizeof *calls - 1];

        if (family.len == 0)
            continue;
        if (colon)
            family.len = (uint32_t)(colon - family.s);
        for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
            if (osc_str_eq(osc_known_device_word(family), osc_str_c(calls[k].device)))
                of = &calls[k];
        if (found && found != of)
            return &calls[0];
        found = of;
    }
    return found ? found : &calls[0];
}

char osc_chrome_letter(const struct osc_form *f)
{
    if (osc_form_is_neutral(f))
        return osc_dialect_letter((enum osc_form_shape)f->shape);
    return f->chrome_ph;
}

struct osc_str osc_chrome_category(const struct osc_trace *t, const struct osc_form *f)
{
    const char *word = NULL;

    /* A category that a program made up would not tell the kind. */
    if ((f->category.v != 0 && f->kind == OSC_KIND_SCOPE) || !osc_form_is_neutral(f))
        return osc_trace_str(t, f->category);
    if (osc_shape_is_arrow((enum osc_form_shape)f->shape))
        word = arrows[f->arrow];
    else if (f->kind == OSC_KIND_ANNOTATION && f->is_device)
        word = "gpu_user_annotation";
    else if (f->kind == OSC_KIND_RUNTIME)
        word = find_calls(t)->runtime;
    else if (f->kind == OSC_KIND_DRIVER)
        word = find_calls(t)->driver;
    else
        word = categories[f->kind];
    return word ? osc_str_c(word) : OSC_STR("");
}

const char *osc_chrome_members(const struct osc_form *f)
{
    if (!osc_form_is_neutral(f))
        return "";
    if (f->kind == OSC_KIND_ALLOC || f->kind == OSC_KIND_FREE || f->kind == OSC_KIND_OOM)
        return ",\"s\":\"t\"";
    /* It leads to what starts there, and to nothing behind it. */
    return f->shape == OSC_SHAPE_ARROW_TO ? ",\"bp\":\"e\"" : "";
}

struct osc_str osc_chrome_name(const struct osc_trace *t, const struct osc_form *f)
{
    return osc_form_is_neutral(f) && osc_shape_is_arrow((enum osc_form_shape)f->shape)
               ? osc_chrome_category(t, f)
               : OSC_STR("");
}
