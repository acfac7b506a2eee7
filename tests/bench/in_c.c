/* Time calls without Python between them. */

#define _POSIX_C_SOURCE 199309L

#include <string.h>
#include <time.h>

#include "whycast.h"

#define main examples_main
#include "examples.c"
#undef main

/* The arguments of a call, and the `expected` output. For several shapes, `input` contains pointers
   to the shapes, `shape` their ranks, and `rank` is their number. */
typedef struct job {
  uint8_t *output;
  const uint8_t *input, *expected;
  const int64_t *shape, *target;
  int64_t room, extent, rank, target_rank, width;
} job;

/* Broadcast the input's `block` bytes at x to z, by one loop for each output axis from k on; return
   the end of the written bytes. */
static uint8_t *write_axis(const job *a, uint8_t *z, const uint8_t *x, int64_t k, int64_t block) {
  if (k == a->target_rank) {
    memcpy(z, x, (size_t) a->width);
    return z + a->width;
  }
  const int64_t j = k - (a->target_rank - a->rank), size = j < 0 ? 1 : a->shape[j];
  block /= size;
  for (int64_t i = 0; i < a->target[k]; i++) {
    z = write_axis(a, z, x + (size == 1 ? 0 : i * block), k + 1, block);
  }
  return z;
}

static int64_t plain_shape_of(const job *a) {
  int64_t *shape = (int64_t *) a->output, rank = 0;
  const int64_t *const *shapes = (const int64_t *const *) a->input, *ranks = a->shape;
  for (int64_t m = 0; m < a->rank; m++) rank = ranks[m] > rank ? ranks[m] : rank;
  for (int64_t i = 0; i < rank; i++) shape[i] = 1;
  for (int64_t m = 0; m < a->rank; m++) {
    int64_t *last = shape + rank - ranks[m];
    for (int64_t i = 0; i < ranks[m]; i++) {
      const int64_t size = shapes[m][i];
      if (size == 1 || size == last[i]) continue;
      if (last[i] != 1) return -1;
      last[i] = size;
    }
  }
  return rank;
}

/* Add `input`, of shape `shape`, and `expected`, of shape `target`. */
static void add_broadcast(const job *a) {
  int64_t common[MOST_AXES], ranks[] = {0, a->rank, a->target_rank};
  const int64_t *shapes[] = {common, a->shape, a->target};
  whycast_place place;
  ranks[0] = whycast_broadcast_shape(common, MOST_AXES, &place, shapes + 1, ranks + 1, 2);
  const plan p = made(shapes, ranks, 3);
  add(&p, (float *) a->output, (const float *) a->input, (const float *) a->expected);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

#define TIMED(name, call)                         \
  double name(const job *a, int64_t loops);       \
  double name(const job *a, int64_t loops) {      \
    whycast_place place;                          \
    const double begin = now();                   \
    for (int64_t k = 0; k < loops; k++) call;     \
    (void) &place;                                \
    return now() - begin;                         \
  }

TIMED(ours, whycast_broadcast(a->output, a->room, &place, a->input, a->extent, a->shape, a->rank,
                              a->target, a->target_rank, a->width))
TIMED(plain, write_axis(a, a->output, a->input, 0, a->extent))
TIMED(copy, memcpy(a->output, a->expected, (size_t) a->room))
TIMED(our_shape, whycast_broadcast_shape((int64_t *) a->output, a->room, &place,
                                         (const int64_t *const *) a->input, a->shape, a->rank))
TIMED(plain_shape, plain_shape_of(a))
TIMED(our_sum, add_broadcast(a))
