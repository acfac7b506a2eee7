/* Plain broadcasting in C, for comparisons with c/whycast.c, whose code it does not share. It
   checks in the order of c/whycast.h, and copies each element by its index. */

#include <stdlib.h>

#include "whycast.h"

/* The most axes of an output, and the most tensors of a plan. */
enum { MOST_AXES = 20, MOST_TENSORS = 20 };

static int64_t at(whycast_place *place, int64_t tensor, int64_t axis, int64_t code) {
    place->tensor = tensor;
    place->axis = axis;
    return code;
}

static int64_t size_on(const int64_t *shape, int64_t rank, int64_t common_rank, int64_t axis) {
    const int64_t own = axis - (common_rank - rank);
    return own < 0 ? 1 : shape[own];
}

/* The number of bytes, or -1 if it does not fit an int64_t. No size may be negative. */
static int64_t count_bytes(const int64_t *shape, int64_t rank, int64_t width) {
    int64_t bytes = width;
    for (int64_t axis = 0; axis < rank; axis++) {
        if (shape[axis] == 0) {
            return 0;
        }
    }
    for (int64_t axis = 0; axis < rank; axis++) {
        if (bytes > INT64_MAX / shape[axis]) {
            return -1;
        }
        bytes *= shape[axis];
    }
    return bytes;
}

/* Reports the first negative rank or, if there is none, the first negative size. */
static int64_t check_shapes(whycast_place *place, const int64_t *const *shapes,
                            const int64_t *ranks, int64_t count) {
    for (int64_t m = 0; m < count; m++) {
        if (ranks[m] < 0) {
            return at(place, m, -1, WHYCAST_NEGATIVE_RANK);
        }
    }
    for (int64_t m = 0; m < count; m++) {
        for (int64_t axis = 0; axis < ranks[m]; axis++) {
            if (shapes[m][axis] < 0) {
                return at(place, m, axis, WHYCAST_NEGATIVE_SIZE);
            }
        }
    }
    return at(place, -1, -1, 0);
}

/* Checks the ranks and sizes of a shape and its target, the width, then whether the shape fits. */
static int64_t check_fit(whycast_place *place, const int64_t *shape, int64_t rank,
                         const int64_t *target, int64_t target_rank, int64_t width) {
    const int64_t *shapes[] = {shape, target}, ranks[] = {rank, target_rank};
    const int64_t code = check_shapes(place, shapes, ranks, 2);
    if (code < 0) {
        return code;
    }
    if (width < 1) {
        return at(place, 0, -1, WHYCAST_BAD_WIDTH);
    }
    if (rank > target_rank) {
        return at(place, 0, -1, WHYCAST_RANK_MISMATCH);
    }
    for (int64_t axis = 0; axis < target_rank; axis++) {
        const int64_t size = size_on(shape, rank, target_rank, axis);
        if (size != 1 && size != target[axis]) {
            return at(place, 0, axis, WHYCAST_NOT_BROADCASTABLE);
        }
    }
    return at(place, -1, -1, 0);
}

/* Reports errors of memory; errors of the output's memory have the place `target_tensor`. */
static int64_t check_memory(whycast_place *place, int64_t tensor, int64_t target_tensor,
                            int64_t room, int64_t extent, const int64_t *shape, int64_t rank,
                            const int64_t *target, int64_t target_rank, int64_t width) {
    const int64_t due = count_bytes(target, target_rank, width);
    const int64_t own = count_bytes(shape, rank, width);
    if (due < 0) {
        return at(place, target_tensor, -1, WHYCAST_TOO_LARGE);
    }
    if (own < 0) {
        return at(place, tensor, -1, WHYCAST_TOO_LARGE);
    }
    if (due > room) {
        return at(place, target_tensor, -1, WHYCAST_ROOM_EXCEEDED);
    }
    if (own > extent) {
        return at(place, tensor, -1, WHYCAST_EXTENT_EXCEEDED);
    }
    return at(place, -1, -1, 0);
}

/* Copies every element of an output; the index counts up like an odometer. */
static void copy_elements(uint8_t *output, const uint8_t *input, const int64_t *shape, int64_t rank,
                          const int64_t *target, int64_t target_rank, int64_t width) {
    int64_t index[MOST_AXES] = {0};
    const int64_t elements = count_bytes(target, target_rank, 1);
    if (target_rank > MOST_AXES) {
        abort();
    }
    for (int64_t number = 0; number < elements; number++) {
        int64_t source = 0;
        for (int64_t axis = 0; axis < target_rank; axis++) {
            const int64_t size = size_on(shape, rank, target_rank, axis);
            source = source * size + (size == target[axis] ? index[axis] : 0);
        }
        for (int64_t k = 0; k < width; k++) {
            output[number * width + k] = input[source * width + k];
        }
        for (int64_t axis = target_rank - 1; axis >= 0 && ++index[axis] == target[axis]; axis--) {
            index[axis] = 0;
        }
    }
}

