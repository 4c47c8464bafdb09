/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table_registry.h"
#include "base/parse.h"
#include "table/nearest.h"
#include "table/question.h"
#include "table/row_groups.h"
#include "table/table_options.h"

/* As many tables as take an option are named where another one is asked for. */
#define TABLES_MAX 6u

/* More than the longest name of an option. */
#define NAME_BYTES 32u

/* --- lists ----------------------------------------------------------------------- */

/* Parse one "A" or "A-B" of a list. Returns its end, or NULL. */
static const char *parse_range(const char *p, int64_t *first, int64_t *last)
{
    char *end;

    if (*p < '0' || *p > '9')
        return NULL;
    *first = *last = strtoll(p, &end, 10);
    if (*end == '-') {
        p = end + 1;
        if (*p < '0' || *p > '9')
            return NULL;
        *last = strtoll(p, &end, 10);
    }
    return *last >= *first && (*end == ',' || *end == '\0') ? end : NULL;
}

bool osc_list_has(const char *list, int64_t value)
{
    int64_t first, last;

    if (!list)
        return true;
    for (const char *p = list;; p++) {
        p = parse_range(p, &first, &last);
        if (!p)
            return false;
        if (value >= first && value <= last)
            return true;
        if (*p == '\0')
            return false;
    }
}

/* The last number up to which LIST contains all numbers from VALUE on; less than VALUE: LIST
 * does not contain VALUE. */
static int64_t last_from(const char *list, int64_t value)
{
    int64_t first, last, reached = value - 1;

    for (const char *p = parse_range(list, &first, &last); p;
         p = *p == ',' ? parse_range(p + 1, &first, &last) : NULL) {
        if (first <= value && last > reached)
            reached = last;
    }
    return reached;
}

bool osc_list_within(const char *list, const char *all)
{
    int64_t first, last;

    if (!all || !list)
        return !all;
    for (const char *p = parse_range(list, &first, &last); p;
         p = *p == ',' ? parse_range(p + 1, &first, &last) : NULL) {
        for (int64_t reached; first <= last; first = reached + 1) {
            reached = last_from(all, first);
            if (reached < first)
                return false;
            if (reached >= last)
                break;
        }
    }
    return true;
}

static bool is_list(const char *list)
{
    int64_t first, last;
    const char *p = list;

    for (;;) {
        p = parse_range(p, &first, &last);
        if (!p || *p == '\0')
            return p != NULL;
        p++;
    }
}

/* --- fields ---------------------------------------------------------------------- */

static bool has_groupings(const struct osc_table_def *def)
{
    return (def->groupings && def->groupings[0]) || osc_pattern_column(def) >= 0;
}

static bool has_symbols(const struct osc_table_def *def)
{
    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (def->columns[c].flags & OSC_COLUMN_SYMBOL)
            return true;
    }
    return false;
}

static bool compares(const struct osc_table_def *def)
{
    return def->comparison != NULL;
}

enum scope {
    SCOPE_ANY,
    SCOPE_TEXT /* not forms for programs, which are complete and undecorated */
};

/* The type of a member of struct osc_request. */
enum type {
    TYPE_TEXT,    /* const char * */
    TYPE_LIST,    /* the same, "0,4-7" */
    TYPE_STEPS,   /* the same, "5-7", "@0" */
    TYPE_FORM,    /* the same, the name of a renderer */
    TYPE_FLAG,    /* int */
    TYPE_TIME,    /* int64_t, and an int that says whether it is set */
    TYPE_ROWS,    /* int64_t; -1: all */
    TYPE_THREADS, /* unsigned */
    TYPE_SIZE,    /* uint64_t */
};

#define AT(member) offsetof(struct osc_request, member)

