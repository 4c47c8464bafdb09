// SPDX-License-Identifier: Apache-2.0
#include "recorder.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include "enabled.h"
#include "input_hash.h"
#include "inputs.h"
#include "memory.h"
#include "near_names.h"
#include "opscope/record.h"
#include "python.h"
#include "script.h"
#include "storages.h"
#include "text.h"
#include "thread_names.h"

using osc_torch::hash_inputs;
using osc_torch::hash_text;
using osc_torch::kArgText;
using osc_torch::kText;
using osc_torch::kTextMax;
using osc_torch::Told;

namespace
{

// --- what is to be recorded ----------------------------------------------------------

struct Keys {
    osc_name thread, sequence, fwd_thread, dims, strides, types, concrete, overload, stack,
        async, returned, modules, function_id;
};

// Written only while no callback is installed; threads see the change by the generation.
struct {
    osc_torch_options options;
    at::CallbackHandle handle;
    bool has_global_callback; // the handle is of a global callback
    Keys keys;                // under threads_lock, by the first thread of a generation
    uint64_t keys_generation;
} session;

// The number of the session, 0: none. Thread state from an older session is void.
std::atomic<uint64_t> generation{0};
std::atomic<uint64_t> last_generation{0};

// --- threads ---------------------------------------------------------------------------

// A range that began on a thread.
struct Open {
    const void *who;              // identifies it while it runs; NULL: it has ended
    const at::RecordFunction *fn; // or NULL
    uint64_t end_ticks;           // when it ended, though ranges inside of it have not; or 0
};

struct Name {
    uint64_t hash;
    osc_name name;
    uint32_t length; // compared too, so that names with equal hashes are less likely confused
};

// A shape of inputs that was seen.
struct Signature {
    uint64_t hash;
    osc_name args; // name of their texts, made when seen twice; 0: not yet
};

constexpr size_t kNames = 2048, kSignatures = 2048, kOpen = 65536;

struct Thread {
    uint64_t generation;
    uint64_t logical_id; // torch's number for this thread
    bool is_numbered;    // that number has been recorded
    bool has_more;       // ranges may have arguments besides numbers and inputs
    bool has_storages;   // operators have those of their inputs
    pid_t number;        // the system's
    Thread *next;        // in the list of all threads
    uint32_t n_open;
    bool is_too_deep;                  // ranges beyond kOpen were not recorded
    std::atomic<uint32_t> n_elsewhere; // what other threads did, below
    struct {
        const at::RecordFunction *fn; // they ended it; NULL: they renamed this thread
        uint64_t ticks;
    } elsewhere[16]; // under threads_lock
    Open open[kOpen];
    osc_torch::NearNames near;
    Name names[kNames];
    Signature signatures[kSignatures];
    osc_torch::Schemas schemas;
    char text[4][kText];
};

// A thread-local callback that is still installed: another thread that ends the session cannot
// remove it.
thread_local at::CallbackHandle own_callback;

std::mutex threads_lock;
Thread *threads;
thread_local Thread *self __attribute__((tls_model("initial-exec")));

// Removes a thread from the list when it ends.
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

// Add this thread to the list. NULL: no memory, and it is not recorded.
__attribute__((noinline, cold)) Thread *enter()
{
    void *p = mmap(nullptr, sizeof(Thread), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0);

    if (p == MAP_FAILED)
        return nullptr;
    Thread *t = static_cast<Thread *>(p); // zeroed, which is its initial state
    t->logical_id = at::RecordFunction::currentThreadId();
    t->number = gettid();
    leaving.is_set = true;
    const std::lock_guard<std::mutex> guard(threads_lock);
    t->next = threads;
    threads = t;
    self = t;
    return t;
}

// State what is recorded of a whole process, as a profile does of itself.
void tell_options()
{
    const auto &o = session.options;

    osc_metadata("source.torch", o.whole);
    if (o.has_shapes) {
        osc_metadata("record_shapes", "1");
        osc_metadata("with_flops", "1"); // which are estimated from the inputs
    }
    if (o.has_memory)
        osc_metadata("profile_memory", "1");
    if (o.has_stacks)
        osc_metadata("with_stack", "1");
    if (o.has_modules)
        osc_metadata("with_modules", "1");
}

// Done once, by the first thread of a session, under threads_lock.
void begin_recording(uint64_t now)
{
    session.keys_generation = now;
    session.keys = Keys{osc_name_c("torch thread"),      osc_name_c("Sequence number"),
                        osc_name_c("Fwd thread id"),     osc_name_c("Input Dims"),
                        osc_name_c("Input Strides"),     osc_name_c("Input type"),
                        osc_name_c("Concrete Inputs"),   osc_name_c("Overload name"),
                        osc_name_c("Call stack"),        osc_name_c("Is asynchronous"),
                        osc_name_c("Python returned"),   osc_name_c("Module Hierarchy"),
                        osc_name_c("Record function id")};
    osc_torch::begin_storages();
    if (session.options.whole)
        tell_options();
}

void record_thread_name()
{
    const std::string name = osc_torch::thread_name();

    if (!name.empty())
        osc_thread_name(name.c_str());
}

// Reset the state that T has from an older session.
__attribute__((noinline, cold)) void renew(Thread *t, uint64_t now)
{
    t->generation = now;
    t->n_open = 0;
    t->is_too_deep = false;
    t->is_numbered = false;
    t->has_more = true;
    t->has_storages = osc_torch::has_storages(session.options);
    memset(&t->near, 0, sizeof t->near);
    memset(t->names, 0, sizeof t->names);
    memset(t->signatures, 0, sizeof t->signatures);
    {
        const std::lock_guard<std::mutex> guard(threads_lock);
        t->n_elsewhere.store(0, std::memory_order_relaxed); // the lock orders it
        if (session.keys_generation != now)
            begin_recording(now);
    }
    record_thread_name();
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

__attribute__((noinline)) osc_name name_by_text(Thread *t, const char *s)
{
    const size_t len = strlen(s);
    const uint64_t hash = hash_text(s, len);
    Name *n = &t->names[hash >> 17 & (kNames - 1)];

    if (__builtin_expect(n->hash != hash || n->length != len || n->name == 0, 0))
        *n = Name{hash, osc_name_of(s, len), static_cast<uint32_t>(len)};
    osc_torch::keep_near(&t->near, s, len, n->name);
    return n->name;
}

inline osc_name name_of(Thread *t, const char *s)
{
    const osc_name known = osc_torch::near_name(&t->near, s);

    return __builtin_expect(known != 0, 1) ? known : name_by_text(t, s);
}

// --- inputs ------------------------------------------------------------------------------

// One name for the texts TOLD: pairs of the names of keys and texts.
osc_name name_of_pairs(const Told &told)
{
    const osc_name names[] = {
        session.keys.concrete, osc_name_of(told.concrete.data(), told.concrete.size()),
        session.keys.types,    osc_name_of(told.types.data(), told.types.size()),
        session.keys.strides,  osc_name_of(told.strides.data(), told.strides.size()),
        session.keys.dims,     osc_name_of(told.dims.data(), told.dims.size())};

    return osc_name_of(reinterpret_cast<const char *>(names), sizeof names);
}

// The same for inputs whose text does not fit in a thread's buffer, such as all parameters of a
// network; 0: no memory, or it is longer than a name can be.
osc_name name_of_many(c10::ArrayRef<const c10::IValue> inputs)
{
    const size_t bytes = 4 * kTextMax;
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        return 0;
    const Told told = osc_torch::tell(static_cast<char *>(p), kTextMax, inputs);
    const osc_name name = told.is_cut ? 0 : name_of_pairs(told);
    munmap(p, bytes);
    return name;
}

// Record the inputs as text, because they have no name yet.
__attribute__((noinline, cold)) void record_inputs(Thread *t,
                                                   c10::ArrayRef<const c10::IValue> inputs,
                                                   Signature *s, uint64_t hash, bool is_odd)
{
    const Told told = osc_torch::tell(t->text[0], kText, inputs);
    const bool is_known = s->hash == hash && !is_odd;
    osc_name args = 0;

    if (told.is_cut)
        args = name_of_many(inputs);
    else if (is_known || told.longest > kArgText)
        args = name_of_pairs(told);
    s->hash = is_odd ? 0 : hash;
    s->args = is_odd ? 0 : args;
    if (args != 0) {
        osc_args_json(args);
    } else if (!told.is_cut) {
        osc_arg_json(session.keys.concrete, told.concrete.data(), told.concrete.size());
        osc_arg_json(session.keys.types, told.types.data(), told.types.size());
        osc_arg_json(session.keys.strides, told.strides.data(), told.strides.size());
        osc_arg_json(session.keys.dims, told.dims.data(), told.dims.size());
    }
}

// --- operators -----------------------------------------------------------------------------

inline enum osc_scope_kind kind_of(const at::RecordFunction &fn)
{
    return fn.scope() == at::RecordScope::USER_SCOPE ? OSC_SCOPE_ANNOTATION
                                                     : OSC_SCOPE_OPERATOR;
}

// Marks a range that another thread ended: it was asynchronous.
const char ended_elsewhere = 0;

// Close the innermost ranges as long as they have ended.
void close_ended(Thread *t)
{
    while (t->n_open > 0 && t->open[t->n_open - 1].end_ticks != 0) {
        const Open *o = &t->open[--t->n_open];

        if (o->who == &ended_elsewhere)
            osc_arg_bool(session.keys.async, 1);
        osc_end_at(o->end_ticks);
    }
}

// Store that WHO, one of the ranges of T, ended at TICKS; MARK replaces its address. False: T
// has no such range.
bool store_end(Thread *t, const void *who, uint64_t ticks, const void *mark)
{
    for (uint32_t i = t->n_open; i-- > 0;) {
        if (t->open[i].who == who) {
            t->open[i].end_ticks = ticks;
            t->open[i].who = mark;
            t->open[i].fn = nullptr;
            return true;
        }
    }
    return false;
}

// Apply what other threads stored for T: ends, and that it has another name.
__attribute__((noinline, cold)) void heed_others(Thread *t)
{
    bool is_renamed = false;

    {
        const std::lock_guard<std::mutex> guard(threads_lock);
        const uint32_t n = t->n_elsewhere.load(std::memory_order_relaxed); // the lock orders it

        for (uint32_t i = 0; i < n; i++) {
            is_renamed = is_renamed || !t->elsewhere[i].fn;
            if (t->elsewhere[i].fn)
                store_end(t, t->elsewhere[i].fn, t->elsewhere[i].ticks, &ended_elsewhere);
        }
        t->n_elsewhere.store(0, std::memory_order_relaxed); // as above
        close_ended(t);
    }
    if (is_renamed)
        record_thread_name();
}

// Store for T, under threads_lock, that FN ended, or for NULL that T has another name.
void tell(Thread *t, const at::RecordFunction *fn, uint64_t ticks)
{
    const uint32_t n = t->n_elsewhere.load(std::memory_order_relaxed); // the lock orders it

    if (n == std::size(t->elsewhere))
        return;
    t->elsewhere[n].fn = fn;
    t->elsewhere[n].ticks = ticks;
    t->n_elsewhere.store(n + 1, std::memory_order_relaxed); // as above
}

// Store that FN ends now. It began on another thread, which closes it at its next range.
__attribute__((noinline, cold)) void end_elsewhere(const at::RecordFunction &fn)
{
    const uint64_t ticks = osc_now();
    const std::lock_guard<std::mutex> guard(threads_lock);

    for (Thread *t = threads; t; t = t->next) {
        if (t->logical_id == fn.threadId())
            tell(t, &fn, ticks);
    }
}

// Arguments that are recorded with the begin of a range.
using Arg = struct osc_scope_arg;
constexpr size_t kArgs = 8;

// Add the numbers that relate backward to forward at A; return where the next argument goes.
inline Arg *add_numbers(Arg *a, const at::RecordFunction &fn)
{
    if (fn.seqNr() < 0)
        return a;
    *a++ = {OSC_SCOPE_ARG_I64, session.keys.sequence, static_cast<uint64_t>(fn.seqNr())};
    if (__builtin_expect(fn.forwardThreadId() != 0, 0))
        *a++ = {OSC_SCOPE_ARG_I64, session.keys.fwd_thread, fn.forwardThreadId()};
    return a;
}

// Add these numbers to the innermost range.
__attribute__((noinline)) void put_numbers(const at::RecordFunction &fn)
{
    Arg args[kArgs];

    for (const Arg *a = args, *end = add_numbers(args, fn); a < end; a++)
        osc_arg_i64(a->key, static_cast<int64_t>(a->value));
}

// Whether the innermost range of T is the one that the engine puts around a backward function.
bool is_in_engine(const Thread *t)
{
    static const char prefix[] = "autograd::engine::evaluate_function: ";
    const Open *o = t->n_open > 0 ? &t->open[t->n_open - 1] : nullptr;

    return o && o->fn && strncmp(o->fn->name(), prefix, sizeof prefix - 1) == 0;
}

// The Python calls around this point, if they are wanted; 0: none.
inline osc_name stack_here()
{
    return __builtin_expect(session.options.has_stacks, 0) ? osc_torch::python_stack() : 0;
}

// Record torch's number for T, once, as an argument of the innermost range.
inline void put_thread(Thread *t)
{
    if (__builtin_expect(!t->is_numbered, 0)) {
        osc_arg_i64(session.keys.thread, static_cast<int64_t>(t->logical_id));
        t->is_numbered = true;
    }
}

// The lines from which FN is called, if they are wanted: of TorchScript if that runs, else of
// Python; 0: none.
inline osc_name lines_of(const at::RecordFunction &fn)
{
    const bool is_forward = fn.scope() != at::RecordScope::BACKWARD_FUNCTION;
    const osc_name lines =
        session.options.has_stacks && is_forward ? osc_torch::script_stack() : 0;

    return lines != 0 ? lines : stack_here();
}

// The modules of TorchScript around FN, if they are wanted; 0: none.
inline osc_name modules_of(const at::RecordFunction &fn)
{
    return session.options.has_modules && fn.scope() != at::RecordScope::BACKWARD_FUNCTION
               ? osc_torch::script_modules()
               : 0;
}

// Add the arguments that not every range of T has at A.
__attribute__((noinline)) Arg *add_more(Thread *t, const at::RecordFunction &fn, Arg *a)
{
    const auto &o = session.options;

    if (!t->is_numbered)
        *a++ = {OSC_SCOPE_ARG_I64, session.keys.thread, t->logical_id};
    t->is_numbered = true;
    t->has_more = o.has_stacks || o.has_overloads || o.has_modules;
    if (const osc_name lines = lines_of(fn))
        *a++ = {OSC_SCOPE_ARG_NAME, session.keys.stack, lines};
    if (const osc_name modules = modules_of(fn))
        *a++ = {OSC_SCOPE_ARG_NAME, session.keys.modules, modules};
    const char *overload = o.has_overloads ? osc_torch::overload_of(fn) : nullptr;
    if (overload && *overload != '\0')
        *a++ = {OSC_SCOPE_ARG_NAME, session.keys.overload, name_of(t, overload)};
    return a;
}

// Record, once, that more ranges are open than there is room for.
__attribute__((noinline, cold)) void record_too_deep(Thread *t)
{
    if (!t->is_too_deep)
        osc_instant(osc_name_c("opscope: ranges nested deeper than 65,536 are not recorded"));
    t->is_too_deep = true;
}

// Record the begin of FN, the innermost range of T.
inline void put_begin(Thread *t, const at::RecordFunction &fn)
{
    const osc_name name = name_of(t, fn.name());
    Arg args[kArgs], *a = add_numbers(args, fn);
    Signature *unnamed = nullptr;
    bool is_odd = false;
    uint64_t hash = 0;

    if (session.options.has_shapes && !fn.inputs().empty()) {
        hash = hash_inputs(fn.inputs(), &is_odd);
        Signature *s = &t->signatures[hash >> 17 & (kSignatures - 1)];

        if (__builtin_expect(s->hash == hash && s->args != 0, 1) && !is_odd)
            *a++ = {OSC_SCOPE_ARG_PAIRS, 0, s->args};
        else
            unnamed = s;
    }
    if (__builtin_expect(fn.handle() != 0, 0)) // torch numbers ranges if an observer asks
        *a++ = {OSC_SCOPE_ARG_I64, session.keys.function_id, fn.handle()};
    if (__builtin_expect(t->has_more, 0))
        a = add_more(t, fn, a);
    osc_begin_with(kind_of(fn), name, args, static_cast<uint32_t>(a - args));
    if (__builtin_expect(unnamed != nullptr, 0))
        record_inputs(t, fn.inputs(), unnamed, hash, is_odd);
    if (__builtin_expect(t->has_storages, 0))
        osc_torch::put_storages(&t->schemas, fn, name);
}

// NOW is the number of the session.
std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction &fn, uint64_t now)
{
    Thread *t;

    if (now == 0 || !osc_is_on() || !(t = this_thread(now)))
        return nullptr;
    // relaxed: heed_others() takes the lock
    if (__builtin_expect(t->n_elsewhere.load(std::memory_order_relaxed) > 0, 0))
        heed_others(t);
    if (__builtin_expect(t->n_open == kOpen, 0)) {
        record_too_deep(t);
        return nullptr;
    }
    if (fn.scope() == at::RecordScope::BACKWARD_FUNCTION && is_in_engine(t))
        put_numbers(fn); // torch gives these numbers to the range around it, too
    t->open[t->n_open++] = Open{&fn, &fn, 0};
    put_begin(t, fn);
    return nullptr;
}

// End WHO, if it is the innermost range of T.
inline bool end_innermost(Thread *t, const void *who)
{
    const uint32_t n = t->n_open - 1; // wraps if none is open

    if (__builtin_expect(n >= kOpen || t->open[n].who != who, 0))
        return false;
    t->n_open = n;
    osc_end();
    if (__builtin_expect(n > 0 && t->open[n - 1].end_ticks != 0, 0))
        close_ended(t);
    return true;
}

// End FN, which is not the innermost range of this thread in session NOW.
__attribute__((noinline, cold)) void end_other(const at::RecordFunction &fn, uint64_t now)
{
    Thread *t = self;

    if (!t || t->generation != now) {
        if (now != 0 && fn.threadId() != at::RecordFunction::currentThreadId())
            end_elsewhere(fn);
    } else if (fn.threadId() != t->logical_id) {
        end_elsewhere(fn);
    } else {
        store_end(t, &fn, osc_now(), nullptr);
    }
}

inline void on_end(const at::RecordFunction &fn, uint64_t now)
{
    Thread *t = self;

    if (__builtin_expect(!t || t->generation != now || !end_innermost(t, &fn), 0))
        end_other(fn, now);
}

// --- callbacks of one session ---------------------------------------------------------

// If another thread ends a session, the thread that began it keeps the callback until it begins
// one itself; it must not record for later sessions. So kFunctions successive sessions have
// different functions, and functions with a callback left behind are not used again.
constexpr unsigned kFunctions = 64;
uint64_t left_behind; // one bit for each pair of functions

uint64_t next_session(uint64_t last)
{
    uint64_t number = last + 1;

    // If all are left behind, sessions share functions.
    while (left_behind >> number % kFunctions & 1 && ~left_behind != 0)
        number++;
    return number;
}

template <unsigned N> std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction &fn)
{
    // relaxed: a callback comes before or after the change, and both are right
    const uint64_t now = generation.load(std::memory_order_relaxed);

    return now % kFunctions == N ? on_begin(fn, now) : nullptr;
}

