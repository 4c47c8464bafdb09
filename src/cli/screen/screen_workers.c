/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen/screen_workers.h"

#include "analysis/table_columns.h"
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

/* The numbers of row I. */
static struct osc_top_row numbers_of(const struct part *p, uint64_t i)
{
    const struct osc_result *const r = &p->block->result;
    const bool is_host = is_thread(p, i);
    const double whole_ns = (double)osc_result_get_int(r, i, osc_column_tracks_whole_ns);
    struct osc_top_row row = {
        .row = i,
        .calls = osc_result_get_int(
            r, i, is_host ? osc_column_tracks_events : osc_column_tracks_device_events),
        .ns = osc_result_get_int(
            r, i, is_host ? osc_column_tracks_busy_ns : osc_column_tracks_device_busy_ns),
    };

    row.ratio = whole_ns > 0 ? (double)row.ns / whole_ns : 0;
    return row;
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
    struct osc_strbuf text = {0};
    struct osc_top_row device = {0};

    *n_rows = 0;
    *n_all = 0;
    for (uint32_t b = 0; b < a->n_blocks && text.status == OSC_OK; b++) {
        struct part p = {.a = a, .block = &a->blocks[b]};

        p.has_processes = has_processes(&p);
        for (uint64_t i = 0; i < p.block->result.n_rows && text.status == OSC_OK; i++) {
            struct osc_top_row row = numbers_of(&p, i);

            if (!is_worker(&p, i))
                continue;
            ++*n_all;
            const bool is_best = !is_thread(&p, i) && row.ns > device.ns;
            if (*n_rows == max && rows[max - 1].ns >= row.ns && !is_best)
                continue;
            osc_strbuf_clear(&text);
            add_worker_name(&p, i, &text);
            const char *const name = osc_arena_dup(arena, text.s ? text.s : "", text.len);
            if (!name)
                text.status = OSC_ENOMEM;
            row.name = (struct osc_str){name, (uint32_t)text.len};
            device = is_best ? row : device;
            *n_rows = osc_top_insert(rows, *n_rows, max, &row);
        }
    }
    if (device.ns > 0)
        *n_rows = put_first(rows, *n_rows, max, &device);
    const osc_status st = text.status;
    osc_strbuf_fini(&text);
    return st;
}
