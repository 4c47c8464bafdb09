/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreter.h - functions of the Python interpreter around this library.
 *
 * They are looked up at run time, so that the library can be built and loaded without Python.
 * Of the objects only those parts are used that are the same in all versions.
 *
 * Threading: with the interpreter's lock, except where a function says otherwise.
 */
#pragma once

#include <cstdint>
#include <string>

namespace osc_torch
{

// The head of an object, the method of a built-in, and the name of a type.
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

struct Interpreter {
    void (*set_profile)(Profile, Object *);
    Frame *(*innermost)(Object *);
    Frame *(*back)(Frame *);
    Object *(*code)(Frame *);
    Object *(*locals)(Frame *);
    int (*line)(Frame *); // without the lock, too, if the frame is open in this thread
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
    int (*set_profile_of)(Object *, Profile, Object *);         // of any thread; may be NULL
    int (*next_of)(Object *, intptr_t *, Object **, Object **); // of a dictionary; 0: no more
    intptr_t (*length)(Object *);
    Object *(*element)(Object *, intptr_t);
    void *(*pointer)(Object *); // an integer as one
    int (*stop_collecting)();
    int (*collect)();
    // For the places of calls; the first two without the lock, too, as line().
    int (*instruction)(Frame *); // or, before Python 3.11, its line
    Object *(*own_thread)();     // NULL: this thread has none
    Object *(*new_reference)(Object *, Object *);
    Object *(*referent)(Object *); // borrowed; None if it is dead
};
extern Interpreter py;

/* Look up all functions but those for places of calls. False: there is no Python. */
bool find_interpreter();

/* Look up these. */
bool find_interpreter_places();

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

} // namespace osc_torch
