/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _opscope.h - functions shared by the files of the extension.
 *
 * The extension uses the limited API of Python 3.11, so one file serves all later versions. 3.9
 * and 3.10, whose limited API has no buffers, need a file each.
 *
 * Threading: called with the GIL held.
 */
#ifndef OPSCOPE_PYTHON_OPSCOPE_H
#define OPSCOPE_PYTHON_OPSCOPE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030a0000
static inline PyObject *Py_NewRef(PyObject *o)
{
    Py_INCREF(o);
    return o;
}

static inline int PyModule_AddObjectRef(PyObject *module, const char *name, PyObject *value)
{
    Py_XINCREF(value);
    const int result = PyModule_AddObject(module, name, value);

    if (result != 0)
        Py_XDECREF(value);
    return result;
}
#endif

/* Free SELF, an object of a type of ours or of a class derived from one. */
static inline void opscope_free(PyObject *self)
{
    PyTypeObject *const type = Py_TYPE(self);

    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Create the type of SPEC and add it to MODULE. NULL: an exception is set. */
PyTypeObject *opscope_add_type(PyObject *module, PyType_Spec *spec);

/* Add the functions and types of _record.c to MODULE; -1: an exception is set. */
int opscope_add_record(PyObject *module);

#endif
