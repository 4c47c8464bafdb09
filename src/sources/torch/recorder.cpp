// SPDX-License-Identifier: Apache-2.0
#include "recorder.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <sstream>
#include <string>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/core/ScalarType.h>

#include "opscope/record.h"

namespace
{

// --- what is to be recorded ----------------------------------------------------------

struct Keys {
    osc_name sequence, fwd_thread, dims, strides, types, concrete, overload;
    osc_name device_type, device_id, bytes, out_of_memory;
};

// Written while no callback is there; the generation tells threads that it was.
struct {
    osc_torch_options options;
    at::CallbackHandle handle;
    Keys keys;
} session;

// The number of the session, 0: none; what threads know of an older one is void.
std::atomic<uint64_t> generation{0};
std::atomic<uint64_t> last_generation{0};

// --- threads ---------------------------------------------------------------------------

// A range that has begun on a thread.
struct Open {
    const at::RecordFunction *fn; // its address: nobody else's while it runs
    uint64_t end_ticks;           // it has ended, though what is inside of it has not; or 0
};

struct Name {
    uint64_t hash;
    osc_name name;
    uint32_t length; // of a second hash, so that no two names are taken for one
};

// What inputs look like, as names, once they came twice.
struct Signature {
    uint64_t hash;
    bool is_named;
    osc_name dims, strides, types, concrete;
};

constexpr size_t kNames = 2048, kSignatures = 2048, kOpen = 1024, kText = 16384;

struct Thread {
    uint64_t generation;
    uint64_t logical_id; // torch's number of this thread
    Thread *next;        // in the list of all
    uint32_t n_open;
    uint32_t n_over;                   // begun inside of those: not recorded
    std::atomic<uint32_t> n_elsewhere; // ends on other threads, below
    struct {
        const at::RecordFunction *fn;
        uint64_t ticks;
    } elsewhere[16]; // under threads_lock
    Open open[kOpen];
    Name names[kNames];
    Signature signatures[kSignatures];
    char text[4][kText];
};

std::mutex threads_lock;
Thread *threads;
thread_local Thread *self __attribute__((tls_model("initial-exec")));

// The end of a thread.
struct Leaving {
    bool is_set = false;
    ~Leaving()
    {
        const std::lock_guard<std::mutex> guard(threads_lock);
        Thread **at = &threads;

        if (!self)
            return;
        while (*at != self)
            at = &(*at)->next;
        *at = self->next;
        munmap(self, sizeof *self);
        self = nullptr;
    }
};
thread_local Leaving leaving;

// A new thread; NULL: no memory, it is not recorded.
__attribute__((noinline, cold)) Thread *enter()
{
    void *p = mmap(nullptr, sizeof(Thread), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0);

    if (p == MAP_FAILED)
        return nullptr;
    Thread *t = static_cast<Thread *>(p); // zeroed, which is what it begins with
    t->logical_id = at::RecordFunction::currentThreadId();
    leaving.is_set = true;
    const std::lock_guard<std::mutex> guard(threads_lock);
    t->next = threads;
    threads = t;
    self = t;
    return t;
}

// Forget what belonged to an older session.
__attribute__((noinline, cold)) void renew(Thread *t, uint64_t now)
{
    char name[17] = "";

    t->generation = now;
    t->n_open = t->n_over = 0;
    memset(t->names, 0, sizeof t->names);
    memset(t->signatures, 0, sizeof t->signatures);
    {
        const std::lock_guard<std::mutex> guard(threads_lock);
        t->n_elsewhere.store(0, std::memory_order_relaxed); // the lock orders it
    }
    if (prctl(PR_GET_NAME, name) == 0 && name[0] != '\0')
        osc_thread_name(name);
}

inline Thread *this_thread(uint64_t now)
{
    Thread *t = self;

    if (__builtin_expect(!t, 0) && !(t = enter()))
        return nullptr;
    if (__builtin_expect(t->generation != now, 0))
        renew(t, now);
    return t;
}

// --- names -------------------------------------------------------------------------------

inline uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

// Bytes of S up to its end, eight at a time.
inline uint64_t hash_text(const char *s, size_t len)
{
    uint64_t h = len, v;

    for (; len >= 8; s += 8, len -= 8) {
        memcpy(&v, s, 8);
        h = mix(h, v);
    }
    if (len > 0) {
        v = 0;
        memcpy(&v, s, len);
        h = mix(h, v);
    }
    return h | 1;
}

inline osc_name name_of(Thread *t, const char *s)
{
    const size_t len = strlen(s);
    const uint64_t hash = hash_text(s, len);
    Name *n = &t->names[hash >> 17 & (kNames - 1)];

    if (__builtin_expect(n->hash != hash || n->length != len || n->name == 0, 0)) {
        n->hash = hash;
        n->length = static_cast<uint32_t>(len);
        n->name = osc_name_of(s, len);
    }
    return n->name;
}

// --- inputs ------------------------------------------------------------------------------

// Lists longer than these are not told, as torch.profiler does.
constexpr size_t kTensorsMax = 30, kScalarsMax = 30;

inline bool has_sizes(const at::Tensor &t)
{
    return t.defined() && !t.is_nested() &&
           !t.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

inline bool is_scalar_list(const c10::IValue &v)
{
    if (!v.isList())
        return false;
    const auto list = v.toListRef();
    return list.empty() || (list[0].isScalar() && list.size() <= kScalarsMax);
}

inline uint64_t hash_tensor(uint64_t h, const at::Tensor &t)
{
    if (!has_sizes(t))
        return mix(h, 1);
    const auto sizes = t.sizes();

    h = mix(h, 2 | static_cast<uint64_t>(t.scalar_type()) << 8 |
                   static_cast<uint64_t>(t.layout()) << 16 | sizes.size() << 24);
    for (const int64_t s : sizes)
        h = mix(h, static_cast<uint64_t>(s));
    if (t.layout() == c10::kStrided)
        for (const int64_t s : t.strides())
            h = mix(h, static_cast<uint64_t>(s));
    return h;
}

inline uint64_t hash_scalar(uint64_t h, const c10::IValue &v, bool *is_odd)
{
    if (v.isInt())
        return mix(mix(h, 3), static_cast<uint64_t>(v.toInt()));
    if (v.isBool())
        return mix(h, v.toBool() ? 4 : 5);
    if (v.isDouble()) {
        const double d = v.toDouble();
        uint64_t bits;

        memcpy(&bits, &d, sizeof bits);
        return mix(mix(h, 6), bits);
    }
    *is_odd = true; // complex or symbolic: no hash tells them apart
    return h;
}

// One number for all that is told of INPUTS.
uint64_t hash_inputs(c10::ArrayRef<const c10::IValue> inputs, bool *is_odd)
{
    uint64_t h = inputs.size();

    for (const c10::IValue &v : inputs) {
        if (v.isTensor()) {
            h = hash_tensor(h, v.toTensor());
        } else if (v.isScalar()) {
            h = hash_scalar(h, v, is_odd);
        } else if (v.isTensorList()) {
            const auto list = v.toListRef();

            h = mix(h, 7 | list.size() << 8);
            if (list.size() <= kTensorsMax)
                for (const c10::IValue &one : list)
                    h = hash_tensor(h, one.toTensor());
        } else if (is_scalar_list(v)) {
            const auto list = v.toListRef();

            h = mix(h, 8 | list.size() << 8);
            for (const c10::IValue &one : list)
                h = hash_scalar(h, one, is_odd);
        } else {
            h = mix(h, 9);
        }
    }
    return h | 1;
}

// Text of a fixed room; what does not fit makes it useless.
struct Text {
    char *at, *begin, *end;
    bool is_cut;

    explicit Text(char *room) : at(room), begin(room), end(room + kText), is_cut(false)
    {
    }
    void add(const char *s, size_t n)
    {
        if (static_cast<size_t>(end - at) < n) {
            is_cut = true;
            return;
        }
        memcpy(at, s, n);
        at += n;
    }
    void add(const char *s)
    {
        add(s, strlen(s));
    }
    void add(int64_t v)
    {
        char digits[24];
        char *d = digits + sizeof digits;
        uint64_t u = v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);

        do {
            *--d = static_cast<char>('0' + u % 10);
            u /= 10;
        } while (u > 0);
        if (v < 0)
            *--d = '-';
        add(d, static_cast<size_t>(digits + sizeof digits - d));
    }
    void add(c10::IntArrayRef list)
    {
        add("[", 1);
        for (size_t i = 0; i < list.size(); i++) {
            if (i > 0)
                add(",", 1);
            add(list[i]);
        }
        add("]", 1);
    }
    size_t size() const
    {
        return static_cast<size_t>(at - begin);
    }
};

// As torch prints it in `Concrete Inputs`.
void add_scalar(Text *out, const c10::IValue &v)
{
    char digits[40];

    if (v.isInt()) {
        out->add(v.toInt());
    } else if (v.isBool()) {
        out->add(v.toBool() ? "True" : "False");
    } else if (v.isDouble()) {
        const double d = v.toDouble();
        const bool is_whole = std::isfinite(d) && std::fabs(d) < 1e10 && d == std::trunc(d);

        snprintf(digits, sizeof digits, is_whole ? "%.0f." : "%.17g", d);
        out->add(digits);
    } else { // complex or symbolic
        std::ostringstream text;

        text << v;
        for (const char c : text.str())
            if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20)
                out->add(&c, 1);
    }
}

