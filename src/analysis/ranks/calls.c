/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/calls.h"

#include "analysis/dtypes.h"
#include "analysis/remedies.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "codec/json.h"
#include "derive/args.h"
#include "derive/facts.h"

#define ANCESTORS 64 /* ranges that are looked at around a launch */

/* A range that may be one of several of a call. */
struct found {
    uint32_t label; /* row of the host range that names the call; 0: none */
    uint32_t row;
    int64_t start_ns, end_ns;
};

struct search {
    const struct osc_trace *t;
    const struct osc_facts *f;
    struct found *v; /* owned */
    size_t n, cap;
    osc_status status; /* sticky */
};

static const struct osc_chunk *chunk_of(const struct search *s, uint32_t row, uint32_t *i)
{
    *i = osc_row_place((osc_row){row});
    return osc_chunk_of(&s->t->events, (osc_row){row});
}

static void add(struct search *s, uint32_t label, uint32_t row)
{
    uint32_t i;
    const struct osc_chunk *const c = chunk_of(s, row, &i);

    if (s->status == OSC_OK)
        s->status = osc_grow(&s->v, &s->cap, s->n + 1, sizeof *s->v);
    if (s->status == OSC_OK)
        s->v[s->n++] = (struct found){label, row, c->ts_ns[i], osc_row_end(c, i)};
}

/* --- host ranges ------------------------------------------------------------------------ */

/* Whether ROW is a finished host range of a collective, as derive/unions.c counts them. */
static bool is_collective(const struct search *s, uint32_t row)
{
    uint32_t i;
    const struct osc_chunk *const c = chunk_of(s, row, &i);
    const struct osc_classes *const classes = &s->f->classes;
    const uint8_t form = classes->forms[c->form[i]];
    const enum osc_kind of_form = (enum osc_kind)s->t->forms[c->form[i]].kind;
    const enum osc_kind kind = (enum osc_kind)c->kind[i];

    if (!osc_is_range(classes, c, i) || form & (OSC_FORM_ON_DEVICE | OSC_FORM_FUNCTION) ||
        form & OSC_FORM_CALL || kind == OSC_KIND_STEP || kind == OSC_KIND_DATALOADER)
        return false;
    if (of_form == OSC_KIND_COMMUNICATION)
        return true;
    return (form & OSC_FORM_OPERATOR || osc_kind_is_label(of_form) ||
            of_form == OSC_KIND_PYTHON) &&
           classes->names[c->name[i]] & OSC_NAME_COMM_HOST;
}

/* Whether the collective in ROW is called BACKEND:OPERATION. */
static bool is_label(const struct search *s, uint32_t row)
{
    uint32_t i;
    const struct osc_chunk *const c = chunk_of(s, row, &i);
    const struct osc_str name = osc_row_name(s->t, c, i);
    const char *const colon = memchr(name.s, ':', name.len);

    return colon && colon + 1 < name.s + name.len && colon[1] != ':';
}

static uint32_t parent_of(const struct search *s, uint32_t row)
{
    uint32_t i;
    const struct osc_chunk *const c = chunk_of(s, row, &i);

    return c->parent[i];
}

/* The host range that names what ROW, a launch, started; 0: none. */
static uint32_t label_around(const struct search *s, uint32_t row)
{
    uint32_t first = 0;

    for (int n = 0; n < ANCESTORS && row != 0; n++, row = parent_of(s, row)) {
        const bool is_one = is_collective(s, row);

        if (first != 0 && !is_one)
            break;
        if (is_one && is_label(s, row))
            return row;
        if (is_one && first == 0)
            first = row;
    }
    return first;
}

/* Find the kernels that communicate. */
static void find_kernels(struct search *s)
{
    const struct osc_links *const l = &s->f->links;

    for (size_t n = 0; n < l->n_works && s->status == OSC_OK; n++) {
        const struct osc_work *const w = &l->works[n];
        uint32_t i;
        const struct osc_chunk *const c = chunk_of(s, w->row, &i);

        if (c->kind[i] != OSC_KIND_KERNEL || !osc_is_comm_kernel(&s->f->classes, c, i))
            continue;
        add(s, w->call ? label_around(s, l->calls[w->call - 1].row) : 0, w->row);
    }
}

