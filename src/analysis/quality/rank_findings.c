/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/quality/rank_findings.h"

#include "analysis/quality/quality_rows.h"
#include "analysis/ranks/expected.h"
#include "base/mem.h"
#include "base/sort.h"
#include "codec/json.h"
#include "prose/phrase.h"

#define LISTED     12u /* ranges of ranks in a sentence, */
#define COMPONENTS 6u  /* groups of ranks in one, */
#define EACH_MAX   8u  /* rows of a code */

/* --- lists of ranks ----------------------------------------------------------------------- */

/* A list of ranks as 0,4-7, to which ranks are added in ascending order. */
struct ranks {
    struct osc_strbuf text; /* owned */
    int64_t first, last;    /* of the range that is not written yet */
    uint64_t n;             /* ranks */
    uint32_t n_written;     /* ranges */
};

static void write_range(struct ranks *l)
{
    if (l->n == 0 || l->n_written > LISTED)
        return;
    if (l->n_written++ == LISTED) {
        osc_strbuf_adds(&l->text, ",...");
        return;
    }
    osc_strbuf_addf(&l->text, "%s%lld", l->n_written > 1 ? "," : "", (long long)l->first);
    if (l->last > l->first)
        osc_strbuf_addf(&l->text, "-%lld", (long long)l->last);
}

/* Add the ranks FIRST to LAST. */
static void add_ranks(struct ranks *l, int64_t first, int64_t last)
{
    if (first > last || (l->n > 0 && last <= l->last))
        return;
    if (l->n > 0 && first <= l->last + 1) {
        l->n += (uint64_t)(last - l->last);
        l->last = last;
        return;
    }
    write_range(l);
    l->first = first;
    l->last = last;
    l->n += (uint64_t)(last - first + 1);
}

/* Append L, which takes no more ranks, to OUT, behind the word "rank" or "ranks". */
static void put_ranks(struct osc_strbuf *out, struct ranks *l)
{
    write_range(l);
    osc_strbuf_addf(out, "%s%s", l->n > 1 ? "ranks " : "rank ", l->text.s ? l->text.s : "");
    if (l->text.status != OSC_OK)
        out->status = l->text.status;
}

/* --- sentences ---------------------------------------------------------------------------- */

/* What they may say. */
#define FACT_LIST(X)                                                                  \
    X(finding, TEXT, 0)                                                               \
    X(who, TEXT, 0) /* ranks; or groups of them */                                    \
    X(world, INTEGER, 0)                                                              \
    X(least, INTEGER, 0) /* steps that a rank has, */                                 \
    X(most, INTEGER, 0)                                                               \
    X(are_several, FLAG, 0) /* ranks that have fewer */                               \
    X(is_first, FLAG, 0)    /* collective of some */                                  \
    X(operation, HEAD, 0)                                                             \
    X(group, HEAD, 0)                                                                 \
    X(members, HEAD, 0) /* of a group without a name */                               \
    X(number, INTEGER, 0)                                                             \
    X(place, INTEGER, 0) /* by time, if it has no number */                           \
    X(span, INTEGER, 0)  /* if there are several */                                   \
    X(n_more, INTEGER, 0)                                                             \
    X(no_rank, PHRASE, "{finding}: {who}{world? of {world}}{span? in span {span}}")   \
    X(few_steps, PHRASE,                                                              \
      "{finding}: {who} ({least}{are_several? at least}, others {most}){span? in "    \
      "span {span}}")                                                                 \
    X(collective, PHRASE,                                                             \
      "{finding}: {is_first?first }{operation}{group? of group {group}}{members? of " \
      "the group {members}}, number {number?{number}|{place} in order of "            \
      "start}{span? in span {span}}: {who}")                                          \
    X(more_groups, PHRASE, "{finding}: {n_more} more groups")                         \
    X(clocks, PHRASE, "{finding}: {who}{n_more?; and {n_more} more}")
OSC_PROSE(osc_rank_findings_prose, FACT_LIST);

