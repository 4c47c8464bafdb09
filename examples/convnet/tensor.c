/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor.h"

#include <math.h>
#include <opscope/record.h>
#include <stdio.h>
#include <string.h>

#include "pool.h"
#include "team.h"

/* --- tensors ----------------------------------------------------------------- */

struct tensor tensor_new(int n_dims, int d0, int d1, int d2, int d3)
{
    struct tensor x = {.n_dims = n_dims, .dims = {d0, d1, d2, d3}};

    x.data = pool_alloc(tensor_size(&x) * sizeof *x.data);
    return x;
}

struct tensor tensor_like(const struct tensor *x)
{
    return tensor_new(x->n_dims, x->dims[0], x->dims[1], x->dims[2], x->dims[3]);
}

void tensor_free(struct tensor *x)
{
    pool_free(x->data);
    *x = (struct tensor){0};
}

size_t tensor_size(const struct tensor *x)
{
    size_t n = 1;

    for (int i = 0; i < x->n_dims; i++)
        n *= (size_t)x->dims[i];
    return n;
}

/* --- recording ---------------------------------------------------------------- */

static size_t put_dims(char *text, size_t room, const struct tensor *x)
{
    size_t n = 0;

    for (int i = 0; i < x->n_dims && n < room; i++)
        n += (size_t)snprintf(text + n, room - n, "%s%d", i == 0 ? "[" : ",", x->dims[i]);
    return n;
}

/* Begin operator NAME, interned in *ID, on the N tensors X. */
static void begin_op(osc_name *id, const char *name, const struct tensor *const *x, int n)
{
    static osc_name key;
    char text[256] = "[";
    size_t len = 1;

    if (!osc_is_on())
        return;
    osc_name_once(id, name);
    osc_name_once(&key, "Input Dims");
    osc_begin(OSC_SCOPE_OPERATOR, *id);
    for (int i = 0; i < n; i++) {
        len += put_dims(text + len, sizeof text - len - 4, x[i]);
        len += (size_t)snprintf(text + len, sizeof text - len, "%s", i + 1 < n ? "]," : "]]");
    }
    osc_arg_json(key, text, len);
}

#define BEGIN_OP(name, ...)                                                          \
    do {                                                                             \
        static osc_name begin_op_id;                                                 \
        const struct tensor *const inputs[] = {__VA_ARGS__};                         \
        begin_op(&begin_op_id, name, inputs, (int)(sizeof inputs / sizeof *inputs)); \
    } while (0)

/* --- convolution --------------------------------------------------------------- */

/* Operands of a convolution, forward or backward, for all shares. */
struct conv {
    const struct tensor *x, *w, *b, *dy;
    struct tensor *y, *dx, *dw, *db;
};

static float *plane(const struct tensor *x, int image, int channel)
{
    const size_t size = (size_t)x->dims[2] * (size_t)x->dims[3];

    return x->data + ((size_t)image * (size_t)x->dims[1] + (size_t)channel) * size;
}

static const float *kernel(const struct tensor *w, int out, int in)
{
    return w->data + ((size_t)out * (size_t)w->dims[1] + (size_t)in) * 9;
}

/* Add FROM, shifted by (DY, DX), times FACTOR to TO; elements outside count as 0. */
static void add_moved(float *to, const float *from, const int *dims, const int *by,
                      float factor)
{
    const int h = dims[2], width = dims[3], dy = by[0], dx = by[1];

    for (int i = dy < 0 ? -dy : 0; i < (dy > 0 ? h - dy : h); i++)
        for (int j = dx < 0 ? -dx : 0; j < (dx > 0 ? width - dx : width); j++)
            to[i * width + j] += factor * from[(i + dy) * width + j + dx];
}

/* The sum of A times B shifted by (DY, DX). */
static float dot_moved(const float *a, const float *b, const int *dims, const int *by)
{
    const int h = dims[2], width = dims[3], dy = by[0], dx = by[1];
    float sum = 0;

    for (int i = dy < 0 ? -dy : 0; i < (dy > 0 ? h - dy : h); i++)
        for (int j = dx < 0 ? -dx : 0; j < (dx > 0 ? width - dx : width); j++)
            sum += a[i * width + j] * b[(i + dy) * width + j + dx];
    return sum;
}

