/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/session.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "recorder/flusher/flush.h"
#include "recorder/host/handler.h"
#include "recorder/host/quiet.h"
#include "recorder/live/blocks.h"
#include "recorder/live/names.h"
#include "recorder/live/output_paths.h"
#include "recorder/start_check.h"
#include "recorder/thread/losses.h"
#include "recorder/thread/sampling.h"
#include "recorder/thread/thread_list.h"
#include "recorder/thread/ticks.h"
#include "recording/open_failure.h"

/* The options that all versions have; no caller fills in fewer. */
#define OPTIONS_LEAST (offsetof(struct osc_start_options, out) + sizeof(const char *))

enum {
    WAIT_STEP_NS = 100000,
    WAITS_OPENING = 2000,       /* of a call, while another thread opens: 0.2 seconds */
    WAITS_STOP = 20000,         /* of osc_stop(), while others open or stop: two seconds */
    WAIT_CALLS_NS = 1000000000, /* for calls under way when recording ends */
    RETRY_NS = 10000000         /* between checks for a handler in one thread */
};

enum phase { OFF, ARMED, OPENING, RECORDING, STOPPING };

static uint32_t phase;
static uint64_t generation = OSC_EPOCH_NONE; /* counts up; OSC_EPOCH_NONE: never recorded */
static uint32_t was_armed;                   /* calls already count while OPENING */
static uint32_t is_fresh;
static uint32_t is_automatic; /* what is recorded began by itself: see osc_start() */
static uint32_t is_awaiting;  /* RECORDING, but the flusher is still to be started */
static uint32_t is_slow;      /* a wait for the opening took too long: others do not wait */
static uint32_t n_pauses, is_held;
static uint32_t n_changes; /* changes of the above; see publish() */

static struct osc_output_paths place;
static struct osc_start_options options;
static struct osc_flush_options flush_options; /* from these and the environment */
static char out_option[PATH_MAX], dir[PATH_MAX];
static bool is_child, is_told_elsewhere;
static struct {
    uint64_t device, inode;
} root; /* the directory "/" to which out_option and dir belong; 0: unknown */
static const struct osc_session_above *above;

/* Whether osc_start() opened the recording where none was armed: calls before it are lost. */
static bool is_late;

static enum phase get_phase(void)
{
    /* seq_cst: pairs with set_phase(), so that what was opened is seen; see also
     * osc_threads_stop(). */
    return (enum phase)__atomic_load_n(&phase, __ATOMIC_SEQ_CST);
}

/* Publish osc_on_ and the epochs, which calls read. If another thread changes something
 * meanwhile, one of the two sees the other's change and publishes again. */
static void publish(void)
{
    uint32_t seen;

    /* seq_cst, in all of it: for the reason above. */
    __atomic_add_fetch(&n_changes, 1, __ATOMIC_SEQ_CST);
    do {
        seen = __atomic_load_n(&n_changes, __ATOMIC_SEQ_CST);
        const uint32_t now = __atomic_load_n(&phase, __ATOMIC_SEQ_CST);
        const bool is_on = now == ARMED || now == RECORDING ||
                           (now == OPENING && __atomic_load_n(&was_armed, __ATOMIC_SEQ_CST));
        const bool is_paused = __atomic_load_n(&n_pauses, __ATOMIC_SEQ_CST) > 0 ||
                               __atomic_load_n(&is_held, __ATOMIC_SEQ_CST);
        const uint64_t number = __atomic_load_n(&generation, __ATOMIC_SEQ_CST);

        const uint64_t epoch = now == RECORDING && !is_paused ? number : OSC_EPOCH_NONE;
        /* relaxed: osc_ticks_init() came long before. */
        const bool is_counter =
            __atomic_load_n(&osc_ticks_source, __ATOMIC_RELAXED) == OSC_TICKS_COUNTER;
        const bool is_sampled = osc_sampling_is_on();

        __atomic_store_n(&osc_epoch, epoch, __ATOMIC_SEQ_CST);
        __atomic_store_n(&osc_epoch_counter, is_counter && !is_sampled ? epoch : OSC_EPOCH_NONE,
                         __ATOMIC_SEQ_CST);
        __atomic_store_n(&osc_epoch_sampled, is_counter && is_sampled ? epoch : OSC_EPOCH_NONE,
                         __ATOMIC_SEQ_CST);
        __atomic_store_n(&osc_epoch_paused,
                         now == RECORDING && is_paused ? number : OSC_EPOCH_NONE,
                         __ATOMIC_SEQ_CST);
        __atomic_store_n(&osc_on_, !is_on ? 0 : is_paused ? 2 : 1, __ATOMIC_SEQ_CST);
        osc_names_want(is_on);
    } while (__atomic_load_n(&n_changes, __ATOMIC_SEQ_CST) != seen);
}

