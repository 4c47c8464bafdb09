/* SPDX-License-Identifier: Apache-2.0 */
#include "names/told.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "names/apart.h"

#define DEPTH_MAX 12 /* arguments within arguments are compared up to this depth */

/* The places in a name: a kind, the index of a part, counted from the main one, and the index
 * in a list. The order is that of preference. */
enum place {
    PLACE_ARGUMENT = 1,   /* of the main part */
    PLACE_VALUE,          /* the same: a number or another value */
    PLACE_SCOPE,          /* the word of a part before it */
    PLACE_SCOPE_ARGUMENT, /* an argument of such a part */
    PLACE_TAIL,           /* a part behind it, whole */
    PLACE_PARAMETER,
    PLACE_RESULT,
    PLACE_SUFFIX
};

static uint64_t make_place(enum place kind, uint32_t from_main, uint32_t index)
{
    return (uint64_t)kind << 56 | (uint64_t)from_main << 32 | index;
}

static enum place kind_of(uint64_t place)
{
    return (enum place)(place >> 56);
}

/* A name or an argument. */
struct node {
    const struct osc_symbol *y;
    struct osc_span at;
    uint64_t key; /* names of another key differ in what is always shown */
    uint64_t hash;
    uint32_t index; /* as the caller counts */
};

struct telling {
    /* tell(), which is called for the nodes in the nodes */
    osc_status (*tell)(struct telling *t, struct node *nodes, uint32_t n,
                       struct osc_told *told);
    struct osc_arena *arena;
    uint64_t seed;
    bool are_functions; /* the nodes are the names themselves */
    enum osc_told_form form;
    unsigned depth;
};

static struct osc_str text_of(const struct osc_symbol *y, struct osc_span at)
{
    return (struct osc_str){y->text.s + at.from, at.to - at.from};
}

static uint64_t hash_of(const struct telling *t, const struct osc_symbol *y, struct osc_span at)
{
    return osc_hash(y->text.s + at.from, at.to - at.from, t->seed);
}

static bool has_suffix(const struct telling *t, const struct osc_symbol_name *name)
{
    return !t->are_functions && name->suffix.from < name->suffix.to;
}

static void set_keys(const struct telling *t, struct node *node)
{
    struct osc_symbol_name name;

    node->hash = node->key = hash_of(t, node->y, node->at);
    if (!osc_symbol_split(node->y, node->at, t->are_functions, &name))
        return;
    node->key = hash_of(t, node->y, name.parts[name.main].word);
    if (has_suffix(t, &name))
        node->key = osc_hash_u64(node->key + hash_of(t, node->y, name.suffix));
}

/* --- values at places ------------------------------------------------------------------------
 */

struct values {
    struct osc_apart_value *at; /* owned */
    size_t n, cap;
    osc_status status; /* sticky */
    const struct telling *t;
    const struct node *node; /* whose values are added */
    uint32_t text;           /* its number */
};

static void add_value(struct values *v, uint64_t place, struct osc_span at)
{
    if (v->status == OSC_OK)
        v->status = osc_grow(&v->at, &v->cap, v->n + 1, sizeof *v->at);
    if (v->status == OSC_OK)
        v->at[v->n++] = (struct osc_apart_value){.place = place,
                                                 .hash = hash_of(v->t, v->node->y, at),
                                                 .text = v->text,
                                                 .from = at.from,
                                                 .to = at.to};
}

/* Whether the argument AT is a value, such as 4, true or (kind)0. */
static bool is_value(const struct osc_symbol *y, struct osc_span at)
{
    const struct osc_str text = text_of(y, at);

    return text.len > 0 &&
           ((text.s[0] >= '0' && text.s[0] <= '9') || text.s[0] == '-' ||
            osc_str_eq(text, OSC_STR("true")) || osc_str_eq(text, OSC_STR("false")) ||
            (text.s[0] == '(' && !osc_str_starts(text, OSC_STR("(anonymous"))));
}

