/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "codec/json.h"
#include "support/unit.h"

/* Two operators, one of them twice. */
static const char text[] =
    "{\"traceEvents\": ["
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a<b>\",\"pid\":1,\"tid\":1,\"ts\":1,"
    "\"dur\":9},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":3},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":20,"
    "\"dur\":1}]}";

static char path[] = "/tmp/opscope-api-XXXXXX";
static struct osc_api *api;

/* What a client got. */
static struct {
    struct osc_api_head head;
    char type[64], tag[96];
    struct osc_strbuf body;
    unsigned n_heads, n_works;
    bool is_gone;
    size_t gone_after; /* bytes; 0: never */
} got;

static void begin(void *ctx, const struct osc_api_head *head)
{
    (void)ctx;
    got.head = *head;
    got.n_heads++;
    snprintf(got.type, sizeof got.type, "%s", head->type ? head->type : "");
    snprintf(got.tag, sizeof got.tag, "%s", head->tag ? head->tag : "");
}

static int write_body(void *ctx, const char *s, size_t len)
{
    (void)ctx;
    assert_int_equal(got.n_heads, 1);
    osc_strbuf_add(&got.body, s, len);
    got.is_gone |= got.gone_after > 0 && got.body.len >= got.gone_after;
    return got.is_gone ? -1 : 0;
}

static bool is_gone(void *ctx)
{
    (void)ctx;
    return got.is_gone;
}

static void begin_work(void *ctx)
{
    (void)ctx;
    got.n_works++;
}

static const struct osc_api_sink sink = {
    .begin = begin, .write = write_body, .is_gone = is_gone, .work = begin_work};

static bool ask_as(const char *method, const char *target, const char *known,
                   struct osc_cancel *cancel)
{
    const struct osc_api_request r = {method, target, known, cancel};

    got.n_heads = got.n_works = 0;
    got.is_gone = false;
    osc_strbuf_clear(&got.body);
    const bool is_whole = osc_api_answer(api, &r, &sink);
    assert_int_equal(got.n_heads, 1);
    return is_whole;
}

/* Ask for TARGET; returns the status. */
static int ask(const char *target)
{
    (void)ask_as("GET", target, NULL, NULL);
    return got.head.status;
}

static void write_trace(const char *s)
{
    FILE *const f = fopen(path, "we");

    assert_non_null(f);
    assert_true(fputs(s, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
    const char *const paths = path;
    const struct osc_keeper_run runs[] = {{.name = "one", .paths = &paths, .n_paths = 1},
                                          {.name = "two", .paths = &paths, .n_paths = 1}};
    const struct osc_api_config config = {
        .keeper = {.runs = runs, .n_runs = 2, .least_look_ns = 1000000}};

    (void)state;
    memcpy(strrchr(path, '-') + 1, "XXXXXX", sizeof "XXXXXX");
    const int fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0)
        return -1;
    write_trace(text);
    memset(&got, 0, sizeof got);
    return osc_api_new(&api, &config) == OSC_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    if (!osc_api_stop(api))
        return -1;
    osc_api_free(api);
    osc_strbuf_fini(&got.body);
    return unlink(path);
}

static int keep_text(void *ctx, const char *s, size_t len)
{
    osc_strbuf_add(ctx, s, len);
    return 0;
}

TEST_WITH(tables_are_those_of_the_library, set_up, tear_down)
{
    static const struct osc_question q = {.table = "operators", .sort = "calls"};
    static const char *const forms[] = {"text", "csv", "json", "jsonl", "md"};
    const char *const paths = path;
    struct osc_set *set = NULL;
    char target[100];

    (void)state;
    assert_int_equal(osc_set_open(&set, &paths, 1, NULL, NULL), OSC_OK);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct osc_strbuf expected = {0};
        const struct osc_layout layout = {
            .format = forms[i], .write = keep_text, .ctx = &expected};

        assert_int_equal(osc_ask_text(set, NULL, &q, &layout, NULL), OSC_OK);
        snprintf(target, sizeof target, "/api/v1/table/operators?sort=calls&format=%s",
                 forms[i]);
        assert_int_equal(ask(target), 200);
        assert_int_equal(got.n_works, 1);
        assert_string_equal(got.body.s, expected.s);
        osc_strbuf_fini(&expected);
    }
    osc_set_release(set);
}

TEST_WITH(a_switch_may_have_an_empty_value_or_none, set_up, tear_down)
{
    static const char *const targets[] = {"/api/v1/table/operators?format=csv&merge",
                                          "/api/v1/table/operators?format=csv&merge=",
                                          "/api/v1/table/operators?format=csv&merge=1"};

    (void)state;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ask(targets[i]), 200);
    assert_int_equal(ask("/api/v1/table/operators?format=csv&merge=no"), 400);
    assert_int_equal(ask("/api/v1/table/operators?format=csv&sort"), 400);
}