void add_sizes(Text *dims, Text *strides, const at::Tensor &t)
{
    if (!has_sizes(t)) {
        dims->add("[]");
        strides->add("[]");
        return;
    }
    dims->add(t.sizes());
    strides->add(t.layout() == c10::kStrided ? t.strides() : c10::IntArrayRef());
}

void add_type(Text *types, const at::Tensor &t)
{
    if (has_sizes(t)) {
        const auto name = c10::scalarTypeToTypeMeta(t.scalar_type()).name();
        types->add(name.data(), name.size());
    }
}

void add_tensors(Text *dims, Text *strides, const c10::IValue &v)
{
    const auto list = v.toListRef();

    dims->add("[", 1);
    strides->add("[", 1);
    for (size_t i = 0; i < list.size() && list.size() <= kTensorsMax; i++) {
        if (i > 0) {
            dims->add(",", 1);
            strides->add(",", 1);
        }
        add_sizes(dims, strides, list[i].toTensor());
    }
    dims->add("]", 1);
    strides->add("]", 1);
}

void add_scalars(Text *concrete, const c10::IValue &v)
{
    const auto list = v.toListRef();

    concrete->add("[", 1);
    for (size_t i = 0; i < list.size(); i++) {
        if (i > 0)
            concrete->add(", ", 2);
        add_scalar(concrete, list[i]);
    }
    concrete->add("]", 1);
}