static void add_list(struct values *v, enum place kind, uint32_t from_main,
                     struct osc_span list)
{
    const struct osc_symbol *const y = v->node->y;
    struct osc_span arg;

    for (uint32_t at = list.from, i = 0; osc_symbol_argument(y, &at, list.to, &arg); i++) {
        const enum place of = kind == PLACE_ARGUMENT && is_value(y, arg) ? PLACE_VALUE : kind;

        add_value(v, make_place(of, from_main, i), arg);
    }
}

/* Where PART ends. */
static uint32_t end_of(const struct osc_symbol_part *part)
{
    const uint32_t end = part->args.to > 0 ? part->args.to + 1 : part->word.to;

    return part->given.to > 0 ? part->given.to + 1 : end;
}

static void add_values(struct values *v)
{
    const struct node *const node = v->node;
    struct osc_symbol_name name;

    if (!osc_symbol_split(node->y, node->at, v->t->are_functions, &name))
        return;
    for (uint32_t i = 0; i < name.n_parts; i++) {
        const struct osc_symbol_part *const p = &name.parts[i];

        if (i > name.main) {
            add_value(v, make_place(PLACE_TAIL, name.n_parts - 1 - i, 0),
                      (struct osc_span){p->word.from, end_of(p)});
            continue;
        }
        if (i < name.main)
            add_value(v, make_place(PLACE_SCOPE, name.main - i, 0), p->word);
        add_list(v, i == name.main ? PLACE_ARGUMENT : PLACE_SCOPE_ARGUMENT, name.main - i,
                 p->args);
        add_list(v, PLACE_PARAMETER, name.main - i, p->given);
    }
    if (name.result.from < name.result.to)
        add_value(v, make_place(PLACE_RESULT, 0, 0), name.result);
    if (v->t->are_functions && name.suffix.from < name.suffix.to)
        add_value(v, make_place(PLACE_SUFFIX, 0, 0), name.suffix);
}

/* --- writing ---------------------------------------------------------------------------------
 */

/* The text shown at PLACE, or NULL. */
static const struct osc_told_part *find_part(const struct osc_told_part *parts, uint32_t n,
                                             uint64_t place)
{
    for (uint32_t i = 0; i < n; i++) {
        if (parts[i].place == place)
            return &parts[i];
    }
    return NULL;
}

struct writing {
    struct osc_strbuf *out;
    const struct osc_symbol *y;
    const struct osc_told_part *parts;
    uint32_t n;
    bool is_short;
    struct osc_kept *kept; /* may be NULL */
};

/* Append TEXT, which is not to be cut. */
static void add_kept(struct writing *w, struct osc_str text)
{
    const uint32_t from = (uint32_t)w->out->len;

    osc_strbuf_addstr(w->out, text);
    if (w->kept && w->kept->n < OSC_ELIDE_KEPT_MAX)
        w->kept->at[w->kept->n++] = (struct osc_span){from, from + text.len};
}

/* Append what is shown of LIST, between OPEN and CLOSE: <..., X>, or short <…X>. */
static void write_list(struct writing *w, struct osc_span list, enum place kind,
                       uint32_t from_main, const char *brackets)
{
    const char *const gap = w->is_short ? "\xe2\x80\xa6" : "...";
    bool was_shown = true;
    struct osc_span arg;

    osc_strbuf_addc(w->out, brackets[0]);
    for (uint32_t at = list.from, i = 0; osc_symbol_argument(w->y, &at, list.to, &arg); i++) {
        const struct osc_told_part *part =
            find_part(w->parts, w->n, make_place(kind, from_main, i));

        if (!part && kind == PLACE_ARGUMENT)
            part = find_part(w->parts, w->n, make_place(PLACE_VALUE, from_main, i));
        if (part && i > 0 && (was_shown || !w->is_short))
            osc_strbuf_adds(w->out, ", ");
        if (part)
            add_kept(w, part->text);
        else if (was_shown)
            osc_strbuf_addf(w->out, "%s%s", i > 0 && !w->is_short ? ", " : "", gap);
        was_shown = part != NULL;
    }
    osc_strbuf_addc(w->out, brackets[1]);
}

