/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/side_tree.h"

#include "analysis/diff/plugin_tree.h"
#include "analysis/shared_options.h"
#include "analysis/tracks.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "derive/facts.h"

#define SEED UINT64_C(0x74726565)

static const struct osc_column columns[OSC_TREE_COLUMNS] = {
    OSC_COLUMN(OSC_TREE_HASH, "hash", INTEGER, NULL, KEY, 0, 0, "Place in the tree."),
    OSC_COLUMN(OSC_TREE_SPAN, "span", INTEGER, NULL, KEY, 0, 0, "Span."),
    OSC_COLUMN(OSC_TREE_STEP, "step", INTEGER, NULL, KEY, 0, 0, "Ordinal of its step."),
    OSC_COLUMN(OSC_TREE_PARENT, "parent", INTEGER, NULL, FIRST, 0, 0, "The place around it."),
    OSC_COLUMN(OSC_TREE_NAME, "name", STRING, NULL, FIRST, 0, 0, "Name."),
    OSC_COLUMN(OSC_TREE_KIND, "kind", INTEGER, NULL, FIRST, 0, 0, "Kind."),
    OSC_COLUMN(OSC_TREE_CALLS, "calls", INTEGER, NULL, SUM, 0, 0, "Calls."),
    OSC_COLUMN(OSC_TREE_HOST, "host_ns", INTEGER, "ns", SUM, 0, 0, "Host time."),
    OSC_COLUMN(OSC_TREE_DEVICE, "device_ns", INTEGER, "ns", SUM, 0, 0, "Device time."),
};

/* A place in the tree. */
struct place {
    uint64_t hash, parent;
    osc_sid name; /* not of a step */
    bool is_step;
    enum osc_kind kind;
    int64_t step;
    int64_t calls, host_ns, device_ns;
};

/* A range that is a node; parents come before their children. */
struct instance {
    uint64_t hash;
    uint32_t parent; /* instance + 1; 0: none */
    uint32_t place;
    int64_t device_ns;
};

struct growing {
    const struct osc_trace *t;
    const struct osc_facts *f;
    uint32_t *inner; /* owned pages; by row: the innermost instance around or at it, + 1 */
    size_t inner_bytes;
    uint64_t *name_hashes; /* owned; by name; 0: not yet */
    osc_sid *words;        /* owned; by name: its word in the digest; 0: not yet */
    struct instance *instances;
    struct place *places; /* owned */
    size_t n_instances, cap_instances, n_places, cap_places;
    struct osc_idmap place_of;    /* by hash and step: place + 1 */
    struct osc_idmap occurrences; /* by instance and name: how many so far */
};

static bool is_node(enum osc_kind kind)
{
    return kind == OSC_KIND_OPERATOR || kind == OSC_KIND_ANNOTATION || kind == OSC_KIND_STEP ||
           kind == OSC_KIND_MODULE || kind == OSC_KIND_COMMUNICATION ||
           kind == OSC_KIND_DATALOADER || kind == OSC_KIND_OPTIMIZER || kind == OSC_KIND_SCOPE;
}

/* Places are the same in both runs, so the seed is too; each range needs three of these. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    return osc_hash_u64(osc_hash_u64(a ^ SEED) + b);
}

static uint64_t name_hash(struct growing *g, osc_sid name)
{
    uint64_t *const hash = &g->name_hashes[name.v];

    if (*hash == 0) {
        const struct osc_str s = osc_trace_str(g->t, name);

        *hash = osc_hash(s.s, s.len, SEED) | 1;
    }
    return *hash;
}

/* Which rows a range in step (index + 1) STEP goes to. */
static int64_t step_of(const struct growing *g, uint32_t step)
{
    const struct osc_breakdown *const b = &g->f->breakdown;

    if (step == 0 || g->t->steps[step - 1].row.v == 0 || step > b->n_steps ||
        !b->steps[step - 1].is_kept)
        return OSC_TREE_OUTSIDE;
    return step <= OSC_SLOW_STEPS_MAX ? (int64_t)g->t->steps[step - 1].ordinal : OSC_TREE_LATER;
}

