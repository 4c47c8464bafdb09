/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/clocks.h"

#include <stdlib.h>

#include "analysis/median.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/wide.h"

#define ROUNDS        20 /* of alternating medians */
#define ROUND_NS      100
#define ANCHORS       4096u /* of one group: more add nothing */
#define SLOPE_POINTS  96u
#define DRIFT_LEAST   16u /* readings for a drift */
#define DRIFT_MAX_PPB 1000000
#define LONG_NS       INT64_C(10000000000)

/* The end of a collective on one clock. */
struct reading {
    uint32_t file, anchor;
    int64_t end_ns; /* from the origin */
};

struct fit {
    const struct osc_rank_run *run;
    struct osc_rank_clock *clocks;
    struct reading *v;   /* owned; by anchor */
    size_t *of_file;     /* owned; readings of file f: by_file[of_file[f] .. of_file[f + 1]) */
    uint32_t *by_file;   /* owned; indexes of readings */
    size_t *of_anchor;   /* owned; the readings of each anchor */
    int64_t *moments_ns; /* owned; of each anchor; valid if is_known */
    bool *is_known;      /* owned; by anchor */
    bool *is_placed;     /* owned; by file: it has an offset */
    int64_t *scratch;    /* owned */
    size_t n, n_anchors;
    int64_t zero_ns;
};

int64_t osc_rank_clock_ahead(const struct osc_rank_clock *c, int64_t at_ns)
{
    const int64_t since_ns = at_ns - c->zero_ns;
    const int64_t second = 1000000000;

    return c->offset_ns + since_ns / second * c->drift_ppb +
           since_ns % second * c->drift_ppb / second;
}

/* --- readings --------------------------------------------------------------------------- */

/* Whether the ends of the members of M can be compared: it joins, and each is of another file.
 */
static bool is_anchor(const struct osc_rank_run *run, const struct osc_rank_match *m)
{
    const struct osc_rank_member *const v = &run->members[m->first];

    if (m->n < 2 || !osc_collective_joins((enum osc_collective)osc_rank_call_of(run, *v)->op))
        return false;
    for (uint32_t k = 0; k < m->n; k++) {
        if (k > 0 && v[k].file == v[k - 1].file)
            return false;
    }
    return true;
}

/* Take at most ANCHORS matches, evenly, of those that are anchors. */
static osc_status take_readings(struct fit *f)
{
    const struct osc_rank_run *const run = f->run;
    size_t n_all = 0, seen = 0;

    for (size_t k = 0; k < run->n_matches; k++)
        n_all += is_anchor(run, &run->matches[k]);
    const size_t limit = ANCHORS * (size_t)(run->n_files / 8 + 1);
    const size_t every = n_all / limit + 1;
    f->v = osc_calloc(run->n_members + 1, sizeof *f->v);
    f->of_anchor = osc_calloc(n_all + 2, sizeof *f->of_anchor);
    f->moments_ns = osc_calloc(n_all + 1, sizeof *f->moments_ns);
    f->is_known = osc_calloc(n_all + 1, sizeof *f->is_known);
    if (!f->v || !f->of_anchor || !f->moments_ns || !f->is_known)
        return OSC_ENOMEM;
    for (size_t k = 0; k < run->n_matches; k++) {
        const struct osc_rank_match *const m = &run->matches[k];

        if (!is_anchor(run, m) || seen++ % every != 0)
            continue;
        for (uint32_t i = 0; i < m->n; i++) {
            const struct osc_rank_member at = run->members[m->first + i];

            f->v[f->n++] = (struct reading){at.file, (uint32_t)f->n_anchors,
                                            osc_rank_call_of(run, at)->end_ns +
                                                run->files[at.file].base_ns};
        }
        f->of_anchor[++f->n_anchors] = f->n;
    }
    return OSC_OK;
}

/* List the readings of each file. */
static osc_status list_by_file(struct fit *f)
{
    const size_t n_files = f->run->n_files;

    f->of_file = osc_calloc(n_files + 3, sizeof *f->of_file);
    f->by_file = osc_calloc(f->n + 1, sizeof *f->by_file);
    f->is_placed = osc_calloc(n_files + 1, sizeof *f->is_placed);
    f->scratch = osc_calloc(n_files + f->n + (size_t)SLOPE_POINTS * SLOPE_POINTS + 1,
                            sizeof *f->scratch);
    if (!f->of_file || !f->by_file || !f->is_placed || !f->scratch)
        return OSC_ENOMEM;
    for (size_t k = 0; k < f->n; k++)
        f->of_file[f->v[k].file + 2]++;
    for (size_t i = 1; i < n_files + 2; i++)
        f->of_file[i] += f->of_file[i - 1];
    for (size_t k = 0; k < f->n; k++)
        f->by_file[f->of_file[f->v[k].file + 1]++] = (uint32_t)k;
    return OSC_OK;
}

/* The median of V[0, N), which is reordered; of an even number the mean of the middle two,
 * rounded down. */
