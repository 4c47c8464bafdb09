/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/host/handler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

static bool is_caught(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
           action.sa_handler != SIG_IGN;
}

bool osc_handler_may_run(void)
{
    const int kept = errno;
    sigset_t blocked;
    bool may_run = pthread_sigmask(SIG_BLOCK, NULL, &blocked) != 0;

    for (int i = 1; i <= SIGRTMAX && !may_run; i++)
        may_run = sigismember(&blocked, i) == 1 && is_caught(i);
    errno = kept;
    return may_run;
}
