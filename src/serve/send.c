/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/send.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "codec/deflate.h"
#include "codec/json.h"
#include "serve/accept.h"

/* The client is looked after so often while it waits for bytes. */
#define PATIENCE_NS INT64_C(100000000)

#define PIECE_BYTES (64u << 10)

/* --- headers --------------------------------------------------------------------- */

static void add(struct MHD_Response *r, const char *name, const char *value)
{
    if (value)
        (void)MHD_add_response_header(r, name, value);
}

/* Add all headers of HEAD, and those that each response has. */
static void add_headers(struct MHD_Response *r, const struct osc_api_head *head)
{
    static const struct osc_send_header always[] = {
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
         "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
    };
    char number[16];

    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        add(r, always[i].name, always[i].value);
    add(r, "Content-Type", head->type);
    add(r, "ETag", head->tag);
    add(r, "Allow", head->allow);
    add(r, "Cache-Control",
        head->is_kept ? "private, max-age=31536000, immutable"
        : head->tag   ? "private, no-cache"
                      : "no-store");
    snprintf(number, sizeof number, "%u", head->retry_s);
    add(r, "Retry-After", head->retry_s > 0 ? number : NULL);
}

/* Queue R, which may be NULL, and drop it. */
static enum MHD_Result queue(struct MHD_Connection *c, struct MHD_Response *r, int status)
{
    if (!r)
        return MHD_NO;
    const enum MHD_Result result = MHD_queue_response(c, (unsigned)status, r);
    MHD_destroy_response(r);
    return result;
}

/* --- whole bodies ---------------------------------------------------------------- */

/* A response with the N bytes at BODY; NULL: there is no memory. */
static struct MHD_Response *make_response(const void *body, size_t n,
                                          enum MHD_ResponseMemoryMode mode)
{
    static char none[1];
    union { /* libmicrohttpd writes neither to a buffer that it copies nor to one that stays */
        const void *in;
        void *out;
    } bytes = {.in = body};

    return MHD_create_response_from_buffer(n, n > 0 ? bytes.out : none, mode);
}

enum MHD_Result osc_send_bytes(struct MHD_Connection *c, const struct osc_api_head *head,
                               const void *body, size_t n, struct osc_send_header more)
{
    struct MHD_Response *const r = make_response(body, n, MHD_RESPMEM_MUST_COPY);

    if (!r)
        return MHD_NO;
    add_headers(r, head);
    if (more.name)
        add(r, more.name, more.value);
    return queue(c, r, head->status);
}

enum MHD_Result osc_send_error(struct MHD_Connection *c, int status, const char *code,
                               const char *message, const char *what_to_do)
{
    const struct osc_api_head head = {.status = status,
                                      .type = "application/json; charset=utf-8"};
    /* Who is refused keeps no connection: there are only so many. */
    const struct osc_send_header more = {"Connection",
                                         status == 401 || status == 403 ? "close" : NULL};
    struct osc_strbuf body = {0};

    osc_strbuf_addf(&body, "{\"code\": \"%s\",\n \"message\": ", code);
    osc_json_quote(&body, osc_str_c(message));
    osc_strbuf_adds(&body, ",\n \"what_to_do\": ");
    osc_json_quote(&body, osc_str_c(what_to_do));
    osc_strbuf_adds(&body, ",\n \"command\": null}\n");
    const enum MHD_Result result =
        body.status == OSC_OK ? osc_send_bytes(c, &head, body.s, body.len, more) : MHD_NO;
    osc_strbuf_fini(&body);
    return result;
}

enum MHD_Result osc_send_asset(struct MHD_Connection *c, const struct osc_asset *a)
{
    static const char *const names[OSC_CODING_COUNT] = {
        [OSC_CODING_BR] = "br", [OSC_CODING_GZIP] = "gzip"};
    const char *const accepted =
        MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    const struct osc_api_head head = {.status = 200, .type = a->type, .is_kept = a->is_kept};
    struct osc_packed_asset as = {a->bytes, a->n_bytes};
    const char *coding = NULL;
    bool varies = false;

    for (int i = 0; i < OSC_CODING_COUNT; i++) {
        varies = varies || a->packed[i].bytes;
        if (coding || !a->packed[i].bytes || !osc_accept_takes(accepted, names[i]))
            continue;
        as = a->packed[i];
        coding = names[i];
    }
    struct MHD_Response *const r = make_response(as.bytes, as.n_bytes, MHD_RESPMEM_PERSISTENT);
    if (!r)
        return MHD_NO;
    add_headers(r, &head);
    add(r, "Content-Encoding", coding);
    add(r, "Vary", varies ? "Accept-Encoding" : NULL);
    return queue(c, r, head.status);
}