TEST_WITH(known_answers_are_not_sent_again, set_up, tear_down)
{
    static const char target[] = "/api/v1/table/steps?format=csv";
    char tag[96];

    (void)state;
    assert_int_equal(ask(target), 200);
    memcpy(tag, got.tag, sizeof tag);
    assert_true(strncmp(tag, "W/\"", 3) == 0);
    assert_true(ask_as("GET", target, tag, NULL));
    assert_int_equal(got.head.status, 304);
    assert_int_equal(got.body.len, 0);
    assert_int_equal(got.n_works, 0);
    assert_true(ask_as("GET", "/api/v1/table/steps?format=md", tag, NULL));
    assert_int_equal(got.head.status, 200);
}

TEST_WITH(errors_are_json, set_up, tear_down)
{
    static const struct {
        const char *target;
        int status;
        const char *code;
    } cases[] = {
        {"/", 404, "\"unknown_endpoint\""},
        {"/api/v1/", 404, "\"unknown_endpoint\""},
        {"/api/v1/sesion", 404, "\"unknown_endpoint\""},
        {"/api/v1/session/more", 404, "\"unknown_endpoint\""},
        {"/api/v1/table", 404, "\"unknown_endpoint\""},
        {"/api/v1/table/", 404, "\"unknown_table\""},
        {"/api/v1/table/steps/more", 404, "\"unknown_table\""},
        {"/api/v1/table/steps?run=x", 404, "\"unknown_run\""},
        {"/api/v1/table/steps?fp=0", 409, "\"changed\""},
        {"/api/v1/cells?tracks=0:1&from=0&to=1&px=1&fp=0", 409, "\"changed\""},
        {"/api/v1/cells?tracks=99:1&from=0&to=1&px=1", 400, "\"bad_request\""},
        {"/api/v1/values?series=0&from=0&to=1&px=1&fp=0", 409, "\"changed\""},
        {"/api/v1/flows?tracks=0&from=0&to=1&px=1&fp=0", 409, "\"changed\""},
        {"/api/v1/names/0?fp=0", 409, "\"changed\""},
        {"/api/v1/tracks?fp=0", 409, "\"changed\""},
        {"/api/v1/event/0?fp=0", 409, "\"changed\""},
        {"/api/v1/flame?fp=0", 409, "\"changed\""},
        {"/api/v1/runs?fp=0", 409, "\"changed\""},
        {"/api/v1/table/siblings?event=0&fp=0", 409, "\"changed\""},
        {"/api/v1/table/diff_steps?base=two&fp=0", 409, "\"changed\""},
        {"/api/v1/table/diff_steps", 400, "\"bad_request\""},
        {"/api/v1/table/steps?base=one", 400, "\"bad_request\""},
        {"/api/v1/table/steps?threads=1", 400, "\"bad_request\""},
        {"/api/v1/table/steps?%", 400, "\"bad_request\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct osc_str value;

        assert_int_equal(ask(cases[i].target), cases[i].status);
        assert_true(osc_json_check((struct osc_str){got.body.s, (uint32_t)got.body.len}, NULL));
        assert_true(osc_json_member(osc_str_c(got.body.s), "code", &value));
        assert_true(osc_str_eq(value, osc_str_c(cases[i].code)));
    }
    assert_true(ask_as("POST", "/api/v1/session", NULL, NULL));
    assert_int_equal(got.head.status, 405);
}

/* Of two runs the fingerprint is that of the first. */
TEST_WITH(a_fingerprint_is_of_the_run_that_is_asked_about, set_up, tear_down)
{
    static const char *const targets[] = {"table/diff_steps?base=two", "event/1", "flame?px=9",
                                          "runs?run=one", "tracks?run=one"};
    struct osc_keeping now;
    char target[128];

    (void)state;
    assert_int_equal(ask("/api/v1/tracks"), 200);
    osc_keeper_look(osc_api_keeper(api), 0, &now);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        snprintf(target, sizeof target, "/api/v1/%s%cfp=%s", targets[i],
                 strchr(targets[i], '?') ? '&' : '?', now.fingerprint);
        assert_int_equal(ask(target), 200);
    }
}

TEST_WITH(two_runs_compare, set_up, tear_down)
{
    (void)state;
    assert_int_equal(ask("/api/v1/table/diff_operators?run=one&base=two&format=csv"), 200);
    assert_non_null(strstr(got.body.s, "a<b>"));
}

TEST_WITH(a_question_can_be_stopped, set_up, tear_down)
{
    struct osc_cancel *const cancel = osc_cancel_new();

    (void)state;
    assert_int_equal(ask("/api/v1/table/steps"), 200); /* it is loaded */
    osc_cancel_pull(cancel);
    assert_true(ask_as("GET", "/api/v1/table/operators?format=csv", NULL, cancel));
    assert_int_equal(got.head.status, 504);
    assert_int_equal(ask("/api/v1/table/operators?format=csv"), 200);
    osc_cancel_free(cancel);
}

