/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _frames.c - tables in columns, and their memory, for Python.
 *
 * Values are never copied: a Buffer gives access to those of a frame and keeps the frame alive,
 * even if the traces are freed. _table.py makes arrays of them.
 */
#include "_reading.h"

#include <string.h>

/* --- buffers: memory of a frame ------------------------------------------------------------
 */

struct buffer {
    PyObject_HEAD PyObject *frame; /* owned; keeps the memory alive */
    const void *at;
    const char *format;  /* of one element, as in the module struct; static */
    Py_ssize_t n, width; /* number of elements, and bytes of each */
};

static PyTypeObject *buffer_type;

/* For types that only this file makes; Python 3.9 has no flag that says so. */
static PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs;
    PyErr_Format(PyExc_TypeError, "cannot create %R", type);
    return NULL;
}

static void buffer_dealloc(PyObject *self)
{
    Py_XDECREF(((struct buffer *)self)->frame);
    opscope_free(self);
}

static int buffer_get(PyObject *self, Py_buffer *view, int flags)
{
    static const uint64_t nothing[1];
    struct buffer *const b = (struct buffer *)self;

    if (flags & PyBUF_WRITABLE) {
        PyErr_SetString(PyExc_BufferError, "tables cannot be written to");
        return -1;
    }
    *view = (Py_buffer){
        /* The cast is safe: the view is read-only. */
        .buf = (void *)(uintptr_t)(b->n > 0 ? b->at : nothing),
        .obj = Py_NewRef(self),
        .len = b->n * b->width,
        .itemsize = b->width,
        .readonly = 1,
        .ndim = 1,
        .format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)b->format : NULL,
        .shape = flags & PyBUF_ND ? &b->n : NULL,
        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &b->width : NULL,
    };
    return 0;
}

static Py_ssize_t buffer_length(PyObject *self)
{
    return ((struct buffer *)self)->n;
}

static PyType_Slot buffer_slots[] = {
    {Py_tp_new, (void *)refuse_new},
    {Py_tp_dealloc, (void *)buffer_dealloc},
    {Py_bf_getbuffer, (void *)buffer_get},
    {Py_sq_length, (void *)buffer_length},
    {Py_tp_doc, "Values of one column, to be read through the buffer protocol."},
    {0, NULL},
};
static PyType_Spec buffer_spec = {
    .name = "opscope._opscope.Buffer",
    .basicsize = sizeof(struct buffer),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = buffer_slots,
};

/* --- frames ------------------------------------------------------------------------------- */

struct frame {
    PyObject_HEAD struct osc_frame *f; /* held */
};

static PyTypeObject *frame_type;

static void frame_dealloc(PyObject *self)
{
    osc_frame_release(((struct frame *)self)->f);
    opscope_free(self);
}

static PyObject *make_buffer(PyObject *frame, const void *at, const char *format,
                             Py_ssize_t width)
{
    struct buffer *const b = PyObject_New(struct buffer, buffer_type);

    if (!b)
        return NULL;
    b->frame = Py_NewRef(frame);
    b->at = at;
    b->format = format;
    b->width = width;
    b->n = (Py_ssize_t)osc_frame_rows(((struct frame *)frame)->f);
    return (PyObject *)b;
}

/* Get the column of the frame with INDEX; -1 and an exception if there is none. */
static int get_column(PyObject *self, PyObject *index, struct osc_frame_column *col)
{
    const struct frame *const frame = (struct frame *)self;
    const Py_ssize_t i = PyNumber_AsSsize_t(index, PyExc_IndexError);

    if (i == -1 && PyErr_Occurred())
        return -1;
    if (i < 0 || (size_t)i >= osc_frame_columns(frame->f)) {
        PyErr_SetString(PyExc_IndexError, "there is no such column");
        return -1;
    }
    *col = osc_frame_column_at(frame->f, (size_t)i);
    return 0;
}

