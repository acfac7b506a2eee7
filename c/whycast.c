/* Extracted by Why3 1.5.1 from why3/c/codes.mlw, why3/c/shapes.mlw, why3/c/strides.mlw,
   why3/c/sizes.mlw, why3/c/broadcast.mlw and why3/c/broadcast_all.mlw.
   Do not edit: change the sources, then `make extract`.
   SPDX-License-Identifier: Apache-2.0 */

#include "whycast.h"

#ifdef WHYCAST_MEMCPY
#include <stddef.h>
#define memcpy WHYCAST_MEMCPY
#else
#include <string.h>
#endif

typedef struct word_16 { uint64_t low; uint64_t high; } word_16;

static uint8_t load_1(const uint8_t *p) { return *p; }
static uint16_t load_2(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return v; }
static uint32_t load_4(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static uint64_t load_8(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }
static word_16 load_16(const uint8_t *p) { word_16 v; memcpy(&v, p, 16); return v; }

static void store_1(uint8_t *p, uint8_t v) { *p = v; }
static void store_2(uint8_t *p, uint16_t v) { memcpy(p, &v, 2); }
static void store_4(uint8_t *p, uint32_t v) { memcpy(p, &v, 4); }
static void store_8(uint8_t *p, uint64_t v) { memcpy(p, &v, 8); }
static void store_16(uint8_t *p, word_16 v) { memcpy(p, &v, 16); }

/* Return `code`, with `place` set to `tensor` and `axis`. [E_Broadcast_any_Derived_480]
   WhyML: c.checks.COPChecks.report */
static inline int64_t report(whycast_place * place, int64_t code,
                             int64_t tensor, int64_t axis) {
  place->tensor = tensor;
  place->axis = axis;
  return code;
}

/* 0 if no rank is negative, or else WHYCAST_NEGATIVE_RANK of the first tensor with one.
   [E_Broadcast_any_Derived_480]
   WhyML: c.shapes.COPShape.check_ranks */
static inline int64_t check_ranks(whycast_place * place,
                                  const int64_t * ranks, int64_t count) {
  int64_t m;
  m = INT64_C(0);
  while (m < count) {
    if (ranks[m] < INT64_C(0)) {
      return report(place, WHYCAST_NEGATIVE_RANK, m, INT64_C(-1));
    }
    m = m + INT64_C(1);
  }
  return INT64_C(0);
}

/* 0 if no size is negative, or else WHYCAST_NEGATIVE_SIZE of `tensor`, on the first axis that
   has one. [E_Broadcast_any_Restrictions_010] [E_Broadcast_any_Derived_480]
   WhyML: c.checks.COPChecks.check_sizes */
static inline int64_t check_sizes(whycast_place * place, int64_t tensor,
                                  const int64_t * shape, int64_t rank) {
  int64_t i;
  i = INT64_C(0);
  while (i < rank) {
    if (shape[i] < INT64_C(0)) {
      return report(place, WHYCAST_NEGATIVE_SIZE, tensor, i);
    }
    i = i + INT64_C(1);
  }
  return INT64_C(0);
}

/* 0 if no size is negative, or else WHYCAST_NEGATIVE_SIZE of the first tensor with one, on its
   first axis with one. [E_Broadcast_any_Restrictions_010] [E_Broadcast_any_Derived_480]
   WhyML: c.shapes.COPShape.check_all_sizes */
static inline int64_t check_all_sizes(whycast_place * place,
                                      const int64_t *const * shapes,
                                      const int64_t * ranks, int64_t count) {
  int64_t m;
  int64_t code;
  m = INT64_C(0);
  while (m < count) {
    code = check_sizes(place, m, shapes[m], ranks[m]);
    if (code < INT64_C(0)) {
      return code;
    }
    m = m + INT64_C(1);
  }
  return INT64_C(0);
}

/* dYm_i: the size of tensor `m` on axis `i` of the common rank. No index leaves a shape.
   [E_Broadcast_any_Step1_020] [E_Broadcast_any_Derived_480]
   WhyML: c.shape_sizes.COPShapeSizes.padded_size */
static inline int64_t padded_size(const int64_t *const * shapes,
                                  const int64_t * ranks, int64_t m,
                                  int64_t i, int64_t rank) {
  int64_t prepended;
  prepended = rank - ranks[m];
  if (i < prepended) {
    return INT64_C(1);
  }
  return shapes[m][i - prepended];
}

/* The first tensor below `limit` that violates E1 on axis `i`, or `limit` where none does.
   [E_Broadcast_any_E1_010] [E_Broadcast_any_Derived_480]
   WhyML: c.shapes.COPShape.violating_tensor */
static inline int64_t violating_tensor(const int64_t *const * shapes,
                                       const int64_t * ranks, int64_t limit,
                                       int64_t i, int64_t rank,
                                       int64_t largest) {
  int64_t m;
  int64_t size;
  m = INT64_C(0);
  while (m < limit) {
    size = padded_size(shapes, ranks, m, i, rank);
    if (!(size == largest) && !(size == INT64_C(1))) {
      return m;
    }
    m = m + INT64_C(1);
  }
  return limit;
}

/* dY_i: the largest size on axis `i`, of well-formed shapes. [E_Broadcast_any_Step2_030]
   [E_Broadcast_any_Derived_480]
   WhyML: c.shape_sizes.COPShapeSizes.largest_size */
static inline int64_t largest_size(const int64_t *const * shapes,
                                   const int64_t * ranks, int64_t count,
                                   int64_t i, int64_t rank) {
  int64_t largest, m;
  int64_t size;
  largest = INT64_C(0);
  m = INT64_C(0);
  while (m < count) {
    size = padded_size(shapes, ranks, m, i, rank);
    if (size > largest) {
      largest = size;
    }
    m = m + INT64_C(1);
  }
  return largest;
}

/* 0 if E1 does not hold, or else WHYCAST_NOT_BROADCASTABLE with SONNX's first violation.
   [E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_010] [E_Broadcast_any_Derived_480]
   WhyML: c.shapes.COPShape.check_agreement */
static inline int64_t check_agreement(whycast_place * place,
                                      const int64_t *const * shapes,
                                      const int64_t * ranks, int64_t count,
                                      int64_t rank) {
  int64_t tensor, axis, i;
  int64_t largest, m;
  tensor = count;
  axis = INT64_C(0);
  i = INT64_C(0);
  while (i < rank) {
    largest = largest_size(shapes, ranks, count, i, rank);
    m = violating_tensor(shapes, ranks, tensor, i, rank, largest);
    if (m < tensor) {
      tensor = m;
      axis = i;
    }
    i = i + INT64_C(1);
  }
  if (tensor < count) {
    return report(place, WHYCAST_NOT_BROADCASTABLE, tensor, axis);
  }
  return INT64_C(0);
}

/* nY: the highest of the ranks, of one shape at least. [E_Broadcast_any_Step1_010]
   [E_Broadcast_any_Derived_480]
   WhyML: c.shape_sizes.COPShapeSizes.common_rank */
static inline int64_t common_rank(const int64_t * ranks, int64_t count) {
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

/* 0 if the shapes are well formed and E1 does not hold, or else the code and the place of what
   is wrong, for any count, ranks and sizes. The capacity is not looked at.
   [E_Broadcast_any_Derived_480]
   WhyML: c.shapes.COPShape.check_shapes */
static inline int64_t check_shapes(whycast_place * place,
                                   const int64_t *const * shapes,
                                   const int64_t * ranks, int64_t count) {
  int64_t code, code1;
  if (count < INT64_C(1)) {
    return report(place, WHYCAST_NO_TENSOR, INT64_C(-1), INT64_C(-1));
  }
  code = check_ranks(place, ranks, count);
  if (code < INT64_C(0)) {
    return code;
  }
  code1 = check_all_sizes(place, shapes, ranks, count);
  if (code1 < INT64_C(0)) {
    return code1;
  }
  return check_agreement(place, shapes, ranks, count,
         common_rank(ranks, count));
}

/* The common shape of `count` shapes by the rule of SONNX. For any count, ranks, sizes and
   capacity there is one answer: the rank, and its sizes are written to `shape`; or a code, and
   nothing is written there. Nothing overflows and no index leaves its array. `place` is set to
   the tensor and the axis of the error, or to -1, -1. [E_Broadcast_any_Step1_010]
   [E_Broadcast_any_Step2_030] [E_Broadcast_any_Step2_040] [E_Broadcast_any_E1_020]
   [E_Broadcast_any_Derived_480]
   WhyML: c.shapes.COPShape.broadcast_shape */
int64_t whycast_broadcast_shape(int64_t * shape, int64_t capacity,
                                whycast_place * place,
                                const int64_t *const * shapes,
                                const int64_t * ranks, int64_t count) {
  int64_t code, rank;
  int64_t i;
  code = check_shapes(place, shapes, ranks, count);
  if (code < INT64_C(0)) {
    return code;
  }
  rank = common_rank(ranks, count);
  if (capacity < rank) {
    return report(place, WHYCAST_CAPACITY_EXCEEDED, INT64_C(-1), INT64_C(-1));
  }
  i = INT64_C(0);
  while (i < rank) {
    shape[i] = largest_size(shapes, ranks, count, i, rank);
    i = i + INT64_C(1);
  }
  return report(place, rank, INT64_C(-1), INT64_C(-1));
}

/* 0 if the rank is not negative, or else WHYCAST_NEGATIVE_RANK of `tensor`.
   [E_Broadcast_any_Derived_480]
   WhyML: c.checks.COPChecks.check_rank */
static inline int64_t check_rank(whycast_place * place, int64_t tensor,
                                 int64_t rank) {
  if (rank < INT64_C(0)) {
    return report(place, WHYCAST_NEGATIVE_RANK, tensor, INT64_C(-1));
  }
  return INT64_C(0);
}

/* 0 if `shape` and `target` are well formed, or else the code and the place of the first
   negative rank or size. [E_Broadcast_any_Restrictions_010] [E_Broadcast_any_Derived_500]
   WhyML: c.strides.COPStrides.check_two */
static inline int64_t check_two(whycast_place * place, const int64_t * shape,
                                int64_t rank, const int64_t * target,
                                int64_t target_rank) {
  int64_t code, code1, code2;
  code = check_rank(place, INT64_C(0), rank);
  if (code < INT64_C(0)) {
    return code;
  }
  code1 = check_rank(place, INT64_C(1), target_rank);
  if (code1 < INT64_C(0)) {
    return code1;
  }
  code2 = check_sizes(place, INT64_C(0), shape, rank);
  if (code2 < INT64_C(0)) {
    return code2;
  }
  return check_sizes(place, INT64_C(1), target, target_rank);
}

/* 0 if `shape` broadcasts to `target`, or else WHYCAST_RANK_MISMATCH or
   WHYCAST_NOT_BROADCASTABLE, with the first axis that does not fit.
   [E_Broadcast_any_Derived_140] [E_Broadcast_any_Derived_500]
   WhyML: c.strides.COPStrides.check_fit */
static inline int64_t check_fit(whycast_place * place, const int64_t * shape,
                                int64_t rank, const int64_t * target,
                                int64_t target_rank) {
  int64_t prepended, size;
  int64_t k;
  if (target_rank < rank) {
    return report(place, WHYCAST_RANK_MISMATCH, INT64_C(0), INT64_C(-1));
  }
  prepended = target_rank - rank;
  k = INT64_C(0);
  while (k < rank) {
    size = shape[k];
    if (!(size == target[prepended + k]) && !(size == INT64_C(1))) {
      return report(place, WHYCAST_NOT_BROADCASTABLE, INT64_C(0),
             prepended + k);
    }
    k = k + INT64_C(1);
  }
  return INT64_C(0);
}

/* The strides of the view with the shape `target` of a tensor with this `shape` and these
   `strides`. For any ranks and sizes there is one answer: 0, and the strides are written to
   `view`; or a code, and nothing is written there. `place` is set to the tensor and the axis of
   the error, or to -1, -1. [E_Broadcast_any_Derived_110] [E_Broadcast_any_Derived_500]
   WhyML: c.strides.COPStrides.broadcast_strides */
int64_t whycast_broadcast_strides(int64_t * view, whycast_place * place,
                                  const int64_t * strides,
                                  const int64_t * shape, int64_t rank,
                                  const int64_t * target, int64_t target_rank) {
  int64_t code, code1, prepended, stride;
  int64_t i, k;
  code = check_two(place, shape, rank, target, target_rank);
  if (code < INT64_C(0)) {
    return code;
  }
  code1 = check_fit(place, shape, rank, target, target_rank);
  if (code1 < INT64_C(0)) {
    return code1;
  }
  prepended = target_rank - rank;
  i = INT64_C(0);
  while (i < prepended) {
    view[i] = INT64_C(0);
    i = i + INT64_C(1);
  }
  k = INT64_C(0);
  while (k < rank) {
    if (shape[k] == target[prepended + k]) {
      stride = strides[k];
    } else {
      stride = INT64_C(0);
    }
    view[prepended + k] = stride;
    k = k + INT64_C(1);
  }
  return report(place, INT64_C(0), INT64_C(-1), INT64_C(-1));
}

/* The number of bytes of a tensor of this shape, with `width` bytes for an element, or
   WHYCAST_TOO_LARGE where it is above 2^63 - 1. No product overflows.
   [E_Broadcast_any_Derived_510]
   WhyML: c.sizes.COPSize.count_bytes */
static inline int64_t count_bytes(const int64_t * shape, int64_t rank,
                                  int64_t width) {
  int64_t i, bytes, k;
  int64_t size;
  i = INT64_C(0);
  while (i < rank) {
    if (shape[i] == INT64_C(0)) {
      return INT64_C(0);
    }
    i = i + INT64_C(1);
  }
  bytes = width;
  k = INT64_C(0);
  while (k < rank) {
    size = shape[k];
    if (bytes > INT64_C(0x7FFFFFFFFFFFFFFF) / size) {
      return WHYCAST_TOO_LARGE;
    }
    bytes = bytes * size;
    k = k + INT64_C(1);
  }
  return bytes;
}

/* The number of bytes of a tensor of this shape, with `width` bytes for an element, or a code.
   For any rank, sizes and width there is one answer. `place` is set to the tensor and the axis
   of the error, or to -1, -1. [E_Broadcast_any_Derived_120] [E_Broadcast_any_Derived_510]
   WhyML: c.sizes.COPSize.byte_size */
int64_t whycast_byte_size(whycast_place * place, const int64_t * shape,
                          int64_t rank, int64_t width) {
  int64_t code, code1, bytes;
  code = check_rank(place, INT64_C(0), rank);
  if (code < INT64_C(0)) {
    return code;
  }
  code1 = check_sizes(place, INT64_C(0), shape, rank);
  if (code1 < INT64_C(0)) {
    return code1;
  }
  if (width < INT64_C(1)) {
    return report(place, WHYCAST_BAD_WIDTH, INT64_C(0), INT64_C(-1));
  }
  bytes = count_bytes(shape, rank, width);
  if (bytes < INT64_C(0)) {
    return report(place, WHYCAST_TOO_LARGE, INT64_C(0), INT64_C(-1));
  }
  return report(place, bytes, INT64_C(-1), INT64_C(-1));
}

/* 0 if the counts fit and memory suffices, or the code and whether the output or the input is
   at fault. [E_Broadcast_any_Derived_520]
   WhyML: c.broadcast.COPMemory.check_memory */
static inline int64_t check_memory(whycast_place * place, int64_t output,
                                   int64_t input, int64_t due, int64_t given,
                                   int64_t room, int64_t extent) {
  if (due < INT64_C(0)) {
    return report(place, WHYCAST_TOO_LARGE, output, INT64_C(-1));
  }
  if (given < INT64_C(0)) {
    return report(place, WHYCAST_TOO_LARGE, input, INT64_C(-1));
  }
  if (room < due) {
    return report(place, WHYCAST_ROOM_EXCEEDED, output, INT64_C(-1));
  }
  if (extent < given) {
    return report(place, WHYCAST_EXTENT_EXCEEDED, input, INT64_C(-1));
  }
  return INT64_C(0);
}

/* How often a block of `size` bytes fits into a part of 128 KB, which are 131072 bytes.
   [E_Broadcast_any_Derived_470]
   WhyML: c.make_units.COPUnits.room_in_part */
static inline int64_t room_in_part(int64_t size) {
  return INT64_C(131072) / size;
}

/* The size of axis `axis`, where `prepended` axes of size 1 stand before those of `s`.
   [E_Broadcast_any_Derived_470]
   WhyML: c.grow.COPGrow.input_size */
static inline int64_t input_size(const int64_t * s, int64_t prepended,
                                 int64_t axis) {
  if (axis < prepended) {
    return INT64_C(1);
  } else {
    return s[axis - prepended];
  }
}

/* The number of units that begin with axis `axis`: the product of the padded sizes before it.
   Nothing overflows and no index leaves its array. [E_Broadcast_any_Derived_470]
   WhyML: c.make_units.COPUnits.count_units */
static inline int64_t count_units(const int64_t * s, int64_t prepended,
                                  int64_t axis) {
  int64_t units, k;
  int64_t size;
  units = INT64_C(1);
  k = INT64_C(0);
  while (k < axis) {
    size = input_size(s, prepended, k);
    units = units * size;
    k = k + INT64_C(1);
  }
  return units;
}

/* Write one more copy of a block that is one word.
   WhyML: c.repeat.COPRepeat.W1.put_word */
static inline void put_word_1(uint8_t * z, int64_t q, uint8_t v) {
  store_1(z + q, v);
  return;
}

/* Repeat `m` blocks of one word from `source` on, each `r` times, to `target`: (a b) becomes (a
   a a a a b b b b b). Each byte is written once, and no other byte changes.
   [E_Broadcast_any_Derived_130]
   WhyML: c.repeat.COPRepeat.W1.repeat_word_often */
static inline void repeat_word_often_1(uint8_t * z, int64_t target,
                                       int64_t source, int64_t m, int64_t r) {
  int64_t q, p, j, t;
  uint8_t v;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = load_1(z + p);
    t = INT64_C(0);
    while (t < r) {
      put_word_1(z, q, v);
      q = q + INT64_C(1);
      t = t + INT64_C(1);
    }
    p = p + INT64_C(1);
    j = j + INT64_C(1);
  }
}

/* Repeat `m` blocks of one word from `source` on, each `r` times, to `target`. Each byte is
   written once, and no other byte changes. [E_Broadcast_any_Derived_130]
   [E_Broadcast_any_Derived_400]
   WhyML: c.repeat.COPRepeat.W1.repeat_word */
static inline void repeat_word_1(uint8_t * z, int64_t target, int64_t source,
                                 int64_t m, int64_t r) {
  if (r == INT64_C(2)) {
    repeat_word_often_1(z, target, source, m, INT64_C(2));
    return;
  }
  if (r == INT64_C(3)) {
    repeat_word_often_1(z, target, source, m, INT64_C(3));
    return;
  }
  if (r == INT64_C(4)) {
    repeat_word_often_1(z, target, source, m, INT64_C(4));
    return;
  }
  repeat_word_often_1(z, target, source, m, r);
  return;
}

/* Write one more copy of a block that is one word.
   WhyML: c.repeat.COPRepeat.W2.put_word */
static inline void put_word_2(uint8_t * z, int64_t q, uint16_t v) {
  store_2(z + q, v);
  return;
}

/* Repeat `m` blocks of one word from `source` on, each `r` times, to `target`: (a b) becomes (a
   a a a a b b b b b). Each byte is written once, and no other byte changes.
   [E_Broadcast_any_Derived_130]
   WhyML: c.repeat.COPRepeat.W2.repeat_word_often */
static inline void repeat_word_often_2(uint8_t * z, int64_t target,
                                       int64_t source, int64_t m, int64_t r) {
  int64_t q, p, j, t;
  uint16_t v;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = load_2(z + p);
    t = INT64_C(0);
    while (t < r) {
      put_word_2(z, q, v);
      q = q + INT64_C(2);
      t = t + INT64_C(1);
    }
    p = p + INT64_C(2);
    j = j + INT64_C(1);
  }
}

