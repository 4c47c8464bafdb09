/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/request.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/table_registry.h"
#include "derive/breakdown.h"
#include "table/nearest.h"

/* --- values ---------------------------------------------------------------------- */

#define BILLION 1000000000

/* Parse digits, *WHOLE, with an optional fraction of up to 9 digits, *PART billionths. Returns
 * the end; NULL: it is malformed, or does not fit. */
static const char *parse_decimal(const char *p, int64_t *whole, int64_t *part)
{
    const char *const start = p;
    int64_t unit = BILLION;

    *whole = *part = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(*whole, 10, whole) ||
            __builtin_add_overflow(*whole, *p - '0', whole))
            return NULL;
    if (p == start)
        return NULL;
    if (*p == '.') {
        const char *const point = p;

        for (p++; *p >= '0' && *p <= '9'; p++) {
            unit /= 10;
            *part += unit * (*p - '0');
        }
        if (p == point + 1 || unit == 0)
            return NULL;
    }
    return p;
}

bool osc_parse_whole(const char *text, int64_t least, int64_t most, int64_t *value)
{
    int64_t v = 0;
    const bool is_negative = *text == '-';
    const char *p = text + is_negative;

    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
            return false;
    }
    v = is_negative ? -v : v;
    *value = v;
    return *p == '\0' && v >= least && v <= most;
}

bool osc_parse_time(const char *text, int64_t *ns)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", BILLION}};
    int64_t whole, part;

    if (osc_parse_whole(text, 0, INT64_MAX, ns))
        return true;
    const char *const rest = parse_decimal(text, &whole, &part);
    for (size_t i = 0; rest && i < sizeof units / sizeof *units; i++) {
        if (strcmp(rest, units[i].name) != 0)
            continue;
        /* A part is less than one unit: it cannot overflow. */
        return !__builtin_mul_overflow(whole, units[i].ns, ns) &&
               !__builtin_add_overflow(*ns, part / (BILLION / units[i].ns), ns) &&
               part % (BILLION / units[i].ns) == 0;
    }
    return false;
}

bool osc_parse_size(const char *text, uint64_t *bytes)
{
    static const char letters[] = "KMGT";
    int64_t whole, part;

    if (osc_parse_whole(text, 1, INT64_MAX, &whole)) {
        *bytes = (uint64_t)whole;
        return true;
    }
    const char *rest = parse_decimal(text, &whole, &part);
    const char *letter = rest && *rest ? strchr(letters, toupper((unsigned char)*rest)) : NULL;
    if (!letter)
        return false;
    rest++;
    if (*rest && strcasecmp(rest, "B") != 0 && strcasecmp(rest, "iB") != 0)
        return false;

    const double size = ((double)whole + (double)part / BILLION) *
                        (double)(UINT64_C(1024) << 10 * (letter - letters));
    if (size < 1 || size > 9e18)
        return false;
    *bytes = (uint64_t)size;
    return true;
}

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
    return def->groupings && def->groupings[0];
}

