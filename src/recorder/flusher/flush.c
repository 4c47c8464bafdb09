/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/flush.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "recorder/flusher/backlog.h"
#include "recorder/flusher/control_socket.h"
#include "recorder/flusher/flight.h"
#include "recorder/flusher/loss_watch.h"
#include "recorder/flusher/signals.h"
#include "recorder/flusher/sink.h"
#include "recorder/flusher/status_words.h"
#include "recorder/flusher/windows.h"
#include "recorder/host/quiet.h"
#include "recorder/live/blocks.h"
#include "recorder/thread/losses.h"
#include "recorder/thread/thread_list.h"
#include "recorder/thread/ticks.h"
#include "recording/log.h"
#include "recording/open_failure.h"
#include "recording/schedule.h"

#define PART_BYTES_MIN ((uint64_t)128 << 10)
#define MS             INT64_C(1000000)
#define SECOND         INT64_C(1000000000)
#define STALL_NS       (200 * MS) /* for which free memory should last */

enum {
    FIRST_PAUSE_MS = 3,    /* before the first of them */
    PAUSE_MS = 100,        /* between two calls of look() */
    BLOCKS_WORTH_IT = 32,  /* fewer wait up to a second, to avoid tiny chunks */
    FLIGHT_WAKE_PART = 32, /* wake when this fraction of all blocks is full */
    TRIES = 20,            /* of a millisecond each, until calls under way finish */
    CRASH_WAIT_MS = 5000,
    DUMP_WAIT_MS = 60000
};

/* Requests to the flusher. */
enum request { REQUEST_STOP = 1, REQUEST_TOGGLE = 2, REQUEST_DUMP = 4, REQUEST_CRASH = 8 };

static struct {
    const struct osc_flush_core *core;
    struct osc_flush_options options;
    char out[OSC_PARTS_PATH_BYTES];
    uint32_t n_drained;  /* blocks since rated_ns */
    uint32_t n_in_stall; /* that fill in STALL_NS, estimated */

    pthread_t thread;
    pid_t pid, tid; /* of its process, and its own */
    bool is_running, has_thread;
    uint32_t requests;      /* enum request */
    uint32_t n_dumps;       /* completed; a futex */
    osc_status dump_status; /* of the last dump */
    osc_status stop_status;
    int error; /* errno of the last failure */

    struct osc_sink sink;
    struct osc_backlog backlog;
    struct osc_control control;
    bool is_writing; /* records go to a part: a window is open */
    int64_t looked_ns, rated_ns, anchored_ns, written_ns, retry_ns, reap_ns, crashed_ns;
    uint64_t early_ticks; /* begin of a slow step that was dumped before it ended */
    struct osc_clock_anchor first_anchor;
    int64_t rate_after_ns; /* age of the first anchor from which it improves the rate */
    struct osc_flight flight;
    struct osc_loss_watch losses;
    unsigned char exited[OSC_LIVE_THREADS / 8]; /* entries whose blocks were all drained */
} self;

static void nap(void)
{
    const struct timespec ms = {.tv_nsec = MS};

    (void)nanosleep(&ms, NULL);
}

static void read_anchor(void)
{
    struct osc_clock_anchor now;

    osc_ticks_anchor(&now);
    osc_sink_add_anchor(&now);
    self.anchored_ns = osc_clock_now_ns();
    if (self.first_anchor.ticks == 0)
        self.first_anchor = now;
    else if (now.monotonic_ns > self.first_anchor.monotonic_ns + self.rate_after_ns)
        self.flight.ticks_per_ns = (double)(now.ticks - self.first_anchor.ticks) /
                                   (double)(now.monotonic_ns - self.first_anchor.monotonic_ns);
}

/*
 * Every second, and before that whenever the age of the recording has doubled: if a process is
 * killed early, only its anchors show how long a tick is.
 */
static bool anchor_is_due(int64_t now_ns)
{
    const int64_t since_ns = now_ns - self.anchored_ns;

    return since_ns >= SECOND || since_ns > self.anchored_ns - self.first_anchor.monotonic_ns;
}

static void drain(void)
{
    const uint64_t ticks = osc_ticks();

    /* A flight recorder keeps blocks; it stores their persistent records when it discards
     * them. */
    osc_backlog_drain(&self.backlog, self.options.is_flight ? NULL : &self.sink, ticks,
                      osc_clock_now_ns());
}

