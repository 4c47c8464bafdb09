/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _traces.c - traces that were loaded, and questions about them, for Python.
 *
 * Threading: the GIL is released while traces are read and tables are made.
 */
#include "_reading.h"

#include <stdlib.h>
#include <string.h>

PyTypeObject *opscope_traces_type;

struct traces {
    PyObject_HEAD struct osc_set *set; /* held */
    struct words paths;                /* those that were opened */
    struct options options;
};

static void traces_dealloc(PyObject *self)
{
    struct traces *const traces = (struct traces *)self;

    osc_set_release(traces->set);
    opscope_free_words(&traces->paths);
    opscope_free_options(&traces->options);
    opscope_free(self);
}

/* The progress callback: handle signals, such as an interrupt, while C reads. */
static int check_signals(void *ctx, const char *path, uint64_t done_bytes, uint64_t total_bytes)
{
    const PyGILState_STATE state = PyGILState_Ensure();
    const int stops = PyErr_CheckSignals() != 0;

    (void)ctx;
    (void)path;
    (void)done_bytes;
    (void)total_bytes;
    PyGILState_Release(state);
    return stops;
}

/* Open the paths of SELF as HOW says. The GIL is not held. */
static osc_status open_set(const struct traces *self, const struct osc_how *how,
                           struct osc_set **set, struct osc_err *err)
{
    struct osc_how heard = *how;

    heard.only = &self->options.request.view;
    heard.progress = check_signals;
    return osc_set_open(set, self->paths.all, (size_t)self->paths.n, &heard, err);
}

static PyObject *traces_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"paths", "options", NULL};
    PyObject *path_list, *option_list;
    struct osc_err err = {0};
    osc_status st = OSC_OK;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO", names, &path_list, &option_list))
        return NULL;
    struct traces *const self = (struct traces *)PyType_GenericAlloc(type, 0);
    if (!self)
        return NULL;
    if (opscope_get_words(path_list, &self->paths) == 0 &&
        opscope_get_options(option_list, OSC_PART_HOW | OSC_PART_VIEW, &self->options) == 0) {
        Py_BEGIN_ALLOW_THREADS
        st = open_set(self, &self->options.request.how, &self->set, &err);
        Py_END_ALLOW_THREADS
        if (st != OSC_OK)
            opscope_fail(st, &err);
    }
    if (PyErr_Occurred()) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

/*
 * Ask the question R. The answer is a frame *F or, if F is NULL, text. Files that were read
 * with other arguments or another limit are read again. The GIL is not held.
 */
static osc_status ask(const struct traces *self, const struct osc_request *r,
                      struct osc_frame **f, struct osc_err *err)
{
    struct osc_how how = self->options.request.how;
    struct osc_set *own = NULL;
    osc_status st = OSC_OK;

    if (r->how.no_args || r->how.max_memory_bytes || r->how.one_by_one) {
        how.no_args |= r->how.no_args;
        how.one_by_one |= r->how.one_by_one;
        how.max_memory_bytes =
            r->how.max_memory_bytes ? r->how.max_memory_bytes : how.max_memory_bytes;
        st = open_set(self, &how, &own, err);
    }
    struct osc_set *const set = own ? own : self->set;
    if (st == OSC_OK)
        st = f ? osc_ask(set, &r->view, &r->question, f, err)
               : osc_ask_text(set, &r->view, &r->question, &r->text, err);
    osc_set_release(own);
    return st;
}

static PyObject *traces_table(PyObject *self, PyObject *args)
{
    struct options options = {0};
    struct osc_frame *f = NULL;
    struct osc_err err = {0};
    osc_status st = OSC_OK;
    PyObject *list, *made = NULL;
    const char *name;

    if (!PyArg_ParseTuple(args, "sO", &name, &list))
        return NULL;
    if (opscope_get_options(list, OSC_PART_HOW | OSC_PART_VIEW | OSC_PART_QUESTION, &options) ==
        0) {
        options.request.question.table = name;
        Py_BEGIN_ALLOW_THREADS
        st = ask((struct traces *)self, &options.request, &f, &err);
        Py_END_ALLOW_THREADS
        made = opscope_make_frame(st, f, &err);
    }
    opscope_free_options(&options);
    return made;
}

