/* Extracted by Why3 from why3/c/codes.mlw, why3/c/shapes.mlw, why3/c/numpy_shape.mlw,
   why3/c/strides.mlw, why3/c/sizes.mlw, why3/c/broadcast.mlw, why3/c/broadcast_all.mlw,
   why3/c/plan.mlw and why3/c/steps.mlw.
   Do not edit: change the sources, then `make extract`.
   SPDX-License-Identifier: Apache-2.0 */

#include "whycast.h"

#ifdef WHYCAST_MEMCPY
#include <stddef.h>
#else
#include <string.h>
#define WHYCAST_MEMCPY memcpy
#endif

typedef struct { uint64_t halves[2]; } wc_word_16;

static inline void wc_copy_bytes(uint8_t *z, const uint8_t *x, int64_t n) {
  (void) WHYCAST_MEMCPY(z, x, (size_t) n);
}

static uint8_t wc_load_1(const uint8_t *p) { return *p; }
static uint16_t wc_load_2(const uint8_t *p) { uint16_t v; wc_copy_bytes((uint8_t *) &v, p, 2); return v; }
static uint32_t wc_load_4(const uint8_t *p) { uint32_t v; wc_copy_bytes((uint8_t *) &v, p, 4); return v; }
static uint64_t wc_load_8(const uint8_t *p) { uint64_t v; wc_copy_bytes((uint8_t *) &v, p, 8); return v; }
static wc_word_16 wc_load_16(const uint8_t *p) { wc_word_16 v; wc_copy_bytes((uint8_t *) &v, p, 16); return v; }

static void wc_store_1(uint8_t *p, uint8_t v) { *p = v; }
static void wc_store_2(uint8_t *p, uint16_t v) { wc_copy_bytes(p, (const uint8_t *) &v, 2); }
static void wc_store_4(uint8_t *p, uint32_t v) { wc_copy_bytes(p, (const uint8_t *) &v, 4); }
static void wc_store_8(uint8_t *p, uint64_t v) { wc_copy_bytes(p, (const uint8_t *) &v, 8); }
static void wc_store_16(uint8_t *p, wc_word_16 v) { wc_copy_bytes(p, (const uint8_t *) &v, 16); }

static uint32_t wc_splat_1_4(uint8_t v) { return v * UINT32_C(0x01010101); }
static uint32_t wc_splat_2_4(uint16_t v) { return v * UINT32_C(0x00010001); }
static uint64_t wc_splat_1_8(uint8_t v) { return v * UINT64_C(0x0101010101010101); }
static uint64_t wc_splat_2_8(uint16_t v) { return v * UINT64_C(0x0001000100010001); }
static uint64_t wc_splat_4_8(uint32_t v) { return v * UINT64_C(0x0000000100000001); }
static wc_word_16 wc_splat_8_16(uint64_t v) { wc_word_16 w; w.halves[0] = v; w.halves[1] = v; return w; }

/* Set `place` to `tensor` and `axis`, and return `code`.
   WhyML: c.checks.COPChecks.report */
static inline int64_t wc_report(whycast_place * place, int64_t code,
                                int64_t tensor, int64_t axis) {
  place->tensor = tensor;
  place->axis = axis;
  return code;
}

/* Return 0 if no rank is negative, else WHYCAST_NEGATIVE_RANK of the first tensor with a
   negative rank.
   WhyML: c.shapes.COPShape.check_ranks */
static inline int64_t wc_check_ranks(whycast_place * place,
                                     const int64_t * ranks, int64_t count) {
  int64_t m;
  m = INT64_C(0);
  while (m < count) {
    if (ranks[m] < INT64_C(0)) {
      return wc_report(place, (int64_t) WHYCAST_NEGATIVE_RANK, m, -INT64_C(1));
    }
    m = m + INT64_C(1);
  }
  return INT64_C(0);
}

/* Return 0 if no size is negative, else WHYCAST_NEGATIVE_SIZE of `tensor` on its first negative
   axis.
   WhyML: c.checks.COPChecks.check_sizes */
static inline int64_t wc_check_sizes(whycast_place * place, int64_t tensor,
                                     const int64_t * shape, int64_t rank) {
  int64_t i;
  i = INT64_C(0);
  while (i < rank) {
    if (shape[i] < INT64_C(0)) {
      return wc_report(place, (int64_t) WHYCAST_NEGATIVE_SIZE, tensor, i);
    }
    i = i + INT64_C(1);
  }
  return INT64_C(0);
}

/* Return 0 if no size is negative, else WHYCAST_NEGATIVE_SIZE of the first tensor with a
   negative size, on its first negative axis.
   WhyML: c.shapes.COPShape.check_all_sizes */
static inline int64_t wc_check_all_sizes(whycast_place * place,
                                         const int64_t *const * shapes,
                                         const int64_t * ranks, int64_t count) {
  int64_t m, code;
  m = INT64_C(0);
  while (m < count) {
    code = wc_check_sizes(place, m, shapes[m], ranks[m]);
    if (code < INT64_C(0)) {
      return code;
    }
    m = m + INT64_C(1);
  }
  return INT64_C(0);
}

/* dYm_i: the size of tensor `m` on axis `i` of the common rank. No read leaves a shape.
   WhyML: c.shape_sizes.COPShapeSizes.padded_size */
static inline int64_t wc_padded_size(const int64_t *const * shapes,
                                     const int64_t * ranks, int64_t m,
                                     int64_t i, int64_t rank) {
  int64_t prepended;
  prepended = rank - ranks[m];
  if (i < prepended) {
    return INT64_C(1);
  }
  return shapes[m][i - prepended];
}

/* The first tensor below `limit` whose size on axis `i` is neither `size` nor 1; else `limit`.
   WhyML: c.shapes.COPShape.differing_tensor */
static inline int64_t wc_differing_tensor(const int64_t *const * shapes,
                                          const int64_t * ranks,
                                          int64_t limit, int64_t i,
                                          int64_t rank, int64_t size) {
  int64_t m, own_size;
  m = INT64_C(0);
  while (m < limit) {
    own_size = wc_padded_size(shapes, ranks, m, i, rank);
    if (!(own_size == size) && !(own_size == INT64_C(1))) {
      return m;
    }
    m = m + INT64_C(1);
  }
  return limit;
}

/* The first tensor below `limit` whose size on axis `i` is neither 1 nor dY_i, the largest
   there (E1); else `limit`.
   WhyML: c.shapes.COPShape.violating_tensor */
static inline int64_t wc_violating_tensor(const int64_t *const * shapes,
                                          const int64_t * ranks,
                                          int64_t count, int64_t limit,
                                          int64_t i, int64_t rank) {
  int64_t largest, m, size;
  largest = INT64_C(0);
  m = INT64_C(0);
  while (m < count) {
    size = wc_padded_size(shapes, ranks, m, i, rank);
    if (size > largest) {
      largest = size;
    }
    m = m + INT64_C(1);
  }
  return wc_differing_tensor(shapes, ranks, limit, i, rank, largest);
}

/* Return 0 without E1, else WHYCAST_NOT_BROADCASTABLE with SONNX's first violation.
   WhyML: c.shapes.COPShape.check_agreement */
