/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome trace events, as PyTorch and Kineto write them.
 *
 * A plain file is cut into units of text where an event seems to begin. Threads parse units at
 * the same time, assuming that an event does begin there, and join them to the trace one after
 * the other. A unit counts only if the one before it ended exactly where this one began;
 * otherwise it is parsed again from that end. What was parsed in vain leaves strings, forms and
 * tracks, by which the producer would be guessed: then the whole text is read again, in the
 * units that were right. So the result is always that of one thread that reads from start to
 * end.
 */
#include "import/chrome/chrome_about.h"
#include "import/chrome/chrome_begin.h"
#include "import/chrome/chrome_parser.h"
#include "import/chrome/detect_producer.h"
#include "import/chrome/device_lines.h"
#include "import/chrome/dialect.h"
#include "import/chrome/far_clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "import/build/reader.h"
#include "import/bytes/inflate_pipe.h"
#include "import/chrome/chrome_learn.h"

#define UNIT_BYTES_MIN ((uint64_t)1 << 20)
#define UNIT_BYTES_MAX ((uint64_t)32 << 20)
#define GUESS_BYTES    65536u

struct shared {
    struct osc_reading *r;
    uint64_t *starts; /* borrowed; offsets where units seem to begin; [0] is 0 */
    uint32_t n_units;
    _Atomic uint32_t next_unit;
    _Atomic uint64_t n_bytes; /* parsed so far, for progress */
    _Atomic bool is_cancelled;
    pthread_t main_thread;
    struct osc_pipe *pipe; /* of compressed input, or NULL */

    pthread_mutex_t lock; /* of all members below */
    pthread_cond_t turned;
    uint32_t turn; /* the unit that may join next */
    uint64_t at;   /* the end of the text that has joined */
    enum osc_chrome_state state;
    bool is_over; /* nothing more is wanted */
    bool saw_list, has_deep_list;
    osc_status status;
    struct osc_err err;
    size_t cap_metas;
    uint64_t *right; /* borrowed; those of starts where units did begin */
    uint32_t n_right;
    bool is_soiled; /* something was parsed that did not join */
};

/* The state of one thread. */
struct worker {
    struct shared *s;
    struct osc_builder builder;
    struct osc_chrome parser;
    struct osc_raw_blocks raw;
    uint64_t ticked_at; /* offset at the last tick */
};

/* Reserve memory for N bytes, because tables may repeat the N bytes of text that were read. */
static void reserve_for_text(struct worker *w, uint64_t n)
{
    if (w->s->r->loading->reserve.for_text)
        osc_build_reserve(&w->builder, (size_t)n);
}

/* Called by a parser every few thousand events. */
static bool tick(struct osc_chrome *c)
{
    struct worker *w = c->tick_ctx;
    struct shared *s = w->s;
    const struct osc_import_options *o = s->r->options;
    const uint64_t at = osc_text_offset(&c->text, c->text.p);
    const uint64_t done = at - w->ticked_at;

    w->ticked_at = at;
    reserve_for_text(w, done);
    /* Relaxed: a number for display and a request to stop; they publish no other data. */
    const uint64_t total =
        atomic_fetch_add_explicit(&s->n_bytes, done, memory_order_relaxed) + done;
    if (o->progress && pthread_equal(pthread_self(), s->main_thread)) {
        const uint64_t shown = s->pipe ? osc_pipe_taken(s->pipe) : total;
        if (!o->progress(o->progress_ctx, shown, s->r->in->size))
            atomic_store_explicit(&s->is_cancelled, true, memory_order_relaxed);
    }
    return !atomic_load_explicit(&s->is_cancelled, memory_order_relaxed) &&
           !osc_mem_is_cancelled();
}

/* Let the parser of W begin at OFFSET of the text. A pipe has one reader, which goes on where
 * it is; a file that can be read anywhere gets blocks of its own for each thread. */
static void open_parser(struct worker *w, uint64_t offset)
{
    struct shared *s = w->s;
    struct osc_blocks *blocks;

    if (s->pipe) {
        blocks = osc_pipe_blocks(s->pipe);
    } else {
        osc_raw_blocks_fini(&w->raw);
        osc_raw_blocks_init(&w->raw, s->r->in, offset, s->r->block_bytes);
        blocks = &w->raw.blocks;
    }
    w->ticked_at = offset;
    osc_chrome_restart(&w->parser, blocks, offset);
}

