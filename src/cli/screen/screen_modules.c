/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen/screen_modules.h"

#include <string.h>

#include "analysis/table_columns.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/strbuf.h"

/* Modules give way at most this often: a hostile file may nest without end. */
#define GIVE_WAY_MAX 256

/* Modules that count as one. */
struct group {
    struct osc_top_row sum; /* .name is the path of the first, or the path with stars */
    struct osc_str pattern; /* its path below its holder, with stars */
    uint32_t holder;        /* index + 1; 0: none */
    int64_t inside_ns;      /* time of the groups in it */
    bool has_several;       /* paths that differ */
    bool has_given_way;
};

struct finding {
    const struct osc_result *r; /* borrowed; `modules` */
    bool on_device;
    struct osc_intern paths, keys;
    uint32_t *row_of;   /* owned; by id of path - 1: the first row that has it */
    uint32_t *holder;   /* owned; by row: row + 1 of the module around it, 0: none */
    bool *has_inside;   /* owned; by row: contains modules */
    uint32_t *group_of; /* owned; by row: index + 1; 0: left out */
    struct group *groups;
    size_t n_groups, cap_groups;
    struct osc_strbuf text;
};

static struct osc_str path_of(const struct finding *f, uint64_t row)
{
    return osc_result_get_str(f->r, row, osc_column_modules_path);
}

static struct osc_str attributes_of(const struct finding *f, uint64_t row)
{
    return osc_result_has(f->r, row, osc_column_modules_attribute_path)
               ? osc_result_get_str(f->r, row, osc_column_modules_attribute_path)
               : OSC_STR("");
}

static int64_t time_of(const struct finding *f, uint64_t row)
{
    return f->on_device
               ? osc_result_get_int(f->r, row, osc_column_modules_device_total_ns) +
                     osc_result_get_int(f->r, row, osc_column_modules_backward_device_ns)
               : osc_result_get_int(f->r, row, osc_column_modules_host_total_ns) +
                     osc_result_get_int(f->r, row, osc_column_modules_backward_host_ns);
}

/* Store the row around each row, which stands before it. */
static osc_status find_holders(struct finding *f)
{
    for (uint32_t i = 0; i < f->r->n_rows; i++) {
        const struct osc_str path = path_of(f, i),
                             name = osc_result_get_str(f->r, i, osc_column_modules_name);
        osc_sid id;
        const osc_status st = osc_intern_add(&f->paths, path, &id);

        if (st != OSC_OK)
            return st;
        if (id.v > 0 && f->row_of[id.v - 1] == 0)
            f->row_of[id.v - 1] = i + 1;
        if (path.len <= name.len + 1)
            continue;
        const osc_sid around =
            osc_intern_find(&f->paths, (struct osc_str){path.s, path.len - name.len - 1});
        if (around.v > 0 && f->row_of[around.v - 1] < i + 1) {
            f->holder[i] = f->row_of[around.v - 1];
            f->has_inside[f->holder[i] - 1] = true;
        }
    }
    return OSC_OK;
}

/* The class in the name of a module, Linear in Linear_12. */
static struct osc_str class_of(struct osc_str name)
{
    uint32_t len = name.len;

    while (len > 0 && name.s[len - 1] >= '0' && name.s[len - 1] <= '9')
        len--;
    return len > 1 && len < name.len && name.s[len - 1] == '_'
               ? (struct osc_str){name.s, len - 1}
               : name;
}

/* Append PATH, with a star for each part of it that is a number. */
static void add_starred(struct osc_strbuf *out, struct osc_str path)
{
    for (uint32_t at = 0; at < path.len;) {
        uint32_t len = 0;
        bool is_number = true;

        for (; at + len < path.len && path.s[at + len] != '.'; len++)
            is_number = is_number && path.s[at + len] >= '0' && path.s[at + len] <= '9';
        if (is_number && len > 0)
            osc_strbuf_addc(out, '*');
        else
            osc_strbuf_add(out, path.s + at, len);
        at += len;
        if (at < path.len)
            osc_strbuf_addc(out, path.s[at++]);
    }
}

