/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/diff/gate_judge.h"

#include <string.h>

#include "analysis/diff/change.h"
#include "analysis/table_registry.h"

#define REPORT_ROWS 20 /* of each table in Markdown */

/* --- the verdict ---------------------------------------------------------------------- */

/* Append the values of KEY in ABOUT, in order, separated by commas. An empty one is unknown,
 * and tells nothing. */
static void add_values(struct osc_strbuf *out, const struct osc_result *about, const char *key)
{
    struct osc_str last = {NULL, 0};

    /* The next in order each time: there are few. */
    for (uint64_t n = 0; n < about->n_rows; n++) {
        struct osc_str next = {NULL, 0};

        for (uint64_t i = 0; i < about->n_rows; i++) {
            const struct osc_str v = osc_result_get_str(about, i, OSC_ABOUT_VALUE);

            if (osc_str_eq(osc_result_get_str(about, i, OSC_ABOUT_KEY), osc_str_c(key)) &&
                v.len > 0 && (!last.s || osc_str_cmp(v, last) > 0) &&
                (!next.s || osc_str_cmp(v, next) < 0))
                next = v;
        }
        if (!next.s)
            break;
        osc_strbuf_adds(out, last.s ? ", " : "");
        osc_strbuf_addstr(out, next);
        last = next;
    }
}

static bool has_value(const struct osc_result *about, const char *key, struct osc_str value)
{
    for (uint64_t i = 0; i < about->n_rows; i++)
        if (osc_str_eq(osc_result_get_str(about, i, OSC_ABOUT_KEY), osc_str_c(key)) &&
            osc_str_eq(osc_result_get_str(about, i, OSC_ABOUT_VALUE), value))
            return true;
    return false;
}

/* Whether OTHER has all values of KEY in ABOUT. */
static bool is_within(const struct osc_result *about, const struct osc_result *other,
                      const char *key)
{
    for (uint64_t i = 0; i < about->n_rows; i++)
        if (osc_str_eq(osc_result_get_str(about, i, OSC_ABOUT_KEY), osc_str_c(key)) &&
            !has_value(other, key, osc_result_get_str(about, i, OSC_ABOUT_VALUE)))
            return false;
    return true;
}

/* Whether one run only lacks values of KEY that the other has, because a file of it could not
 * be read: that is told as such. */
static bool lacks_files(const struct osc_compared *c, const char *key)
{
    const struct osc_result *const base = &c->base->of[OSC_SIDE_ABOUT];
    const struct osc_result *const new_ = &c->new_->of[OSC_SIDE_ABOUT];

    return (c->base->has_failed && is_within(base, new_, key)) ||
           (c->new_->has_failed && is_within(new_, base, key));
}

static bool names_any(const struct osc_digests *d, const char *key)
{
    const struct osc_result *const about = &d->of[OSC_SIDE_ABOUT];

    for (uint64_t i = 0; i < about->n_rows; i++) {
        if (osc_str_eq(osc_result_get_str(about, i, OSC_ABOUT_KEY), osc_str_c(key)))
            return true;
    }
    return false;
}

/* Whether both runs name the same for KEY, or one names nothing and MAY_LACK. */
static osc_status check_key(const struct osc_compared *c, const char *key, const char *what,
                            bool may_lack, struct osc_err *err)
{
    struct osc_strbuf base = {0}, new_ = {0};
    osc_status st = OSC_OK;

    add_values(&base, &c->base->of[OSC_SIDE_ABOUT], key);
    add_values(&new_, &c->new_->of[OSC_SIDE_ABOUT], key);
    const char *const a = base.s ? base.s : "", *const b = new_.s ? new_.s : "";
    if (base.status != OSC_OK || new_.status != OSC_OK)
        st = osc_fail(err, OSC_ENOMEM, "out of memory");
    else if (strcmp(a, b) != 0 && !(may_lack && (*a == '\0' || *b == '\0')) &&
             !lacks_files(c, key))
        st = osc_fail(err, OSC_EFORMAT,
                      "not comparable: the %s of base (%.100s) and new (%.100s) differ; "
                      "--allow-different compares them all the same",
                      what, *a ? a : "none", *b ? b : "none");
    osc_strbuf_fini(&base);
    osc_strbuf_fini(&new_);
    return st;
}

static bool has_steps(const struct osc_result *steps)
{
    for (uint64_t i = 0; i < steps->n_rows; i++) {
        if (osc_result_has(steps, i, OSC_STEPS_STEP))
            return true;
    }
    return false;
}

static osc_status check_runs(const struct osc_compared *c, bool allows_different,
                             struct osc_err *err)
{
    const bool base = has_steps(&c->base->of[OSC_SIDE_STEPS]);
    osc_status st = OSC_OK;