/* The result of a unit. */
struct outcome {
    struct osc_batch_of_rows batch;
    uint64_t at;
    enum osc_chrome_state state;
    osc_status status; /* of the builder, or canceled */
};

/* Let W's parser read up to STOP, and move what it has built to OUT. */
static void read_on(struct worker *w, enum osc_chrome_state state, uint64_t stop,
                    struct outcome *out)
{
    struct osc_chrome *c = &w->parser;

    *out = (struct outcome){.state = state};
    const bool whole = osc_chrome_run(c, &out->state, stop);
    out->at = osc_text_offset(&c->text, c->text.p);
    /* A cut archive also cuts the text; that is counted once. */
    if (c->text.status == OSC_EFORMAT)
        osc_findings_add(c->findings, OSC_FINDING_corrupt, out->at, OSC_NO_TIME);
    else if (c->text.status == OSC_ETRUNC &&
             c->findings->by_code[OSC_FINDING_truncated].count == 0)
        osc_findings_add(c->findings, OSC_FINDING_truncated, out->at, OSC_NO_TIME);
    reserve_for_text(w, out->at - w->ticked_at);
    w->ticked_at = out->at;
    const osc_status st = osc_builder_take(&w->builder, &out->batch);
    out->status = st == OSC_OK ? w->builder.status : st;
    if (!whole && out->status == OSC_OK)
        out->status = OSC_ECANCELED;
}

static void parse_unit(struct worker *w, uint64_t start, enum osc_chrome_state state,
                       uint64_t stop, struct outcome *out)
{
    open_parser(w, start);
    w->parser.n_commas_missing = 0;
    read_on(w, state, stop, out);
}

/* Move the top-level members of C to the trace, after those of the text before. */
static osc_status join_metas(struct shared *s, struct osc_chrome *c)
{
    struct osc_trace *t = s->r->loading->trace;
    const size_t n = c->n_metas;

    if (n == 0)
        return OSC_OK;
    if (osc_grow(&t->metas, &s->cap_metas, t->n_metas + n, sizeof *t->metas) != OSC_OK)
        return OSC_ENOMEM;
    memcpy(t->metas + t->n_metas, c->metas, n * sizeof *t->metas);
    t->n_metas += (uint32_t)n;
    c->n_metas = 0;
    return OSC_OK;
}

/* Join OUT to the trace; it is its turn. */
static void hand_in(struct shared *s, struct worker *w, struct outcome *out)
{
    osc_status st = osc_mem_reason(out->status);

    if (st == OSC_OK || st == OSC_ELIMIT) {
        osc_status joined = osc_loading_join(s->r->loading, &out->batch);
        if (joined == OSC_OK)
            joined = join_metas(s, &w->parser);
        if (joined != OSC_OK)
            st = osc_mem_reason(joined);
    }
    s->at = out->at;
    s->state = out->state;
    s->saw_list |= w->parser.saw_list;
    s->has_deep_list |= w->parser.has_deep_list;
    if (st == OSC_OK && w->parser.text.status != OSC_OK) {
        st = osc_mem_reason(w->parser.text.status);
        s->err = w->parser.text.err;
    }
    if (st != OSC_OK) {
        s->status = st;
        s->is_over = true;
    }
    if (s->state == OSC_CHROME_END)
        s->is_over = true;
}

/* Wait for the turn of unit K. */
static void wait_for_turn(struct shared *s, uint32_t k)
{
    while (s->turn != k)
        pthread_cond_wait(&s->turned, &s->lock);
}

/* Whether W mistook a stray bracket for the end of a bare list that continues. */
static bool ends_early(const struct shared *s, struct worker *w, enum osc_chrome_state state)
{
    return state == OSC_CHROME_LISTED && osc_chrome_is_bare(s->state) &&
           osc_chrome_goes_on(&w->parser);
}

