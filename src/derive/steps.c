/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/steps.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/thread.h"
#include "codec/json.h"

static int by_start(const void *x, const void *y)
{
    const struct osc_step *const a = x, *const b = y;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->row.v > b->row.v) - (a->row.v < b->row.v);
}

/* The digits of a label, without leading zeros: of "step#007" or "Iteration 7". Empty: none. */
static struct osc_str number_in(struct osc_str name)
{
    const struct osc_str word = OSC_STR("Iteration ");
    const char *const hash = name.len > 0 ? memrchr(name.s, '#', name.len) : NULL;
    struct osc_str number = {name.s, 0};

    if (hash)
        number.s = hash + 1;
    else if (osc_str_starts(name, word))
        number.s += word.len;
    else
        return number;
    number.len = (uint32_t)(name.s + name.len - number.s);
    for (uint32_t i = 0; i < number.len; i++) {
        if (number.s[i] < '0' || number.s[i] > '9')
            return (struct osc_str){number.s, 0};
    }
    while (number.len > 1 && number.s[0] == '0') {
        number.s++;
        number.len--;
    }
    return number;
}

/* Set *LABEL to TEXT. A view cannot add strings, but its base has interned all labels before.
 */
static osc_status use_label(struct osc_trace *t, struct osc_str text, osc_sid *label)
{
    *label = osc_strings_find(&t->strings, text);
    return label->v != 0 ? OSC_OK : osc_strings_add(&t->strings, text, label, NULL);
}

/* The number that the program gave the step in row I of C, or the name. */
static osc_status label_of(struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                           osc_sid *label)
{
    const struct osc_str number = number_in(osc_row_name(t, c, i));
    int64_t given;
    char text[24];

    if (osc_row_arg_int(t, c, i, OSC_ARG_KEY_STEP_NUM, &given) && given >= 0) {
        const int len = snprintf(text, sizeof text, "%lld", (long long)given);

        return use_label(t, (struct osc_str){text, (uint32_t)len}, label);
    }
    *label = (osc_sid){c->name[i]};
    return number.len > 0 ? use_label(t, number, label) : OSC_OK;
}

/* Iterations have long names, which may be equal: their ordinals are their labels. */
static osc_status number_label(struct osc_trace *t, uint32_t ordinal, osc_sid *label)
{
    char text[16];
    const int len = snprintf(text, sizeof text, "%u", ordinal);

    return use_label(t, (struct osc_str){text, (uint32_t)len}, label);
}

/* How many steps the process began before T, as T says: it is one of the pieces of a recording.
 */
static uint32_t steps_before(const struct osc_trace *t)
{
    struct osc_str text;
    int64_t n;

    return osc_trace_meta(t, "steps_before", &text) && osc_json_int(text, &n) && n > 0 &&
                   n <= INT32_MAX
               ? (uint32_t)n
               : 0;
}

/* Add the steps that the host announced, or with ON_DEVICE those that the source draws on a
 * device. */
static osc_status add_annotations(struct osc_trace *t, const struct osc_classes *c,
                                  bool on_device)
{
    size_t cap = 0, n = 0;

    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const chunk = t->events.chunks[k];

        for (uint32_t i = 0; i < chunk->n_rows; i++) {
            if (chunk->kind[i] != OSC_KIND_STEP || !osc_is_range(c, chunk, i) ||
                osc_is_on_device(c, chunk, i) != on_device)
                continue;
            osc_status st = osc_grow(&t->steps, &cap, n + 1, sizeof *t->steps);
            if (st != OSC_OK)
                return st;
            t->steps[n] = (struct osc_step){
                .row = osc_row_at(chunk, i),
                .track = {chunk->track[i]},
                .start_ns = chunk->ts_ns[i],
                .end_ns = osc_row_end(chunk, i),
            };
            st = label_of(t, chunk, i, &t->steps[n].label);
            if (st != OSC_OK)
                return st;
            t->n_steps = (uint32_t)++n;
        }
    }
    if (n > 1)
        osc_sort(t->steps, n, sizeof *t->steps, by_start);
    const uint32_t n_before = steps_before(t);
    osc_status st = OSC_OK;
    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        t->steps[i].ordinal =
            i < t->n_step_ordinals ? t->step_ordinals[i] : n_before + (uint32_t)i;
        if (t->has_iterations)
            st = number_label(t, t->steps[i].ordinal, &t->steps[i].label);
    }
    return st;
}

/* Extend STEP by the range in row I of C. */
static void extend(struct osc_step *step, const struct osc_chunk *c, uint32_t i)
{
    if (c->ts_ns[i] < step->start_ns)
        step->start_ns = c->ts_ns[i];
    if (osc_row_end(c, i) > step->end_ns)
        step->end_ns = osc_row_end(c, i);
}

bool osc_steps_whole(const struct osc_trace *t, const struct osc_classes *c,
                     struct osc_step *whole)
{
    struct osc_step step = {.start_ns = INT64_MAX, .end_ns = INT64_MIN};

    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const chunk = t->events.chunks[k];