static bool has_any(const struct writing *w, enum place kind, uint32_t from_main)
{
    const uint64_t least = make_place(kind, from_main, 0);

    for (uint32_t i = 0; i < w->n; i++) {
        if (w->parts[i].place >= least && w->parts[i].place - least <= UINT32_MAX)
            return true;
    }
    return false;
}

/* Append PART, which stands FROM_MAIN parts before the main one. */
static void write_part(struct writing *w, const struct osc_symbol_part *part,
                       uint32_t from_main)
{
    const enum place kind = from_main > 0 ? PLACE_SCOPE_ARGUMENT : PLACE_ARGUMENT;

    osc_strbuf_addstr(w->out, text_of(w->y, part->word));
    if (part->args.from > 0 &&
        (has_any(w, kind, from_main) || (from_main == 0 && has_any(w, PLACE_VALUE, from_main))))
        write_list(w, part->args, kind, from_main, "<>");
    else if (part->args.from > 0)
        osc_strbuf_adds(w->out, part->args.from == part->args.to ? "<>"
                                : w->is_short                    ? "<\xe2\x80\xa6>"
                                                                 : "<...>");
    if (part->given.from > 0 && has_any(w, PLACE_PARAMETER, from_main))
        write_list(w, part->given, PLACE_PARAMETER, from_main, "()");
}

/* Whether the scope in part I of NAME must be shown. */
static bool is_needed(const struct writing *w, const struct osc_symbol_name *name, uint32_t i)
{
    const uint32_t from_main = name->main - i;

    return find_part(w->parts, w->n, make_place(PLACE_SCOPE, from_main, 0)) ||
           has_any(w, PLACE_SCOPE_ARGUMENT, from_main) ||
           has_any(w, PLACE_PARAMETER, from_main);
}

static bool is_anonymous(const struct writing *w, const struct osc_symbol_part *part)
{
    return osc_str_starts(text_of(w->y, part->word), OSC_STR("(anonymous"));
}

/* Append the scopes of NAME but for the first N_LEFT_OUT, unless they are needed. */
static void write_scopes(struct writing *w, const struct osc_symbol_name *name,
                         uint32_t n_left_out)
{
    for (uint32_t i = 0; i < name->main; i++) {
        const struct osc_told_part *const scope =
            find_part(w->parts, w->n, make_place(PLACE_SCOPE, name->main - i, 0));
        const uint32_t from = (uint32_t)w->out->len;

        if (!is_needed(w, name, i) &&
            (i < n_left_out || (w->is_short && is_anonymous(w, &name->parts[i]))))
            continue;
        write_part(w, &name->parts[i], name->main - i);
        if (scope && w->kept && w->kept->n < OSC_ELIDE_KEPT_MAX)
            w->kept->at[w->kept->n++] = (struct osc_span){from, (uint32_t)w->out->len};
        osc_strbuf_adds(w->out, "::");
    }
}

/* Append the parts of NAME behind the main one: those that are shown, or all of them. */
static void write_tail(struct writing *w, const struct osc_symbol_name *name, bool has_all)
{
    for (uint32_t i = name->main + 1; i < name->n_parts; i++) {
        const struct osc_told_part *const part =
            find_part(w->parts, w->n, make_place(PLACE_TAIL, name->n_parts - 1 - i, 0));

        if (!part && !has_all)
            continue;
        osc_strbuf_adds(w->out, "::");
        if (part)
            add_kept(w, part->text);
        else
            osc_symbol_write_part(w->out, w->y, &name->parts[i]);
    }
}

/* --- telling apart ---------------------------------------------------------------------------
 */