/* Pass on the turn of unit K, which is not needed; false: it is. */
static bool skip_unit(struct shared *s, uint32_t k)
{
    pthread_mutex_lock(&s->lock);
    const bool is_over = s->is_over;
    if (is_over) {
        wait_for_turn(s, k);
        s->turn++;
        pthread_cond_broadcast(&s->turned);
    }
    pthread_mutex_unlock(&s->lock);
    return is_over;
}

/* Whether unit K, which W has read to STATE, did begin where it seemed to. */
static bool is_unit_right(struct shared *s, struct worker *w, uint32_t k,
                          enum osc_chrome_state state)
{
    const bool is_right =
        !s->is_over && (k == 0 || (s->at == s->starts[k] && osc_chrome_is_in_list(s->state) &&
                                   !ends_early(s, w, state)));

    if (is_right)
        s->right[s->n_right++] = s->starts[k];
    s->is_soiled |= !is_right;
    return is_right;
}

/* Count the commas in OUT that are missing in the list that W's unit lies in. */
static void count_commas(struct shared *s, struct worker *w, struct outcome *out)
{
    struct osc_chrome *const c = &w->parser;
    struct osc_finding *const f = &out->batch.findings.by_code[OSC_FINDING_repaired_list];

    if (s->state != OSC_CHROME_LINES && c->n_commas_missing > 0) {
        osc_findings_add(&out->batch.findings, OSC_FINDING_repaired_list, c->comma_missing_at,
                         OSC_NO_TIME);
        f->count += c->n_commas_missing - 1;
        f->first_offset =
            c->comma_missing_at < f->first_offset ? c->comma_missing_at : f->first_offset;
    }
    c->n_commas_missing = 0;
}

/* Parse unit K, then join it in the order of the text. It was parsed on a guess of where it
 * begins; once the units before it have joined, that is known, and a wrong guess is parsed
 * again. */
static void work_on_unit(struct worker *w, uint32_t k)
{
    struct shared *s = w->s;
    const uint64_t stop = k + 1 < s->n_units ? s->starts[k + 1] : UINT64_MAX;
    struct outcome out;

    if (skip_unit(s, k))
        return;
    parse_unit(w, s->starts[k], k == 0 ? OSC_CHROME_START : OSC_CHROME_GUESS, stop, &out);
    pthread_mutex_lock(&s->lock);
    wait_for_turn(s, k);
    const bool is_right = is_unit_right(s, w, k, out.state);
    if (!s->is_over && !is_right && out.status != OSC_ECANCELED) {
        const enum osc_chrome_state state = s->state;
        const uint64_t at = s->at;
        /* Unlocked: no other thread can join before this unit has joined. */
        pthread_mutex_unlock(&s->lock);
        osc_batch_of_rows_fini(&out.batch);
        w->parser.n_metas = 0;
        if (w->builder.status == OSC_ELIMIT)
            w->builder.status = OSC_OK;
        parse_unit(w, at, state, stop, &out);
        pthread_mutex_lock(&s->lock);
    }
    if (is_right && k > 0)
        count_commas(s, w, &out);
    if (out.state == OSC_CHROME_GUESS) {
        out.state = s->state; /* still in the list that it turned out to be */
    } else if (out.state == OSC_CHROME_LISTED) {
        w->parser.findings = &out.batch.findings;
        out.state = osc_chrome_behind_list(&w->parser, s->state);
        w->parser.findings = &w->builder.findings;
    } else if (out.state == OSC_CHROME_CUT) {
        w->parser.findings = &out.batch.findings;
        out.state = osc_chrome_behind_cut(&w->parser, s->state);
        w->parser.findings = &w->builder.findings;
    }
    if (!s->is_over)
        hand_in(s, w, &out);
    if (!s->is_over && !osc_chrome_is_in_list(s->state)) {
        /* After the list. Another document may follow and extend into the next unit. */
        const enum osc_chrome_state state = s->state;

        pthread_mutex_unlock(&s->lock);
        osc_batch_of_rows_fini(&out.batch);
        read_on(w, state, stop, &out);
        pthread_mutex_lock(&s->lock);
        hand_in(s, w, &out);
    }
    s->turn++;
    pthread_cond_broadcast(&s->turned);
    pthread_mutex_unlock(&s->lock);
    osc_batch_of_rows_fini(&out.batch);
    w->parser.n_metas = 0;
}

