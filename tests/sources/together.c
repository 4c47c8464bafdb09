/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clients of OpenCL, Level Zero, NVTX and CUDA as one program, for
 * tests/sources/together.py, which compiles their main() under the names below.
 *
 *     together return|_exit|signal|child
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int opencl_main(int argc, char **argv);
int level_zero_main(int argc, char **argv);
int nvtx_main(int argc, char **argv);
int cuda_main(int argc, char **argv);

struct client {
    const char *name;
    int (*run)(int argc, char **argv);
    char *argv[3];
    int status;
};

static void *run_client(void *data)
{
    struct client *const c = data;

    (void)pthread_setname_np(pthread_self(), c->name);
    c->status = c->run(2, c->argv);
    return NULL;
}

/* Each client on a thread of its own, at the same time. */
static void run_all(void)
{
    static char plain[] = "plain", torch[] = "torch", name[] = "client";
    struct client clients[] = {{"opencl", opencl_main, {name, plain}, -1},
                               {"level-zero", level_zero_main, {name, plain}, -1},
                               {"nvtx", nvtx_main, {name, torch}, -1},
                               {"cuda", cuda_main, {name, plain}, -1}};
    pthread_t threads[sizeof clients / sizeof *clients];

    for (size_t i = 0; i < sizeof clients / sizeof *clients; i++)
        pthread_create(&threads[i], NULL, run_client, &clients[i]);
    for (size_t i = 0; i < sizeof clients / sizeof *clients; i++) {
        pthread_join(threads[i], NULL);
        printf("%s %d\n", clients[i].name, clients[i].status);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static char last[] = "return";
    const char *const what = argc > 1 ? argv[1] : last;

    run_all();
    if (strcmp(what, "_exit") == 0)
        _exit(5);
    if (strcmp(what, "signal") == 0)
        raise(SIGTERM);
    if (strcmp(what, "child") == 0) {
        int status = 0;
        const pid_t child = fork();

        if (child == 0)
            execv("/proc/self/exe", (char *[]){argv[0], last, NULL});
        waitpid(child, &status, 0);
        printf("child %d\n", WEXITSTATUS(status));
    }
    return 4;
}
