/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/load.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ask/files/budget.h"
#include "ask/files/fingerprint.h"
#include "ask/files/held.h"
#include "ask/files/kept.h"
#include "ask/files/spread.h"
#include "ask/request.h"
#include "base/mem.h"
#include "base/note.h"
#include "base/sort.h"
#include "derive/part/select_window.h"
#include "import/run.h"

/* How often directories are listed if they change while they are read, or are read again. */
#define LISTS_MAX 5

/* Files smaller than this are read whole, and rows are selected afterwards. */
#define SCOUTED_BYTES ((off_t)64 << 20)

static osc_status no_memory(const struct osc_loaded *l, struct osc_err *err)
{
    return osc_loaded_fail(l, NULL, OSC_ENOMEM, "loading", err);
}

/*
 * Whether to read path I twice: first to find its steps and where the trace begins, then only
 * the wanted part. Not if it is small and memory is not limited, nor a pipe, which can be read
 * only once, nor one of several files, whose origin is known only after all are read.
 */
static bool is_worth_scouting(const struct osc_loaded *l, const struct osc_load *o, uint32_t i)
{
    const struct osc_view *const v = o->view;
    struct stat info;

    if (o->selects_late || l->is_visited || l->files.n != 1 ||
        (!v->steps && !v->has_from && !v->has_to))
        return false;
    if (v->steps && (v->process || v->thread)) /* the whole tells the bounds of steps */
        return false;
    if (strcmp(l->files.all[i], "-") == 0 || stat(l->files.all[i], &info) != 0 ||
        !S_ISREG(info.st_mode))
        return false;
    return info.st_size >= SCOUTED_BYTES || o->how->max_memory_bytes > 0;
}

/* Whether names and categories of T, which has only its steps and device work, tell what
 * SELECTION needs. */
static bool can_scout(const struct osc_trace *t, const struct osc_selection *selection)
{
    const enum osc_dialect dialect = osc_producer_dialect((enum osc_producer)t->producer);

    return (dialect == OSC_DIALECT_PLAIN || dialect == OSC_DIALECT_KINETO ||
            dialect == OSC_DIALECT_RECORDS) &&
           (t->has_steps || !selection->steps);
}

/*
 * Set in OPTIONS what to leave out of path I, and in WINDOW why. Nothing is left out if even
 * finding that out exceeds the memory limit.
 */
static osc_status scout(struct osc_loaded *l, const struct osc_load *o, uint32_t i,
                        struct osc_import_options *options, struct osc_select_window *window,
                        struct osc_err *err)
{
    const struct osc_selection selection = osc_request_selection(o->view);
    struct osc_trace t = {0};
    struct osc_import_options first = *options;

    first.keep = (struct osc_import_keep){
        .is_on = true, .is_scout = true, .has_work = selection.steps != NULL};
    first.reserve = (struct osc_import_reserve){0};
    osc_status st = osc_import_path(&t, l->files.all[i], &first, err);
    /* Otherwise its own origin is not the common one; or only all rows tell what is a step, or
     * work of a device. */
    bool is_alone = t.n_parts <= 1 && can_scout(&t, &selection);
    if (st == OSC_OK && is_alone)
        st = osc_select_find_window(&t, &selection, window, &is_alone, err);
    osc_trace_fini(&t);
    if (osc_mem_reason(st) == OSC_ELIMIT) {
        osc_mem_forget_refusals();
        return OSC_OK;
    }
    if (st != OSC_OK || !is_alone)
        return st;
    options->keep = (struct osc_import_keep){.is_on = true,
                                             .from_ns = window->from_ns,
                                             .host_to_ns = window->host_to_ns,
                                             .device_to_ns = window->device_to_ns};
    l->n_steps_before = window->n_steps_before;
    l->is_windowed = true;
    return OSC_OK;
}

/* Set in OPTIONS the later parts of the recording at path I; the caller frees them. */
static osc_status add_later(const struct osc_loaded *l, uint32_t i,
                            struct osc_import_options *options)
{
    uint32_t n = 0;

    for (uint32_t k = l->links.after[i]; k > 0; k = l->links.after[k - 1])
        n++;
    const char **later = osc_calloc((size_t)n + 1, sizeof *later);

