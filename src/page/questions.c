/* SPDX-License-Identifier: Apache-2.0 */
#include "page/questions.h"

#include <stdio.h>
#include <string.h>

#include "analysis/table_registry.h"
#include "api/api.h"
#include "ask/drawing.h"
#include "page/levels.h"

/* Parts of the bytes that are there, in percent of all: up to so far. */
#define TABLES_PART  40
#define FLAME_PART   48
#define CELLS_PART   85
#define VALUES_PART  90
#define NAMES_PART   93
#define EVENTS_PART  100
#define EVENTS_GROUP 100u
#define VALUES_LEAST 64
#define VALUES_MOST  4096
#define SERIES_MOST  256u

/* A curve as long as this is a picture; a table is not read so far. */
#define CURVE_ROWS 50000u

struct asking {
    const struct osc_page *page;
    struct osc_api *api;
    struct osc_pack *pack;
    struct osc_strbuf body, before, key, text;
    int status; /* of the last answer */
    uint64_t n_done, n_all;
    struct osc_err *err;
};

/* --- one question ---------------------------------------------------------------- */

static void begin(void *ctx, const struct osc_api_head *head)
{
    struct asking *const a = ctx;

    a->status = head->status;
}

static int write_body(void *ctx, const char *s, size_t len)
{
    struct asking *const a = ctx;

    osc_strbuf_add(&a->body, s, len);
    return a->body.status == OSC_OK ? 0 : -1;
}

static bool is_gone(void *ctx)
{
    (void)ctx;
    return false;
}

/* Ask for TARGET; the answer is in a->body. */
static osc_status ask(struct asking *a, const char *target)
{
    const struct osc_api_sink sink = {
        .begin = begin, .write = write_body, .is_gone = is_gone, .ctx = a};
    struct osc_strbuf path = {0};

    osc_strbuf_clear(&a->body);
    osc_strbuf_addf(&path, OSC_API_PATH "%s", target);
    osc_status st = path.status;
    if (st == OSC_OK) {
        const struct osc_api_request r = {.method = "GET", .target = path.s};

        (void)osc_api_answer(a->api, &r, &sink);
        st = a->body.status;
    }
    osc_strbuf_fini(&path);
    return st;
}

/* Count one more question as answered. */
static osc_status count(struct asking *a)
{
    a->n_done += a->n_done < a->n_all;
    if (a->page->progress && !a->page->progress(a->page->ctx, a->n_done, a->n_all))
        return OSC_ECANCELED;
    return OSC_OK;
}

/* Add the answer to TARGET, if there is one and it fits into MOST. */
static osc_status add(struct asking *a, const char *target, size_t most)
{
    bool is_taken = false;
    osc_status st = ask(a, target);

    if (st == OSC_OK && a->status == 200)
        st = osc_pack_add(a->pack, target, a->body.s ? a->body.s : "", a->body.len, most,
                          &is_taken);
    return st == OSC_OK ? count(a) : st;
}

/* --- tables ---------------------------------------------------------------------- */

/* Ask for the rows of table DEF, by GROUPING or NULL; its key is in a->key. */
static osc_status ask_table(struct asking *a, const struct osc_table_def *def,
                            const char *grouping, bool is_merged)
{
    const unsigned rows = strcmp(def->name, "memory_curve") == 0 ? CURVE_ROWS : OSC_PAGE_ROWS;
    const char *between = "?";

    osc_strbuf_clear(&a->key);
    osc_strbuf_addf(&a->key, "table/%s", def->name);
    if (grouping) {
        osc_strbuf_addf(&a->key, "?group-by=%s", grouping);
        between = "&";
    }
    if (is_merged)
        osc_strbuf_addf(&a->key, "%smerge=1", between);
    osc_strbuf_clear(&a->text);
    osc_strbuf_addf(&a->text, "%s%cmade=1&limit=%u", a->key.s,
                    strchr(a->key.s, '?') ? '&' : '?', rows);
    const osc_status st = a->key.status != OSC_OK ? a->key.status : a->text.status;
    return st == OSC_OK ? ask(a, a->text.s) : st;
}

