/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/itt/itt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/record_double.h"

void __itt_api_init(struct osc_itt_global *g, int groups); /* NOLINT: of ITT */
const char *__itt_api_version(void);                       /* NOLINT */
__attribute__((noinline)) void _ZN5torch8profiler8itt_markEPKc(const char *name); /* NOLINT */

/* --- a client: its static part, and the calls that go through it ----------------------- */

static const char *const names[] = {"domain_create",
                                    "string_handle_create",
                                    "task_begin",
                                    "task_end",
                                    "task_begin_fn",
                                    "task_begin_ex",
                                    "task_end_ex",
                                    "task_begin_overlapped",
                                    "task_end_overlapped",
                                    "task_begin_overlapped_ex",
                                    "task_end_overlapped_ex",
                                    "counter_set_value_ex",
                                    "region_begin",
                                    "region_end",
                                    "task_group",
                                    "frame_begin_v3",
                                    "frame_end_v3",
                                    "frame_submit_v3",
                                    "marker",
                                    "marker_ex",
                                    "relation_add",
                                    "relation_add_to_current",
                                    "metadata_add",
                                    "metadata_str_add",
                                    "metadata_str_add_with_scope",
                                    "counter_create",
                                    "counter_create_typed",
                                    "counter_create_v3",
                                    "counter_set_value",
                                    "counter_inc",
                                    "counter_inc_delta",
                                    "counter_dec_delta",
                                    "counter_inc_delta_v3",
                                    "bind_context_metadata_to_counter",
                                    "event_create",
                                    "event_start",
                                    "event_end",
                                    "mark_create",
                                    "mark",
                                    "mark_global",
                                    "pause",
                                    "resume",
                                    "pause_scoped",
                                    "detach",
                                    "thread_set_name",
                                    "thr_name_set",
                                    "thread_ignore",
                                    "clock_domain_create",
                                    "clock_domain_reset",
                                    "get_timestamp",
                                    "api_version"};

#define N_NAMES (sizeof names / sizeof *names)

struct client {
    struct osc_itt_global whole, *g;
    osc_itt_function functions[N_NAMES + 2];
    struct osc_itt_api apis[N_NAMES + 3];
    char names[N_NAMES][48];
};

static void null_function(void)
{
}

/* The static part of build BUILD; its memory ends after the fields which that build has. */
static void client_init(struct client *c, unsigned long build)
{
    memset(c, 0, sizeof *c);
    c->g = build < OSC_ITT_BUILD_COUNTERS
               ? test_calloc(1, offsetof(struct osc_itt_global, state))
               : &c->whole;
    memcpy(c->g->magic, OSC_ITT_MAGIC, 8);
    c->g->version_major = OSC_ITT_MAJOR;
    c->g->version_build = build;
    for (size_t i = 0; i < N_NAMES; i++) {
        snprintf(c->names[i], sizeof c->names[i], "__itt_%s", names[i]);
        c->apis[i].name = c->names[i];
    }
    c->apis[N_NAMES].name = "__itt_sync_prepare";
    c->apis[N_NAMES + 1].name = "__itt_of_the_future";
    for (size_t i = 0; i < N_NAMES + 2; i++) {
        c->apis[i].function = &c->functions[i];
        c->apis[i].null_function = null_function;
    }
    c->g->apis = c->apis;
}

/* The client of most tests. It has called __itt_api_init(). */
static struct client one;

static osc_itt_function find(const char *name)
{
    for (size_t i = 0; i < N_NAMES; i++) {
        if (strcmp(names[i], name) == 0)
            return one.functions[i];
    }
    fail_msg("the test has no %s", name);
    return NULL;
}

typedef struct osc_itt_domain *domain;
typedef struct osc_itt_string *handle;
typedef struct osc_itt_id id;

static const id none;

#define CALL(type, name, ...) ((type(*)(__VA_ARGS__))find(name))

static domain domain_of(const char *name)
{
    return CALL(domain, "domain_create", const char *)(name);
}

static handle text(const char *s)
{
    return CALL(handle, "string_handle_create", const char *)(s);
}

static void begin_with(const char *d, id own, id parent, const char *name)
{
    CALL(void, "task_begin", domain, id, id, handle)(domain_of(d), own, parent, text(name));
}

static void begin(const char *d, const char *name)
{
    begin_with(d, none, none, name);
}

