/* The claims about c/whycast.c that verify.py passes to ESBMC and Eva. Macros fix ranks and bounds;
   other values are arbitrary unless a comment limits them. Memory is as long as the call states.
   ESBMC also shows that code, place and memory equal those of plain.c. */

#include "plain.c"

#ifdef __FRAMAC__
#include "__fc_builtin.h"
#define unknown() Frama_C_long_long_interval(INT64_MIN, INT64_MAX)
#define unknown_byte() ((uint8_t)Frama_C_int_interval(0, 255))
/* Only ESBMC proves these claims. */
#define CLAIM_SAME(found, due) ((void)(found))
#define CLAIM_EQUAL(found, due) ((void)0)
#else
int64_t unknown(void);
uint8_t unknown_byte(void);
void __ESBMC_assert(_Bool condition, const char *text);
#define CLAIM_SAME(found, due) __ESBMC_assert((found) == (due), #found)
#define CLAIM_EQUAL(found, due) __ESBMC_assert((found) == (due), #found)
#endif

#define MOST (RANK > OTHER ? RANK : OTHER)
#define LENGTH(count) ((count) > 0 ? (count) : 1)

static void fill(int64_t *numbers, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        numbers[k] = unknown();
    }
}

static void fill_both(int64_t *found, int64_t *due, int64_t count) {
    fill(found, count);
    for (int64_t k = 0; k < count; k++) {
        due[k] = found[k];
    }
}

static whycast_place place, due_place;

static void claim_place(void) {
    CLAIM_EQUAL(place.tensor, due_place.tensor);
    CLAIM_EQUAL(place.axis, due_place.axis);
}

static void claim_numbers(const int64_t *found, const int64_t *due, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        CLAIM_EQUAL(found[k], due[k]);
    }
}

/* The common shape of two or three shapes, by either rule, with any capacity up to MOST. */
static void shape_by(int numpy) {
    int64_t first[LENGTH(RANK)], second[LENGTH(OTHER)], third[LENGTH(THIRD)];
    int64_t found[LENGTH(MOST)], due[LENGTH(MOST)];
    const int64_t ranks[] = {RANK, OTHER, THIRD}, *shapes[] = {first, second, third};
    const int64_t capacity = unknown();
    fill(first, RANK);
    fill(second, OTHER);
    fill(third, THIRD);
    fill_both(found, due, LENGTH(MOST));
    if (capacity > MOST) {
        return;
    }
    const int64_t count = THIRD < 0 ? 2 : 3;
    CLAIM_SAME(numpy ? whycast_numpy_shape(found, capacity, &place, shapes, ranks, count)
                     : whycast_broadcast_shape(found, capacity, &place, shapes, ranks, count),
               plain_shape(numpy, due, capacity, &due_place, shapes, ranks, count));
    claim_place();
    claim_numbers(found, due, LENGTH(MOST));
}

static void shape(void) {
    shape_by(0);
}

static void numpy(void) {
    shape_by(1);
}

/* Any count, rank and capacity up to 1, also negative. */
static void ranks(void) {
    int64_t only[1] = {unknown()}, found[1] = {7}, due[1] = {7};
    const int64_t rank = unknown(), *shapes[] = {only};
    const int64_t capacity = unknown(), count = unknown();
    if (count > 1 || capacity > 1 || rank > 1) {
        return;
    }
    CLAIM_SAME(whycast_broadcast_shape(found, capacity, &place, shapes, &rank, count),
               plain_broadcast_shape(due, capacity, &due_place, shapes, &rank, count));
    claim_place();
    claim_numbers(found, due, 1);
}

static void strides(void) {
    int64_t own[LENGTH(RANK)], target[LENGTH(OTHER)], given[LENGTH(RANK)];
    int64_t found[LENGTH(OTHER)], due[LENGTH(OTHER)];
    fill(own, RANK);
    fill(given, RANK);
    fill(target, OTHER);
    fill_both(found, due, LENGTH(OTHER));
    CLAIM_SAME(whycast_broadcast_strides(found, &place, given, own, RANK, target, OTHER),
               plain_broadcast_strides(due, &due_place, given, own, RANK, target, OTHER));
    claim_place();
    claim_numbers(found, due, LENGTH(OTHER));
}

/* A tensor of any bytes. Its sizes are the digits of `own_sizes` in base 4, the lowest first; the
   target's sizes are those of `target_sizes`. */
