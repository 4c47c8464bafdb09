/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _reading.h - what the files of the extension share that read traces.
 *
 *   _frames.c       tables in columns, and their memory
 *   _options.c      options of Python for C
 *   _traces.c       traces that were loaded, and questions about them
 *   _comparison.c   questions about two of them
 *
 * Threading: called with the GIL held.
 */
#ifndef OPSCOPE_PYTHON_READING_H
#define OPSCOPE_PYTHON_READING_H

#include "_opscope.h"

#include <opscope/trace.h>

/* --- errors ------------------------------------------------------------------------------- */

/* Set the exception for ST and ERR, unless an interrupt has set one. Returns NULL. */
PyObject *opscope_fail(osc_status st, const struct osc_err *err);

/* --- frames ------------------------------------------------------------------------------- */

/* The frame F, which it takes, as an object; if ST is a failure, as opscope_fail(). */
PyObject *opscope_make_frame(osc_status st, struct osc_frame *f, const struct osc_err *err);

/* Add the types of _frames.c to MODULE; -1: an exception is set. */
int opscope_add_frames(PyObject *module);

/* --- texts and options -------------------------------------------------------------------- */

/* A sequence of texts for C. Zeroed, it is empty. */
struct words {
    PyObject **held;  /* owned, each a reference to bytes */
    const char **all; /* owned; borrowed from held */
    Py_ssize_t n;
};

/* Convert LIST, a list or tuple of str or paths, to W, encoded for the file system. -1: an
 * exception is set; W is to be freed in any case. */
int opscope_get_words(PyObject *list, struct words *w);
void opscope_free_words(struct words *w);

/* Options for C, and the texts that they borrow. Zeroed, there are none. */
struct options {
    struct osc_request request;
    PyObject *held; /* owned; a list of bytes */
};

/* Set in O the options in LIST: pairs of a name among PARTS and a value or None. -1: an
 * exception is set; O is to be freed in any case. */
int opscope_get_options(PyObject *list, unsigned parts, struct options *o);
void opscope_free_options(struct options *o);

/* A buffer for bytes that C writes, also without the GIL. Zeroed, it is empty; free(s). */
struct text {
    char *s; /* owned */
    size_t len, cap;
};

/* As osc_layout.write: append to CTX, a struct text. */
int opscope_add_text(void *ctx, const char *s, size_t len);

/* --- traces ------------------------------------------------------------------------------- */

extern PyTypeObject *opscope_traces_type;

/* The set of SELF, an object of that type; borrowed. */
struct osc_set *opscope_traces_set(PyObject *self);

/* Add the type of _traces.c and the functions of _comparison.c to MODULE; -1: an exception is
 * set. */
int opscope_add_traces(PyObject *module);
int opscope_add_comparison(PyObject *module);

#endif