/* Repeat `m` blocks of one word from `source` on, each `r` times, to `target`. Each byte is
   written once, and no other byte changes. [E_Broadcast_any_Derived_130]
   [E_Broadcast_any_Derived_400]
   WhyML: c.repeat.COPRepeat.W2.repeat_word */
static inline void repeat_word_2(uint8_t * z, int64_t target, int64_t source,
                                 int64_t m, int64_t r) {
  if (r == INT64_C(2)) {
    repeat_word_often_2(z, target, source, m, INT64_C(2));
    return;
  }
  if (r == INT64_C(3)) {
    repeat_word_often_2(z, target, source, m, INT64_C(3));
    return;
  }
  if (r == INT64_C(4)) {
    repeat_word_often_2(z, target, source, m, INT64_C(4));
    return;
  }
  repeat_word_often_2(z, target, source, m, r);
  return;
}

/* Fill `total` bytes from `q` on with copies of the block of `b` bytes that begins there, by
   larger and larger parts of what there is: (a b . . . .) becomes (a b a b a b). Each byte
   behind the block is written once, and no other byte changes. [E_Broadcast_any_Derived_130]
   [E_Broadcast_any_Derived_400]
   WhyML: c.long_blocks.LongBlocks.fill */
static inline void fill(uint8_t * z, int64_t q, int64_t b, int64_t total) {
  int64_t have, part;
  int64_t most;
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
    if (part > total - have) {
      part = total - have;
    }
    memcpy(z + (q + have), z + q, (size_t) part);
    have = have + part;
  }
}