void add_input(Text *dims, Text *strides, Text *types, Text *concrete, const c10::IValue &v)
{
    if (v.isTensor()) {
        add_sizes(dims, strides, v.toTensor());
        add_type(types, v.toTensor());
        return;
    }
    if (v.isTensorList()) {
        add_tensors(dims, strides, v);
        types->add("TensorList");
        return;
    }
    dims->add("[]");
    strides->add("[]");
    if (v.isScalar()) {
        types->add("Scalar");
        add_scalar(concrete, v);
    } else if (is_scalar_list(v)) {
        types->add("ScalarList");
        add_scalars(concrete, v);
    }
}

// An argument, as a name from its second time on.
void put_text(osc_name key, const Text &text, bool is_known, osc_name *name)
{
    if (text.is_cut) {
        *name = 0;
    } else if (is_known) {
        *name = osc_name_of(text.begin, text.size());
        osc_arg_json_name(key, *name);
    } else {
        osc_arg_json(key, text.begin, text.size());
    }
}

// The inputs in words, since they are not known as names.
__attribute__((noinline, cold)) void tell_inputs(Thread *t,
                                                 c10::ArrayRef<const c10::IValue> inputs,
                                                 Signature *s, uint64_t hash, bool is_odd)
{
    Text dims(t->text[0]), strides(t->text[1]), types(t->text[2]), concrete(t->text[3]);
    const bool is_known = s->hash == hash && !is_odd;
    bool is_first = true;

    for (Text *text : {&dims, &strides, &types, &concrete})
        text->add("[", 1);
    for (const c10::IValue &v : inputs) {
        for (Text *text : {&dims, &strides}) {
            if (!is_first)
                text->add(",", 1);
        }
        types.add(is_first ? "\"" : "\",\"");
        concrete.add(is_first ? "\"" : "\",\"");
        is_first = false;
        add_input(&dims, &strides, &types, &concrete, v);
    }
    for (Text *text : {&dims, &strides})
        text->add("]", 1);
    for (Text *text : {&types, &concrete})
        text->add("\"]", 2);
    put_text(session.keys.concrete, concrete, is_known, &s->concrete);
    put_text(session.keys.types, types, is_known, &s->types);
    put_text(session.keys.strides, strides, is_known, &s->strides);
    put_text(session.keys.dims, dims, is_known, &s->dims);
    s->hash = is_odd ? 0 : hash;
    s->is_named = is_known;
}

