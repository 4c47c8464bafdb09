/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen/screen_read.h"

#include <math.h>
#include <string.h>

#include "analysis/table_columns.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "derive/select.h"
#include "table/row_sort.h"

const struct osc_answer *osc_screen_answer(const struct osc_screen *s,
                                           enum osc_screen_table table)
{
    return s->answers[table];
}

/* The rows of a merged table. */
const struct osc_result *osc_screen_merged(const struct osc_screen *s,
                                           enum osc_screen_table table)
{
    return &osc_screen_answer(s, table)->blocks[0].result;
}

/* The value of KEY in `info`; empty if it has none. */
struct osc_str osc_screen_info(const struct osc_screen *s, const char *key)
{
    const struct osc_result *const r = osc_screen_merged(s, OSC_SCREEN_INFO);

    for (uint64_t i = 0; i < r->n_rows; i++) {
        if (osc_str_eq(osc_result_get_str(r, i, osc_column_info_key), osc_str_c(key)))
            return osc_result_get_str(r, i, osc_column_info_value);
    }
    return OSC_STR("");
}

uint64_t osc_screen_info_count(const struct osc_screen *s, const char *key)
{
    const struct osc_str text = osc_screen_info(s, key);
    uint64_t n = 0;

    for (uint32_t i = 0; i < text.len && text.s[i] >= '0' && text.s[i] <= '9'; i++)
        n = n * 10 + (uint64_t)(text.s[i] - '0');
    return n;
}

bool osc_screen_info_flag(const struct osc_screen *s, const char *key)
{
    return osc_str_eq(osc_screen_info(s, key), OSC_STR("true"));
}

bool osc_screen_has_ranks(const struct osc_answer *a)
{
    return a->n_blocks > 0 && a->blocks[0].rank != a->blocks[a->n_blocks - 1].rank;
}

void osc_screen_count_steps(const struct osc_screen *s, uint64_t *n, uint64_t *n_kept,
                            uint64_t *n_whole)
{
    const struct osc_answer *const a = osc_screen_answer(s, OSC_SCREEN_STEPS);

    *n = *n_kept = *n_whole = 0;
    for (uint32_t b = 0; b < a->n_blocks; b++) {
        const struct osc_result *const r = &a->blocks[b].result;

        for (uint64_t i = 0; i < r->n_rows; i++) {
            ++*n;
            *n_kept += osc_result_get_bool(r, i, osc_column_steps_kept);
            *n_whole += !osc_result_has(r, i, osc_column_steps_annotation_ns);
        }
    }
}

void osc_screen_look_at_whole(const struct osc_screen *s, uint64_t *n_outside, bool *has_work)
{
    const struct osc_answer *const a = osc_screen_answer(s, OSC_SCREEN_STEPS);

    *n_outside = 0;
    *has_work = false;
    for (uint32_t b = 0; b < a->n_blocks; b++) {
        const struct osc_result *const r = &a->blocks[b].result;

        for (uint64_t i = 0; i < r->n_rows; i++) {
            *n_outside += osc_result_get_bool(r, i, osc_column_steps_lie_outside);
            *has_work |= osc_result_get_bool(r, i, osc_column_steps_is_of_work);
        }
    }
}

bool osc_screen_has_iterations(const struct osc_screen *s)
{
    const struct osc_answer *const a = osc_screen_answer(s, OSC_SCREEN_STEPS);

    for (uint32_t b = 0; b < a->n_blocks; b++) {
        const struct osc_result *const r = &a->blocks[b].result;

        if (r->n_rows > 0 && osc_result_get_bool(r, 0, osc_column_steps_is_iteration))
            return true;
    }
    return false;
}

bool osc_screen_has_device(const struct osc_screen *s)
{
    return osc_screen_info_count(s, "devices") > 0 &&
           osc_screen_merged(s, OSC_SCREEN_KERNELS)->n_rows > 0;
}

struct osc_screen_owners osc_screen_find_owners(const struct osc_screen *s)
{
    const struct osc_result *const r = osc_screen_merged(s, OSC_SCREEN_OPERATORS);
    struct osc_screen_owners w = {0};

    for (uint64_t i = 0; i < r->n_rows; i++) {
        const double ns = (double)osc_result_get_int(r, i, osc_column_operators_device_self_ns);
        const bool is_rest = osc_result_has(r, i, osc_column_operators_rest);

        *(is_rest ? &w.rest_ns : &w.own_ns) += ns;
        *(is_rest ? &w.n_causes : &w.n_operators) += 1;
    }
    return w;
}

bool osc_screen_has_operators(const struct osc_screen *s)
{
    return osc_screen_find_owners(s).n_operators > 0;
}