void osc_session_republish(void)
{
    publish();
    if (get_phase() == RECORDING)
        above->switched();
}

static void set_phase(enum phase next)
{
    /* seq_cst: as in get_phase() */
    __atomic_store_n(&phase, next, __ATOMIC_SEQ_CST);
    publish();
}

/* True for the one thread that changes the phase from FROM to NEXT. */
static bool change_phase(enum phase from, enum phase next)
{
    uint32_t is = from;

    /* seq_cst: as in get_phase() */
    if (!__atomic_compare_exchange_n(&phase, &is, next, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_RELAXED))
        return false;
    publish();
    return true;
}

static void nap(void)
{
    const struct timespec step = {.tv_nsec = WAIT_STEP_NS};

    (void)nanosleep(&step, NULL);
}

/* Disable cancellation: file calls are cancellation points, and the host's thread must not end
 * in the middle of our work. Pass the result to release_cancel(). */
static int hold_cancel(void)
{
    int was = PTHREAD_CANCEL_ENABLE;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
    osc_quiet_begin();
    return was;
}

static void release_cancel(int was)
{
    osc_quiet_end();
    (void)pthread_setcancelstate(was, NULL);
}

static void set_text(char *to, size_t room, const char *s)
{
    const size_t len = s ? strnlen(s, room - 1) : 0;

    if (len > 0)
        memcpy(to, s, len);
    to[len] = '\0';
}

static bool is_recording(void)
{
    return !osc_session_is_paused();
}

/* Calls osc_pause() or osc_resume(). */
static void pause_or_resume(bool pause)
{
    above->pause(pause);
}

static const struct osc_flush_core core = {
    .hold = osc_session_hold,
    .pause = pause_or_resume,
    .is_recording = is_recording,
    .republish = osc_session_republish,
};

/* Whether this is a child that shares the memory of the recording process. */
static bool is_borrower(void)
{
    return osc_threads_life() == OSC_LIFE_HERE && osc_threads_pid() != getpid();
}

/*
 * Whether this may be a signal handler, where no thread may be started. If so, the same thread
 * is checked again when it calls from further up its stack, which is outside of that handler,
 * or some milliseconds later, because it may always block signals.
 */
static bool is_in_handler(void)
{
    static _Thread_local uintptr_t asked_at __attribute__((tls_model("initial-exec")));
    static _Thread_local int64_t retry_ns __attribute__((tls_model("initial-exec")));
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (here <= asked_at && osc_clock_now_ns() < retry_ns)
        return true;
    if (!osc_handler_may_run())
        return false;
    asked_at = here;
    retry_ns = osc_clock_now_ns() + RETRY_NS;
    return true;
}

/* Start the flusher of the recording just opened. It gets a thread only if IS_PLAIN: malloc()
 * may be called here. */
static osc_status start_flusher(const uint64_t recording[2], bool is_plain)
{
    const bool has_libc = osc_threads_has_libc();
    const struct osc_flush_start start = {
        .core = &core,
        .live_fd = osc_fd_get(&place.live_fd),
        .live_path = place.live,
        .out = place.out,
        .recording = {recording[0], recording[1]},
        .ticks_hz = osc_ticks_hz(),
        .clock_name = osc_ticks_name(),
        .options = &flush_options,
        .is_alone = !is_plain || !has_libc,
        .is_late = is_late || is_child,
    };

    if (start.is_alone)
        while (osc_blocks_grow_early())
            continue;
    else
        osc_blocks_invite();
    /* relaxed: a thread that sees the change too late or too early calls again. */
    __atomic_store_n(&is_awaiting, !is_plain && has_libc, __ATOMIC_RELAXED);
    return osc_flush_start(&start);
}

