/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import.h"

#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "codec/inflate.h"
#include "import/build/members.h"
#include "import/build/read_step_bounds.h"
#include "import/build/reader.h"
#include "import/build/seal.h"
#include "import/foreign.h"
#include "import/osc/open_input.h"

/* Large enough to make system calls cheap, small enough to stay in the L2 cache. */
#define BLOCK_BYTES ((size_t)256 << 10)
#define PROBE_BYTES 4096u

/* A text that is shorter fills less than a page of most columns. */
#define SMALL_TEXT_BYTES ((uint64_t)128 << 10)
#define TINY_TEXT_BYTES  ((uint64_t)16 << 10)

/* Working memory of a thread, including its slabs with their unused rest. */
#define THREAD_BYTES ((size_t)32 << 20)

/* Get the first bytes of the text: those of the input, inflated if necessary. */
static osc_status probe_text(struct osc_reading *r, char *head, size_t *len,
                             struct osc_err *err)
{
    struct osc_inflate_io io = {.in = (const unsigned char *)r->in->probe,
                                .n_in = r->in->n_probe,
                                .out = (unsigned char *)head,
                                .n_out = PROBE_BYTES};
    struct osc_inflate *z = NULL;
    struct osc_err ignored = {0};

    r->inflate = osc_inflate_probe(r->in->probe, r->in->n_probe);
    if (r->inflate == OSC_INFLATE_NONE) {
        memcpy(head, r->in->probe, r->in->n_probe);
        *len = r->in->n_probe;
        return OSC_OK;
    }
    osc_status st = osc_inflate_new(&z, r->inflate, err);
    /* Errors are ignored: they are reported when the text is read. */
    if (st == OSC_OK)
        (void)osc_inflate_run(z, &io, &ignored);
    else
        osc_err_prefix(err, "%s", r->in->path);
    *len = PROBE_BYTES - io.n_out;
    osc_inflate_free(z);
    return st;
}

/* The reader that the first LEN bytes of the text fit best, and how well. */
static const struct osc_reader *choose_reader(const char *head, size_t len, int *fit)
{
    const struct osc_reader *best = osc_readers[0];

    *fit = best->probe(head, len);
    for (size_t i = 1; osc_readers[i]; i++) {
        const int other = osc_readers[i]->probe(head, len);

        if (other > *fit) {
            *fit = other;
            best = osc_readers[i];
        }
    }
    return best;
}

/* Set *READER to that of IN, whose text begins with the LEN bytes at HEAD. OSC_EFORMAT: no
 * reader fits well, and the file is known to be no trace. */
static osc_status find_reader(const struct osc_reader **reader, const struct osc_input *in,
                              const char *head, size_t len, struct osc_err *err)
{
    int fit;

    /* A live directory has only one format, however damaged it is. */
    *reader = in->is_live ? &osc_reader_records : choose_reader(head, len, &fit);
    if (in->is_live || fit > OSC_FIT_WEAK)
        return OSC_OK;
    const struct osc_foreign_file file = {.path = in->path,
                                          .raw = {in->probe, (uint32_t)in->n_probe},
                                          .text = {head, (uint32_t)len}};

    return osc_foreign_check(&file, err);
}

/* Report ST, a failure that the input has not caused. */
static osc_status no_memory(struct osc_err *err, const struct osc_input *in, osc_status st)
{
    st = osc_mem_reason(st);
    return osc_fail(err, st, "%s: %s", in->path,
                    st == OSC_ELIMIT ? "memory limit reached" : osc_status_text(st));
}

/* Whether a name of T is one of PyTorch's operators. */
static bool has_torch_names(const struct osc_trace *t)
{
    const uint32_t n = osc_strings_bound(&t->strings);

    for (uint32_t i = 1; i < n; i++) {
        if (osc_strings_has(&t->strings, (osc_sid){i}) &&
            osc_str_starts(osc_strings_get(&t->strings, (osc_sid){i}), OSC_STR("aten::")))
            return true;
    }
    return false;
}

/* Whether T is of a program of PyTorch. opscope's profile and its source of PyTorch leave marks
 * in recordings; operators may also come from elsewhere, as from ITT. */
static bool is_torch(const struct osc_trace *t)
{
    struct osc_str ignored;

    if (t->producer != OSC_PRODUCER_OPSCOPE)
        return osc_producer_is_torch((enum osc_producer)t->producer);
    return osc_trace_meta(t, "source.torch", &ignored) ||
           osc_trace_meta(t, "trace_id", &ignored) || has_torch_names(t);
}

