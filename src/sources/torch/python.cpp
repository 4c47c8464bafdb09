// SPDX-License-Identifier: Apache-2.0
#include "python.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace osc_torch
{
namespace
{

// --- the interpreter -------------------------------------------------------------------

// Only those parts of its objects that are the same in all versions: the head, the method of a
// built-in, and the name of a type.
struct Type;
struct Method {
    const char *name;
    void (*function)();
};
struct Object {
    intptr_t references;
    Type *type;
    Method *method; // if it is a PyCFunction
};
struct Type {
    Object head;
    const char *name;
};
using Frame = Object;
using Profile = int (*)(Object *, Frame *, int, Object *);

enum { kCall = 0, kReturn = 3, kCCall = 4, kCException = 5, kCReturn = 6 };

struct {
    void (*set_profile)(Profile, Object *);
    Frame *(*innermost)(Object *);
    Frame *(*back)(Frame *);
    Object *(*code)(Frame *);
    Object *(*locals)(Frame *);
    int (*line)(Frame *);
    Object *(*attribute)(Object *, const char *);
    Object *(*item)(Object *, const char *);
    Object *(*repr)(Object *);
    Object *(*module)(const char *);
    const char *(*utf8)(Object *);
    void (*take)(Object *);
    void (*release)(Object *);
    void (*fetch)(Object **, Object **, Object **);
    void (*restore)(Object *, Object *, Object *);
    void (*clear)();
    Object *(*thread)();
    Object *(*interpreter)(Object *);
    Object *(*first_thread)(Object *);
    Object *(*next_thread)(Object *);
    Object *(*swap)(Object *);
    int (*set_profile_of)(Object *, Profile, Object *); // of any thread; may be NULL
    int (*stop_collecting)();
    int (*collect)();
} py;

template <class F> bool find(F *f, const char *name)
{
    *f = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
    return *f != nullptr;
}

bool find_all()
{
    (void)find(&py.set_profile_of, "_PyEval_SetProfile"); // some versions lack it
    return find(&py.set_profile, "PyEval_SetProfile") &&
           find(&py.innermost, "PyThreadState_GetFrame") && find(&py.back, "PyFrame_GetBack") &&
           find(&py.code, "PyFrame_GetCode") && find(&py.locals, "PyFrame_GetLocals") &&
           find(&py.line, "PyFrame_GetLineNumber") &&
           find(&py.attribute, "PyObject_GetAttrString") &&
           find(&py.item, "PyMapping_GetItemString") && find(&py.repr, "PyObject_Repr") &&
           find(&py.module, "PyImport_ImportModule") && find(&py.utf8, "PyUnicode_AsUTF8") &&
           find(&py.take, "Py_IncRef") && find(&py.release, "Py_DecRef") &&
           find(&py.fetch, "PyErr_Fetch") && find(&py.restore, "PyErr_Restore") &&
           find(&py.clear, "PyErr_Clear") && find(&py.thread, "PyThreadState_Get") &&
           find(&py.interpreter, "PyThreadState_GetInterpreter") &&
           find(&py.first_thread, "PyInterpreterState_ThreadHead") &&
           find(&py.next_thread, "PyThreadState_Next") &&
           find(&py.swap, "PyThreadState_Swap") && find(&py.stop_collecting, "PyGC_Disable") &&
           find(&py.collect, "PyGC_Enable");
}

// A reference that we own, released at the end of the block; errors are cleared.
struct Held {
    Object *o;

    explicit Held(Object *object) : o(object)
    {
        if (!o)
            py.clear();
    }
    ~Held()
    {
        if (o)
            py.release(o);
    }
    Held(const Held &) = delete;
    Held &operator=(const Held &) = delete;
    std::string text() const
    {
        const char *s = o ? py.utf8(o) : nullptr;

        if (!s)
            py.clear();
        return s ? s : "?";
    }
    std::string attribute(const char *name) const
    {
        return o ? Held(py.attribute(o, name)).text() : "?";
    }
};

// Saves the program's pending error, because our own calls may raise others.
struct Kept {
    Object *type, *value, *trace;

    Kept()
    {
        py.fetch(&type, &value, &trace);
    }
    Kept(const Kept &) = delete;
    ~Kept()
    {
        py.restore(type, value, trace);
    }
};

// --- names of calls, and stacks of them ----------------------------------------------------

struct Key {
    const void *first, *second;
    uint64_t third;
    bool operator==(const Key &o) const
    {
        return first == o.first && second == o.second && third == o.third;
    }
};

// A function or module that is called. It holds no object of the program except two strings of
// its code, so that objects die when they would without us. If an address is used again, the
// rest of the key differs.
struct Call {
    Key key;
    std::string text;
    osc_name name;
    int64_t module;  // number of the module within its class; -1: not a module
    bool holds_key;  // we hold the two strings at the start of the key
    bool is_passing; // it is in no table
    bool is_builtin; // neither code nor a module
    bool is_own;     // code of opscope, which is in no stack
    bool is_wrapper; // code of opscope around a function of the program
};

// A call inside of others.
struct Node {
    Node *parent;
    Call *call;
    Node *last_child; // the last one entered
    osc_name stack;   // its text; 0: not made yet
    bool is_passing;  // neither it nor its children are in a table
    bool is_hidden;   // it is not recorded
    bool is_closed;   // no child is recorded either
};

struct Hash {
    size_t operator()(const Key &k) const
    {
        const auto h =
            (reinterpret_cast<uint64_t>(k.first) ^
             (reinterpret_cast<uint64_t>(k.second) + k.third) * UINT64_C(0xff51afd7ed558ccd)) *
            UINT64_C(0x9e3779b97f4a7c15);
        return static_cast<size_t>(h ^ h >> 29);
    }
};

constexpr size_t kCalls = size_t{1} << 16, kNodes = size_t{1} << 18, kDepth = 4096;

std::unordered_map<Key, Call *, Hash> calls; // of functions, methods of built-ins and modules
std::unordered_map<Key, Node *, Hash> nodes; // by parent and call
std::unordered_map<Key, int64_t, Hash> classes; // number of modules of each in `calls`
std::vector<std::string> prefixes;
std::vector<std::string> own; // how names of our files begin, and those that have wrappers
Object *module_code;          // of nn.Module.__call__
size_t file_at, name_at;      // indices of the words of code with its file and name; 0: unknown

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

// The calls that were open in other threads when the session began, until their first event.
std::unordered_map<Object *, std::vector<Call *>> elsewhere;

// Held to delete the tables, and to read them without the interpreter's lock.
std::mutex tables;

// This thread's open calls, and the session they belong to. Levels are identified by the
// addresses in `levels`.
struct Here {
    uint64_t session;
    Node *now;
    uint32_t depth;
    uint32_t first_recorded; // the innermost level recorded; deeper than kDepth, none is
    Node *named;             // the node whose stack is in `stack`; NULL: none
    osc_name stack;
    Node root;
};
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
        return calls[key] =
                   new Call{key, text, name, module, false, false, is_builtin, false, false};
    Call *const call = &passing_one()->call;
    *call = Call{key, text, name, module, false, true, is_builtin, false, false};
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

// The call of the module that is `self` in FRAME; NULL if there is none. As in torch, a module
// at the address of a dead one of the same class counts as that one.
__attribute__((noinline)) Call *module_call(Frame *frame)
{
    const Kept error;
    const Held locals(py.locals(frame));
    const Held self(locals.o ? py.item(locals.o, "self") : nullptr);

    if (!self.o)
        return nullptr;
    const Key key{self.o, self.o->type, hash_of(self.o->type->name)};
    Call *const known = known_call(key);
    return known ? known : new_module_call(key, self.o);
}

Call *call_of(Frame *frame)
{
    const Held code(py.code(frame));
    Call *call = code.o == module_code ? module_call(frame) : nullptr;

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

// The node of CALL inside PARENT.
Node *child_of(Node *parent, Call *call)
{
    if (parent->last_child && parent->last_child->call == call)
        return parent->last_child;
    const Key key{parent, call, 0};
    const auto known = nodes.find(key);
    const bool is_closed = parent->is_closed || (call->is_own && !call->is_wrapper);
    const bool is_hidden =
        is_closed || call->is_own || (call->is_builtin && parent->call && parent->call->is_own);

    if (known != nodes.end())
        return parent->last_child = known->second;
    if (call->is_passing || parent->is_passing || nodes.size() >= kNodes) {
        Node *const node = &passing_one()->node;

        *node = Node{parent, call, nullptr, 0, true, is_hidden, is_closed};
        here.named = nullptr;
        return node;
    }
    Node *const node = nodes[key] =
        new Node{parent, call, nullptr, 0, false, is_hidden, is_closed};
    return parent->last_child = node;
}

// --- calls and returns ---------------------------------------------------------------------

void enter(Call *call)
{
    static const char key[] = "Python module id";
    Node *const child =
        here.now && here.depth == here.first_recorded ? child_of(here.now, call) : nullptr;

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

// The open calls of a thread, innermost first. FRAME is its innermost frame, owned by us, or
// NULL.
std::vector<Call *> calls_around(Frame *frame)
{
    std::vector<Call *> found;

    while (frame) {
        const Held held(frame);
        Call *const call = call_of(frame);

        if (!call->is_passing)
            found.push_back(call);
        frame = py.back(frame);
    }
    return found;
}

// Begin the session in this thread. OPEN are its open calls, innermost first.
void begin_here(const std::vector<Call *> &open)
{
    here = Here{};
    here.session = running.load(std::memory_order_relaxed); // as in is_here()
    here.now = &here.root;
    passing.clear();
    for (size_t i = open.size(); i-- > 0;)
        enter(open[i]);
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

int on_event(Object *, Frame *frame, int what, Object *argument)
{
    if (__builtin_expect(!is_here(), 0) && !begin_late())
        return 0;
    if (what == kReturn || what == kCReturn || what == kCException) {
        leave(what != kReturn);
    } else if (what == kCall || what == kCCall) {
        enter(what == kCall ? call_of(frame) : call_of_builtin(argument));
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

void find_module_code()
{
    const Held module(py.module("torch.nn.modules.module"));
    const Held type(module.o ? py.attribute(module.o, "Module") : nullptr);
    const Held function(type.o ? py.attribute(type.o, "__call__") : nullptr);

    module_code = function.o ? py.attribute(function.o, "__code__") : nullptr;
    file_at = module_code ? place_of(module_code, "co_filename") : 0;
    name_at = module_code ? place_of(module_code, "co_name") : 0;
    if (!module_code)
        py.clear();
}

// The names of NODE and all its parents, each followed by a semicolon.
std::string stack_text(const Node *node)
{
    std::string text;

    for (; node->parent; node = node->parent) {
        if (node->is_hidden)
            continue;
        text += node->call->text;
        text += ';';
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

// The lines of TEXT, or nothing for NULL.
std::vector<std::string> lines_of(const char *text)
{
    std::vector<std::string> found;

    for (const char *p = text, *end; p && (end = strchr(p, '\n')); p = end + 1)
        found.emplace_back(p, end);
    return found;
}

} // namespace

bool python_start(const char *cut, const char *own_files, bool all_threads)
{
    if (!find_all())
        return false;
    static const int is_watched = pthread_atfork(before_fork, after_fork, after_fork);
    (void)is_watched;
    prefixes = lines_of(cut);
    own = lines_of(own_files);
    find_module_code();
    is_all_threads = all_threads;
    running.store(++n_sessions, std::memory_order_relaxed); // as in is_here()
    here = Here{}; // the previous session's nodes are gone
    begin_here(calls_around(py.innermost(py.thread())));
    set_profile(on_event);
    return true;
}

void python_stop()
{
    const bool began_here = is_here();

    if (began_here || is_all_threads)
        set_profile(nullptr);
    while (began_here && here.depth > 0)
        leave(false);
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
    if (module_code)
        py.release(module_code);
    module_code = nullptr;
}

osc_name python_stack()
{
    Node *const node = here.now;

    if (!is_here() || node == &here.root)
        return 0;
    if (here.named != node) {
        if (!name_stack(node))
            return 0;
        here.named = node;
    }
    return here.stack;
}

} // namespace osc_torch