static inline int64_t wc_check_agreement(whycast_place * place,
                                         const int64_t *const * shapes,
                                         const int64_t * ranks,
                                         int64_t count, int64_t rank) {
  int64_t tensor, axis, i, m;
  tensor = count;
  axis = INT64_C(0);
  i = INT64_C(0);
  while (i < rank) {
    m = wc_violating_tensor(shapes, ranks, count, tensor, i, rank);
    if (m < tensor) {
      tensor = m;
      axis = i;
    }
    i = i + INT64_C(1);
  }
  if (tensor < count) {
    return wc_report(place, (int64_t) WHYCAST_NOT_BROADCASTABLE, tensor, axis);
  }
  return INT64_C(0);
}

/* For any count, ranks and sizes, return 0 if there is a shape and all shapes are well formed,
   else report the first fault.
   WhyML: c.shapes.COPShape.check_given */
static inline int64_t wc_check_given(whycast_place * place,
                                     const int64_t *const * shapes,
                                     const int64_t * ranks, int64_t count) {
  int64_t code;
  if (count < INT64_C(1)) {
    return wc_report(place, (int64_t) WHYCAST_NO_TENSOR, -INT64_C(1), -INT64_C(1));
  }
  code = wc_check_ranks(place, ranks, count);
  if (code < INT64_C(0)) {
    return code;
  }
  return wc_check_all_sizes(place, shapes, ranks, count);
}

/* nY: the highest rank of at least one shape.
   WhyML: c.shape_sizes.COPShapeSizes.common_rank */
static inline int64_t wc_common_rank(const int64_t * ranks, int64_t count) {
  int64_t rank, m;
  rank = INT64_C(0);
  m = INT64_C(0);
  while (m < count) {
    if (ranks[m] > rank) {
      rank = ranks[m];
    }
    m = m + INT64_C(1);
  }
  return rank;
}

/* Return 0 if there is a shape, all shapes are well formed, and E1 does not hold; else report
   the first fault.
   WhyML: c.shapes.COPShape.check_shapes */
static inline int64_t wc_check_shapes(whycast_place * place,
                                      const int64_t *const * shapes,
                                      const int64_t * ranks, int64_t count) {
  int64_t code, rank;
  code = wc_check_given(place, shapes, ranks, count);
  if (code < INT64_C(0)) {
    return code;
  }
  rank = wc_common_rank(ranks, count);
  return wc_check_agreement(place, shapes, ranks, count, rank);
}

/* The first size on axis `i` other than 1, else 1: for compatible shapes NumPy's size, and
   without E1 dY_i.
   WhyML: c.shape_sizes.COPShapeSizes.agreed_size */
static inline int64_t wc_agreed_size(const int64_t *const * shapes,
                                     const int64_t * ranks, int64_t count,
                                     int64_t i, int64_t rank) {
  int64_t m, size;
  m = INT64_C(0);
  while (m < count) {
    size = wc_padded_size(shapes, ranks, m, i, rank);
    if (!(size == INT64_C(1))) {
      return size;
    }
    m = m + INT64_C(1);
  }
  return INT64_C(1);
}

/* If the capacity suffices, write the common shape of compatible shapes, and return its rank;
   else write no size, and return WHYCAST_CAPACITY_EXCEEDED.
   WhyML: c.shapes.COPShape.write_shape */
static inline int64_t wc_write_shape(int64_t * shape, int64_t capacity,
                                     whycast_place * place,
                                     const int64_t *const * shapes,
                                     const int64_t * ranks, int64_t count,
                                     int64_t rank) {
  int64_t i;
  if (capacity < rank) {
    return wc_report(place, (int64_t) WHYCAST_CAPACITY_EXCEEDED, -INT64_C(1),
           -INT64_C(1));
  }
  i = INT64_C(0);
  while (i < rank) {
    shape[i] = wc_agreed_size(shapes, ranks, count, i, rank);
    i = i + INT64_C(1);
  }
  return wc_report(place, rank, -INT64_C(1), -INT64_C(1));
}

/* For callers: whycast.h.
   WhyML: c.shapes.COPShape.broadcast_shape */
int64_t whycast_broadcast_shape(int64_t * shape, int64_t capacity,
                                whycast_place * place,
                                const int64_t *const * shapes,
                                const int64_t * ranks, int64_t count) {
  int64_t code, rank;
  code = wc_check_shapes(place, shapes, ranks, count);
  if (code < INT64_C(0)) {
    return code;
  }
  rank = wc_common_rank(ranks, count);
  return wc_write_shape(shape, capacity, place, shapes, ranks, count, rank);
}

/* Return 0 if the shapes are compatible, else WHYCAST_NOT_BROADCASTABLE with NumPy's first
   mismatch.
   WhyML: c.numpy_shape.COPNumpyShape.check_mismatch */
static inline int64_t wc_check_mismatch(whycast_place * place,
                                        const int64_t *const * shapes,
                                        const int64_t * ranks, int64_t count,
                                        int64_t rank) {
  int64_t i, size, m;
  i = INT64_C(0);
  while (i < rank) {
    size = wc_agreed_size(shapes, ranks, count, i, rank);
    m = wc_differing_tensor(shapes, ranks, count, i, rank, size);
    if (m < count) {
      return wc_report(place, (int64_t) WHYCAST_NOT_BROADCASTABLE, m, i);
    }
    i = i + INT64_C(1);
  }
  return INT64_C(0);
}

/* For callers: whycast.h.
   WhyML: c.numpy_shape.COPNumpyShape.numpy_shape */
int64_t whycast_numpy_shape(int64_t * shape, int64_t capacity,
                            whycast_place * place,
                            const int64_t *const * shapes,
                            const int64_t * ranks, int64_t count) {
  int64_t code, rank, mismatch_code;
  code = wc_check_given(place, shapes, ranks, count);
  if (code < INT64_C(0)) {
    return code;
  }
  rank = wc_common_rank(ranks, count);
  mismatch_code = wc_check_mismatch(place, shapes, ranks, count, rank);
  if (mismatch_code < INT64_C(0)) {
    return mismatch_code;
  }
  return wc_write_shape(shape, capacity, place, shapes, ranks, count, rank);
}

/* Return 0 if `rank` is at least 0, else WHYCAST_NEGATIVE_RANK of `tensor`.
   WhyML: c.checks.COPChecks.check_rank */
static inline int64_t wc_check_rank(whycast_place * place, int64_t tensor,
                                    int64_t rank) {
  if (rank < INT64_C(0)) {
    return wc_report(place, (int64_t) WHYCAST_NEGATIVE_RANK, tensor, -INT64_C(1));
  }
  return INT64_C(0);
}

/* Return 0 if `shape` and `target` are well formed, else report the first negative rank or
   size.
   WhyML: c.strides.COPStrides.check_two */
static inline int64_t wc_check_two(whycast_place * place,
                                   const int64_t * shape, int64_t rank,
                                   const int64_t * target,
                                   int64_t target_rank) {
  int64_t rank_code, target_code, sizes_code;
  rank_code = wc_check_rank(place, INT64_C(0), rank);
  if (rank_code < INT64_C(0)) {
    return rank_code;
  }
  target_code = wc_check_rank(place, INT64_C(1), target_rank);
  if (target_code < INT64_C(0)) {
    return target_code;
  }
  sizes_code = wc_check_sizes(place, INT64_C(0), shape, rank);
  if (sizes_code < INT64_C(0)) {
    return sizes_code;
  }
  return wc_check_sizes(place, INT64_C(1), target, target_rank);
}

