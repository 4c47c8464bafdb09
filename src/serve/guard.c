/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/guard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

osc_status osc_guard_make_token(struct osc_guard *g)
{
    unsigned char bytes[(OSC_TOKEN_BYTES - 1) / 2];
    ssize_t n;

    do {
        n = getrandom(bytes, sizeof bytes, 0);
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof bytes)
        return OSC_EIO;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(g->token + 2 * i, 3, "%02x", bytes[i]);
    return OSC_OK;
}

/* The length of the name or address in TEXT, "NAME:PORT" or "[ADDRESS]:PORT", which begins at
 * *START; 0: it is malformed. */
static size_t host_of(const char *text, const char **start)
{
    size_t len;

    *start = text;
    if (text[0] == '[') {
        *start = text + 1;
        len = strcspn(*start, "]");
        if ((*start)[len] != ']')
            return 0;
        text = *start + len + 1;
    } else {
        len = strcspn(text, ":");
        text += len;
    }
    if (*text == '\0')
        return len;
    if (*text != ':' || text[1 + strspn(text + 1, "0123456789")] != '\0')
        return 0;
    return len;
}

/* Whether the LEN bytes at S are 127.N.N.N. */
static bool is_loopback_address(const char *s, size_t len)
{
    unsigned dots = 0, digits = 0, value = 0;

    if (len < 4 || strncmp(s, "127.", 4) != 0)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '.') {
            if (digits == 0)
                return false;
            dots++;
            digits = value = 0;
        } else if (s[i] >= '0' && s[i] <= '9' && digits < 3) {
            value = value * 10 + (unsigned)(s[i] - '0');
            digits++;
            if (value > 255)
                return false;
        } else {
            return false;
        }
    }
    return dots == 3 && digits > 0;
}

static bool is_name(const char *s, size_t len, const char *name)
{
    return strlen(name) == len && strncasecmp(s, name, len) == 0;
}

bool osc_guard_knows_host(const struct osc_guard *g, const char *text)
{
    const char *s;
    const size_t len = host_of(text, &s);

    if (len == 0)
        return false;
    if (is_name(s, len, "localhost") || is_name(s, len, "::1") || is_loopback_address(s, len))
        return true;
    for (size_t i = 0; i < g->n_names; i++)
        if (is_name(s, len, g->names[i]))
            return true;
    return false;
}

/* Whether ORIGIN is a page of HOST. */
static bool is_own_origin(const char *origin, const char *host)
{
    static const char *const schemes[] = {"http://", "https://"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        const size_t len = strlen(schemes[i]);

        if (strncasecmp(origin, schemes[i], len) == 0)
            return strcasecmp(origin + len, host) == 0;
    }
    return false;
}

const char *osc_guard_refusal(const struct osc_guard *g, const struct osc_guard_headers *h,
                              bool is_page)
{
    const bool opens_page = is_page && h->fetch_mode && h->fetch_dest &&
                            strcmp(h->fetch_mode, "navigate") == 0 &&
                            strcmp(h->fetch_dest, "document") == 0;

    if (!h->host)
        return "the request names no host";
    if (!g->is_behind_proxy && !osc_guard_knows_host(g, h->host))
        return "this server is not called so; --hosts NAME adds a name";
    const bool is_own = !h->fetch_site || strcmp(h->fetch_site, "same-origin") == 0 ||
                        strcmp(h->fetch_site, "none") == 0;
    if (!is_own && !opens_page)
        return "a page of another site or port asks";
    if (h->origin && !is_own_origin(h->origin, h->host))
        return "a page of another origin asks";
    return NULL;
}

bool osc_guard_is_token(const struct osc_guard *g, const char *token, size_t len)
{
    unsigned differs = 0;

    if (len != OSC_TOKEN_BYTES - 1)
        return false;
    for (size_t i = 0; i < len; i++)
        differs |= (unsigned char)token[i] ^ (unsigned char)g->token[i];
    return differs == 0;
}

bool osc_guard_has_cookie(const struct osc_guard *g, const char *cookie)
{
    const size_t n = strlen(g->cookie);

    for (const char *p = cookie; p && *p;) {
        p += strspn(p, "; ");
        const size_t len = strcspn(p, ";");

        if (len > n && strncmp(p, g->cookie, n) == 0 && p[n] == '=' &&
            osc_guard_is_token(g, p + n + 1, len - n - 1))
            return true;
        p += len;
    }
    return false;
}

bool osc_guard_take_token(const struct osc_guard *g, const char *target, bool *is_right,
                          struct osc_strbuf *rest)
{
    static const char name[] = "token=";
    const char *p = strchr(target, '?');
    char between = '?';
    bool has_one = false;

    *is_right = false;
    if (!p)
        return false;
    osc_strbuf_add(rest, target, (size_t)(p - target));
    while (*p) {
        const size_t len = strcspn(++p, "&");

        if (strncmp(p, name, sizeof name - 1) == 0) {
            has_one = true;
            *is_right |= osc_guard_is_token(g, p + sizeof name - 1, len - (sizeof name - 1));
        } else if (len > 0) {
            osc_strbuf_addc(rest, between);
            osc_strbuf_add(rest, p, len);
            between = '&';
        }
        p += len;
    }
    return has_one;
}
