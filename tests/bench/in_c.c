/* How many seconds so many calls take, with nothing of Python between them. */

#define _POSIX_C_SOURCE 199309L

#include <string.h>
#include <time.h>

#include "whycast.h"

/* What a call takes. `expected` is what `output` is to have, or another input; of several shapes,
   `input` has the pointers to them and `shape` the ranks, whose number is `rank`. */
typedef struct job {
  uint8_t *output;
  const uint8_t *input, *expected;
  const int64_t *shape, *target;
  int64_t room, extent, rank, target_rank, width;
} job;

void by_hand(uint8_t *z, const uint8_t *x, const int64_t *shape, int64_t rank,
             const int64_t *target, int64_t target_rank, int64_t width);
int64_t by_hand_shape(int64_t *shape, const int64_t *const *shapes, const int64_t *ranks,
                      int64_t count);

/* A compiler makes a fast loop of this where it knows the steps. */
static inline void add_run(float *restrict z, const float *restrict x, int64_t s,
                           const float *restrict y, int64_t t, int64_t run) {
  for (int64_t v = 0; v < run; v++) z[v] = x[v * s] + y[v * t];
}

/* The sum of `input`, of this shape, and of `expected`, of the shape `target`, by a plan. */
static void add_by_plan(const job *a) {
  const int64_t *shapes[] = {a->shape, a->target}, ranks[] = {a->rank, a->target_rank};
  const float *const x = (const float *) a->input, *const y = (const float *) a->expected;
  float *z = (float *) a->output;
  int64_t sizes[8], steps[16], counters[8], at[2];
  whycast_place place;
  const int64_t loops = whycast_plan(sizes, steps, 8, &place, shapes, ranks, 2);
  const int64_t run = sizes[loops - 1], s = steps[2 * loops - 2], t = steps[2 * loops - 1];
  if (whycast_first(counters, at, sizes, steps, loops, 2, 0) > 0) {
    do {
      const float *const p = x + at[0], *const q = y + at[1];
      if (s == 1 && t == 1) add_run(z, p, 1, q, 1, run);
      else if (s == 1 && t == 0) add_run(z, p, 1, q, 0, run);
      else if (s == 0 && t == 1) add_run(z, p, 0, q, 1, run);
      else add_run(z, p, s, q, t, run);
      z += run;
    } while (whycast_next(counters, at, sizes, steps, loops, 2));
  }
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
TIMED(hand, by_hand(a->output, a->input, a->shape, a->rank, a->target, a->target_rank, a->width))
TIMED(copy, memcpy(a->output, a->expected, (size_t) a->room))
TIMED(our_shape, whycast_broadcast_shape((int64_t *) a->output, a->room, &place,
                                         (const int64_t *const *) a->input, a->shape, a->rank))
TIMED(hand_shape, by_hand_shape((int64_t *) a->output, (const int64_t *const *) a->input, a->shape,
                                a->rank))
TIMED(our_sum, add_by_plan(a))
