/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome's JSON in Kineto's dialect, plain or compressed.
 *
 * Threads take chunks of rows in turn, convert them to text and compress it. Each thread waits
 * until everything before its text is written, so that the order is that of the trace and no
 * more text is held back. Metadata comes first, arrows last.
 */
#include "export/exporters.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "codec/deflate.h"
#include "derive/derive.h"
#include "export/chrome_text.h"
#include "export/counters.h"

/* A job has up to this many rows, some MB of text; longer text is written in pieces. */
#define JOB_ROWS    4096u
#define PIECE_BYTES ((size_t)4 << 20)

/* Memory that a thread may use: pieces as text and compressed, in buffers that double. */
#define THREAD_BYTES ((size_t)32 << 20)

/* Buffers of a thread, lent for the duration of a job. */
struct bench {
    struct osc_text_out out;
    struct osc_deflate *z; /* owned, or NULL */
    struct bench *next;
};

struct writing {
    const struct osc_export *x;
    unsigned n_threads;
    struct osc_chrome_text text;
    struct osc_chrome_rows *jobs; /* owned */
    size_t cap_jobs;
    uint32_t n_jobs;
    uint32_t first_job; /* the first job with a record, which needs no comma before it */
    bool is_packed, has_counters;
    uint64_t n_rows; /* of all jobs */

    /* Checksum of the job whose turn it is. */
    struct osc_deflate_sum sum;
    uint64_t n_rows_done;

    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t turned;
    struct bench *benches; /* owned; unused ones */
    uint32_t turn;         /* the job that may write */
    osc_status status;     /* sticky */
};

static void free_bench(struct bench *b)
{
    osc_text_out_fini(&b->out);
    osc_deflate_free(b->z);
    osc_free(b);
}

/* Set *BENCH to an unused bench; returns the first failure so far. */
static osc_status take_bench(struct writing *w, struct bench **bench)
{
    struct bench *b;
    osc_status st;

    pthread_mutex_lock(&w->lock);
    st = w->status;
    b = st == OSC_OK ? w->benches : NULL;
    if (b)
        w->benches = b->next;
    pthread_mutex_unlock(&w->lock);
    if (!b && st == OSC_OK) {
        b = osc_calloc(1, sizeof *b);
        st = !b             ? OSC_ENOMEM
             : w->is_packed ? osc_deflate_new(OSC_DEFLATE_SMALL, &b->z)
                            : OSC_OK;
        if (st != OSC_OK) {
            osc_free(b);
            b = NULL;
        }
    }
    *bench = b;
    return st;
}

static void give_bench(struct writing *w, struct bench *b)
{
    pthread_mutex_lock(&w->lock);
    b->next = w->benches;
    w->benches = b;
    pthread_mutex_unlock(&w->lock);
}

/* Wait for the turn of job K; returns the first failure so far. */
static osc_status wait_for_turn(struct writing *w, uint32_t k)
{
    osc_status st;

    pthread_mutex_lock(&w->lock);
    while (w->turn != k && w->status == OSC_OK)
        pthread_cond_wait(&w->turned, &w->lock);
    st = w->status;
    pthread_mutex_unlock(&w->lock);
    return st;
}

/* End the turn of a job; after a failure let all others stop waiting. */
static void end_turn(struct writing *w, osc_status st)
{
    pthread_mutex_lock(&w->lock);
    if (st != OSC_OK && w->status == OSC_OK)
        w->status = st;
    w->turn++;
    pthread_cond_broadcast(&w->turned);
    pthread_mutex_unlock(&w->lock);
}

/* Write LEN bytes at S when it is the turn of job K. */
static osc_status write_text(struct writing *w, struct bench *b, uint32_t k, const char *s,
                             size_t len)
{
    const struct osc_export_sink *const sink = &w->x->sink;
    const char *packed = NULL;
    size_t packed_len = 0;
    osc_status st = OSC_OK;

    if (w->is_packed)
        st = osc_deflate_block(b->z, s, len, &packed, &packed_len);
    const osc_status before = wait_for_turn(w, k);
    if (before != OSC_OK || st != OSC_OK)
        return before != OSC_OK ? before : st;
    if (!w->is_packed)
        return sink->write(sink->ctx, s, len);
    osc_deflate_sum_add(&w->sum, s, len);
    return sink->write(sink->ctx, packed, packed_len);
}