/* The place (+ 1) of HASH, which is added if it is new; 0: out of memory. */
static uint32_t find_place(struct growing *g, struct place place)
{
    uint32_t *const at = osc_idmap_put(&g->place_of, mix(place.hash, (uint64_t)place.step));

    if (!at)
        return 0;
    if (*at == 0) {
        if (osc_grow(&g->places, &g->cap_places, g->n_places + 1, sizeof *g->places) != OSC_OK)
            return 0;
        g->places[g->n_places++] = place;
        *at = (uint32_t)g->n_places;
    }
    return *at;
}

/* Add row I of C as a node below the instance PARENT (+ 1; 0: none). If it is itself a step,
 * STEP is its index + 1, and it has no name. */
static osc_status add_instance(struct growing *g, const struct osc_chunk *c, uint32_t i,
                               uint32_t parent, uint32_t step)
{
    const bool is_step = step != 0;
    const osc_sid name = {is_step ? 0 : c->name[i]};
    const enum osc_kind kind = (enum osc_kind)c->kind[i];
    const uint64_t above = parent == 0 || !g->instances ? 0 : g->instances[parent - 1].hash;
    uint64_t hash = mix(mix(above, is_step ? 1 : name_hash(g, name)), (uint64_t)kind);

    if (!is_step) {
        uint32_t *const n = osc_idmap_put(&g->occurrences, (uint64_t)parent << 32 | name.v);

        if (!n)
            return OSC_ENOMEM;
        hash = mix(hash, (*n)++);
    }
    hash = hash == 0 ? 1 : hash;
    const uint32_t place =
        find_place(g, (struct place){.hash = hash,
                                     .parent = above,
                                     .name = name,
                                     .is_step = is_step,
                                     .kind = kind,
                                     .step = step_of(g, is_step ? step : c->step[i])});
    if (place == 0 || osc_grow(&g->instances, &g->cap_instances, g->n_instances + 1,
                               sizeof *g->instances) != OSC_OK)
        return OSC_ENOMEM;
    g->instances[g->n_instances++] =
        (struct instance){.hash = hash, .parent = parent, .place = place - 1};
    g->places[place - 1].calls++;
    g->places[place - 1].host_ns += c->dur_ns[i];
    g->inner[osc_row_at(c, i).v] = (uint32_t)g->n_instances;
    return OSC_OK;
}

static osc_status add_steps(struct growing *g)
{
    const struct osc_trace *const t = g->t;

    for (uint32_t s = 0; s < t->n_steps; s++) {
        const osc_row row = t->steps[s].row;

        if (row.v == 0)
            continue;
        const osc_status st =
            add_instance(g, osc_chunk_of(&t->events, row), osc_row_place(row), 0, s + 1);
        if (st != OSC_OK)
            return st;
    }
    return OSC_OK;
}

/* Add the ranges of TRACK, in the order in which they nest. */
static osc_status add_track(struct growing *g, uint32_t track)
{
    const struct osc_trace *const t = g->t;
    const struct osc_order *const order = &g->f->order;

    for (uint32_t k = order->first[track]; k < order->first[track + 1]; k++) {
        const osc_row row = {order->rows[k]};
        const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
        const uint32_t i = osc_row_place(row);
        uint32_t parent = c->parent[i] == 0 ? 0 : g->inner[c->parent[i]];

        if (g->inner[row.v] != 0)
            continue; /* a step */
        g->inner[row.v] = parent;
        if (!is_node((enum osc_kind)c->kind[i]))
            continue;
        if (parent == 0 && c->step[i] != 0 && t->steps[c->step[i] - 1].row.v != 0)
            parent = g->inner[t->steps[c->step[i] - 1].row.v];
        const osc_status st = add_instance(g, c, i, parent, 0);
        if (st != OSC_OK)
            return st;
    }
    return OSC_OK;
}

/* Add device work to what launched it, and to all that is around that. */
static void add_work(struct growing *g)
{
    const struct osc_links *const links = &g->f->links;
    const struct osc_store *const events = &g->t->events;

    for (size_t w = 0; w < links->n_works; w++) {
        const osc_row row = {links->works[w].row};
        const struct osc_call *const call =
            links->works[w].call == 0 ? NULL : &links->calls[links->works[w].call - 1];

        if (!call)
            continue;
        const uint32_t from = call->node == 0 ? call->row : g->f->order.rows[call->node - 1];
        const uint32_t instance = g->inner[from];
        if (instance != 0 && g->instances)
            g->instances[instance - 1].device_ns +=
                osc_chunk_of(events, row)->dur_ns[osc_row_place(row)];
    }
    for (size_t k = g->n_instances; k > 0; k--) {
        const struct instance *const at = &g->instances[k - 1];

        if (at->parent != 0)
            g->instances[at->parent - 1].device_ns += at->device_ns;
        g->places[at->place].device_ns += at->device_ns;
    }
}