/* Whether a range around ROW is one that counts, too. */
static bool is_within(const struct search *s, uint32_t row, bool labels_only)
{
    for (int n = 0; n < ANCESTORS && (row = parent_of(s, row)) != 0; n++) {
        if (is_collective(s, row) && (!labels_only || is_label(s, row)))
            return true;
    }
    return false;
}

/* Find the host ranges of collectives. */
static void find_host_ranges(struct search *s)
{
    const struct osc_order *const o = &s->f->order;
    bool has_labels = false;

    for (uint32_t at = 0; at < o->n_rows && !has_labels; at++)
        has_labels = is_collective(s, o->rows[at]) && is_label(s, o->rows[at]);
    for (uint32_t at = 0; at < o->n_rows && s->status == OSC_OK; at++) {
        const uint32_t row = o->rows[at];

        if (is_collective(s, row) && (!has_labels || is_label(s, row)) &&
            !is_within(s, row, has_labels))
            add(s, row, row);
    }
}

/* --- the plugin's ----------------------------------------------------------------------- */

/* Find the host ranges of the plugin's collectives, and the kernels with their ids. */
static void find_compat(struct search *s)
{
    const struct osc_order *const o = &s->f->order;
    struct osc_idmap ids = {0};

    for (uint32_t at = 0; at < o->n_rows && s->status == OSC_OK; at++) {
        const uint32_t row = o->rows[at];
        uint32_t i;
        const struct osc_chunk *const c = chunk_of(s, row, &i);

        if (!is_collective(s, row) || !(s->f->classes.names[c->name[i]] & OSC_NAME_COMM_TB))
            continue;
        add(s, row, row);
        const int64_t id = osc_args_external_id(s->t, c, i);
        uint32_t *const place = id ? osc_idmap_put(&ids, (uint64_t)id) : NULL;
        if (id && !place)
            s->status = OSC_ENOMEM;
        if (place)
            *place = row;
    }
    for (size_t n = 0; n < s->f->links.n_works && s->status == OSC_OK; n++) {
        const uint32_t row = s->f->links.works[n].row;
        uint32_t i;
        const struct osc_chunk *const c = chunk_of(s, row, &i);
        const uint32_t label =
            c->kind[i] == OSC_KIND_KERNEL
                ? osc_idmap_get(&ids, (uint64_t)osc_args_external_id(s->t, c, i))
                : 0;

        if (label)
            add(s, label, row);
    }
    osc_idmap_fini(&ids);
}

/* --- what is known of a call ------------------------------------------------------------ */

/* The rows that may have arguments of a call: a kernel, its label, and ranges around it. */
struct about {
    uint32_t rows[2 + ANCESTORS];
    int n;
};

static void gather_about(const struct search *s, const struct found *v, struct about *a)
{
    a->n = 0;
    if (v->row != v->label)
        a->rows[a->n++] = v->row;
    for (uint32_t row = v->label; row != 0 && a->n < 2 + ANCESTORS; row = parent_of(s, row)) {
        if (!is_collective(s, row))
            break;
        a->rows[a->n++] = row;
    }
}

static bool find_int(const struct search *s, const struct about *a, enum osc_arg_key key,
                     int64_t *value)
{
    for (int k = 0; k < a->n; k++) {
        uint32_t i;
        const struct osc_chunk *const c = chunk_of(s, a->rows[k], &i);

        if (osc_args_int(s->t, c, i, key, value))
            return true;
    }
    return false;
}

static struct osc_str find_text(const struct search *s, const struct about *a,
                                enum osc_arg_key key)
{
    struct osc_str text = {"", 0};

    for (int k = 0; k < a->n && text.len == 0; k++) {
        uint32_t i;
        const struct osc_chunk *const c = chunk_of(s, a->rows[k], &i);

        if (!osc_row_arg_str(s->t, c, i, key, &text))
            text.len = 0;
    }
    return text;
}

