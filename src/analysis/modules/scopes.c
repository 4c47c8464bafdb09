/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/modules/scopes.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "derive/args.h"

/* For a name: not a scope. For a row: in no module. */
#define NONE UINT32_MAX

/* NAME without PREFIX, if it has it. */
static struct osc_str without(struct osc_str name, struct osc_str prefix)
{
    return osc_str_starts(name, prefix)
               ? (struct osc_str){name.s + prefix.len, name.len - prefix.len}
               : name;
}

/* "[pl][module]torch.nn.modules.linear.Linear: model.head" -> "model.head"; else "". */
static struct osc_str lightning_name(struct osc_str name)
{
    const struct osc_str prefix = OSC_STR("[pl][module]");

    if (!osc_str_starts(name, prefix))
        return (struct osc_str){0};
    const char *const colon = memmem(name.s, name.len, ": ", 2);
    if (!colon)
        return (struct osc_str){0};
    const uint32_t skip = (uint32_t)(colon - name.s) + 2;
    return (struct osc_str){name.s + skip, name.len - skip};
}

/* "train.py(12): step" -> "train.py(12)"; "" for a frame without a line. */
static struct osc_str line_name(struct osc_str name)
{
    const char *const end = memmem(name.s, name.len, "): ", 3);
    const char *p = end;

    while (p && p > name.s && p[-1] >= '0' && p[-1] <= '9')
        p--;
    if (!end || p == end || p == name.s || p[-1] != '(')
        return (struct osc_str){0};
    return (struct osc_str){name.s, (uint32_t)(end - name.s) + 1};
}

/* "a.py(12): f;b.py(3): g" -> "a.py(12)": the innermost one that line_name() accepts. */
static struct osc_str innermost_line(struct osc_str stack)
{
    struct osc_str line = {0};

    while (stack.len > 0 && line.len == 0) {
        const char *const end = memchr(stack.s, ';', stack.len);
        const uint32_t n = end ? (uint32_t)(end - stack.s) : stack.len;
        const uint32_t skip = end ? n + 1 : n;

        line = line_name((struct osc_str){stack.s, n});
        stack = (struct osc_str){stack.s + skip, stack.len - skip};
    }
    return line;
}

static struct osc_str shown_name(enum osc_scopes scopes, struct osc_str name)
{
    switch (scopes) {
    case OSC_SCOPES_MODULE:
        return without(name, OSC_STR("nn.Module: "));
    case OSC_SCOPES_LIGHTNING:
        return lightning_name(name);
    case OSC_SCOPES_LINE:
        return line_name(name);
    case OSC_SCOPES_ANNOTATION:
        return without(name, OSC_STR("[pl][profile]"));
    }
    return name;
}

/* Whether rows like I of C, by kind and form, may be scopes. */
static bool may_be_scope(const struct osc_scope_finder *f, const struct osc_chunk *c,
                         uint32_t i)
{
    const uint8_t form = f->c->forms[c->form[i]];

    if (form & OSC_FORM_ON_DEVICE)
        return false;
    switch (f->scopes) {
    case OSC_SCOPES_MODULE:
        return c->kind[i] == OSC_KIND_MODULE;
    case OSC_SCOPES_ANNOTATION:
        return c->kind[i] == OSC_KIND_ANNOTATION;
    case OSC_SCOPES_LINE:
        return (form & OSC_FORM_FUNCTION) && c->kind[i] != OSC_KIND_MODULE;
    case OSC_SCOPES_LIGHTNING:
        break;
    }
    return true;
}

/* Store how the name SID is shown, if rows with that name are scopes. */
static osc_status meet_name(struct osc_scope_finder *f, uint32_t sid)
{
    const struct osc_str name = osc_trace_str(f->t, (osc_sid){sid});
    const struct osc_str shown = shown_name(f->scopes, name);
    osc_sid id;

    /*
     * A module without a name is a scope, since others may refer to it as their holder, and so
     * is an annotation. For dotted names and lines an empty text is no scope.
     */
    if (shown.len == 0 && f->scopes != OSC_SCOPES_MODULE &&
        f->scopes != OSC_SCOPES_ANNOTATION) {
        f->shown[sid] = NONE;
        return OSC_OK;
    }
    const osc_status st = osc_intern_add(&f->texts, shown, &id);
    if (st == OSC_OK)
        f->shown[sid] = id.v;
    f->has_scopes = true;
    return st;
}

