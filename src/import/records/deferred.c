/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/deferred.h"

#include <stdio.h>

#include "base/sort.h"
#include "import/records/copies.h"
#include "import/records/records_state.h"
#include "opscope/source.h"

#define UNKNOWN UINT64_MAX /* a total that the allocator does not report */

void osc_deferred_fini(struct osc_deferred *l)
{
    for (size_t i = 0; i < l->n_devices; i++)
        osc_free(l->devices[i].pairs);
    osc_free(l->items);
    osc_free(l->words);
    osc_arguments_fini(&l->args);
    osc_free(l->devices);
    osc_free(l->queues);
    osc_free(l->launches);
    osc_idmap_fini(&l->launch_of);
    *l = (struct osc_deferred){0};
}

size_t osc_deferred_add(struct osc_records_rows *rows, const struct osc_records_item *item,
                        const uint64_t *words, size_t n)
{
    struct osc_deferred *l = &rows->late;
    osc_status st = osc_build_grow(&l->items, &l->cap_items, l->n_items + 1, sizeof *l->items);

    if (st == OSC_OK)
        st = osc_build_grow(&l->words, &l->cap_words, l->n_words + n, sizeof *l->words);
    if (st != OSC_OK) {
        rows->builder->status = st;
        return 0;
    }
    l->items[l->n_items] = *item;
    l->items[l->n_items].order = l->n_items;
    l->items[l->n_items].word = l->n_words;
    memcpy(l->words + l->n_words, words, n * sizeof *words);
    l->n_words += n;
    return ++l->n_items;
}

void osc_deferred_launch(struct osc_records_rows *rows, uint64_t correlation,
                         struct osc_records_launch launch)
{
    struct osc_deferred *const l = &rows->late;
    osc_status st =
        osc_build_grow(&l->launches, &l->cap_launches, l->n_launches + 1, sizeof *l->launches);
    uint32_t *const place = st == OSC_OK ? osc_idmap_put(&l->launch_of, correlation) : NULL;

    if (!place) {
        rows->builder->status = st == OSC_OK ? OSC_ENOMEM : st;
    } else if (*place == 0) {
        l->launches[l->n_launches++] = launch;
        *place = (uint32_t)l->n_launches;
    }
}

void osc_deferred_args(struct osc_records_rows *rows, size_t at, const struct osc_arguments *a)
{
    struct osc_arguments *all = &rows->late.args;
    struct osc_records_item *item = &rows->late.items[at];
    osc_status st = osc_build_grow(&all->slots, &all->cap_slots, all->n_slots + a->n_slots,
                                   sizeof *all->slots);

    if (st == OSC_OK)
        st = osc_build_grow(&all->words, &all->cap_words, all->n_words + a->n_words + 1,
                            sizeof *all->words);
    if (st != OSC_OK || a->n_slots == 0) {
        rows->builder->status = st != OSC_OK ? st : rows->builder->status;
        return;
    }
    item->slot = all->n_slots;
    item->arg = all->n_words;
    item->n_slots = (uint32_t)a->n_slots;
    item->n_args = (uint32_t)a->n_words;
    memcpy(all->slots + all->n_slots, a->slots, a->n_slots * sizeof *a->slots);
    if (a->n_words > 0)
        memcpy(all->words + all->n_words, a->words, a->n_words * sizeof *a->words);
    all->n_slots += a->n_slots;
    all->n_words += a->n_words;
}

struct osc_records_device *osc_records_device(struct osc_records_rows *rows, uint32_t number)
{
    struct osc_deferred *l = &rows->late;

    for (size_t i = 0; i < l->n_devices; i++)
        if (l->devices[i].number == number)
            return &l->devices[i];
    const osc_status st =
        osc_build_grow(&l->devices, &l->cap_devices, l->n_devices + 1, sizeof *l->devices);
    if (st != OSC_OK) {
        rows->builder->status = st;
        return NULL;
    }
    l->devices[l->n_devices] = (struct osc_records_device){.number = number};
    osc_device_limits_init(&l->devices[l->n_devices].limits);
    return &l->devices[l->n_devices++];
}

struct osc_records_queue *osc_records_queue(struct osc_records_rows *rows, uint32_t number)
{
    struct osc_deferred *l = &rows->late;