TEST_WITH(a_packet_can_be_stopped, set_up, tear_down)
{
    static const char *const asked[] = {"cells?tracks=0:9&from=0&to=1000&px=10",
                                        "flows?tracks=0&from=0&to=1000&px=10"};
    struct osc_cancel *const cancel = osc_cancel_new();
    char target[100];

    (void)state;
    osc_cancel_pull(cancel);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        snprintf(target, sizeof target, "/api/v1/%s", asked[i]);
        assert_int_equal(ask(target), 200);
        assert_true(ask_as("GET", target, NULL, cancel));
        assert_int_equal(got.head.status, 504);
        assert_int_equal(ask(target), 200);
    }
    osc_cancel_free(cancel);
}

TEST_WITH(a_client_that_leaves_ends_the_answer, set_up, tear_down)
{
    (void)state;
    got.gone_after = 1;
    assert_false(ask_as("GET", "/api/v1/table/events?format=csv", NULL, NULL));
    got.gone_after = 0;
    assert_int_equal(ask("/api/v1/table/events?format=csv"), 200);
}

TEST_WITH(a_stream_tells_of_changes, set_up, tear_down)
{
    (void)state;
    got.gone_after = strlen("event: load");
    (void)ask_as("GET", "/api/v1/progress", NULL, NULL);
    assert_string_equal(got.type, "text/event-stream");
    assert_true(strncmp(got.body.s, "event: ", 7) == 0);
    got.gone_after = 0;
    assert_int_equal(ask("/api/v1/table/operators?format=csv&limit=1"), 200);
    char tag[96];
    memcpy(tag, got.tag, sizeof tag);
    write_trace("{\"traceEvents\": [{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"new\","
                "\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}]}");
    struct osc_keeping now;
    osc_keeper_look(osc_api_keeper(api), 0, &now);
    char before[OSC_KEEPER_PRINT_BYTES];
    memcpy(before, now.fingerprint, sizeof before);
    for (int i = 0; i < 200 && strcmp(before, now.fingerprint) == 0; i++) {
        assert_true(osc_keeper_wait_for_change(osc_api_keeper(api), 0, now.serial, 100000000));
        osc_keeper_look(osc_api_keeper(api), 0, &now);
    }
    assert_string_not_equal(before, now.fingerprint);
    assert_true(ask_as("GET", "/api/v1/table/operators?format=csv&limit=1", tag, NULL));
    assert_int_equal(got.head.status, 200);
    assert_non_null(strstr(got.body.s, "\nnew,"));
}

/* Copy the label of name NUMBER of run two, as names/PAGE has it, to LABEL. */
static void get_label(uint32_t number, struct osc_strbuf *label)
{
    char target[40];
    struct osc_str names, name, value;

    snprintf(target, sizeof target, "/api/v1/names/%u?run=two",
             number / OSC_API_NAMES_PER_PAGE);
    assert_int_equal(ask(target), 200);
    assert_true(osc_json_member(osc_str_c(got.body.s), "names", &names));
    for (uint32_t i = 0; i <= number % OSC_API_NAMES_PER_PAGE; i++)
        assert_true(osc_json_next(&names, &name));
    assert_true(osc_json_next(&name, &value) && osc_json_next(&name, &value));
    osc_strbuf_clear(label);
    osc_strbuf_addstr(label, value);
}

TEST_WITH(labels_are_told_apart_over_all_pages, set_up, tear_down)
{
    struct osc_strbuf s = {0}, first = {0}, last = {0};

    (void)state;
    osc_strbuf_adds(&s, "{\"traceEvents\": [");
    for (unsigned i = 0; i < 600; i++)
        osc_strbuf_addf(&s,
                        "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s%u%s\",\"pid\":1,"
                        "\"tid\":1,\"ts\":%u,\"dur\":1}",
                        i > 0 ? "," : "",
                        i == 0 || i == 599 ? "void at::native::gemm<" : "plain ",
                        i == 599 ? 1 : i, i == 0 || i == 599 ? ">(float*, int)" : "", 2 * i);
    osc_strbuf_adds(&s, "]}");
    write_trace(s.s);
    get_label(0, &first);
    get_label(599, &last);
    assert_string_not_equal(first.s, last.s);
    assert_non_null(strstr(first.s, "gemm"));
    assert_non_null(strstr(last.s, "gemm"));
    osc_strbuf_fini(&s);
    osc_strbuf_fini(&first);
    osc_strbuf_fini(&last);
}

TEST_WITH(catalog_and_session_are_json, set_up, tear_down)
{
    static const char *const targets[] = {"/api/v1/session", "/api/v1/catalog", "/api/v1/runs"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ask(targets[i]), 200);
        assert_true(osc_json_check((struct osc_str){got.body.s, (uint32_t)got.body.len}, NULL));
    }
}

UNIT_MAIN("api")
