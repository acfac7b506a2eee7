/*
 * A user's functions for the programs of `whycast cases --format c`: right ones, by SONNX's rule
 * or, with -DALONG_AXES, that of broadcast_in_dim. Each other macro is one mistake.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef RULE_OF_NUMPY
#define LEAST 1
#define TAKES(size, common) ((size) != 1)
#else
#define LEAST 0
#define TAKES(size, common) ((size) > (common))
#endif

#ifdef ALONG_AXES
#define AXES_PARAMETERS , size_t axes_count, const int64_t *axes
#define AXES , axes_count, axes
#define AXIS(j) ((size_t)axes[j])
#define COUNT_FITS (axes_count == rank)
#else
#define AXES_PARAMETERS
#define AXES
#define AXIS(j) (target_rank - rank + (j))
#define COUNT_FITS (rank <= target_rank)
#endif

static int fails(size_t rank, const int64_t *shape, size_t target_rank,
                 const int64_t *target AXES_PARAMETERS)
{
    if (!COUNT_FITS)
        return 1;
    for (size_t j = 0; j < rank; j++) {
        /* As a size_t a negative axis is very large. */
        if (AXIS(j) >= target_rank)
            return 1;
        for (size_t k = 0; k < j; k++)
            if (AXIS(k) == AXIS(j))
                return 1;
        if (shape[j] != 1 && shape[j] != target[AXIS(j)])
            return 1;
    }
    return 0;
}

#ifdef ALONG_AXES
int broadcast_shape(size_t rank, const int64_t *shape, size_t target_rank,
                    const int64_t *target AXES_PARAMETERS, size_t *result_rank, int64_t *result)
{
    if (fails(rank, shape, target_rank, target AXES))
        return 1;
    *result_rank = target_rank;
    memcpy(result, target, target_rank * sizeof *target);
    return 0;
}
#else
static int64_t size_on(size_t from_right, size_t rank, const int64_t *shape)
{
    return from_right < rank ? shape[rank - 1 - from_right] : 1;
}

int broadcast_shape(size_t count, const size_t *ranks, const int64_t *const *shapes,
                    size_t *result_rank, int64_t *result)
{
    size_t rank = 0;
    for (size_t m = 0; m < count; m++)
        rank = ranks[m] > rank ? ranks[m] : rank;
    for (size_t k = 0; k < rank; k++) {
        int64_t common = LEAST;
        for (size_t m = 0; m < count; m++) {
            int64_t size = size_on(k, ranks[m], shapes[m]);
            common = TAKES(size, common) ? size : common;
        }
        for (size_t m = 0; m < count; m++)
            if (size_on(k, ranks[m], shapes[m]) != 1
                && size_on(k, ranks[m], shapes[m]) != common)
                return 1;
        result[rank - 1 - k] = common;
    }
#ifdef PAST_THE_END
    result[rank] = 1;
#endif
    *result_rank = rank;
    return 0;
}
#endif

int broadcast_strides(size_t rank, const int64_t *shape, const int64_t *strides,
                      size_t target_rank, const int64_t *target AXES_PARAMETERS, int64_t *result)
{
    if (fails(rank, shape, target_rank, target AXES))
        return 1;
    for (size_t k = 0; k < target_rank; k++)
        result[k] = 0;
    for (size_t j = 0; j < rank; j++)
        if (shape[j] == target[AXIS(j)])
            /* The stride of an axis of size 1 does not matter. */
            result[AXIS(j)] = shape[j] == 1 ? 7 : strides[j];
#ifdef SWAPPED_STRIDES
    if (target_rank > 1) {
        int64_t first = result[0];
        result[0] = result[1];
        result[1] = first;
    }
#endif
    return 0;
}

int broadcast_data(size_t itemsize, size_t rank, const int64_t *shape, const void *data,
                   size_t target_rank, const int64_t *target AXES_PARAMETERS, void *result)
{
    int64_t own[64], strides[64];
    size_t count = 1;
    int64_t step = 1;
    for (size_t j = rank; j-- > 0;) {
        own[j] = step;
        step *= shape[j];
    }
    if (broadcast_strides(rank, shape, own, target_rank, target AXES, strides))
        return 1;
    for (size_t k = 0; k < target_rank; k++)
        count *= (size_t)target[k];
    for (size_t place = 0; place < count; place++) {
        size_t rest = place, source = 0;
        for (size_t k = target_rank; k-- > 0;) {
            source += rest % (size_t)target[k] * (size_t)strides[k];
            rest /= (size_t)target[k];
        }
#ifdef LAST_ELEMENT
        if (count > 1 && step > 1 && place == count - 2)
            source = (size_t)step - 1;
#endif
        memcpy((char *)result + place * itemsize, (const char *)data + source * itemsize, itemsize);
    }
    return 0;
}