static int compare_keys(const void *a, const void *b)
{
    const struct node *const x = a, *const y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Append the argument NODE, of which TOLD is shown. */
static void write_argument(struct osc_strbuf *out, const struct telling *t,
                           const struct node *node, const struct osc_told *told)
{
    struct writing w = {.out = out,
                        .y = node->y,
                        .parts = told->parts[t->form],
                        .n = told->n[t->form],
                        .is_short = t->form > OSC_TOLD_LONG};
    struct osc_symbol_name name;

    if (!osc_symbol_split(node->y, node->at, false, &name)) {
        osc_strbuf_addstr(out, text_of(node->y, node->at));
        return;
    }
    write_scopes(&w, &name, w.is_short ? name.main : 0);
    write_part(&w, &name.parts[name.main], 0);
    write_tail(&w, &name, false);
    osc_strbuf_addstr(out, text_of(node->y, name.suffix));
}

/* Write the texts of the N NODES, arguments at one place, so that different ones differ. */
static osc_status write_arguments(struct telling *t, struct node *nodes, uint32_t n,
                                  struct osc_str *texts)
{
    struct osc_told *const told = osc_calloc(n, sizeof *told);
    struct node *const sorted = osc_calloc(n, sizeof *sorted);
    struct telling inner = *t;
    osc_status st = told && sorted ? OSC_OK : OSC_ENOMEM;

    inner.are_functions = false;
    inner.depth++;
    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        set_keys(&inner, &nodes[i]);
        nodes[i].index = i;
        sorted[i] = nodes[i];
    }
    if (st == OSC_OK)
        st = inner.tell(&inner, sorted, n, told);
    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        struct osc_strbuf out = {0};

        if (inner.depth < DEPTH_MAX)
            write_argument(&out, &inner, &nodes[i], &told[i]);
        else
            osc_strbuf_addstr(&out, text_of(nodes[i].y, nodes[i].at));
        st = out.status;
        const char *const copy =
            st == OSC_OK ? osc_arena_dup(t->arena, out.s ? out.s : "", out.len) : NULL;
        texts[i] = (struct osc_str){copy, (uint32_t)out.len};
        if (!copy)
            st = OSC_ENOMEM;
        osc_strbuf_fini(&out);
    }
    osc_free(told);
    osc_free(sorted);
    return st;
}

/* Add TEXT at PLACE to what is shown. */
static osc_status add_part(struct telling *t, struct osc_told *told, uint64_t place,
                           struct osc_str text)
{
    struct osc_told_part **const parts = &told->parts[t->form];
    uint32_t *const n = &told->n[t->form];

    if (!*parts)
        *parts = osc_arena_calloc(t->arena, OSC_APART_MAX + 1, sizeof **parts);
    if (!*parts)
        return OSC_ENOMEM;
    if (*n <= OSC_APART_MAX)
        (*parts)[(*n)++] = (struct osc_told_part){place, text};
    return OSC_OK;
}

/* Show the N values V of the nodes at one place, where they are NEEDED. */
static osc_status show_place(struct telling *t, const struct node *nodes,
                             const struct osc_apart_value *v, uint32_t n, const uint8_t *needed,
                             struct osc_told *told)
{
    const enum place kind = kind_of(v->place);
    struct node *const at = osc_calloc(n, sizeof *at);
    struct osc_str *const texts = osc_calloc(n, sizeof *texts);
    osc_status st = at && texts ? OSC_OK : OSC_ENOMEM;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        at[i] = (struct node){.y = nodes[v[i].text].y, .at = {v[i].from, v[i].to}};
        texts[i] = text_of(at[i].y, at[i].at);
    }
    if (st == OSC_OK && kind != PLACE_SCOPE && kind != PLACE_TAIL && kind != PLACE_SUFFIX)
        st = write_arguments(t, at, n, texts);
    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        if (needed[v[i].text])
            st = add_part(t, &told[nodes[v[i].text].index], v->place, texts[i]);
    }
    osc_free(at);
    osc_free(texts);
    return st;
}

