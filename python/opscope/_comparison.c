/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _comparison.c - tables that compare two runs, and gates, for Python.
 *
 * Threading: the GIL is released while tables are made.
 */
#include "_reading.h"

#include <stdlib.h>

/* What the arguments (base, new, name, options) of a function ask for. */
struct comparing {
    PyObject *base, *new_;  /* borrowed; objects of opscope_traces_type */
    struct options options; /* owned */
};

/* Read ARGS into C. -1: an exception is set. The options are to be freed in any case. */
static int get_comparing(PyObject *args, unsigned parts, struct comparing *c)
{
    PyObject *list;
    const char *name;

    if (!PyArg_ParseTuple(args, "O!O!zO", opscope_traces_type, &c->base, opscope_traces_type,
                          &c->new_, &name, &list) ||
        opscope_get_options(list, parts, &c->options) != 0)
        return -1;
    c->options.request.question.table = name;
    return 0;
}

static PyObject *compare(PyObject *module, PyObject *args)
{
    struct comparing c = {.base = NULL};
    const struct osc_request *const r = &c.options.request;
    struct osc_frame *f = NULL;
    struct osc_err err = {0};
    osc_status st = OSC_OK;
    PyObject *made = NULL;

    (void)module;
    if (get_comparing(args, OSC_PART_VIEW | OSC_PART_QUESTION, &c) == 0) {
        struct osc_set *const base = opscope_traces_set(c.base);
        struct osc_set *const new_ = opscope_traces_set(c.new_);

        Py_BEGIN_ALLOW_THREADS
        st = osc_compare(base, new_, &r->view, &r->question, &f, &err);
        Py_END_ALLOW_THREADS
        made = opscope_make_frame(st, f, &err);
    }
    opscope_free_options(&c.options);
    return made;
}

static PyObject *compare_text(PyObject *module, PyObject *args)
{
    struct comparing c = {.base = NULL};
    struct osc_request *const r = &c.options.request;
    struct osc_err err = {0};
    struct text to = {0};
    osc_status st = OSC_OK;
    PyObject *made = NULL;

    (void)module;
    if (get_comparing(args, OSC_PART_VIEW | OSC_PART_QUESTION | OSC_PART_TEXT, &c) == 0) {
        struct osc_set *const base = opscope_traces_set(c.base);
        struct osc_set *const new_ = opscope_traces_set(c.new_);

        r->text.write = opscope_add_text;
        r->text.ctx = &to;
        Py_BEGIN_ALLOW_THREADS
        st = osc_compare_text(base, new_, &r->view, &r->question, &r->text, &err);
        Py_END_ALLOW_THREADS
        made = st == OSC_OK ? PyUnicode_DecodeUTF8(to.s, (Py_ssize_t)to.len, "replace")
                            : opscope_fail(st, &err);
    }
    opscope_free_options(&c.options);
    free(to.s);
    return made;
}

static PyObject *gate(PyObject *module, PyObject *args)
{
    struct comparing c = {.base = NULL};
    struct osc_gating how = {.gate = NULL};
    struct osc_verdict v = {.text = NULL};
    struct osc_err err = {0};
    osc_status st = OSC_OK;
    PyObject *list, *made = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!(ssszp)O", opscope_traces_type, &c.base,
                          opscope_traces_type, &c.new_, &how.gate, &how.base_name,
                          &how.new_name, &how.report, &how.allow_different, &list))
        return NULL;
    if (opscope_get_options(list, OSC_PART_VIEW, &c.options) == 0) {
        struct osc_set *const base = opscope_traces_set(c.base);
        struct osc_set *const new_ = opscope_traces_set(c.new_);

        Py_BEGIN_ALLOW_THREADS
        st = osc_compare_gate(base, new_, &c.options.request.view, &how, &v, &err);
        Py_END_ALLOW_THREADS
        if (st == OSC_ENOTFOUND)
            st = OSC_EINVAL; /* the gate names what neither run has */
        made = st == OSC_OK ? Py_BuildValue("iiss", v.is_broken, v.knows_significance, v.text,
                                            v.report ? v.report : "")
                            : opscope_fail(st, &err);
    }
    opscope_free_options(&c.options);
    osc_verdict_fini(&v);
    return made;
}

static PyMethodDef functions[] = {
    {"compare", compare, METH_VARARGS,
     "compare(base, new, name, options) -> Frame\n\n"
     "Table NAME, which compares two runs, of the Traces BASE and NEW."},
    {"compare_text", compare_text, METH_VARARGS,
     "compare_text(base, new, name, options) -> str\n\n"
     "The same as `opscope diff` prints it; NAME is None: sentences and all tables."},
    {"gate", gate, METH_VARARGS,
     "gate(base, new, (gate, base_name, new_name, report, allow_different), options)"
     " -> (is_broken, knows_significance, text, report)\n\n"
     "Evaluate a gate; the report is xml, md or None, and then \"\"."},
    {NULL, NULL, 0, NULL},
};

int opscope_add_comparison(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