static int64_t median_of(int64_t *v, size_t n)
{
    const int64_t low = osc_select_kth(v, n, (n - 1) / 2);
    const int64_t high = n % 2 ? low : osc_select_kth(v, n, n / 2);

    return (low & high) + ((low ^ high) >> 1);
}

/* --- offsets ---------------------------------------------------------------------------- */

/* Set the moment of ANCHOR from the clocks that have offsets. */
static void find_moment(struct fit *f, size_t anchor)
{
    size_t n = 0;

    for (size_t k = f->of_anchor[anchor]; k < f->of_anchor[anchor + 1]; k++) {
        const struct reading *const r = &f->v[k];

        if (f->is_placed[r->file])
            f->scratch[n++] = r->end_ns - osc_rank_clock_ahead(&f->clocks[r->file], r->end_ns);
    }
    f->is_known[anchor] = n > 0;
    if (n > 0)
        f->moments_ns[anchor] = median_of(f->scratch, n);
}

/* How far the readings of FILE are from their moments, without drift, in f->scratch. Returns
 * their number. */
static size_t residues_of(struct fit *f, uint32_t file, bool has_drift)
{
    size_t n = 0;

    for (size_t k = f->of_file[file]; k < f->of_file[file + 1]; k++) {
        const struct reading *const r = &f->v[f->by_file[k]];
        const int64_t ahead = osc_rank_clock_ahead(&f->clocks[file], r->end_ns);

        if (f->is_known[r->anchor])
            f->scratch[n++] = r->end_ns - f->moments_ns[r->anchor] -
                              (has_drift ? ahead - f->clocks[file].offset_ns : 0);
    }
    return n;
}

/* Place all files that can be reached from FILE; they are COMPONENT. */
static void place_component(struct fit *f, uint32_t file, uint32_t component, uint32_t *queue)
{
    size_t first = 0, n = 0;

    queue[n++] = file;
    f->is_placed[file] = true;
    f->clocks[file].component = component;
    for (; first < n; first++) {
        const uint32_t from = queue[first];
        const size_t n_before = n;

        for (size_t k = f->of_file[from]; k < f->of_file[from + 1]; k++) {
            const size_t anchor = f->v[f->by_file[k]].anchor;

            if (f->is_known[anchor])
                continue;
            find_moment(f, anchor);
            for (size_t i = f->of_anchor[anchor]; i < f->of_anchor[anchor + 1]; i++) {
                const uint32_t to = f->v[i].file;

                if (f->clocks[to].component != UINT32_MAX)
                    continue;
                f->clocks[to].component = component;
                queue[n++] = to;
            }
        }
        /* Those that were just reached get offsets from all moments known by now. */
        for (size_t i = n_before; i < n; i++) {
            const size_t n_known = residues_of(f, queue[i], false);

            f->clocks[queue[i]].offset_ns = median_of(f->scratch, n_known);
            f->is_placed[queue[i]] = true;
        }
    }
}

/* One round of alternating medians. Returns the largest change of an offset. */
static int64_t alternate(struct fit *f)
{
    int64_t change = 0;

    for (size_t a = 0; a < f->n_anchors; a++)
        find_moment(f, a);
    for (uint32_t i = 0; i < f->run->n_files; i++) {
        const size_t n = residues_of(f, i, true);

        if (n == 0)
            continue;
        const int64_t offset = median_of(f->scratch, n);
        const int64_t by = llabs(offset - f->clocks[i].offset_ns);
        f->clocks[i].offset_ns = offset;
        change = by > change ? by : change;
    }
    return change;
}

/* --- drift ------------------------------------------------------------------------------ */

/* The median distance of the readings of FILE from what its clock says. */
static int64_t error_of(struct fit *f, uint32_t file)
{
    const size_t n = residues_of(f, file, true);

    for (size_t k = 0; k < n; k++)
        f->scratch[k] = llabs(f->scratch[k] - f->clocks[file].offset_ns);
    return n > 0 ? median_of(f->scratch, n) : 0;
}

/* The median slope through the readings of FILE, in 10^-9, and the time that they last. */
static int64_t slope_of(struct fit *f, uint32_t file, int64_t *lasts_ns)
{
    const size_t first = f->of_file[file], n = f->of_file[file + 1] - first;
    const size_t every = n / SLOPE_POINTS + 1;
    size_t n_slopes = 0;

    *lasts_ns = 0;
    for (size_t i = 0; i < n; i += every) {
        const struct reading *const x = &f->v[f->by_file[first + i]];

        for (size_t k = i + every; k < n; k += every) {
            const struct reading *const y = &f->v[f->by_file[first + k]];
            const int64_t time_ns = f->moments_ns[y->anchor] - f->moments_ns[x->anchor];
            const osc_wide by = (osc_wide)(y->end_ns - x->end_ns - time_ns) * 1000000000;

            if (time_ns <= 0)
                continue;
            *lasts_ns = time_ns > *lasts_ns ? time_ns : *lasts_ns;
            f->scratch[n_slopes++] = osc_wide_nearest(by / time_ns);
        }
    }
    return n_slopes > 0 ? median_of(f->scratch, n_slopes) : 0;
}

