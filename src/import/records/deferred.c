/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/deferred.h"

#include <stdio.h>

#include "base/sort.h"
#include "codec/json.h"
#include "import/records/records_rows.h"
#include "opscope/source.h"

/* c10::DeviceType as memory records name it; the others are counted from OWN_TYPE on. */
static const struct {
    const char *type;
    int32_t number;
} device_types[] = {{"cpu", 0},         {"cuda", 1},   {"hip", 6},  {"xla", 9},
                    {"vulkan", 10},     {"metal", 11}, {"xpu", 12}, {"mps", 13},
                    {"hpu", 15},        {"ve", 16},    {"ipu", 18}, {"mtia", 19},
                    {"privateuse1", 20}};

#define OWN_TYPE 64

#define UNKNOWN UINT64_MAX /* a total that the allocator does not tell */

void osc_deferred_fini(struct osc_deferred *l)
{
    for (size_t i = 0; i < l->n_devices; i++)
        osc_free(l->devices[i].pairs);
    osc_free(l->items);
    osc_free(l->words);
    osc_records_args_fini(&l->args);
    osc_free(l->devices);
    osc_free(l->queues);
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

void osc_deferred_args(struct osc_records_rows *rows, size_t at,
                       const struct osc_records_args *a)
{
    struct osc_records_args *all = &rows->late.args;
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

void osc_deferred_meta(struct osc_records_rows *rows, osc_sid key, osc_sid value,
                       bool is_string)
{
    struct osc_trace *t = rows->builder->loading->trace;
    const struct osc_meta meta = {key, value, is_string};

    for (uint32_t i = 0; i < t->n_metas; i++) {
        if (t->metas[i].key.v == key.v) {
            t->metas[i] = meta;
            return;
        }
    }
    const osc_status st =
        osc_build_grow(&t->metas, &rows->late.cap_metas, t->n_metas + 1, sizeof *t->metas);
    if (st == OSC_OK)
        t->metas[t->n_metas++] = meta;
    else
        rows->builder->status = st;
}

/* --- devices ------------------------------------------------------------- */

/* What D is called, and how memory records say so. */
static void name_device(struct osc_records_rows *rows, struct osc_records_device *d)
{
    struct osc_builder *b = rows->builder;
    const struct osc_str type = d->type.v != 0 ? osc_trace_str(b->loading->trace, d->type)
                                : d->number == OSC_DEVICE_CPU ? OSC_STR("cpu")
                                                              : OSC_STR("device");
    const uint32_t index = d->type.v != 0 ? d->index : d->number;
    const bool is_cpu = osc_str_eq(type, OSC_STR("cpu"));
    char key[32];

    osc_strbuf_clear(&rows->text);
    osc_strbuf_addstr(&rows->text, type);
    if (!is_cpu)
        osc_strbuf_addf(&rows->text, ":%u", index);
    if (rows->text.status != OSC_OK) {
        b->status = rows->text.status;
        return;
    }
    d->index = index;
    d->text = osc_build_string(b, rows->text.s, (uint32_t)rows->text.len);
    d->type_number = -1;
    for (size_t i = 0; i < sizeof device_types / sizeof *device_types; i++)
        if (osc_str_eq(type, osc_str_c(device_types[i].type)))
            d->type_number = device_types[i].number;
    if (d->type_number >= 0)
        return;
    /* A number of its own, and a word for it that derive/ finds. */
    d->type_number = OWN_TYPE;
    for (const struct osc_records_device *e = rows->late.devices; e != d; e++) {
        if (e->type.v == d->type.v && e->type_number >= OWN_TYPE) {
            d->type_number = e->type_number;
            return;
        }
        if (e->type_number >= d->type_number)
            d->type_number = e->type_number + 1;
    }
    const int len = snprintf(key, sizeof key, "device_type.%d", d->type_number);
    osc_deferred_meta(rows, osc_build_string(b, key, (uint32_t)len),
                      osc_build_string(b, type.s, type.len), true);
}

/* The clock of D, as a fact of the file. */
static void tell_clock(struct osc_records_rows *rows, const struct osc_records_device *d)
{
    struct osc_builder *b = rows->builder;
    struct osc_strbuf key = {0};

    if (d->n_pairs == 0)
        return;
    /* What the device showed at the first pair, in ns of its own rate, less than the host. */
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
        osc_deferred_meta(rows, osc_build_string(b, key.s, (uint32_t)key.len),
                          osc_build_string(b, rows->text.s, (uint32_t)rows->text.len), false);
    else
        b->status = OSC_ENOMEM;
    osc_strbuf_fini(&key);
}

/* What `devices` shows, in Kineto's words. */
static void tell_properties(struct osc_records_rows *rows)
{
    const struct osc_trace *trace = rows->builder->loading->trace;
    struct osc_strbuf *text = &rows->text;
    size_t n = 0;

    osc_strbuf_clear(text);
    for (size_t i = 0; i < rows->late.n_devices; i++) {
        const struct osc_records_device *d = &rows->late.devices[i];

        if (d->name.v == 0 && d->memory_bytes == 0)
            continue;
        osc_strbuf_addf(text, "%s{\"id\":%u", n++ > 0 ? "," : "[", d->index);
        if (d->name.v != 0) {
            osc_strbuf_adds(text, ",\"name\":");
            osc_json_quote(text, osc_trace_str(trace, d->name));
        }
        if (d->memory_bytes > 0)
            osc_strbuf_addf(text, ",\"totalGlobalMem\":%llu",
                            (unsigned long long)d->memory_bytes);
        osc_strbuf_addc(text, '}');
    }
    if (n == 0)
        return;
    osc_strbuf_addc(text, ']');
    if (text->status != OSC_OK)
        rows->builder->status = text->status;
    else
        osc_deferred_meta(rows, osc_build_string(rows->builder, "deviceProperties", 16),
                          osc_build_string(rows->builder, text->s, (uint32_t)text->len), false);
}

static void settle_devices(struct osc_records_rows *rows)
{
    struct osc_deferred *l = &rows->late;

    for (size_t i = 0; i < l->n_devices; i++) {
        struct osc_records_device *d = &l->devices[i];

        name_device(rows, d);
        if (d->n_pairs > 0)
            d->fit = osc_records_fit(rows->clock, d->pairs, d->n_pairs, d->hz);
        tell_clock(rows, d);
    }
    tell_properties(rows);
}

/* --- rows ---------------------------------------------------------------- */

/* A row being made of an item: its own arguments, then those that came with it. */
struct making {
    struct osc_records_rows *rows;
    struct osc_records_args args; /* owned */
};

static osc_sid key_of(const struct osc_records_rows *rows, enum osc_arg_key key)
{
    return rows->builder->loading->keys[key];
}

static void add_int(struct making *m, osc_sid key, int64_t value)
{
    osc_records_args_int(m->rows->builder, &m->args, key, value);
}

static void add_text(struct making *m, osc_sid key, const char *text)
{
    struct osc_builder *b = m->rows->builder;

    osc_records_args_string(b, &m->args, key,
                            osc_build_string(b, text, (uint32_t)strlen(text)));
}

static void put(struct making *m, struct osc_record *r, const struct osc_records_item *item)
{
    struct osc_builder *b = m->rows->builder;
    struct osc_records_args *a = &m->args;
    const struct osc_records_args *all = &m->rows->late.args;

    if (item->n_slots > 0 && b->status == OSC_OK) {
        b->status = osc_build_grow(&a->slots, &a->cap_slots, a->n_slots + item->n_slots,
                                   sizeof *a->slots);
        if (b->status == OSC_OK)
            b->status = osc_build_grow(&a->words, &a->cap_words, a->n_words + item->n_args + 1,
                                       sizeof *a->words);
        if (b->status != OSC_OK)
            return;
        memcpy(a->slots + a->n_slots, all->slots + item->slot,
               item->n_slots * sizeof *a->slots);
        if (item->n_args > 0)
            memcpy(a->words + a->n_words, all->words + item->arg,
                   item->n_args * sizeof *a->words);
        a->n_slots += item->n_slots;
        a->n_words += item->n_args;
    }
    for (size_t i = 0; i < a->n_slots && !r->has_args; i++)
        r->has_args = !a->slots[i].is_member;
    r->slots = a->slots;
    r->n_slots = (uint32_t)a->n_slots;
    r->words = a->words;
    if (b->status == OSC_OK)
        osc_build_record(b, r);
    a->n_slots = a->n_words = 0;
}

/* A record of ITEM's thread and time. */
static struct osc_record record_of(const struct making *m, const struct osc_records_item *item,
                                   uint8_t ph, const char *category)
{
    struct osc_builder *b = m->rows->builder;

    return (struct osc_record){.ph = ph,
                               .category =
                                   osc_build_string(b, category, (uint32_t)strlen(category)),
                               .name = item->name,
                               .pid = m->rows->pid,
                               .tid = m->rows->threads[item->thread].tid,
                               .ts_ns = item->ts_ns,
                               .dur_ns = item->dur_ns};
}

static void build_step(struct making *m, const struct osc_records_item *item,
                       const uint64_t *words)
{
    struct osc_record r =
        record_of(m, item, item->dur_ns == OSC_NO_DUR ? 'B' : 'X', "user_annotation");
    char name[40];

    if (item->dur_ns == OSC_NO_DUR && words[1] == OSC_STEP_IF_ENDED)
        return; /* nothing ended it, so it was none */
    const int len =
        snprintf(name, sizeof name, "ProfilerStep#%llu", (unsigned long long)words[0]);
    r.name = osc_build_string(m->rows->builder, name, (uint32_t)len);
    put(m, &r, item);
}

static void build_range(struct making *m, const struct osc_records_item *item,
                        const uint64_t *words)
{
    const bool is_end = item->kind == OSC_RECORD_ASYNC_END;
    struct osc_record r = record_of(m, item, is_end ? 'e' : 'b', "");

    r.category =
        m->rows->categories[words[1] < OSC_SCOPE_KIND_COUNT ? words[1] : OSC_SCOPE_PLAIN];
    osc_records_args_id(m->rows->builder, &m->args, key_of(m->rows, OSC_ARG_KEY_FLOW_ID),
                        words[0]);
    for (size_t i = 0; i < m->args.n_slots; i++)
        m->args.slots[i].is_member = true;
    put(m, &r, item);
}

static bool is_memory(uint8_t kind)
{
    return kind >= OSC_RECORD_ALLOC && kind <= OSC_RECORD_FREE_TOTAL;
}

/* What ITEM adds to what its device has given out. */
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

static void build_memory(struct making *m, const struct osc_records_item *item,
                         const uint64_t *words)
{
    struct osc_records_rows *rows = m->rows;
    struct osc_records_device *d = osc_records_device(rows, item->id);
    struct osc_record r = record_of(m, item, 'i', "cpu_instant_event");

    if (!d)
        return;
    d->sum_bytes = total_of(item, words) == UNKNOWN ? d->sum_bytes + delta_of(item, words)
                                                    : (int64_t)words[2];
    r.name = osc_build_string(rows->builder, "[memory]", 8);
    add_text(m, osc_build_string(rows->builder, "s", 1), "t");
    if (rows->builder->status == OSC_OK)
        m->args.slots[0].is_member = true;
    add_int(m, key_of(rows, OSC_ARG_KEY_DEVICE_TYPE), d->type_number);
    add_int(m, key_of(rows, OSC_ARG_KEY_DEVICE_ID),
            d->type_number == 0 ? -1 : (int64_t)d->index);
    osc_records_args_id(rows->builder, &m->args, key_of(rows, OSC_ARG_KEY_ADDR), words[0]);
    add_int(m, key_of(rows, OSC_ARG_KEY_BYTES), delta_of(item, words));
    add_int(m, key_of(rows, OSC_ARG_KEY_TOTAL_ALLOCATED), d->sum_bytes);
    if (item->kind >= OSC_RECORD_ALLOC_TOTAL && words[3] != UNKNOWN)
        add_int(m, key_of(rows, OSC_ARG_KEY_TOTAL_RESERVED), (int64_t)words[3]);
    else if (rows->is_torch && d->type_number == 0)
        add_int(m, key_of(rows, OSC_ARG_KEY_TOTAL_RESERVED), 0); /* as its profiler has it */
    put(m, &r, item);
}

/* TICKS of D in nanoseconds. */
static int64_t device_ns(struct osc_records_rows *rows, const struct osc_records_device *d,
                         uint64_t ticks)
{
    return d->n_pairs > 0 ? osc_records_line_ns(&d->fit.line, ticks)
                          : osc_records_clock_ns(rows->clock, ticks);
}

static void build_work(struct making *m, const struct osc_records_item *item,
                       const uint64_t *words)
{
    static const char *const work_categories[] = {[OSC_WORK_KERNEL] = "kernel",
                                                  [OSC_WORK_MEMCPY] = "gpu_memcpy",
                                                  [OSC_WORK_MEMSET] = "gpu_memset"};
    struct osc_records_rows *rows = m->rows;
    struct osc_builder *b = rows->builder;
    const uint32_t kind = (uint32_t)(words[0] >> 32);
    const struct osc_records_queue *q = osc_records_queue(rows, (uint32_t)words[0]);
    const struct osc_records_device *d = q ? osc_records_device(rows, q->device) : NULL;

    if (!d)
        return;
    struct osc_record r =
        record_of(m, item, 'X', work_categories[kind <= OSC_WORK_MEMSET ? kind : 0]);
    r.is_device = true;
    r.pid = OSC_WHO_IS_STRING | d->text.v;
    r.tid = q->number;
    const int64_t end_ns = device_ns(rows, d, words[5]);
    r.dur_ns = end_ns > r.ts_ns ? end_ns - r.ts_ns : 0;
    if (end_ns < r.ts_ns)
        osc_findings_add(&b->findings, OSC_FINDING_negative_duration, OSC_NO_OFFSET, r.ts_ns);
    osc_records_args_string(b, &m->args, key_of(rows, OSC_ARG_KEY_DEVICE), d->text);
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
    put(m, &r, item);
}

/* The call that launched the work of CORRELATION. */
static void build_launch(struct making *m, const struct osc_records_item *item,
                         uint64_t correlation)
{
    struct osc_record r = record_of(m, item, 'X', "cuda_runtime");

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

/* Names of queues, and of the devices that they are of. */
static void name_queues(struct making *m)
{
    struct osc_records_rows *rows = m->rows;
    struct osc_builder *b = rows->builder;
    const struct osc_records_item nothing = {0};

    for (size_t i = 0; i < rows->late.n_queues; i++) {
        const struct osc_records_queue *q = &rows->late.queues[i];
        const struct osc_records_device *d = osc_records_device(rows, q->device);
        struct osc_record r = {.ph = 'M', .tid = q->number};

        if (!d)
            return;
        r.pid = OSC_WHO_IS_STRING | d->text.v;
        if (q->name.v != 0) {
            r.name = osc_build_string(b, "thread_name", 11);
            osc_records_args_string(b, &m->args, key_of(rows, OSC_ARG_KEY_NAME), q->name);
            put(m, &r, &nothing);
        }
        if (d->name.v != 0) {
            r.name = osc_build_string(b, "process_name", 12);
            osc_records_args_string(b, &m->args, key_of(rows, OSC_ARG_KEY_NAME), d->name);
            put(m, &r, &nothing);
        }
    }
}

static int compare_items(const void *pa, const void *pb)
{
    const struct osc_records_item *const a = pa, *const b = pb;

    if (a->ts_ns != b->ts_ns)
        return a->ts_ns < b->ts_ns ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Sums begin so that none is negative: what was freed had been given out before. */
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

void osc_deferred_build(struct osc_records_rows *rows)
{
    struct osc_deferred *l = &rows->late;
    struct making m = {.rows = rows};

    /* Every device and queue that a record names is there from now on. */
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
        settle_devices(rows);
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
    for (size_t i = 0; i < l->n_items && rows->builder->status == OSC_OK; i++)
        build_item(&m, &l->items[i]);
    if (rows->builder->status == OSC_OK)
        name_queues(&m);
    osc_records_args_fini(&m.args);
}