/* Repeat `m` blocks of `b` bytes from `source` on, each `r` times, to `target`, row by row: for
   many copies. Each byte is written once, and no other byte changes.
   [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_400]
   WhyML: c.long_blocks.LongBlocks.repeat_often */
static inline void repeat_often(uint8_t * z, int64_t target, int64_t source,
                                int64_t m, int64_t b, int64_t r) {
  int64_t q, p, j;
  int64_t total;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    total = r * b;
    memcpy(z + q, z + p, (size_t) b);
    fill(z, q, b, total);
    q = q + total;
    p = p + b;
    j = j + INT64_C(1);
  }
}

/* Write one more copy of a block that is one word.
   WhyML: c.repeat.COPRepeat.W4.put_word */
static inline void put_word_4(uint8_t * z, int64_t q, uint32_t v) {
  store_4(z + q, v);
  return;
}

/* Repeat `m` blocks of one word from `source` on, each `r` times, to `target`: (a b) becomes (a
   a a a a b b b b b). Each byte is written once, and no other byte changes.
   [E_Broadcast_any_Derived_130]
   WhyML: c.repeat.COPRepeat.W4.repeat_word_often */
static inline void repeat_word_often_4(uint8_t * z, int64_t target,
                                       int64_t source, int64_t m, int64_t r) {
  int64_t q, p, j, t;
  uint32_t v;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = load_4(z + p);
    t = INT64_C(0);
    while (t < r) {
      put_word_4(z, q, v);
      q = q + INT64_C(4);
      t = t + INT64_C(1);
    }
    p = p + INT64_C(4);
    j = j + INT64_C(1);
  }
}