/* Return 0 if `shape` broadcasts to `target`, else WHYCAST_RANK_MISMATCH, or
   WHYCAST_NOT_BROADCASTABLE with the first axis that does not fit.
   WhyML: c.strides.COPStrides.check_fit */
static inline int64_t wc_check_fit(whycast_place * place,
                                   const int64_t * shape, int64_t rank,
                                   const int64_t * target,
                                   int64_t target_rank) {
  int64_t prepended, size, k;
  if (target_rank < rank) {
    return wc_report(place, (int64_t) WHYCAST_RANK_MISMATCH, INT64_C(0), -INT64_C(1));
  }
  prepended = target_rank - rank;
  k = INT64_C(0);
  while (k < rank) {
    size = shape[k];
    if (!(size == target[prepended + k]) && !(size == INT64_C(1))) {
      return wc_report(place, (int64_t) WHYCAST_NOT_BROADCASTABLE, INT64_C(0),
             prepended + k);
    }
    k = k + INT64_C(1);
  }
  return INT64_C(0);
}

/* For callers: whycast.h.
   WhyML: c.strides.COPStrides.broadcast_strides */
int64_t whycast_broadcast_strides(int64_t * view, whycast_place * place,
                                  const int64_t * strides,
                                  const int64_t * shape, int64_t rank,
                                  const int64_t * target, int64_t target_rank) {
  int64_t code, fit_code, prepended, k, stride, i;
  code = wc_check_two(place, shape, rank, target, target_rank);
  if (code < INT64_C(0)) {
    return code;
  }
  fit_code = wc_check_fit(place, shape, rank, target, target_rank);
  if (fit_code < INT64_C(0)) {
    return fit_code;
  }
  prepended = target_rank - rank;
  i = INT64_C(0);
  while (i < target_rank) {
    k = i - prepended;
    if ((k >= INT64_C(0)) && (shape[k] == target[i])) {
      stride = strides[k];
    } else {
      stride = INT64_C(0);
    }
    view[i] = stride;
    i = i + INT64_C(1);
  }
  return wc_report(place, INT64_C(0), -INT64_C(1), -INT64_C(1));
}

/* The number of bytes of a tensor with elements of `width` bytes, or WHYCAST_TOO_LARGE above
   2^63 - 1. No product overflows.
   WhyML: c.sizes.COPSize.count_bytes */
static inline int64_t wc_count_bytes(const int64_t * shape, int64_t rank,
                                     int64_t width) {
  int64_t bytes, k, size;
  bytes = width;
  k = INT64_C(0);
  while (k < rank) {
    size = shape[k];
    if (size == INT64_C(0)) {
      return INT64_C(0);
    }
    if (((bytes > INT64_C(0x7FFFFFFF)) || (size > INT64_C(0x7FFFFFFF))) && (bytes > (INT64_C(0x7FFFFFFFFFFFFFFF) / size))) {
      bytes = (int64_t) WHYCAST_TOO_LARGE;
    } else {
      if (bytes > INT64_C(0)) {
        bytes = bytes * size;
      }
    }
    k = k + INT64_C(1);
  }
  return bytes;
}

/* For callers: whycast.h.
   WhyML: c.sizes.COPSize.byte_size */
int64_t whycast_byte_size(whycast_place * place, const int64_t * shape,
                          int64_t rank, int64_t width) {
  int64_t rank_code, sizes_code, bytes;
  rank_code = wc_check_rank(place, INT64_C(0), rank);
  if (rank_code < INT64_C(0)) {
    return rank_code;
  }
  sizes_code = wc_check_sizes(place, INT64_C(0), shape, rank);
  if (sizes_code < INT64_C(0)) {
    return sizes_code;
  }
  if (width < INT64_C(1)) {
    return wc_report(place, (int64_t) WHYCAST_BAD_WIDTH, INT64_C(0), -INT64_C(1));
  }
  bytes = wc_count_bytes(shape, rank, width);
  if (bytes < INT64_C(0)) {
    return wc_report(place, (int64_t) WHYCAST_TOO_LARGE, INT64_C(0), -INT64_C(1));
  }
  return wc_report(place, bytes, -INT64_C(1), -INT64_C(1));
}

/* Return 0 if the counts fit an int64_t and memory suffices, else report the output or the
   input.
   WhyML: c.broadcast.COPMemory.check_memory */
static inline int64_t wc_check_memory(whycast_place * place, int64_t output,
                                      int64_t input, int64_t due,
                                      int64_t given, int64_t room,
                                      int64_t extent) {
  if (due < INT64_C(0)) {
    return wc_report(place, (int64_t) WHYCAST_TOO_LARGE, output, -INT64_C(1));
  }
  if (given < INT64_C(0)) {
    return wc_report(place, (int64_t) WHYCAST_TOO_LARGE, input, -INT64_C(1));
  }
  if (room < due) {
    return wc_report(place, (int64_t) WHYCAST_ROOM_EXCEEDED, output, -INT64_C(1));
  }
  if (extent < given) {
    return wc_report(place, (int64_t) WHYCAST_EXTENT_EXCEEDED, input, -INT64_C(1));
  }
  return INT64_C(0);
}

/* The size of axis `axis`, with `prepended` axes of size 1 before the axes of `s`.
   WhyML: c.broadcast_bytes.COPBroadcastBytes.input_size */
static inline int64_t wc_input_size(const int64_t * s, int64_t prepended,
                                    int64_t axis) {
  if (axis < prepended) {
    return INT64_C(1);
  } else {
    return s[axis - prepended];
  }
}

/* Write each of `m` blocks of one word, from `source` on, `r` times to `target`: (a b) becomes
   (a a a a a b b b b b). Each byte is written once, and no other byte changes.
   WhyML: c.repeat.COPRepeat.W1.repeat_word */
static inline void wc_repeat_word_1(uint8_t * z, int64_t target,
                                    const uint8_t * x, int64_t source,
                                    int64_t m, int64_t r) {
  int64_t q, p, j, t;
  uint8_t v;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = wc_load_1(&x[p]);
    t = INT64_C(0);
    while (t < r) {
      wc_store_1(&z[q], v);
      q = q + INT64_C(1);
      t = t + INT64_C(1);
    }
    p = p + INT64_C(1);
    j = j + INT64_C(1);
  }
}

/* Write each of `m` blocks of one word, from `source` on, `r` times to `target`: (a b) becomes
   (a a a a a b b b b b). Each byte is written once, and no other byte changes.
   WhyML: c.repeat.COPRepeat.W2.repeat_word */
static inline void wc_repeat_word_2(uint8_t * z, int64_t target,
                                    const uint8_t * x, int64_t source,
                                    int64_t m, int64_t r) {
  int64_t q, p, j, t;
  uint16_t v;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = wc_load_2(&x[p]);
    t = INT64_C(0);
    while (t < r) {
      wc_store_2(&z[q], v);
      q = q + INT64_C(2);
      t = t + INT64_C(1);
    }
    p = p + INT64_C(2);
    j = j + INT64_C(1);
  }
}

