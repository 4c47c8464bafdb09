/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/elf.h"

#include "support/unit.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES = 32, SYMBOLS = 4 };

/* A file with two functions: "f" of 16 bytes at 0x2000, "g" of unknown size at 0x2100. */
struct tiny {
    Elf64_Ehdr head;
    Elf64_Phdr part;
    Elf64_Shdr sections[3];
    Elf64_Sym symbols[SYMBOLS];
    char names[NAMES];
};

static struct tiny make_tiny(void)
{
    const unsigned char function = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    struct tiny t = {
        .head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                 .e_phoff = offsetof(struct tiny, part),
                 .e_phentsize = sizeof(Elf64_Phdr),
                 .e_phnum = 1,
                 .e_shoff = offsetof(struct tiny, sections),
                 .e_shentsize = sizeof(Elf64_Shdr),
                 .e_shnum = 3},
        .part = {.p_type = PT_LOAD, .p_vaddr = 0x402000, .p_offset = 0x2000, .p_filesz = 0x200},
        .sections = {[1] = {.sh_type = SHT_DYNSYM,
                            .sh_link = 2,
                            .sh_entsize = sizeof(Elf64_Sym),
                            .sh_offset = offsetof(struct tiny, symbols),
                            .sh_size = SYMBOLS * sizeof(Elf64_Sym)},
                     [2] = {.sh_type = SHT_STRTAB,
                            .sh_offset = offsetof(struct tiny, names),
                            .sh_size = NAMES}},
        .symbols =
            {[0] = {.st_name = 3, .st_info = function, .st_shndx = 1, .st_value = 0x402100},
             [1] = {.st_name = 1,
                    .st_info = function,
                    .st_shndx = 1,
                    .st_value = 0x402000,
                    .st_size = 16},
             /* An address outside the file, and an undefined symbol. */
             [2] = {.st_name = 1, .st_info = function, .st_shndx = 1, .st_value = 0x9000},
             [3] = {.st_name = 1, .st_info = function, .st_value = 0x402000}},
        .names = "\0f\0g",
    };

    return t;
}

static int new_file(const void *p, size_t len)
{
    char path[] = "/tmp/osc-elf-XXXXXX";
    const int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(write(fd, p, len), len);
    return fd;
}

TEST(a_function_is_found_by_its_place_in_the_file)
{
    const struct tiny t = make_tiny();
    const int fd = new_file(&t, sizeof t);
    struct osc_elf e = {0};
    struct osc_str name;

    assert_int_equal(osc_elf_read(&e, fd, sizeof t), OSC_OK);
    assert_int_equal(e.n_functions, 2);
    assert_false(osc_elf_find(&e, 0x1fff, &name));
    assert_true(osc_elf_find(&e, 0x2000, &name));
    assert_true(osc_str_eq(name, OSC_STR("f")));
    assert_true(osc_elf_find(&e, 0x200f, &name));
    assert_false(osc_elf_find(&e, 0x2010, &name));
    assert_true(osc_elf_find(&e, 0x2fff, &name));
    assert_true(osc_str_eq(name, OSC_STR("g")));
    osc_elf_fini(&e);
    (void)close(fd);
}

TEST(what_is_no_elf_file_has_no_functions)
{
    const int fd = new_file("#!/bin/sh\n", 10);
    struct osc_elf e = {0};
    struct osc_str name;

    assert_int_equal(osc_elf_read(&e, fd, 10), OSC_EFORMAT);
    assert_int_equal(osc_elf_read(&e, fd, 1 << 20), OSC_EIO); /* it became shorter */
    assert_false(osc_elf_find(&e, 0, &name));
    (void)close(fd);
}

/* Look up many offsets; every function that is found must have a name. */
static void look_everywhere(const struct osc_elf *e)
{
    struct osc_str name;

    for (uint64_t at = 0x1ff0; at < 0x2200; at += 8)
        if (osc_elf_find(e, at, &name))
            assert_in_range(name.len, 1, NAMES);
}

TEST(hostile_files_are_never_read_beyond)
{
    struct tiny t = make_tiny();
    unsigned char *bytes = (unsigned char *)&t;
    const int fd = new_file(&t, sizeof t);

    for (size_t i = 0; i < sizeof t; i++) {
        const unsigned char was = bytes[i];
        const unsigned char wrong[] = {0xff, (unsigned char)(was ^ 1),
                                       (unsigned char)(was ^ 0x80), was};

        for (size_t k = 0; k < sizeof wrong; k++) {
            struct osc_elf e = {0};

            assert_int_equal(pwrite(fd, &wrong[k], 1, (off_t)i), 1);
            if (osc_elf_read(&e, fd, sizeof t) == OSC_OK)
                look_everywhere(&e);
            osc_elf_fini(&e);
        }
    }
    (void)close(fd);
}

UNIT_MAIN("elf")