/* Give each clock the drift that its readings show beside their noise. */
static void find_drifts(struct fit *f)
{
    for (uint32_t i = 0; i < f->run->n_files; i++) {
        struct osc_rank_clock *const c = &f->clocks[i];
        const int64_t error_ns = error_of(f, i);
        int64_t lasts_ns;

        if (c->n_anchors < DRIFT_LEAST)
            continue;
        const int64_t drift = slope_of(f, i, &lasts_ns);
        const bool is_seen =
            osc_wide_nearest((osc_wide)llabs(drift) * lasts_ns / 1000000000) > 3 * error_ns;
        if ((lasts_ns > LONG_NS || is_seen) && llabs(drift) <= DRIFT_MAX_PPB)
            c->drift_ppb = drift;
    }
}

/* --- all clocks ------------------------------------------------------------------------- */

/* A clock, to be sorted by component. */
struct by_component {
    uint32_t component, file;
};

static int compare_components(const void *a, const void *b)
{
    const struct by_component *const x = a, *const y = b;

    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    return x->file < y->file ? -1 : x->file > y->file;
}

/* Count offsets and drifts of the clocks V[0, N), a component, from those of the median one. */
static void center(struct fit *f, const struct by_component *v, size_t n)
{
    for (size_t k = 0; k < n; k++)
        f->scratch[k] = f->clocks[v[k].file].drift_ppb;
    const int64_t drift = median_of(f->scratch, n);
    for (size_t k = 0; k < n; k++)
        f->scratch[k] = f->clocks[v[k].file].offset_ns;
    const int64_t offset = median_of(f->scratch, n);
    for (size_t k = 0; k < n; k++) {
        f->clocks[v[k].file].offset_ns -= offset;
        f->clocks[v[k].file].drift_ppb -= drift;
    }
}

static osc_status center_all(struct fit *f)
{
    const size_t n = f->run->n_files;
    struct by_component *const v = osc_calloc(n + 1, sizeof *v);

    for (uint32_t i = 0; v && i < n; i++)
        v[i] = (struct by_component){f->clocks[i].component, i};
    if (!v)
        return OSC_ENOMEM;
    osc_sort(v, n, sizeof *v, compare_components);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && v[end].component == v[first].component;)
            end++;
        center(f, &v[first], end - first);
    }
    osc_free(v);
    return OSC_OK;
}

/* Find the components and a first offset of each clock. */
static osc_status place_all(struct fit *f, uint32_t *n_components)
{
    const size_t n_files = f->run->n_files;
    uint32_t *const queue = osc_calloc(n_files + 1, sizeof *queue);

    if (!queue)
        return OSC_ENOMEM;
    *n_components = 0;
    for (uint32_t i = 0; i < n_files; i++) {
        f->clocks[i] =
            (struct osc_rank_clock){.component = UINT32_MAX,
                                    .zero_ns = f->zero_ns,
                                    .n_anchors = (uint32_t)(f->of_file[i + 1] - f->of_file[i])};
    }
    for (uint32_t i = 0; i < n_files; i++) {
        if (f->clocks[i].component == UINT32_MAX)
            place_component(f, i, (*n_components)++, queue);
    }
    osc_free(queue);
    return OSC_OK;
}

static osc_status fit_all(struct fit *f)
{
    for (int round = 0; round < ROUNDS && alternate(f) >= ROUND_NS; round++)
        ;
    /* A drift counts from the same moment on all clocks: they may differ by hours, in which it
     * would add up to more than the offsets are known by. */
    for (uint32_t i = 0; i < f->run->n_files; i++)
        f->clocks[i].zero_ns += f->clocks[i].offset_ns;
    find_drifts(f);
    for (int round = 0; round < ROUNDS && alternate(f) >= ROUND_NS; round++)
        ;
    const osc_status st = center_all(f);
    for (size_t a = 0; a < f->n_anchors; a++)
        find_moment(f, a);
    for (uint32_t i = 0; i < f->run->n_files; i++) {
        struct osc_rank_clock *const c = &f->clocks[i];

        c->error_ns = error_of(f, i);
        c->is_applied =
            c->n_anchors > 0 && (llabs(c->offset_ns) > 3 * c->error_ns || c->drift_ppb != 0);
    }
    return st;
}

osc_status osc_rank_clocks_fit(const struct osc_rank_run *run, struct osc_rank_clock *clocks,
                               uint32_t *n_components)
{
    struct fit f = {.run = run, .clocks = clocks};
    osc_status st = take_readings(&f);

    if (st == OSC_OK)
        st = list_by_file(&f);
    if (st == OSC_OK && f.n > 0)
        f.zero_ns = f.v[0].end_ns;
    if (st == OSC_OK)
        st = place_all(&f, n_components);
    if (st == OSC_OK)
        st = fit_all(&f);
    osc_free(f.v);
    osc_free(f.of_file);
    osc_free(f.by_file);
    osc_free(f.of_anchor);
    osc_free(f.moments_ns);
    osc_free(f.is_known);
    osc_free(f.is_placed);
    osc_free(f.scratch);
    return st;
}