/* Write each of `m` blocks of one word, from `source` on, `r` times to `target`: (a b) becomes
   (a a a a a b b b b b). Each byte is written once, and no other byte changes.
   WhyML: c.repeat.COPRepeat.W4.repeat_word */
static inline void wc_repeat_word_4(uint8_t * z, int64_t target,
                                    const uint8_t * x, int64_t source,
                                    int64_t m, int64_t r) {
  int64_t q, p, j, t;
  uint32_t v;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = wc_load_4(&x[p]);
    t = INT64_C(0);
    while (t < r) {
      wc_store_4(&z[q], v);
      q = q + INT64_C(4);
      t = t + INT64_C(1);
    }
    p = p + INT64_C(4);
    j = j + INT64_C(1);
  }
}

/* Write each of `m` blocks of one word, from `source` on, `r` times to `target`: (a b) becomes
   (a a a a a b b b b b). Each byte is written once, and no other byte changes.
   WhyML: c.repeat.COPRepeat.W8.repeat_word */
static inline void wc_repeat_word_8(uint8_t * z, int64_t target,
                                    const uint8_t * x, int64_t source,
                                    int64_t m, int64_t r) {
  int64_t q, p, j, t;
  uint64_t v;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = wc_load_8(&x[p]);
    t = INT64_C(0);
    while (t < r) {
      wc_store_8(&z[q], v);
      q = q + INT64_C(8);
      t = t + INT64_C(1);
    }
    p = p + INT64_C(8);
    j = j + INT64_C(1);
  }
}

/* Four bytes that repeat the block of `b` bytes at `p`.
   WhyML: c.rows.Patterns.pattern_4 */
static inline uint32_t wc_pattern_4(const uint8_t * x, int64_t p, int64_t b) {
  if (b == INT64_C(1)) {
    return wc_splat_1_4(wc_load_1(&x[p]));
  }
  return wc_splat_2_4(wc_load_2(&x[p]));
}

/* Write each of `m` blocks of `b` bytes, from `source` on, `r` times to `target`. A row is at
   least one word long; a word has whole blocks. At most two bytes are written per byte of the
   rows; no other byte changes.
   WhyML: c.repeat.COPRows.W4.repeat_rows */
static inline void wc_repeat_rows_4(uint8_t * z, int64_t target,
                                    const uint8_t * x, int64_t source,
                                    int64_t m, int64_t b, int64_t r) {
  int64_t q, p, j, n, last;
  uint32_t v;
  int64_t k;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    n = r * b;
    last = n - INT64_C(4);
    v = wc_pattern_4(x, p, b);
    k = INT64_C(0);
    while (k < last) {
      wc_store_4(&z[q + k], v);
      k = k + INT64_C(4);
    }
    wc_store_4(&z[q + last], v);
    q = q + n;
    p = p + b;
    j = j + INT64_C(1);
  }
}

/* Eight bytes that repeat the block of `b` bytes at `p`.
   WhyML: c.rows.Patterns.pattern_8 */
static inline uint64_t wc_pattern_8(const uint8_t * x, int64_t p, int64_t b) {
  if (b == INT64_C(1)) {
    return wc_splat_1_8(wc_load_1(&x[p]));
  }
  if (b == INT64_C(2)) {
    return wc_splat_2_8(wc_load_2(&x[p]));
  }
  if (b == INT64_C(4)) {
    return wc_splat_4_8(wc_load_4(&x[p]));
  }
  return wc_load_8(&x[p]);
}

/* Write each of `m` blocks of `b` bytes, from `source` on, `r` times to `target`. A row is at
   least one word long; a word has whole blocks. At most two bytes are written per byte of the
   rows; no other byte changes.
   WhyML: c.repeat.COPRows.W8.repeat_rows */
static inline void wc_repeat_rows_8(uint8_t * z, int64_t target,
                                    const uint8_t * x, int64_t source,
                                    int64_t m, int64_t b, int64_t r) {
  int64_t q, p, j, n, last;
  uint64_t v;
  int64_t k;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    n = r * b;
    last = n - INT64_C(8);
    v = wc_pattern_8(x, p, b);
    k = INT64_C(0);
    while (k < last) {
      wc_store_8(&z[q + k], v);
      k = k + INT64_C(8);
    }
    wc_store_8(&z[q + last], v);
    q = q + n;
    p = p + b;
    j = j + INT64_C(1);
  }
}

/* Sixteen bytes that repeat the block of `b` bytes at `p`.
   WhyML: c.rows.Patterns.pattern_16 */
static inline wc_word_16 wc_pattern_16(const uint8_t * x, int64_t p,
                                       int64_t b) {
  return wc_splat_8_16(wc_pattern_8(x, p, b));
}

/* Write each of `m` blocks of `b` bytes, from `source` on, `r` times to `target`. A row is at
   least one word long; a word has whole blocks. At most two bytes are written per byte of the
   rows; no other byte changes.
   WhyML: c.repeat.COPRows.W16.repeat_rows */
static inline void wc_repeat_rows_16(uint8_t * z, int64_t target,
                                     const uint8_t * x, int64_t source,
                                     int64_t m, int64_t b, int64_t r) {
  int64_t q, p, j, n, last;
  wc_word_16 v;
  int64_t k;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    n = r * b;
    last = n - INT64_C(16);
    v = wc_pattern_16(x, p, b);
    k = INT64_C(0);
    while (k < last) {
      wc_store_16(&z[q + k], v);
      k = k + INT64_C(16);
    }
    wc_store_16(&z[q + last], v);
    q = q + n;
    p = p + b;
    j = j + INT64_C(1);
  }
}

/* Write each of `m` blocks of one word, of `b` bytes, from `source` on, `r` times to `target`.
   WhyML: c.repeat.COPRepeat.repeat_short */
static inline void wc_repeat_short(uint8_t * z, int64_t target,
                                   const uint8_t * x, int64_t source,
                                   int64_t m, int64_t b, int64_t r) {
  int64_t n;
  if (r == INT64_C(2)) {
    if (b == INT64_C(1)) {
      wc_repeat_word_1(z, target, x, source, m, INT64_C(2));
      return;
    }
    if (b == INT64_C(2)) {
      wc_repeat_word_2(z, target, x, source, m, INT64_C(2));
      return;
    }
    if (b == INT64_C(4)) {
      wc_repeat_word_4(z, target, x, source, m, INT64_C(2));
      return;
    }
    wc_repeat_word_8(z, target, x, source, m, INT64_C(2));
    return;
  }
  if (r == INT64_C(4)) {
    if (b == INT64_C(1)) {
      wc_repeat_word_1(z, target, x, source, m, INT64_C(4));
      return;
    }
    if (b == INT64_C(2)) {
      wc_repeat_word_2(z, target, x, source, m, INT64_C(4));
      return;
    }
    if (b == INT64_C(4)) {
      wc_repeat_word_4(z, target, x, source, m, INT64_C(4));
      return;
    }
    wc_repeat_word_8(z, target, x, source, m, INT64_C(4));
    return;
  }
  if ((b == INT64_C(1)) && (r == INT64_C(3))) {
    wc_repeat_word_1(z, target, x, source, m, INT64_C(3));
    return;
  }
  if ((b == INT64_C(1)) && (r >= INT64_C(128))) {
    wc_repeat_word_1(z, target, x, source, m, r);
    return;
  }
  n = r * b;
  if (n < INT64_C(8)) {
    wc_repeat_rows_4(z, target, x, source, m, b, r);
    return;
  }
  if (n < INT64_C(16)) {
    wc_repeat_rows_8(z, target, x, source, m, b, r);
    return;
  }
  wc_repeat_rows_16(z, target, x, source, m, b, r);
  return;
}

