/* Adds a column of 2 to a row of 3, without a copy; cc -std=c99 -O3 example.c whycast.c */

#include <inttypes.h>
#include <stdio.h>

#include "whycast.h"

int main(void) {
    const float column[2] = {10, 20}, row[3] = {1, 2, 3};
    const int64_t column_shape[] = {2, 1}, row_shape[] = {3}, wrong_shape[] = {3, 2};
    const int64_t *shapes[] = {column_shape, row_shape}, ranks[] = {2, 1};
    int64_t sizes[2], steps[2 * 2], counters[1], offsets[2];
    float sums[6], *z = sums;
    whycast_place place;

    const int64_t loops = whycast_plan(sizes, steps, 2, &place, shapes, ranks, 2);
    if (loops < 0) {
        return 1;
    }
    const int64_t run = sizes[loops - 1], *step = &steps[(loops - 1) * 2];
    if (whycast_first(counters, offsets, sizes, steps, loops, 2, 0) > 0) {
        do {
            const float *x = column + offsets[0], *y = row + offsets[1];
            if (step[0] == 0 && step[1] == 1) { /* A compiler vectorises this loop. */
                for (int64_t v = 0; v < run; v++) {
                    *z++ = *x + y[v];
                }
            } else {
                for (int64_t v = 0; v < run; v++) {
                    *z++ = x[v * step[0]] + y[v * step[1]];
                }
            }
        } while (whycast_next(counters, offsets, sizes, steps, loops, 2));
    }
    printf("%" PRId64 " loops, runs of %" PRId64 "\n", loops, run);
    for (int k = 0; k < 6; k++) {
        printf("%g%c", sums[k], k % 3 < 2 ? ' ' : '\n');
    }

    shapes[0] = wrong_shape;
    if (whycast_plan(sizes, steps, 2, &place, shapes, ranks, 2) == WHYCAST_NOT_BROADCASTABLE) {
        printf("tensor %" PRId64 " does not fit on axis %" PRId64 "\n", place.tensor, place.axis);
    }
    return 0;
}
