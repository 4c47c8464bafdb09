/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.h - find functions in an ELF file by their offset.
 *
 *   - Positions are offsets in the file, because they follow from any mapping of it.
 *   - Reads 64-bit little-endian files: the symbol table if it was not stripped, or else the
 *     table of dynamic symbols. Any bytes are accepted; malformed entries are skipped.
 *
 * Threading: not locked. Any number of readers, or one writer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

struct osc_elf_function {
    uint64_t offset, n_bytes; /* 0 bytes: unknown, it extends to the next function */
    uint32_t name;            /* offset in names */
};

/* Zeroed, it has no functions. */
struct osc_elf {
    struct osc_elf_function *functions; /* owned; sorted by offset */
    size_t n_functions;
    char *names; /* owned; ends with NUL */
    size_t names_bytes;
};

/* Read the functions of the file FD of FILE_BYTES. OSC_EFORMAT: it is not such a file or has no
 * functions. Also OSC_EIO, OSC_ENOMEM, OSC_ELIMIT. */
OSC_MUST_USE osc_status osc_elf_read(struct osc_elf *e, int fd, uint64_t file_bytes);
void osc_elf_fini(struct osc_elf *e);

/* Find the name of the function that contains the byte at OFFSET; it lives as long as E. False:
 * none. */
bool osc_elf_find(const struct osc_elf *e, uint64_t offset, struct osc_str *name);