/* Whether the module around ROW holds it. Not so if it calls what another module holds. */
static bool is_held(const struct finding *f, uint64_t row)
{
    const struct osc_str all = attributes_of(f, row);
    const struct osc_str around =
        f->holder[row] ? attributes_of(f, f->holder[row] - 1) : OSC_STR("");

    return around.len > 0 && around.len + 1 < all.len && osc_str_starts(all, around) &&
           all.s[around.len] == '.';
}

/* The attributes of ROW, below those of the module around it if that holds it. */
static struct osc_str attributes_below(const struct finding *f, uint64_t row)
{
    const struct osc_str all = attributes_of(f, row);

    if (!is_held(f, row))
        return all;
    const uint32_t skipped = attributes_of(f, f->holder[row] - 1).len + 1;
    return (struct osc_str){all.s + skipped, all.len - skipped};
}

/* Write to f->text what tells the group of ROW from others; PATTERN receives its part that is
 * the pattern of the path, empty if there is none. */
static void write_key(struct finding *f, uint64_t row, uint32_t holder, uint32_t *pattern)
{
    const struct osc_str name = osc_result_get_str(f->r, row, osc_column_modules_name),
                         below = attributes_below(f, row);

    osc_strbuf_clear(&f->text);
    osc_strbuf_addf(&f->text, "%u ", holder);
    if (below.len == 0) {
        osc_strbuf_addstr(&f->text, path_of(f, row));
        *pattern = (uint32_t)f->text.len;
        return;
    }
    osc_strbuf_addstr(&f->text, class_of(name));
    osc_strbuf_addc(&f->text, is_held(f, row) ? '.' : ' ');
    *pattern = (uint32_t)f->text.len;
    if (f->has_inside[row])
        add_starred(&f->text, below);
    else
        osc_strbuf_addstr(&f->text, below);
}

/* Add ROW to its group, which may be new. */
static osc_status group_row(struct finding *f, uint32_t row)
{
    const uint32_t holder = f->holder[row] ? f->group_of[f->holder[row] - 1] : 0;
    uint32_t pattern;
    osc_sid id;

    if ((f->holder[row] == 0) != (osc_result_get_int(f->r, row, osc_column_modules_depth) == 0))
        return OSC_OK; /* what is around it has no row */
    write_key(f, row, holder, &pattern);
    if (f->text.status != OSC_OK)
        return f->text.status;
    const struct osc_str key = {f->text.s, (uint32_t)f->text.len};
    osc_status st = osc_intern_add(&f->keys, key, &id);
    if (st == OSC_OK)
        st = osc_grow(&f->groups, &f->cap_groups, id.v, sizeof *f->groups);
    if (st != OSC_OK)
        return st;
    struct group *const g = &f->groups[id.v - 1];
    if (id.v > f->n_groups) {
        const struct osc_str kept = osc_intern_str(&f->keys, id);

        f->n_groups++;
        *g = (struct group){.holder = holder,
                            .sum = {.row = row},
                            .pattern = {kept.s + pattern, kept.len - pattern}};
    }
    g->has_several |= !osc_str_eq(attributes_below(f, row), attributes_below(f, g->sum.row));
    g->sum.calls += osc_result_get_int(f->r, row, osc_column_modules_calls);
    g->sum.ns += time_of(f, row);
    f->group_of[row] = id.v;
    if (holder > 0)
        f->groups[holder - 1].inside_ns += time_of(f, row);
    return OSC_OK;
}

/* Name the groups, holders before what they hold: by attributes, else by class and number. */
static osc_status name_groups(struct finding *f, struct osc_arena *arena)
{
    for (size_t i = 0; i < f->n_groups; i++) {
        struct group *const g = &f->groups[i];
        const struct group *const around = g->holder ? &f->groups[g->holder - 1] : NULL;
        const struct osc_str below = attributes_below(f, g->sum.row);

        if (below.len == 0) {
            g->sum.name = path_of(f, g->sum.row);
            continue;
        }
        osc_strbuf_clear(&f->text);
        if (around && is_held(f, g->sum.row)) {
            osc_strbuf_addstr(&f->text, around->sum.name);
            osc_strbuf_addc(&f->text, '.');
        }
        osc_strbuf_addstr(&f->text, g->has_several ? g->pattern : below);
        const char *const name =
            f->text.status == OSC_OK ? osc_arena_dup(arena, f->text.s, f->text.len) : NULL;
        if (!name)
            return OSC_ENOMEM;
        g->sum.name = (struct osc_str){name, (uint32_t)f->text.len};
    }
    return OSC_OK;
}