static void end(const char *d)
{
    CALL(void, "task_end", domain)(domain_of(d));
}

static int start_log(void **state)
{
    (void)state;
    double_clear();
    double_frozen = 0;
    double_callback = NULL;
    return 0;
}

#define SAID(text) assert_string_equal(double_log, text)

/* --- start ---------------------------------------------------------------------------- */

static void leaves_alone_what_it_does_not_know(void **state)
{
    struct client c;

    (void)state;
    client_init(&c, 20230630);
    c.g->magic[0] ^= 1;
    __itt_api_init(c.g, -1);
    c.g->magic[0] ^= 1;
    c.g->version_major = 4;
    __itt_api_init(c.g, -1);
    __itt_api_init(NULL, -1);
    assert_null(c.functions[0]);
    assert_int_equal(double_n_starts, 0);
}

static void does_nothing_where_nobody_wants_it(void **state)
{
    static const char *const settings[][2] = {
        {"OPSCOPE", "0"}, {"OPSCOPE_SOURCES", "none"}, {"OPSCOPE_SOURCES", "api,ittx"}};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct client c;

        client_init(&c, 20230630);
        setenv(settings[i][0], settings[i][1], 1);
        __itt_api_init(c.g, -1);
        unsetenv(settings[i][0]);
        for (size_t k = 0; k < N_NAMES + 2; k++)
            assert_ptr_equal(c.functions[k], null_function);
        assert_int_equal(double_n_starts, 0);
    }
}

static void gives_functions_and_reports_itself(void **state)
{
    (void)state;
    setenv("OPSCOPE_SOURCES", "api,itt", 1);
    client_init(&one, 20230630);
    one.g->version_minor = 25;
    __itt_api_init(one.g, -1);
    unsetenv("OPSCOPE_SOURCES");
    for (size_t i = 0; i < N_NAMES; i++)
        assert_ptr_not_equal(one.functions[i], null_function);
    assert_ptr_equal(one.functions[N_NAMES], null_function);
    assert_ptr_equal(one.functions[N_NAMES + 1], null_function);
    assert_int_equal(double_n_starts, 1);
    SAID("metadata source.itt=version 3.25, build 20230630, 51 of 53 functions\n");
    assert_string_equal(CALL(const char *, "api_version", void)(), __itt_api_version());
    assert_true(CALL(uint64_t, "get_timestamp", void)() > 0);
}

static void takes_over_what_an_old_static_part_made(void **state)
{
    struct osc_itt_domain d = {.name = "PyTorch"};
    struct osc_itt_string s = {.text = "aten::mm"};
    struct client old;

    (void)state;
    client_init(&old, 20111111); /* its memory ends behind string_list */
    old.g->domain_list = &d;
    old.g->string_list = &s;
    __itt_api_init(old.g, -1);
    assert_int_equal(double_n_starts, 1);
    assert_int_equal(d.flags, 1);
    double_clear();
    CALL(void, "task_begin", domain, id, id, handle)(&d, none, none, &s);
    CALL(void, "task_begin", domain, id, id, handle)
    (domain_of("PyTorch"), none, none, text("aten::mm"));
    CALL(void, "task_end", domain)(domain_of("PyTorch"));
    CALL(void, "task_end", domain)(&d);
    SAID("begin operator aten::mm\nbegin operator aten::mm\nend\nend\n");
    test_free(old.g);
}

static void takes_over_counters_where_the_layout_is_known(void **state)
{
    struct osc_itt_counter c = {.name = "bytes", .domain = "io", .type = OSC_ITT_S32};
    struct client newer;
    int32_t value = -5;

    (void)state;
    client_init(&newer, 20230630);
    newer.g->counter_list = &c;
    __itt_api_init(newer.g, -1);
    double_clear();
    CALL(void, "counter_set_value", void *, void *)(&c, &value);
    SAID("counter io/bytes=-5\n");
}

/* --- tasks ----------------------------------------------------------------------------------
 */

static void makes_operators_and_annotations_of_pytorchs_tasks(void **state)
{
    (void)state;
    begin("PyTorch", "iteration_0");
    begin("PyTorch", "aten::linear");
    end("PyTorch");
    end("PyTorch");
    SAID("begin annotation iteration_0\nbegin operator aten::linear\nend\nend\n");
}