/* One entry for each field, in the order of --help. A field that is zero is not set. */
static const struct field {
    const char *name;
    unsigned part;
    enum type type;
    size_t at, has_at;
    bool (*is_for)(const struct osc_table_def *def); /* NULL: every table */
    enum scope scope;
} fields[] = {
    {"sort", OSC_PART_QUESTION, TYPE_TEXT, .at = AT(question.sort)},
    {"limit", OSC_PART_QUESTION, TYPE_ROWS, .at = AT(question.limit)},
    {"columns", OSC_PART_QUESTION, TYPE_TEXT, .at = AT(question.columns)},
    {"where", OSC_PART_QUESTION, TYPE_TEXT, .at = AT(question.where)},
    {"group-by", OSC_PART_QUESTION, TYPE_TEXT, AT(question.group_by), 0, has_groupings,
     SCOPE_ANY},
    {"merge", OSC_PART_QUESTION, TYPE_FLAG, .at = AT(question.merge)},
    {"format", OSC_PART_TEXT, TYPE_FORM, .at = AT(text.format)},
    {"rank", OSC_PART_VIEW, TYPE_LIST, .at = AT(view.ranks)},
    {"span", OSC_PART_VIEW, TYPE_LIST, .at = AT(view.spans)},
    {"process", OSC_PART_VIEW, TYPE_TEXT, .at = AT(view.process)},
    {"thread", OSC_PART_VIEW, TYPE_TEXT, .at = AT(view.thread)},
    {"device", OSC_PART_VIEW, TYPE_TEXT, .at = AT(view.device)},
    {"steps", OSC_PART_VIEW, TYPE_STEPS, .at = AT(view.steps)},
    {"from", OSC_PART_VIEW, TYPE_TIME, .at = AT(view.from_ns), .has_at = AT(view.has_from)},
    {"to", OSC_PART_VIEW, TYPE_TIME, .at = AT(view.to_ns), .has_at = AT(view.has_to)},
    {"base-rank", OSC_PART_VIEW, TYPE_LIST, AT(view.base_ranks), 0, compares, SCOPE_ANY},
    {"base-span", OSC_PART_VIEW, TYPE_LIST, AT(view.base_spans), 0, compares, SCOPE_ANY},
    {"full-names", OSC_PART_TEXT, TYPE_FLAG, AT(text.full_names), 0, has_symbols, SCOPE_TEXT},
    {"threads", OSC_PART_HOW, TYPE_THREADS, .at = AT(how.n_threads)},
    {"max-memory", OSC_PART_HOW, TYPE_SIZE, .at = AT(how.max_memory_bytes)},
    {"no-args", OSC_PART_HOW, TYPE_FLAG, .at = AT(how.no_args)},
    {"one-by-one", OSC_PART_HOW, TYPE_FLAG, .at = AT(how.one_by_one)},
};

#define N_FIELDS (sizeof fields / sizeof *fields)

static const struct field *find(const char *name)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    }
    return NULL;
}

/* --- options of tables ------------------------------------------------------------ */

/* The argument of OPTION in NAMED; NULL for a switch. */
static const char *value_of(const struct osc_table_option *option,
                            const struct osc_named_option *named)
{
    return option->kind == OSC_OPTION_SWITCH ? NULL : named->value;
}

/* The number of options of a table that Q has. */
static size_t count_set(const struct osc_question *q)
{
    size_t n = 0;

    while (n < OSC_QUESTION_OPTIONS && q->options[n].name)
        n++;
    return n;
}

/* The place of the option NAME in Q; that behind the last one if it has none. */
static size_t place_of(const struct osc_question *q, const char *name)
{
    const size_t n = count_set(q);
    size_t i = 0;

    while (i < n && strcmp(q->options[i].name, name) != 0)
        i++;
    return i;
}

static unsigned part_of(const struct osc_table_option *option)
{
    return option->is_of_text ? OSC_PART_TEXT : OSC_PART_QUESTION;
}

const char *osc_request_field(size_t i, unsigned *part, bool *is_switch)
{
    if (i < N_FIELDS) {
        *part = fields[i].part;
        *is_switch = fields[i].type == TYPE_FLAG;
        return fields[i].name;
    }
    const struct osc_table_option *const own = osc_tables_option_at(i - N_FIELDS);
    if (!own)
        return NULL;
    *part = part_of(own);
    *is_switch = own->kind == OSC_OPTION_SWITCH;
    return own->name;
}

bool osc_request_is_switch(const char *name)
{
    const struct field *const f = find(name);
    const struct osc_table_option *const own = f ? NULL : osc_tables_option(name);

    return f ? f->type == TYPE_FLAG : own && own->kind == OSC_OPTION_SWITCH;
}

