/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/samples.h"

#include <math.h>
#include <string.h>

#include "analysis/diff/tree_columns.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/wide.h"

/* --- steps ------------------------------------------------------------------------- */

static int by_key(const void *x, const void *y)
{
    const struct osc_run_step *const a = x, *const b = y;

    return (a->key > b->key) - (a->key < b->key);
}

static int by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

double osc_median_of(double *v, size_t n)
{
    osc_sort(v, n, sizeof *v, by_value);
    return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

static double length_of(const struct osc_run_step *s)
{
    return (double)s->total_ns / (double)s->parts;
}

/* Mark the slow first steps of each span. */
static osc_status leave_out(struct osc_run_steps *s)
{
    double *const v = osc_calloc(s->n_all + 1, sizeof *v);
    bool is_at_begin = true;
    uint32_t n_of_span = 0;

    if (!v)
        return OSC_ENOMEM;
    for (size_t i = 0; i < s->n_all; i++)
        v[i] = length_of(&s->all[i]);
    const double middle = s->n_all > 0 ? osc_median_of(v, s->n_all) : 0;
    for (size_t i = 0; i < s->n_all; i++) {
        const double apart = length_of(&s->all[i]) - middle;

        v[i] = apart < 0 ? -apart : apart;
    }
    const double usual = s->n_all > 0 ? osc_median_of(v, s->n_all) : 0;
    osc_free(v);
    for (size_t i = 0; i < s->n_all; i++) {
        struct osc_run_step *const step = &s->all[i];
        const double apart = length_of(step) - middle;

        if (i > 0 && step->key >> 32 != s->all[i - 1].key >> 32)
            is_at_begin = true, n_of_span = 0;
        is_at_begin = is_at_begin && n_of_span++ < OSC_SLOW_STEPS_MAX && apart > 3 * usual &&
                      apart > middle / 10 && ((size_t)s->n_left_out + 1) * 2 <= s->n_all;
        step->is_left_out = is_at_begin;
        s->n_left_out += is_at_begin;
    }
    s->n = (uint32_t)s->n_all - s->n_left_out;
    return OSC_OK;
}

static uint64_t key_of(int64_t span, int64_t step)
{
    return (uint64_t)(uint32_t)span << 32 | (uint32_t)step;
}

osc_status osc_run_steps_make(const struct osc_result *steps, struct osc_run_steps *s)
{
    *s = (struct osc_run_steps){.all = osc_calloc(steps->n_rows + 1, sizeof *s->all)};
    if (!s->all)
        return OSC_ENOMEM;
    for (uint64_t i = 0; i < steps->n_rows; i++) {
        const int64_t parts = osc_result_get_int(steps, i, OSC_STEPS_PARTS);

        if (!osc_result_has(steps, i, OSC_STEPS_STEP) || parts <= 0)
            continue;
        s->all[s->n_all++] = (struct osc_run_step){
            .key = key_of(osc_result_get_int(steps, i, OSC_STEPS_SPAN),
                          osc_result_get_int(steps, i, OSC_STEPS_STEP)),
            .row = (uint32_t)i,
            .parts = parts,
            .total_ns = osc_result_get_int(steps, i, OSC_STEPS_TOTAL),
        };
    }
    osc_sort(s->all, s->n_all, sizeof *s->all, by_key);
    osc_status st = leave_out(s);
    for (size_t i = 0; i < s->n_all && st == OSC_OK; i++) {
        uint32_t *const number = osc_idmap_put(&s->numbers, s->all[i].key);

        if (number)
            *number = (uint32_t)i + 1;
        else
            st = OSC_ENOMEM;
    }
    return st;
}

uint32_t osc_run_steps_find(const struct osc_run_steps *s, int64_t span, int64_t step)
{
    return osc_idmap_get(&s->numbers, key_of(span, step));
}

void osc_run_steps_fini(struct osc_run_steps *s)
{
    osc_free(s->all);
    osc_idmap_fini(&s->numbers);
    *s = (struct osc_run_steps){0};
}

struct osc_sample osc_sample_of(const double *v, size_t n_values, uint32_t n)
{
    struct osc_sample s = {.n = n};
    double squares = 0;

    if (n == 0)
        return s;
    for (size_t i = 0; i < n_values; i++)
        s.mean += v[i];
    s.mean /= n;
    for (size_t i = 0; i < n_values; i++)
        squares += (v[i] - s.mean) * (v[i] - s.mean);
    squares += (double)(n - n_values) * s.mean * s.mean;
    s.variance = n > 1 ? squares / (n - 1) : 0;
    return s;
}

struct osc_sample osc_sample_of_sums(int64_t n, int64_t sum, int64_t squares)
{
    if (n <= 0)
        return (struct osc_sample){0};
    /* Exact: equal values have no variance. */
    const osc_wide apart = (osc_wide)n * squares - (osc_wide)sum * sum;

    return (struct osc_sample){
        .n = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX,
        .mean = (double)sum / (double)n,
        .variance = n > 1 && apart > 0 ? (double)apart / (double)n / (double)(n - 1) : 0,
    };
}

/* --- names ------------------------------------------------------------------------- */

/* A row of a digest within a sample. */
struct value {
    uint32_t pair, row, step;
};

struct joining {
    struct osc_joined_sides *j;
    const struct osc_result *work;
    struct value *values; /* owned; of one side; those of a pair stand together once sorted */
    size_t n;
    double *scratch; /* owned; as long as a sample */
};

/* The number of the pair with NAME and SHAPE. */
static osc_status find_pair(struct osc_joined_sides *j, struct osc_str name,
                            struct osc_str shape, struct osc_strbuf *key, uint32_t *pair)
{
    osc_sid id;

    osc_strbuf_clear(key);
    osc_strbuf_addf(key, "%u.", name.len);
    osc_strbuf_addstr(key, name);
    osc_strbuf_addstr(key, shape);
    if (key->status != OSC_OK)
        return key->status;
    osc_status st = osc_intern_add(&j->keys, (struct osc_str){key->s, (uint32_t)key->len}, &id);
    if (st == OSC_OK && id.v > j->n)
        st = osc_grow(&j->pairs, &j->cap, id.v, sizeof *j->pairs);
    if (st != OSC_OK)
        return st;
    if (id.v > j->n) {
        const struct osc_str at = osc_intern_str(&j->keys, id);
        struct osc_pair *const p = &j->pairs[j->n++];

        *p = (struct osc_pair){0};
        p->shape = (struct osc_str){at.s + at.len - shape.len, shape.len};
        p->name = (struct osc_str){p->shape.s - name.len, name.len};
    }
    *pair = id.v - 1;
    return OSC_OK;
}

/* Add the rows of side S: their sums, and which of them are in samples. */
static osc_status add_rows(struct joining *g, int s)
{
    struct osc_joined_sides *const j = g->j;
    struct osc_strbuf key = {0};
    osc_status st = OSC_OK;

    g->n = 0;
    for (uint64_t i = 0; i < g->work->n_rows && st == OSC_OK; i++) {
        const struct osc_result *const w = g->work;
        uint32_t pair = 0;

        st = find_pair(j, osc_result_get_str(w, i, OSC_WORK_NAME),
                       osc_result_get_str(w, i, OSC_WORK_SHAPE), &key, &pair);
        if (st != OSC_OK)
            break;
        struct osc_pair *const p = &j->pairs[pair];
        p->is_on[s] = true;
        p->calls[s] += osc_result_get_int(w, i, OSC_WORK_CALLS);
        for (uint32_t k = 0; k < OSC_WORK_TIMES; k++)
            p->times_ns[s][k] += osc_result_get_int(w, i, OSC_WORK_TIME + k);
        const uint32_t step =
            osc_result_has(w, i, OSC_WORK_STEP)
                ? osc_run_steps_find(&j->steps[s], osc_result_get_int(w, i, OSC_WORK_SPAN),
                                     osc_result_get_int(w, i, OSC_WORK_STEP))
                : 0;
        if (step != 0 && !j->steps[s].all[step - 1].is_left_out)
            g->values[g->n++] = (struct value){pair, (uint32_t)i, step - 1};
    }
    osc_strbuf_fini(&key);
    return st;
}

static int by_pair(const void *x, const void *y)
{
    const struct value *const a = x, *const b = y;

    if (a->pair != b->pair)
        return a->pair < b->pair ? -1 : 1;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Copy column C of the N values at V, per process, to the scratch; returns how many steps. */
static size_t read_values(const struct joining *g, int s, const struct value *v, size_t n,
                          uint32_t c)
{
    size_t n_steps = 0;

    for (size_t i = 0; i < n; i++) {
        const struct osc_run_step *const step = &g->j->steps[s].all[v[i].step];
        const double value =
            (double)osc_result_get_int(g->work, v[i].row, c) / (double)step->parts;

        if (i > 0 && v[i].step == v[i - 1].step)
            g->scratch[n_steps - 1] += value;
        else
            g->scratch[n_steps++] = value;
    }
    return n_steps;
}

/* Make the sample of the logarithms of the N_VALUES of the scratch, which is changed. */
static struct osc_sample sample_logs(const struct joining *g, size_t n_values, uint32_t n)
{
    if (n_values < n)
        return (struct osc_sample){0};
    for (size_t i = 0; i < n_values; i++) {
        if (g->scratch[i] <= 0)
            return (struct osc_sample){0};
        g->scratch[i] = log(g->scratch[i]);
    }
    return osc_sample_of(g->scratch, n_values, n);
}

/* Make the sample of calls of side S of P, by the N values at V. */
static void sample_calls(const struct joining *g, int s, const struct value *v, size_t n,
                         struct osc_pair *p)
{
    int64_t n_calls = 0;
    osc_wide sums[OSC_LOG_TIMES] = {0}, squares[OSC_LOG_TIMES] = {0};

    for (size_t i = 0; i < n; i++) {
        n_calls += osc_result_get_int(g->work, v[i].row, OSC_WORK_CALLS);
        for (uint32_t k = 0; k < OSC_LOG_TIMES; k++) {
            sums[k] += osc_result_get_int(g->work, v[i].row, OSC_WORK_LOG(k));
            squares[k] += osc_result_get_int(g->work, v[i].row, OSC_WORK_SQUARE(k));
        }
    }
    for (uint32_t k = 0; k < OSC_LOG_TIMES; k++)
        p->call_logs[s][k] = osc_sample_of_sums(n_calls, osc_wide_nearest(sums[k]),
                                                osc_wide_nearest(squares[k]));
}

/* Make the samples of side S of all pairs. */
static void make_samples(const struct joining *g, int s)
{
    const uint32_t n = g->j->steps[s].n;

    osc_sort(g->values, g->n, sizeof *g->values, by_pair);
    for (size_t i = 0; i < g->j->n; i++) {
        for (uint32_t k = 0; k < OSC_WORK_TIMES; k++)
            g->j->pairs[i].samples[s][k].n = n;
    }
    for (size_t i = 0, end = 0; i < g->n; i = end) {
        struct osc_pair *const p = &g->j->pairs[g->values[i].pair];

        while (end < g->n && g->values[end].pair == g->values[i].pair)
            end++;
        const size_t n_calls = read_values(g, s, &g->values[i], end - i, OSC_WORK_CALLS);
        p->calls_a_step[s] = osc_sample_of(g->scratch, n_calls, n).mean;
        for (uint32_t k = 0; k < OSC_WORK_TIMES; k++) {
            const size_t n_values =
                read_values(g, s, &g->values[i], end - i, OSC_WORK_TIME + k);

            p->samples[s][k] = osc_sample_of(g->scratch, n_values, n);
            if (k < OSC_LOG_TIMES)
                p->step_logs[s][k] = sample_logs(g, n_values, n);
        }
        sample_calls(g, s, &g->values[i], end - i, p);
    }
}

static osc_status add_side(struct osc_joined_sides *j, int s, const struct osc_result *work)
{
    struct joining g = {.j = j, .work = work};

    g.values = osc_calloc(work->n_rows + 1, sizeof *g.values);
    g.scratch = osc_calloc(j->steps[s].n_all + 1, sizeof *g.scratch);
    osc_status st = g.values && g.scratch ? add_rows(&g, s) : OSC_ENOMEM;
    if (st == OSC_OK)
        make_samples(&g, s);
    osc_free(g.values);
    osc_free(g.scratch);
    return st;
}

osc_status osc_join_sides(const struct osc_result *const *steps,
                          const struct osc_result *const *work, struct osc_joined_sides *j)
{
    osc_status st = OSC_OK;

    *j = (struct osc_joined_sides){0};
    j->keys.arena = &j->arena;
    j->keys.seed = osc_hash_seed();
    for (int s = 0; s < OSC_BOTH && st == OSC_OK; s++)
        st = osc_run_steps_make(steps[s], &j->steps[s]);
    for (int s = 0; s < OSC_BOTH && st == OSC_OK; s++)
        st = add_side(j, s, work[s]);
    /* Names that only the new run has got no samples of the base. */
    for (size_t i = 0; i < j->n; i++) {
        for (uint32_t k = 0; k < OSC_WORK_TIMES; k++)
            j->pairs[i].samples[OSC_BASE][k].n = j->steps[OSC_BASE].n;
    }
    return st;
}

void osc_joined_sides_fini(struct osc_joined_sides *j)
{
    for (int s = 0; s < OSC_BOTH; s++)
        osc_run_steps_fini(&j->steps[s]);
    osc_free(j->pairs);
    osc_intern_fini(&j->keys);
    osc_arena_fini(&j->arena);
    *j = (struct osc_joined_sides){0};
}