/* Take units until there is none. Also a thread without memory takes its turns: the others
 * wait for each unit in order. */
static void work(void *ctx, uint32_t i)
{
    struct shared *s = ctx;
    struct worker w = {.s = s};
    osc_status st;

    (void)i;
    st = osc_builder_init(&w.builder, s->r->loading);
    if (st == OSC_OK)
        st = osc_chrome_init(&w.parser, &w.builder, s->r->options->kernel);
    w.parser.tick = tick;
    w.parser.tick_ctx = &w;
    /* Relaxed: the counter only assigns units to threads. */
    for (;;) {
        const uint32_t k = atomic_fetch_add_explicit(&s->next_unit, 1, memory_order_relaxed);
        if (k >= s->n_units)
            break;
        if (st == OSC_OK) {
            work_on_unit(&w, k);
            continue;
        }
        pthread_mutex_lock(&s->lock);
        wait_for_turn(s, k);
        if (!s->is_over)
            s->status = osc_mem_reason(st);
        s->is_over = true;
        s->turn++;
        pthread_cond_broadcast(&s->turned);
        pthread_mutex_unlock(&s->lock);
    }
    osc_chrome_fini(&w.parser);
    osc_builder_fini(&w.builder);
    osc_raw_blocks_fini(&w.raw);
}

/*
 * The offset in the LEN bytes at S where an event seems to begin: an opening brace after a
 * closing brace and a comma. -1: none.
 */
static int64_t guess_start(const char *s, size_t len)
{
    const char *end = s + len;

    for (const char *p = s; (p = memchr(p, '}', (size_t)(end - p))) != NULL; p++) {
        const char *q = p + 1;
        while (q < end && osc_text_is_blank(*q))
            q++;
        if (q == end || *q++ != ',')
            continue;
        while (q < end && osc_text_is_blank(*q))
            q++;
        if (q < end && *q == '{')
            return q - s;
    }
    return -1;
}

/* Where units of a text begin. */
struct units {
    uint64_t *starts; /* owned; [0] is 0 */
    uint32_t n;
};

/* Find where UNITS seem to begin. A text that cannot be cut is one unit. */
static osc_status cut_units(const struct osc_reading *r, struct units *units,
                            struct osc_err *err)
{
    const uint64_t size = r->in->size;
    uint64_t unit = r->options->unit_bytes;
    uint32_t n = 1;

    if (unit == 0) {
        unit = size / ((uint64_t)r->n_threads * 8);
        unit = unit < UNIT_BYTES_MIN ? UNIT_BYTES_MIN : unit;
        unit = unit > UNIT_BYTES_MAX ? UNIT_BYTES_MAX : unit;
    }
    const bool can_cut = r->inflate == OSC_INFLATE_NONE && r->in->can_seek &&
                         (r->n_threads > 1 || r->options->unit_bytes > 0);
    if (can_cut && size / unit < UINT32_MAX - 2)
        n += (uint32_t)(size / unit);
    units->starts = osc_malloc(n * sizeof *units->starts);
    if (!units->starts)
        return osc_fail(err, OSC_ENOMEM, "%s: out of memory", r->in->path);
    units->starts[0] = 0;
    units->n = 1;
    for (uint32_t i = 1; i < n; i++) {
        const uint64_t at = i * unit;
        struct osc_raw_blocks raw;
        char *data;
        size_t len;

        osc_raw_blocks_init(&raw, r->in, at, GUESS_BYTES);
        const osc_status st = raw.blocks.next(&raw.blocks, &data, &len, err);
        const int64_t found = st == OSC_OK ? guess_start(data, len) : -1;
        osc_raw_blocks_fini(&raw);
        if (st != OSC_OK)
            return st;
        if (found >= 0 && at + (uint64_t)found > units->starts[units->n - 1])
            units->starts[units->n++] = at + (uint64_t)found;
    }
    return OSC_OK;
}

static bool something_was_skipped(const struct osc_trace *t)
{
    static const enum osc_finding_code codes[] = {
        OSC_FINDING_truncated, OSC_FINDING_unclosed_list, OSC_FINDING_corrupt,
        OSC_FINDING_wrong_type, OSC_FINDING_unknown_phase};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (t->findings.by_code[codes[i]].count > 0)
            return true;
    return false;
}

