/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `events`: every event, in the order of the file, directly from the columns of the trace. It
 * streams: 4,096 rows at a time, however long the trace is.
 */
#include "analysis/table_registry.h"

#include <string.h>

#include "analysis/args_json.h"
#include "analysis/shared_options.h"
#include "base/mem.h"
#include "derive/derive.h"

enum {
    ID,
    PARENT_ID,
    KIND,
    CATEGORY,
    NAME,
    RANK,
    PROCESS,
    PROCESS_NAME,
    THREAD,
    THREAD_NAME,
    DEVICE,
    QUEUE,
    START,
    DUR,
    SELF,
    DEPTH,
    STEP,
    LAUNCH_ID,
    OP_ID,
    FWD_ID,
    CORRELATION,
    VALUE,
    BYTES,
    ARGS,
};

#define BIT(column) (UINT64_C(1) << (column))

static const struct osc_column columns[] = {
    OSC_COLUMN(
        ID, "id", INTEGER, NULL, FIRST, 0, 0,
        "Number of the event in order of the file, from 0. It is valid for this input only."),
    OSC_COLUMN(PARENT_ID, "parent_id", INTEGER, NULL, FIRST,
               OSC_COLUMN_OPTIONAL | OSC_COLUMN_MINOR, OSC_RULE_FOREST,
               "Id of the innermost range of the same thread or queue that contains the event. "
               "Only ranges have a parent; ranges that overlap in part are siblings."),
    OSC_COLUMN(
        KIND, "kind", STRING, NULL, FIRST, 0, OSC_RULE_KINDS,
        "Kind of the event, in one vocabulary for all formats: operator, annotation, step, "
        "module, python, runtime, driver, kernel, memcpy, memset, sync, communication, "
        "overhead, dataloader, optimizer, scope, alloc, free, oom, instant, counter, frame."),
    OSC_COLUMN(CATEGORY, "category", STRING, NULL, FIRST, OSC_COLUMN_MINOR, OSC_RULE_KINDS,
               "Category as the file has it: member cat; of recordings of opscope, which have "
               "none, the same as kind."),
    OSC_COLUMN(NAME, "name", STRING, NULL, FIRST, OSC_COLUMN_SYMBOL, OSC_RULE_NAMES,
               "Name as the file has it."),
    OSC_COLUMN(RANK, "rank", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR, OSC_RULE_RANKS,
               "Rank of the file; 0 if the file does not name one."),
    OSC_COLUMN(PROCESS, "process", STRING, NULL, FIRST, OSC_COLUMN_MINOR, OSC_RULE_NAMES,
               "Process of the event, or the device for device work, as the file names it."),
    OSC_COLUMN(PROCESS_NAME, "process_name", STRING, NULL, FIRST,
               OSC_COLUMN_OPTIONAL | OSC_COLUMN_MINOR, OSC_RULE_NAMES,
               "Name of the process: the last process_name in the metadata of the file."),
    OSC_COLUMN(THREAD, "thread", STRING, NULL, FIRST, OSC_COLUMN_MINOR, OSC_RULE_NAMES,
               "Thread of the event, or the stream for device work, as the file names it."),
    OSC_COLUMN(THREAD_NAME, "thread_name", STRING, NULL, FIRST,
               OSC_COLUMN_OPTIONAL | OSC_COLUMN_MINOR, OSC_RULE_NAMES,
               "Name of the thread: the last thread_name in the metadata of the file."),
    OSC_COLUMN(DEVICE, "device", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL | OSC_COLUMN_MINOR,
               OSC_RULE_DEVICES,
               "Device that did the work, such as cuda:0 or xpu:0; missing for host events."),
    OSC_COLUMN(QUEUE, "queue", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL | OSC_COLUMN_MINOR,
               OSC_RULE_DEVICES, "Stream of the device; missing for host events."),
    OSC_COLUMN(START, "start_ns", INTEGER, "ns", FIRST, OSC_COLUMN_MOMENT, OSC_RULE_TIME,
               "Start, from the origin of all files (origin_unix_ns in info). Decimal "
               "microseconds of the file are rounded half up to a nanosecond."),
    OSC_COLUMN(DUR, "dur_ns", INTEGER, "ns", FIRST, 0, OSC_RULE_TIME,
               "End - start, each rounded to a nanosecond. Missing for instants, counters and "
               "ranges that were never closed."),
    OSC_COLUMN(SELF, "self_ns", INTEGER, "ns", FIRST, OSC_COLUMN_OPTIONAL | OSC_COLUMN_MINOR,
               OSC_RULE_FOREST,
               "dur_ns - sum of dur_ns of the children. Negative if the children last longer. "
               "Only ranges have it."),
    OSC_COLUMN(DEPTH, "depth", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL | OSC_COLUMN_MINOR,
               OSC_RULE_FOREST,
               "Number of ranges that contain the event; 0 is outermost. Only ranges have it."),
    OSC_COLUMN(STEP, "step", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL | OSC_COLUMN_MINOR,
               OSC_RULE_STEPS,
               "Number of the step in which the event starts, or, for device work, in which it "
               "was launched; from 0. Selections do not change it."),
    OSC_COLUMN(
        LAUNCH_ID, "launch_id", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL | OSC_COLUMN_MINOR,
        OSC_RULE_LINKS,
        "For device work: id of the host call that launched it, found by correlation id."),
    OSC_COLUMN(OP_ID, "op_id", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL | OSC_COLUMN_MINOR,
               OSC_RULE_LINKS | OSC_RULE_MEMORY,
               "For device work and host calls: id of the operator that they belong to. For "
               "allocations and releases: id of the operator that was running."),
    OSC_COLUMN(FWD_ID, "fwd_id", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL | OSC_COLUMN_MINOR,
               OSC_RULE_BACKWARD, "For a backward operator: id of its forward operator."),
    OSC_COLUMN(CORRELATION, "correlation", INTEGER, NULL, FIRST,
               OSC_COLUMN_OPTIONAL | OSC_COLUMN_MINOR, 0, "Argument correlation of the event."),
    OSC_COLUMN(VALUE, "value", NUMBER, NULL, FIRST, OSC_COLUMN_OPTIONAL, 0,
               "Value of a counter. Each series of a sample is a row."),
    OSC_COLUMN(BYTES, "bytes", INTEGER, "bytes", FIRST, OSC_COLUMN_OPTIONAL, 0,
               "Size: argument Bytes of allocations and releases (negative for releases), "
               "bytes of copies, or size where MTIA gives that."),
    OSC_COLUMN(ARGS, "args", STRING, NULL, FIRST, OSC_COLUMN_DEEP, 0,
               "All arguments as JSON text, in the order and with the types of the file."),
};

