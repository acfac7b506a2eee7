/*
 * Holds c/whycast.c against tests/c/plain.c, call by call and byte by byte: every small case, the
 * limits of int64_t, blocks of all magnitudes to 8 MiB, and what is drawn at random: ranks and
 * tensors to 20, several errors at once, and a few outputs above 4 GiB. It needs a C compiler and
 * nothing else, so that it runs wherever the library is to run:
 *
 *     cc -std=c99 -Ic c/whycast.c tests/c/exhaustive.c && ./a.out [part ...]
 *
 * It prints the first calls that differ, and for each part how many calls there were and how many
 * of them differ. It ends with 1 if any does.
 *
 * Where there is mmap, each region lies at one end of memory beside pages that nobody may touch.
 * At its other end lie guards, which have to stay as they were, and so has an output itself where
 * there is an error. With -DEXACT there are neither, and no output is filled before: each region is
 * as long as the call says, so that AddressSanitizer or valgrind see what is read and written.
 * With -DFIRST it ends, and prints nothing, where the first call differs.
 */

#define _DEFAULT_SOURCE /* For MAP_ANONYMOUS. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(EXACT) && (defined(__unix__) || defined(__APPLE__))
#define PAGES
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "plain.c"

#ifdef EXACT
enum { GUARD = 0 };
#else
enum { GUARD = 40 };
#endif
#ifndef ROUNDS
enum { ROUNDS = 80000 };
#endif
enum { MOST_SHOWN = 5, MOST_REGIONS = 128, MOST_LOOKS = 64 };
enum { PAGE = 1 << 16, MOST_BYTES = 8 << 20 };

#define NUMBER ((int64_t)sizeof(int64_t))
#define LENGTH(list) ((int64_t)(sizeof(list) / sizeof *(list)))

static int64_t calls, differing;

/* --- memory --------------------------------------------------------------------------------- */

static void *allocate(size_t bytes) {
    void *memory = malloc(bytes);
    if (memory == NULL && bytes > 0) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

/* Random numbers, the same ones everywhere. */
static uint64_t state = 20261122;

static int64_t below(int64_t bound) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((state >> 33) % (uint64_t)bound);
}

/* One of so many numbers from 0 on, mostly of the first few. */
static int64_t mostly(int64_t few, int64_t most) {
    return below(below(8) ? few : most);
}

/* Memory between pages that nobody may touch. */
static uint8_t *fenced(size_t bytes) {
#ifdef PAGES
    uint8_t *all = mmap(NULL, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + PAGE, bytes, PROT_READ | PROT_WRITE)) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return all + PAGE;
#else
    return bytes > 0 ? allocate(bytes) : NULL;
#endif
}

/* The regions, each in memory that is used again, and how many bytes of guards are before each. */
static struct {
    uint8_t *memory, *start;
    int64_t size, before;
} regions[MOST_REGIONS];
static int used;

/* A region of `length` bytes, with guards at the end that is not the memory's. Without guards one
   of no bytes is NULL: nobody has to have a pointer to nothing. */
static uint8_t *guarded(int64_t length, int filled) {
    const int64_t all = (length > 0 ? length : 0) + GUARD;
    const int last = (int)below(2), k = used++;
    if (k >= MOST_REGIONS) {
        abort();
    }
    if (GUARD == 0 || regions[k].size < all) {
        /* What was there is lost to the process, a few times. */
        regions[k].size = GUARD > 0 ? (2 * all / PAGE + 1) * PAGE : all;
        regions[k].memory = fenced((size_t)regions[k].size);
    }
    uint8_t *first = regions[k].memory;
    if (first == NULL) {
        return regions[k].start = NULL;
    }
    first += last ? regions[k].size - all : 0;
    int64_t n = filled || GUARD > 0 ? 0 : all;
    for (; n < 256 && n < all; n++) {
        first[n] = (uint8_t)(0xA5 ^ n);
    }
    for (int64_t more; n < all; n += more) {
        more = n < all - n ? n : all - n;
        memcpy(first + n, first, (size_t)more);
    }
    regions[k].before = last ? GUARD : 0;
    return regions[k].start = first + regions[k].before;
}

/* The regions from one on are no longer used. */
static void release(int first) {
    for (; used > first; used--) {
        if (GUARD == 0) {
            free(regions[used - 1].memory);
        }
    }
}

/* Whether a region begins with the `bytes` that are due, and all else is as `guarded` left it. */
static int is_written(const uint8_t *region, int64_t length, const void *due, int64_t bytes) {
    int own = 0;
    while (regions[own].start != region) {
        own++;
    }
    const int64_t before = regions[own].before;
    const int64_t end = (length > 0 ? length : 0) + GUARD - before;
    for (int64_t k = region != NULL ? -before : end; k < end; k++) {
        if (k == 0 && bytes > 0) {
            k = bytes;
        }
        if (k < end && region[k] != (uint8_t)(0xA5 ^ (k + before))) {
            return 0;
        }
    }
    return bytes <= 0 || region == due || memcmp(region, due, (size_t)bytes) == 0;
}

/* A region with these bytes in it. */
static void *kept(const void *bytes, int64_t length) {
    uint8_t *region = guarded(length, 0);
    if (length > 0) {
        memcpy(region, bytes, (size_t)length);
    }
    return region;
}

/* What an input consists of, from one of the first places on: of bytes near each other no two are
   equal, but for some words that are 0. */
static uint8_t pattern[MOST_BYTES + 2 * MOST_TENSORS + 64];

static void draw_pattern(void) {
    for (size_t k = 0; k < sizeof pattern; k++) {
        pattern[k] = k % 1000 / 24 == 1 ? 0 : (uint8_t)(k + k / 256 * 17);
    }
}

static const uint8_t *some_bytes(void) {
    return pattern + below(64);
}

/* How many bytes so many of these are. */
#define BYTES_OF(count, type) ((count) > 0 ? (count) * (int64_t)sizeof(type) : 0)

/* --- shapes --------------------------------------------------------------------------------- */

typedef struct {
    int64_t rank;
    int64_t *sizes;
} shape;

typedef struct {
    int64_t count;
    shape *items;
} shape_list;