/* Start the missing flusher thread, if that is allowed here. The writer is busy, so that the
 * recording is not stopped meanwhile. */
static void attend(void)
{
    if (is_in_handler() || is_borrower())
        return;
    /* relaxed: one of the threads that see it starts it. */
    if (__atomic_exchange_n(&is_awaiting, 0, __ATOMIC_RELAXED))
        osc_flush_attend();
}

/* Release what open_recording() acquired. Nothing writes to it any more. */
static void close_recording(void)
{
    osc_threads_close();
    osc_names_detach();
    osc_blocks_close();
}

static bool get_root(struct stat *st)
{
    const int kept = errno;
    const bool is_known = stat("/", st) == 0;

    errno = kept;
    return is_known;
}

/* Store the current root directory with the paths that were just given. */
static void store_root(void)
{
    struct stat st;

    if (get_root(&st)) {
        root.device = st.st_dev;
        root.inode = st.st_ino;
    }
}

/*
 * Whether the paths given mean another place here: the process has another root directory, or
 * the directory that a listening `opscope run` made is missing. Files there would lie where
 * nobody looks for them. Stores why, and the path for the report.
 */
static bool is_elsewhere(void)
{
    const int kept = errno;
    struct stat st;
    int why = 0;

    if (root.inode != 0 && get_root(&st) &&
        (st.st_dev != root.device || st.st_ino != root.inode))
        why = OSC_OPEN_FAILURE_ROOT;
    else if (!out_option[0] && dir[0] && access(dir, F_OK) != 0 && errno == ENOENT &&
             osc_open_failure_is_heard())
        why = ENOENT;
    errno = kept;
    if (why == 0)
        return false;
    set_text(place.out, sizeof place.out, out_option[0] ? out_option : dir);
    osc_open_failure_store(why);
    return true;
}

/* Create the files. The caller changed the phase to OPENING; IS_PLAIN: see start_flusher(). */
static osc_status open_recording(bool is_plain)
{
    uint64_t recording[2] = {0};
    osc_status st;

    flush_options = (struct osc_flush_options){0};
    osc_flush_options_read(&flush_options, &options);

    /* relaxed: a call that does not see it waits itself. */
    __atomic_store_n(&is_slow, 0, __ATOMIC_RELAXED);
    if (getrandom(recording, sizeof recording, GRND_NONBLOCK) != (ssize_t)sizeof recording)
        recording[0] = osc_ticks(), recording[1] = (uint64_t)getpid();
    if (is_elsewhere())
        return OSC_EIO;
    st = osc_output_paths_open(&place, out_option, dir[0] ? dir : NULL, is_child);
    if (st != OSC_OK)
        return st;
    const int live_fd = osc_fd_get(&place.live_fd);

    st = osc_blocks_open(live_fd, flush_options.o.buffer_bytes, recording);
    if (st == OSC_OK) {
        st = osc_names_open(live_fd, recording);
        if (st != OSC_OK)
            osc_blocks_close();
    }
    if (st != OSC_OK) {
        osc_output_paths_remove(&place);
        return st;
    }

    /* seq_cst: see publish() */
    osc_threads_open(__atomic_add_fetch(&generation, 1, __ATOMIC_SEQ_CST));
    st = start_flusher(recording, is_plain);
    if (st != OSC_OK) {
        close_recording();
        osc_output_paths_remove(&place);
        return st;
    }
    /* relaxed: the first thread that sees it calls osc_session_above.begun. */
    __atomic_store_n(&is_fresh, 1, __ATOMIC_RELAXED);
    return OSC_OK;
}

/* open_recording(), with failures reported to `opscope run`, except OSC_ECANCELED, after which
 * the caller tries again: see osc_names_open(). */