struct osc_scan {
    const struct osc_trace *t;
    struct osc_args_json args;
    uint32_t chunk, place; /* the next row */
};

/* Whether the row is a range of its track: it has depth and self, and may have a parent. */
static bool is_range(const struct osc_form *f, const struct osc_chunk *c, uint32_t i)
{
    return osc_shape_is_range((enum osc_form_shape)f->shape) && c->dur_ns[i] != OSC_NO_DUR;
}

/* The argument that has the size of a row of KIND and form F; of MTIA's copies it is `size`. */
static enum osc_arg_key bytes_key(const struct osc_form *f, enum osc_kind kind)
{
    if (kind == OSC_KIND_ALLOC || kind == OSC_KIND_FREE || kind == OSC_KIND_OOM)
        return OSC_ARG_KEY_BYTES;
    return kind == OSC_KIND_MEMCPY && f->known[OSC_ARG_KEY_BYTES_COPIED] < 0
               ? OSC_ARG_KEY_SIZE
               : OSC_ARG_KEY_BYTES_COPIED;
}

/* The links of row I: each id is a row, or none. */
struct links {
    osc_row launch, op, fwd;
};

static struct links links_of(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    struct links l = {0};
    const osc_row to = {c->link ? c->link[i] : 0};

    if (to.v == 0)
        return l;
    const struct osc_chunk *other = osc_chunk_of(&t->events, to);
    const uint32_t place = osc_row_place(to);
    if (c->kind[i] == OSC_KIND_OPERATOR && !t->tracks[c->track[i]].is_queue) {
        l.fwd = to;
    } else if (t->tracks[c->track[i]].is_queue &&
               osc_kind_is_launch((enum osc_kind)other->kind[place])) {
        l.launch = to;
        l.op.v = other->link[place];
    } else {
        l.op = to;
    }
    return l;
}

/* Columns that depend on each row: rows are searched until each column is found. */
#define LINK_BITS (BIT(LAUNCH_ID) | BIT(OP_ID) | BIT(FWD_ID))
#define FACT_BITS (LINK_BITS | BIT(STEP) | BIT(PARENT_ID))