/* All shapes up to a rank over some sizes, each in memory of its own that is just long enough. */
static shape_list all_shapes(int64_t highest_rank, const int64_t *sizes, int64_t size_count) {
    shape_list found = {0, NULL};
    int64_t total = 0, of_rank = 1;
    for (int64_t rank = 0; rank <= highest_rank; rank++) {
        total += of_rank;
        of_rank *= size_count;
    }
    found.items = allocate((size_t)total * sizeof *found.items);
    of_rank = 1;
    for (int64_t rank = 0; rank <= highest_rank; rank++) {
        for (int64_t number = 0; number < of_rank; number++) {
            shape *item = &found.items[found.count++];
            int64_t rest = number;
            item->rank = rank;
            item->sizes = rank > 0 ? allocate((size_t)rank * sizeof *item->sizes) : NULL;
            for (int64_t axis = rank - 1; axis >= 0; axis--) {
                item->sizes[axis] = sizes[rest % size_count];
                rest /= size_count;
            }
        }
        of_rank *= size_count;
    }
    return found;
}

static void release_shapes(shape_list list) {
    for (int64_t k = 0; k < list.count; k++) {
        free(list.items[k].sizes);
    }
    free(list.items);
}

/* --- the functions, asked twice ------------------------------------------------------------- */

/* Counts a call, and prints one of the first that differ, with its shapes. */
static void agree(const char *name, int64_t code, whycast_place place, int64_t expected_code,
                  whycast_place expected, int memory, const int64_t *const *shapes,
                  const int64_t *ranks, int64_t count) {
    calls++;
    if (code == expected_code && place.tensor == expected.tensor && place.axis == expected.axis
        && memory) {
        return;
    }
#ifdef FIRST
    exit(1);
#endif
    if (++differing > MOST_SHOWN) {
        return;
    }
    printf("%s: expected %" PRId64 " at %" PRId64 ", %" PRId64 ", got %" PRId64 " at %" PRId64
           ", %" PRId64 "%s:", name, expected_code, expected.tensor, expected.axis, code,
           place.tensor, place.axis, memory ? "" : ", and other memory");
    for (int64_t m = 0; m < count; m++) {
        printf(" (rank %" PRId64 ":", ranks[m]);
        for (int64_t axis = 0; axis < ranks[m] && axis < MOST_AXES; axis++) {
            printf(" %" PRId64, shapes[m][axis]);
        }
        printf(")");
    }
    printf("\n");
}

static void ask_shape(int64_t capacity, const int64_t *const *shapes, const int64_t *ranks,
                      int64_t count) {
    int64_t expected_sizes[MOST_AXES] = {0};
    whycast_place place = {77, 77}, expected = {0, 0};
    const int64_t most = capacity < MOST_AXES ? capacity : MOST_AXES;
    const int64_t room = BYTES_OF(most, int64_t);
    const int64_t expected_code =
        plain_broadcast_shape(expected_sizes, most, &expected, shapes, ranks, count);
    const int first = used;
    int64_t *sizes = (int64_t *)(void *)guarded(room, 1);
    const int64_t code =
        whycast_broadcast_shape(sizes, capacity, &place, shapes, ranks, count);
    const int memory =
        is_written((uint8_t *)sizes, room, expected_sizes, expected_code * NUMBER);
    agree("broadcast_shape", code, place, expected_code, expected, memory, shapes, ranks, count);
    release(first);
}

static void ask_strides(const int64_t *strides, const int64_t *sizes, int64_t rank,
                        const int64_t *target, int64_t target_rank) {
    int64_t expected_view[MOST_AXES] = {0};
    whycast_place place = {77, 77}, expected = {0, 0};
    const int64_t expected_code = plain_broadcast_strides(expected_view, &expected, strides, sizes,
                                                          rank, target, target_rank);
    const int64_t room = BYTES_OF(target_rank, int64_t);
    const int first = used;
    int64_t *view = (int64_t *)(void *)guarded(room, 1);
    const int64_t code =
        whycast_broadcast_strides(view, &place, strides, sizes, rank, target, target_rank);
    const int memory =
        is_written((uint8_t *)view, room, expected_view, expected_code < 0 ? 0 : room);
    const int64_t *shapes[] = {sizes, target}, ranks[] = {rank, target_rank};
    agree("broadcast_strides", code, place, expected_code, expected, memory, shapes, ranks, 2);
    release(first);
}

static void ask_size(const int64_t *sizes, int64_t rank, int64_t width) {
    whycast_place place = {77, 77}, expected = {0, 0};
    const int64_t expected_code = plain_byte_size(&expected, sizes, rank, width);
    const int64_t code = whycast_byte_size(&place, sizes, rank, width);
    agree("byte_size", code, place, expected_code, expected, 1, &sizes, &rank, 1);
}

/* The rooms and extents that are named are there; what is due is as much at most. */
static void ask_tensor(int64_t room, int64_t extent, const int64_t *sizes, int64_t rank,
                       const int64_t *target, int64_t target_rank, int64_t width) {
    const int first = used;
    const uint8_t *given = some_bytes();
    uint8_t *input = kept(given, extent), *due = guarded(room, 0);
    whycast_place place = {77, 77}, expected = {0, 0}, nowhere;
    const int64_t expected_code = plain_broadcast(due, room, &expected, input, extent, sizes, rank,
                                                  target, target_rank, width);
    const int64_t bytes =
        expected_code < 0 ? 0 : plain_byte_size(&nowhere, target, target_rank, width);
    uint8_t *output = guarded(room, expected_code < 0 || bytes < room);
    const int64_t code = whycast_broadcast(output, room, &place, input, extent, sizes, rank, target,
                                           target_rank, width);
    const int memory = is_written(output, room, due, bytes) &&
                       is_written(input, extent, given, extent);
    const int64_t *shapes[] = {sizes, target}, ranks[] = {rank, target_rank};
    agree("broadcast", code, place, expected_code, expected, memory, shapes, ranks, 2);
    release(first);
}

