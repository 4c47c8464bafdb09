// SPDX-License-Identifier: Apache-2.0
// Each kernel runs once for each element of what it computes. Tensors are dense, of floats.

kernel void add(global const float *a, global const float *b, float alpha, global float *out)
{
    const size_t i = get_global_id(0);
    out[i] = a[i] + alpha * b[i];
}

kernel void mul(global const float *a, global const float *b, global float *out)
{
    const size_t i = get_global_id(0);
    out[i] = a[i] * b[i];
}

kernel void mul_number(global const float *a, float b, global float *out)
{
    const size_t i = get_global_id(0);
    out[i] = a[i] * b;
}

kernel void relu(global const float *a, global float *out)
{
    const size_t i = get_global_id(0);
    out[i] = fmax(a[i], 0.0f);
}

kernel void threshold_backward(global const float *grad, global const float *a, float threshold,
                               global float *out)
{
    const size_t i = get_global_id(0);
    out[i] = a[i] > threshold ? grad[i] : 0.0f;
}

// out = beta * c + alpha * a b; a is (m, k), b is (k, n), each with any strides.
kernel void mm(global const float *a, long a_row, long a_column, global const float *b,
               long b_row, long b_column, global const float *c, long c_row, long c_column,
               float alpha, float beta, long n, long k, global float *out)
{
    const long i = get_global_id(0) / n, j = get_global_id(0) % n;
    float sum = 0.0f;
    for (long x = 0; x < k; x++)
        sum += a[i * a_row + x * a_column] * b[x * b_row + j * b_column];
    sum *= alpha;
    if (beta != 0.0f)
        sum += beta * c[i * c_row + j * c_column];
    out[i * n + j] = sum;
}

// x is (n, c, h, w), weight (o, c, kh, kw), y (n, o, yh, yw).
struct sizes {
    int n, c, h, w, o, _c, kh, kw, _n, _o, yh, yw, stride, pad;
};

kernel void conv2d(global const float *x, global const float *weight, global const float *bias,
                   struct sizes s, global float *y)
{
    const int at = get_global_id(0), yx = at % s.yw, yy = at / s.yw % s.yh;
    const int yo = at / s.yw / s.yh % s.o, n = at / s.yw / s.yh / s.o;
    float sum = bias ? bias[yo] : 0.0f;
    for (int i = 0; i < s.c; i++)
        for (int ky = 0; ky < s.kh; ky++)
            for (int kx = 0; kx < s.kw; kx++) {
                const int xy = yy * s.stride + ky - s.pad, xx = yx * s.stride + kx - s.pad;
                if (xy >= 0 && xy < s.h && xx >= 0 && xx < s.w)
                    sum += x[((n * s.c + i) * s.h + xy) * s.w + xx] *
                           weight[((yo * s.c + i) * s.kh + ky) * s.kw + kx];
            }
    y[at] = sum;
}

kernel void conv2d_grad_input(global const float *grad, global const float *weight,
                              struct sizes s, global float *out)
{
    const int at = get_global_id(0), xx = at % s.w, xy = at / s.w % s.h;
    const int i = at / s.w / s.h % s.c, n = at / s.w / s.h / s.c;
    float sum = 0.0f;
    for (int yo = 0; yo < s.o; yo++)
        for (int ky = 0; ky < s.kh; ky++)
            for (int kx = 0; kx < s.kw; kx++) {
                const int sy = xy + s.pad - ky, sx = xx + s.pad - kx;
                const int yy = sy / s.stride, yx = sx / s.stride;
                if (sy >= 0 && sx >= 0 && sy % s.stride == 0 && sx % s.stride == 0 &&
                    yy < s.yh && yx < s.yw)
                    sum += grad[((n * s.o + yo) * s.yh + yy) * s.yw + yx] *
                           weight[((yo * s.c + i) * s.kh + ky) * s.kw + kx];
            }
    out[at] = sum;
}

kernel void conv2d_grad_weight(global const float *grad, global const float *x, struct sizes s,
                               global float *out)
{
    const int at = get_global_id(0), kx = at % s.kw, ky = at / s.kw % s.kh;
    const int i = at / s.kw / s.kh % s.c, yo = at / s.kw / s.kh / s.c;
    float sum = 0.0f;
    for (int b = 0; b < s.n; b++)
        for (int yy = 0; yy < s.yh; yy++)
            for (int yx = 0; yx < s.yw; yx++) {
                const int xy = yy * s.stride + ky - s.pad, xx = yx * s.stride + kx - s.pad;
                if (xy >= 0 && xy < s.h && xx >= 0 && xx < s.w)
                    sum += grad[((b * s.o + yo) * s.yh + yy) * s.yw + yx] *
                           x[((b * s.c + i) * s.h + xy) * s.w + xx];
            }
    out[at] = sum;
}

kernel void conv2d_grad_bias(global const float *grad, struct sizes s, global float *out)
{
    const int yo = get_global_id(0), size = s.yh * s.yw;
    float sum = 0.0f;
    for (int b = 0; b < s.n; b++)
        for (int i = 0; i < size; i++)
            sum += grad[(b * s.o + yo) * size + i];
    out[yo] = sum;
}

// A row for each item.
kernel void log_softmax(global const float *a, long n_classes, global float *out)
{
    const size_t row = get_global_id(0) * n_classes;
    float most = a[row], sum = 0.0f;
    for (int i = 1; i < n_classes; i++)
        most = fmax(most, a[row + i]);
    for (int i = 0; i < n_classes; i++)
        sum += exp(a[row + i] - most);
    sum = log(sum) + most;
    for (int i = 0; i < n_classes; i++)
        out[row + i] = a[row + i] - sum;
}

kernel void log_softmax_backward(global const float *grad, global const float *output,
                                 long n_classes, global float *out)
{
    const size_t row = get_global_id(0) * n_classes;
    float sum = 0.0f;
    for (int i = 0; i < n_classes; i++)
        sum += grad[row + i];
    for (int i = 0; i < n_classes; i++)
        out[row + i] = grad[row + i] - exp(output[row + i]) * sum;
}

// One item: the mean over the rows, and their number.
kernel void nll_loss(global const float *a, global const long *target, long n, long n_classes,
                     long ignored, global float *out, global float *weight)
{
    float sum = 0.0f, count = 0.0f;
    for (int i = 0; i < n; i++)
        if (target[i] != ignored) {
            sum -= a[i * n_classes + target[i]];
            count += 1.0f;
        }
    *out = sum / count;
    *weight = count;
}

kernel void nll_loss_backward(global const float *grad, global const long *target, long n_classes,
                              long ignored, global const float *weight, global float *out)
{
    const size_t at = get_global_id(0), i = at / n_classes;
    const bool is_target = target[i] == at % n_classes && target[i] != ignored;
    out[at] = is_target ? -*grad / *weight : 0.0f;
}