/* Write each of `m` blocks of one word, from `source` on, `r` times to `target`: (a b) becomes
   (a a a a a b b b b b). Each byte is written once, and no other byte changes.
   WhyML: c.repeat.COPRepeat.W16.repeat_word */
static inline void wc_repeat_word_16(uint8_t * z, int64_t target,
                                     const uint8_t * x, int64_t source,
                                     int64_t m, int64_t r) {
  int64_t q, p, j, t;
  wc_word_16 v;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = wc_load_16(&x[p]);
    t = INT64_C(0);
    while (t < r) {
      wc_store_16(&z[q], v);
      q = q + INT64_C(16);
      t = t + INT64_C(1);
    }
    p = p + INT64_C(16);
    j = j + INT64_C(1);
  }
}

/* Write each of `m` blocks of `b` bytes, from `source` on, `r` times to `target`, copy by copy.
   A block has at least 16 bytes. At most two bytes are written per byte of the copies; no other
   byte changes.
   WhyML: c.blocks_of_words.BlocksOfWords.repeat_words */
static inline void wc_repeat_words(uint8_t * z, int64_t target,
                                   const uint8_t * x, int64_t source,
                                   int64_t m, int64_t b, int64_t r) {
  int64_t q, p, j, t, k, last;
  wc_word_16 v, w;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    last = b - INT64_C(16);
    t = INT64_C(0);
    while (t < r) {
      k = INT64_C(0);
      while (k < last) {
        v = wc_load_16(&x[p + k]);
        wc_store_16(&z[q + k], v);
        k = k + INT64_C(16);
      }
      w = wc_load_16(&x[p + last]);
      wc_store_16(&z[q + last], w);
      q = q + b;
      t = t + INT64_C(1);
    }
    p = p + b;
    j = j + INT64_C(1);
  }
}

/* Fill `total` bytes from `q` on with copies of the block of `b` bytes there: (a b . . . .)
   becomes (a b a b a b). Each byte after the block is written once, and no other byte changes.
   WhyML: c.long_blocks.LongBlocks.fill */
static inline void wc_fill(uint8_t * z, int64_t q, int64_t b, int64_t total) {
  int64_t have, part, most;
  have = b;
  part = b;
  if (total > INT64_C(1048576)) {
    most = INT64_C(262144);
  } else {
    most = INT64_C(16384);
  }
  while (have < total) {
    if (have <= most) {
      part = have;
    }
    if (part > (total - have)) {
      part = total - have;
    }
    wc_copy_bytes(&z[q + have], &z[q], part);
    have = have + part;
  }
}

/* Write each of `m` blocks of `b` bytes, from `source` on, `r` times to `target`, row by row.
   Each byte is written once, and no other byte changes.
   WhyML: c.long_blocks.LongBlocks.repeat_long */
static inline void wc_repeat_long(uint8_t * z, int64_t target,
                                  const uint8_t * x, int64_t source,
                                  int64_t m, int64_t b, int64_t r) {
  int64_t q, p, j, total;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    total = r * b;
    wc_copy_bytes(&z[q], &x[p], b);
    wc_fill(z, q, b, total);
    q = q + total;
    p = p + b;
    j = j + INT64_C(1);
  }
}

/* Write each of `m` blocks of `b` bytes, from `source` on, `r` times to `target`, as two words,
   which overlap if `b` < 2 * `width`. At most two bytes are written per byte of the copies; no
   other byte changes.
   WhyML: c.repeat.COPRepeat.W2.repeat_pair */
static inline void wc_repeat_pair_2(uint8_t * z, int64_t target,
                                    const uint8_t * x, int64_t source,
                                    int64_t m, int64_t b, int64_t r) {
  int64_t q, p, j, t;
  uint16_t v, w;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = wc_load_2(&x[p]);
    w = wc_load_2(&x[p + (b - INT64_C(2))]);
    t = INT64_C(0);
    while (t < r) {
      wc_store_2(&z[q], v);
      wc_store_2(&z[q + (b - INT64_C(2))], w);
      q = q + b;
      t = t + INT64_C(1);
    }
    p = p + b;
    j = j + INT64_C(1);
  }
}

/* Write each of `m` blocks of `b` bytes, from `source` on, `r` times to `target`, as two words,
   which overlap if `b` < 2 * `width`. At most two bytes are written per byte of the copies; no
   other byte changes.
   WhyML: c.repeat.COPRepeat.W4.repeat_pair */
static inline void wc_repeat_pair_4(uint8_t * z, int64_t target,
                                    const uint8_t * x, int64_t source,
                                    int64_t m, int64_t b, int64_t r) {
  int64_t q, p, j, t;
  uint32_t v, w;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = wc_load_4(&x[p]);
    w = wc_load_4(&x[p + (b - INT64_C(4))]);
    t = INT64_C(0);
    while (t < r) {
      wc_store_4(&z[q], v);
      wc_store_4(&z[q + (b - INT64_C(4))], w);
      q = q + b;
      t = t + INT64_C(1);
    }
    p = p + b;
    j = j + INT64_C(1);
  }
}

/* Write each of `m` blocks of `b` bytes, from `source` on, `r` times to `target`, as two words,
   which overlap if `b` < 2 * `width`. At most two bytes are written per byte of the copies; no
   other byte changes.
   WhyML: c.repeat.COPRepeat.W8.repeat_pair */
static inline void wc_repeat_pair_8(uint8_t * z, int64_t target,
                                    const uint8_t * x, int64_t source,
                                    int64_t m, int64_t b, int64_t r) {
  int64_t q, p, j, t;
  uint64_t v, w;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = wc_load_8(&x[p]);
    w = wc_load_8(&x[p + (b - INT64_C(8))]);
    t = INT64_C(0);
    while (t < r) {
      wc_store_8(&z[q], v);
      wc_store_8(&z[q + (b - INT64_C(8))], w);
      q = q + b;
      t = t + INT64_C(1);
    }
    p = p + b;
    j = j + INT64_C(1);
  }
}

/* Write each of `m` blocks of `b` bytes, from `source` on, `r` times to `target`.
   WhyML: c.repeat.COPRepeat.repeat */