static void convolve_images(void *ctx, int first, int last)
{
    const struct conv *c = ctx;
    const int size = c->x->dims[2] * c->x->dims[3];

    for (int image = first; image < last; image++)
        for (int out = 0; out < c->w->dims[0]; out++) {
            float *y = plane(c->y, image, out);

            for (int i = 0; i < size; i++)
                y[i] = c->b->data[out];
            for (int k = 0; k < c->w->dims[1] * 9; k++) {
                const int by[] = {k % 9 / 3 - 1, k % 3 - 1};

                add_moved(y, plane(c->x, image, k / 9), c->x->dims, by,
                          kernel(c->w, out, k / 9)[k % 9]);
            }
        }
}

struct tensor conv2d(const struct tensor *x, const struct tensor *w, const struct tensor *b)
{
    struct tensor y;

    BEGIN_OP("nn::conv2d", x, w, b);
    y = tensor_new(4, x->dims[0], w->dims[0], x->dims[2], x->dims[3]);
    team_run(convolve_images, &(struct conv){.x = x, .w = w, .b = b, .y = &y}, x->dims[0]);
    osc_end();
    return y;
}

static void convolve_input_grads(void *ctx, int first, int last)
{
    const struct conv *c = ctx;
    const size_t size = (size_t)c->x->dims[2] * (size_t)c->x->dims[3];

    for (int image = first; image < last; image++)
        for (int in = 0; in < c->w->dims[1]; in++) {
            float *dx = plane(c->dx, image, in);

            memset(dx, 0, size * sizeof *dx);
            for (int k = 0; k < c->w->dims[0] * 9; k++) {
                const int by[] = {1 - k % 9 / 3, 1 - k % 3};

                add_moved(dx, plane(c->dy, image, k / 9), c->x->dims, by,
                          kernel(c->w, k / 9, in)[k % 9]);
            }
        }
}

static void convolve_weight_grads(void *ctx, int first, int last)
{
    const struct conv *c = ctx;
    const int size = c->x->dims[2] * c->x->dims[3], n_in = c->w->dims[1];

    for (int out = first; out < last; out++) {
        float *dw = c->dw->data + (size_t)out * (size_t)n_in * 9;

        memset(dw, 0, (size_t)n_in * 9 * sizeof *dw);
        c->db->data[out] = 0;
        for (int image = 0; image < c->x->dims[0]; image++) {
            const float *dy = plane(c->dy, image, out);

            for (int k = 0; k < n_in * 9; k++) {
                const int by[] = {k % 9 / 3 - 1, k % 3 - 1};

                dw[k] += dot_moved(dy, plane(c->x, image, k / 9), c->x->dims, by);
            }
            for (int i = 0; i < size; i++)
                c->db->data[out] += dy[i];
        }
    }
}

struct grads conv2d_backward(const struct tensor *x, const struct tensor *w,
                             const struct tensor *dy)
{
    struct grads g;

    BEGIN_OP("nn::conv2d_backward", x, w, dy);
    g.x = tensor_like(x);
    g.w = tensor_like(w);
    g.b = tensor_new(1, w->dims[0], 0, 0, 0);
    struct conv c = {.x = x, .w = w, .dy = dy, .dx = &g.x, .dw = &g.w, .db = &g.b};
    team_run(convolve_input_grads, &c, x->dims[0]);
    team_run(convolve_weight_grads, &c, w->dims[0]);
    osc_end();
    return g;
}

/* --- dense layers ---------------------------------------------------------------- */

struct tensor linear(const struct tensor *x, const struct tensor *w, const struct tensor *b)
{
    const int n = x->dims[0], n_out = w->dims[0], n_in = w->dims[1];
    struct tensor y;

    BEGIN_OP("nn::linear", x, w, b);
    y = tensor_new(2, n, n_out, 0, 0);
    for (int i = 0; i < n; i++)
        for (int o = 0; o < n_out; o++) {
            float sum = b->data[o];

            for (int k = 0; k < n_in; k++)
                sum += x->data[i * n_in + k] * w->data[o * n_in + k];
            y.data[i * n_out + o] = sum;
        }
    osc_end();
    return y;
}

