/* Many calls at a stretch, timed where no interpreter comes in between: see memory.py. */
#define _POSIX_C_SOURCE 199309L
#include <string.h>
#include <time.h>

#include "whycast.h"

#define SHOWN __attribute__((visibility("default")))

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

SHOWN double loop_broadcast(int64_t loops, uint8_t *output, int64_t room, const uint8_t *input,
                            int64_t extent, const int64_t *shape, int64_t rank,
                            const int64_t *target, int64_t target_rank, int64_t width) {
  double start = seconds();
  whycast_place place;
  for (int64_t k = 0; k < loops; k++) {
    if (whycast_broadcast(output, room, &place, input, extent, shape, rank, target, target_rank,
                          width)) {
      return -1;
    }
  }
  return seconds() - start;
}

SHOWN double loop_memcpy(int64_t loops, uint8_t *output, const uint8_t *input, int64_t count) {
  double start = seconds();
  for (int64_t k = 0; k < loops; k++) {
    memcpy(output, input, (size_t) count);
    __asm__ volatile("" : : "r"(output) : "memory"); /* each of them is wanted */
  }
  return seconds() - start;
}
