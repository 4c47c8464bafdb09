/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope ctl`: control running recordings through their sockets. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "base/utf8.h"
#include "cli/command_options.h"
#include "cli/commands.h"
#include "cli/run/run_identity.h"
#include "cli/show.h"
#include "recording/switches.h"
#include "table/nearest.h"
#include "wire/control.h"
#include "wire/live.h"

#define LIVE ".osc.live"

/* What users ask for. */
struct request {
    const char *word;
    const char *sent;                   /* to the recording */
    const struct osc_switch_kind *list; /* what it takes; NULL: nothing */
    const char *behind;                 /* is added to each item */
};

static const struct request requests[] = {
    {"start", "start", NULL, ""},
    {"stop", "stop", NULL, ""},
    {"dump", "dump", NULL, ""},
    {"status", "status", NULL, ""},
    {"enable", "enable", &osc_switch_levels, ""},
    {"disable", "enable", &osc_switch_levels, ":0"},
    {"sample", "sample", &osc_switch_samples, ""},
};

#define N_REQUESTS (sizeof requests / sizeof *requests)

struct asking {
    const char *command; /* with its list, if it takes one */
    uint32_t n_found;    /* recordings */
    uint32_t n_failed;   /* recordings without an answer, or with an error */
};

/* Connect to the socket in the directory LIVE_PATH; -1 with errno. */
static int connect_to(const char *live_path)
{
    const struct timeval timeout = {.tv_sec = OSC_CONTROL_TIMEOUT_S};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int dir = open(live_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int fd = dir < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int why = errno;
    bool is_open = fd >= 0;

    if (is_open) {
        /* Through /proc, because the path may be too long for an address. */
        snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", dir,
                 OSC_CONTROL_SOCKET);
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
        is_open = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
        why = errno;
    }
    if (dir >= 0)
        close(dir);
    if (!is_open && fd >= 0)
        close(fd);
    errno = why;
    return is_open ? fd : -1;
}

/* Send COMMAND and read the line of the answer, without its end. */
static bool talk(int fd, const char *command, char *answer)
{
    char line[OSC_CONTROL_ASK_MAX];
    const int n = snprintf(line, sizeof line, "%s\n", command);
    size_t len = 0;
    ssize_t got = 1;

    if (write(fd, line, (size_t)n) != n)
        return false;
    while (len < OSC_CONTROL_LINE_MAX - 1 && got > 0) {
        got = read(fd, answer + len, OSC_CONTROL_LINE_MAX - 1 - len);
        len += got > 0 ? (size_t)got : 0;
    }
    answer[len] = '\0';
    answer[strcspn(answer, "\n")] = '\0';
    if (got < 0 && len == 0)
        return false;
    errno = 0;
    return len > 0;
}

static void no_answer(struct asking *a, const char *live_path)
{
    a->n_failed++;
    if (errno == ECONNREFUSED || errno == ENOENT)
        osc_cli_error(
            "%s: no answer: the program has ended; read what it left with 'opscope %s'",
            live_path, live_path);
    else if (errno == EAGAIN)
        osc_cli_error("%s: no answer within %d seconds", live_path, OSC_CONTROL_TIMEOUT_S);
    else
        osc_cli_error("%s: %s", live_path, errno ? strerror(errno) : "it hung up");
}

/* Send the command to the recording in LIVE_PATH and print its answer on a line. */
static int ask(struct asking *a, const char *live_path)
{
    char answer[OSC_CONTROL_LINE_MAX];
    struct osc_strbuf out = {0}, safe = {0};
    const int fd = connect_to(live_path);
    int failed = OSC_EXIT_DONE;

    a->n_found++;
    if (fd < 0 || !talk(fd, a->command, answer)) {
        no_answer(a, live_path);
    } else if (strncmp(answer, "ok", 2) != 0) {
        a->n_failed++;
        osc_cli_error("%s: %s", live_path, answer);
    } else {
        osc_strbuf_addf(&out, "%.*s: %s", (int)(strlen(live_path) - strlen(".live")), live_path,
                        answer[2] == ' ' ? answer + 3 : answer);
        /* Another program may listen there, and answer what controls a terminal. */
        osc_utf8_append_terminal(&safe, osc_str_c(out.s ? out.s : ""));
        osc_strbuf_addc(&safe, '\n');
        failed = out.status == OSC_OK && safe.status == OSC_OK
                     ? osc_show_text(safe.s)
                     : osc_cli_fail(OSC_ENOMEM, &(struct osc_err){0});
    }
    if (fd >= 0)
        close(fd);
    osc_strbuf_fini(&out);
    osc_strbuf_fini(&safe);
    return failed;
}

/* Whether the recording in LIVE_PATH is of a process of the run RUN_ID. */
static bool is_of_run(const char *live_path, const char *run_id)
{
    struct osc_live_header h = {0};
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s/blocks", live_path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_read = fd >= 0 && pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h;

    if (fd >= 0)
        close(fd);
    return is_read && h.magic == OSC_LIVE_MAGIC &&
           strncmp(h.run_id, run_id, sizeof h.run_id) == 0;
}

/* Send the command to every recording in the directory PATH; of the run RUN_ID, if it is not
 * NULL. */
static int ask_directory(struct asking *a, const char *path, const char *run_id)
{
    DIR *const dir = opendir(path);
    int failed = OSC_EXIT_DONE;

    for (const struct dirent *e; dir && !failed && (e = readdir(dir));) {
        char live[PATH_MAX];

        if (osc_str_ends(osc_str_c(e->d_name), OSC_STR(LIVE)) &&
            snprintf(live, sizeof live, "%s/%s", path, e->d_name) < (int)sizeof live &&
            (!run_id || is_of_run(live, run_id)))
            failed = ask(a, live);
    }
    if (dir)
        closedir(dir);
    return failed;
}

/*
 * Find the live directory of process PID by the file that it has mapped. False: it records
 * nothing, or its maps may not be read.
 */
static bool find_live(const char *pid, char *live, size_t room)
{
    static const char blocks[] = LIVE "/blocks";
    char path[64], line[PATH_MAX + 128];
    bool is_found = false;

    snprintf(path, sizeof path, "/proc/%s/maps", pid);
    FILE *const maps = fopen(path, "re");
    while (maps && !is_found && fgets(line, sizeof line, maps)) {
        const char *const start = strchr(line, '/');

        line[strcspn(line, "\n")] = '\0';
        if (!start || !osc_str_ends(osc_str_c(start), osc_str_c(blocks)))
            continue;
        is_found = snprintf(live, room, "%.*s", (int)(strlen(start) - strlen("/blocks")),
                            start) < (int)room;
    }
    if (maps)
        fclose(maps);
    return is_found;
}

/* Send the command to the recording of process PID or, if it is an `opscope run`, to those of
 * its run. */
static int ask_process(struct asking *a, const char *pid)
{
    struct osc_run_identity identity;
    char live[PATH_MAX];

    if (find_live(pid, live, sizeof live))
        return ask(a, live);
    if (!osc_run_identity_read(&identity, pid)) {
        osc_cli_error(
            "%s: no such process is recording, or it belongs to another user; a "
            "program records from its start: 'opscope run PROGRAM', or OPSCOPE_OUT=DIR "
            "if it uses libopscope",
            pid);
        return OSC_EXIT_FAILED;
    }
    const int failed = ask_directory(a, identity.directory, identity.run_id);

    if (failed || a->n_found > 0)
        return failed;
    osc_cli_error("%s: no process of this run is recording", pid);
    return OSC_EXIT_FAILED;
}

/* A number is a process unless there is a file of that name. */
static int ask_operand(struct asking *a, const char *operand)
{
    char live[PATH_MAX];
    struct stat st;
    const bool is_there = stat(operand, &st) == 0;

    if (!is_there && operand[strspn(operand, "0123456789")] == '\0' && operand[0])
        return ask_process(a, operand);
    if (is_there && S_ISDIR(st.st_mode))
        return osc_str_ends(osc_str_c(operand), OSC_STR(LIVE))
                   ? ask(a, operand)
                   : ask_directory(a, operand, NULL);
    if (osc_str_ends(osc_str_c(operand), OSC_STR(".osc")) &&
        snprintf(live, sizeof live, "%s.live", operand) < (int)sizeof live)
        return ask(a, live);
    osc_cli_error("%s: it is neither a directory of recordings, nor a recording, nor a process",
                  operand);
    return OSC_EXIT_FAILED;
}

static int no_such_request(const char *word)
{
    struct osc_nearest near = {.word = word};

    for (size_t i = 0; i < N_REQUESTS; i++)
        osc_nearest_try(&near, requests[i].word);
    if (near.best)
        return osc_cli_misuse("unknown request '%s'; did you mean '%s'?", word, near.best);
    return osc_cli_misuse(
        "unknown request '%s'; the requests are start, stop, dump, status, enable, "
        "disable and sample",
        word);
}

/* The request called WORD; NULL: there is none. */
static const struct request *find_request(const char *word)
{
    for (size_t i = 0; i < N_REQUESTS; i++)
        if (strcmp(requests[i].word, word) == 0)
            return &requests[i];
    return NULL;
}

/* Whether R takes the item of LEN bytes at S. */
static bool takes(const struct request *r, const char *s, size_t len)
{
    struct osc_switch_rule rule;

    if (memchr(s, '\n', len) || !r->list->read(s, len, &rule))
        return false;
    /* What has something added must be a category alone. */
    return r->behind[0] == '\0' || strlen(rule.pattern) == len;
}

/* Add the LIST of R to TEXT. */
static int add_list(const struct request *r, const char *list, struct osc_strbuf *text)
{
    const char *at = list, *item, *between = " ";
    size_t len;

    for (; osc_switch_next(&at, &item, &len); between = ",") {
        if (!takes(r, item, len))
            return osc_cli_misuse("%s: '%.*s' is not %s", r->word, (int)len, item,
                                  r->behind[0] == '\0' ? r->list->what : "a category");
        osc_strbuf_addf(text, "%s%.*s%s", between, (int)len, item, r->behind);
    }
    return between[0] == ' '
               ? osc_cli_misuse("%s: the list is empty; see 'opscope ctl --help'", r->word)
               : OSC_EXIT_DONE;
}

/* Write the request of ARGS to TEXT. */
static int read_request(const struct osc_args *args, struct osc_strbuf *text)
{
    const struct request *const r =
        args->n_operands > 1 ? find_request(args->operands[1]) : NULL;

    if (args->n_operands > 1 && !r)
        return no_such_request(args->operands[1]);
    if (!r || args->n_operands != (r->list ? 3 : 2))
        return osc_cli_misuse("name a recording and a request: 'opscope ctl DIR status', "
                              "'opscope ctl DIR enable LIST', or see 'opscope ctl --help'");
    osc_strbuf_adds(text, r->sent);
    return r->list ? add_list(r, args->operands[2], text) : OSC_EXIT_DONE;
}

/* Send the request TEXT to the recordings of ARGS. */
static int ask_all(const struct osc_args *args, const char *text)
{
    struct asking a = {.command = text};
    int failed;

    if (strlen(text) + 2 > OSC_CONTROL_ASK_MAX)
        return osc_cli_misuse("%s: the list is longer than %u bytes", args->operands[1],
                              OSC_CONTROL_ASK_MAX - 16);
    failed = ask_operand(&a, args->operands[0]);
    if (!failed && a.n_found == 0) {
        osc_cli_error("%s: nothing is recording into it", args->operands[0]);
        failed = OSC_EXIT_FAILED;
    }
    return failed ? failed : a.n_failed ? OSC_EXIT_FAILED : OSC_EXIT_DONE;
}

static int run(struct osc_args *args)
{
    struct osc_strbuf text = {0};
    int failed = read_request(args, &text);

    if (!failed)
        failed = text.status == OSC_OK && text.s
                     ? ask_all(args, text.s)
                     : osc_cli_fail(OSC_ENOMEM, &(struct osc_err){0});
    osc_strbuf_fini(&text);
    return failed;
}

const struct osc_command osc_command_ctl = {
    .name = "ctl",
    .bit = OSC_COMMAND_CTL,
    .operands = "DIR|PID start|stop|dump|status|enable LIST|disable LIST|sample LIST",
    .summary = "steer a running recording, or report its state",
    .text =
        "Sends a request to the recording of a process, or to all in a directory that\n"
        "'opscope run' records into, or to all of the 'opscope run' with that process number,\n"
        "and prints one line with the answer of each.\n"
        "\n"
        "  start   record from now on\n"
        "  stop    pause; open scopes are recorded until they end\n"
        "  dump    write what is in memory now; a flight recorder writes all that it keeps\n"
        "  status  report the state, what was written and what was lost\n"
        "  enable  set levels of categories: io (on), io:2 (with its details), or several\n"
        "          by commas, of which later ones win; '*' at the end of a name stands for\n"
        "          any names\n"
        "  disable switch categories off: io, or several by commas\n"
        "  sample  record some calls of scopes: parse=100 (one in 100), parse=5000/s\n"
        "          (fewer while a thread records more in a second), parse=1 (all), or\n"
        "          several by commas; '*=1' ends all sampling\n",
    .examples = "  opscope ctl rec/ status       all processes that record into rec/\n"
                "  opscope ctl 4711 dump         the process 4711\n"
                "  opscope ctl rec/ enable io,net:2\n"
                "                                scopes of io, and of net with details\n",
    .run = run,
};
