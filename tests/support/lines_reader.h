/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines_reader.h - a complete reader of a made-up format, as "How to change it" in
 * ARCHITECTURE.md describes readers.
 *
 *     thread NAME PID TID                      a thread; other lines refer to it by NAME
 *     device NAME FAMILY INDEX MEMORY UNITS    a device
 *     queue NAME DEVICE NUMBER                 a queue of it
 *     KIND TRACK START DURATION NAME           a range of that kind: operator, kernel, ...
 *     launch TRACK START TRACK START           the call that starts there launched that work
 *     step TRACK START DURATION LABEL
 *     memory TRACK TIME DEVICE ADDRESS BYTES TOTAL
 *     counter TRACK TIME VALUE NAME
 *
 * It uses only builders: no phases, no categories, no names with a meaning.
 */
#pragma once

#include <stdio.h>
#include <string.h>

#include "import/build/reader.h"
#include "import/build/seal.h"
#include "import/build/typed.h"
#include "import/bytes/inflate_pipe.h"
#include "import/bytes/text_window.h"

/* A name that a line has defined: a track, or a device without a track. */
struct lines_name {
    char name[32];
    osc_track_id track;
    uint32_t device;
};

struct lines {
    struct osc_builder builder;
    struct lines_name names[16];
    size_t n_names;
};

static struct lines_name *lines_find(struct lines *l, const char *name)
{
    for (size_t i = 0; i < l->n_names; i++)
        if (strcmp(l->names[i].name, name) == 0)
            return &l->names[i];
    struct lines_name *const n = &l->names[l->n_names++];

    (void)snprintf(n->name, sizeof n->name, "%s", name);
    return n;
}

static osc_sid lines_text(struct lines *l, const char *s)
{
    return osc_build_string(&l->builder, s, (uint32_t)strlen(s));
}

static void lines_range(struct lines *l, const char *word, const char *line)
{
    struct osc_record r = {.shape = OSC_SHAPE_RANGE};
    char track[32], name[64];
    long long at, dur;

    for (int k = OSC_KIND_OPERATOR; k < OSC_KIND_COUNT; k++)
        if (strcmp(word, osc_kind_text((enum osc_kind)k)) == 0)
            r.kind = (uint8_t)k;
    if (r.kind == OSC_KIND_NONE ||
        sscanf(line, "%*s %31s %lld %lld %63[^\n]", track, &at, &dur, name) != 4) {
        osc_findings_add(&l->builder.findings, OSC_FINDING_corrupt, OSC_NO_OFFSET, OSC_NO_TIME);
        return;
    }
    r.track = lines_find(l, track)->track;
    r.name = lines_text(l, name);
    r.ts_ns = at;
    r.dur_ns = dur;
    osc_build_event(&l->builder, &r, NULL);
}

static void lines_take(struct lines *l, const char *line)
{
    struct osc_builder *const b = &l->builder;
    char word[32] = "", a[32] = "", s[64] = "";
    long long n[4] = {0};

    (void)sscanf(line, "%31s", word);
    if (sscanf(line, "thread %31s %lld %lld", a, &n[0], &n[1]) == 3) {
        lines_find(l, a)->track = osc_build_track(b, (osc_who)n[0], (osc_who)n[1]);
        osc_build_track_name(b, lines_find(l, a)->track, lines_text(l, a));
    } else if (sscanf(line, "device %31s %63s %lld %lld %lld", a, s, &n[0], &n[1], &n[2]) ==
               5) {
        struct osc_device d = {.family = lines_text(l, s), .index = n[0]};

        osc_device_limits_init(&d.limits);
        d.limits.memory_bytes = n[1];
        d.limits.n_units = n[2];
        lines_find(l, a)->device = osc_build_device(b, &d);
    } else if (sscanf(line, "queue %31s %63s %lld", a, s, &n[0]) == 3) {
        lines_find(l, a)->track =
            osc_build_queue(b, lines_find(l, s)->device, (osc_who)n[0], lines_text(l, a));
    } else if (sscanf(line, "launch %31s %lld %63s %lld", a, &n[0], s, &n[1]) == 4) {
        osc_build_arrow(b, OSC_ARROW_LAUNCH,
                        &(struct osc_arrow_end){lines_find(l, a)->track, n[0]},
                        &(struct osc_arrow_end){lines_find(l, s)->track, n[1]});
    } else if (sscanf(line, "step %31s %lld %lld %63s", a, &n[0], &n[1], s) == 4) {
        osc_build_step(b,
                       &(struct osc_step_row){.track = lines_find(l, a)->track,
                                              .label = osc_str_c(s),
                                              .ts_ns = n[0],
                                              .dur_ns = n[1]},
                       NULL);
    } else if (sscanf(line, "memory %31s %lld %63s %lld %lld %lld", a, &n[0], s, &n[1], &n[2],
                      &n[3]) == 6) {
        osc_build_memory(b,
                         &(struct osc_memory_row){.track = lines_find(l, a)->track,
                                                  .ts_ns = n[0],
                                                  .device = lines_find(l, s)->device,
                                                  .address = (uint64_t)n[1],
                                                  .bytes = n[2],
                                                  .allocated_bytes = n[3],
                                                  .reserved_bytes = OSC_BYTES_UNKNOWN},
                         NULL);
    } else if (sscanf(line, "counter %31s %lld %lld %63s", a, &n[0], &n[1], s) == 4) {
        osc_build_counter(b, lines_find(l, a)->track, lines_text(l, s), n[0], (double)n[1]);
    } else {
        lines_range(l, word, line);
    }
}

