/* A column of 2 and a row of 3 become two tables of 2 by 3; cc -std=c99 example.c whycast.c */

#include <inttypes.h>
#include <stdio.h>

#include "whycast.h"

int main(void) {
    const float column[2] = {10, 20}, row[3] = {1, 2, 3};
    const int64_t column_shape[] = {2, 1}, row_shape[] = {3}, wrong_shape[] = {3, 2};
    const int64_t *shapes[] = {column_shape, row_shape}, ranks[] = {2, 1};
    float x[6], y[6];
    int64_t shape[2];
    whycast_place place;

    if (whycast_broadcast_shape(shape, 2, &place, shapes, ranks, 2) < 0
        || whycast_broadcast((uint8_t *)x, sizeof x, &place, (const uint8_t *)column, sizeof column,
                             column_shape, 2, shape, 2, sizeof *x) < 0
        || whycast_broadcast((uint8_t *)y, sizeof y, &place, (const uint8_t *)row, sizeof row,
                             row_shape, 1, shape, 2, sizeof *y) < 0) {
        return 1;
    }
    printf("shape (%" PRId64 ", %" PRId64 ")\n", shape[0], shape[1]);
    for (int k = 0; k < 6; k++) {
        printf("%g + %g = %g\n", x[k], y[k], x[k] + y[k]);
    }

    shapes[0] = wrong_shape;
    if (whycast_broadcast_shape(shape, 2, &place, shapes, ranks, 2) == WHYCAST_NOT_BROADCASTABLE) {
        printf("tensor %" PRId64 " does not fit on axis %" PRId64 "\n", place.tensor, place.axis);
    }
    return 0;
}