    for (size_t i = 0; i < l->n_queues; i++)
        if (l->queues[i].number == number)
            return &l->queues[i];
    const osc_status st =
        osc_build_grow(&l->queues, &l->cap_queues, l->n_queues + 1, sizeof *l->queues);
    if (st != OSC_OK) {
        rows->builder->status = st;
        return NULL;
    }
    l->queues[l->n_queues] = (struct osc_records_queue){.number = number};
    return &l->queues[l->n_queues++];
}

/* --- devices ------------------------------------------------------------- */

/* Add D to the builder. A device without a DEVICE record is named by its number. */
static void build_device(struct osc_records_rows *rows, struct osc_records_device *d)
{
    struct osc_builder *b = rows->builder;
    const struct osc_str family = d->type.v != 0 ? osc_trace_str(b->loading->trace, d->type)
                                  : d->number == OSC_DEVICE_CPU ? OSC_STR("cpu")
                                                                : OSC_STR("device");
    const bool is_cpu = osc_str_eq(family, OSC_STR("cpu"));
    const struct osc_device device = {
        .family = osc_build_string(b, family.s, family.len),
        .index = is_cpu           ? -1
                 : d->type.v != 0 ? (int64_t)d->index
                                  : (int64_t)d->number,
        .model = d->name,
        .limits = d->limits,
    };

    d->is_cpu = is_cpu;
    d->family = device.family;
    d->built_index = device.index;
    d->built = osc_build_device(b, &device);
    d->text = osc_build_device_name(b, d->built);
}

/* Store the clock of D as a fact of the file. */
static void store_clock(struct osc_records_rows *rows, const struct osc_records_device *d)
{
    struct osc_builder *b = rows->builder;
    struct osc_strbuf key = {0};

    if (d->n_pairs == 0)
        return;
    /* The device's clock at the first pair, in ns at its own rate; the offset is the host's
     * clock less that. */
    __extension__ const __int128 shown = (__int128)d->fit.line.x0 * 1000000000;
    const int64_t offset_ns =
        d->fit.line.y0_ns - (int64_t)(shown / (d->fit.hz > 0 ? d->fit.hz : 1));

    osc_strbuf_adds(&key, "device_clock.");
    osc_strbuf_addstr(&key, osc_trace_str(b->loading->trace, d->text));
    osc_strbuf_clear(&rows->text);
    osc_strbuf_addf(&rows->text,
                    "{\"pairs\":%zu,\"hz\":%llu,\"offset_ns\":%lld,\"drift_ppb\":%lld,"
                    "\"width_ns\":%lld}",
                    d->n_pairs, (unsigned long long)d->fit.hz, (long long)offset_ns,
                    (long long)d->fit.drift_ppb, (long long)d->fit.width_ns);
    if (key.status == OSC_OK && rows->text.status == OSC_OK)
        osc_build_member(b, osc_build_string(b, key.s, (uint32_t)key.len),
                         osc_build_string(b, rows->text.s, (uint32_t)rows->text.len), false);
    else
        b->status = OSC_ENOMEM;
    osc_strbuf_fini(&key);
}

static void fit_devices(struct osc_records_rows *rows)
{
    struct osc_deferred *l = &rows->late;

    for (size_t i = 0; i < l->n_devices; i++) {
        struct osc_records_device *d = &l->devices[i];

        build_device(rows, d);
        if (d->n_pairs > 0)
            d->fit = osc_records_fit(rows->clock, d->pairs, d->n_pairs, d->hz);
        store_clock(rows, d);
    }
}

/* --- rows ---------------------------------------------------------------- */

/* The row being made of an item: first its own arguments, then those recorded with it. */
struct making {
    struct osc_records_rows *rows;
    struct osc_arguments args; /* owned */
};

static osc_sid key_of(const struct osc_records_rows *rows, enum osc_arg_key key)
{
    return rows->builder->loading->keys[key];
}

static void add_int(struct making *m, osc_sid key, int64_t value)
{
    osc_arguments_int(m->rows->builder, &m->args, key, value);
}