bool osc_request_is_all(const char *name)
{
    const struct field *const f = find(name);

    return f ? !f->is_for : !osc_tables_option(name);
}

bool osc_request_is_for(const char *name, const struct osc_table_def *def)
{
    const struct field *const f = find(name);

    if (!f && osc_tables_option(name))
        return osc_table_option(def, name) != NULL;
    return !f || !f->is_for || f->is_for(def);
}

size_t osc_request_count_tables(const char *name)
{
    size_t n = 0;

    for (size_t i = 0; osc_tables[i]; i++)
        n += osc_request_is_for(name, osc_tables[i]);
    return n;
}

void osc_request_add_tables(struct osc_strbuf *out, const char *name)
{
    const char *last = NULL;
    uint32_t n = 0;

    /* Each name is added one round late, so that "and" can precede the last one. */
    for (size_t i = 0; osc_tables[i]; i++) {
        if (!osc_request_is_for(name, osc_tables[i]))
            continue;
        if (last)
            osc_strbuf_addf(out, "%s%s", n++ > 0 ? ", " : "", last);
        last = osc_tables[i]->name;
    }
    if (last)
        osc_strbuf_addf(out, "%s%s", n > 0 ? " and " : "", last);
}

/* --- setting ---------------------------------------------------------------------- */

/* Check that the text VALUE is valid for F. */
static osc_status check_text(const struct field *f, const char *value, struct osc_err *err)
{
    const struct osc_renderer *form;

    if (f->type == TYPE_LIST && !is_list(value))
        return osc_fail(err, OSC_EINVAL, "--%s: '%s' is not a list of numbers such as 0,4-7",
                        f->name, value);
    if (f->type == TYPE_STEPS && !osc_select_is_steps(value))
        return osc_fail(err, OSC_EINVAL,
                        "--%s: '%s' is not a range; use 5, 5-7 (labels), @0 or @0-@2 (numbers)",
                        f->name, value);
    return f->type == TYPE_FORM ? osc_request_form(value, &form, err) : OSC_OK;
}

/* Parse VALUE as a number of F's type and store it in R. */
static osc_status set_number(const struct field *f, struct osc_request *r, const char *value,
                             struct osc_err *err)
{
    char *const at = (char *)r + f->at;
    int64_t n;

    if (f->type == TYPE_TIME) {
        if (!osc_parse_time(value, (int64_t *)(void *)at))
            return osc_fail(err, OSC_EINVAL,
                            "--%s: '%s' is not a time; use 10us, 1.5ms, 2s or plain ns",
                            f->name, value);
        *(int *)(void *)((char *)r + f->has_at) = 1;
    } else if (f->type == TYPE_ROWS) {
        if (!osc_parse_whole(value, 0, INT64_MAX, &n))
            return osc_fail(err, OSC_EINVAL, "--%s: '%s' is not a number of rows; 0 means all",
                            f->name, value);
        *(int64_t *)(void *)at = n == 0 ? -1 : n;
    } else if (f->type == TYPE_THREADS) {
        if (!osc_parse_whole(value, 1, 1024, &n))
            return osc_fail(err, OSC_EINVAL, "--%s: '%s' is not a number from 1 to 1024",
                            f->name, value);
        *(unsigned *)(void *)at = (unsigned)n;
    } else if (!osc_parse_size(value, (uint64_t *)(void *)at)) {
        return osc_fail(err, OSC_EINVAL, "--%s: '%s' is not a size; use 8G, 500M or bytes",
                        f->name, value);
    }
    return OSC_OK;
}

/* Fail because PARTS have no field NAME; suggest the most similar one. */
static osc_status no_field(unsigned parts, const char *name, struct osc_err *err)
{
    struct osc_nearest near = {.word = name};

    const struct osc_table_option *own;

    for (size_t i = 0; i < N_FIELDS; i++) {
        if (fields[i].part & parts)
            osc_nearest_try(&near, fields[i].name);
    }
    for (size_t i = 0; (own = osc_tables_option_at(i)); i++) {
        if (part_of(own) & parts)
            osc_nearest_try(&near, own->name);
    }
    if (near.best)
        return osc_fail(err, OSC_EINVAL, "unknown option '--%s'; did you mean '--%s'?", name,
                        near.best);
    return osc_fail(err, OSC_EINVAL, "unknown option '--%s'", name);
}

