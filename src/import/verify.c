/* SPDX-License-Identifier: Apache-2.0 */
#include "import/verify.h"

#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "import/import.h"
#include "import/osc/live_dir.h"
#include "import/osc/open_input.h"
#include "import/osc/osc_file.h"

struct verifying {
    struct osc_verify *v;
    struct osc_file file;
    struct osc_live_dir live; /* beside a file that was not ended */
    osc_status live_opened;
    unsigned char *payload; /* owned */
    size_t cap_payload;
};

const char *osc_verify_type_text(uint16_t type)
{
    static const char *const texts[] = {"",        "index",   "process", "clock",
                                        "strings", "threads", "records", "end"};

    if (type >= OSC_CHUNK_MODEL)
        return "columns";
    return type < sizeof texts / sizeof *texts ? texts[type] : "unknown";
}

static void tell(struct verifying *w, struct osc_verify_fault fault)
{
    w->v->n_faults++;
    if (w->v->tell)
        w->v->tell(w->v->ctx, &fault);
}

/* Report bytes that are not zero from OFFSET to END, which is less than OSC_WIRE_ALIGN away. */
static osc_status check_zeroes(struct verifying *w, uint64_t offset, uint64_t end,
                               uint16_t type)
{
    unsigned char behind[OSC_WIRE_ALIGN] = {0};
    osc_status st = OSC_OK;

    if (end > w->file.size)
        end = w->file.size;
    if (end > offset)
        st = osc_file_read(&w->file, offset, behind, (size_t)(end - offset));
    for (size_t i = 0; st == OSC_OK && i < sizeof behind; i++) {
        if (behind[i] == 0)
            continue;
        tell(w, (struct osc_verify_fault){.offset = offset + i,
                                          .n_bytes = 1,
                                          .type = type,
                                          .what = "bytes after the payload are not zero"});
        break;
    }
    return st;
}

/* Compare the header in the file with that in the index, and check that the bytes after the
 * payload are zero. */
static osc_status check_frame(struct verifying *w, const struct osc_wire_index_entry *e)
{
    struct osc_wire_header h;
    const osc_status st = osc_file_read(&w->file, e->offset, &h, sizeof h);

    if (st == OSC_OK && memcmp(&h, &e->header, sizeof h) != 0)
        tell(w,
             (struct osc_verify_fault){.offset = e->offset,
                                       .n_bytes = sizeof h,
                                       .type = e->header.type,
                                       .what = "the header is damaged; the index has a copy"});
    return st == OSC_OK
               ? check_zeroes(w, e->offset + sizeof h + e->header.payload_bytes,
                              e->offset + osc_wire_chunk_bytes(e->header.payload_bytes),
                              e->header.type)
               : st;
}

/* A hash that is right says that the bytes are those that were written; the frame in them is
 * checked as well, since a writer may have been wrong. */
static osc_status check_chunk(struct verifying *w, size_t i)
{
    const struct osc_wire_index_entry *const e = &w->file.chunks[i];
    const bool has_records = e->header.type == OSC_CHUNK_RECORDS;
    osc_status st = osc_file_payload(&w->file, i, &w->payload, &w->cap_payload);

    w->v->n_chunks++;
    w->v->n_records += has_records ? e->header.n_items : 0;
    if (st == OSC_EFORMAT) {
        tell(w, (struct osc_verify_fault){.offset = e->offset + sizeof e->header,
                                          .n_bytes = e->header.payload_bytes,
                                          .type = e->header.type,
                                          .n_records = has_records ? e->header.n_items : 0,
                                          .what = "the hash of the payload is wrong"});
        st = OSC_OK;
    }
    return st == OSC_OK ? check_frame(w, e) : st;
}

static bool has_end(const struct osc_file *f)
{
    for (size_t i = 0; i < f->n_chunks; i++)
        if (f->chunks[i].header.type == OSC_CHUNK_END)
            return true;
    return false;
}

/* A gap at the end of a file that was not ended is no fault if the live directory has its
 * records. */
static void report_gaps(struct verifying *w)
{
    const struct osc_file *f = &w->file;

    if (!f->header_is_good)
        tell(w, (struct osc_verify_fault){.n_bytes = sizeof f->header,
                                          .what = "the header of the file is damaged"});
    for (size_t g = 0; g < f->n_gaps; g++) {
        const struct osc_file_gap *gap = &f->gaps[g];

        if (osc_live_dir_has(&w->live, f, gap))
            continue;
        tell(w, (struct osc_verify_fault){.offset = gap->offset,
                                          .n_bytes = gap->n_bytes,
                                          .what = gap->is_cut ? "the file ends within a chunk"
                                                              : "no chunk begins here"});
    }
}

/* The live directory is a part of a recording that was not ended, and has faults of its own. */
static void report_live(struct verifying *w)
{
    const struct osc_file_header *h = &w->file.header;
    const struct osc_live_dir *l = &w->live;

    if (w->live_opened == OSC_EFORMAT)
        tell(w, (struct osc_verify_fault){
                    .what = "the header of the live directory beside it is damaged"});
    if (l->is_lost)
        tell(w, (struct osc_verify_fault){.what =
                                              "the live directory beside it lacks its blocks"});
    if (!l->is_there)
        return;
    if (w->file.header_is_good &&
        memcmp(l->header.recording, h->recording, sizeof h->recording) != 0)
        tell(w, (struct osc_verify_fault){
                    .what = "the live directory beside it belongs to another recording"});
    if (l->is_cut)
        tell(w, (struct osc_verify_fault){.what = "the live directory beside it is cut"});
    if (l->names_are_cut || l->names_are_bad)
        tell(w, (struct osc_verify_fault){
                    .what = "names in the live directory beside it are cut or damaged"});
    if (l->n_bad_blocks > 0)
        tell(w, (struct osc_verify_fault){
                    .n_records = l->n_bad_records,
                    .what = "blocks of the live directory beside it are damaged"});
}

