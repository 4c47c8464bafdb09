/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames as Arrow arrays (opscope/trace.h, the C data and stream interfaces).
 *
 * Consumers may move any child out of its parent and release both in any order, from any
 * thread. So each node owns its memory and holds its own reference to the frame.
 */
#include "opscope/trace.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"

/* --- schemas -------------------------------------------------------------------------- */

static void release_schema(struct ArrowSchema *s)
{
    for (int64_t i = 0; i < s->n_children; i++) {
        if (s->children[i] && s->children[i]->release)
            s->children[i]->release(s->children[i]);
        osc_free(s->children[i]);
    }
    if (s->dictionary && s->dictionary->release)
        s->dictionary->release(s->dictionary);
    osc_free(s->dictionary);
    osc_free(s->children);
    osc_free(s->private_data); /* its metadata */
    s->release = NULL;
}

static void start_schema(struct ArrowSchema *s, const char *name, const char *format)
{
    *s = (struct ArrowSchema){.format = format,
                              .name = name,
                              .flags = ARROW_FLAG_NULLABLE,
                              .release = release_schema};
}

static void add_counted(struct osc_strbuf *out, const char *text)
{
    const int32_t len = (int32_t)strlen(text);

    osc_strbuf_add(out, (const char *)&len, sizeof len);
    osc_strbuf_adds(out, text);
}

/* Add unit and help in Arrow's layout of pairs: their number, then each text after its
 * length. */
static osc_status add_metadata(struct ArrowSchema *s, const struct osc_frame_column *col)
{
    const int32_t n = col->unit ? 2 : 1;
    struct osc_strbuf out = {0};

    osc_strbuf_add(&out, (const char *)&n, sizeof n);
    add_counted(&out, "help");
    add_counted(&out, col->help);
    if (col->unit) {
        add_counted(&out, "unit");
        add_counted(&out, col->unit);
    }
    if (out.status != OSC_OK) {
        osc_strbuf_fini(&out);
        return OSC_ENOMEM;
    }
    s->metadata = s->private_data = out.s;
    return OSC_OK;
}

static osc_status fill_schema(struct ArrowSchema *s, const struct osc_frame_column *col)
{
    static const char *const formats[] = {[OSC_TYPE_STRING] = "i",
                                          [OSC_TYPE_INTEGER] = "l",
                                          [OSC_TYPE_NUMBER] = "g",
                                          [OSC_TYPE_BOOLEAN] = "b"};

    start_schema(s, col->name, formats[col->type]);
    if (col->type == OSC_TYPE_STRING) {
        s->dictionary = osc_malloc(sizeof *s->dictionary);
        if (!s->dictionary)
            return OSC_ENOMEM;
        start_schema(s->dictionary, "", "U");
    }
    return add_metadata(s, col);
}

osc_status osc_frame_schema(struct osc_frame *f, struct ArrowSchema *out)
{
    const size_t n = osc_frame_columns(f);
    osc_status st = OSC_OK;

    start_schema(out, osc_frame_name(f), "+s");
    out->flags = 0;
    out->children = osc_calloc(n + 1, sizeof(struct ArrowSchema *));
    if (!out->children)
        st = OSC_ENOMEM;
    for (size_t i = 0; i < n && st == OSC_OK; i++) {
        const struct osc_frame_column col = osc_frame_column_at(f, i);

        out->children[i] = osc_calloc(1, sizeof *out->children[i]);
        out->n_children = (int64_t)i + 1;
        st = out->children[i] ? fill_schema(out->children[i], &col) : OSC_ENOMEM;
    }
    if (st != OSC_OK)
        out->release(out);
    return st;
}

/* --- arrays --------------------------------------------------------------------------- */

/* The memory of a node. */
struct node {
    struct osc_frame *frame; /* held */
    const void *buffers[3];
    uint8_t *valid, *bits; /* owned; bitmaps made of the frame's bytes; or NULL */
};

static void release_array(struct ArrowArray *a)
{
    struct node *const node = a->private_data;

    for (int64_t i = 0; i < a->n_children; i++) {
        if (a->children[i] && a->children[i]->release)
            a->children[i]->release(a->children[i]);
        osc_free(a->children[i]);
    }
    if (a->dictionary && a->dictionary->release)
        a->dictionary->release(a->dictionary);
    osc_free(a->dictionary);
    osc_free(a->children);
    osc_frame_release(node->frame);
    osc_free(node->valid);
    osc_free(node->bits);
    osc_free(node);
    a->release = NULL;
}