/* Tell the N NODES of one key apart, of which N_DIFFERENT are different. */
static osc_status tell_group(struct telling *t, const struct node *nodes, uint32_t n,
                             uint32_t n_different, struct osc_told *told)
{
    struct values v = {.t = t};
    struct osc_apart apart = {.is_short = t->form == OSC_TOLD_SHORTEST};

    for (; v.text < n; v.text++) {
        v.node = &nodes[v.text];
        add_values(&v);
    }
    osc_status st = v.status;
    if (st == OSC_OK)
        st = osc_apart_choose(v.at, v.n, n, n_different, &apart);
    for (uint32_t k = 0; k < apart.n && st == OSC_OK; k++) {
        size_t from, to;

        osc_apart_find(v.at, v.n, apart.places[k], &from, &to);
        st = show_place(t, nodes, &v.at[from], (uint32_t)(to - from), apart.needed[k], told);
    }
    osc_apart_fini(&apart);
    osc_free(v.at);
    return st;
}

/* Whether WORD is the last word of names whose first argument says what they do. */
static bool is_wrapper(struct osc_str word)
{
    static const char *const words[] = {"Kernel",
                                        "Kernel2",
                                        "device_kernel",
                                        "kernel_entry",
                                        "kentry",
                                        "elementwise_kernel",
                                        "vectorized_elementwise_kernel",
                                        "unrolled_elementwise_kernel",
                                        "elementwise_kernel_manual_unroll",
                                        "index_elementwise_kernel",
                                        "reduce_kernel",
                                        "multi_tensor_apply_kernel",
                                        "_kernel_agent",
                                        "trampoline_kernel",
                                        "gpu_kernel_impl",
                                        "gpu_kernel_impl_nocast",
                                        "gpu_index_kernel",
                                        "BinaryFunctor",
                                        "AUnaryFunctor",
                                        "BUnaryFunctor"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (osc_str_eq(word, osc_str_c(words[i])))
            return true;
    }
    return false;
}

/* Whether the argument AT names something: it has scopes or arguments, or is no built-in type.
 */
static bool is_telling(const struct osc_symbol *y, struct osc_span at)
{
    struct osc_symbol_name name;

    if (!osc_symbol_split(y, at, false, &name) || name.suffix.from < name.suffix.to)
        return false;
    const struct osc_str word = text_of(y, name.parts[name.main].word);
    return (name.n_parts > 1 || name.parts[0].args.from > 0 || word.len > 12) &&
           !osc_str_eq(word, OSC_STR("Half")) && !osc_str_eq(word, OSC_STR("BFloat16"));
}

/* Show the first argument of NODE that names something, if no other is shown. */
static osc_status show_wrapped(struct telling *t, const struct node *node,
                               struct osc_told *told)
{
    struct osc_symbol_name name;
    struct osc_span arg;

    if (!osc_symbol_split(node->y, node->at, t->are_functions, &name) ||
        !is_wrapper(text_of(node->y, name.parts[name.main].word)))
        return OSC_OK;
    for (uint32_t i = 0; i < told->n[t->form]; i++) {
        if (kind_of(told->parts[t->form][i].place) == PLACE_ARGUMENT)
            return OSC_OK;
    }
    const struct osc_span list = name.parts[name.main].args;
    for (uint32_t at = list.from, i = 0; osc_symbol_argument(node->y, &at, list.to, &arg);
         i++) {
        struct node wrapped = {.y = node->y, .at = arg};
        struct osc_str text;

        if (!is_telling(node->y, arg))
            continue;
        const osc_status st = write_arguments(t, &wrapped, 1, &text);
        return st == OSC_OK ? add_part(t, told, make_place(PLACE_ARGUMENT, 0, i), text) : st;
    }
    return OSC_OK;
}