/* Append the arguments recorded with ITEM to those of M. */
static void add_args(struct making *m, const struct osc_records_item *item)
{
    struct osc_builder *b = m->rows->builder;
    struct osc_arguments *a = &m->args;
    const struct osc_arguments *all = &m->rows->late.args;

    if (item->n_slots == 0 || b->status != OSC_OK)
        return;
    b->status =
        osc_build_grow(&a->slots, &a->cap_slots, a->n_slots + item->n_slots, sizeof *a->slots);
    if (b->status == OSC_OK)
        b->status = osc_build_grow(&a->words, &a->cap_words, a->n_words + item->n_args + 1,
                                   sizeof *a->words);
    if (b->status != OSC_OK)
        return;
    memcpy(a->slots + a->n_slots, all->slots + item->slot, item->n_slots * sizeof *a->slots);
    if (item->n_args > 0)
        memcpy(a->words + a->n_words, all->words + item->arg, item->n_args * sizeof *a->words);
    a->n_slots += item->n_slots;
    a->n_words += item->n_args;
}

/* Whether an argument with KEY was recorded with ITEM. */
static bool has_arg(const struct making *m, const struct osc_records_item *item, osc_sid key)
{
    const struct osc_slot *const slots = m->rows->late.args.slots;

    for (uint32_t i = 0; i < item->n_slots; i++)
        if (slots[item->slot + i].key.v == key.v)
            return true;
    return false;
}

static void put(struct making *m, struct osc_record *r, const struct osc_records_item *item)
{
    add_args(m, item);
    osc_build_event(m->rows->builder, r, &m->args);
    osc_arguments_clear(&m->args);
}

/* A record with the thread and time of ITEM. */
static struct osc_record record_of(const struct making *m, const struct osc_records_item *item,
                                   enum osc_form_shape shape, enum osc_kind kind)
{
    return (struct osc_record){.shape = (uint8_t)shape,
                               .kind = (uint8_t)kind,
                               .name = item->name,
                               .track = m->rows->threads[item->thread].track,
                               .ts_ns = item->ts_ns,
                               .dur_ns = item->dur_ns};
}

/* Whether ITEM, which begins a step, becomes a row: one that nothing ends may be none. */
static bool is_step(const struct osc_records_item *item, const uint64_t *words)
{
    return item->dur_ns != OSC_NO_DUR || words[1] != OSC_STEP_IF_ENDED;
}

#define LABEL_BYTES 24

/* The label of the step with WORDS, in TEXT. */
static struct osc_str label_of(const uint64_t *words, char text[LABEL_BYTES])
{
    const int len = snprintf(text, LABEL_BYTES, "%llu", (unsigned long long)words[0]);

    return (struct osc_str){text, (uint32_t)len};
}

/* A step is a range of its own, and may be one of the program's, too: then both say so, and
 * the copies of it on devices belong to the step. */
static void build_step(struct making *m, const struct osc_records_item *item,
                       const uint64_t *words)
{
    const uint32_t range = osc_copies_step(m->rows, item->order + 1);
    char text[LABEL_BYTES];

    if (!is_step(item, words))
        return;
    if (range > 0)
        osc_copies_tell(m->rows, &m->args, range);
    osc_build_step(m->rows->builder,
                   &(struct osc_step_row){.track = m->rows->threads[item->thread].track,
                                          .label = label_of(words, text),
                                          .ts_ns = item->ts_ns,
                                          .dur_ns = item->dur_ns},
                   &m->args);
    osc_arguments_clear(&m->args);
}

static void build_range(struct making *m, const struct osc_records_item *item,
                        const uint64_t *words)
{
    const bool is_end = item->kind == OSC_RECORD_ASYNC_END;
    struct osc_record r = record_of(m, item, is_end ? OSC_SHAPE_ASYNC_END : OSC_SHAPE_ASYNC,
                                    osc_records_kind(words[1]));

    osc_arguments_id(m->rows->builder, &m->args, key_of(m->rows, OSC_ARG_KEY_FLOW_ID),
                     words[0]);
    for (size_t i = 0; i < m->args.n_slots; i++)
        m->args.slots[i].is_member = true;
    put(m, &r, item);
}

static bool is_memory(uint8_t kind)
{
    return kind >= OSC_RECORD_ALLOC && kind <= OSC_RECORD_FREE_TOTAL;
}

/* The change of the device's allocated bytes by ITEM. */
static int64_t delta_of(const struct osc_records_item *item, const uint64_t *words)
{
    const bool is_alloc =
        item->kind == OSC_RECORD_ALLOC || item->kind == OSC_RECORD_ALLOC_TOTAL;
    const int64_t bytes = words[1] <= INT64_MAX ? (int64_t)words[1] : INT64_MAX;

    return is_alloc ? bytes : -bytes;
}