static PyObject *frame_column(PyObject *self, PyObject *index)
{
    static const char *const types[] = {"string", "integer", "number", "boolean"};
    struct osc_frame_column col;

    if (get_column(self, index, &col) != 0)
        return NULL;
    return Py_BuildValue("sszsK", col.name, types[col.type], col.unit, col.help,
                         (unsigned long long)col.n_missing);
}

static PyObject *frame_values(PyObject *self, PyObject *index)
{
    static const struct {
        const char *format;
        Py_ssize_t width;
    } forms[] = {[OSC_TYPE_STRING] = {"i", sizeof(int32_t)},
                 [OSC_TYPE_INTEGER] = {"q", sizeof(int64_t)},
                 [OSC_TYPE_NUMBER] = {"d", sizeof(double)},
                 [OSC_TYPE_BOOLEAN] = {"?", sizeof(uint8_t)}};
    struct osc_frame_column col;

    if (get_column(self, index, &col) != 0)
        return NULL;
    return make_buffer(self, col.values, forms[col.type].format, forms[col.type].width);
}

static PyObject *frame_missing(PyObject *self, PyObject *index)
{
    struct osc_frame_column col;

    if (get_column(self, index, &col) != 0)
        return NULL;
    if (!col.missing)
        Py_RETURN_NONE;
    return make_buffer(self, col.missing, "?", 1);
}

static PyObject *frame_words(PyObject *self, PyObject *index)
{
    struct osc_frame_column col;

    if (get_column(self, index, &col) != 0)
        return NULL;
    PyObject *const words = PyTuple_New((Py_ssize_t)col.n_words);
    for (uint32_t i = 0; words && i < col.n_words; i++) {
        const int64_t from = col.word_offsets[i], to = col.word_offsets[i + 1];
        PyObject *const word =
            PyUnicode_DecodeUTF8(col.word_bytes + from, (Py_ssize_t)(to - from), NULL);

        if (!word) {
            Py_DECREF(words);
            return NULL;
        }
        (void)PyTuple_SetItem(words, (Py_ssize_t)i, word); /* takes the reference */
    }
    return words;
}

static PyObject *frame_name(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(osc_frame_name(((struct frame *)self)->f));
}

static PyObject *frame_notes(PyObject *self, void *closure)
{
    (void)closure;
    const char *const notes = osc_frame_notes(((struct frame *)self)->f);

    return PyUnicode_DecodeUTF8(notes, (Py_ssize_t)strlen(notes), "replace");
}

static PyObject *frame_fingerprint(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(osc_frame_fingerprint(((struct frame *)self)->f));
}

static PyObject *frame_rows(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(osc_frame_rows(((struct frame *)self)->f));
}

static PyObject *frame_n_columns(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(osc_frame_columns(((struct frame *)self)->f));
}

/* --- frames as Arrow: capsules of the PyCapsule interface ------------------------------------
 */

#define DESTROY(type, name, text)                                   \
    static void destroy_##name(PyObject *capsule)                   \
    {                                                               \
        struct type *const p = PyCapsule_GetPointer(capsule, text); \
                                                                    \
        if (p && p->release)                                        \
            p->release(p);                                          \
        PyMem_Free(p);                                              \
    }

DESTROY(ArrowSchema, schema, "arrow_schema")
DESTROY(ArrowArray, array, "arrow_array")
DESTROY(ArrowArrayStream, stream, "arrow_array_stream")

/* Make a capsule NAME of P, if filling P succeeded with ST; otherwise set an exception and free
 * P. */
static PyObject *to_capsule(void *p, osc_status st, const char *name,
                            void (*destroy)(PyObject *))
{
    PyObject *const capsule = st == OSC_OK ? PyCapsule_New(p, name, destroy) : PyErr_NoMemory();

    if (!capsule)
        PyMem_Free(p);
    return capsule;
}

static PyObject *arrow_schema(PyObject *self, PyObject *none)
{
    struct ArrowSchema *const p = PyMem_Calloc(1, sizeof *p);

    (void)none;
    return to_capsule(p, p ? osc_frame_schema(((struct frame *)self)->f, p) : OSC_ENOMEM,
                      "arrow_schema", destroy_schema);
}

