/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "remote/http.h"

#define FILES_MAX 10000u
#define PAGES_MAX 1000u
#define BELOW_MAX 1000u /* bytes of a path below the directory */
#define FAIL_MAX  20u   /* files of a directory: with more the server is taken to have failed */

/* A copy that is being made. */
struct copying {
    const char *dir; /* where to */
    const struct osc_remote_how *how;
    struct osc_http_signer signer;
    bool is_signed;
    struct osc_strbuf base; /* owned; of S3: URL of the bucket */
    const char *bucket;     /* borrowed */
    unsigned n_files, n_pages, n_failed;
    const char *name; /* of the file that is being copied */
};

/* Stores that are not read, and how else their files can be. */
static const struct store {
    const char *scheme, *way_out;
} stores[] = {
    {"gs://",
     "copy it ('gcloud storage cp -r' or 'gsutil cp -r'), mount the bucket with gcsfuse, "
     "or give the https:// address of a signed URL"},
    {"hdfs://", "copy it ('hdfs dfs -get'), or mount the NFS gateway of HDFS"},
    {"az://", "copy it ('azcopy copy'), or give its https:// address with a SAS token"},
    {"abfs://", "copy it ('azcopy copy'), or give its https:// address with a SAS token"},
    {"abfss://", "copy it ('azcopy copy'), or give its https:// address with a SAS token"},
    {"wasb://", "copy it ('azcopy copy'), or give its https:// address with a SAS token"},
    {"wasbs://", "copy it ('azcopy copy'), or give its https:// address with a SAS token"},
};

/* The store of PATH that is not read, or NULL. */
static const struct store *find_store(const char *path)
{
    for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++) {
        if (strncmp(path, stores[i].scheme, strlen(stores[i].scheme)) == 0)
            return &stores[i];
    }
    return NULL;
}

bool osc_remote_is_url(const char *path)
{
    return strncmp(path, "http://", 7) == 0 || strncmp(path, "https://", 8) == 0 ||
           strncmp(path, "s3://", 5) == 0 || find_store(path) != NULL;
}

static bool tick(void *ctx, uint64_t done, uint64_t total)
{
    const struct copying *const c = ctx;

    return !c->how->progress || c->how->progress(c->how->ctx, c->name, done, total);
}

/* --- names ----------------------------------------------------------------------- */

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = osc_char_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Append the N bytes at S with %XX decoded. */
static void add_decoded(struct osc_strbuf *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '%' && i + 2 < n && hex(s[i + 1]) >= 0 && hex(s[i + 2]) >= 0) {
            osc_strbuf_addc(out, (char)(hex(s[i + 1]) * 16 + hex(s[i + 2])));
            i += 2;
        } else {
            osc_strbuf_addc(out, s[i]);
        }
    }
}

/* Append S with all but unreserved bytes encoded; slashes, too, unless KEEPS_SLASH. */
static void add_encoded(struct osc_strbuf *out, const char *s, bool keeps_slash)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    for (; *s; s++) {
        if (strchr(plain, *s) || (keeps_slash && *s == '/'))
            osc_strbuf_addc(out, *s);
        else
            osc_strbuf_addf(out, "%%%02X", (unsigned char)*s);
    }
}

/* Whether the relative path NAME stays below its directory. */
static bool is_safe(const char *name)
{
    if (*name == '\0' || *name == '/')
        return false;
    for (const char *p = name; *p; p += strspn(p, "/")) {
        const size_t n = strcspn(p, "/");

        if (n > 255 || n == 0 || (n == 1 && p[0] == '.') ||
            (n == 2 && p[0] == '.' && p[1] == '.'))
            return false;
        p += n;
    }
    return strstr(name, "//") == NULL;
}

/* The last part of the path of URL, without what follows ? or #. */
static struct osc_str last_part(const char *url)
{
    const char *const from = strstr(url, "://") + 3;
    const size_t n = strcspn(from, "?#");
    size_t at = n;