inline void put_inputs(Thread *t, c10::ArrayRef<const c10::IValue> inputs)
{
    bool is_odd = false;

    if (inputs.empty())
        return;
    const uint64_t hash = hash_inputs(inputs, &is_odd);
    Signature *s = &t->signatures[hash >> 17 & (kSignatures - 1)];

    if (__builtin_expect(s->hash != hash || !s->is_named || is_odd, 0)) {
        tell_inputs(t, inputs, s, hash, is_odd);
        return;
    }
    osc_arg_json_name(session.keys.concrete, s->concrete);
    osc_arg_json_name(session.keys.types, s->types);
    osc_arg_json_name(session.keys.strides, s->strides);
    osc_arg_json_name(session.keys.dims, s->dims);
}

// --- operators -----------------------------------------------------------------------------

inline enum osc_scope_kind kind_of(const at::RecordFunction &fn)
{
    return fn.scope() == at::RecordScope::USER_SCOPE ? OSC_SCOPE_ANNOTATION
                                                     : OSC_SCOPE_OPERATOR;
}

// Ranges that have ended, from the innermost on.
void close_ended(Thread *t)
{
    while (t->n_open > 0 && t->open[t->n_open - 1].end_ticks != 0) {
        t->n_open--;
        osc_end_at(t->open[t->n_open].end_ticks);
    }
}

// FN has ended at TICKS, somewhere below the innermost range of T. False: it is not there.
bool note_end(Thread *t, const at::RecordFunction *fn, uint64_t ticks)
{
    for (uint32_t i = t->n_open; i-- > 0;) {
        if (t->open[i].fn == fn) {
            t->open[i].end_ticks = ticks;
            t->open[i].fn = nullptr;
            return true;
        }
    }
    return false;
}

// Take note of what other threads have ended.
__attribute__((noinline, cold)) void take_elsewhere(Thread *t)
{
    const std::lock_guard<std::mutex> guard(threads_lock);
    const uint32_t n = t->n_elsewhere.load(std::memory_order_relaxed); // the lock orders it

    for (uint32_t i = 0; i < n; i++)
        note_end(t, t->elsewhere[i].fn, t->elsewhere[i].ticks);
    t->n_elsewhere.store(0, std::memory_order_relaxed); // as above
    close_ended(t);
}

