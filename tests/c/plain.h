/* What c/whycast.h says, written down once more, as plainly as can be: see plain.c. */

#ifndef PLAIN_H
#define PLAIN_H

#include "whycast.h"

int64_t plain_broadcast_shape(int64_t *shape, int64_t capacity, whycast_place *place,
                              const int64_t *const *shapes, const int64_t *ranks, int64_t count);
int64_t plain_broadcast_strides(int64_t *view, whycast_place *place, const int64_t *strides,
                                const int64_t *shape, int64_t rank, const int64_t *target,
                                int64_t target_rank);
int64_t plain_byte_size(whycast_place *place, const int64_t *shape, int64_t rank, int64_t width);
int64_t plain_broadcast(uint8_t *output, int64_t room, whycast_place *place, const uint8_t *input,
                        int64_t extent, const int64_t *shape, int64_t rank, const int64_t *target,
                        int64_t target_rank, int64_t width);
int64_t plain_broadcast_all(uint8_t *const *outputs, const int64_t *rooms, int64_t *target,
                            int64_t capacity, whycast_place *place, const uint8_t *const *inputs,
                            const int64_t *extents, const int64_t *const *shapes,
                            const int64_t *ranks, const int64_t *widths, int64_t count);

#endif
