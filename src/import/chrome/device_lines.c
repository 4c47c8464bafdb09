/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/device_lines.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "codec/json.h"
#include "import/chrome/dialect.h"
#include "import/chrome/enclosing_ranges.h"
#include "import/chrome/line_roles.h"
#include "model/known_names.h"
#include "model/producer.h"

#define MAX_INDEX 65535 /* of a device: beyond it, a number is no index */

struct fitting {
    struct osc_trace *t;
    enum osc_dialect dialect;
    struct osc_line *lines; /* owned; by track */
    struct osc_variants variants;
    struct osc_idmap streams; /* ASCEND: ids of streams whose tasks are parts of collectives */
    bool has_names;           /* LEGACY: operators have a namespace */
    bool has_collectives;     /* ASCEND: whole ones have lines of their own */
    bool has_steps;           /* a line of steps */
    bool has_unmatched;       /* a device without a number was reported */
    struct osc_enclosing_ranges repeats;
    size_t n_passed; /* of the repeats, whose rows were fitted */
};

/*
 * Lines of Ascend that repeat tasks of another process are summaries of it: older views of the
 * tasks, and the planes of collectives. Where only planes have collectives, their tasks on
 * streams are the work; where there is nothing else, they are.
 */
static void choose_tasks(struct fitting *f)
{
    const struct osc_trace *const t = f->t;
    int first = -1;

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 1; i < t->n_tracks; i++) {
            struct osc_line *const l = &f->lines[i];
            const int rank =
                osc_line_ascend_rank(osc_trace_str(t, t->processes[t->tracks[i].process].name));

            if (pass == 0 && l->role == OSC_LINE_WORK && rank < 0)
                f->has_collectives = true;
            if (pass == 0 && l->role == OSC_LINE_WORK && rank >= 0 &&
                (first < 0 || rank < first))
                first = rank;
            if (pass == 1 && l->role == OSC_LINE_WORK && rank > first)
                l->role = OSC_LINE_SUMMARY;
            if (pass == 1 && l->role == OSC_LINE_MARKS && rank < 0 && first >= 0)
                l->role = OSC_LINE_SUMMARY;
            if (pass == 1 && l->role == OSC_LINE_MARKS && rank < 0 && first < 0 &&
                !f->has_collectives)
                l->role = OSC_LINE_WORK;
        }
    }
}

/* A key of the device of L. */
static uint64_t device_key(const struct osc_line *l)
{
    return (uint64_t)l->index << 8 ^ (unsigned char)l->sort[0];
}

/* Whether L, a line of work with NAME, is a stream of kernels. */
static bool is_stream(const struct fitting *f, const struct osc_line *l, struct osc_str name)
{
    return l->role == OSC_LINE_WORK &&
           (f->dialect == OSC_DIALECT_TENSORFLOW || osc_str_starts(name, OSC_STR("Stream #")));
}

/*
 * Let the time of a queue count once: XLA's operations repeat the kernels of streams, if these
 * were recorded, and a line of all streams is the queue only where no single stream was.
 */
static osc_status count_once(struct fitting *f)
{
    const struct osc_trace *const t = f->t;
    struct osc_idmap has_stream = {0};
    osc_status st = OSC_OK;

    for (uint32_t i = 1; i < t->n_tracks && st == OSC_OK; i++) {
        if (!is_stream(f, &f->lines[i], osc_trace_str(t, t->tracks[i].name)))
            continue;
        uint32_t *const place = osc_idmap_put(&has_stream, device_key(&f->lines[i]));
        if (place)
            *place = 1;
        else
            st = OSC_ENOMEM;
    }
    for (uint32_t i = 1; i < t->n_tracks && st == OSC_OK; i++) {
        struct osc_line *const l = &f->lines[i];
        const bool is_repeated = l->sort && osc_idmap_get(&has_stream, device_key(l)) != 0;

        if (f->dialect == OSC_DIALECT_XLA && is_repeated &&
            (l->role == OSC_LINE_WORK || l->role == OSC_LINE_TRANSFERS) &&
            !is_stream(f, l, osc_trace_str(t, t->tracks[i].name)))
            l->role = OSC_LINE_MARKS;
        if (f->dialect == OSC_DIALECT_TENSORFLOW && l->role == OSC_LINE_SUMMARY && !is_repeated)
            l->role = OSC_LINE_WORK;
    }
    osc_idmap_fini(&has_stream);
    return st;
}

