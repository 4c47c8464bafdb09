/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/schedule.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

/* --- the state machine --------------------------------------------------------------- */

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

enum osc_action osc_schedule_action(const struct osc_schedule *schedule, uint64_t step)
{
    const struct osc_schedule *s = schedule;
    const uint64_t cycle = add(add(s->wait, s->warmup), s->active);

    if (s->active == 0 || step < s->skip_first)
        return OSC_ACTION_NONE;
    step -= s->skip_first;
    if (s->skip_first_wait)
        step = add(step, s->wait);
    if (s->repeat && step / cycle >= s->repeat)
        return OSC_ACTION_NONE;
    step %= cycle;
    if (step < s->wait)
        return OSC_ACTION_NONE;
    if (step - s->wait < s->warmup)
        return OSC_ACTION_WARMUP;
    return step < cycle - 1 ? OSC_ACTION_RECORD : OSC_ACTION_SAVE;
}

unsigned osc_schedule_deeds(unsigned from, unsigned to)
{
    enum {
        DISCARD = OSC_DEED_START_FIRST | OSC_DEED_STOP,
        STOP = OSC_DEED_STOP,
        SAVE = OSC_DEED_STOP | OSC_DEED_READY,
        PREPARE = OSC_DEED_PREPARE,
        START = OSC_DEED_START,
        BEGIN = OSC_DEED_PREPARE | OSC_DEED_START,
        WARN = OSC_DEED_WARN
    };
    /* Rows: from; columns: to. */
    static const unsigned char deeds[OSC_ACTION_EXIT][OSC_ACTION_EXIT + 1] = {
        /* to            NONE            WARMUP          RECORD  SAVE          exit */
        /* NONE */ {0, PREPARE, BEGIN, BEGIN, 0},
        /* WARMUP */ {WARN | DISCARD, 0, START, START, DISCARD},
        /* RECORD */ {WARN | STOP, WARN | STOP, 0, 0, SAVE},
        /* SAVE */ {SAVE, SAVE | PREPARE, SAVE | BEGIN, SAVE | BEGIN, SAVE},
    };

    return from < OSC_ACTION_EXIT && to <= OSC_ACTION_EXIT ? deeds[from][to] : 0;
}

/* --- words ------------------------------------------------------------------------------ */

struct word {
    const char *key, *value; /* value: NULL without "=" */
    size_t key_len, value_len;
};

static bool is_text(const char *s, size_t len, const char *text)
{
    return len == strlen(text) && memcmp(s, text, len) == 0;
}

/* Read the digits at the start of S; returns their number, 0 if there is none or the number is
 * too large. */
static size_t read_digits(const char *s, size_t len, uint64_t *v)
{
    size_t n = 0;

    *v = 0;
    for (; n < len && s[n] >= '0' && s[n] <= '9'; n++) {
        if (*v > (UINT64_MAX - 9) / 10)
            return 0;
        *v = *v * 10 + (uint64_t)(s[n] - '0');
    }
    return n;
}

/* Read a number followed by one of N units, and multiply it by the unit. */
struct unit {
    const char *name;
    uint64_t factor;
};

static bool read_units(const struct word *w, const struct unit *units, size_t n, uint64_t *v)
{
    const size_t digits = read_digits(w->value, w->value_len, v);

    for (size_t i = 0; digits > 0 && i < n; i++)
        if (is_text(w->value + digits, w->value_len - digits, units[i].name)) {
            if (*v > UINT64_MAX / units[i].factor)
                return false;
            *v *= units[i].factor;
            return true;
        }
    return false;
}

static bool read_steps(const struct word *w, uint64_t *v)
{
    const size_t digits = read_digits(w->value, w->value_len, v);

    return digits > 0 && digits == w->value_len;
}

static bool read_flight(const struct word *w, struct osc_schedule_text *out)
{
    static const struct unit times[] = {
        {"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}, {"min", 60000000000},
    };
    static const struct unit counts[] = {{"steps", 1}, {"step", 1}};
    uint64_t v;

    if (read_units(w, counts, sizeof counts / sizeof *counts, &v))
        return (out->flight_steps = v) != 0;
    if (read_units(w, times, sizeof times / sizeof *times, &v))
        return (out->flight_ns = v) != 0;
    return false;
}

/* Read a size of at least MIN bytes. */
static bool read_size(const struct word *w, uint64_t min, uint64_t *bytes)
{
    static const struct unit sizes[] = {
        {"", 1},
        {"B", 1},
        {"K", UINT64_C(1) << 10},
        {"KiB", UINT64_C(1) << 10},
        {"M", UINT64_C(1) << 20},
        {"MiB", UINT64_C(1) << 20},
        {"G", UINT64_C(1) << 30},
        {"GiB", UINT64_C(1) << 30},
        {"T", UINT64_C(1) << 40},
        {"TiB", UINT64_C(1) << 40},
    };

    return read_units(w, sizes, sizeof sizes / sizeof *sizes, bytes) && *bytes >= min;
}

/* Read a decimal number above 1. */
static bool read_ratio(const struct word *w, double *ratio)
{
    uint64_t whole, part = 0;
    double below = 1;
    size_t n = read_digits(w->value, w->value_len, &whole);

    if (n == 0)
        return false;
    if (n < w->value_len && w->value[n] == '.') {
        const size_t digits = read_digits(w->value + n + 1, w->value_len - n - 1, &part);
        n += 1 + digits;
        for (size_t i = 0; i < digits; i++)
            below *= 10;
    }
    *ratio = (double)whole + (double)part / below;
    return n == w->value_len && *ratio > 1;
}

/* Read the name, with or without SIG, of one of the signals that are safe to use. */
static bool read_signal(const struct word *w, int *number)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {
        {"USR1", SIGUSR1}, {"USR2", SIGUSR2},     {"HUP", SIGHUP},     {"ALRM", SIGALRM},
        {"PROF", SIGPROF}, {"VTALRM", SIGVTALRM}, {"WINCH", SIGWINCH}, {"URG", SIGURG},
        {"IO", SIGIO},     {"QUIT", SIGQUIT},
    };
    const size_t skip = w->value_len > 3 && memcmp(w->value, "SIG", 3) == 0 ? 3 : 0;

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (is_text(w->value + skip, w->value_len - skip, signals[i].name)) {
            *number = signals[i].number;
            return true;
        }
    return false;
}

