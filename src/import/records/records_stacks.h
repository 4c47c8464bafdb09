/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_stacks.h - recorded addresses become `Call stack`, as torch has it: the frames
 * from the innermost on, with ";" between them.
 *
 *     conv2d [libnet.so]     a function that the symbols of the module's file name
 *     libnet.so+0x1a2b       an offset in that file, where they do not
 *     0x7f1200001a2b         an address in no module
 *
 *   - Addresses are those of the calls: one less than where they return to.
 *   - A file counts only if its size and its time of change are what they were when it was
 *     recorded: other files, and other machines, would give wrong names.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/idmap.h"
#include "base/strbuf.h"
#include "codec/elf.h"
#include "import/build/builder.h"
#include "wire/chunk.h"
#include "wire/pack.h"

/* A file that modules are mappings of. */
struct osc_records_binary {
    char *path; /* owned */
    uint64_t file_bytes;
    int64_t mtime_ns;
    bool is_tried; /* to read its functions */
    struct osc_elf elf;
};

struct osc_records_module {
    uint64_t start, end, file_offset;
    size_t binary; /* index */
};

/* Text of a frame in texts. */
struct osc_records_frame {
    size_t start, len;
};

/* Zeroed, there are none. */
struct osc_records_stacks {
    struct osc_records_module *modules; /* owned; the last that has an address counts */
    size_t n_modules, cap_modules;
    struct osc_records_binary *binaries; /* owned */
    size_t n_binaries, cap_binaries;
    struct osc_idmap known; /* address -> index in frames + 1 */
    struct osc_records_frame *frames;
    size_t n_frames, cap_frames;
    struct osc_strbuf texts, text;
};

void osc_records_stacks_fini(struct osc_records_stacks *s);

/* Take the payload of a MODULES chunk. OSC_EFORMAT: it makes no sense from some place on. */
OSC_MUST_USE osc_status osc_records_stacks_add(struct osc_records_stacks *s,
                                               const unsigned char *data, size_t len);

/* The text of the stack P, an ARG_STACK, with a sticky status in B. */
osc_sid osc_records_stacks_text(struct osc_records_stacks *s, struct osc_builder *b,
                                const struct osc_packed *p);
