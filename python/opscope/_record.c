/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _record.c - opscope/record.h for Python.
 *
 * A scope is an object whose name was interned once; entering and leaving it are two calls of C
 * without an allocation. Recording never raises: a value that cannot be written is left out.
 * While nothing records, a call reads one word and returns.
 *
 * Threading: any thread, with the GIL held; it is released to start, stop and dump.
 */
#include "_opscope.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <opscope/record.h>

/* Interned names: str -> int. Cleared when full, because a program may make ever new names. */
#define NAMES_MAX 65536
static PyObject *names;

/* --- names and values ------------------------------------------------------------------- */

/* Encode TEXT, a str, as UTF-8; lone surrogates pass through. NULL: an exception. */
static PyObject *encode(PyObject *text)
{
    return PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
}

/* The name of TEXT, a str; 0 without an exception if it cannot be interned. */
static osc_name intern(PyObject *text)
{
    PyObject *const known = PyDict_GetItemWithError(names, text);
    osc_name name = 0;
    PyObject *number;

    if (known)
        return (osc_name)PyLong_AsUnsignedLong(known);
    PyObject *const bytes = PyErr_Occurred() ? NULL : encode(text);
    if (bytes)
        name = osc_name_of(PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
    Py_XDECREF(bytes);
    number = name != 0 ? PyLong_FromUnsignedLong(name) : NULL;
    if (PyDict_Size(names) >= NAMES_MAX)
        PyDict_Clear(names);
    if (number && PyDict_SetItem(names, text, number) != 0)
        PyErr_Clear();
    Py_XDECREF(number);
    PyErr_Clear();
    return name;
}

/* Record VALUE if it is a list or tuple of integers; 0: it is not, and nothing was recorded. */
static int put_list(osc_name key, PyObject *value)
{
    int64_t numbers[384];
    const int is_list = PyList_Check(value);
    const Py_ssize_t n = is_list ? PyList_Size(value) : PyTuple_Size(value);

    for (Py_ssize_t i = 0; i < n && i < 384; i++) {
        PyObject *const item = is_list ? PyList_GetItem(value, i) : PyTuple_GetItem(value, i);
        int overflow = 0;

        if (!PyLong_Check(item))
            return 0;
        numbers[i] = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (overflow)
            return 0;
    }
    osc_arg_i64s(key, numbers, (size_t)(n < 384 ? n : 384));
    return 1;
}

static void put_text(osc_name key, PyObject *value)
{
    PyObject *const text = PyObject_Str(value);
    PyObject *const bytes = text ? encode(text) : NULL;

    if (bytes)
        osc_arg_text(key, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
    Py_XDECREF(bytes);
    Py_XDECREF(text);
}

/* Record the argument KEY, a str, of the innermost scope. */
static void put_arg(PyObject *key, PyObject *value)
{
    const osc_name name = intern(key);
    int overflow = 0;

    if (PyBool_Check(value)) {
        osc_arg_bool(name, value == Py_True);
    } else if (PyLong_Check(value)) {
        const long long v = PyLong_AsLongLongAndOverflow(value, &overflow);

        if (overflow)
            put_text(name, value);
        else
            osc_arg_i64(name, v);
    } else if (PyFloat_Check(value)) {
        osc_arg_f64(name, PyFloat_AsDouble(value));
    } else if ((!PyList_Check(value) && !PyTuple_Check(value)) || !put_list(name, value)) {
        put_text(name, value);
    }
    PyErr_Clear();
}

static void put_args(PyObject *args)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;

    while (args && PyDict_Next(args, &at, &key, &value))
        put_arg(key, value);
}

/* --- scopes ------------------------------------------------------------------------------- */

static const char *const kinds[OSC_SCOPE_KIND_COUNT] = {
    [OSC_SCOPE_PLAIN] = "plain",
    [OSC_SCOPE_OPERATOR] = "operator",
    [OSC_SCOPE_ANNOTATION] = "annotation",
    [OSC_SCOPE_MODULE] = "module",
    [OSC_SCOPE_RUNTIME] = "runtime",
    [OSC_SCOPE_DRIVER] = "driver",
    [OSC_SCOPE_COMMUNICATION] = "communication",
    [OSC_SCOPE_DATALOADER] = "dataloader",
    [OSC_SCOPE_OPTIMIZER] = "optimizer",
    [OSC_SCOPE_PYTHON] = "python",
    [OSC_SCOPE_OVERHEAD] = "overhead",
};

/* The kind with the name TEXT, or -1 and an exception. */
static int find_kind(PyObject *text)
{
    for (int i = 0; PyUnicode_Check(text) && i < OSC_SCOPE_KIND_COUNT; i++) {
        if (PyUnicode_CompareWithASCIIString(text, kinds[i]) == 0)
            return i;
    }
    PyErr_Format(
        PyExc_ValueError,
        "unknown kind %R; the kinds are plain, operator, annotation, module, runtime, driver, "
        "communication, dataloader, optimizer, python and overhead",
        text);
    return -1;
}

struct scope {
    PyObject_HEAD PyObject *name; /* owned; a str */
    PyObject *args;               /* owned; a dict, or NULL */
    enum osc_scope_kind kind;
    osc_name id; /* of the name; 0: not interned yet */
    osc_category category;
    int level;
};

static osc_name id_of(struct scope *s)
{
    Py_ssize_t len;

    if (s->id == 0 && s->category == 0) {
        s->id = intern(s->name);
    } else if (s->id == 0) {
        const char *const text = PyUnicode_AsUTF8AndSize(s->name, &len);

        PyErr_Clear(); /* text that is no UTF-8 is in no category */
        s->id = text ? osc_name_in(s->category, text, (size_t)len) : intern(s->name);
    }
    return s->id;
}

/* Take category and level out of the arguments of S; -1 and an exception if they are wrong. */
static int take_category(struct scope *s)
{
    PyObject *const category = PyDict_GetItemString(s->args, "category");
    const char *text;
    Py_ssize_t len;

    if (!category)
        return 0;
    PyObject *const level = PyDict_GetItemString(s->args, "level");
    const long number = level ? PyLong_AsLong(level) : 1;

    if (number == -1 && PyErr_Occurred())
        return -1;
    if (number < 1 || number > 127) {
        PyErr_SetString(PyExc_ValueError, "scope: level must be from 1 to 127");
        return -1;
    }
    text = PyUnicode_Check(category) ? PyUnicode_AsUTF8AndSize(category, &len) : NULL;
    if (!text) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "scope: category must be a str");
        return -1;
    }
    s->category = osc_category_of(text);
    s->level = (int)number;
    if (level)
        (void)PyDict_DelItemString(s->args, "level");
    return PyDict_DelItemString(s->args, "category");
}