static osc_status grow(struct growing *g)
{
    const struct osc_trace *const t = g->t;

    g->inner_bytes = ((size_t)t->events.n_chunks << OSC_CHUNK_SHIFT) * sizeof *g->inner;
    g->inner = osc_pages_alloc(g->inner_bytes ? g->inner_bytes : 1);
    const size_t n_names = osc_strings_bound(&t->strings) + (size_t)1;
    g->name_hashes = osc_calloc(n_names, sizeof *g->name_hashes);
    g->words = osc_calloc(n_names, sizeof *g->words);
    if (!g->inner || !g->name_hashes || !g->words)
        return OSC_ENOMEM;
    uint32_t n, *order;
    osc_status st = osc_tracks_in_order(t, &order, &n);
    if (st == OSC_OK)
        st = add_steps(g);
    /* Places of a step are in order of appearance, not of ids, which differ between runs. */
    for (uint32_t k = 0; k < n && st == OSC_OK; k++) {
        const struct osc_track *const track = &t->tracks[order[k]];

        if (!track->is_queue && !track->is_of_trace && !track->is_summary)
            st = add_track(g, order[k]);
    }
    osc_free(order);
    if (st == OSC_OK)
        add_work(g);
    return st;
}

/* The word of NAME in OUT: there are many more places than names. */
static osc_sid word_of(struct growing *g, struct osc_result *out, osc_sid name)
{
    osc_sid *const word = &g->words[name.v];

    if (word->v == 0)
        *word = osc_result_word(out, osc_trace_str(g->t, name));
    return *word;
}

static void add_row(struct growing *g, struct osc_result *out, const struct place *p)
{
    osc_result_row(out);
    osc_result_int(out, OSC_TREE_HASH, (int64_t)p->hash);
    osc_result_int(out, OSC_TREE_STEP, p->step);
    osc_result_int(out, OSC_TREE_PARENT, (int64_t)p->parent);
    if (p->is_step || p->name.v == 0)
        osc_result_str(out, OSC_TREE_NAME, p->is_step ? OSC_STR("step") : OSC_STR(""));
    else
        osc_result_sid(out, OSC_TREE_NAME, word_of(g, out, p->name));
    osc_result_int(out, OSC_TREE_KIND, p->kind);
    osc_result_int(out, OSC_TREE_CALLS, p->calls);
    osc_result_int(out, OSC_TREE_HOST, p->host_ns);
    osc_result_int(out, OSC_TREE_DEVICE, p->device_ns);
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct growing g = {.t = t, .f = osc_trace_facts(t)};
    osc_status st = osc_is_compat_tb(o) ? osc_plugin_tree_map(t, out) : grow(&g);

    for (size_t k = 0; k < g.n_places && st == OSC_OK; k++)
        add_row(&g, out, &g.places[k]);
    st = st == OSC_OK ? out->status : st;
    osc_pages_free(g.inner, g.inner_bytes ? g.inner_bytes : 1);
    osc_free(g.name_hashes);
    osc_free(g.words);
    osc_free(g.instances);
    osc_free(g.places);
    osc_idmap_fini(&g.place_of);
    osc_idmap_fini(&g.occurrences);
    return st == OSC_OK ? st : osc_fail(err, st, "comparing: %s", osc_status_text(st));
}

static osc_status place(struct osc_result *part, const struct osc_placing *from,
                        const struct osc_placing *to)
{
    (void)from;
    for (uint64_t i = 0; i < part->n_rows; i++)
        osc_result_set_int(part, i, OSC_TREE_SPAN, to->span);
    return part->status;
}

static const struct osc_table_option *const options[] = {&osc_option_compat, NULL};

const struct osc_table_def osc_side_tree = {
    .name = "side_tree",
    .help = "The tree of one side of a comparison.",
    .columns = columns,
    .n_columns = OSC_TREE_COLUMNS,
    .options = options,
    OSC_MAPS(.facts = OSC_FACT_FOREST | OSC_FACT_LINKS | OSC_FACT_STEPS | OSC_FACT_UNIONS,
             .map = map, .place = place),
};