/* Like PyTorch's: begins and ends a task. */
void _ZN5torch8profiler8itt_markEPKc(const char *name)
{
    const domain d = domain_of("PyTorch");

    CALL(void, "task_begin", domain, id, id, handle)(d, none, none, text(name));
    CALL(void, "task_end", domain)(d);
}

static void makes_an_instant_of_pytorchs_mark(void **state)
{
    (void)state;
    begin("PyTorch", "outer");
    _ZN5torch8profiler8itt_markEPKc("half way");
    end("PyTorch");
    SAID("begin annotation outer\ninstant half way\nend\n");

    double_clear();
    begin("PyTorch", "a range around nothing");
    end("PyTorch");
    SAID("begin annotation a range around nothing\nend\n");
}

static void notes_the_domain_of_other_tasks(void **state)
{
    (void)state;
    begin("tbb", "tbb_parallel_for");
    end("tbb");
    SAID("begin scope tbb_parallel_for\narg domain=tbb\nend\n");
}

static void records_ends_that_have_no_begin_as_those_of_ranges(void **state)
{
    (void)state;
    end("PyTorch");
    begin("a", "x");
    end("b");
    end("a");
    end("a");
    SAID("async end #1\n"
         "begin scope x\narg domain=a\n"
         "async end #2\n"
         "end\n"
         "async end #3\n");
}

static void ends_what_an_outer_end_leaves_open(void **state)
{
    (void)state;
    begin("a", "outer");
    begin("b", "inner");
    begin("b", "innermost");
    double_clear();
    end("a");
    SAID("counter sources: ranges ended by one around them=1\narg unbalanced=true\nend\n"
         "counter sources: ranges ended by one around them=2\narg unbalanced=true\nend\nend\n");
    double_clear();
    end("b");
    SAID("async end #1\n");
}

static void nests_deeper_than_it_looks(void **state)
{
    size_t n = 0;

    (void)state;
    for (int i = 0; i < 500; i++)
        begin("PyTorch", "a::b");
    for (int i = 0; i < 500; i++)
        end("PyTorch");
    for (const char *s = double_log; (s = strstr(s, "end\n")); s++)
        n++;
    assert_int_equal(n, 500);
    double_clear();
    end("PyTorch");
    SAID("async end #1\n");
}

static void takes_tasks_without_domain_or_name(void **state)
{
    (void)state;
    CALL(void, "task_begin", domain, id, id, handle)(NULL, none, none, text("x"));
    CALL(void, "task_end", domain)(NULL);
    SAID("");
    CALL(void, "task_begin", domain, id, id, handle)(domain_of(NULL), none, none, NULL);
    CALL(void, "task_end", domain)(domain_of(""));
    SAID("begin scope \narg domain=\nend\n");
}

static void draws_arrows_from_parents_and_relations(void **state)
{
    const id parent = {0x10, 0, 0}, child = {0x20, 1, 0}, never = {0x30, 0, 0};

    (void)state;
    begin_with("g", parent, none, "node");
    end("g");
    begin_with("g", child, parent, "task");
    CALL(void, "relation_add_to_current", domain, int, id)(domain_of("g"), 1, parent);
    CALL(void, "relation_add", domain, id, int, id)(domain_of("g"), child, 5, parent);
    CALL(void, "relation_add", domain, id, int, id)(domain_of("g"), parent, 7, child);
    CALL(void, "relation_add", domain, id, int, id)(domain_of("g"), none, 1, never);
    end("g");
    begin_with("g", none, never, "of a group");
    end("g");
    SAID("begin scope node\narg domain=g\narg id='0x10'\narrow from here #1\nend\n"
         "begin scope task\narg domain=g\narg id='0x20:0x1'\narg parent='0x10'\n"
         "arrow to here #1\narrow from here #2\narrow to here #1\narrow to here #1\n"
         "instant predecessor of\narg domain=g\narg head='0x10'\narg tail='0x20:0x1'\n"
         "instant depends on\narg domain=g\narg tail='0x30'\nend\n"
         "begin scope of a group\narg domain=g\narg parent='0x30'\nend\n");
}