    while (at > 0 && from[at - 1] != '/')
        at--;
    return (struct osc_str){from + at, at > 0 ? (uint32_t)(n - at) : 0};
}

/* Append URL without user and password. */
static void add_shown(struct osc_strbuf *out, const char *url)
{
    const char *const host = strstr(url, "://") + 3;
    const size_t n = strcspn(host, "/?#");
    const char *const at = memrchr(host, '@', n);

    osc_strbuf_add(out, url, (size_t)(host - url));
    osc_strbuf_adds(out, at ? at + 1 : host);
}

/* Make the directories of PATH below DIR. */
static osc_status make_folders(const char *path, size_t from, struct osc_err *err)
{
    struct osc_strbuf part = {0};
    osc_status st = OSC_OK;

    for (const char *p = strchr(path + from, '/'); p && st == OSC_OK; p = strchr(p + 1, '/')) {
        osc_strbuf_clear(&part);
        osc_strbuf_add(&part, path, (size_t)(p - path));
        st = part.status;
        if (st == OSC_OK && mkdir(part.s, 0700) != 0 && errno != EEXIST)
            st = osc_fail(err, OSC_EIO, "%s: %s", part.s, strerror(errno));
    }
    osc_strbuf_fini(&part);
    return st;
}

/* --- files ----------------------------------------------------------------------- */

/* Say that TO, a file of a directory, could not be copied because of ERR, and leave a link to
 * nothing there: who reads the directory then counts TO as unreadable. */
static osc_status leave_unread(struct copying *c, const char *to, struct osc_err *err)
{
    if (!c->how->failed || ++c->n_failed > FAIL_MAX)
        return OSC_EIO;
    c->how->failed(c->how->ctx, err->message);
    if (unlink(to) != 0 || symlink("not-copied", to) != 0)
        return osc_fail(err, OSC_EIO, "%s: %s", to, strerror(errno));
    return OSC_OK;
}

/* Copy URL, shown as SHOWN, to NAME below the directory. PATH gets the path; if it is NULL, the
 * file is one of many, which may fail. */
static osc_status copy_file(struct copying *c, const char *url, const char *shown,
                            const char *name, struct osc_strbuf *path, struct osc_err *err)
{
    struct osc_strbuf to = {0};
    struct osc_http_request r = {.url = url,
                                 .name = shown,
                                 .signer = c->is_signed ? &c->signer : NULL,
                                 .progress = tick,
                                 .ctx = c};
    osc_status st = OSC_OK;

    if (!is_safe(name) || c->n_files++ >= FILES_MAX)
        return OSC_OK;
    osc_strbuf_addf(&to, "%s/%s", c->dir, name);
    st = to.status;
    if (st == OSC_OK)
        st = make_folders(to.s, strlen(c->dir) + 1, err);
    r.fd = st == OSC_OK ? open(to.s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
                        : -1;
    if (st == OSC_OK && r.fd < 0)
        st = osc_fail(err, OSC_EIO, "%s: %s", to.s, strerror(errno));
    if (st == OSC_OK) {
        c->name = shown;
        st = osc_http_get(&r, err);
    }
    if (r.fd >= 0 && close(r.fd) != 0 && st == OSC_OK)
        st = osc_fail(err, OSC_EIO, "%s: %s", to.s, strerror(errno));
    if (r.fd >= 0 && !path && (st == OSC_EIO || st == OSC_ENOTFOUND))
        st = leave_unread(c, to.s, err);
    if (st == OSC_OK && path)
        osc_strbuf_adds(path, to.s);
    osc_strbuf_fini(&to);
    return st;
}

/* Get the page URL into BODY. */
static osc_status get_page(struct copying *c, const char *url, const char *shown,
                           struct osc_strbuf *body, struct osc_err *err)
{
    const struct osc_http_request r = {.url = url,
                                       .name = shown,
                                       .signer = c->is_signed ? &c->signer : NULL,
                                       .fd = -1,
                                       .body = body,
                                       .progress = tick,
                                       .ctx = c,
                                       .is_page = true};

    if (c->n_pages++ >= PAGES_MAX)
        return osc_fail(err, OSC_EIO, "%s: there are more than %u pages to read", shown,
                        PAGES_MAX);
    c->name = shown;
    osc_strbuf_clear(body);
    return osc_http_get(&r, err);
}

/* --- pages of web servers ---------------------------------------------------------- */

/* A page to read, which lists a directory. */
struct page {
    char *url;   /* owned; it ends in a slash */
    char *below; /* owned; where its files go: "" or a path that ends in a slash */
};

struct pages {
    struct page *all; /* owned */
    size_t cap;
    unsigned n;
};

static void free_pages(struct pages *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        osc_free(p->all[i].url);
        osc_free(p->all[i].below);
    }
    osc_free(p->all);
}