        for (uint32_t i = 0; i < chunk->n_rows; i++) {
            const uint8_t kind = t->forms[chunk->form[i]].kind;

            if ((kind != OSC_KIND_OPERATOR && kind != OSC_KIND_PYTHON) ||
                (c->forms[chunk->form[i]] & (OSC_FORM_FUNCTION | OSC_FORM_ON_DEVICE)) ||
                !osc_is_range(c, chunk, i))
                continue;
            extend(&step, chunk, i);
        }
    }
    *whole = step;
    return step.start_ns <= step.end_ns;
}

/* Set *WHOLE to the extent of device work and of calls of runtimes. False: no device worked. */
static bool find_work(const struct osc_trace *t, const struct osc_classes *c,
                      struct osc_step *whole)
{
    bool has_work = false;

    *whole = (struct osc_step){.start_ns = INT64_MAX, .end_ns = INT64_MIN};
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const chunk = t->events.chunks[k];

        for (uint32_t i = 0; i < chunk->n_rows; i++) {
            const enum osc_kind kind = (enum osc_kind)chunk->kind[i];

            if ((!osc_kind_is_device_work(kind) && !osc_kind_is_launch(kind)) ||
                !osc_is_range(c, chunk, i))
                continue;
            has_work |= osc_kind_is_device_work(kind);
            extend(whole, chunk, i);
        }
    }
    return has_work;
}

bool osc_steps_lie_outside(const struct osc_trace *t)
{
    return t->base && (t->has_steps || t->has_iterations);
}

/* Add the only step of a trace without annotations. */
static osc_status add_whole(struct osc_trace *t, const struct osc_classes *c,
                            struct osc_step_map *map)
{
    struct osc_step step, work;
    const bool has_operators = osc_steps_whole(t, c, &step);

    map->is_of_work = find_work(t, c, &work);
    if (!has_operators && !map->is_of_work)
        return OSC_OK;
    if (map->is_of_work) {
        step.start_ns = work.start_ns < step.start_ns ? work.start_ns : step.start_ns;
        step.end_ns = work.end_ns > step.end_ns ? work.end_ns : step.end_ns;
    }
    t->steps = osc_malloc(sizeof *t->steps);
    if (!t->steps)
        return OSC_ENOMEM;
    t->steps[0] = step;
    t->n_steps = 1;
    return OSC_OK;
}

static uint32_t process_of(const struct osc_trace *t, uint32_t step)
{
    return t->tracks[t->steps[step].track.v].process;
}

/* Whether several processes announced steps. */
static bool has_processes(const struct osc_trace *t)
{
    for (uint32_t i = 1; i < t->n_steps; i++) {
        if (process_of(t, i) != process_of(t, 0))
            return true;
    }
    return false;
}

/* Repeat the steps by process behind all steps: count, then place (a counting sort). */
static osc_status make_groups(const struct osc_trace *t, struct osc_step_map *map)
{
    map->n_processes = t->n_processes + 1; /* one more for rows without a process */
    map->first = osc_calloc((size_t)map->n_processes + 2, sizeof *map->first);
    if (!map->first)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < map->n; i++)
        map->first[process_of(t, i) + 2]++;
    map->first[0] = map->first[1] = map->n;
    for (uint32_t p = 2; p < map->n_processes + 2; p++)
        map->first[p] += map->first[p - 1];
    /* first[p + 1] is the next free place of process p; in the end it is where p + 1
     * begins. */
    for (uint32_t i = 0; i < map->n; i++)
        map->steps[map->first[process_of(t, i) + 1]++] = i;
    return OSC_OK;
}

static void add_latest(const struct osc_trace *t, struct osc_step_map *map,
                       struct osc_step_group group)
{
    for (uint32_t k = group.first; k < group.end; k++) {
        const int64_t end_ns = t->steps[map->steps[k]].end_ns;
        const bool is_later = k == group.first || end_ns > map->latest_ns[k - 1];

        map->latest_ns[k] = is_later ? end_ns : map->latest_ns[k - 1];
    }
}

osc_status osc_step_map_make(const struct osc_trace *t, struct osc_step_map *map)
{
    const size_t n_places = 2 * (size_t)t->n_steps + 1;
    osc_status st = OSC_OK;

    map->n = t->n_steps;
    map->steps = osc_malloc(n_places * sizeof *map->steps);
    map->latest_ns = osc_malloc(n_places * sizeof *map->latest_ns);
    if (!map->steps || !map->latest_ns)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < map->n; i++)
        map->steps[i] = i;
    if (has_processes(t))
        st = make_groups(t, map);
    if (st != OSC_OK)
        return st;
    add_latest(t, map, (struct osc_step_group){0, map->n});
    for (uint32_t p = 0; map->first && p < map->n_processes; p++)
        add_latest(t, map, (struct osc_step_group){map->first[p], map->first[p + 1]});
    return OSC_OK;
}