static void names_functions_by_their_symbol(void **state)
{
    const osc_itt_function known = (osc_itt_function)snprintf;
    char on_the_stack = 0;
    void *function;

    memcpy(&function, &known, sizeof function);
    (void)state;
    CALL(void, "task_begin_fn", domain, id, id, void *)
    (domain_of("PyTorch"), none, none, function);
    end("PyTorch");
    assert_non_null(strstr(double_log, "snprintf at "));

    double_clear();
    CALL(void, "task_begin_fn", domain, id, id, void *)
    (domain_of("PyTorch"), none, none, &on_the_stack);
    end("PyTorch");
    assert_non_null(strstr(double_log, "begin annotation 0x"));
}

/* A client's clock of 1 kHz that shows what DATA points to. */
static void tell_clock(struct osc_itt_clock_info *info, void *data)
{
    *info = (struct osc_itt_clock_info){.hz = 1000, .base = *(const uint64_t *)data};
}

static void converts_times_of_clients_clocks(void **state)
{
    uint64_t now = 5000;
    const domain d = domain_of("clock");

    (void)state;
    double_origin = double_frozen = osc_now();
    void *const clock =
        CALL(void *, "clock_domain_create", osc_itt_clock_fn, void *)(tell_clock, &now);
    double_frozen = 0;
    usleep(20000);     /* for a good measurement of the rate, ... */
    double_n_late = 3; /* ... although other threads run between readings of the two clocks */
    CALL(void, "task_begin_ex", domain, void *, uint64_t, id, id, handle)
    (d, clock, 5003, none, none, text("x"));
    CALL(void, "task_end_ex", domain, void *, uint64_t)(d, clock, 4998);
    const char *const at = strstr(double_log, " at ");
    const char *const end_at = strstr(double_log, "end at ");
    assert_non_null(at);
    assert_non_null(end_at);
    assert_in_range(strtol(at + 4, NULL, 10), 2950000, 3050000);
    assert_in_range(-strtol(end_at + 7, NULL, 10), 1950000, 2050000);

    double_clear();
    CALL(void, "task_begin_ex", domain, void *, uint64_t, id, id, handle)
    (d, NULL, double_origin + 7, none, none, text("x"));
    CALL(void, "task_end_ex", domain, void *, uint64_t)(d, NULL, double_origin + 9);
    SAID("begin scope x at 7\narg domain=clock\nend at 9\n");

    double_clear();
    now = 9000;
    double_frozen = double_origin = osc_now();
    CALL(void, "clock_domain_reset", void)();
    CALL(void, "marker_ex", domain, void *, uint64_t, id, handle, int)
    (d, clock, 9000, none, text("m"), 1);
    SAID("instant m\narg domain=clock\narg scope=global\n");

    uint64_t seven = 7;
    const id own = {9, 0, 0};

    double_clear();
    double_origin -= 5000000000; /* 5 s ago */
    CALL(void, "task_begin_overlapped_ex", domain, void *, uint64_t, id, id, handle)
    (d, NULL, double_origin + 1, own, none, text("o"));
    CALL(void, "task_end_overlapped_ex", domain, void *, uint64_t, id)
    (d, NULL, double_origin + 3, own);
    CALL(void, "counter_set_value_ex", void *, void *, uint64_t, void *)
    (CALL(void *, "counter_create", const char *, const char *)("late", NULL), NULL,
     double_origin + 4, &seven);
    SAID("async scope o #1 at 1\narg domain=clock\narg id='0x9'\nasync end #1 at 3\n"
         "counter late=7 at 4\n");
    assert_null(CALL(void *, "clock_domain_create", osc_itt_clock_fn, void *)(NULL, NULL));
}

/* --- ranges and instants -------------------------------------------------------------- */

static void keeps_overlapped_tasks_and_regions_by_their_id(void **state)
{
    const id a = {1, 0, 0}, b = {2, 0, 0};
    const domain d = domain_of("r");

    (void)state;
    CALL(void, "task_begin_overlapped", domain, id, id, handle)(d, a, none, text("A"));
    CALL(void, "region_begin", domain, id, id, handle)(d, b, a, text("B"));
    CALL(void, "task_end_overlapped", domain, id)(d, a);
    CALL(void, "region_end", domain, id)(d, b);
    SAID("async scope A #1\narg domain=r\narg id='0x1'\n"
         "async scope B #2\narg domain=r\narg id='0x2'\narg parent='0x1'\n"
         "async end #1\nasync end #2\n");
}

