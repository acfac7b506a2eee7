/* SPDX-License-Identifier: Apache-2.0
   The codes and the prototypes are extracted: `make extract` writes them here. */

#ifndef WHYCAST_H
#define WHYCAST_H

/* whycast: SONNX's operator Broadcast, and the broadcast of one tensor to a shape, verified.

   The contract of a function is its comment, except statements marked as not proved. In WhyML, each
   function is proved to keep its contract if the caller keeps the rules below. No index leaves its
   array, nothing overflows, each call ends. The functions allocate nothing, keep nothing between
   calls, and do not recurse. They access no byte beyond the memory that they are given, not even to
   load a whole word. memcpy is the only library function called; a compiler may add memcpy and
   memset and, on 32-bit targets, 64-bit arithmetic. To call your own `copy`, declared in copy.h
   like memcpy, compile whycast.c with -DWHYCAST_MEMCPY=copy -include copy.h.

   Not proved, but measured by `make object` (GCC 12 and 14, x86-64): a call takes at most 400
   bytes of stack with -O2 and -O3, 632 with the flags for certification of object.py, 936 with
   -O0. No bound on the time is proved.

   A shape is an array of sizes, the outermost axis first, and a rank, the number of sizes: 0 for a
   scalar. A size may be 0. If a tensor has no strides, its elements are in row-major order. An
   element has `width` bytes of any type, copied and never interpreted. Data need no alignment.

   The caller must guarantee:

   - Each pointer points to at least as many values as its comment states. If this number is 0 or
     less, the pointer may be NULL. `place` points to a whycast_place.
   - Memory that a function writes overlaps no other memory that it is given.
   - whycast_first and whycast_next get a plan written by whycast_plan or whycast_plan_views, or a
     part of this plan: its outermost loops alone, loops with fewer rounds (at least 1 each), or
     both. They do not check the plan; if `loops` is below 1, they do not read it.
     whycast_next also gets the counters and offsets of a step of this plan.

   All other numbers may be any int64_t: the functions check each that can cause an error.

   A function returns 0 or more, or one of the error codes below. On an error it changes only the
   place, and in some cases of whycast_broadcast_all the common shape. If there are several errors,
   it reports the one that its comment lists first.

   A shape may broadcast to a target with which it has no common shape: (1) broadcasts to the target
   (0), which writes nothing, but of the sizes 1 and 0, the size 0 is neither 1 nor the largest.
   SONNX allows at most 2^31 - 1 tensors; no function checks this. */

#include <stdint.h>