static PyObject *traces_text(PyObject *self, PyObject *args)
{
    struct options options = {0};
    struct osc_err err = {0};
    struct text to = {0};
    osc_status st = OSC_OK;
    PyObject *list, *made = NULL;
    const char *name;

    if (!PyArg_ParseTuple(args, "sO", &name, &list))
        return NULL;
    if (opscope_get_options(list, ~0u, &options) == 0) {
        options.request.question.table = name;
        options.request.text.write = opscope_add_text;
        options.request.text.ctx = &to;
        Py_BEGIN_ALLOW_THREADS
        st = ask((struct traces *)self, &options.request, NULL, &err);
        Py_END_ALLOW_THREADS
        made = st == OSC_OK ? PyUnicode_DecodeUTF8(to.s, (Py_ssize_t)to.len, "replace")
                            : opscope_fail(st, &err);
    }
    opscope_free_options(&options);
    free(to.s);
    return made;
}

static PyObject *traces_part(PyObject *self, PyObject *args)
{
    struct options options = {0};
    struct osc_err err = {0};
    struct text to = {0};
    osc_status st = OSC_OK;
    PyObject *list, *made = NULL;
    const char *name;

    if (!PyArg_ParseTuple(args, "sO", &name, &list))
        return NULL;
    if (opscope_get_options(list, OSC_PART_VIEW | OSC_PART_QUESTION, &options) == 0) {
        const struct osc_request *const r = &options.request;

        options.request.question.table = name;
        Py_BEGIN_ALLOW_THREADS
        st = osc_ask_part(((struct traces *)self)->set, &r->view, &r->question,
                          opscope_add_text, &to, &err);
        Py_END_ALLOW_THREADS
        made = st == OSC_OK ? PyBytes_FromStringAndSize(to.s, (Py_ssize_t)to.len)
                            : opscope_fail(st, &err);
    }
    opscope_free_options(&options);
    free(to.s);
    return made;
}

static PyObject *traces_refresh(PyObject *self, PyObject *none)
{
    struct osc_changes changes = {0};
    struct osc_err err = {0};
    osc_status st = OSC_OK;

    (void)none;
    Py_BEGIN_ALLOW_THREADS
    st = osc_set_refresh(((struct traces *)self)->set, &changes, &err);
    Py_END_ALLOW_THREADS
    if (st != OSC_OK)
        return opscope_fail(st, &err);
    return Py_BuildValue("III", changes.n_kept, changes.n_read, changes.n_gone);
}

static PyObject *traces_said(PyObject *self, void *closure)
{
    (void)closure;
    const char *const said = osc_set_notes(((struct traces *)self)->set);

    return PyUnicode_DecodeUTF8(said, (Py_ssize_t)strlen(said), "replace");
}

static PyMethodDef traces_methods[] = {
    {"table", traces_table, METH_VARARGS,
     "table(name, options) -> Frame\n\n"
     "Table NAME; options are pairs of a name, as `opscope table` has it, and a value."},
    {"text", traces_text, METH_VARARGS,
     "text(name, options) -> str\n\nWhat `opscope table` prints, with format too."},
    {"part", traces_part, METH_VARARGS,
     "part(name, options) -> bytes\n\nThe answer as a part, for merge()."},
    {"refresh", traces_refresh, METH_NOARGS,
     "refresh() -> (kept, read, gone)\n\nRead what has changed; how many traces."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef traces_getset[] = {
    {"said", traces_said, NULL, "What there was to say when they were last read, or \"\".",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot traces_slots[] = {
    {Py_tp_new, (void *)traces_new},
    {Py_tp_dealloc, (void *)traces_dealloc},
    {Py_tp_methods, traces_methods},
    {Py_tp_getset, traces_getset},
    {Py_tp_doc,
     "Traces(paths, options)\n\nRead traces; options are those of `opscope table` that "
     "say what to read."},
    {0, NULL},
};
static PyType_Spec traces_spec = {
    .name = "opscope._opscope.Traces",
    .basicsize = sizeof(struct traces),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = traces_slots,
};

struct osc_set *opscope_traces_set(PyObject *self)
{
    return ((struct traces *)self)->set;
}

int opscope_add_traces(PyObject *module)
{
    opscope_traces_type = opscope_add_type(module, &traces_spec);
    return opscope_traces_type ? 0 : -1;
}
