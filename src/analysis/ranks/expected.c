/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/expected.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "codec/json.h"

#define LISTED_MAX 12 /* ranges of ranks that a text names */

/* How many ranks are looked at: for each member of a match, and in any case. */
#define LOOKS_EACH  256u
#define LOOKS_LEAST 1000000u

static int by_group(const void *a, const void *b)
{
    const struct osc_group_rank *const x = a, *const y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

/* The word of the group of C in SPAN. */
static osc_status group_of(struct osc_expected *e, const struct osc_rank_call *c, int32_t span,
                           uint32_t *word)
{
    char text[64];
    const int len = snprintf(text, sizeof text, "%d %u %u", span, c->group, c->ranks);

    return osc_rank_word(&e->keys, (struct osc_str){text, (uint32_t)len}, word);
}

/* Keep one entry for each group and rank: of the file with the latest end. */
static void join_entries(struct osc_expected *e)
{
    size_t n = 0;

    osc_sort(e->v, e->n, sizeof *e->v, by_group);
    for (size_t k = 0; k < e->n; k++) {
        const struct osc_group_rank *const last = n > 0 ? &e->v[n - 1] : NULL;
        struct osc_group_rank one = e->v[k];

        if (last && last->group == one.group && last->rank == one.rank) {
            one.last_ns = last->last_ns > one.last_ns ? last->last_ns : one.last_ns;
            one.begin_ns = last->begin_ns < one.begin_ns ? last->begin_ns : one.begin_ns;
            n--;
        }
        e->v[n++] = one;
    }
    e->n = n;
}

/* Append an entry for FILE in GROUP. There is room. */
static void put_entry(struct osc_expected *e, uint32_t group, uint32_t file, int64_t last_ns)
{
    const struct osc_rank_file *const f = &e->run->files[file];
    const struct osc_rank_clock *const clock = &e->clocks[file];

    e->v[e->n++] = (struct osc_group_rank){
        .group = group,
        .rank = f->rank,
        .file = file,
        .last_ns = last_ns,
        .begin_ns = osc_rank_clock_time(clock, f->base_ns),
        .end_ns = osc_rank_clock_time(clock, f->part.end_ns + f->base_ns)};
}

/* Find when match NUMBER began and was over. */
static void time_match(struct osc_expected *e, size_t number)
{
    const struct osc_rank_match *const m = &e->run->matches[number];
    int64_t first_ns = INT64_MAX, shortest_ns = INT64_MAX;

    for (uint32_t k = 0; k < m->n; k++) {
        const struct osc_rank_member at = e->run->members[m->first + k];
        const struct osc_rank_call *const c = osc_rank_call_of(e->run, at);
        const int64_t start_ns = osc_rank_clock_time(
            &e->clocks[at.file], c->start_ns + e->run->files[at.file].base_ns);
        const int64_t dur_ns = c->end_ns - c->start_ns;

        first_ns = start_ns < first_ns ? start_ns : first_ns;
        shortest_ns = dur_ns < shortest_ns ? dur_ns : shortest_ns;
    }
    e->start_ns[number] = first_ns;
    e->done_ns[number] = first_ns + shortest_ns;
}

/* Add ranks that the lists of the groups name and that were read, but have no call. */
static osc_status add_listed(struct osc_expected *e, const struct osc_rank_match *m,
                             struct osc_idmap *is_done, size_t *cap)
{
    const struct osc_rank_member first = e->run->members[m->first];
    const int32_t span = e->run->files[first.file].span;
    const uint32_t word = e->group_of[m - e->run->matches];
    struct osc_str list = osc_rank_text(&e->run->words, osc_rank_call_of(e->run, first)->ranks);
    struct osc_str value;
    size_t low = 0;
    int64_t rank;

    if (osc_idmap_get(is_done, word) != 0)
        return OSC_OK;
    uint32_t *const place = osc_idmap_put(is_done, word);
    if (!place)
        return OSC_ENOMEM;
    *place = 1;
    while (osc_json_next(&list, &value)) {
        size_t high = e->run->n_files;

        if (!osc_json_int(value, &rank))
            continue;
        low = 0;
        OSC_BISECT(low, high, i, e->run->files[i].rank < rank)
        for (; low < e->run->n_files && e->run->files[low].rank == rank; low++) {
            if (e->run->files[low].span != span)
                continue;
            const osc_status st = osc_grow(&e->v, cap, e->n + 1, sizeof *e->v);
            if (st != OSC_OK)
                return st;
            put_entry(e, word, (uint32_t)low, INT64_MIN);
        }
    }
    return OSC_OK;
}

osc_status osc_expected_init(struct osc_expected *e, const struct osc_rank_run *run,
                             const struct osc_rank_clock *clocks)
{
    struct osc_idmap is_done = {0};
    size_t cap = 0;
    osc_status st = OSC_OK;

    e->run = run;
    e->clocks = clocks;
    e->n_left = LOOKS_EACH * (uint64_t)run->n_members + LOOKS_LEAST;
    e->group_of = osc_calloc(run->n_matches + 1, sizeof *e->group_of);
    e->start_ns = osc_calloc(run->n_matches + 1, sizeof *e->start_ns);
    e->done_ns = osc_calloc(run->n_matches + 1, sizeof *e->done_ns);
    if (!e->group_of || !e->start_ns || !e->done_ns)
        return OSC_ENOMEM;
    st = osc_grow(&e->v, &cap, run->n_members + 1, sizeof *e->v);
    for (size_t k = 0; k < run->n_matches && st == OSC_OK; k++) {
        const struct osc_rank_match *const m = &run->matches[k];

        time_match(e, k);
        for (uint32_t i = 0; i < m->n && st == OSC_OK; i++) {
            const struct osc_rank_member at = run->members[m->first + i];

            st = group_of(e, osc_rank_call_of(run, at), run->files[at.file].span,
                          &e->group_of[k]);
            put_entry(e, e->group_of[k], at.file, e->start_ns[k]);
        }
    }
    join_entries(e);
    for (size_t k = 0; k < run->n_matches && st == OSC_OK; k++)
        st = add_listed(e, &run->matches[k], &is_done, &cap);
    osc_idmap_fini(&is_done);
    if (st == OSC_OK)
        join_entries(e);
    return st;
}

void osc_expected_fini(struct osc_expected *e)
{
    osc_rank_words_fini(&e->keys);
    osc_free(e->group_of);
    osc_free(e->start_ns);
    osc_free(e->done_ns);
    osc_free(e->v);
    osc_free(e->absent);
    osc_strbuf_fini(&e->hang);
    *e = (struct osc_expected){0};
}

void osc_expected_list(const struct osc_expected *e, enum osc_absence why,
                       struct osc_strbuf *out)
{
    const struct osc_absent *const v = e->absent;
    int n_listed = 0;

    for (size_t k = 0, end; k < e->n_absent; k = end) {
        end = k + 1;
        if (why != OSC_ABSENCES && v[k].why != why)
            continue;
        while (end < e->n_absent && v[end].rank == v[end - 1].rank + 1 &&
               (why == OSC_ABSENCES || v[end].why == why))
            end++;
        if (n_listed++ == LISTED_MAX) {
            osc_strbuf_adds(out, ",...");
            return;
        }
        osc_strbuf_addf(out, "%s%d", n_listed > 1 ? "," : "", v[k].rank);
        if (end > k + 1)
            osc_strbuf_addf(out, "-%d", v[end - 1].rank);
    }
}

/* Remember match NUMBER if it is the earliest that some rank never reached. */
static void see_hang(struct osc_expected *e, uint32_t number)
{
    bool is_hang = false;

    for (size_t k = 0; k < e->n_absent; k++)
        is_hang = is_hang || e->absent[k].why == OSC_ABSENCE_NEVER;
    if (is_hang &&
        (e->first_hang == 0 || e->start_ns[number] < e->start_ns[e->first_hang - 1])) {
        e->first_hang = number + 1;
        osc_strbuf_clear(&e->hang);
        osc_expected_list(e, OSC_ABSENCE_NEVER, &e->hang);
    }
    e->n_incomplete += e->n_absent > 0;
}

/* Why V lacks match NUMBER. */
static enum osc_absence why_absent(const struct osc_expected *e, const struct osc_group_rank *v,
                                   uint32_t number)
{
    const uint32_t file = e->run->members[e->run->matches[number].first].file;
    const bool is_comparable =
        e->clocks[file].component == e->clocks[v->file].component ||
        e->run->files[file].part.host == e->run->files[v->file].part.host;

    if (is_comparable && v->begin_ns > e->done_ns[number])
        return OSC_ABSENCE_BEFORE;
    if (v->last_ns > e->start_ns[number])
        return OSC_ABSENCE_RECORD;
    if (!is_comparable)
        return OSC_ABSENCE_UNKNOWN;
    return v->end_ns < e->done_ns[number] ? OSC_ABSENCE_ENDED : OSC_ABSENCE_NEVER;
}

osc_status osc_expected_find(struct osc_expected *e, uint32_t number)
{
    const struct osc_rank_match *const m = &e->run->matches[number];
    const uint32_t group = e->group_of[number];
    size_t low = 0, high = e->n;
    uint32_t k = 0;

    e->n_absent = 0;
    OSC_BISECT(low, high, i, e->v[i].group < group)
    for (; low < e->n && e->v[low].group == group && e->n_left > 0; low++, e->n_left--) {
        const struct osc_group_rank *const v = &e->v[low];

        while (k < m->n && e->run->files[e->run->members[m->first + k].file].rank < v->rank)
            k++;
        if (k < m->n && e->run->files[e->run->members[m->first + k].file].rank == v->rank)
            continue;
        const osc_status st =
            osc_grow(&e->absent, &e->cap_absent, e->n_absent + 1, sizeof *e->absent);
        if (st != OSC_OK)
            return st;
        e->absent[e->n_absent++] = (struct osc_absent){v->rank, why_absent(e, v, number)};
    }
    see_hang(e, number);
    return e->hang.status;
}

const char *osc_ranks_word(const char *list)
{
    return strpbrk(list, ",-") ? "ranks " : "rank ";
}

void osc_expected_tell(const struct osc_expected *e, struct osc_strbuf *ranks,
                       struct osc_strbuf *note)
{
    static const char *const why[OSC_ABSENCES] = {
        [OSC_ABSENCE_RECORD] = "no record of it, but of later ones, on ",
        [OSC_ABSENCE_BEFORE] = "the recording had not begun on ",
        [OSC_ABSENCE_UNKNOWN] = "no record of it, with a clock that cannot be compared, on ",
        [OSC_ABSENCE_ENDED] = "the recording had ended on ",
        [OSC_ABSENCE_NEVER] = "never reached by ",
    };

    osc_expected_list(e, OSC_ABSENCES, ranks);
    for (int k = OSC_ABSENCES - 1; k >= 0; k--) {
        struct osc_strbuf own = {0};

        osc_expected_list(e, (enum osc_absence)k, &own);
        if (own.len > 0)
            osc_strbuf_addf(note, "%s%s%s%s", note->len > 0 ? "; " : "", why[k],
                            osc_ranks_word(own.s), own.s);
        osc_strbuf_fini(&own);
    }
}

osc_status osc_expected_note(const struct osc_expected *e, struct osc_result *out)
{
    if (e->first_hang > 0) {
        const struct osc_rank_match *const m = &e->run->matches[e->first_hang - 1];
        const struct osc_rank_call *const c =
            osc_rank_call_of(e->run, e->run->members[m->first]);
        const struct osc_str name = osc_rank_text(&e->run->words, c->name);
        char number[40] = "";

        if (c->seq >= 0)
            snprintf(number, sizeof number, ", number %lld", (long long)c->seq);
        osc_result_note(out,
                        "%.*s%s was never reached by %s%s, although others waited for it: "
                        "the first collective that hangs, or whose record is missing",
                        (int)name.len, name.s, number, osc_ranks_word(e->hang.s), e->hang.s);
    }
    if (e->n_incomplete > 0)
        osc_result_note(out,
                        "%llu of %zu collectives lack ranks of their group that were read "
                        "(column missing_ranks)",
                        (unsigned long long)e->n_incomplete, e->run->n_matches);
    if (e->n_left == 0)
        osc_result_note(out, "too many ranks lack collectives of their groups: not all of them "
                             "are named");
    return OSC_OK;
}

bool osc_rank_is_comparable(const struct osc_rank_run *run, const struct osc_rank_clock *clocks,
                            const struct osc_rank_match *m)
{
    const struct osc_rank_member *const v = &run->members[m->first];
    const uint32_t host = run->files[v->file].part.host;
    bool is_one_host = true, is_one_component = true;

    for (uint32_t k = 0; k < m->n; k++) {
        is_one_component =
            is_one_component && clocks[v[k].file].component == clocks[v->file].component;
        is_one_host = is_one_host && run->files[v[k].file].part.host == host;
    }
    return is_one_component || is_one_host;
}