/* The version of this file and of whycast.c, as one number: 1002003 is 1.2.3. */
#define WHYCAST_VERSION_MAJOR 1
#define WHYCAST_VERSION_MINOR 0
#define WHYCAST_VERSION_PATCH 0
#define WHYCAST_VERSION \
    (WHYCAST_VERSION_MAJOR * 1000000 + WHYCAST_VERSION_MINOR * 1000 + WHYCAST_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* The error codes. Their numbers never change. */
enum whycast_code {
    /* (3,2) with (4), or (3,2) to (3,4): a size is neither 1 nor the size of the output. This is
       SONNX's error E1, or its counterpart in NumPy's rule or for a target.
       [E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_480] */
    WHYCAST_NOT_BROADCASTABLE = -1,
    /* (1,3) to (3): the shape has more axes than the target. [E_Broadcast_any_Derived_480] */
    WHYCAST_RANK_MISMATCH = -2,
    /* (2,-1) is no shape: a size is negative. [E_Broadcast_any_Restrictions_010]
       [E_Broadcast_any_Derived_480] */
    WHYCAST_NEGATIVE_SIZE = -3,
    /* A rank is negative. [E_Broadcast_any_Derived_480] */
    WHYCAST_NEGATIVE_RANK = -4,
    /* There is no tensor: Broadcast takes at least one. [E_Broadcast_any_Signature_020]
       [E_Broadcast_any_Derived_480] */
    WHYCAST_NO_TENSOR = -5,
    /* (3,1) with (4), capacity 1: the common rank exceeds the capacity, or a plan's capacity is
       below 1. [E_Broadcast_any_Derived_480] */
    WHYCAST_CAPACITY_EXCEEDED = -6,
    /* An element has less than one byte. [E_Broadcast_any_Derived_480] */
    WHYCAST_BAD_WIDTH = -7,
    /* (2^62,2), 8 bytes each: a number of bytes exceeds 2^63 - 1; in a plan, the number of elements
       or a tensor's reach does. [E_Broadcast_any_Derived_480] */
    WHYCAST_TOO_LARGE = -8,
    /* (2,3), 4 bytes each, into 23 bytes: the output does not fit. [E_Broadcast_any_Derived_480] */
    WHYCAST_ROOM_EXCEEDED = -9,
    /* (2,3), 4 bytes each, from 23 bytes: the input is smaller than its shape requires.
       [E_Broadcast_any_Derived_480] */
    WHYCAST_EXTENT_EXCEEDED = -10
};

/* The place of an error: a tensor and an axis, both counted from 0. A number that the error
   lacks is -1; without an error both are -1. For WHYCAST_NOT_BROADCASTABLE the axis is one of the
   common shape or the target: (2,4) with (3) gives tensor 1, axis 1. For other codes it is an axis
   of the tensor. */
typedef struct whycast_place {
    int64_t tensor;
    int64_t axis;
} whycast_place;

/* The common shape of `count` shapes: `shapes` has the sizes of each shape, `ranks` its rank.

   Shapes are aligned at their last axes. On each axis the common shape has the largest size, and
   every other size must be 1: (2,1) and (3) give (2,3).

   Returns the rank of the common shape, and writes its sizes to `shape`, which has room for
   `capacity` sizes. On an error returns

       WHYCAST_NO_TENSOR           there is no shape: place -1, -1
       WHYCAST_NEGATIVE_RANK       the first tensor with a negative rank
       WHYCAST_NEGATIVE_SIZE       the first tensor with a negative size, its first such axis
       WHYCAST_NOT_BROADCASTABLE   the first tensor with a size that is neither the largest on its
                                   axis nor 1, its first such axis
       WHYCAST_CAPACITY_EXCEEDED   the common rank is larger than `capacity`: place -1, -1 */
int64_t whycast_broadcast_shape(int64_t * shape, int64_t capacity,
                                whycast_place * place,
                                const int64_t *const * shapes,
                                const int64_t * ranks, int64_t count);

/* The common shape by the rule of NumPy and ONNX: on each axis all sizes other than 1 are equal,
   and the common shape has this size, or 1 if there is none. So (0,2) and (2) give (0,2), which is
   an error by SONNX's rule. In all else the function is as whycast_broadcast_shape.

   WHYCAST_NOT_BROADCASTABLE reports the first axis with two different sizes other than 1, and the
   first tensor whose size there is neither 1 nor the first size other than 1: (3,2) with (4) gives
   tensor 1, axis 1. whycast_broadcast and whycast_broadcast_strides broadcast each shape to the
   result. If the result has no size of 0, whycast_broadcast_shape gives the same shape. */
int64_t whycast_numpy_shape(int64_t * shape, int64_t capacity,
                            whycast_place * place,
                            const int64_t *const * shapes,
                            const int64_t * ranks, int64_t count);

/* The strides of a view, which shows a tensor with this `shape` and these `strides` as if it had
   the shape `target`, without a copy. Strides have any unit. A view has stride 0 on prepended axes
   and on axes whose size changes. An axis that keeps its size keeps its stride, even if the size
   is 1.

   Returns 0, and writes `target_rank` strides to `view`. In the place, tensor 0 is `shape`, and
   tensor 1 is `target`. On an error returns

       WHYCAST_NEGATIVE_RANK       the rank of the shape, then of the target
       WHYCAST_NEGATIVE_SIZE       a size of the shape, then of the target: the first such axis
       WHYCAST_RANK_MISMATCH       the shape has more axes than the target: place 0, -1
       WHYCAST_NOT_BROADCASTABLE   a size is neither the target's nor 1: place 0, first such axis */
int64_t whycast_broadcast_strides(int64_t * view, whycast_place * place,
                                  const int64_t * strides,
                                  const int64_t * shape, int64_t rank,
                                  const int64_t * target, int64_t target_rank);

/* The number of bytes of a tensor of this shape, with `width` bytes for each element.

   Returns that number, which is 0 if any size is 0. It may exceed SIZE_MAX if a size_t has 32 bits.
   On an error returns

       WHYCAST_NEGATIVE_RANK       place 0, -1
       WHYCAST_NEGATIVE_SIZE       place 0 and the first such axis
       WHYCAST_BAD_WIDTH           the width is less than 1: place 0, -1
       WHYCAST_TOO_LARGE           more than 2^63 - 1 bytes: place 0, -1 */
int64_t whycast_byte_size(whycast_place * place, const int64_t * shape,
                          int64_t rank, int64_t width);

/* The tensor `input` of this `shape`, broadcast to the shape `target`: each element of the output
   is the input's element at the same index, aligned at the last axes, with 0 on axes that grow.

   `output` has room for `room` bytes, and `input` has `extent` bytes. Returns 0, and writes the
   bytes of the output; the rest of the room stays unchanged. In the place, tensor 0 is the shape or
   the input, and tensor 1 is the target or the output. On an error returns

       WHYCAST_NEGATIVE_RANK       the rank of the shape, then of the target
       WHYCAST_NEGATIVE_SIZE       a size of the shape, then of the target: the first such axis
       WHYCAST_BAD_WIDTH           the width is less than 1: place 0, -1
       WHYCAST_RANK_MISMATCH       the shape has more axes than the target: place 0, -1
       WHYCAST_NOT_BROADCASTABLE   a size is neither the target's nor 1: place 0, first such axis
       WHYCAST_TOO_LARGE           more than 2^63 - 1 bytes in the output: place 1, -1; else in the
                                   input (then the target has a size of 0): place 0, -1
       WHYCAST_ROOM_EXCEEDED       the output has more bytes than there is room for: place 1, -1
       WHYCAST_EXTENT_EXCEEDED     the shape has more bytes than the input: place 0, -1

   It stores at most two bytes for each byte of the output. Not proved: it makes at most one store
   or call of memcpy for each byte of the output, far fewer if blocks are long, and a single call if
   no axis grows. */
int64_t whycast_broadcast(uint8_t * output, int64_t room,
                          whycast_place * place, const uint8_t * input,
                          int64_t extent, const int64_t * shape,
                          int64_t rank, const int64_t * target,
                          int64_t target_rank, int64_t width);

/* SONNX's operator: `count` tensors, each broadcast to the common shape of all.

   For each tensor, `shapes` has the sizes, `ranks` the rank, `inputs` the data, `extents` the bytes
   of the data, `widths` the bytes of an element, `outputs` the memory for its output, and
   `rooms` the bytes of that memory.

   Returns the rank of the common shape. Writes its sizes to `target`, which has room for `capacity`
   sizes, and all outputs. On an error no byte of any output changes. Returns an error of
   whycast_broadcast_shape, if there is one. Otherwise writes the common shape; if a tensor has one
   of these errors, returns the first error of the first such tensor:

       WHYCAST_BAD_WIDTH           its width is less than 1
       WHYCAST_TOO_LARGE           its output has more than 2^63 - 1 bytes
       WHYCAST_ROOM_EXCEEDED       its output has more bytes than there is room for
       WHYCAST_EXTENT_EXCEEDED     its shape has more bytes than its input

   It stores each output as whycast_broadcast does. For NumPy's rule call whycast_numpy_shape, then
   whycast_broadcast for each tensor. */
int64_t whycast_broadcast_all(uint8_t *const * outputs,
                              const int64_t * rooms, int64_t * target,
                              int64_t capacity, whycast_place * place,
                              const uint8_t *const * inputs,
                              const int64_t * extents,
                              const int64_t *const * shapes,
                              const int64_t * ranks, const int64_t * widths,
                              int64_t count);

/* A loop plan: nested loops that visit all elements of `count` broadcast tensors without a copy.

   Axes of size 1 of the common shape are dropped, and neighbouring axes become one loop if the
   strides of every tensor allow it. `shapes` and `ranks` are as for whycast_broadcast_shape. The
   tensors are in row-major order.

   Returns the number of loops, 1 or more. Writes the rounds of each loop to `sizes`, the outermost
   loop first, and to steps[j * count + m] the number of elements by which tensor m moves in each
   round of loop j. `sizes` has room for `capacity` numbers, and `steps` for `capacity` times
   `count`. A common shape with a size of 0 gives one loop of 0 rounds. For NumPy's rule call
   whycast_numpy_shape first: if it gives a size of 0, there is nothing to visit; otherwise the plan
   is the same by either rule. On an error returns the code of whycast_broadcast_shape, or

       WHYCAST_CAPACITY_EXCEEDED   `capacity` is less than max(1, common rank), even if fewer loops
                                   result: place -1, -1
       WHYCAST_TOO_LARGE           the common shape has more than 2^63 - 1 elements: place -1, -1 */
int64_t whycast_plan(int64_t * sizes, int64_t * steps, int64_t capacity,
                     whycast_place * place, const int64_t *const * shapes,
                     const int64_t * ranks, int64_t count);

/* A loop plan for tensors in any memory order. `strides` has the strides of each tensor, in any
   unit; a stride may be 0 or negative. `steps` has the same unit. One more error:

       WHYCAST_TOO_LARGE           if the common shape contains no 0: the first tensor whose reach,
                                   |stride| * (size - 1) summed over the axes, exceeds 2^63 - 1 */
int64_t whycast_plan_views(int64_t * sizes, int64_t * steps,
                           int64_t capacity, whycast_place * place,
                           const int64_t *const * shapes,
                           const int64_t *const * strides,
                           const int64_t * ranks, int64_t count);

/* Go to step `step` of a plan with `loops` loops for `count` tensors.

   A step is one run of the innermost loop. Steps are counted from 0, in the order of the output.
   Writes loops - 1 numbers to `counters`, and to `offsets` the offset of each of the `count`
   tensors at the start of the run. Element v of the run of step k is element k * sizes[loops - 1] +
   v of the output, and the element at offsets[m] + v * steps[(loops - 1) * count + m] of tensor m.

   Returns the number of steps from `step` to the last, inclusive. If there is no such step, or if
   `loops` is below 1 (an error code of whycast_plan), returns 0 and writes nothing. */
int64_t whycast_first(int64_t * counters, int64_t * offsets,
                      const int64_t * sizes, const int64_t * steps,
                      int64_t loops, int64_t count, int64_t step);

/* Go from the counters and offsets of a step to those of the next one. Returns 1. After the last
   step, returns 0, and writes the counters and offsets of step 0. If `loops` is below 1, returns 0
   and writes nothing. */
int64_t whycast_next(int64_t * counters, int64_t * offsets,
                     const int64_t * sizes, const int64_t * steps,
                     int64_t loops, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
