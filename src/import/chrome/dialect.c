/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/dialect.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "import/build/kinds.h"
#include "model/known_names.h"

struct category {
    const char *text; /* in lower case */
    enum osc_kind kind;
    bool is_device, is_frame;
};

/* What PyTorch and Kineto have written since 1.6. */
static const struct category categories[] = {
    {"cpu_op", OSC_KIND_OPERATOR, false, false},
    {"operator", OSC_KIND_OPERATOR, false, false},
    {"hpu_op", OSC_KIND_OPERATOR, false, false},
    {"user_annotation", OSC_KIND_ANNOTATION, false, false},
    {"gpu_user_annotation", OSC_KIND_ANNOTATION, true, false},
    {"runtime", OSC_KIND_RUNTIME, false, false},
    {"cuda_runtime", OSC_KIND_RUNTIME, false, false},
    {"xpu_runtime", OSC_KIND_RUNTIME, false, false},
    {"mtia_runtime", OSC_KIND_RUNTIME, false, false},
    {"glow_runtime", OSC_KIND_RUNTIME, false, false},
    {"hpu_runtime", OSC_KIND_RUNTIME, false, false},
    {"privateuse1_runtime", OSC_KIND_RUNTIME, false, false},
    {"cuda_driver", OSC_KIND_DRIVER, false, false},
    {"xpu_driver", OSC_KIND_DRIVER, false, false},
    {"privateuse1_driver", OSC_KIND_DRIVER, false, false},
    {"kernel", OSC_KIND_KERNEL, true, false},
    {"mtia_ccp_events", OSC_KIND_KERNEL, true, false},
    {"memcpy", OSC_KIND_MEMCPY, true, false},
    {"gpu_memcpy", OSC_KIND_MEMCPY, true, false},
    {"hpu_memcpy", OSC_KIND_MEMCPY, true, false},
    {"memset", OSC_KIND_MEMSET, true, false},
    {"gpu_memset", OSC_KIND_MEMSET, true, false},
    {"cuda_sync", OSC_KIND_SYNC, true, false},
    {"xpu_sync", OSC_KIND_SYNC, true, false},
    {"cuda_event", OSC_KIND_SYNC, true, false},
    {"python", OSC_KIND_PYTHON, false, false},
    {"python_function", OSC_KIND_PYTHON, false, true},
    {"collective_comm", OSC_KIND_COMMUNICATION, false, false},
    {"overhead", OSC_KIND_OVERHEAD, false, false},
    /* Categories of recordings exported by opscope, where Kineto has no word. */
    {"scope", OSC_KIND_SCOPE, false, false},
    {"module", OSC_KIND_MODULE, false, false},
    {"dataloader", OSC_KIND_DATALOADER, false, false},
    {"optimizer", OSC_KIND_OPTIMIZER, false, false},
};

static const struct category *find_category(struct osc_str category)
{
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        const char *text = categories[i].text;
        uint32_t n = 0;

        while (n < category.len && text[n] != '\0' &&
               tolower((unsigned char)category.s[n]) == text[n])
            n++;
        if (n == category.len && text[n] == '\0')
            return &categories[i];
    }
    return NULL;
}

struct osc_str osc_dialect_device(struct osc_str category)
{
    static const char *const families[] = {"xpu", "mtia", "hpu", "privateuse1"};

    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const struct osc_str family = osc_str_c(families[i]);
        if (category.len > family.len && category.s[family.len] == '_' &&
            osc_str_starts(category, family))
            return family;
    }
    return (struct osc_str){"", 0};
}

struct osc_str osc_dialect_called_family(const struct osc_trace *t)
{
    struct osc_str found = OSC_STR("");

    for (uint32_t i = 1; i < osc_strings_bound(&t->strings); i++) {
        const osc_sid id = {i};

        if (!osc_strings_has(&t->strings, id))
            continue;
        const struct osc_str family = osc_known_call_device(osc_trace_str(t, id));
        if (osc_str_eq(family, OSC_STR("hip")))
            return family;
        if (family.len > 0 && (found.len == 0 || osc_str_cmp(family, found) < 0))
            found = family;
    }
    return found;
}

bool osc_dialect_is_device(struct osc_str category)
{
    const struct category *c = find_category(category);

    return c && c->is_device;
}

bool osc_dialect_is_call(struct osc_str category)
{
    const struct category *c = find_category(category);

    return c && osc_kind_is_launch((enum osc_kind)c->kind);
}