/* Index the Python function in row I of C by its id. */
static osc_status store_python(struct osc_scope_finder *f, const struct osc_chunk *c,
                               uint32_t i)
{
    int64_t id;

    if (!osc_args_int(f->t, c, i, OSC_ARG_KEY_PYTHON_ID, &id))
        return OSC_OK;
    uint32_t *const number = osc_idmap_put(&f->python_ids, (uint64_t)id);
    if (!number)
        return OSC_ENOMEM;
    if (*number == 0)
        *number = ++f->n_python_ids;
    const uint64_t process = f->t->tracks[c->track[i]].process;
    uint32_t *const row = osc_idmap_put(&f->python_rows, process << 32 | *number);
    if (!row)
        return OSC_ENOMEM;
    if (*row == 0 || osc_row_at(c, i).v < *row)
        *row = osc_row_at(c, i).v;
    return OSC_OK;
}

/* Whether the module in row I of C has the id of its caller. */
static bool tells_caller(const struct osc_scope_finder *f, const struct osc_chunk *c,
                         uint32_t i)
{
    int64_t id;

    return c->kind[i] == OSC_KIND_MODULE &&
           osc_args_int(f->t, c, i, OSC_ARG_KEY_PYTHON_PARENT_ID, &id);
}

/* Whether rows of any form can be scopes: modules and lines come from Python. */
static bool may_have_scopes(const struct osc_scope_finder *f)
{
    if (f->scopes != OSC_SCOPES_MODULE && f->scopes != OSC_SCOPES_LINE)
        return true;
    for (uint32_t k = 0; k < f->t->n_forms; k++) {
        if (f->t->forms[k].kind == OSC_KIND_PYTHON || (f->c->forms[k] & OSC_FORM_FUNCTION))
            return true;
    }
    return false;
}

