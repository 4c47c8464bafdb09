/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.h - which function lies where in an ELF file.
 *
 *   - Places are offsets in the file: what a mapping of it says, wherever it was mapped.
 *   - Of 64-bit little-endian files the symbol table, where it was not stripped off, else
 *     that of dynamic symbols. Any bytes are taken: what makes no sense is left out.
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
    uint64_t offset, n_bytes; /* 0 bytes: nobody knows; up to the next one */
    uint32_t name;            /* place in names */
};

/* Zeroed, it has none. */
struct osc_elf {
    struct osc_elf_function *functions; /* owned; by offset */
    size_t n_functions;
    char *names; /* owned; ends with NUL */
    size_t names_bytes;
};

/* The functions of the file FD of FILE_BYTES. OSC_EFORMAT: it is no such file, or has none;
 * OSC_EIO, OSC_ENOMEM, OSC_ELIMIT. */
OSC_MUST_USE osc_status osc_elf_read(struct osc_elf *e, int fd, uint64_t file_bytes);
void osc_elf_fini(struct osc_elf *e);

/* The name of the function that has the byte at OFFSET, good as long as E; false: none. */
bool osc_elf_find(const struct osc_elf *e, uint64_t offset, struct osc_str *name);
