/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"

#define FOLLOWS_WITHIN_NS INT64_C(10000000000)

/* Signal settings of this process, to be restored in the guest. */
struct before {
    sigset_t mask;
    struct sigaction child; /* of SIGCHLD */
};

/* In the new process: become the program, or send the errno through PIPE_FD. */
static _Noreturn void become(char *const *argv, const struct osc_child_variable *variables,
                             uint32_t n, const struct before *before, int pipe_fd)
{
    for (uint32_t i = 0; i < n; i++) {
        if (variables[i].value)
            setenv(variables[i].name, variables[i].value, 1);
        else
            unsetenv(variables[i].name);
    }
    osc_cli_unstart();
    sigaction(SIGCHLD, &before->child, NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
    execvp(argv[0], argv);

    const int why = errno;
    while (write(pipe_fd, &why, sizeof why) < 0 && errno == EINTR)
        ;
    _exit(127);
}

/* The guest while it runs. */
struct guest {
    pid_t pid;
    int status; /* as of waitpid(), once it has ended */
    bool is_stopped;
    int64_t job_signal_ns; /* when a signal of job control last came here, or 0 */
};

static bool is_job_signal(int signo)
{
    return signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU;
}

/* Forward the signal INFO to the guest, unless it got the signal already or sent it itself. */
static void send_on(const siginfo_t *info, pid_t guest)
{
    if (info->si_code > 0 || info->si_pid == guest)
        return; /* from the terminal or the kernel: sent to the whole group */
    if (info->si_code == SI_QUEUE)
        sigqueue(guest, info->si_signo, info->si_value);
    else
        kill(guest, info->si_signo);
}

static void take_signal(struct guest *g, const siginfo_t *info)
{
    if (info->si_signo == SIGCHLD)
        return;
    if (info->si_signo == SIGCONT)
        g->job_signal_ns = 0;
    else if (is_job_signal(info->si_signo))
        g->job_signal_ns = osc_clock_now_ns();
    send_on(info, g->pid);
}

/* Read from the system whether the guest is stopped. True: it has ended. */
static bool has_ended(struct guest *g)
{
    int status;
    pid_t got;

    while ((got = waitpid(g->pid, &status, WNOHANG | WUNTRACED | WCONTINUED)) == g->pid) {
        g->is_stopped = WIFSTOPPED(status);
        if (WIFSTOPPED(status) || WIFCONTINUED(status))
            continue;
        g->status = status;
        return true;
    }
    return got < 0 && errno != EINTR;
}

/* Whether a signal of job control waits here. It came after this process was continued, because
 * that removes such signals. */
static bool is_suspended_again(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGTSTP) || sigismember(&pending, SIGTTIN) ||
            sigismember(&pending, SIGTTOU));
}

/*
 * If job control has stopped the guest, stop, too, until this process is continued, and
 * continue the guest then. A guest that was stopped alone is not followed, because whoever
 * continues it need not know of this process. A guest that stops long after a signal of job
 * control has ignored that signal.
 */
static void stop_along(struct guest *g)
{
    if (!g->is_stopped || g->job_signal_ns == 0 ||
        osc_clock_now_ns() - g->job_signal_ns > FOLLOWS_WITHIN_NS)
        return;
    raise(SIGSTOP);
    g->job_signal_ns = 0;
    if (!is_suspended_again())
        kill(g->pid, SIGCONT);
}

/* With all signals blocked, wait for the end of GUEST and forward signals to it. */
static int wait_for(pid_t guest)
{
    struct guest g = {.pid = guest};
    sigset_t all;
    siginfo_t info;

    sigfillset(&all);
    while (!has_ended(&g)) {
        stop_along(&g);
        if (sigwaitinfo(&all, &info) > 0)
            take_signal(&g, &info);
    }
    return g.status;
}

/* The errno if the program could not be started; 0: it was, and its end of the pipe closed. */
static int read_errno(int pipe_fd)
{
    int why = 0;
    ssize_t n;

    do
        n = read(pipe_fd, &why, sizeof why);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof why ? why : 0;
}

osc_status osc_child_run(char *const *argv, const struct osc_child_variable *variables,
                         uint32_t n, struct osc_child_end *end)
{
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    struct before before;
    sigset_t all;
    int fds[2], status;

    *end = (struct osc_child_end){.start_unix_ns = (int64_t)time(NULL) * 1000000000};
    if (pipe2(fds, O_CLOEXEC) != 0)
        return OSC_EIO;
    /* Signals are blocked, not handled, so that none is lost before sigwaitinfo(). */
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before.mask);
    sigaction(SIGCHLD, &by_default, &before.child); /* ignored, it would lose the status */

    end->pid = fork();
    if (end->pid == 0)
        become(argv, variables, n, &before, fds[1]);
    close(fds[1]);
    if (end->pid > 0) {
        end->exec_errno = read_errno(fds[0]);
        status = wait_for(end->pid);
        end->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    close(fds[0]);
    sigaction(SIGCHLD, &before.child, NULL);
    if (end->pid > 0)
        return OSC_OK;
    sigprocmask(SIG_SETMASK, &before.mask, NULL);
    return OSC_EIO;
}

_Noreturn void osc_child_exit_as(const struct osc_child_end *end)
{
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    const struct rlimit no_core = {0, 0};
    sigset_t only;

    if (end->exec_errno != 0)
        exit(end->exec_errno == ENOENT ? 127 : 126);
    if (end->signal == 0)
        exit(end->exit_status);
    /* Only the guest's core dump is useful. */
    setrlimit(RLIMIT_CORE, &no_core);
    sigaction(end->signal, &by_default, NULL);
    sigemptyset(&only);
    sigaddset(&only, end->signal);
    raise(end->signal);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    exit(128 + end->signal); /* as a shell does, if the signal did not end the process */
}