/* Add blocks to last while the flusher gets no processor. */
static void grow(uint32_t n_drained, int64_t now_ns)
{
    const uint64_t took_ns = (uint64_t)(now_ns - self.looked_ns);

    osc_blocks_grow();
    if (n_drained > BLOCKS_WORTH_IT && took_ns > 0)
        osc_blocks_grow_to(n_drained * (uint64_t)STALL_NS / took_ns);
    self.looked_ns = now_ns;
    self.n_drained += n_drained;
    if (now_ns - self.rated_ns < PAUSE_MS * MS)
        return;
    self.n_in_stall =
        (uint32_t)(self.n_drained * (uint64_t)STALL_NS / (uint64_t)(now_ns - self.rated_ns));
    self.n_drained = 0;
    self.rated_ns = now_ns;
}

/* Report the first failure of a series, and pause writing for a second after each. */
static osc_status report_write(osc_status st)
{
    if (st == OSC_OK) {
        self.retry_ns = 0;
    } else {
        if (self.retry_ns == 0)
            osc_log("%s: cannot be written: error %d; records stay in memory",
                    self.sink.file.path, self.sink.file.error);
        self.retry_ns = osc_clock_now_ns() + SECOND;
        self.error = self.sink.file.error;
        osc_blocks_header()->write_error = (uint32_t)self.error;
    }
    self.written_ns = osc_clock_now_ns();
    return st;
}

/* Write blocks that are full. */
static void write_full(void)
{
    const struct osc_backlog_range all = {.until_ticks = UINT64_MAX,
                                          .now_ns = osc_clock_now_ns()};
    uint32_t n_waiting;

    (void)report_write(osc_backlog_write(&self.backlog, &self.sink, &all, &n_waiting));
}

/* Whether enough blocks are full to be written; in a small pool, a quarter of it. */
static bool enough_are_full(void)
{
    const uint32_t part = osc_blocks_header()->n_blocks / 4;
    return self.backlog.n >= (part < BLOCKS_WORTH_IT ? part : BLOCKS_WORTH_IT);
}

/* Give back blocks that are full, unwritten: no window is open. */
static void forget_full(void)
{
    const struct osc_backlog_range all = {.until_ticks = osc_ticks(),
                                          .now_ns = osc_clock_now_ns()};
    uint32_t n_waiting;

    if (osc_backlog_write(&self.backlog, NULL, &all, &n_waiting) != OSC_OK)
        osc_log("forgetting blocks failed");
}

/* Write all records before UNTIL, or discard them if SINK is NULL; wait a little for calls
 * under way. */
static osc_status write_until(struct osc_sink *sink, uint64_t until)
{
    struct osc_backlog_range range = {.until_ticks = until, .with_open = true};
    uint32_t n_waiting = 1;
    osc_status st = OSC_OK;

    for (int tries = 0; st == OSC_OK && n_waiting > 0 && tries <= TRIES; tries++) {
        if (tries > 0)
            nap();
        drain();
        range.take_all = tries == TRIES;
        range.now_ns = osc_clock_now_ns();
        st = osc_backlog_write(&self.backlog, sink, &range, &n_waiting);
    }
    return report_write(st);
}

/* End the part for REASON at TICKS, after a last clock reading. */
static osc_status end_part(uint32_t reason, uint64_t ticks)
{
    read_anchor();
    osc_losses_store(osc_blocks_header());
    const osc_status st = osc_sink_flush(&self.sink);

    return report_write(st == OSC_OK ? osc_sink_end(&self.sink, reason, ticks) : st);
}

static void report_ready(void)
{
    if (self.options.o.trace_ready)
        self.options.o.trace_ready(self.options.o.ctx, self.sink.file.path);
}

