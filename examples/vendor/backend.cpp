// SPDX-License-Identifier: Apache-2.0
/*
 * backend.cpp - the device "tiny" of PyTorch: what a small network needs, on runtime.h.
 *
 * Every other operator is torch's for the CPU, with copies there and back. Nothing here knows
 * that a profiler exists, but the two calls that tell torch's own of memory.
 */
#include <ATen/EmptyTensor.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_log_softmax_backward_data_ops.h>
#include <ATen/ops/_log_softmax_ops.h>
#include <ATen/ops/add_ops.h>
#include <ATen/ops/addmm_ops.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm_ops.h>
#include <ATen/ops/mul_ops.h>
#include <ATen/ops/nll_loss_backward_ops.h>
#include <ATen/ops/nll_loss_forward_ops.h>
#include <ATen/ops/threshold_backward_ops.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <pybind11/pybind11.h>
#include <torch/library.h>

#include "runtime.h"

namespace
{

using at::Tensor;
constexpr c10::DeviceType kTiny = c10::DeviceType::PrivateUse1;
const c10::Device device(kTiny, 0);

// --- memory and the device --------------------------------------------------------------

void tell_torch(void *block, int64_t bytes)
{
    const tiny::memory now = tiny::memory_now();

    c10::reportMemoryUsageToProfiler(block, bytes, now.allocated_bytes, now.reserved_bytes,
                                     device);
}

struct Allocator final : c10::Allocator {
    c10::DataPtr allocate(size_t bytes) override
    {
        void *block = tiny::allocate(bytes);

        if (block)
            tell_torch(block, static_cast<int64_t>(tiny::rounded(bytes)));
        return {block, new Block{block, tiny::rounded(bytes)}, release, device};
    }
    c10::DeleterFnPtr raw_deleter() const override
    {
        return nullptr; // the context of a block is not its address
    }
    void copy_data(void *to, const void *from, size_t bytes) const override
    {
        tiny::copy(to, from, bytes, false);
    }

  private:
    struct Block {
        void *address;
        size_t bytes;
    };
    static void release(void *context)
    {
        const std::unique_ptr<Block> block(static_cast<Block *>(context));

        tiny::release(block->address);
        if (block->address)
            tell_torch(block->address, -static_cast<int64_t>(block->bytes));
    }
};

Allocator allocator;
REGISTER_ALLOCATOR(kTiny, &allocator)

struct Guard final : c10::impl::NoOpDeviceGuardImpl<kTiny> {
    c10::Device exchangeDevice(c10::Device) const override
    {
        return device;
    }
    c10::Device getDevice() const override
    {
        return device;
    }
    c10::Stream getStream(c10::Device) const noexcept override
    {
        return c10::Stream(c10::Stream::DEFAULT, device);
    }
    void synchronizeDevice(c10::DeviceIndex) const override
    {
        tiny::synchronize();
    }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

struct Hooks final : at::PrivateUse1HooksInterface {
    bool isBuilt() const override
    {
        return true;
    }
    bool isAvailable() const override
    {
        return true;
    }
    bool hasPrimaryContext(c10::DeviceIndex) const override
    {
        return true;
    }
    c10::DeviceIndex deviceCount() const override
    {
        return 1;
    }
    c10::DeviceIndex getCurrentDevice() const override
    {
        return 0;
    }
};

// --- the CPU for the rest ---------------------------------------------------------------

void on_cpu(const c10::OperatorHandle &op, torch::jit::Stack *stack)
{
    at::native::cpu_fallback(op, stack);
}

// The operator OP, which has an implementation here, on the CPU: for arguments that it does not
// take.
template <class Op>
constexpr auto on_cpu_too = &at::native::call_fallback_fn<&on_cpu, Op>::call;

// --- tensors ----------------------------------------------------------------------------

const void *in(const Tensor &t)
{
    return t.const_data_ptr();
}

bool is_dense(const Tensor &t)
{
    return t.device() == device && t.is_contiguous() && t.scalar_type() == at::kFloat;
}

bool is_number(const Tensor &t)
{
    return t.dim() == 0 && t.device().is_cpu();
}

// The position in bytes of the end of the elements of T, from its first.
size_t extent(const Tensor &t)
{
    int64_t last = 0;

    for (int64_t d = 0; d < t.dim(); d++)
        last += (t.size(d) - 1) * t.stride(d);
    return t.numel() == 0 ? 0 : static_cast<size_t>(last + 1) * t.element_size();
}

Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> type,
             std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>,
             std::optional<at::MemoryFormat> format)
{
    return at::detail::empty_generic(size, &allocator,
                                     c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                     c10::dtype_or_default(type), format);
}

Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                     std::optional<at::ScalarType> type, std::optional<at::Layout>,
                     std::optional<at::Device>, std::optional<bool>)
{
    return at::detail::empty_strided_generic(size, stride, &allocator,
                                             c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                             c10::dtype_or_default(type));
}