/* The status for the caller after all threads have ended. */
static osc_status conclude(struct shared *s, struct osc_err *err)
{
    struct osc_trace *t = s->r->loading->trace;
    const char *path = s->r->in->path;
    const bool is_empty = t->events.n_rows == 0 && t->others.n_rows == 0;

    t->text_bytes = s->at;
    switch (s->status) {
    case OSC_OK:
        if (s->r->in->n_probe == 0)
            return osc_fail_at(err, OSC_EFORMAT, 0, "%s: is empty; a trace was expected", path);
        if (is_empty && (!s->saw_list || something_was_skipped(t)))
            return osc_fail_at(
                err, OSC_EFORMAT, s->at, "%s: no trace event up to byte %llu; %s", path,
                (unsigned long long)s->at,
                s->has_deep_list ? "\"traceEvents\" lies within other objects: write the one "
                                   "that holds it to a file of its own"
                                 : "JSON with \"traceEvents\" or a list of events was "
                                   "expected");
        return OSC_OK;
    case OSC_ETRUNC:
    case OSC_EFORMAT: /* in the compression: counted; the text before is good */
        if (!is_empty)
            return OSC_OK;
        return osc_fail_at(err, s->status, s->err.offset, "%s: %s, before any event; %s", path,
                           s->err.message,
                           s->status == OSC_ETRUNC
                               ? "copy the file again, or let the program finish writing it"
                               : "copy the file again");
    case OSC_ELIMIT:
        if (s->err.code == OSC_ELIMIT) { /* of zstd */
            t->is_partial = !is_empty;
            osc_findings_add(&t->findings, OSC_FINDING_limit_reached, s->at, OSC_NO_TIME);
            return osc_fail_at(err, OSC_ELIMIT, s->err.offset,
                               "%s: %s; compress it again without --long", path,
                               s->err.message);
        }
        t->is_partial = true;
        osc_findings_add(&t->findings, OSC_FINDING_limit_reached, s->at, OSC_NO_TIME);
        return osc_fail_at(err, OSC_ELIMIT, s->at,
                           "%s: memory limit reached at byte %llu of the text", path,
                           (unsigned long long)s->at);
    case OSC_EIO:
        t->is_partial = !is_empty;
        *err = s->err;
        return OSC_EIO;
    case OSC_ENOMEM:
        return osc_fail(err, OSC_ENOMEM, "%s: out of memory", path);
    case OSC_ECANCELED:
        return osc_fail(err, OSC_ECANCELED, "%s: interrupted", path);
    case OSC_EINVAL:
    case OSC_ENOTFOUND:
        break;
    }
    return osc_fail(err, s->status, "%s: %s", path, osc_status_text(s->status));
}

/* How much of a text is searched for its first range, and of a compressed file is read. */
#define SEARCHED_BYTES ((size_t)64 << 10)
#define PACKED_BYTES   ((size_t)16 << 10)

/* Find from where times count, by the start of the text. Errors are found when it is read. */
static void find_clock(struct osc_reading *r)
{
    const bool can_read = r->in->can_seek || r->in->fd < 0;
    const bool is_packed = r->inflate != OSC_INFLATE_NONE;
    struct osc_raw_blocks raw;
    struct osc_inflate *z = NULL;
    struct osc_err ignored = {0};
    char *data = r->in->probe, *text = NULL;
    size_t len = r->in->n_probe;
    osc_status st = OSC_OK;

    osc_raw_blocks_init(&raw, r->in, 0, is_packed ? PACKED_BYTES : SEARCHED_BYTES);
    if (can_read)
        st = raw.blocks.next(&raw.blocks, &data, &len, &ignored);
    if (st == OSC_OK && is_packed) {
        text = osc_malloc(SEARCHED_BYTES);
        st = text ? osc_inflate_new(&z, r->inflate, &ignored) : OSC_ENOMEM;
    }
    if (st == OSC_OK && is_packed) {
        struct osc_inflate_io io = {.in = (const unsigned char *)data,
                                    .n_in = len,
                                    .out = (unsigned char *)text,
                                    .n_out = SEARCHED_BYTES};

        (void)osc_inflate_run(z, &io, &ignored);
        len = SEARCHED_BYTES - io.n_out;
        data = text;
    }
    if (st == OSC_OK)
        r->loading->since_us = osc_far_clock((struct osc_str){data, (uint32_t)len});
    if (r->loading->since_us != 0)
        osc_findings_add(&r->loading->trace->findings, OSC_FINDING_far_clock, OSC_NO_OFFSET,
                         OSC_NO_TIME);
    osc_inflate_free(z);
    osc_free(text);
    osc_raw_blocks_fini(&raw);
}

