/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.hpp - record from C++: scopes that last as long as a block, with typed arguments.
 *
 *     void load(std::string_view path)
 *     {
 *         OPSCOPE_FUNCTION("path", path);
 *         while (more()) {
 *             OPSCOPE_SCOPE("decode");
 *             ...
 *             OPSCOPE_ARG("bytes", n);
 *         }
 *         OPSCOPE_COUNTER("queued", queue.size());
 *     }
 *
 * C++17 and later, with gcc or clang; link with libopscope (pkg-config opscope), and see
 * opscope/record.h for when a program records.
 *
 *   - The names and keys of macros are string literals, which each place interns once. Names
 *     that are made at run time are for the classes: opscope::scope s(name);
 *   - While nothing records, a macro costs a load and a branch, and its values are not
 *     evaluated.
 *   - With OPSCOPE_DISABLE defined, all of this is empty: values of macros are not evaluated, a
 *     program needs no library, and no symbol is left. Files with and without it may be linked
 *     together.
 *   - Nothing throws, blocks or allocates.
 *
 * Values are integers, floating-point numbers, bool, enumerations, text (whatever converts to
 * std::string_view), durations of std::chrono (nanoseconds), places in the source, and
 * contiguous ranges of integers.
 *
 * Threading: as in record.h. A scope belongs to the thread that made it, and ends before those
 * that were begun earlier there: across co_await use async, as readers count a scope that did
 * otherwise (misplaced_end, crossed_thread). async and arrow may be moved to other threads.
 */
#ifndef OPSCOPE_SCOPE_HPP
#define OPSCOPE_SCOPE_HPP

#if !defined __cplusplus || __cplusplus < 201703L
#error "opscope/scope.hpp needs C++17"
#endif

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>
#if __has_include(<version>)
#include <version>
#endif
#ifdef __cpp_lib_source_location
#include <source_location>
#endif

#include "record.h"

#define OPSCOPE_INLINE_ [[gnu::always_inline]] inline

namespace opscope
{

/* A place in the source, such as std::source_location::current(), also before C++20. */
struct location {
    const char *file;
    unsigned line;
    const char *function;