/* Lines by the length of their hosts' names, then by these: "host2" before "host10". */
static int compare_hosts(const void *a, const void *b, void *ctx)
{
    const struct osc_line *const lines = ctx;
    const struct osc_str x = lines[*(const uint32_t *)a].host,
                         y = lines[*(const uint32_t *)b].host;

    if (x.len != y.len)
        return x.len < y.len ? -1 : 1;
    return x.len > 0 ? memcmp(x.s, y.s, x.len) : 0;
}

/*
 * Each host numbers its devices from 0. Let those of the second host follow those of the first
 * and so on, so that each has a name of its own.
 */
static osc_status number_devices(struct fitting *f)
{
    uint32_t *const order = osc_malloc(((size_t)f->t->n_tracks + 1) * sizeof *order);
    int64_t first = 0, next = 0;
    size_t n = 0;

    if (!order)
        return OSC_ENOMEM;
    for (uint32_t i = 1; i < f->t->n_tracks; i++) {
        const struct osc_line *const l = &f->lines[i];

        if (l->sort && l->index >= 0 && l->index <= MAX_INDEX)
            order[n++] = i;
    }
    osc_sort_with(order, n, sizeof *order, compare_hosts, f->lines);
    for (size_t i = 0; i < n; i++) {
        struct osc_line *const l = &f->lines[order[i]];

        if (i > 0 && !osc_str_eq(l->host, f->lines[order[i - 1]].host))
            first = next;
        l->index += first;
        if (l->index >= next)
            next = l->index + 1;
    }
    osc_free(order);
    return OSC_OK;
}

/* --- rows -------------------------------------------------------------------------------- */

/* Whether S begins with WORD, which is in lower case, in whatever case. */
static bool starts_with(struct osc_str s, const char *word)
{
    const uint32_t n = (uint32_t)strlen(word);

    return s.len >= n && osc_str_eq_case((struct osc_str){s.s, n}, osc_str_c(word));
}

/* The kind of device work called NAME. */
static enum osc_kind kind_of_work(struct osc_str name)
{
    if (starts_with(name, "memcpy") || starts_with(name, "[cuda memcpy") ||
        starts_with(name, "copydevice") || starts_with(name, "copyhost") ||
        starts_with(name, "copy-start") || starts_with(name, "copy-done"))
        return OSC_KIND_MEMCPY;
    if (starts_with(name, "memset") || starts_with(name, "[cuda memset") ||
        starts_with(name, "fillbuffer"))
        return OSC_KIND_MEMSET;
    return OSC_KIND_KERNEL;
}

/* The kind of work called NAME that runs beside a device's operations. */
static enum osc_kind kind_of_transfer(struct osc_str name)
{
    static const char *const copies[] = {"copy", "slice", "dynamic-slice",
                                         "dynamic-update-slice", NULL};

    for (size_t i = 0; copies[i]; i++) {
        if (starts_with(name, copies[i]))
            return OSC_KIND_MEMCPY;
    }
    return kind_of_work(name);
}

/* The kind of a task of an Ascend stream by its TYPE, else its NAME: waiting is no work. */
static enum osc_kind kind_of_task(struct osc_str type, struct osc_str name)
{
    static const char *const waits[] = {
        "event_", "notify_",   "capture_", "model_maintaince", "placeholder", "place_holder",
        "ph_sqe", "condition", "stream_",  "label_",           NULL};
    static const char *const copies[] = {"memcpy", "sdma", "pcie_dma", "dma", NULL};

    if (type.len == 0 || osc_str_eq(type, OSC_STR("Other")))
        type = name;
    for (size_t i = 0; waits[i]; i++)
        if (starts_with(type, waits[i]))
            return OSC_KIND_SYNC;
    for (size_t i = 0; copies[i]; i++)
        if (starts_with(type, copies[i]))
            return OSC_KIND_MEMCPY;
    return OSC_KIND_KERNEL;
}

/* Whether an operator of the legacy profiler is one by its name: "aten::mm", "MulBackward0". */
static bool is_operator_name(struct osc_str name)
{
    const char *const at = name.len > 0 ? memmem(name.s, name.len, "Backward", 8) : NULL;

    return osc_str_has(name, OSC_STR("::")) || at;
}

