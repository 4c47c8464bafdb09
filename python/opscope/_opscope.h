/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _opscope.h - functions shared by the files of the extension.
 *
 * Threading: called with the GIL held.
 */
#ifndef OPSCOPE_PYTHON_OPSCOPE_H
#define OPSCOPE_PYTHON_OPSCOPE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Create the type of SPEC and add it to MODULE. NULL: an exception is set. */
PyTypeObject *opscope_add_type(PyObject *module, PyType_Spec *spec);

/* Add the functions and types of _record.c to MODULE; -1: an exception is set. */
int opscope_add_record(PyObject *module);

#endif
