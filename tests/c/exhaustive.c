/*
 * Compares c/whycast.c with plain.c, call by call and byte by byte, on lists of small shapes and of
 * limits of int64_t; blocks of all magnitudes up to 8 MiB; random calls with up to 20 axes and
 * tensors, some with several errors; a few outputs above 4 GiB. You need only a C compiler:
 *
 *     cc -std=c99 -Ic c/whycast.c tests/c/exhaustive.c && ./a.out [part ...]
 *
 * It prints the first calls that differ, and counts for each part; it exits with 1 if a call differs.
 *
 * A region is the memory of one argument. With mmap it has forbidden pages at one end and guards,
 * bytes that must not change, at the other. With -DEXACT a region is as long as the call states,
 * and outputs that the call fills are not filled before, so that AddressSanitizer and valgrind see
 * wrong accesses. With -DFIRST the program exits silently at the first call that differs.
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
#define BYTES_OF(count, type) ((count) > 0 ? (count) * (int64_t)sizeof(type) : 0)

static int64_t calls, differing;

/* --- memory --------------------------------------------------------------------------------- */

/* Random numbers, the same on every machine. */
static uint64_t state = 20261122;

static int64_t below(int64_t bound) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((state >> 33) % (uint64_t)bound);
}

static void stop_unless(int there) {
    if (!there) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
}