/* Repeat `m` blocks of one word from `source` on, each `r` times, to `target`. Each byte is
   written once, and no other byte changes. [E_Broadcast_any_Derived_130]
   [E_Broadcast_any_Derived_400]
   WhyML: c.repeat.COPRepeat.W4.repeat_word */
static inline void repeat_word_4(uint8_t * z, int64_t target, int64_t source,
                                 int64_t m, int64_t r) {
  if (r == INT64_C(2)) {
    repeat_word_often_4(z, target, source, m, INT64_C(2));
    return;
  }
  if (r == INT64_C(3)) {
    repeat_word_often_4(z, target, source, m, INT64_C(3));
    return;
  }
  if (r == INT64_C(4)) {
    repeat_word_often_4(z, target, source, m, INT64_C(4));
    return;
  }
  repeat_word_often_4(z, target, source, m, r);
  return;
}

/* Write one more copy of a block that is one word.
   WhyML: c.repeat.COPRepeat.W8.put_word */
static inline void put_word_8(uint8_t * z, int64_t q, uint64_t v) {
  store_8(z + q, v);
  return;
}

/* Repeat `m` blocks of one word from `source` on, each `r` times, to `target`: (a b) becomes (a
   a a a a b b b b b). Each byte is written once, and no other byte changes.
   [E_Broadcast_any_Derived_130]
   WhyML: c.repeat.COPRepeat.W8.repeat_word_often */
