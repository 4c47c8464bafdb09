/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _opscope.h - what the files of the extension share.
 *
 * Threading: called with the GIL held.
 */
#ifndef OPSCOPE_PYTHON_OPSCOPE_H
#define OPSCOPE_PYTHON_OPSCOPE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Make the type of SPEC and add it to MODULE. NULL: an exception is set. */
PyTypeObject *opscope_add_type(PyObject *module, PyType_Spec *spec);

/* Add what _record.c has to MODULE; -1: an exception is set. */
int opscope_add_record(PyObject *module);

#endif