/* Fail because the option NAME belongs to PART, which is not asked for. */
static osc_status wrong_part(unsigned part, const char *name, struct osc_err *err)
{
    return osc_fail(err, OSC_EINVAL,
                    part == OSC_PART_TEXT
                        ? "--%s has no effect in columns, only in text"
                        : "--%s is for a table: give it when one is asked for",
                    name);
}

/* Set the option OWN of some table in R; the last value counts. */
static osc_status set_own(struct osc_request *r, const struct osc_table_option *own,
                          const char *value, struct osc_err *err)
{
    const size_t i = place_of(&r->question, own->name);
    struct osc_option_value v;
    const osc_status st = osc_option_parse(own, value, &v, err);

    if (st != OSC_OK)
        return st;
    if (i == OSC_QUESTION_OPTIONS)
        return osc_fail(err, OSC_EINVAL, "--%s: no table has so many options", own->name);
    r->question.options[i] = (struct osc_named_option){own->name, v.text};
    return OSC_OK;
}

osc_status osc_request_set(struct osc_request *r, unsigned parts, const char *name,
                           const char *value, struct osc_err *err)
{
    const struct field *const f = find(name);
    const struct osc_table_option *const own = f ? NULL : osc_tables_option(name);
    const unsigned part = f ? f->part : own ? part_of(own) : 0;

    if (!f && !own)
        return no_field(parts, name, err);
    if (!(part & parts))
        return wrong_part(part, name, err);
    if (own)
        return set_own(r, own, value, err);
    if (f->type == TYPE_FLAG) {
        if (value)
            return osc_fail(err, OSC_EINVAL, "option '--%s' takes no argument", name);
        *(int *)(void *)((char *)r + f->at) = 1;
        return OSC_OK;
    }
    if (!value)
        return osc_fail(err, OSC_EINVAL, "option '--%s' needs an argument", name);
    if (f->type > TYPE_FLAG)
        return set_number(f, r, value, err);
    *(const char **)(void *)((char *)r + f->at) = value;
    return check_text(f, value, err);
}

/* Whether F is set in R. */
static bool is_set(const struct field *f, const struct osc_request *r)
{
    static const struct osc_request none;
    static const size_t widths[] = {[TYPE_FLAG] = sizeof(int),
                                    [TYPE_ROWS] = sizeof(int64_t),
                                    [TYPE_THREADS] = sizeof(unsigned),
                                    [TYPE_SIZE] = sizeof(uint64_t)};
    const bool has_flag = f->type == TYPE_TIME;
    const size_t at = has_flag ? f->has_at : f->at;
    const size_t width = has_flag              ? sizeof(int)
                         : f->type < TYPE_FLAG ? sizeof(const char *)
                                               : widths[f->type];

    return memcmp((const char *)r + at, (const char *)&none + at, width) != 0;
}

/* Whether the answer to R may depend on F. */
static bool is_asked(const struct field *f)
{
    return f->part != OSC_PART_HOW || strcmp(f->name, "no-args") == 0;
}

/* Append F, which is set in R, to the question Q. */
static void add_field(struct osc_strbuf *q, const struct field *f, const struct osc_request *r)
{
    const char *const at = (const char *)r + f->at;
    const bool is_number = f->type == TYPE_TIME || f->type == TYPE_ROWS;
    const int64_t n = is_number ? *(const int64_t *)(const void *)at : 0;

    if (f->type < TYPE_FLAG)
        osc_question_add(q, f->name, *(const char *const *)(const void *)at);
    else if (is_number)
        osc_question_add_number(q, f->name, f->type == TYPE_ROWS && n < 0 ? 0 : n); /* 0: all */
    else
        osc_question_add(q, f->name, NULL);
}