/* Add the page URL, whose files go to BELOW; both are taken over in any case. */
static osc_status add_page(struct pages *p, struct osc_strbuf *url, struct osc_strbuf *below)
{
    osc_status st = osc_grow(&p->all, &p->cap, (size_t)p->n + 1, sizeof *p->all);

    if (st == OSC_OK)
        st = url->status == OSC_OK ? below->status : url->status;
    if (st == OSC_OK) {
        p->all[p->n++] = (struct page){url->s, below->s};
        *url = *below = (struct osc_strbuf){0};
    }
    osc_strbuf_fini(url);
    osc_strbuf_fini(below);
    return st;
}

/* Whether LINK, decoded as NAME, is an entry of its directory, not a place elsewhere or another
 * order of the page. */
static bool is_entry(struct osc_str link, const struct osc_strbuf *name)
{
    return name->len > 0 && strlen(name->s) == name->len && name->s[0] != '.' &&
           !strchr(name->s, '/') && !memchr(link.s, '?', link.len) &&
           !memchr(link.s, '#', link.len) && !memchr(link.s, ':', link.len);
}

/* Copy what LINK in page I leads to, or add it to the pages to read, if it is an entry of the
 * directory. */
static osc_status follow_link(struct copying *c, struct pages *p, unsigned i,
                              struct osc_str link, struct osc_err *err)
{
    struct osc_strbuf name = {0}, to = {0}, rest = {0}, shown = {0};
    osc_status st = OSC_OK;

    if (link.len >= 2 && memcmp(link.s, "./", 2) == 0)
        link = (struct osc_str){link.s + 2, link.len - 2};
    add_decoded(&name, link.s, link.len);
    const bool is_folder = name.len > 1 && name.s[name.len - 1] == '/';
    if (is_folder)
        name.s[--name.len] = '\0';
    if (is_entry(link, &name) && (is_folder || c->how->wants(name.s))) {
        osc_strbuf_adds(&to, p->all[i].url);
        osc_strbuf_addstr(&to, link);
        osc_strbuf_addf(&rest, "%s%s%s", p->all[i].below, name.s, is_folder ? "/" : "");
        st = to.status == OSC_OK ? rest.status : to.status;
        if (st == OSC_OK && is_folder) {
            st = rest.len < BELOW_MAX ? add_page(p, &to, &rest) : OSC_OK;
        } else if (st == OSC_OK) {
            add_shown(&shown, to.s);
            st = shown.status == OSC_OK ? copy_file(c, to.s, shown.s, rest.s, NULL, err)
                                        : shown.status;
        }
    }
    osc_strbuf_fini(&name);
    osc_strbuf_fini(&to);
    osc_strbuf_fini(&rest);
    osc_strbuf_fini(&shown);
    return st;
}