// FN began on another thread: that one closes it when it comes by.
__attribute__((noinline, cold)) void end_elsewhere(const at::RecordFunction &fn)
{
    const uint64_t ticks = osc_now();
    const std::lock_guard<std::mutex> guard(threads_lock);

    for (Thread *t = threads; t; t = t->next) {
        const uint32_t n = t->n_elsewhere.load(std::memory_order_relaxed); // the lock orders it

        if (t->logical_id != fn.threadId() || n == std::size(t->elsewhere))
            continue;
        t->elsewhere[n].fn = &fn;
        t->elsewhere[n].ticks = ticks;
        t->n_elsewhere.store(n + 1, std::memory_order_relaxed); // as above
    }
}

// The numbers that tie backward to forward, as arguments of the innermost range.
inline void put_numbers(const at::RecordFunction &fn)
{
    if (fn.seqNr() < 0)
        return;
    osc_arg_i64(session.keys.sequence, fn.seqNr());
    if (fn.forwardThreadId() != 0)
        osc_arg_i64(session.keys.fwd_thread, static_cast<int64_t>(fn.forwardThreadId()));
}

// Whether the innermost range of T is what the engine puts around a backward function.
bool is_in_engine(const Thread *t)
{
    static const char prefix[] = "autograd::engine::evaluate_function: ";
    const Open *o = t->n_open > 0 ? &t->open[t->n_open - 1] : nullptr;

    return o && o->fn && strncmp(o->fn->name(), prefix, sizeof prefix - 1) == 0;
}

// What FN is given.
inline void put_args(Thread *t, const at::RecordFunction &fn)
{
    put_numbers(fn);
    if (session.options.has_shapes)
        put_inputs(t, fn.inputs());
    if (__builtin_expect(session.options.has_overloads, 0)) {
        const char *overload = fn.overload_name();

        if (overload && *overload != '\0')
            osc_arg_name(session.keys.overload, name_of(t, overload));
    }
}

std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction &fn)
{
    // relaxed: a callback comes before or after the change, and both are right
    const uint64_t now = generation.load(std::memory_order_relaxed);
    Thread *t;

    if (now == 0 || !osc_is_on() || !(t = this_thread(now)))
        return nullptr;
    // relaxed: pairs with the lock that take_elsewhere() takes
    if (__builtin_expect(t->n_elsewhere.load(std::memory_order_relaxed) > 0, 0))
        take_elsewhere(t);
    if (__builtin_expect(t->n_open == kOpen, 0)) {
        t->n_over++;
        return nullptr;
    }
    if (fn.scope() == at::RecordScope::BACKWARD_FUNCTION && is_in_engine(t))
        put_numbers(fn); // torch gives them to what is around it, too
    t->open[t->n_open].fn = &fn;
    t->open[t->n_open].end_ticks = 0;
    t->n_open++;
    osc_begin(kind_of(fn), name_of(t, fn.name()));
    put_args(t, fn);
    return nullptr;
}

void on_end(const at::RecordFunction &fn, at::ObserverContext *)
{
    Thread *t = self;

    // relaxed: as in on_begin()
    if (!t || t->generation != generation.load(std::memory_order_relaxed)) {
        if (t && fn.threadId() != t->logical_id)
            end_elsewhere(fn);
        return;
    }
    if (__builtin_expect(t->n_open > 0 && t->open[t->n_open - 1].fn == &fn, 1)) {
        t->n_open--;
        osc_end();
        if (__builtin_expect(t->n_open > 0 && t->open[t->n_open - 1].end_ticks != 0, 0))
            close_ended(t);
    } else if (fn.threadId() != t->logical_id) {
        end_elsewhere(fn);
    } else if (!note_end(t, &fn, osc_now())) {
        t->n_over -= t->n_over > 0;
    }
}

// --- memory --------------------------------------------------------------------------------

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

