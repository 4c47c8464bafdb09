/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines_reader.h - a reader of a format that nobody has: what "Add a reader" in
 * ARCHITECTURE.md asks for, whole.
 *
 *     thread NAME PID TID                      a thread; NAME is what other lines call it
 *     device NAME FAMILY INDEX MEMORY UNITS    a device
 *     queue NAME DEVICE NUMBER                 a queue of it
 *     KIND TRACK START DURATION NAME           a range of that kind: operator, runtime, kernel
 * ... launch TRACK START TRACK START           the call that starts there launched that work
 *     step TRACK START DURATION LABEL
 *     memory TRACK TIME DEVICE ADDRESS BYTES TOTAL
 *     counter TRACK TIME VALUE NAME
 *
 * It knows builders alone: no phase, no category, no name that means something.
 */
#pragma once

#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "import/build/reader.h"
#include "import/build/seal.h"
#include "import/build/typed.h"

/* What lines have named: tracks, and devices with no track. */
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
        osc_build_step(b, &(struct osc_step_row){.track = lines_find(l, a)->track,
                                                 .label = osc_str_c(s),
                                                 .ts_ns = n[0],
                                                 .dur_ns = n[1]});
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

static osc_status lines_read(struct osc_reading *r, struct osc_err *err)
{
    struct lines l = {.n_names = 0};
    struct osc_batch_of_rows batch = {0};
    struct osc_strbuf text = {0};
    osc_status st = osc_builder_init(&l.builder, r->loading);

    osc_strbuf_addstr(&text, r->in->data); /* of memory: a file has blocks */
    osc_strbuf_addc(&text, '\0');
    for (char *line = text.s, *next; st == OSC_OK && line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        lines_take(&l, line);
    }
    if (st == OSC_OK)
        st = text.status != OSC_OK ? text.status : osc_builder_take(&l.builder, &batch);
    if (st == OSC_OK)
        st = osc_loading_join(r->loading, &batch);
    osc_strbuf_fini(&text);
    osc_builder_fini(&l.builder);
    return st == OSC_OK ? st : osc_fail(err, st, "%s: %s", r->in->path, osc_status_text(st));
}

static int lines_probe(const char *head, size_t len)
{
    return len >= 7 && memcmp(head, "thread ", 7) == 0 ? 60 : 0;
}

static const struct osc_reader lines_reader = {
    .name = "lines", .probe = lines_probe, .read = lines_read};