static void names_frames_by_their_domain(void **state)
{
    const domain d = domain_of("game");
    const id own = {0, 0, 3};

    (void)state;
    CALL(void, "frame_begin_v3", domain, const id *)(d, NULL);
    CALL(void, "frame_begin_v3", domain, const id *)(d, &own);
    CALL(void, "frame_end_v3", domain, const id *)(d, NULL);
    CALL(void, "frame_end_v3", domain, const id *)(d, &own);
    double_origin = double_frozen = osc_now();
    CALL(void, "frame_submit_v3", domain, const id *, uint64_t, uint64_t)
    (d, NULL, double_origin - 9, double_origin - 2);
    CALL(void, "frame_submit_v3", domain, const id *, uint64_t, uint64_t)
    (d, NULL, double_origin - 9, UINT64_MAX);
    SAID("async scope game #1\narg frame=true\n"
         "async scope game #2\narg frame=true\narg id='0x0:0x0:0x3'\n"
         "async end #1\nasync end #2\n"
         "complete scope game at -9 to -2\narg frame=true\n"
         "complete scope game at -9 to 0\narg frame=true\n");
}

static void makes_instants_of_markers_marks_and_groups(void **state)
{
    const domain d = domain_of("m");

    (void)state;
    CALL(void, "marker", domain, id, handle, int)(d, none, text("here"), 4);
    CALL(void, "task_group", domain, id, id, handle)(d, (id){7, 0, 0}, none, text("group"));
    const int mark = CALL(int, "mark_create", const char *)("saved");
    assert_int_equal(CALL(int, "mark_create", const char *)("saved"), mark);
    assert_int_equal(CALL(int, "mark", int, const char *)(mark, "to disk"), 0);
    assert_int_equal(CALL(int, "mark_global", int, const char *)(mark, NULL), 0);
    assert_int_equal(CALL(int, "mark", int, const char *)(0, "x"), -1);
    assert_int_equal(CALL(int, "mark", int, const char *)(4000, "x"), 0);
    SAID("instant here\narg domain=m\narg scope=task\n"
         "instant group\narg domain=m\narg id='0x7'\n"
         "instant saved\narg text=to disk\narg scope=thread\n"
         "instant saved\narg scope=global\n");
}

static void keeps_events_by_their_number(void **state)
{
    (void)state;
    const int a = CALL(int, "event_create", const char *, int)("load and more", 4);
    const int b = CALL(int, "event_create", const char *, int)("store", 5);
    assert_int_not_equal(a, b);
    CALL(int, "event_start", int)(a);
    CALL(int, "event_start", int)(b);
    CALL(int, "event_end", int)(a);
    CALL(int, "event_end", int)(b);
    SAID("async scope load #1\nasync scope store #2\nasync end #1\nasync end #2\n");
}

/* --- values --------------------------------------------------------------------------- */

static void add(id of, const char *key, int type, size_t n, void *data)
{
    CALL(void, "metadata_add", domain, id, handle, int, size_t, void *)
    (domain_of("v"), of, text(key), type, n, data);
}

static void makes_arguments_of_metadata_by_its_type(void **state)
{
    uint64_t huge = UINT64_MAX, loop[] = {1, 2, 3};
    int16_t s16 = -3;
    uint32_t u32 = 4000000000u;
    float f = 1.5f, floats[] = {0.5f, -2};

    (void)state;
    begin("PyTorch", "a::b");
    add(none, "u64", OSC_ITT_U64, 1, &huge);
    add(none, "s16", OSC_ITT_S16, 1, &s16);
    add(none, "u32", OSC_ITT_U32, 1, &u32);
    add(none, "f", OSC_ITT_FLOAT, 1, &f);
    add(none, "loop", OSC_ITT_U64, 3, loop);
    add(none, "floats", OSC_ITT_FLOAT, 2, floats);
    add(none, "nothing", OSC_ITT_U64, 0, loop);
    add(none, "unknown", 99, 1, loop);
    CALL(void, "metadata_str_add", domain, id, handle, const char *, size_t)
    (domain_of("v"), none, text("s"), "whole", 0);
    CALL(void, "metadata_str_add", domain, id, handle, const char *, size_t)
    (domain_of("v"), none, text("s"), "whole", 2);
    end("PyTorch");
    SAID("begin operator a::b\narg u64=json 18446744073709551615\narg s16=-3\n"
         "arg u32=4000000000\narg f=1.5\narg loop=[1,2,3]\narg floats=json [0.5,-2]\n"
         "arg s='whole'\narg s='wh'\nend\n");
}

