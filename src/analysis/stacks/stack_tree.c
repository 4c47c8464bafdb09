/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stacks/stack_tree.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/utf8.h"

#define FRAME_BYTES_MAX 4096u
#define PIECE_BYTES     ((size_t)1 << 20)

void osc_stack_tree_init(struct osc_stack_tree *tree)
{
    *tree = (struct osc_stack_tree){.n_nodes = 0};
    tree->frames.arena = &tree->arena;
    tree->frames.seed = osc_hash_seed();
}

void osc_stack_tree_fini(struct osc_stack_tree *tree)
{
    osc_free(tree->nodes);
    osc_intern_fini(&tree->frames);
    osc_arena_fini(&tree->arena);
    osc_idmap_fini(&tree->known);
    osc_strbuf_fini(&tree->scratch);
    *tree = (struct osc_stack_tree){.n_nodes = 0};
}

/* Write FRAME to OUT, cleaned. */
static void clean(struct osc_strbuf *out, struct osc_str frame, bool keeps_blanks)
{
    osc_strbuf_clear(out);
    if (frame.len > FRAME_BYTES_MAX) {
        frame.len = FRAME_BYTES_MAX;
        while (frame.len > 0 && ((unsigned char)frame.s[frame.len] & 0xc0) == 0x80)
            frame.len--; /* do not cut inside a character */
    }
    osc_utf8_append_clean(out, frame);
    if (out->status == OSC_OK && out->len == 0)
        osc_strbuf_addc(out, '_');
    size_t n = 0;
    for (size_t i = 0; i < out->len; i++) {
        const unsigned char c = (unsigned char)out->s[i];
        const bool is_c1 = c == 0xc2 && (unsigned char)out->s[i + 1] < 0xa0; /* U+0080-9F */
        char fit = out->s[i];

        if (c < ' ' || (c == ' ' && !keeps_blanks) || c == ';' || c == 0x7f || is_c1)
            fit = '_';
        out->s[n++] = fit;
        i += is_c1;
    }
    out->len = n;
}

osc_status osc_stack_tree_push(struct osc_stack_tree *tree, uint32_t caller,
                               struct osc_str frame, uint32_t *node)
{
    const uint32_t depth = caller == 0 ? 0 : tree->nodes[caller - 1].depth;
    osc_sid id;

    *node = caller;
    if (depth >= OSC_STACK_TREE_DEPTH)
        return OSC_OK;
    clean(&tree->scratch, frame, tree->keeps_blanks);
    if (tree->scratch.status != OSC_OK)
        return tree->scratch.status;
    const osc_status st = osc_intern_add(
        &tree->frames, (struct osc_str){tree->scratch.s, (uint32_t)tree->scratch.len}, &id);
    if (st != OSC_OK)
        return st;
    uint32_t *const known = osc_idmap_put(&tree->known, (uint64_t)caller << 32 | id.v);
    if (!known)
        return OSC_ENOMEM;
    if (*known == 0) {
        if (tree->n_nodes == tree->cap_nodes &&
            osc_grow(&tree->nodes, &tree->cap_nodes, tree->n_nodes + 1, sizeof *tree->nodes) !=
                OSC_OK)
            return OSC_ENOMEM;
        tree->nodes[tree->n_nodes++] =
            (struct osc_stack_node){.caller = caller, .frame = id, .depth = depth + 1};
        *known = (uint32_t)tree->n_nodes;
    }
    *node = *known;
    return OSC_OK;
}

void osc_stack_tree_add(struct osc_stack_tree *tree, uint32_t node, int64_t value)
{
    if (node == 0)
        return;
    int64_t *const sum = &tree->nodes[node - 1].value;
    if (__builtin_add_overflow(*sum, value, sum))
        *sum = value < 0 ? INT64_MIN : INT64_MAX;
}

void osc_stack_tree_text(const struct osc_stack_tree *tree, uint32_t node,
                         struct osc_strbuf *out)
{
    osc_sid frames[OSC_STACK_TREE_DEPTH];
    uint32_t n = 0;

