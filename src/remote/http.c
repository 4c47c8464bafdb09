/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/http.h"

#if !OSC_WITH_REMOTE

osc_status osc_http_get(const struct osc_http_request *r, struct osc_err *err)
{
    return osc_fail(
        err, OSC_EINVAL,
        "%s: this opscope was built without libcurl; copy the file and name the copy", r->name);
}

#else

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "remote/curl_functions.h"

#define REDIRECTS_MAX 5
#define BODY_MAX      ((size_t)64 << 20)
#define ERROR_BYTES   ((size_t)4 << 10) /* of the body of an error, for its message */
#define CONNECT_S     15L
#define SILENT_S      20L

static const struct osc_curl_functions *const lib = &osc_curl_functions;

/* A transfer that runs. */
struct transfer {
    const struct osc_http_request *request;
    CURL *curl;
    struct osc_strbuf error;  /* owned; the body of an answer that is an error */
    struct osc_strbuf region; /* owned; where the bucket is, as the server says */
    int failed_errno;         /* of writing the body */
    bool is_too_long, is_cancelled, is_page;
};

/* The host, with scheme and port, and the user of a URL. */
struct site {
    char *scheme, *host, *port, *user, *password; /* owned by libcurl; or NULL */
};

static void read_site(struct site *s, const char *url)
{
    CURLU *const u = lib->curl_url();

    *s = (struct site){0};
    if (u && lib->curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK) {
        (void)lib->curl_url_get(u, CURLUPART_SCHEME, &s->scheme, 0);
        (void)lib->curl_url_get(u, CURLUPART_HOST, &s->host, 0);
        (void)lib->curl_url_get(u, CURLUPART_PORT, &s->port, CURLU_DEFAULT_PORT);
        (void)lib->curl_url_get(u, CURLUPART_USER, &s->user, CURLU_URLDECODE);
        (void)lib->curl_url_get(u, CURLUPART_PASSWORD, &s->password, CURLU_URLDECODE);
    }
    lib->curl_url_cleanup(u);
}

static void free_site(struct site *s)
{
    lib->curl_free(s->scheme);
    lib->curl_free(s->host);
    lib->curl_free(s->port);
    lib->curl_free(s->user);
    lib->curl_free(s->password);
}

static bool is_same(const char *a, const char *b)
{
    return a && b && strcasecmp(a, b) == 0;
}

static bool is_same_site(const struct site *a, const struct site *b)
{
    return is_same(a->scheme, b->scheme) && is_same(a->host, b->host) &&
           is_same(a->port, b->port);
}

/* --- callbacks ------------------------------------------------------------------- */

static size_t write_all(struct transfer *t, const char *data, size_t n)
{
    for (size_t at = 0; at < n;) {
        const ssize_t done = write(t->request->fd, data + at, n - at);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            t->failed_errno = errno;
            return 0;
        }
        at += (size_t)done;
    }
    return n;
}

/* Whether the answer is a page although a file was asked for. */
static bool is_error_page(const struct transfer *t)
{
    const char *type = NULL;

    lib->curl_easy_getinfo(t->curl, CURLINFO_CONTENT_TYPE, &type);
    return !t->request->is_page && type && strncasecmp(type, "text/html", 9) == 0;
}

static size_t take_body(char *data, size_t one, size_t n, void *ctx)
{
    struct transfer *const t = ctx;
    long status = 0;

    (void)one; /* it is 1 */
    lib->curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) {
        if (t->error.len < ERROR_BYTES)
            osc_strbuf_add(&t->error, data,
                           n < ERROR_BYTES - t->error.len ? n : ERROR_BYTES - t->error.len);
        return n;
    }
    t->is_page = is_error_page(t); /* it may have no end */
    if (t->is_page)
        return 0;
    if (t->request->fd >= 0)
        return write_all(t, data, n);
    t->is_too_long = t->request->body->len + n > BODY_MAX;
    if (t->is_too_long)
        return 0;
    osc_strbuf_add(t->request->body, data, n);
    return t->request->body->status == OSC_OK ? n : 0;
}

static size_t take_header(char *data, size_t one, size_t n, void *ctx)
{
    static const char name[] = "x-amz-bucket-region:";
    struct transfer *const t = ctx;
    size_t from = sizeof name - 1, to = n;

    (void)one;
    if (n <= from || strncasecmp(data, name, from) != 0)
        return n;
    while (from < to && data[from] == ' ')
        from++;
    while (to > from && (data[to - 1] == '\r' || data[to - 1] == '\n' || data[to - 1] == ' '))
        to--;
    osc_strbuf_clear(&t->region);
    osc_strbuf_add(&t->region, data + from, to - from);
    return n;
}