/* Make a trace of what READER has put into T: what all formats have in common, in the order in
 * which one step needs the other. */
static osc_status seal(struct osc_trace *t, const struct osc_reading *r,
                       const struct osc_reader *reader)
{
    osc_status st = OSC_OK;

    if (t->format.v == 0) /* files of columns name the original format */
        st = osc_strings_add(&t->strings, osc_str_c(reader->name), &t->format, NULL);
    if (st == OSC_OK)
        st = osc_strings_add(&t->strings, osc_str_c(r->in->path), &t->source, NULL);
    t->is_stdin = r->in->is_stdin;
    if (st == OSC_OK && !r->is_sealed && !reader->has_members)
        st = osc_members_add(t);
    if (st == OSC_OK && !r->is_sealed)
        st =
            osc_trace_seal(t, reader, r->n_threads, r->options->keep.is_on ? r->loading : NULL);
    t->is_torch = is_torch(t);
    if (st == OSC_OK)
        st = osc_read_step_bounds(t);
    if (st == OSC_OK && r->loading->min_ts_ns != INT64_MAX)
        /* including rows that were left out */
        t->min_ts_ns = t->origin_ns = t->own_origin_ns = r->loading->min_ts_ns;
    /* Here, and nowhere else: no kind of file is left without a lock. */
    return st == OSC_OK ? osc_trace_share(t) : st;
}

/* Read IN into T. Where memory ends, the rows so far are sealed as a trace of a part; failures
 * of the file are told as the reader said them. */
static osc_status read_input(struct osc_trace *t, struct osc_input *in,
                             const struct osc_import_options *o, struct osc_err *err)
{
    struct osc_loading loading;
    struct osc_reading r = {.in = in, .loading = &loading, .options = o};
    char head[PROBE_BYTES];
    size_t len = 0;
    osc_status st = osc_loading_init(&loading, t);

    loading.no_args = o->no_args;
    loading.reserve = o->reserve;
    osc_mem_reserve(t->reserved_bytes = o->reserve.fixed_bytes);
    loading.keep = o->keep;
    t->is_windowed = o->keep.is_on;
    r.n_threads = o->n_threads > 0 ? o->n_threads : osc_cpu_count();
    while (r.n_threads > 1 && r.n_threads > osc_mem_room() / THREAD_BYTES)
        r.n_threads--;
    r.block_bytes = o->block_bytes > 0 ? o->block_bytes : BLOCK_BYTES;
    if (st == OSC_OK)
        st = probe_text(&r, head, &len, err);
    const struct osc_reader *reader = NULL;

    if (st == OSC_OK)
        st = find_reader(&reader, in, head, len, err);
    loading.is_small =
        in->can_seek && in->size < SMALL_TEXT_BYTES && r.inflate == OSC_INFLATE_NONE;
    loading.is_tiny = loading.is_small && in->size < TINY_TEXT_BYTES;
    if (st == OSC_OK) {
        struct osc_err read_err = {0};

        st = reader->read(&r, &read_err);
        if (st == OSC_OK || t->is_partial) {
            const osc_status sealed = seal(t, &r, reader);

            if (sealed != OSC_OK) {
                t->is_partial = false;
                st = no_memory(&read_err, in, sealed);
            }
        }
        if (st != OSC_OK && err)
            *err = read_err;
    }
    if (st == OSC_ENOMEM)
        st = no_memory(err, in, st);
    t->input_bytes = in->size;
    osc_loading_fini(&loading);
    return st;
}

osc_status osc_import_path(struct osc_trace *t, const char *path,
                           const struct osc_import_options *o, struct osc_err *err)
{
    struct osc_input in;
    osc_status st = osc_input_open(&in, path, err);

    if (st == OSC_OK)
        st = read_input(t, &in, o, err);
    if (st != OSC_OK && !t->is_partial)
        osc_trace_fini(t);
    osc_input_close(&in);
    return st;
}

osc_status osc_import_memory(struct osc_trace *t, const char *name, struct osc_str data,
                             const struct osc_import_options *o, struct osc_err *err)
{
    struct osc_input in;

    osc_input_open_memory(&in, name, data);
    const osc_status st = read_input(t, &in, o, err);
    if (st != OSC_OK && !t->is_partial)
        osc_trace_fini(t);
    return st;
}
