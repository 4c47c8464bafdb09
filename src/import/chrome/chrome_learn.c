/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/chrome_learn.h"

#include <string.h>

#if defined(__x86_64__)
#define HAS_AVX2_KERNEL 1
#else
#define HAS_AVX2_KERNEL 0
#endif

static bool cpu_has_avx2(void)
{
#if HAS_AVX2_KERNEL
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

void osc_chrome_layouts_free(struct osc_chrome_layouts *l)
{
    if (!l)
        return;
    osc_arena_fini(&l->arena);
    osc_free(l->nodes);
    osc_free(l);
}

osc_status osc_chrome_layouts_new(struct osc_chrome_layouts **l, const char *kernel)
{
    const bool wants_avx2 = kernel ? strcmp(kernel, "avx2") == 0 : cpu_has_avx2();

    *l = NULL;
    if (kernel && strcmp(kernel, "none") == 0)
        return OSC_OK;
    if (kernel && strcmp(kernel, "plain") != 0 && !(wants_avx2 && cpu_has_avx2()))
        return OSC_EINVAL;

    struct osc_chrome_layouts *layouts = osc_calloc(1, sizeof *layouts);
    if (!layouts)
        return OSC_ENOMEM;
    layouts->nodes = osc_calloc(OSC_LAYOUT_NODES_MAX, sizeof *layouts->nodes);
    if (!layouts->nodes) {
        osc_chrome_layouts_free(layouts);
        return OSC_ENOMEM;
    }
    layouts->n_nodes = 1;
    /* A missing child is index 0, the root; so the root's literal must never match. */
    static struct osc_layout_end nowhere;
    layouts->nodes[0].literal = "                                ";
    layouts->nodes[0].looks_at_class = true;
    layouts->nodes[0].end = &nowhere;
    layouts->fast = osc_chrome_fast_plain;
#if HAS_AVX2_KERNEL
    if (wants_avx2)
        layouts->fast = osc_chrome_fast_avx2;
#endif
    *l = layouts;
    return OSC_OK;
}

/* Whether A and B are equal, apart from their position in the tree. */
static bool same_node(const struct osc_layout_node *a, const struct osc_layout_node *b)
{
    if (a->len != b->len || memcmp(a->literal, b->literal, a->len) != 0 || !a->end != !b->end)
        return false;
    return a->end || (a->role == b->role && a->class == b->class &&
                      a->is_member == b->is_member && a->key.v == b->key.v);
}

/* Copy NODE's words and literal; zeros follow it for kernels that load 32 bytes. */
static bool keep_literal(struct osc_chrome_layouts *l, struct osc_layout_node *node)
{
    const size_t room = ((size_t)node->len + 63) & ~(size_t)31;

    if (l->arena.total_bytes > OSC_LAYOUT_BYTES_MAX)
        return false;
    char *copy = osc_arena_calloc(&l->arena, room, 1);
    struct osc_slot *words = osc_arena_calloc(&l->arena, node->n_words + 1, sizeof *words);
    if (!copy || !words)
        return false;
    memcpy(copy, node->literal, node->len);
    node->literal = copy;
    if (node->n_words > 0)
        memcpy(words, node->words, node->n_words * sizeof *words);
    node->words = words;
    return true;
}

/* Gather the words among the marks of C from *I on, up to the next value or the last mark. They
 * are stored in the slots of C's record, which is built already. */
static uint32_t gather_words(struct osc_chrome *c, size_t *i)
{
    uint32_t n = 0;

    for (; *i < c->n_marks && c->marks[*i].role == OSC_ROLE_WORD; ++*i) {
        const struct osc_chrome_mark *const m = &c->marks[*i];

        c->slots[n++] =
            (struct osc_slot){.key = m->key, .type = m->word, .is_member = m->is_member};
    }
    return n;
}

/* Find or add the child of PARENT that equals WANTED. 0: no room. */
static uint32_t find_or_add(struct osc_chrome_layouts *l, uint32_t parent,
                            const struct osc_layout_node *wanted)
{
    struct osc_layout_node node = *wanted;
    uint32_t n_siblings = 0;

    for (uint32_t i = l->nodes[parent].child; i != 0; i = l->nodes[i].sibling) {
        struct osc_layout_node *other = &l->nodes[i];

        if (same_node(other, wanted))
            return i;
        if (other->len == node.len && memcmp(other->literal, node.literal, node.len) == 0)
            other->looks_at_class = node.looks_at_class = true;
        n_siblings++;
    }
    if (l->n_nodes == OSC_LAYOUT_NODES_MAX || n_siblings >= OSC_LAYOUT_SIBLINGS_MAX ||
        !keep_literal(l, &node))
        return 0;
    if (wanted->end) {
        node.end = osc_arena_calloc(&l->arena, 1, sizeof *node.end);
        if (!node.end)
            return 0;
        *node.end = *wanted->end;
    }
    node.sibling = l->nodes[parent].child;
    node.parent = parent;
    node.head_mask = node.len < 32 ? (UINT32_C(1) << node.len) - 1 : UINT32_MAX;
    if (node.role == OSC_ROLE_ARG || node.role == OSC_ROLE_PID || node.role == OSC_ROLE_TID)
        node.last.trust = OSC_LAYOUT_TRUST_FIRST;
    l->nodes[l->n_nodes] = node;
    l->nodes[parent].child = l->n_nodes;
    return l->n_nodes++;
}

void osc_chrome_learn(struct osc_chrome *c, uint64_t offset)
{
    struct osc_chrome_layouts *l = c->layouts;
    const struct osc_record *r = &c->record;
    const char *text = c->text.p - (osc_text_offset(&c->text, c->text.p) - offset);
    const char *at = text;
    uint32_t n_numbers = 0, n_last_words = 0, node = 0;
    bool has_dur = false;

    for (size_t i = 0; i < c->n_marks; i++) {
        n_numbers += c->marks[i].role == OSC_ROLE_ARG && c->marks[i].class == OSC_CLASS_NUMBER;
        has_dur |= c->marks[i].role == OSC_ROLE_DUR;
    }
    if (c->n_marks == 0 || c->n_marks > OSC_LAYOUT_VALUES_MAX ||
        n_numbers > OSC_LAYOUT_NUMBERS_MAX || memchr(text, '\0', (size_t)(c->text.p - text)) ||
        (r->shape == OSC_SHAPE_RANGE) != has_dur || r->shape == OSC_SHAPE_COUNTER)
        return;
    for (size_t i = 0;; i++) {
        const uint32_t n_words = gather_words(c, &i);
        if (i == c->n_marks) {
            n_last_words = n_words;
            break;
        }
        const struct osc_chrome_mark *m = &c->marks[i];
        const char *start = text + (m->start - offset);
        const struct osc_layout_node wanted = {.literal = at,
                                               .len = (uint32_t)(start - at),
                                               .role = m->role,
                                               .class = m->class,
                                               .is_member = m->is_member,
                                               .key = m->key,
                                               .words = c->slots,
                                               .n_words = n_words};

        node = find_or_add(l, node, &wanted);
        if (node == 0)
            return;
        at = text + (m->end - offset);
    }
    struct osc_layout_end end = {.chrome_ph = r->chrome_ph,
                                 .shape = r->shape,
                                 .has_args = r->has_args,
                                 .category = r->category,
                                 .is_event = osc_shape_is_event((enum osc_form_shape)r->shape),
                                 .is_device = r->is_device,
                                 .is_call = r->is_call};
    const struct osc_layout_node last = {.literal = at,
                                         .len = (uint32_t)(c->text.p - at),
                                         .end = &end,
                                         .words = c->slots,
                                         .n_words = n_last_words};
    find_or_add(l, node, &last);
}

static enum osc_arg_type type_of(const struct osc_layout_node *node, uint64_t signature,
                                 uint32_t *n_numbers)
{
    static const enum osc_arg_type numbers[] = {OSC_ARG_INT32, OSC_ARG_INT64, OSC_ARG_DOUBLE,
                                                OSC_ARG_NULL};

    if (node->class == OSC_CLASS_STRING)
        return OSC_ARG_STRING;
    if (node->class == OSC_CLASS_NESTED)
        return OSC_ARG_TEXT;
    return numbers[signature >> 2 * --*n_numbers & 3];
}

static void add_words(struct osc_record *r, const struct osc_layout_node *node)
{
    for (uint32_t i = 0; i < node->n_words; i++)
        r->slots[r->n_slots++] = node->words[i];
}

osc_form_id osc_chrome_layout_form(struct osc_chrome *c, struct osc_layout_end *end,
                                   uint32_t last, uint64_t signature)
{
    uint32_t n_numbers = 0;
    uint32_t path[OSC_LAYOUT_VALUES_MAX + 1], n_path = 0; /* the last value first */
    uint32_t n_slots = c->layouts->nodes[last].n_words;
    for (uint32_t k = c->layouts->nodes[last].parent; k != 0; k = c->layouts->nodes[k].parent) {
        const struct osc_layout_node *node = &c->layouts->nodes[k];

        path[n_path++] = k;
        n_slots += node->n_words + 1;
        n_numbers += node->role == OSC_ROLE_ARG && node->class == OSC_CLASS_NUMBER;
    }
    struct osc_record r = {.chrome_ph = end->chrome_ph,
                           .shape = end->shape,
                           .is_device = end->is_device,
                           .is_call = end->is_call,
                           .has_args = end->has_args,
                           .category = end->category};

    if (osc_grow(&c->slots, &c->cap_slots, n_slots, sizeof *c->slots) != OSC_OK) {
        c->builder->status = OSC_ENOMEM;
        return (osc_form_id){0};
    }
    r.slots = c->slots;
    while (n_path > 0) {
        const struct osc_layout_node *node = &c->layouts->nodes[path[--n_path]];

        add_words(&r, node);
        if (node->role != OSC_ROLE_ARG)
            continue;
        r.slots[r.n_slots++] =
            (struct osc_slot){.key = node->key,
                              .type = (uint8_t)type_of(node, signature, &n_numbers),
                              .is_member = node->is_member};
    }
    add_words(&r, &c->layouts->nodes[last]);
    const osc_form_id form = osc_build_form(c->builder, &r);
    const uint32_t at = end->n_memo++ % OSC_LAYOUT_MEMO;
    end->memo[at].signature = signature;
    end->memo[at].form = form;
    return form;
}

char *osc_chrome_layout_escaped(struct osc_chrome *c, char *p, char *at, osc_sid *id)
{
    char *end = c->text.end;

    while (at < end && *at != '"') {
        if ((unsigned char)*at < 0x20)
            return NULL;
        at += *at == '\\' ? 2 : 1;
    }
    if (at >= end)
        return NULL;
    osc_strbuf_clear(&c->scratch);
    if (osc_json_unescape(p, at, &c->scratch) != 0 || c->scratch.status != OSC_OK)
        return NULL;
    *id = osc_build_string(c->builder, c->scratch.s ? c->scratch.s : "",
                           (uint32_t)c->scratch.len);
    return at;
}