struct grads linear_backward(const struct tensor *x, const struct tensor *w,
                             const struct tensor *dy)
{
    const int n = x->dims[0], n_out = w->dims[0], n_in = w->dims[1];
    struct grads g;

    BEGIN_OP("nn::linear_backward", x, w, dy);
    g.x = tensor_like(x);
    g.w = tensor_like(w);
    g.b = tensor_new(1, n_out, 0, 0, 0);
    memset(g.x.data, 0, tensor_size(&g.x) * sizeof *g.x.data);
    memset(g.w.data, 0, tensor_size(&g.w) * sizeof *g.w.data);
    memset(g.b.data, 0, tensor_size(&g.b) * sizeof *g.b.data);
    for (int i = 0; i < n; i++)
        for (int o = 0; o < n_out; o++) {
            const float d = dy->data[i * n_out + o];

            g.b.data[o] += d;
            for (int k = 0; k < n_in; k++) {
                g.x.data[i * n_in + k] += d * w->data[o * n_in + k];
                g.w.data[o * n_in + k] += d * x->data[i * n_in + k];
            }
        }
    osc_end();
    return g;
}

/* --- the rest ----------------------------------------------------------------------- */

/* The index of the greatest element in the 2 x 2 square that becomes (I, J). */
static int greatest(const float *p, int width, int i, int j)
{
    int best = 2 * i * width + 2 * j;

    for (int k = 1; k < 4; k++) {
        const int at = (2 * i + k / 2) * width + 2 * j + k % 2;

        if (p[at] > p[best])
            best = at;
    }
    return best;
}

struct tensor relu_pool(const struct tensor *x)
{
    const int h = x->dims[2] / 2, width = x->dims[3] / 2;
    struct tensor y;

    BEGIN_OP("nn::relu_pool", x);
    y = tensor_new(4, x->dims[0], x->dims[1], h, width);
    for (int c = 0; c < x->dims[0] * x->dims[1]; c++) {
        const float *from = plane(x, 0, c);
        float *to = plane(&y, 0, c);

        for (int i = 0; i < h * width; i++) {
            const float v = from[greatest(from, x->dims[3], i / width, i % width)];

            to[i] = v > 0 ? v : 0;
        }
    }
    osc_end();
    return y;
}

struct tensor relu_pool_backward(const struct tensor *x, const struct tensor *dy)
{
    const int h = x->dims[2] / 2, width = x->dims[3] / 2;
    struct tensor dx;

    BEGIN_OP("nn::relu_pool_backward", x, dy);
    dx = tensor_like(x);
    memset(dx.data, 0, tensor_size(&dx) * sizeof *dx.data);
    for (int c = 0; c < x->dims[0] * x->dims[1]; c++) {
        const float *from = plane(x, 0, c), *d = plane(dy, 0, c);
        float *to = plane(&dx, 0, c);

        for (int i = 0; i < h * width; i++) {
            const int at = greatest(from, x->dims[3], i / width, i % width);

            if (from[at] > 0)
                to[at] = d[i];
        }
    }
    osc_end();
    return dx;
}

float cross_entropy(const struct tensor *logits, const int *labels, struct tensor *dlogits)
{
    const int n = logits->dims[0], n_classes = logits->dims[1];
    float loss = 0;

    BEGIN_OP("nn::cross_entropy", logits);
    *dlogits = tensor_like(logits);
    for (int i = 0; i < n; i++) {
        const float *z = logits->data + i * n_classes;
        float *d = dlogits->data + i * n_classes;
        float most = z[0], sum = 0;

        for (int c = 1; c < n_classes; c++)
            most = z[c] > most ? z[c] : most;
        for (int c = 0; c < n_classes; c++)
            sum += expf(z[c] - most);
        for (int c = 0; c < n_classes; c++)
            d[c] = (expf(z[c] - most) / sum - (c == labels[i] ? 1.0f : 0.0f)) / (float)n;
        loss += logf(sum) + most - z[labels[i]];
    }
    osc_end();
    return loss / (float)n;
}

void sgd(struct tensor *w, const struct tensor *dw, float rate)
{
    const size_t n = tensor_size(w);

    BEGIN_OP("nn::sgd_", w, dw);
    for (size_t i = 0; i < n; i++)
        w->data[i] -= rate * dw->data[i];
    osc_end();
}