static inline void repeat_word_often_8(uint8_t * z, int64_t target,
                                       int64_t source, int64_t m, int64_t r) {
  int64_t q, p, j, t;
  uint64_t v;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = load_8(z + p);
    t = INT64_C(0);
    while (t < r) {
      put_word_8(z, q, v);
      q = q + INT64_C(8);
      t = t + INT64_C(1);
    }
    p = p + INT64_C(8);
    j = j + INT64_C(1);
  }
}

/* Repeat `m` blocks of one word from `source` on, each `r` times, to `target`. Each byte is
   written once, and no other byte changes. [E_Broadcast_any_Derived_130]
   [E_Broadcast_any_Derived_400]
   WhyML: c.repeat.COPRepeat.W8.repeat_word */
static inline void repeat_word_8(uint8_t * z, int64_t target, int64_t source,
                                 int64_t m, int64_t r) {
  if (r == INT64_C(2)) {
    repeat_word_often_8(z, target, source, m, INT64_C(2));
    return;
  }
  if (r == INT64_C(3)) {
    repeat_word_often_8(z, target, source, m, INT64_C(3));
    return;
  }
  if (r == INT64_C(4)) {
    repeat_word_often_8(z, target, source, m, INT64_C(4));
    return;
  }
  repeat_word_often_8(z, target, source, m, r);
  return;
}

/* Write one more copy of a block that is one word.
   WhyML: c.repeat.COPRepeat.W16.put_word */
static inline void put_word_16(uint8_t * z, int64_t q, word_16 v) {
  store_16(z + q, v);
  return;
}

/* Repeat `m` blocks of one word from `source` on, each `r` times, to `target`: (a b) becomes (a
   a a a a b b b b b). Each byte is written once, and no other byte changes.
   [E_Broadcast_any_Derived_130]
   WhyML: c.repeat.COPRepeat.W16.repeat_word_often */
static inline void repeat_word_often_16(uint8_t * z, int64_t target,
                                        int64_t source, int64_t m, int64_t r) {
  int64_t q, p, j, t;
  word_16 v;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = load_16(z + p);
    t = INT64_C(0);
    while (t < r) {
      put_word_16(z, q, v);
      q = q + INT64_C(16);
      t = t + INT64_C(1);
    }
    p = p + INT64_C(16);
    j = j + INT64_C(1);
  }
}

/* Repeat `m` blocks of one word from `source` on, each `r` times, to `target`. Each byte is
   written once, and no other byte changes. [E_Broadcast_any_Derived_130]
   [E_Broadcast_any_Derived_400]
   WhyML: c.repeat.COPRepeat.W16.repeat_word */
static inline void repeat_word_16(uint8_t * z, int64_t target,
                                  int64_t source, int64_t m, int64_t r) {
  if (r == INT64_C(2)) {
    repeat_word_often_16(z, target, source, m, INT64_C(2));
    return;
  }
  if (r == INT64_C(3)) {
    repeat_word_often_16(z, target, source, m, INT64_C(3));
    return;
  }
  if (r == INT64_C(4)) {
    repeat_word_often_16(z, target, source, m, INT64_C(4));
    return;
  }
  repeat_word_often_16(z, target, source, m, r);
  return;
}

/* Copy `n` bytes, 16 at least, to behind where they are: as memcpy does, but by words. At most
   twice as many bytes are written, and no other byte changes. [E_Broadcast_any_Derived_130]
   [E_Broadcast_any_Derived_400]
   WhyML: c.blocks_of_words.BlocksOfWords.copy_words */
static inline void copy_words(uint8_t * z, int64_t target, int64_t source,
                              int64_t n) {
  int64_t last;
  int64_t k;
  word_16 v, v1;
  last = n - INT64_C(16);
  k = INT64_C(0);
  while (k < last) {
    v = load_16(z + (source + k));
    store_16(z + (target + k), v);
    k = k + INT64_C(16);
  }
  v1 = load_16(z + (source + last));
  store_16(z + (target + last), v1);
  return;
}

/* Repeat `m` blocks of `b` bytes from `source` on, each `r` times, to `target`, copy by copy. A
   block has one word at least. At most twice as many bytes are written as the rows have, and no
   other byte changes. [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_400]
   WhyML: c.blocks_of_words.BlocksOfWords.repeat_words */
static inline void repeat_words(uint8_t * z, int64_t target, int64_t source,
                                int64_t m, int64_t b, int64_t r) {
  int64_t q, p, j, t;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    t = INT64_C(0);
    while (t < r) {
      copy_words(z, q, p, b);
      q = q + b;
      t = t + INT64_C(1);
    }
    p = p + b;
    j = j + INT64_C(1);
  }
}

/* Repeat `m` blocks of `b` bytes from `source` on, each `r` times, to `target`, copy by copy:
   for few copies. Each byte is written once, and no other byte changes.
   [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_400]
   WhyML: c.long_blocks.LongBlocks.repeat_seldom */
static inline void repeat_seldom(uint8_t * z, int64_t target, int64_t source,
                                 int64_t m, int64_t b, int64_t r) {
  int64_t q, p, j, t;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    t = INT64_C(0);
    while (t < r) {
      memcpy(z + q, z + p, (size_t) b);
      q = q + b;
      t = t + INT64_C(1);
    }
    p = p + b;
    j = j + INT64_C(1);
  }
}