template <unsigned N> void end(const at::RecordFunction &fn, at::ObserverContext *)
{
    const uint64_t now = generation.load(std::memory_order_relaxed); // as in begin()

    if (now % kFunctions == N)
        on_end(fn, now);
}

template <unsigned... N>
at::RecordFunctionCallback make_callback(uint64_t session_number,
                                         std::integer_sequence<unsigned, N...>)
{
    static constexpr at::RecordFunctionCallback::StartCallback begins[] = {begin<N>...};
    static constexpr at::RecordFunctionCallback::EndCallback ends[] = {end<N>...};
    const unsigned i = unsigned(session_number % kFunctions);

    return at::RecordFunctionCallback(begins[i], ends[i]);
}

} // namespace

// --- calls of Python -------------------------------------------------------------------------

bool osc_torch::range_begin(enum osc_scope_kind kind, osc_name name, const void *who)
{
    // relaxed: as in begin()
    const uint64_t now = generation.load(std::memory_order_relaxed);
    Thread *t;

    if (now == 0 || !osc_is_on() || !(t = this_thread(now)))
        return false;
    // relaxed: as in on_begin()
    if (__builtin_expect(t->n_elsewhere.load(std::memory_order_relaxed) > 0, 0))
        heed_others(t);
    if (t->n_open == kOpen) {
        record_too_deep(t);
        return false;
    }
    t->open[t->n_open++] = Open{who, nullptr, 0};
    osc_begin(kind, name);
    put_thread(t);
    return true;
}