/* Copy what page I lists. */
static osc_status copy_page(struct copying *c, struct pages *p, unsigned i, struct osc_err *err)
{
    struct osc_strbuf body = {0}, shown = {0};

    add_shown(&shown, p->all[i].url);
    osc_status st =
        shown.status == OSC_OK ? get_page(c, p->all[i].url, shown.s, &body, err) : shown.status;

    for (const char *at = st == OSC_OK ? body.s : NULL; at && st == OSC_OK;) {
        at = strcasestr(at, "href=");
        if (!at)
            break;
        at += strlen("href=");
        const char *const end = *at == '"' ? "\"" : *at == '\'' ? "'" : " >";
        const char *const from = at + (*at == '"' || *at == '\'');
        const size_t n = strcspn(from, end);

        st = follow_link(c, p, i, (struct osc_str){from, (uint32_t)n}, err);
        at = from + n;
    }
    osc_strbuf_fini(&body);
    osc_strbuf_fini(&shown);
    return st;
}

/* Copy what the page URL and those below it list. */
static osc_status copy_pages(struct copying *c, const char *url, struct osc_err *err)
{
    struct osc_strbuf first = {0}, below = {0};
    struct pages p = {0};

    osc_strbuf_adds(&first, url);
    osc_strbuf_adds(&below, "");
    osc_status st = add_page(&p, &first, &below);
    for (unsigned i = 0; i < p.n && st == OSC_OK; i++)
        st = copy_page(c, &p, i, err);
    free_pages(&p);
    return st;
}

static osc_status get_http(struct copying *c, const char *url, struct osc_strbuf *path,
                           struct osc_err *err)
{
    const struct osc_str last = last_part(url);
    struct osc_strbuf text = {0}, shown = {0};
    osc_status st = OSC_OK;

    add_shown(&shown, url);
    add_decoded(&text, last.s, last.len);
    if (last.len > 0 && text.s && c->how->wants(text.s)) {
        st = text.status == OSC_OK ? shown.status : text.status;
        if (st == OSC_OK && !is_safe(text.s))
            st = osc_fail(err, OSC_EINVAL, "%s: it has no name of a file", shown.s);
        if (st == OSC_OK)
            st = copy_file(c, url, shown.s, text.s, path, err);
    } else {
        osc_strbuf_clear(&text);
        osc_strbuf_add(&text, url, strcspn(url, "?#"));
        if (text.s && text.s[text.len - 1] != '/')
            osc_strbuf_addc(&text, '/');
        st = text.status;
        if (st == OSC_OK)
            st = copy_pages(c, text.s, err);
        if (st == OSC_OK && c->n_files == 0)
            st = osc_fail(err, OSC_ENOTFOUND, "%s: the page lists no traces", shown.s);
        if (st == OSC_OK)
            osc_strbuf_adds(path, c->dir);
    }
    osc_strbuf_fini(&text);
    osc_strbuf_fini(&shown);
    return st;
}

/* --- S3 ---------------------------------------------------------------------------- */

/* The first of the variables NAMES, which end with NULL, that has a value, or NULL. */
static const char *variable(const char *const *names)
{
    for (; *names; names++) {
        const char *const value = getenv(*names);

        if (value && value[0])
            return value;
    }
    return NULL;
}