    options->later = later;
    options->n_later = 0;
    for (uint32_t k = l->links.after[i]; later && k > 0; k = l->links.after[k - 1])
        later[options->n_later++] = l->files.all[k - 1];
    return later ? OSC_OK : OSC_ENOMEM;
}

/* Whether path I, or a part that continues it, was found in a directory and is gone now. */
static bool is_gone(const struct osc_loaded *l, uint32_t i)
{
    struct stat info;

    for (uint32_t k = i + 1; k > 0; k = l->links.after[k - 1])
        if (!l->files.is_named[k - 1] && stat(l->files.all[k - 1], &info) != 0 &&
            errno == ENOENT)
            return true;
    return false;
}

/* Whether T, read from path I and the parts that continue it, continues in a part that a new
 * listing of its directory would find. */
static bool is_cut(const struct osc_loaded *l, const struct osc_trace *t, uint32_t i)
{
    while (l->links.after[i] > 0)
        i = l->links.after[i] - 1;
    return t->goes_on && !l->files.is_named[i];
}

/* The context of the progress callback for PATH. */
struct waiting {
    const struct osc_how *how;
    const char *path;
};

static bool tick(void *ctx, uint64_t done_bytes, uint64_t total_bytes)
{
    const struct waiting *const w = ctx;

    return w->how->progress(w->how->ctx, w->path, done_bytes, total_bytes) == 0;
}

/*
 * Import trace PART of path I into *T, which stays empty if nothing can be read. OSC_EINVAL:
 * the trace lacks what the view selects.
 */
static osc_status import_one(struct osc_loaded *l, const struct osc_load *o, uint32_t i,
                             uint32_t part, struct osc_trace *t, struct osc_err *err)
{
    struct waiting waiting = {o->how, l->files.all[i]};
    struct osc_select_window window = {0};
    struct osc_import_options options = {.n_threads = o->how->n_threads,
                                         .no_args = o->how->no_args != 0,
                                         .reserve = o->reserve,
                                         .part = part};
    osc_status st = OSC_OK;

    if (o->how->progress) {
        options.progress = tick;
        options.progress_ctx = &waiting;
    }
    if (is_worth_scouting(l, o, i))
        st = scout(l, o, i, &options, &window, err);
    const bool is_wrong = st == OSC_EINVAL;
    if (st == OSC_OK)
        st = add_later(l, i, &options);
    if (st == OSC_OK)
        st = osc_import_path(t, l->files.all[i], &options, err);
    t->has_steps |= options.keep.is_on && window.has_steps;
    if (options.keep.is_on && window.n_bounds > 0) {
        osc_free(t->step_bounds);
        t->step_bounds = window.bounds;
        t->n_step_bounds = window.n_bounds;
        t->has_comm_kernels = window.has_comm_kernels;
    } else {
        osc_select_window_fini(&window);
    }
    if (o->how->progress)
        (void)o->how->progress(o->how->ctx, NULL, 0, 0);
    osc_free(options.later);
    if (l->may_list_again && (st == OSC_OK ? is_cut(l, t, i) : is_gone(l, i)))
        l->is_outdated = true;
    if (st != OSC_OK && err->message[0] == '\0')
        (void)osc_fail(err, st, "%s", osc_status_text(st));
    return st == OSC_EINVAL && !is_wrong ? OSC_EFORMAT : st;
}

/* Append to the message of ERR what the user can do about ST. Returns ST. */
static osc_status add_way_out(struct osc_err *err, osc_status st)
{
    const size_t len = strlen(err->message);

    snprintf(err->message + len, sizeof err->message - len, "%s", osc_budget_way_out(st));
    return st;
}

/* Report the failure ST of path I in the notes, and for `quality` unless some of it was read;
 * then reading goes on with the next file. Files that fail because no memory is left are only
 * counted. */
static void report_failure(struct osc_loaded *l, const struct osc_trace *t, uint32_t i,
                           osc_status st, const struct osc_err *err)
{
    const char *const path = l->files.all[i];
    const size_t len = strlen(path);
    const char *why = err->message;

    if (st == OSC_ETRUNC && !t->is_partial) { /* it is being written, perhaps */
        osc_left_out_add(&l->files.left, OSC_LEFT_BEGUN, path, NULL);
        return;
    }
    l->has_failed = true;
    l->is_short = l->is_short || st == OSC_ELIMIT;
    if (st == OSC_ELIMIT && t->is_partial && t->events.n_rows + t->others.n_rows == 0 &&
        l->n_read > 0)
        l->n_unread++; /* one note reports all of them */
    else if (l->files.left.by_why[OSC_LEFT_FAILED] < OSC_LEFT_NAMES)
        osc_note(&l->notes, "%s%s", err->message, osc_budget_way_out(st));
    if (strncmp(why, path, len) == 0 && why[len] == ':' && why[len + 1] == ' ')
        why += len + 2;
    if (!t->is_partial)
        osc_left_out_add(&l->files.left, OSC_LEFT_FAILED, path, why);
}