static int tick(void *ctx, curl_off_t total, curl_off_t done, curl_off_t up_total,
                curl_off_t up)
{
    struct transfer *const t = ctx;

    (void)up_total, (void)up;
    if (t->request->progress)
        t->is_cancelled =
            !t->request->progress(t->request->ctx, (uint64_t)done, (uint64_t)total);
    return t->is_cancelled;
}

/* --- one answer ------------------------------------------------------------------ */

/* Append what the body of an error says, in XML or as its first line. */
static void add_reason(struct osc_strbuf *out, const struct transfer *t)
{
    const char *from = t->error.s ? strstr(t->error.s, "<Message>") : NULL;
    size_t n = 0;

    if (from) {
        from += strlen("<Message>");
        n = strcspn(from, "<\n");
    } else if (t->error.s && t->error.s[0] != '<' && t->error.s[0] != '{') {
        from = t->error.s;
        n = strcspn(from, "\r\n");
    }
    if (n > 0)
        osc_strbuf_addf(out, ": %.*s", (int)(n < 200 ? n : 200), from);
}

/* Fail because of the STATUS of the answer. */
static osc_status fail_status(const struct transfer *t, long status, struct osc_err *err)
{
    const char *const url = t->request->name;
    struct osc_strbuf reason = {0};
    osc_status st = status == 404 || status == 410 ? OSC_ENOTFOUND : OSC_EIO;

    add_reason(&reason, t);
    const char *const why = reason.s && reason.status == OSC_OK ? reason.s : "";
    if (t->region.len > 0 && (status / 100 == 3 || status == 400))
        (void)osc_fail(err, st, "%s: the bucket is in region %s; set AWS_REGION to it", url,
                       t->region.s);
    else if (st == OSC_ENOTFOUND)
        (void)osc_fail(err, st, "%s: the server does not have it (status %ld)%s", url, status,
                       why);
    else if (status == 401 || status == 403)
        (void)osc_fail(err, st, "%s: the server refuses access (status %ld)%s", url, status,
                       why);
    else if (status / 100 == 3)
        (void)osc_fail(err, st,
                       "%s: the server sends elsewhere (status %ld), which is not followed",
                       url, status);
    else
        (void)osc_fail(err, st, "%s: the server failed (status %ld)%s", url, status, why);
    osc_strbuf_fini(&reason);
    return st;
}

static osc_status fail_transfer(const struct transfer *t, CURLcode code, const char *text,
                                struct osc_err *err)
{
    const char *const url = t->request->name;

    if (t->is_cancelled)
        return osc_fail(err, OSC_ECANCELED, "%s: %s", url, osc_status_text(OSC_ECANCELED));
    if (t->failed_errno != 0)
        return osc_fail(err, OSC_EIO, "%s: writing its copy: %s", url,
                        strerror(t->failed_errno));
    if (t->is_page)
        return osc_fail(err, OSC_EIO, "%s: the server answers with a page instead of the file",
                        url);
    if (t->is_too_long)
        return osc_fail(err, OSC_EIO, "%s: the answer is longer than 64 MiB", url);
    if (code == CURLE_OPERATION_TIMEDOUT)
        return osc_fail(err, OSC_EIO, "%s: the server does not answer, or too slowly", url);
    if (code == CURLE_PARTIAL_FILE || code == CURLE_GOT_NOTHING)
        return osc_fail(err, OSC_EIO, "%s: the answer ends too early; try again", url);
    return osc_fail(err, OSC_EIO, "%s: %s", url,
                    text[0] ? text : lib->curl_easy_strerror(code));
}

/* Sign the requests of T. Returns a list of headers, which the caller frees; NULL: no memory.
 */
static struct curl_slist *sign(const struct transfer *t)
{
    const struct osc_http_signer *const s = t->request->signer;
    struct osc_strbuf text = {0};
    struct curl_slist *headers =
        lib->curl_slist_append(NULL, "x-amz-content-sha256: UNSIGNED-PAYLOAD");

    osc_strbuf_addf(&text, "aws:amz:%s:s3", s->region);
    if (text.status == OSC_OK)
        lib->curl_easy_setopt(t->curl, CURLOPT_AWS_SIGV4, text.s);
    lib->curl_easy_setopt(t->curl, CURLOPT_USERNAME, s->key);
    lib->curl_easy_setopt(t->curl, CURLOPT_PASSWORD, s->secret);
    osc_strbuf_clear(&text);
    if (s->token && headers) {
        osc_strbuf_addf(&text, "x-amz-security-token: %s", s->token);
        struct curl_slist *const more =
            text.status == OSC_OK ? lib->curl_slist_append(headers, text.s) : NULL;
        if (!more) {
            lib->curl_slist_free_all(headers);
            headers = NULL;
        }
    }
    osc_strbuf_fini(&text);
    return headers;
}

