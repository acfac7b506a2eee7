/* How many seconds so many calls take, with nothing of Python between them. */

#define _POSIX_C_SOURCE 199309L

#include <string.h>
#include <time.h>

#include "whycast.h"

/* What a call takes. `expected` is what `output` is to have; of several shapes, `input` has the
   pointers to them and `shape` the ranks, whose number is `rank`. */
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
