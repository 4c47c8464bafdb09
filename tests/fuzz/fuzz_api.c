/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of the viewer (api/api.h), about a small trace: a line is a target, behind a letter
 * that says by which method. Each must get one head and a body that fits it: JSON if it is an
 * error.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "base/strbuf.h"
#include "codec/json.h"

#define TARGET_MAX 8192
#define BODY_MAX   (8u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] =
    "{\"schemaVersion\":1,\"traceEvents\":["
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":5,"
    "\"dur\":9,\"args\":{\"Input Dims\":[[2,3]]}},"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#3\",\"pid\":1,\"tid\":1,"
    "\"ts\":4,\"dur\":20},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k<int>\",\"pid\":0,\"tid\":7,\"ts\":8,\"dur\":"
    "2,"
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}}]}";

/* A response. */
struct response {
    struct osc_strbuf body;
    int status;
    bool is_binary;
    unsigned n_heads;
};

static void begin(void *ctx, const struct osc_api_head *head)
{
    struct response *const r = ctx;

    r->status = head->status;
    r->is_binary = head->type && strcmp(head->type, "application/octet-stream") == 0;
    r->n_heads++;
}

static int append(void *ctx, const char *s, size_t len)
{
    struct response *const r = ctx;

    if (r->n_heads != 1)
        abort();
    osc_strbuf_add(&r->body, s, len);
    return r->body.len > BODY_MAX ? -1 : 0;
}

/* A stream would not end. */
static bool is_gone(void *ctx)
{
    (void)ctx;
    return false;
}

static void ask(struct osc_api *api, const char *method, const char *target)
{
    struct response r = {.n_heads = 0};
    const struct osc_api_sink sink = {
        .begin = begin, .write = append, .is_gone = is_gone, .ctx = &r};
    const struct osc_api_request request = {.method = method, .target = target};

    if (strstr(target, "progress")) /* it ends with the client only */
        return;
    (void)osc_api_answer(api, &request, &sink);
    if (r.n_heads != 1 || r.status < 200 || r.status > 504)
        abort();
    if (r.body.status == OSC_OK && r.status >= 400 &&
        !osc_json_check((struct osc_str){r.body.s, (uint32_t)r.body.len}, NULL))
        abort();
    if (r.body.status == OSC_OK && r.is_binary && memcmp(r.body.s, "osccols1", 8) != 0 &&
        memcmp(r.body.s, "OSCT", 4) != 0 && memcmp(r.body.s, "OSCV", 4) != 0 &&
        memcmp(r.body.s, "OSCF", 4) != 0)
        abort();
    osc_strbuf_fini(&r.body);
}

static struct osc_api *open_api(void)
{
    static char path[] = "/tmp/fuzz_api_XXXXXX";
    static const char *const paths = path;
    static const struct osc_keeper_run runs[] = {
        {.name = "one", .paths = &paths, .n_paths = 1},
        {.name = "t<w>o", .paths = &paths, .n_paths = 1}};
    const struct osc_api_config config = {
        .keeper = {.runs = runs, .n_runs = 2, .least_look_ns = INT64_MAX / 4}};
    const int fd = mkstemp(path);
    struct osc_api *api;

    if (fd < 0 || write(fd, text, sizeof text - 1) != (ssize_t)sizeof text - 1 ||
        close(fd) != 0 || osc_api_new(&api, &config) != OSC_OK)
        abort();
    ask(api, "GET", "/api/v1/table/diff_steps?format=csv&base=t<w>o"); /* loads both */
    (void)unlink(path);
    return api;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct osc_api *api;
    char target[TARGET_MAX];

    if (!api)
        api = open_api();
    for (size_t at = 0; at < size;) {
        const uint8_t *const end = memchr(data + at, '\n', size - at);
        const size_t n = end ? (size_t)(end - data) - at : size - at;
        const size_t len = n > 0 ? n - 1 : 0;

        if (n > 0 && len < sizeof target) {
            memcpy(target, data + at + 1, len);
            target[len] = '\0';
            ask(api, data[at] == 'P' ? "POST" : data[at] == 'H' ? "HEAD" : "GET", target);
        }
        at += n + 1;
    }
    return 0;
}