/*
 * Read the text in UNITS, and keep of them those that were right. IS_SOILED: others were
 * parsed, too, and left something in the trace.
 */
static osc_status read_units(struct osc_reading *r, struct units *units, bool *is_soiled,
                             struct osc_err *err)
{
    struct shared s = {
        .r = r, .starts = units->starts, .n_units = units->n, .main_thread = pthread_self()};
    const unsigned n = r->n_threads < s.n_units ? r->n_threads : s.n_units;
    osc_status st = OSC_OK;

    s.right = osc_malloc(s.n_units * sizeof *s.right);
    if (!s.right)
        return osc_fail(err, OSC_ENOMEM, "%s: out of memory", r->in->path);
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.turned, NULL);
    if (r->inflate != OSC_INFLATE_NONE)
        st = osc_pipe_open(&s.pipe, r->in, r->inflate, r->block_bytes, r->n_threads > 1, err);
    if (st == OSC_OK) {
        find_clock(r);
        osc_parallel(n, n, work, &s);
        if (s.pipe && s.status == OSC_OK && osc_pipe_has_garbage(s.pipe))
            osc_findings_add(&r->loading->trace->findings, OSC_FINDING_corrupt, s.at,
                             OSC_NO_TIME);
        st = conclude(&s, err);
    }
    *is_soiled = s.is_soiled && st == OSC_OK;
    osc_pipe_close(s.pipe);
    osc_free(units->starts);
    *units = (struct units){s.right, s.n_right};
    pthread_cond_destroy(&s.turned);
    pthread_mutex_destroy(&s.lock);
    return st;
}

static osc_status chrome_read(struct osc_reading *r, struct osc_err *err)
{
    struct units units = {0};
    bool is_soiled = false;
    osc_status st = cut_units(r, &units, err);

    if (st == OSC_OK)
        st = read_units(r, &units, &is_soiled, err);
    while (is_soiled) {
        const uint32_t n = units.n;

        st = osc_loading_restart(r->loading);
        if (st != OSC_OK) {
            st = osc_fail(err, st, "%s: %s", r->in->path, osc_status_text(st));
            break;
        }
        st = read_units(r, &units, &is_soiled, err);
        if (is_soiled && units.n == n) /* so it ends, whatever the text */
            units.n = 1;
    }
    osc_free(units.starts);
    return st;
}

/* Whether HEAD is JSON, with or without a byte order mark. */
static bool is_json(const char *head, size_t len)
{
    size_t i = len >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    while (i < len && osc_text_is_blank(head[i]))
        i++;
    return i < len && (head[i] == '{' || head[i] == '[');
}

/* Profilers of all kinds write JSON; events of a trace may begin later than HEAD ends. */
static int chrome_probe(const char *head, size_t len)
{
    if (!is_json(head, len))
        return OSC_FIT_NONE;
    return osc_chrome_begins(head, len) ? OSC_FIT_GOOD : OSC_FIT_WEAK;
}

/* By category, and for other producers than Kineto by the names of processes and threads. */
static osc_status chrome_kinds(struct osc_trace *t, unsigned n_threads)
{
    osc_status st = osc_dialect_classify(t, n_threads);

    if (st == OSC_OK) {
        st = osc_chrome_names(t);
        t->producer = (uint8_t)osc_detect_producer(t);
    }
    if (st == OSC_OK)
        st = osc_device_lines_fit(t);
    return st;
}

const struct osc_reader osc_reader_chrome = {
    .name = "chrome",
    .suffixes = ".json",
    .probe = chrome_probe,
    .begins = osc_chrome_begins,
    .read = chrome_read,
    .kinds = chrome_kinds,
    .tracks = osc_chrome_about,
    .has_members = true,
};