static inline void wc_repeat(uint8_t * z, int64_t target, const uint8_t * x,
                             int64_t source, int64_t m, int64_t b, int64_t r) {
  if (r == INT64_C(1)) {
    wc_copy_bytes(&z[target], &x[source], m * b);
    return;
  }
  if (b == INT64_C(1)) {
    wc_repeat_short(z, target, x, source, m, INT64_C(1), r);
    return;
  }
  if (b == INT64_C(2)) {
    wc_repeat_short(z, target, x, source, m, INT64_C(2), r);
    return;
  }
  if (b == INT64_C(4)) {
    wc_repeat_short(z, target, x, source, m, INT64_C(4), r);
    return;
  }
  if (b == INT64_C(8)) {
    wc_repeat_short(z, target, x, source, m, INT64_C(8), r);
    return;
  }
  if (b == INT64_C(16)) {
    wc_repeat_word_16(z, target, x, source, m, r);
    return;
  }
  if ((b >= INT64_C(16)) && ((b <= INT64_C(256)) && (r < INT64_C(64)))) {
    wc_repeat_words(z, target, x, source, m, b, r);
    return;
  }
  if ((b >= INT64_C(16)) || (r >= INT64_C(128))) {
    wc_repeat_long(z, target, x, source, m, b, r);
    return;
  }
  if (b < INT64_C(4)) {
    wc_repeat_pair_2(z, target, x, source, m, b, r);
    return;
  }
  if (b < INT64_C(8)) {
    wc_repeat_pair_4(z, target, x, source, m, b, r);
    return;
  }
  wc_repeat_pair_8(z, target, x, source, m, b, r);
  return;
}

/* Return 0 exactly if the axis grows, or the first `p` bytes of the input are whole rows of
   this axis. The blocks of a row have `g` bytes.
   WhyML: c.broadcast_bytes.COPBroadcastBytes.rest */
static inline int64_t wc_rest(const int64_t * s, int64_t prepended,
                              const int64_t * d, int64_t axis, int64_t g,
                              int64_t p) {
  int64_t h, n, rows;
  h = d[axis];
  if (!(wc_input_size(s, prepended, axis) == h)) {
    return INT64_C(0);
  }
  n = h * g;
  rows = p / n;
  return p - (n * rows);
}

/* Let a block of the axes from `axis` on end at `place`. Write its other copies, and those of
   each larger block that is then complete; return the place after them. The block has `block`
   bytes, copied from the `row` bytes before `p`. Each byte is written once, and no other byte
   changes.
   WhyML: c.broadcast_bytes.COPBroadcastBytes.end_blocks */
static inline int64_t wc_end_blocks(uint8_t * z, const int64_t * s,
                                    int64_t prepended, const int64_t * d,
                                    int64_t axis, int64_t place,
                                    int64_t block, int64_t row, int64_t p) {
  int64_t q, c, g, k, h, base, total;
  q = place;
  c = block;
  g = row;
  k = axis;
  while ((k > INT64_C(0)) && (wc_rest(s, prepended, d, k - INT64_C(1), g, p) == INT64_C(0))) {
    k = k - INT64_C(1);
    h = d[k];
    if (wc_input_size(s, prepended, k) == h) {
      g = h * g;
    } else {
      base = q - c;
      total = h * c;
      wc_fill(z, base, c, total);
      q = base + total;
    }
    c = h * c;
  }
  return q;
}

/* Broadcast the bytes `x` of a tensor of shape `s`, with elements of `w` bytes, to the shape
   `d`. Nothing overflows and no index leaves its array. Afterwards `z` contains all bytes due;
   no other byte changes. At most two bytes are written for each byte of the output.
   WhyML: c.broadcast_bytes.COPBroadcastBytes.broadcast_bytes */
static inline void wc_broadcast_bytes(uint8_t * z, const uint8_t * x,
                                      const int64_t * s, int64_t s_rank,
                                      const int64_t * d, int64_t d_rank,
                                      int64_t w, int64_t due) {
  int64_t prepended, size, copies, blocks, row, block, next, axis, b, r, m, p, q;
  if (due == INT64_C(0)) {
    return;
  }
  prepended = d_rank - s_rank;
  axis = d_rank;
  b = w;
  while ((axis > INT64_C(0)) && (wc_input_size(s, prepended,
                                 axis - INT64_C(1)) == d[axis - INT64_C(1)])) {
    axis = axis - INT64_C(1);
    size = d[axis];
    b = b * size;
  }
  r = INT64_C(1);
  while ((axis > INT64_C(0)) && (wc_input_size(s, prepended,
                                 axis - INT64_C(1)) == INT64_C(1))) {
    axis = axis - INT64_C(1);
    copies = d[axis];
    r = r * copies;
  }
  m = INT64_C(1);
  while ((axis > INT64_C(0)) && (wc_input_size(s, prepended,
                                 axis - INT64_C(1)) == d[axis - INT64_C(1)])) {
    axis = axis - INT64_C(1);
    blocks = d[axis];
    m = m * blocks;
  }
  row = m * b;
  block = row * r;
  p = INT64_C(0);
  q = INT64_C(0);
  while (q < due) {
    wc_repeat(z, q, x, p, m, b, r);
    p = p + row;
    next = wc_end_blocks(z, s, prepended, d, axis, q + block, block, row, p);
    q = next;
  }
}

/* For callers: whycast.h.
   WhyML: c.broadcast.COPBroadcast.broadcast */
int64_t whycast_broadcast(uint8_t * output, int64_t room,
                          whycast_place * place, const uint8_t * input,
                          int64_t extent, const int64_t * shape,
                          int64_t rank, const int64_t * target,
                          int64_t target_rank, int64_t width) {
  int64_t code, fit_code, due, given, memory_code;
  code = wc_check_two(place, shape, rank, target, target_rank);
  if (code < INT64_C(0)) {
    return code;
  }
  if (width < INT64_C(1)) {
    return wc_report(place, (int64_t) WHYCAST_BAD_WIDTH, INT64_C(0), -INT64_C(1));
  }
  fit_code = wc_check_fit(place, shape, rank, target, target_rank);
  if (fit_code < INT64_C(0)) {
    return fit_code;
  }
  due = wc_count_bytes(target, target_rank, width);
  given = wc_count_bytes(shape, rank, width);
  memory_code = wc_check_memory(place, INT64_C(1), INT64_C(0), due, given,
                room, extent);
  if (memory_code < INT64_C(0)) {
    return memory_code;
  }
  wc_broadcast_bytes(output, input, shape, rank, target, target_rank, width,
  due);
  return wc_report(place, INT64_C(0), -INT64_C(1), -INT64_C(1));
}

/* Return 0 if the width and the memory of `tensor` suffice, else report the fault.
   WhyML: c.tensors.COPTensorChecks.check_tensor */
static inline int64_t wc_check_tensor(whycast_place * place, int64_t tensor,
                                      const int64_t * shape, int64_t rank,
                                      const int64_t * target,
                                      int64_t target_rank, int64_t width,
                                      int64_t room, int64_t extent) {
  int64_t due, given;
  if (width < INT64_C(1)) {
    return wc_report(place, (int64_t) WHYCAST_BAD_WIDTH, tensor, -INT64_C(1));
  }
  due = wc_count_bytes(target, target_rank, width);
  given = wc_count_bytes(shape, rank, width);
  return wc_check_memory(place, tensor, tensor, due, given, room, extent);
}

/* Return 0 if the width and the memory of every tensor suffice, else report the first tensor at
   fault.
   WhyML: c.tensors.COPTensorChecks.check_tensors */