inline size_t line_of(uint64_t address)
{
    return static_cast<size_t>(mix(address, 1) >> 40) & (kLines - 1);
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
    // relaxed: as in on_begin()
    return has_memory.load(std::memory_order_relaxed) && osc_is_on() &&
           (session.options.is_all_threads || at::hasThreadLocalCallbacks());
}

void on_new(void *reporter, void *ptr, size_t bytes)
{
    torch_new(reporter, ptr, bytes);
    if (bytes > 0 && records_memory()) {
        remember(reinterpret_cast<uint64_t>(ptr), bytes);
        osc_memory_alloc(OSC_DEVICE_CPU, reinterpret_cast<uint64_t>(ptr), bytes);
    }
}

void on_delete(void *reporter, void *ptr)
{
    const uint64_t bytes = forget(reinterpret_cast<uint64_t>(ptr));

    if (bytes > 0 && records_memory())
        osc_memory_free(OSC_DEVICE_CPU, reinterpret_cast<uint64_t>(ptr), bytes);
    torch_delete(reporter, ptr);
}

void on_out_of_memory(void *reporter, size_t bytes)
{
    if (records_memory()) {
        osc_instant(session.keys.out_of_memory);
        osc_arg_i64(session.keys.device_type, 0);
        osc_arg_i64(session.keys.device_id, -1);
        osc_arg_i64(session.keys.bytes, static_cast<int64_t>(bytes));
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

// The child of a fork is not what was to be recorded.
void leave_child()
{
    has_memory.store(false, std::memory_order_relaxed); // relaxed: there is one thread
    generation.store(0, std::memory_order_relaxed);     // as above
}

void name_keys(Keys *k)
{
    *k = Keys{osc_name_c("Sequence number"), osc_name_c("Fwd thread id"),
              osc_name_c("Input Dims"),      osc_name_c("Input Strides"),
              osc_name_c("Input type"),      osc_name_c("Concrete Inputs"),
              osc_name_c("Overload name"),   osc_name_c("Device Type"),
              osc_name_c("Device Id"),       osc_name_c("Bytes"),
              osc_name_c("[OutOfMemory]")};
}

} // namespace

extern "C" {

int osc_torch_attach(const struct osc_torch_options *options)
{
    int result = OSC_TORCH_OK;

    // relaxed, here and in detach: one thread at a time, says the header
    if (generation.load(std::memory_order_relaxed) != 0)
        return OSC_TORCH_BUSY;
    static const int is_watched = pthread_atfork(nullptr, nullptr, leave_child);
    (void)is_watched;
    session.options = osc_torch_options{};
    memcpy(&session.options, options, std::min(options->size, sizeof session.options));
    name_keys(&session.keys);
    if (session.options.has_memory && !watch_memory())
        result = OSC_TORCH_NO_MEMORY;
    has_memory.store(session.options.has_memory && result == OSC_TORCH_OK,
                     std::memory_order_relaxed);
    // release: pairs with the barrier in adding the callback, before which none comes
    generation.store(last_generation.fetch_add(1) + 1, std::memory_order_release);
    const auto callback = at::RecordFunctionCallback(on_begin, on_end)
                              .needsInputs(session.options.has_shapes != 0);
    session.handle = session.options.is_all_threads ? at::addGlobalCallback(callback)
                                                    : at::addThreadLocalCallback(callback);
    return result;
}

void osc_torch_toggle(int is_on)
{
    if (is_on)
        at::reenableCallback(session.handle);
    else
        at::disableCallback(session.handle);
}

void osc_torch_detach(void)
{
    if (generation.load(std::memory_order_relaxed) == 0)
        return;
    has_memory.store(false, std::memory_order_relaxed);
    at::removeCallback(session.handle);
    if (self && self->n_elsewhere.load(std::memory_order_relaxed) > 0)
        take_elsewhere(self);
    generation.store(0, std::memory_order_relaxed);
}
}