/* The optional columns, in addition to SHOWN, that derive/ fills in row I of C. */
static uint64_t shown_by_facts(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                               uint64_t shown)
{
    uint64_t more = 0;

    if (!(shown & BIT(STEP)) && c->step && c->step[i])
        more |= BIT(STEP);
    if (!(shown & BIT(PARENT_ID)) && c->parent && is_range(&t->forms[c->form[i]], c, i))
        more |= BIT(SELF) | BIT(DEPTH) | (c->parent[i] ? BIT(PARENT_ID) : 0);
    if ((shown & LINK_BITS) != LINK_BITS && c->link && c->link[i]) {
        const struct links l = links_of(t, c, i);

        more |= l.launch.v ? BIT(LAUNCH_ID) : 0;
        more |= l.op.v ? BIT(OP_ID) : 0;
        more |= l.fwd.v ? BIT(FWD_ID) : 0;
    }
    return more;
}

/* The optional columns that rows of FORM and KIND fill. */
static uint64_t shown_by_form(const struct osc_form *form, enum osc_kind kind)
{
    return (form->known[OSC_ARG_KEY_CORRELATION] >= 0 ? BIT(CORRELATION) : 0) |
           (form->known[bytes_key(form, kind)] >= 0 ? BIT(BYTES) : 0) |
           (kind == OSC_KIND_COUNTER ? BIT(VALUE) : 0);
}

static uint64_t count_rows(const struct osc_trace *t, const struct osc_options *o,
                           uint64_t *shown)
{
    uint64_t seen[256] = {0}; /* form and kind of rows that were examined, by form */
    uint64_t all = 0;

    (void)o;
    for (uint32_t k = 1; k < t->n_tracks; k++) {
        const struct osc_track *const track = &t->tracks[k];

        if (track->n_events == 0)
            continue;
        all |= track->is_queue ? BIT(DEVICE) | BIT(QUEUE) : 0;
        all |= t->processes[track->process].name.v != 0 ? BIT(PROCESS_NAME) : 0;
        all |= track->name.v != 0 ? BIT(THREAD_NAME) : 0;
    }
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            const uint32_t form = c->form[i];
            const uint64_t sort = (uint64_t)form << 8 | c->kind[i];

            if (seen[form & 255] != sort) {
                seen[form & 255] = sort;
                all |= shown_by_form(&t->forms[form], (enum osc_kind)c->kind[i]);
            }
            if ((all & FACT_BITS) != FACT_BITS)
                all |= shown_by_facts(t, c, i, all);
        }
    }
    *shown |= all;
    return t->events.n_rows;
}

static osc_status open_events(const struct osc_trace *t, const struct osc_options *o,
                              struct osc_scan **scan, struct osc_err *err)
{
    struct osc_scan *s = osc_calloc(1, sizeof *s);

    (void)o;
    *scan = s;
    if (!s)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    s->t = t;
    s->chunk = 1;
    return OSC_OK;
}

static void close_events(struct osc_scan *s)
{
    if (s) {
        osc_args_json_fini(&s->args);
    }
    osc_free(s);
}

static void add_id(const struct osc_trace *t, struct osc_result *out, uint32_t column,
                   osc_row row)
{
    if (row.v != 0)
        osc_result_int(out, column, osc_row_number(&t->events, row));
}

static void add_sid(const struct osc_trace *t, struct osc_result *out, uint32_t column,
                    osc_sid id)
{
    if (id.v != 0)
        osc_result_str(out, column, osc_trace_str(t, id));
}

/* Write the source's own word for the kind; if it has none, the word of the kind. */
static void add_category(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                         struct osc_result *out)
{
    const struct osc_form *const form = &t->forms[c->form[i]];

    if (form->category.v == 0 && osc_form_is_neutral(form))
        osc_result_str(out, CATEGORY, osc_str_c(osc_kind_text((enum osc_kind)c->kind[i])));
    else
        add_sid(t, out, CATEGORY, form->category);
}

static void add_derived(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                        struct osc_result *out)
{
    const struct links l = links_of(t, c, i);

    if (c->parent && is_range(&t->forms[c->form[i]], c, i)) {
        add_id(t, out, PARENT_ID, (osc_row){c->parent[i]});
        osc_result_int(out, SELF, c->self_ns[i]);
        osc_result_int(out, DEPTH, c->depth[i]);
    }
    if (c->step && c->step[i])
        osc_result_int(out, STEP, t->steps[c->step[i] - 1].ordinal);
    add_id(t, out, LAUNCH_ID, l.launch);
    add_id(t, out, OP_ID, l.op);
    add_id(t, out, FWD_ID, l.fwd);
}

