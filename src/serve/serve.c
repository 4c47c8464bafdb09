/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/serve.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "serve/accept.h"
#include "serve/guard.h"
#include "serve/peer.h"
#include "serve/plain_page.h"
#include "serve/send.h"
#include "serve/watch.h"

#define TARGET_BYTES_MAX  8192u
#define CONNECTIONS_MAX   512u
#define CONNECTION_MEMORY (32u << 10)

/* From so many connections on it is found out whose new ones are; other users have at most so
 * many of these, and far machines so many each. On loopback alone our user so always finds
 * room: two far machines can take all. */
#define CONNECTIONS_FREE 64u
#define OTHERS_MAX       192u
#define MACHINE_MAX      256u

/* Other users about whom somebody is told, each once. */
#define TOLD_MAX    64u
#define STACK_BYTES (256u << 10)
#define ANSWER_NS   (INT64_C(10) * 1000000000)
/* So long an answer that was given up is waited for. */
#define GIVEN_UP_NS (INT64_C(2) * 1000000000)

/* So long answers may go on at the end. */
#define FAREWELL_NS (INT64_C(3) * 100000000)

/* So long the end of all work is waited for. */
#define STOP_S 3

#define PATIENCE_NS INT64_C(50000000)
#define NOBODY      ((struct osc_send_header){NULL, NULL})

struct osc_server {
    struct MHD_Daemon *daemon;
    struct osc_api *api;
    struct osc_guard guard;
    struct osc_path_list names;
    struct osc_strbuf page;   /* instead of a built one */
    struct osc_strbuf prefix; /* "" or "/a/b" */
    struct osc_strbuf url;
    struct osc_listening listening;
    bool wants_token; /* of everybody */
    struct osc_watch watch;
    void (*say)(void *ctx, const char *line);
    void *ctx;
    pthread_mutex_t lock; /* of the rest; a leaf */
    pthread_cond_t changed;
    unsigned n_answering; /* threads */
    unsigned n_connections, n_others;
    uid_t told[TOLD_MAX]; /* users of whom somebody was told that they ask */
    unsigned n_told;
};

/* A request from its first line on. */
struct query {
    bool is_too_long, is_read;
    char target[];
};

/* --- answering ------------------------------------------------------------------- */

/* What the thread that answers a request owns. */
struct answering {
    struct osc_server *server;
    struct osc_pipe *pipe;
    char *method, *target, *known; /* owned */
};

static char *duplicate(const char *text)
{
    const size_t n = text ? strlen(text) + 1 : 0;
    char *const copy = text ? osc_malloc(n) : NULL;

    if (copy)
        memcpy(copy, text, n);
    return copy;
}

static void free_answering(struct answering *a)
{
    osc_free(a->method);
    osc_free(a->target);
    osc_free(a->known);
    osc_free(a);
}