static bool has_own_text(const struct osc_table_def *def)
{
    return def->text != NULL;
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

static bool takes_compat(const struct osc_table_def *def)
{
    return (def->takes & OSC_TAKES_COMPAT) != 0;
}

static bool takes_steps(const struct osc_table_def *def)
{
    return (def->takes & OSC_TAKES_STEPS) != 0;
}

static bool takes_priority(const struct osc_table_def *def)
{
    return (def->takes & OSC_TAKES_PRIORITY) != 0;
}

static bool takes_no_python(const struct osc_table_def *def)
{
    return (def->takes & OSC_TAKES_NO_PYTHON) != 0;
}

static bool takes_at(const struct osc_table_def *def)
{
    return (def->takes & OSC_TAKES_AT) != 0;
}

static bool takes_name(const struct osc_table_def *def)
{
    return (def->takes & OSC_TAKES_NAME) != 0;
}

static bool takes_event(const struct osc_table_def *def)
{
    return (def->takes & OSC_TAKES_EVENT) != 0;
}

enum scope {
    SCOPE_ANY,
    SCOPE_TEXT,    /* not forms for programs, which are complete and undecorated */
    SCOPE_OWN_TEXT /* only a table's own text, which is not printed if columns are chosen */
};

/* The type of a member of struct osc_request. */
enum type {
    TYPE_TEXT,    /* const char * */
    TYPE_LIST,    /* the same, "0,4-7" */
    TYPE_STEPS,   /* the same, "5-7", "@0" */
    TYPE_FORM,    /* the same, the name of a renderer */
    TYPE_COMPAT,  /* the same, "tb" */
    TYPE_TORCH,   /* the same, "1.13" or "2.13" */
    TYPE_CLASSES, /* the same, "memcpy,kernel" */
    TYPE_LENGTH,  /* the same, "annotation" or "device" */
    TYPE_FLAG,    /* int */
    TYPE_TIME,    /* int64_t, and an int that says whether it is set */
    TYPE_ID,      /* the same, a whole number from 0 */
    TYPE_ROWS,    /* int64_t; -1: all */
    TYPE_WIDTH,   /* int32_t; -1: any */
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
    {"at", OSC_PART_QUESTION, TYPE_TIME, AT(question.at_ns), AT(question.has_at), takes_at,
     SCOPE_ANY},
    {"name", OSC_PART_QUESTION, TYPE_TEXT, AT(question.name), 0, takes_name, SCOPE_ANY},
    {"event", OSC_PART_QUESTION, TYPE_ID, AT(question.event), AT(question.has_event),
     takes_event, SCOPE_ANY},
    {"header", OSC_PART_TEXT, TYPE_TEXT, AT(text.header), 0, has_own_text, SCOPE_OWN_TEXT},
    {"top-level", OSC_PART_TEXT, TYPE_FLAG, AT(text.top_level), 0, has_own_text,
     SCOPE_OWN_TEXT},
    {"max-name-width", OSC_PART_TEXT, TYPE_WIDTH, AT(text.max_name_width), 0, has_own_text,
     SCOPE_OWN_TEXT},
    {"max-src-width", OSC_PART_TEXT, TYPE_WIDTH, AT(text.max_src_width), 0, has_own_text,
     SCOPE_OWN_TEXT},
    {"max-shapes-width", OSC_PART_TEXT, TYPE_WIDTH, AT(text.max_shapes_width), 0, has_own_text,
     SCOPE_OWN_TEXT},
    {"torch", OSC_PART_TEXT, TYPE_TORCH, AT(text.torch), 0, has_own_text, SCOPE_OWN_TEXT},
    {"compat", OSC_PART_QUESTION, TYPE_COMPAT, AT(question.compat), 0, takes_compat, SCOPE_ANY},
    {"priority", OSC_PART_QUESTION, TYPE_CLASSES, AT(question.priority), 0, takes_priority,
     SCOPE_ANY},
    {"step-length", OSC_PART_QUESTION, TYPE_LENGTH, AT(question.step_length), 0, takes_steps,
     SCOPE_ANY},
    {"all-steps", OSC_PART_QUESTION, TYPE_FLAG, AT(question.all_steps), 0, takes_steps,
     SCOPE_ANY},
    {"no-python", OSC_PART_QUESTION, TYPE_FLAG, AT(question.no_python), 0, takes_no_python,
     SCOPE_ANY},
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

const char *osc_request_field(size_t i, unsigned *part, bool *is_switch)
{
    if (i >= N_FIELDS)
        return NULL;
    *part = fields[i].part;
    *is_switch = fields[i].type == TYPE_FLAG;
    return fields[i].name;
}

bool osc_request_is_switch(const char *name)
{
    const struct field *const f = find(name);

    return f && f->type == TYPE_FLAG;
}

bool osc_request_is_all(const char *name)
{
    const struct field *const f = find(name);

    return !f || !f->is_for;
}

bool osc_request_is_own_text(const char *name)
{
    const struct field *const f = find(name);

    return f && f->scope == SCOPE_OWN_TEXT;
}

bool osc_request_is_for(const char *name, const struct osc_table_def *def)
{
    const struct field *const f = find(name);

    return !f || !f->is_for || f->is_for(def);
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
    uint8_t order[OSC_CLASS_COUNT];

    if (f->type == TYPE_LIST && !is_list(value))
        return osc_fail(err, OSC_EINVAL, "--%s: '%s' is not a list of numbers such as 0,4-7",
                        f->name, value);
    if (f->type == TYPE_STEPS && !osc_select_is_steps(value))
        return osc_fail(err, OSC_EINVAL,
                        "--%s: '%s' is not a range; use 5, 5-7 (labels), @0 or @0-@2 (numbers)",
                        f->name, value);
    if (f->type == TYPE_COMPAT && strcmp(value, "tb") != 0)
        return osc_fail(err, OSC_EINVAL, "--%s: '%s' is not 'tb'", f->name, value);
    if (f->type == TYPE_CLASSES && !osc_priority_parse(value, order))
        return osc_fail(
            err, OSC_EINVAL,
            "--%s: '%s' is no list of parts of a step such as memcpy,runtime, each of "
            "them once",
            f->name, value);
    if (f->type == TYPE_LENGTH && strcmp(value, "annotation") != 0 &&
        strcmp(value, "device") != 0)
        return osc_fail(err, OSC_EINVAL, "--%s: '%s' is neither annotation nor device", f->name,
                        value);
    if (f->type == TYPE_TORCH && strcmp(value, "1.13") != 0 && strcmp(value, "2.13") != 0)
        return osc_fail(err, OSC_EINVAL, "--%s: '%s' is neither 1.13 nor 2.13", f->name, value);
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
    } else if (f->type == TYPE_ID) {
        if (!osc_parse_whole(value, 0, INT64_MAX, (int64_t *)(void *)at))
            return osc_fail(err, OSC_EINVAL, "--%s: '%s' is not an id: a whole number from 0",
                            f->name, value);
        *(int *)(void *)((char *)r + f->has_at) = 1;
    } else if (f->type == TYPE_ROWS) {
        if (!osc_parse_whole(value, 0, INT64_MAX, &n))
            return osc_fail(err, OSC_EINVAL, "--%s: '%s' is not a number of rows; 0 means all",
                            f->name, value);
        *(int64_t *)(void *)at = n == 0 ? -1 : n;
    } else if (f->type == TYPE_WIDTH) {
        if (!osc_parse_whole(value, 0, INT32_MAX, &n))
            return osc_fail(err, OSC_EINVAL, "--%s: '%s' is not a number of characters",
                            f->name, value);
        *(int32_t *)(void *)at = n == 0 ? -1 : (int32_t)n;
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

    for (size_t i = 0; i < N_FIELDS; i++) {
        if (fields[i].part & parts)
            osc_nearest_try(&near, fields[i].name);
    }
    if (near.best)
        return osc_fail(err, OSC_EINVAL, "unknown option '--%s'; did you mean '--%s'?", name,
                        near.best);
    return osc_fail(err, OSC_EINVAL, "unknown option '--%s'", name);
}

osc_status osc_request_set(struct osc_request *r, unsigned parts, const char *name,
                           const char *value, struct osc_err *err)
{
    const struct field *const f = find(name);

    if (!f)
        return no_field(parts, name, err);
    if (!(f->part & parts))
        return osc_fail(err, OSC_EINVAL,
                        f->part == OSC_PART_TEXT ? "--%s has no effect in columns, only in text"
                                                 : "--%s is for a table: give it when one is "
                                                   "asked for",
                        name);
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
                                    [TYPE_WIDTH] = sizeof(int32_t),
                                    [TYPE_THREADS] = sizeof(unsigned),
                                    [TYPE_SIZE] = sizeof(uint64_t)};
    const bool has_flag = f->type == TYPE_TIME || f->type == TYPE_ID;
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

/* Append the value of F in R as text. */
static void put_value(struct osc_strbuf *out, const struct field *f,
                      const struct osc_request *r)
{
    const char *const at = (const char *)r + f->at;

    if (f->type < TYPE_FLAG)
        osc_strbuf_adds(out, *(const char *const *)(const void *)at);
    else if (f->type == TYPE_TIME || f->type == TYPE_ID ||
             (f->type == TYPE_ROWS && *(const int64_t *)(const void *)at > 0))
        osc_strbuf_addi(out, *(const int64_t *)(const void *)at);
    else if (f->type == TYPE_WIDTH && *(const int32_t *)(const void *)at > 0)
        osc_strbuf_addi(out, *(const int32_t *)(const void *)at);
    else if (f->type == TYPE_WIDTH || f->type == TYPE_ROWS)
        osc_strbuf_addc(out, '0'); /* any, all */
}

void osc_request_put_words(struct osc_strbuf *out, const struct osc_request *r)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (!is_asked(&fields[i]) || !is_set(&fields[i], r))
            continue;
        osc_strbuf_adds(out, fields[i].name);
        osc_strbuf_addc(out, '\0');
        put_value(out, &fields[i], r);
        osc_strbuf_addc(out, '\0');
    }
}