/* A row, without its sentence. */
struct row {
    enum osc_finding_code code;
    uint64_t count;
    int64_t first_ns;
};

/* Add a row whose SENTENCE has FACTS about WHO, which may be NULL. */
static osc_status add(struct osc_result *r, struct row row, unsigned sentence,
                      struct osc_prose_facts *facts, const struct osc_strbuf *who)
{
    struct osc_strbuf text = {.status = who ? who->status : OSC_OK};

    osc_prose_text(facts, FACT_finding, osc_str_c(osc_finding_message(row.code)));
    if (who)
        osc_prose_text(facts, FACT_who,
                       (struct osc_str){who->s ? who->s : "", (uint32_t)who->len});
    osc_prose_say(&text, facts, sentence);
    const osc_status st = text.status;
    if (st == OSC_OK)
        osc_quality_add_at(r, row.code, row.count, row.first_ns,
                           (struct osc_str){text.s, (uint32_t)text.len});
    osc_strbuf_fini(&text);
    return st == OSC_OK ? r->status : st;
}

/* --- ranks without a file, ranks with fewer steps ------------------------------------------
 */

/* The files of a span, in order of rank. */
struct span {
    const struct osc_rank_run *run;
    const uint32_t *files; /* borrowed */
    size_t n;
};

static const struct osc_rank_file *file_of(const struct span *s, size_t k)
{
    return &s->run->files[s->files[k]];
}