static void scope_dealloc(PyObject *self)
{
    Py_XDECREF(((struct scope *)self)->name);
    Py_XDECREF(((struct scope *)self)->args);
    opscope_free(self);
}

static PyObject *scope_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *const name = PyTuple_Size(args) == 1 ? PyTuple_GetItem(args, 0) : NULL;
    PyObject *kind = NULL;

    if (name && !PyUnicode_Check(name) && !kwargs) /* record.Scope was used as a decorator */
        return PyObject_CallMethod((PyObject *)type, "_of", "O", name);
    if (!name || !PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "scope(name, *, kind=\"plain\", **args) takes a str");
        return NULL;
    }
    struct scope *const s = (struct scope *)PyType_GenericAlloc(type, 0);
    if (!s)
        return NULL;
    s->name = Py_NewRef(name);
    if (kwargs && PyDict_Size(kwargs) > 0)
        s->args = PyDict_Copy(kwargs);
    if (s->args)
        kind = PyDict_GetItemString(s->args, "kind");
    if (kind) {
        const int found = find_kind(kind);

        s->kind = found < 0 ? OSC_SCOPE_PLAIN : (enum osc_scope_kind)found;
        if (found >= 0)
            (void)PyDict_DelItemString(s->args, "kind");
    }
    if (PyErr_Occurred() || (s->args && take_category(s) < 0)) {
        Py_DECREF(s);
        return NULL;
    }
    if (s->args && PyDict_Size(s->args) == 0)
        Py_CLEAR(s->args);
    return (PyObject *)s;
}

