/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/dialect.h"

#include <ctype.h>

#include "base/mem.h"
#include "base/thread.h"

struct category {
    const char *text; /* in lower case */
    enum osc_kind kind;
    bool is_device;
};

/* What PyTorch and Kineto have written since 1.6. */
static const struct category categories[] = {
    {"cpu_op", OSC_KIND_OPERATOR, false},
    {"operator", OSC_KIND_OPERATOR, false},
    {"hpu_op", OSC_KIND_OPERATOR, false},
    {"user_annotation", OSC_KIND_ANNOTATION, false},
    {"gpu_user_annotation", OSC_KIND_ANNOTATION, true},
    {"runtime", OSC_KIND_RUNTIME, false},
    {"cuda_runtime", OSC_KIND_RUNTIME, false},
    {"xpu_runtime", OSC_KIND_RUNTIME, false},
    {"mtia_runtime", OSC_KIND_RUNTIME, false},
    {"glow_runtime", OSC_KIND_RUNTIME, false},
    {"privateuse1_runtime", OSC_KIND_RUNTIME, false},
    {"cuda_driver", OSC_KIND_DRIVER, false},
    {"xpu_driver", OSC_KIND_DRIVER, false},
    {"privateuse1_driver", OSC_KIND_DRIVER, false},
    {"kernel", OSC_KIND_KERNEL, true},
    {"mtia_ccp_events", OSC_KIND_KERNEL, true},
    {"memcpy", OSC_KIND_MEMCPY, true},
    {"gpu_memcpy", OSC_KIND_MEMCPY, true},
    {"memset", OSC_KIND_MEMSET, true},
    {"gpu_memset", OSC_KIND_MEMSET, true},
    {"cuda_sync", OSC_KIND_SYNC, true},
    {"xpu_sync", OSC_KIND_SYNC, true},
    {"cuda_event", OSC_KIND_SYNC, true},
    {"python", OSC_KIND_PYTHON, false},
    {"python_function", OSC_KIND_PYTHON, false},
    {"collective_comm", OSC_KIND_COMMUNICATION, false},
    {"overhead", OSC_KIND_OVERHEAD, false},
    /* Our own recordings, where Kineto has no word. */
    {"scope", OSC_KIND_SCOPE, false},
    {"module", OSC_KIND_MODULE, false},
    {"dataloader", OSC_KIND_DATALOADER, false},
    {"optimizer", OSC_KIND_OPTIMIZER, false},
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
    static const char *const families[] = {"xpu", "mtia", "privateuse1"};

    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const struct osc_str family = osc_str_c(families[i]);
        if (category.len > family.len && category.s[family.len] == '_' &&
            osc_str_starts(category, family))
            return family;
    }
    return (struct osc_str){"", 0};
}

bool osc_dialect_is_device(struct osc_str category)
{
    const struct category *c = find_category(category);

    return c && c->is_device;
}

/* Name decides between kinds of host ranges. Bits of a string: */
enum name_bit {
    NAME_STEP = 1,
    NAME_DATALOADER = 2,
    NAME_OPTIMIZER = 4,
    NAME_COLLECTIVE = 8,
    NAME_MEMORY = 16,
    NAME_OOM = 32,
};

static bool is_step_name(struct osc_str s)
{
    const struct osc_str prefix = OSC_STR("ProfilerStep#");

    if (!osc_str_starts(s, prefix) || s.len == prefix.len)
        return false;
    for (uint32_t i = prefix.len; i < s.len; i++)
        if (s.s[i] < '0' || s.s[i] > '9')
            return false;
    return true;
}

static uint8_t name_bits(struct osc_str s)
{
    static const char *const backends[] = {"nccl:", "gloo:", "mpi:", "ucc:", "xccl:", "hccl:"};
    uint8_t bits = 0;

    if (s.len == 0)
        return 0;
    switch (s.s[0]) {
    case 'P':
        return is_step_name(s) ? NAME_STEP : 0;
    case 'e':
        if (osc_str_starts(s, OSC_STR("enumerate(DataPipe)#")) ||
            (osc_str_starts(s, OSC_STR("enumerate(DataLoader)#")) &&
             osc_str_ends(s, OSC_STR(".__next__"))))
            bits = NAME_DATALOADER;
        return bits;
    case 'O':
        return osc_str_starts(s, OSC_STR("Optimizer.step")) ? NAME_OPTIMIZER : 0;
    case '[':
        if (osc_str_eq(s, OSC_STR("[memory]")))
            return NAME_MEMORY;
        return osc_str_eq(s, OSC_STR("[OutOfMemory]")) ? NAME_OOM : 0;
    default:
        break;
    }
    if (osc_str_starts(s, OSC_STR("c10d::")) || osc_str_eq(s, OSC_STR("record_param_comms")))
        return NAME_COLLECTIVE;
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
        if (osc_str_starts(s, osc_str_c(backends[i])))
            bits |= NAME_COLLECTIVE;
    return bits;
}