/* The text between quotation marks behind "command": in the head of the answer BODY. */
static struct osc_str command_of(const struct osc_strbuf *body)
{
    static const char name[] = "\"command\": \"";
    const char *const at = body->s ? memmem(body->s, body->len, name, sizeof name - 1) : NULL;
    const char *from, *end;

    if (!at)
        return OSC_STR("");
    from = end = at + sizeof name - 1;
    while (end < body->s + body->len && *end != '"')
        end += *end == '\\' ? 2 : 1;
    return (struct osc_str){from, (uint32_t)(end - from)};
}

/* Whether the answers X and Y are the same but for their commands. */
static bool is_same(const struct osc_strbuf *x, const struct osc_strbuf *y)
{
    const struct osc_str a = command_of(x), b = command_of(y);

    if (a.len == 0 || b.len == 0 || x->len < 16 || y->len < 16)
        return false;
    const size_t from_a = (size_t)(a.s - x->s), from_b = (size_t)(b.s - y->s);
    const size_t end_a = x->len - from_a - a.len, end_b = y->len - from_b - b.len;
    /* The rest of the heads is followed by blanks, whose number depends on the commands. */
    size_t i = 0, k = 0;
    const char *const p = a.s + a.len, *const q = b.s + b.len;
    while (i < end_a && k < end_b && p[i] == q[k] && p[i] != '\0' &&
           !(p[i] == ' ' && p[i - 1] == '}'))
        i++, k++;
    while (i < end_a && p[i] == ' ')
        i++;
    while (k < end_b && q[k] == ' ')
        k++;
    return end_a - i == end_b - k && memcmp(p + i, q + k, end_a - i) == 0;
}

/* Add table DEF by GROUPING: merged, and each rank and span on its own. */
static osc_status add_table(struct asking *a, const struct osc_table_def *def,
                            const char *grouping, size_t most)
{
    bool is_taken = false, is_there;
    osc_status st = ask_table(a, def, grouping, true);

    is_there = st == OSC_OK && a->status == 200;
    if (is_there)
        st = osc_pack_add(a->pack, a->key.s, a->body.s, a->body.len, most, &is_taken);
    const struct osc_strbuf merged = a->body;
    a->body = a->before;
    a->before = merged;
    if (st == OSC_OK)
        st = ask_table(a, def, grouping, false);
    if (st == OSC_OK && a->status == 200 && is_there && is_same(&a->before, &a->body)) {
        osc_strbuf_clear(&a->text);
        osc_strbuf_addf(&a->text, "table/%s%s%s%smerge=1", def->name,
                        grouping ? "?group-by=" : "", grouping ? grouping : "",
                        grouping ? "&" : "?");
        osc_strbuf_clear(&a->body);
        osc_strbuf_addf(&a->body, "same?%s", a->key.s);
        st = a->body.status != OSC_OK ? a->body.status : a->text.status;
        if (st == OSC_OK && is_taken)
            st = osc_pack_add(a->pack, a->body.s, a->text.s, a->text.len, most, &is_taken);
    } else if (st == OSC_OK && a->status == 200) {
        st = osc_pack_add(a->pack, a->key.s, a->body.s, a->body.len, most, &is_taken);
    }
    return st == OSC_OK ? count(a) : st;
}

/* The page asks for it by steps as soon as the view of ranks is opened. */
static bool is_grouped_at_once(const struct osc_table_def *def)
{
    return strcmp(def->name, "stragglers") == 0;
}

/* Add the tables that are grouped at once, or the others, by their groupings. */
static osc_status add_groupings(struct asking *a, bool at_once, size_t most)
{
    osc_status st = OSC_OK;

    for (size_t i = 0; osc_tables[i] && st == OSC_OK; i++) {
        const struct osc_table_def *const def = osc_tables[i];

        if (def->comparison || !def->groupings || is_grouped_at_once(def) != at_once)
            continue;
        for (size_t g = 0; def->groupings[g] && st == OSC_OK; g++)
            st = add_table(a, def, def->groupings[g], most);
    }
    return st;
}