/* Append the options of tables in R, in the order of their tables, whatever that of R. */
static void add_own(struct osc_strbuf *q, const struct osc_request *r)
{
    const struct osc_table_option *own;
    struct osc_option_value v;

    for (size_t i = 0; (own = osc_tables_option_at(i)); i++) {
        const size_t k = place_of(&r->question, own->name);

        if (k == count_set(&r->question) ||
            osc_option_parse(own, value_of(own, &r->question.options[k]), &v, NULL) != OSC_OK)
            continue;
        if (own->kind == OSC_OPTION_TIME || own->kind == OSC_OPTION_WHOLE)
            osc_question_add_number(q, own->name, v.number);
        else
            osc_question_add(q, own->name, own->kind == OSC_OPTION_SWITCH ? NULL : v.text);
    }
}

void osc_request_add_words(struct osc_strbuf *q, const struct osc_request *r)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (is_asked(&fields[i]) && is_set(&fields[i], r))
            add_field(q, &fields[i], r);
    }
    add_own(q, r);
}

/* Whether the answer may depend on the option NAME. */
static bool is_asked_name(const char *name)
{
    const struct field *const f = find(name);

    return f ? is_asked(f) : osc_tables_option(name) != NULL;
}

osc_status osc_request_set_words(struct osc_request *r, struct osc_str words,
                                 struct osc_err *err)
{
    struct osc_question_word word;
    osc_status st = OSC_OK;

    while (st == OSC_OK && words.len > 0) {
        char name[NAME_BYTES] = "";

        if (osc_question_next(&words, &word) && word.name.len < NAME_BYTES)
            memcpy(name, word.name.s, word.name.len);
        if (!is_asked_name(name))
            return osc_fail(err, OSC_EINVAL, "unknown words of a question");
        st = osc_request_set(r, ~0u, name, word.has_value ? word.value.s : NULL, err);
    }
    return st;
}

/* --- checking --------------------------------------------------------------------- */

osc_status osc_request_check(const struct osc_request *r, struct osc_err *err)
{
    const struct osc_view *const v = &r->view;
    const struct osc_named_option *const own = r->question.options;
    struct osc_option_value value;
    osc_status st = OSC_OK;

    for (size_t i = 0; i < N_FIELDS && st == OSC_OK; i++) {
        if (fields[i].type < TYPE_FLAG && is_set(&fields[i], r))
            st = check_text(
                &fields[i],
                *(const char *const *)(const void *)((const char *)r + fields[i].at), err);
    }
    for (size_t i = 0; st == OSC_OK && i < count_set(&r->question); i++) {
        const struct osc_table_option *const option = osc_tables_option(own[i].name);

        st = option ? osc_option_parse(option, value_of(option, &own[i]), &value, err)
                    : no_field(~0u, own[i].name, err);
    }
    if (st == OSC_OK && r->question.limit < -1)
        st = osc_fail(err, OSC_EINVAL, "--limit: %lld is not a number of rows; 0 means all",
                      (long long)r->question.limit);
    if (st == OSC_OK && v->has_from && v->has_to && v->to_ns <= v->from_ns)
        st = osc_fail(err, OSC_EINVAL,
                      "--to is not later than --from: there is nothing between them");
    return st;
}

static osc_status refuse_table(const char *name, const struct osc_table_def *def,
                               struct osc_err *err)
{
    struct osc_strbuf names = {0};
    osc_status st = OSC_EINVAL;

    osc_request_add_tables(&names, name);
    if (names.status == OSC_OK && osc_request_count_tables(name) > TABLES_MAX)
        (void)osc_fail(
            err, st, "--%s has no effect for %s; 'opscope table --list' says for which it has",
            name, def->name);
    else if (names.status == OSC_OK)
        (void)osc_fail(err, st, "--%s has no effect for %s, only for %s", name, def->name,
                       names.s);
    else
        st = names.status;
    osc_strbuf_fini(&names);
    return st;
}

/* The same of the options of tables. */
static osc_status check_own_scope(const struct osc_request *r, const struct osc_table_def *def,
                                  const struct osc_renderer *form, struct osc_err *err)
{
    const struct osc_named_option *const set = r->question.options;

    for (size_t i = 0; i < count_set(&r->question); i++) {
        const struct osc_table_option *const own = osc_table_option(def, set[i].name);

        if (!own)
            return refuse_table(set[i].name, def, err);
        if (own->is_of_text && form->is_machine)
            return osc_fail(err, OSC_EINVAL, "--%s has no effect in %s, only in text",
                            own->name, form->name);
        if (own->is_of_text && r->question.columns)
            return osc_fail(err, OSC_EINVAL,
                            "--%s has no effect with --columns, only for the whole text of %s",
                            own->name, def->name);
    }
    return OSC_OK;
}