/* The first row of A with types of inputs: these, and the sizes that it has beside them. */
static struct osc_str find_inputs(const struct search *s, const struct about *a,
                                  struct osc_str *dims)
{
    for (int k = 0; k < a->n; k++) {
        uint32_t i;
        const struct osc_chunk *const c = chunk_of(s, a->rows[k], &i);
        struct osc_str types, rest, first;

        if (!osc_row_arg_str(s->t, c, i, OSC_ARG_KEY_INPUT_TYPE, &types))
            continue;
        rest = types;
        if (!osc_json_next(&rest, &first))
            continue;
        if (!osc_row_arg_str(s->t, c, i, OSC_ARG_KEY_INPUT_DIMS, dims) &&
            !osc_row_arg_str(s->t, c, i, OSC_ARG_KEY_INPUT_DIMS_OLD, dims))
            dims->len = 0;
        return types;
    }
    dims->len = 0;
    return OSC_STR("");
}

/* Set the sizes of C, by Kineto's arguments or else by the inputs of its label. */
static osc_status set_sizes(const struct search *s, const struct about *a, bool compat_tb,
                            struct osc_rank_words *w, struct osc_rank_call *c)
{
    struct osc_str type = find_text(s, a, OSC_ARG_KEY_DTYPE);
    struct osc_str dims = {"", 0};
    const struct osc_str types = find_inputs(s, a, &dims);
    int64_t in = -1, out = -1;

    c->in_bytes = c->bytes = c->elements = -1;
    if (find_int(s, a, OSC_ARG_KEY_IN_ELEMENTS, &in) &&
        find_int(s, a, OSC_ARG_KEY_OUT_ELEMENTS, &out) && in >= 0 && out >= 0 && !compat_tb) {
        const int64_t each = osc_dtype_bytes(type);

        c->elements = in > out ? in : out;
        if (each > 0 && !__builtin_mul_overflow(c->elements, each, &c->bytes))
            c->in_bytes = in * each;
        else
            c->bytes = -1;
    } else {
        c->in_bytes = osc_collective_input_bytes(dims, types);
        /* Of what each rank gets from all others, only its own part is known. */
        if (c->op != OSC_COLLECTIVE_ALL_GATHER && c->op != OSC_COLLECTIVE_GATHER)
            c->bytes = c->in_bytes;
    }
    if (type.len == 0)
        type = osc_collective_input_type(types);
    if (c->op == OSC_COLLECTIVE_BARRIER)
        c->in_bytes = c->bytes = 0;
    return osc_rank_word(w, type, &c->dtype);
}

/* Set the group of C. A file with one group needs not say it at each call. */
static osc_status set_group(const struct search *s, const struct about *a,
                            struct osc_rank_words *w, struct osc_rank_call *c)
{
    struct osc_str name = find_text(s, a, OSC_ARG_KEY_PROCESS_GROUP), info, all, one, more;
    struct osc_str ranks = find_text(s, a, OSC_ARG_KEY_GROUP_RANKS);
    int64_t size = 0, seq = -1;

    (void)find_int(s, a, OSC_ARG_KEY_GROUP_SIZE, &size);
    if (!find_int(s, a, OSC_ARG_KEY_SEQ, &seq) || seq < 0)
        seq = -1;
    if (name.len == 0 && ranks.len == 0 && size == 0 &&
        osc_trace_meta(s->t, "distributedInfo", &info) &&
        osc_json_member(info, "pg_config", &all) && osc_json_next(&all, &one) &&
        !osc_json_next(&all, &more)) {
        if (osc_json_member(one, "pg_name", &name) && name.len >= 2 && name.s[0] == '"')
            name = (struct osc_str){name.s + 1, name.len - 2};
        if (!osc_json_member(one, "ranks", &ranks))
            ranks.len = 0;
        if (osc_json_member(one, "pg_size", &more))
            (void)osc_json_int(more, &size);
    }
    c->seq = seq;
    c->size = size > 0 && size <= INT32_MAX ? (uint32_t)size : 0;
    /* What all ranks together put in, if only the own part is recorded. */
    if (c->bytes < 0 && c->in_bytes >= 0 && c->size > 0 && c->elements < 0 &&
        __builtin_mul_overflow(c->in_bytes, (int64_t)c->size, &c->bytes))
        c->bytes = -1;
    const osc_status st = osc_rank_word(w, name, &c->group);
    return st == OSC_OK ? osc_rank_word(w, ranks, &c->ranks) : st;
}

