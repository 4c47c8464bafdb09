/* SPDX-License-Identifier: Apache-2.0 */
/* Find the columns of a file, and make of them chunks of a trace that are read later. */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "import/columns/columns_reader.h"

/* The state of gathering the columns of one store. */
struct gathering {
    struct osc_columns_opening *o;
    struct osc_unchecked *u;
    struct osc_columns_rules rules;  /* owned; made if rows are left out */
    struct osc_unchecked_chunk next; /* its chunk is NULL: none yet */
    struct osc_chunk rows;           /* of next: only counts */
    unsigned char *scratch;          /* owned; for columns of rows to choose from */
    size_t n_scratch;
    uint64_t first_row; /* of next, in the original */
    uint64_t n_told;    /* rows before next */
    bool has_next;
};

void osc_columns_lose(struct osc_trace *t, enum osc_finding_code code, uint64_t offset,
                      const struct osc_chunk *rows)
{
    struct osc_finding *const f = &t->findings.by_code[code];
    const bool has_times = rows->min_ts_ns <= rows->max_end_ns && rows->max_end_ns != 0;

    if (rows->n_rows == 0)
        return;
    osc_findings_add(&t->findings, code, offset, has_times ? rows->min_ts_ns : OSC_NO_TIME);
    f->count += rows->n_rows - 1;
    if (has_times && rows->max_end_ns > f->last_ns)
        f->last_ns = rows->max_end_ns;
}

/* The finding for missing rows: if the file has no damage, its end is missing. */
static enum osc_finding_code missing_code(const struct osc_columns_opening *o)
{
    for (size_t i = 0; i < o->f->n_gaps; i++) {
        if (!o->f->gaps[i].is_cut)
            return OSC_FINDING_corrupt;
    }
    return o->f->has_index ? OSC_FINDING_corrupt : OSC_FINDING_truncated;
}

/* Count N lost rows of which nothing is known. */
static void lose_unseen(const struct osc_columns_opening *o, uint64_t n, uint64_t offset)
{
    const struct osc_chunk rows = {.n_rows = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX};

    osc_columns_lose(o->t, missing_code(o), offset, &rows);
}

/* Whether all columns of C are there and have the size of N rows. */
static bool is_whole(const struct osc_unchecked_chunk *c, uint32_t n)
{
    static const uint8_t widths[OSC_COLUMN_COUNT] = {
        [OSC_COLUMN_TS] = 8,       [OSC_COLUMN_NAME] = 4, [OSC_COLUMN_FORM] = 4,
        [OSC_COLUMN_TRACK] = 4,    [OSC_COLUMN_ARGS] = 0, [OSC_COLUMN_DUR] = 8,
        [OSC_COLUMN_ARG_WORD] = 4, [OSC_COLUMN_KIND] = 1,
    };
    const unsigned n_columns = c->is_other ? OSC_COLUMNS_OTHERS : OSC_COLUMNS_EVENTS;

    for (unsigned k = 0; k < n_columns; k++) {
        const uint64_t n_bytes = c->columns[k].n_bytes;

        if (c->columns[k].offset == 0)
            return false;
        if (k == OSC_COLUMN_ARGS ? n_bytes % 4 != 0 || n_bytes / 4 >= OSC_ARG_WORD_MORE
                                 : n_bytes != (uint64_t)n * widths[k])
            return false;
    }
    return n > 0 && n <= OSC_CHUNK_ROWS;
}

/* Reserve memory for N rows, whose columns need ROOM bytes, and for what is made of them later;
 * fails if there is not enough. */
static osc_status reserve_rows(struct osc_columns_opening *o, bool is_other, uint32_t n,
                               size_t room)
{
    const struct osc_import_reserve *const r = &o->r->options->reserve;
    const size_t size = (size_t)n * (is_other ? r->other_bytes : r->event_bytes) + room;

    if (osc_mem_room() < size)
        return OSC_ELIMIT;
    osc_mem_reserve(size);
    o->t->reserved_bytes += size;
    return OSC_OK;
}

/* Whether row I of C is wanted. */
static bool wants(const struct osc_columns_opening *o, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_form *const f = osc_row_form(o->t, c, i);
    const struct osc_keep_row row = {.ts_ns = c->ts_ns[i],
                                     .dur_ns = c->dur_ns[i],
                                     .is_open = f->shape == OSC_SHAPE_BEGIN ||
                                                f->shape == OSC_SHAPE_ASYNC,
                                     .is_device = f->is_device,
                                     .is_step = c->kind[i] == OSC_KIND_STEP && !f->is_device,
                                     .is_call = osc_kind_is_launch((enum osc_kind)c->kind[i])};

    return osc_keep_wants(&o->r->options->keep, &row);
}

/* Memory for the columns of the next rows, which are read to choose those that are wanted. */
static unsigned char *scratch_for(struct gathering *g)
{
    const size_t room = osc_columns_room(&g->next);

    if (room > g->n_scratch) {
        osc_pages_free(g->scratch, g->n_scratch);
        g->scratch = osc_pages_alloc(room);
        g->n_scratch = g->scratch ? room : 0;
    }
    return g->scratch;
}

