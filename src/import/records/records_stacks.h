/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_stacks.h - make `Call stack` of recorded addresses, in torch's form: the frames from
 * the innermost on, with ";" between them.
 *
 *     conv2d [libnet.so]     a function named by the symbols of the module's file
 *     libnet.so+0x1a2b       an offset in that file, if no symbol covers it
 *     0x7f1200001a2b         an address outside all modules
 *
 *   - Addresses are those of the calls: one less than the return address.
 *   - A file is used only if its size and time of change are those at the time of recording;
 *     another file, or one of another machine, would give wrong names.
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

/* A file that is mapped as one or more modules. */
struct osc_records_binary {
    char *path; /* owned */
    uint64_t file_bytes;
    int64_t mtime_ns;
    bool is_tried; /* reading its functions was tried */
    struct osc_elf elf;
};

struct osc_records_module {
    uint64_t start, end, file_offset;
    size_t binary; /* index */
};

/* The text of a frame, in osc_records_stacks.texts. */
struct osc_records_frame {
    size_t start, len;
};

/* Zeroed, it is empty. */
struct osc_records_stacks {
    struct osc_records_module *modules; /* owned; of several with an address the last counts */
    size_t n_modules, cap_modules;
    struct osc_records_binary *binaries; /* owned */
    size_t n_binaries, cap_binaries;
    struct osc_idmap known; /* address -> index in frames + 1 */
    struct osc_records_frame *frames;
    size_t n_frames, cap_frames;
    struct osc_strbuf texts, text;
};

void osc_records_stacks_fini(struct osc_records_stacks *s);

/* Add the payload of a MODULES chunk. OSC_EFORMAT: it is malformed from some byte on. */
OSC_MUST_USE osc_status osc_records_stacks_add(struct osc_records_stacks *s,
                                               const unsigned char *data, size_t len);

/* The text of the stack P, an ARG_STACK. The status in B is sticky. */
osc_sid osc_records_stacks_text(struct osc_records_stacks *s, struct osc_builder *b,
                                const struct osc_packed *p);
