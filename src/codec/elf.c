/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/elf.h"

#include <elf.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sort.h"

enum { PARTS_MAX = 64 }; /* program headers that are read */

/* A file whose functions are being read. */
struct file {
    int fd;
    uint64_t n_bytes;
    Elf64_Ehdr head;
    Elf64_Phdr parts[PARTS_MAX];
    size_t n_parts;
};

static osc_status read_at(const struct file *f, uint64_t offset, void *p, size_t len)
{
    size_t done = 0;

    if (offset > f->n_bytes || len > f->n_bytes - offset)
        return OSC_EFORMAT;
    while (done < len) {
        const ssize_t n = pread(f->fd, (char *)p + done, len - done, (off_t)(offset + done));

        if (n <= 0)
            return OSC_EIO;
        done += (size_t)n;
    }
    return OSC_OK;
}

/* Copy LEN bytes at OFFSET, followed by a NUL, to *P, which the caller frees; *P stays NULL on
 * failure. */
static osc_status copy_at(const struct file *f, uint64_t offset, uint64_t len, void **p)
{
    if (offset > f->n_bytes || len > f->n_bytes - offset)
        return OSC_EFORMAT;
    if (osc_mem_room() <= len)
        return OSC_ELIMIT;
    char *copy = osc_malloc((size_t)len + 1);
    if (!copy)
        return OSC_ENOMEM;
    copy[len] = '\0';
    const osc_status st = read_at(f, offset, copy, (size_t)len);
    if (st == OSC_OK)
        *p = copy;
    else
        osc_free(copy);
    return st;
}

static osc_status read_head(struct file *f)
{
    static const unsigned char ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB};
    osc_status st = read_at(f, 0, &f->head, sizeof f->head);

    if (st != OSC_OK)
        return st;
    if (memcmp(f->head.e_ident, ident, sizeof ident) != 0 ||
        f->head.e_phentsize != sizeof(Elf64_Phdr) || f->head.e_shentsize != sizeof(Elf64_Shdr))
        return OSC_EFORMAT;
    f->n_parts = f->head.e_phnum < PARTS_MAX ? f->head.e_phnum : PARTS_MAX;
    return read_at(f, f->head.e_phoff, f->parts, f->n_parts * sizeof *f->parts);
}

/* Find the section header of the best symbol table, and that of its names. */
static osc_status find_symbols(const struct file *f, Elf64_Shdr *symbols, Elf64_Shdr *names)
{
    Elf64_Shdr *all = NULL;
    void *copy = NULL;
    osc_status st =
        copy_at(f, f->head.e_shoff, (uint64_t)f->head.e_shnum * sizeof(Elf64_Shdr), &copy);
    bool is_found = false;

    if (st != OSC_OK)
        return st;
    all = copy;
    for (size_t i = 0; i < f->head.e_shnum; i++) {
        if (all[i].sh_link >= f->head.e_shnum || all[i].sh_entsize != sizeof(Elf64_Sym))
            continue;
        if (all[i].sh_type == SHT_SYMTAB || (all[i].sh_type == SHT_DYNSYM && !is_found)) {
            *symbols = all[i];
            *names = all[all[i].sh_link];
            is_found = true;
        }
    }
    osc_free(copy);
    return is_found ? OSC_OK : OSC_EFORMAT;
}

/* The offset in the file that its program headers map to ADDRESS; false: none. */
static bool offset_of(const struct file *f, uint64_t address, uint64_t *offset)
{
    for (size_t i = 0; i < f->n_parts; i++) {
        const Elf64_Phdr *p = &f->parts[i];

        if (p->p_type == PT_LOAD && address >= p->p_vaddr &&
            address - p->p_vaddr < p->p_filesz) {
            *offset = address - p->p_vaddr + p->p_offset;
            return true;
        }
    }
    return false;
}

static int by_offset(const void *pa, const void *pb)
{
    const struct osc_elf_function *const a = pa, *const b = pb;

    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static osc_status read_functions(struct osc_elf *e, const struct file *f,
                                 const Elf64_Sym *symbols, size_t n)
{
    if (osc_mem_room() / sizeof *e->functions <= n)
        return OSC_ELIMIT;
    e->functions = osc_malloc((n + 1) * sizeof *e->functions);
    if (!e->functions)
        return OSC_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        struct osc_elf_function function = {.n_bytes = symbols[i].st_size,
                                            .name = symbols[i].st_name};

        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_shndx != SHN_UNDEF &&
            function.name < e->names_bytes && e->names[function.name] != '\0' &&
            offset_of(f, symbols[i].st_value, &function.offset))
            e->functions[e->n_functions++] = function;
    }
    if (e->n_functions > 1)
        osc_sort(e->functions, e->n_functions, sizeof *e->functions, by_offset);
    return e->n_functions > 0 ? OSC_OK : OSC_EFORMAT;
}

osc_status osc_elf_read(struct osc_elf *e, int fd, uint64_t file_bytes)
{
    struct file f = {.fd = fd, .n_bytes = file_bytes};
    Elf64_Shdr symbols = {0}, names = {0};
    void *table = NULL, *texts = NULL;
    osc_status st = read_head(&f);

    if (st == OSC_OK)
        st = find_symbols(&f, &symbols, &names);
    if (st == OSC_OK)
        st = copy_at(&f, names.sh_offset, names.sh_size, &texts);
    if (st != OSC_OK)
        return st;
    e->names = texts;
    e->names_bytes = names.sh_size;
    st = copy_at(&f, symbols.sh_offset, symbols.sh_size, &table);
    if (st == OSC_OK)
        st = read_functions(e, &f, table, symbols.sh_size / sizeof(Elf64_Sym));
    osc_free(table);
    if (st != OSC_OK)
        osc_elf_fini(e);
    return st;
}

void osc_elf_fini(struct osc_elf *e)
{
    osc_free(e->functions);
    osc_free(e->names);
    *e = (struct osc_elf){0};
}

bool osc_elf_find(const struct osc_elf *e, uint64_t offset, struct osc_str *name)
{
    size_t low = 0, high = e->n_functions; /* functions before LOW begin at or before OFFSET */

    OSC_BISECT(low, high, i, e->functions[i].offset <= offset);
    if (low == 0)
        return false;
    const struct osc_elf_function *f = &e->functions[low - 1];

    /* If several functions have the same offset, the first in the symbol table. */
    while (f > e->functions && f[-1].offset == f->offset)
        f--;
    if (f->n_bytes > 0 && offset - f->offset >= f->n_bytes)
        return false;
    *name = osc_str_c(e->names + f->name);
    return true;
}