static void ask_all(int64_t capacity, const int64_t *rooms, const int64_t *extents,
                    const int64_t *const *shapes, const int64_t *ranks, const int64_t *widths,
                    int64_t count) {
    const int first = used;
    const uint8_t *given = some_bytes();
    uint8_t *dues[MOST_TENSORS] = {NULL};
    uint8_t **outputs = (uint8_t **)(void *)guarded(BYTES_OF(count, uint8_t *), 0);
    const uint8_t **inputs = (const uint8_t **)(void *)guarded(BYTES_OF(count, uint8_t *), 0);
    int64_t expected_target[MOST_AXES] = {0}, ignored[MOST_AXES];
    whycast_place place = {77, 77}, expected = {0, 0}, nowhere;
    int memory = 1;
    for (int64_t m = 0; m < count; m++) {
        inputs[m] = kept(given + m, extents[m]);
        dues[m] = guarded(rooms[m], 0);
    }
    const int64_t expected_code =
        plain_broadcast_all(dues, rooms, expected_target, capacity, &expected, inputs, extents,
                            shapes, ranks, widths, count);
    /* Where the shapes have a common one, it is written, whatever comes later. */
    const int64_t rank =
        plain_broadcast_shape(ignored, capacity, &nowhere, shapes, ranks, count);
    for (int64_t m = 0; m < count; m++) {
        const int64_t bytes =
            expected_code < 0 ? 0 : plain_byte_size(&nowhere, expected_target, rank, widths[m]);
        outputs[m] = guarded(rooms[m], expected_code < 0 || bytes < rooms[m]);
    }
    const int64_t room = BYTES_OF(capacity, int64_t);
    int64_t *target = (int64_t *)(void *)guarded(room, 1);
    const int64_t code = whycast_broadcast_all(outputs, rooms, target, capacity, &place, inputs,
                                               extents, shapes, ranks, widths, count);
    for (int64_t m = 0; m < count; m++) {
        const int64_t bytes =
            expected_code < 0 ? 0 : plain_byte_size(&nowhere, expected_target, rank, widths[m]);
        memory = memory && is_written(outputs[m], rooms[m], dues[m], bytes) &&
                 is_written(inputs[m], extents[m], given + m, extents[m]);
    }
    memory = memory && is_written((uint8_t *)target, room, expected_target, rank * NUMBER);
    agree("broadcast_all", code, place, expected_code, expected, memory, shapes, ranks, count);
    release(first);
}

/* A plan with the shapes and strides that it is of, and where a step of it is. */
typedef struct {
    const int64_t *const *shapes, *const *strides, *ranks;
    int64_t common[MOST_AXES], rank, count, loops, *sizes, *steps, *counters, *offsets;
} plan;

/* How many of so many are looked at, and the n-th of these: all of a few, and the last of many. */
static int64_t looks(int64_t many) {
    return many < MOST_LOOKS ? many : MOST_LOOKS;
}

static int64_t look(int64_t n, int64_t many) {
    return n == looks(many) - 1 ? many - 1 : n * (many / looks(many));
}

/* Whether the counters are the digits of a step, and each run is where f has its elements. */
static int is_at(const plan *p, int64_t step) {
    const int64_t last = p->loops - 1, run = p->sizes[last];
    int64_t digits[MOST_AXES], begins[MOST_TENSORS], rest = step;
    for (int64_t m = 0; m < p->count; m++) {
        for (int64_t n = 0; n < looks(run); n++) {
            const int64_t v = look(n, run);
            const int64_t due = plain_offset(p->shapes[m], p->strides[m], p->ranks[m], p->common,
                                             p->rank, step * run + v);
            begins[m] = n == 0 ? due : begins[m];
            if (begins[m] + v * p->steps[last * p->count + m] != due) {
                return 0;
            }
        }
    }
    for (int64_t j = last - 1; j >= 0; j--) {
        digits[j] = rest % p->sizes[j];
        rest /= p->sizes[j];
    }
    return is_written((uint8_t *)p->counters, last * NUMBER, digits, last * NUMBER) &&
           is_written((uint8_t *)p->offsets, p->count * NUMBER, begins, p->count * NUMBER);
}

/* From the first step all, from each of the others the next one, and from the last the first. */
static void ask_steps(plan *p) {
    const int64_t last = p->loops - 1;
    const whycast_place nowhere = {-1, -1};
    int64_t total = p->sizes[last] > 0;
    for (int64_t j = 0; j < last; j++) {
        total *= p->sizes[j];
    }
    const int64_t none[] = {-1, total, INT64_MIN, INT64_MAX};
    for (int64_t n = -LENGTH(none); n < looks(total); n++) {
        const int64_t step = n < 0 ? none[-1 - n] : look(n, total);
        const int first = used;
        p->counters = (int64_t *)(void *)guarded(last * NUMBER, 1);
        p->offsets = (int64_t *)(void *)guarded(p->count * NUMBER, 1);
        int64_t code = whycast_first(p->counters, p->offsets, p->sizes, p->steps, p->loops,
                                     p->count, step);
        int memory = n >= 0 ? is_at(p, step)
                            : is_written((uint8_t *)p->counters, last * NUMBER, NULL, 0) &&
                              is_written((uint8_t *)p->offsets, p->count * NUMBER, NULL, 0);
        agree("first", code, nowhere, n >= 0 ? total - step : 0, nowhere, memory, p->shapes,
              p->ranks, p->count);
        for (int64_t k = 1; n >= 0 && k <= (n == 0 ? looks(total) : 1); k++) {
            code = whycast_next(p->counters, p->offsets, p->sizes, p->steps, p->loops, p->count);
            agree("next", code, nowhere, step + k < total, nowhere, is_at(p, (step + k) % total),
                  p->shapes, p->ranks, p->count);
        }
        release(first);
    }
}

/* The code of an error is a plan of no step, and then no memory is looked at. */
static void ask_no_step(const plan *p) {
    const int64_t none[] = {p->loops, 0, INT64_MIN};
    const whycast_place nowhere = {-1, -1};
    for (int64_t n = 0; n < LENGTH(none); n++) {
        agree("first", whycast_first(NULL, NULL, NULL, NULL, none[n], p->count, 0), nowhere, 0,
              nowhere, 1, p->shapes, p->ranks, p->count);
        agree("next", whycast_next(NULL, NULL, NULL, NULL, none[n], p->count), nowhere, 0, nowhere,
              1, p->shapes, p->ranks, p->count);
    }
}