/* Store the version of torch of the first trace that has one. A question may be deriving facts
 * of a trace that a refresh has kept. */
static osc_status add_torch_version(struct osc_loaded *l, const struct osc_trace *t)
{
    struct osc_strbuf copy = {0};

    osc_trace_read(t);
    const struct osc_str version = osc_trace_torch_version(t);
    osc_trace_read_end(t);
    if (l->torch_version || version.len == 0)
        return OSC_OK;
    osc_strbuf_addstr(&copy, version);
    l->torch_version = copy.s;
    return copy.status;
}

/* Pass the trace of H, which is trace PART of path I, to the visitor and release it. */
static osc_status visit(struct osc_loaded *l, const struct osc_load *o, struct osc_held *h,
                        uint32_t i, uint32_t part, struct osc_err *err)
{
    struct osc_trace *const t = &h->trace;
    osc_status st = add_torch_version(l, t);

    if (st == OSC_OK)
        st = o->visitor->visit(o->visitor->ctx, l, t, i, part, err);
    else
        st = no_memory(l, err);
    l->n_read++;
    osc_held_release(h);
    return st;
}

/* Compute the digest of path I and the parts that continue it. */
static osc_status digest(const struct osc_loaded *l, uint32_t i, struct osc_digest *d)
{
    struct osc_import_options parts = {.n_later = 0};
    const char **paths = NULL;
    osc_status st = add_later(l, i, &parts);

    if (st == OSC_OK)
        paths = osc_calloc((size_t)parts.n_later + 1, sizeof *paths);
    if (paths) {
        paths[0] = l->files.all[i];
        memcpy(paths + 1, parts.later, parts.n_later * sizeof *paths);
        st = osc_files_digest(d, paths, parts.n_later + 1);
    }
    osc_free(parts.later);
    osc_free(paths);
    return paths ? st : OSC_ENOMEM;
}

/* Store the digest of path I and the parts that continue it, before they are read. */
static osc_status add_unit(struct osc_loaded *l, const struct osc_load *o, uint32_t i)
{
    osc_status st = OSC_OK;

    if (!o->has_digests)
        return OSC_OK;
    st = osc_grow(&l->units, &l->cap_units, (size_t)l->n_units + 1, sizeof *l->units);
    return st == OSC_OK ? digest(l, i, &l->units[l->n_units++]) : st;
}

/* Trace PART of path I was read as H. Store the digest of its files in H; if they changed while
 * they were read, mark H as torn. */
static osc_status store_files(struct osc_loaded *l, uint32_t i, uint32_t part,
                              struct osc_held *h)
{
    struct osc_digest *const unit = l->n_units > 0 ? &l->units[l->n_units - 1] : NULL;
    struct osc_digest after = {0};

    osc_held_remember(h);
    h->file = i;
    h->part = part;
    if (!unit)
        return OSC_OK;
    const osc_status st = digest(l, i, &after);
    h->files = *unit;
    h->is_torn = st == OSC_OK && memcmp(&after, unit, sizeof after) != 0;
    if (h->is_torn)
        *unit = (struct osc_digest){0};
    return st;
}

static osc_status reserve_trace(struct osc_loaded *l)
{
    const size_t n = (size_t)l->n_traces + 1;
    const osc_status st = osc_grow(&l->traces, &l->cap_traces, n, sizeof(void *));

    return st == OSC_OK ? osc_grow(&l->paths, &l->cap_paths, n, sizeof(void *)) : st;
}

