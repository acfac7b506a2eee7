/* Operators on broadcast tensors. Build: cc -std=c99 -O3 -pthread examples.c whycast.c

   Each operator has a plan of its tensors. Tensor 0 is the output; it has the common shape. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "whycast.h"

enum { MOST_AXES = 8, MOST_TENSORS = 4 };

/* A plan depends on shapes alone: keep it for all data. */
typedef struct plan {
    int64_t sizes[MOST_AXES], steps[MOST_AXES * MOST_TENSORS], loops, count;
} plan;

/* The two innermost loops of a plan, at one step of the other loops. */
typedef struct block {
    int64_t at[MOST_TENSORS], counters[MOST_AXES], rows, run;
    const int64_t *down, *by;
} block;

static plan made(const int64_t *const *shapes, const int64_t *ranks, int64_t count) {
    whycast_place place;
    plan p = {.count = count};
    p.loops = whycast_plan(p.sizes, p.steps, MOST_AXES, &place, shapes, ranks, count);
    if (p.loops < 0) {
        printf("error %d of tensor %d\n", (int)p.loops, (int)place.tensor);
        exit(1);
    }
    return p;
}

/* Go to the first block, if there is one. A plan of one loop is a block of one row. */
static int begin(block *b, const plan *p) {
    const int64_t outer = p->loops - 1;
    b->run = p->sizes[outer];
    b->by = &p->steps[outer * p->count];
    b->rows = outer > 0 ? p->sizes[outer - 1] : 1;
    b->down = outer > 0 ? b->by - p->count : b->by;
    memset(b->at, 0, sizeof b->at);
    return outer > 0
               ? whycast_first(b->counters, b->at, p->sizes, p->steps, outer, p->count, 0) > 0
               : b->run > 0;
}

static int next(block *b, const plan *p) {
    return whycast_next(b->counters, b->at, p->sizes, p->steps, p->loops - 1, p->count) > 0;
}

/* The offset of element v of row r in tensor m. */
static inline int64_t at(const block *b, int64_t m, int64_t r, int64_t v) {
    return b->at[m] + r * b->down[m] + v * b->by[m];
}

/* z = x, broadcast. */
static void expand(const plan *p, float *z, const float *x) {
    block b;
    for (int more = begin(&b, p); more; more = next(&b, p)) {
        for (int64_t r = 0; r < b.rows; r++) {
            float *to = &z[at(&b, 0, r, 0)];
            const float *from = &x[at(&b, 1, r, 0)], one = *from;
            if (b.by[1] == 1) {
                memcpy(to, from, (size_t)b.run * sizeof *to);
            } else {
                for (int64_t v = 0; v < b.run; v++) {
                    to[v] = one;
                }
            }
        }
    }
}

/* A compiler vectorises this loop if s and t, the steps of x and y in a row, are constants. */
static inline void add_rows(const block *b, float *restrict z, const float *x, int64_t s,
                            const float *y, int64_t t) {
    for (int64_t r = 0; r < b->rows; r++) {
        for (int64_t v = 0; v < b->run; v++) {
            z[v] = x[v * s] + y[v * t];
        }
        z += b->down[0];
        x += b->down[1];
        y += b->down[2];
    }
}

/* z = x + y, where z overlaps neither x nor y. */
static void add(const plan *p, float *z, const float *x, const float *y) {
    block b;
    for (int more = begin(&b, p); more; more = next(&b, p)) {
        float *to = &z[b.at[0]];
        const float *from = &x[b.at[1]], *other = &y[b.at[2]];
        if (b.by[1] == 1 && b.by[2] == 1) {
            add_rows(&b, to, from, 1, other, 1);
        } else if (b.by[1] == 1 && b.by[2] == 0) {
            add_rows(&b, to, from, 1, other, 0);
        } else if (b.by[1] == 0 && b.by[2] == 1) {
            add_rows(&b, to, from, 0, other, 1);
        } else {
            add_rows(&b, to, from, b.by[1], other, b.by[2]);
        }
    }
}

typedef struct part {
    const plan *p;
    float *z;
    const float *x, *y;
    int64_t number, count;
} part;

/* A part of z = x + y: some rounds of the outermost loop. */
static void *add_part(void *given) {
    const part *a = given;
    const int64_t all = a->p->sizes[0], from = all * a->number / a->count, *by = a->p->steps;
    plan p = *a->p;
    p.sizes[0] = all * (a->number + 1) / a->count - from;
    if (p.sizes[0] > 0) {
        add(&p, &a->z[from * by[0]], &a->x[from * by[1]], &a->y[from * by[2]]);
    }
    return NULL;
}

static void add_by_two_threads(const plan *p, float *z, const float *x, const float *y) {
    part here = {p, z, x, y, 0, 2}, there = {p, z, x, y, 1, 2};
    pthread_t thread;
    const int error = pthread_create(&thread, NULL, add_part, &there);
    (void)add_part(&here);
    if (error != 0 || pthread_join(thread, NULL) != 0) {
        exit(1);
    }
}

/* z = mask ? x : low, with a mask of bytes; z may be x. */
static void choose(const plan *p, float *z, const uint8_t *mask, const float *x, const float *low) {
    block b;
    for (int more = begin(&b, p); more; more = next(&b, p)) {
        for (int64_t r = 0; r < b.rows; r++) {
            for (int64_t v = 0; v < b.run; v++) {
                z[at(&b, 0, r, v)] =
                    mask[at(&b, 1, r, v)] ? x[at(&b, 2, r, v)] : low[at(&b, 3, r, v)];
            }
        }
    }
}

static void show(const char *name, const float *x) {
    printf("%s:", name);
    for (int k = 0; k < 8; k++) {
        printf(" %g", x[k]);
    }
    printf("\n");
}

int main(void) {
    const float x[] = {1, 2, 3, 4, 5, 6, 7, 8}, y[] = {10, 20, 30, 40}, low = -1;
    const uint8_t mask[] = {1, 0};
    float z[8] = {0}, w[] = {8, 7, 6, 5, 4, 3, 2, 1};
    const int64_t cube[] = {2, 2, 2}, row[] = {1, 2, 2}, column[] = {1, 2, 1}, first[] = {2, 1, 1};
    const int64_t *adds[] = {cube, cube, column}, *equal[] = {cube, cube, cube};
    const int64_t *chosen[] = {cube, first, cube, NULL}, *rows[] = {cube, row};
    const int64_t *columns[] = {cube, column}, ranks[] = {3, 3, 3, 0};

    plan p = made(adds, ranks, 3);
    add(&p, z, x, y);
    show("x + y", z);
    add_by_two_threads(&p, z, w, y);
    show("w + y", z);
    p = made(equal, ranks, 3);
    add_by_two_threads(&p, z, x, w);
    show("x + w", z);
    p = made(rows, ranks, 2);
    expand(&p, z, y);
    show("rows of y", z);
    p = made(columns, ranks, 2);
    expand(&p, z, y);
    show("a column of y", z);
    p = made(chosen, ranks, 4);
    choose(&p, w, mask, w, &low);
    show("mask ? w : low", w);
    return 0;
}
