/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _opscope.c - opscope/trace.h for Python: traces, frames, and their memory.
 *
 * A thin layer: options are names and values, which osc_request_set() turns into structs, and
 * _table.py makes arrays of columns. Values are never copied: a Buffer gives access to those of
 * a frame and keeps the frame alive, even if the traces are freed.
 *
 * Threading: the GIL is released while traces are read and tables are made.
 */
#include "_opscope.h"

#include <stdlib.h>
#include <string.h>

#include <opscope/trace.h>

static PyObject *trace_error; /* opscope.TraceError */

/* --- words ------------------------------------------------------------------------------ */

/* A sequence of texts for C. Zeroed, it is empty. */
struct words {
    PyObject **held;  /* owned, each a reference to bytes */
    const char **all; /* owned; borrowed from held */
    Py_ssize_t n;
};

static void free_words(struct words *w)
{
    for (Py_ssize_t i = 0; i < w->n; i++)
        Py_XDECREF(w->held[i]);
    PyMem_Free(w->held);
    PyMem_Free((void *)w->all);
}

/* Convert LIST, a list or tuple of str or paths, to W, encoded for the file system. */
static int get_words(PyObject *list, struct words *w)
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

/* Options for C, and the texts that they borrow. Zeroed, there are none. */
struct options {
    struct osc_request request;
    PyObject *held; /* owned; a list of bytes */
};

static void free_options(struct options *o)
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

/* Set in O the options in LIST: pairs of a name among PARTS and a value or None. */
static int get_options(PyObject *list, unsigned parts, struct options *o)
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

/* --- traces ------------------------------------------------------------------------------- */

struct traces {
    PyObject_HEAD struct osc_set *set; /* held */
    struct words paths;                /* those that were opened */
    struct options options;
};

static void traces_dealloc(PyObject *self)
{
    struct traces *const traces = (struct traces *)self;

    osc_set_release(traces->set);
    free_words(&traces->paths);
    free_options(&traces->options);
    opscope_free(self);
}

/* Set the exception for ST and ERR. Returns NULL. */
static PyObject *fail(osc_status st, const struct osc_err *err)
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
    if (get_words(path_list, &self->paths) == 0 &&
        get_options(option_list, OSC_PART_HOW | OSC_PART_VIEW, &self->options) == 0) {
        Py_BEGIN_ALLOW_THREADS
        st = open_set(self, &self->options.request.how, &self->set, &err);
        Py_END_ALLOW_THREADS
        if (st != OSC_OK)
            fail(st, &err);
    }
    if (PyErr_Occurred()) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

/* A buffer for text that is being written; the GIL is not held. */
struct text {
    char *s; /* owned */
    size_t len, cap;
};

static int add_text(void *ctx, const char *s, size_t len)
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
    if (get_options(list, OSC_PART_HOW | OSC_PART_VIEW | OSC_PART_QUESTION, &options) == 0) {
        options.request.question.table = name;
        Py_BEGIN_ALLOW_THREADS
        st = ask((struct traces *)self, &options.request, &f, &err);
        Py_END_ALLOW_THREADS
        made =
            st == OSC_OK ? (PyObject *)PyObject_New(struct frame, frame_type) : fail(st, &err);
        if (made)
            ((struct frame *)made)->f = f;
        else
            osc_frame_release(f);
    }
    free_options(&options);
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
    if (get_options(list, ~0u, &options) == 0) {
        options.request.question.table = name;
        options.request.text.write = add_text;
        options.request.text.ctx = &to;
        Py_BEGIN_ALLOW_THREADS
        st = ask((struct traces *)self, &options.request, NULL, &err);
        Py_END_ALLOW_THREADS
        made = st == OSC_OK ? PyUnicode_DecodeUTF8(to.s, (Py_ssize_t)to.len, "replace")
                            : fail(st, &err);
    }
    free_options(&options);
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
    if (get_options(list, OSC_PART_VIEW | OSC_PART_QUESTION, &options) == 0) {
        const struct osc_request *const r = &options.request;

        options.request.question.table = name;
        Py_BEGIN_ALLOW_THREADS
        st = osc_ask_part(((struct traces *)self)->set, &r->view, &r->question, add_text, &to,
                          &err);
        Py_END_ALLOW_THREADS
        made =
            st == OSC_OK ? PyBytes_FromStringAndSize(to.s, (Py_ssize_t)to.len) : fail(st, &err);
    }
    free_options(&options);
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
        return fail(st, &err);
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

/* --- the module --------------------------------------------------------------------------- */

static PyObject *catalog(PyObject *module, PyObject *none)
{
    PyObject *const list = PyList_New(0);

    (void)module;
    (void)none;
    for (size_t i = 0; list && osc_catalog_name(i); i++) {
        PyObject *const pair = Py_BuildValue("ss", osc_catalog_name(i), osc_catalog_help(i));

        if (!pair || PyList_Append(list, pair) != 0) {
            Py_XDECREF(pair);
            Py_DECREF(list);
            return NULL;
        }
        Py_DECREF(pair);
    }
    return list;
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
    PyObject *const made =
        st == OSC_OK ? (PyObject *)PyObject_New(struct frame, frame_type) : fail(st, &err);
    if (made)
        ((struct frame *)made)->f = f;
    else
        osc_frame_release(f);
    return made;
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
     "catalog() -> list of (name, help)\n\nThe tables that there are."},
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
    buffer_type = opscope_add_type(module, &buffer_spec);
    frame_type = opscope_add_type(module, &frame_spec);
    if (!trace_error || PyModule_AddObjectRef(module, "TraceError", trace_error) != 0 ||
        !buffer_type || !frame_type || !opscope_add_type(module, &traces_spec) ||
        PyModule_AddStringConstant(module, "version", OSC_VERSION) != 0 ||
        opscope_add_record(module) != 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