/* Set how requests for BUCKET are made. */
static osc_status prepare_s3(struct copying *c, const char *bucket)
{
    static const char *const regions[] = {"AWS_REGION", "AWS_DEFAULT_REGION", NULL};
    static const char *const endpoints[] = {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL",
                                            "S3_ENDPOINT", NULL};
    const char *const region = variable(regions), *const endpoint = variable(endpoints);

    c->signer = (struct osc_http_signer){
        .key = variable((const char *const[]){"AWS_ACCESS_KEY_ID", NULL}),
        .secret = variable((const char *const[]){"AWS_SECRET_ACCESS_KEY", NULL}),
        .token = variable((const char *const[]){"AWS_SESSION_TOKEN", NULL}),
        .region = region ? region : "us-east-1"};
    c->is_signed = c->signer.key && c->signer.secret;
    if (endpoint && strstr(endpoint, "://"))
        osc_strbuf_adds(&c->base, endpoint);
    else if (endpoint)
        osc_strbuf_addf(&c->base, "https://%s", endpoint);
    else if (strchr(bucket, '.')) /* no certificate has a name with more dots */
        osc_strbuf_addf(&c->base, "https://s3.%s.amazonaws.com", c->signer.region);
    else
        osc_strbuf_addf(&c->base, "https://%s.s3.%s.amazonaws.com", bucket, c->signer.region);
    while (c->base.len > 0 && c->base.s[c->base.len - 1] == '/')
        c->base.s[--c->base.len] = '\0';
    if (endpoint || strchr(bucket, '.')) {
        osc_strbuf_addc(&c->base, '/');
        add_encoded(&c->base, bucket, false);
    }
    c->bucket = bucket;
    return c->base.status;
}

static osc_status copy_object(struct copying *c, const char *key, const char *name,
                              struct osc_strbuf *path, struct osc_err *err)
{
    struct osc_strbuf url = {0}, shown = {0};

    osc_strbuf_addf(&url, "%s/", c->base.s);
    add_encoded(&url, key, true);
    osc_strbuf_addf(&shown, "s3://%s/%s", c->bucket, key);
    osc_status st = url.status == OSC_OK ? shown.status : url.status;
    if (st == OSC_OK)
        st = copy_file(c, url.s, shown.s, name, path, err);
    osc_strbuf_fini(&url);
    osc_strbuf_fini(&shown);
    return st;
}

