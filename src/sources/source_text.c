/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/source_text.h"

#include <string.h>

#include "sources/source_memory.h"

#define ROOT_BITS 12u
#define NODE_BITS 6u

__extension__ typedef unsigned __int128 wide;

/*
 * A tree over the hash: 12 bits choose a slot of the root, 6 more a slot of each node below. A
 * slot is empty, or points to an entry (the head of a chain of entries with the same hash), or,
 * with bit 0 set, to a node. Nothing is ever removed: a slot is filled once, and a node may
 * replace an entry that it holds. So readers need no lock.
 */
struct node {
    _Atomic(void *) slots[1u << NODE_BITS];
};

static _Atomic(void *) root[1u << ROOT_BITS];

/* The entry for texts that do not fit; it is named at first use. */
#define OVERFLOW_TEXT "(more names than there is room for)"
static union {
    struct osc_text text;
    char room[sizeof(struct osc_text) + sizeof OVERFLOW_TEXT];
} overflow;
/* The empty text, with its NUL. */
static union {
    struct osc_text text;
    char room[sizeof(struct osc_text) + 1];
} empty;

static struct osc_text *overflowing(void)
{
    /* Every thread writes the same. */
    overflow.text.len = sizeof OVERFLOW_TEXT - 1;
    memcpy(overflow.text.bytes, OVERFLOW_TEXT, sizeof OVERFLOW_TEXT);
    return &overflow.text;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    const wide product = (wide)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t read_u64(const char *s)
{
    uint64_t x;

    memcpy(&x, s, sizeof x);
    return x;
}

static uint64_t hash_of(const char *s, size_t len)
{
    uint64_t hash = len ^ UINT64_C(0x9e3779b97f4a7c15), last = 0;
    size_t left = len;

    for (; left > 8; left -= 8, s += 8)
        hash = mix(hash ^ read_u64(s), UINT64_C(0xd6e8feb86659fd93));
    if (len >= 8)
        last = read_u64(s + left - 8);
    else
        memcpy(&last, s, left);
    return mix(hash ^ last, UINT64_C(0xa0761d6478bd642f));
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

bool osc_text_reads_as_operator(const char *s, size_t len)
{
    size_t i = 0;

    while (i < len && is_word_byte(s[i]))
        i++;
    return i > 0 && (s[0] < '0' || s[0] > '9') && i + 2 < len && s[i] == ':' && s[i + 1] == ':';
}

static struct osc_text *new_text(const char *s, size_t len, uint64_t hash)
{
    struct osc_text *const text = osc_source_memory(sizeof *text + len + 1);

    if (!text)
        return NULL;
    memcpy(text->bytes, s, len);
    text->hash = hash;
    text->len = len;
    text->is_operator = osc_text_reads_as_operator(s, len);
    (void)osc_text_name(text);
    return text;
}

/* The text in the chain that starts at AT, or a new one at its end. NULL: no memory. */
static struct osc_text *find_in_chain(struct osc_text *at, const char *s, size_t len)
{
    struct osc_text *made = NULL, *next;
    const uint64_t hash = at->hash;

    while (at->len != len || memcmp(at->bytes, s, len) != 0) {
        /* Acquire pairs with the release below. */
        next = atomic_load_explicit(&at->next, memory_order_acquire);
        if (!next) {
            made = made ? made : new_text(s, len, hash);
            if (!made)
                return NULL;
            if (atomic_compare_exchange_strong_explicit(
                    &at->next, &next, made, memory_order_release, memory_order_acquire))
                return made;
        }
        at = next;
    }
    return at;
}

/* The node that the slot value THERE points to; NULL if it is an entry or empty. */
static struct node *node_of(void *there)
{
    void *const node = (uintptr_t)there & 1 ? (char *)there - 1 : NULL;

    return node;
}

/* Replace the entry THERE in *SLOT by a node that holds it. False: no memory. */
static bool split(_Atomic(void *) *slot, struct osc_text *there, uint32_t shift)
{
    struct node *const node = osc_source_memory(sizeof *node);
    void *seen = there;

    if (!node)
        return false;
    atomic_store_explicit(&node->slots[(there->hash >> shift) % (1u << NODE_BITS)], there,
                          memory_order_relaxed);
    /* Release pairs with the acquire in find_slot(). If another thread was first, its
     * node is as good. */
    atomic_compare_exchange_strong_explicit(slot, &seen, (char *)node + 1, memory_order_release,
                                            memory_order_relaxed);
    return true;
}

/* The slot for HASH; *SHIFT: how many bits of it led there; *THERE: its value, which is not a
 * node. */
static _Atomic(void *) *find_slot(uint64_t hash, uint32_t *shift, void **there)
{
    _Atomic(void *) *slot = &root[hash % (1u << ROOT_BITS)];

    /* Acquire pairs with the releases in split() and osc_text_find(). */
    *there = atomic_load_explicit(slot, memory_order_acquire);
    for (*shift = ROOT_BITS; node_of(*there); *shift += NODE_BITS) {
        slot = &node_of(*there)->slots[(hash >> *shift) % (1u << NODE_BITS)];
        *there = atomic_load_explicit(slot, memory_order_acquire);
    }
    return slot;
}

struct osc_text *osc_text_find(const char *s, size_t len)
{
    struct osc_text *made = NULL;

    if (!s || len == 0)
        return &empty.text;
    len = len < OSC_TEXT_LEN_MAX ? len : OSC_TEXT_LEN_MAX;
    const uint64_t hash = hash_of(s, len);
    for (;;) {
        uint32_t shift;
        void *there;
        _Atomic(void *) *const slot = find_slot(hash, &shift, &there);
        struct osc_text *const other = there;

        if (other && other->hash == hash) {
            struct osc_text *const text = find_in_chain(other, s, len);

            return text ? text : overflowing();
        }
        if (other) {
            if (!split(slot, other, shift))
                return overflowing();
            continue;
        }
        made = made ? made : new_text(s, len, hash);
        if (!made)
            return overflowing();
        /* Release pairs with the acquire in find_slot(). */
        if (atomic_compare_exchange_strong_explicit(slot, &there, made, memory_order_release,
                                                    memory_order_relaxed))
            return made;
    }
}

struct osc_text *osc_text_find_c(const char *s)
{
    return osc_text_find(s, s ? strlen(s) : 0);
}

void *osc_text_set_view(struct osc_text *text, enum osc_text_view view, void *made)
{
    void *there = NULL;

    return atomic_compare_exchange_strong_explicit(&text->views[view], &there, made,
                                                   memory_order_release, memory_order_acquire)
               ? made
               : there;
}
