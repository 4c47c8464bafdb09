/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 500 };

void osc_log(const char *format, ...)
{
    const char *level = secure_getenv("OPSCOPE_LOG");
    char line[LINE_MAX_BYTES];
    va_list args;

    if (!level || strcmp(level, "debug") != 0)
        return;
    const int saved = errno;
    size_t len = (size_t)snprintf(line, sizeof line, "opscope[%d]: ", (int)getpid());
    va_start(args, format);
    const int n = vsnprintf(line + len, sizeof line - len, format, args);
    va_end(args);
    len = n < 0 || (size_t)n >= sizeof line - len ? sizeof line - 1 : len + (size_t)n;
    line[len++] = '\n';
    const ssize_t n_written = write(STDERR_FILENO, line, len);
    (void)n_written; /* if it failed, there is no other place to report it */
    errno = saved;
}