// The same elements on the host, with the same strides, and back.
Tensor to_host(const Tensor &t)
{
    Tensor host = at::empty_strided(t.sizes(), t.strides(), t.options().device(at::kCPU));

    tiny::copy(host.mutable_data_ptr(), in(t), extent(t), true);
    return host;
}

Tensor copy_from(const Tensor &self, const Tensor &to, bool)
{
    const bool is_plain = self.scalar_type() == to.scalar_type() && self.is_contiguous() &&
                          to.is_contiguous() && self.sizes() == to.sizes();

    if (is_plain) {
        const bool is_inside = self.device() == to.device();
        tiny::copy(to.mutable_data_ptr(), in(self), self.nbytes(), !is_inside);
        return to;
    }
    const Tensor from = self.device() == device ? to_host(self) : self;
    if (to.device() != device)
        return to.copy_(from);
    // Elements between those of TO, which other tensors may have, come back as they were.
    Tensor host = to_host(to);
    host.copy_(from);
    tiny::copy(to.mutable_data_ptr(), in(host), extent(to), true);
    return to;
}

Tensor copy_from_and_resize(const Tensor &self, const Tensor &to)
{
    TORCH_CHECK(self.sizes() == to.sizes(), "tiny: a result cannot be resized");
    return copy_from(self, to, false);
}

at::Scalar local_scalar(const Tensor &self)
{
    return to_host(self).item();
}

Tensor &fill(Tensor &self, const at::Scalar &value)
{
    if (!self.is_contiguous())
        return self.copy_(at::full(self.sizes(), value, self.options().device(at::kCPU)));
    const Tensor one = at::full({}, value, self.options().device(at::kCPU));
    tiny::fill(self.mutable_data_ptr(), in(one), one.element_size(), self.nbytes());
    return self;
}

Tensor &zero(Tensor &self)
{
    return fill(self, 0);
}

// --- arithmetic -------------------------------------------------------------------------

Tensor &add(const Tensor &a, const Tensor &b, const at::Scalar &alpha, Tensor &out)
{
    if (is_dense(a) && is_number(b) && is_dense(out))
        tiny::launch("add_number", out.numel(),
                     {in(a), b.item().toFloat() * alpha.toFloat(), in(out)});
    else if (is_dense(a) && is_dense(b) && is_dense(out) && a.sizes() == b.sizes())
        tiny::launch("add", out.numel(), {in(a), in(b), alpha.toFloat(), in(out)});
    else
        return on_cpu_too<at::_ops::add_out>(a, b, alpha, out);
    return out;
}

Tensor &mul(const Tensor &a, const Tensor &b, Tensor &out)
{
    if (is_dense(a) && is_number(b) && is_dense(out))
        tiny::launch("mul_number", out.numel(), {in(a), b.item().toFloat(), in(out)});
    else if (is_dense(a) && is_dense(b) && is_dense(out) && a.sizes() == b.sizes())
        tiny::launch("mul", out.numel(), {in(a), in(b), in(out)});
    else
        return on_cpu_too<at::_ops::mul_out>(a, b, out);
    return out;
}

Tensor relu(const Tensor &self)
{
    const Tensor a = self.contiguous();
    Tensor out = at::empty_like(a);

    TORCH_CHECK(is_dense(a), "tiny: relu is for floats");
    tiny::launch("relu", a.numel(), {in(a), in(out)});
    return out;
}

Tensor &threshold_backward(const Tensor &grad, const Tensor &self, const at::Scalar &threshold,
                           Tensor &out)
{
    if (!is_dense(grad) || !is_dense(self) || !is_dense(out))
        return on_cpu_too<at::_ops::threshold_backward_grad_input>(grad, self, threshold, out);
    tiny::launch("threshold_backward", out.numel(),
                 {in(grad), in(self), threshold.toFloat(), in(out)});
    return out;
}