/* The kind of a command of Level Zero or OpenCL called NAME on a device: what is none of them
 * is a kernel. */
static enum osc_kind kind_of_command(struct osc_str name)
{
    static const struct {
        const char *part;
        enum osc_kind kind;
    } parts[] = {{"MemoryFill", OSC_KIND_MEMSET}, {"FillBuffer", OSC_KIND_MEMSET},
                 {"MemFill", OSC_KIND_MEMSET},    {"FillImage", OSC_KIND_MEMSET},
                 {"Copy", OSC_KIND_MEMCPY},       {"Memcpy", OSC_KIND_MEMCPY},
                 {"Read", OSC_KIND_MEMCPY},       {"Write", OSC_KIND_MEMCPY},
                 {"Map", OSC_KIND_MEMCPY},        {"Migrate", OSC_KIND_MEMCPY},
                 {"Barrier", OSC_KIND_SYNC},      {"Event", OSC_KIND_SYNC},
                 {"Marker", OSC_KIND_SYNC}};
    const char *const tile = name.len > 6 && osc_str_starts(name, OSC_STR("Tile #"))
                                 ? memmem(name.s, name.len, ": ", 2)
                                 : NULL;

    if (tile)
        name = (struct osc_str){tile + 2, name.len - (uint32_t)(tile + 2 - name.s)};
    if (!osc_str_starts(name, OSC_STR("zeCommandListAppend")) &&
        !osc_str_starts(name, OSC_STR("clEnqueue")))
        return OSC_KIND_KERNEL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (osc_str_has(name, osc_str_c(parts[i].part)))
            return parts[i].kind;
    }
    return OSC_KIND_KERNEL;
}

/* The kind of a range of the host that unitrace calls NAME: a call of Level Zero, OpenCL or the
 * layers above them, or what the program marked. */
static enum osc_kind kind_of_unitrace(struct osc_str name)
{
    static const char *const prefixes[] = {"ze", "zes", "zet", "cl", "ur", "pi"};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const uint32_t n = (uint32_t)strlen(prefixes[i]);

        if (name.len > n && osc_str_starts(name, osc_str_c(prefixes[i])) &&
            isupper((unsigned char)name.s[n]))
            return OSC_KIND_RUNTIME;
    }
    return osc_known_kind(OSC_KIND_ANNOTATION, osc_known_label(name));
}

/* What a call of the host called NAME is; NONE: no call of a runtime. */
static enum osc_kind kind_of_call(struct osc_str name)
{
    if (osc_known_call_device(name).len == 0)
        return OSC_KIND_NONE;
    return osc_str_starts(name, OSC_STR("cu")) && !osc_str_starts(name, OSC_STR("cuda"))
               ? OSC_KIND_DRIVER
               : OSC_KIND_RUNTIME;
}

/* The kind of a range of the host that PaddlePaddle gives CATEGORY. */
static enum osc_kind kind_of_paddle(struct osc_str category)
{
    static const char *const operators[] = {"Operator", "OperatorInner", "PythonOp", NULL};

    if (osc_line_is_one_of(category, operators))
        return OSC_KIND_OPERATOR;
    if (osc_str_eq(category, OSC_STR("CudaRuntime")))
        return OSC_KIND_RUNTIME;
    if (osc_str_eq(category, OSC_STR("ProfileStep")))
        return OSC_KIND_STEP;
    return osc_str_eq(category, OSC_STR("Dataloader")) ? OSC_KIND_DATALOADER
                                                       : OSC_KIND_ANNOTATION;
}

