/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <stdio.h>
#include <string.h>

const char *osc_status_text(osc_status code)
{
    static const char *const texts[] = {
#define STATUS_TEXT(name, text) [name] = (text),
        OSC_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
    };

    return (unsigned)code < sizeof texts / sizeof texts[0] ? texts[code] : "unknown status";
}

__attribute__((format(printf, 4, 0))) static void fill(struct osc_err *err, osc_status code,
                                                       uint64_t offset, const char *format,
                                                       va_list args)
{
    err->code = code;
    err->offset = offset;
    (void)vsnprintf(err->message, sizeof err->message, format, args);
}

osc_status osc_fail(struct osc_err *err, osc_status code, const char *format, ...)
{
    va_list args;

    if (err) {
        va_start(args, format);
        fill(err, code, OSC_NO_OFFSET, format, args);
        va_end(args);
    }
    return code;
}

osc_status osc_fail_at(struct osc_err *err, osc_status code, uint64_t offset,
                       const char *format, ...)
{
    va_list args;

    if (err) {
        va_start(args, format);
        fill(err, code, offset, format, args);
        va_end(args);
    }
    return code;
}

void osc_err_prefix(struct osc_err *err, const char *format, ...)
{
    char old[sizeof err->message];
    va_list args;

    if (!err)
        return;
    memcpy(old, err->message, sizeof old);
    old[sizeof old - 1] = '\0';
    va_start(args, format);
    (void)vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);

    const size_t len = strlen(err->message);
    (void)snprintf(err->message + len, sizeof err->message - len, ": %s", old);
}