// out = beta * c + alpha * a b, where c is a matrix or a row that is repeated.
void multiply(const Tensor &c, const Tensor &a, const Tensor &b, float beta, float alpha,
              const Tensor &out)
{
    const auto step = [](const Tensor &t, int64_t d) { return static_cast<int>(t.stride(d)); };
    const int n = static_cast<int>(b.size(1)), k = static_cast<int>(a.size(1));

    tiny::launch("mm", out.numel(),
                 {in(a), step(a, 0), step(a, 1), in(b), step(b, 0), step(b, 1), in(c),
                  step(c, 0), step(c, 1), alpha, beta, n, k, in(out)});
}

Tensor &mm(const Tensor &a, const Tensor &b, Tensor &out)
{
    if (a.scalar_type() != at::kFloat || !is_dense(out))
        return on_cpu_too<at::_ops::mm_out>(a, b, out);
    multiply(out, a, b, 0.0f, 1.0f, out);
    return out;
}

Tensor &addmm(const Tensor &c, const Tensor &a, const Tensor &b, const at::Scalar &beta,
              const at::Scalar &alpha, Tensor &out)
{
    if (a.scalar_type() != at::kFloat || !is_dense(out))
        return on_cpu_too<at::_ops::addmm_out>(c, a, b, beta, alpha, out);
    multiply(c.expand(out.sizes()), a, b, beta.toFloat(), alpha.toFloat(), out);
    return out;
}

// --- convolution ------------------------------------------------------------------------

// The sizes of a convolution, as the kernels take them.
struct Sizes {
    int n, c, h, w, o, kh, kw, yh, yw, stride, pad;
};

Sizes sizes_of(const Tensor &x, const Tensor &weight, at::IntArrayRef stride,
               at::IntArrayRef pad, at::IntArrayRef dilation, bool is_transposed,
               int64_t groups)
{
    const auto size = [](const Tensor &t, int64_t d) { return static_cast<int>(t.size(d)); };
    const int step = static_cast<int>(stride[0]), edge = static_cast<int>(pad[0]);
    const int kh = size(weight, 2), kw = size(weight, 3);

    TORCH_CHECK(x.dim() == 4 && stride[0] == stride.back() && pad[0] == pad.back() &&
                    dilation[0] == 1 && dilation.back() == 1 && !is_transposed && groups == 1,
                "tiny: only convolutions of images, with square strides and without dilation");
    return {size(x, 0),
            size(x, 1),
            size(x, 2),
            size(x, 3),
            size(weight, 0),
            kh,
            kw,
            (size(x, 2) + 2 * edge - kh) / step + 1,
            (size(x, 3) + 2 * edge - kw) / step + 1,
            step,
            edge};
}

Tensor convolution(const Tensor &input, const Tensor &weight, const std::optional<Tensor> &bias,
                   at::IntArrayRef stride, at::IntArrayRef pad, at::IntArrayRef dilation,
                   bool is_transposed, at::IntArrayRef, int64_t groups)
{
    const Tensor x = input.contiguous(), k = weight.contiguous();
    const Sizes s = sizes_of(x, k, stride, pad, dilation, is_transposed, groups);
    const bool has_bias = bias && bias->defined();
    Tensor y = at::empty({s.n, s.o, s.yh, s.yw}, x.options());

    tiny::launch("conv2d", y.numel(),
                 {in(x), in(k), has_bias ? in(*bias) : in(k), static_cast<int>(has_bias), s.c,
                  s.h, s.w, s.o, s.kh, s.kw, s.yh, s.yw, s.stride, s.pad, in(y)});
    return y;
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor &grad_output, const Tensor &input, const Tensor &weight,
    at::IntArrayRef stride, at::IntArrayRef pad, at::IntArrayRef dilation, bool is_transposed,
    at::IntArrayRef, int64_t groups, std::array<bool, 3> wanted)
{
    const Tensor g = grad_output.contiguous(), x = input.contiguous(), k = weight.contiguous();
    const Sizes s = sizes_of(x, k, stride, pad, dilation, is_transposed, groups);
    Tensor dx, dk, db;

    if (wanted[0]) {
        dx = at::empty_like(x);
        tiny::launch("conv2d_grad_input", dx.numel(),
                     {in(g), in(k), s.c, s.h, s.w, s.o, s.kh, s.kw, s.yh, s.yw, s.stride, s.pad,
                      in(dx)});
    }
    if (wanted[1]) {
        dk = at::empty_like(k);
        tiny::launch("conv2d_grad_weight", dk.numel(),
                     {in(g), in(x), s.n, s.c, s.h, s.w, s.o, s.kh, s.kw, s.yh, s.yw, s.stride,
                      s.pad, in(dk)});
    }
    if (wanted[2]) {
        db = at::empty({s.o}, g.options());
        tiny::launch("conv2d_grad_bias", s.o, {in(g), s.n, s.o, s.yh * s.yw, in(db)});
    }
    return {dx, dk, db};
}