/* Strides are NULL in row-major order. */
static void ask_plan(int64_t capacity, const int64_t *const *shapes, const int64_t *const *strides,
                     const int64_t *ranks, int64_t count) {
    int64_t sizes[MOST_AXES] = {0}, steps[MOST_AXES * MOST_TENSORS] = {0};
    int64_t orders[MOST_TENSORS][MOST_AXES];
    const int64_t *rows[MOST_TENSORS];
    whycast_place place = {77, 77}, expected = {0, 0}, nowhere;
    const int64_t most = capacity < MOST_AXES ? capacity : MOST_AXES;
    const int64_t room = BYTES_OF(most, int64_t), all = count > 0 ? room * count : 0;
    const int first = used;
    plan p = {shapes, rows, ranks, {0}, 0, count, 0, (int64_t *)(void *)guarded(room, 1),
              (int64_t *)(void *)guarded(all, 1), NULL, NULL};
    for (int64_t m = 0; m < count; m++) {
        row_major(orders[m], shapes[m], ranks[m]);
        rows[m] = strides != NULL ? strides[m] : orders[m];
    }
    const int64_t expected_code =
        plain_plan_views(sizes, steps, most, &expected, shapes, rows, ranks, count);
    const int64_t loops = expected_code < 0 ? 0 : expected_code;
    p.loops = strides == NULL
                  ? whycast_plan(p.sizes, p.steps, capacity, &place, shapes, ranks, count)
                  : whycast_plan_views(p.sizes, p.steps, capacity, &place, shapes, strides, ranks,
                                       count);
    const int memory =
        is_written((uint8_t *)p.sizes, room, sizes, loops * NUMBER) &&
        is_written((uint8_t *)p.steps, all, steps, loops * count * NUMBER);
    agree("plan", p.loops, place, expected_code, expected, memory, shapes, ranks, count);
    if (memory && p.loops > 0 && p.loops == loops) {
        p.rank = plain_broadcast_shape(p.common, MOST_AXES, &nowhere, shapes, ranks, count);
        ask_steps(&p);
    } else if (p.loops < 0) {
        ask_no_step(&p);
    }
    release(first);
}

/* --- the parts ------------------------------------------------------------------------------ */

static const int64_t small_sizes[] = {0, 1, 2, 3}, with_negative[] = {-1, 0, 1, 2};
static const int64_t every_width[] = {1, 2, 3, 4, 5, 8, 12, 16, 17, 33};
/* Around 0, the roots and quotients of 2^63, the 32 bits of a size_t that has no more, the ends. */
static const int64_t limits[] = {
    INT64_MIN,           INT64_MIN + 1,        -1, 0, 1, 2, 3, 7, INT64_C(0x7FFFFFFF),
    INT64_C(0x80000000), INT64_C(0x100000000), INT64_C(0x100000001), INT64_C(3037000499),
    INT64_C(3037000500), INT64_C(1) << 40,     INT64_C(1317624576693539401),
    INT64_C(1) << 62,    INT64_MAX - 1,        INT64_MAX};

/* What is asked of some shapes, with so much room for sizes. */
typedef void (*asking)(int64_t, const int64_t *const *, const int64_t *, int64_t);

/* The shapes of a list whose numbers in it are the digits of a number. */
static void choose(const shape_list *list, int64_t number, int64_t count, const int64_t **shapes,
                   int64_t *ranks) {
    for (int64_t m = 0; m < count; m++) {
        shapes[m] = list->items[number % list->count].sizes;
        ranks[m] = list->items[number % list->count].rank;
        number /= list->count;
    }
}

static int64_t power(int64_t base, int64_t exponent) {
    return exponent > 0 ? base * power(base, exponent - 1) : 1;
}

/* Plans of tensors in row-major order; of some that step over elements, backwards or not at all; of
   any. What is handed over stays as it was. */
static void ask_plans(int64_t capacity, const int64_t *const *shapes, const int64_t *ranks,
                      int64_t count) {
    const int64_t kind = below(8), times = kind < 3 ? 1 : below(5) - 2;
    const int first = used;
    int64_t strides[MOST_TENSORS][MOST_AXES], *rows[MOST_TENSORS];
    whycast_place nowhere = {-1, -1};
    int memory = 1;
    for (int64_t m = 0; m < count; m++) {
        row_major(strides[m], shapes[m], ranks[m]);
        for (int64_t axis = 0; axis < ranks[m]; axis++) {
            int64_t *stride = &strides[m][axis];
            *stride = (int64_t)((uint64_t)*stride * (uint64_t)times);
            if (kind > 5 && below(2)) {
                *stride = kind == 6 ? below(9) - 4 : limits[below(LENGTH(limits))];
            }
        }
        rows[m] = kept(strides[m], BYTES_OF(ranks[m], int64_t));
    }
    ask_plan(capacity, shapes, NULL, ranks, count);
    ask_plan(capacity, shapes, kept(rows, BYTES_OF(count, int64_t *)), ranks, count);
    for (int64_t m = 0; m < count; m++) {
        const int64_t own = BYTES_OF(ranks[m], int64_t);
        memory = memory && is_written((uint8_t *)rows[m], own, strides[m], own);
    }
    agree("strides handed over", 0, nowhere, 0, nowhere, memory, shapes, ranks, count);
    release(first);
}

/* Up to `most` shapes of a list at once, with room for axes or without. */
static void shapes_up_to(asking ask, shape_list list, int64_t most, int64_t least_capacity) {
    const int64_t *shapes[MOST_TENSORS] = {NULL};
    int64_t ranks[MOST_TENSORS] = {0};
    for (int64_t count = 1; count <= most; count++) {
        for (int64_t number = 0; number < power(list.count, count); number++) {
            choose(&list, number, count, shapes, ranks);
            for (int64_t capacity = least_capacity; capacity <= 3; capacity++) {
                ask(capacity, shapes, ranks, count);
            }
        }
    }
    release_shapes(list);
}