/* The kind of row I of K on a line of the host; NONE: it stays. */
static enum osc_kind kind_of_host(const struct fitting *f, const struct osc_chunk *k,
                                  uint32_t i)
{
    const struct osc_str name = osc_row_name(f->t, k, i);
    int64_t number;

    if (f->dialect == OSC_DIALECT_PADDLE)
        return kind_of_paddle(osc_trace_str(f->t, osc_row_form(f->t, k, i)->category));
    if (f->dialect == OSC_DIALECT_UNITRACE)
        return kind_of_unitrace(name);
    if (k->kind[i] != OSC_KIND_SCOPE)
        return OSC_KIND_NONE;
    if (f->dialect == OSC_DIALECT_NSYS) {
        const struct osc_str category = osc_trace_str(f->t, osc_row_form(f->t, k, i)->category);

        return osc_str_eq(category, OSC_STR("nvtx")) ? OSC_KIND_ANNOTATION : kind_of_call(name);
    }
    if (f->dialect == OSC_DIALECT_XLA && name.len > 1 && name.s[0] == '$')
        return OSC_KIND_PYTHON;
    if (f->dialect == OSC_DIALECT_XLA && !f->has_steps &&
        osc_row_arg_int(f->t, k, i, OSC_ARG_KEY_STEP_NUM, &number))
        return OSC_KIND_STEP;
    return kind_of_call(name);
}

/* Whether TRACK is a stream of the hardware of Ascend, and not of its network. */
static bool is_hardware(const struct fitting *f, uint32_t track)
{
    const struct osc_trace *const t = f->t;

    return osc_line_ascend_rank(
               osc_trace_str(t, t->processes[t->tracks[track].process].name)) >= 0;
}

/* Whether row I of K, on a line of steps, is one. */
static bool is_step(const struct fitting *f, const struct osc_chunk *k, uint32_t i)
{
    return f->dialect != OSC_DIALECT_ASCEND ||
           osc_str_eq(osc_trace_str(f->t, osc_row_form(f->t, k, i)->category),
                      OSC_STR("Iteration Time"));
}

/* Whether row I of K is a frame that rocmProfileData's converter drew over a range's work. */
static bool is_drawn_frame(const struct fitting *f, const struct osc_chunk *k, uint32_t i)
{
    struct osc_str text;

    return f->t->producer == OSC_PRODUCER_RPD &&
           osc_row_arg_str(f->t, k, i, OSC_ARG_KEY_DESC, &text) &&
           osc_str_starts(text, OSC_STR("UserMarker frame: "));
}

/* The kind of row I of K on a line of work. */
static enum osc_kind kind_of_device(const struct fitting *f, const struct osc_chunk *k,
                                    uint32_t i)
{
    const struct osc_str name = osc_row_name(f->t, k, i);
    struct osc_str type = OSC_STR("");
    int64_t stream;

    if (f->dialect == OSC_DIALECT_NSYS) {
        const struct osc_str category = osc_trace_str(f->t, osc_row_form(f->t, k, i)->category);

        if (osc_str_eq(category, OSC_STR("nvtx")))
            return OSC_KIND_ANNOTATION;
        if (osc_str_eq(category, OSC_STR("cuda_api")))
            return OSC_KIND_RUNTIME;
    }
    if (f->dialect == OSC_DIALECT_UNITRACE)
        return kind_of_command(name);
    if (f->dialect == OSC_DIALECT_PROTON &&
        !osc_str_eq(osc_trace_str(f->t, osc_row_form(f->t, k, i)->category), OSC_STR("kernel")))
        return OSC_KIND_SCOPE;
    if (is_drawn_frame(f, k, i))
        return OSC_KIND_ANNOTATION;
    if (f->dialect != OSC_DIALECT_ASCEND)
        return kind_of_work(name);
    (void)osc_row_arg_str(f->t, k, i, OSC_ARG_KEY_TASK_TYPE, &type);
    const enum osc_kind kind = kind_of_task(type, name);
    /* What is sent and computed in a collective has its time already. */
    if (kind != OSC_KIND_SYNC &&
        osc_json_int(osc_trace_str(f->t, f->t->tracks[k->track[i]].tid), &stream) &&
        osc_idmap_get(&f->streams, (uint64_t)stream) != 0 && is_hardware(f, k->track[i]))
        return OSC_KIND_ANNOTATION;
    return kind;
}