/* Read the lines of TEXT to its end; blocks may have any size. */
static void lines_take_all(struct lines *l, struct osc_text *text)
{
    for (bool is_last = false; !is_last && l->builder.status == OSC_OK;) {
        char *const end = memchr(text->p, '\n', (size_t)(text->end - text->p));

        if (!end && osc_text_more(text, text->p))
            continue;
        is_last = !end;
        char *const stop = end ? end : text->end;
        *stop = '\0'; /* padding follows the text */
        if (text->p < stop)
            lines_take(l, text->p);
        text->p = end ? end + 1 : text->end;
    }
}

/* Join the rows to the trace, even if the text was cut. */
static osc_status lines_join(struct lines *l, const struct osc_text *text,
                             struct osc_loading *loading)
{
    struct osc_batch_of_rows batch = {0};

    if (text->status == OSC_ETRUNC || text->status == OSC_EFORMAT)
        osc_findings_add(&l->builder.findings,
                         text->status == OSC_ETRUNC ? OSC_FINDING_truncated
                                                    : OSC_FINDING_corrupt,
                         osc_text_offset(text, text->p), OSC_NO_TIME);
    else if (text->status != OSC_OK)
        return text->status;
    const osc_status st = osc_builder_take(&l->builder, &batch);

    return st == OSC_OK ? osc_loading_join(loading, &batch) : st;
}

static osc_status lines_read(struct osc_reading *r, struct osc_err *err)
{
    struct lines l = {.n_names = 0};
    struct osc_raw_blocks raw = {0};
    struct osc_pipe *pipe = NULL;
    struct osc_text text = {0};
    osc_status st = osc_builder_init(&l.builder, r->loading);

    if (st == OSC_OK && r->inflate != OSC_INFLATE_NONE)
        st = osc_pipe_open(&pipe, r->in, r->inflate, r->block_bytes, r->n_threads > 1, err);
    if (!pipe)
        osc_raw_blocks_init(&raw, r->in, 0, r->block_bytes);
    if (st == OSC_OK) {
        osc_text_init(&text, pipe ? osc_pipe_blocks(pipe) : &raw.blocks, 0);
        lines_take_all(&l, &text);
        st = lines_join(&l, &text, r->loading);
    }
    osc_text_fini(&text);
    osc_raw_blocks_fini(&raw);
    osc_pipe_close(pipe);
    osc_builder_fini(&l.builder);
    return st == OSC_OK ? st : osc_fail(err, st, "%s: %s", r->in->path, osc_status_text(st));
}

static int lines_probe(const char *head, size_t len)
{
    return len >= 7 && memcmp(head, "thread ", 7) == 0 ? 60 : 0;
}

static const struct osc_reader lines_reader = {
    .name = "lines", .suffixes = ".lines", .probe = lines_probe, .read = lines_read};
