/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of ITT with a minimal static part of its own: it loads the library that
 * INTEL_LIBITTNOTIFY64 names, lets it fill pointers, and records tasks.
 *
 *   client nest | late | kill | open | ends | fork | parts | threads | signals | exec PROGRAM
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sources/itt/itt_abi.h"

#define N_THREADS 300
#define N_TASKS   50000

typedef struct osc_itt_domain *domain;
typedef struct osc_itt_string *handle;
typedef struct osc_itt_id id;

static domain (*domain_create)(const char *);
static handle (*string_handle_create)(const char *);
static void (*task_begin)(domain, id, id, handle);
static void (*task_end)(domain);
static void (*region_begin)(domain, id, id, handle);
static void (*region_end)(domain, id);
static void (*frame_end)(domain, const id *);
static int (*event_create)(const char *, int);
static int (*event_end)(int);

static struct osc_itt_api apis[] = {
    {.name = "__itt_domain_create", .function = (osc_itt_function *)&domain_create},
    {.name = "__itt_string_handle_create",
     .function = (osc_itt_function *)&string_handle_create},
    {.name = "__itt_task_begin", .function = (osc_itt_function *)&task_begin},
    {.name = "__itt_task_end", .function = (osc_itt_function *)&task_end},
    {.name = "__itt_region_begin", .function = (osc_itt_function *)&region_begin},
    {.name = "__itt_region_end", .function = (osc_itt_function *)&region_end},
    {.name = "__itt_frame_end_v3", .function = (osc_itt_function *)&frame_end},
    {.name = "__itt_event_create", .function = (osc_itt_function *)&event_create},
    {.name = "__itt_event_end", .function = (osc_itt_function *)&event_end},
    {.name = NULL},
};
static struct osc_itt_global part = {
    .version_major = OSC_ITT_MAJOR, .version_build = 20230630, .apis = apis};

static const id none;

static void load(void)
{
    const char *const name = getenv("INTEL_LIBITTNOTIFY64");
    void *const library = name ? dlopen(name, RTLD_LAZY) : NULL;
    void (*init)(struct osc_itt_global *, int) = NULL;

    memcpy(part.magic, OSC_ITT_MAGIC, sizeof part.magic);
    if (library)
        *(void **)&init = dlsym(library, "__itt_api_init");
    if (init)
        init(&part, -1);
}

static void begin(const char *name)
{
    if (task_begin)
        task_begin(domain_create("PyTorch"), none, none, string_handle_create(name));
}

static void end(void)
{
    if (task_end)
        task_end(domain_create("PyTorch"));
}

static void nest(void)
{
    begin("iteration_0");
    begin("aten::linear");
    begin("aten::addmm");
    end();
    end();
    end();
}

/* Tasks with objects that are older than the collector, and with a domain that is off. */
static void use_what_was_there(void)
{
    struct osc_itt_domain early = {.name = "early"};
    struct osc_itt_string name = {.text = "made before"};

    part.version_build = 20111111;
    part.domain_list = &early;
    part.string_list = &name;
    load();
    if (early.flags) {
        task_begin(&early, none, none, &name);
        task_end(&early);
    }
}

/* Six ends of what has not begun, and a task and a region that are whole. */
static int unmatched_ends(void)
{
    const domain d = domain_create("ends"), other = domain_create("other");
    const id first = {1, 0, 0}, second = {2, 0, 0};

    if (!region_end || !frame_end || !event_end)
        return 1;
    task_end(d);
    task_begin(d, none, none, string_handle_create("whole"));
    task_end(other);
    task_end(d);
    task_end(d);
    region_begin(d, first, none, string_handle_create("region"));
    region_end(d, second);
    region_end(d, first);
    frame_end(d, NULL);
    event_end(event_create("event", 5));
    return 0;
}

/* Tasks of one domain within those of another one. */
static void *nest_domains(void *arg)
{
    const domain outer = domain_create("outer"), inner = domain_create("inner, too");

    for (int i = 0; i < 20; i++) {
        task_begin(outer, none, none, string_handle_create("step"));
        task_begin(inner, none, none, string_handle_create("load"));
        task_end(inner);
        task_begin(inner, none, none, string_handle_create("compute"));
        task_end(inner);
        task_end(outer);
    }
    return arg;
}

static int several_domains(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, nest_domains, NULL) != 0)
        return 1;
    (void)nest_domains(NULL);
    return pthread_join(thread, NULL);
}

static int fork_without_exec(void)
{
    int status = 0;

    begin("aten::parent");
    const pid_t child = fork();
    if (child == 0) {
        begin("aten::child");
        end();
        _exit(3);
    }
    end();
    return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3 ? 0 : 1;
}

static void *one_task(void *name)
{
    begin(name);
    end();
    return NULL;
}

static int many_threads(void)
{
    char name[] = "aten::one_of_many";

    for (int i = 0; i < N_THREADS; i += 10) {
        pthread_t threads[10];

        for (int k = 0; k < 10; k++) {
            if (pthread_create(&threads[k], NULL, one_task, name) != 0)
                return 1;
        }
        for (int k = 0; k < 10; k++)
            pthread_join(threads[k], NULL);
    }
    return 0;
}

static volatile sig_atomic_t n_signals;

static void on_signal(int number)
{
    (void)number;
    n_signals++;
    begin("aten::handler");
    end();
}

/* Tasks, and other tasks in a signal handler that runs at any time. */
static int interrupted_tasks(void)
{
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};

    signal(SIGALRM, on_signal);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < N_TASKS || n_signals < 20; i++) {
        begin("aten::task");
        end();
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%d\n", (int)n_signals);
    return 0;
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    int status = 0;

    if (strcmp(what, "late") == 0) {
        use_what_was_there();
        return 0;
    }
    load();
    if (strcmp(what, "ends") == 0)
        return unmatched_ends();
    if (strcmp(what, "domains") == 0)
        return several_domains();
    if (strcmp(what, "fork") == 0)
        return fork_without_exec();
    if (strcmp(what, "threads") == 0)
        return many_threads();
    if (strcmp(what, "signals") == 0)
        return interrupted_tasks();
    if (strcmp(what, "parts") == 0) {
        part.version_build = 20250807;
        load();
    }
    nest();
    if (strcmp(what, "kill") == 0 || strcmp(what, "open") == 0) {
        begin("aten::left_open");
        begin("aten::done");
        end();
    }
    if (strcmp(what, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(what, "exec") == 0 && argc > 2) {
        execv(argv[2], (char *[]){argv[2], (char[]){"nest"}, NULL});
        status = 1;
    }
    puts("done");
    return status;
}