/* What row I of K means; KIND NONE: what its form says. */
static struct osc_meaning meaning_of(const struct fitting *f, const struct osc_chunk *k,
                                     uint32_t i)
{
    const struct osc_line *const l = &f->lines[k->track[i]];
    const struct osc_str name = osc_row_name(f->t, k, i);
    struct osc_meaning m = {.kind = OSC_KIND_NONE};

    switch (l->role) {
    case OSC_LINE_HOST:
        m.kind = (uint8_t)kind_of_host(f, k, i);
        m.is_frame = m.kind == OSC_KIND_PYTHON;
        break;
    case OSC_LINE_CALLS:
        m.kind = OSC_KIND_RUNTIME;
        break;
    case OSC_LINE_OPERATORS:
        m.kind =
            f->has_names && !is_operator_name(name) ? OSC_KIND_ANNOTATION : OSC_KIND_OPERATOR;
        m.kind = (uint8_t)osc_known_kind((enum osc_kind)m.kind, osc_known_label(name));
        break;
    case OSC_LINE_LABELS:
        m.kind = OSC_KIND_ANNOTATION;
        break;
    case OSC_LINE_WORK:
        m.kind = (uint8_t)kind_of_device(f, k, i);
        m.is_device = m.kind != OSC_KIND_RUNTIME && m.kind != OSC_KIND_SCOPE;
        break;
    case OSC_LINE_COPIES:
        m = (struct osc_meaning){.kind = OSC_KIND_MEMCPY, .is_device = true};
        break;
    case OSC_LINE_TRANSFERS:
        m = (struct osc_meaning){.kind = (uint8_t)kind_of_transfer(name), .is_device = true};
        break;
    case OSC_LINE_BARRIERS:
        m = (struct osc_meaning){.kind = OSC_KIND_SYNC, .is_device = true};
        break;
    case OSC_LINE_SUMMARY:
        if (f->dialect == OSC_DIALECT_PLAIN)
            break; /* of no device */
        m = (struct osc_meaning){.kind = OSC_KIND_ANNOTATION, .is_device = true};
        break;
    case OSC_LINE_MARKS:
        m = (struct osc_meaning){.kind = OSC_KIND_ANNOTATION, .is_device = true};
        break;
    case OSC_LINE_STEPS:
        m = (struct osc_meaning){.kind = is_step(f, k, i) ? OSC_KIND_STEP : OSC_KIND_ANNOTATION,
                                 .is_device = true};
        break;
    }
    return m;
}

/* --- steps ------------------------------------------------------------------------------- */

/* When the steps of a line are. */
struct extent {
    int64_t start_ns, end_ns;
    uint32_t track;
    bool has_steps;
};