static void follow_schedule(void)
{
    struct osc_cut cut;

    while (osc_windows_take(&cut)) {
        osc_status st = OSC_OK;

        if (self.options.is_flight)
            continue; /* a flight recorder records by schedule, but writes only on request */
        if ((cut.deeds & OSC_DEED_STOP) && !(cut.deeds & OSC_DEED_START_FIRST)) {
            st = write_until(&self.sink, cut.ticks);
            if (st == OSC_OK)
                st = end_part(OSC_END_WINDOW, cut.ticks);
            self.is_writing = false;
        }
        if ((cut.deeds & OSC_DEED_READY) && st == OSC_OK)
            report_ready();
        if (cut.deeds & OSC_DEED_START) {
            (void)write_until(NULL, cut.ticks);
            (void)report_write(osc_backlog_put_persistent(&self.backlog, &self.sink, 0));
            self.is_writing = true;
        }
    }
}

/* The step that the next dump is about: the first slow one that is in none, else the current
 * one. */
static uint64_t flight_subject(void)
{
    struct osc_flight_group group = {.slow.begin = osc_ticks()};

    (void)osc_flight_next(&self.flight, group.slow.begin, &group);
    return group.slow.begin;
}

/* Store where the next dump would begin, in case the process is killed; or that nothing is to
 * be read, if a crash has just been dumped. relaxed: a number for itself */
static void store_flight_begin(void)
{
    const bool is_over = self.crashed_ns && osc_clock_now_ns() - self.crashed_ns < SECOND;

    __atomic_store_n(
        &osc_blocks_header()->window_begin,
        is_over ? OSC_LIVE_NO_WINDOW
                : osc_flight_plan(&self.flight, flight_subject(), osc_ticks()).from_ticks,
        __ATOMIC_RELAXED);
}

/* Write a dump up to UNTIL that is about the step at TICKS. */
static osc_status dump_flight(uint32_t reason, uint64_t ticks, uint64_t until)
{
    struct osc_backlog_range range = {
        .until_ticks = until,
        .with_open = true,
        .take_all = true,
        .keep = true,
    };
    struct osc_wire_dump dump;
    uint32_t n_waiting;
    osc_status st;

    for (int i = 0; i < TRIES / 4; i++)
        nap(); /* so that calls under way can finish */
    drain();
    dump = osc_flight_plan(&self.flight, ticks, until);
    range.from_ticks = dump.from_ticks;
    range.now_ns = osc_clock_now_ns();
    osc_sink_begin_dump(&self.sink, &dump, range.from_ticks ? NULL : &self.backlog.evicted);
    st = report_write(osc_backlog_put_persistent(&self.backlog, &self.sink,
                                                 range.from_ticks + !range.from_ticks));
    if (st == OSC_OK)
        st = report_write(osc_backlog_write(&self.backlog, &self.sink, &range, &n_waiting));
    if (st == OSC_OK)
        st = end_part(reason, until);
    if (reason == OSC_END_CRASHED)
        self.crashed_ns = range.now_ns, store_flight_begin();
    if (st == OSC_OK) {
        osc_windows_dumped(range.from_ticks, until);
        report_ready();
    }
    return st;
}

static osc_status dump_group(const struct osc_flight_group *group)
{
    const osc_status st = dump_flight(OSC_END_DUMPED, group->slow.begin, group->slow.end);

    if (st == OSC_OK)
        osc_windows_dumped(0, group->slow.end);
    return st;
}

static void dump_groups(void)
{
    struct osc_flight_group group;

    while (osc_flight_next(&self.flight, osc_ticks(), &group) && dump_group(&group) == OSC_OK)
        continue;
}

/* Whether blocks of FROM and later would be discarded. Sets *N_MAX for osc_backlog_evict(). */
static bool is_short(uint64_t from, uint32_t *n_max)
{
    *n_max = osc_backlog_keep(&self.backlog, from, self.n_in_stall);
    return osc_backlog_evicts(&self.backlog, from, *n_max) > from;
}

static void fly(void)
{
    uint64_t now = osc_ticks();
    const uint64_t step = osc_windows_whole(now, 0);
    struct osc_flight_group group;
    uint32_t n_max;

    /* What led to a slow step is written before it would be discarded. */
    while (osc_flight_next(&self.flight, now, &group) && osc_clock_now_ns() >= self.retry_ns) {
        const uint64_t begin = osc_flight_begin(&self.flight, group.slow.begin);

        if ((!is_short(begin, &n_max) && !group.is_closed) || dump_group(&group) != OSC_OK)
            break;
        now = osc_ticks();
    }
    const uint64_t from = osc_flight_begin(&self.flight, flight_subject());
    if (is_short(from, &n_max) && self.early_ticks != step && osc_windows_is_slow(now) &&
        osc_clock_now_ns() >= self.retry_ns) {
        self.early_ticks = step;
        (void)dump_flight(OSC_END_DUMPED, step, now);
    }
    osc_backlog_evict(&self.backlog, &self.sink, from, n_max);
    store_flight_begin();
}

