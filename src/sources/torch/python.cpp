// SPDX-License-Identifier: Apache-2.0
#include "python.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

namespace osc_torch
{
namespace
{

// --- the interpreter -------------------------------------------------------------------

// Of its objects only what no version has changed: the head, and the method of a built-in.
struct Object {
    intptr_t references;
    void *type;
    void *method; // of a PyCFunction
};
using Frame = Object;
using Profile = int (*)(Object *, Frame *, int, Object *);

enum { kCall = 0, kReturn = 3, kCCall = 4, kCException = 5, kCReturn = 6 };

struct {
    void (*set_profile)(Profile, Object *);
    Frame *(*current)();
    Frame *(*back)(Frame *);
    Object *(*code)(Frame *);
    Object *(*locals)(Frame *);
    int (*last)(Frame *);
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
} py;

template <class F> bool find(F *f, const char *name)
{
    *f = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
    return *f != nullptr;
}

bool find_all()
{
    return find(&py.set_profile, "PyEval_SetProfile") && find(&py.current, "PyEval_GetFrame") &&
           find(&py.back, "PyFrame_GetBack") && find(&py.code, "PyFrame_GetCode") &&
           find(&py.locals, "PyFrame_GetLocals") && find(&py.last, "PyFrame_GetLasti") &&
           find(&py.line, "PyFrame_GetLineNumber") &&
           find(&py.attribute, "PyObject_GetAttrString") &&
           find(&py.item, "PyMapping_GetItemString") && find(&py.repr, "PyObject_Repr") &&
           find(&py.module, "PyImport_ImportModule") && find(&py.utf8, "PyUnicode_AsUTF8") &&
           find(&py.take, "Py_IncRef") && find(&py.release, "Py_DecRef") &&
           find(&py.fetch, "PyErr_Fetch") && find(&py.restore, "PyErr_Restore") &&
           find(&py.clear, "PyErr_Clear");
}

// An object of ours, released at the end of the block; errors do not outlast it.
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

// --- names of calls, and stacks of them ----------------------------------------------------

struct Key {
    const void *first;
    intptr_t second;
    bool operator==(const Key &o) const
    {
        return first == o.first && second == o.second;
    }
};
struct Call {
    Key key;
    std::string text;
    osc_name name;
    int64_t module; // number of the module among those of its class; -1: none
};

// A call inside of others.
struct Node {
    Node *parent;
    Call *call;
    Node *last_child; // the one that was entered last
    osc_name stack;   // its text; 0: not made
};

struct Hash {
    size_t operator()(const Key &k) const
    {
        const auto h = (reinterpret_cast<uint64_t>(k.first) ^
                        static_cast<uint64_t>(k.second) * UINT64_C(0xff51afd7ed558ccd)) *
                       UINT64_C(0x9e3779b97f4a7c15);
        return static_cast<size_t>(h ^ h >> 29);
    }
};

constexpr size_t kNodes = size_t{1} << 20, kDepth = 4096;

std::unordered_map<Key, Call *, Hash> calls;      // by code and instruction, method, or module
std::unordered_map<Key, Node *, Hash> nodes;      // by parent and call
std::unordered_map<std::string, int64_t> classes; // how many modules of each
std::vector<Object *> held;                       // until the end of the session
std::vector<std::string> prefixes;
Object *module_code; // of nn.Module.__call__
Node root;

uint64_t n_sessions, running; // the number of the one that runs; 0: none

// What this thread is in, and of which session; kDepth addresses that name its levels.
thread_local uint64_t mine;
thread_local Node *now;
thread_local uint32_t depth;
thread_local uint32_t first_recorded; // levels above kDepth are not
char levels[kDepth];

// FILE without the directory that it is imported from.
std::string shortened(const std::string &file)
{
    for (const std::string &p : prefixes)
        if (file.compare(0, p.size(), p) == 0)
            return file.substr(p.size());
    return file;
}

Call *add_call(Key key, const std::string &text, int64_t module)
{
    return calls[key] = new Call{key, text, osc_name_of(text.data(), text.size()), module};
}

// The call of KEY, if it was there before: most often where it was called last.
inline Call *known_call(Key key)
{
    if (now && now->last_child && now->last_child->call->key == key)
        return now->last_child->call;
    const auto known = calls.find(key);
    return known != calls.end() ? known->second : nullptr;
}

// The call of FRAME, whose code is CODE.
__attribute__((noinline)) Call *new_call(Key key, Frame *frame, Object *code)
{
    const Held file(py.attribute(code, "co_filename")), name(py.attribute(code, "co_name"));

    py.take(code);
    held.push_back(code);
    return add_call(key,
                    shortened(file.text()) + "(" + std::to_string(py.line(frame)) +
                        "): " + name.text(),
                    -1);
}

// The call of the module that is `self` in FRAME; NULL: it is none.
__attribute__((noinline)) Call *module_call(Frame *frame)
{
    const Held locals(py.locals(frame));
    const Held self(locals.o ? py.item(locals.o, "self") : nullptr);

    if (!self.o)
        return nullptr;
    const Key key{self.o, -2};
    if (Call *known = known_call(key))
        return known;
    const std::string name = Held(py.attribute(self.o, "__class__")).attribute("__name__");
    const int64_t number = classes[name]++;
    py.take(self.o);
    held.push_back(self.o);
    return add_call(key, "nn.Module: " + name + "_" + std::to_string(number), number);
}

Call *call_of(Frame *frame)
{
    const Held code(py.code(frame));
    Call *call = code.o == module_code ? module_call(frame) : nullptr;

    if (call)
        return call;
    const Key key{code.o, py.last(frame)};
    Call *const known = known_call(key);
    return known ? known : new_call(key, frame, code.o);
}

Call *call_of_builtin(Object *function)
{
    const Key key{function->method, -3};
    Call *const known = known_call(key);

    return known ? known : add_call(key, Held(py.repr(function)).text(), -1);
}

// CALL inside of PARENT; NULL once there are too many.
Node *child_of(Node *parent, Call *call)
{
    if (parent->last_child && parent->last_child->call == call)
        return parent->last_child;
    const auto known = nodes.find(Key{parent, reinterpret_cast<intptr_t>(call)});
    Node *node = known != nodes.end() ? known->second : nullptr;

    if (!node) {
        if (nodes.size() >= kNodes)
            return nullptr;
        node = new Node{parent, call, nullptr, 0};
        nodes[Key{parent, reinterpret_cast<intptr_t>(call)}] = node;
    }
    return parent->last_child = node;
}

// --- calls and returns ---------------------------------------------------------------------

void enter(Call *call)
{
    Node *child = now ? child_of(now, call) : nullptr;
    static const char key[] = "Python module id";

    depth++;
    if (!child || depth >= kDepth || depth != first_recorded + 1)
        return;
    if (!range_begin(OSC_SCOPE_PYTHON, call->name, &levels[depth]))
        return;
    first_recorded = depth;
    now = child;
    if (call->module >= 0)
        osc_arg_i64(osc_name_c(key), call->module);
}

void leave()
{
    if (depth == 0)
        return; // of a call that began before
    if (depth == first_recorded) {
        range_end(&levels[depth]);
        first_recorded--;
        now = now->parent;
    }
    depth--;
}

int on_event(Object *, Frame *frame, int what, Object *argument)
{
    if (mine != running)
        return 0; // another thread has stopped
    if (what == kReturn || what == kCReturn || what == kCException) {
        leave();
    } else if (what == kCall || what == kCCall) {
        Object *type, *value, *trace;

        py.fetch(&type, &value, &trace);
        enter(what == kCall ? call_of(frame) : call_of_builtin(argument));
        py.restore(type, value, trace);
    }
    return 0;
}

// The calls that are open, the outermost first.
void enter_open()
{
    std::vector<Frame *> frames;

    for (Frame *f = py.current(); f; f = py.back(f)) {
        if (frames.empty())
            py.take(f); // the others are ours already
        frames.push_back(f);
    }
    for (size_t i = frames.size(); i-- > 0;) {
        enter(call_of(frames[i]));
        py.release(frames[i]);
    }
}

void find_module_code()
{
    const Held module(py.module("torch.nn.modules.module"));
    const Held type(module.o ? py.attribute(module.o, "Module") : nullptr);
    const Held function(type.o ? py.attribute(type.o, "__call__") : nullptr);

    module_code = function.o ? py.attribute(function.o, "__code__") : nullptr;
    if (!module_code)
        py.clear();
}

// Of NODE and all around it, each with a semicolon.
std::string stack_text(const Node *node)
{
    std::string text;

    for (; node->parent; node = node->parent) {
        text += node->call->text;
        text += ';';
    }
    return text;
}

} // namespace

bool python_start(const char *cut)
{
    if (!find_all())
        return false;
    prefixes.clear();
    for (const char *p = cut, *end; p && (end = strchr(p, '\n')); p = end + 1)
        prefixes.emplace_back(p, end);
    find_module_code();
    mine = running = ++n_sessions;
    now = &root;
    depth = first_recorded = 0;
    enter_open();
    py.set_profile(on_event, nullptr);
    return true;
}

void python_stop()
{
    if (mine == running) {
        py.set_profile(nullptr, nullptr);
        while (depth > 0)
            leave();
        now = nullptr;
    }
    running = 0;
    for (const auto &n : nodes)
        delete n.second;
    for (const auto &c : calls)
        delete c.second;
    nodes.clear();
    calls.clear();
    root.last_child = nullptr;
    for (Object *o : held)
        py.release(o);
    held.clear();
    classes.clear();
    if (module_code)
        py.release(module_code);
    module_code = nullptr;
}

osc_name python_stack()
{
    Node *node = now;

    if (mine != running || !node || !node->parent)
        return 0;
    if (node->stack == 0) {
        const std::string text = stack_text(node);

        node->stack = osc_name_of(text.data(), text.size());
    }
    return node->stack;
}

} // namespace osc_torch