osc_status osc_request_check_scope(const struct osc_request *r, const struct osc_table_def *def,
                                   const struct osc_renderer *form, struct osc_err *err)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        const struct field *const f = &fields[i];

        if (!is_set(f, r))
            continue;
        if (f->is_for && !f->is_for(def))
            return refuse_table(f->name, def, err);
        if (f->scope != SCOPE_ANY && form->is_machine)
            return osc_fail(err, OSC_EINVAL, "--%s has no effect in %s, only in text", f->name,
                            form->name);
    }
    return check_own_scope(r, def, form, err);
}

osc_status osc_request_table(const char *name, const struct osc_table_def **def,
                             struct osc_err *err)
{
    struct osc_nearest near = {.word = name};

    *def = osc_table_find(name ? name : "averages");
    if (*def)
        return OSC_OK;
    for (size_t i = 0; osc_tables[i]; i++)
        osc_nearest_try(&near, osc_tables[i]->name);
    if (near.best)
        return osc_fail(err, OSC_EINVAL, "unknown table '%s'; did you mean '%s'?", name,
                        near.best);
    return osc_fail(err, OSC_EINVAL, "unknown table '%s'", name);
}

osc_status osc_request_form(const char *name, const struct osc_renderer **form,
                            struct osc_err *err)
{
    struct osc_nearest near = {.word = name};

    *form = osc_renderer_find(name ? name : "text");
    if (*form)
        return OSC_OK;
    for (size_t i = 0; osc_renderers[i]; i++)
        osc_nearest_try(&near, osc_renderers[i]->name);
    if (near.best)
        return osc_fail(err, OSC_EINVAL, "unknown form '%s'; did you mean '%s'?", name,
                        near.best);
    return osc_fail(err, OSC_EINVAL,
                    "unknown form '%s'; the forms are text, csv, json, jsonl, md and arrow",
                    name);
}

/* --- for the layers below ---------------------------------------------------------- */

osc_status osc_request_options(const struct osc_request *r, const struct osc_table_def *def,
                               struct osc_options *o, struct osc_err *err)
{
    const struct osc_question *const q = &r->question;
    struct osc_option_value v;
    osc_status st = OSC_OK;

    *o = (struct osc_options){.n_threads = r->how.n_threads};
    for (size_t i = 0; st == OSC_OK && i < count_set(q); i++) {
        const struct osc_table_option *const own = osc_table_option(def, q->options[i].name);

        st = own ? osc_option_parse(own, value_of(own, &q->options[i]), &v, err)
                 : refuse_table(q->options[i].name, def, err);
        if (st == OSC_OK)
            osc_options_set(o, def, &v);
    }
    return st == OSC_OK ? osc_options_group(o, def, q->group_by, err) : st;
}

void osc_request_follow(const struct osc_question *q, const struct osc_table_def *def,
                        struct osc_options *o)
{
    struct osc_option_value v;

    for (size_t i = 0; i < count_set(q); i++) {
        const struct osc_table_option *const own = osc_table_option(def, q->options[i].name);

        if (own && osc_option_parse(own, value_of(own, &q->options[i]), &v, NULL) == OSC_OK)
            osc_options_set(o, def, &v);
    }
    if (osc_options_group(o, def, q->group_by, NULL) != OSC_OK)
        o->group_by = NULL;
}

bool osc_request_names_time(const struct osc_request *r)
{
    bool names = r->view.has_from || r->view.has_to;

    for (size_t i = 0; i < count_set(&r->question); i++) {
        const struct osc_table_option *const own =
            osc_tables_option(r->question.options[i].name);

        names = names || (own && own->kind == OSC_OPTION_TIME);
    }
    return names;
}

struct osc_selection osc_request_selection(const struct osc_view *view)
{
    return (struct osc_selection){
        .process = view->process,
        .thread = view->thread,
        .device = view->device,
        .steps = view->steps,
        .has_from = view->has_from != 0,
        .has_to = view->has_to != 0,
        .from_ns = view->from_ns,
        .to_ns = view->to_ns,
    };
}