static void one(int64_t own_sizes, int64_t rank, int64_t target_sizes) {
    int64_t own[LENGTH(RANK)], target[LENGTH(RANK)];
    uint8_t input[BYTES], found[BYTES], due[BYTES];
    for (int64_t k = 0; k < RANK; k++) {
        own[k] = own_sizes >> 2 * k & 3;
        target[k] = target_sizes >> 2 * k & 3;
    }
    for (int64_t k = 0; k < BYTES; k++) {
        input[k] = unknown_byte();
        found[k] = due[k] = unknown_byte();
    }
    CLAIM_SAME(
        whycast_broadcast(found, BYTES, &place, input, BYTES, own, rank, target, RANK, WIDTH),
        plain_broadcast(due, BYTES, &due_place, input, BYTES, own, rank, target, RANK, WIDTH));
    claim_place();
    for (int64_t k = 0; k < BYTES; k++) {
        CLAIM_EQUAL(found[k], due[k]);
    }
}

/* (2,1) to (2,3), where words are repeated; (1,2) to (2,2), and (2) to (0,2). */
static void broadcast(void) {
    one(2 + 4, 2, 2 + 12);
    one(1 + 8, 2, 2 + 8);
    one(2, 1, 0 + 8);
}

/* The first size is any number, the other sizes are at most 3; the width is WIDTH, or below 1. */
static void size(void) {
    int64_t sizes[LENGTH(RANK)], width = unknown();
    fill(sizes, RANK);
    for (int64_t k = 1; k < RANK; k++) {
        sizes[k] &= 3;
    }
    width = width > 0 ? WIDTH : width;
    CLAIM_SAME(whycast_byte_size(&place, sizes, RANK, width),
               plain_byte_size(&due_place, sizes, RANK, width));
    claim_place();
}

/* The plan of two tensors, in row-major order if `given` is NULL; its steps from any step on. */
static void steps_of(const int64_t *const *shapes, const int64_t *const *given) {
    int64_t found[LENGTH(MOST)], due[LENGTH(MOST)], common[LENGTH(MOST)], offsets[2];
    int64_t steps[2 * LENGTH(MOST)], due_steps[2 * LENGTH(MOST)], counters[LENGTH(MOST - 1)];
    int64_t one[LENGTH(RANK)], other[LENGTH(OTHER)];
    const int64_t ranks[] = {RANK, OTHER}, *own[] = {one, other};
    const int64_t *const *strides = given != NULL ? given : own;
    row_major(one, shapes[0], RANK);
    row_major(other, shapes[1], OTHER);
    fill_both(found, due, LENGTH(MOST));
    fill_both(steps, due_steps, 2 * LENGTH(MOST));
    const int64_t loops =
        given != NULL
            ? whycast_plan_views(found, steps, LENGTH(MOST), &place, shapes, given, ranks, 2)
            : whycast_plan(found, steps, LENGTH(MOST), &place, shapes, ranks, 2);
    CLAIM_SAME(loops, plain_plan_views(due, due_steps, LENGTH(MOST), &due_place, shapes, strides,
                                       ranks, 2));
    claim_place();
    claim_numbers(found, due, LENGTH(MOST));
    claim_numbers(steps, due_steps, 2 * LENGTH(MOST));
    int64_t step = unknown();
    int64_t left = loops < 0 ? 0 : whycast_first(counters, offsets, found, steps, loops, 2, step);
    plain_broadcast_shape(common, LENGTH(MOST), &place, shapes, ranks, 2);
    for (; left > 0; step++) {
        for (int64_t m = 0; m < 2; m++) {
            CLAIM_EQUAL(offsets[m], plain_offset(shapes[m], strides[m], ranks[m], common, MOST,
                                                 step * found[loops - 1]));
        }
        left = whycast_next(counters, offsets, found, steps, loops, 2);
    }
}

/* A plan of sizes up to 3 and any strides. */
static void plan(void) {
    int64_t first[LENGTH(RANK)], second[LENGTH(OTHER)], one[LENGTH(RANK)], other[LENGTH(OTHER)];
    const int64_t *shapes[] = {first, second}, *strides[] = {one, other};
    fill(first, RANK);
    fill(second, OTHER);
    fill(one, RANK);
    fill(other, OTHER);
    for (int64_t k = 0; k < LENGTH(MOST); k++) {
        first[k < RANK ? k : 0] &= 3;
        second[k < OTHER ? k : 0] &= 3;
    }
    steps_of(shapes, strides);
}

static const int64_t loops_of[][2] = {{2, 3}, {2, 1}};

static void row_majors(void) {
    const int64_t *shapes[] = {loops_of[0], loops_of[1]};
    steps_of(shapes, NULL);
}

/* Two loops, or one if the strides permit; each stride is from -4 to 3. */
static void loops(void) {
    int64_t one[2], other[2];
    const int64_t *shapes[] = {loops_of[0], loops_of[1]}, *strides[] = {one, other};
    for (int64_t k = 0; k < 2; k++) {
        one[k] = unknown_byte() % 8 - 4;
        other[k] = unknown_byte() % 8 - 4;
    }
    steps_of(shapes, strides);
}

int main(void) {
    ENTRY();
    return 0;
}