/* Whether S is recorded now. */
static int is_wanted(const struct scope *s)
{
    return s->category == 0 ? osc_is_on() : osc_wants(s->category, s->level);
}

static PyObject *scope_enter(PyObject *self, PyObject *none)
{
    struct scope *const s = (struct scope *)self;

    (void)none;
    if (is_wanted(s)) {
        osc_scope_begin(s->kind, id_of(s));
        if (s->args)
            put_args(s->args);
    } else {
        osc_scope_skip(); /* its end may come after it is switched on */
    }
    return Py_NewRef(self);
}

static PyObject *scope_exit(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    (void)self;
    (void)args;
    (void)n;
    osc_end();
    Py_RETURN_NONE;
}

/* Ranges of coroutines and generators overlap on a thread: each has an id of its own. */
static PyObject *scope_begin_async(PyObject *self, PyObject *none)
{
    static uint64_t last;
    struct scope *const s = (struct scope *)self;

    (void)none;
    if (!is_wanted(s))
        return PyLong_FromLong(0);
    osc_async_begin(s->kind, id_of(s), ++last);
    if (s->args)
        put_args(s->args);
    return PyLong_FromUnsignedLongLong(last);
}

static PyObject *scope_end_async(PyObject *self, PyObject *id)
{
    struct scope *const s = (struct scope *)self;
    const unsigned long long number = PyLong_AsUnsignedLongLong(id);

    if (PyErr_Occurred())
        return NULL;
    if (number != 0 && osc_is_on())
        osc_async_end(s->kind, id_of(s), number);
    Py_RETURN_NONE;
}

static PyObject *scope_name(PyObject *self, void *closure)
{
    (void)closure;
    return Py_NewRef(((struct scope *)self)->name);
}

static PyObject *scope_kind(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(kinds[((struct scope *)self)->kind]);
}