static void every_shape(asking ask) {
    const int64_t negative_ranks[] = {-1, INT64_MIN, 1, 0}, one[] = {-5, 0};
    const int64_t *rows[] = {NULL, NULL, one, NULL};
    shapes_up_to(ask, all_shapes(3, small_sizes, 4), 2, -1);
    shapes_up_to(ask, all_shapes(2, with_negative, 4), 3, 1);
    shapes_up_to(ask, all_shapes(1, small_sizes, 4), 5, 0);
    shapes_up_to(ask, all_shapes(2, limits, LENGTH(limits)), 2, 3);
    shapes_up_to(ask, all_shapes(1, limits, LENGTH(limits)), 3, 1);
    for (int64_t count = 0; count <= 4; count++) {
        /* The last rank may be negative, the only one, or come behind a negative size. */
        for (int64_t first = 0; first + count <= 4; first++) {
            ask(2, rows + first, negative_ranks + first, count);
        }
    }
    for (int64_t k = 0; k < LENGTH(limits); k++) {
        const int64_t sizes[] = {3, 1};
        const int64_t *two[] = {sizes, sizes};
        const int64_t ranks[] = {2, limits[k] < 0 ? limits[k] : 1};
        ask(limits[k], two, ranks, 2);
        if (limits[k] < 2) {
            ask(2, limits[k] < 1 ? NULL : two, limits[k] < 1 ? NULL : ranks, limits[k]);
        }
    }
}

static void shapes_part(void) {
    every_shape(ask_shape);
    shapes_up_to(ask_shape, all_shapes(3, small_sizes, 4), 3, 3);
}

/* Tensors of which each grows on other axes: few axes are one loop. */
static void ask_deep_plans(void) {
    const int64_t count = 1 + mostly(6, MOST_TENSORS), rank = mostly(11, MOST_AXES + 1);
    int64_t sizes[MOST_TENSORS][MOST_AXES], ranks[MOST_TENSORS], common[MOST_AXES];
    const int64_t *shapes[MOST_TENSORS];
    for (int64_t axis = 0; axis < rank; axis++) {
        common[axis] = below(60) ? 1 + below(4) : 0;
    }
    for (int64_t m = 0; m < count; m++) {
        ranks[m] = below(2) ? rank : below(rank + 1);
        for (int64_t axis = 0; axis < ranks[m]; axis++) {
            sizes[m][axis] = below(2) ? common[axis + rank - ranks[m]] : 1;
        }
        shapes[m] = sizes[m];
    }
    ask_plans(MOST_AXES, shapes, ranks, count);
}

static void plans_part(void) {
    every_shape(ask_plans);
    for (int64_t round = 0; round < ROUNDS / 10; round++) {
        ask_deep_plans();
    }
}

static void strides_of(shape_list list, shape_list targets) {
    const int64_t strides[] = {INT64_MIN, -24, INT64_MAX};
    for (int64_t m = 0; m < list.count; m++) {
        for (int64_t n = 0; n < targets.count; n++) {
            const shape own = list.items[m], target = targets.items[n];
            int64_t *exact = allocate((size_t)own.rank * sizeof *exact);
            for (int64_t k = 0; k < own.rank; k++) {
                exact[k] = strides[k];
            }
            ask_strides(exact, own.sizes, own.rank, target.sizes, target.rank);
            free(exact);
        }
        ask_strides(NULL, NULL, m % 2 ? -1 : INT64_MIN, list.items[m].sizes, list.items[m].rank);
        ask_strides(strides, list.items[m].sizes, list.items[m].rank, NULL, -1 - m);
    }
    release_shapes(list);
    release_shapes(targets);
}

static void strides_part(void) {
    strides_of(all_shapes(3, small_sizes, 4), all_shapes(3, small_sizes, 4));
    strides_of(all_shapes(2, limits, LENGTH(limits)), all_shapes(2, limits, LENGTH(limits)));
    strides_of(all_shapes(3, with_negative, 4), all_shapes(3, with_negative, 4));
    ask_strides(NULL, NULL, -1, NULL, -1);
}

static void sizes_part(void) {
    shape_list list = all_shapes(3, limits, LENGTH(limits));
    for (int64_t k = 0; k < list.count; k++) {
        for (int64_t n = 0; n < LENGTH(limits); n++) {
            ask_size(list.items[k].sizes, list.items[k].rank, limits[n]);
        }
    }
    for (int64_t n = 0; n < LENGTH(limits); n++) {
        ask_size(NULL, limits[n] < 0 ? limits[n] : 0, n);
    }
    release_shapes(list);
}

/* The bytes of a tensor, if they are counted and not too many: else some. */
static int64_t there(const int64_t *sizes, int64_t rank, int64_t width) {
    whycast_place nowhere;
    const int64_t bytes = plain_byte_size(&nowhere, sizes, rank, width);
    return bytes < 0 || bytes > MOST_BYTES ? 5 : bytes;
}

/* A tensor and its target with as much memory as there has to be, with less and with more. */
static void tensor_of(shape own, shape target, int64_t width) {
    const int64_t room = there(target.sizes, target.rank, width);
    const int64_t extent = there(own.sizes, own.rank, width);
    const int64_t more[][2] = {{0, 0}, {-1, 0}, {0, -1}, {7, 9}, {INT64_MIN, -1 - extent}};
    for (int64_t k = 0; k < LENGTH(more); k++) {
        ask_tensor(room + more[k][0], extent + more[k][1], own.sizes, own.rank, target.sizes,
                   target.rank, width);
    }
}

static void tensors_of(shape_list list, const int64_t *widths, int64_t width_count) {
    for (int64_t m = 0; m < list.count; m++) {
        for (int64_t n = 0; n < list.count; n++) {
            for (int64_t k = 0; k < width_count; k++) {
                tensor_of(list.items[m], list.items[n], widths[k]);
            }
        }
        const shape negative = {-1 - m, NULL};
        tensor_of(list.items[m], negative, 1);
        tensor_of(negative, list.items[m], 0);
    }
    release_shapes(list);
}

