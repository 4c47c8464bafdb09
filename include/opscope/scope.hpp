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

template <class Value> struct always_false : std::false_type {
};

template <class Value> struct is_duration : std::false_type {
};
template <class Ticks, class Unit>
struct is_duration<std::chrono::duration<Ticks, Unit>> : std::true_type {
};

/* Whether Value is a contiguous range of integers. */
template <class Value, class = void> struct is_integers : std::false_type {
};
template <class Value>
struct is_integers<Value, std::void_t<decltype(std::data(std::declval<const Value &>())),
                                      decltype(std::size(std::declval<const Value &>()))>>
    : std::is_integral<std::remove_cv_t<
          std::remove_pointer_t<decltype(std::data(std::declval<const Value &>()))>>> {
};

/* The place behind the bracket that closes the one at WORDS[WHERE]. */
constexpr std::size_t behind(std::string_view words, std::size_t where) noexcept
{
    int depth = 0;

    do {
        depth += words[where] == '(' ? 1 : words[where] == ')' ? -1 : 0;
        where++;
    } while (where < words.size() && depth > 0);
    return where;
}

/* What the compiler calls a function, such as "int a::b<T>::c(int) [with T = int]", without its
 * type, parameters and what follows: "a::b<T>::c". */
constexpr std::string_view function_name(std::string_view words) noexcept
{
    std::size_t begin = 0, where = 0;
    int depth = 0; /* of <> and {} */

    while (where < words.size()) {
        const bool is_first = where == 0 || words[where - 1] == ' ' || words[where - 1] == ':';

        if (depth == 0 && is_first && words.substr(where, 8) == "operator") {
            where += words.substr(where, 10) == "operator()"
                         ? 10U
                         : 8U; /* the rest of its name may have any */
            while (where < words.size() && words[where] != '(')
                where++;
            break;
        }
        if (words[where] == '(') { /* parameters, unless a name goes on behind them */
            const std::size_t next = behind(words, where);

            if (depth == 0 && !is_first && words.substr(next, 2) != "::")
                break;
            where = next;
            continue;
        }
        if (depth == 0 && words[where] == ' ' && words.substr(where, 2) == " [")
            break;
        depth += words[where] == '<' || words[where] == '{'   ? 1
                 : words[where] == '>' || words[where] == '}' ? -1
                                                              : 0;
        where++;
        if (depth == 0 && words[where - 1] == ' ')
            begin = where;
    }
    while (begin < where && (words[begin] == '*' || words[begin] == '&'))
        begin++;
    return words.substr(begin, where - begin);
}

#ifndef OPSCOPE_DISABLE

inline osc_name name_of(std::string_view words) noexcept
{
    return osc_name_of(words.data(), words.size());
}

/* The name at *PLACE, which is interned by the first call. */
OPSCOPE_INLINE_ osc_name once(osc_name *place, const char *literal) noexcept
{
    osc_name_once(place, literal);
    return __atomic_load_n(place, __ATOMIC_RELAXED);
}

/* TOTAL integers of any type, as many as an argument has. */
template <class Value>
void integers(osc_name key, const Value *values, std::size_t total) noexcept
{
    if constexpr (std::is_same_v<Value, std::int64_t>) {
        osc_arg_i64s(key, values, total);
    } else {
        std::int64_t wide[385]; /* one more than are recorded: the library counts what is cut */
        std::size_t where = 0;

        for (; where < total && where < sizeof wide / sizeof *wide; where++)
            wide[where] = static_cast<std::int64_t>(values[where]);
        osc_arg_i64s(key, wide, where);
    }
}

/* FILE:LINE, whose file may be cut. */
inline void place(osc_name key, std::string_view file, unsigned line) noexcept
{
    char text[512];
    std::size_t total = file.copy(text, sizeof text - 12);

    text[total++] = ':';
    osc_arg_text(key, text,
                 static_cast<std::size_t>(
                     std::to_chars(text + total, text + sizeof text, line).ptr - text));
}

/* A number that is none of int64_t. */
inline void large(osc_name key, std::uint64_t value) noexcept
{
    char digits[20];

    osc_arg_json(key, digits,
                 static_cast<std::size_t>(
                     std::to_chars(digits, digits + sizeof digits, value).ptr - digits));
}