    for (; node != 0; node = tree->nodes[node - 1].caller)
        frames[n++] = tree->nodes[node - 1].frame;
    while (n > 0) {
        osc_strbuf_addstr(out, osc_intern_str(&tree->frames, frames[--n]));
        if (n > 0)
            osc_strbuf_addc(out, ';');
    }
}

static int by_caller_and_frame(const void *x, const void *y, void *ctx)
{
    const struct osc_stack_tree *const tree = ctx;
    const struct osc_stack_node *const a = &tree->nodes[*(const uint32_t *)x - 1];
    const struct osc_stack_node *const b = &tree->nodes[*(const uint32_t *)y - 1];

    if (a->caller != b->caller)
        return a->caller < b->caller ? -1 : 1;
    return osc_str_cmp(osc_intern_str(&tree->frames, a->frame),
                       osc_intern_str(&tree->frames, b->frame));
}

/* A position of the walk among the callees of a stack. */
struct level {
    size_t next, end;
    size_t len; /* of the text of the stack */
};

/* Where lines go. */
struct writing {
    osc_status (*write)(void *ctx, const char *s, size_t len);
    void *ctx;
};

/*
 * Write the lines of SORTED, all nodes sorted by caller and frame; the callees of node K are
 * from first[K] up to first[K + 1].
 */
static osc_status write_sorted(const struct osc_stack_tree *tree, const uint32_t *sorted,
                               const size_t *first, const struct writing *to, uint64_t *n_lines)
{
    struct level levels[OSC_STACK_TREE_DEPTH + 1] = {{first[0], first[1], 0}};
    struct osc_strbuf path = {0}, out = {0};
    osc_status st = OSC_OK;

    for (uint32_t depth = 1; depth > 0 && st == OSC_OK;) {
        struct level *const level = &levels[depth - 1];

        if (level->next == level->end) {
            depth--;
            continue;
        }
        const uint32_t node = sorted[level->next++];
        path.len = level->len;
        if (path.len > 0)
            osc_strbuf_addc(&path, ';');
        osc_strbuf_addstr(&path, osc_intern_str(&tree->frames, tree->nodes[node - 1].frame));
        st = path.status;
        if (st == OSC_OK && tree->nodes[node - 1].value > 0) {
            osc_strbuf_add(&out, path.s, path.len);
            osc_strbuf_addf(&out, " %lld\n", (long long)tree->nodes[node - 1].value);
            st = out.status;
            ++*n_lines;
        }
        if (first[node] < first[node + 1])
            levels[depth++] = (struct level){first[node], first[node + 1], path.len};
        if (st == OSC_OK && out.len >= PIECE_BYTES) {
            st = to->write(to->ctx, out.s, out.len);
            osc_strbuf_clear(&out);
        }
    }
    if (st == OSC_OK && out.len > 0)
        st = to->write(to->ctx, out.s, out.len);
    osc_strbuf_fini(&path);
    osc_strbuf_fini(&out);
    return st;
}

osc_status osc_stack_tree_write(const struct osc_stack_tree *tree,
                                osc_status (*write)(void *ctx, const char *s, size_t len),
                                void *ctx, uint64_t *n_lines)
{
    const struct writing to = {write, ctx};
    const size_t n = tree->n_nodes;
    uint32_t *const sorted = osc_malloc((n + 1) * sizeof *sorted);
    size_t *const first = osc_calloc(n + 2, sizeof *first);
    osc_status st = sorted && first ? OSC_OK : OSC_ENOMEM;

    *n_lines = 0;
    if (st == OSC_OK) {
        for (size_t i = 0; i < n; i++) {
            sorted[i] = (uint32_t)i + 1;
            first[tree->nodes[i].caller + 1]++;
        }
        for (size_t i = 0; i <= n; i++)
            first[i + 1] += first[i];
        struct osc_stack_tree by = *tree; /* osc_sort_with() takes a pointer to non-const */
        osc_sort_with(sorted, n, sizeof *sorted, by_caller_and_frame, &by);
        st = write_sorted(tree, sorted, first, &to, n_lines);
    }
    osc_free(sorted);
    osc_free(first);
    return st;
}