static osc_status open_or_report(bool is_plain)
{
    osc_open_failure_store(0);
    const osc_status st = open_recording(is_plain);

    if (st != OSC_OK && st != OSC_ECANCELED)
        osc_open_failure_report(place.out, st == OSC_ENOMEM ? ENOMEM : EIO);
    return st;
}

static bool is_forbidden(void)
{
    const char *s = secure_getenv("OPSCOPE");

    return s && strcmp(s, "0") == 0;
}

/* Record into the directory GIVEN, which may be NULL. A relative path is resolved at the first
 * call, because the program may change its directory before it records. */
static void set_directory(const char *given)
{
    size_t len = 0;

    if (given && given[0] != '/' && dir[0] != '\0')
        return;
    if (given && given[0] != '/' && given[0] != '\0' && getcwd(dir, sizeof dir)) {
        len = strlen(dir);
        if (len + 1 < sizeof dir)
            dir[len++] = '/';
    }
    set_text(dir + len, sizeof dir - len, given);
}

/* Set up the threads' memory. If there is none, reports that OUT cannot be recorded and returns
 * false. */
static bool begin_threads(const char *out)
{
    if (osc_threads_init() == OSC_OK)
        return true;
    osc_open_failure_store(0);
    osc_open_failure_report(out, ENOMEM);
    return false;
}

void osc_session_set_above(const struct osc_session_above *calls)
{
    above = calls;
}

void osc_session_arm(void)
{
    const char *out = secure_getenv("OPSCOPE_OUT");

    if (!out || out[0] == '\0' || is_forbidden() || !begin_threads(out))
        return;
    set_directory(out);
    store_root();
    is_late = false;
    /* relaxed: there is one thread. */
    __atomic_store_n(&was_armed, 1, __ATOMIC_RELAXED);
    set_phase(ARMED);
}

/* What the error NUMBER means, in English where libc can say that. */
static const char *error_text(int number)
{
#if __GLIBC_PREREQ(2, 32)
    return strerrordesc_np(number);
#else
    return strerror(number); /* for numbers that libc knows, it needs no memory */
#endif
}

/* Store why the recording could not be opened. */
static void report_start(osc_status st)
{
    const int failed = osc_open_failure_get();
    const char *what = failed == EEXIST ? "there is something else than a recording"
                       : failed         ? error_text(failed)
                                        : osc_status_text(st);

    (void)osc_start_failed(st, place.out[0] ? place.out : out_option, what);
}

/* Tell `opscope run` of a recording that is not in its directory, once: it counts processes. */
static void report_elsewhere(void)
{
    const size_t len = strlen(dir);
    const bool is_below = len > 0 && strncmp(place.out, dir, len) == 0 && place.out[len] == '/';

    if (out_option[0] == '\0' || is_below || is_told_elsewhere)
        return;
    is_told_elsewhere = true;
    osc_open_failure_tell_elsewhere(place.out);
}

/* Give way to a recording that the program starts in a file of its own: end the one that began
 * by itself. Returns whether there was one. Of several threads one ends it. */
static bool give_way(void)
{
    /* relaxed: stop() synchronizes. */
    if (!__atomic_exchange_n(&is_automatic, 0, __ATOMIC_RELAXED))
        return false;
    (void)above->stop();
    return true;
}

/* Whether the recording that began by itself goes on as the one that is started. IS_EXPLICIT:
 * the program gave options; from then on the recording is its own. */
static bool adopt(bool is_explicit)
{
    if (get_phase() != RECORDING)
        return false;
    /* relaxed: as above */
    return is_explicit ? __atomic_exchange_n(&is_automatic, 0, __ATOMIC_RELAXED)
                       : __atomic_load_n(&is_automatic, __ATOMIC_RELAXED);
}

/* After a start that failed: what began by itself goes on, in another file. */
static void come_back(void)
{
    if (!change_phase(OFF, OPENING))
        return;
    options = (struct osc_start_options){0};
    out_option[0] = '\0';
    /* relaxed: set_phase() publishes it. */
    __atomic_store_n(&was_armed, 1, __ATOMIC_RELAXED);
    set_phase(ARMED);
}