/* Write one more copy of a block of `b` bytes, of one to two words: `v` is its first word and
   `w` its last one.
   WhyML: c.repeat.COPRepeat.W2.put_pair */
static inline void put_pair_2(uint8_t * z, int64_t q, int64_t b, uint16_t v,
                              uint16_t w) {
  store_2(z + q, v);
  store_2(z + (q + (b - INT64_C(2))), w);
  return;
}

/* Repeat `m` blocks of `b` bytes from `source` on, each `r` times, to `target`: as two words,
   which overlap where a block is shorter than both. At most twice as many bytes are written as
   the rows have, and as many if a block is two words long; no other byte changes.
   [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_400]
   WhyML: c.repeat.COPRepeat.W2.repeat_pair */
static inline void repeat_pair_2(uint8_t * z, int64_t target, int64_t source,
                                 int64_t m, int64_t b, int64_t r) {
  int64_t q, p, j, t;
  uint16_t v, w;
  int64_t next;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = load_2(z + p);
    w = load_2(z + (p + (b - INT64_C(2))));
    t = INT64_C(0);
    while (t < r) {
      put_pair_2(z, q, b, v, w);
      q = q + b;
      t = t + INT64_C(1);
    }
    next = j + INT64_C(1);
    p = p + b;
    j = next;
  }
}

/* Write one more copy of a block of `b` bytes, of one to two words: `v` is its first word and
   `w` its last one.
   WhyML: c.repeat.COPRepeat.W4.put_pair */
static inline void put_pair_4(uint8_t * z, int64_t q, int64_t b, uint32_t v,
                              uint32_t w) {
  store_4(z + q, v);
  store_4(z + (q + (b - INT64_C(4))), w);
  return;
}

/* Repeat `m` blocks of `b` bytes from `source` on, each `r` times, to `target`: as two words,
   which overlap where a block is shorter than both. At most twice as many bytes are written as
   the rows have, and as many if a block is two words long; no other byte changes.
   [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_400]
   WhyML: c.repeat.COPRepeat.W4.repeat_pair */
static inline void repeat_pair_4(uint8_t * z, int64_t target, int64_t source,
                                 int64_t m, int64_t b, int64_t r) {
  int64_t q, p, j, t;
  uint32_t v, w;
  int64_t next;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = load_4(z + p);
    w = load_4(z + (p + (b - INT64_C(4))));
    t = INT64_C(0);
    while (t < r) {
      put_pair_4(z, q, b, v, w);
      q = q + b;
      t = t + INT64_C(1);
    }
    next = j + INT64_C(1);
    p = p + b;
    j = next;
  }
}

/* Write one more copy of a block of `b` bytes, of one to two words: `v` is its first word and
   `w` its last one.
   WhyML: c.repeat.COPRepeat.W8.put_pair */
static inline void put_pair_8(uint8_t * z, int64_t q, int64_t b, uint64_t v,
                              uint64_t w) {
  store_8(z + q, v);
  store_8(z + (q + (b - INT64_C(8))), w);
  return;
}

/* Repeat `m` blocks of `b` bytes from `source` on, each `r` times, to `target`: as two words,
   which overlap where a block is shorter than both. At most twice as many bytes are written as
   the rows have, and as many if a block is two words long; no other byte changes.
   [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_400]
   WhyML: c.repeat.COPRepeat.W8.repeat_pair */
static inline void repeat_pair_8(uint8_t * z, int64_t target, int64_t source,
                                 int64_t m, int64_t b, int64_t r) {
  int64_t q, p, j, t;
  uint64_t v, w;
  int64_t next;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = load_8(z + p);
    w = load_8(z + (p + (b - INT64_C(8))));
    t = INT64_C(0);
    while (t < r) {
      put_pair_8(z, q, b, v, w);
      q = q + b;
      t = t + INT64_C(1);
    }
    next = j + INT64_C(1);
    p = p + b;
    j = next;
  }
}

/* Write one more copy of a block of `b` bytes, of one to two words: `v` is its first word and
   `w` its last one.
   WhyML: c.repeat.COPRepeat.W16.put_pair */
static inline void put_pair_16(uint8_t * z, int64_t q, int64_t b, word_16 v,
                               word_16 w) {
  store_16(z + q, v);
  store_16(z + (q + (b - INT64_C(16))), w);
  return;
}

/* Repeat `m` blocks of `b` bytes from `source` on, each `r` times, to `target`: as two words,
   which overlap where a block is shorter than both. At most twice as many bytes are written as
   the rows have, and as many if a block is two words long; no other byte changes.
   [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_400]
   WhyML: c.repeat.COPRepeat.W16.repeat_pair */
static inline void repeat_pair_16(uint8_t * z, int64_t target,
                                  int64_t source, int64_t m, int64_t b,
                                  int64_t r) {
  int64_t q, p, j, t;
  word_16 v, w;
  int64_t next;
  q = target;
  p = source;
  j = INT64_C(0);
  while (j < m) {
    v = load_16(z + p);
    w = load_16(z + (p + (b - INT64_C(16))));
    t = INT64_C(0);
    while (t < r) {
      put_pair_16(z, q, b, v, w);
      q = q + b;
      t = t + INT64_C(1);
    }
    next = j + INT64_C(1);
    p = p + b;
    j = next;
  }
}

/* From `source` on there are `m` blocks of `b` bytes: to `target`, each `r` times.
   [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_400]
   WhyML: c.repeat.COPRepeat.repeat */