/* Let the gathered rows have copies of their columns, since others will be read to their
 * place. */
static osc_status copy_rows(struct gathering *g)
{
    struct osc_chunk *const c = &g->rows;
    const struct {
        void *column; /* its address */
        size_t n_bytes;
    } all[] = {{&c->ts_ns, c->n_rows * sizeof *c->ts_ns},
               {&c->dur_ns, c->n_rows * sizeof *c->dur_ns},
               {&c->name, c->n_rows * sizeof *c->name},
               {&c->form, c->n_rows * sizeof *c->form},
               {&c->track, c->n_rows * sizeof *c->track},
               {&c->arg_word, c->n_rows * sizeof *c->arg_word},
               {&c->args, c->n_arg_words * sizeof *c->args},
               {&c->kind, c->n_rows * sizeof *c->kind}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *const copy = osc_arena_alloc(&g->o->t->arena, all[i].n_bytes + 1);
        void *from;

        if (!copy)
            return OSC_ENOMEM;
        memcpy(&from, all[i].column, sizeof from);
        if (all[i].n_bytes > 0)
            memcpy(copy, from, all[i].n_bytes);
        memcpy(all[i].column, &copy, sizeof copy);
    }
    return OSC_OK;
}

/* Pack the words of the gathered rows, some of which were left out. */
static void pack_words(struct gathering *g)
{
    struct osc_chunk *const c = &g->rows;
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n_rows; i++) {
        const uint32_t n_words = g->o->t->forms[c->form[i]].n_words;

        /* Rows may share words, and in any order: then all of them stay. */
        if (n_words > 0 && c->arg_word[i] < n)
            return;
        n = n_words > 0 ? c->arg_word[i] + n_words : n;
    }
    n = 0;
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const uint32_t n_words = g->o->t->forms[c->form[i]].n_words;

        if (n_words > 0)
            memmove(c->args + n, c->args + c->arg_word[i], n_words * sizeof *c->args);
        c->arg_word[i] = n;
        n += n_words;
    }
    c->n_arg_words = n;
}

/*
 * Read and check the gathered rows and leave out those that are not wanted. The loss of next
 * says whether they are lost.
 */
static osc_status keep_wanted(struct gathering *g)
{
    uint8_t wanted[OSC_CHUNK_ROWS];

    g->next.chunk = &g->rows;
    if (!g->o->base) {
        unsigned char *const scratch = scratch_for(g);

        if (!scratch)
            return OSC_ENOMEM;
        osc_columns_fetch(&g->next, g->o->f->in->fd, scratch);
    }
    if (g->next.loss == OSC_COLUMNS_GOOD && !osc_columns_look(&g->rules, &g->next))
        g->next.loss = OSC_COLUMNS_CORRUPT;
    if (g->next.loss != OSC_COLUMNS_GOOD)
        return OSC_OK;
    for (uint32_t i = 0; i < g->rows.n_rows; i++)
        wanted[i] = wants(g->o, &g->rows, i);
    osc_chunk_squeeze(&g->rows, wanted);
    if (g->o->base || g->rows.n_rows == 0)
        return OSC_OK;
    pack_words(g);
    return copy_rows(g);
}

/* Make a chunk of the trace of the columns gathered so far, or count them as lost. */
static osc_status end_chunk(struct gathering *g)
{
    struct osc_trace *const t = g->o->t;
    struct osc_unchecked *const u = g->u;
    struct osc_chunk *c;

    if (!g->has_next)
        return OSC_OK;
    g->has_next = false;
    if (g->first_row > g->n_told)
        lose_unseen(g->o, g->first_row - g->n_told, g->next.offset);
    g->n_told = g->first_row + g->rows.n_rows;
    const bool is_kept = g->o->r->options->keep.is_on && !g->next.is_other;
    const bool is_there = is_whole(&g->next, g->rows.n_rows);
    osc_status st = is_there && is_kept ? keep_wanted(g) : OSC_OK;
    if (st != OSC_OK)
        return st;
    if (!is_there || g->next.loss != OSC_COLUMNS_GOOD) {
        osc_columns_lose(t, missing_code(g->o), g->next.offset, &g->rows);
        return OSC_OK;
    }
    if (g->rows.n_rows == 0)
        return OSC_OK; /* no row is wanted */
    const size_t room = is_kept ? 0 : osc_columns_room(&g->next);
    st = reserve_rows(g->o, g->next.is_other, g->rows.n_rows, room);
    if (st == OSC_OK)
        st = osc_grow(&u->chunks, &u->cap_chunks, (size_t)u->n_chunks + 1, sizeof *u->chunks);
    if (st != OSC_OK)
        return st;
    g->next.at = u->n_bytes;
    u->n_bytes += room;
    c = osc_malloc(sizeof *c);
    if (!c)
        return OSC_ENOMEM;
    *c = g->rows;
    st = osc_store_append(g->next.is_other ? &t->others : &t->events, c);
    if (st != OSC_OK) {
        osc_free(c);
        return st;
    }
    g->next.chunk = c;
    if (!is_kept) /* otherwise it was checked already */
        u->chunks[u->n_chunks++] = g->next;
    return OSC_OK;
}