/* Ignore a request for another schema: the interface lets the consumer convert by itself. */
static int ignore_wish(PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"requested_schema", NULL};
    PyObject *wish;

    return PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &wish) ? 0 : -1;
}

static PyObject *arrow_array(PyObject *self, PyObject *args, PyObject *kwargs)
{
    if (ignore_wish(args, kwargs) != 0)
        return NULL;
    struct ArrowArray *const p = PyMem_Calloc(1, sizeof *p);
    PyObject *const array =
        to_capsule(p, p ? osc_frame_array(((struct frame *)self)->f, p) : OSC_ENOMEM,
                   "arrow_array", destroy_array);
    PyObject *const schema = array ? arrow_schema(self, NULL) : NULL;

    if (!schema) {
        Py_XDECREF(array);
        return NULL;
    }
    return Py_BuildValue("NN", schema, array);
}

static PyObject *arrow_stream(PyObject *self, PyObject *args, PyObject *kwargs)
{
    if (ignore_wish(args, kwargs) != 0)
        return NULL;
    struct ArrowArrayStream *const p = PyMem_Calloc(1, sizeof *p);

    return to_capsule(p, p ? osc_frame_stream(((struct frame *)self)->f, p) : OSC_ENOMEM,
                      "arrow_array_stream", destroy_stream);
}

static PyMethodDef frame_methods[] = {
    {"column", frame_column, METH_O,
     "column(i) -> (name, type, unit, help, n_missing)\n\n"
     "Describe column i; type is string, integer, number or boolean, unit None or ns, bytes, "
     "..."},
    {"values", frame_values, METH_O,
     "values(i) -> Buffer\n\n"
     "The n_rows values of column i: int64, float64, bool, or int32 codes of words, -1 where "
     "missing."},
    {"missing", frame_missing, METH_O,
     "missing(i) -> Buffer or None\n\nFor each row whether column i has no value; None: it has "
     "all."},
    {"words", frame_words, METH_O,
     "words(i) -> tuple of str\n\nThe words that the codes of column i stand for."},
    {"__arrow_c_schema__", arrow_schema, METH_NOARGS, "The type as an Arrow capsule."},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))arrow_array,
     METH_VARARGS | METH_KEYWORDS, "Schema and all rows as Arrow capsules, without a copy."},
    {"__arrow_c_stream__", (PyCFunction)(void (*)(void))arrow_stream,
     METH_VARARGS | METH_KEYWORDS, "All rows as the one batch of an Arrow stream capsule."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef frame_getset[] = {
    {"name", frame_name, NULL, "Name of the table.", NULL},
    {"notes", frame_notes, NULL, "What there is to say about it, lines; or \"\".", NULL},
    {"fingerprint", frame_fingerprint, NULL, "What it rests on, 32 hexadecimal digits.", NULL},
    {"n_rows", frame_rows, NULL, "How many rows it has.", NULL},
    {"n_columns", frame_n_columns, NULL, "How many columns it has.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot frame_slots[] = {
    {Py_tp_new, (void *)refuse_new},
    {Py_tp_dealloc, (void *)frame_dealloc},
    {Py_tp_methods, frame_methods},
    {Py_tp_getset, frame_getset},
    {Py_tp_doc, "A finished table in columns; it never changes."},
    {0, NULL},
};
static PyType_Spec frame_spec = {
    .name = "opscope._opscope.Frame",
    .basicsize = sizeof(struct frame),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = frame_slots,
};

PyObject *opscope_make_frame(osc_status st, struct osc_frame *f, const struct osc_err *err)
{
    PyObject *const made = st == OSC_OK ? (PyObject *)PyObject_New(struct frame, frame_type)
                                        : opscope_fail(st, err);

    if (made)
        ((struct frame *)made)->f = f;
    else
        osc_frame_release(f);
    return made;
}

int opscope_add_frames(PyObject *module)
{
    buffer_type = opscope_add_type(module, &buffer_spec);
    frame_type = opscope_add_type(module, &frame_spec);
    return buffer_type && frame_type ? 0 : -1;
}
