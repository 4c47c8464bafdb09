// SPDX-License-Identifier: Apache-2.0
#include "python.h"

#include <pthread.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "calls.h"
#include "interpreter.h"
#include "paths.h"
#include "recorder.h"
#include "tensors.h"

namespace osc_torch
{
namespace
{

// --- names of calls, and stacks of them ----------------------------------------------------

constexpr size_t kCalls = size_t{1} << 16, kNodes = size_t{1} << 18;

std::unordered_map<Key, Call *, Hash> calls; // of functions, methods of built-ins and modules
std::unordered_map<Key, Node *, Hash> nodes; // by parent and call
std::unordered_map<Key, int64_t, Hash> classes; // number of modules of each in `calls`
std::vector<std::string> prefixes;
std::vector<std::string> own; // how names of our files begin, and those that have wrappers
Object *module_code;          // of nn.Module.__call__
Object *step_code; // of what optimizers call at the end of a step; NULL: not looked for
std::unordered_set<const Object *> optimizers; // whose tensors have been told
size_t file_at, name_at; // indices of the words of code with its file and name; 0: unknown

// An open call that does not fit in a table: one per level. It costs time instead of memory.
struct Passing {
    Call call;
    Node node;
};
thread_local std::vector<Passing> passing;

constexpr uint64_t kNone = UINT64_MAX;

uint64_t n_sessions;
std::atomic<uint64_t> running{kNone}; // the number of the running session, from 1
bool is_all_threads;                  // all threads that existed at its start
bool has_places;                      // calls have lines and paths
size_t profile_at; // index of the word of a thread's state with that function; 0: unknown

// The calls that were open in other threads when the session began, until their first event.
std::unordered_map<Object *, std::vector<Opened>> elsewhere;

// Held to delete the tables, and to read them without the interpreter's lock.
std::mutex tables;

// initial-exec: reached without a function call, because each Python call uses it several
// times.
thread_local Here here __attribute__((tls_model("initial-exec")));
char levels[kDepth];

inline bool is_here()
{
    // relaxed: it changes under the interpreter's lock; callers without that lock check again
    return here.session == running.load(std::memory_order_relaxed);
}

// FILE without the directory from which it is imported.
std::string shortened(const std::string &file)
{
    for (const std::string &p : prefixes)
        if (file.compare(0, p.size(), p) == 0)
            return file.substr(p.size());
    return file;
}

// The call with KEY, or NULL if it is new; most often it is the last child of this node.
inline Call *known_call(const Key &key)
{
    if (here.now && here.now->last_child && here.now->last_child->call->key == key)
        return here.now->last_child->call;
    const auto known = calls.find(key);
    return known != calls.end() ? known->second : nullptr;
}

// The element for the call that is about to be entered.
Passing *passing_one()
{
    passing.resize(kDepth + 1);
    return &passing[std::min<size_t>(here.depth + 1, kDepth)];
}

Call *add_call(const Key &key, const std::string &text, int64_t module, bool is_builtin = false)
{
    const osc_name name = osc_name_of(text.data(), text.size());

    if (calls.size() < kCalls)
        return calls[key] = new Call{key,        text,  name,  module, false, false,
                                     is_builtin, false, false, false,  false};
    Call *const call = &passing_one()->call;
    *call = Call{key, text, name, module, false, true, is_builtin, false, false, false, false};
    return call;
}

// The file and the name at the start of the KEY of code.
std::array<Object *, 2> texts_of(const Key &key)
{
    return {static_cast<Object *>(const_cast<void *>(key.first)),
            static_cast<Object *>(const_cast<void *>(key.second))};
}

void delete_call(Call *call)
{
    if (call->holds_key)
        for (Object *text : texts_of(call->key))
            py.release(text);
    delete call;
}

// The attribute NAME of CODE, borrowed: CODE holds it. part() reads word AT if that is known.
__attribute__((noinline)) Object *attribute_of(Object *code, const char *name)
{
    const Kept error;

    return Held(py.attribute(code, name)).o;
}

inline Object *part(Object *code, size_t at, const char *name)
{
    return at > 0 ? reinterpret_cast<Object **>(code)[at] : attribute_of(code, name);
}

// A new call of CODE at LINE.
__attribute__((noinline)) Call *new_call(const Key &key, Object *code, int line)
{
    const Kept error;
    const Held file(py.attribute(code, "co_filename")), name(py.attribute(code, "co_name"));
    const std::string path = file.text();
    Call *const call =
        add_call(key, shortened(path) + "(" + std::to_string(line) + "): " + name.text(), -1);

    call->is_own = !own.empty() && path.compare(0, own[0].size(), own[0]) == 0;
    call->is_wrapper = call->is_own && std::find(own.begin(), own.end(), path) != own.end();
    call->is_step = code == step_code;
    if (!call->is_passing) {
        call->holds_key = true;
        for (Object *text : texts_of(key))
            py.take(text);
    }
    return call;
}

// A new call of the module SELF.
__attribute__((noinline)) Call *new_module_call(const Key &key, Object *self)
{
    const Key of_class{key.second, nullptr, key.third};
    const std::string name = Held(py.attribute(self, "__class__")).attribute("__name__");
    const auto known = classes.find(of_class);
    const int64_t number = known != classes.end() ? known->second : 0;
    Call *const call =
        add_call(key, "nn.Module: " + name + "_" + std::to_string(number), number);

    if (!call->is_passing)
        classes[of_class] = number + 1;
    return call;
}

// A hash of the text S.
inline uint64_t hash_of(const char *s)
{
    uint64_t h = 0;

    for (; *s; s++)
        h = (h ^ static_cast<unsigned char>(*s)) * UINT64_C(0x100000001b3);
    return h;
}

// The call of the module that is `self` in FRAME, which is stored in *MODULE; NULL if there is
// none. As in torch, a module at the address of a dead one of the same class counts as that
// one.
__attribute__((noinline)) Call *module_call(Frame *frame, Object **module)
{
    const Kept error;
    const Held locals(py.locals(frame));
    const Held self(locals.o ? py.item(locals.o, "self") : nullptr);

    if (!self.o)
        return nullptr;
    const Key key{self.o, self.o->type, hash_of(self.o->type->name)};
    Call *const known = known_call(key);
    *module = self.o;
    return known ? known : new_module_call(key, self.o);
}

// The call of FRAME. *MODULE is the module that it calls, borrowed from FRAME, if it does.
Call *call_of(Frame *frame, Object **module)
{
    const Held code(py.code(frame));
    Call *call = code.o == module_code ? module_call(frame, module) : nullptr;

    if (call)
        return call;
    const int line = py.line(frame);
    const Key key{part(code.o, file_at, "co_filename"), part(code.o, name_at, "co_name"),
                  static_cast<uint64_t>(line)};
    Call *const known = known_call(key);
    return known ? known : new_call(key, code.o, line);
}

__attribute__((noinline)) Call *new_builtin_call(const Key &key, Object *function)
{
    const Kept error;

    return add_call(key, Held(py.repr(function)).text(), -1, true);
}

Call *call_of_builtin(Object *function)
{
    const Method *m = function->method;
    const Key key{m, m->name, reinterpret_cast<uint64_t>(m->function)};
    Call *const known = known_call(key);

    return known ? known : new_builtin_call(key, function);
}

// The node of CALL inside PARENT, made by its instruction AT; 0: without places.
Node *child_of(Node *parent, Call *call, int at)
{
    if (parent->last_child && parent->last_child->call == call && parent->last_child->at == at)
        return parent->last_child;
    const Key key{parent, call, static_cast<uint64_t>(at)};
    const auto known = nodes.find(key);
    const bool is_closed = parent->is_closed || (call->is_own && !call->is_wrapper);
    const bool is_hidden =
        is_closed || call->is_own || (call->is_builtin && parent->call && parent->call->is_own);

    if (known != nodes.end())
        return parent->last_child = known->second;
    if (call->is_passing || parent->is_passing || nodes.size() >= kNodes) {
        Node *const node = &passing_one()->node;

        *node = Node{parent, call, at, nullptr, nullptr, 0, true, is_hidden, is_closed};
        here.named = nullptr;
        return node;
    }
    Node *const node = nodes[key] =
        new Node{parent, call, at, nullptr, nullptr, 0, false, is_hidden, is_closed};
    return parent->last_child = node;
}

// --- calls and returns ---------------------------------------------------------------------

void enter(Call *call)
{
    static const char key[] = "Python module id";
    Node *const child =
        here.now && here.depth == here.first_recorded ? child_of(here.now, call, 0) : nullptr;

    here.depth++;
    if (!child || here.depth >= kDepth)
        return;
    if (!child->is_hidden && !range_begin(OSC_SCOPE_PYTHON, call->name, &levels[here.depth]))
        return;
    here.first_recorded = here.depth;
    here.now = child;
    if (call->module >= 0)
        osc_arg_i64(osc_name_c(key), call->module);
}

// The current call returns. IS_BUILTIN: the event is that of a built-in.
void leave(bool is_builtin)
{
    if (here.depth == 0)
        return; // the call began before the session
    if (here.depth == here.first_recorded) {
        if (is_builtin && !here.now->call->is_builtin)
            return; // the built-in was called before the session
        if (!here.now->is_hidden)
            range_end(&levels[here.depth]);
        here.first_recorded--;
        here.now = here.now->parent;
    }
    here.depth--;
}

// --- calls and returns with places ---------------------------------------------------------

// Freed when the thread ends, after which no stack of it is known.
struct Room {
    Levels *levels = nullptr;
    ~Room()
    {
        here.session = 0;
        free(levels);
    }
};
thread_local Room room;

Levels *new_levels()
{
    free(room.levels);
    return room.levels = static_cast<Levels *>(calloc(1, sizeof *room.levels));
}

// The path of the module SELF, which is called at the innermost level; 0: it has none.
osc_name path_here(Node *node, Object *self)
{
    if (here.root == 0)
        here.root = here.depth;
    if (!node->place || !node->place->is_of(self))
        node->place = place_of(here.levels->open[here.root].self, self);
    return node->place ? node->place->path : 0;
}

// Enter CALL, which is open as L. A call that cannot be recorded, because recording is paused,
// belongs to stacks all the same.
void enter_place(Call *call, Level l)
{
    static const char number[] = "Python module id", path[] = "Module path";

    if (here.depth + 1 >= kDepth) {
        here.depth++;
        return;
    }
    Level *const open = &here.levels->open[here.depth + 1];
    const int at = open[-1].frame ? py.instruction(open[-1].frame) : 0;
    Node *const child = child_of(here.now, call, at);

    *open = l;
    here.now = child;
    here.depth++;
    const osc_name where = l.self ? path_here(child, l.self) : 0;
    open->is_recorded =
        !child->is_hidden && range_begin(OSC_SCOPE_PYTHON, call->name, &levels[here.depth]);
    if (!open->is_recorded || call->module < 0)
        return;
    osc_arg_i64(osc_name_c(number), call->module);
    if (where != 0)
        osc_arg_name(osc_name_c(path), where);
}

void leave_innermost()
{
    if (here.levels->open[here.depth].is_recorded)
        range_end(&levels[here.depth]);
    if (here.root == here.depth)
        here.root = 0;
    here.depth--;
    here.now = here.now->parent;
}

// FRAME returns, or a built-in that it called. Events can be missing, such as the calls of
// generators that are closed: what is open inside of it ends now, too, and a return without a
// call is none of ours.
void leave_place(Frame *frame, bool is_builtin)
{
    uint32_t level = here.depth;

    if (level >= kDepth) {
        here.depth--;
        return;
    }
    while (level > 0 && (here.levels->open[level].frame != frame ||
                         here.levels->open[level].is_builtin != is_builtin))
        level--;
    while (level > 0 && here.depth >= level)
        leave_innermost();
}

// End all open calls of this thread.
void leave_all()
{
    if (here.levels)
        here.depth = std::min<uint32_t>(here.depth, kDepth - 1);
    while (here.depth > 0) {
        if (here.levels)
            leave_innermost();
        else
            leave(false);
    }
}

// --- the beginning of sessions ---------------------------------------------------------------

// The open calls of a thread, innermost first. FRAME is its innermost frame, owned by us, or
// NULL.
std::vector<Opened> calls_around(Frame *frame)
{
    std::vector<Opened> found;

    while (frame) {
        const Held held(frame);
        Object *self = nullptr;
        Call *const call = call_of(frame, &self);

        if (!call->is_passing)
            found.push_back({call, frame, self});
        frame = py.back(frame);
    }
    return found;
}

// Begin the session in this thread. OPEN are its open calls, innermost first.
void begin_here(const std::vector<Opened> &open)
{
    here = Here{};
    here.levels = has_places ? new_levels() : nullptr;
    if (has_places && !here.levels)
        return; // no memory: the thread is not recorded
    here.session = running.load(std::memory_order_relaxed); // as in is_here()
    here.now = &here.node;
    passing.clear();
    for (size_t i = open.size(); i-- > 0;) {
        if (has_places)
            enter_place(open[i].call, {open[i].frame, open[i].self, false, false});
        else
            enter(open[i].call);
    }
}

// Begin at this thread's first event, if another thread began the session. False: not recorded.
bool begin_late()
{
    const auto found = elsewhere.find(py.thread());

    if (found == elsewhere.end())
        return false;
    begin_here(found->second);
    elsewhere.erase(found);
    return true;
}

// The `self` of FRAME, borrowed from it, or NULL.
__attribute__((noinline)) Object *self_of(Frame *frame)
{
    const Kept error;
    const Held locals(py.locals(frame));

    return locals.o ? Held(py.item(locals.o, "self")).o : nullptr;
}

// Tell the tensors of the module or optimizer whose CALL has just been entered as FRAME, at the
// first call that is recorded. MODULE is NULL, or the module.
inline void tell_tensors(Call *call, Frame *frame, Object *module)
{
    if (__builtin_expect(!step_code || (!module && !call->is_step) || call->is_told, 1) ||
        !is_innermost(&levels[here.depth]))
        return;
    if (module) {
        call->is_told = true;
        put_module(module);
        return;
    }
    Object *const optimizer = self_of(frame);
    if (optimizer && optimizers.insert(optimizer).second)
        put_optimizer(optimizer);
}

int on_event(Object *, Frame *frame, int what, Object *argument)
{
    if (__builtin_expect(!is_here(), 0) && !begin_late())
        return 0;
    if (what == kReturn || what == kCReturn || what == kCException) {
        leave(what != kReturn);
    } else if (what == kCall || what == kCCall) {
        Object *self = nullptr;
        Call *const call = what == kCall ? call_of(frame, &self) : call_of_builtin(argument);

        enter(call);
        tell_tensors(call, frame, self);
    }
    return 0;
}

// The same with places.
int on_event_with_places(Object *, Frame *frame, int what, Object *argument)
{
    if (__builtin_expect(!is_here(), 0) && !begin_late())
        return 0;
    if (what == kReturn || what == kCReturn || what == kCException) {
        leave_place(frame, what != kReturn);
    } else if (what == kCall) {
        Object *self = nullptr;
        Call *const call = call_of(frame, &self);

        enter_place(call, {frame, self, false, false});
        tell_tensors(call, frame, self);
    } else if (what == kCCall) {
        enter_place(call_of_builtin(argument), {frame, nullptr, true, false});
    }
    return 0;
}

// All Python threads.
std::vector<Object *> all_threads()
{
    std::vector<Object *> found;

    for (Object *t = py.first_thread(py.interpreter(py.thread())); t; t = py.next_thread(t))
        found.push_back(t);
    return found;
}

// Whether our function is that of this thread, so that the open calls are known: a function of
// the program may have replaced it. Without the interpreter's lock.
bool is_told_of_calls()
{
    Object *const thread = profile_at > 0 ? py.own_thread() : nullptr;

    return thread && reinterpret_cast<Profile *>(thread)[profile_at] == on_event_with_places;
}

// Set FUNCTION as the profile function of THREAD. The thread may have ended: calls into Python
// can run code of the program, and meanwhile other threads run, too.
void set_profile_of(Object *thread, Profile function)
{
    const std::vector<Object *> all = all_threads();
    Object *const own = py.thread();

    if (std::find(all.begin(), all.end(), thread) == all.end())
        return;
    Frame *const innermost = function ? py.innermost(thread) : nullptr;
    // Called as this thread: it releases the previous function of THREAD, which may run code of
    // the program, and that must not run on the frames of another thread.
    if (py.set_profile_of(thread, function, nullptr) < 0) {
        py.swap(thread);
        py.clear(); // the error in THREAD: another thread is setting a function
        py.swap(own);
    }
    if (function)
        elsewhere[thread] = calls_around(innermost);
}

// Set FUNCTION (NULL: none) as the profile function of this thread, or of all if those are
// wanted.
void set_profile(Profile function)
{
    py.set_profile(function, nullptr);
    if (!is_all_threads || !py.set_profile_of)
        return;
    const int was_collecting = py.stop_collecting(); // the collector runs code of the program
    for (Object *thread : all_threads())
        if (thread != py.thread())
            set_profile_of(thread, function);
    if (was_collecting)
        py.collect();
}

// The function of this session.
Profile own_function()
{
    return has_places ? on_event_with_places : on_event;
}

// Find where the state of a thread has its profile function, which is ours.
void find_profile_function()
{
    constexpr size_t n_words = 24; // any state is larger
    const Profile *const words = reinterpret_cast<Profile *>(py.thread());
    const Profile *const found = std::find(words, words + n_words, on_event_with_places);

    profile_at = found < words + n_words ? static_cast<size_t>(found - words) : 0;
}

void before_fork()
{
    tables.lock();
}

void after_fork()
{
    tables.unlock();
}

// The index of the word of CODE that holds its attribute NAME, which differs between versions;
// 0: not found.
size_t place_of(Object *code, const char *name)
{
    constexpr size_t n_words = 20; // any code object is larger
    Object *const *words = reinterpret_cast<Object **>(code);
    const Held value(py.attribute(code, name));
    const auto found = std::find(words, words + n_words, value.o);

    return value.o && found < words + n_words ? static_cast<size_t>(found - words) : 0;
}

// The code of METHOD of CLASS in the module called NAME, or NULL.
Object *code_of(const char *name, const char *class_name, const char *method)
{
    const Held module(py.module(name));
    const Held type(module.o ? py.attribute(module.o, class_name) : nullptr);
    const Held function(type.o ? py.attribute(type.o, method) : nullptr);
    Object *const code = function.o ? py.attribute(function.o, "__code__") : nullptr;

    if (!code)
        py.clear();
    return code;
}

void find_codes(bool tensors)
{
    module_code = code_of("torch.nn.modules.module", "Module", "__call__");
    step_code = tensors ? code_of("torch.optim.optimizer", "Optimizer", "_optimizer_step_code")
                        : nullptr;
    file_at = module_code ? place_of(module_code, "co_filename") : 0;
    name_at = module_code ? place_of(module_code, "co_name") : 0;
}

// Append the text of CALL, with the line that FRAME executes if that is given.
void append(std::string &text, const Call *call, Frame *frame)
{
    // A module and a built-in have no line.
    const size_t end = frame ? call->text.rfind("): ") : std::string::npos;
    const size_t begin = end != std::string::npos ? call->text.rfind('(', end) : end;

    if (begin == std::string::npos)
        text += call->text;
    else
        text.append(call->text, 0, begin + 1)
            .append(std::to_string(py.line(frame)))
            .append(call->text, end);
    text += ';';
}

// The names of NODE, this thread's current one, and all its parents, each followed by a
// semicolon.
std::string stack_text(const Node *node)
{
    uint32_t level = std::min<uint32_t>(here.depth, kDepth - 1);
    std::string text;

    for (; node->parent; node = node->parent, level--) {
        const Call *const call = node->call;
        const bool has_line = here.levels && call->module < 0 && !call->is_builtin;

        if (!node->is_hidden)
            append(text, call, has_line ? here.levels->open[level].frame : nullptr);
    }
    return text;
}

// Store the name of the stack of NODE, this thread's current one, in `here`. False: the session
// has ended.
__attribute__((noinline)) bool name_stack(Node *node)
{
    std::string text;

    {
        const std::lock_guard<std::mutex> lock(tables);
        if (!is_here())
            return false;
        here.stack = node->stack;
        if (here.stack == 0)
            text = stack_text(node);
    }
    if (here.stack != 0)
        return true;
    here.stack = osc_name_of(text.data(), text.size());
    const std::lock_guard<std::mutex> lock(tables);
    if (is_here())
        node->stack = here.stack;
    return is_here();
}

// With places: the name of the stack of NODE, this thread's current one; 0: unknown.
osc_name stack_with_lines(const Node *node)
{
    const int at =
        py.instruction(here.levels->open[std::min<uint32_t>(here.depth, kDepth - 1)].frame);
    const size_t hash = reinterpret_cast<uintptr_t>(node) / sizeof *node + size_t(at) / 2;
    Named *const known = &here.levels->named[hash % kNamed];
    std::string text;
    bool is_passing;

    if (known->node == node && known->at == at)
        return known->stack;
    {
        const std::lock_guard<std::mutex> lock(tables);
        if (!is_here())
            return 0;
        text = stack_text(node);
        is_passing = node->is_passing; // another thread may end the session and delete it
    }
    const osc_name stack = osc_name_of(text.data(), text.size());
    if (!is_passing)
        *known = {node, at, stack};
    return stack;
}

// The lines of TEXT, or nothing for NULL.
std::vector<std::string> lines_of(const char *text)
{
    std::vector<std::string> found;

    for (const char *p = text, *end; p && (end = strchr(p, '\n')); p = end + 1)
        found.emplace_back(p, end);
    return found;
}

} // namespace

bool python_start(const char *cut, const char *own_files, bool all_threads, bool places,
                  bool tensors)
{
    if (!find_interpreter())
        return false;
    static const int is_watched = pthread_atfork(before_fork, after_fork, after_fork);
    (void)is_watched;
    prefixes = lines_of(cut);
    own = lines_of(own_files);
    find_codes(tensors);
    is_all_threads = all_threads;
    has_places = places && find_interpreter_places();
    running.store(++n_sessions, std::memory_order_relaxed); // as in is_here()
    here = Here{}; // the previous session's nodes are gone
    begin_here(calls_around(py.innermost(py.thread())));
    set_profile(own_function());
    if (has_places)
        find_profile_function();
    return true;
}

void python_begin_here()
{
    // relaxed: as in is_here()
    if (running.load(std::memory_order_relaxed) == kNone || !is_all_threads ||
        (is_here() && (!here.levels || is_told_of_calls())))
        return;
    if (is_here())
        leave_all();
    begin_here(calls_around(py.innermost(py.thread())));
    py.set_profile(own_function(), nullptr);
}

void python_stop()
{
    const bool began_here = is_here();

    if (began_here || is_all_threads)
        set_profile(nullptr);
    if (began_here)
        leave_all();
    const std::lock_guard<std::mutex> lock(tables);
    running.store(kNone, std::memory_order_relaxed); // as in is_here()
    for (const auto &n : nodes)
        delete n.second;
    for (const auto &c : calls)
        delete_call(c.second);
    nodes.clear();
    calls.clear();
    elsewhere.clear();
    classes.clear();
    passing.clear();
    paths_clear();
    for (Object **code : {&module_code, &step_code}) {
        if (*code)
            py.release(*code);
        *code = nullptr;
    }
    optimizers.clear();
}

osc_name python_stack()
{
    Node *const node = here.now;

    if (!is_here() || node == &here.node)
        return 0;
    if (here.levels)
        return is_told_of_calls() ? stack_with_lines(node) : 0;
    if (here.named != node) {
        if (!name_stack(node))
            return 0;
        here.named = node;
    }
    return here.stack;
}

} // namespace osc_torch

extern "C" void osc_torch_record_calls(void)
{
    osc_torch::python_begin_here();
}