    static constexpr location current(const char *file = __builtin_FILE(),
                                      unsigned line = __builtin_LINE(),
                                      const char *function = __builtin_FUNCTION()) noexcept
    {
        return {file, line, function};
    }
};

#ifdef OPSCOPE_DISABLE
inline namespace disabled
{
#else
inline namespace enabled
{
#endif

namespace detail
{

template <class T> struct always_false : std::false_type {
};

template <class T> struct is_duration : std::false_type {
};
template <class Rep, class Period>
struct is_duration<std::chrono::duration<Rep, Period>> : std::true_type {
};

/* Whether T is a contiguous range of integers. */
template <class T, class = void> struct is_integers : std::false_type {
};
template <class T>
struct is_integers<T, std::void_t<decltype(std::data(std::declval<const T &>())),
                                  decltype(std::size(std::declval<const T &>()))>>
    : std::is_integral<std::remove_cv_t<
          std::remove_pointer_t<decltype(std::data(std::declval<const T &>()))>>> {
};

/* The place behind the bracket that closes the one at S[I]. */
constexpr std::size_t behind(std::string_view s, std::size_t i) noexcept
{
    int depth = 0;

    do {
        depth += s[i] == '(' ? 1 : s[i] == ')' ? -1 : 0;
        i++;
    } while (i < s.size() && depth > 0);
    return i;
}

/* What the compiler calls a function, such as "int a::b<T>::c(int) [with T = int]", without its
 * type, parameters and what follows: "a::b<T>::c". */
constexpr std::string_view function_name(std::string_view s) noexcept
{
    std::size_t begin = 0, i = 0;
    int depth = 0; /* of <> and {} */

    while (i < s.size()) {
        const bool is_first = i == 0 || s[i - 1] == ' ' || s[i - 1] == ':';

        if (depth == 0 && is_first && s.substr(i, 8) == "operator") {
            i += s.substr(i, 10) == "operator()" ? 10
                                                 : 8; /* the rest of its name may have any */
            while (i < s.size() && s[i] != '(')
                i++;
            break;
        }
        if (s[i] == '(') { /* parameters, unless a name goes on behind them */
            const std::size_t next = behind(s, i);

            if (depth == 0 && !is_first && s.substr(next, 2) != "::")
                break;
            i = next;
            continue;
        }
        if (depth == 0 && s[i] == ' ' && s.substr(i, 2) == " [")
            break;
        depth += s[i] == '<' || s[i] == '{' ? 1 : s[i] == '>' || s[i] == '}' ? -1 : 0;
        i++;
        if (depth == 0 && s[i - 1] == ' ')
            begin = i;
    }
    while (begin < i && (s[begin] == '*' || s[begin] == '&'))
        begin++;
    return s.substr(begin, i - begin);
}

#ifndef OPSCOPE_DISABLE

inline osc_name name_of(std::string_view s) noexcept
{
    return osc_name_of(s.data(), s.size());
}

/* The name at *PLACE, which is interned by the first call. */
OPSCOPE_INLINE_ osc_name once(osc_name *place, const char *literal) noexcept
{
    osc_name_once(place, literal);
    return __atomic_load_n(place, __ATOMIC_RELAXED);
}

/* N integers of any type, as many as an argument has. */
template <class T> void integers(osc_name key, const T *values, std::size_t n) noexcept
{
    if constexpr (std::is_same_v<T, std::int64_t>) {
        osc_arg_i64s(key, values, n);
    } else {
        std::int64_t wide[385]; /* one more than are recorded: the library counts what is cut */
        std::size_t i = 0;

        for (; i < n && i < sizeof wide / sizeof *wide; i++)
            wide[i] = static_cast<std::int64_t>(values[i]);
        osc_arg_i64s(key, wide, i);
    }
}

/* FILE:LINE, whose file may be cut. */
inline void place(osc_name key, std::string_view file, unsigned line) noexcept
{
    char text[512];
    std::size_t n = file.copy(text, sizeof text - 12);

    text[n++] = ':';
    osc_arg_text(
        key, text,
        static_cast<std::size_t>(std::to_chars(text + n, text + sizeof text, line).ptr - text));
}

/* A number that is none of int64_t. */
inline void large(osc_name key, std::uint64_t value) noexcept
{
    char digits[20];

    osc_arg_json(key, digits,
                 static_cast<std::size_t>(
                     std::to_chars(digits, digits + sizeof digits, value).ptr - digits));
}

template <class T> void arg(osc_name key, const T &value) noexcept
{
    if constexpr (std::is_same_v<T, bool>)
        osc_arg_bool(key, value);
    else if constexpr (std::is_enum_v<T>)
        arg(key, static_cast<std::underlying_type_t<T>>(value));
    else if constexpr (std::is_integral_v<T>) {
        if constexpr (std::is_unsigned_v<T> && sizeof(T) >= 8) {
            if (value > static_cast<std::uint64_t>(INT64_MAX)) {
                large(key, value);
                return;
            }
        }
        osc_arg_i64(key, static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<T>)
        osc_arg_f64(key, static_cast<double>(value));
    else if constexpr (std::is_convertible_v<const T &, const char *>) {
        const char *const s = value;

        if (s)
            osc_arg_text(key, s, std::string_view(s).size());
    } else if constexpr (std::is_convertible_v<const T &, std::string_view>) {
        const std::string_view s = value;

        osc_arg_text(key, s.data(), s.size());
    } else if constexpr (is_duration<T>::value)
        arg(key, std::chrono::duration_cast<std::chrono::nanoseconds>(value).count());
    else if constexpr (std::is_same_v<T, location>)
        place(key, value.file, value.line);
#ifdef __cpp_lib_source_location
    else if constexpr (std::is_same_v<T, std::source_location>)
        place(key, value.file_name(), value.line());
#endif
    else if constexpr (is_integers<T>::value)
        integers(key, std::data(value), std::size(value));
    else
        static_assert(always_false<T>::value, "opscope cannot record a value of this type");
}

/* The arguments KEY, VALUE, ... whose keys are interned in NAMES. */
inline void args(osc_name *) noexcept
{
}

template <std::size_t N, class T, class... More>
void args(osc_name *names, const char (&key)[N], const T &value, const More &...more) noexcept
{
    arg(once(names, key), value);
    args(names + 1, more...);
}

template <std::size_t N, class... More>
OPSCOPE_INLINE_ std::uint64_t begin(osc_name *names, enum osc_scope_kind kind,
                                    const char (&name)[N], const More &...more) noexcept
{
    const std::uint64_t opened = osc_scope_open(osc_kind_known(kind), once(names, name));

    if constexpr (sizeof...(More) > 0)
        args(names + 1, more...);
    return opened;
}

/* Whether scopes of this LEVEL of the category called NAME, at *PLACE, are recorded. */
OPSCOPE_INLINE_ bool wants(osc_category *place, const char *name, int level) noexcept
{
    if (!osc_is_on())
        return false;
    if (__builtin_expect(__atomic_load_n(place, __ATOMIC_RELAXED) == 0, 0))
        __atomic_store_n(place, osc_category_of(name), __ATOMIC_RELAXED);
    return osc_wants(__atomic_load_n(place, __ATOMIC_RELAXED), level) != 0;
}

template <std::size_t N, class... More>
OPSCOPE_INLINE_ std::uint64_t begin_in(osc_category category, osc_name *names,
                                       const char (&name)[N], const More &...more) noexcept
{
    if (__builtin_expect(__atomic_load_n(names, __ATOMIC_RELAXED) == 0, 0))
        __atomic_store_n(names, osc_name_in(category, name, N - 1), __ATOMIC_RELAXED);
    const std::uint64_t opened =
        osc_scope_open(OSC_SCOPE_PLAIN, __atomic_load_n(names, __ATOMIC_RELAXED));

    if constexpr (sizeof...(More) > 0)
        args(names + 1, more...);
    return opened;
}

/* A scope that is called as FUNCTION is, which the compiler has given. */
struct begin_function {
    osc_name *names;
    std::uint64_t opened;

    begin_function(osc_name *at, std::string_view function) noexcept : names(at)
    {
        if (__atomic_load_n(names, __ATOMIC_RELAXED) == 0)
            __atomic_store_n(names, name_of(function_name(function)), __ATOMIC_RELAXED);
        opened = osc_scope_open(OSC_SCOPE_PLAIN, __atomic_load_n(names, __ATOMIC_RELAXED));
    }

    template <class... More> std::uint64_t with(const More &...more) const noexcept
    {
        args(names + 1, more...);
        return opened;
    }
};

template <std::size_t N, class T>
void count(osc_name *names, const char (&name)[N], const T &value) noexcept
{
    static_assert(std::is_arithmetic_v<T>, "a counter is a number");
    if constexpr (std::is_floating_point_v<T>)
        osc_counter_f64(once(names, name), static_cast<double>(value));
    else
        osc_counter_i64(once(names, name), static_cast<std::int64_t>(value));
}

template <std::size_t N, class... More>
void instant(osc_name *names, const char (&name)[N], const More &...more) noexcept
{
    osc_scope_instant(once(names, name));
    args(names + 1, more...);
}

/* Ends a scope that was opened; 0: none was. */
class block
{
  public:
    OPSCOPE_INLINE_ explicit block(std::uint64_t opened) noexcept : opened_(opened)
    {
    }
    OPSCOPE_INLINE_ ~block()
    {
        if (__builtin_expect(opened_ != 0, 0))
            osc_scope_close(opened_);
    }
    block(const block &) = delete;
    block &operator=(const block &) = delete;

  private:
    const std::uint64_t opened_;
};

#endif

/* Only string literals have the second of these types. */
template <class T> struct literal : std::integral_constant<std::size_t, 0> {
    static_assert(sizeof(T) == 0, "names in macros of opscope are string literals, such as "
                                  "OPSCOPE_SCOPE(\"sort\"); for others use opscope::scope");
};
template <std::size_t N>
struct literal<const char (&)[N]> : std::integral_constant<std::size_t, 0> {
};

/* How many names a macro with these words needs: its own, and those of its keys. */
template <class... Words>
std::integral_constant<std::size_t, sizeof...(Words) / 2 + 1> n_names(const Words &...);

} // namespace detail

/* Whether anything records, for what is only computed to be recorded. */
OPSCOPE_INLINE_ bool is_on() noexcept
{
#ifdef OPSCOPE_DISABLE
    return false;
#else
    return osc_is_on() != 0;
#endif
}

/* A name that is interned once, for names that are used often and are no literals. */
class name
{
  public:
#ifdef OPSCOPE_DISABLE
    [[nodiscard]] OPSCOPE_INLINE_ explicit constexpr name(std::string_view) noexcept
    {
    }
#else
    [[nodiscard]] explicit name(std::string_view s) noexcept : id_(detail::name_of(s))
    {
    }
    osc_name id() const noexcept
    {
        return id_;
    }

  private:
    osc_name id_;
#endif
};

/* A scope of this thread, from here to the end of the object. */
class [[nodiscard, maybe_unused]] scope
{
  public:
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
#ifdef OPSCOPE_DISABLE
    [[nodiscard]] OPSCOPE_INLINE_ explicit constexpr scope(
        std::string_view, enum osc_scope_kind = OSC_SCOPE_PLAIN) noexcept
    {
    }
    [[nodiscard]] OPSCOPE_INLINE_ explicit constexpr scope(
        const name &, enum osc_scope_kind = OSC_SCOPE_PLAIN) noexcept
    {
    }
    template <class T> OPSCOPE_INLINE_ constexpr void arg(std::string_view, const T &) noexcept
    {
    }
#else
    [[nodiscard]] explicit scope(std::string_view s,
                                 enum osc_scope_kind kind = OSC_SCOPE_PLAIN) noexcept
        : block_(is_on() ? osc_scope_open(osc_kind_known(kind), detail::name_of(s)) : 0)
    {
    }
    [[nodiscard]] OPSCOPE_INLINE_ explicit scope(const name &n, enum osc_scope_kind kind =
                                                                    OSC_SCOPE_PLAIN) noexcept
        : block_(is_on() ? osc_scope_open(osc_kind_known(kind), n.id()) : 0)
    {
    }

    /* An argument of the innermost scope of this thread, which is this one unless another was
     * begun since. */
    template <class T> void arg(std::string_view key, const T &value) noexcept
    {
        if (is_on())
            detail::arg(detail::name_of(key), value);
    }

  private:
    detail::block block_;
#endif
};

/* A range that may end on another thread, overlap others, and be moved: a request, a task, a
 * coroutine. Without one, as after it was moved or ended, an object is empty. */
class [[nodiscard, maybe_unused]] async
{
  public:
    async() noexcept = default;
    async(const async &) = delete;
    async &operator=(const async &) = delete;
#ifdef OPSCOPE_DISABLE
    [[nodiscard]] OPSCOPE_INLINE_ explicit constexpr async(
        std::string_view, enum osc_scope_kind = OSC_SCOPE_PLAIN) noexcept
    {
    }
    OPSCOPE_INLINE_ constexpr async(async &&) noexcept
    {
    }
    OPSCOPE_INLINE_ async &operator=(async &&) noexcept
    {
        return *this;
    }
    OPSCOPE_INLINE_ constexpr void end() noexcept
    {
    }
#else
    [[nodiscard]] explicit async(std::string_view s,
                                 enum osc_scope_kind kind = OSC_SCOPE_PLAIN) noexcept
    {
        if (!is_on())
            return;
        name_ = detail::name_of(s);
        kind_ = osc_kind_known(kind);
        id_ = osc_unique_id();
        osc_async_begin(kind_, name_, id_);
    }
    async(async && other) noexcept
    {
        *this = std::move(other);
    }
    async &operator=(async &&other) noexcept
    {
        if (this != &other) {
            end();
            id_ = std::exchange(other.id_, 0);
            name_ = other.name_;
            kind_ = other.kind_;
        }
        return *this;
    }
    ~async()
    {
        end();
    }

    /* End it now, instead of with the object. */
    void end() noexcept
    {
        if (id_ != 0)
            osc_async_end(kind_, name_, std::exchange(id_, 0));
    }

  private:
    std::uint64_t id_ = 0; /* 0: there is none */
    osc_name name_ = 0;
    enum osc_scope_kind kind_ = OSC_SCOPE_PLAIN;
#endif
};

/* An arrow from the innermost scope at from_here() to the innermost scope where it lands, such
 * as from what queues a task to what runs it. Moved or landed, an object is empty. */
class [[nodiscard, maybe_unused]] arrow
{
  public:
    arrow() noexcept = default;
    arrow(const arrow &) = delete;
    arrow &operator=(const arrow &) = delete;
#ifdef OPSCOPE_DISABLE
    OPSCOPE_INLINE_ constexpr arrow(arrow &&) noexcept
    {
    }
    OPSCOPE_INLINE_ arrow &operator=(arrow &&) noexcept
    {
        return *this;
    }
    OPSCOPE_INLINE_ static constexpr arrow from_here() noexcept
    {
        return {};
    }
    OPSCOPE_INLINE_ constexpr void land() noexcept
    {
    }
#else
    arrow(arrow && other) noexcept
    {
        *this = std::move(other);
    }
    arrow &operator=(arrow &&other) noexcept
    {
        id_ = std::exchange(other.id_, 0);
        return *this;
    }
    ~arrow() = default;

    static arrow from_here() noexcept
    {
        arrow made;

        if (is_on()) {
            made.id_ = osc_unique_id();
            osc_flow_begin(made.id_);
        }
        return made;
    }

    /* It ends here. Only the first call counts. */
    void land() noexcept
    {
        if (id_ != 0)
            osc_flow_end(std::exchange(id_, 0));
    }

  private:
    std::uint64_t id_ = 0;
#endif
};

/* Begin the next step of the program, as osc_step(). */
OPSCOPE_INLINE_ void step() noexcept
{
#ifndef OPSCOPE_DISABLE
    (void)osc_step();
#endif
}

/* Name this thread; more than 255 bytes are cut. */
OPSCOPE_INLINE_ void thread_name([[maybe_unused]] std::string_view s) noexcept
{
#ifndef OPSCOPE_DISABLE
    char text[256];

    if (!is_on())
        return;
    text[s.copy(text, sizeof text - 1)] = '\0';
    osc_thread_name(text);
#endif
}

} // namespace enabled or disabled
} // namespace opscope

/* --- macros ----------------------------------------------------------------------------- */

#define OPSCOPE_JOIN_AGAIN_(a, b) a##b
#define OPSCOPE_JOIN_(a, b)       OPSCOPE_JOIN_AGAIN_(a, b)

#define OPSCOPE_FIRST_(first, ...) first

/* 0 if the first word is a literal, or else two errors, of which the first one says so. */
#define OPSCOPE_LITERAL_(...)                                                      \
    (::opscope::detail::literal<decltype(OPSCOPE_FIRST_(__VA_ARGS__, 0))>::value + \
     0 * sizeof("" OPSCOPE_FIRST_(__VA_ARGS__, 0)))

#ifdef OPSCOPE_DISABLE

#define OPSCOPE_NO_NAMES_(...) \
    static_cast<void>(sizeof(decltype(::opscope::detail::n_names(__VA_ARGS__))))
#define OPSCOPE_NOTHING_(...) \
    static_cast<void>(OPSCOPE_LITERAL_(__VA_ARGS__)), OPSCOPE_NO_NAMES_(__VA_ARGS__)

#define OPSCOPE_SCOPE_OF(kind, ...) \
    static_cast<void>(sizeof(kind)), OPSCOPE_NOTHING_(__VA_ARGS__)
#define OPSCOPE_SCOPE(...) OPSCOPE_NOTHING_(__VA_ARGS__)
#define OPSCOPE_SCOPE_IN(category, level, ...) \
    OPSCOPE_NOTHING_(category, level), OPSCOPE_NOTHING_(__VA_ARGS__)
#define OPSCOPE_FUNCTION(...)      OPSCOPE_NO_NAMES_(__VA_ARGS__)
#define OPSCOPE_ARG(...)           OPSCOPE_NOTHING_(__VA_ARGS__)
#define OPSCOPE_INSTANT(...)       OPSCOPE_NOTHING_(__VA_ARGS__)
#define OPSCOPE_COUNTER(name, ...) OPSCOPE_NOTHING_(name, __VA_ARGS__)

#else

/* The names of this place, which are interned when it first records. A block without braces,
 * such as of an if, cannot hold them: the error names them. */
#define OPSCOPE_NAMES_(names, ...)                        \
    static osc_name names[OPSCOPE_LITERAL_(__VA_ARGS__) + \
                          decltype(::opscope::detail::n_names(__VA_ARGS__))::value]
#define OPSCOPE_KEYS_(names, ...) \
    static osc_name names[decltype(::opscope::detail::n_names(__VA_ARGS__))::value]

#define OPSCOPE_SCOPE_AS_(id, kind, ...)                                                       \
    OPSCOPE_NAMES_(OPSCOPE_JOIN_(opscope_scope_needs_braces_around_it_, id), __VA_ARGS__);     \
    const ::opscope::detail::block OPSCOPE_JOIN_(opscope_block_, id)(                          \
        ::opscope::is_on()                                                                     \
            ? ::opscope::detail::begin(                                                        \
                  OPSCOPE_JOIN_(opscope_scope_needs_braces_around_it_, id), kind, __VA_ARGS__) \
            : 0)

#define OPSCOPE_SCOPE_IN_AS_(id, category, level, ...)                                     \
    OPSCOPE_NAMES_(OPSCOPE_JOIN_(opscope_scope_needs_braces_around_it_, id), __VA_ARGS__); \
    static osc_category OPSCOPE_JOIN_(opscope_category_, id);                              \
    const ::opscope::detail::block OPSCOPE_JOIN_(opscope_block_, id)(                      \
        ::opscope::detail::wants(&OPSCOPE_JOIN_(opscope_category_, id), category, level)   \
            ? ::opscope::detail::begin_in(                                                 \
                  OPSCOPE_JOIN_(opscope_category_, id),                                    \
                  OPSCOPE_JOIN_(opscope_scope_needs_braces_around_it_, id), __VA_ARGS__)   \
            : 0)

#define OPSCOPE_FUNCTION_AS_(id, ...)                                                      \
    OPSCOPE_KEYS_(OPSCOPE_JOIN_(opscope_scope_needs_braces_around_it_, id), __VA_ARGS__);  \
    const ::opscope::detail::block OPSCOPE_JOIN_(opscope_block_, id)(                      \
        ::opscope::is_on() ? ::opscope::detail::begin_function(                            \
                                 OPSCOPE_JOIN_(opscope_scope_needs_braces_around_it_, id), \
                                 __PRETTY_FUNCTION__)                                      \
                                 .with(__VA_ARGS__)                                        \
                           : 0)

#define OPSCOPE_CALL_(function, ...)                                  \
    do {                                                              \
        OPSCOPE_NAMES_(opscope_names_, __VA_ARGS__);                  \
        if (::opscope::is_on())                                       \
            ::opscope::detail::function(opscope_names_, __VA_ARGS__); \
    } while (false)

/* A scope NAME of KIND, an enum osc_scope_kind, to the end of the block: (kind, name, key,
 * value, key, value, ...). */
#define OPSCOPE_SCOPE_OF(kind, ...) OPSCOPE_SCOPE_AS_(__COUNTER__, kind, __VA_ARGS__)

/* The same of any program: (name, key, value, ...). */
#define OPSCOPE_SCOPE(...)          OPSCOPE_SCOPE_AS_(__COUNTER__, OSC_SCOPE_PLAIN, __VA_ARGS__)

/* The same if this level of the category is recorded, which can be switched while the program
 * runs (osc_enable()); 1 is usual, more is more detail: (category, level, name, key, value,
 * ...).
 */
#define OPSCOPE_SCOPE_IN(category, level, ...) \
    OPSCOPE_SCOPE_IN_AS_(__COUNTER__, "" category, level, __VA_ARGS__)

/* The same, called as the function is: (key, value, ...). */
#define OPSCOPE_FUNCTION(...)      OPSCOPE_FUNCTION_AS_(__COUNTER__, __VA_ARGS__)

/* Arguments of the innermost scope of this thread, or of the last instant: (key, value, ...).
 */
#define OPSCOPE_ARG(...)           OPSCOPE_CALL_(args, __VA_ARGS__)

/* An event without duration: (name, key, value, ...). */
#define OPSCOPE_INSTANT(...)       OPSCOPE_CALL_(instant, __VA_ARGS__)

/* A sample of the counter NAME: (name, number). */
#define OPSCOPE_COUNTER(name, ...) OPSCOPE_CALL_(count, name, __VA_ARGS__)

#endif

#endif