static void ask(enum request request)
{
    /* release: pairs with the acquire in take_requests() */
    __atomic_or_fetch(&self.requests, request, __ATOMIC_RELEASE);
    osc_blocks_wake();
}

static uint32_t take_requests(void)
{
    /* acquire: pairs with the release in ask() */
    return __atomic_exchange_n(&self.requests, 0, __ATOMIC_ACQUIRE);
}

static osc_status dump(uint32_t reason)
{
    const uint64_t now = osc_ticks();

    if (self.options.is_flight)
        return dump_flight(reason, flight_subject(), now);
    return self.is_writing ? write_until(&self.sink, now) : OSC_OK;
}

static void serve_dump(uint32_t reason)
{
    self.dump_status = dump(reason);
    /* release: pairs with the acquire in wait_for_dump(), which then reads the status. */
    __atomic_add_fetch(&self.n_dumps, 1, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, &self.n_dumps, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Request a dump and wait until it is done. Async-signal-safe. */
static osc_status wait_for_dump(enum request request, int limit_ms)
{
    const struct timespec step = {.tv_nsec = 10 * MS};
    /* acquire: pairs with the release in serve_dump() */
    const uint32_t before = __atomic_load_n(&self.n_dumps, __ATOMIC_ACQUIRE);

    ask(request);
    for (int ms = 0; ms < limit_ms; ms += 10) {
        if (__atomic_load_n(&self.n_dumps, __ATOMIC_ACQUIRE) != before)
            return self.dump_status;
        (void)syscall(SYS_futex, &self.n_dumps, FUTEX_WAIT_PRIVATE, before, &step, NULL, 0);
    }
    return OSC_EIO;
}

static bool is_running(void)
{
    /* acquire: pairs with the release in osc_flush_start() */
    return __atomic_load_n(&self.is_running, __ATOMIC_ACQUIRE);
}

/* Whether there is a thread that serves requests. */
static bool has_thread(void)
{
    /* acquire: pairs with the release in start_thread() */
    return __atomic_load_n(&self.has_thread, __ATOMIC_ACQUIRE);
}

static bool is_flusher(void)
{
    /* relaxed: the flusher reads what it wrote itself; no other thread has its number. */
    return (pid_t)syscall(SYS_gettid) == __atomic_load_n(&self.tid, __ATOMIC_RELAXED);
}

static void on_dump_signal(void)
{
    ask(REQUEST_DUMP);
}

static void on_toggle_signal(void)
{
    ask(REQUEST_TOGGLE);
}

static void on_crash(void)
{
    /* A child of fork() that has not recorded yet has the handlers but no flusher. */
    if (getpid() == self.pid && has_thread() && !is_flusher())
        (void)wait_for_dump(REQUEST_CRASH, CRASH_WAIT_MS);
}

/* Whether the user has paused recording, by signal or socket; survives forks and recordings. */
static bool is_paused_by_user;

/* Repeated requests count once, independent of the program's own pauses. */
static void pause_for_user(bool pause)
{
    if (is_paused_by_user == pause)
        return;
    is_paused_by_user = pause;
    self.core->pause(pause);
}

static const char *state_word(void)
{
    if (self.core->is_recording())
        return "recording";
    return self.options.o.schedule && !self.is_writing ? "held" : "paused";
}

static size_t answer_status(char *out, size_t room)
{
    const struct osc_status_facts facts = {
        .state = state_word(),
        .file = &self.sink.file,
        .step = osc_windows_step(),
        .n_blocks = osc_blocks_header()->n_blocks,
        .error = self.retry_ns ? self.error : 0,
    };

    return osc_status_write(&facts, out, room);
}

static size_t answer(void *ctx, const char *command, char *out, size_t room)
{
    size_t len = osc_status_switch(command, out);

    (void)ctx;
    if (len > 0) {
        self.core->republish();
        return len;
    }
    if (strcmp(command, "status") == 0)
        return answer_status(out, room);
    len = 2;
    mempcpy(out, "ok", 2);
    if (strcmp(command, "start") == 0 || strcmp(command, "stop") == 0) {
        pause_for_user(command[2] == 'o');
        osc_control_add(out, room, &len, "state", state_word());
    } else if (strcmp(command, "dump") != 0) {
        return osc_status_error(out, "unknown command");
    } else if (dump(OSC_END_DUMPED) == OSC_OK) {
        osc_control_add(out, room, &len, "path", self.sink.file.path);
    } else {
        return osc_status_error(out, "cannot be written");
    }
    return len;
}

/* Find entries whose threads have ended: the next drain() gets all their blocks. */
static void look_for_exited(void)
{
    const struct osc_live_thread *threads = osc_blocks_threads();
    /* relaxed: an entry is read only if its state says so. */
    const uint32_t n = __atomic_load_n(&osc_blocks_header()->n_threads, __ATOMIC_RELAXED);

    memset(self.exited, 0, sizeof self.exited);
    for (uint32_t i = 0; i < n && i < OSC_LIVE_THREADS; i++)
        /* acquire: pairs with the release of the thread that exits */
        if (__atomic_load_n(&threads[i].state, __ATOMIC_ACQUIRE) == OSC_THREAD_EXITED)
            self.exited[i / 8] |= (unsigned char)(1 << i % 8);
}

/* Write threads that changed; give back the entries of those that ended and are written. */
static void write_threads(void)
{
    const struct osc_live_thread *threads = osc_blocks_threads();
    struct osc_thread_set waiting;

    osc_backlog_wake(&self.backlog);
    osc_losses_store(osc_blocks_header());
    if (self.is_writing && osc_sink_write_threads(&self.sink) != OSC_OK)
        return;
    osc_backlog_threads(&self.backlog, &waiting);
    for (uint32_t i = 0; i < OSC_LIVE_THREADS; i++)
        if ((self.exited[i / 8] >> i % 8 & 1) &&
            !osc_threads_in(&waiting, threads[i].ordinal)) {
            osc_sink_thread_done(&self.sink, i);
            osc_threads_give_back(i);
        }
}

/* If few blocks are free, end the writers of threads that are gone, and take over the blocks
 * that they left open. If there were none, do not try again for a while. */
static void reap(int64_t now_ns)
{
    struct osc_sink *sink = self.options.is_flight ? NULL : &self.sink;

    if (!osc_blocks_are_few() || now_ns < self.reap_ns)
        return;
    self.reap_ns = now_ns;
    if (osc_threads_reap() + osc_backlog_adopt(&self.backlog, sink, osc_ticks(), now_ns) == 0)
        self.reap_ns += PAUSE_MS * MS;
}

/* Do everything that is due, once. */
static void look(uint32_t requests)
{
    const int64_t now_ns = osc_clock_now_ns();
    const uint32_t n_before = self.backlog.n;

    look_for_exited();
    drain();
    grow(self.backlog.n > n_before ? self.backlog.n - n_before : 0, now_ns);
    if (anchor_is_due(now_ns))
        read_anchor();
    if (requests & REQUEST_TOGGLE)
        pause_for_user(!is_paused_by_user);
    follow_schedule();
    if (requests & REQUEST_DUMP)
        serve_dump(OSC_END_DUMPED);
    if (requests & REQUEST_CRASH)
        serve_dump(OSC_END_CRASHED);
    if (self.options.is_flight)
        fly();
    else if (!self.is_writing)
        forget_full();
    else if (now_ns >= self.retry_ns &&
             (enough_are_full() || now_ns - self.written_ns >= SECOND))
        write_full();
    reap(now_ns);
    write_threads();
    osc_control_serve(&self.control, answer, NULL);
    osc_loss_watch_look(&self.losses, now_ns);
}

/* relaxed: see is_flusher() */
static void be_flusher(void)
{
    __atomic_store_n(&self.tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
}

/* Write what is left, after recording was switched off. */
static osc_status finish(void)
{
    const unsigned deeds = osc_windows_exit();
    struct osc_parts *file = &self.sink.file;
    osc_status st = OSC_OK;

    drain();
    osc_backlog_gather(&self.backlog, osc_ticks(), osc_clock_now_ns());
    follow_schedule();
    if (self.options.is_flight)
        dump_groups();
    /* If the remaining records are not wanted, the first part exists nevertheless. */
    if (self.options.is_flight || !self.is_writing)
        return file->is_open ? end_part(OSC_END_STOPPED, osc_ticks()) : OSC_OK;
    st = write_until(&self.sink, UINT64_MAX);
    if (st == OSC_OK)
        st = end_part(OSC_END_STOPPED, osc_ticks());
    if (st == OSC_OK && (deeds & OSC_DEED_READY))
        report_ready();
    return st;
}

static void *run(void *arg)
{
    (void)arg;
    (void)prctl(PR_SET_NAME, "opscope");
    be_flusher();
    osc_quiet_begin();
    /* A recording that ends at once needs no more blocks than it has. */
    osc_blocks_wait(FIRST_PAUSE_MS * MS);
    for (;;) {
        const uint32_t requests = take_requests();

        look(requests);
        if (requests & REQUEST_STOP)
            break;
        osc_blocks_wait(osc_blocks_grow_early() ? 0 : PAUSE_MS * MS);
    }
    self.stop_status = finish();
    osc_loss_watch_end(&self.losses);
    osc_quiet_end();
    return NULL;
}

static osc_status open_all(const struct osc_flush_start *start)
{
    static const char *const modes[] = {NULL, "schedule", "flight"};
    const struct osc_start_options *o = &self.options.o;
    const bool has_windows = self.options.is_flight || o->schedule;
    const struct osc_process_facts facts = {
        .start_unix_ns = (uint64_t)self.first_anchor.realtime_ns,
        .ticks_hz = start->ticks_hz,
        .clock_name = start->clock_name,
        .mode = modes[self.options.is_flight ? 2 : o->schedule != NULL],
        .is_late = start->is_late,
    };
    osc_blocks_header()->is_flight = self.options.is_flight;
    self.sink.file.out = self.out;
    memcpy(self.sink.file.recording, start->recording, sizeof start->recording);
    self.sink.file.limit_bytes = o->limit_bytes;
    self.sink.has_parts = o->limit_bytes || has_windows;
    if (o->limit_bytes) {
        /* Larger parts, so that windows and dumps stay whole if possible. */
        self.sink.part_bytes = o->limit_bytes / (has_windows ? 2 : 8);
        if (self.sink.part_bytes < PART_BYTES_MIN)
            self.sink.part_bytes = PART_BYTES_MIN;
    }
    const osc_status st =
        osc_backlog_open(&self.backlog, o->buffer_bytes / OSC_BLOCK_BYTES + 1);
    if (self.options.is_flight && st == OSC_OK)
        osc_part_state_open(&self.backlog.evicted);
    self.flight.flight_ns = o->flight_ns;
    self.flight.flight_steps = o->flight_steps;
    self.flight.backlog = &self.backlog;
    self.losses = (struct osc_loss_watch){.lost = o->lost, .ctx = o->ctx};
    return st == OSC_OK ? osc_sink_open(&self.sink, start->live_fd, &facts) : st;
}

static void close_all(bool is_ours)
{
    osc_control_close(&self.control, is_ours);
    osc_backlog_close(&self.backlog);
    osc_sink_close(&self.sink);
}

/* Start the flusher, with all signals blocked: they are meant for the host. */
static osc_status start_thread(void)
{
    sigset_t all, old;

    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0)
        return OSC_ENOMEM;
    const int failed = pthread_create(&self.thread, NULL, run, NULL);
    if (failed)
        osc_open_failure_store(failed);
    /* release: pairs with the acquire in has_thread() */
    __atomic_store_n(&self.has_thread, !failed, __ATOMIC_RELEASE);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return failed ? OSC_ENOMEM : OSC_OK;
}

osc_status osc_flush_start(const struct osc_flush_start *start)
{
    memset(&self, 0, sizeof self);
    self.core = start->core;
    self.pid = getpid();
    if (strlen(start->out) >= sizeof self.out)
        return OSC_EIO;
    memcpy(self.out, start->out, strlen(start->out) + 1);
    self.options = *start->options;
    if (self.options.o.schedule)
        self.options.o.schedule = &self.options.schedule;
    /* A flight recorder leaves few blocks free, so it must look in time. */
    if (self.options.is_flight)
        osc_blocks_wake_at(FLIGHT_WAKE_PART);
    self.flight.ticks_per_ns = start->ticks_hz ? (double)start->ticks_hz / (double)SECOND : 1;
    self.rate_after_ns = start->ticks_hz ? SECOND / 2 : 0;
    read_anchor();
    osc_status st = open_all(start);
    if (st != OSC_OK) {
        if (self.sink.file.error)
            osc_open_failure_store(self.sink.file.error);
        osc_parts_discard(&self.sink.file);
        close_all(true);
        return st;
    }
    if (osc_control_open(&self.control, start->live_fd) != OSC_OK)
        osc_log("%s: no control socket", start->live_path);
    const struct osc_windows_start windows = {
        .schedule = self.options.o.schedule,
        .slow_step = self.options.is_flight ? self.options.o.slow_step : 0,
        .is_flight = self.options.is_flight,
        .hold = self.core->hold,
        .wake = osc_blocks_wake,
        .begin = self.options.is_flight ? NULL : &osc_blocks_header()->window_begin,
    };
    osc_windows_open(&windows);
    self.is_writing = !self.options.is_flight && osc_windows_begins_open();
    self.written_ns = osc_clock_now_ns();
    read_anchor(); /* the second anchor: from here on the rate of ticks is known */
    st = start->is_alone ? OSC_OK : start_thread();
    if (st != OSC_OK) {
        osc_parts_discard(&self.sink.file);
        close_all(true);
        return st;
    }
    const struct osc_signals signals = {
        .dump_signal = self.options.o.dump_signal,
        .toggle_signal = self.options.o.toggle_signal,
        .has_crash = self.options.o.dump_on_crash,
        .dump = on_dump_signal,
        .toggle = on_toggle_signal,
        .crash = on_crash,
    };
    osc_signals_open(&signals);
    /* release: pairs with the acquire in is_running(); everything is open. */
    __atomic_store_n(&self.is_running, true, __ATOMIC_RELEASE);
    return OSC_OK;
}

void osc_flush_attend(void)
{
    if (start_thread() != OSC_OK)
        osc_log("%s: no thread could be started; it is written at the end", self.out);
}

osc_status osc_flush_stop(bool *is_harmed)
{
    *is_harmed = false;
    if (!is_running())
        return OSC_OK;
    if (is_flusher())
        return OSC_EINVAL;
    osc_signals_close();
    if (has_thread()) {
        ask(REQUEST_STOP);
        pthread_join(self.thread, NULL);
    } else {
        be_flusher();
        self.stop_status = finish();
    }
    /* relaxed: a thread that still sees it running waits in vain until its time limit. */
    __atomic_store_n(&self.is_running, false, __ATOMIC_RELAXED);
    const osc_status st = self.stop_status;
    *is_harmed = self.sink.file.harm != 0;
    /* release: a reader that sees it finds everything in the file, or here. */
    __atomic_store_n(&osc_blocks_header()->state,
                     st == OSC_OK ? OSC_LIVE_ENDED : OSC_LIVE_STOPPED, __ATOMIC_RELEASE);
    pause_for_user(false);
    osc_windows_close();
    close_all(true);
    return st;
}

void osc_flush_step_end(uint64_t ticks)
{
    osc_windows_step_end(ticks);
}

void osc_flush_step_begin(uint64_t step, uint64_t ticks)
{
    osc_windows_step_begin(step, ticks);
}

osc_status osc_flush_dump(void)
{
    if (!is_running())
        return OSC_OK;
    if (is_flusher())
        return OSC_EINVAL;
    return has_thread() ? wait_for_dump(REQUEST_DUMP, DUMP_WAIT_MS) : OSC_EIO;
}

void osc_flush_leave_socket(void)
{
    osc_control_close(&self.control, false);
}

void osc_flush_forget(void)
{
    osc_windows_close();
    close_all(false);
    /* relaxed: a thread that still sees it running waits in vain until its time limit. */
    __atomic_store_n(&self.is_running, false, __ATOMIC_RELAXED);
    osc_signals_close();
}