/* Pass over all ranges once: names of scopes, and Python functions by id. */
static osc_status look_around(struct osc_scope_finder *f, const struct osc_order *order)
{
    const uint32_t n = may_have_scopes(f) ? order->n_rows : 0;
    osc_status st = OSC_OK;

    for (uint32_t at = 0; at < n && st == OSC_OK; at++) {
        const osc_row row = {order->rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(&f->t->events, row);
        const uint32_t i = osc_row_place(row);

        f->m->has_python =
            f->m->has_python || (f->c->forms[c->form[i]] & OSC_FORM_FUNCTION) != 0;
        if (may_be_scope(f, c, i) && f->shown[c->name[i]] == 0)
            st = meet_name(f, c->name[i]);
        if (st != OSC_OK || f->scopes != OSC_SCOPES_MODULE ||
            !(f->c->forms[c->form[i]] & OSC_FORM_FUNCTION))
            continue;
        st = store_python(f, c, i);
        f->has_callers = f->has_callers || tells_caller(f, c, i);
    }
    return st;
}

/* If no frame has a line, use the lines of call stacks, if there are any. */
static void look_at_stacks(struct osc_scope_finder *f)
{
    const struct osc_trace *const t = f->t;

    for (uint32_t k = 0; k < t->n_forms && !f->by_stack; k++)
        f->by_stack = t->forms[k].known[OSC_ARG_KEY_CALL_STACK] >= 0;
    f->has_scopes = f->by_stack;
    f->m->has_python = f->m->has_python || f->by_stack;
}

osc_status osc_scopes_init(struct osc_scope_finder *f, const struct osc_trace *t,
                           const struct osc_facts *facts, enum osc_scopes scopes,
                           struct osc_modules *m)
{
    osc_status st = OSC_ENOMEM;

    *f = (struct osc_scope_finder){.t = t, .c = &facts->classes, .m = m, .scopes = scopes};
    f->texts.arena = &m->arena;
    f->texts.seed = osc_hash_seed();
    f->shown_bytes = ((size_t)osc_strings_bound(&t->strings) + 1) * sizeof *f->shown;
    f->rows_bytes = ((size_t)t->events.n_chunks << OSC_CHUNK_SHIFT) * sizeof *f->nearest;
    f->shown = osc_pages_alloc(f->shown_bytes);
    f->nearest = osc_pages_alloc(f->rows_bytes);
    f->place_of_row = osc_pages_alloc(f->rows_bytes);
    if (f->shown && f->nearest && f->place_of_row)
        st = look_around(f, &facts->order);
    if (st == OSC_OK && scopes == OSC_SCOPES_LINE && !f->has_scopes)
        look_at_stacks(f);
    if (st == OSC_OK && scopes == OSC_SCOPES_LIGHTNING) {
        f->dotted = osc_calloc((size_t)f->texts.n_entries + 1, sizeof *f->dotted);
        st = f->dotted ? OSC_OK : OSC_ENOMEM;
    }
    return st;
}

void osc_scopes_fini(struct osc_scope_finder *f)
{
    osc_pages_free(f->shown, f->shown_bytes);
    osc_pages_free(f->nearest, f->rows_bytes);
    osc_pages_free(f->place_of_row, f->rows_bytes);
    osc_intern_fini(&f->texts);
    osc_idmap_fini(&f->names);
    osc_idmap_fini(&f->ids);
    osc_idmap_fini(&f->places);
    osc_idmap_fini(&f->lines);
    osc_idmap_fini(&f->python_ids);
    osc_idmap_fini(&f->python_rows);
    osc_free(f->dotted);
    *f = (struct osc_scope_finder){0};
}

bool osc_scopes_has(const struct osc_scope_finder *f, const struct osc_chunk *c, uint32_t i)
{
    return may_be_scope(f, c, i) && f->shown[c->name[i]] != NONE;
}

static osc_status add_place(struct osc_scope_finder *f, struct osc_module_place place,
                            uint32_t *number)
{
    struct osc_modules *const m = f->m;

    if (m->n_places == m->cap_places &&
        osc_grow(&m->places, &m->cap_places, m->n_places + 1, sizeof *m->places) != OSC_OK)
        return OSC_ENOMEM;
    if (place.parent != 0) {
        place.depth = m->places[place.parent - 1].depth + 1;
        place.position = m->places[place.parent - 1].position;
    }
    place.position = osc_hash(place.name.s, place.name.len,
                              osc_hash_u64(place.position + (place.has_id ? 2 : 1)));
    if (place.has_id)
        place.position ^= osc_hash_u64((uint64_t)place.module_id + 1);
    m->places[m->n_places++] = place;
    *number = (uint32_t)m->n_places;
    return OSC_OK;
}

/* Find or add the place of TEXT, with or without a module id, under ABOVE. */
static osc_status place_under(struct osc_scope_finder *f, uint32_t above, uint32_t text,
                              bool has_id, int64_t id, uint32_t *place)
{
    uint32_t id_number = 0;

    if (has_id) {
        uint32_t *const known = osc_idmap_put(&f->ids, (uint64_t)id);
        if (!known)
            return OSC_ENOMEM;
        if (*known == 0)
            *known = ++f->n_ids;
        id_number = *known;
    }
    uint32_t *const name = osc_idmap_put(&f->names, (uint64_t)above << 32 | text);
    if (!name)
        return OSC_ENOMEM;
    if (*name == 0)
        *name = ++f->n_names;
    uint32_t *const known = osc_idmap_put(&f->places, (uint64_t)*name << 32 | id_number);
    if (!known)
        return OSC_ENOMEM;
    osc_status st = OSC_OK;
    if (*known == 0)
        st = add_place(
            f,
            (struct osc_module_place){.name = osc_intern_str(&f->texts, (osc_sid){text}),
                                      .has_id = has_id,
                                      .module_id = id,
                                      .first_ns = INT64_MAX,
                                      .first_row = UINT32_MAX,
                                      .parent = above},
            known);
    *place = *known;
    return st;
}

/* Find or add the place of the dotted name TEXT, after those that contain it. */
static osc_status place_by_dots(struct osc_scope_finder *f, uint32_t text, uint32_t *place)
{
    const struct osc_str name = osc_intern_str(&f->texts, (osc_sid){text});
    uint32_t above = 0;
    osc_status st = OSC_OK;

    for (uint32_t n = 1; n <= name.len && st == OSC_OK; n++) {
        if (n < name.len && name.s[n] != '.')
            continue;
        const osc_sid id = osc_intern_find(&f->texts, (struct osc_str){name.s, n});
        if (id.v == 0)
            continue;
        if (f->dotted[id.v] == 0)
            st = place_under(f, above, id.v, false, 0, &f->dotted[id.v]);
        above = f->dotted[id.v];
    }
    *place = above;
    return st;
}

/* The Python function that called the one in ROW; 0: not in the file. */
static uint32_t caller_of(const struct osc_scope_finder *f, osc_row row)
{
    const struct osc_chunk *const c = osc_chunk_of(&f->t->events, row);
    const uint32_t i = osc_row_place(row);
    int64_t id;

    if (!osc_args_int(f->t, c, i, OSC_ARG_KEY_PYTHON_PARENT_ID, &id))
        return 0;
    const uint32_t number = osc_idmap_get(&f->python_ids, (uint64_t)id);
    if (number == 0)
        return 0;
    const uint64_t process = f->t->tracks[c->track[i]].process;
    return osc_idmap_get(&f->python_rows, process << 32 | number);
}

static bool is_module(const struct osc_scope_finder *f, osc_row row)
{
    return osc_chunk_of(&f->t->events, row)->kind[osc_row_place(row)] == OSC_KIND_MODULE;
}

/*
 * The nearest module in the chain of callers of the module in ROW, or 0. Functions on the way
 * cache the answer; during the search they hold NONE, so that a circular chain ends where it
 * began.
 */
static uint32_t find_holder(struct osc_scope_finder *f, osc_row row)
{
    uint32_t at = caller_of(f, row), found = NONE;
    const uint32_t first = at;

    while (at != 0) {
        if (is_module(f, (osc_row){at})) {
            found = at;
            break;
        }
        if (f->nearest[at] != 0) {
            found = f->nearest[at];
            break;
        }
        f->nearest[at] = NONE;
        at = caller_of(f, (osc_row){at});
    }
    for (at = first; found != NONE && at != 0 && f->nearest[at] == NONE;
         at = caller_of(f, (osc_row){at}))
        f->nearest[at] = found;
    return found == NONE || found == row.v ? 0 : found;
}

/* The place of the module in ROW under place ABOVE. */
static osc_status place_module(struct osc_scope_finder *f, osc_row row, uint32_t above)
{
    const struct osc_chunk *const c = osc_chunk_of(&f->t->events, row);
    const uint32_t i = osc_row_place(row);
    int64_t id = 0;
    const bool has_id = osc_args_int(f->t, c, i, OSC_ARG_KEY_PYTHON_MODULE_ID, &id);

    return place_under(f, above, f->shown[c->name[i]], has_id, id, &f->place_of_row[row.v]);
}

/*
 * Find or add the place of the module in ROW. Modules that contain it may start on another
 * thread, and so come later in the order: their places are added first, the outermost first.
 */
static osc_status module_place(struct osc_scope_finder *f, osc_row row, osc_row outer,
                               uint32_t outer_place, osc_row *holder)
{
    uint32_t *chain = NULL;
    size_t n = 0, cap = 0;
    osc_status st = OSC_OK;

    if (!f->has_callers) {
        *holder = outer;
        return place_module(f, row, outer_place);
    }
    uint32_t above = find_holder(f, row);
    *holder = (osc_row){above};
    if (f->place_of_row[row.v] != 0)
        return OSC_OK;
    f->place_of_row[row.v] = NONE; /* a module that contains itself ends the chain */
    while (above != 0 && f->place_of_row[above] == 0 && st == OSC_OK) {
        st = osc_grow(&chain, &cap, n + 1, sizeof *chain);
        if (st != OSC_OK)
            break;
        chain[n++] = above;
        f->place_of_row[above] = NONE;
        above = find_holder(f, (osc_row){above});
    }
    uint32_t place = above == 0 || f->place_of_row[above] == NONE ? 0 : f->place_of_row[above];
    while (n > 0 && st == OSC_OK) {
        st = place_module(f, (osc_row){chain[--n]}, place);
        place = f->place_of_row[chain[n]];
    }
    if (st == OSC_OK)
        st = place_module(f, row, place);
    osc_free(chain);
    return st;
}

/* Count row I of C as a call of P, possibly the first. */
static void store_first(const struct osc_trace *t, struct osc_module_place *p,
                        const struct osc_chunk *c, uint32_t i)
{
    const uint32_t row = osc_row_at(c, i).v;

    if (p->path.len == 0)
        (void)osc_row_arg_str(t, c, i, OSC_ARG_KEY_MODULE_PATH, &p->path);
    if (c->ts_ns[i] < p->first_ns || (c->ts_ns[i] == p->first_ns && row < p->first_row)) {
        p->first_ns = c->ts_ns[i];
        p->first_row = row;
    }
}

osc_status osc_scopes_place(struct osc_scope_finder *f, osc_row row, osc_row outer,
                            uint32_t outer_place, osc_row *holder, uint32_t *place)
{
    const struct osc_chunk *const c = osc_chunk_of(&f->t->events, row);
    const uint32_t i = osc_row_place(row), text = f->shown[c->name[i]];
    osc_status st = OSC_OK;

    *holder = outer;
    switch (f->scopes) {
    case OSC_SCOPES_MODULE:
        st = module_place(f, row, outer, outer_place, holder);
        *place = f->place_of_row[row.v];
        break;
    case OSC_SCOPES_LIGHTNING:
        st = place_by_dots(f, text, place);
        break;
    case OSC_SCOPES_ANNOTATION:
        st = place_under(f, outer_place, text, false, 0, place);
        break;
    case OSC_SCOPES_LINE:
        st = place_under(f, 0, text, false, 0, place);
        break;
    }
    if (st != OSC_OK)
        return st;
    store_first(f->t, &f->m->places[*place - 1], c, i);
    return OSC_OK;
}

/* Set *TEXT to the innermost line of STACK, or NONE. */
static osc_status line_of_stack(struct osc_scope_finder *f, osc_sid stack, uint32_t *text)
{
    uint32_t *const known = osc_idmap_put(&f->lines, stack.v);
    osc_sid id = {NONE};
    osc_status st = OSC_OK;

    if (!known)
        return OSC_ENOMEM;
    if (*known == 0) {
        const struct osc_str line = innermost_line(osc_trace_str(f->t, stack));

        if (line.len > 0)
            st = osc_intern_add(&f->texts, line, &id);
        if (st != OSC_OK)
            return st;
        *known = id.v;
    }
    *text = *known;
    return OSC_OK;
}

osc_status osc_scopes_line(struct osc_scope_finder *f, const struct osc_chunk *c, uint32_t i,
                           uint32_t outer_place, uint32_t *place)
{
    struct osc_arg arg;
    uint32_t text = NONE;

    *place = 0;
    if (!osc_row_arg(f->t, c, i, OSC_ARG_KEY_CALL_STACK, &arg) || arg.type != OSC_ARG_STRING)
        return OSC_OK;
    osc_status st = line_of_stack(f, arg.sid, &text);
    if (st != OSC_OK || text == NONE)
        return st;
    st = place_under(f, 0, text, false, 0, place);
    if (st != OSC_OK)
        return st;
    if (*place == outer_place)
        *place = 0;
    else
        store_first(f->t, &f->m->places[*place - 1], c, i);
    return OSC_OK;
}
