// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "opscope/record.h"

namespace
{

/*
 * Blocks that were given out: a release does not say how many bytes. An address belongs
 * into one of a few lines; what finds no room there is not known later, and its release
 * is left out, as that of a block from before.
 */
struct Line {
    std::atomic<uint64_t> address[4]; // 0: free
    uint64_t bytes[4];                // of whoever put the address there
};
constexpr size_t kLines = size_t{1} << 18, kProbes = 8;
Line *lines;

// Neighbours in memory are neighbours here, or every block would cost a miss of the cache.
inline size_t line_of(uint64_t address)
{
    return static_cast<size_t>(address >> 8 ^ (address >> 26) * UINT64_C(0x9e3779b1)) &
           (kLines - 1);
}

void remember(uint64_t address, uint64_t bytes)
{
    for (size_t p = 0; p < kProbes; p++) {
        Line *line = &lines[(line_of(address) + p) & (kLines - 1)];

        for (size_t i = 0; i < std::size(line->address); i++) {
            uint64_t none = 0;

            // relaxed: the block itself is handed from thread to thread in order
            if (line->address[i].load(std::memory_order_relaxed) == 0 &&
                line->address[i].compare_exchange_strong(none, address,
                                                         std::memory_order_relaxed)) {
                line->bytes[i] = bytes;
                return;
            }
        }
    }
}

// How many bytes there are at ADDRESS, which are given back; 0: not known.
uint64_t forget(uint64_t address)
{
    for (size_t p = 0; p < kProbes; p++) {
        Line *line = &lines[(line_of(address) + p) & (kLines - 1)];

        for (size_t i = 0; i < std::size(line->address); i++) {
            // relaxed: as in remember()
            if (line->address[i].load(std::memory_order_relaxed) != address)
                continue;
            const uint64_t bytes = line->bytes[i];
            // release: pairs with nothing but a later owner's exchange of the same word
            line->address[i].store(0, std::memory_order_release);
            return bytes;
        }
    }
    return 0;
}

// Of libc10, and what stands before them in its table of addresses.
void (*torch_new)(void *, void *, size_t);
void (*torch_delete)(void *, void *);
void (*torch_out_of_memory)(void *, size_t);
std::atomic<bool> has_memory{false};

// Whether what this thread allocates is to be recorded: as its operators are.
inline bool records_memory()
{
    // relaxed: a call comes before or after the change, and both are right
    return has_memory.load(std::memory_order_relaxed) && osc_is_on() &&
           osc_torch::is_recorded();
}

void on_new(void *reporter, void *ptr, size_t bytes)
{
    torch_new(reporter, ptr, bytes);
    if (bytes > 0 && records_memory()) {
        remember(reinterpret_cast<uint64_t>(ptr), bytes);
        osc_memory_alloc(OSC_DEVICE_CPU, reinterpret_cast<uint64_t>(ptr), bytes);
        osc_torch::put_stack();
    }
}

void on_delete(void *reporter, void *ptr)
{
    const uint64_t bytes = forget(reinterpret_cast<uint64_t>(ptr));

    if (bytes > 0 && records_memory()) {
        osc_memory_free(OSC_DEVICE_CPU, reinterpret_cast<uint64_t>(ptr), bytes);
        osc_torch::put_stack();
    }
    torch_delete(reporter, ptr);
}

void on_out_of_memory(void *reporter, size_t bytes)
{
    if (records_memory()) {
        osc_instant(osc_name_c("[OutOfMemory]"));
        osc_arg_i64(osc_name_c("Device Type"), 0);
        osc_arg_i64(osc_name_c("Device Id"), -1);
        osc_arg_i64(osc_name_c("Bytes"), static_cast<int64_t>(bytes));
    }
    torch_out_of_memory(reporter, bytes);
}

struct Hook {
    const char *symbol;
    void *ours;
    void **theirs;
    bool is_set;
};
Hook hooks[] = {
    {"_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm", reinterpret_cast<void *>(on_new),
     reinterpret_cast<void **>(&torch_new), false},
    {"_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv", reinterpret_cast<void *>(on_delete),
     reinterpret_cast<void **>(&torch_delete), false},
    {"_ZN3c1025ProfiledCPUMemoryReporter11OutOfMemoryEm",
     reinterpret_cast<void *>(on_out_of_memory),
     reinterpret_cast<void **>(&torch_out_of_memory), false},
};

#if defined __x86_64__
constexpr uint32_t kJumpSlot = R_X86_64_JUMP_SLOT, kGlobal = R_X86_64_GLOB_DAT;
#else
constexpr uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT, kGlobal = R_AARCH64_GLOB_DAT;
#endif

// The entry at AT leads to H from now on.
void redirect(void **at, Hook *h)
{
    const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    void *const first = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(at) & ~(page - 1));