/* Add T, which was read before from path I, instead of reading it again. */
static osc_status keep_one(struct osc_loaded *l, uint32_t i, struct osc_trace *t,
                           uint32_t *n_parts, struct osc_err *err)
{
    if (reserve_trace(l) != OSC_OK)
        return no_memory(l, err);
    osc_held_hold(osc_held_of(t))->file = i;
    *n_parts = t->n_parts > 0 ? t->n_parts : 1;
    l->paths[l->n_traces] = l->files.all[i];
    l->traces[l->n_traces++] = t;
    l->n_read++;
    l->n_kept++;
    return OSC_OK;
}

/* Load trace PART of path I; *N_PARTS becomes the number of traces in the file. */
static osc_status add_one(struct osc_loaded *l, const struct osc_load *o, uint32_t i,
                          uint32_t part, uint32_t *n_parts, struct osc_err *err)
{
    struct osc_held *const h = reserve_trace(l) == OSC_OK ? osc_held_new() : NULL;
    struct osc_trace *const t = h ? &h->trace : NULL;
    osc_status st = OSC_OK;

    if (!t)
        return no_memory(l, err);
    err->message[0] = '\0';
    st = import_one(l, o, i, part, t, err);
    const bool must_fail = o->asker && st == OSC_ELIMIT; /* half an answer would be wrong */
    if (st != OSC_OK && !l->is_outdated && t->is_partial && !must_fail) {
        report_failure(l, t, i, st, err);
        st = OSC_OK;
    }
    if (st != OSC_OK || l->is_outdated) {
        if (st != OSC_OK && !l->is_outdated && st != OSC_EINVAL && st != OSC_ECANCELED) {
            if (l->files.is_named[i] || must_fail) {
                st = add_way_out(err, st);
            } else {
                report_failure(l, t, i, st, err);
                st = OSC_OK;
            }
        }
        osc_held_release(h);
        return st;
    }
    if (store_files(l, i, part, h) != OSC_OK) {
        osc_held_release(h);
        return no_memory(l, err);
    }
    *n_parts = t->n_parts > 0 ? t->n_parts : 1;
    if (l->is_visited)
        return visit(l, o, h, i, part, err);
    l->n_read++;
    l->paths[l->n_traces] = l->files.all[i];
    l->traces[l->n_traces++] = t;
    return OSC_OK;
}

/* Nothing could be read: make the last note the error message. */
static osc_status fail_as_noted(struct osc_loaded *l, struct osc_err *err)
{
    const osc_status st = err->code == OSC_OK ? OSC_EIO : err->code;

    if (l->notes.len == 0 && err->message[0])
        return st; /* all files end before their first event */
    if (l->notes.len == 0)
        return osc_fail(err, st, "%s", osc_status_text(st));
    l->notes.s[--l->notes.len] = '\0';
    const char *const before = memrchr(l->notes.s, '\n', l->notes.len);
    const size_t from = before ? (size_t)(before + 1 - l->notes.s) : 0;
    (void)osc_fail(err, st, "%s", l->notes.s + from);
    l->notes.s[l->notes.len = from] = '\0';
    return st;
}

/* Load path I and the parts that continue it. */
static osc_status import_unit(struct osc_loaded *l, const struct osc_load *o, uint32_t i,
                              struct osc_kept *before, struct osc_err *err)
{
    uint32_t n_parts = 1;

    if (add_unit(l, o, i) != OSC_OK)
        return no_memory(l, err);
    for (uint32_t part = 0; part < n_parts; part++) {
        struct osc_trace *const kept =
            l->n_units > 0 ? osc_kept_take(before, &l->units[l->n_units - 1], part) : NULL;
        const osc_status st =
            kept ? keep_one(l, i, kept, &n_parts, err) : add_one(l, o, i, part, &n_parts, err);

        if (st != OSC_OK || l->is_outdated)
            return st;
        if (n_parts > 1 && strcmp(l->files.all[i], "-") == 0)
            return osc_fail(err, OSC_EIO,
                            "standard input holds %u traces; name the file instead", n_parts);
    }
    return OSC_OK;
}

/* The same, without traces that were read before. */
static osc_status import_alone(struct osc_loaded *l, const struct osc_load *o, uint32_t i,
                               struct osc_err *err)
{
    struct osc_kept none;
    osc_status st = osc_kept_init(&none, NULL, 0);

    if (st != OSC_OK)
        return no_memory(l, err);
    st = import_unit(l, o, i, &none, err);
    osc_kept_fini(&none);
    return st;
}