/* The value of a counter: its only argument, if that is a number. */
static bool counter_value(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                          double *value)
{
    const struct osc_form *f = &t->forms[c->form[i]];

    for (uint32_t k = 0; k < f->n_slots; k++) {
        if (f->slots[k].is_member)
            continue;
        const struct osc_arg arg = osc_row_slot(t, c, i, k);

        return osc_arg_double(t, &arg, value);
    }
    return false;
}

static void add_row(struct osc_scan *s, const struct osc_chunk *c, uint32_t i,
                    struct osc_result *out)
{
    const struct osc_trace *t = s->t;
    const enum osc_kind kind = (enum osc_kind)c->kind[i];
    const struct osc_track *track = &t->tracks[c->track[i]];
    int64_t n;
    double value;

    osc_result_row(out);
    osc_result_int(out, ID, (int64_t)c->first_row + i);
    osc_result_str(out, KIND, osc_str_c(osc_kind_text(kind)));
    add_category(t, c, i, out);
    osc_result_str(out, NAME, osc_row_name(t, c, i));
    osc_result_int(out, RANK, t->rank);
    /* PyTorch itself writes "" for both, so an empty text is not a missing one. */
    osc_result_str(out, PROCESS, osc_trace_str(t, track->pid));
    add_sid(t, out, PROCESS_NAME, t->processes[track->process].name);
    osc_result_str(out, THREAD, osc_trace_str(t, track->tid));
    add_sid(t, out, THREAD_NAME, track->name);
    if (track->is_queue) {
        add_sid(t, out, DEVICE, track->device);
        osc_result_str(out, QUEUE, osc_trace_str(t, track->tid));
    }
    osc_result_int(out, START, c->ts_ns[i] - t->origin_ns);
    if (c->dur_ns[i] != OSC_NO_DUR)
        osc_result_int(out, DUR, c->dur_ns[i]);
    add_derived(t, c, i, out);
    if (osc_row_arg_int(t, c, i, OSC_ARG_KEY_CORRELATION, &n))
        osc_result_int(out, CORRELATION, n);
    if (kind == OSC_KIND_COUNTER && counter_value(t, c, i, &value))
        osc_result_num(out, VALUE, value);
    if (osc_row_arg_int(t, c, i, bytes_key(osc_row_form(t, c, i), kind), &n))
        osc_result_int(out, BYTES, n);
    if (osc_args_json_write(&s->args, s->t, c, i))
        osc_result_str(out, ARGS, (struct osc_str){s->args.text.s, (uint32_t)s->args.text.len});
}

static void skip(struct osc_scan *s, uint64_t n)
{
    const struct osc_store *events = &s->t->events;

    while (n > 0 && s->chunk < events->n_chunks) {
        const uint32_t left = events->chunks[s->chunk]->n_rows - s->place;

        if (n < left) {
            s->place += (uint32_t)n;
            return;
        }
        n -= left;
        s->chunk++;
        s->place = 0;
    }
}

static osc_status next(struct osc_scan *s, struct osc_result *out, struct osc_err *err)
{
    const struct osc_store *events = &s->t->events;
    uint32_t left = OSC_BATCH_ROWS;

    while (left > 0 && s->chunk < events->n_chunks) {
        const struct osc_chunk *c = events->chunks[s->chunk];

        for (; left > 0 && s->place < c->n_rows; left--)
            add_row(s, c, s->place++, out);
        if (s->place == c->n_rows) {
            s->chunk++;
            s->place = 0;
        }
    }
    if (s->args.text.status != OSC_OK)
        out->status = s->args.text.status;
    return out->status == OSC_OK ? OSC_OK : osc_fail(err, out->status, "out of memory");
}

/* Only device work has names of C++ functions; an operator's name may look like one. */
static bool is_symbol(const struct osc_result *r, uint64_t row)
{
    return osc_kind_is_device_work(osc_kind_of_text(osc_result_get_str(r, row, KIND)));
}

const struct osc_table_def osc_table_events = {
    .name = "events",
    .help = "Every event, in order of the file. Rows are streamed, however long the trace is.",
    .source = "members of the event in the file, in the Chrome trace format.",
    .rules = OSC_RULE_KINDS | OSC_RULE_TIME | OSC_RULE_SELECTION,
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .sort_words = &osc_torch_words_of_names,
    OSC_STREAMS(.facts = OSC_FACT_FOREST | OSC_FACT_STEPS | OSC_FACT_LINKS | OSC_FACT_MEMORY,
                .rows = count_rows, .open = open_events, .next = next, .skip = skip,
                .close = close_events),
    .is_symbol = is_symbol,
};