static uint64_t total_of(const struct osc_records_item *item, const uint64_t *words)
{
    return item->kind >= OSC_RECORD_ALLOC_TOTAL ? words[2] : UNKNOWN;
}

/* A record says how many bytes were allocated or freed, and only some say the sum; it goes on
 * from the last one that did. */
static void build_memory(struct making *m, const struct osc_records_item *item,
                         const uint64_t *words)
{
    struct osc_records_rows *rows = m->rows;
    struct osc_records_device *d = osc_records_device(rows, item->id);
    struct osc_memory_row memory = {.track = rows->threads[item->thread].track,
                                    .ts_ns = item->ts_ns,
                                    .address = words[0],
                                    .bytes = delta_of(item, words),
                                    .reserved_bytes = OSC_BYTES_UNKNOWN};

    if (!d)
        return;
    d->sum_bytes =
        total_of(item, words) == UNKNOWN ? d->sum_bytes + memory.bytes : (int64_t)words[2];
    memory.device = d->built;
    memory.allocated_bytes = d->sum_bytes;
    if (item->kind >= OSC_RECORD_ALLOC_TOTAL && words[3] != UNKNOWN)
        memory.reserved_bytes = (int64_t)words[3];
    else if (rows->is_torch && d->is_cpu)
        memory.reserved_bytes = 0; /* as torch's profiler does */
    add_args(m, item);
    osc_build_memory(rows->builder, &memory, &m->args);
    osc_arguments_clear(&m->args);
}

/* TICKS of the clock of D in nanoseconds of the host's. */
static int64_t device_ns(struct osc_records_rows *rows, const struct osc_records_device *d,
                         uint64_t ticks)
{
    return d->n_pairs > 0 ? osc_records_line_ns(&d->fit.line, ticks)
                          : osc_records_clock_ns(rows->clock, ticks);
}

/* The launch of CORRELATION; NULL: it was not recorded. */
static struct osc_records_launch *launch_of(const struct osc_records_rows *rows,
                                            uint64_t correlation)
{
    const uint32_t launch = osc_idmap_get(&rows->late.launch_of, correlation);

    return launch > 0 ? &rows->late.launches[launch - 1] : NULL;
}

/* Draw an arrow FROM the launch of CORRELATION to work at TO. */
static void build_launch_arrow(struct osc_records_rows *rows, struct osc_records_launch *from,
                               uint64_t correlation, const struct osc_arrow_end *to)
{
    const osc_sid no_category = {0};

    if (!from->has_arrow)
        osc_build_arrow_end(rows->builder, OSC_SHAPE_ARROW_FROM, OSC_ARROW_LAUNCH, no_category,
                            correlation, &from->at);
    from->has_arrow = true;
    osc_build_arrow_end(rows->builder, OSC_SHAPE_ARROW_TO, OSC_ARROW_LAUNCH, no_category,
                        correlation, to);
}

/* A row for work on a device. Its times are those of the device's clock until now, for the
 * line between the clocks is known only when all pairs are; when it was put into the queue is
 * told relative to its start. */