static inline int64_t wc_check_tensors(whycast_place * place,
                                       const int64_t *const * shapes,
                                       const int64_t * ranks,
                                       const int64_t * target,
                                       int64_t target_rank,
                                       const int64_t * widths,
                                       const int64_t * rooms,
                                       const int64_t * extents, int64_t count) {
  int64_t m, code;
  m = INT64_C(0);
  while (m < count) {
    code = wc_check_tensor(place, m, shapes[m], ranks[m], target,
           target_rank, widths[m], rooms[m], extents[m]);
    if (code < INT64_C(0)) {
      return code;
    }
    m = m + INT64_C(1);
  }
  return INT64_C(0);
}

/* Broadcast tensors that have been checked. Afterwards each output contains the bytes due; at
   most two bytes were written per byte due. No other byte changes, and the same outputs are
   lent as before. `(void) output` marks where the proof takes an output back.
   WhyML: c.tensors.COPTensorCopies.copy_tensors */
static inline void wc_copy_tensors(uint8_t *const * outputs,
                                   const uint8_t *const * inputs,
                                   const int64_t *const * shapes,
                                   const int64_t * ranks,
                                   const int64_t * target,
                                   int64_t target_rank,
                                   const int64_t * widths, int64_t count) {
  int64_t m;
  uint8_t * output;
  int64_t width, due;
  m = INT64_C(0);
  while (m < count) {
    output = outputs[m];
    width = widths[m];
    due = wc_count_bytes(target, target_rank, width);
    wc_broadcast_bytes(output, inputs[m], shapes[m], ranks[m], target,
    target_rank, width, due);
    (void) output;
    m = m + INT64_C(1);
  }
}

/* For callers: whycast.h.
   WhyML: c.broadcast_all.COPBroadcastAll.broadcast_all */
int64_t whycast_broadcast_all(uint8_t *const * outputs,
                              const int64_t * rooms, int64_t * target,
                              int64_t capacity, whycast_place * place,
                              const uint8_t *const * inputs,
                              const int64_t * extents,
                              const int64_t *const * shapes,
                              const int64_t * ranks, const int64_t * widths,
                              int64_t count) {
  int64_t rank, code;
  const int64_t * common;
  rank = whycast_broadcast_shape(target, capacity, place, shapes, ranks,
         count);
  if (rank < INT64_C(0)) {
    return rank;
  }
  common = target;
  code = wc_check_tensors(place, shapes, ranks, common, rank, widths, rooms,
         extents, count);
  if (code < INT64_C(0)) {
    return code;
  }
  wc_copy_tensors(outputs, inputs, shapes, ranks, common, rank, widths,
  count);
  return wc_report(place, rank, -INT64_C(1), -INT64_C(1));
}

/* The stride of tensor `m` on axis `i`, of size `h` in the common shape. The common shape has
   no size of 0, and fewer than 2^63 elements.
   WhyML: c.plan.COPPlan.axis_stride */
static inline int64_t wc_axis_stride(const int64_t *const * shapes,
                                     const int64_t * ranks,
                                     const int64_t *const * given,
                                     int64_t row_majors, int64_t m,
                                     int64_t i, int64_t rank, int64_t h) {
  int64_t k, size, stride, j;
  k = (i - rank) + ranks[m];
  if (k < INT64_C(0)) {
    return INT64_C(0);
  }
  if (!(shapes[m][k] == h)) {
    return INT64_C(0);
  }
  if (row_majors == INT64_C(0)) {
    return given[m][k];
  }
  stride = INT64_C(1);
  j = ranks[m];
  while (j > (k + INT64_C(1))) {
    j = j - INT64_C(1);
    size = shapes[m][j];
    stride = stride * size;
  }
  return stride;
}

/* The number of elements of the common shape, or WHYCAST_TOO_LARGE above 2^63 - 1. No product
   overflows.
   WhyML: c.plan.COPPlan.count_elements */
static inline int64_t wc_count_elements(const int64_t *const * shapes,
                                        const int64_t * ranks, int64_t count,
                                        int64_t rank) {
  int64_t elements, i, size;
  elements = INT64_C(1);
  i = INT64_C(0);
  while (i < rank) {
    size = wc_agreed_size(shapes, ranks, count, i, rank);
    if (size == INT64_C(0)) {
      return INT64_C(0);
    }
    if (elements > (INT64_C(0x7FFFFFFFFFFFFFFF) / size)) {
      elements = (int64_t) WHYCAST_TOO_LARGE;
    } else {
      if (elements > INT64_C(0)) {
        elements = elements * size;
      }
    }
    i = i + INT64_C(1);
  }
  return elements;
}

/* The first tensor whose reach does not fit into an int64_t, or `count`. No sum and no product
   overflows.
   WhyML: c.plan.COPPlan.far_tensor */
static inline int64_t wc_far_tensor(const int64_t *const * shapes,
                                    const int64_t * ranks,
                                    const int64_t *const * given,
                                    int64_t count) {
  int64_t m, reach, k, rank, last, stride, far;
  m = INT64_C(0);
  while (m < count) {
    rank = ranks[m];
    reach = INT64_C(0);
    k = INT64_C(0);
    while (k < rank) {
      last = shapes[m][k] - INT64_C(1);
      stride = given[m][k];
      if (last > INT64_C(0)) {
        if (stride < INT64_C(0)) {
          far = stride;
        } else {
          far = INT64_C(0) - stride;
        }
        if (far < ((reach - INT64_C(0x7FFFFFFFFFFFFFFF)) / last)) {
          return m;
        }
        reach = reach - (far * last);
      }
      k = k + INT64_C(1);
    }
    m = m + INT64_C(1);
  }
  return count;
}

/* Return `count` exactly if, for all tensors, the loop with the strides from `base` on merges
   with axis `i`, of size `h`. No product overflows.
   WhyML: c.plan.COPPlan.stopped_tensor */
static inline int64_t wc_stopped_tensor(int64_t * steps, int64_t base,
                                        const int64_t *const * shapes,
                                        const int64_t * ranks,
                                        const int64_t *const * given,
                                        int64_t row_majors, int64_t count,
                                        int64_t i, int64_t rank, int64_t h) {
  int64_t m, stride, before;
  m = INT64_C(0);
  while (m < count) {
    stride = wc_axis_stride(shapes, ranks, given, row_majors, m, i, rank, h);
    before = steps[base + m];
    if (!((before / h) == stride) || !((stride * h) == before)) {
      return m;
    }
    m = m + INT64_C(1);
  }
  return count;
}

/* Write the strides of all tensors on axis `i`, of size `h`, from `base` on.
   WhyML: c.plan.COPPlan.put_strides */
static inline void wc_put_strides(int64_t * steps, int64_t base,
                                  const int64_t *const * shapes,
                                  const int64_t * ranks,
                                  const int64_t *const * given,
                                  int64_t row_majors, int64_t count,
                                  int64_t i, int64_t rank, int64_t h) {
  int64_t m, stride;
  m = INT64_C(0);
  while (m < count) {
    stride = wc_axis_stride(shapes, ranks, given, row_majors, m, i, rank, h);
    steps[base + m] = stride;
    m = m + INT64_C(1);
  }
}

