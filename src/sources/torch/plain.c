/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.c - the interface of recorder.h without the headers of torch: names and times.
 *
 * The Python package contains this recorder for machines where the full one cannot be built,
 * for example without a compiler. It calls functions of libtorch_cpu, and torch calls it, by
 * the C++ ABI. The layouts below are those of ATen/record_function.h of torch 2.13; the caller
 * of osc_torch_plain_find() has checked that it is that torch.
 *
 *   - Operators and annotations have separate callbacks, because the offset of a range's scope
 *     differs between versions of torch.
 *   - Shapes, sequence numbers (which relate backward to forward), memory, stacks and overloads
 *     are never recorded, whatever the options say. Each recording says so in its metadata
 *     `names_alone`.
 *   - An operator costs no allocation, and a lock only if it ends on another thread.
 *
 * Threading: see recorder.h.
 */
#include "sources/torch/recorder.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

#include "opscope/record.h"

/* --- torch ----------------------------------------------------------- */

struct record_function; /* at::RecordFunction; only its address is used */

/* Returns a std::unique_ptr. As a class with a destructor it is returned at an address that the
 * caller passes before all arguments, and which the function returns. This holds on x86-64
 * only. */
#ifdef __x86_64__
enum { IS_KNOWN_ABI = 1 };
#else
enum { IS_KNOWN_ABI = 0 };
#endif
typedef void **(*start_callback)(void **context, const struct record_function *fn);
typedef void (*end_callback)(const struct record_function *fn, void *context);

enum { N_SCOPES = 10, USER_SCOPE = 7 }; /* of at::RecordScope */

/* at::RecordFunctionCallback. It is trivially copyable, so it is passed as in C. */
struct callback {
    start_callback start;
    end_callback end;
    double sampling_probability;
    bool has_scope[N_SCOPES];
    bool needs_inputs, needs_outputs, needs_ids;
};

/* Functions that libtorch_cpu exports. */
static struct {
    uint64_t (*add_global)(struct callback callback);
    uint64_t (*add_thread_local)(struct callback callback);
    void (*remove)(uint64_t handle);
    void (*disable)(uint64_t handle);
    void (*reenable)(uint64_t handle);
    bool (*has_thread_local)(void);
    const char *(*name)(const struct record_function *fn);
} torch;

static const struct {
    const char *symbol;
    size_t at; /* in torch */
} exported[] = {
    {"_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE",
     offsetof(__typeof__(torch), add_global)},
    {"_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE",
     offsetof(__typeof__(torch), add_thread_local)},
    {"_ZN2at14removeCallbackEm", offsetof(__typeof__(torch), remove)},
    {"_ZN2at15disableCallbackEm", offsetof(__typeof__(torch), disable)},
    {"_ZN2at16reenableCallbackEm", offsetof(__typeof__(torch), reenable)},
    {"_ZN2at23hasThreadLocalCallbacksEv", offsetof(__typeof__(torch), has_thread_local)},
    {"_ZNK2at14RecordFunction4nameEv", offsetof(__typeof__(torch), name)},
};

/* --- the session ----------------------------------------------------- */

enum { CALLBACK_OPERATOR, CALLBACK_ANNOTATION, N_CALLBACKS };

/* Why plain.c records and not the full recorder; for recordings, borrowed. */
static const char *reason;

/* Written only while no callback is installed. */
static struct {
    const char *whole; /* of struct osc_torch_options */
    bool is_all_threads;
    bool has_global_callbacks; /* the handles are of global callbacks */
    uint64_t handles[N_CALLBACKS];
    uint64_t begun_number; /* the last session whose metadata was written; under the lock */
} session;

/* The number of the session, 0: none. Thread state from an older session is void. */
static _Atomic uint64_t session_number;
static uint64_t last_number;

/* Thread-local callbacks that are still installed: another thread that ends the session cannot
 * remove them. */
static _Thread_local uint64_t own_handles[N_CALLBACKS];

/* --- threads --------------------------------------------------------- */

/* A range that began on a thread. */
struct open {
    const void *who;    /* an address that identifies it while it runs */
    uint64_t end_ticks; /* when it ended, though ranges inside of it have not; or 0 */
};

enum { OPEN_MAX = 512, ELSEWHERE_MAX = 16 };