/* The kind of arrows of CATEGORY. */
static enum osc_arrow_kind arrow_of(struct osc_str category)
{
    if (osc_str_eq(category, OSC_STR("ac2g")) || osc_str_eq(category, OSC_STR("async")) ||
        osc_str_eq(category, OSC_STR("async_cpu_to_gpu")))
        return OSC_ARROW_LAUNCH;
    if (osc_str_eq(category, OSC_STR("fwdbwd")) ||
        osc_str_eq(category, OSC_STR("forward_backward")))
        return OSC_ARROW_FORWARD;
    return OSC_ARROW_OTHER;
}

/* The kind of events of shape SHAPE and category C, which may be NULL. */
static enum osc_kind kind_of(enum osc_form_shape shape, const struct category *c)
{
    if (shape == OSC_SHAPE_COUNTER)
        return OSC_KIND_COUNTER;
    if (shape == OSC_SHAPE_INSTANT)
        return OSC_KIND_INSTANT;
    return c ? c->kind : OSC_KIND_SCOPE;
}

char osc_dialect_letter(enum osc_form_shape shape)
{
    static const char letters[OSC_SHAPE_COUNT] = {
        [OSC_SHAPE_RANGE] = 'X',     [OSC_SHAPE_BEGIN] = 'B',      [OSC_SHAPE_ASYNC] = 'b',
        [OSC_SHAPE_INSTANT] = 'i',   [OSC_SHAPE_COUNTER] = 'C',    [OSC_SHAPE_END] = 'E',
        [OSC_SHAPE_ASYNC_END] = 'e', [OSC_SHAPE_ARROW_FROM] = 's', [OSC_SHAPE_ARROW_STEP] = 't',
        [OSC_SHAPE_ARROW_TO] = 'f',  [OSC_SHAPE_ABOUT] = 'M',
    };

    if ((unsigned)shape < OSC_SHAPE_COUNT)
        return letters[shape];
    return '\0';
}

enum osc_form_shape osc_dialect_shape(uint8_t letter)
{
    static const char instants[] = "InRPTpNOD";

    if (letter != '\0' && strchr(instants, letter))
        return OSC_SHAPE_INSTANT;
    if (letter == 'S')
        return OSC_SHAPE_ASYNC;
    if (letter == 'F')
        return OSC_SHAPE_ASYNC_END;
    for (int shape = OSC_SHAPE_RANGE; shape < OSC_SHAPE_COUNT; shape++) {
        if ((uint8_t)osc_dialect_letter((enum osc_form_shape)shape) == letter)
            return (enum osc_form_shape)shape;
    }
    return OSC_SHAPE_NONE;
}

void osc_dialect_mark_tracks(struct osc_trace *t)
{
    static const char *const pids[] = {"", "Spans", "Traces"};

    if (t->producer != OSC_PRODUCER_KINETO && t->producer != OSC_PRODUCER_OPSCOPE)
        return; /* in Ray's timelines the process of all threads is "" */
    for (uint32_t i = 1; i < t->n_tracks; i++) {
        const struct osc_str pid = osc_trace_str(t, t->tracks[i].pid);

        for (size_t k = 0; k < sizeof pids / sizeof *pids; k++)
            t->tracks[i].is_of_trace |= osc_str_eq(pid, osc_str_c(pids[k]));
    }
}

void osc_dialect_fit_form(const struct osc_trace *t, struct osc_form *f)
{
    const struct osc_str text = osc_trace_str(t, f->category);
    const struct category *const c = find_category(text);
    const enum osc_form_shape shape = osc_dialect_shape((uint8_t)f->chrome_ph);

    f->shape = (uint8_t)shape;
    f->kind = (uint8_t)kind_of(shape, c);
    f->arrow = (uint8_t)(osc_shape_is_arrow(shape) ? arrow_of(text) : OSC_ARROW_OTHER);
    f->is_device = c && c->is_device;
    f->is_frame = c && c->is_frame;
    f->is_profiler = osc_str_eq_case(text, OSC_STR("trace"));
}

/* The kind of an instant: the name tells allocations and failures from others. */
static enum osc_kind instant_kind(const struct osc_trace *t, const struct osc_chunk *k,
                                  uint32_t i)
{
    const struct osc_str name = osc_row_name(t, k, i);
    int64_t bytes = 0;

    if (osc_str_eq(name, OSC_STR(OSC_KNOWN_OOM)))
        return OSC_KIND_OOM;
    if (!osc_str_eq(name, OSC_STR(OSC_KNOWN_MEMORY)))
        return OSC_KIND_INSTANT;
    osc_row_arg_int(t, k, i, OSC_ARG_KEY_BYTES, &bytes);
    return bytes > 0 ? OSC_KIND_ALLOC : OSC_KIND_FREE;
}

/* What MTIA's queues do besides kernels, by the beginning of the name. All of it has one
 * category. */