static void tensors_part(void) {
    const int64_t odd_widths[] = {INT64_MIN, -1, 0, 1, INT64_C(1) << 40, INT64_MAX};
    /* A shape may have too many bytes where its target has none. */
    int64_t huge[] = {1, INT64_C(1) << 40, INT64_C(1) << 40}, none[] = {0, huge[1], huge[2]};
    const shape many = {3, huge}, no = {3, none};
    tensors_of(all_shapes(3, small_sizes, 4), every_width, LENGTH(every_width));
    tensors_of(all_shapes(2, with_negative, 4), odd_widths, LENGTH(odd_widths));
    tensors_of(all_shapes(2, limits, LENGTH(limits)), odd_widths + 2, 2);
    for (int64_t n = 0; n < LENGTH(limits); n++) {
        tensor_of(many, no, limits[n]);
        tensor_of(no, no, limits[n]);
        tensor_of(no, many, limits[n]);
    }
}

static void all_of(const shape_list *list, int64_t number, int64_t count, const int64_t *widths) {
    const int64_t *shapes[MOST_TENSORS] = {NULL};
    int64_t ranks[MOST_TENSORS] = {0}, rooms[MOST_TENSORS] = {0}, extents[MOST_TENSORS] = {0};
    int64_t common[MOST_AXES];
    whycast_place nowhere;
    choose(list, number, count, shapes, ranks);
    const int64_t rank =
        plain_broadcast_shape(common, MOST_AXES, &nowhere, shapes, ranks, count);
    for (int64_t m = 0; m < count; m++) {
        rooms[m] = rank < 0 ? 3 : there(common, rank, widths[m]);
        extents[m] = there(shapes[m], ranks[m], widths[m]);
    }
    ask_all(3, rooms, extents, shapes, ranks, widths, count);
    if (rank >= 0) {
        ask_all(rank, rooms, extents, shapes, ranks, widths, count);
        ask_all(rank - 1, rooms, extents, shapes, ranks, widths, count);
    }
    /* One tensor has too little memory; the errors of those before it come first. */
    for (int64_t m = 0; m < count && rank >= 0; m++) {
        rooms[m]--;
        ask_all(3, rooms, extents, shapes, ranks, widths, count);
        rooms[m] += 4;
        extents[m]--;
        ask_all(3, rooms, extents, shapes, ranks, widths, count);
        extents[m] += 4;
    }
}

static void all_lists(shape_list list, int64_t count, const int64_t *widths) {
    for (int64_t number = 0; number < power(list.count, count); number++) {
        all_of(&list, number, count, widths);
    }
    release_shapes(list);
}

static void all_part(void) {
    const int64_t widths[][3] = {{1, 2, 4}, {3, 16, 8}, {5, 1, 33}, {2, 0, 1}, {12, 17, -1},
                                 {1, INT64_MAX, 2}};
    const int64_t sizes[] = {2, 3};
    const int64_t *one[] = {sizes};
    for (int64_t k = 0; k < LENGTH(widths); k++) {
        all_lists(all_shapes(k < 2 ? 3 : 2, small_sizes, 4), 2, widths[k]);
        all_lists(all_shapes(k == 0 ? 2 : 1, small_sizes, 4), 3, widths[k]);
        all_lists(all_shapes(1, limits, LENGTH(limits)), 2, widths[k]);
    }
    for (int64_t k = 0; k < LENGTH(limits); k++) {
        if (limits[k] < 1) {
            ask_all(3, NULL, NULL, NULL, NULL, NULL, limits[k]);
        }
        if (limits[k] < 0) {
            ask_all(3, sizes, sizes, one, &limits[k], sizes, 1);
            ask_all(limits[k], sizes, sizes, one, sizes, sizes, 1);
        }
    }
}

/* A large tensor: of each axis the size of the target, and whether the tensor has it or 1. */
static void block_of(int64_t rank, const int64_t *sizes, int64_t grows, int64_t missing,
                     int64_t width) {
    int64_t own[MOST_AXES], bytes = width, extent = width;
    for (int64_t axis = 0; axis < rank; axis++) {
        own[axis] = grows >> axis & 1 ? 1 : sizes[axis];
        bytes *= sizes[axis];
        extent *= axis < missing ? 1 : own[axis];
    }
    ask_tensor(bytes, extent, own + missing, rank - missing, sizes, rank, width);
}

/* A number from 1 on, of any magnitude; half of them have few binary digits, but for the last two. */
static int64_t of_any_magnitude(int64_t most) {
    int64_t bits = 0;
    while (most >> bits > 1) {
        bits++;
    }
    bits = below(bits + 1);
    const int64_t power = INT64_C(1) << bits, few = below(4), zeros = bits > few ? bits - few : 0;
    const int64_t any = power + below(power);
    const int64_t number = below(2) ? any : (any >> zeros << zeros) + below(3);
    return number < most ? number : most;
}

/* Blocks of any magnitudes, (m,1) to (m,r), b bytes each: every row is copies of its first block.
   Of more rows than some ten thousands, each takes longer than what is new. */
static void ask_blocks(void) {
    int64_t n[3], left = MOST_BYTES;
    for (int64_t k = 0, start = below(3); k < 3; k++) {
        int64_t *number = &n[(start + k) % 3];
        *number = of_any_magnitude(number == n && left > PAGE ? PAGE : left);
        left /= *number;
    }
    const int64_t m = n[0], r = n[1], b = n[2], own[] = {m, 1}, target[] = {m, r}, ranks[] = {2, 2};
    const int64_t *shapes[] = {own, target}, room = m * r * b;
    const int first = used;
    const uint8_t *given = some_bytes(), *input = kept(given, m * b);
    uint8_t *output = guarded(room, 0);
    whycast_place place = {77, 77}, expected = {-1, -1};
    const int64_t code =
        whycast_broadcast(output, room, &place, input, m * b, own, 2, target, 2, b);
    int memory = is_written(output, room, output, room);
    for (int64_t k = 0; k < m; k++) {
        const uint8_t *row = output + k * r * b;
        memory = memory && memcmp(row, given + k * b, (size_t)b) == 0 &&
                 memcmp(row + b, row, (size_t)((r - 1) * b)) == 0;
    }
    agree("broadcast", code, place, 0, expected, memory, shapes, ranks, 2);
    release(first);
}

