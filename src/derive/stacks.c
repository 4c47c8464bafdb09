/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/stacks.h"

#include "base/mem.h"

struct open_frame {
    int64_t end_ns;
    uint32_t stack;
};

struct walk {
    const struct osc_trace *t;
    const struct osc_classes *c;
    const struct osc_order *order;
    struct osc_stacks *s;
    struct osc_idmap known;    /* caller and frame -> stack */
    struct open_frame *frames; /* owned */
    size_t n, cap;
};

/* Find or add the stack of FRAME called by CALLER. */
static osc_status find_stack(struct walk *w, uint32_t caller, uint32_t frame, uint32_t *stack)
{
    struct osc_stacks *const s = w->s;
    uint32_t *const place = osc_idmap_put(&w->known, (uint64_t)caller << 32 | frame);

    if (!place)
        return OSC_ENOMEM;
    if (*place == 0) {
        if (s->n_stacks == s->cap_stacks &&
            osc_grow(&s->stacks, &s->cap_stacks, s->n_stacks + 1, sizeof *s->stacks) != OSC_OK)
            return OSC_ENOMEM;
        s->stacks[s->n_stacks++] = (struct osc_stack){caller, {frame}};
        *place = (uint32_t)s->n_stacks;
    }
    *stack = *place;
    return OSC_OK;
}

static osc_status walk_track(struct walk *w, uint32_t track)
{
    w->n = 0;
    for (uint32_t at = w->order->first[track]; at < w->order->first[track + 1]; at++) {
        const osc_row row = {w->order->rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(&w->t->events, row);
        const uint32_t i = osc_row_place(row);
        const int64_t start_ns = c->ts_ns[i], end_ns = start_ns + c->dur_ns[i];

        while (w->n > 0 &&
               (w->frames[w->n - 1].end_ns <= start_ns || w->frames[w->n - 1].end_ns < end_ns))
            w->n--;
        uint32_t stack = w->n > 0 ? w->frames[w->n - 1].stack : 0;
        w->s->of_place[at] = stack;
        if (!(w->c->forms[c->form[i]] & OSC_FORM_FUNCTION))
            continue;
        if (find_stack(w, stack, c->name[i], &stack) != OSC_OK ||
            osc_grow(&w->frames, &w->cap, w->n + 1, sizeof *w->frames) != OSC_OK)
            return OSC_ENOMEM;
        w->frames[w->n++] = (struct open_frame){end_ns, stack};
    }
    return OSC_OK;
}

osc_status osc_stacks_make(const struct osc_trace *t, const struct osc_classes *c,
                           const struct osc_order *order, struct osc_stacks *s)
{
    struct walk w = {.t = t, .c = c, .order = order, .s = s};
    osc_status st = OSC_OK;

    *s = (struct osc_stacks){0};
    s->of_place_bytes = ((size_t)order->n_rows + 1) * sizeof *s->of_place;
    s->of_place = osc_pages_alloc(s->of_place_bytes);
    if (!s->of_place)
        return OSC_ENOMEM;
    for (uint32_t k = 0; k < order->n_tracks && st == OSC_OK; k++)
        st = walk_track(&w, order->tracks[k]);
    osc_idmap_fini(&w.known);
    osc_free(w.frames);
    if (st != OSC_OK)
        osc_stacks_fini(s);
    return st;
}

void osc_stacks_fini(struct osc_stacks *s)
{
    osc_free(s->stacks);
    osc_pages_free(s->of_place, s->of_place_bytes);
    *s = (struct osc_stacks){0};
}

void osc_stacks_text(const struct osc_stacks *s, const struct osc_trace *t, uint32_t stack,
                     struct osc_strbuf *out)
{
    for (uint32_t n = 0; stack != 0 && n < OSC_STACK_FRAMES_MAX; n++) {
        if (n > 0)
            osc_strbuf_addc(out, ';');
        osc_strbuf_addstr(out, osc_trace_str(t, s->stacks[stack - 1].frame));
        stack = s->stacks[stack - 1].caller;
    }
    if (stack != 0)
        osc_strbuf_adds(out, ";...");
}
