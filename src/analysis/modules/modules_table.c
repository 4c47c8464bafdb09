/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/modules/modules.h"

#include <string.h>

#include "analysis/modules/module_trees.h"
#include "analysis/shared_options.h"
#include "analysis/table_columns.h"
#include "analysis/table_registry.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "table/row_groups.h"

/* Paths show at most this many innermost names: a hostile file may nest without end. */
#define PATH_NAMES_MAX 64u

/* What rows can be grouped by. */
enum { BY_ANNOTATION, BY_LINE, BY_CLASS, BY_LAYER };

enum {
    PATH,
    DEPTH,
    NAME,
    ATTRIBUTE_PATH,
    MODULE_ID,
    CALLS,
    OPERATORS,
    HOST_TOTAL,
    HOST_SELF,
    DEVICE_TOTAL,
    DEVICE_SELF,
    BACKWARD_HOST,
    BACKWARD_DEVICE,
    POSITION,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(PATH, "path", STRING, NULL, KEY, 0, OSC_RULE_MODULES,
               "Names of the modules around the module, from the outermost, and its own, "
               "joined by /. Of more than 64 names the innermost are shown, after .../.",
               .source = "`Python parent id` of modules; if no module has it, what contains "
                         "them on their thread; for [pl][module] ranges their dotted names."),
    OSC_COLUMN(DEPTH, "depth", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR, OSC_RULE_MODULES,
               "Number of modules around the module; 0 at the top."),
    OSC_COLUMN(
        NAME, "name", STRING, NULL, FIRST, OSC_COLUMN_MINOR, OSC_RULE_MODULES,
        "Class and number of the module; for other scopes their name, or file and line.",
        .source =
            "name of the event without nn.Module:; for lines the name of the Python frame, or, "
            "if no frame tells one, the innermost line of an operator's `Call stack`."),
    OSC_COLUMN(ATTRIBUTE_PATH, "attribute_path", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL,
               OSC_RULE_MODULES,
               "Attributes that lead to the module from the outermost module around it, such "
               "as h.0.attn; missing for that one.",
               .source = "`Module path`, which opscope run --torch=stack records."),
    OSC_COLUMN(MODULE_ID, "module_id", INTEGER, NULL, KEY, OSC_COLUMN_MINOR, OSC_RULE_MODULES,
               "Which instance of its class the module is; missing for other scopes.",
               .source = "`Python module id`."),
    OSC_COLUMN(CALLS, "calls", INTEGER, NULL, SUM, 0, OSC_RULE_MODULES,
               "Number of calls at this place in the hierarchy."),
    OSC_COLUMN(OPERATORS, "operators", INTEGER, NULL, SUM, OSC_COLUMN_MINOR, OSC_RULE_MODULES,
               "Number of operators that its calls ran directly: inside no module in it, and "
               "inside no other operator."),
    OSC_COLUMN(HOST_TOTAL, "host_total_ns", INTEGER, "ns", SUM, 0, OSC_RULE_MODULES,
               "Host time: sum over the calls of (end - start)."),
    OSC_COLUMN(HOST_SELF, "host_self_ns", INTEGER, "ns", SUM, 0, OSC_RULE_MODULES,
               "host_total_ns - time of the modules and operators directly inside its calls."),
    OSC_COLUMN(DEVICE_TOTAL, "device_total_ns", INTEGER, "ns", SUM, 0,
               OSC_RULE_MODULES | OSC_RULE_LINKS,
               "Sum of the durations of the kernels, copies and memsets launched inside its "
               "calls. The backward pass runs elsewhere: see backward_device_ns."),
    OSC_COLUMN(DEVICE_SELF, "device_self_ns", INTEGER, "ns", SUM, 0,
               OSC_RULE_MODULES | OSC_RULE_LINKS,
               "Part of device_total_ns that was launched by the operators counted in column "
               "operators and by those inside them."),
    OSC_COLUMN(BACKWARD_HOST, "backward_host_ns", INTEGER, "ns", SUM, OSC_COLUMN_OPTIONAL,
               OSC_RULE_BACKWARD | OSC_RULE_MODULES,
               "Host time of the backward pass of the operators that ran inside its calls, "
               "modules inside it included.",
               .source = "fwdbwd flows, `Sequence number`, `Fwd thread id`."),
    OSC_COLUMN(BACKWARD_DEVICE, "backward_device_ns", INTEGER, "ns", SUM, OSC_COLUMN_OPTIONAL,
               OSC_RULE_BACKWARD | OSC_RULE_LINKS,
               "Sum of the durations of the kernels, copies and memsets that the operators of "
               "backward_host_ns launched."),
    OSC_COLUMN(POSITION, "position", INTEGER, NULL, KEY, OSC_COLUMN_HIDDEN, 0,
               "Which of the places of one path it is."),
};

