/* c/whycast.c as the functions that the programs of `whycast cases --format c` ask. */

#include <stddef.h>
#include <stdlib.h>

#include "whycast.h"

enum { MOST_AXES = 64 };

int broadcast_shape(size_t count, const size_t *ranks, const int64_t *const *shapes,
                    size_t *result_rank, int64_t *result) {
    whycast_place place;
    int64_t *own_ranks = malloc((count + 1) * sizeof *own_ranks), most = 0;
    if (own_ranks == NULL) {
        abort();
    }
    for (size_t m = 0; m < count; m++) {
        own_ranks[m] = (int64_t)ranks[m];
        most = own_ranks[m] > most ? own_ranks[m] : most;
    }
    const int64_t rank =
        whycast_broadcast_shape(result, most, &place, shapes, own_ranks, (int64_t)count);
    free(own_ranks);
    *result_rank = rank < 0 ? 0 : (size_t)rank;
    return rank < 0;
}

int broadcast_strides(size_t rank, const int64_t *shape, const int64_t *strides, size_t target_rank,
                      const int64_t *target, int64_t *result) {
    whycast_place place;
    return whycast_broadcast_strides(result, &place, strides, shape, (int64_t)rank, target,
                                     (int64_t)target_rank)
           < 0;
}

int broadcast_data(size_t itemsize, size_t rank, const int64_t *shape, const void *data,
                   size_t target_rank, const int64_t *target, void *result) {
    whycast_place place;
    const int64_t width = (int64_t)itemsize;
    const int64_t extent = whycast_byte_size(&place, shape, (int64_t)rank, width);
    const int64_t room = whycast_byte_size(&place, target, (int64_t)target_rank, width);
    return whycast_broadcast(result, room, &place, data, extent, shape, (int64_t)rank, target,
                             (int64_t)target_rank, width)
           < 0;
}