static osc_status set_name(const struct search *s, const struct found *v, const struct about *a,
                           struct osc_rank_words *w, struct osc_rank_call *c)
{
    uint32_t i;
    const struct osc_chunk *const chunk = chunk_of(s, v->label ? v->label : v->row, &i);
    struct osc_str name = osc_row_name(s->t, chunk, i);
    const struct osc_str said = find_text(s, a, OSC_ARG_KEY_COLLECTIVE_NAME);

    c->op = (uint8_t)osc_collective_of(said.len > 0 ? said : name);
    if (c->op == OSC_COLLECTIVE_OTHER)
        c->op = (uint8_t)osc_collective_of(name);
    if (said.len > 0 && (v->label == 0 || !is_label(s, v->label)))
        name = said;
    else if (v->label == 0 && c->op != OSC_COLLECTIVE_OTHER)
        name = osc_collective_name((enum osc_collective)c->op);
    return osc_rank_word(w, name, &c->name);
}

/* --- calls ------------------------------------------------------------------------------ */

/* Ranges of one call together; without a label each is a call. */
static int compare_found(const void *a, const void *b)
{
    const struct found *const x = a, *const y = b;

    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    /* The host range itself, of --compat tb, is the first. */
    if ((x->row == x->label) != (y->row == y->label))
        return x->row == x->label ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* A call and where it came from, for sorting. */
struct entry {
    struct osc_rank_call call;
    int64_t host_start_ns, host_end_ns; /* by which it is sorted */
    struct osc_call_rows rows;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;

    if (x->host_start_ns != y->host_start_ns)
        return x->host_start_ns < y->host_start_ns ? -1 : 1;
    if (x->host_end_ns != y->host_end_ns)
        return x->host_end_ns > y->host_end_ns ? -1 : 1;
    return x->call.first < y->call.first ? -1 : x->call.first > y->call.first;
}

/* The step (+ 1) that contains [START_NS, END_NS]; 0: none. It is the first that is not over
 * before END_NS, if it began: steps are in order of start. LATEST_NS has the latest end so far
 * of each step. */
static uint32_t step_around(const struct osc_rank_part *p, const int64_t *latest_ns,
                            int64_t start_ns, int64_t end_ns)
{
    size_t low = 0, high = p->n_steps;

    OSC_BISECT(low, high, i, latest_ns[i] < end_ns)
    return low < p->n_steps && p->steps[low].start_ns <= start_ns ? (uint32_t)low + 1 : 0;
}

/* The latest end up to each step of P, owned by the caller; NULL: out of memory. */
static int64_t *latest_ends(const struct osc_rank_part *p)
{
    int64_t *const v = osc_calloc(p->n_steps + 1, sizeof *v);

    for (size_t i = 0; v && i < p->n_steps; i++)
        v[i] = i > 0 && v[i - 1] > p->steps[i].end_ns ? v[i - 1] : p->steps[i].end_ns;
    return v;
}

/* Fill E with the call of the ranges V[0, N). */
static osc_status make_call(const struct search *s, const struct found *v, size_t n,
                            bool compat_tb, struct osc_rank_words *w, struct entry *e)
{
    struct osc_rank_call *const c = &e->call;
    struct about a;

    gather_about(s, v, &a);
    e->rows = (struct osc_call_rows){v->label, v->row != v->label ? v->row : 0};
    c->n_ranges = (uint32_t)n;
    c->start_ns = v->start_ns - s->t->min_ts_ns;
    c->end_ns = v->end_ns - s->t->min_ts_ns;
    for (size_t k = 1; k < n; k++) {
        const int64_t start_ns = v[k].start_ns - s->t->min_ts_ns;
        const int64_t end_ns = v[k].end_ns - s->t->min_ts_ns;

        c->start_ns = start_ns < c->start_ns ? start_ns : c->start_ns;
        c->end_ns = end_ns > c->end_ns ? end_ns : c->end_ns;
    }
    /* The plugin goes by the range of the host alone. */
    e->host_start_ns = compat_tb ? v->start_ns - s->t->min_ts_ns : c->start_ns;
    e->host_end_ns = compat_tb ? v->end_ns - s->t->min_ts_ns : c->end_ns;
    osc_status st = set_name(s, v, &a, w, c);
    if (st == OSC_OK)
        st = set_sizes(s, &a, compat_tb, w, c);
    return st == OSC_OK ? set_group(s, &a, w, c) : st;
}

/* Add the sorted calls E[0, N) and their ranges to P. */
static osc_status put_calls(const struct search *s, const struct entry *e, size_t n,
                            struct osc_rank_part *p, struct osc_call_rows *rows)
{
    int64_t *const latest_ns = latest_ends(p);
    osc_status st =
        latest_ns ? osc_grow(&p->calls, &p->cap_calls, n, sizeof *p->calls) : OSC_ENOMEM;

    if (st == OSC_OK)
        st = osc_grow(&p->ranges, &p->cap_ranges, s->n, sizeof *p->ranges);
    for (size_t i = 0; i < n && st == OSC_OK; i++) {
        struct osc_rank_call *const c = &p->calls[p->n_calls++];

        *c = e[i].call;
        c->step = step_around(p, latest_ns, e[i].host_start_ns, e[i].host_end_ns);
        c->first = (uint32_t)p->n_ranges;
        rows[i] = e[i].rows;
        for (uint32_t k = 0; k < c->n_ranges; k++) {
            const struct found *const v = &s->v[e[i].call.first + k];

            p->ranges[p->n_ranges++] = (struct osc_interval){v->start_ns - s->t->min_ts_ns,
                                                             v->end_ns - s->t->min_ts_ns};
        }
    }
    osc_free(latest_ns);
    return st;
}

/* Make the calls of P from what S found. */
static osc_status make_calls(struct search *s, bool compat_tb, struct osc_rank_words *w,
                             struct osc_rank_part *p, struct osc_call_rows *rows)
{
    struct entry *const e = osc_calloc(s->n + 1, sizeof *e);
    osc_status st = e && s->n <= UINT32_MAX ? OSC_OK : OSC_ENOMEM;
    size_t n = 0;

    osc_sort(s->v, s->n, sizeof *s->v, compare_found);
    for (size_t first = 0, end; first < s->n && st == OSC_OK; first = end) {
        end = first + 1;
        while (s->v[first].label && end < s->n && s->v[end].label == s->v[first].label)
            end++;
        st = make_call(s, &s->v[first], end - first, compat_tb, w, &e[n]);
        e[n++].call.first = (uint32_t)first;
    }
    if (st == OSC_OK) {
        osc_sort(e, n, sizeof *e, compare_entries);
        st = put_calls(s, e, n, p, rows);
    }
    osc_free(e);
    return st;
}

/* --- the file --------------------------------------------------------------------------- */

static osc_status put_steps(const struct osc_trace *t, const struct osc_breakdown *b,
                            struct osc_rank_words *w, struct osc_rank_part *p)
{
    osc_status st = osc_grow(&p->steps, &p->cap_steps, b->n_steps, sizeof *p->steps);

    for (uint32_t i = 0; i < b->n_steps && st == OSC_OK; i++) {
        const struct osc_step *const of = b->is_whole ? &b->whole : &t->steps[i];
        struct osc_rank_step *const s = &p->steps[p->n_steps];

        if (!b->steps[i].is_kept)
            continue;
        p->n_steps++;
        s->start_ns = b->steps[i].start_ns - t->min_ts_ns;
        s->end_ns = b->steps[i].end_ns - t->min_ts_ns;
        for (int k = 0; k < OSC_COST_COUNT; k++)
            s->cost_ns[k] = b->steps[i].cost_ns[k];
        st =
            osc_rank_word(w, of->row.v ? osc_trace_str(t, of->label) : OSC_STR("0"), &s->label);
    }
    return st;
}

/* The name of the worker: that of its recording, or else of the file without folder, number
 * and suffix, if it is named as torch.profiler names files. */
static struct osc_str worker_of(const struct osc_trace *t)
{
    struct osc_str name = osc_trace_str(t, t->source);
    const char *const slash = memrchr(name.s, '/', name.len);

    if (t->worker.v)
        return osc_trace_str(t, t->worker);
    if (slash)
        name = (struct osc_str){slash + 1, (uint32_t)(name.s + name.len - slash - 1)};
    const char *const suffix = memmem(name.s, name.len, ".pt.trace.json", 14);
    if (!suffix)
        return OSC_STR("");
    const char *end = suffix;
    while (end > name.s && end[-1] >= '0' && end[-1] <= '9')
        end--;
    if (end == name.s || end == suffix || end[-1] != '.')
        end = suffix + 1;
    return (struct osc_str){name.s, (uint32_t)(end - 1 - name.s)};
}

/* The first device that has work, by the order of its queues in the file. */
static osc_sid device_of(const struct osc_trace *t)
{
    const struct osc_track *first = NULL;

    for (uint32_t i = 1; i < t->n_tracks; i++) {
        const struct osc_track *const track = &t->tracks[i];

        if (track->is_queue && track->n_events > 0 && track->device.v &&
            (!first || track->order < first->order))
            first = track;
    }
    return first ? first->device : (osc_sid){0};
}

static osc_status describe(const struct osc_trace *t, struct osc_rank_words *w,
                           struct osc_rank_part *p)
{
    const struct osc_str device = osc_trace_str(t, device_of(t));
    const struct osc_device *const known =
        device.len > 0
            ? osc_trace_device(t, device, osc_device_split(device, &(struct osc_str){0}))
            : NULL;
    struct osc_str host = {"", 0}, info, value;
    int64_t n = 0;

    p->end_ns = t->max_end_ns - t->min_ts_ns;
    p->n_marked = t->n_steps > 0 && t->steps[0].row.v ? t->n_steps : 0; /* none: the whole */
    /* A recording of a killed program is whole up to its end. */
    p->is_cut = t->is_selected || t->is_partial ||
                (!osc_trace_is_ours(t) && osc_findings_say_cut(&t->findings));
    if (osc_trace_meta(t, "distributedInfo", &info) &&
        osc_json_member(info, "world_size", &value) && osc_json_int(value, &n) && n > 0 &&
        n <= INT32_MAX)
        p->world_size = (uint32_t)n;
    if (!osc_trace_meta(t, "host_name", &host))
        host.len = 0;
    osc_status st = osc_rank_word(w, worker_of(t), &p->worker);
    if (st == OSC_OK)
        st = osc_rank_word(w, host, &p->host);
    if (st == OSC_OK)
        st = osc_rank_word(w, osc_trace_str(t, t->source), &p->file);
    if (st == OSC_OK)
        st = osc_rank_word(w, device, &p->device);
    if (st == OSC_OK && known)
        st = osc_rank_word(w, osc_trace_str(t, known->model), &p->device_name);
    return st;
}

osc_status osc_calls_find(const struct osc_trace *t, bool compat_tb,
                          const struct osc_breakdown *b, struct osc_rank_words *words,
                          struct osc_rank_part *p, struct osc_call_rows **rows)
{
    struct search s = {.t = t, .f = osc_trace_facts(t)};
    osc_status st = describe(t, words, p);

    if (st == OSC_OK && b)
        st = put_steps(t, b, words, p);
    if (st == OSC_OK && compat_tb)
        find_compat(&s);
    else if (st == OSC_OK && s.f->classes.has_device_comm)
        find_kernels(&s);
    else if (st == OSC_OK)
        find_host_ranges(&s);
    if (st == OSC_OK)
        st = s.status;
    *rows = osc_calloc(s.n + 1, sizeof **rows);
    if (st == OSC_OK && !*rows)
        st = OSC_ENOMEM;
    if (st == OSC_OK)
        st = make_calls(&s, compat_tb, words, p, *rows);
    osc_free(s.v);
    return st;
}