struct classifying {
    struct osc_trace *t;
    uint8_t *bits;       /* owned; per string */
    uint8_t *is_user;    /* owned; per form: category user_annotation */
    uint8_t *has_module; /* owned; per form: a python_function of a module */
    uint32_t n_strings;
};

static void find_bits(void *ctx, uint32_t part)
{
    struct classifying *c = ctx;
    const uint32_t from = part << 16;
    const uint32_t to = c->n_strings - from > 1u << 16 ? from + (1u << 16) : c->n_strings;

    for (uint32_t i = from; i < to; i++)
        c->bits[i] = osc_strings_has(&c->t->strings, (osc_sid){i})
                         ? name_bits(osc_strings_get(&c->t->strings, (osc_sid){i}))
                         : 0;
}

static enum osc_kind instant_kind(const struct osc_trace *t, const struct osc_chunk *k,
                                  uint32_t i, uint8_t bits)
{
    int64_t bytes = 0;

    if (bits & NAME_MEMORY) {
        osc_row_arg_int(t, k, i, OSC_ARG_KEY_BYTES, &bytes);
        return bytes > 0 ? OSC_KIND_ALLOC : OSC_KIND_FREE;
    }
    return bits & NAME_OOM ? OSC_KIND_OOM : OSC_KIND_INSTANT;
}

static enum osc_kind refine(enum osc_kind kind, bool is_user, uint8_t bits)
{
    if (bits & NAME_STEP)
        return OSC_KIND_STEP;
    if (bits & NAME_DATALOADER)
        return OSC_KIND_DATALOADER;
    if (is_user && bits & NAME_OPTIMIZER)
        return OSC_KIND_OPTIMIZER;
    if (is_user && bits & NAME_COLLECTIVE)
        return OSC_KIND_COMMUNICATION;
    return kind;
}

static void classify_chunk(void *ctx, uint32_t at)
{
    const struct classifying *c = ctx;
    const struct osc_trace *t = c->t;
    struct osc_chunk *k = t->events.chunks[at + 1];

    for (uint32_t i = 0; i < k->n_rows; i++) {
        const uint32_t form = k->form[i];
        const uint8_t bits = c->bits[k->name[i]];
        enum osc_kind kind = (enum osc_kind)t->forms[form].kind;

        if (kind == OSC_KIND_INSTANT)
            kind = instant_kind(t, k, i, bits);
        else if (bits && !t->forms[form].is_device &&
                 (kind == OSC_KIND_OPERATOR || kind == OSC_KIND_ANNOTATION))
            kind = refine(kind, c->is_user[form], bits);
        else if (c->has_module[form])
            kind = OSC_KIND_MODULE;
        k->kind[i] = (uint8_t)kind;
    }
}

/* What phase and category say of every form. */
static void classify_forms(struct classifying *c)
{
    struct osc_trace *t = c->t;

    for (uint32_t i = 1; i < t->n_forms; i++) {
        struct osc_form *f = &t->forms[i];
        const struct osc_str text = osc_trace_str(t, f->category);
        const struct category *category = find_category(text);
        const int16_t module = f->known[OSC_ARG_KEY_PYTHON_MODULE_ID];

        f->is_device = category && category->is_device;
        if (f->ph == 'C')
            f->kind = OSC_KIND_COUNTER;
        else if (f->ph == 'i' || f->ph == 'I' || f->ph == 'n')
            f->kind = OSC_KIND_INSTANT;
        else
            f->kind = (uint8_t)(category ? category->kind : OSC_KIND_SCOPE);
        c->is_user[i] = category && strcmp(category->text, "user_annotation") == 0;
        c->has_module[i] = category && strcmp(category->text, "python_function") == 0 &&
                           module >= 0 && f->slots[module].type != OSC_ARG_NULL &&
                           f->kind == OSC_KIND_PYTHON;
    }
}

osc_status osc_dialect_classify(struct osc_trace *t, unsigned n_threads)
{
    struct classifying c = {.t = t, .n_strings = osc_strings_bound(&t->strings)};
    osc_status st = OSC_ENOMEM;

    c.bits = osc_malloc(c.n_strings);
    c.is_user = osc_calloc(t->n_forms, 1);
    c.has_module = osc_calloc(t->n_forms, 1);
    if (!c.bits || !c.is_user || !c.has_module)
        goto out;
    classify_forms(&c);
    osc_parallel(n_threads, (c.n_strings + 0xffff) >> 16, find_bits, &c);
    if (t->events.n_chunks > 1)
        osc_parallel(n_threads, t->events.n_chunks - 1, classify_chunk, &c);
    st = OSC_OK;
out:
    osc_free(c.bits);
    osc_free(c.is_user);
    osc_free(c.has_module);
    return st;
}