/* Sums that several rows of the plugin's form share; see finish(). */
static const uint32_t shared_sums[] = {CALLS,     OPERATORS,    HOST_TOTAL,
                                       HOST_SELF, DEVICE_TOTAL, DEVICE_SELF};
#define N_SHARED (sizeof shared_sums / sizeof *shared_sums)

static void set_path(struct osc_result *out, const struct osc_modules *m, uint32_t place,
                     struct osc_strbuf *text)
{
    uint32_t names[PATH_NAMES_MAX], n = 0, at = place;

    for (; at != 0 && n < PATH_NAMES_MAX; at = m->places[at - 1].parent)
        names[n++] = at;
    osc_strbuf_clear(text);
    if (at != 0)
        osc_strbuf_adds(text, ".../");
    while (n > 0) {
        const struct osc_str name = m->places[names[--n] - 1].name;

        osc_strbuf_addstr(text, name);
        if (n > 0)
            osc_strbuf_addc(text, '/');
    }
    osc_result_str(out, PATH, (struct osc_str){text->s, (uint32_t)text->len});
}

static void set_sums(struct osc_result *out, const struct osc_module_place *sums)
{
    osc_result_int(out, CALLS, sums->n_calls);
    osc_result_int(out, OPERATORS, sums->n_operators);
    osc_result_int(out, HOST_TOTAL, sums->host_total_ns);
    osc_result_int(out, HOST_SELF, sums->host_self_ns);
    osc_result_int(out, DEVICE_TOTAL, sums->device_total_ns);
    osc_result_int(out, DEVICE_SELF, sums->device_self_ns);
    osc_result_int(out, BACKWARD_HOST, sums->backward_host_ns);
    osc_result_int(out, BACKWARD_DEVICE, sums->backward_device_ns);
}

/* Add a row for PLACE, the one with number NTH, with the numbers of SUMS. */
static void add_row(struct osc_result *out, const struct osc_modules *m, uint32_t place,
                    uint32_t nth, const struct osc_module_place *sums, struct osc_strbuf *text)
{
    const struct osc_module_place *const p = &m->places[place - 1];

    osc_result_row(out);
    set_path(out, m, place, text);
    osc_result_int(out, DEPTH, p->depth);
    osc_result_str(out, NAME, p->name);
    if (p->path.len > 0)
        osc_result_str(out, ATTRIBUTE_PATH, p->path);
    if (p->has_id)
        osc_result_int(out, MODULE_ID, p->module_id);
    set_sums(out, sums);
    osc_result_int(out, POSITION, (int64_t)(p->position + nth));
}

/* By the containing place, then by first call. */
static int by_first_call(const void *x, const void *y, void *ctx)
{
    const struct osc_module_place *const places = ctx;
    const struct osc_module_place *const a = &places[*(const uint32_t *)x - 1];
    const struct osc_module_place *const b = &places[*(const uint32_t *)y - 1];

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->first_ns != b->first_ns)
        return a->first_ns < b->first_ns ? -1 : 1;
    return (a->first_row > b->first_row) - (a->first_row < b->first_row);
}

/*
 * Add all places, containing ones first, siblings by their first call. SORTED has the children
 * of a place next to each other; FIRST is the index of the first.
 */
static osc_status add_rows(struct osc_result *out, const struct osc_modules *m, bool is_flat)
{
    const uint32_t n = (uint32_t)m->n_places;
    uint32_t *sorted = osc_malloc(((size_t)n + 1) * sizeof *sorted);
    uint32_t *first = osc_calloc((size_t)n + 2, sizeof *first);
    uint32_t *stack = osc_malloc(((size_t)n + 1) * sizeof *stack);
    struct osc_strbuf text = {0};
    uint32_t n_stack = 0;
    osc_status st = OSC_ENOMEM;

    if (!sorted || !first || !stack)
        goto out;
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = i + 1;
        first[m->places[i].parent + 1]++;
    }
    for (uint32_t i = 0; i <= n; i++)
        first[i + 1] += first[i];
    osc_sort_with(sorted, n, sizeof *sorted, by_first_call, m->places);
    for (uint32_t i = first[1]; i > 0; i--)
        stack[n_stack++] = sorted[i - 1];
    while (n_stack > 0) {
        const uint32_t place = stack[--n_stack];

        if (!is_flat || m->places[place - 1].n_operators > 0)
            add_row(out, m, place, 0, &m->places[place - 1], &text);
        for (uint32_t i = first[place + 1]; i > first[place]; i--)
            stack[n_stack++] = sorted[i - 1];
    }
    st = text.status;
