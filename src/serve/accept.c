/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/accept.h"

#include <string.h>
#include <strings.h>

#define BLANKS " \t"

/* Whether the parameters from P to END have the weight 0: "; q=0", "; q=0.00". */
static bool is_refused(const char *p, const char *end)
{
    for (; p < end; p++) {
        if (*p != ';')
            continue;
        p += 1 + strspn(p + 1, BLANKS);
        if (p + 2 > end || strncasecmp(p, "q=", 2) != 0)
            continue;
        for (p += 2; p < end && (*p == '0' || *p == '.'); p++)
            ;
        return p == end || strchr(BLANKS ";", *p);
    }
    return false;
}

bool osc_accept_takes(const char *accepted, const char *coding)
{
    const size_t n = strlen(coding);
    bool takes_any = false;

    for (const char *p = accepted ? accepted : ""; *p; p += *p == ',') {
        p += strspn(p, BLANKS);
        const char *const end = p + strcspn(p, ",");
        const size_t len = strcspn(p, BLANKS ",;");

        if (len == n && strncasecmp(p, coding, n) == 0)
            return !is_refused(p + len, end);
        if (len == 1 && *p == '*')
            takes_any = !is_refused(p + len, end);
        p = end;
    }
    return takes_any;
}