/* Add chunk I of the file, which is column K of the rows being gathered or of the next ones. */
static osc_status add_column(struct gathering *g, size_t i, unsigned k)
{
    const struct osc_wire_index_entry *const e = &g->o->f->chunks[i];
    const struct osc_wire_header *const h = &e->header;
    const bool is_same = g->has_next && h->n_before == g->first_row &&
                         h->n_items == g->rows.n_rows && g->next.columns[k].offset == 0;

    if (!is_same) {
        const osc_status st = end_chunk(g);

        if (st != OSC_OK)
            return st;
        /* These numbers are checked when the chunk is complete. */
        g->next =
            (struct osc_unchecked_chunk){.offset = e->offset, .is_other = g->next.is_other};
        g->rows = (struct osc_chunk){.n_rows = h->n_items > UINT32_MAX ? UINT32_MAX
                                                                       : (uint32_t)h->n_items,
                                     .min_ts_ns = (int64_t)h->first_ticks,
                                     .max_end_ns = (int64_t)h->last_ticks};
        g->first_row = h->n_before;
        g->has_next = true;
    }
    const uint64_t at = e->offset + sizeof *h;
    g->next.columns[k] = (struct osc_column_place){g->o->base ? g->o->base + at : NULL, at,
                                                   h->payload_bytes, h->payload_hash};
    return OSC_OK;
}

/* Gather the columns of one store, which has N_ROWS rows in all. */
static osc_status gather(struct osc_columns_opening *o, struct osc_unchecked *u, bool is_other,
                         uint64_t n_rows)
{
    const unsigned first = is_other ? OSC_CHUNK_OTHERS : OSC_CHUNK_EVENTS;
    const unsigned n_columns = is_other ? OSC_COLUMNS_OTHERS : OSC_COLUMNS_EVENTS;
    struct gathering g = {.o = o, .u = u, .next = {.is_other = is_other}};
    osc_status st = OSC_OK;

    if (o->r->options->keep.is_on && !is_other)
        st = osc_columns_rules_make(&g.rules, o->t);
    for (size_t i = 0; i < o->f->n_chunks && st == OSC_OK; i++) {
        const unsigned type = o->f->chunks[i].header.type;

        if (osc_columns_is_ours(o, i) && type >= first && type < first + n_columns)
            st = add_column(&g, i, type - first);
    }
    if (st == OSC_OK)
        st = end_chunk(&g);
    if (st == OSC_OK && g.n_told < n_rows)
        lose_unseen(o, n_rows - g.n_told, o->f->size);
    osc_columns_rules_fini(&g.rules);
    osc_pages_free(g.scratch, g.n_scratch);
    return st;
}

/* Keep the file open until its columns are read. -1: do not, because half of the descriptors
 * that this process may have are in use: those of a thousand ranks. */
static int keep_open(const struct osc_columns_opening *o)
{
    struct rlimit most = {.rlim_cur = 1024};
    const int fd = fcntl(o->f->in->fd, F_DUPFD_CLOEXEC, 0);

    (void)getrlimit(RLIMIT_NOFILE, &most);
    if (fd < 0 || (rlim_t)fd < most.rlim_cur / 2)
        return fd;
    (void)close(fd);
    return -1;
}

/* Read the columns now, from the file that the reader has open. After a failure the rows are
 * left out: nobody can read them later. */
static osc_status read_now(struct osc_columns_opening *o)
{
    struct osc_trace *const t = o->t;
    struct osc_unchecked *const u = t->unchecked;

    u->fd = o->f->in->fd; /* borrowed */
    const osc_status st = osc_columns_check(t, o->r->n_threads, NULL);
    u->fd = -1;
    for (uint32_t i = 0; i < u->n_chunks && st != OSC_OK; i++)
        u->chunks[i].chunk->n_rows = 0;
    if (st != OSC_OK) {
        osc_store_number(&t->others);
        osc_trace_recount(t);
    }
    osc_unchecked_free(u);
    t->unchecked = NULL;
    t->unchecked_free = NULL;
    t->check = NULL;
    return st;
}

osc_status osc_columns_gather(struct osc_columns_opening *o, const struct osc_wire_model *model)
{
    struct osc_unchecked *const u = osc_calloc(1, sizeof *u);

    if (!u)
        return OSC_ENOMEM;
    u->fd = -1;
    o->t->unchecked = u;
    o->t->unchecked_free = osc_unchecked_free;
    o->t->check = osc_columns_check;
    const struct osc_import_keep *const keep = &o->r->options->keep;
    osc_status st = gather(o, u, false, model->n_events);
    if (st == OSC_OK && (!keep->is_scout || keep->has_work))
        st = gather(o, u, true, model->n_others);
    if (keep->is_on) /* the trace keeps its original begin */
        o->r->loading->min_ts_ns = model->min_ts_ns;
    /* After a limit, too: what was gathered until then is read. */
    if (u->n_bytes > 0)
        u->fd = keep_open(o);
    if (u->n_bytes > 0 && u->fd < 0) {
        const osc_status now = read_now(o);

        st = st == OSC_OK ? now : st;
    }
    return st;
}