struct thread {
    uint64_t session;
    uint64_t n_seen; /* how many entries of `elsewhere` have been processed */
    uint32_t n_open;
    uint32_t n_over; /* open ranges beyond OPEN_MAX: not recorded */
    struct open open[OPEN_MAX];
};

static _Thread_local struct thread self;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Ends of ranges that began on another thread, which closes them at its next range. An entry
 * that is overwritten before ends with the recording. */
static _Atomic uint64_t n_elsewhere;         /* so far; written under the lock */
static struct open elsewhere[ELSEWHERE_MAX]; /* under the lock; the N-th at N % ELSEWHERE_MAX */

/* Marks a range that another thread ended: it was asynchronous. */
static const char ended_elsewhere;

/* Done once, by the first thread of a session, under the lock. */
static void begin_recording(uint64_t number)
{
    session.begun_number = number;
    osc_metadata("names_alone", reason);
    if (session.whole)
        osc_metadata("source.torch", session.whole);
}

/* Reset the state that T has from an older session. */
static __attribute__((noinline, cold)) void renew(struct thread *t, uint64_t number)
{
    char name[17] = "";

    t->session = number;
    t->n_open = t->n_over = 0;
    /* relaxed: ranges that this thread opens from now on end later */
    t->n_seen = atomic_load_explicit(&n_elsewhere, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    if (session.begun_number != number)
        begin_recording(number);
    pthread_mutex_unlock(&lock);
    if (prctl(PR_GET_NAME, name) == 0 && name[0] != '\0')
        osc_thread_name(name);
}

/* Close the innermost ranges as long as they have ended. */
static void close_ended(struct thread *t)
{
    while (t->n_open > 0 && t->open[t->n_open - 1].end_ticks != 0) {
        const struct open *const o = &t->open[--t->n_open];

        if (o->who == &ended_elsewhere)
            osc_arg_bool(osc_name_c("Is asynchronous"), 1);
        osc_end_at(o->end_ticks);
    }
}

/* Store that WHO, one of the ranges of T, ended at TICKS; MARK replaces its address. False: T
 * has no such range. */
static bool store_end(struct thread *t, const void *who, uint64_t ticks, const void *mark)
{
    for (uint32_t i = t->n_open; i-- > 0;) {
        if (t->open[i].who == who) {
            t->open[i] = (struct open){mark, ticks};
            return true;
        }
    }
    return false;
}

/* Apply the ends that other threads stored since T last looked. */
static __attribute__((noinline, cold)) void end_what_ended_elsewhere(struct thread *t)
{
    pthread_mutex_lock(&lock);
    /* relaxed: the lock orders it */
    const uint64_t n = atomic_load_explicit(&n_elsewhere, memory_order_relaxed);
    uint64_t i = n > ELSEWHERE_MAX ? n - ELSEWHERE_MAX : 0;

    for (i = i < t->n_seen ? t->n_seen : i; i < n; i++) {
        const struct open *const o = &elsewhere[i % ELSEWHERE_MAX];

        store_end(t, o->who, o->end_ticks, &ended_elsewhere);
    }
    t->n_seen = n;
    pthread_mutex_unlock(&lock);
    close_ended(t);
}

/* Store that WHO, which began on another thread, ends now. */
static __attribute__((noinline, cold)) void end_elsewhere(const void *who)
{
    const uint64_t ticks = osc_now();

    pthread_mutex_lock(&lock);
    /* relaxed, here and below: the lock orders it */
    const uint64_t n = atomic_load_explicit(&n_elsewhere, memory_order_relaxed);

    elsewhere[n % ELSEWHERE_MAX] = (struct open){who, ticks};
    atomic_store_explicit(&n_elsewhere, n + 1, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

/* --- ranges ---------------------------------------------------------- */

static void begin(const void *who, enum osc_scope_kind kind, const char *name, uint64_t number)
{
    struct thread *const t = &self;

    if (!osc_is_on())
        return;
    if (__builtin_expect(t->session != number, 0))
        renew(t, number);
    /* relaxed: an end that is missed now is seen at the next call */
    if (__builtin_expect(t->n_seen != atomic_load_explicit(&n_elsewhere, memory_order_relaxed),
                         0))
        end_what_ended_elsewhere(t);
    if (__builtin_expect(t->n_open == OPEN_MAX, 0)) {
        if (t->n_over++ == 0)
            osc_instant(osc_name_c("opscope: ranges nested deeper than 512 are not recorded"));
        return;
    }
    t->open[t->n_open++] = (struct open){who, 0};
    osc_begin(kind, osc_name_c(name));
}

static void end(const void *who, uint64_t number)
{
    struct thread *const t = &self;

    if (__builtin_expect(t->session != number, 0)) {
        end_elsewhere(who);
    } else if (__builtin_expect(t->n_open > 0 && t->open[t->n_open - 1].who == who, 1)) {
        t->n_open--;
        osc_end();
        close_ended(t);
    } else if (!store_end(t, who, osc_now(), NULL)) {
        if (t->n_over > 0)
            t->n_over--;
        else
            end_elsewhere(who);
    }
}

/* --- callbacks of one session ---------------------------------------- */

/*
 * If another thread ends a session, the thread that began it keeps the callbacks until it
 * begins one itself; they must not record for later sessions. So N_FUNCTIONS successive
 * sessions have different functions, and functions with callbacks left behind are not used
 * again.
 */
enum { N_FUNCTIONS = 4 };
static unsigned left_behind; /* one bit for each set of functions */

static uint64_t next_session(uint64_t last)
{
    uint64_t number = last + 1;

    /* If all are left behind, sessions share functions. */
    while (left_behind >> number % N_FUNCTIONS & 1 && left_behind != (1 << N_FUNCTIONS) - 1)
        number++;
    return number;
}

/* The number of the session if it uses set N of the functions, else 0. */
static inline uint64_t number_of(unsigned n)
{
    /* relaxed: a callback comes before or after the change, and both are right */
    const uint64_t number = atomic_load_explicit(&session_number, memory_order_relaxed);

    return number % N_FUNCTIONS == n ? number : 0;
}

#define FUNCTIONS(n)                                                                     \
    static void **begin_operator_##n(void **context, const struct record_function *fn)   \
    {                                                                                    \
        const uint64_t number = number_of(n);                                            \
                                                                                         \
        *context = NULL;                                                                 \
        if (number != 0)                                                                 \
            begin(fn, OSC_SCOPE_OPERATOR, torch.name(fn), number);                       \
        return context;                                                                  \
    }                                                                                    \
    static void **begin_annotation_##n(void **context, const struct record_function *fn) \
    {                                                                                    \
        const uint64_t number = number_of(n);                                            \
                                                                                         \
        *context = NULL;                                                                 \
        if (number != 0)                                                                 \
            begin(fn, OSC_SCOPE_ANNOTATION, torch.name(fn), number);                     \
        return context;                                                                  \
    }                                                                                    \
    static void end_##n(const struct record_function *fn, void *context)                 \
    {                                                                                    \
        const uint64_t number = number_of(n);                                            \
                                                                                         \
        (void)context;                                                                   \
        if (number != 0)                                                                 \
            end(fn, number);                                                             \
    }

FUNCTIONS(0)
FUNCTIONS(1)
FUNCTIONS(2)
FUNCTIONS(3)

static const start_callback begins[N_FUNCTIONS][N_CALLBACKS] = {
    {begin_operator_0, begin_annotation_0},
    {begin_operator_1, begin_annotation_1},
    {begin_operator_2, begin_annotation_2},
    {begin_operator_3, begin_annotation_3},
};
static const end_callback ends[N_FUNCTIONS] = {end_0, end_1, end_2, end_3};

static void add_callbacks(uint64_t number)
{
    for (unsigned i = 0; i < N_CALLBACKS; i++) {
        struct callback callback = {.start = begins[number % N_FUNCTIONS][i],
                                    .end = ends[number % N_FUNCTIONS],
                                    .sampling_probability = 1.0};

        for (unsigned scope = 0; scope < N_SCOPES; scope++)
            callback.has_scope[scope] = (scope == USER_SCOPE) == (i == CALLBACK_ANNOTATION);
        session.handles[i] = session.is_all_threads ? torch.add_global(callback)
                                                    : torch.add_thread_local(callback);
        own_handles[i] = session.is_all_threads ? 0 : session.handles[i];
    }
    session.has_global_callbacks = session.is_all_threads;
}

/* Remove the global callbacks, which may stem from the parent of a fork, and this thread's. */
static void remove_callbacks(void)
{
    for (unsigned i = 0; i < N_CALLBACKS; i++) {
        if (own_handles[i] != 0)
            torch.remove(own_handles[i]);
        if (session.has_global_callbacks)
            torch.remove(session.handles[i]);
        own_handles[i] = 0;
    }
    session.has_global_callbacks = false;
}

/* --- forks ----------------------------------------------------------- */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* The child is not recorded, unless the whole process is. */
static void begin_child(void)
{
    pthread_mutex_unlock(&lock);
    /* relaxed, here and below: there is one thread */
    const uint64_t number = atomic_load_explicit(&session_number, memory_order_relaxed);
    const bool goes_on = number != 0 && session.whole;

    /* Its callbacks stay, so the new number must select the same functions. */
    last_number += goes_on ? N_FUNCTIONS : 0;
    atomic_store_explicit(&session_number, goes_on ? last_number : 0, memory_order_relaxed);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, begin_child);
}

/* --- the interface --------------------------------------------------- */

const char *osc_torch_plain_find(const char *path, const char *why)
{
    void *const library = IS_KNOWN_ABI ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;

    reason = why;
    if (!library)
        return IS_KNOWN_ABI ? path : "a processor of x86-64";
    for (size_t i = 0; i < sizeof exported / sizeof *exported; i++) {
        void *const found = dlsym(library, exported[i].symbol);

        if (!found)
            return exported[i].symbol;
        memcpy((char *)&torch + exported[i].at, &found, sizeof found);
    }
    return NULL; /* the library stays loaded, as torch does */
}

int osc_torch_attach(const struct osc_torch_options *options)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct osc_torch_options o = {0};

    /* relaxed, here and in detach: called from one thread at a time */
    if (atomic_load_explicit(&session_number, memory_order_relaxed) != 0)
        return OSC_TORCH_BUSY;
    pthread_once(&once, watch_forks);
    memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    remove_callbacks();
    session.is_all_threads = o.is_all_threads != 0;
    session.whole = o.whole;
    /* release: pairs with the barrier in adding the callbacks, which are not called before */
    last_number = next_session(last_number);
    atomic_store_explicit(&session_number, last_number, memory_order_release);
    add_callbacks(last_number);
    return OSC_TORCH_OK;
}

void osc_torch_toggle(int is_on)
{
    for (unsigned i = 0; i < N_CALLBACKS; i++)
        (is_on ? torch.reenable : torch.disable)(session.handles[i]);
}

/* Threads keep the names that the system has, and calls of Python are not recorded. */
void osc_torch_thread_begins(int number, const char *name)
{
    (void)number, (void)name;
}

void osc_torch_thread_renamed(int number, const char *name)
{
    (void)number, (void)name;
}

void osc_torch_record_calls(void)
{
}

void osc_torch_detach(void)
{
    /* relaxed, here and below: as in attach */
    const uint64_t number = atomic_load_explicit(&session_number, memory_order_relaxed);

    if (number == 0)
        return;
    if (!session.has_global_callbacks && own_handles[0] != session.handles[0])
        left_behind |= 1u << number % N_FUNCTIONS;
    remove_callbacks();
    if (self.session == number)
        end_what_ended_elsewhere(&self);
    atomic_store_explicit(&session_number, 0, memory_order_relaxed);
}

int osc_torch_is_recorded(void)
{
    /* relaxed: as in number_of() */
    return atomic_load_explicit(&session_number, memory_order_relaxed) != 0 && osc_is_on() &&
           (session.is_all_threads || torch.has_thread_local());
}

int osc_torch_wants_inputs(void)
{
    return 0;
}

/* A range is identified by an address that nobody reads. */
void *osc_torch_range_open(const char *name, int is_annotation,
                           const struct osc_torch_value *values, size_t n,
                           const struct osc_torch_keyword *keywords, size_t n_keywords)
{
    (void)values, (void)n, (void)keywords, (void)n_keywords;
    static char addresses[1 << 16];
    static _Atomic uint64_t last;
    /* relaxed, here and below: as in number_of() */
    const uint64_t number = atomic_load_explicit(&session_number, memory_order_relaxed);

    if (number == 0 || !osc_torch_is_recorded())
        return NULL;
    const uint64_t i = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed);
    char *const range = &addresses[i % sizeof addresses];

    begin(range, is_annotation ? OSC_SCOPE_ANNOTATION : OSC_SCOPE_OPERATOR, name, number);
    return range;
}

void osc_torch_range_close(void *range)
{
    /* relaxed: as in number_of() */
    const uint64_t number = atomic_load_explicit(&session_number, memory_order_relaxed);

    if (number != 0)
        end(range, number);
}
