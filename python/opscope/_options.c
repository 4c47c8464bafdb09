/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _options.c - texts and options of Python for C, and texts of C for Python.
 *
 * Options are names and values, which osc_request_set() turns into structs.
 */
#include "_reading.h"

#include <stdlib.h>
#include <string.h>

void opscope_free_words(struct words *w)
{
    for (Py_ssize_t i = 0; i < w->n; i++)
        Py_XDECREF(w->held[i]);
    PyMem_Free(w->held);
    PyMem_Free((void *)w->all);
}

int opscope_get_words(PyObject *list, struct words *w)
{
    PyObject *const all = PySequence_Tuple(list);
    const Py_ssize_t n = all ? PyTuple_Size(all) : 0;

    if (!all)
        return -1;
    w->held = PyMem_Calloc((size_t)n + 1, sizeof *w->held);
    w->all = PyMem_Calloc((size_t)n + 1, sizeof *w->all);
    if (!w->held || !w->all)
        PyErr_NoMemory();
    for (w->n = 0; w->n < n && !PyErr_Occurred(); w->n++) {
        if (PyUnicode_FSConverter(PyTuple_GetItem(all, w->n), &w->held[w->n]))
            w->all[w->n] = PyBytes_AsString(w->held[w->n]);
    }
    Py_DECREF(all);
    return PyErr_Occurred() ? -1 : 0;
}

void opscope_free_options(struct options *o)
{
    Py_XDECREF(o->held);
}

/* The bytes of TEXT, which O keeps alive; NULL: TEXT is None, or an exception is set. */
static const char *hold(struct options *o, PyObject *text)
{
    PyObject *bytes = NULL;

    if (text == Py_None || !PyUnicode_FSConverter(text, &bytes))
        return NULL;
    const int failed = PyList_Append(o->held, bytes);
    Py_DECREF(bytes);
    return failed ? NULL : PyBytes_AsString(bytes);
}

int opscope_get_options(PyObject *list, unsigned parts, struct options *o)
{
    PyObject *const all = PySequence_Tuple(list);
    struct osc_err err = {0};

    o->held = all ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; o->held && i < PyTuple_Size(all); i++) {
        PyObject *name, *value;

        if (!PyArg_ParseTuple(PyTuple_GetItem(all, i), "OO", &name, &value))
            break;
        const char *const name_text = hold(o, name), *const value_text = hold(o, value);
        if (PyErr_Occurred())
            break;
        if (osc_request_set(&o->request, parts, name_text, value_text, &err) != OSC_OK) {
            PyErr_SetString(PyExc_ValueError, err.message);
            break;
        }
    }
    Py_XDECREF(all);
    return PyErr_Occurred() ? -1 : 0;
}

int opscope_add_text(void *ctx, const char *s, size_t len)
{
    struct text *const to = ctx;

    if (len > to->cap - to->len) {
        const size_t cap = to->cap + to->cap / 2 + len + 4096;
        char *const more = realloc(to->s, cap);

        if (!more)
            return -1;
        to->s = more;
        to->cap = cap;
    }
    memcpy(to->s + to->len, s, len);
    to->len += len;
    return 0;
}
