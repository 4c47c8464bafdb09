/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _opscope.c - the extension: its functions that need no trace, its types and its errors.
 *
 * The other files are thin layers over the public headers: _record.c over opscope/record.h,
 * those named in _reading.h over opscope/trace.h.
 */
#include "_reading.h"

#include <stdlib.h>
#include <string.h>

static PyObject *trace_error; /* opscope.TraceError */

PyObject *opscope_fail(osc_status st, const struct osc_err *err)
{
    PyObject *type = trace_error;

    if (PyErr_Occurred()) /* an interrupt stopped it */
        return NULL;
    if (st == OSC_EINVAL)
        type = PyExc_ValueError;
    else if (st == OSC_ENOMEM || st == OSC_ELIMIT)
        type = PyExc_MemoryError;
    PyObject *const text =
        PyUnicode_DecodeUTF8(err->message, (Py_ssize_t)strlen(err->message), "replace");
    if (text)
        PyErr_SetObject(type, text);
    Py_XDECREF(text);
    return NULL;
}

/* The tables that NAME and HELP, which take an index, list. */
static PyObject *list_tables(const char *(*name)(size_t), const char *(*help)(size_t))
{
    PyObject *const list = PyList_New(0);

    for (size_t i = 0; list && name(i); i++) {
        PyObject *const pair = Py_BuildValue("ss", name(i), help(i));

        if (!pair || PyList_Append(list, pair) != 0) {
            Py_XDECREF(pair);
            Py_DECREF(list);
            return NULL;
        }
        Py_DECREF(pair);
    }
    return list;
}

static PyObject *catalog(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    return list_tables(osc_catalog_name, osc_catalog_help);
}

static PyObject *comparisons(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    return list_tables(osc_catalog_comparison_name, osc_catalog_comparison_help);
}

static PyObject *nearest_column(PyObject *module, PyObject *args)
{
    const char *table, *column;

    (void)module;
    if (!PyArg_ParseTuple(args, "ss", &table, &column))
        return NULL;
    return Py_BuildValue("z", osc_catalog_nearest(table, column));
}

static PyObject *flops(PyObject *module, PyObject *args)
{
    const char *name, *arguments;
    Py_ssize_t len; /* a trace may have names with '\0' */

    (void)module;
    if (!PyArg_ParseTuple(args, "s#s", &name, &len, &arguments))
        return NULL;
    return PyLong_FromUnsignedLongLong(
        strlen(name) == (size_t)len ? osc_operator_flops(name, arguments) : 0);
}

/* Make the frame of the N PARTS. */
static PyObject *merge_parts(const struct osc_part *parts, size_t n)
{
    struct osc_frame *f = NULL;
    struct osc_err err = {0};
    osc_status st = OSC_OK;

    Py_BEGIN_ALLOW_THREADS
    st = osc_merge(parts, n, &f, &err);
    Py_END_ALLOW_THREADS
    return opscope_make_frame(st, f, &err);
}

static PyObject *merge(PyObject *module, PyObject *list)
{
    PyObject *made = NULL;

    (void)module;
    if (!PyTuple_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "merge() takes a tuple of bytes");
        return NULL;
    }
    const Py_ssize_t n = PyTuple_Size(list);
    struct osc_part *const parts = calloc((size_t)n + 1, sizeof *parts);
    if (!parts)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n && !PyErr_Occurred(); i++) {
        char *bytes = NULL;
        Py_ssize_t len = 0;

        if (PyBytes_AsStringAndSize(PyTuple_GetItem(list, i), &bytes, &len) == 0)
            parts[i] = (struct osc_part){"a part", bytes, (size_t)len};
    }
    if (!PyErr_Occurred())
        made = merge_parts(parts, (size_t)n);
    free(parts);
    return made;
}

static PyObject *gzip_file(PyObject *module, PyObject *args)
{
    PyObject *from, *to;
    struct osc_err err = {0};
    osc_status st = OSC_EINVAL;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&O&", PyUnicode_FSConverter, &from, PyUnicode_FSConverter,
                          &to))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    st = osc_gzip_file(PyBytes_AsString(from), PyBytes_AsString(to), &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(from);
    Py_DECREF(to);
    if (st == OSC_OK || st == OSC_EINVAL)
        return PyBool_FromLong(st == OSC_OK);
    PyErr_SetString(PyExc_OSError, err.message);
    return NULL;
}

static PyMethodDef module_methods[] = {
    {"gzip_file", gzip_file, METH_VARARGS,
     "gzip_file(source, target) -> bool\n\n"
     "Write the file `source`, compressed, to `target`. False: it was built without gzip."},
    {"flops", flops, METH_VARARGS,
     "flops(name, args) -> int\n\n"
     "Torch's estimate of the operations of one call, from the JSON object of its arguments."},
    {"merge", merge, METH_O,
     "merge(parts) -> Frame\n\nThe table of all PARTS, a tuple of bytes from part()."},
    {"catalog", catalog, METH_NOARGS,
     "catalog() -> list of (name, help)\n\nThe tables of one trace."},
    {"nearest_column", nearest_column, METH_VARARGS,
     "nearest_column(table, column) -> str or None\n\nThe column of TABLE that a wrong name "
     "may mean."},
    {"comparisons", comparisons, METH_NOARGS,
     "comparisons() -> list of (name, help)\n\nThe tables of two."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "opscope._opscope",
    .m_doc = "Traces and the recorder, as C has them.",
    .m_size = -1,
    .m_methods = module_methods,
};

PyTypeObject *opscope_add_type(PyObject *module, PyType_Spec *spec)
{
    PyTypeObject *const type = (PyTypeObject *)PyType_FromSpec(spec);

    if (type && PyModule_AddType(module, type) != 0) {
        Py_DECREF(type);
        return NULL;
    }
    return type;
}

PyMODINIT_FUNC PyInit__opscope(void)
{
    PyObject *const module = PyModule_Create(&module_def);

    if (!module)
        return NULL;
    trace_error =
        PyErr_NewExceptionWithDoc("opscope.TraceError", "A trace cannot be read.", NULL, NULL);
    if (!trace_error || PyModule_AddObjectRef(module, "TraceError", trace_error) != 0 ||
        opscope_add_frames(module) != 0 || opscope_add_traces(module) != 0 ||
        opscope_add_comparison(module) != 0 ||
        PyModule_AddStringConstant(module, "version", OSC_VERSION) != 0 ||
        opscope_add_record(module) != 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
