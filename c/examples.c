/* Element-wise operators on tensors that are broadcast; cc -std=c99 -O3 examples.c whycast.c

   Each follows a plan of its tensors. The output is one of them, and has the common shape; so the
   first input of the first operator is its output. */

#include <stdio.h>

#include "whycast.h"

enum { MOST_AXES = 8, MOST_TENSORS = 4 };

/* A plan of `count` tensors, and the step at which it is: tensor m is at at[m] there, and goes on
   by by[m], `run` times. */
typedef struct walk {
    int64_t sizes[MOST_AXES], steps[MOST_AXES * MOST_TENSORS], counters[MOST_AXES];
    int64_t at[MOST_TENSORS], loops, count, run;
    const int64_t *by;
} walk;

/* Go to the first step: whether there is one. */
static int begin(walk *w, const int64_t *const *shapes, const int64_t *ranks, int64_t count) {
    whycast_place place;
    w->count = count;
    w->loops = whycast_plan(w->sizes, w->steps, MOST_AXES, &place, shapes, ranks, count);
    if (w->loops < 0) {
        fprintf(stderr, "error %d of tensor %d\n", (int)w->loops, (int)place.tensor);
        return 0;
    }
    w->run = w->sizes[w->loops - 1];
    w->by = &w->steps[(w->loops - 1) * count];
    return whycast_first(w->counters, w->at, w->sizes, w->steps, w->loops, count, 0) > 0;
}

static int next(walk *w) {
    return (int)whycast_next(w->counters, w->at, w->sizes, w->steps, w->loops, w->count);
}

static void show(const char *name, const float *x, int count) {
    printf("%s:", name);
    for (int k = 0; k < count; k++) {
        printf(" %g", x[k]);
    }
    printf("\n");
}

/* image + bias, in place: (1,2,2,2) and (2,1,1). */
static void add_bias(void) {
    float image[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const float bias[] = {10, 20};
    const int64_t image_shape[] = {1, 2, 2, 2}, bias_shape[] = {2, 1, 1};
    const int64_t *shapes[] = {image_shape, bias_shape}, ranks[] = {4, 3};
    walk w;
    for (int more = begin(&w, shapes, ranks, 2); more; more = next(&w)) {
        for (int64_t v = 0; v < w.run; v++) {
            image[w.at[0] + v * w.by[0]] += bias[w.at[1] + v * w.by[1]];
        }
    }
    show("image + bias", image, 8);
}

/* mask ? x : low, of bytes and of floats: (2,3), (2,1), (2,3) and (). */
static void choose(void) {
    const uint8_t mask[] = {1, 0};
    const float x[] = {1, 2, 3, 4, 5, 6}, low = -1;
    float z[6];
    const int64_t x_shape[] = {2, 3}, mask_shape[] = {2, 1};
    const int64_t *shapes[] = {x_shape, mask_shape, x_shape, NULL}, ranks[] = {2, 2, 2, 0};
    walk w;
    for (int more = begin(&w, shapes, ranks, 4); more; more = next(&w)) {
        for (int64_t v = 0; v < w.run; v++) {
            z[w.at[0] + v * w.by[0]] =
                mask[w.at[1] + v * w.by[1]] ? x[w.at[2] + v * w.by[2]] : low;
        }
    }
    show("mask ? x : low", z, 6);
}

/* x * scale + shift, of rows and of columns: (2,3), (2,1), (3) and (2,3). */
static void scale_and_shift(void) {
    const float x[] = {1, 2, 3, 4, 5, 6}, scale[] = {10, 100}, shift[] = {1, 2, 3};
    float z[6];
    const int64_t x_shape[] = {2, 3}, scale_shape[] = {2, 1}, shift_shape[] = {3};
    const int64_t *shapes[] = {x_shape, x_shape, scale_shape, shift_shape}, ranks[] = {2, 2, 2, 1};
    walk w;
    for (int more = begin(&w, shapes, ranks, 4); more; more = next(&w)) {
        for (int64_t v = 0; v < w.run; v++) {
            z[w.at[0] + v * w.by[0]] = x[w.at[1] + v * w.by[1]] * scale[w.at[2] + v * w.by[2]]
                                       + shift[w.at[3] + v * w.by[3]];
        }
    }
    show("x * scale + shift", z, 6);
}

int main(void) {
    add_bias();
    choose();
    scale_and_shift();
    return 0;
}