/* Whether some files of L are of other shares. */
static bool has_others(const struct osc_loaded *l)
{
    for (uint32_t i = 0; l->is_other && i < l->files.n; i++) {
        if (l->is_other[i])
            return true;
    }
    return false;
}

/* All files of L were read. */
static osc_status end_import(struct osc_loaded *l, struct osc_err *err)
{
    if (l->n_unread > 0)
        osc_note(&l->notes, "memory limit reached before %u of %u files were read%s",
                 l->n_unread, l->files.n, osc_budget_way_out(OSC_ELIMIT));
    if (l->n_read == 0 && !has_others(l))
        return fail_as_noted(l, err);
    osc_left_out_note(&l->files.left, &l->notes);
    return OSC_OK;
}

static osc_status import_all(struct osc_loaded *l, const struct osc_load *o,
                             struct osc_err *err)
{
    struct osc_kept before;
    osc_status st = osc_kept_init(&before, o->before ? o->before->traces : NULL,
                                  o->before ? o->before->n_traces : 0);

    if (st != OSC_OK)
        st = no_memory(l, err);
    if (st == OSC_OK && osc_spread_is_worth(l, o)) {
        osc_kept_fini(&before);
        st = osc_spread(l, o, import_alone, err);
        return st == OSC_OK && !l->is_outdated ? end_import(l, err) : st;
    }
    for (uint32_t i = 0; i < l->files.n && st == OSC_OK && !l->is_outdated; i++) {
        const bool is_other = l->is_other && l->is_other[i];

        if (!is_other && l->links.before[i] == 0) /* else it is read with the part before */
            st = import_unit(l, o, i, &before, err);
    }
    osc_kept_fini(&before);
    return st == OSC_OK && !l->is_outdated ? end_import(l, err) : st;
}

void osc_rank_span_add(struct osc_rank_span *r, int32_t rank, int32_t span)
{
    if (r->n++ == 0)
        *r = (struct osc_rank_span){rank, rank, span, span, 1};
    r->least_rank = rank < r->least_rank ? rank : r->least_rank;
    r->most_rank = rank > r->most_rank ? rank : r->most_rank;
    r->least_span = span < r->least_span ? span : r->least_span;
    r->most_span = span > r->most_span ? span : r->most_span;
}

/* Append "rank 3" or "ranks 0 to 7". */
static void add_numbers(struct osc_strbuf *out, const char *what, int32_t least, int32_t most)
{
    if (least == most)
        osc_strbuf_addf(out, "%s %d", what, least);
    else
        osc_strbuf_addf(out, "%ss %d to %d", what, least, most);
}

osc_status osc_rank_span_fail(const struct osc_rank_span *r, struct osc_err *err)
{
    struct osc_strbuf found = {0};

    add_numbers(&found, "rank", r->least_rank, r->most_rank);
    osc_strbuf_adds(&found, ", ");
    add_numbers(&found, "span", r->least_span, r->most_span);
    (void)osc_fail(err, OSC_ENOTFOUND,
                   "no trace is left by --rank and --span; the input has %s",
                   found.status == OSC_OK ? found.s : "others");
    osc_strbuf_fini(&found);
    return OSC_ENOTFOUND;
}

osc_status osc_loaded_ranks(bool *keep, struct osc_trace *const *traces, uint32_t n,
                            const struct osc_view *view, struct osc_err *err)
{
    struct osc_rank_span seen = {.n = 0};
    bool is_any = false;

    for (uint32_t i = 0; i < n; i++) {
        const struct osc_trace *const t = traces[i];

        osc_rank_span_add(&seen, t->rank, t->span);
        keep[i] = osc_list_has(view->ranks, t->rank) && osc_list_has(view->spans, t->span);
        is_any |= keep[i];
    }
    return is_any ? OSC_OK : osc_rank_span_fail(&seen, err);
}

/* Keep only the traces whose ranks and spans V names. */
static osc_status filter(struct osc_loaded *l, const struct osc_view *v, struct osc_err *err)
{
    bool *const keep = osc_calloc(l->n_traces ? l->n_traces : 1, sizeof *keep);
    uint32_t n = 0;

    if (!keep)
        return no_memory(l, err);
    const osc_status st = osc_loaded_ranks(keep, l->traces, l->n_traces, v, err);
    for (uint32_t i = 0; i < l->n_traces; i++) {
        struct osc_trace *t = l->traces[i];

        if (keep[i]) {
            l->traces[n++] = t;
            continue;
        }
        osc_held_release(osc_held_of(t));
    }
    l->n_traces = n;
    osc_free(keep);
    return st;
}