/* Whether DEF has a row for each event or arrow: no view shows it, and it may take all room. */
static bool is_list(const struct osc_table_def *def)
{
    return def->stream || strcmp(def->name, "flows") == 0;
}

/* Add the tables of one run that are lists, or the others, as they are. */
static osc_status add_ungrouped(struct asking *a, bool are_lists, size_t most)
{
    osc_status st = OSC_OK;

    for (size_t i = 0; osc_tables[i] && st == OSC_OK; i++)
        if (!osc_tables[i]->comparison && is_list(osc_tables[i]) == are_lists)
            st = add_table(a, osc_tables[i], NULL, most);
    return st;
}

/* Add all tables of one run: first what views show, then lists, then what can be grouped. */
static osc_status add_tables(struct asking *a, size_t most)
{
    osc_status st = add_ungrouped(a, false, most);

    if (st == OSC_OK)
        st = add_groupings(a, true, most);
    if (st == OSC_OK)
        st = add_ungrouped(a, true, most);
    return st == OSC_OK ? add_groupings(a, false, most) : st;
}

static uint64_t count_tables(void)
{
    uint64_t n = 0;

    for (size_t i = 0; osc_tables[i]; i++) {
        n += osc_tables[i]->comparison == NULL;
        for (size_t g = 0; !osc_tables[i]->comparison && osc_tables[i]->groupings &&
                           osc_tables[i]->groupings[g];
             g++)
            n++;
    }
    return n;
}

/* --- flame graphs ---------------------------------------------------------------- */

/* Add all stacks by each metric; what a trace does not have is no answer. */
static osc_status add_stacks(struct asking *a, size_t most)
{
    static const char *const stacks[] = {"op", "module", "python", "sample"};
    static const char *const metrics[] = {"host_self_ns", "device_self_ns", "self_alloc_bytes",
                                          "calls"};
    osc_status st = OSC_OK;

    for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++)
        for (size_t i = 0; i < sizeof stacks / sizeof *stacks && st == OSC_OK; i++) {
            char target[96];

            snprintf(target, sizeof target, "flame?stack=%s&metric=%s&px=1000", stacks[i],
                     metrics[m]);
            st = add(a, target, most);
        }
    return st;
}

/* --- the timeline ---------------------------------------------------------------- */

/* Add the values of all series of TL, as finely as fits. */
static osc_status add_values(struct asking *a, const struct osc_timeline *tl, size_t most)
{
    const uint32_t n = tl->n_series < SERIES_MOST ? tl->n_series : SERIES_MOST;
    bool is_taken = n == 0;
    osc_status st = OSC_OK;

    for (unsigned pixels = VALUES_MOST; !is_taken && pixels >= VALUES_LEAST && st == OSC_OK;
         pixels /= 2) {
        osc_strbuf_clear(&a->text);
        osc_strbuf_adds(&a->text, "values?series=");
        for (uint32_t i = 0; i < n; i++)
            osc_strbuf_addf(&a->text, "%s%u", i > 0 ? "," : "", i);
        osc_strbuf_addf(&a->text, "&from=%lld&to=%lld&px=%u", (long long)tl->from_ns,
                        (long long)tl->to_ns + 1, pixels);
        st = a->text.status == OSC_OK ? ask(a, a->text.s) : a->text.status;
        if (st == OSC_OK && a->status == 200)
            st = osc_pack_add(a->pack, "values", a->body.s, a->body.len, most, &is_taken);
    }
    return st;
}

/* Add the pages of names that cells of L have. */
static osc_status add_names(struct asking *a, const struct osc_timeline *tl,
                            const struct osc_levels *l, size_t most)
{
    const uint32_t n = osc_timeline_names(tl);
    osc_status st = OSC_OK;

    for (uint32_t first = 0; first < n && st == OSC_OK; first += OSC_API_NAMES_PER_PAGE) {
        char target[32];
        bool is_wanted = false;

        for (uint32_t i = first; i < n && i - first < OSC_API_NAMES_PER_PAGE; i++)
            is_wanted = is_wanted || (l->has_names[i] > 0 && l->has_names[i] <= l->n);
        snprintf(target, sizeof target, "names/%u", first / OSC_API_NAMES_PER_PAGE);
        if (is_wanted)
            st = add(a, target, most);
    }
    return st;
}