out:
    osc_strbuf_fini(&text);
    osc_free(sorted);
    osc_free(first);
    osc_free(stack);
    return st;
}

/*
 * Add rows as the plugin does: distinct trees of calls, with sums over equal modules. The sums
 * are in the first row of each such module, so that merging counts them once.
 */
static osc_status add_trees(struct osc_result *out, const struct osc_trace *t,
                            const struct osc_modules *m)
{
    static const struct osc_module_place nothing;
    struct osc_module_trees trees = {0};
    struct osc_strbuf text = {0};
    osc_status st = osc_module_trees_make(t, m, &trees);
    uint32_t *const n_rows = osc_calloc(m->n_places + 1, sizeof *n_rows);
    bool *const has_row = osc_calloc(trees.n_sums + 1, sizeof *has_row);

    if (st == OSC_OK && (!n_rows || !has_row))
        st = OSC_ENOMEM;
    for (size_t i = 0; i < trees.n_rows && st == OSC_OK; i++) {
        const struct osc_module_row *const row = &trees.rows[i];

        add_row(out, m, row->place, n_rows[row->place - 1]++,
                has_row[row->sums] ? &nothing : &trees.sums[row->sums], &text);
        has_row[row->sums] = true;
        st = text.status;
    }
    osc_strbuf_fini(&text);
    osc_free(n_rows);
    osc_free(has_row);
    osc_module_trees_fini(&trees);
    return st;
}