    if (mprotect(first, page, PROT_READ | PROT_WRITE) != 0)
        return;
    // release: who goes through it must find what it leads to in place
    __atomic_store_n(at, h->ours, __ATOMIC_RELEASE);
    h->is_set = true;
}

// Redirect those of N relocations from R on that are of our functions.
void look_at(const dl_phdr_info *info, const ElfW(Rela) * r, size_t n,
             const ElfW(Sym) * symbols, const char *strings)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t type = static_cast<uint32_t>(ELF64_R_TYPE(r[i].r_info));

        if (type != kJumpSlot && type != kGlobal)
            continue;
        const char *name = strings + symbols[ELF64_R_SYM(r[i].r_info)].st_name;
        for (Hook &h : hooks)
            if (strcmp(name, h.symbol) == 0)
                redirect(reinterpret_cast<void **>(info->dlpi_addr + r[i].r_offset), &h);
    }
}

int look_into(dl_phdr_info *info, size_t, void *)
{
    const ElfW(Dyn) *dynamic = nullptr;
    const ElfW(Rela) *plt = nullptr, *rela = nullptr;
    const ElfW(Sym) *symbols = nullptr;
    const char *strings = nullptr, *name = strrchr(info->dlpi_name, '/');
    size_t plt_bytes = 0, rela_bytes = 0;

    if (!name || strncmp(name, "/libc10.so", 10) != 0)
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = reinterpret_cast<const ElfW(Dyn) *>(info->dlpi_addr +
                                                          info->dlpi_phdr[i].p_vaddr);
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        const auto value = dynamic->d_un.d_val;

        switch (dynamic->d_tag) {
        case DT_JMPREL:
            plt = reinterpret_cast<const ElfW(Rela) *>(value);
            break;
        case DT_PLTRELSZ:
            plt_bytes = value;
            break;
        case DT_RELA:
            rela = reinterpret_cast<const ElfW(Rela) *>(value);
            break;
        case DT_RELASZ:
            rela_bytes = value;
            break;
        case DT_SYMTAB:
            symbols = reinterpret_cast<const ElfW(Sym) *>(value);
            break;
        case DT_STRTAB:
            strings = reinterpret_cast<const char *>(value);
            break;
        default:
            break;
        }
    }
    if (!symbols || !strings)
        return 0;
    if (plt)
        look_at(info, plt, plt_bytes / sizeof *plt, symbols, strings);
    if (rela)
        look_at(info, rela, rela_bytes / sizeof *rela, symbols, strings);
    return 0;
}

// Once a process: entries stay redirected, so that releases between two sessions are seen.
bool watch_memory()
{
    static bool is_done, is_good;

    if (is_done)
        return is_good;
    is_done = true;
    for (Hook &h : hooks)
        if (!(*h.theirs = dlsym(RTLD_DEFAULT, h.symbol))) {
            void *c10 = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);

            if (!c10 || !(*h.theirs = dlsym(c10, h.symbol)))
                return false;
        }
    void *p = mmap(nullptr, kLines * sizeof(Line), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return false;
    lines = static_cast<Line *>(p);
    dl_iterate_phdr(look_into, nullptr);
    is_good = hooks[0].is_set && hooks[1].is_set;
    return is_good;
}

} // namespace

bool osc_torch::memory_start()
{
    if (!watch_memory())
        return false;
    has_memory.store(true, std::memory_order_relaxed); // relaxed: as in records_memory()
    return true;
}

void osc_torch::memory_stop()
{
    has_memory.store(false, std::memory_order_relaxed); // relaxed: as in records_memory()
}