static inline void repeat(uint8_t * z, int64_t target, int64_t source,
                          int64_t m, int64_t b, int64_t r) {
  if (b == INT64_C(1)) {
    repeat_word_1(z, target, source, m, r);
    return;
  }
  if (b == INT64_C(2)) {
    repeat_word_2(z, target, source, m, r);
    return;
  }
  if (r >= INT64_C(256)) {
    repeat_often(z, target, source, m, b, r);
    return;
  }
  if (b == INT64_C(4)) {
    repeat_word_4(z, target, source, m, r);
    return;
  }
  if (b == INT64_C(8)) {
    repeat_word_8(z, target, source, m, r);
    return;
  }
  if (b == INT64_C(16)) {
    repeat_word_16(z, target, source, m, r);
    return;
  }
  if (b > INT64_C(32) && (b <= INT64_C(256) && r < INT64_C(64))) {
    repeat_words(z, target, source, m, b, r);
    return;
  }
  if (b > INT64_C(32) && r < INT64_C(8)) {
    repeat_seldom(z, target, source, m, b, r);
    return;
  }
  if (b > INT64_C(32) || r >= INT64_C(64)) {
    repeat_often(z, target, source, m, b, r);
    return;
  }
  if (b < INT64_C(4)) {
    repeat_pair_2(z, target, source, m, b, r);
    return;
  }
  if (b < INT64_C(8)) {
    repeat_pair_4(z, target, source, m, b, r);
    return;
  }
  if (b < INT64_C(16)) {
    repeat_pair_8(z, target, source, m, b, r);
    return;
  }
  repeat_pair_16(z, target, source, m, b, r);
  return;
}

/* Repeat `m` blocks of `b` bytes from `base` on, each `r` times, where they are: the last half
   of them first. No byte behind the rows changes. At most twice as many bytes are written as
   the rows have, and no more than these if a block has 1, 2, 4, 8, 16 or 32.
   [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_400]
   WhyML: c.axis_pass.COPPass.repeat_in_place */
static inline void repeat_in_place(uint8_t * z, int64_t base, int64_t m,
                                   int64_t b, int64_t r) {
  int64_t rest;
  int64_t half, kept, target, source;
  rest = m;
  while (rest > INT64_C(1)) {
    half = rest / INT64_C(2);
    kept = rest - half;
    target = kept * r * b;
    source = kept * b;
    repeat(z, base + target, base + source, half, b, r);
    rest = kept;
  }
  fill(z, base, b, r * b);
  return;
}

/* Repeat `m` blocks of `b` bytes from `base` on, each `r` times, where they are. Where blocks
   are short words and copies are many, but not too many, they are made by fours and twos. No
   byte behind the rows changes. At most twice as many bytes are written as the rows have.
   [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_400]
   WhyML: c.axis_pass.COPPass.pass */
static inline void pass(uint8_t * z, int64_t base, int64_t m, int64_t b,
                        int64_t r) {
  int64_t block, copies, step;
  int64_t rest;
  block = b;
  copies = r;
  while ((block == INT64_C(1) || (block == INT64_C(2) || block == INT64_C(4))) && 
         (copies == INT64_C(2) * (copies / INT64_C(2)) && (INT64_C(4) < copies && copies < INT64_C(512)))) {
    step = INT64_C(2);
    if (copies == INT64_C(4) * (copies / INT64_C(4))) {
      step = INT64_C(4);
    }
    rest = copies / step;
    repeat_in_place(z, base, m, block, step);
    block = block * step;
    copies = rest;
  }
  repeat_in_place(z, base, m, block, copies);
  return;
}

/* Let the axes of some units from `low` to below `high` grow, each in a pass. The units begin
   at `base`; their axes from `high` on have grown, and they have `blocks` blocks of `block`
   bytes. Nothing overflows and no index leaves its array. No byte outside of the units changes.
   At most four bytes are written for each byte that is added. [E_Broadcast_any_Derived_470]
   WhyML: c.grow.COPGrow.grow */
static inline void grow(uint8_t * z, int64_t base, int64_t blocks,
                        int64_t block, const int64_t * s, int64_t prepended,
                        const int64_t * d, int64_t high, int64_t low) {
  int64_t left, bytes, axis;
  int64_t size, output_size;
  left = blocks;
  bytes = block;
  axis = high;
  while (axis > low) {
    axis = axis - INT64_C(1);
    size = input_size(s, prepended, axis);
    output_size = d[axis];
    if (size == output_size) {
      left = left / output_size;
    } else {
      pass(z, base, left, bytes, output_size);
    }
    bytes = bytes * output_size;
  }
}

/* Broadcast all units that begin with axis `axis`, in chunks of at most 128 KB of output, one
   unit at least. A unit has `elements` elements in the input and `block` bytes in the output.
   Nothing overflows and no index leaves its array. No byte beyond the output changes. At most
   four bytes are written for each byte of the units. [E_Broadcast_any_Derived_470]
   WhyML: c.make_units.COPUnits.make_units */
static inline void make_units(uint8_t * z, const uint8_t * x,
                              const int64_t * s, int64_t prepended,
                              const int64_t * d, int64_t d_rank,
                              int64_t axis, int64_t units, int64_t elements,
                              int64_t block, int64_t w) {
  int64_t row, most, room, part, base, place, count, left;
  int64_t made;
  row = elements * w;
  room = room_in_part(block);
  if (room < INT64_C(1)) {
    most = INT64_C(1);
  } else {
    most = room;
  }
  made = INT64_C(0);
  while (made < units) {
    if (units - made > most) {
      part = most;
    } else {
      part = units - made;
    }
    base = made * block;
    place = made * row;
    count = part * row;
    left = part * elements;
    memcpy(z + base, x + place, (size_t) count);
    grow(z, base, left, w, s, prepended, d, d_rank, axis);
    made = made + part;
  }
}

/* Broadcast the bytes `x` of a tensor of shape `s`, with elements of `w` bytes, to the shape
   `d`. Nothing overflows and no index leaves its array. Each byte of `z` that is due is there
   afterwards, and no other byte changes. At most four bytes are written for each byte of the
   output. [E_Broadcast_any_Derived_470]
   WhyML: c.broadcast_bytes.COPBroadcastBytes.broadcast_bytes */