template <class Value> void arg(osc_name key, const Value &value) noexcept
{
    if constexpr (std::is_same_v<Value, bool>)
        osc_arg_bool(key, value);
    else if constexpr (std::is_enum_v<Value>)
        arg(key, static_cast<std::underlying_type_t<Value>>(value));
    else if constexpr (std::is_integral_v<Value>) {
        if constexpr (std::is_unsigned_v<Value> && sizeof(Value) >= 8) {
            if (value > static_cast<std::uint64_t>(INT64_MAX)) {
                large(key, value);
                return;
            }
        }
        osc_arg_i64(key, static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<Value>)
        osc_arg_f64(key, static_cast<double>(value));
    else if constexpr (std::is_convertible_v<const Value &, const char *>) {
        const char *const words = value;

        if (words)
            osc_arg_text(key, words, std::string_view(words).size());
    } else if constexpr (std::is_convertible_v<const Value &, std::string_view>) {
        const std::string_view words = value;

        osc_arg_text(key, words.data(), words.size());
    } else if constexpr (is_duration<Value>::value)
        arg(key, std::chrono::duration_cast<std::chrono::nanoseconds>(value).count());
    else if constexpr (std::is_same_v<Value, location>)
        place(key, value.file, value.line);
#ifdef __cpp_lib_source_location
    else if constexpr (std::is_same_v<Value, std::source_location>)
        place(key, value.file_name(), value.line());
#endif
    else if constexpr (is_integers<Value>::value)
        integers(key, std::data(value), std::size(value));
    else
        static_assert(always_false<Value>::value,
                      "opscope cannot record a value of this type: write a number, a text or "
                      "a range of integers");
}

/* NAME, which is a literal; what is none has its error elsewhere. */
template <std::size_t Length>
OPSCOPE_INLINE_ constexpr const char *literal(const char (&name)[Length]) noexcept
{
    return name;
}
template <class Value> OPSCOPE_INLINE_ constexpr const char *literal(const Value &) noexcept
{
    return "";
}

/* The arguments KEY, VALUE, ... whose keys are interned in NAMES. */
inline void args(osc_name *) noexcept
{
}

template <class Key, class... Others>
void args(osc_name *names, const Key &key, const Others &...more) noexcept;

template <class Value, class... Others>
void value_and_more(osc_name *names, const char *key, const Value &value,
                    const Others &...more) noexcept
{
    arg(once(names, key), value);
    args(names + 1, more...);
}

template <class Key, class... Others>
void args(osc_name *names, const Key &key, const Others &...more) noexcept
{
    constexpr bool is_key =
        std::is_array_v<Key> && std::is_same_v<std::remove_extent_t<Key>, char>;

    static_assert(is_key, "keys of arguments are string literals: write OPSCOPE_ARG(\"bytes\", "
                          "n)");
    static_assert(sizeof...(Others) > 0,
                  "each key of an argument has a value: write OPSCOPE_ARG(\"bytes\", n)");
    if constexpr (is_key && sizeof...(Others) > 0)
        value_and_more(names, key, more...);
}

template <class Name, class... Others>
OPSCOPE_INLINE_ std::uint64_t begin(osc_name *names, enum osc_scope_kind kind, const Name &name,
                                    const Others &...more) noexcept
{
    const std::uint64_t opened =
        osc_scope_open(osc_kind_known(kind), once(names, literal(name)));

    if constexpr (sizeof...(Others) > 0)
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

template <class Name, class... Others>
OPSCOPE_INLINE_ std::uint64_t begin_in(osc_category category, osc_name *names, const Name &name,
                                       const Others &...more) noexcept
{
    if (__builtin_expect(__atomic_load_n(names, __ATOMIC_RELAXED) == 0, 0))
        __atomic_store_n(names, osc_name_in(category, literal(name), sizeof name - 1),
                         __ATOMIC_RELAXED);
    const std::uint64_t opened =
        osc_scope_open(OSC_SCOPE_PLAIN, __atomic_load_n(names, __ATOMIC_RELAXED));

    if constexpr (sizeof...(Others) > 0)
        args(names + 1, more...);
    return opened;
}

/* A scope that is called as FUNCTION is, which the compiler has given. */
struct begin_function {
    osc_name *names;
    std::uint64_t opened;

    begin_function(osc_name *at, std::string_view function) noexcept : names(at), opened(0)
    {
        if (__atomic_load_n(names, __ATOMIC_RELAXED) == 0)
            __atomic_store_n(names, name_of(function_name(function)), __ATOMIC_RELAXED);
        opened = osc_scope_open(OSC_SCOPE_PLAIN, __atomic_load_n(names, __ATOMIC_RELAXED));
    }

    template <class... Others> std::uint64_t with(const Others &...more) const noexcept
    {
        args(names + 1, more...);
        return opened;
    }
};

template <class Name, class Value>
void count(osc_name *names, const Name &name, const Value &value) noexcept
{
    static_assert(std::is_arithmetic_v<Value>,
                  "a counter is a number: write OPSCOPE_COUNTER(\"waiting\", n)");
    if constexpr (std::is_floating_point_v<Value>)
        osc_counter_f64(once(names, literal(name)), static_cast<double>(value));
    else if constexpr (std::is_arithmetic_v<Value>)
        osc_counter_i64(once(names, literal(name)), static_cast<std::int64_t>(value));
}

template <class Name, class... Others>
void instant(osc_name *names, const Name &name, const Others &...more) noexcept
{
    osc_scope_instant(once(names, literal(name)));
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

/* Whether SOURCE, the text of an argument of a macro, is a string literal. */
constexpr bool is_literal(std::string_view source) noexcept
{
    return source.substr(0, 1) == "\"" || source.substr(0, 2) == "R\"";
}

/* Whether Value is defined where it is named: a class of a block without braces is not. */
template <class Value, class = void> struct is_here : std::false_type {
};
template <class Value>
struct is_here<Value, std::void_t<decltype(sizeof(Value))>> : std::true_type {
};

/* How many names a macro with these words needs: its own, and those of its keys. */
template <class... Others>
std::integral_constant<std::size_t, sizeof...(Others) / 2 + 1> n_names(const Others &...);

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
    [[nodiscard]] explicit name(std::string_view words) noexcept : id_(detail::name_of(words))
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
    template <class Value>
    OPSCOPE_INLINE_ constexpr void arg(std::string_view, const Value &) noexcept
    {
    }
#else
    [[nodiscard]] explicit scope(std::string_view words,
                                 enum osc_scope_kind kind = OSC_SCOPE_PLAIN) noexcept
        : block_(is_on() ? osc_scope_open(osc_kind_known(kind), detail::name_of(words)) : 0)
    {
    }
    [[nodiscard]] OPSCOPE_INLINE_ explicit scope(
        const name &known, enum osc_scope_kind kind = OSC_SCOPE_PLAIN) noexcept
        : block_(is_on() ? osc_scope_open(osc_kind_known(kind), known.id()) : 0)
    {
    }

    /* An argument of the innermost scope of this thread, which is this one unless another was
     * begun since. */
    template <class Value> void arg(std::string_view key, const Value &value) noexcept
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
    [[nodiscard]] explicit async(std::string_view words,
                                 enum osc_scope_kind kind = OSC_SCOPE_PLAIN) noexcept
    {
        if (!is_on())
            return;
        name_ = detail::name_of(words);
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
OPSCOPE_INLINE_ void thread_name([[maybe_unused]] std::string_view words) noexcept
{
#ifndef OPSCOPE_DISABLE
    char text[256];

    if (!is_on())
        return;
    text[words.copy(text, sizeof text - 1)] = '\0';
    osc_thread_name(text);
#endif
}

} // namespace enabled or disabled
} // namespace opscope

/* --- macros ----------------------------------------------------------------------------- */

#define OPSCOPE_JOIN_AGAIN_(a, b) a##b
#define OPSCOPE_JOIN_(a, b)       OPSCOPE_JOIN_AGAIN_(a, b)

#define OPSCOPE_FIRST_(first, ...) first

#define OPSCOPE_TEXT_AGAIN_(...) #__VA_ARGS__
#define OPSCOPE_TEXT_(...)       OPSCOPE_TEXT_AGAIN_(__VA_ARGS__)

/* An error that says what to write, if the first word is no literal. */
#define OPSCOPE_LITERAL_(...)                                                         \
    static_assert(                                                                    \
        ::opscope::detail::is_literal(OPSCOPE_TEXT_(OPSCOPE_FIRST_(__VA_ARGS__, 0))), \
        "names in macros of opscope are string literals, such as "                    \
        "OPSCOPE_SCOPE(\"sort\"); for others write opscope::scope s(name);")

/* The same if the macro is all that an if, a loop or a lambda's body has. The class is of its
 * block: behind an if without braces it is another, which nobody defines. */
#define OPSCOPE_BRACES_(id)                                                                    \
    struct OPSCOPE_JOIN_(opscope_here_, id) {                                                  \
    };                                                                                         \
    static_assert(::opscope::detail::is_here<struct OPSCOPE_JOIN_(opscope_here_, id)>::value,  \
                  "a scope lasts to the end of its block: write braces around it and what it " \
                  "measures, as in if (x) { OPSCOPE_SCOPE(\"sort\"); sort(); }")

#ifdef OPSCOPE_DISABLE

#define OPSCOPE_NO_NAMES_(...) \
    static_cast<void>(sizeof(decltype(::opscope::detail::n_names(__VA_ARGS__))))
#define OPSCOPE_NOTHING_(...)           \
    do {                                \
        OPSCOPE_LITERAL_(__VA_ARGS__);  \
        OPSCOPE_NO_NAMES_(__VA_ARGS__); \
    } while (false)

#define OPSCOPE_SCOPE_OF(kind, ...)      \
    do {                                 \
        static_cast<void>(sizeof(kind)); \
        OPSCOPE_NOTHING_(__VA_ARGS__);   \
    } while (false)
#define OPSCOPE_SCOPE(...) OPSCOPE_NOTHING_(__VA_ARGS__)
#define OPSCOPE_SCOPE_IN(category, level, ...) \
    do {                                       \
        OPSCOPE_NOTHING_(category, level);     \
        OPSCOPE_NOTHING_(__VA_ARGS__);         \
    } while (false)
#define OPSCOPE_FUNCTION(...)      OPSCOPE_NO_NAMES_(__VA_ARGS__)
#define OPSCOPE_ARG(...)           OPSCOPE_NOTHING_(__VA_ARGS__)
#define OPSCOPE_INSTANT(...)       OPSCOPE_NOTHING_(__VA_ARGS__)
#define OPSCOPE_COUNTER(name, ...) OPSCOPE_NOTHING_(name, __VA_ARGS__)

#else

/* The names of this place, which are interned when it first records. */
#define OPSCOPE_NAMES_(names, ...) \
    OPSCOPE_LITERAL_(__VA_ARGS__); \
    OPSCOPE_KEYS_(names, __VA_ARGS__)
#define OPSCOPE_KEYS_(names, ...) \
    static osc_name names[decltype(::opscope::detail::n_names(__VA_ARGS__))::value]

#define OPSCOPE_SCOPE_AS_(id, kind, ...)                                                     \
    OPSCOPE_BRACES_(id);                                                                     \
    OPSCOPE_NAMES_(OPSCOPE_JOIN_(opscope_names_at_, id), __VA_ARGS__);                       \
    const ::opscope::detail::block OPSCOPE_JOIN_(opscope_scope_needs_braces_around_it_, id)( \
        ::opscope::is_on() ? ::opscope::detail::begin(OPSCOPE_JOIN_(opscope_names_at_, id),  \
                                                      kind, __VA_ARGS__)                     \
                           : 0)

#define OPSCOPE_SCOPE_IN_AS_(id, category, level, ...)                                       \
    OPSCOPE_BRACES_(id);                                                                     \
    OPSCOPE_NAMES_(OPSCOPE_JOIN_(opscope_names_at_, id), __VA_ARGS__);                       \
    static osc_category OPSCOPE_JOIN_(opscope_category_, id);                                \
    const ::opscope::detail::block OPSCOPE_JOIN_(opscope_scope_needs_braces_around_it_, id)( \
        ::opscope::detail::wants(&OPSCOPE_JOIN_(opscope_category_, id), category, level)     \
            ? ::opscope::detail::begin_in(OPSCOPE_JOIN_(opscope_category_, id),              \
                                          OPSCOPE_JOIN_(opscope_names_at_, id), __VA_ARGS__) \
            : 0)

#define OPSCOPE_FUNCTION_AS_(id, ...)                                                        \
    OPSCOPE_BRACES_(id);                                                                     \
    OPSCOPE_KEYS_(OPSCOPE_JOIN_(opscope_names_at_, id), __VA_ARGS__);                        \
    const ::opscope::detail::block OPSCOPE_JOIN_(opscope_scope_needs_braces_around_it_, id)( \
        ::opscope::is_on() ? ::opscope::detail::begin_function(                              \
                                 OPSCOPE_JOIN_(opscope_names_at_, id), __PRETTY_FUNCTION__)  \
                                 .with(__VA_ARGS__)                                          \
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
