/* SPDX-License-Identifier: Apache-2.0 */
#include "api/url.h"

#include <string.h>

#include "base/mem.h"

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode the LEN bytes at FROM to *TO, which moves behind the terminator. */
static osc_status decode(char **to, const char *from, size_t len, bool is_query,
                         struct osc_err *err)
{
    const char *const end = from + len;
    char *out = *to;

    while (from < end) {
        char c = *from++;

        if (c == '+' && is_query) {
            c = ' ';
        } else if (c == '%') {
            const int high = from < end ? digit(from[0]) : -1;
            const int low = high >= 0 && from + 1 < end ? digit(from[1]) : -1;

            if (low < 0)
                return osc_fail(err, OSC_EINVAL,
                                "a percent sign in the address is not followed by two "
                                "hexadecimal digits");
            c = (char)(high << 4 | low);
            from += 2;
        }
        if (c == '\0')
            return osc_fail(err, OSC_EINVAL, "the address has a NUL");
        *out++ = c;
    }
    *out++ = '\0';
    *to = out;
    return OSC_OK;
}

static osc_status read_pair(struct osc_url *u, char **to, const char *pair, size_t len,
                            struct osc_err *err)
{
    const char *const equals = memchr(pair, '=', len);
    const size_t n = equals ? (size_t)(equals - pair) : len;
    osc_status st = OSC_OK;

    if (u->n_pairs == OSC_URL_PAIRS_MAX)
        return osc_fail(err, OSC_EINVAL, "the query has more than %u parts", OSC_URL_PAIRS_MAX);
    struct osc_url_pair *const p = &u->pairs[u->n_pairs++];
    p->name = *to;
    st = decode(to, pair, n, true, err);
    if (st == OSC_OK && equals) {
        p->value = *to;
        st = decode(to, equals + 1, len - n - 1, true, err);
    }
    return st;
}

osc_status osc_url_read(struct osc_url *u, const char *target, struct osc_err *err)
{
    const size_t n_path = strcspn(target, "?#");
    const char *p = target + n_path;
    char *to = NULL;

    *u = (struct osc_url){0};
    /* Decoding never makes text longer; each part ends in a NUL instead of its delimiter. */
    u->text = to = osc_malloc(strlen(target) + 2);
    if (!to)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    u->path = to;
    if (target[0] != '/')
        return osc_fail(err, OSC_EINVAL, "the address does not begin with a slash");
    osc_status st = decode(&to, target, n_path, false, err);
    while (st == OSC_OK && (*p == '?' || *p == '&')) {
        const size_t len = strcspn(++p, "&#");

        if (len > 0)
            st = read_pair(u, &to, p, len, err);
        p += len;
    }
    return st;
}

void osc_url_fini(struct osc_url *u)
{
    osc_free(u->text);
    *u = (struct osc_url){0};
}

const char *osc_url_get(const struct osc_url *u, const char *name)
{
    for (unsigned i = u->n_pairs; i > 0; i--) {
        const struct osc_url_pair *const p = &u->pairs[i - 1];

        if (strcmp(p->name, name) == 0)
            return p->value ? p->value : "";
    }
    return NULL;
}