/* Make *A an array of LENGTH without children or buffers. OSC_ENOMEM: *A is zeroed. */
static osc_status start_array(struct ArrowArray *a, struct osc_frame *f, uint64_t length)
{
    struct node *const node = osc_calloc(1, sizeof *node);

    *a = (struct ArrowArray){0};
    if (!node)
        return OSC_ENOMEM;
    node->frame = osc_frame_hold(f);
    *a = (struct ArrowArray){.length = (int64_t)length,
                             .buffers = node->buffers,
                             .release = release_array,
                             .private_data = node};
    return OSC_OK;
}

/* A bitmap, lowest bit first: bit i is set if byte i of N equals IS. NULL: out of memory. */
static uint8_t *make_bits(const uint8_t *bytes, uint64_t n, uint8_t is)
{
    uint8_t *const bits = osc_calloc((size_t)(n / 8 + 1), 1);

    for (uint64_t i = 0; bits && i < n; i++)
        bits[i / 8] = (uint8_t)(bits[i / 8] | (bytes[i] == is) << i % 8);
    return bits;
}

static osc_status add_dictionary(struct ArrowArray *a, struct osc_frame *f,
                                 const struct osc_frame_column *col)
{
    osc_status st = OSC_ENOMEM;

    a->dictionary = osc_calloc(1, sizeof *a->dictionary);
    if (a->dictionary)
        st = start_array(a->dictionary, f, col->n_words);
    if (st == OSC_OK) {
        a->dictionary->n_buffers = 3;
        a->dictionary->buffers[1] = col->word_offsets;
        a->dictionary->buffers[2] = col->word_bytes ? col->word_bytes : "";
    }
    return st;
}

static osc_status fill_array(struct ArrowArray *a, struct osc_frame *f,
                             const struct osc_frame_column *col)
{
    static const uint64_t nothing[1]; /* the buffer of a frame without rows */
    const uint64_t n = osc_frame_rows(f);
    osc_status st = start_array(a, f, n);

    if (st != OSC_OK)
        return st;
    struct node *const node = a->private_data;
    a->n_buffers = 2;
    a->null_count = (int64_t)col->n_missing;
    a->buffers[1] = n > 0 ? col->values : nothing;
    if (col->missing) {
        node->valid = make_bits(col->missing, n, 0);
        a->buffers[0] = node->valid;
        st = node->valid ? OSC_OK : OSC_ENOMEM;
    }
    if (st == OSC_OK && col->type == OSC_TYPE_BOOLEAN) {
        node->bits = make_bits(col->values, n, 1);
        a->buffers[1] = node->bits;
        st = node->bits ? OSC_OK : OSC_ENOMEM;
    }
    if (st == OSC_OK && col->type == OSC_TYPE_STRING)
        st = add_dictionary(a, f, col);
    return st;
}

osc_status osc_frame_array(struct osc_frame *f, struct ArrowArray *out)
{
    const size_t n = osc_frame_columns(f);
    osc_status st = start_array(out, f, osc_frame_rows(f));

    if (st != OSC_OK)
        return st;
    out->n_buffers = 1;
    out->children = osc_calloc(n + 1, sizeof(struct ArrowArray *));
    if (!out->children)
        st = OSC_ENOMEM;
    for (size_t i = 0; i < n && st == OSC_OK; i++) {
        const struct osc_frame_column col = osc_frame_column_at(f, i);

        out->children[i] = osc_calloc(1, sizeof *out->children[i]);
        out->n_children = (int64_t)i + 1;
        st = out->children[i] ? fill_array(out->children[i], f, &col) : OSC_ENOMEM;
    }
    if (st != OSC_OK)
        out->release(out);
    return st;
}

/* --- streams -------------------------------------------------------------------------- */

struct stream {
    struct osc_frame *frame; /* held */
    int is_over;
};

static int get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    const struct stream *const stream = s->private_data;

    return osc_frame_schema(stream->frame, out) == OSC_OK ? 0 : ENOMEM;
}

static int get_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    struct stream *const stream = s->private_data;

    *out = (struct ArrowArray){0};
    if (stream->is_over)
        return 0;
    if (osc_frame_array(stream->frame, out) != OSC_OK)
        return ENOMEM;
    stream->is_over = 1;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *s)
{
    (void)s;
    return "out of memory";
}

static void release_stream(struct ArrowArrayStream *s)
{
    struct stream *const stream = s->private_data;

    osc_frame_release(stream->frame);
    osc_free(stream);
    s->release = NULL;
}

osc_status osc_frame_stream(struct osc_frame *f, struct ArrowArrayStream *out)
{
    struct stream *const stream = osc_calloc(1, sizeof *stream);

    *out = (struct ArrowArrayStream){0};
    if (!stream)
        return OSC_ENOMEM;
    stream->frame = osc_frame_hold(f);
    *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = get_last_error,
                                     .release = release_stream,
                                     .private_data = stream};
    return OSC_OK;
}