static void set_span(struct osc_prose_facts *facts, const struct span *s)
{
    if (s->run->has_spans)
        osc_prose_number(facts, FACT_span, file_of(s, 0)->span);
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* Collect in *V, owned, the ranks that the lists of groups in S name, in ascending order. */
static osc_status listed_ranks(const struct span *s, int64_t **v, size_t *n)
{
    uint32_t seen = 0;
    size_t cap = 0;
    osc_status st = OSC_OK;

    for (size_t k = 0; k < s->n && st == OSC_OK; k++) {
        const struct osc_rank_part *const p = &file_of(s, k)->part;

        for (size_t i = 0; i < p->n_calls && st == OSC_OK; i++) {
            struct osc_str list = osc_rank_text(&s->run->words, p->calls[i].ranks), value;
            int64_t rank;

            if (p->calls[i].ranks == seen) /* mostly the same as before */
                continue;
            seen = p->calls[i].ranks;
            while (st == OSC_OK && osc_json_next(&list, &value)) {
                if (!osc_json_int(value, &rank) || rank < 0 || rank > INT32_MAX)
                    continue;
                st = osc_grow(v, &cap, *n + 1, sizeof **v);
                if (st == OSC_OK)
                    (*v)[(*n)++] = rank;
            }
        }
    }
    osc_sort(*v, *n, sizeof **v, by_number);
    return st;
}

/* Add to L the ranks of a world of SIZE that have no file in S. */
static void missing_of_world(const struct span *s, int64_t size, struct ranks *l)
{
    int64_t next = 0;

    for (size_t k = 0; k < s->n; k++) {
        const int64_t rank = file_of(s, k)->rank;

        add_ranks(l, next, (rank < size ? rank : size) - 1);
        next = rank >= next ? rank + 1 : next;
    }
    add_ranks(l, next, size - 1);
}

static osc_status add_missing_rank(struct osc_result *r, const struct span *s)
{
    struct osc_prose_facts facts = {.prose = &osc_rank_findings_prose};
    struct osc_strbuf who = {0};
    struct ranks missing = {0};
    int64_t *listed = NULL;
    size_t n = 0, at = 0;
    uint32_t world = 0;
    osc_status st = OSC_OK;

    for (size_t k = 0; k < s->n; k++) {
        const uint32_t own = file_of(s, k)->part.world_size;

        world = own > world ? own : world;
    }
    if (world > 0)
        missing_of_world(s, world, &missing);
    else
        st = listed_ranks(s, &listed, &n);
    for (size_t k = 0; k < n; k++) {
        while (at < s->n && file_of(s, at)->rank < listed[k])
            at++;
        if (at == s->n || file_of(s, at)->rank != listed[k])
            add_ranks(&missing, listed[k], listed[k]);
    }
    osc_free(listed);
    if (st == OSC_OK && missing.n > 0) {
        put_ranks(&who, &missing);
        if (world > 0)
            osc_prose_number(&facts, FACT_world, world);
        set_span(&facts, s);
        st = add(r, (struct row){OSC_FINDING_missing_rank, missing.n, OSC_NO_TIME},
                 FACT_no_rank, &facts, &who);
    }
    osc_strbuf_fini(&who);
    osc_strbuf_fini(&missing.text);
    return st;
}

/* The number of steps of the rank at K of S; *END: where the next rank begins. */
static uint32_t steps_at(const struct span *s, size_t k, size_t *end)
{
    uint32_t n = 0;

    for (*end = k; *end < s->n && file_of(s, *end)->rank == file_of(s, k)->rank; (*end)++) {
        const uint32_t own = file_of(s, *end)->part.n_marked;

        n = own > n ? own : n;
    }
    return n;
}

static osc_status add_uneven_steps(struct osc_result *r, const struct span *s)
{
    struct osc_prose_facts facts = {.prose = &osc_rank_findings_prose};
    struct osc_strbuf who = {0};
    struct ranks fewer = {0};
    uint32_t most = 0, least = UINT32_MAX;
    osc_status st = OSC_OK;

    for (size_t k = 0, end; k < s->n; k = end) {
        const uint32_t n = steps_at(s, k, &end);

        most = n > most ? n : most;
        least = n < least ? n : least;
    }
    for (size_t k = 0, end; k < s->n; k = end) {
        if (steps_at(s, k, &end) < most)
            add_ranks(&fewer, file_of(s, k)->rank, file_of(s, k)->rank);
    }
    if (fewer.n > 0) {
        put_ranks(&who, &fewer);
        osc_prose_number(&facts, FACT_least, least);
        osc_prose_number(&facts, FACT_most, most);
        osc_prose_flag(&facts, FACT_are_several, fewer.n > 1);
        set_span(&facts, s);
        st = add(r, (struct row){OSC_FINDING_uneven_steps, fewer.n, OSC_NO_TIME},
                 FACT_few_steps, &facts, &who);
    }
    osc_strbuf_fini(&who);
    osc_strbuf_fini(&fewer.text);
    return st;
}

/* A file, to be sorted by span and rank. */
struct by_span {
    int32_t span, rank;
    uint32_t file;
};

static int by_span_and_rank(const void *a, const void *b)
{
    const struct by_span *const x = a, *const y = b;

    if (x->span != y->span)
        return x->span < y->span ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->file < y->file ? -1 : x->file > y->file;
}

/* Add what ADD finds in each span of RUN that has several ranks. */
static osc_status add_of_spans(struct osc_result *r, const struct osc_rank_run *run,
                               osc_status (*add_of)(struct osc_result *r, const struct span *s))
{
    struct by_span *const v = osc_calloc(run->n_files + 1, sizeof *v);
    uint32_t *const files = osc_calloc(run->n_files + 1, sizeof *files);
    osc_status st = v && files ? OSC_OK : OSC_ENOMEM;

    for (uint32_t f = 0; f < run->n_files && st == OSC_OK; f++)
        v[f] = (struct by_span){run->files[f].span, run->files[f].rank, f};
    if (st == OSC_OK)
        osc_sort(v, run->n_files, sizeof *v, by_span_and_rank);
    for (size_t first = 0, end; first < run->n_files && st == OSC_OK; first = end) {
        for (end = first; end < run->n_files && v[end].span == v[first].span; end++)
            files[end] = v[end].file;
        if (v[end - 1].rank != v[first].rank)
            st = add_of(r, &(struct span){run, &files[first], end - first});
    }
    osc_free(v);
    osc_free(files);
    return st;
}

/* --- collectives ---------------------------------------------------------------------------
 */

/* What was found of one code in one group. */
struct found {
    uint32_t group, number; /* word of the group; the earliest match */
    uint64_t n;
    struct osc_strbuf ranks; /* owned; that the earliest concerns */
};

/* What was found of one code. */
struct finds {
    enum osc_finding_code code;
    struct found *v; /* owned; by group */
    size_t n;
};

struct search {
    const struct osc_rank_run *run;
    struct osc_expected expected;
    struct osc_rank_clock *clocks; /* owned */
    struct finds of[4];
    uint32_t n_components;
};

enum { HANG, LOST, MISMATCH, OUTSIDE };

/* Count match NUMBER among FINDS; whether it is the earliest of its group so far. */
static struct found *count_match(struct search *s, int of, uint32_t number)
{
    struct found *const f = &s->of[of].v[s->expected.group_of[number]];
    const int64_t *const start_ns = s->expected.start_ns;

    if (f->n++ > 0 && start_ns[number] >= start_ns[f->number])
        return NULL;
    f->group = s->expected.group_of[number];
    f->number = number;
    osc_strbuf_clear(&f->ranks);
    return f;
}

/* Count the ranks that lack match NUMBER. */
static void look_at_absent(struct search *s, uint32_t number)
{
    static const int of_absence[OSC_ABSENCES] = {
        [OSC_ABSENCE_RECORD] = LOST,   [OSC_ABSENCE_BEFORE] = OUTSIDE,
        [OSC_ABSENCE_ENDED] = OUTSIDE, [OSC_ABSENCE_UNKNOWN] = LOST,
        [OSC_ABSENCE_NEVER] = HANG,
    };
    const struct osc_expected *const e = &s->expected;

    for (int of = 0; of <= OUTSIDE; of++) {
        struct found *f = NULL;
        struct ranks ranks = {0};
        bool is_any = false;

        for (size_t k = 0; k < e->n_absent; k++) {
            if (of_absence[e->absent[k].why] != of)
                continue;
            if (!is_any)
                f = count_match(s, of, number);
            is_any = true;
            if (f)
                add_ranks(&ranks, e->absent[k].rank, e->absent[k].rank);
        }
        if (f)
            put_ranks(&f->ranks, &ranks);
        osc_strbuf_fini(&ranks.text);
    }
}

/* Count match NUMBER if its members do not fit each other. */
static void look_at_messages(struct search *s, uint32_t number)
{
    const struct osc_rank_match *const m = &s->run->matches[number];
    const struct osc_rank_call *const first =
        osc_rank_call_of(s->run, s->run->members[m->first]);
    struct ranks ranks = {0};

    if (m->is_ordered || !osc_collective_is_even((enum osc_collective)first->op))
        return;
    for (uint32_t k = 1; k < m->n; k++) {
        const struct osc_rank_member at = s->run->members[m->first + k];
        const struct osc_rank_call *const c = osc_rank_call_of(s->run, at);

        if (c->elements != first->elements || c->dtype != first->dtype)
            add_ranks(&ranks, s->run->files[at.file].rank, s->run->files[at.file].rank);
    }
    struct found *const f = ranks.n > 0 ? count_match(s, MISMATCH, number) : NULL;
    if (f) {
        put_ranks(&f->ranks, &ranks);
        osc_strbuf_addf(&f->ranks, " unlike rank %d",
                        s->run->files[s->run->members[m->first].file].rank);
    }
    osc_strbuf_fini(&ranks.text);
}

/* The place of match NUMBER among those of its group, by time. */
static uint64_t place_of(const struct search *s, uint32_t number)
{
    const struct osc_expected *const e = &s->expected;
    uint64_t n = 0;

    for (size_t k = 0; k < s->run->n_matches; k++)
        n += e->group_of[k] == e->group_of[number] &&
             (e->start_ns[k] < e->start_ns[number] ||
              (e->start_ns[k] == e->start_ns[number] && k < number));
    return n;
}

/* Set which collective F is about. */
static void set_match(struct osc_prose_facts *facts, const struct search *s,
                      const struct found *f)
{
    const struct osc_rank_match *const m = &s->run->matches[f->number];
    const struct osc_rank_member at = s->run->members[m->first];
    const struct osc_rank_call *const c = osc_rank_call_of(s->run, at);

    osc_prose_text(facts, FACT_operation, osc_rank_text(&s->run->words, c->name));
    if (c->group || c->ranks)
        osc_prose_text(facts, c->group ? FACT_group : FACT_members,
                       osc_rank_text(&s->run->words, c->group ? c->group : c->ranks));
    if (c->seq >= 0)
        osc_prose_number(facts, FACT_number, c->seq);
    else
        osc_prose_number(facts, FACT_place, (int64_t)place_of(s, f->number) + 1);
    if (s->run->has_spans)
        osc_prose_number(facts, FACT_span, s->run->files[at.file].span);
}

/* Where F was found first: on the clock of the first rank that has it. */
static int64_t first_of(const struct search *s, const struct found *f)
{
    const struct osc_rank_member at = s->run->members[s->run->matches[f->number].first];

    return osc_rank_call_of(s->run, at)->start_ns + s->run->files[at.file].base_ns;
}

static int by_start(const void *a, const void *b, void *ctx)
{
    const struct found *const x = a, *const y = b;
    const int64_t *const start_ns = ((const struct search *)ctx)->expected.start_ns;

    if ((x->n == 0) != (y->n == 0))
        return x->n == 0 ? 1 : -1;
    if (x->n > 0 && start_ns[x->number] != start_ns[y->number])
        return start_ns[x->number] < start_ns[y->number] ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Add a row for each group of FINDS, the earliest first; of too many one for the rest. */
static osc_status add_finds(struct osc_result *r, struct search *s, struct finds *finds)
{
    uint64_t n_rest = 0, n_groups = 0;
    osc_status st = OSC_OK;

    osc_sort_with(finds->v, finds->n, sizeof *finds->v, by_start, s);
    for (size_t k = 0; k < finds->n && finds->v[k].n > 0 && st == OSC_OK; k++) {
        const struct found *const f = &finds->v[k];

        if (k >= EACH_MAX) {
            n_rest += f->n;
            n_groups++;
            continue;
        }
        struct osc_prose_facts facts = {.prose = &osc_rank_findings_prose};
        osc_prose_flag(&facts, FACT_is_first, f->n > 1);
        set_match(&facts, s, f);
        st = add(r, (struct row){finds->code, f->n, first_of(s, f)}, FACT_collective, &facts,
                 &f->ranks);
    }
    if (st != OSC_OK || n_rest == 0)
        return st;
    struct osc_prose_facts rest = {.prose = &osc_rank_findings_prose};
    osc_prose_number(&rest, FACT_n_more, (int64_t)n_groups);
    return add(r, (struct row){finds->code, n_rest, OSC_NO_TIME}, FACT_more_groups, &rest,
               NULL);
}

static osc_status add_of_collectives(struct osc_result *r, struct search *s)
{
    static const enum osc_finding_code codes[] = {
        [HANG] = OSC_FINDING_collective_hang,
        [LOST] = OSC_FINDING_collective_lost,
        [MISMATCH] = OSC_FINDING_collective_mismatch,
        [OUTSIDE] = OSC_FINDING_collective_outside,
    };
    osc_status st = osc_expected_init(&s->expected, s->run, s->clocks);
    const size_t n = s->expected.keys.words.n_entries + (size_t)1;

    for (int of = 0; of <= OUTSIDE && st == OSC_OK; of++) {
        s->of[of] = (struct finds){codes[of], osc_calloc(n, sizeof *s->of[of].v), n};
        st = s->of[of].v ? OSC_OK : OSC_ENOMEM;
    }
    for (uint32_t k = 0; k < s->run->n_matches && st == OSC_OK; k++) {
        st = osc_expected_find(&s->expected, k);
        if (st == OSC_OK) {
            look_at_absent(s, k);
            look_at_messages(s, k);
        }
    }
    for (int of = 0; of <= OUTSIDE && st == OSC_OK; of++)
        st = add_finds(r, s, &s->of[of]);
    for (int of = 0; of <= OUTSIDE; of++) {
        for (size_t k = 0; k < s->of[of].n && s->of[of].v; k++)
            osc_strbuf_fini(&s->of[of].v[k].ranks);
        osc_free(s->of[of].v);
    }
    osc_expected_fini(&s->expected);
    return st;
}

/* --- clocks ------------------------------------------------------------------------------- */

/* A file, to be sorted by component. */
struct by_component {
    uint32_t component;
    int32_t rank;
};

static int by_component(const void *a, const void *b)
{
    const struct by_component *const x = a, *const y = b;

    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Whether the files of RUN name several hosts, and several ranks: what does not say where it
 * was recorded, such as a dump beside its recording, is no other host. */
static bool has_several_hosts(const struct osc_rank_run *run)
{
    uint32_t host = 0;
    bool has_hosts = false, has_ranks = false;

    for (size_t f = 0; f < run->n_files; f++) {
        const uint32_t here = run->files[f].part.host;

        has_ranks = has_ranks || run->files[f].rank != run->files[0].rank;
        has_hosts = has_hosts || (here != 0 && host != 0 && here != host);
        host = here != 0 ? here : host;
    }
    return has_hosts && has_ranks;
}

static osc_status add_clocks_apart(struct osc_result *r, const struct search *s)
{
    struct osc_prose_facts facts = {.prose = &osc_rank_findings_prose};
    struct osc_strbuf who = {0};
    const struct osc_rank_run *const run = s->run;
    struct by_component *const v = osc_calloc(run->n_files + 1, sizeof *v);
    bool has_calls = false;
    uint32_t n_written = 0;

    if (!v)
        return OSC_ENOMEM;
    for (size_t f = 0; f < run->n_files; f++) {
        v[f] = (struct by_component){s->clocks[f].component, run->files[f].rank};
        has_calls = has_calls || run->files[f].part.n_calls > 0;
    }
    if (!has_several_hosts(run) || !has_calls || s->n_components < 2) {
        osc_free(v);
        return OSC_OK;
    }
    osc_sort(v, run->n_files, sizeof *v, by_component);
    for (size_t k = 0, end; k < run->n_files && n_written < COMPONENTS; k = end) {
        struct ranks ranks = {0};

        for (end = k; end < run->n_files && v[end].component == v[k].component; end++)
            add_ranks(&ranks, v[end].rank, v[end].rank);
        osc_strbuf_adds(&who, n_written++ > 0 ? "; " : "");
        put_ranks(&who, &ranks);
        osc_strbuf_fini(&ranks.text);
    }
    if (s->n_components > COMPONENTS)
        osc_prose_number(&facts, FACT_n_more, s->n_components - COMPONENTS);
    osc_free(v);
    const osc_status st =
        add(r, (struct row){OSC_FINDING_clocks_apart, s->n_components, OSC_NO_TIME},
            FACT_clocks, &facts, &who);
    osc_strbuf_fini(&who);
    return st;
}

/* --- all of them ----------------------------------------------------------------------------
 */

osc_status osc_rank_findings_add(struct osc_result *r, const struct osc_rank_run *run,
                                 bool names_ranks)
{
    struct search s = {.run = run, .clocks = osc_calloc(run->n_files + 1, sizeof *s.clocks)};
    bool is_cut = false;
    osc_status st = s.clocks ? osc_rank_clocks_fit(run, s.clocks, &s.n_components) : OSC_ENOMEM;

    for (size_t f = 0; f < run->n_files; f++)
        is_cut = is_cut || run->files[f].part.is_cut;
    if (st == OSC_OK && !names_ranks)
        st = add_of_spans(r, run, add_missing_rank);
    if (st == OSC_OK && !is_cut)
        st = add_of_spans(r, run, add_uneven_steps);
    if (st == OSC_OK && !is_cut)
        st = add_of_collectives(r, &s);
    if (st == OSC_OK)
        st = add_clocks_apart(r, &s);
    osc_free(s.clocks);
    return st;
}
