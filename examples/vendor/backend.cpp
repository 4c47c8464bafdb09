// SPDX-License-Identifier: Apache-2.0
/*
 * backend.cpp - the device "tiny" of PyTorch: what a small network needs, on runtime.h.
 *
 * Every other operator is torch's for the CPU, with copies there and back. Nothing here knows
 * that a profiler exists, but tell(), which tells of memory.
 */
#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/ConvUtils.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <pybind11/pybind11.h>
#include <torch/library.h>

#include <mutex>
#include <unordered_map>
#include <vector>

#include "report.h"
#include "runtime.h"

namespace
{

using at::IntArrayRef;
using at::Scalar;
using at::Tensor;
const c10::Device device(at::kPrivateUse1, 0);
const c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);

std::mutex lock; // of the four below
std::unordered_map<void *, size_t> bytes_of;
// Blocks for the next request of their size. One may be given out as soon as it is here: the
// queue is in order, so work on it that was put there before has ended by then.
std::unordered_map<size_t, std::vector<void *>> kept;
int64_t allocated_bytes, reserved_bytes;

// A block was given (BYTES > 0) or taken back.
void tell(void *block, int64_t bytes)
{
    allocated_bytes += bytes;
    report::memory(block, bytes, allocated_bytes, reserved_bytes);
    c10::reportMemoryUsageToProfiler(block, bytes, allocated_bytes, reserved_bytes, device);
}

void release(void *block)
{
    const std::lock_guard<std::mutex> guard(lock);
    const size_t bytes = bytes_of.at(block);

    kept[bytes].push_back(block);
    tell(block, -static_cast<int64_t>(bytes));
}

struct Allocator final : c10::Allocator {
    c10::DataPtr allocate(size_t bytes) override
    {
        const std::lock_guard<std::mutex> guard(lock);
        std::vector<void *> &same = kept[bytes];

        if (bytes == 0)
            return {nullptr, device};
        if (same.empty()) {
            same.push_back(tiny::allocate(bytes));
            bytes_of[same.back()] = bytes;
            reserved_bytes += static_cast<int64_t>(bytes);
        }
        void *block = same.back();
        same.pop_back();
        tell(block, static_cast<int64_t>(bytes));
        return {block, block, release, device};
    }
    void copy_data(void *to, const void *from, size_t bytes) const override
    {
        tiny::copy(to, from, bytes, false);
    }
} allocator;
REGISTER_ALLOCATOR(at::kPrivateUse1, &allocator)

