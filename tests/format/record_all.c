/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_all.c - make records of every kind with the recorder.
 *
 * Usage: record_all FILE end|kill|wait|parts|partskill|allparts|whole|flightkill|dumpkill
 *   end     ends as programs do
 *   kill    kills itself before anything was ended
 *   wait    prints "ready" and waits until its standard input ends, then goes on
 *   parts   is limited in size, so that the recording comes in parts
 *   partskill   the same, and kills itself as soon as there is a second part
 *   allparts    has a limit that leaves all parts
 *   whole       records the same without a limit
 *   flightkill is a flight recorder that holds only part of the records, and kills itself
 *   dumpkill    the same, with a dump in between
 */
#include <opscope/record.h>
#include <opscope/source.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static osc_name op, inner, key, shapes, async_name, counter;

static void scopes(int i)
{
    static const int64_t list[] = {1, -2, INT64_MIN};
    const osc_name pairs[] = {osc_name_c("strides"), osc_name_c("[[3,1],[]]"), shapes,
                              osc_name_c("[7]")};

    osc_begin(OSC_SCOPE_OPERATOR, op);
    osc_arg_json(shapes, "[[8,3],[]]", 10);
    osc_args_json(osc_name_of((const char *)pairs, sizeof pairs));
    osc_arg_i64(key, -i);
    if (i % 4 == 0)
        osc_arg_stack();
    osc_begin((enum osc_scope_kind)(i % OSC_SCOPE_KIND_COUNT), inner);
    osc_arg_f64(key, i / 3.0);
    osc_end();
    osc_arg_bool(osc_name_c("late"), i % 2);
    osc_arg_name(osc_name_c("name"), inner);
    osc_arg_text(osc_name_c("text"), "a \"text\"", 8);
    osc_arg_i64s(osc_name_c("list"), list, 3);
    osc_instant(inner);
    osc_arg_i64(key, i);
    const uint64_t start = osc_now();
    osc_complete(OSC_SCOPE_PLAIN, inner, start);
    osc_counter_i64(counter, i);
    osc_counter_f64(counter, i / 7.0);
    osc_end();
}

static void memory(int i)
{
    const uint64_t address = 4096u * (uint64_t)(i + 1);

    osc_memory_alloc(OSC_DEVICE_CPU, address, 64);
    osc_arg_stack();
    osc_memory_alloc_total(OSC_DEVICE_CPU, address + 64, 64, 128, UINT64_MAX);
    osc_memory_free(OSC_DEVICE_CPU, address, 64);
    osc_memory_free_total(OSC_DEVICE_CPU, address + 64, 64, 0, 4096);
}

static void device_work(void)
{
    const struct osc_device_info info = {
        .type = "npu",
        .index = 1,
        .name = "A big one",
        .memory_bytes = 1u << 30,
        .limits = {.n_units = 40, .major = 2, .threads_per_block = 256}};
    const uint32_t npu = osc_device_add(&info), queue = osc_queue_add(npu, "compute");
    const uint64_t now = osc_now();

    osc_device_clock(npu, now, 1000, now + 100);
    osc_device_clock(npu, now + 1000000, 2001000, now + 1000100);
    osc_begin(OSC_SCOPE_RUNTIME, inner);
    const uint64_t id = osc_launch();
    osc_end();
    const struct osc_work_info work = {.kind = OSC_WORK_MEMCPY,
                                       .name = op,
                                       .append_ticks = 1500,
                                       .start_ticks = 2000,
                                       .end_ticks = 9000,
                                       .correlation = id,
                                       .bytes = 77};
    osc_work(queue, &work);
    osc_begin(OSC_SCOPE_OPERATOR, op);
    const struct osc_work_info kernel = {.kind = OSC_WORK_KERNEL,
                                         .name = inner,
                                         .start_ticks = 9000,
                                         .end_ticks = 9500,
                                         .correlation = osc_launch()};
    osc_end();
    osc_work(queue, &kernel);
}

static void *other_thread(void *unused)
{
    osc_thread_name("other");
    osc_flow_end(5);
    for (int i = 0; i < 300; i++)
        scopes(i);
    osc_async_end(OSC_SCOPE_PLAIN, async_name, 9);
    return unused;
}

static void record(void)
{
    pthread_t thread;

    op = osc_name_c("aten::op");
    inner = osc_name_c("inner");
    key = osc_name_c("key");
    shapes = osc_name_c("Input Dims");
    async_name = osc_name_c("request");
    counter = osc_name_c("counter");
    osc_process_name("record_all");
    osc_metadata("model", "none");
    osc_async_begin(OSC_SCOPE_PLAIN, async_name, 9);
    osc_flow_begin(5);
    device_work();
    for (int i = 0; i < 400; i++) {
        if (i % 100 == 0)
            (void)osc_step();
        scopes(i);
        memory(i);
    }
    osc_step_end();
    osc_pause();
    scopes(1);
    osc_resume();
    if (pthread_create(&thread, NULL, other_thread, NULL) == 0)
        pthread_join(thread, NULL);
    osc_end(); /* without a begin */
    osc_begin(OSC_SCOPE_PLAIN, op);
    osc_arg_i64(key, 1);
}

/* Record until the flusher has begun the part after OUT, which ends in .osc, or has already
 * deleted that part. */
static void record_second_part(const char *out)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    char path[4096];

    (void)snprintf(path, sizeof path, "%.*s.2.osc", (int)(strlen(out) - strlen(".osc")), out);
    for (int i = 0; i < 1000 && access(path, F_OK) != 0 && access(out, F_OK) == 0; i++) {
        record();
        (void)nanosleep(&pause, NULL);
    }
}

/* Fill the flight recorder's memory, so that names and metadata are no longer in it; with a
 * dump if ask_for_one is set. */
static void fly_on(bool ask_for_one)
{
    const struct timespec pause = {.tv_nsec = 30000000};

    for (int i = 0; i < 10; i++) {
        if (i == 5 && ask_for_one)
            (void)osc_dump();
        (void)osc_step();
        scopes(i);
        (void)nanosleep(&pause, NULL);
    }
}

int main(int argc, char **argv)
{
    struct osc_start_options o = {.size = sizeof o};
    const char *mode = argc > 2 ? argv[2] : "";

    if (argc < 3)
        return 2;
    o.out = argv[1];
    if (strncmp(mode, "parts", 5) == 0)
        o.limit_bytes = 1u << 18;
    if (strcmp(mode, "allparts") == 0)
        o.limit_bytes = 2u << 20;
    const bool has_dump = strcmp(mode, "dumpkill") == 0;
    const bool is_flight = has_dump || strcmp(mode, "flightkill") == 0;
    if (is_flight)
        o.flight_ns = 100000000;
    if (osc_start(&o) != OSC_OK)
        return 1;
    const bool is_long = o.limit_bytes || strcmp(mode, "whole") == 0;
    for (int i = 0; i < (is_long ? 12 : 1); i++)
        record();
    if (strcmp(mode, "partskill") == 0)
        record_second_part(o.out);
    if (is_flight)
        fly_on(has_dump);
    if (is_flight || strcmp(mode, "kill") == 0 || strcmp(mode, "partskill") == 0)
        (void)raise(SIGKILL);
    if (strcmp(mode, "wait") == 0) {
        puts("ready");
        fflush(stdout);
        (void)getchar();
    }
    return osc_stop() == OSC_OK ? 0 : 1;
}
