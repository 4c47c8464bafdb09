/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of NVTX 3 for tests/sources/nvtx.py.
 *
 *     nvtx nest|domains|async|marks|threads|torch|fork|nulls|close|kill|busy
 */
#include <nvtx3/nvToolsExt.h>

/* The header for CUDA's runtime needs CUDA's own, of which it uses two types. */
typedef struct stream *cudaStream_t;
typedef struct event *cudaEvent_t;
#define __CUDA_RUNTIME_API_H__
#include <nvtx3/nvToolsExtCudaRt.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static nvtxEventAttributes_t attributes(const char *text)
{
    nvtxEventAttributes_t a = {0};

    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = text;
    return a;
}

static void nest(void)
{
    printf("%d", nvtxRangePushA("outer"));
    printf(" %d", nvtxRangePushW(L"inner \u00e9\u4e2d\U0001f600"));
    printf(" %d", nvtxRangePop());
    printf(" %d", nvtxRangePop());
    printf(" %d\n", nvtxRangePop()); /* one too many */
}

static void domains(void)
{
    const nvtxDomainHandle_t a = nvtxDomainCreateA("a"), b = nvtxDomainCreateW(L"b");
    nvtxEventAttributes_t e = attributes(NULL);

    nvtxDomainNameCategoryA(a, 3, "third");
    e.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    e.message.registered = nvtxDomainRegisterStringA(a, "registered");
    e.category = 3;
    e.colorType = NVTX_COLOR_ARGB;
    e.color = 0xff00ff80;
    e.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    e.payload.dValue = 2.5;
    printf("%d", nvtxDomainRangePushEx(a, &e));
    e = attributes("of b");
    e.category = 4;
    e.payloadType = NVTX_PAYLOAD_TYPE_INT32;
    e.payload.iValue = -7;
    printf(" %d", nvtxDomainRangePushEx(b, &e));
    e.size = 8; /* says nothing */
    printf(" %d", nvtxDomainRangePushEx(b, &e));
    printf(" %d", nvtxDomainRangePop(b));
    printf(" %d", nvtxDomainRangePop(a)); /* ends that of b, too */
    printf(" %d\n", nvtxDomainRangePop(b));
    nvtxDomainDestroy(a);
}

static void *end_range(void *id)
{
    nvtxRangeEnd(*(const nvtxRangeId_t *)id);
    return NULL;
}

static void async(void)
{
    nvtxRangeId_t first = nvtxRangeStartA("first");
    const nvtxRangeId_t second = nvtxRangeStartW(L"second");
    pthread_t thread;

    pthread_create(&thread, NULL, end_range, &first);
    pthread_join(thread, NULL);
    nvtxRangeEnd(second);
    printf("%d\n", first != second);
}

static void marks(void)
{
    const nvtxEventAttributes_t e = attributes("with attributes");
    nvtxResourceAttributes_t r = {0};
    int lock;

    nvtxMarkA("mark");
    nvtxMarkEx(&e);
    nvtxMarkEx(NULL);
    r.version = NVTX_VERSION;
    r.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
    r.identifierType = NVTX_RESOURCE_TYPE_GENERIC_POINTER;
    r.identifier.pValue = &lock;
    r.messageType = NVTX_MESSAGE_TYPE_ASCII;
    r.message.ascii = "the lock";
    nvtxDomainResourceDestroy(nvtxDomainResourceCreate(NULL, &r));
    nvtxNameCudaStreamA((cudaStream_t)0x20, "copies");
    nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "the loop");
}

static void torch(void)
{
    for (int i = 0; i < 3; i++) {
        char name[128];

        snprintf(name, sizeof name, "aten::mm, seq = %d, op_id = %d, sizes = [[2, 3], [3, 4]]",
                 i + 10, i);
        nvtxRangePushA(name);
        memset(name, 'x', sizeof name - 1);
        nvtxRangePushA("aten::empty, op_id = 77");
        nvtxRangePop();
        nvtxRangePop();
    }
    nvtxRangePushA("MmBackward0, seq = 12, op_id = 40");
    nvtxRangePop();
    nvtxRangePushA("my label, op_id = 90");
    nvtxRangePop();
    nvtxRangePushA("my step, seq = 3");
    nvtxRangePop();
}

static void *loop(void *n)
{
    for (long i = *(const long *)n; i > 0; i--) {
        nvtxRangePushA("work");
        nvtxRangePop();
    }
    return NULL;
}

static void threads(void)
{
    long n = 5000;
    pthread_t all[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&all[i], NULL, loop, &n);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
}

static void fork_once(void)
{
    nvtxRangePushA("parent");
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        nvtxRangePushA("child");
        nvtxRangePop();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    nvtxRangePop();
}

/* Nothing is what it should be, but for a handle that leads nowhere. */
static void give_nulls(void)
{
    nvtxEventAttributes_t e = attributes(NULL);
    nvtxResourceAttributes_t r = {0};
    const nvtxDomainHandle_t d = nvtxDomainCreateA(NULL);

    printf("%d", nvtxRangePushA(NULL));
    printf(" %d", nvtxRangePushW(NULL));
    printf(" %d", nvtxRangePushEx(NULL));
    printf(" %d", nvtxDomainRangePushEx(NULL, NULL));
    for (int i = 0; i < 4; i++)
        nvtxRangePop();
    nvtxMarkA(NULL);
    nvtxMarkW(NULL);
    e.messageType = 77;
    e.payloadType = 77;
    e.colorType = 77;
    nvtxMarkEx(&e);
    e.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    e.message.registered = NULL;
    nvtxDomainMarkEx(d, &e);
    e.message.registered = nvtxDomainRegisterStringA(NULL, NULL);
    nvtxDomainMarkEx(d, &e);
    nvtxRangeEnd(0);
    nvtxRangeEnd(nvtxRangeStartA(NULL));
    nvtxDomainRangeEnd(d, UINT64_MAX);
    nvtxDomainNameCategoryA(d, 1, NULL);
    nvtxNameOsThreadA(0, NULL);
    nvtxNameCudaStreamA(NULL, NULL);
    nvtxDomainResourceDestroy(nvtxDomainResourceCreate(NULL, NULL));
    nvtxDomainResourceDestroy(nvtxDomainResourceCreate(d, &r));
    nvtxDomainDestroy(d);
    nvtxDomainDestroy(NULL);
    printf(" %d\n", nvtxDomainRangePop(d));
}

static void close_all(void)
{
    nvtxRangePushA("before");
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    nvtxRangePushA("after");
    nvtxRangePop();
    nvtxRangePop();
}

static void be_killed(void)
{
    nvtxRangePushA("open");
    nvtxRangePushA("closed");
    nvtxRangePop();
    raise(SIGKILL);
}

static int n_looping; /* threads that have had ranges */

static void *loop_for_ever(void *none)
{
    long n = 1000;

    loop(&n);
    __atomic_add_fetch(&n_looping, 1, __ATOMIC_SEQ_CST);
    for (;;)
        loop(&n);
    return none;
}

/* Leave while other threads have ranges. */
static void leave_busy(void)
{
    pthread_t thread;

    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, loop_for_ever, NULL);
    while (__atomic_load_n(&n_looping, __ATOMIC_SEQ_CST) < 3)
        usleep(1000);
    usleep(20000);
    exit(0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"nest", nest},      {"domains", domains},  {"async", async},
               {"marks", marks},    {"torch", torch},      {"threads", threads},
               {"fork", fork_once}, {"nulls", give_nulls}, {"close", close_all},
               {"kill", be_killed}, {"busy", leave_busy}};

    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(argv[1], all[i].name) == 0)
            all[i].run();
    return 0;
}