osc_status osc_request_set_words(struct osc_request *r, struct osc_str words,
                                 struct osc_err *err)
{
    const char *at = words.s;
    const char *const end = words.s + words.len;
    osc_status st = words.len == 0 || end[-1] == '\0' ? OSC_OK : OSC_EINVAL;

    while (st == OSC_OK && at < end) {
        const struct field *const f = find(at);
        const char *const value = at + strlen(at) + 1;

        if (!f || !is_asked(f) || value >= end)
            return osc_fail(err, OSC_EINVAL, "unknown words of a question");
        st = osc_request_set(r, ~0u, at, f->type == TYPE_FLAG ? NULL : value, err);
        at = value + strlen(value) + 1;
    }
    return st;
}

/* --- checking --------------------------------------------------------------------- */

osc_status osc_request_check(const struct osc_request *r, struct osc_err *err)
{
    const struct osc_view *const v = &r->view;
    osc_status st = OSC_OK;

    for (size_t i = 0; i < N_FIELDS && st == OSC_OK; i++) {
        if (fields[i].type < TYPE_FLAG && is_set(&fields[i], r))
            st = check_text(
                &fields[i],
                *(const char *const *)(const void *)((const char *)r + fields[i].at), err);
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
    if (names.status == OSC_OK)
        (void)osc_fail(err, st, "--%s has no effect for %s, only for %s", name, def->name,
                       names.s);
    else
        st = names.status;
    osc_strbuf_fini(&names);
    return st;
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
        if (f->scope == SCOPE_OWN_TEXT && r->question.columns)
            return osc_fail(err, OSC_EINVAL,
                            "--%s has no effect with --columns, only for the whole text of %s",
                            f->name, def->name);
    }
    return OSC_OK;
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
                    "unknown form '%s'; the forms are text, csv, json, md and arrow", name);
}