/* Whether group I is a row: it has not given way, but all around it have. */
static bool is_row(const struct finding *f, size_t i)
{
    const struct group *const g = &f->groups[i];

    return g->sum.ns > 0 && !g->has_given_way &&
           (g->holder == 0 || f->groups[g->holder - 1].has_given_way);
}

/* Let the largest row give way that can and should. */
static bool give_way(struct finding *f, unsigned max, double sum_ns)
{
    struct group *largest = NULL;
    unsigned n_large = 0;

    for (size_t i = 0; i < f->n_groups; i++) {
        struct group *const g = &f->groups[i];

        if (!is_row(f, i) || (double)g->sum.ns * 20 < sum_ns)
            continue;
        n_large++;
        if ((double)g->inside_ns * 4 > (double)g->sum.ns * 3 &&
            (!largest || g->sum.ns > largest->sum.ns))
            largest = g;
    }
    if (!largest || (n_large >= max && (double)largest->sum.ns * 2 <= sum_ns))
        return false;
    largest->has_given_way = true;
    return true;
}

static osc_status group_rows(struct finding *f, struct osc_arena *arena)
{
    const size_t n = f->r->n_rows + 1;
    osc_status st;

    f->row_of = osc_calloc(n, sizeof *f->row_of);
    f->holder = osc_calloc(n, sizeof *f->holder);
    f->has_inside = osc_calloc(n, sizeof *f->has_inside);
    f->group_of = osc_calloc(n, sizeof *f->group_of);
    st = f->row_of && f->holder && f->has_inside && f->group_of ? find_holders(f) : OSC_ENOMEM;
    for (uint32_t i = 0; i < f->r->n_rows && st == OSC_OK; i++)
        st = group_row(f, i);
    return st == OSC_OK ? name_groups(f, arena) : st;
}

bool osc_screen_modules_on_device(const struct osc_screen *s)
{
    const struct osc_result *const r = osc_screen_merged(s, OSC_SCREEN_MODULES);

    for (uint64_t i = 0; i < r->n_rows; i++) {
        if (osc_result_get_int(r, i, osc_column_modules_device_total_ns) > 0)
            return true;
    }
    return false;
}

osc_status osc_screen_find_modules(const struct osc_screen *s, struct osc_arena *arena,
                                   struct osc_top_row *rows, unsigned max, unsigned *n_rows,
                                   double *sum_ns)
{
    struct finding f = {.r = osc_screen_merged(s, OSC_SCREEN_MODULES),
                        .on_device = osc_screen_modules_on_device(s),
                        .paths = {.arena = arena, .seed = osc_hash_seed()},
                        .keys = {.arena = arena, .seed = osc_hash_seed()}};
    const osc_status st = group_rows(&f, arena);

    *n_rows = 0;
    *sum_ns = 0;
    for (size_t i = 0; i < f.n_groups; i++)
        *sum_ns += f.groups[i].holder == 0 ? (double)f.groups[i].sum.ns : 0;
    for (int i = 0; i < GIVE_WAY_MAX && st == OSC_OK && give_way(&f, max, *sum_ns); i++)
        ;
    for (size_t i = 0; i < f.n_groups && st == OSC_OK; i++) {
        if (is_row(&f, i))
            *n_rows = osc_top_insert(rows, *n_rows, max, &f.groups[i].sum);
    }
    osc_free(f.row_of);
    osc_free(f.holder);
    osc_free(f.has_inside);
    osc_free(f.group_of);
    osc_free(f.groups);
    osc_strbuf_fini(&f.text);
    osc_intern_fini(&f.paths);
    osc_intern_fini(&f.keys);
    return st;
}