/* Read the columns of exported files, which are used from here on. */
static osc_status touch_all(struct osc_loaded *l, unsigned n_threads, struct osc_err *err)
{
    for (uint32_t i = 0; i < l->n_traces; i++) {
        const osc_status st = osc_trace_touch(l->traces[i], n_threads, err);

        if (st != OSC_OK)
            return osc_loaded_fail(l, l->traces[i], st, "reading columns", err);
    }
    return OSC_OK;
}

/* Whether the operands can be read again if a directory changes: none is a pipe. */
static bool can_read_again(const struct osc_load *o)
{
    struct stat info;

    for (size_t i = 0; i < o->n_paths; i++)
        if (strcmp(o->paths[i], "-") == 0 ||
            (stat(o->paths[i], &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)))
            return false;
    return true;
}

/* List the files that the operands of O stand for. */
static osc_status list(struct osc_loaded *l, const struct osc_load *o, struct osc_err *err)
{
    const osc_status st = osc_paths_find(&l->files, o->paths, o->n_paths, &l->notes, err);

    if (st != OSC_OK)
        return osc_loaded_fail(l, NULL, st, "loading", err);
    if (osc_part_links_find(&l->links, (const char *const *)l->files.all, l->files.n) != OSC_OK)
        return no_memory(l, err);
    return OSC_OK;
}

/* A file and those that continue it, to be shared out. */
struct unit {
    uint64_t n_bytes;
    uint32_t first; /* index of the file */
};

/* Largest first. */
static int by_size(const void *a, const void *b)
{
    const struct unit *const x = a, *const y = b;

    if (x->n_bytes != y->n_bytes)
        return x->n_bytes > y->n_bytes ? -1 : 1;
    return x->first < y->first ? -1 : 1;
}

/* The size of file I of L, which is added to the hash of L. */
static uint64_t add_size(struct osc_loaded *l, uint32_t i)
{
    const char *const path = l->files.all[i];
    struct stat info;
    const uint64_t n_bytes = stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;

    l->listed = osc_hash(path, strlen(path), l->listed);
    l->listed = osc_hash(&n_bytes, sizeof n_bytes, l->listed);
    return n_bytes;
}

/* List in UNITS those of L, with their sizes; set the hash of L. Returns their number. */
static uint32_t list_units(struct osc_loaded *l, struct unit *units)
{
    uint32_t n = 0;

    l->listed = 0;
    for (uint32_t i = 0; i < l->files.n; i++) {
        if (l->links.before[i] > 0)
            continue;
        units[n] = (struct unit){.first = i};
        for (uint32_t k = i + 1; k > 0; k = l->links.after[k - 1])
            units[n].n_bytes += add_size(l, k - 1);
        n++;
    }
    return n;
}

/* Give each unit, the largest first, to the share that has least so far; mark in L what is of
 * other shares than O's. TOTALS has an entry for each share. */
static void give_units(struct osc_loaded *l, const struct osc_load *o, const struct unit *units,
                       uint32_t n, uint64_t *totals)
{
    for (uint32_t u = 0; u < n; u++) {
        uint32_t to = 0;

        for (uint32_t s = 1; s < o->share.n; s++)
            to = totals[s] < totals[to] ? s : to;
        totals[to] += units[u].n_bytes + 1; /* empty files are shared out, too */
        for (uint32_t k = units[u].first + 1; k > 0; k = l->links.after[k - 1])
            l->is_other[k - 1] = to != o->share.number;
    }
}

/* Mark the files of L that are of other shares than O's. */
static osc_status take_share(struct osc_loaded *l, const struct osc_load *o)
{
    struct unit *const units = osc_calloc((size_t)l->files.n + 1, sizeof *units);
    uint64_t *const totals = osc_calloc((size_t)o->share.n + 1, sizeof *totals);

    l->is_other = osc_calloc((size_t)l->files.n + 1, sizeof *l->is_other);
    if (units && totals && l->is_other) {
        const uint32_t n = list_units(l, units);

        osc_sort(units, n, sizeof *units, by_size);
        give_units(l, o, units, n, totals);
    }
    osc_free(units);
    osc_free(totals);
    return units && totals && l->is_other ? OSC_OK : OSC_ENOMEM;
}