static int by_start(const void *x, const void *y)
{
    const struct extent *const a = x, *const b = y;

    if (a->has_steps != b->has_steps)
        return a->has_steps ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

/* Extend the EXTENTS, by track, by all steps. */
static void find_extents(const struct fitting *f, struct extent *extents)
{
    for (uint32_t c = 1; c < f->t->events.n_chunks; c++) {
        const struct osc_chunk *const k = f->t->events.chunks[c];

        for (uint32_t i = 0; i < k->n_rows; i++) {
            const uint32_t track = k->track[i];
            struct extent *const e = &extents[track];

            if (f->lines[track].role != OSC_LINE_STEPS || !is_step(f, k, i) ||
                !osc_shape_is_range((enum osc_form_shape)osc_row_form(f->t, k, i)->shape))
                continue;
            if (!e->has_steps || k->ts_ns[i] < e->start_ns)
                e->start_ns = k->ts_ns[i];
            if (!e->has_steps || osc_row_end(k, i) > e->end_ns)
                e->end_ns = osc_row_end(k, i);
            e->has_steps = true;
        }
    }
}

/*
 * Devices that work together repeat each other's steps, which count once. So a line of steps
 * counts if those of the lines before it in time are over when its own begin: devices may also
 * work one after the other.
 */
static osc_status choose_steps(struct fitting *f)
{
    struct extent *const extents = osc_calloc((size_t)f->t->n_tracks + 1, sizeof *extents);
    uint32_t n = 0;
    int64_t end_ns = 0;

    if (!extents)
        return OSC_ENOMEM;
    find_extents(f, extents);
    for (uint32_t i = 1; i < f->t->n_tracks; i++) {
        if (f->lines[i].role != OSC_LINE_STEPS)
            continue;
        f->lines[i].role = OSC_LINE_MARKS;
        extents[n] = extents[i];
        extents[n++].track = i;
    }
    osc_sort(extents, n, sizeof *extents, by_start);
    for (uint32_t k = 0; k < n && extents[k].has_steps; k++) {
        if (f->has_steps && extents[k].start_ns < end_ns)
            continue;
        f->lines[extents[k].track].role = OSC_LINE_STEPS;
        f->has_steps = true;
        end_ns = extents[k].end_ns;
    }
    osc_free(extents);
    return OSC_OK;
}

/* --- forms of rows ----------------------------------------------------------------------- */

/* Take the duration from the end of the name of row I of K, "matmul[50.000 us]": PaddlePaddle
 * appends it. */
static osc_status shorten_name(struct fitting *f, struct osc_chunk *k, uint32_t i)
{
    struct osc_str name = osc_row_name(f->t, k, i);
    const char *const at = name.len > 0 ? memrchr(name.s, '[', name.len) : NULL;
    osc_sid id;

    if (!at || at == name.s || !osc_str_ends(name, OSC_STR("s]")) ||
        !isdigit((unsigned char)at[1]))
        return OSC_OK;
    name.len = (uint32_t)(at - name.s);
    const osc_status st = osc_strings_add(&f->t->strings, name, &id, NULL);
    if (st == OSC_OK)
        k->name[i] = id.v;
    return st;
}

static osc_status fit_row(struct fitting *f, struct osc_chunk *k, uint32_t i)
{
    struct osc_meaning m = {.kind = OSC_KIND_NONE};
    osc_status st = OSC_OK;

    if (osc_shape_is_range((enum osc_form_shape)osc_row_form(f->t, k, i)->shape))
        m = meaning_of(f, k, i);
    if (f->n_passed < f->repeats.n && f->repeats.rows[f->n_passed] == k->first_row + i) {
        m = (struct osc_meaning){.kind = OSC_KIND_ANNOTATION, .is_device = true};
        f->n_passed++;
    }
    if (m.kind != OSC_KIND_NONE) {
        st = osc_variants_find(&f->variants, f->t, k->form[i], m, &k->form[i]);
        k->kind[i] = m.kind;
    }
    if (f->dialect == OSC_DIALECT_PADDLE && st == OSC_OK)
        st = shorten_name(f, k, i);
    return st;
}

/*
 * Let arrows of CATEGORY lead from calls to the work that they launched. Where none of them has
 * an end, what they pass last is it: rocprof writes a start and a step.
 */
static void set_launches(struct osc_trace *t, const char *category)
{
    const osc_sid id = osc_strings_find(&t->strings, osc_str_c(category));
    bool has_ends = false;

    for (uint32_t i = 1; id.v != 0 && i < t->n_forms; i++) {
        const struct osc_form *const form = &t->forms[i];

        has_ends |= form->category.v == id.v && form->shape == OSC_SHAPE_ARROW_TO;
    }
    for (uint32_t i = 1; id.v != 0 && i < t->n_forms; i++) {
        struct osc_form *const form = &t->forms[i];

        if (form->category.v != id.v || !osc_shape_is_arrow((enum osc_form_shape)form->shape))
            continue;
        form->arrow = OSC_ARROW_LAUNCH;
        if (!has_ends && form->shape == OSC_SHAPE_ARROW_STEP)
            form->shape = OSC_SHAPE_ARROW_TO;
    }
}

/*
 * The arrows of unitrace have a category of their own each, "Flow_H2D_7_0" from a call to its
 * work, "Flow_D2H_7_0" from there to the call that waits for it. They end with a step.
 */
static void set_launches_of_unitrace(struct osc_trace *t)
{
    for (uint32_t i = 1; i < t->n_forms; i++) {
        struct osc_form *const form = &t->forms[i];
        struct osc_str category = osc_trace_str(t, form->category);

        if (!osc_shape_is_arrow((enum osc_form_shape)form->shape))
            continue;
        if (osc_str_starts(category, OSC_STR("CL_")))
            category = (struct osc_str){category.s + 3, category.len - 3};
        if (!osc_str_starts(category, OSC_STR("Flow_")))
            continue;
        if (osc_str_starts(category, OSC_STR("Flow_H2D_")))
            form->arrow = OSC_ARROW_LAUNCH;
        if (form->shape == OSC_SHAPE_ARROW_STEP)
            form->shape = OSC_SHAPE_ARROW_TO;
    }
}

/* --- devices ----------------------------------------------------------------------------- */

/* The family of the GPUs of T, by the calls that drive them; "gpu" if none tells. */
static struct osc_str family_of_gpus(const struct osc_trace *t)
{
    const struct osc_str family = osc_dialect_called_family(t);

    return osc_str_eq(family, OSC_STR("hip")) || osc_str_eq(family, OSC_STR("cuda"))
               ? family
               : OSC_STR("gpu");
}

/* Name the devices of the tracks that belong to one, and mark summaries. */
static osc_status name_devices(struct fitting *f)
{
    struct osc_trace *const t = f->t;
    struct osc_str gpus = {0};
    osc_status st = OSC_OK;

    for (uint32_t i = 1; i < t->n_tracks && st == OSC_OK; i++) {
        const struct osc_line *const l = &f->lines[i];
        char name[40];

        t->tracks[i].is_summary = l->role == OSC_LINE_SUMMARY;
        if (!l->sort || l->role == OSC_LINE_SUMMARY)
            continue;
        if (gpus.len == 0 && strcmp(l->sort, "gpu") == 0)
            gpus = family_of_gpus(t);
        const struct osc_str family = strcmp(l->sort, "gpu") == 0 ? gpus : osc_str_c(l->sort);
        /* Without a number, there is only one of them in each such trace. */
        const int n = snprintf(name, sizeof name, "%.*s:%lld", (int)family.len, family.s,
                               (long long)(l->index == OSC_LINE_NO_INDEX ? 0 : l->index));
        if (l->index == OSC_LINE_NO_INDEX && l->role == OSC_LINE_WORK && !f->has_unmatched) {
            osc_findings_add(&t->findings, OSC_FINDING_device_unmatched, OSC_NO_OFFSET,
                             OSC_NO_TIME);
            f->has_unmatched = true;
        }
        st = osc_strings_add(&t->strings, (struct osc_str){name, (uint32_t)n},
                             &t->tracks[i].device, NULL);
    }
    return st;
}

/* --- the whole --------------------------------------------------------------------------- */

/* Whether TRACK holds parts of collectives of Ascend. */
static bool is_plane(const struct fitting *f, uint32_t track)
{
    const struct osc_line *const l = &f->lines[track];

    return l->sort && (l->role == OSC_LINE_MARKS || l->role == OSC_LINE_SUMMARY) &&
           !is_hardware(f, track);
}

/* Let row I of K tell what its line is, in a timeline of MindSpore: operators have full names,
 * and a thread of another process says when their stream ran. */
static void look_at_mindspore(struct fitting *f, const struct osc_chunk *k, uint32_t i)
{
    struct osc_line *const l = &f->lines[k->track[i]];
    struct osc_str text;

    if (osc_row_arg_str(f->t, k, i, OSC_ARG_KEY_FULL_NAME, &text))
        *l =
            (struct osc_line){.role = OSC_LINE_WORK, .sort = "npu", .index = OSC_LINE_NO_INDEX};
    else if (l->role == OSC_LINE_HOST && osc_line_is_stream_run(osc_row_name(f->t, k, i)))
        l->role = OSC_LINE_SUMMARY;
}

/* Find what decides the meaning of rows beside their line. */
static osc_status look_at_rows(struct fitting *f)
{
    struct osc_trace *const t = f->t;
    int64_t stream;

    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        const struct osc_chunk *const k = t->events.chunks[c];

        for (uint32_t i = 0; i < k->n_rows; i++) {
            struct osc_line *const l = &f->lines[k->track[i]];

            if (f->dialect == OSC_DIALECT_MINDSPORE)
                look_at_mindspore(f, k, i);
            if (t->producer == OSC_PRODUCER_CLANG &&
                !osc_str_starts(osc_row_name(t, k, i), OSC_STR("Total ")))
                l->role = OSC_LINE_HOST;
            if (f->dialect == OSC_DIALECT_LEGACY && l->role == OSC_LINE_OPERATORS)
                f->has_names |= osc_str_has(osc_row_name(t, k, i), OSC_STR("::"));
            if (!f->has_collectives || !is_plane(f, k->track[i]) ||
                !osc_row_arg_int(t, k, i, OSC_ARG_KEY_STREAM_ID, &stream))
                continue;
            uint32_t *const place = osc_idmap_put(&f->streams, (uint64_t)stream);
            if (!place)
                return OSC_ENOMEM;
            *place = 1;
        }
    }
    return OSC_OK;
}