/* --- bodies out of a pipe -------------------------------------------------------- */

/* A body that is being sent. */
struct outflow {
    struct osc_pipe *pipe; /* left at the end */
    int fd;
    struct osc_deflate *deflate; /* owned; NULL: as it is */
    struct osc_deflate_sum sum;
    bool has_trailer;
    const char *next; /* compressed bytes to send before others, of the below */
    size_t n_next;
    char frame[OSC_DEFLATE_HEADER_BYTES + OSC_DEFLATE_TRAILER_BYTES];
    char piece[PIECE_BYTES];
};

static bool is_gone(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};

    return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* Compress what is in the pipe; it becomes what is sent next. */
static bool compress(struct outflow *o)
{
    const size_t n = osc_pipe_take(o->pipe, o->piece, sizeof o->piece);

    osc_deflate_sum_add(&o->sum, o->piece, n);
    return osc_deflate_block(o->deflate, o->piece, n, &o->next, &o->n_next) == OSC_OK;
}

/* The body has ended: what is sent at last. */
static ssize_t end_body(struct outflow *o, bool is_whole)
{
    if (!is_whole)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (!o->deflate || o->has_trailer)
        return MHD_CONTENT_READER_END_OF_STREAM;
    osc_deflate_trailer(&o->sum, o->frame);
    o->next = o->frame;
    o->n_next = OSC_DEFLATE_TRAILER_BYTES;
    o->has_trailer = true;
    return 0;
}

static ssize_t read_body(void *ctx, uint64_t at, char *to, size_t len)
{
    struct outflow *const o = ctx;

    (void)at;
    for (;;) {
        if (o->n_next > 0) {
            const size_t n = len < o->n_next ? len : o->n_next;

            memcpy(to, o->next, n);
            o->next += n;
            o->n_next -= n;
            return (ssize_t)n;
        }
        const struct osc_pipe_state s = osc_pipe_wait(o->pipe, true, PATIENCE_NS);
        if (s.n_bytes > 0 && !o->deflate)
            return (ssize_t)osc_pipe_take(o->pipe, to, len);
        if (s.n_bytes > 0 && !compress(o))
            return MHD_CONTENT_READER_END_WITH_ERROR;
        if (s.n_bytes == 0 && s.is_ended) {
            const ssize_t last = end_body(o, s.is_whole);

            if (last != 0)
                return last;
        } else if (s.n_bytes == 0 && is_gone(o->fd)) {
            return MHD_CONTENT_READER_END_WITH_ERROR;
        }
    }
}

static void free_body(void *ctx)
{
    struct outflow *const o = ctx;

    osc_pipe_leave(o->pipe);
    osc_deflate_free(o->deflate);
    osc_free(o);
}

/* Whether bytes of TYPE become fewer by compression, and arrive in no hurry. */
static bool is_compressible(const struct osc_api_head *head)
{
    return head->status == 200 && head->type && !head->is_live &&
           (strncmp(head->type, "text/", 5) == 0 ||
            strncmp(head->type, "application/", 12) == 0);
}

enum MHD_Result osc_send_pipe(struct MHD_Connection *c, struct osc_pipe *pipe,
                              const struct osc_pipe_state *state, bool compresses)
{
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct outflow *const o = osc_malloc(sizeof *o);
    struct MHD_Response *r = NULL;

    if (!o) {
        osc_pipe_leave(pipe);
        return MHD_NO;
    }
    memset(o, 0, offsetof(struct outflow, frame));
    o->pipe = pipe;
    o->fd = info->connect_fd;
    if (compresses && is_compressible(state->head) && osc_deflate_is_there() &&
        osc_deflate_new(OSC_DEFLATE_QUICK, &o->deflate) == OSC_OK) {
        osc_deflate_header(o->frame);
        o->next = o->frame;
        o->n_next = OSC_DEFLATE_HEADER_BYTES;
    }
    const bool has_length = state->is_ended && state->is_whole && !o->deflate;
    r = MHD_create_response_from_callback(has_length ? state->n_bytes : MHD_SIZE_UNKNOWN,
                                          PIECE_BYTES, read_body, o, free_body);
    if (!r) {
        free_body(o);
        return MHD_NO;
    }
    add_headers(r, state->head);
    if (o->deflate) {
        add(r, "Content-Encoding", "gzip");
        add(r, "Vary", "Accept-Encoding");
    }
    return queue(c, r, state->head->status);
}