/* Open the live directory, if there is one: it has the rest of a file that was not ended. */
static osc_status open_live(struct verifying *w, const char *path)
{
    struct osc_err ignored = {0};

    if (has_end(&w->file))
        return OSC_OK;
    char *live = osc_live_dir_path(path, w->file.header_is_good ? w->file.header.part : 1);
    if (!live)
        return OSC_ENOMEM;
    w->live_opened = osc_live_dir_open(&w->live, live, &ignored);
    osc_free(live);
    return w->live_opened == OSC_ENOMEM ? OSC_ENOMEM : OSC_OK;
}

/* Check the index. Without a good one the file is still being written, or was cut. */
static osc_status check_index(struct verifying *w)
{
    const struct osc_file *f = &w->file;
    struct osc_trailer trailer;
    struct osc_wire_header h;

    if (f->has_index) {
        osc_status st = osc_file_read(f, f->size - sizeof trailer, &trailer, sizeof trailer);
        if (st == OSC_OK)
            st = osc_file_read(f, trailer.index_offset, &h, sizeof h);
        return st == OSC_OK ? check_zeroes(w, trailer.index_offset + sizeof h + h.payload_bytes,
                                           f->size - sizeof trailer, OSC_CHUNK_INDEX)
                            : st;
    }
    if (has_end(f) && f->n_gaps == 0)
        tell(w,
             (struct osc_verify_fault){
                 .offset = f->size,
                 .type = OSC_CHUNK_INDEX,
                 .what = "the index is missing or damaged; the file can be read without it"});
    return OSC_OK;
}

static void report_progress(const struct verifying *w, uint64_t done_bytes)
{
    if (w->v->progress)
        (void)w->v->progress(w->v->progress_ctx, done_bytes, w->file.size);
}

/* The file is checked chunk by chunk as it lies, and not by its index, which is checked by
 * that. */
static osc_status check_file(struct verifying *w, const char *path)
{
    osc_status st = open_live(w, path);

    if (st == OSC_OK)
        report_gaps(w);
    for (size_t i = 0; i < w->file.n_chunks && st == OSC_OK; i++) {
        st = check_chunk(w, i);
        report_progress(w, w->file.chunks[i].offset);
    }
    if (st == OSC_OK)
        st = check_index(w);
    if (st == OSC_OK)
        report_live(w);
    w->v->has_index = w->file.has_index;
    w->v->n_bytes = w->file.size;
    return st;
}

/* Check the columns of trace PART as its reader does; *N_PARTS becomes the number of traces in
 * the file. */
static osc_status check_part(struct verifying *w, const char *path, uint32_t part,
                             uint32_t *n_parts)
{
    const struct osc_import_options options = {
        .part = part, .progress = w->v->progress, .progress_ctx = w->v->progress_ctx};
    struct osc_trace t = {0};
    struct osc_err ignored = {0};
    osc_status st = osc_import_path(&t, path, &options, &ignored);
    const struct osc_finding *const corrupt = &t.findings.by_code[OSC_FINDING_corrupt];

    if (st == OSC_OK) {
        const uint64_t n_before = corrupt->count; /* found when the columns were written */

        *n_parts = t.n_parts;
        st = osc_trace_touch(&t, osc_cpu_count(), &ignored);
        if (corrupt->count > n_before)
            tell(w, (struct osc_verify_fault){
                        .offset = corrupt->first_offset,
                        .type = OSC_CHUNK_EVENTS,
                        .n_records = corrupt->count - n_before,
                        .what = "values are out of bounds, although the hashes are right"});
        osc_trace_fini(&t);
    } else if (st == OSC_EFORMAT) {
        tell(w, (struct osc_verify_fault){.type = OSC_CHUNK_MODEL,
                                          .what = "data that all rows need is inconsistent"});
        st = OSC_OK;
    }
    return st;
}

/* Check the columns, whose content may be wrong even if their hashes are right. */
static osc_status check_columns(struct verifying *w, const char *path)
{
    uint32_t n_parts = 1;
    osc_status st = OSC_OK;

    if (!osc_file_has_columns(&w->file) || w->v->n_faults > 0 || !w->file.in->can_seek)
        return OSC_OK;
    for (uint32_t part = 0; part < n_parts && st == OSC_OK; part++)
        st = check_part(w, path, part, &n_parts);
    return st;
}

osc_status osc_verify_path(struct osc_verify *v, const char *path, struct osc_err *err)
{
    struct verifying w = {.v = v};
    struct osc_input in;
    osc_status st = osc_input_open(&in, path, err);

    if (st == OSC_OK) {
        const enum osc_inflate_format inflate = osc_inflate_probe(in.probe, in.n_probe);

        v->has_hashes = !in.is_live && (inflate != OSC_INFLATE_NONE ||
                                        osc_file_probe(in.probe, in.n_probe) > 0);
        if (v->has_hashes)
            st = osc_file_open(&w.file, &in, inflate, err);
        if (v->has_hashes && st == OSC_OK) {
            st = check_file(&w, in.path);
            if (st == OSC_OK)
                st = check_columns(&w, path);
            if (st != OSC_OK)
                st = osc_fail(err, st, "%s: %s", path, osc_status_text(st));
        }
    }
    osc_free(w.payload);
    osc_live_dir_close(&w.live);
    osc_file_close(&w.file);
    osc_input_close(&in);
    return st;
}
