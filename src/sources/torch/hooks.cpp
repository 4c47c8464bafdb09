// SPDX-License-Identifier: Apache-2.0
#include "hooks.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace
{

using osc_torch::Hook;

#if defined __x86_64__
constexpr uint32_t kJumpSlot = R_X86_64_JUMP_SLOT, kGlobal = R_X86_64_GLOB_DAT;
#else
constexpr uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT, kGlobal = R_AARCH64_GLOB_DAT;
#endif

struct Hooks {
    Hook *all;
    size_t n;
    osc_torch::Seen *seen;
    uint64_t at; // of the library that is looked at
};

// The tables of a loaded library: relocations and symbol names.
struct Tables {
    const ElfW(Rela) * plt, *rela;
    size_t plt_bytes, rela_bytes;
    const ElfW(Sym) * symbols;
    const char *strings;
};

// Make the entry at AT lead to H.
void lead(void **at, Hook *h)
{
    const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    void *const first = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(at) & ~(page - 1));

    if (mprotect(first, page, PROT_READ | PROT_WRITE) != 0)
        return;
    // release: a thread that calls through the entry must find our function ready
    __atomic_store_n(at, h->ours, __ATOMIC_RELEASE);
    h->is_set = true;
}

// Redirect the relocations for H's function among the BYTES of relocations at R.
void look_at(const dl_phdr_info *info, const Tables &t, const ElfW(Rela) * r, size_t bytes,
             Hook *h)
{
    for (size_t i = 0; r && i < bytes / sizeof *r; i++) {
        const uint32_t type = static_cast<uint32_t>(ELF64_R_TYPE(r[i].r_info));

        if ((type == kJumpSlot || type == kGlobal) &&
            strcmp(t.strings + t.symbols[ELF64_R_SYM(r[i].r_info)].st_name, h->symbol) == 0)
            lead(reinterpret_cast<void **>(info->dlpi_addr + r[i].r_offset), h);
    }
}

// Whether an entry of the dynamic section with TAG has an address that we use.
bool is_address(int64_t tag)
{
    return tag == DT_JMPREL || tag == DT_RELA || tag == DT_SYMTAB || tag == DT_STRTAB;
}

Tables tables_of(const dl_phdr_info *info)
{
    const ElfW(Dyn) *d = nullptr;
    Tables t{};

    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            d = reinterpret_cast<const ElfW(Dyn) *>(info->dlpi_addr +
                                                    info->dlpi_phdr[i].p_vaddr);
    for (; d && d->d_tag != DT_NULL; d++) {
        auto value = d->d_un.d_val;

        // A library whose dynamic section is read-only keeps its own addresses.
        if (is_address(d->d_tag) && value < info->dlpi_addr)
            value += info->dlpi_addr;

        switch (d->d_tag) {
        case DT_JMPREL:
            t.plt = reinterpret_cast<const ElfW(Rela) *>(value);
            break;
        case DT_PLTRELSZ:
            t.plt_bytes = value;
            break;
        case DT_RELA:
            t.rela = reinterpret_cast<const ElfW(Rela) *>(value);
            break;
        case DT_RELASZ:
            t.rela_bytes = value;
            break;
        case DT_SYMTAB:
            t.symbols = reinterpret_cast<const ElfW(Sym) *>(value);
            break;
        case DT_STRTAB:
            t.strings = reinterpret_cast<const char *>(value);
            break;
        default:
            break;
        }
    }
    return t;
}

// Whether the library with the file NAME is one of CALLER. libc10 also calls itself what others
// call, for memory that is recorded already.
bool calls(const char *name, const char *caller)
{
    static const char libc10[] = "libc10.so";

    return caller ? strncmp(name, caller, strlen(caller)) == 0
                  : strncmp(name, libc10, sizeof libc10 - 1) != 0;
}

int look_into(dl_phdr_info *info, size_t, void *arg)
{
    auto *const hooks = static_cast<Hooks *>(arg);
    const char *slash = strrchr(info->dlpi_name, '/');

    if (info->dlpi_subs != hooks->seen->n_unloaded) // others may have their places now
        *hooks->seen = {0, info->dlpi_subs};
    if (hooks->at++ < hooks->seen->n)
        return 0;
    for (size_t i = 0; slash && i < hooks->n; i++) {
        Hook *h = &hooks->all[i];

        if (!calls(slash + 1, h->caller))
            continue;
        const Tables t = tables_of(info);
        if (!t.symbols || !t.strings)
            return 0;
        look_at(info, t, t.plt, t.plt_bytes, h);
        look_at(info, t, t.rela, t.rela_bytes, h);
    }
    return 0;
}

// torch's own function. Python loads its libraries so that RTLD_DEFAULT alone does not find it.
void *torch_function(const char *symbol)
{
    static const char *const names[] = {"libc10.so", "libtorch_cpu.so"};
    void *found = dlsym(RTLD_DEFAULT, symbol);

    for (const char *name : names) {
        void *library = found ? nullptr : dlopen(name, RTLD_LAZY | RTLD_NOLOAD);

        if (library)
            found = dlsym(library, symbol);
    }
    return found;
}

} // namespace

bool osc_torch::redirect(Hook *hooks, size_t n, Seen *seen)
{
    Hooks all{hooks, n, seen, 0};

    for (size_t i = 0; i < n; i++)
        if (!*hooks[i].theirs && !(*hooks[i].theirs = torch_function(hooks[i].symbol)))
            return false;
    dl_iterate_phdr(look_into, &all);
    seen->n = all.at;
    return true;
}