/* Add what is known of the events of L, in groups: "events/K", a JSON array. */
static osc_status add_events(struct asking *a, const struct osc_levels *l, size_t most)
{
    bool is_taken = true;
    osc_status st = OSC_OK;

    for (uint32_t first = 0; first < l->n_events && is_taken && st == OSC_OK;
         first += EVENTS_GROUP) {
        char target[32];

        osc_strbuf_clear(&a->text);
        for (uint32_t i = first; i < l->n_events && i - first < EVENTS_GROUP && st == OSC_OK;
             i++) {
            snprintf(target, sizeof target, "event/%u", l->events[i]);
            st = ask(a, target);
            if (st != OSC_OK || a->status != 200)
                continue;
            osc_strbuf_addc(&a->text, a->text.len > 0 ? ',' : '[');
            osc_strbuf_add(&a->text, a->body.s, a->body.len);
        }
        osc_strbuf_adds(&a->text, a->text.len > 0 ? "]" : "[]");
        snprintf(target, sizeof target, "events/%u", first / EVENTS_GROUP);
        if (st == OSC_OK)
            st = a->text.status;
        if (st == OSC_OK)
            st = osc_pack_add(a->pack, target, a->text.s, a->text.len, most, &is_taken);
    }
    return st;
}

static osc_status add_about(struct asking *a, const struct osc_levels *l, size_t most)
{
    bool is_taken = false;

    osc_strbuf_clear(&a->text);
    osc_strbuf_addf(
        &a->text, "{\"rows\": %u, \"quantum_ns\": %lld, \"levels\": %u, \"is_complete\": %s}",
        OSC_PAGE_ROWS, (long long)l->quantum_ns, l->n, l->is_complete ? "true" : "false");
    return a->text.status == OSC_OK
               ? osc_pack_add(a->pack, "about", a->text.s, a->text.len, most, &is_taken)
               : a->text.status;
}

static osc_status add_timeline(struct asking *a, size_t most)
{
    struct osc_levels levels = {0};
    struct osc_drawing d;
    osc_status st = osc_drawing_begin(&d, a->page->set, a->err);

    if (st != OSC_OK)
        return st;
    st = add(a, "tracks", most);
    if (st == OSC_OK)
        st = osc_levels_add(&levels, d.timeline, a->pack, most / 100 * CELLS_PART);
    if (st == OSC_OK)
        st = add_values(a, d.timeline, most / 100 * VALUES_PART);
    if (st == OSC_OK)
        st = add_names(a, d.timeline, &levels, most / 100 * NAMES_PART);
    if (st == OSC_OK)
        st = add_events(a, &levels, most / 100 * EVENTS_PART);
    if (st == OSC_OK)
        st = add_about(a, &levels, SIZE_MAX);
    osc_levels_fini(&levels);
    osc_drawing_end(&d);
    return st;
}

osc_status osc_questions_ask(const struct osc_page *page, struct osc_api *api,
                             struct osc_pack *p, size_t most, struct osc_err *err)
{
    struct asking a = {.page = page, .api = api, .pack = p, .err = err};

    a.n_all = count_tables() + 20;
    osc_status st = add(&a, "session", most);
    if (st == OSC_OK)
        st = add(&a, "catalog", most);
    if (st == OSC_OK)
        st = add(&a, "runs", most);
    if (st == OSC_OK)
        st = add_tables(&a, most / 100 * TABLES_PART);
    if (st == OSC_OK)
        st = add_stacks(&a, most / 100 * FLAME_PART);
    if (st == OSC_OK)
        st = add_timeline(&a, most);
    osc_strbuf_fini(&a.body);
    osc_strbuf_fini(&a.before);
    osc_strbuf_fini(&a.key);
    osc_strbuf_fini(&a.text);
    return st;
}