/* Memory between pages that no program may touch. */
static uint8_t *fenced(size_t bytes) {
#ifdef PAGES
    uint8_t *all = mmap(NULL, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stop_unless(all != MAP_FAILED && !mprotect(all + PAGE, bytes, PROT_READ | PROT_WRITE));
    return all + PAGE;
#else
    uint8_t *all = bytes > 0 ? malloc(bytes) : NULL;
    stop_unless(all != NULL || bytes == 0);
    return all;
#endif
}

/* `before` bytes of guards precede a region; later regions use its memory again. */
static struct {
    uint8_t *memory, *start;
    int64_t size, before;
} regions[MOST_REGIONS];
static int used;

/* A region of `length` bytes, with guards at one end. Without guards, an empty region is NULL. */
static void *guarded(int64_t length, int filled) {
    const int64_t all = (length > 0 ? length : 0) + GUARD;
    const int last = (int)below(2), k = used++;
    if (k >= MOST_REGIONS) {
        abort();
    }
    if (GUARD == 0 || regions[k].size < all) {
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

static void release(int first) {
    for (; used > first; used--) {
        if (GUARD == 0) {
            free(regions[used - 1].memory);
        }
    }
}

/* Whether a region begins with `bytes` bytes of `due`, and is otherwise as `guarded` left it. */
static int is_written(const void *start, int64_t length, const void *due, int64_t bytes) {
    const uint8_t *region = start;
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

static void *kept(const void *bytes, int64_t length) {
    uint8_t *region = guarded(length, 0);
    if (length > 0) {
        memcpy(region, bytes, (size_t)length);
    }
    return region;
}

static int is_kept(const void *region, const void *bytes, int64_t length) {
    return is_written(region, length, bytes, length);
}

/* Inputs copy parts of this pattern. Nearby bytes differ, except in runs of 24 bytes of 0. */
static uint8_t pattern[MOST_BYTES + 2 * MOST_TENSORS + 64];

/* --- each function, in both programs -------------------------------------------------------- */

/* The shapes, in regions, and the places that both programs set. */
static const int64_t *const *shapes, *ranks;
static int64_t count;
static whycast_place place, due_place, nowhere;

/* Counts a call. Prints the first calls that differ, each with its shapes. */
static void agree(const char *name, int64_t code, int64_t due_code, int memory) {
    const whycast_place found = place, due = due_place;
    place = (whycast_place){77, 77};
    due_place = place;
    calls++;
    if (code == due_code && found.tensor == due.tensor && found.axis == due.axis && memory) {
        return;
    }
#ifdef FIRST
    exit(1);
#endif
    if (++differing > MOST_SHOWN) {
        return;
    }
    printf("%s: expected %" PRId64 " at %" PRId64 ", %" PRId64 ", got %" PRId64 " at %" PRId64
           ", %" PRId64 "%s:", name, due_code, due.tensor, due.axis, code, found.tensor,
           found.axis, memory ? "" : ", and other memory");
    for (int64_t m = 0; m < count; m++) {
        printf(" (rank %" PRId64 ":", ranks[m]);
        for (int64_t axis = 0; axis < ranks[m] && axis < MOST_AXES; axis++) {
            printf(" %" PRId64, shapes[m][axis]);
        }
        printf(")");
    }
    printf("\n");
}

static void ask_shape(int numpy, int64_t capacity) {
    int64_t due[MOST_AXES] = {0};
    const int64_t most = capacity < MOST_AXES ? capacity : MOST_AXES;
    const int64_t room = BYTES_OF(most, int64_t);
    const int64_t due_code = plain_shape(numpy, due, most, &due_place, shapes, ranks, count);
    const int first = used;
    int64_t *sizes = guarded(room, 1);
    const int64_t code = (numpy ? whycast_numpy_shape : whycast_broadcast_shape)(
        sizes, capacity, &place, shapes, ranks, count);
    agree(numpy ? "numpy_shape" : "broadcast_shape", code, due_code,
          is_written(sizes, room, due, due_code * NUMBER));
    release(first);
}

static void ask_strides(const int64_t *strides, const int64_t *sizes, int64_t rank,
                        const int64_t *target, int64_t target_rank) {
    int64_t due[MOST_AXES] = {0};
    const int64_t due_code =
        plain_broadcast_strides(due, &due_place, strides, sizes, rank, target, target_rank);
    const int64_t room = BYTES_OF(target_rank, int64_t);
    const int first = used;
    int64_t *view = guarded(room, 1);
    const int64_t code =
        whycast_broadcast_strides(view, &place, strides, sizes, rank, target, target_rank);
    agree("broadcast_strides", code, due_code,
          is_written(view, room, due, due_code < 0 ? 0 : room));
    release(first);
}

static void ask_size(const int64_t *sizes, int64_t rank, int64_t width) {
    const int64_t due_code = plain_byte_size(&due_place, sizes, rank, width);
    agree("byte_size", whycast_byte_size(&place, sizes, rank, width), due_code, 1);
}

static void ask_tensor(int64_t room, int64_t extent, const int64_t *sizes, int64_t rank,
                       const int64_t *target, int64_t target_rank, int64_t width) {
    const int first = used;
    const uint8_t *given = pattern + below(64);
    uint8_t *input = kept(given, extent), *due = guarded(room, 0);
    const int64_t due_code = plain_broadcast(due, room, &due_place, input, extent, sizes, rank,
                                             target, target_rank, width);
    const int64_t bytes =
        due_code < 0 ? 0 : plain_byte_size(&nowhere, target, target_rank, width);
    uint8_t *output = guarded(room, due_code < 0 || bytes < room);
    const int64_t code = whycast_broadcast(output, room, &place, input, extent, sizes, rank, target,
                                           target_rank, width);
    agree("broadcast", code, due_code,
          is_written(output, room, due, bytes) && is_kept(input, given, extent));
    release(first);
}

static void ask_all(int64_t capacity, const int64_t *rooms, const int64_t *extents,
                    const int64_t *widths) {
    const int first = used;
    const uint8_t *given = pattern + below(64);
    uint8_t *dues[MOST_TENSORS] = {NULL};
    uint8_t **outputs = guarded(BYTES_OF(count, uint8_t *), 0);
    const uint8_t **inputs = guarded(BYTES_OF(count, uint8_t *), 0);
    int64_t due_target[MOST_AXES] = {0}, due_bytes[MOST_TENSORS] = {0}, ignored[MOST_AXES];
    for (int64_t m = 0; m < count; m++) {
        inputs[m] = kept(given + m, extents[m]);
        dues[m] = guarded(rooms[m], 0);
    }
    const int64_t due_code = plain_broadcast_all(dues, rooms, due_target, capacity, &due_place,
                                                 inputs, extents, shapes, ranks, widths, count);
    /* The common shape is written even if memory does not suffice. */
    const int64_t rank = plain_broadcast_shape(ignored, capacity, &nowhere, shapes, ranks, count);
    for (int64_t m = 0; m < count; m++) {
        due_bytes[m] = due_code < 0 ? 0 : plain_byte_size(&nowhere, due_target, rank, widths[m]);
        outputs[m] = guarded(rooms[m], due_code < 0 || due_bytes[m] < rooms[m]);
    }
    const int64_t room = BYTES_OF(capacity < MOST_AXES ? capacity : MOST_AXES, int64_t);
    int64_t *target = guarded(room, 1);
    const int64_t code = whycast_broadcast_all(outputs, rooms, target, capacity, &place, inputs,
                                               extents, shapes, ranks, widths, count);
    int memory = is_written(target, room, due_target, rank * NUMBER);
    for (int64_t m = 0; m < count; m++) {
        memory = memory && is_written(outputs[m], rooms[m], dues[m], due_bytes[m]) &&
                 is_kept(inputs[m], given + m, extents[m]);
    }
    agree("broadcast_all", code, due_code, memory);
    release(first);
}

/* A plan, the strides of its tensors, and a step. */
typedef struct {
    const int64_t *const *strides;
    int64_t common[MOST_AXES], rank, loops, *sizes, *steps, *counters, *offsets;
} plan;

/* `looks` is the number of probes among `many` numbers, `look` the n-th probe. If `many` is small,
   every number is probed, else some and the last. */
static int64_t looks(int64_t many) {
    return many < MOST_LOOKS ? many : MOST_LOOKS;
}

static int64_t look(int64_t n, int64_t many) {
    return n == looks(many) - 1 ? many - 1 : n * (many / looks(many));
}

/* Whether counters and offsets are those of a step, and probed elements are at `plain_offset`. */
static int is_at(const plan *p, int64_t step) {
    const int64_t last = p->loops - 1, run = p->sizes[last];
    int64_t digits[MOST_AXES], begins[MOST_TENSORS], rest = step;
    for (int64_t m = 0; m < count; m++) {
        for (int64_t n = 0; n < looks(run); n++) {
            const int64_t v = look(n, run);
            const int64_t due = plain_offset(shapes[m], p->strides[m], ranks[m], p->common, p->rank,
                                             step * run + v);
            begins[m] = n == 0 ? due : begins[m];
            if (begins[m] + v * p->steps[last * count + m] != due) {
                return 0;
            }
        }
    }
    for (int64_t j = last - 1; j >= 0; j--) {
        digits[j] = rest % p->sizes[j];
        rest /= p->sizes[j];
    }
    return is_kept(p->counters, digits, last * NUMBER) &&
           is_kept(p->offsets, begins, count * NUMBER);
}

/* From the first step, takes as many next steps as there are probes; from each other probed step,
   one. */
static void ask_steps(plan *p) {
    const int64_t last = p->loops - 1;
    int64_t total = p->sizes[last] > 0;
    for (int64_t j = 0; j < last; j++) {
        total *= p->sizes[j];
    }
    const int64_t none[] = {-1, total, INT64_MIN, INT64_MAX};
    for (int64_t n = -LENGTH(none); n < looks(total); n++) {
        const int64_t step = n < 0 ? none[-1 - n] : look(n, total);
        const int first = used;
        p->counters = guarded(last * NUMBER, 1);
        p->offsets = guarded(count * NUMBER, 1);
        int64_t code =
            whycast_first(p->counters, p->offsets, p->sizes, p->steps, p->loops, count, step);
        int memory = n >= 0 ? is_at(p, step)
                            : is_written(p->counters, last * NUMBER, NULL, 0) &&
                              is_written(p->offsets, count * NUMBER, NULL, 0);
        agree("first", code, n >= 0 ? total - step : 0, memory);
        for (int64_t k = 1; n >= 0 && k <= (n == 0 ? looks(total) : 1); k++) {
            code = whycast_next(p->counters, p->offsets, p->sizes, p->steps, p->loops, count);
            agree("next", code, step + k < total, is_at(p, (step + k) % total));
        }
        release(first);
    }
}

/* For row-major order `strides` is NULL. If the code is an error, nothing is written. */
static void ask_plan(int64_t capacity, const int64_t *const *strides) {
    int64_t sizes[MOST_AXES] = {0}, steps[MOST_AXES * MOST_TENSORS] = {0};
    int64_t orders[MOST_TENSORS][MOST_AXES];
    const int64_t *rows[MOST_TENSORS];
    const int64_t most = capacity < MOST_AXES ? capacity : MOST_AXES;
    const int64_t room = BYTES_OF(most, int64_t), all = count > 0 ? room * count : 0;
    const int first = used;
    plan p = {rows, {0}, 0, 0, guarded(room, 1), guarded(all, 1), NULL, NULL};
    for (int64_t m = 0; m < count; m++) {
        row_major(orders[m], shapes[m], ranks[m]);
        rows[m] = strides != NULL ? strides[m] : orders[m];
    }
    const int64_t due_code =
        plain_plan_views(sizes, steps, most, &due_place, shapes, rows, ranks, count);
    const int64_t loops = due_code < 0 ? 0 : due_code;
    p.loops = strides == NULL
                  ? whycast_plan(p.sizes, p.steps, capacity, &place, shapes, ranks, count)
                  : whycast_plan_views(p.sizes, p.steps, capacity, &place, shapes, strides, ranks,
                                       count);
    const int memory = is_written(p.sizes, room, sizes, loops * NUMBER) &&
                       is_written(p.steps, all, steps, loops * count * NUMBER);
    agree("plan", p.loops, due_code, memory);
    if (memory && p.loops > 0 && p.loops == loops) {
        p.rank = plain_broadcast_shape(p.common, MOST_AXES, &nowhere, shapes, ranks, count);
        ask_steps(&p);
    }
    const int64_t none[] = {p.loops < 0 ? p.loops : -1, 0, INT64_MIN};
    for (int64_t n = 0; n < LENGTH(none); n++) {
        agree("first", whycast_first(NULL, NULL, NULL, NULL, none[n], count, 0), 0, 1);
        agree("next", whycast_next(NULL, NULL, NULL, NULL, none[n], count), 0, 1);
    }
    release(first);
}

/* --- all calls for some shapes -------------------------------------------------------------- */

static const int64_t every_width[] = {1, 2, 3, 4, 5, 8, 12, 16, 17, 33};
/* Numbers near 0, roots and quotients of 2^63, the ends of 32 and 64 bits. */
static const int64_t limits[] = {
    INT64_MIN,           INT64_MIN + 1,        -1, 0, 1, 2, 3, 7, INT64_C(0x7FFFFFFF),
    INT64_C(0x80000000), INT64_C(0x100000000), INT64_C(0x100000001), INT64_C(3037000499),
    INT64_C(3037000500), INT64_C(1) << 40,     INT64_C(1317624576693539401),
    INT64_C(1) << 62,    INT64_MAX - 1,        INT64_MAX};

static int64_t some_limit(void) {
    return limits[below(LENGTH(limits))];
}

/* Shapes, each with a width. */
typedef struct {
    int64_t count, ranks[MOST_TENSORS], widths[MOST_TENSORS], sizes[MOST_TENSORS][MOST_AXES];
} tensors;

/* Usually the number itself, sometimes a smaller number or a slightly larger one. */
static int64_t nearly(int64_t number) {
    const int64_t kind = below(40);
    return kind > 1 ? number : kind ? number + below(9) : number - 1 - below(2) * below(number + 1);
}

/* A tensor's number of bytes, or 5 if it has an error or more than `most` bytes. */
static int64_t there(const int64_t *sizes, int64_t rank, int64_t width, int64_t most) {
    const int64_t bytes = rank < 0 ? -1 : plain_byte_size(&nowhere, sizes, rank, width);
    return bytes < 0 || bytes > most ? 5 : bytes;
}

/* Plans in row-major order, and with strides: the same multiple of all row-major strides (also 0 or
   negative), or any strides. */
static void ask_plans(int64_t capacity) {
    const int64_t kind = below(8), times = kind < 3 ? 1 : below(5) - 2;
    const int first = used;
    int64_t strides[MOST_TENSORS][MOST_AXES], *rows[MOST_TENSORS];
    int memory = 1;
    for (int64_t m = 0; m < count; m++) {
        row_major(strides[m], shapes[m], ranks[m]);
        for (int64_t axis = 0; axis < ranks[m]; axis++) {
            int64_t *stride = &strides[m][axis];
            *stride = (int64_t)((uint64_t)*stride * (uint64_t)times);
            if (kind > 5 && below(2)) {
                *stride = kind == 6 ? below(9) - 4 : some_limit();
            }
        }
        rows[m] = kept(strides[m], BYTES_OF(ranks[m], int64_t));
    }
    ask_plan(capacity, NULL);
    ask_plan(capacity, kept(rows, BYTES_OF(count, int64_t *)));
    for (int64_t m = 0; m < count; m++) {
        memory = memory && is_kept(rows[m], strides[m], BYTES_OF(ranks[m], int64_t));
    }
    agree("strides handed over", 0, 0, memory);
    release(first);
}

/* One tensor; its target is the next tensor's shape, or the common shape. */
static void ask_one(int64_t m, const tensors *given, const int64_t *common, int64_t rank,
                    int64_t most) {
    const int first = used;
    const int64_t n = (m + 1) % count, width = given->widths[m];
    const int other = rank < 0 || below(2);
    const int64_t *target = other ? shapes[n] : kept(common, BYTES_OF(rank, int64_t));
    const int64_t target_rank = other ? ranks[n] : rank;
    int64_t strides[MOST_AXES];
    for (int64_t axis = 0; axis < ranks[m]; axis++) {
        strides[axis] = below(2) ? below(99) - 49 : some_limit();
    }
    ask_strides(kept(strides, BYTES_OF(ranks[m], int64_t)), shapes[m], ranks[m], target,
                target_rank);
    ask_size(shapes[m], ranks[m], below(2) ? width : some_limit());
    ask_tensor(nearly(there(target, target_rank, width, most)),
               nearly(there(shapes[m], ranks[m], width, most)), shapes[m], ranks[m], target,
               target_rank, width);
    release(first);
}

/* Outputs have at most `most` bytes. Arguments must not change. */
static void ask(const tensors *given, int64_t capacity, int64_t most) {
    const int first = used;
    int64_t rooms[MOST_TENSORS], extents[MOST_TENSORS], common[MOST_AXES], *rows[MOST_TENSORS];
    const int64_t *lists[] = {given->ranks, given->widths, rooms, extents}, *of[4];
    int memory = 1;
    count = given->count;
    for (int64_t m = 0; m < count; m++) {
        rows[m] = kept(given->sizes[m], BYTES_OF(given->ranks[m], int64_t));
    }
    shapes = kept(rows, BYTES_OF(count, int64_t *));
    const int64_t rank =
        plain_broadcast_shape(common, MOST_AXES, &nowhere, shapes, given->ranks, count);
    for (int64_t m = 0; m < count; m++) {
        rooms[m] = nearly(there(common, rank, given->widths[m], most));
        extents[m] = nearly(there(rows[m], given->ranks[m], given->widths[m], most));
    }
    for (int64_t k = 0; k < 4; k++) {
        of[k] = kept(lists[k], BYTES_OF(count, int64_t));
    }
    ranks = of[0];
    ask_shape(0, capacity);
    ask_shape(1, capacity);
    ask_plans(capacity);
    ask_all(capacity, of[2], of[3], of[1]);
    for (int64_t k = 0, start = count > 0 ? below(count) : 0; count > 0 && k < 2; k++) {
        ask_one((start + k) % count, given, common, rank, most);
    }
    for (int64_t m = 0; m < count; m++) {
        memory = memory && is_kept(rows[m], given->sizes[m], BYTES_OF(given->ranks[m], int64_t));
    }
    for (int64_t k = 0; k < 4; k++) {
        memory = memory && is_kept(of[k], lists[k], BYTES_OF(count, int64_t));
    }
    agree("the arguments", 0, 0, memory);
    release(first);
}

/* --- the parts ------------------------------------------------------------------------------ */

static int64_t some_width(int64_t bytes) {
    return below(4)   ? every_width[below(LENGTH(every_width))]
           : below(9) ? 1 + below(bytes / 9 + 1)
                      : some_limit();
}

/* All lists of `many` shapes up to rank `highest` with these sizes. */
static void every_list(int64_t many, int64_t highest, const int64_t *sizes, int64_t size_count,
                       int64_t least_capacity) {
    int64_t all = 0, lists = 1;
    for (int64_t rank = 0; rank <= highest; rank++) {
        all = all * size_count + 1;
    }
    for (int64_t m = 0; m < many; m++) {
        lists *= all;
    }
    for (int64_t number = 0; number < lists; number++) {
        tensors list = {.count = many};
        int64_t rest = number;
        for (int64_t m = 0; m < many; m++, rest /= all) {
            int64_t *rank = &list.ranks[m], digits = rest % all;
            for (; digits > 0; digits = (digits - 1) / size_count) {
                list.sizes[m][(*rank)++] = sizes[(digits - 1) % size_count];
            }
            list.widths[m] = some_width(100);
        }
        for (int64_t capacity = least_capacity; capacity <= 3; capacity++) {
            ask(&list, capacity, 1 << 16);
        }
    }
}

static void small_part(void) {
    static const int64_t small_sizes[] = {0, 1, 2, 3}, with_negative[] = {-1, 0, 1, 2};
    every_list(1, 3, small_sizes, 4, -1);
    every_list(2, 3, small_sizes, 4, -1);
    every_list(2, 3, with_negative, 4, 3);
    every_list(3, 2, with_negative, 4, 2);
    every_list(5, 1, small_sizes, 4, 0);
}

static void limits_part(void) {
    every_list(1, 3, limits, LENGTH(limits), 3);
    every_list(2, 2, limits, LENGTH(limits), 3);
    every_list(3, 1, limits, LENGTH(limits), 1);
    for (int64_t m = 0; m < LENGTH(limits); m++) {
        for (int64_t n = 0; n < LENGTH(limits); n++) {
            ask_size(&limits[m], 1, limits[n]);
        }
    }
}

/* A positive number of any magnitude; half of the draws are a few leading bits, plus 0, 1 or 2. */
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

/* Broadcasts (m,1) to (m,r), with elements of b bytes: each row repeats its first element. To save
   time, there are at most 64 Ki rows. */
static void ask_blocks(int64_t most) {
    int64_t n[3], left = most;
    for (int64_t k = 0, start = below(3); k < 3; k++) {
        int64_t *number = &n[(start + k) % 3];
        *number = of_any_magnitude(number == n && left > PAGE ? PAGE : left);
        left /= *number;
    }
    const int64_t m = n[0], r = n[1], b = n[2], own[] = {m, 1}, target[] = {m, r}, room = m * r * b;
    const int first = used;
    const uint8_t *given = pattern + below(64), *input = kept(given, m * b);
    uint8_t *output = guarded(room, 0);
    due_place = (whycast_place){-1, -1};
    const int64_t code =
        whycast_broadcast(output, room, &place, input, m * b, own, 2, target, 2, b);
    int memory = is_written(output, room, output, room);
    for (int64_t k = 0; k < m; k++) {
        const uint8_t *row = output + k * r * b;
        memory = memory && memcmp(row, given + k * b, (size_t)b) == 0 &&
                 memcmp(row + b, row, (size_t)((r - 1) * b)) == 0;
    }
    agree("broadcast", code, 0, memory);
    release(first);
}

static void blocks_part(void) {
    count = 0;
    for (int64_t round = 0; round < ROUNDS / 2; round++) {
        ask_blocks(round % 50 ? 2048 : MOST_BYTES);
    }
}

/* --- outputs above 4 GiB -------------------------------------------------------------------- */

#if defined(PAGES) && SIZE_MAX > UINT32_MAX
enum { LOOP = 3 << 20, LOOPS = 1400, ROW = 1 << 17 };

/* LOOPS blocks of LOOP bytes; all but the last share the same memory. */
static uint8_t *looped(void) {
    const size_t bytes = (size_t)LOOPS * LOOP;
    uint8_t *all = mmap(NULL, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *file = tmpfile();
    stop_unless(file != NULL && all != MAP_FAILED && ftruncate(fileno(file), LOOP) == 0);
    for (size_t k = 0; k < bytes; k += LOOP) {
        const int flags = MAP_FIXED | (k + LOOP < bytes ? MAP_SHARED : MAP_PRIVATE);
        stop_unless(mmap(all + PAGE + k, LOOP, PROT_READ | PROT_WRITE, flags, fileno(file), 0)
                    != MAP_FAILED);
    }
    return all + PAGE;
}

/* Input and output repeat every LOOP bytes, so that the shared memory is enough. */
static void ask_loops(uint8_t *output, const uint8_t *input, const int64_t *sizes, int64_t rank,
                      const int64_t *target, int64_t target_rank) {
    const int64_t room = plain_byte_size(&nowhere, target, target_rank, 1);
    const int64_t extent = plain_byte_size(&nowhere, sizes, rank, 1);
    uint8_t *last = output + (int64_t)(LOOPS - 1) * LOOP;
    memset(output, 0, LOOP);
    memset(last, 0, LOOP);
    due_place = (whycast_place){-1, -1};
    const int64_t code = whycast_broadcast(output, room, &place, input, extent, sizes, rank, target,
                                           target_rank, 1);
    agree("broadcast", code, 0,
          memcmp(output, pattern, LOOP) == 0 && memcmp(last, pattern, LOOP) == 0);
}

static void more_than_32_bits(void) {
    const int64_t loop[] = {LOOP}, loops[] = {LOOPS, LOOP}, halves[] = {2, LOOPS / 2, LOOP};
    const int64_t four[] = {2, 1, 2, 1, LOOP}, eighths[] = {2, 2, 2, LOOPS / 8, LOOP};
    const int64_t table[] = {(int64_t)LOOPS * LOOP / ROW, ROW};
    uint8_t *output = looped(), *input = looped();
    memcpy(input, pattern, LOOP);
    memcpy(input + (int64_t)(LOOPS - 1) * LOOP, pattern, LOOP);
    count = 0;
    ask_loops(output, input, loop, 1, halves, 3);
    ask_loops(output, input, four, 5, eighths, 5);
    ask_loops(output, input, loops, 2, loops, 2);
    ask_loops(output, input, table, 2, table, 2);
}
#endif

/* --- at random ------------------------------------------------------------------------------ */

/* Sizes with at most `elements` elements in all, and about as many if `elements` is large. */
static void draw_sizes(int64_t *sizes, int64_t rank, int64_t elements) {
    const int64_t start = below(MOST_AXES);
    for (int64_t k = 0; k < rank; k++) {
        const int64_t some = 1 + below(2) * below(below(4) ? 3 : 1 + elements / 64);
        int64_t *size = &sizes[(start + k) % rank];
        *size = k == rank - 1 && (elements > 1 << 16 || below(2)) ? elements
                : some < elements ? some : elements;
        elements /= *size;
    }
}

/* Shapes that broadcast, except for a few faults: outputs of about `bytes` bytes, many small axes,
   or huge sizes. */
static void ask_at_random(int64_t bytes) {
    const int large = bytes > 1 << 20;
    const int64_t many = 1 + below(below(8) || large ? 6 : MOST_TENSORS);
    const int64_t rank = below(below(8) ? 11 : MOST_AXES + 1), all = below(many);
    const int64_t kind = large ? 7 : below(8);
    tensors list = {.count = kind == 0 && below(9) == 0 ? limits[below(4)] : many};
    int64_t common[MOST_AXES], widest = 1;
    for (int64_t m = 0; m < many; m++) {
        list.widths[m] = large ? every_width[below(LENGTH(every_width))] : some_width(bytes);
        widest = list.widths[m] > widest && list.widths[m] < bytes ? list.widths[m] : widest;
    }
    draw_sizes(common, rank, bytes / widest + 1);
    for (int64_t axis = 0; axis < rank; axis++) {
        if (kind == 1) {
            common[axis] = below(60) ? 1 + below(4) : 0;
        } else if (kind == 2 && below(5) == 0) {
            common[axis] = below(3) ? limits[8 + below(LENGTH(limits) - 8)] : 0;
        }
    }
    for (int64_t m = 0; m < many; m++) {
        list.ranks[m] = m == all || below(2) ? rank : below(rank + 1);
        for (int64_t axis = 0; axis < list.ranks[m]; axis++) {
            const int64_t size = common[axis + rank - list.ranks[m]];
            list.sizes[m][axis] = many == 1 || below(kind == 1 ? 2 : 3) ? size : 1;
        }
    }
    for (int64_t faults = kind < 4 ? kind : 0; faults > 0 && below(2); faults--) {
        const int64_t m = below(many);
        if (below(6) == 0) {
            list.ranks[m] = below(2) ? -1 - below(9) : INT64_MIN;
        } else if (list.ranks[m] > 0) {
            list.sizes[m][below(list.ranks[m])] = below(2) ? below(6) - 1 : some_limit();
        }
    }
    ask(&list, below(4) ? MOST_AXES : below(4) ? rank + below(4) - 2 : some_limit(),
        large ? MOST_BYTES : 1 << 16);
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

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = {{"small", small_part}, {"limits", limits_part}, {"blocks", blocks_part},
             {"random", random_part}};

int main(int words_count, char **words) {
    int wrong = 0;
    for (size_t k = 0; k < sizeof pattern; k++) {
        pattern[k] = k % 1000 / 24 == 1 ? 0 : (uint8_t)(k + k / 256 * 17);
    }
    for (int64_t k = 0; k < LENGTH(parts); k++) {
        int wanted = words_count < 2;
        for (int word = 1; word < words_count; word++) {
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
