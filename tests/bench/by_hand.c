/* One tensor broadcast as a programmer writes it for speed: neighbouring axes become one, the last
   elements that stay together are copied at once, words are repeated in registers, and what was
   written is copied again. Nothing is checked but what the shape of several hangs on. */

#include <stdint.h>
#include <string.h>

/* An axis of the output: how far the input goes on it is `step` bytes, and 0 where it grows. */
typedef struct axis {
  int64_t size, step;
} axis;

enum { AXES = 64, PART = 16384 };

/* From z on there is a block: repeat it `count` times in all, by larger and larger parts. */
static uint8_t *repeat(uint8_t *z, int64_t block, int64_t count) {
  const int64_t total = block * count, most = block > PART ? block : PART;
  int64_t have = block, part = block;
  while (have < total) {
    if (have <= most) part = have;
    if (part > total - have) part = total - have;
    memcpy(z + have, z, (size_t) part);
    have += part;
  }
  return z + total;
}

/* One block, `count` times. */
#define FILL(type)                                                                                 \
  {                                                                                                \
    type word;                                                                                     \
    memcpy(&word, x, sizeof word);                                                                 \
    for (int64_t t = 0; t < count; t++) memcpy(z + (int64_t) sizeof word * t, &word, sizeof word); \
    return z + (int64_t) sizeof word * count;                                                      \
  }
static uint8_t *fill(uint8_t *z, const uint8_t *x, int64_t block, int64_t count) {
  uint64_t low, high;
  switch (block) {
    case 1: memset(z, *x, (size_t) count); return z + count;
    case 2: FILL(uint16_t)
    case 4: FILL(uint32_t)
    case 8: FILL(uint64_t)
    case 16:
      memcpy(&low, x, 8);
      memcpy(&high, x + 8, 8);
      for (int64_t t = 0; t < count; t++) {
        memcpy(z + 16 * t, &low, 8);
        memcpy(z + 16 * t + 8, &high, 8);
      }
      return z + 16 * count;
    default: memcpy(z, x, (size_t) block); return repeat(z, block, count);
  }
}

/* Blocks that stand together, each `count` times. Of two copies a compiler makes vectors over the
   blocks; of other words few copies are best written one by one. */
#define EACH(type)                                                                                 \
  {                                                                                                \
    type word;                                                                                     \
    const int64_t size = sizeof word;                                                              \
    if (count == 2) {                                                                              \
      for (int64_t j = 0; j < blocks; j++) {                                                       \
        memcpy(&word, x + size * j, sizeof word);                                                  \
        memcpy(z + 2 * size * j, &word, sizeof word);                                              \
        memcpy(z + 2 * size * j + size, &word, sizeof word);                                       \
      }                                                                                            \
      return z + 2 * size * blocks;                                                                \
    }                                                                                              \
    for (int64_t j = 0; j < blocks; j++, x += size) {                                              \
      memcpy(&word, x, sizeof word);                                                               \
      for (int64_t t = 0; t < count; t++, z += size) memcpy(z, &word, sizeof word);                \
    }                                                                                              \
    return z;                                                                                      \
  }
static uint8_t *each(uint8_t *z, const uint8_t *x, int64_t blocks, int64_t block, int64_t count) {
  if (count < 32) {
    switch (block) {
      case 1: EACH(uint8_t)
      case 2: EACH(uint16_t)
      case 4: EACH(uint32_t)
      case 8: EACH(uint64_t)
      default: break;
    }
  }
  for (int64_t j = 0; j < blocks; j++) z = fill(z, x + block * j, block, count);
  return z;
}

/* Write `count` axes: the innermost grows, and every second one from there on. */
static uint8_t *write_axes(uint8_t *z, const uint8_t *x, const axis *axes, int count, int64_t run) {
  if (count == 0) {
    memcpy(z, x, (size_t) run);
    return z + run;
  }
  if (count == 1) return fill(z, x, run, axes[0].size);
  if (count == 2) return each(z, x, axes[1].size, run, axes[0].size);
  const axis *outer = axes + --count;
  if (outer->step == 0) {
    return repeat(z, write_axes(z, x, axes, count, run) - z, outer->size);
  }
  for (int64_t j = 0; j < outer->size; j++, x += outer->step) {
    z = write_axes(z, x, axes, count, run);
  }
  return z;
}

void by_hand(uint8_t *z, const uint8_t *x, const int64_t *shape, int64_t rank,
             const int64_t *target, int64_t target_rank, int64_t width) {
  axis axes[AXES];
  int count = 0;
  /* `run` bytes stand together at the end; what is behind axis k has `bytes` in the input. */
  int64_t run = width, bytes = width;
  for (int64_t k = target_rank - 1, j = rank - 1; k >= 0; k--, j--) {
    const int64_t size = target[k];
    if (size == 0) return;
    if (size == 1) continue;
    const int64_t step = j < 0 || shape[j] == 1 ? 0 : bytes;
    if (count == 0 && step != 0) {
      run *= size;
    } else if (count > 0 && (axes[count - 1].step == 0) == (step == 0)) {
      axes[count - 1].size *= size;
    } else {
      axes[count++] = (axis) {size, step};
    }
    if (step != 0) bytes *= size;
  }
  write_axes(z, x, axes, count, run);
}

int64_t by_hand_shape(int64_t *shape, const int64_t *const *shapes, const int64_t *ranks,
                      int64_t count) {
  int64_t rank = 0;
  for (int64_t m = 0; m < count; m++) rank = ranks[m] > rank ? ranks[m] : rank;
  for (int64_t i = 0; i < rank; i++) shape[i] = 1;
  for (int64_t m = 0; m < count; m++) {
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