static void blocks_part(void) {
    static const int64_t choice[] = {1,  2,  3,  4,  5,   6,   7,   8,   9,   12,  15,  16,  17, 20,
                                     31, 32, 33, 63, 64, 65, 128, 200, 511, 512, 513, 516, 1030};
    static const int64_t rows[] = {1, 2, 5, 64, 16383, 16384, 16385, 20000, 40000};
    static const int64_t times[] = {2, 3, 4, 5, 7, 8, 9, 12, 63, 64, 65, 508, 512, 516};
    const int64_t most = 1 << 16;
    /* Runs of each length, repeated few and many times: once, twice, and more than a word. */
    for (int64_t width = 1; width <= 40; width++) {
        for (int64_t k = 0; k < LENGTH(times); k++) {
            for (int64_t blocks = 1; blocks <= 3; blocks++) {
                const int64_t sizes[] = {blocks, times[k]};
                block_of(2, sizes, 2, 0, width);
            }
        }
    }
    /* Blocks about as long as the parts by which a row grows. */
    for (int64_t k = 0; k < LENGTH(rows); k++) {
        for (int64_t n = 0; n < 8; n++) {
            const int64_t sizes[] = {2, times[n], rows[k]};
            block_of(3, sizes, 2, 0, 1);
            block_of(3, sizes, 2, n % 2, 2);
        }
    }
    /* Rows of more than 1 MiB, which grow by larger parts; and outputs of more than 4 MiB. */
    for (int64_t grows = 0; grows < 16; grows++) {
        const int64_t sizes[] = {3, 2, 2, 2};
        block_of(4, sizes, grows, 0, 300007);
    }
    for (int64_t round = 0; round < 2000; round++) {
        int64_t sizes[MOST_AXES], bytes = every_width[below(LENGTH(every_width))];
        const int64_t width = bytes;
        int64_t rank = 0;
        while (rank < 6 && bytes < most / 2) {
            sizes[rank] = choice[below(LENGTH(choice))];
            if (bytes * sizes[rank] > most) {
                sizes[rank] = 2;
            }
            bytes *= sizes[rank++];
        }
        block_of(rank, sizes, below(64), below(rank), width);
    }
    for (int64_t round = 0; round < ROUNDS / 100; round++) {
        ask_blocks();
    }
}

/* --- more bytes than 32 bits count ---------------------------------------------------------- */

#if defined(PAGES) && SIZE_MAX > UINT32_MAX
enum { LOOP = 3 << 20, LOOPS = 1400, ROW = 1 << 17 };