/* Find operations of XLA that are drawn over others. */
static osc_status find_repeats(struct fitting *f)
{
    const struct osc_trace *const t = f->t;
    bool *const is_line = osc_calloc((size_t)t->n_tracks + 1, sizeof *is_line);

    if (!is_line)
        return OSC_ENOMEM;
    for (uint32_t i = 1; i < t->n_tracks; i++)
        is_line[i] = f->lines[i].role == OSC_LINE_WORK &&
                     !is_stream(f, &f->lines[i], osc_trace_str(t, t->tracks[i].name));
    const osc_status st = osc_enclosing_ranges_find(t, is_line, &f->repeats);
    osc_free(is_line);
    return st;
}

static osc_status fit(struct fitting *f)
{
    struct osc_trace *const t = f->t;

    f->lines = osc_calloc((size_t)t->n_tracks + 1, sizeof *f->lines);
    if (!f->lines)
        return OSC_ENOMEM;
    for (uint32_t i = 1; i < t->n_tracks; i++)
        f->lines[i] = osc_line_of(f->t, f->dialect, &f->t->tracks[i]);
    osc_status st = number_devices(f);
    if (st == OSC_OK)
        st = count_once(f);
    if (f->dialect == OSC_DIALECT_ASCEND)
        choose_tasks(f);
    if (st == OSC_OK)
        st = choose_steps(f);
    if (st == OSC_OK)
        st = look_at_rows(f);
    if (st == OSC_OK && f->dialect == OSC_DIALECT_XLA)
        st = find_repeats(f);
    for (uint32_t c = 1; c < t->events.n_chunks && st == OSC_OK; c++) {
        struct osc_chunk *const k = t->events.chunks[c];

        for (uint32_t i = 0; i < k->n_rows && st == OSC_OK; i++)
            st = fit_row(f, k, i);
    }
    return st == OSC_OK ? name_devices(f) : st;
}

