/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that uses the fake CUDA of fake_cupti.c, for tests/sources/cuda.py. It loads the
 * collector as the driver does, in cuInit().
 *
 *     cuda plain|exit|fork|kill|threads|unload|many|reset|close|busy
 *
 * SECOND is another collector, which is loaded as well.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *cuda;
static int (*launch)(const char *, uint32_t, int, int);
static int (*driver_launch)(const char *, uint32_t, int, int);
static int (*copy)(int, uint64_t, uint32_t);
static int (*peer)(uint64_t, uint32_t, uint32_t);
static int (*set)(uint64_t, uint32_t);
static int (*graph)(int, uint32_t);
static int (*sync_stream)(uint32_t);
static int (*sync_device)(void);
static int (*get_device)(void);
static int (*allocate)(uint64_t, uint64_t);
static int (*release)(uint64_t, uint64_t);
static void (*overhead)(uint32_t);
static void (*unfinished)(void);
static int (*reset)(void);

/* What the collector in the variable NAME answers. */
static int load_collector(const char *name)
{
    const char *const path = getenv(name);
    void *const library = path && *path ? dlopen(path, RTLD_NOW) : NULL;
    int (*init)(void) = NULL;

    if (library)
        *(void **)&init = dlsym(library, "InitializeInjection");
    return init ? init() : 1;
}

/* What cuInit() does. */
static void init_driver(const char *fake)
{
    printf("injection %d\n", load_collector("CUDA_INJECTION64_PATH"));
    (void)load_collector("SECOND");
    cuda = dlopen(fake, RTLD_NOW);
    if (!cuda)
        exit(3);
    *(void **)&launch = dlsym(cuda, "cudaLaunchKernel");
    *(void **)&driver_launch = dlsym(cuda, "cuLaunchKernel");
    *(void **)&copy = dlsym(cuda, "cudaMemcpyAsync");
    *(void **)&peer = dlsym(cuda, "cudaMemcpyPeerAsync");
    *(void **)&set = dlsym(cuda, "cudaMemsetAsync");
    *(void **)&graph = dlsym(cuda, "cudaGraphLaunch");
    *(void **)&sync_stream = dlsym(cuda, "cudaStreamSynchronize");
    *(void **)&sync_device = dlsym(cuda, "cudaDeviceSynchronize");
    *(void **)&get_device = dlsym(cuda, "cudaGetDevice");
    *(void **)&allocate = dlsym(cuda, "cudaMalloc");
    *(void **)&release = dlsym(cuda, "cudaFree");
    *(void **)&overhead = dlsym(cuda, "fake_overhead");
    *(void **)&unfinished = dlsym(cuda, "fake_unfinished");
    *(void **)&reset = dlsym(cuda, "cudaDeviceReset");
}

static void work(void)
{
    int n = 0;

    n += allocate(0x1000, 1 << 20);
    n += allocate(0x900000, 1 << 16);
    n += copy(1, 4096, 7);
    for (int i = 0; i < 10; i++) {
        n += get_device();
        n += launch("_ZN2at6native7add_oneILi4EfEEvPT0_", 7, 1080, 256);
    }
    n += launch("scale", 7, 54, 256);
    n += launch("other", 1 << 16 | 20, 108, 128);
    n += driver_launch("triton_fused", 7, 216, 128);
    n += graph(3, 7);
    overhead(5 << 16);
    n += copy(8, 512, 7);
    n += set(256, 7);
    n += peer(2048, 0, 1);
    n += sync_stream(7);
    n += copy(2, 4096, 7);
    n += release(0x900000, 1 << 16);
    n += sync_device();
    printf("done %d\n", n);
}

static void *work_on_thread(void *none)
{
    for (int i = 0; i < 100; i++) {
        (void)launch("kernel", 7, 108, 64);
        (void)sync_stream(7);
    }
    return none;
}

static void fork_child(void)
{
    fflush(stdout);
    const pid_t child = fork();

    if (child == 0) {
        (void)launch("in_child", 7, 1, 1);
        exit(0);
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    printf("child %d\n", status);
}

static void run_threads(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        (void)pthread_create(&threads[i], NULL, work_on_thread, NULL);
    for (int i = 0; i < 4; i++)
        (void)pthread_join(threads[i], NULL);
}

static void wait_for_kill(void)
{
    const struct timespec second = {2, 500000000};

    fflush(stdout);
    (void)nanosleep(&second, NULL);
    (void)kill(getpid(), 9);
}

static void *work_for_ever(void *none)
{
    for (;;)
        (void)work_on_thread(none);
    return none;
}

/* Leave while other threads launch. */
static void leave_busy(void)
{
    pthread_t thread;

    for (int i = 0; i < 3; i++)
        (void)pthread_create(&thread, NULL, work_for_ever, NULL);
    usleep(100000);
    exit(3);
}

static void reset_device(void)
{
    int failed = reset();

    failed += launch("after", 7, 1, 1);
    failed += sync_device();
    printf("reset %d\n", failed);
}

int main(int n, char **args)
{
    const char *const what = n > 1 ? args[1] : "plain";

    init_driver(n > 2 ? args[2] : "libcupti.so.13");
    work();
    if (strcmp(what, "fork") == 0)
        fork_child();
    if (strcmp(what, "threads") == 0)
        run_threads();
    if (strcmp(what, "reset") == 0)
        reset_device();
    for (int fd = 3; strcmp(what, "close") == 0 && fd < 1024; fd++)
        (void)close(fd);
    if (strcmp(what, "close") == 0)
        printf("closed %d\n", launch("after", 7, 1, 1));
    if (strcmp(what, "busy") == 0)
        leave_busy();
    if (strcmp(what, "unload") == 0)
        (void)dlclose(cuda);
    if (strcmp(what, "exit") == 0)
        unfinished();
    if (strcmp(what, "kill") == 0)
        wait_for_kill();
    if (strcmp(what, "graphs") == 0)
        for (int i = 0; i < 15000; i++)
            (void)graph(3, 7);
    if (strcmp(what, "many") == 0)
        for (int i = 0; i < 100000; i++)
            (void)launch("many", 7, 1 + i % 5, 64);
    return 0;
}