static void *answer(void *ctx)
{
    struct answering *const a = ctx;
    struct osc_server *const s = a->server;
    const struct osc_api_request request = {.method = a->method,
                                            .target = a->target,
                                            .if_none_match = a->known,
                                            .cancel = osc_pipe_cancel(a->pipe)};
    const bool is_whole = osc_api_answer(s->api, &request, osc_pipe_sink(a->pipe));

    osc_pipe_end(a->pipe, is_whole);
    free_answering(a);
    pthread_mutex_lock(&s->lock);
    s->n_answering--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Let a thread answer A. False: there is none, and A is freed. */
static bool start_answering(struct osc_server *s, struct answering *a)
{
    pthread_attr_t attr;
    pthread_t thread;

    pthread_mutex_lock(&s->lock);
    s->n_answering++;
    pthread_mutex_unlock(&s->lock);
    pthread_attr_init(&attr); /* neither can fail on Linux */
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    const bool is_started = pthread_create(&thread, &attr, answer, a) == 0;
    pthread_attr_destroy(&attr);
    if (is_started)
        return true;
    pthread_mutex_lock(&s->lock);
    s->n_answering--;
    pthread_mutex_unlock(&s->lock);
    osc_pipe_end(a->pipe, false);
    free_answering(a);
    return false;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static bool is_gone(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};

    return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* Wait for the head of the response in PIPE, or until the client W is gone or the answer
 * neither comes nor can be stopped (false). */
static bool wait_for_head(struct osc_pipe *pipe, const struct osc_watched *w,
                          struct osc_pipe_state *state)
{
    bool has_given_up = false;

    for (;;) {
        *state = osc_pipe_wait(pipe, false, PATIENCE_NS);
        if (state->is_ended || (state->head && (state->head->is_live || state->is_full)))
            return state->head != NULL;
        if (is_gone(w->fd))
            return false;
        const bool is_slow =
            state->work_ns > 0 && osc_clock_now_ns() - state->work_ns > ANSWER_NS;
        if (is_slow && state->head)
            return true; /* it comes slowly, but it comes */
        if (is_slow && !has_given_up) {
            osc_pipe_give_up(pipe, false);
            has_given_up = true;
        }
        if (has_given_up && osc_clock_now_ns() - state->work_ns > ANSWER_NS + GIVEN_UP_NS)
            return false;
    }
}

/* Whether a response to W may be compressed. */
static bool takes_gzip(struct MHD_Connection *c, const struct osc_watched *w)
{
    return !w->is_local && osc_accept_takes(header(c, "Accept-Encoding"), "gzip");
}

static enum MHD_Result ask_api(struct osc_server *s, struct MHD_Connection *c,
                               const struct osc_watched *w, const char *method,
                               const char *target)
{
    struct osc_pipe *const pipe = osc_pipe_new();
    struct answering *const a = osc_calloc(1, sizeof *a);
    struct osc_pipe_state state;

    if (!pipe || !a) {
        osc_free(a);
        if (pipe) {
            osc_pipe_end(pipe, false);
            osc_pipe_leave(pipe);
        }
        return MHD_NO;
    }
    *a = (struct answering){s, pipe, duplicate(method), duplicate(target),
                            duplicate(header(c, "If-None-Match"))};
    if (!a->method || !a->target) {
        free_answering(a);
        osc_pipe_end(pipe, false);
        osc_pipe_leave(pipe);
        return MHD_NO;
    }
    if (!start_answering(s, a) || !wait_for_head(pipe, w, &state)) {
        osc_pipe_leave(pipe);
        return is_gone(w->fd) ? MHD_NO
                              : osc_send_error(c, 504, "too_slow", "the answer took too long",
                                               "ask for less, or run the command");
    }
    return osc_send_pipe(c, pipe, &state, takes_gzip(c, w));
}

/* --- the page -------------------------------------------------------------------- */

/* The file of the page at TARGET; NULL: there is none. */
static const struct osc_asset *find_asset(const char *target)
{
    const size_t len = strcspn(target, "?");

    for (const struct osc_asset *a = osc_assets; a->path; a++)
        if (strlen(a->path) == len && memcmp(a->path, target, len) == 0)
            return a;
    return NULL;
}

static bool is_index(const char *target)
{
    return target[0] == '/' && (target[1] == '\0' || target[1] == '?');
}

static enum MHD_Result send_plain_page(const struct osc_server *s, struct MHD_Connection *c)
{
    const struct osc_api_head head = {.status = 200, .type = "text/html; charset=utf-8"};

    return osc_send_bytes(c, &head, s->page.s, s->page.len, NOBODY);
}

/* --- who may ask ----------------------------------------------------------------- */

/* Send the client to TARGET, behind the prefix, with COOKIE (NULL: none). */
static enum MHD_Result redirect(const struct osc_server *s, struct MHD_Connection *c,
                                const char *target, const char *cookie)
{
    const struct osc_api_head head = {.status = 303, .type = "text/plain; charset=utf-8"};
    struct osc_strbuf to = {0};
    enum MHD_Result result = MHD_NO;

    osc_strbuf_addstr(&to, osc_str_c(s->prefix.s));
    osc_strbuf_adds(&to, target);
    if (to.status == OSC_OK) {
        struct MHD_Response *const r =
            MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

        if (r) {
            (void)MHD_add_response_header(r, "Location", to.s);
            (void)MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
            (void)MHD_add_response_header(r, "Cache-Control", "no-store");
            if (cookie)
                (void)MHD_add_response_header(r, "Set-Cookie", cookie);
            result = MHD_queue_response(c, (unsigned)head.status, r);
            MHD_destroy_response(r);
        }
    }
    osc_strbuf_fini(&to);
    return result;
}

static bool is_ours(uid_t user)
{
    return user == getuid() || user == 0;
}

/* Whether nobody was told yet that USER asks. */
static bool is_new(struct osc_server *s, uid_t user)
{
    unsigned i = 0;

    pthread_mutex_lock(&s->lock);
    while (i < s->n_told && s->told[i] != user)
        i++;
    const bool is = i == s->n_told && i < TOLD_MAX;
    if (is)
        s->told[s->n_told++] = user;
    pthread_mutex_unlock(&s->lock);
    return is;
}

/* Whether the client W must have the token. */
static bool needs_token(struct osc_server *s, struct osc_watched *w)
{
    char line[200], who[40];
    uid_t user = 0;

    if (s->wants_token)
        return true;
    if (w->is_ours)
        return false;
    if (!osc_peer_find_user(w->fd, &user))
        user = (uid_t)-1;
    w->is_ours = is_ours(user);
    if (!w->is_ours && s->say && is_new(s, user)) {
        snprintf(who, sizeof who, user != (uid_t)-1 ? "user %u" : "an unknown user",
                 (unsigned)user);
        snprintf(line, sizeof line, "%s of this machine asks, and needs the token: ?token=%s",
                 who, s->guard.token);
        s->say(s->ctx, line);
    }
    return !w->is_ours;
}

/* Let the client in if its address has the token; *RESULT is the answer if it is answered. */
static bool take_token(const struct osc_server *s, struct MHD_Connection *c, const char *target,
                       enum MHD_Result *result)
{
    struct osc_strbuf rest = {0}, cookie = {0};
    bool is_right = false;
    const bool has_token = osc_guard_take_token(&s->guard, target, &is_right, &rest);

    if (has_token && is_right && rest.status == OSC_OK) {
        osc_strbuf_addf(&cookie, "%s=%s; HttpOnly; SameSite=Strict; Path=%s/", s->guard.cookie,
                        s->guard.token, s->prefix.s);
        *result = redirect(s, c, rest.s, cookie.s);
    }
    osc_strbuf_fini(&rest);
    osc_strbuf_fini(&cookie);
    return has_token && is_right;
}

/* --- requests -------------------------------------------------------------------- */

/* TARGET without the prefix of the server; NULL: it has not got it. */
static const char *strip(const struct osc_server *s, const char *target)
{
    if (strncmp(target, s->prefix.s, s->prefix.len) != 0)
        return NULL;
    const char *const rest = target + s->prefix.len;
    return rest[0] == '/' ? rest : NULL;
}

/* Answer a request for TARGET, which is let in. */
static enum MHD_Result let_in(struct osc_server *s, struct MHD_Connection *c,
                              const struct osc_watched *w, const char *method,
                              const char *target)
{
    const bool is_read =
        strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    const struct osc_asset *const a = is_read ? find_asset(target) : NULL;

    if (a)
        return osc_send_asset(c, a);
    if (is_read && is_index(target))
        return send_plain_page(s, c);
    return ask_api(s, c, w, method, target);
}

static enum MHD_Result respond(struct osc_server *s, struct MHD_Connection *c,
                               struct osc_watched *w, const char *method, const struct query *q)
{
    const struct osc_guard_headers h = {
        .host = header(c, "Host"),
        .origin = header(c, "Origin"),
        .cookie = header(c, "Cookie"),
        .fetch_site = header(c, "Sec-Fetch-Site"),
        .fetch_mode = header(c, "Sec-Fetch-Mode"),
        .fetch_dest = header(c, "Sec-Fetch-Dest"),
    };
    const char *const target = strip(s, q->target);
    enum MHD_Result result = MHD_NO;

    if (q->is_too_long)
        return osc_send_error(c, 414, "too_long", "the address has more than 8192 bytes",
                              "ask for less, or by several requests");
    const char *const why = osc_guard_refusal(&s->guard, &h, target && is_index(target));
    if (why)
        return osc_send_error(c, 403, "refused", why,
                              "use the address that opscope view has printed");
    if (!target && strcmp(q->target, s->prefix.s) == 0)
        return redirect(s, c, "/", NULL);
    if (!target)
        return osc_send_error(c, 404, "unknown_path", "nothing is there",
                              "the paths of this server begin with its --path_prefix");
    if (take_token(s, c, target, &result))
        return result;
    if (needs_token(s, w) && !osc_guard_has_cookie(&s->guard, h.cookie))
        return osc_send_error(c, 401, "no_token", "this server must know who asks",
                              "open the whole address that opscope view has printed, which "
                              "ends in ?token=...");
    return let_in(s, c, w, method, target);
}

static struct osc_watched *watched(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

static void *begin_request(void *ctx, const char *uri, struct MHD_Connection *c)
{
    struct osc_server *const s = ctx;
    const size_t len = strlen(uri);
    const bool is_too_long = len > TARGET_BYTES_MAX;
    const size_t n = is_too_long ? 0 : len;
    struct query *const q = osc_calloc(1, sizeof *q + n + 1);
    struct osc_watched *const w = watched(c);

    if (w)
        osc_watch_allow(&s->watch, w, OSC_WATCH_HEAD_NS);
    if (!q)
        return NULL;
    q->is_too_long = is_too_long;
    memcpy(q->target, uri, n);
    return q;
}

static enum MHD_Result handle_request(void *ctx, struct MHD_Connection *c, const char *url,
                                      const char *method, const char *version,
                                      const char *upload, size_t *n_upload, void **request)
{
    struct osc_server *const s = ctx;
    struct query *const q = *request;
    struct osc_watched *const w = watched(c);

    (void)url, (void)version, (void)upload;
    if (!q || !w)
        return MHD_NO;
    if (!q->is_read) { /* a body may follow; the next call is for it */
        q->is_read = true;
        return MHD_YES;
    }
    if (*n_upload > 0) { /* nobody wants it */
        *n_upload = 0;
        return MHD_YES;
    }
    osc_watch_allow(&s->watch, w, 0);
    return respond(s, c, w, method, q);
}

static void end_request(void *ctx, struct MHD_Connection *c, void **request,
                        enum MHD_RequestTerminationCode code)
{
    struct osc_server *const s = ctx;
    struct osc_watched *const w = watched(c);

    (void)code;
    osc_free(*request);
    *request = NULL;
    if (w)
        osc_watch_allow(&s->watch, w, OSC_WATCH_PAUSE_NS);
}

/* Count the new connection W. One too many of another user is shut down. */
static void count_connection(struct osc_server *s, struct osc_watched *w)
{
    bool is_too_much = false;
    uid_t user;

    pthread_mutex_lock(&s->lock);
    const bool is_looked_at = ++s->n_connections > CONNECTIONS_FREE && !s->wants_token;
    pthread_mutex_unlock(&s->lock);
    /* Quickly, because the thread that accepts connections waits. */
    if (!is_looked_at || !osc_peer_find_user_fast(w->fd, &user))
        return;
    pthread_mutex_lock(&s->lock);
    w->is_others = !is_ours(user);
    s->n_others += w->is_others;
    is_too_much = w->is_others && s->n_others > OTHERS_MAX;
    pthread_mutex_unlock(&s->lock);
    if (is_too_much)
        (void)shutdown(w->fd, SHUT_RDWR);
}

static void uncount_connection(struct osc_server *s, const struct osc_watched *w)
{
    pthread_mutex_lock(&s->lock);
    s->n_connections--;
    s->n_others -= w->is_others;
    pthread_mutex_unlock(&s->lock);
}

static void notice_connection(void *ctx, struct MHD_Connection *c, void **kept,
                              enum MHD_ConnectionNotificationCode code)
{
    struct osc_server *const s = ctx;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        struct osc_watched *const w = osc_calloc(1, sizeof *w);
        const union MHD_ConnectionInfo *const fd =
            MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        const union MHD_ConnectionInfo *const address =
            MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

        *kept = w;
        if (!w)
            return;
        w->fd = fd->connect_fd;
        w->is_local =
            s->guard.is_behind_proxy || (address && osc_peer_is_loopback(address->client_addr));
        osc_watch_add(&s->watch, w);
        count_connection(s, w);
    } else if (*kept) {
        osc_watch_remove(&s->watch, *kept);
        uncount_connection(s, *kept);
        osc_free(*kept);
        *kept = NULL;
    }
}

/* --- life ------------------------------------------------------------------------ */

/* The path prefix PREFIX as "/a/b". OSC_EINVAL: it is no path. */
static osc_status set_prefix(struct osc_server *s, const char *prefix, struct osc_err *err)
{
    size_t len = prefix ? strlen(prefix) : 0;

    while (len > 0 && prefix[len - 1] == '/')
        len--;
    if (len > 0 && prefix[0] != '/')
        osc_strbuf_addc(&s->prefix, '/');
    osc_strbuf_add(&s->prefix, prefix ? prefix : "", len);
    osc_strbuf_adds(&s->prefix, ""); /* a terminator */
    for (const char *p = s->prefix.s; p && *p; p++) {
        const bool is_plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                              (*p >= '0' && *p <= '9') || strchr("/-_.~", *p);
        if (!is_plain)
            return osc_fail(err, OSC_EINVAL,
                            "--path_prefix: '%s' is not a path of letters, digits and -_.~",
                            prefix);
    }
    return s->prefix.status;
}

/* Collect the names under which the server may be addressed. */
static osc_status set_names(struct osc_server *s, const struct osc_server_config *config)
{
    osc_status st = OSC_OK;
    char name[256];

    if (config->listen.host)
        st = osc_path_list_add(&s->names, NULL, config->listen.host);
    if (st == OSC_OK && config->listen.binds_all)
        st = osc_listen_names(&s->names);
    for (const char *p = config->hosts; p && *p && st == OSC_OK;) {
        const size_t len = strcspn(p, ",");

        if (len > 0 && len < sizeof name) {
            memcpy(name, p, len);
            name[len] = '\0';
            st = osc_path_list_add(&s->names, NULL, name);
        }
        p += len + (p[len] == ',');
    }
    s->guard.names = (const char *const *)s->names.all;
    s->guard.n_names = s->names.n;
    return st;
}

static osc_status set_url(struct osc_server *s, const struct osc_server_config *config)
{
    char machine[256] = "";
    const char *host = config->listen.host ? config->listen.host : "127.0.0.1";

    if (s->listening.path) {
        osc_strbuf_addf(&s->url, "unix:%s", s->listening.path);
        return s->url.status;
    }
    if (config->listen.binds_all && gethostname(machine, sizeof machine - 1) == 0 && machine[0])
        host = machine;
    osc_strbuf_addf(&s->url, strchr(host, ':') ? "http://[%s]:%u%s/" : "http://%s:%u%s/", host,
                    s->listening.port, s->prefix.s);
    if (s->wants_token)
        osc_strbuf_addf(&s->url, "?token=%s", s->guard.token);
    snprintf(s->guard.cookie, sizeof s->guard.cookie, "opscope_%u", s->listening.port);
    return s->url.status;
}

static osc_status start_daemon(struct osc_server *s, struct osc_err *err)
{
    osc_status st = osc_watch_start(&s->watch);

    if (st != OSC_OK)
        return st;
    s->daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
            MHD_USE_ITC,
        0, NULL, NULL, handle_request, s,                                           /**/
        MHD_OPTION_LISTEN_SOCKET, s->listening.fd,                                  /**/
        MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,                               /**/
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, s->wants_token ? MACHINE_MAX : 0,       /**/
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(OSC_WATCH_PAUSE_NS / 1000000000), /**/
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,              /**/
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,                          /**/
        MHD_OPTION_STRICT_FOR_CLIENT, 1,                                            /**/
        MHD_OPTION_URI_LOG_CALLBACK, begin_request, s,                              /**/
        MHD_OPTION_NOTIFY_COMPLETED, end_request, s,                                /**/
        MHD_OPTION_NOTIFY_CONNECTION, notice_connection, s,                         /**/
        MHD_OPTION_END);
    if (s->daemon) {
        s->listening.fd = -1; /* it closes it */
        return OSC_OK;
    }
    osc_watch_stop(&s->watch);
    return osc_fail(err, OSC_EIO, "the server cannot be started");
}

static void free_server(struct osc_server *s)
{
    osc_listen_close(&s->listening);
    osc_path_list_fini(&s->names);
    osc_strbuf_fini(&s->page);
    osc_strbuf_fini(&s->prefix);
    osc_strbuf_fini(&s->url);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    osc_free(s);
}

osc_status osc_server_start(struct osc_server **to, const struct osc_server_config *config,
                            struct osc_err *err)
{
    struct osc_server *const s = osc_calloc(1, sizeof *s);

    *to = NULL;
    if (!s)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    pthread_mutex_init(&s->lock, NULL); /* neither can fail on Linux */
    pthread_cond_init(&s->changed, NULL);
    s->listening.fd = -1;
    s->api = config->api;
    s->say = config->say;
    s->ctx = config->ctx;
    osc_plain_page_add(&s->page);
    osc_status st = s->page.status;
    if (st == OSC_OK)
        st = set_prefix(s, config->prefix, err);
    if (st == OSC_OK)
        st = set_names(s, config);
    if (st == OSC_OK)
        st = osc_guard_make_token(&s->guard);
    if (st == OSC_OK)
        st = osc_listen_open(&s->listening, &config->listen, err);
    s->wants_token = !s->listening.is_loopback;
    s->guard.is_behind_proxy = s->listening.path != NULL;
    if (st == OSC_OK)
        st = set_url(s, config);
    if (st == OSC_OK)
        st = start_daemon(s, err);
    if (st == OSC_OK)
        *to = s;
    else
        free_server(s);
    if (st != OSC_OK && err->message[0] == '\0')
        (void)osc_fail(err, st, "%s", osc_status_text(st));
    return st;
}

const char *osc_server_url(const struct osc_server *s)
{
    return s->url.s;
}

bool osc_server_is_moved(const struct osc_server *s)
{
    return s->listening.is_other;
}

/* Wait until no thread of S answers. False: some do after seconds. */
static bool wait_for_answers(struct osc_server *s)
{
    struct timespec until = {0};
    int failure = 0;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += STOP_S;
    pthread_mutex_lock(&s->lock);
    while (s->n_answering > 0 && failure == 0)
        failure = pthread_cond_timedwait(&s->changed, &s->lock, &until);
    const bool is_idle = s->n_answering == 0;
    pthread_mutex_unlock(&s->lock);
    return is_idle;
}

bool osc_server_stop(struct osc_server *s)
{
    bool is_idle = osc_api_stop(s->api);

    osc_watch_wait(&s->watch, FAREWELL_NS); /* streams say good-bye */
    osc_watch_shut(&s->watch);
    MHD_stop_daemon(s->daemon); /* its threads give up the questions that they wait for */
    osc_watch_stop(&s->watch);
    is_idle = wait_for_answers(s) && is_idle;
    if (is_idle)
        free_server(s);
    return is_idle;
}