/* --- for the layers below ---------------------------------------------------------- */

static bool has_grouping(const struct osc_table_def *def, const char *name)
{
    for (size_t i = 0; def->groupings && def->groupings[i]; i++) {
        if (strcmp(def->groupings[i], name) == 0)
            return true;
    }
    return false;
}

static osc_status wrong_grouping(const struct osc_table_def *def, const char *text,
                                 struct osc_err *err)
{
    struct osc_nearest near = {.word = text};

    for (size_t i = 0; def->groupings[i]; i++)
        osc_nearest_try(&near, def->groupings[i]);
    return osc_fail(err, OSC_EINVAL, "%s cannot be grouped by '%s'; did you mean '%s'?",
                    def->name, text, near.best ? near.best : def->groupings[0]);
}

/* Split GROUP_BY into the groupings of DEF and store them in O; "stack:5" is "stack:N" with
 * N = 5. */
static osc_status split_groups(const char *group_by, const struct osc_table_def *def,
                               struct osc_options *o, struct osc_err *err)
{
    const char *p = group_by;
    int64_t depth;
    char name[32], number[24];
    bool has_more = p != NULL;

    while (has_more) {
        const size_t len = strcspn(p, ","), key = strcspn(p, ":,");

        snprintf(name, sizeof name, "%.*s%s", (int)(key < 20 ? key : 20), p,
                 key < len ? ":N" : "");
        if (!has_grouping(def, name))
            return wrong_grouping(def, group_by, err);
        o->by_shape |= strcmp(name, "shape") == 0;
        o->by_dtype |= strcmp(name, "dtype") == 0;
        o->by_op |= strcmp(name, "op") == 0;
        o->by_cause |= strcmp(name, "cause") == 0;
        o->by_graph |= strcmp(name, "graph") == 0;
        o->by_module |= strcmp(name, "module") == 0;
        o->by_size |= strcmp(name, "size") == 0;
        o->by_process |= strcmp(name, "process") == 0;
        o->by_thread |= strcmp(name, "thread") == 0;
        o->by_track |= strcmp(name, "track") == 0;
        o->by_category |= strcmp(name, "category") == 0;
        o->by_step |= strcmp(name, "step") == 0;
        o->by_kind |= strcmp(name, "kind") == 0;
        o->by_event |= strcmp(name, "event") == 0;
        o->by_stack |= strncmp(name, "stack", 5) == 0;
        if (key < len) {
            snprintf(number, sizeof number, "%.*s", (int)(len - key - 1), p + key + 1);
            if (!osc_parse_whole(number, 1, UINT32_MAX, &depth))
                return osc_fail(err, OSC_EINVAL,
                                "--group-by: '%s' is not a number of stack entries", number);
            o->stack_depth = (uint32_t)depth;
        }
        has_more = p[len] == ',';
        p += len + has_more;
    }
    return OSC_OK;
}

osc_status osc_request_options(const struct osc_request *r, const struct osc_table_def *def,
                               struct osc_options *o, struct osc_err *err)
{
    const struct osc_question *const q = &r->question;

    *o = (struct osc_options){
        .group_by = q->group_by,
        .compat_tb = q->compat != NULL,
        .by_annotation = q->step_length && strcmp(q->step_length, "annotation") == 0,
        .all_steps = q->all_steps != 0,
        .priority = q->priority,
        .no_python = q->no_python != 0,
        .n_threads = r->how.n_threads,
        .has_at = q->has_at != 0,
        .at_ns = q->at_ns,
        .name = q->name,
        .has_event = q->has_event != 0,
        .event = q->event,
        .names_ranks = r->view.ranks || r->view.spans,
    };
    return split_groups(q->group_by, def, o, err);
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