/* Whether some host range has the name of a module of Lightning. */
static osc_status find_lightning(const struct osc_trace *t, bool *is_there)
{
    const struct osc_order *const o = &osc_trace_facts(t)->order;
    uint8_t *seen = osc_calloc((size_t)osc_strings_bound(&t->strings) + 1, 1);

    *is_there = false;
    if (!seen)
        return OSC_ENOMEM;
    for (uint32_t at = 0; at < o->n_rows && !*is_there; at++) {
        const osc_row row = {o->rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
        uint8_t *const is_seen = &seen[c->name[osc_row_place(row)]];

        if (!*is_seen)
            *is_there =
                osc_str_starts(osc_row_name(t, c, osc_row_place(row)), OSC_STR("[pl][module]"));
        *is_seen = 1;
    }
    osc_free(seen);
    return OSC_OK;
}

/* Whether rows are other scopes than modules. */
static bool is_of_others(const struct osc_options *o)
{
    return osc_is_grouped(o, BY_ANNOTATION) || osc_is_grouped(o, BY_LINE);
}

/* Append NAME without the number at its end: the class of a module. */
static void add_class(struct osc_strbuf *out, struct osc_str name)
{
    uint32_t len = name.len;

    while (len > 0 && name.s[len - 1] >= '0' && name.s[len - 1] <= '9')
        len--;
    if (len > 1 && len < name.len && name.s[len - 1] == '_')
        name.len = len - 1;
    osc_strbuf_addstr(out, name);
}

/* Append PATH, attributes with dots between, with * in place of each that is a number. */
static void add_layer(struct osc_strbuf *out, struct osc_str path)
{
    uint32_t from = 0;

    for (uint32_t i = 0; i <= path.len; i++) {
        if (i < path.len && path.s[i] != '.')
            continue;
        bool is_number = i > from;

        for (uint32_t k = from; k < i; k++)
            is_number = is_number && path.s[k] >= '0' && path.s[k] <= '9';
        osc_strbuf_adds(out, from > 0 ? "." : "");
        osc_strbuf_add(out, is_number ? "*" : path.s + from, is_number ? 1 : i - from);
        from = i + 1;
    }
}

/* Make one row of all modules of OUT that have the same class, or the same place in layers. */
static osc_status group_modules(struct osc_result *out, bool by_layer)
{
    static const uint32_t of_one[] = {DEPTH, ATTRIBUTE_PATH, MODULE_ID};
    struct osc_strbuf text = {0};
    osc_status st = OSC_OK;

    for (uint64_t i = 0; i < out->n_rows && st == OSC_OK; i++) {
        osc_strbuf_clear(&text);
        if (by_layer && osc_result_has(out, i, ATTRIBUTE_PATH))
            add_layer(&text, osc_result_get_str(out, i, ATTRIBUTE_PATH));
        else
            add_class(&text, osc_result_get_str(out, i, NAME));
        st = text.status;
        if (st != OSC_OK)
            break;
        const struct osc_str key = {text.s, (uint32_t)text.len};
        osc_result_set_str(out, i, PATH, key);
        osc_result_set_str(out, i, NAME, key);
        osc_result_set_int(out, i, POSITION, 0);
        for (size_t k = 0; k < sizeof of_one / sizeof *of_one; k++)
            osc_result_set_missing(out, i, of_one[k]);
    }
    osc_strbuf_fini(&text);
    return st == OSC_OK ? osc_rows_regroup(out) : st;
}

static osc_status make(const struct osc_trace *t, const struct osc_options *o,
                       enum osc_scopes *scopes, struct osc_modules *m)
{
    bool is_lightning = false;
    osc_status st = OSC_OK;

    if (is_of_others(o)) {
        *scopes = osc_is_grouped(o, BY_LINE) ? OSC_SCOPES_LINE : OSC_SCOPES_ANNOTATION;
        return osc_modules_make(t, *scopes, m);
    }
    st = find_lightning(t, &is_lightning);
    *scopes = is_lightning ? OSC_SCOPES_LIGHTNING : OSC_SCOPES_MODULE;
    if (st == OSC_OK)
        st = osc_modules_make(t, *scopes, m);
    if (st == OSC_OK && is_lightning && m->n_places == 0) {
        *scopes = OSC_SCOPES_MODULE; /* the name belonged to something on a device */
        st = osc_modules_make(t, *scopes, m);
    }
    return st;
}

/* Why the table is empty. HAS_PLACES: there are scopes, but none is shown. */
static const char *why_empty(const struct osc_trace *t, const struct osc_options *o,
                             enum osc_scopes scopes, bool has_places, bool has_python)
{
    if (!has_places && !t->is_torch && t->producer == OSC_PRODUCER_OPSCOPE)
        return is_of_others(o)
                   ? "no such scopes: the program began none"
                   : "no modules: the program began none; the table ranges shows what "
                     "there is";
    if (!has_places && !t->is_torch)
        return is_of_others(o)
                   ? "no such scopes: only traces of PyTorch and recordings have them"
                   : "no modules: only traces of PyTorch and recordings have them; the "
                     "table ranges shows what there is";
    if (!is_of_others(o))
        return has_places ? "no module is at the top: each is held by one that it holds itself"
                          : "no modules: record with with_stack=True and with_modules=True, or "
                            "opscope run --torch=stack; "
                            "--group-by annotation or line shows other scopes";
    if (scopes == OSC_SCOPES_LINE && has_places)
        return "no Python line called an operator";
    if (scopes == OSC_SCOPES_LINE)
        return has_python ? "no Python frame, and no call stack of an operator, tells a line"
                          : "no Python lines: record with with_stack=True";
    return "no annotations: put record_function() around parts of the program";
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct osc_modules m = {0};
    enum osc_scopes scopes = OSC_SCOPES_MODULE;
    int64_t backward_ns = 0;
    bool has_paths = false;
    osc_status st = make(t, o, &scopes, &m);

    if (st == OSC_OK)
        st = osc_is_compat_tb(o) && scopes == OSC_SCOPES_MODULE
                 ? add_trees(out, t, &m)
                 : add_rows(out, &m, scopes == OSC_SCOPES_LINE);
    for (size_t i = 0; i < m.n_places; i++) {
        backward_ns += m.places[i].backward_host_ns;
        has_paths = has_paths || m.places[i].path.len > 0;
    }
    const bool by_layer = osc_is_grouped(o, BY_LAYER);
    const bool is_joined = by_layer || osc_is_grouped(o, BY_CLASS);
    if (st == OSC_OK && is_joined)
        st = group_modules(out, by_layer);
    if (has_paths && !is_joined && !osc_is_compat_tb(o))
        osc_result_show(out, ATTRIBUTE_PATH);
    if (backward_ns != 0 && !osc_is_compat_tb(o)) {
        osc_result_show(out, BACKWARD_HOST);
        osc_result_show(out, BACKWARD_DEVICE);
    }
    const bool has_places = m.n_places > 0, has_python = m.has_python;
    osc_modules_fini(&m);
    if (st != OSC_OK)
        return osc_fail(err, st, "modules: %s", osc_status_text(st));
    if (out->n_rows == 0)
        osc_result_why_empty(out, why_empty(t, o, scopes, has_places, has_python));
    return out->status;
}

/* The number (from 1) of the module in row I, identified by name and id. */
static osc_status number_module(const struct osc_result *r, uint64_t i,
                                struct osc_intern *modules, struct osc_strbuf *key,
                                uint32_t *number)
{
    osc_sid id = {0};

    osc_strbuf_clear(key);
    if (osc_result_has(r, i, MODULE_ID))
        osc_strbuf_addi(key, osc_result_get_int(r, i, MODULE_ID));
    osc_strbuf_addc(key, ' ');
    osc_strbuf_addstr(key, osc_result_get_str(r, i, NAME));
    const osc_status st =
        key->status == OSC_OK
            ? osc_intern_add(modules, (struct osc_str){key->s, (uint32_t)key->len}, &id)
            : key->status;
    *number = id.v;
    return st;
}

/* Copy the sums of each module to all its rows; merging kept them in one of them. */
static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    struct osc_arena arena = {0};
    struct osc_intern modules = {.arena = &arena, .seed = osc_hash_seed()};
    struct osc_strbuf key = {0};
    uint32_t *numbers = NULL;
    int64_t(*sums)[N_SHARED] = NULL;
    osc_status st = OSC_OK;

    if (!osc_is_compat_tb(o) || o->group_by || r->n_rows == 0)
        return OSC_OK;
    numbers = osc_malloc(r->n_rows * sizeof *numbers);
    sums = osc_calloc(r->n_rows + 1, sizeof *sums);
    if (!numbers || !sums)
        st = OSC_ENOMEM;
    for (uint64_t i = 0; i < r->n_rows && st == OSC_OK; i++) {
        st = number_module(r, i, &modules, &key, &numbers[i]);
        for (size_t k = 0; k < N_SHARED && st == OSC_OK; k++)
            sums[numbers[i]][k] += osc_result_get_int(r, i, shared_sums[k]);
    }
    for (uint64_t i = 0; i < r->n_rows && st == OSC_OK; i++) {
        for (size_t k = 0; k < N_SHARED; k++)
            osc_result_set_int(r, i, shared_sums[k], sums[numbers[i]][k]);
    }
    osc_intern_fini(&modules);
    osc_arena_fini(&arena);
    osc_strbuf_fini(&key);
    osc_free(numbers);
    osc_free(sums);
    return st == OSC_OK ? OSC_OK : osc_fail(err, st, "modules: %s", osc_status_text(st));
}