/* Append the text of XML of N bytes at S, with its entities decoded. */
static void add_xml(struct osc_strbuf *out, const char *s, size_t n)
{
    static const struct {
        const char *name;
        char c;
    } entities[] = {
        {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};

    for (size_t i = 0; i < n;) {
        size_t k = 0;
        const size_t n_entities = sizeof entities / sizeof *entities;

        while (k < n_entities &&
               strncmp(s + i, entities[k].name, strlen(entities[k].name)) != 0)
            k++;
        if (k < n_entities)
            osc_strbuf_addc(out, entities[k].c);
        else
            osc_strbuf_addc(out, s[i]);
        i += k < n_entities ? strlen(entities[k].name) : 1;
    }
}

/* Find the text between <TAG> and </TAG> from *AT on, move *AT behind it, and decode it to OUT.
 * False: there is none. */
static bool next_text(const char **at, const char *tag, struct osc_strbuf *out)
{
    char begin[64], end[64];

    snprintf(begin, sizeof begin, "<%s>", tag);
    snprintf(end, sizeof end, "</%s>", tag);
    const char *const from = *at ? strstr(*at, begin) : NULL;
    const char *const to = from ? strstr(from, end) : NULL;
    osc_strbuf_clear(out);
    if (!to)
        return false;
    add_xml(out, from + strlen(begin), (size_t)(to - from) - strlen(begin));
    *at = to + strlen(end);
    return out->status == OSC_OK;
}

/* Copy the wanted objects that BODY lists, which is about those below PREFIX. */
static osc_status copy_listed(struct copying *c, const char *body, const char *prefix,
                              struct osc_err *err)
{
    struct osc_strbuf key = {0};
    const char *at = body;
    osc_status st = OSC_OK;

    while (st == OSC_OK && next_text(&at, "Key", &key)) {
        const char *const slash = key.s ? strrchr(key.s, '/') : NULL;
        const size_t n = strlen(prefix);

        if (key.s && key.len == strlen(key.s) && strncmp(key.s, prefix, n) == 0 &&
            c->how->wants(slash ? slash + 1 : key.s))
            st = copy_object(c, key.s, key.s + n, NULL, err);
    }
    osc_strbuf_fini(&key);
    return st;
}

/* Copy all wanted objects below PREFIX, page after page of the list. */
static osc_status copy_prefix(struct copying *c, const char *prefix, const char *shown,
                              struct osc_err *err)
{
    struct osc_strbuf body = {0}, url = {0}, token = {0};
    osc_status st = OSC_OK;
    bool has_more = true;

    while (st == OSC_OK && has_more) {
        osc_strbuf_clear(&url);
        osc_strbuf_addf(&url, "%s/?", c->base.s);
        if (token.len > 0) { /* in the order of names, in which they are signed */
            osc_strbuf_adds(&url, "continuation-token=");
            add_encoded(&url, token.s, false);
            osc_strbuf_addc(&url, '&');
        }
        osc_strbuf_adds(&url, "list-type=2&prefix=");
        add_encoded(&url, prefix, false);
        st = url.status == OSC_OK ? get_page(c, url.s, shown, &body, err) : url.status;
        if (st == OSC_OK && (!body.s || !strstr(body.s, "<ListBucketResult")))
            st = osc_fail(err, OSC_EIO, "%s: the server does not answer as S3 does", shown);
        if (st == OSC_OK)
            st = copy_listed(c, body.s, prefix, err);
        const char *at = body.s;
        has_more = st == OSC_OK && next_text(&at, "NextContinuationToken", &token);
    }
    osc_strbuf_fini(&body);
    osc_strbuf_fini(&url);
    osc_strbuf_fini(&token);
    return st;
}

static osc_status get_s3(struct copying *c, const char *url, struct osc_strbuf *path,
                         struct osc_err *err)
{
    const char *const name = url + strlen("s3://"), *const slash = strchr(name, '/');
    struct osc_strbuf bucket = {0}, prefix = {0};
    const char *const key = slash ? slash + 1 : "", *const last = strrchr(key, '/');
    osc_status st = OSC_OK;

    osc_strbuf_add(&bucket, name, slash ? (size_t)(slash - name) : strlen(name));
    if (bucket.len == 0) {
        osc_strbuf_fini(&bucket);
        return osc_fail(err, OSC_EINVAL, "%s: it names no bucket", url);
    }
    st = bucket.status == OSC_OK ? prepare_s3(c, bucket.s) : bucket.status;
    if (st == OSC_OK && c->how->wants(last ? last + 1 : key)) {
        st = copy_object(c, key, last ? last + 1 : key, path, err);
    } else if (st == OSC_OK) {
        osc_strbuf_adds(&prefix, key);
        if (prefix.len > 0 && prefix.s[prefix.len - 1] != '/')
            osc_strbuf_addc(&prefix, '/');
        st = prefix.status == OSC_OK ? copy_prefix(c, prefix.s, url, err) : prefix.status;
        if (st == OSC_OK && c->n_files == 0)
            st = osc_fail(err, OSC_ENOTFOUND, "%s: no traces are below it", url);
        if (st == OSC_OK)
            osc_strbuf_adds(path, c->dir);
    }
    osc_strbuf_fini(&bucket);
    osc_strbuf_fini(&prefix);
    osc_strbuf_fini(&c->base);
    return st;
}

osc_status osc_remote_get(struct osc_strbuf *path, const char *url, const char *dir,
                          const struct osc_remote_how *how, struct osc_err *err)
{
    const struct store *const store = find_store(url);
    struct copying c = {.dir = dir, .how = how};

    if (store)
        return osc_fail(err, OSC_EINVAL, "%.60s: %s is not read: %s", url, store->scheme,
                        store->way_out);
    osc_status st = strncmp(url, "s3://", 5) == 0 ? get_s3(&c, url, path, err)
                                                  : get_http(&c, url, path, err);

    if (how->progress)
        (void)how->progress(how->ctx, NULL, 0, 0);
    if (st == OSC_OK)
        st = path->status;
    return st == OSC_ENOMEM ? osc_fail(err, st, "out of memory") : st;
}