/* By SONNX's rule each size is 1 or the greatest on its axis: reports the first tensor with another
   size. By NumPy's rule sizes other than 1 are equal: reports the first axis where they differ. */
static int64_t plain_shape(int numpy, int64_t *shape, int64_t capacity, whycast_place *place,
                           const int64_t *const *shapes, const int64_t *ranks, int64_t count) {
    int64_t rank = 0;
    if (count < 1) {
        return at(place, -1, -1, WHYCAST_NO_TENSOR);
    }
    if (check_shapes(place, shapes, ranks, count) < 0) {
        return check_shapes(place, shapes, ranks, count);
    }
    for (int64_t m = 0; m < count; m++) {
        rank = ranks[m] > rank ? ranks[m] : rank;
    }
    for (int64_t j = 0; j < (numpy ? rank : count); j++) {
        for (int64_t k = 0; k < (numpy ? count : rank); k++) {
            const int64_t m = numpy ? k : j, axis = numpy ? j : k;
            const int64_t size = size_on(shapes[m], ranks[m], rank, axis);
            for (int64_t n = 0; n < (numpy ? m : count); n++) {
                const int64_t other = size_on(shapes[n], ranks[n], rank, axis);
                if (size != 1 && (numpy ? other != 1 && other != size : other > size)) {
                    return at(place, m, axis, WHYCAST_NOT_BROADCASTABLE);
                }
            }
        }
    }
    if (rank > capacity) {
        return at(place, -1, -1, WHYCAST_CAPACITY_EXCEEDED);
    }
    for (int64_t axis = 0; axis < rank; axis++) {
        shape[axis] = numpy ? 1 : 0;
        for (int64_t m = 0; m < count; m++) {
            const int64_t size = size_on(shapes[m], ranks[m], rank, axis);
            shape[axis] = (numpy ? size != 1 : size > shape[axis]) ? size : shape[axis];
        }
    }
    return at(place, -1, -1, rank);
}

static int64_t plain_broadcast_shape(int64_t *shape, int64_t capacity, whycast_place *place,
                              const int64_t *const *shapes, const int64_t *ranks, int64_t count) {
    return plain_shape(0, shape, capacity, place, shapes, ranks, count);
}

static int64_t plain_broadcast_strides(int64_t *view, whycast_place *place, const int64_t *strides,
                                const int64_t *shape, int64_t rank, const int64_t *target,
                                int64_t target_rank) {
    const int64_t code = check_fit(place, shape, rank, target, target_rank, 1);
    for (int64_t axis = 0; code == 0 && axis < target_rank; axis++) {
        const int64_t own = axis - (target_rank - rank);
        view[axis] = own >= 0 && shape[own] == target[axis] ? strides[own] : 0;
    }
    return code;
}

static int64_t plain_byte_size(whycast_place *place, const int64_t *shape, int64_t rank,
                               int64_t width) {
    const int64_t code = check_shapes(place, &shape, &rank, 1);
    if (code < 0) {
        return code;
    }
    if (width < 1) {
        return at(place, 0, -1, WHYCAST_BAD_WIDTH);
    }
    if (count_bytes(shape, rank, width) < 0) {
        return at(place, 0, -1, WHYCAST_TOO_LARGE);
    }
    return at(place, -1, -1, count_bytes(shape, rank, width));
}

static int64_t plain_broadcast(uint8_t *output, int64_t room, whycast_place *place,
                               const uint8_t *input, int64_t extent, const int64_t *shape,
                               int64_t rank, const int64_t *target, int64_t target_rank,
                               int64_t width) {
    int64_t code = check_fit(place, shape, rank, target, target_rank, width);
    code = code < 0 ? code : check_memory(place, 0, 1, room, extent, shape, rank, target,
                                          target_rank, width);
    if (code == 0) {
        copy_elements(output, input, shape, rank, target, target_rank, width);
    }
    return code;
}