static const struct {
    const char *start;
    enum osc_kind kind;
} of_mtia[] = {
    {"dma_", OSC_KIND_MEMCPY},  {"memcpy", OSC_KIND_MEMCPY},    {"memset", OSC_KIND_MEMSET},
    {"event_", OSC_KIND_SYNC},  {"wait", OSC_KIND_SYNC},        {"barrier", OSC_KIND_SYNC},
    {"notify_", OSC_KIND_SYNC}, {"stream_sync", OSC_KIND_SYNC},
};

static enum osc_kind mtia_kind(struct osc_str name)
{
    for (size_t i = 0; i < sizeof of_mtia / sizeof *of_mtia; i++) {
        if (osc_str_starts(name, osc_str_c(of_mtia[i].start)))
            return of_mtia[i].kind;
    }
    return OSC_KIND_KERNEL;
}

static bool is_mtia(const struct osc_trace *t, const struct osc_form *f)
{
    return f->kind == OSC_KIND_KERNEL &&
           osc_str_eq_case(osc_trace_str(t, f->category), OSC_STR("mtia_ccp_events"));
}

osc_status osc_variants_find(struct osc_variants *v, struct osc_trace *t, uint32_t form,
                             struct osc_meaning m, uint32_t *found)
{
    const uint64_t key =
        (uint64_t)form << 16 | (uint64_t)m.kind << 2 | (uint64_t)m.is_device << 1 | m.is_frame;
    uint32_t *const place = osc_idmap_put(&v->of, key);

    if (!place)
        return OSC_ENOMEM;
    if (*place == 0) {
        if (v->cap_forms < t->n_forms)
            v->cap_forms = t->n_forms;
        if (osc_grow(&t->forms, &v->cap_forms, (size_t)t->n_forms + 1, sizeof *t->forms) !=
            OSC_OK)
            return OSC_ENOMEM;
        struct osc_form *const made = &t->forms[t->n_forms];

        *made = t->forms[form];
        made->kind = m.kind;
        made->is_device = m.is_device;
        made->is_frame = m.is_frame;
        if (osc_form_set_slots(made, t->forms[form].slots, t->forms[form].n_slots) != OSC_OK)
            return OSC_ENOMEM;
        *place = t->n_forms++;
    }
    *found = *place;
    return OSC_OK;
}

void osc_variants_fini(struct osc_variants *v)
{
    osc_idmap_fini(&v->of);
    *v = (struct osc_variants){0};
}

/* Give the work of MTIA in T its kinds. */
static osc_status name_mtia(struct osc_trace *t)
{
    struct osc_variants variants = {0};
    osc_status st = OSC_OK;

    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        struct osc_chunk *const k = t->events.chunks[c];

        for (uint32_t i = 0; i < k->n_rows && st == OSC_OK; i++) {
            const struct osc_form *const f = osc_row_form(t, k, i);

            if (!is_mtia(t, f))
                continue;
            const struct osc_meaning m = {.kind = (uint8_t)mtia_kind(osc_row_name(t, k, i)),
                                          .is_device = f->is_device,
                                          .is_frame = f->is_frame};

            k->kind[i] = m.kind;
            if (m.kind != OSC_KIND_KERNEL)
                st = osc_variants_find(&variants, t, k->form[i], m, &k->form[i]);
        }
    }
    osc_variants_fini(&variants);
    return st;
}

/* Set the kinds of the instants of a chunk; most traces have few. */
static void name_instants(void *ctx, uint32_t at)
{
    const struct osc_trace *const t = ctx;
    struct osc_chunk *const k = t->events.chunks[at + 1];
    uint8_t *p = k->kind;
    uint8_t *const end = k->kind + k->n_rows;

    for (; p < end && (p = memchr(p, OSC_KIND_INSTANT, (size_t)(end - p))) != NULL; p++)
        *p = (uint8_t)instant_kind(t, k, (uint32_t)(p - k->kind));
}

osc_status osc_dialect_classify(struct osc_trace *t, unsigned n_threads)
{
    bool has_instants = false, has_mtia = false;

    for (uint32_t i = 1; i < t->n_forms; i++) {
        osc_dialect_fit_form(t, &t->forms[i]);
        has_instants |= t->forms[i].kind == OSC_KIND_INSTANT;
        has_mtia |= is_mtia(t, &t->forms[i]);
    }
    osc_status st = osc_kinds_set(t, n_threads);
    if (st == OSC_OK && has_instants && t->events.n_chunks > 1)
        osc_parallel(n_threads, t->events.n_chunks - 1, name_instants, t);
    if (st == OSC_OK && has_mtia)
        st = name_mtia(t);
    return st;
}
