/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen/screen_workers.h"

#include "analysis/table_columns.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/strbuf.h"

/* One rank and span. */
struct part {
    const struct osc_answer *a;
    const struct osc_answer_block *block;
    bool has_processes; /* several, with threads */
};

static struct osc_str cell(const struct part *p, uint64_t i, uint32_t column)
{
    return osc_result_get_str(&p->block->result, i, column);
}

static bool is_thread(const struct part *p, uint64_t i)
{
    return osc_str_eq(cell(p, i, osc_column_tracks_kind), OSC_STR("thread"));
}

void osc_screen_add_name(struct osc_strbuf *out, const char *word, struct osc_str name,
                         struct osc_str id)
{
    if (name.len == 0 && osc_str_is_number(id))
        osc_strbuf_addf(out, "%s ", word);
    osc_strbuf_addstr(out, name.len > 0 ? name : id);
}

static void add_worker_name(const struct part *p, uint64_t i, struct osc_strbuf *out)
{
    if (osc_screen_has_ranks(p->a))
        osc_strbuf_addf(out, "rank %d ", p->block->rank);
    else if (p->a->n_blocks > 1)
        osc_strbuf_addf(out, "span %d ", p->block->span);
    if (!is_thread(p, i)) {
        osc_strbuf_addstr(out, cell(p, i, osc_column_tracks_parent));
        return;
    }
    const struct osc_str name = cell(p, i, osc_column_tracks_name),
                         id = cell(p, i, osc_column_tracks_thread);
    if (p->has_processes) {
        osc_screen_add_name(out, "process", cell(p, i, osc_column_tracks_process_name),
                            cell(p, i, osc_column_tracks_parent));
        osc_strbuf_adds(out, name.len + id.len > 0 ? " / " : "");
    }
    osc_screen_add_name(out, "thread", name, id);
}

/* Whether row I is a worker: a thread that was busy, or the queue that stands for a device. */
static bool is_worker(const struct part *p, uint64_t i)
{
    return osc_result_get_int(&p->block->result, i,
                              is_thread(p, i) ? osc_column_tracks_busy_ns
                                              : osc_column_tracks_device_busy_ns) > 0;
}

static bool has_processes(const struct part *p)
{
    const struct osc_result *const r = &p->block->result;
    struct osc_str first = {0};
    bool has_any = false;

    for (uint64_t i = 0; i < r->n_rows; i++) {
        if (!is_thread(p, i) || !is_worker(p, i))
            continue;
        if (has_any && !osc_str_eq(cell(p, i, osc_column_tracks_parent), first))
            return true;
        first = cell(p, i, osc_column_tracks_parent);
        has_any = true;
    }
    return false;
}

/* A worker, in all spans of its rank. */
struct worker {
    struct osc_top_row row; /* its ratio is not set */
    int64_t whole_ns;
};

struct workers {
    struct worker *v; /* owned; by id of its key, from 1 */
    size_t n, cap;
};

/* Write what the worker of row I has in common with itself in other spans. */
static void add_key(const struct part *p, uint64_t i, struct osc_strbuf *out)
{
    const uint32_t columns[] = {osc_column_tracks_kind, osc_column_tracks_parent,
                                osc_column_tracks_thread};
    const bool has_spans = !osc_screen_has_ranks(p->a); /* that are told apart */

    osc_strbuf_addf(out, "%d %d", p->block->rank, has_spans ? p->block->span : 0);
    for (size_t k = 0; k < (is_thread(p, i) ? 3 : 2); k++) {
        osc_strbuf_addc(out, '\n');
        osc_strbuf_addstr(out, cell(p, i, columns[k]));
    }
}

/* Count row I for the worker W. */
static void add_numbers(const struct part *p, uint64_t i, struct worker *w)
{
    const struct osc_result *const r = &p->block->result;
    const bool is_host = is_thread(p, i);

    w->row.is_device = !is_host;
    w->whole_ns += osc_result_get_int(r, i, osc_column_tracks_whole_ns);
    w->row.row = i;
    w->row.calls += osc_result_get_int(
        r, i, is_host ? osc_column_tracks_events : osc_column_tracks_device_events);
    w->row.ns += osc_result_get_int(
        r, i, is_host ? osc_column_tracks_busy_ns : osc_column_tracks_device_busy_ns);
}

/* Count the workers of P in ALL; their keys are in KEYS, and names in ARENA. */
static osc_status gather(const struct part *p, struct osc_intern *keys, struct osc_arena *arena,
                         struct workers *all)
{
    struct osc_strbuf text = {0};
    osc_sid id;

    for (uint64_t i = 0; i < p->block->result.n_rows && text.status == OSC_OK; i++) {
        if (!is_worker(p, i))
            continue;
        osc_strbuf_clear(&text);
        add_key(p, i, &text);
        if (text.status == OSC_OK)
            text.status =
                osc_intern_add(keys, (struct osc_str){text.s, (uint32_t)text.len}, &id);
        if (text.status == OSC_OK)
            text.status = osc_grow(&all->v, &all->cap, (size_t)id.v + 1, sizeof *all->v);
        if (text.status != OSC_OK)
            break;
        struct worker *const w = &all->v[id.v];
        if (id.v > all->n) { /* a new one */
            all->n = id.v;
            *w = (struct worker){0};
            osc_strbuf_clear(&text);
            add_worker_name(p, i, &text);
            const char *const name = osc_arena_dup(arena, text.s ? text.s : "", text.len);
            if (!name)
                text.status = OSC_ENOMEM;
            w->row.name = (struct osc_str){name, (uint32_t)text.len};
        }
        add_numbers(p, i, w);
    }
    const osc_status st = text.status;
    osc_strbuf_fini(&text);
    return st;
}

/* Put DEVICE, the busiest, before the N rows; it may be one of them. */
static unsigned put_first(struct osc_top_row *rows, unsigned n, unsigned max,
                          const struct osc_top_row *device)
{
    unsigned at = 0;

    while (at < n && rows[at].name.s != device->name.s)
        at++;
    if (at == n)
        n += n < max;
    for (unsigned k = at < n ? at : n - 1; k > 0; k--)
        rows[k] = rows[k - 1];
    rows[0] = *device;
    return n;
}

osc_status osc_screen_find_workers(const struct osc_screen *s, struct osc_arena *arena,
                                   struct osc_top_row *rows, unsigned max, unsigned *n_rows,
                                   uint64_t *n_all)
{
    const struct osc_answer *const a = osc_screen_answer(s, OSC_SCREEN_TRACKS);
    struct osc_intern keys = {.arena = arena, .seed = osc_hash_seed()};
    struct osc_top_row device = {0};
    struct workers all = {0};
    osc_status st = OSC_OK;

    for (uint32_t b = 0; b < a->n_blocks && st == OSC_OK; b++) {
        struct part p = {.a = a, .block = &a->blocks[b]};

        p.has_processes = has_processes(&p);
        st = gather(&p, &keys, arena, &all);
    }
    *n_rows = 0;
    *n_all = all.n;
    for (size_t k = 1; k <= all.n && st == OSC_OK; k++) {
        struct worker *const w = &all.v[k];

        w->row.ratio = w->whole_ns > 0 ? (double)w->row.ns / (double)w->whole_ns : 0;
        device = w->row.is_device && w->row.ns > device.ns ? w->row : device;
        *n_rows = osc_top_insert(rows, *n_rows, max, &w->row);
    }
    if (device.ns > 0)
        *n_rows = put_first(rows, *n_rows, max, &device);
    osc_intern_fini(&keys);
    osc_free(all.v);
    return st;
}