/* List the files of O and load them. *IS_DONE: they need not be visited again. */
static osc_status list_and_import(struct osc_loaded *l, const struct osc_load *o, bool *is_done,
                                  struct osc_err *err)
{
    const struct osc_visitor *const visitor = o->visitor;
    osc_status st = list(l, o, err);

    l->is_visited = visitor && (l->files.n > 1 || visitor->takes_all) &&
                    (!visitor->end || l->may_list_again || visitor->takes_all);
    if (st == OSC_OK && o->keeps_parts && take_share(l, o) != OSC_OK)
        st = no_memory(l, err);
    if (st == OSC_OK)
        st = import_all(l, o, err);
    *is_done = true;
    if (st == OSC_OK && visitor && l->is_visited && !l->is_outdated && visitor->end &&
        visitor->end(visitor->ctx, is_done) != OSC_OK) {
        *is_done = true;
        st = no_memory(l, err);
    }
    if (!*is_done && !l->may_list_again) {
        *is_done = true;
        st = osc_fail(err, OSC_EIO,
                      "times count from the first event of all files, so they are read twice: "
                      "one is a pipe, or changes while it is read");
    }
    return st;
}

/* Whether directories of A and B have as much that is not read; what failed when it was read
 * does not count. */
static bool has_same_left(const struct osc_left_out *a, const struct osc_left_out *b)
{
    for (int i = 0; i < OSC_LEFT_WHYS; i++) {
        if (i != OSC_LEFT_FAILED && i != OSC_LEFT_BEGUN && a->by_why[i] != b->by_why[i])
            return false;
    }
    return true;
}

osc_status osc_loaded_is_current(const struct osc_loaded *l, const struct osc_load *o,
                                 bool *is_so)
{
    struct osc_loaded now = {0};
    osc_status st = list(&now, o, NULL);

    *is_so = false;
    for (uint32_t i = 0; i < now.files.n && st == OSC_OK; i++) {
        if (now.links.before[i] == 0)
            st = add_unit(&now, o, i);
    }
    if (st == OSC_OK)
        *is_so = !l->has_failed && now.n_units == l->n_units &&
                 has_same_left(&now.files.left, &l->files.left) &&
                 memcmp(now.units, l->units, now.n_units * sizeof *now.units) == 0;
    osc_loaded_fini(&now);
    return st == OSC_ENOMEM ? st : OSC_OK;
}

/* Decide rank, span and origin of each trace of L, and keep the ranks and spans of the view. */
static osc_status arrange(struct osc_loaded *l, const struct osc_load *o, struct osc_err *err)
{
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < l->n_traces && st == OSC_OK; i++)
        st = add_torch_version(l, l->traces[i]);
    if (st != OSC_OK || osc_held_place(l->traces, l->paths, l->n_traces) != OSC_OK)
        return no_memory(l, err);
    st = filter(l, o->view, err);
    if (st != OSC_OK)
        return st;
    if (osc_run_sort(l->traces, l->n_traces) != OSC_OK)
        return no_memory(l, err);
    return touch_all(l, o->how->n_threads, err);
}

osc_status osc_load(struct osc_loaded *l, const struct osc_load *o, struct osc_err *err)
{
    struct osc_err own;
    osc_status st = OSC_OK;
    bool is_done = false;

    err = err ? err : &own;
    *l = (struct osc_loaded){0};
    for (int n = 1; !is_done || l->is_outdated; n++) {
        const bool is_serial = l->is_serial;

        osc_loaded_fini(l);
        l->is_serial = is_serial;
        if (o->visitor)
            o->visitor->restart(o->visitor->ctx);
        l->operand = o->n_paths == 1 ? o->paths[0] : NULL;
        l->may_list_again = n < LISTS_MAX && can_read_again(o);
        err->code = OSC_OK;
        err->message[0] = '\0';
        st = list_and_import(l, o, &is_done, err);
    }
    if (st == OSC_OK)
        err->message[0] = '\0'; /* from files that were left out */
    if (st == OSC_OK && !l->is_visited)
        st = arrange(l, o, err);
    if (o->hear)
        osc_notes_each(&l->notes, o->hear, o->hear_ctx);
    return st;
}