/* Find what is shown of the N NODES, which are sorted then; TOLD is by their index. */
static osc_status tell(struct telling *t, struct node *nodes, uint32_t n, struct osc_told *told)
{
    osc_status st = OSC_OK;

    if (t->depth >= DEPTH_MAX)
        return OSC_OK;
    osc_sort(nodes, n, sizeof *nodes, compare_keys);
    for (uint32_t from = 0, to; from < n && st == OSC_OK; from = to) {
        uint32_t n_different = 1;

        for (to = from + 1; to < n && nodes[to].key == nodes[from].key; to++)
            n_different += nodes[to].hash != nodes[to - 1].hash;
        if (n_different > 1)
            st = tell_group(t, &nodes[from], to - from, n_different, told);
    }
    for (uint32_t i = 0; i < n && st == OSC_OK; i++)
        st = show_wrapped(t, &nodes[i], &told[nodes[i].index]);
    return st;
}

osc_status osc_told_find(const struct osc_symbol *names, uint32_t n, struct osc_arena *arena,
                         struct osc_told *told)
{
    struct telling t = {
        .tell = tell, .arena = arena, .seed = osc_hash_seed(), .are_functions = true};
    struct node *const nodes = osc_calloc(n, sizeof *nodes);
    osc_status st = nodes ? OSC_OK : OSC_ENOMEM;

    for (; t.form < OSC_TOLD_FORMS; t.form++) {
        for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
            nodes[i] = (struct node){.y = &names[i], .at = {0, names[i].text.len}, .index = i};
            set_keys(&t, &nodes[i]);
            told[i].n[t.form] = 0;
        }
        if (st == OSC_OK)
            st = tell(&t, nodes, n, told);
    }
    osc_free(nodes);
    return st;
}

/* Of TEXT, if it is a name of Tensile, such as Cijk_Alik_Bljk_..._MT64x32x256_..., keep the
 * size of its tiles. */
static void keep_tile(struct osc_str text, struct osc_kept *kept)
{
    const struct osc_str mark = OSC_STR("_MT");
    const char *const at = osc_str_starts(text, OSC_STR("Cijk_"))
                               ? memmem(text.s, text.len, mark.s, mark.len)
                               : NULL;

    if (!at)
        return;
    const uint32_t from = (uint32_t)(at - text.s) + 1;
    uint32_t to = from;
    while (to < text.len && text.s[to] != '_')
        to++;
    kept->at[kept->n++] = (struct osc_span){from, to};
}

uint32_t osc_told_write(struct osc_strbuf *out, const struct osc_symbol *y,
                        const struct osc_told *told, uint32_t level, struct osc_kept *kept,
                        struct osc_span *main)
{
    struct osc_symbol_name name;

    kept->n = 0;
    *main = (struct osc_span){0, 0};
    if (!osc_symbol_split(y, (struct osc_span){0, y->text.len}, true, &name)) {
        osc_strbuf_addstr(out, y->text);
        return 0;
    }
    const uint32_t last = name.main + 2;
    const enum osc_told_form form = level == 0     ? OSC_TOLD_LONG
                                    : level < last ? OSC_TOLD_SHORT
                                                   : OSC_TOLD_SHORTEST;
    struct writing w = {.out = out,
                        .y = y,
                        .parts = told->parts[form],
                        .n = told->n[form],
                        .is_short = level > 0,
                        .kept = kept};
    const struct osc_told_part *const result =
        find_part(w.parts, w.n, make_place(PLACE_RESULT, 0, 0));
    const struct osc_told_part *const suffix =
        find_part(w.parts, w.n, make_place(PLACE_SUFFIX, 0, 0));
    if (result) {
        add_kept(&w, result->text);
        osc_strbuf_addc(out, ' ');
    }
    write_scopes(&w, &name, level > 0 ? level - 1 : 0);
    const struct osc_str word = text_of(y, name.parts[name.main].word);
    if (!is_wrapper(word))
        *main = (struct osc_span){(uint32_t)out->len, (uint32_t)out->len + word.len};
    write_part(&w, &name.parts[name.main], 0);
    write_tail(&w, &name, level == 0);
    if (suffix)
        add_kept(&w, suffix->text);
    if (kept->n == 0 && out->len > 0)
        keep_tile((struct osc_str){out->s, (uint32_t)out->len}, kept);
    return last;
}