    if (base != has_steps(&c->new_->of[OSC_SIDE_STEPS]))
        return osc_fail(err, OSC_EFORMAT, "not comparable: %s has steps, and %s has none",
                        base ? "base" : "new", base ? "new" : "base");
    /* Not every program writes which model a device is, or of which family. */
    const bool has_models = names_any(c->base, "device") && names_any(c->new_, "device");
    const bool have_devices = names_any(c->base, "family") && names_any(c->new_, "family");

    if (!allows_different)
        st = check_key(c, has_models ? "device" : "family", "devices", have_devices, err);
    if (st == OSC_OK && !allows_different)
        st = check_key(c, "host", "machines", true, err);
    return st;
}

osc_status osc_gate_judge(struct osc_gate *g, const struct osc_compared *c,
                          const struct osc_result *const *tables, bool allows_different,
                          struct osc_err *err)
{
    osc_status st = check_runs(c, allows_different, err);

    if (st == OSC_OK)
        st = osc_gate_evaluate(g, tables, err);
    else
        return st;
    if (st == OSC_EFORMAT)
        osc_err_prefix(err, "not comparable");
    return st;
}

/* --- reports ------------------------------------------------------------------------ */

static int keep_text(void *ctx, const char *s, size_t len)
{
    struct osc_strbuf *const out = ctx;

    osc_strbuf_add(out, s, len);
    return out->status == OSC_OK ? 0 : -1;
}

/* Append the columns of DEF that people read, where R has its rows. */
static void add_columns(struct osc_strbuf *out, const struct osc_table_def *def,
                        const struct osc_result *r)
{
    const struct osc_change_columns at = def == &osc_table_diff_steps
                                             ? *osc_diff_steps_columns()
                                             : osc_change_columns(def, osc_change_time(r));
    const bool has_steps = r->n_rows > 0 && osc_result_has(r, 0, at.mean_delta_ns);
    const uint32_t all[] = {at.name,
                            at.base_calls,
                            at.new_calls,
                            has_steps ? at.mean_base_ns : at.base_ns,
                            has_steps ? at.mean_new_ns : at.new_ns,
                            has_steps ? at.mean_delta_ns : at.delta_ns,
                            at.delta_ratio,
                            at.significant};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        osc_strbuf_addf(out, "%s%s", i > 0 ? "," : "", def->columns[all[i]].name);
}

/* Append the tables of C as Markdown to OUT, with the view of R. */
static osc_status add_tables(struct osc_strbuf *out, const struct osc_request *request,
                             const struct osc_compared *c,
                             const struct osc_result *const *tables, struct osc_err *err)
{
    enum { N_DEFS = 3 };
    static const struct osc_table_def *const defs[N_DEFS] = {
        &osc_table_diff_steps, &osc_table_diff_operators, &osc_table_diff_kernels};
    osc_status st = OSC_OK;

    for (size_t t = 0; t < N_DEFS && st == OSC_OK; t++) {
        struct osc_compared both = {.base = c->base, .new_ = c->new_};
        struct osc_request r = *request;
        struct osc_asked k = {0};

        struct osc_strbuf columns = {0};

        add_columns(&columns, defs[t], tables[t]);
        r.question = (struct osc_question){.limit = REPORT_ROWS, .columns = columns.s};
        r.text = (struct osc_layout){.format = "md", .write = keep_text, .ctx = out};
        st = columns.status;
        if (st == OSC_OK)
            st = osc_asked_init_table(&k, defs[t], &r, NULL, err);
        if (st == OSC_OK)
            st = osc_compare_run(&k, &both, err);
        if (st == OSC_OK && k.answer.blocks[0].result.n_rows > 0) {
            osc_strbuf_addf(out, "### %s\n\n", defs[t]->name);
            st = osc_asked_write(&k, err);
            osc_strbuf_adds(out, "\n");
        }
        osc_asked_fini(&k);
        osc_compared_fini(&both);
        osc_strbuf_fini(&columns);
    }
    return st;
}

osc_status osc_gate_add_report(struct osc_strbuf *out, enum osc_gate_form form,
                               const struct osc_request *r, const struct osc_compared *c,
                               struct osc_gate_findings *f, struct osc_err *err)
{
    struct osc_strbuf tables = {0};
    osc_status st = OSC_OK;

    if (form == OSC_GATE_JUNIT)
        return osc_gate_add_junit(out, f);
    st = add_tables(&tables, r, c, f->tables, err);
    f->tables_md = tables.s ? tables.s : "";
    if (st == OSC_OK)
        st = osc_gate_add_markdown(out, f);
    f->tables_md = "";
    osc_strbuf_fini(&tables);
    return st;
}