/* Write the loops of a plan, axis by axis, and return their number. The common shape has no
   size of 0.
   WhyML: c.plan.COPPlan.put_loops */
static inline int64_t wc_put_loops(int64_t * sizes, int64_t * steps,
                                   const int64_t *const * shapes,
                                   const int64_t * ranks,
                                   const int64_t *const * given,
                                   int64_t row_majors, int64_t count,
                                   int64_t rank) {
  int64_t n, i, h, base, stopped, size;
  n = INT64_C(0);
  i = INT64_C(0);
  while (i < rank) {
    h = wc_agreed_size(shapes, ranks, count, i, rank);
    if (!(h == INT64_C(1))) {
      base = n * count;
      if (n > INT64_C(0)) {
        stopped = wc_stopped_tensor(steps, base - count, shapes, ranks,
                  given, row_majors, count, i, rank, h);
      } else {
        stopped = -INT64_C(1);
      }
      if (stopped == count) {
        size = sizes[n - INT64_C(1)];
        sizes[n - INT64_C(1)] = size * h;
        wc_put_strides(steps, base - count, shapes, ranks, given, row_majors,
        count, i, rank, h);
      } else {
        sizes[n] = h;
        wc_put_strides(steps, base, shapes, ranks, given, row_majors, count,
        i, rank, h);
        n = n + INT64_C(1);
      }
    }
    i = i + INT64_C(1);
  }
  return n;
}

/* Write a plan of one loop of `h` rounds, with strides of 0.
   WhyML: c.plan.COPPlan.put_one_loop */
static inline void wc_put_one_loop(int64_t * sizes, int64_t * steps,
                                   int64_t count, int64_t h) {
  int64_t m;
  sizes[INT64_C(0)] = h;
  m = INT64_C(0);
  while (m < count) {
    steps[m] = INT64_C(0);
    m = m + INT64_C(1);
  }
}

/* Write the tensors' plan, or report the first error.
   WhyML: c.plan.COPPlan.plan_by */
static inline int64_t wc_plan_by(int64_t * sizes, int64_t * steps,
                                 int64_t capacity, whycast_place * place,
                                 const int64_t *const * shapes,
                                 const int64_t * ranks,
                                 const int64_t *const * given,
                                 int64_t row_majors, int64_t count) {
  int64_t code, rank, elements, m, loops;
  code = wc_check_shapes(place, shapes, ranks, count);
  if (code < INT64_C(0)) {
    return code;
  }
  rank = wc_common_rank(ranks, count);
  if ((capacity < rank) || (capacity < INT64_C(1))) {
    return wc_report(place, (int64_t) WHYCAST_CAPACITY_EXCEEDED, -INT64_C(1),
           -INT64_C(1));
  }
  elements = wc_count_elements(shapes, ranks, count, rank);
  if (elements < INT64_C(0)) {
    return wc_report(place, (int64_t) WHYCAST_TOO_LARGE, -INT64_C(1), -INT64_C(1));
  }
  if (elements < INT64_C(2)) {
    wc_put_one_loop(sizes, steps, count, elements);
    return wc_report(place, INT64_C(1), -INT64_C(1), -INT64_C(1));
  }
  if (row_majors == INT64_C(0)) {
    m = wc_far_tensor(shapes, ranks, given, count);
    if (m < count) {
      return wc_report(place, (int64_t) WHYCAST_TOO_LARGE, m, -INT64_C(1));
    }
  }
  loops = wc_put_loops(sizes, steps, shapes, ranks, given, row_majors, count,
          rank);
  return wc_report(place, loops, -INT64_C(1), -INT64_C(1));
}

/* For callers: whycast.h.
   WhyML: c.plan.COPPlan.plan */
int64_t whycast_plan(int64_t * sizes, int64_t * steps, int64_t capacity,
                     whycast_place * place, const int64_t *const * shapes,
                     const int64_t * ranks, int64_t count) {
  return wc_plan_by(sizes, steps, capacity, place, shapes, ranks, shapes,
         INT64_C(1), count);
}

/* For callers: whycast.h.
   WhyML: c.plan.COPPlan.plan_views */
int64_t whycast_plan_views(int64_t * sizes, int64_t * steps,
                           int64_t capacity, whycast_place * place,
                           const int64_t *const * shapes,
                           const int64_t *const * strides,
                           const int64_t * ranks, int64_t count) {
  return wc_plan_by(sizes, steps, capacity, place, shapes, ranks, strides,
         INT64_C(0), count);
}

/* Move on `axis` from `i[axis]` to `x`: add `times` strides to the offset of each tensor.
   WhyML: c.steps.COPSteps.move */
static inline void wc_move(int64_t * offsets, const int64_t * steps,
                           int64_t axis, int64_t times, int64_t count) {
  int64_t base, stride, m;
  base = axis * count;
  m = INT64_C(0);
  while (m < count) {
    stride = steps[base + m];
    offsets[m] = offsets[m] + (times * stride);
    m = m + INT64_C(1);
  }
}

/* For callers: whycast.h.
   WhyML: c.steps.COPSteps.first */
int64_t whycast_first(int64_t * counters, int64_t * offsets,
                      const int64_t * sizes, const int64_t * steps,
                      int64_t loops, int64_t count, int64_t step) {
  int64_t last, size, rounds, total, axis, m, block, within, counter;
  if (loops < INT64_C(1)) {
    return INT64_C(0);
  }
  last = loops - INT64_C(1);
  if (sizes[last] == INT64_C(0)) {
    return INT64_C(0);
  }
  total = INT64_C(1);
  axis = last;
  while (axis > INT64_C(0)) {
    axis = axis - INT64_C(1);
    size = sizes[axis];
    total = size * total;
  }
  if ((step < INT64_C(0)) || (total <= step)) {
    return INT64_C(0);
  }
  m = INT64_C(0);
  while (m < count) {
    offsets[m] = INT64_C(0);
    m = m + INT64_C(1);
  }
  block = total;
  within = step;
  while (axis < last) {
    counter = INT64_C(0);
    if (within > INT64_C(0)) {
      rounds = sizes[axis];
      block = block / rounds;
      counter = within / block;
      wc_move(offsets, steps, axis, counter, count);
      within = within - (counter * block);
    }
    counters[axis] = counter;
    axis = axis + INT64_C(1);
  }
  return total - step;
}

/* For callers: whycast.h.
   WhyML: c.steps.COPSteps.next */
int64_t whycast_next(int64_t * counters, int64_t * offsets,
                     const int64_t * sizes, const int64_t * steps,
                     int64_t loops, int64_t count) {
  int64_t axis, size, counter;
  if (loops < INT64_C(1)) {
    return INT64_C(0);
  }
  axis = loops - INT64_C(1);
  while (axis > INT64_C(0)) {
    axis = axis - INT64_C(1);
    size = sizes[axis];
    counter = counters[axis];
    if ((counter + INT64_C(1)) < size) {
      counters[axis] = counter + INT64_C(1);
      wc_move(offsets, steps, axis, INT64_C(1), count);
      return INT64_C(1);
    }
    counters[axis] = INT64_C(0);
    wc_move(offsets, steps, axis, INT64_C(0) - counter, count);
  }
  return INT64_C(0);
}