static void makes_an_instant_of_metadata_about_something_else(void **state)
{
    const id own = {5, 0, 0}, other = {6, 0, 0};
    uint64_t x = 1;

    (void)state;
    add(none, "omp_metadata_loop", OSC_ITT_U64, 1, &x);
    begin_with("v", own, none, "task");
    double_clear();
    add(own, "mine", OSC_ITT_U64, 1, &x);
    add(other, "yours", OSC_ITT_U64, 1, &x);
    end("v");
    SAID("arg mine=1\ninstant yours\narg domain=v\narg id='0x6'\narg yours=1\nend\n");
    double_clear();
    CALL(void, "metadata_str_add_with_scope", domain, int, handle, const char *, size_t)
    (domain_of("v"), 1, text("model"), "resnet", 0);
    SAID("metadata model=resnet\n");
}

static void counts_through_the_declared_type(void **state)
{
    double d = 2.5;
    uint64_t u = 7, huge = UINT64_MAX;

    (void)state;
    void *const rate = CALL(void *, "counter_create_typed", const char *, const char *,
                            int)("rate", "net", OSC_ITT_DOUBLE);
    void *const n = CALL(void *, "counter_create", const char *, const char *)("n", NULL);
    assert_ptr_equal(CALL(void *, "counter_create", const char *, const char *)("n", NULL), n);
    CALL(void, "counter_set_value", void *, void *)(rate, &d);
    CALL(void, "counter_set_value", void *, void *)(n, &u);
    CALL(void, "counter_inc", void *)(n);
    CALL(void, "counter_inc_delta", void *, uint64_t)(n, 10);
    CALL(void, "counter_dec_delta", void *, uint64_t)(n, 20);
    CALL(void, "counter_set_value", void *, void *)(n, &huge);
    CALL(void, "counter_inc_delta_v3", domain, handle, uint64_t)
    (domain_of("d"), text("n"), 3);
    SAID("counter net/rate=2.5\ncounter n=7\ncounter n=8\ncounter n=18\ncounter n=-2\n"
         "counter n=1.84467e+19\ncounter d/n=3\n");
}

static void knows_counters_of_unknown_make_by_their_address(void **state)
{
    struct osc_itt_counter old = {.name = (const char *)8, .extra1 = 77, .extra2 = &old};
    uint64_t u = 7;
    char wanted[64];

    (void)state;
    CALL(void, "counter_set_value", void *, void *)(&old, &u);
    snprintf(wanted, sizeof wanted, "counter counter %p=7\n", (void *)&old);
    SAID(wanted);
    CALL(void, "counter_inc", void *)(NULL);
}

static void notes_facts_about_counters(void **state)
{
    uint64_t most = 100;
    char unit[] = "GB/s";
    const struct osc_itt_context facts[] = {{5, unit}, {10, &most}, {0, NULL}, {99, unit}};

    (void)state;
    void *const c = CALL(void *, "counter_create_v3", domain, const char *,
                         int)(domain_of("gpu"), "bandwidth", OSC_ITT_DOUBLE);
    CALL(void, "bind_context_metadata_to_counter", void *, size_t, const void *)(c, 4, facts);
    SAID("metadata gpu/bandwidth.units=GB/s\nmetadata gpu/bandwidth.max=100\n");
}

/* --- control -------------------------------------------------------------------------- */

static void pauses_once_however_often_it_is_asked(void **state)
{
    (void)state;
    CALL(void, "resume", void)();
    CALL(void, "pause", void)();
    CALL(void, "pause_scoped", int)(1);
    CALL(void, "pause_scoped", int)(2);
    begin("PyTorch", "a::b");
    CALL(void, "resume", void)();
    end("PyTorch");
    SAID("pause\nbegin operator a::b\nresume\nend\n");
}

static void *be_ignored(void *ctx)
{
    (void)ctx;
    CALL(void, "thread_set_name", const char *)("worker");
    CALL(int, "thr_name_set", const char *, int)("worker 7", 6);
    CALL(void, "thread_ignore", void)();
    begin("PyTorch", "a::b");
    end("PyTorch");
    return NULL;
}

static void names_threads_and_ignores_those_that_ask_for_it(void **state)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, be_ignored, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    SAID("thread worker\nthread worker\n");
}