void osc_torch::thread_renamed(pid_t thread)
{
    const std::lock_guard<std::mutex> guard(threads_lock);

    for (Thread *t = threads; t; t = t->next)
        if (t->number == thread)
            tell(t, nullptr, 0);
}

void osc_torch::put_stack()
{
    if (const osc_name stack = stack_here())
        osc_arg_name(session.keys.stack, stack);
}

bool osc_torch::is_recorded(bool or_toggled_off)
{
    // The address of this thread's callbacks, which is constant while it lives.
    static thread_local const at::RecordFunctionTLS *callbacks
        __attribute__((tls_model("initial-exec")));

    if (session.options.is_all_threads)
        return true;
    if (!callbacks)
        callbacks = &at::get_record_function_tls_();
    for (const auto &c : callbacks->sorted_tls_callbacks_)
        if (c.handle_ == session.handle)
            return c.enabled_ || or_toggled_off;
    return false;
}

bool osc_torch::wants_shapes()
{
    // relaxed: as in begin()
    return generation.load(std::memory_order_relaxed) != 0 && session.options.has_shapes &&
           osc_is_on() && is_recorded(false);
}

bool osc_torch::is_innermost(const void *who)
{
    const Thread *const t = self;

    // relaxed: as in begin()
    return t && t->generation == generation.load(std::memory_order_relaxed) && t->n_open > 0 &&
           t->open[t->n_open - 1].who == who;
}