static void build_work(struct making *m, const struct osc_records_item *item,
                       const uint64_t *words)
{
    static const enum osc_kind work_kinds[OSC_WORK_KIND_COUNT] = {
        [OSC_WORK_KERNEL] = OSC_KIND_KERNEL,        [OSC_WORK_MEMCPY] = OSC_KIND_MEMCPY,
        [OSC_WORK_MEMSET] = OSC_KIND_MEMSET,        [OSC_WORK_SYNC] = OSC_KIND_SYNC,
        [OSC_WORK_COMMUNICATION] = OSC_KIND_KERNEL,
    };
    struct osc_records_rows *rows = m->rows;
    struct osc_builder *b = rows->builder;
    const uint32_t kind = (uint32_t)(words[0] >> 32);
    const struct osc_records_queue *q = osc_records_queue(rows, (uint32_t)words[0]);
    const struct osc_records_device *d = q ? osc_records_device(rows, q->device) : NULL;

    if (!d)
        return;
    struct osc_record r =
        record_of(m, item, OSC_SHAPE_RANGE, work_kinds[kind < OSC_WORK_KIND_COUNT ? kind : 0]);
    r.track = q->track;
    const int64_t end_ns = device_ns(rows, d, words[5]);
    r.dur_ns = end_ns > r.ts_ns ? end_ns - r.ts_ns : 0;
    if (end_ns < r.ts_ns)
        osc_findings_add(&b->findings, OSC_FINDING_negative_duration, OSC_NO_OFFSET, r.ts_ns);
    add_int(m, key_of(rows, OSC_ARG_KEY_DEVICE), d->built_index);
    osc_arguments_string(b, &m->args, key_of(rows, OSC_ARG_KEY_DEVICE_FAMILY), d->family);
    if (!has_arg(m, item, key_of(rows, OSC_ARG_KEY_STREAM))) /* a runtime's own number */
        add_int(m, key_of(rows, OSC_ARG_KEY_STREAM), q->number);
    if (words[1] != 0)
        add_int(m, rows->key_correlation, (int64_t)words[1]);
    if (words[6] != 0)
        add_int(m, key_of(rows, OSC_ARG_KEY_BYTES_COPIED), (int64_t)words[6]);
    if (words[2] != 0)
        add_int(m, osc_build_string(b, "ns since append", 15),
                r.ts_ns - device_ns(rows, d, words[2]));
    if (words[3] != 0)
        add_int(m, osc_build_string(b, "ns since submit", 15),
                r.ts_ns - device_ns(rows, d, words[3]));
    if (kind == OSC_WORK_COMMUNICATION)
        osc_arguments_string(b, &m->args, key_of(rows, OSC_ARG_KEY_COLLECTIVE_NAME), r.name);
    put(m, &r, item);
    struct osc_records_launch *const launch = words[1] != 0 ? launch_of(rows, words[1]) : NULL;
    if (launch)
        build_launch_arrow(rows, launch, words[1], &(struct osc_arrow_end){r.track, r.ts_ns});
}

/* Make a row for the call that launched the work CORRELATION. */
static void build_launch(struct making *m, const struct osc_records_item *item,
                         uint64_t correlation)
{
    struct osc_record r = record_of(m, item, OSC_SHAPE_RANGE, OSC_KIND_RUNTIME);

    r.name = osc_build_string(m->rows->builder, "launch", 6);
    add_int(m, m->rows->key_correlation, (int64_t)correlation);
    put(m, &r, item);
}

static void build_item(struct making *m, const struct osc_records_item *item)
{
    const uint64_t *words = m->rows->late.words + item->word;

    if (item->kind == OSC_RECORD_STEP_BEGIN)
        build_step(m, item, words);
    else if (item->kind == OSC_RECORD_WORK)
        build_work(m, item, words);
    else if (item->kind == OSC_RECORD_LAUNCH)
        build_launch(m, item, words[0]);
    else if (is_memory(item->kind))
        build_memory(m, item, words);
    else
        build_range(m, item, words);
}

/* Make each queue a track of its device. */
static void build_queues(struct osc_records_rows *rows)
{
    for (size_t i = 0; i < rows->late.n_queues; i++) {
        struct osc_records_queue *q = &rows->late.queues[i];
        const struct osc_records_device *d = osc_records_device(rows, q->device);

        if (!d)
            return;
        q->track = osc_build_queue(rows->builder, d->built, q->number, q->name);
        if (d->name.v != 0)
            osc_build_process_name(rows->builder, q->track, d->name);
    }
}

