/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stacks/call_samples.h"

#include "base/hash.h"
#include "base/mem.h"
#include "codec/json.h"

#define UNKNOWN OSC_STR("[unknown]")

struct frame {
    struct osc_str text; /* borrowed: its object */
    uint32_t stack;      /* in the tree, + 1; 0: not pushed */
    bool is_met;         /* on the path that is walked */
};

/* The frames of a trace; frame N, the N-th id, is at N - 1. */
struct frames {
    struct osc_stack_tree *tree;
    uint32_t root; /* in tree */
    struct osc_arena arena;
    struct osc_intern ids;
    struct frame *all;   /* owned */
    size_t cap;          /* of all */
    uint32_t *path;      /* owned; frames, the innermost first */
    struct osc_strbuf s; /* a string without its escapes */
};

/* The bytes of the raw VALUE; of a string, without quotation marks and escapes, in F->s. */
static struct osc_str plain(struct frames *f, struct osc_str value)
{
    if (value.len < 2 || value.s[0] != '"')
        return value;
    osc_strbuf_clear(&f->s);
    (void)osc_json_unescape(value.s + 1, value.s + value.len - 1, &f->s);
    return (struct osc_str){f->s.len > 0 ? f->s.s : "", (uint32_t)f->s.len};
}

/* List the frames of the object TEXT; of two with one id, the last. */
static osc_status list_frames(struct frames *f, struct osc_str text)
{
    struct osc_str key, value;
    osc_status st = OSC_OK;

    while (st == OSC_OK && osc_json_next_member(&text, &key, &value)) {
        osc_sid id;

        osc_strbuf_clear(&f->s);
        (void)osc_json_unescape(key.s, key.s + key.len, &f->s);
        st = osc_intern_add(
            &f->ids, (struct osc_str){f->s.len > 0 ? f->s.s : "", (uint32_t)f->s.len}, &id);
        if (st != OSC_OK || id.v == 0) /* an empty id names nothing */
            continue;
        if (id.v > f->cap) {
            const size_t cap = f->cap > 0 ? f->cap * 2 : 64;
            struct frame *const all = osc_realloc(f->all, cap * sizeof *all);

            if (!all)
                return OSC_ENOMEM;
            f->all = all;
            f->cap = cap;
        }
        f->all[id.v - 1] = (struct frame){.text = value};
    }
    if (st == OSC_OK && f->s.status != OSC_OK)
        st = f->s.status;
    if (st == OSC_OK && f->ids.n_entries > 0) {
        f->path = osc_calloc(f->ids.n_entries, sizeof *f->path);
        st = f->path ? OSC_OK : OSC_ENOMEM;
    }
    return st;
}

/* The frame that member KEY of the object TEXT names; 0: none. */
static uint32_t named_frame(struct frames *f, struct osc_str text, const char *key)
{
    struct osc_str value;

    return osc_json_member(text, key, &value) ? osc_intern_find(&f->ids, plain(f, value)).v : 0;
}

/* Push frame ID after those that called it; *STACK is its stack. */
static osc_status push_frame(struct frames *f, uint32_t id, uint32_t *stack)
{
    struct osc_str name;
    osc_status st = OSC_OK;
    size_t n = 0;

    while (id != 0 && f->all[id - 1].stack == 0 && !f->all[id - 1].is_met) {
        f->all[id - 1].is_met = true;
        f->path[n++] = id;
        id = named_frame(f, f->all[id - 1].text, "parent");
    }
    *stack = id != 0 && f->all[id - 1].stack != 0 ? f->all[id - 1].stack - 1 : f->root;
    while (st == OSC_OK && n > 0) {
        struct frame *const frame = &f->all[f->path[--n] - 1];
        const bool has_name =
            osc_json_member(frame->text, "name", &name) && name.len >= 2 && name.s[0] == '"';

        st = osc_stack_tree_push(f->tree, *stack, has_name ? plain(f, name) : UNKNOWN, stack);
        frame->stack = *stack + 1;
        frame->is_met = false;
    }
    return st;
}

/* The times that the sample TEXT counts. */
static int64_t weight_of(struct frames *f, struct osc_str text)
{
    struct osc_str value;
    int64_t weight;

    return osc_json_member(text, "weight", &value) && osc_json_int(plain(f, value), &weight) &&
                   weight > 0
               ? weight
               : 1;
}

static osc_status fold(struct frames *f, struct osc_str samples, bool *has_any)
{
    struct osc_str sample;
    osc_status st = OSC_OK;

    while (st == OSC_OK && osc_json_next(&samples, &sample)) {
        const uint32_t id = named_frame(f, sample, "sf");
        uint32_t stack;

        *has_any = true;
        st = id != 0 ? push_frame(f, id, &stack)
                     : osc_stack_tree_push(f->tree, f->root, UNKNOWN, &stack);
        if (st == OSC_OK)
            osc_stack_tree_add(f->tree, stack, weight_of(f, sample));
        if (f->s.status != OSC_OK)
            st = f->s.status;
    }
    return st;
}

osc_status osc_call_samples_fold(const struct osc_trace *t, uint32_t root,
                                 struct osc_stack_tree *tree, bool *has_any)
{
    struct frames f = {.tree = tree, .root = root, .ids.seed = osc_hash_seed()};
    struct osc_str frames = OSC_STR("");
    osc_status st = OSC_OK;

    f.ids.arena = &f.arena;
    (void)osc_trace_meta(t, "stackFrames", &frames);
    st = list_frames(&f, frames);
    /* Several documents in one file have a list each. */
    for (uint32_t i = 0; i < t->n_metas && st == OSC_OK; i++) {
        const struct osc_meta *const m = &t->metas[i];

        if (!m->is_string && osc_str_eq(osc_trace_str(t, m->key), OSC_STR("samples")))
            st = fold(&f, osc_trace_str(t, m->value), has_any);
    }
    osc_free(f.all);
    osc_free(f.path);
    osc_strbuf_fini(&f.s);
    osc_intern_fini(&f.ids);
    osc_arena_fini(&f.arena);
    return st;
}