static osc_status report_progress(struct writing *w, uint64_t n_rows)
{
    const struct osc_export_sink *const sink = &w->x->sink;

    w->n_rows_done += n_rows;
    if (sink->progress && !sink->progress(sink->ctx, w->n_rows_done, w->n_rows))
        return OSC_ECANCELED;
    return OSC_OK;
}

static void run_job(void *ctx, uint32_t k)
{
    struct writing *const w = ctx;
    struct osc_chrome_rows rows = w->jobs[k];
    const uint32_t n_rows = rows.end - rows.next;
    struct bench *b;
    osc_status st = take_bench(w, &b);
    bool is_first = k == w->first_job; /* nothing precedes its first comma */

    while (st == OSC_OK && rows.next < rows.end) {
        struct osc_text_out *const o = &b->out;

        osc_chrome_text_rows(&w->text, &rows, PIECE_BYTES, o);
        const size_t len = (size_t)(o->p - o->start), skip = is_first && len > 0 ? 2 : 0;
        st = o->status;
        if (st == OSC_OK && len > 0)
            st = write_text(w, b, k, o->start + skip, len - skip);
        is_first = is_first && len == 0;
        o->p = o->start;
    }
    const osc_status before = wait_for_turn(w, k);
    if (before == OSC_OK && st == OSC_OK)
        st = report_progress(w, n_rows);
    end_turn(w, st);
    if (b)
        give_bench(w, b);
}

/* Add jobs for the rows OF S. */
static osc_status add_jobs(struct writing *w, const struct osc_store *s,
                           enum osc_chrome_sort of)
{
    for (uint32_t k = 1; k < s->n_chunks; k++) {
        const struct osc_chunk *const c = s->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i += JOB_ROWS) {
            const uint32_t end = c->n_rows - i > JOB_ROWS ? i + JOB_ROWS : c->n_rows;
            const osc_status st =
                osc_grow(&w->jobs, &w->cap_jobs, (size_t)w->n_jobs + 1, sizeof *w->jobs);

            if (st != OSC_OK)
                return st;
            w->jobs[w->n_jobs++] = (struct osc_chrome_rows){c, i, end, of};
            w->n_rows += end - i;
        }
    }
    return OSC_OK;
}

static osc_status plan(struct writing *w, const struct osc_trace *t)
{
    osc_status st = add_jobs(w, &t->others, OSC_CHROME_ABOUT);

    if (st == OSC_OK)
        st = add_jobs(w, &t->events, OSC_CHROME_EVENTS);
    if (st == OSC_OK)
        st = add_jobs(w, &t->others, OSC_CHROME_ARROWS);
    while (w->first_job < w->n_jobs && !osc_chrome_rows_any(t, &w->jobs[w->first_job]))
        w->first_job++;
    return st;
}

/* Write the text that MAKE produces before or after the events as a separate piece. If it has
 * records, those after it need a comma. */
static osc_status write_frame(struct writing *w, const struct osc_trace *t,
                              void (*make)(const struct osc_trace *t, struct osc_strbuf *out))
{
    struct osc_strbuf out = {0};
    struct bench *b;
    osc_status st = take_bench(w, &b);

    make(t, &out);
    if (st == OSC_OK)
        st = out.status;
    if (st == OSC_OK && out.len > 0)
        st = write_text(w, b, w->turn, out.s, out.len);
    if (out.len > 0 && make == osc_chrome_text_names)
        w->first_job = UINT32_MAX;
    if (b)
        give_bench(w, b);
    osc_strbuf_fini(&out);
    return st;
}