static void set_up(struct transfer *t, const char *url, char *text)
{
    CURL *const c = t->curl;

    lib->curl_easy_reset(c);
    lib->curl_easy_setopt(c, CURLOPT_URL, url);
    lib->curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    lib->curl_easy_setopt(c, CURLOPT_USERAGENT, "opscope/" OSC_VERSION);
    lib->curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    lib->curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    lib->curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
    lib->curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, SILENT_S);
    lib->curl_easy_setopt(c, CURLOPT_ERRORBUFFER, text);
    lib->curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body);
    lib->curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
    lib->curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_header);
    lib->curl_easy_setopt(c, CURLOPT_HEADERDATA, t);
    lib->curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    lib->curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, tick);
    lib->curl_easy_setopt(c, CURLOPT_XFERINFODATA, t);
}

/* Get URL. *NEXT becomes where a redirect leads, which the caller frees by osc_strbuf_fini().
 */
static osc_status get_once(struct transfer *t, const char *url, const struct site *credentials,
                           struct osc_strbuf *next, struct osc_err *err)
{
    struct curl_slist *headers = NULL;
    char text[CURL_ERROR_SIZE] = "";
    const char *to = NULL;
    long status = 0;

    osc_strbuf_clear(&t->error);
    set_up(t, url, text);
    if (credentials && credentials->user) {
        lib->curl_easy_setopt(t->curl, CURLOPT_USERNAME, credentials->user);
        lib->curl_easy_setopt(t->curl, CURLOPT_PASSWORD,
                              credentials->password ? credentials->password : "");
    }
    if (t->request->signer) {
        headers = sign(t);
        if (!headers)
            return osc_fail(err, OSC_ENOMEM, "out of memory");
        lib->curl_easy_setopt(t->curl, CURLOPT_HTTPHEADER, headers);
    }
    const CURLcode code = lib->curl_easy_perform(t->curl);
    lib->curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    lib->curl_easy_getinfo(t->curl, CURLINFO_REDIRECT_URL, &to);
    osc_strbuf_clear(next);
    if (code == CURLE_OK && status / 100 == 3 && to && !t->request->signer)
        osc_strbuf_adds(next, to);
    lib->curl_slist_free_all(headers);
    if (code != CURLE_OK)
        return fail_transfer(t, code, text, err);
    if (next->len > 0)
        return next->status;
    if (status != 200)
        return fail_status(t, status, err);
    if (is_error_page(t))
        return osc_fail(err, OSC_EIO, "%s: the server answers with a page instead of the file",
                        t->request->name);
    return OSC_OK;
}

/* Get the request of T and follow its redirects. */
static osc_status follow(struct transfer *t, struct osc_err *err)
{
    const char *const url = t->request->url;
    struct osc_strbuf next = {0}, at = {0};
    struct site first, now;
    osc_status st = OSC_OK;

    read_site(&first, url);
    osc_strbuf_adds(&at, url);
    for (int n = 0; st == OSC_OK; n++) {
        read_site(&now, at.s);
        const bool is_down = is_same(first.scheme, "https") && !is_same(now.scheme, "https");
        const bool is_own = is_same_site(&first, &now);
        free_site(&now);
        if (n > REDIRECTS_MAX || is_down) {
            st = osc_fail(err, OSC_EIO, "%s: the server redirects %s, which is not followed",
                          t->request->name,
                          is_down ? "to a connection without encryption" : "too often");
            break;
        }
        st = get_once(t, at.s, is_own ? &first : NULL, &next, err);
        if (st != OSC_OK || next.len == 0)
            break;
        osc_strbuf_clear(&at);
        osc_strbuf_adds(&at, next.s);
        st = at.status;
    }
    free_site(&first);
    osc_strbuf_fini(&next);
    osc_strbuf_fini(&at);
    return st;
}

osc_status osc_http_get(const struct osc_http_request *r, struct osc_err *err)
{
    if (!osc_curl_load())
        return osc_fail(err, OSC_EINVAL,
                        "%s: libcurl 7.85 or later (libcurl.so.4) is not installed: install "
                        "libcurl4, or copy the file and name the copy",
                        r->name);
    struct transfer t = {.request = r, .curl = lib->curl_easy_init()};
    osc_status st = t.curl ? follow(&t, err) : OSC_ENOMEM;

    if (st == OSC_OK && r->fd < 0)
        st = r->body->status;
    if (st == OSC_ENOMEM)
        st = osc_fail(err, st, "out of memory");
    lib->curl_easy_cleanup(t.curl);
    osc_strbuf_fini(&t.error);
    osc_strbuf_fini(&t.region);
    return st;
}

#endif
