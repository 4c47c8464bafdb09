/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "base/utf8.h"
#include "cli/sqlite_memory.h"
#include "render/wrap.h"

/* Two paths of the maximum length, and a sentence. */
#define MESSAGE_BYTES (2 * PATH_MAX + 512)

static const char *command_name;
static bool is_plain;
static struct osc_strbuf *captured; /* gets messages instead of standard error; or NULL */
static int output = STDOUT_FILENO;
static const char *output_name = "standard output";
static bool writes_file; /* an incomplete file is useless */
static int write_errno;

void osc_cli_capture(struct osc_strbuf *to)
{
    captured = to;
}

void osc_cli_set_command(const char *name)
{
    command_name = name;
}

/* Print a message; on a terminal on several lines if it WRAPS. */
__attribute__((format(printf, 2, 0))) static void print_message(bool wraps, const char *format,
                                                                va_list ap)
{
    char text[MESSAGE_BYTES];
    struct osc_strbuf line = {0}, wrapped = {0};
    const size_t width = wraps ? osc_cli_width(STDERR_FILENO) : 0;

    /* Names of files and texts of traces must not control a terminal. */
    vsnprintf(text, sizeof text, format, ap);
    osc_utf8_append_terminal(&line, osc_str_c(text));
    for (char *p = text; line.status != OSC_OK && *p; p++) { /* no memory to escape it */
        if (*p < ' ' || *p > '~')
            *p = '?';
    }
    const char *const said = line.status == OSC_OK && line.s ? line.s : text;
    const char *const blank = command_name ? " " : "";
    const char *const name = command_name ? command_name : "";

    if (captured) {
        osc_strbuf_adds(captured, said);
        osc_strbuf_addc(captured, '\n');
        osc_strbuf_fini(&line);
        return;
    }
    if (width > 0) {
        osc_strbuf_addf(&wrapped, "opscope%s%s: ", blank, name);
        osc_wrap_message(&wrapped, osc_str_c(said), width);
    }
    fflush(stdout);
    if (wrapped.s && wrapped.status == OSC_OK)
        fprintf(stderr, "%s\n", wrapped.s);
    else
        fprintf(stderr, "opscope%s%s: %s\n", blank, name, said);
    osc_strbuf_fini(&wrapped);
    osc_strbuf_fini(&line);
}

void osc_cli_error(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    print_message(false, format, ap);
    va_end(ap);
}

void osc_cli_say(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    print_message(true, format, ap);
    va_end(ap);
}

int osc_cli_misuse(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    print_message(false, format, ap);
    va_end(ap);
    return OSC_EXIT_MISUSED;
}

int osc_cli_fail(osc_status st, const struct osc_err *err)
{
    if (write_errno == EPIPE) /* the reader of the pipe has ended, such as head */
        return writes_file ? OSC_EXIT_FAILED : OSC_EXIT_DONE;
    if (write_errno != 0)
        osc_cli_error("%s: %s", output_name, strerror(write_errno));
    else
        osc_cli_error("%s", err->message[0] ? err->message : osc_status_text(st));
    return st == OSC_EINVAL ? OSC_EXIT_MISUSED : OSC_EXIT_FAILED;
}

static struct sigaction pipe_action; /* of SIGPIPE at the start */

/*
 * From this size on, each block of malloc() is a mapping of its own, which returns to the
 * system as soon as it is freed. So the process holds little more memory than is counted. The
 * blocks that threads allocate for each unit of text are smaller.
 */
#define MAPPED_FROM_BYTES (1 << 20)

void osc_cli_start(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};

    /*
     * The next file that is opened would get a closed standard descriptor. Fill the gaps with
     * descriptors that fail on use, so that output to a closed one is noticed.
     */
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC) < 0)
            _exit(OSC_EXIT_FAILED);
    }
#ifdef M_MMAP_THRESHOLD
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_FROM_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, 2 * MAPPED_FROM_BYTES);
#endif
    osc_sqlite_lend_memory();
    /* An interrupt may end the process anywhere, even in a read() that waits; output.h removes
     * unfinished files. */
    sigaction(SIGPIPE, &ignore, &pipe_action);
}

void osc_cli_be_plain(void)
{
    is_plain = true;
}

void osc_cli_unstart(void)
{
    sigaction(SIGPIPE, &pipe_action, NULL);
}

void osc_cli_redirect(int fd, const char *name)
{
    output = fd;
    output_name = name;
    writes_file = true;
}

osc_status osc_cli_write(void *ctx, const char *s, size_t len)
{
    (void)ctx;
    while (len > 0) {
        const ssize_t n = write(output, s, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            write_errno = errno;
            return errno == EPIPE ? OSC_ECANCELED : OSC_EIO;
        }
        s += n;
        len -= (size_t)n;
    }
    return OSC_OK;
}

int osc_cli_put(void *ctx, const char *s, size_t len)
{
    return osc_cli_write(ctx, s, len) == OSC_OK ? 0 : -1;
}

void osc_cli_hear(void *ctx, const char *line)
{
    (void)ctx;
    osc_cli_say("%s", line);
}

unsigned osc_cli_width(int fd)
{
    struct winsize size;

    if (is_plain || !isatty(fd))
        return 0;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= OSC_CLI_WIDTH_LEAST)
        return size.ws_col;
    return 80;
}

bool osc_cli_takes_escapes(int fd)
{
    const char *term = getenv("TERM");

    return !is_plain && isatty(fd) && term && strcmp(term, "dumb") != 0;
}

bool osc_cli_has_colour(void)
{
    const char *no_colour = getenv("NO_COLOR");

    return osc_cli_takes_escapes(STDOUT_FILENO) && !(no_colour && no_colour[0]);
}
