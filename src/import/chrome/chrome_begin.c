/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/chrome_begin.h"

#include "base/str.h"

static bool has(const char *text, size_t len, const char *member)
{
    return osc_str_has((struct osc_str){text, (uint32_t)len}, osc_str_c(member));
}

bool osc_chrome_begins(const char *text, size_t len)
{
    size_t at = 0;

    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        at = 3;
    while (at < len && (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r')))
        at++;
    if (at == len || (text[at] != '{' && text[at] != '['))
        return true;
    return has(text, len, "\"traceEvents\"") || has(text, len, "\"ph\"") ||
           (has(text, len, "\"schemaVersion\"") && has(text, len, "\"deviceProperties\""));
}