/* Begin to record with the options ALL; IS_EXPLICIT: the program gave some. */
static osc_status start(const struct osc_start_options *all, bool is_explicit)
{
    const bool is_armed = !change_phase(OFF, OPENING);

    if (!is_armed) {
        osc_losses_reset();
        is_late = true;
    } else if (!change_phase(ARMED, OPENING)) {
        return osc_start_failed(OSC_EINVAL, NULL, "a recording is already running");
    }

    /* relaxed: set_phase() publishes it. */
    __atomic_store_n(&is_automatic, is_armed && !is_explicit, __ATOMIC_RELAXED);
    options = *all;
    set_text(out_option, sizeof out_option, options.out);
    const char *env = secure_getenv("OPSCOPE_OUT");

    if (!options.out)
        set_directory(env);
    /* A directory of the environment belongs to the root that there was at first. */
    if (options.out || !env || root.inode == 0)
        store_root();
    is_child = false;

    const int was = hold_cancel();
    osc_status st = open_or_report(true);

    for (int i = 0; i < WAITS_OPENING && st == OSC_ECANCELED; i++) {
        nap();
        st = open_or_report(true);
    }
    if (st == OSC_OK) {
        osc_start_succeeded();
        report_elsewhere();
    } else {
        report_start(st);
    }
    set_phase(st == OSC_OK ? RECORDING : OFF);
    release_cancel(was);
    return st == OSC_ECANCELED ? OSC_EIO : st;
}

osc_status osc_session_start(const struct osc_start_options *given)
{
    if (is_forbidden())
        return OSC_OK;
    if (given && given->size < OPTIONS_LEAST)
        return osc_start_failed(OSC_EINVAL, NULL, "size must be sizeof the options");
    struct osc_start_options all = {0};

    if (given)
        memcpy(&all, given, given->size < sizeof all ? given->size : sizeof all);
    const char *wrong = osc_start_check(&all);

    if (wrong)
        return osc_start_failed(OSC_EINVAL, NULL, wrong);
    if (!begin_threads(given && given->out ? given->out : ""))
        return osc_start_failed(OSC_ENOMEM, NULL, "there is no memory for threads");
    if (!osc_session_is_ours() || is_borrower())
        return osc_start_failed(OSC_EINVAL, NULL,
                                "a child that shares the memory of its parent records there");
    if (!all.out && adopt(given != NULL)) {
        osc_start_succeeded();
        return OSC_OK;
    }
    const bool gave_way = all.out && give_way();
    const osc_status st = start(&all, given != NULL);

    if (st != OSC_OK && gave_way)
        come_back();
    return st;
}

static osc_status stop(void)
{
    if (osc_threads_life() == OSC_LIFE_NONE || !osc_session_is_ours() || is_borrower())
        return OSC_OK;
    for (int i = 0; i < WAITS_STOP && (get_phase() == OPENING || get_phase() == STOPPING); i++)
        nap();
    if (change_phase(ARMED, OFF))
        return OSC_OK;
    if (get_phase() == RECORDING)
        above->ending();
    if (!change_phase(RECORDING, STOPPING))
        return OSC_OK;

    osc_threads_stop(WAIT_CALLS_NS);
    bool is_harmed;
    const osc_status st = osc_flush_stop(&is_harmed);

    if (st != OSC_EINVAL) /* the flusher called exit(), and still needs it */
        close_recording();
    if (st == OSC_OK)
        osc_output_paths_remove(&place);
    else
        osc_fd_close(&place.live_fd);
    /* relaxed: set_phase() publishes it. */
    __atomic_store_n(&was_armed, 0, __ATOMIC_RELAXED);
    set_phase(OFF);
    return st == OSC_OK && !is_harmed ? OSC_OK : OSC_EIO;
}

osc_status osc_session_stop(void)
{
    const int was = hold_cancel();
    const osc_status st = stop();

    release_cancel(was);
    return st;
}

const char *osc_session_path(void)
{
    return get_phase() == RECORDING ? place.out : "";
}

bool osc_session_is_on(void)
{
    const enum phase now = get_phase();

    /* relaxed: it is set before the phase. */
    return now == ARMED || now == RECORDING ||
           (now == OPENING && __atomic_load_n(&was_armed, __ATOMIC_RELAXED));
}