struct Guard final : c10::impl::NoOpDeviceGuardImpl<at::kPrivateUse1> {
    c10::Device getDevice() const override
    {
        return device;
    }
    c10::Stream getStream(c10::Device) const noexcept override
    {
        return c10::Stream(c10::Stream::DEFAULT, device);
    }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

struct Hooks final : at::PrivateUse1HooksInterface {
    bool hasPrimaryContext(c10::DeviceIndex) const override
    {
        return true;
    }
} hooks;

void on_cpu(const c10::OperatorHandle &op, torch::jit::Stack *stack)
{
    at::native::cpu_fallback(op, stack);
}

// The operator OP on the CPU: for arguments that its implementation here does not take.
template <class Op>
constexpr auto on_cpu_too = &at::native::call_fallback_fn<&on_cpu, Op>::call;

// Whether T are tensors of floats on the device, dense.
template <class... T> bool are_dense(const T &...t)
{
    return ((t.device() == device && t.is_contiguous() && t.scalar_type() == at::kFloat) &&
            ...);
}

tiny::arg argument(const Tensor &t)
{
    TORCH_CHECK(!t.defined() || t.device() == device, "tiny: a kernel takes its tensors");
    return {t.defined() ? t.const_data_ptr() : nullptr, 0};
}

template <class T> tiny::arg argument(const T &value)
{
    return {&value, sizeof value};
}

template <class... Args> void launch(const char *kernel, int64_t n, const Args &...args)
{
    if (n != 0)
        tiny::launch(kernel, static_cast<size_t>(n), {argument(args)...});
}

Tensor empty(IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout>,
             std::optional<at::Device>, std::optional<bool>,
             std::optional<at::MemoryFormat> format)
{
    return at::detail::empty_generic(size, &allocator, keys, c10::dtype_or_default(type),
                                     format);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, std::optional<at::ScalarType> type,
                     std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>)
{
    return at::detail::empty_strided_generic(size, stride, &allocator, keys,
                                             c10::dtype_or_default(type));
}

// The same elements on the host, with the same strides.
Tensor to_host(const Tensor &t)
{
    const Tensor host = at::empty_strided(t.sizes(), t.strides(), t.options().device(at::kCPU));

    tiny::copy(host.mutable_data_ptr(), t.const_data_ptr(), host.storage().nbytes(), true);
    return host;
}

Tensor copy_from(const Tensor &self, const Tensor &to, bool)
{
    if (self.numel() == 0)
        return to;
    if (self.scalar_type() == to.scalar_type() && self.is_contiguous() && to.is_contiguous() &&
        self.sizes() == to.sizes()) {
        tiny::copy(to.mutable_data_ptr(), self.const_data_ptr(), self.nbytes(),
                   self.device() != to.device());
        return to;
    }
    const Tensor from = self.device() == device ? to_host(self) : self;
    if (to.device() != device)
        return to.copy_(from);
    // Elements between those of TO, which other tensors may have, come back as they were.
    const Tensor host = to_host(to).copy_(from);
    tiny::copy(to.mutable_data_ptr(), host.const_data_ptr(), host.storage().nbytes(), true);
    return to;
}

Tensor &fill(Tensor &self, const Scalar &value)
{
    const Tensor one = at::full({}, value, self.options().device(at::kCPU));

    if (!self.is_contiguous() || self.numel() == 0)
        return on_cpu_too<at::_ops::fill__Scalar>(self, value);
    tiny::fill(self.mutable_data_ptr(), one.const_data_ptr(), one.nbytes(), self.nbytes());
    return self;
}

Tensor &add(const Tensor &a, const Tensor &b, const Scalar &alpha, Tensor &out)
{
    if (!are_dense(a, b, out) || a.sizes() != b.sizes())
        return on_cpu_too<at::_ops::add_out>(a, b, alpha, out);
    launch("add", out.numel(), a, b, alpha.toFloat(), out);
    return out;
}

Tensor &mul(const Tensor &a, const Tensor &b, Tensor &out)
{
    if (are_dense(a, out) && b.dim() == 0 && b.is_cpu())
        launch("mul_number", out.numel(), a, b.item().toFloat(), out);
    else if (are_dense(a, b, out) && a.sizes() == b.sizes())
        launch("mul", out.numel(), a, b, out);
    else
        return on_cpu_too<at::_ops::mul_out>(a, b, out);
    return out;
}

// out = beta * c + alpha * a b, where c is a matrix or a row that is repeated.
Tensor &addmm(const Tensor &c, const Tensor &a, const Tensor &b, const Scalar &beta,
              const Scalar &alpha, Tensor &out)
{
    const Tensor all = c.expand(out.sizes());

    if (a.scalar_type() != at::kFloat || !are_dense(out))
        return on_cpu_too<at::_ops::addmm_out>(c, a, b, beta, alpha, out);
    launch("mm", out.numel(), a, a.stride(0), a.stride(1), b, b.stride(0), b.stride(1), all,
           all.stride(0), all.stride(1), alpha.toFloat(), beta.toFloat(), b.size(1), a.size(1),
           out);
    return out;
}

Tensor relu(const Tensor &self)
{
    const Tensor a = self.contiguous(), out = at::empty_like(a);

    TORCH_CHECK(are_dense(a), "tiny: relu is for floats");
    launch("relu", a.numel(), a, out);
    return out;
}

Tensor &threshold_backward(const Tensor &grad, const Tensor &self, const Scalar &threshold,
                           Tensor &out)
{
    if (!are_dense(grad, self, out))
        return on_cpu_too<at::_ops::threshold_backward_grad_input>(grad, self, threshold, out);
    launch("threshold_backward", out.numel(), grad, self, threshold.toFloat(), out);
    return out;
}

// As the kernels have it.
struct Sizes {
    int x[4], k[4], y[4], stride, pad;
};

Sizes sizes_of(const Tensor &x, const Tensor &k, const Tensor &y, IntArrayRef stride,
               IntArrayRef pad, IntArrayRef dilation)
{
    Sizes s = {{}, {}, {}, static_cast<int>(stride[0]), static_cast<int>(pad[0])};

    TORCH_CHECK(are_dense(x, k, y) && x.dim() == 4 && k.size(1) == x.size(1) &&
                    stride[0] == stride[1] && pad[0] == pad[1] &&
                    dilation[0] * dilation[1] == 1,
                "tiny: only convolutions of images in one group, with a square stride");
    std::copy_n(x.sizes().begin(), 4, s.x);
    std::copy_n(k.sizes().begin(), 4, s.k);
    std::copy_n(y.sizes().begin(), 4, s.y);
    return s;
}

Tensor convolution(const Tensor &input, const Tensor &weight, const std::optional<Tensor> &bias,
                   IntArrayRef stride, IntArrayRef pad, IntArrayRef dilation,
                   bool is_transposed, IntArrayRef, int64_t)
{
    const Tensor x = input.contiguous(), k = weight.contiguous();
    const auto size = at::native::conv_output_size(x.sizes(), k.sizes(), pad, stride, dilation);
    const Tensor y = at::empty(size, x.options());

    TORCH_CHECK(!is_transposed, "tiny: no transposed convolutions");
    launch("conv2d", y.numel(), x, k, bias.value_or(Tensor()),
           sizes_of(x, k, y, stride, pad, dilation), y);
    return y;
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor &grad, const Tensor &input,
                                                        const Tensor &weight,
                                                        IntArrayRef stride, IntArrayRef pad,
                                                        IntArrayRef dilation, bool, IntArrayRef,
                                                        int64_t, std::array<bool, 3> wanted)
{
    const Tensor g = grad.contiguous(), x = input.contiguous(), k = weight.contiguous();
    const Sizes s = sizes_of(x, k, g, stride, pad, dilation);
    Tensor dx, dk, db;

    if (wanted[0])
        launch("conv2d_grad_input", x.numel(), g, k, s, dx = at::empty_like(x));
    if (wanted[1])
        launch("conv2d_grad_weight", k.numel(), g, x, s, dk = at::empty_like(k));
    if (wanted[2])
        launch("conv2d_grad_bias", k.size(0), g, s, db = at::empty(k.size(0), g.options()));
    return {dx, dk, db};
}

Tensor &log_softmax(const Tensor &self, int64_t d, bool is_half, Tensor &out)
{
    if (!are_dense(self, out) || self.dim() != 2 || at::maybe_wrap_dim(d, 2) != 1)
        return on_cpu_too<at::_ops::_log_softmax_out>(self, d, is_half, out);
    launch("log_softmax", self.size(0), self, self.size(1), out);
    return out;
}

Tensor &log_softmax_backward(const Tensor &grad, const Tensor &output, int64_t d,
                             at::ScalarType type, Tensor &out)
{
    if (!are_dense(grad, output, out) || grad.dim() != 2 || at::maybe_wrap_dim(d, 2) != 1)
        return on_cpu_too<at::_ops::_log_softmax_backward_data_out>(grad, output, d, type, out);
    launch("log_softmax_backward", grad.size(0), grad, output, grad.size(1), out);
    return out;
}

bool is_mean(const Tensor &a, const std::optional<Tensor> &weight, int64_t reduction)
{
    return are_dense(a) && a.dim() == 2 && !(weight && weight->defined()) &&
           reduction == at::Reduction::Mean;
}

std::tuple<Tensor &, Tensor &> nll_loss(const Tensor &self, const Tensor &target,
                                        const std::optional<Tensor> &weight, int64_t reduction,
                                        int64_t ignored, Tensor &out, Tensor &total)
{
    if (!is_mean(self, weight, reduction))
        return on_cpu_too<at::_ops::nll_loss_forward_output>(self, target, weight, reduction,
                                                             ignored, out, total);
    launch("nll_loss", 1, self, target, self.size(0), self.size(1), ignored, out, total);
    return {out, total};
}

Tensor &nll_loss_backward(const Tensor &grad, const Tensor &self, const Tensor &target,
                          const std::optional<Tensor> &weight, int64_t reduction,
                          int64_t ignored, const Tensor &total, Tensor &out)
{
    if (!is_mean(self, weight, reduction) || !are_dense(grad))
        return on_cpu_too<at::_ops::nll_loss_backward_grad_input>(
            grad, self, target, weight, reduction, ignored, total, out);
    launch("nll_loss_backward", out.numel(), grad, target, self.size(1), ignored, total, out);
    return out;
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("empty.memory_format", empty);
    m.impl("empty_strided", empty_strided);
    m.impl("as_strided", at::native::as_strided_tensorimpl);
    m.impl("view", static_cast<Tensor (*)(const Tensor &, IntArrayRef)>(at::native::view));
    m.impl("_copy_from", copy_from);
    m.impl("_copy_from_and_resize", [](const Tensor &self, const Tensor &to) {
        TORCH_CHECK(self.sizes() == to.sizes(), "tiny: a result cannot be resized");
        return copy_from(self, to, false);
    });
    m.impl("_local_scalar_dense", [](const Tensor &self) { return to_host(self).item(); });
    m.impl("fill_.Scalar", fill);
    m.impl("zero_", [](Tensor &self) -> Tensor & { return fill(self, 0); });
    m.impl("add.out", add);
    m.impl("mul.out", mul);
    m.impl("relu", relu);
    m.impl("threshold_backward.grad_input", threshold_backward);
    m.impl("mm.out", [](const Tensor &a, const Tensor &b, Tensor &out) -> Tensor & {
        return addmm(out, a, b, 0, 1, out);
    });
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
    m.def("open", [](const std::string &source) {
        tiny::open(source);
        at::RegisterPrivateUse1HooksInterface(&hooks);
    });
    m.def("synchronize", tiny::synchronize,
          pybind11::call_guard<pybind11::gil_scoped_release>());
}