static int64_t plain_broadcast_all(uint8_t *const *outputs, const int64_t *rooms, int64_t *target,
                            int64_t capacity, whycast_place *place, const uint8_t *const *inputs,
                            const int64_t *extents, const int64_t *const *shapes,
                            const int64_t *ranks, const int64_t *widths, int64_t count) {
    const int64_t rank = plain_broadcast_shape(target, capacity, place, shapes, ranks, count);
    if (rank < 0) {
        return rank;
    }
    for (int64_t m = 0; m < count; m++) {
        if (widths[m] < 1) {
            return at(place, m, -1, WHYCAST_BAD_WIDTH);
        }
        const int64_t code = check_memory(place, m, m, rooms[m], extents[m], shapes[m], ranks[m],
                                          target, rank, widths[m]);
        if (code < 0) {
            return code;
        }
    }
    for (int64_t m = 0; m < count; m++) {
        copy_elements(outputs[m], inputs[m], shapes[m], ranks[m], target, rank, widths[m]);
    }
    return at(place, -1, -1, rank);
}

static void row_major(int64_t *strides, const int64_t *shape, int64_t rank) {
    uint64_t stride = 1;
    for (int64_t axis = rank; axis > 0; axis--) {
        strides[axis - 1] = (int64_t)stride;
        stride *= (uint64_t)shape[axis - 1];
    }
}

/* Whether an offset of a tensor may be beyond the ends of an int64_t. */
static int reaches_far(const int64_t *shape, const int64_t *strides, int64_t rank) {
    uint64_t left = INT64_MAX;
    for (int64_t axis = 0; axis < rank; axis++) {
        if (shape[axis] > 1) {
            const uint64_t times = (uint64_t)shape[axis] - 1, stride = (uint64_t)strides[axis];
            const uint64_t far = strides[axis] < 0 ? 0 - stride : stride;
            if (far > left / times) {
                return 1;
            }
            left -= far * times;
        }
    }
    return 0;
}

/* Axes become loops, the last axis first. An axis joins the next inner loop if each tensor's
   stride on the axis is its stride in that loop times the loop's rounds. */
static int64_t plain_plan_views(int64_t *sizes, int64_t *steps, int64_t capacity,
                                whycast_place *place, const int64_t *const *shapes,
                                const int64_t *const *strides, const int64_t *ranks,
                                int64_t count) {
    int64_t common[MOST_AXES], views[MOST_TENSORS][MOST_AXES], times[MOST_AXES] = {0};
    int64_t lasts[MOST_AXES] = {0}, loops = 0;
    const int64_t rank = plain_broadcast_shape(common, capacity, place, shapes, ranks, count);
    if (rank < 0) {
        return rank;
    }
    if (capacity < 1) {
        return at(place, -1, -1, WHYCAST_CAPACITY_EXCEEDED);
    }
    const int64_t elements = count_bytes(common, rank, 1);
    if (elements < 0) {
        return at(place, -1, -1, WHYCAST_TOO_LARGE);
    }
    for (int64_t m = 0; m < count; m++) {
        if (elements > 0 && reaches_far(shapes[m], strides[m], ranks[m])) {
            return at(place, m, -1, WHYCAST_TOO_LARGE);
        }
        plain_broadcast_strides(views[m], place, strides[m], shapes[m], ranks[m], common, rank);
    }
    for (int64_t axis = rank - 1; axis >= 0 && elements > 0; axis--) {
        int alone = loops == 0;
        for (int64_t m = 0; m < count && !alone; m++) {
            const int64_t behind = times[loops - 1], stride = views[m][axis];
            alone = stride % behind != 0 || stride / behind != views[m][lasts[loops - 1]];
        }
        if (common[axis] > 1 && alone) {
            times[loops] = common[axis];
            lasts[loops++] = axis;
        } else if (common[axis] > 1) {
            times[loops - 1] *= common[axis];
        }
    }
    for (int64_t j = 0; j < loops; j++) {
        sizes[j] = times[loops - 1 - j];
        for (int64_t m = 0; m < count; m++) {
            steps[j * count + m] = views[m][lasts[loops - 1 - j]];
        }
    }
    if (loops == 0) {
        sizes[0] = elements;
        for (int64_t m = 0; m < count; m++) {
            steps[m] = 0;
        }
    }
    return at(place, -1, -1, loops > 0 ? loops : 1);
}

/* f: the offset of the output's element `number` in a tensor with this shape and these strides. */
static int64_t plain_offset(const int64_t *shape, const int64_t *strides, int64_t rank,
                            const int64_t *common, int64_t common_rank, int64_t number) {
    int64_t offset = 0;
    for (int64_t axis = common_rank - 1; axis >= 0; axis--) {
        const int64_t own = axis - (common_rank - rank);
        if (own >= 0 && shape[own] > 1) {
            offset += number % common[axis] * strides[own];
        }
        number /= common[axis];
    }
    return offset;
}