/* Take what categories of Kineto mean from a trace that another program wrote: they are words
 * that anyone uses. */
static void forget_categories(struct osc_trace *t)
{
    for (uint32_t i = 1; i < t->n_forms; i++) {
        struct osc_form *const form = &t->forms[i];

        if (!osc_shape_is_range((enum osc_form_shape)form->shape))
            continue;
        form->kind = OSC_KIND_SCOPE;
        form->is_device = form->is_frame = false;
    }
    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        struct osc_chunk *const k = t->events.chunks[c];

        for (uint32_t i = 0; i < k->n_rows; i++) {
            if (osc_shape_is_range((enum osc_form_shape)osc_row_form(t, k, i)->shape))
                k->kind[i] = OSC_KIND_SCOPE;
        }
    }
}

void osc_device_lines_fit_arrows(struct osc_trace *t)
{
    const enum osc_dialect dialect = osc_producer_dialect((enum osc_producer)t->producer);

    if (dialect == OSC_DIALECT_LEGACY)
        set_launches(t, "cpu_to_cuda");
    if (dialect == OSC_DIALECT_ROCPROF) {
        set_launches(t, "DataFlow");
        set_launches(t, "api_op");
    }
    if (dialect == OSC_DIALECT_PROTON)
        set_launches(t, "flow");
    if (dialect == OSC_DIALECT_UNITRACE)
        set_launches_of_unitrace(t);
    if (dialect == OSC_DIALECT_ASCEND) {
        set_launches(t, "async_npu");
        set_launches(t, "HostToDevice");
    }
}

osc_status osc_device_lines_fit(struct osc_trace *t)
{
    struct fitting f = {.t = t,
                        .dialect = osc_producer_dialect((enum osc_producer)t->producer)};

    if (f.dialect == OSC_DIALECT_PLAIN)
        forget_categories(t);
    if (f.dialect == OSC_DIALECT_KINETO || f.dialect == OSC_DIALECT_RECORDS ||
        (f.dialect == OSC_DIALECT_PLAIN && t->producer != OSC_PRODUCER_BAZEL &&
         t->producer != OSC_PRODUCER_CLANG))
        return OSC_OK;
    osc_device_lines_fit_arrows(t);
    const osc_status st = fit(&f);

    osc_free(f.lines);
    osc_variants_fini(&f.variants);
    osc_idmap_fini(&f.streams);
    osc_enclosing_ranges_fini(&f.repeats);
    return st;
}