static bool is_key(const struct word *w, const char *key)
{
    return is_text(w->key, w->key_len, key);
}

/* Where the number of steps that W gives is stored; NULL: W gives another thing. */
static uint64_t *get_count(const struct word *w, struct osc_schedule *schedule)
{
    const struct {
        const char *key;
        uint64_t *steps;
    } counts[] = {
        {"skip_first", &schedule->skip_first}, {"wait", &schedule->wait},
        {"warmup", &schedule->warmup},         {"active", &schedule->active},
        {"repeat", &schedule->repeat},         {"skip_first_wait", &schedule->skip_first_wait},
    };

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (is_key(w, counts[i].key))
            return counts[i].steps;
    return NULL;
}

/* Read W, a size; returns what is wrong with it, or NULL. */
static const char *read_limit(const struct word *w, struct osc_schedule_text *out)
{
    if (is_key(w, "buffer"))
        return read_size(w, OSC_SCHEDULE_BUFFER_MIN, &out->buffer_bytes)
                   ? NULL
                   : "is not a size such as 256M; the minimum is 256K";
    if (is_key(w, "limit_size"))
        return read_size(w, OSC_SCHEDULE_LIMIT_MIN, &out->limit_bytes)
                   ? NULL
                   : "is not a size such as 2G; the minimum is 1M";
    return "is not known";
}

/* Read W; returns what is wrong with it, or NULL. */
static const char *read_word(const struct word *w, struct osc_schedule_text *out)
{
    uint64_t *const count = w->value ? get_count(w, &out->schedule) : NULL;

    if (!w->value) {
        out->dump_on_crash |= is_key(w, "crash");
        return is_key(w, "crash") ? NULL : "is not known";
    }
    if (count) {
        out->has_schedule = true;
        return read_steps(w, count) ? NULL : "is not a number of steps";
    }
    if (is_key(w, "flight"))
        return read_flight(w, out)
                   ? NULL
                   : "is neither a time such as 10s nor a count such as 20steps";
    if (is_key(w, "slow"))
        return read_ratio(w, &out->slow_step) ? NULL : "is not a ratio above 1";
    if (is_key(w, "signal"))
        return read_signal(w, &out->dump_signal) ? NULL : "is not a signal that can be used";
    if (is_key(w, "toggle"))
        return read_signal(w, &out->toggle_signal) ? NULL : "is not a signal that can be used";
    return read_limit(w, out);
}

/* Whether TEXT has the key of W before W as well. */
static bool is_again(const char *text, const struct word *w)
{
    for (const char *at = text; at < w->key; at += strcspn(at, ",") + 1)
        if (strcspn(at, ",=") == w->key_len && memcmp(at, w->key, w->key_len) == 0)
            return true;
    return false;
}

osc_status osc_schedule_parse(const char *text, struct osc_schedule_text *out,
                              struct osc_err *err)
{
    *out = (struct osc_schedule_text){0};
    for (const char *at = text; *at;) {
        const size_t len = strcspn(at, ",");
        const char *equals = memchr(at, '=', len);
        const size_t key_len = equals ? (size_t)(equals - at) : len;
        const struct word w = {at, equals ? equals + 1 : NULL, key_len,
                               equals ? len - key_len - 1 : 0};
        const char *fault = read_word(&w, out);

        if (!fault && is_again(text, &w))
            fault = "is given again";
        if (fault) {
            *out = (struct osc_schedule_text){0};
            return osc_fail(err, OSC_EINVAL, "schedule: \"%.*s\" %s",
                            (int)(len < 100 ? len : 100), at, fault);
        }
        at += len + (at[len] == ',');
    }
    if (out->has_schedule && out->schedule.active == 0) {
        *out = (struct osc_schedule_text){0};
        return osc_fail(err, OSC_EINVAL, "schedule: active=N is missing");
    }
    return OSC_OK;
}