static double median_of_kept(const struct osc_result *r)
{
    const uint32_t total = osc_column_steps_total_ns, kept = osc_column_steps_kept;
    struct osc_sort_key key = {.column = total, .divisor = -1, .ascending = true};
    uint32_t *order = NULL;
    uint64_t n = 0;
    double median = 0;

    if (osc_sort_rows(r, &key, &order) != OSC_OK)
        return 0;
    for (uint64_t i = 0; i < r->n_rows; i++) {
        if (osc_result_get_bool(r, order[i], kept))
            order[n++] = order[i];
    }
    if (n > 0)
        median = ((double)osc_result_get_int(r, order[(n - 1) / 2], total) +
                  (double)osc_result_get_int(r, order[n / 2], total)) /
                 2;
    osc_free(order);
    return median;
}

static double distance(const struct osc_outlier *o)
{
    const struct osc_result *const r = &o->block->result;
    const double ns = (double)osc_result_get_int(r, o->row, osc_column_steps_total_ns);

    return o->median_ns > 0 ? fabs(ns / o->median_ns - 1) : ns > 0 ? HUGE_VAL : 0;
}

uint64_t osc_screen_outliers(const struct osc_screen *s, struct osc_outlier *found,
                             uint64_t max)
{
    const struct osc_answer *const a = osc_screen_answer(s, OSC_SCREEN_STEPS);
    uint64_t n = 0, n_found = 0;

    for (uint32_t b = 0; b < a->n_blocks; b++) {
        const struct osc_result *const r = &a->blocks[b].result;
        const uint32_t outlier = osc_column_steps_outlier;
        const double median = median_of_kept(r);

        for (uint64_t i = 0; i < r->n_rows; i++) {
            const struct osc_outlier o = {&a->blocks[b], i, median};
            uint64_t at = n_found;

            if (!osc_result_get_bool(r, i, outlier))
                continue;
            n++;
            while (at > 0 && distance(&found[at - 1]) < distance(&o))
                at--;
            if (at == max)
                continue;
            n_found += n_found < max;
            memmove(&found[at + 1], &found[at], (n_found - at - 1) * sizeof *found);
            found[at] = o;
        }
    }
    return n;
}

void osc_screen_add_step(const struct osc_result *r, uint64_t row, struct osc_strbuf *out)
{
    struct osc_strbuf text = {0};
    const struct osc_str label = osc_result_get_str(r, row, osc_column_steps_label);
    uint64_t n = 0;

    for (uint64_t i = 0; i < r->n_rows; i++)
        n += osc_str_eq(osc_result_get_str(r, i, osc_column_steps_label), label);
    osc_strbuf_addstr(&text, label);
    if (n == 1 && text.s && osc_select_is_steps(text.s))
        osc_strbuf_addstr(out, label);
    else
        osc_strbuf_addf(out, "@%lld",
                        (long long)osc_result_get_int(r, row, osc_column_steps_step));
    osc_strbuf_fini(&text);
}

/* Whether an earlier span of its rank has the advice in row I of block B of A. */
static bool is_repeated(const struct osc_answer *a, uint32_t b, uint64_t i)
{
    const struct osc_str code =
        osc_result_get_str(&a->blocks[b].result, i, osc_column_advice_code);

    for (uint32_t k = 0; k < b; k++) {
        const struct osc_result *const r = &a->blocks[k].result;

        for (uint64_t j = 0; j < r->n_rows && a->blocks[k].rank == a->blocks[b].rank; j++) {
            if (osc_str_eq(osc_result_get_str(r, j, osc_column_advice_code), code))
                return true;
        }
    }
    return false;
}

uint64_t osc_screen_advice(const struct osc_screen *s, const struct osc_answer_block **of,
                           uint64_t *row)
{
    const struct osc_answer *const a = osc_screen_answer(s, OSC_SCREEN_ADVICE);
    int64_t most_ns = -1;
    uint64_t n = 0;

    for (uint32_t b = 0; b < a->n_blocks; b++) {
        const struct osc_result *const r = &a->blocks[b].result;

        for (uint64_t i = 0; i < r->n_rows; i++) {
            const int64_t ns = osc_result_get_int(r, i, osc_column_advice_impact_ns);

            if (osc_str_eq(osc_result_get_str(r, i, osc_column_advice_code),
                           OSC_STR("straggler"))) /* the section LATE says it */
                continue;
            n += !is_repeated(a, b, i);
            if (ns <= most_ns)
                continue;
            most_ns = ns;
            if (of)
                *of = &a->blocks[b];
            if (row)
                *row = i;
        }
    }
    return n;
}