/* Drop what belongs to the parent, and record afresh if the parent recorded. */
static void begin_as_child(void)
{
    const enum phase was = get_phase();

    osc_flush_forget();
    osc_blocks_forget();
    osc_names_unlock();
    osc_names_detach();
    osc_fd_close(&place.live_fd);
    is_child = true;
    is_told_elsewhere = false;
    /* relaxed: there is one thread. */
    __atomic_store_n(&is_held, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&is_automatic, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&was_armed, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&is_awaiting, 0, __ATOMIC_RELAXED);
    set_phase(was == OFF || was == STOPPING ? OFF : ARMED);
}

bool osc_session_is_ours(void)
{
    if (osc_threads_life() != OSC_LIFE_CHILD)
        return true;
    if (!osc_threads_begin_life())
        return false;

    const int was = hold_cancel();

    begin_as_child();
    osc_threads_live();
    release_cancel(was);
    return true;
}

static void wait_for_opening(void)
{
    /* relaxed: as in open_recording() */
    if (get_phase() != OPENING || __atomic_load_n(&is_slow, __ATOMIC_RELAXED))
        return;
    for (int i = 0; i < WAITS_OPENING && get_phase() == OPENING; i++)
        nap();
    __atomic_store_n(&is_slow, get_phase() == OPENING, __ATOMIC_RELAXED);
}

/* Open the recording, for the call that changed ARMED to OPENING. */
static void open_armed(enum osc_loss *why)
{
    const osc_status st = open_or_report(!is_in_handler());

    /* relaxed: set_phase() publishes it. */
    __atomic_store_n(&is_automatic, st == OSC_OK, __ATOMIC_RELAXED);
    if (st == OSC_ECANCELED)
        *why = OSC_LOSS_NESTED;
    set_phase(st == OSC_OK ? RECORDING : st == OSC_ECANCELED ? ARMED : OFF);
}

uint64_t osc_session_enter(enum osc_loss *why)
{
    *why = OSC_LOSS_LATE;
    osc_threads_publish_busy();

    const enum phase now = get_phase();

    if ((now == ARMED || now == OPENING) && !is_borrower()) {
        if (change_phase(ARMED, OPENING))
            open_armed(why);
        wait_for_opening();
    } else if (now == RECORDING && osc_session_awaits_flusher()) {
        attend();
    }
    return osc_session_generation();
}

bool osc_session_awaits_flusher(void)
{
    /* relaxed: as in start_flusher() */
    return __atomic_load_n(&is_awaiting, __ATOMIC_RELAXED);
}

void osc_session_announce(void)
{
    /* relaxed: as where it is set */
    if (__atomic_load_n(&is_fresh, __ATOMIC_RELAXED) &&
        __atomic_exchange_n(&is_fresh, 0, __ATOMIC_RELAXED))
        above->begun();
}

uint64_t osc_session_generation(void)
{
    /* relaxed: it is set before the phase. */
    return get_phase() == RECORDING ? __atomic_load_n(&generation, __ATOMIC_RELAXED) : 0;
}

bool osc_session_is_paused(void)
{
    /* relaxed: a change that comes during a call may go unseen by it. */
    return __atomic_load_n(&osc_on_, __ATOMIC_RELAXED) == 2;
}

bool osc_session_pause(void)
{
    /* seq_cst: see publish() */
    const bool is_first = __atomic_fetch_add(&n_pauses, 1, __ATOMIC_SEQ_CST) == 0;

    publish();
    return is_first;
}

bool osc_session_resume(void)
{
    /* seq_cst: see publish() */
    uint32_t n = __atomic_load_n(&n_pauses, __ATOMIC_SEQ_CST);

    while (n > 0 && !__atomic_compare_exchange_n(&n_pauses, &n, n - 1, true, __ATOMIC_SEQ_CST,
                                                 __ATOMIC_SEQ_CST))
        continue;
    publish();
    return n == 1;
}

void osc_session_hold(bool hold)
{
    /* seq_cst: see publish() */
    __atomic_store_n(&is_held, hold, __ATOMIC_SEQ_CST);
    publish();
}