static inline void broadcast_bytes(uint8_t * z, const uint8_t * x,
                                   const int64_t * s, int64_t s_rank,
                                   const int64_t * d, int64_t d_rank,
                                   int64_t w) {
  int64_t axis, elements, block;
  int64_t prepended, size, output_size, units;
  axis = INT64_C(0);
  while (axis < d_rank) {
    if (d[axis] == INT64_C(0)) {
      return;
    }
    axis = axis + INT64_C(1);
  }
  prepended = d_rank - s_rank;
  elements = INT64_C(1);
  block = w;
  while (axis > INT64_C(0) && block <= room_in_part(d[axis - INT64_C(1)])) {
    axis = axis - INT64_C(1);
    size = input_size(s, prepended, axis);
    output_size = d[axis];
    elements = elements * size;
    block = block * output_size;
  }
  units = count_units(s, prepended, axis);
  make_units(z, x, s, prepended, d, d_rank, axis, units, elements, block, w);
  grow(z, INT64_C(0), units, block, s, prepended, d, axis, INT64_C(0));
  return;
}

/* Broadcast the bytes of `input`, a tensor of this shape with `width` bytes for an element, to
   the shape `target`. For any ranks, sizes, width, room and extent there is one answer. If it
   is 0, the bytes due are in `output` afterwards, and at most four bytes were written for each
   of them. If it is a code, nothing was written there. No other byte changes. `place` is set to
   the tensor and the axis of the error, or to -1, -1. [E_Broadcast_any_Steps_010]
   [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_140] [E_Broadcast_any_Derived_520]
   WhyML: c.broadcast.COPBroadcast.broadcast */
int64_t whycast_broadcast(uint8_t * output, int64_t room,
                          whycast_place * place, const uint8_t * input,
                          int64_t extent, const int64_t * shape,
                          int64_t rank, const int64_t * target,
                          int64_t target_rank, int64_t width) {
  int64_t code, code1, due, given, code2;
  code = check_two(place, shape, rank, target, target_rank);
  if (code < INT64_C(0)) {
    return code;
  }
  if (width < INT64_C(1)) {
    return report(place, WHYCAST_BAD_WIDTH, INT64_C(0), INT64_C(-1));
  }
  code1 = check_fit(place, shape, rank, target, target_rank);
  if (code1 < INT64_C(0)) {
    return code1;
  }
  due = count_bytes(target, target_rank, width);
  given = count_bytes(shape, rank, width);
  code2 = check_memory(place, INT64_C(1), INT64_C(0), due, given, room,
          extent);
  if (code2 < INT64_C(0)) {
    return code2;
  }
  broadcast_bytes(output, input, shape, rank, target, target_rank, width);
  return report(place, INT64_C(0), INT64_C(-1), INT64_C(-1));
}

/* 0 if the width and the memory of `tensor` are right, or else the code and the place of what
   is wrong. [E_Broadcast_any_Derived_530]
   WhyML: c.tensors.COPTensorChecks.check_tensor */
static inline int64_t check_tensor(whycast_place * place, int64_t tensor,
                                   const int64_t * shape, int64_t rank,
                                   const int64_t * target,
                                   int64_t target_rank, int64_t width,
                                   int64_t room, int64_t extent) {
  if (width < INT64_C(1)) {
    return report(place, WHYCAST_BAD_WIDTH, tensor, INT64_C(-1));
  }
  return check_memory(place, tensor, tensor,
         count_bytes(target, target_rank, width),
         count_bytes(shape, rank, width), room, extent);
}

/* 0 if the width and the memory of every tensor are right, or else the code and the place of
   the first tensor with which something is wrong. [E_Broadcast_any_Derived_530]
   WhyML: c.tensors.COPTensorChecks.check_tensors */
static inline int64_t check_tensors(whycast_place * place,
                                    const int64_t *const * shapes,
                                    const int64_t * ranks,
                                    const int64_t * target,
                                    int64_t target_rank,
                                    const int64_t * widths,
                                    const int64_t * rooms,
                                    const int64_t * extents, int64_t count) {
  int64_t m;
  int64_t code;
  m = INT64_C(0);
  while (m < count) {
    code = check_tensor(place, m, shapes[m], ranks[m], target, target_rank,
           widths[m], rooms[m], extents[m]);
    if (code < INT64_C(0)) {
      return code;
    }
    m = m + INT64_C(1);
  }
  return INT64_C(0);
}

/* Broadcast all tensors, of which everything has been checked. Each output has the bytes due
   afterwards, and at most four bytes were written for each of them. No other byte changes, and
   each output is lent or not as before. [E_Broadcast_any_Steps_010]
   [E_Broadcast_any_Derived_530]
   WhyML: c.tensors.COPTensorCopies.copy_tensors */
static inline void copy_tensors(uint8_t *const * outputs,
                                const uint8_t *const * inputs,
                                const int64_t *const * shapes,
                                const int64_t * ranks,
                                const int64_t * target, int64_t target_rank,
                                const int64_t * widths, int64_t count) {
  int64_t m;
  uint8_t * output;
  int64_t width;
  m = INT64_C(0);
  while (m < count) {
    output = outputs[m];
    width = widths[m];
    broadcast_bytes(output, inputs[m], shapes[m], ranks[m], target,
    target_rank, width);
    (void) output;
    m = m + INT64_C(1);
  }
}

/* SONNX's Broadcast of `count` tensors, with `widths` bytes for an element of each. For any
   numbers there is one answer: the rank of the common shape, or a code. If there is a common
   shape within the capacity, its sizes are in `target` afterwards. If there is no code, each of
   `outputs` has the bytes due, which are those that SONNX's operator gives, and at most four
   bytes were written for each of them. No other byte changes, and each output is lent or not as
   before. `place` is set to the tensor and the axis of the error, or to -1, -1.
   [E_Broadcast_any_Signature_010] [E_Broadcast_any_Inputs_010] [E_Broadcast_any_Outputs_010]
   [E_Broadcast_any_Steps_010] [E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_140]
   [E_Broadcast_any_Derived_530]
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
  code = check_tensors(place, shapes, ranks, common, rank, widths, rooms,
         extents, count);
  if (code < INT64_C(0)) {
    return code;
  }
  copy_tensors(outputs, inputs, shapes, ranks, common, rank, widths, count);
  return report(place, rank, INT64_C(-1), INT64_C(-1));
}