void osc_torch::range_end(const void *who)
{
    // relaxed: as in begin(); the child of a fork has none, or a new one
    if (!self || self->generation != generation.load(std::memory_order_relaxed))
        return;
    if (!end_innermost(self, who) && store_end(self, who, osc_now(), nullptr))
        osc_arg_i64(session.keys.returned, 1); // later calls are not made by it
}

namespace
{

// The child of a fork has only the forking thread, so no other may hold the lock during fork().
void before_fork()
{
    threads_lock.lock();
}

void after_fork()
{
    threads_lock.unlock();
}

// The child is recorded if the whole process was.
void begin_child()
{
    threads_lock.unlock();
    if (self)
        self->number = gettid();
    // relaxed, here and below: there is one thread
    if (session.options.whole && generation.load(std::memory_order_relaxed) != 0) {
        // Its callback stays, so the new number must select the same functions.
        last_generation.store(generation.load(std::memory_order_relaxed) + kFunctions,
                              std::memory_order_relaxed);
        generation.store(last_generation.load(std::memory_order_relaxed),
                         std::memory_order_relaxed);
        return;
    }
    osc_torch::memory_stop();
    generation.store(0, std::memory_order_relaxed);
}

} // namespace

extern "C" {

int osc_torch_attach(const struct osc_torch_options *options)
{
    int result = OSC_TORCH_OK;

    // relaxed, here and in detach: called from one thread at a time
    if (generation.load(std::memory_order_relaxed) != 0)
        return OSC_TORCH_BUSY;
    static const int is_watched = pthread_atfork(before_fork, after_fork, begin_child);
    (void)is_watched;
    session.options = osc_torch_options{};
    memcpy(&session.options, options, std::min(options->size, sizeof session.options));
    if (session.options.has_memory && !osc_torch::memory_start()) {
        session.options.has_memory = 0;
        result = OSC_TORCH_NO_MEMORY;
    }
    if (session.options.has_shapes)
        osc_torch::answer_for_torch();
    // release: pairs with the barrier in adding the callback, which is not called before
    const uint64_t number = next_session(last_generation.load(std::memory_order_relaxed));
    last_generation.store(number, std::memory_order_relaxed);
    generation.store(number, std::memory_order_release);
    const auto callback =
        make_callback(number, std::make_integer_sequence<unsigned, kFunctions>())
            .needsInputs(session.options.has_shapes != 0);
    if (own_callback != 0)
        at::removeCallback(own_callback);
    if (session.has_global_callback) // from the parent of a fork
        at::removeCallback(session.handle);
    session.has_global_callback = session.options.is_all_threads != 0;
    session.handle = session.has_global_callback ? at::addGlobalCallback(callback)
                                                 : at::addThreadLocalCallback(callback);
    own_callback = session.has_global_callback ? 0 : session.handle;
    if (session.options.has_stacks &&
        !osc_torch::python_start(
            session.options.prefixes, session.options.own, session.options.is_all_threads != 0,
            session.options.has_places != 0, osc_torch::has_storages(session.options)))
        session.options.has_stacks = 0;
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
    if (session.options.has_stacks)
        osc_torch::python_stop();
    osc_torch::memory_stop();
    if (session.has_global_callback || own_callback == session.handle)
        at::removeCallback(session.handle);
    else
        left_behind |= uint64_t{1} << generation.load(std::memory_order_relaxed) % kFunctions;
    session.has_global_callback = false;
    if (own_callback == session.handle)
        own_callback = 0;
    if (self && self->n_elsewhere.load(std::memory_order_relaxed) > 0)
        heed_others(self);
    generation.store(0, std::memory_order_relaxed);
}
}