/* Memory in which all LOOP bytes but the last are the same ones: there is no more than these. */
static uint8_t *looped(void) {
    const size_t bytes = (size_t)LOOPS * LOOP;
    uint8_t *all = mmap(NULL, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *file = tmpfile();
    int wrong = file == NULL || all == MAP_FAILED || ftruncate(fileno(file), LOOP) != 0;
    for (size_t k = 0; !wrong && k < bytes; k += LOOP) {
        const int flags = MAP_FIXED | (k + LOOP < bytes ? MAP_SHARED : MAP_PRIVATE);
        wrong = mmap(all + PAGE + k, LOOP, PROT_READ | PROT_WRITE, flags, fileno(file), 0)
                == MAP_FAILED;
    }
    if (wrong) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return all + PAGE;
}

/* A tensor that is one loop or more, and nothing but loops in the output: also what is made in
   between is, so that the memory is right for it. */
static void ask_loops(uint8_t *output, const uint8_t *input, const int64_t *sizes, int64_t rank,
                      const int64_t *target, int64_t target_rank) {
    whycast_place place = {77, 77}, expected = {-1, -1}, nowhere;
    const int64_t room = plain_byte_size(&nowhere, target, target_rank, 1);
    const int64_t extent = plain_byte_size(&nowhere, sizes, rank, 1);
    uint8_t *last = output + (int64_t)(LOOPS - 1) * LOOP;
    memset(output, 0, LOOP);
    memset(last, 0, LOOP);
    const int64_t code = whycast_broadcast(output, room, &place, input, extent, sizes, rank, target,
                                           target_rank, 1);
    const int memory = memcmp(output, pattern, LOOP) == 0 && memcmp(last, pattern, LOOP) == 0;
    const int64_t *shapes[] = {sizes, target}, ranks[] = {rank, target_rank};
    agree("broadcast", code, place, 0, expected, memory, shapes, ranks, 2);
}

static void more_than_32_bits(void) {
    const int64_t loop[] = {LOOP}, loops[] = {LOOPS, LOOP}, halves[] = {2, LOOPS / 2, LOOP};
    const int64_t four[] = {2, 1, 2, 1, LOOP}, eighths[] = {2, 2, 2, LOOPS / 8, LOOP};
    const int64_t table[] = {(int64_t)LOOPS * LOOP / ROW, ROW};
    uint8_t *output = looped(), *input = looped();
    memcpy(input, pattern, LOOP);
    memcpy(input + (int64_t)(LOOPS - 1) * LOOP, pattern, LOOP);
    ask_loops(output, input, loop, 1, halves, 3);
    ask_loops(output, input, four, 5, eighths, 5);
    ask_loops(output, input, loops, 2, loops, 2);
    ask_loops(output, input, table, 2, table, 2);
}
#endif

/* --- at random ------------------------------------------------------------------------------ */

/* A number; or now and then one that is less, or a little more. */
static int64_t nearly(int64_t number) {
    const int64_t kind = below(40);
    return kind > 1 ? number : kind ? number + below(9) : number - 1 - below(2) * below(number + 1);
}

/* Sizes of at most so many elements, and of about as many if they are many; or some are huge, and
   one may be 0. */
static void draw_sizes(int64_t *sizes, int64_t rank, int64_t elements, int huge) {
    const int64_t start = below(MOST_AXES);
    for (int64_t k = 0; k < rank; k++) {
        const int64_t some = 1 + below(2) * below(below(4) ? 3 : 1 + elements / 64);
        int64_t *size = &sizes[(start + k) % rank];
        *size = k == rank - 1 && (elements > 1 << 16 || below(2)) ? elements
                : some < elements ? some : elements;
        elements /= *size;
    }
    for (int64_t k = 0; rank > 0 && huge && k < 3; k++) {
        sizes[below(rank)] = k == 2 && below(2) ? 0 : limits[8 + below(LENGTH(limits) - 8)];
    }
}

/* Up to twenty shapes that have a common one, but for a few faults, and all that is asked of them:
   outputs of about so many bytes. All that is handed over is in regions, and stays as it was. */
static void ask_at_random(int64_t bytes) {
    const int large = bytes > 1 << 20, first = used;
    const int64_t count = 1 + mostly(6, large ? 6 : MOST_TENSORS);
    const int64_t rank = mostly(11, MOST_AXES + 1), all = below(count);
    int64_t sizes[MOST_TENSORS][MOST_AXES], strides[MOST_AXES], common[MOST_AXES], widest = 1;
    int64_t ranks[MOST_TENSORS], widths[MOST_TENSORS], rooms[MOST_TENSORS], extents[MOST_TENSORS];
    int64_t *rows[MOST_TENSORS];
    whycast_place nowhere = {0, 0};
    for (int64_t m = 0; m < count; m++) {
        widths[m] = below(4) ? every_width[below(LENGTH(every_width))] : 1 + below(bytes / 9 + 1);
        widest = widths[m] > widest ? widths[m] : widest;
    }
    draw_sizes(common, rank, bytes / widest + 1, !large && below(4) == 0);
    for (int64_t m = 0; m < count; m++) {
        ranks[m] = m == all || below(2) ? rank : below(rank + 1);
        for (int64_t axis = 0; axis < ranks[m]; axis++) {
            const int64_t size = common[axis + rank - ranks[m]];
            sizes[m][axis] = count == 1 || below(3) ? size : 1;
        }
    }
    for (int64_t faults = below(4) - 1; !large && faults > 0; faults--) {
        const int64_t m = below(count), kind = below(6), limit = limits[below(LENGTH(limits))];
        if (kind == 0) {
            ranks[m] = -1 - below(9);
        } else if (kind == 1) {
            widths[m] = limit;
        } else if (ranks[m] > 0) {
            sizes[m][below(ranks[m])] = below(2) ? below(6) - 1 : limit;
        }
    }
    for (int64_t m = 0; m < count; m++) {
        rows[m] = kept(sizes[m], BYTES_OF(ranks[m], int64_t));
    }
    const int64_t *const *shapes = kept(rows, BYTES_OF(count, int64_t *));
    const int64_t found = plain_broadcast_shape(strides, MOST_AXES, &nowhere, shapes, ranks, count);
    for (int64_t m = 0; m < count; m++) {
        const int64_t room = found < 0 ? 3 : there(strides, found, widths[m]);
        const int64_t extent = there(rows[m], ranks[m], widths[m]);
        rooms[m] = large ? room : nearly(room);
        extents[m] = large ? extent : nearly(extent);
    }
    const int64_t *lists[] = {ranks, widths, rooms, extents};
    int64_t *of[4];
    for (int64_t k = 0; k < 4; k++) {
        of[k] = kept(lists[k], BYTES_OF(count, int64_t));
    }
    const int64_t capacity = below(4) ? MOST_AXES : rank + below(4) - 2;
    ask_shape(capacity, shapes, of[0], count);
    ask_plans(capacity, shapes, of[0], count);
    ask_all(capacity, of[2], of[3], shapes, of[0], of[1], count);
    for (int64_t k = large ? 2 : 0; k < 3; k++) {
        const int64_t m = below(count), n = below(count), width = widths[m], before = used;
        const int other = !large && below(2) && ranks[n] >= 0;
        const int64_t *target = other ? rows[n] : kept(common, BYTES_OF(rank, int64_t));
        const int64_t target_rank = other ? ranks[n] : rank;
        for (int64_t axis = 0; axis < rank; axis++) {
            strides[axis] = below(2) ? below(99) - 49 : limits[below(LENGTH(limits))];
        }
        ask_strides(kept(strides, BYTES_OF(ranks[m], int64_t)), rows[m], ranks[m], target,
                    target_rank);
        ask_size(rows[m], ranks[m], width);
        ask_tensor(nearly(there(target, target_rank, width)), extents[m], rows[m], ranks[m],
                   target, target_rank, width);
        release((int)before);
    }
    int memory = 1;
    for (int64_t m = 0; m < count; m++) {
        const int64_t own = BYTES_OF(ranks[m], int64_t);
        memory = memory && is_written((uint8_t *)rows[m], own, sizes[m], own);
    }
    for (int64_t k = 0; k < 4; k++) {
        const int64_t own = BYTES_OF(count, int64_t);
        memory = memory && is_written((uint8_t *)of[k], own, lists[k], own);
    }
    agree("what is handed over", 0, nowhere, 0, nowhere, memory, shapes, ranks, count);
    release(first);
}

static void random_part(void) {
    for (int64_t round = 0; round < ROUNDS; round++) {
        ask_at_random(1 + below(round % 50 ? 600 : 1 << 16));
    }
    for (int64_t round = 0; round < 60 && round < ROUNDS / 50; round++) {
        ask_at_random(6 << 20);
    }
#if defined(PAGES) && SIZE_MAX > UINT32_MAX
    more_than_32_bits();
#endif
}

typedef struct {
    const char *name;
    void (*run)(void);
} part;

static const part parts[] = {{"shapes", shapes_part}, {"strides", strides_part},
                             {"sizes", sizes_part},   {"plans", plans_part},
                             {"tensors", tensors_part}, {"all", all_part},
                             {"blocks", blocks_part}, {"random", random_part}};

int main(int count, char **words) {
    int wrong = 0;
    draw_pattern();
    for (int64_t k = 0; k < LENGTH(parts); k++) {
        int wanted = count < 2;
        for (int word = 1; word < count; word++) {
            wanted = wanted || strcmp(words[word], parts[k].name) == 0;
        }
        if (wanted) {
            calls = 0;
            differing = 0;
            parts[k].run();
            printf("%s: %" PRId64 " calls, %" PRId64 " differ\n", parts[k].name, calls, differing);
            wrong = wrong || differing > 0;
        }
    }
    return wrong;
}