static PyMethodDef scope_methods[] = {
    {"__enter__", scope_enter, METH_NOARGS, "Begin the scope on this thread."},
    {"__exit__", (PyCFunction)(void (*)(void))scope_exit, METH_FASTCALL,
     "End the innermost scope of this thread."},
    {"begin_async", scope_begin_async, METH_NOARGS,
     "begin_async() -> int\n\nBegin a range that may overlap others; 0: nothing records."},
    {"end_async", scope_end_async, METH_O, "end_async(id)\n\nEnd the range of begin_async()."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef scope_getset[] = {
    {"name", scope_name, NULL, "What it is called.", NULL},
    {"kind", scope_kind, NULL, "plain, operator, module, ...", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot scope_slots[] = {
    {Py_tp_new, (void *)scope_new},
    {Py_tp_dealloc, (void *)scope_dealloc},
    {Py_tp_methods, scope_methods},
    {Py_tp_getset, scope_getset},
    {Py_tp_doc,
     "Scope(name, *, kind=\"plain\", **args)\n\nA scope to enter and leave, as often "
     "as wanted, on any threads."},
    {0, NULL},
};
static PyType_Spec scope_spec = {
    .name = "opscope._opscope.Scope",
    .basicsize = sizeof(struct scope),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = scope_slots,
};

/* --- instants, counters, steps ------------------------------------------------------------ */

static PyObject *instant(PyObject *module, PyObject *args, PyObject *kwargs)
{
    PyObject *name;

    (void)module;
    if (!PyArg_ParseTuple(args, "U:instant", &name))
        return NULL;
    if (osc_is_on()) {
        osc_scope_instant(intern(name));
        put_args(kwargs);
    }
    Py_RETURN_NONE;
}

#define MOST_DIMENSIONS 64

/* The number that O is, or that a tensor or an array has alone: a new reference; NULL without
 * an exception: there is none. Nothing is converted: that would wait for the device of a
 * tensor. */
static PyObject *only_number(PyObject *o)
{
    Py_INCREF(o);
    for (int depth = 0; o && !PyLong_Check(o) && !PyFloat_Check(o); depth++) {
        const bool can_be = PyNumber_Check(o) && !PyComplex_Check(o) && depth < MOST_DIMENSIONS;
        const Py_ssize_t n = can_be ? PyObject_Size(o) : 0;

        PyErr_Clear(); /* scalars have no length */
        if (n < 0)
            return o;
        PyObject *const first = n == 1 ? PySequence_GetItem(o, 0) : NULL;
        PyErr_Clear();
        Py_DECREF(o);
        o = first;
    }
    return o;
}

/* Record NUMBER, of only_number(). */
static int add_sample(PyObject *name, PyObject *number)
{
    if (PyLong_Check(number)) {
        int overflow = 0;
        const long long v = PyLong_AsLongLongAndOverflow(number, &overflow);

        if (!overflow) {
            osc_counter_i64(intern(name), v);
            return 0;
        }
    }
    const double v = PyFloat_AsDouble(number);
    if (v == -1.0 && PyErr_Occurred())
        return -1;
    osc_counter_f64(intern(name), v);
    return 0;
}

static PyObject *counter(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    PyObject *number = NULL;

    (void)module;
    if (n == 2 && PyUnicode_Check(args[0]))
        number = only_number(args[1]);
    /* An error also where nothing records: no program fails only because it is recorded. */
    if (!number) {
        PyErr_SetString(PyExc_TypeError, "counter(name, value) takes a str and a number");
        return NULL;
    }
    const int failed = osc_is_on() ? add_sample(args[0], number) : 0;
    Py_DECREF(number);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *add_args(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    if (!PyArg_ParseTuple(args, ":args"))
        return NULL;
    if (osc_is_on())
        put_args(kwargs);
    Py_RETURN_NONE;
}

static bool has_own_steps; /* the program called step(); the GIL guards it */

static PyObject *step(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    uint64_t number;

    has_own_steps = true;
    Py_BEGIN_ALLOW_THREADS /* sources report when a window ends */
    number = osc_step();
    Py_END_ALLOW_THREADS
    return PyLong_FromUnsignedLongLong(number);
}

static PyObject *marks_steps(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    return PyBool_FromLong(has_own_steps);
}

static PyObject *step_end(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    osc_step_end();
    Py_RETURN_NONE;
}

static PyObject *thread_name(PyObject *module, PyObject *args)
{
    const char *name;

    (void)module;
    if (!PyArg_ParseTuple(args, "s:thread_name", &name))
        return NULL;
    osc_thread_name(name);
    Py_RETURN_NONE;
}

static PyObject *process_name(PyObject *module, PyObject *args)
{
    const char *name;

    (void)module;
    if (!PyArg_ParseTuple(args, "s:process_name", &name))
        return NULL;
    osc_process_name(name);
    Py_RETURN_NONE;
}

static PyObject *metadata(PyObject *module, PyObject *args)
{
    const char *key, *value;

    (void)module;
    if (!PyArg_ParseTuple(args, "ss:metadata", &key, &value))
        return NULL;
    osc_metadata(key, value);
    Py_RETURN_NONE;
}

/* --- start and stop ----------------------------------------------------------------------- */

/* Return None, or set an exception for the status ST of WHAT. */
static PyObject *end(osc_status st, const char *what)
{
    if (st == OSC_OK)
        Py_RETURN_NONE;
    if (st == OSC_ENOMEM)
        return PyErr_NoMemory();
    if (st == OSC_EINVAL)
        PyErr_Format(PyExc_RuntimeError, "%s: opscope is already recording", what);
    else
        PyErr_Format(PyExc_OSError, "%s: the recording cannot be written", what);
    return NULL;
}

/* end() for osc_start(), with its reason. */
static PyObject *end_start(osc_status st)
{
    if (st == OSC_EIO)
        return PyErr_Format(PyExc_OSError, "start: %s", osc_start_reason());
    if (st == OSC_EINVAL && osc_recording_path()[0] == '\0')
        return PyErr_Format(PyExc_ValueError, "start: %s", osc_start_reason());
    return end(st, "start");
}

static PyObject *dict_of(const struct osc_losses *l)
{
    return Py_BuildValue("{sKsKsKsK}", "full", (unsigned long long)l->full, "too_big",
                         (unsigned long long)l->too_big, "nested",
                         (unsigned long long)l->nested, "late", (unsigned long long)l->late);
}

static PyObject *lost_function; /* of the last recording; NULL: none */
static int is_begun;            /* by start(), and stop() has not ended it */
static int is_telling;          /* the library's thread is calling it */
static int is_exiting;          /* it is not called any more: the interpreter ends */

/* Call FUNCTION, on the library's own thread. */
static void tell_lost(void *function, const struct osc_losses *losses)
{
    /* seq_cst, here and below: either this thread sees that the interpreter ends, or that one
     * waits for it. */
    __atomic_store_n(&is_telling, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&is_exiting, __ATOMIC_SEQ_CST)) {
        const PyGILState_STATE state = PyGILState_Ensure();
        PyObject *const dict = dict_of(losses);
        PyObject *const done = dict ? PyObject_CallFunctionObjArgs(function, dict, NULL) : NULL;

        if (!done)
            PyErr_WriteUnraisable(function);
        Py_XDECREF(done);
        Py_XDECREF(dict);
        PyGILState_Release(state);
    }
    __atomic_store_n(&is_telling, 0, __ATOMIC_SEQ_CST);
}

/* A thread that waits for an interpreter that ends would be ended, too. */
static PyObject *tell_no_more(PyObject *module, PyObject *none)
{
    const struct timespec ms = {.tv_nsec = 1000000};

    (void)module, (void)none;
    __atomic_store_n(&is_exiting, 1, __ATOMIC_SEQ_CST);
    Py_BEGIN_ALLOW_THREADS
    /* In the child of a fork nobody may be there to end it. */
    for (int i = 0; i < 1000 && __atomic_load_n(&is_telling, __ATOMIC_SEQ_CST); i++)
        nanosleep(&ms, NULL);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject *start(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *words[] = {"out",           "schedule",      "buffer_bytes", "limit_bytes",
                            "flight_ns",     "flight_steps",  "slow_step",    "dump_signal",
                            "toggle_signal", "dump_on_crash", "lost",         NULL};
    unsigned long long buffer_bytes = 0, limit_bytes = 0, flight_ns = 0, flight_steps = 0;
    unsigned long long steps[6] = {0};
    PyObject *out = Py_None, *schedule = Py_None, *lost = Py_None, *path = NULL;
    struct osc_start_options options = {.size = sizeof options};
    osc_status st = OSC_OK;

    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOKKKKdiipO:start", words, &out,
                                     &schedule, &buffer_bytes, &limit_bytes, &flight_ns,
                                     &flight_steps, &options.slow_step, &options.dump_signal,
                                     &options.toggle_signal, &options.dump_on_crash, &lost))
        return NULL;
    if (schedule != Py_None && !PyArg_ParseTuple(schedule, "KKKKKK", &steps[0], &steps[1],
                                                 &steps[2], &steps[3], &steps[4], &steps[5]))
        return NULL;
    if (out != Py_None && !PyUnicode_FSConverter(out, &path))
        return NULL;
    const struct osc_schedule plan = {steps[0], steps[1], steps[2],
                                      steps[3], steps[4], steps[5]};
    options.out = path ? PyBytes_AsString(path) : NULL;
    options.schedule = schedule != Py_None ? &plan : NULL;
    options.buffer_bytes = buffer_bytes;
    options.limit_bytes = limit_bytes;
    options.flight_ns = flight_ns;
    options.flight_steps = flight_steps;
    options.lost = lost != Py_None ? tell_lost : NULL;
    options.ctx = lost;
    Py_INCREF(lost);
    Py_BEGIN_ALLOW_THREADS
    st = osc_start(&options);
    Py_END_ALLOW_THREADS
    Py_XDECREF(path);
    /* The recording before this one has ended, and its function is not called any more. */
    Py_XDECREF(st == OSC_OK ? lost_function : lost);
    if (st == OSC_OK)
        lost_function = lost;
    /* relaxed, here and below: the caller starts, stops and asks one after the other. */
    if (st == OSC_OK)
        __atomic_store_n(&is_begun, 1, __ATOMIC_RELAXED);
    return end_start(st);
}

/* Whether there is nothing to stop, and nobody has switched that off, or will begin at the
 * first event because OPSCOPE_OUT is set. */
static bool is_stopped(void)
{
    const char *const how = getenv("OPSCOPE");

    return !__atomic_load_n(&is_begun, __ATOMIC_RELAXED) && osc_recording_path()[0] == '\0' &&
           !getenv("OPSCOPE_OUT") && !(how && strcmp(how, "0") == 0);
}

static PyObject *stop(PyObject *module, PyObject *none)
{
    osc_status st = OSC_OK;

    (void)module;
    (void)none;
    if (is_stopped() &&
        PyErr_WarnEx(PyExc_RuntimeWarning,
                     "stop: opscope is not recording; opscope.record.start() begins", 1) != 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = osc_stop();
    Py_END_ALLOW_THREADS
    __atomic_store_n(&is_begun, 0, __ATOMIC_RELAXED);
    return end(st, "stop");
}

static PyObject *is_started(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyBool_FromLong(__atomic_load_n(&is_begun, __ATOMIC_RELAXED));
}

static PyObject *dump(PyObject *module, PyObject *none)
{
    osc_status st = OSC_OK;

    (void)module;
    (void)none;
    Py_BEGIN_ALLOW_THREADS
    st = osc_dump();
    Py_END_ALLOW_THREADS
    return end(st, "dump");
}

static PyObject *pause_all(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    osc_pause();
    Py_RETURN_NONE;
}

static PyObject *resume(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    osc_resume();
    Py_RETURN_NONE;
}

static PyObject *is_on(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    return PyBool_FromLong(osc_is_on());
}

static PyObject *losses(PyObject *module, PyObject *none)
{
    struct osc_losses l = {0};

    (void)module;
    (void)none;
    osc_losses_get(&l);
    return dict_of(&l);
}

static PyObject *path(PyObject *module, PyObject *none)
{
    const char *const at = osc_recording_path();

    (void)module;
    (void)none;
    if (at[0] == '\0')
        Py_RETURN_NONE;
    return PyUnicode_DecodeFSDefault(at);
}

/* What osc_enable() and osc_sample() share. */
static PyObject *follow(PyObject *args, osc_status (*change)(const char *), const char *what)
{
    const char *list;

    if (!PyArg_ParseTuple(args, "s", &list))
        return NULL;
    const osc_status st = change(list);

    if (st == OSC_EINVAL)
        return PyErr_Format(PyExc_ValueError, "%s: '%s' is no such list", what, list);
    if (st != OSC_OK)
        return PyErr_Format(PyExc_RuntimeError, "%s: %s", what, osc_status_text(st));
    Py_RETURN_NONE;
}

static PyObject *enable(PyObject *module, PyObject *args)
{
    (void)module;
    return follow(args, osc_enable, "enable");
}

static PyObject *sample(PyObject *module, PyObject *args)
{
    (void)module;
    return follow(args, osc_sample, "sample");
}

#define WITH_KEYS(function) \
    (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

/* --- garbage collections ---------------------------------------------------------------- */

static unsigned long collecting_thread; /* the thread whose collections are scopes */
static int is_collecting;               /* a scope is open on that thread */

static PyObject *watch_collections(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    collecting_thread = PyThread_get_thread_ident();
    is_collecting = 0;
    Py_RETURN_NONE;
}

/* In C, so that it does not appear as a Python call in the recording. */
static PyObject *collection(PyObject *module, PyObject *args)
{
    const char *phase;
    PyObject *info;

    (void)module;
    if (!PyArg_ParseTuple(args, "sO", &phase, &info))
        return NULL;
    if (PyThread_get_thread_ident() != collecting_thread)
        Py_RETURN_NONE;
    if (is_collecting)
        osc_scope_end();
    is_collecting = strcmp(phase, "start") == 0;
    if (is_collecting)
        osc_scope_begin(OSC_SCOPE_PYTHON, osc_name_c("Python GC"));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"instant", WITH_KEYS(instant), "instant(name, **args)\n\nRecord that something happened."},
    {"counter", (PyCFunction)(void (*)(void))counter, METH_FASTCALL,
     "counter(name, value)\n\nRecord a sample of a counter."},
    {"args", WITH_KEYS(add_args), "args(**args)\n\nAdd arguments to the innermost scope."},
    {"step", step, METH_NOARGS,
     "step() -> int\n\nBegin the next step and return its number. The first of the process is "
     "0; "
     "later\nrecordings continue the count."},
    {"step_end", step_end, METH_NOARGS, "step_end()\n\nEnd the last step."},
    {"thread_name", thread_name, METH_VARARGS,
     "thread_name(name)\n\nSet the name of this thread."},
    {"process_name", process_name, METH_VARARGS,
     "process_name(name)\n\nSet the name of this process."},
    {"metadata", metadata, METH_VARARGS,
     "metadata(key, value)\n\nRecord a fact about the whole recording."},
    {"start", WITH_KEYS(start), "start(**options)\n\nBegin to record."},
    {"stop", stop, METH_NOARGS,
     "stop()\n\nEnd the recording and write all of it. RuntimeWarning: there is none."},
    {"marks_steps", marks_steps, METH_NOARGS,
     "marks_steps() -> bool\n\nWhether the program has called step()."},
    {"is_started", is_started, METH_NOARGS,
     "is_started() -> bool\n\nWhether start() began what records, rather than OPSCOPE_OUT."},
    {"dump", dump, METH_NOARGS, "dump()\n\nWrite what is in memory now."},
    {"enable", enable, METH_VARARGS,
     "enable(categories)\n\nChange the levels of categories of scopes: \"io\" (level 1), "
     "\"io:3\" (level 3), \"-io\" (off), or several of them, separated by commas, of which "
     "later ones win. A name that ends with * stands for all that begin so. Also of "
     "categories that are made later.\n\nValueError: it is no such list."},
    {"sample", sample, METH_VARARGS,
     "sample(scopes)\n\nRecord some of the calls of hot scopes of kind plain: \"parse=100\" "
     "(one in 100 calls, at random), \"parse=5000/s\" (fewer while a thread records more in a "
     "second), \"parse=1\" (all), or several of them, as in enable(). What is recorded says "
     "for how many calls it stands, and tables count it so often.\n\nValueError: it is no "
     "such list."},
    {"pause", pause_all, METH_NOARGS, "pause()\n\nStop recording for a while."},
    {"resume", resume, METH_NOARGS, "resume()\n\nRecord again."},
    {"is_on", is_on, METH_NOARGS,
     "is_on() -> bool\n\nWhether a recording runs, also while it is paused or between "
     "windows."},
    {"watch_collections", watch_collections, METH_NOARGS,
     "watch_collections()\n\nWhat collection() is told on this thread is recorded."},
    {"collection", collection, METH_VARARGS,
     "collection(phase, info)\n\nA garbage collection: one of gc.callbacks."},
    {"losses", losses, METH_NOARGS,
     "losses() -> dict\n\nNumber of records lost so far, by cause."},
    {"path", path, METH_NOARGS,
     "path() -> str | None\n\nThe absolute path of the file that is being recorded, or of its "
     "first part; None if nothing\nrecords."},
    {"tell_no_more", tell_no_more, METH_NOARGS,
     "tell_no_more()\n\nWait for calls of the function for losses, and make no more."},
    {NULL, NULL, 0, NULL},
};

int opscope_add_record(PyObject *module)
{
    names = PyDict_New();
    return names && opscope_add_type(module, &scope_spec) &&
                   PyModule_AddFunctions(module, methods) == 0
               ? 0
               : -1;
}