osc_status osc_steps_make(struct osc_trace *t, const struct osc_classes *c,
                          struct osc_step_map *map)
{
    *map = (struct osc_step_map){0};
    osc_free(t->steps);
    t->steps = NULL;
    t->n_steps = 0;
    osc_status st = add_annotations(t, c, false);
    if (st == OSC_OK && t->n_steps == 0) {
        st = add_annotations(t, c, true);
        map->are_of_device = t->n_steps > 0;
    }
    if (st == OSC_OK && t->n_steps == 0)
        st = add_whole(t, c, map);
    return st == OSC_OK ? osc_step_map_make(t, map) : st;
}

void osc_step_map_fini(struct osc_step_map *map)
{
    osc_free(map->steps);
    osc_free(map->latest_ns);
    osc_free(map->first);
    *map = (struct osc_step_map){0};
}

struct osc_step_group osc_step_group_of(const struct osc_step_map *map, uint32_t process)
{
    if (!map->first || process >= map->n_processes ||
        map->first[process] == map->first[process + 1])
        return (struct osc_step_group){0, map->n};
    return (struct osc_step_group){map->first[process], map->first[process + 1]};
}

/* The first place whose latest end is not before AT_NS. */
static uint32_t first_after(const struct osc_step_map *map, struct osc_step_group group,
                            int64_t at_ns)
{
    uint32_t low = group.first, high = group.end; /* all below LOW have ended by AT_NS */

    OSC_BISECT(low, high, i, map->latest_ns[i] <= at_ns);
    return low;
}

uint32_t osc_step_around(const struct osc_trace *t, const struct osc_step_map *map,
                         struct osc_step_group group, int64_t start_ns, int64_t end_ns)
{
    const uint32_t k = first_after(map, group, end_ns - 1);

    if (k == group.end || t->steps[map->steps[k]].start_ns > start_ns)
        return 0;
    return map->steps[k] + 1;
}

struct work {
    const struct osc_trace *t;
    const struct osc_classes *c;
    const struct osc_step_map *map;
};

/* A stretch of time, [FROM_NS, TO_NS), in which PROCESS has the same step. */
struct stretch {
    int64_t from_ns, to_ns;
    uint32_t process;
    uint32_t step; /* index + 1, or 0 */
};

/* The stretch around AT_NS. */
static struct stretch stretch_at(const struct work *w, uint32_t process, int64_t at_ns)
{
    const struct osc_step_map *const map = w->map;
    const struct osc_step_group group = osc_step_group_of(map, process);
    const uint32_t k = first_after(map, group, at_ns);
    struct stretch s = {.from_ns = k > group.first ? map->latest_ns[k - 1] : INT64_MIN,
                        .to_ns = INT64_MAX,
                        .process = process};

    if (k == group.end)
        return s;
    const int64_t start_ns = w->t->steps[map->steps[k]].start_ns;
    s.to_ns = map->latest_ns[k];
    if (start_ns <= at_ns) {
        s.step = map->steps[k] + 1;
        s.from_ns = start_ns > s.from_ns ? start_ns : s.from_ns;
    } else if (start_ns < s.to_ns) {
        s.to_ns = start_ns;
    }
    return s;
}

static void mark_host(void *ctx, uint32_t item)
{
    const struct work *const w = ctx;
    const struct osc_chunk *const c = w->t->events.chunks[item + 1];
    struct stretch s = {.from_ns = INT64_MAX, .to_ns = INT64_MIN};

    for (uint32_t i = 0; i < c->n_rows; i++) {
        const int64_t at_ns = c->ts_ns[i];

        if (osc_is_on_device(w->c, c, i))
            continue;
        const uint32_t process = w->map->first ? w->t->tracks[c->track[i]].process : 0;
        if (at_ns < s.from_ns || at_ns >= s.to_ns || process != s.process)
            s = stretch_at(w, process, at_ns);
        c->step[i] = s.step;
    }
}

/* Steps of a device contain its work. */
static void mark_contained(const struct work *w, const struct osc_chunk *c, uint32_t i)
{
    const uint32_t process = w->map->first ? w->t->tracks[c->track[i]].process : 0;

    c->step[i] = stretch_at(w, process, c->ts_ns[i]).step;
}

/* Runs after all host rows are marked: a launch may be in any chunk. */
static void mark_device(void *ctx, uint32_t item)
{
    const struct work *const w = ctx;
    const struct osc_store *const s = &w->t->events;
    const struct osc_chunk *const c = s->chunks[item + 1];

    for (uint32_t i = 0; i < c->n_rows; i++) {
        const osc_row launch = {c->link[i]};

        if (w->map->are_of_device && osc_is_on_device(w->c, c, i))
            mark_contained(w, c, i);
        else if (launch.v != 0 && osc_is_on_device(w->c, c, i))
            c->step[i] = osc_chunk_of(s, launch)->step[osc_row_place(launch)];
    }
}

void osc_steps_mark(struct osc_trace *t, const struct osc_classes *c,
                    const struct osc_step_map *map, unsigned n_threads)
{
    struct work w = {t, c, map};

    if (t->n_steps == 0 || t->steps[0].row.v == 0 || t->events.n_chunks < 2)
        return;
    osc_parallel(n_threads, t->events.n_chunks - 1, mark_host, &w);
    osc_parallel(n_threads, t->events.n_chunks - 1, mark_device, &w);
}