static void call_again(void)
{
    double_callback = NULL;
    begin("PyTorch", "within");
    end("PyTorch");
}

static void drops_and_counts_calls_within_calls(void **state)
{
    (void)state;
    double_callback = call_again;
    begin("PyTorch", "a::b");
    end("PyTorch");
    SAID("begin operator a::b\ncounter sources: calls within calls=1\n"
         "counter sources: calls within calls=2\nend\n");
}

static void keeps_copies_of_what_clients_free(void **state)
{
    char *const name = test_malloc(12);

    (void)state;
    memcpy(name, "aten::freed", 12);
    const handle h = text(name);
    memset(name, 'x', 11);
    test_free(name);
    CALL(void, "task_begin", domain, id, id, handle)
    (domain_of("PyTorch"), none, none, h);
    end("PyTorch");
    SAID("begin operator aten::freed\nend\n");
}

static void reports_itself_in_the_child_of_a_fork(void **state)
{
    int status = 0;

    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        begin("PyTorch", "a::b");
        end("PyTorch");
        _exit(strncmp(double_log, "metadata source.itt=version 3.25", 32) != 0 ||
              !strstr(double_log, "metadata source.itt.2=") ||
              !strstr(double_log, "begin operator a::b\nend\n"));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void drops_all_after_it_was_detached(void **state)
{
    (void)state;
    CALL(void, "detach", void)();
    assert_int_equal(double_n_stops, 1);
    osc_on_ = 1;
    begin("PyTorch", "a::b");
    end("PyTorch");
    SAID("");
}

int main(void)
{
    /* In this order: the third test sets up the client of the later ones. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(leaves_alone_what_it_does_not_know, start_log),
        cmocka_unit_test_setup(does_nothing_where_nobody_wants_it, start_log),
        cmocka_unit_test_setup(gives_functions_and_reports_itself, start_log),
        cmocka_unit_test_setup(takes_over_what_an_old_static_part_made, start_log),
        cmocka_unit_test_setup(takes_over_counters_where_the_layout_is_known, start_log),
        cmocka_unit_test_setup(makes_operators_and_annotations_of_pytorchs_tasks, start_log),
        cmocka_unit_test_setup(makes_an_instant_of_pytorchs_mark, start_log),
        cmocka_unit_test_setup(notes_the_domain_of_other_tasks, start_log),
        cmocka_unit_test_setup(records_ends_that_have_no_begin_as_those_of_ranges, start_log),
        cmocka_unit_test_setup(ends_what_an_outer_end_leaves_open, start_log),
        cmocka_unit_test_setup(nests_deeper_than_it_looks, start_log),
        cmocka_unit_test_setup(takes_tasks_without_domain_or_name, start_log),
        cmocka_unit_test_setup(draws_arrows_from_parents_and_relations, start_log),
        cmocka_unit_test_setup(names_functions_by_their_symbol, start_log),
        cmocka_unit_test_setup(converts_times_of_clients_clocks, start_log),
        cmocka_unit_test_setup(keeps_overlapped_tasks_and_regions_by_their_id, start_log),
        cmocka_unit_test_setup(names_frames_by_their_domain, start_log),
        cmocka_unit_test_setup(makes_instants_of_markers_marks_and_groups, start_log),
        cmocka_unit_test_setup(keeps_events_by_their_number, start_log),
        cmocka_unit_test_setup(makes_arguments_of_metadata_by_its_type, start_log),
        cmocka_unit_test_setup(makes_an_instant_of_metadata_about_something_else, start_log),
        cmocka_unit_test_setup(counts_through_the_declared_type, start_log),
        cmocka_unit_test_setup(knows_counters_of_unknown_make_by_their_address, start_log),
        cmocka_unit_test_setup(notes_facts_about_counters, start_log),
        cmocka_unit_test_setup(pauses_once_however_often_it_is_asked, start_log),
        cmocka_unit_test_setup(names_threads_and_ignores_those_that_ask_for_it, start_log),
        cmocka_unit_test_setup(drops_and_counts_calls_within_calls, start_log),
        cmocka_unit_test_setup(keeps_copies_of_what_clients_free, start_log),
        cmocka_unit_test_setup(reports_itself_in_the_child_of_a_fork, start_log),
        cmocka_unit_test_setup(drops_all_after_it_was_detached, start_log),
    };
    return cmocka_run_group_tests_name("itt", tests, NULL, NULL);
}
