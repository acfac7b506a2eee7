/* Calls each function of c/whycast.h with more and more tensors, axes and bytes, while Callgrind
   counts the instructions. Prints the numbers on which the count depends. */

#include <inttypes.h>
#include <stdio.h>
#include <valgrind/callgrind.h>

#include "whycast.h"

enum { TENSORS = 12, AXES = 12, WIDEST = 33, BYTES = WIDEST << AXES };

static uint8_t from[BYTES], into[TENSORS][BYTES];

/* Each tensor grows on every second axis: neither blocks nor loops of several tensors merge. */
static int64_t sizes[TENSORS][AXES], strides[TENSORS][AXES], target[AXES], view[AXES];
static int64_t loop_sizes[AXES], steps[AXES * TENSORS], counters[AXES], offsets[TENSORS];

#define COUNTED(function, bytes, ...) do { \
    CALLGRIND_TOGGLE_COLLECT; \
    code = function(__VA_ARGS__); \
    CALLGRIND_TOGGLE_COLLECT; \
    CALLGRIND_DUMP_STATS; \
    wrong = wrong || code < 0; \
    printf("{\"function\": \"" #function "\", \"count\": %" PRId64 ", \"rank\": %" PRId64 \
           ", \"loops\": %" PRId64 ", \"bytes\": %" PRId64 "}\n", count, rank, loops, \
           (int64_t)(bytes)); \
} while (0)

int main(void) {
    static const int64_t counts[] = {1, 2, 5, TENSORS}, ranks[] = {1, 2, 5, AXES};
    static const int64_t one_width[] = {1, 3, 8, WIDEST};
    const int64_t *shapes[TENSORS], *rows[TENSORS];
    const uint8_t *inputs[TENSORS];
    uint8_t *outputs[TENSORS];
    int64_t lengths[TENSORS], widths[TENSORS], rooms[TENSORS], code;
    whycast_place place;
    int wrong = 0;
    for (int64_t m = 0; m < TENSORS; m++) {
        for (int64_t axis = 0; axis < AXES; axis++) {
            sizes[m][axis] = 1 + (axis + m) % 2;
            strides[m][axis] = 7 * axis + m;
            target[axis] = 2;
        }
        shapes[m] = sizes[m];
        rows[m] = strides[m];
        inputs[m] = from;
        outputs[m] = into[m];
        rooms[m] = BYTES;
    }
    for (int k = 0; k < 16; k++) {
        const int64_t count = counts[k / 4], rank = ranks[k % 4], width = one_width[k / 4];
        const int64_t elements = (int64_t)1 << rank;
        int64_t loops = 0, bytes = 0;
        for (int64_t m = 0; m < count; m++) {
            lengths[m] = rank;
            widths[m] = one_width[m % 4];
            bytes += widths[m] * (count > 1 ? elements : (int64_t)1 << rank / 2);
        }
        COUNTED(whycast_broadcast_shape, 0, view, AXES, &place, shapes, lengths, count);
        COUNTED(whycast_numpy_shape, 0, view, AXES, &place, shapes, lengths, count);
        COUNTED(whycast_broadcast_strides, 0, view, &place, strides[0], sizes[0], rank, target,
                rank);
        COUNTED(whycast_byte_size, 0, &place, target, rank, width);
        COUNTED(whycast_broadcast, elements * width, into[0], BYTES, &place, from, BYTES, sizes[0],
                rank, target, rank, width);
        COUNTED(whycast_broadcast_all, bytes, outputs, rooms, view, AXES, &place, inputs, rooms,
                shapes, lengths, widths, count);
        COUNTED(whycast_plan_views, 0, loop_sizes, steps, AXES, &place, shapes, rows, lengths,
                count);
        COUNTED(whycast_plan, 0, loop_sizes, steps, AXES, &place, shapes, lengths, count);
        loops = code;
        int64_t last = loop_sizes[loops - 1] > 0;
        for (int64_t j = 0; j < loops - 1; j++) {
            last *= loop_sizes[j];
        }
        /* After the last step comes the first: whycast_next resets every counter. */
        COUNTED(whycast_first, 0, counters, offsets, loop_sizes, steps, loops, count, last - 1);
        COUNTED(whycast_next, 0, counters, offsets, loop_sizes, steps, loops, count);
    }
    return wrong;
}