static int compare_items(const void *pa, const void *pb)
{
    const struct osc_records_item *const a = pa, *const b = pb;

    if (a->ts_ns != b->ts_ns)
        return a->ts_ns < b->ts_ns ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Choose the first sum of each device so that no sum is negative: memory that was freed had
 * been allocated before the recording. */
static void begin_sums(struct osc_records_rows *rows)
{
    struct osc_deferred *l = &rows->late;

    for (size_t i = 0; i < l->n_items; i++) {
        const struct osc_records_item *item = &l->items[i];
        const uint64_t *words = l->words + item->word;

        if (!is_memory(item->kind))
            continue;
        struct osc_records_device *d = osc_records_device(rows, item->id);
        if (!d)
            return;
        d->sum_bytes = total_of(item, words) == UNKNOWN ? d->sum_bytes + delta_of(item, words)
                                                        : (int64_t)words[2];
        d->least_bytes = d->sum_bytes < d->least_bytes ? d->sum_bytes : d->least_bytes;
    }
    for (size_t i = 0; i < l->n_devices; i++)
        l->devices[i].sum_bytes = -l->devices[i].least_bytes;
}

/* Make the row of COPY. It comes before those of work: if both last as long, it is around the
 * work. */
static void build_copy(struct making *m, const struct osc_records_copy *copy)
{
    struct osc_records_rows *const rows = m->rows;
    const struct osc_records_queue *const q = osc_records_queue(rows, copy->queue);
    const struct osc_records_device *const d = q ? osc_records_device(rows, q->device) : NULL;
    struct osc_record r = {.shape = OSC_SHAPE_RANGE,
                           .kind = OSC_KIND_ANNOTATION,
                           .is_device = true,
                           .name = rows->copies.ranges[copy->range],
                           .ts_ns = copy->start_ns,
                           .dur_ns = copy->end_ns - copy->start_ns};

    if (!d || r.name.v == OSC_COPIES_UNNAMED) /* a step that never ended is none */
        return;
    r.track = q->track;
    osc_copies_tell(rows, &m->args, copy->range + 1);
    add_int(m, key_of(rows, OSC_ARG_KEY_DEVICE), d->built_index);
    osc_arguments_string(rows->builder, &m->args, key_of(rows, OSC_ARG_KEY_DEVICE_FAMILY),
                         d->family);
    osc_build_event(rows->builder, &r, &m->args);
    osc_arguments_clear(&m->args);
}

/* Find what work was launched in, and name the steps that are among it. */
static void find_copies(struct osc_records_rows *rows)
{
    const struct osc_deferred *const l = &rows->late;

    for (size_t i = 0; i < l->n_items && rows->builder->status == OSC_OK; i++) {
        const struct osc_records_item *const item = &l->items[i];
        const uint64_t *const words = l->words + item->word;

        if (item->kind == OSC_RECORD_STEP_BEGIN && is_step(item, words)) {
            const uint32_t range = osc_copies_step(rows, item->order + 1);
            char text[LABEL_BYTES];

            if (range > 0)
                rows->copies.ranges[range - 1] =
                    osc_build_step_name(rows->builder, label_of(words, text));
        } else if (item->kind == OSC_RECORD_WORK && words[1] != 0 &&
                   words[0] >> 32 != OSC_WORK_SYNC) {
            const struct osc_records_queue *const q =
                osc_records_queue(rows, (uint32_t)words[0]);
            const struct osc_records_device *const d =
                q ? osc_records_device(rows, q->device) : NULL;
            const struct osc_records_launch *const from = launch_of(rows, words[1]);

            const int64_t end_ns = d ? device_ns(rows, d, words[5]) : 0;

            if (d && from)
                osc_copies_add(rows, from->range, q->number, item->ts_ns,
                               end_ns > item->ts_ns ? end_ns : item->ts_ns);
        }
    }
}

void osc_deferred_build(struct osc_records_rows *rows)
{
    struct osc_deferred *l = &rows->late;
    struct making m = {.rows = rows};

    /* First create every device and queue that a record names. */
    for (size_t i = 0; i < l->n_items; i++) {
        const struct osc_records_item *item = &l->items[i];

        if (item->kind == OSC_RECORD_WORK) {
            const struct osc_records_queue *q =
                osc_records_queue(rows, (uint32_t)l->words[item->word]);
            if (q)
                (void)osc_records_device(rows, q->device);
        } else if (is_memory(item->kind)) {
            (void)osc_records_device(rows, item->id);
        }
    }
    if (rows->builder->status == OSC_OK)
        fit_devices(rows);
    if (rows->builder->status == OSC_OK)
        build_queues(rows);
    for (size_t i = 0; i < l->n_items && rows->builder->status == OSC_OK; i++) {
        struct osc_records_item *item = &l->items[i];

        if (item->kind == OSC_RECORD_WORK) {
            const struct osc_records_queue *q =
                osc_records_queue(rows, (uint32_t)l->words[item->word]);
            item->ts_ns =
                device_ns(rows, osc_records_device(rows, q->device), l->words[item->word + 4]);
        }
    }
    if (l->n_items > 1)
        osc_sort(l->items, l->n_items, sizeof *l->items, compare_items);
    begin_sums(rows);
    find_copies(rows);
    for (size_t i = 0; i < rows->copies.n_copies && rows->builder->status == OSC_OK; i++)
        build_copy(&m, &rows->copies.copies[i]);
    for (size_t i = 0; i < l->n_items && rows->builder->status == OSC_OK; i++)
        build_item(&m, &l->items[i]);
    osc_arguments_fini(&m.args);
}
