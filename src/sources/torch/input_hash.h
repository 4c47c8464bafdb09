/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_hash.h - hashes of a name, and of everything that is recorded about the inputs of a
 * call.
 *
 * The hash stands for the text of the inputs, which is made once. So inputs with different
 * texts must have different hashes, except with a chance of one in 2^63. Runs for every
 * operator: it counts no references and allocates nothing.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <cstdint>
#include <cstring>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

namespace osc_torch
{
namespace // so that all of it is inlined into the only function that uses it
{

constexpr uint64_t kOdd = UINT64_C(0x9e3779b97f4a7c15);

// Mix H, A and B: both halves of a product, which depend on every bit of them.
static inline uint64_t mix(uint64_t h, uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    const wide product = wide{h ^ a} * (b ^ kOdd);

    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

static inline uint64_t eight_bytes(const char *s)
{
    uint64_t v;

    memcpy(&v, s, sizeof v);
    return v;
}

// Hash LEN bytes of S, sixteen at a time; the last ones may overlap those before.
static inline uint64_t hash_text(const char *s, size_t len)
{
    uint64_t h = len * kOdd, v = 0;

    if (len < 8) {
        for (size_t i = 0; i < len; i++)
            v = v << 8 | static_cast<unsigned char>(s[i]);
        return mix(h, v, len) | 1;
    }
    const char *const end = s + len;
    for (; end - s > 16; s += 16)
        h = mix(h, eight_bytes(s), eight_bytes(s + 8));
    return mix(h, eight_bytes(end - s < 8 ? end - 8 : s), eight_bytes(end - 8)) | 1;
}

// Longer lists are left out, as torch.profiler does.
constexpr size_t kTensorsMax = 30, kScalarsMax = 30;

static inline bool has_sizes(const at::Tensor &t)
{
    return t.defined() && !t.is_nested() &&
           !t.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

static inline bool is_scalar_list(const c10::IValue &v)
{
    if (!v.isList())
        return false;
    const auto list = v.toListRef();
    return list.empty() || (list[0].isScalar() && list.size() <= kScalarsMax);
}

// A hash of a list of pairs of numbers: the sum of their products, each with a key of its own,
// so that no multiplication waits for the one before.
struct Hash {
    uint64_t sum = 0, key = kOdd;

    void add(uint64_t a, uint64_t b)
    {
        sum += mix(key, a, b);
        key += UINT64_C(0xd1342543de82ef95);
    }
    void add(const at::Tensor &t)
    {
        if (__builtin_expect(!has_sizes(t), 0))
            return add(1, 0);
        const c10::TensorImpl *impl = t.unsafeGetTensorImpl();
        const auto sizes = impl->sizes();
        const auto layout = impl->layout();
        const int64_t *strides = sizes.data();

        if (__builtin_expect(layout == c10::kStrided, 1))
            strides = impl->strides().data();
        add(2 | static_cast<uint64_t>(t.scalar_type()) << 8,
            static_cast<uint64_t>(layout) | sizes.size() << 8);
        for (size_t i = 0; i < sizes.size(); i++)
            add(static_cast<uint64_t>(sizes[i]), static_cast<uint64_t>(strides[i]));
    }
    // False: V is complex or symbolic, and its hash is incomplete.
    bool add_scalar(const c10::IValue &v)
    {
        if (v.isInt()) {
            add(3, static_cast<uint64_t>(v.toInt()));
        } else if (v.isBool()) {
            add(4, v.toBool());
        } else if (v.isDouble()) {
            const double d = v.toDouble();
            uint64_t bits;

            memcpy(&bits, &d, sizeof bits);
            add(6, bits);
        } else {
            return false;
        }
        return true;
    }
    // Returns the same as add_scalar().
    __attribute__((noinline)) bool add_list(const c10::IValue &v)
    {
        bool is_told = true;

        if (v.isTensorList()) {
            const auto list = v.toListRef();

            add(7, list.size());
            if (list.size() <= kTensorsMax)
                for (const c10::IValue &one : list)
                    add(one.toTensor());
        } else if (is_scalar_list(v)) {
            const auto list = v.toListRef();

            add(8, list.size());
            for (const c10::IValue &one : list)
                is_told = add_scalar(one) && is_told;
        } else {
            add(9, 0);
        }
        return is_told;
    }
};

// Hash everything that is recorded about INPUTS. *IS_ODD is set if the hash is incomplete.
static inline uint64_t hash_inputs(c10::ArrayRef<const c10::IValue> inputs, bool *is_odd)
{
    Hash h;

    for (const c10::IValue &v : inputs) {
        if (v.isTensor())
            h.add(v.toTensor());
        else if (v.isNone())
            h.add(9, 0);
        else if (!(v.isScalar() ? h.add_scalar(v) : h.add_list(v)))
            *is_odd = true;
    }
    return (h.sum ^ h.sum >> 32) | 1;
}

} // namespace
} // namespace osc_torch
