/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.c - the interface of recorder.h without the headers of torch: names and times.
 *
 * Where the recorder cannot be built, as without a compiler, this one is there: it is part
 * of the Python package. It calls what libtorch_cpu exports as the C++ ABI has it, and torch
 * calls it so; the layouts below are those of ATen/record_function.h of torch 2.13, and
 * whoever calls osc_torch_plain_find() has made sure that it is that torch.
 *
 *   - Operators and annotations are told apart by callbacks of their own, for the scope of a
 *     range lies at another place in each torch.
 *   - Shapes, numbers that tie backward to forward, memory, stacks and overloads are not
 *     there, whatever the options say. Each recording says so, as `names_alone`.
 *   - An operator costs no allocation, and no lock but where one ends on another thread.
 *
 * Threading: as recorder.h has it.
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

struct record_function; /* at::RecordFunction: its address is all that is known */

/* Returns a std::unique_ptr, which is a class with a destructor: at an address that the
 * caller gives before all arguments, and that is returned. So it is on x86-64 alone. */
#ifdef __x86_64__
enum { IS_KNOWN_ABI = 1 };
#else
enum { IS_KNOWN_ABI = 0 };
#endif
typedef void **(*start_callback)(void **context, const struct record_function *fn);
typedef void (*end_callback)(const struct record_function *fn, void *context);

enum { N_SCOPES = 10, USER_SCOPE = 7 }; /* of at::RecordScope */

/* at::RecordFunctionCallback, which is trivially copyable: it is passed as C does. */
struct callback {
    start_callback start;
    end_callback end;
    double sampling_probability;
    bool has_scope[N_SCOPES];
    bool needs_inputs, needs_outputs, needs_ids;
};

/* What libtorch_cpu exports. */
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

/* Why it is this one that records, for recordings; borrowed. */
static const char *reason;

/* Written while no callback is there. */
static struct {
    const char *whole; /* of struct osc_torch_options */
    bool is_all_threads;
    bool has_global_callbacks; /* the handles', of all threads */
    uint64_t handles[N_CALLBACKS];
    uint64_t begun_number; /* the session whose recording was told what it is; under the lock */
} session;

/* The number of the session, 0: none; what threads know of an older one is void. */
static _Atomic uint64_t session_number;
static uint64_t last_number;

/* Of this thread alone, and not removed: another thread that ends the session cannot. */
static _Thread_local uint64_t own_handles[N_CALLBACKS];

/* --- threads --------------------------------------------------------- */

/* A range that has begun on a thread. */
struct open {
    const void *who;    /* an address of its own while it runs */
    uint64_t end_ticks; /* it has ended, though what is inside of it has not; or 0 */
};

enum { OPEN_MAX = 512, ELSEWHERE_MAX = 16 };

struct thread {
    uint64_t session;
    uint64_t n_seen; /* ends on other threads: those before have been looked at */
    uint32_t n_open;
    uint32_t n_over; /* begun inside of those: not recorded */
    struct open open[OPEN_MAX];
};

static _Thread_local struct thread self;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Ends of ranges that began on another thread, which closes them when it comes by. What that
 * one does not meet in time, as there are newer ones, ends when the recording does. */
static _Atomic uint64_t n_elsewhere;         /* so far; under the lock but for reading */
static struct open elsewhere[ELSEWHERE_MAX]; /* under the lock; the N-th at N % ELSEWHERE_MAX */

/* Stands in the place of a range that another thread has ended: it was asynchronous. */
static const char ended_elsewhere;

/* What only the first thread of a session does, under the lock. */
static void begin_recording(uint64_t number)
{
    session.begun_number = number;
    osc_metadata("names_alone", reason);
    if (session.whole)
        osc_metadata("source.torch", session.whole);
}

/* Forget what belonged to an older session. */
static __attribute__((noinline, cold)) void renew(struct thread *t, uint64_t number)
{
    char name[17] = "";

    t->session = number;
    t->n_open = t->n_over = 0;
    /* relaxed: whatever this thread opens from now on ends later */
    t->n_seen = atomic_load_explicit(&n_elsewhere, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    if (session.begun_number != number)
        begin_recording(number);
    pthread_mutex_unlock(&lock);
    if (prctl(PR_GET_NAME, name) == 0 && name[0] != '\0')
        osc_thread_name(name);
}

/* Ranges that have ended, from the innermost on. */
static void close_ended(struct thread *t)
{
    while (t->n_open > 0 && t->open[t->n_open - 1].end_ticks != 0) {
        const struct open *const o = &t->open[--t->n_open];

        if (o->who == &ended_elsewhere)
            osc_arg_bool(osc_name_c("Is asynchronous"), 1);
        osc_end_at(o->end_ticks);
    }
}

/* WHO has ended at TICKS, somewhere among the ranges of T; MARK is what then stands in its
 * place. False: it is not there. */
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

/* Take note of what other threads have ended since T looked. */
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

/* WHO, which began on another thread, ends now. */
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
    /* relaxed: an end that is not seen yet is at the next call */
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
 * A thread that another one took its session from keeps the callbacks until it begins one
 * itself: it must not take part in those that follow. Of so many sessions each has its own
 * functions, and those that callbacks were left with are not given out again.
 */
enum { N_FUNCTIONS = 4 };
static unsigned left_behind; /* a bit for each of them */

static uint64_t next_session(uint64_t last)
{
    uint64_t number = last + 1;

    /* If all are, what cannot be told apart is told with the rest. */
    while (left_behind >> number % N_FUNCTIONS & 1 && left_behind != (1 << N_FUNCTIONS) - 1)
        number++;
    return number;
}

/* The number of the session if its functions are those of number N, else 0. */
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

/* Those of all threads, which may be those of the parent of a fork, and those of this one. */
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

/* What its parent profiles is not the child's, unless the whole process is recorded. */
static void begin_child(void)
{
    pthread_mutex_unlock(&lock);
    /* relaxed, here and below: there is one thread */
    const uint64_t number = atomic_load_explicit(&session_number, memory_order_relaxed);
    const bool goes_on = number != 0 && session.whole;

    /* Its callbacks stay, and so do their functions. */
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

    /* relaxed, here and in detach: one thread at a time, says the header */
    if (atomic_load_explicit(&session_number, memory_order_relaxed) != 0)
        return OSC_TORCH_BUSY;
    pthread_once(&once, watch_forks);
    memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    remove_callbacks();
    session.is_all_threads = o.is_all_threads != 0;
    session.whole = o.whole;
    /* release: pairs with the barrier in adding the callbacks, before which none comes */
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

/* A range of ours is an address of its own, which nobody reads. */
void *osc_torch_range_open(const char *name, int is_annotation)
{
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
