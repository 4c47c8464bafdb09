// SPDX-License-Identifier: Apache-2.0
// Each kernel runs once for each element of what it computes. Tensors are dense, of floats.

kernel void add(global const float *a, global const float *b, float alpha, global float *out)
{
    const size_t i = get_global_id(0);
    out[i] = a[i] + alpha * b[i];
}

kernel void add_number(global const float *a, float b, global float *out)
{
    const size_t i = get_global_id(0);
    out[i] = a[i] + b;
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
kernel void mm(global const float *a, int a_row, int a_column, global const float *b, int b_row,
               int b_column, global const float *c, int c_row, int c_column, float alpha,
               float beta, int n, int k, global float *out)
{
    const int i = get_global_id(0) / n, j = get_global_id(0) % n;
    float sum = 0.0f;
    for (int x = 0; x < k; x++)
        sum += a[i * a_row + x * a_column] * b[x * b_row + j * b_column];
    sum *= alpha;
    if (beta != 0.0f)
        sum += beta * c[i * c_row + j * c_column];
    out[i * n + j] = sum;
}

// x is (n, c, h, w), weight (o, c, kh, kw), y (n, o, yh, yw).
kernel void conv2d(global const float *x, global const float *weight, global const float *bias,
                   int has_bias, int c, int h, int w, int o, int kh, int kw, int yh, int yw,
                   int stride, int pad, global float *y)
{
    const int at = get_global_id(0), yx = at % yw, yy = at / yw % yh, yo = at / yw / yh % o;
    const int n = at / yw / yh / o;
    float sum = has_bias ? bias[yo] : 0.0f;
    for (int i = 0; i < c; i++)
        for (int ky = 0; ky < kh; ky++)
            for (int kx = 0; kx < kw; kx++) {
                const int xy = yy * stride + ky - pad, xx = yx * stride + kx - pad;
                if (xy >= 0 && xy < h && xx >= 0 && xx < w)
                    sum += x[((n * c + i) * h + xy) * w + xx] *
                           weight[((yo * c + i) * kh + ky) * kw + kx];
            }
    y[at] = sum;
}

kernel void conv2d_grad_input(global const float *grad, global const float *weight, int c, int h,
                              int w, int o, int kh, int kw, int yh, int yw, int stride, int pad,
                              global float *out)
{
    const int at = get_global_id(0), xx = at % w, xy = at / w % h, i = at / w / h % c;
    const int n = at / w / h / c;
    float sum = 0.0f;
    for (int yo = 0; yo < o; yo++)
        for (int ky = 0; ky < kh; ky++)
            for (int kx = 0; kx < kw; kx++) {
                const int sy = xy + pad - ky, sx = xx + pad - kx;
                const int yy = sy / stride, yx = sx / stride;
                if (sy >= 0 && sx >= 0 && sy % stride == 0 && sx % stride == 0 && yy < yh &&
                    yx < yw)
                    sum += grad[((n * o + yo) * yh + yy) * yw + yx] *
                           weight[((yo * c + i) * kh + ky) * kw + kx];
            }
    out[at] = sum;
}

kernel void conv2d_grad_weight(global const float *grad, global const float *x, int n, int c,
                               int h, int w, int o, int kh, int kw, int yh, int yw, int stride,
                               int pad, global float *out)
{
    const int at = get_global_id(0), kx = at % kw, ky = at / kw % kh, i = at / kw / kh % c;
    const int yo = at / kw / kh / c;
    float sum = 0.0f;
    for (int b = 0; b < n; b++)
        for (int yy = 0; yy < yh; yy++)
            for (int yx = 0; yx < yw; yx++) {
                const int xy = yy * stride + ky - pad, xx = yx * stride + kx - pad;
                if (xy >= 0 && xy < h && xx >= 0 && xx < w)
                    sum += grad[((b * o + yo) * yh + yy) * yw + yx] *
                           x[((b * c + i) * h + xy) * w + xx];
            }
    out[at] = sum;
}

kernel void conv2d_grad_bias(global const float *grad, int n, int o, int size, global float *out)
{
    const int yo = get_global_id(0);
    float sum = 0.0f;
    for (int b = 0; b < n; b++)
        for (int i = 0; i < size; i++)
            sum += grad[(b * o + yo) * size + i];
    out[yo] = sum;
}

// A row for each item.
kernel void log_softmax(global const float *a, int n_classes, global float *out)
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
                                 int n_classes, global float *out)
{
    const size_t row = get_global_id(0) * n_classes;
    float sum = 0.0f;
    for (int i = 0; i < n_classes; i++)
        sum += grad[row + i];
    for (int i = 0; i < n_classes; i++)
        out[row + i] = grad[row + i] - exp(output[row + i]) * sum;
}

// One item: the mean over the rows, and their number.
kernel void nll_loss(global const float *a, global const long *target, int n, int n_classes,
                     int ignored, global float *out, global float *weight)
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

kernel void nll_loss_backward(global const float *grad, global const long *target, int n_classes,
                              int ignored, global const float *weight, global float *out)
{
    const size_t at = get_global_id(0), i = at / n_classes;
    const bool is_target = target[i] == at % n_classes && target[i] != ignored;
    out[at] = is_target ? -*grad / *weight : 0.0f;
}