/* Write a piece of the counter lines, which come before all records. */
static osc_status write_counters(void *ctx, const char *s, size_t len)
{
    struct writing *const w = ctx;
    struct bench *b;
    osc_status st = take_bench(w, &b);

    if (st == OSC_OK && w->first_job == UINT32_MAX && !w->has_counters)
        st = write_text(w, b, w->turn, ",\n", 2); /* names precede them */
    if (st == OSC_OK)
        st = write_text(w, b, w->turn, s, len);
    if (b)
        give_bench(w, b);
    w->has_counters = true;
    w->first_job = UINT32_MAX; /* something precedes the comma of every record */
    return st;
}

static osc_status write_all(struct writing *w, const struct osc_trace *t)
{
    const struct osc_export_sink *const sink = &w->x->sink;
    char header[OSC_DEFLATE_HEADER_BYTES], trailer[OSC_DEFLATE_TRAILER_BYTES];
    osc_status st = OSC_OK;

    osc_deflate_header(header);
    if (w->is_packed)
        st = sink->write(sink->ctx, header, sizeof header);
    if (st == OSC_OK)
        st = write_frame(w, t, osc_chrome_text_head);
    if (st == OSC_OK)
        st = write_frame(w, t, osc_chrome_text_names);
    if (st == OSC_OK && w->x->with_counters)
        st = osc_counters_write(t, write_counters, w);
    if (st != OSC_OK)
        return st;
    osc_parallel(w->n_threads, w->n_jobs, run_job, w);
    st = w->status;
    if (st == OSC_OK)
        st = write_frame(w, t, osc_chrome_text_tail);
    if (st != OSC_OK || !w->is_packed)
        return st;
    osc_deflate_trailer(&w->sum, trailer);
    return sink->write(sink->ctx, trailer, sizeof trailer);
}

static osc_status write_trace(const struct osc_export *x, bool is_packed, struct osc_err *err)
{
    const struct osc_trace *const t = x->traces[0];
    struct writing w = {.x = x, .is_packed = is_packed};

    if (is_packed && !osc_deflate_is_there())
        return osc_fail(err, OSC_EINVAL,
                        "this opscope was built without gzip; write .json instead");
    w.n_threads = x->n_threads > 0 ? x->n_threads : osc_cpu_count();
    while (w.n_threads > 1 && w.n_threads > osc_mem_room() / THREAD_BYTES)
        w.n_threads--;
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.turned, NULL);
    osc_status st = osc_chrome_text_make(&w.text, t, x->no_stacks, w.n_threads);
    if (st == OSC_OK)
        st = plan(&w, t);
    if (st == OSC_OK)
        st = write_all(&w, t);
    while (w.benches) {
        struct bench *const b = w.benches;

        w.benches = b->next;
        free_bench(b);
    }
    osc_chrome_text_fini(&w.text);
    osc_free(w.jobs);
    pthread_cond_destroy(&w.turned);
    pthread_mutex_destroy(&w.lock);
    if (st == OSC_ENOMEM)
        (void)osc_fail(err, st, "out of memory while writing");
    return st;
}

static osc_status facts(const struct osc_export *x, uint32_t *facts, struct osc_err *err)
{
    (void)err;
    *facts = x->with_counters ? OSC_FACT_LOADS : 0;
    return OSC_OK;
}

static osc_status write_plain(const struct osc_export *x, struct osc_err *err)
{
    return write_trace(x, false, err);
}

static osc_status write_packed(const struct osc_export *x, struct osc_err *err)
{
    return write_trace(x, true, err);
}

const struct osc_exporter osc_export_json = {
    .name = "json",
    .suffixes = ".json",
    .help = "Chrome trace events, as PyTorch writes them",
    .takes_counters = true,
    .takes_callers = true,
    .facts = facts,
    .write = write_plain,
};

const struct osc_exporter osc_export_json_gz = {
    .name = "json.gz",
    .suffixes = ".json.gz .gz",
    .help = "the same, compressed",
    .takes_counters = true,
    .takes_callers = true,
    .facts = facts,
    .write = write_packed,
};