static const char *const groupings[] = {[BY_ANNOTATION] = "annotation",
                                        [BY_LINE] = "line",
                                        [BY_CLASS] = "class",
                                        [BY_LAYER] = "layer",
                                        NULL};

static const struct osc_table_option *const options[] = {&osc_option_compat, NULL};

const struct osc_table_def osc_table_modules = {
    .name = "modules",
    .help =
        "Calls, host and device time of modules by their place in the hierarchy, with their "
        "backward pass; with --group-by class a row for each class, with --group-by layer one "
        "for "
        "the same place in each layer (encoder.layer.*.attention): rows of these have the sums "
        "of all that they stand for, also of one inside of another. Use --group-by annotation "
        "or "
        "line for traces without modules.",
    .source = "ranges nn.Module of Python's tracer, and the operators in them.",
    .rules = OSC_RULE_MODULES,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sort_words = &osc_torch_words,
    .groupings = groupings,
    .options = options,
    OSC_MAPS(.facts = OSC_FACT_LINKS, .map = map, .finish = finish),
};

const uint32_t osc_column_modules_path = PATH, osc_column_modules_depth = DEPTH,
               osc_column_modules_name = NAME,
               osc_column_modules_attribute_path = ATTRIBUTE_PATH,
               osc_column_modules_calls = CALLS, osc_column_modules_host_total_ns = HOST_TOTAL,
               osc_column_modules_host_self_ns = HOST_SELF,
               osc_column_modules_device_total_ns = DEVICE_TOTAL,
               osc_column_modules_device_self_ns = DEVICE_SELF,
               osc_column_modules_backward_host_ns = BACKWARD_HOST,
               osc_column_modules_backward_device_ns = BACKWARD_DEVICE;