// --- cross entropy ----------------------------------------------------------------------

bool is_last(const Tensor &t, int64_t d)
{
    return is_dense(t) && t.dim() > 0 && (d == -1 || d == t.dim() - 1);
}

Tensor &log_softmax(const Tensor &self, int64_t d, bool is_half, Tensor &out)
{
    if (!is_last(self, d) || !is_dense(out))
        return on_cpu_too<at::_ops::_log_softmax_out>(self, d, is_half, out);
    const int n_classes = static_cast<int>(self.size(-1));
    tiny::launch("log_softmax", self.numel() / n_classes, {in(self), n_classes, in(out)});
    return out;
}

Tensor &log_softmax_backward(const Tensor &grad, const Tensor &output, int64_t d,
                             at::ScalarType type, Tensor &out)
{
    if (!is_last(grad, d) || !is_dense(output) || !is_dense(out))
        return on_cpu_too<at::_ops::_log_softmax_backward_data_out>(grad, output, d, type, out);
    const int n_classes = static_cast<int>(grad.size(-1));
    tiny::launch("log_softmax_backward", grad.numel() / n_classes,
                 {in(grad), in(output), n_classes, in(out)});
    return out;
}

bool is_mean(const Tensor &a, const std::optional<Tensor> &weight, int64_t reduction)
{
    return is_dense(a) && a.dim() == 2 && !(weight && weight->defined()) &&
           reduction == at::Reduction::Mean;
}

std::tuple<Tensor &, Tensor &> nll_loss(const Tensor &self, const Tensor &target,
                                        const std::optional<Tensor> &weight, int64_t reduction,
                                        int64_t ignored, Tensor &out, Tensor &total)
{
    if (!is_mean(self, weight, reduction))
        return on_cpu_too<at::_ops::nll_loss_forward_output>(self, target, weight, reduction,
                                                             ignored, out, total);
    tiny::launch("nll_loss", 1,
                 {in(self), in(target), static_cast<int>(self.size(0)),
                  static_cast<int>(self.size(1)), static_cast<int>(ignored), in(out),
                  in(total)});
    return {out, total};
}

Tensor &nll_loss_backward(const Tensor &grad, const Tensor &self, const Tensor &target,
                          const std::optional<Tensor> &weight, int64_t reduction,
                          int64_t ignored, const Tensor &total, Tensor &out)
{
    if (!is_mean(self, weight, reduction) || !is_dense(grad))
        return on_cpu_too<at::_ops::nll_loss_backward_grad_input>(
            grad, self, target, weight, reduction, ignored, total, out);
    tiny::launch("nll_loss_backward", out.numel(),
                 {in(grad), in(target), static_cast<int>(self.size(1)),
                  static_cast<int>(ignored), in(total), in(out)});
    return out;
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("empty.memory_format", empty);
    m.impl("empty_strided", empty_strided);
    m.impl("as_strided", at::native::as_strided_tensorimpl);
    m.impl("view", static_cast<Tensor (*)(const Tensor &, at::IntArrayRef)>(at::native::view));
    m.impl("_copy_from", copy_from);
    m.impl("_copy_from_and_resize", copy_from_and_resize);
    m.impl("_local_scalar_dense", local_scalar);
    m.impl("fill_.Scalar", fill);
    m.impl("zero_", zero);
    m.impl("add.out", add);
    m.impl("mul.out", mul);
    m.impl("relu", relu);
    m.impl("threshold_backward.grad_input", threshold_backward);
    m.impl("mm.out", mm);
    m.impl("addmm.out", addmm);
    m.impl("convolution_overrideable", convolution);
    m.impl("convolution_backward_overrideable", convolution_backward);
    m.impl("_log_softmax.out", log_softmax);
    m.impl("_log_softmax_backward_data.out", log_softmax_backward);
    m.impl("nll_loss_forward.output", nll_loss);
    m.impl("nll_loss_backward.grad_input", nll_loss_backward);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m)
{
    m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    static Hooks hooks;

    m.def("open", [](const std::string &source) {
        tiny::open(source);
        at::RegisterPrivateUse1HooksInterface(&hooks);
    });
    m.def("synchronize", tiny::synchronize,
          pybind11::call_guard<pybind11::gil_scoped_release>());
    m.def("memory_allocated", [] { return tiny::memory_now().allocated_bytes; });
    m.def("memory_reserved", [] { return tiny::memory_now().reserved_bytes; });
}
