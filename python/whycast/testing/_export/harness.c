/* What runs the tables above: the same for every rule. */

#if WHYCAST_AXES
#define AXES_OF(operands) , (operands).axes.count, (operands).axes.numbers
#else
#define AXES_OF(operands)
#endif

/* A list in a table: its length, then its numbers. A length of -1 stands for a refusal. */
typedef struct {
    int refused;
    size_t count;
    const int64_t *numbers;
} list;

static list read_list(const int64_t **at)
{
    list found = {0, 0, NULL};
    int64_t length = *(*at)++;
    found.refused = length < 0;
    found.count = found.refused ? 0 : (size_t)length;
    found.numbers = *at;
    *at += found.count;
    return found;
}

static void print_list(const char *before, size_t count, const int64_t *numbers)
{
    printf("%s(", before);
    for (size_t k = 0; k < count; k++) {
        if (k > 0)
            printf(", ");
        if (numbers[k] == ANY)
            printf("any");
        else
            printf("%" PRId64, numbers[k]);
    }
    printf(count == 1 ? ",)" : ")");
}

#if !WHYCAST_TENSORS || !defined(WHYCAST_NO_STRIDES) || !defined(WHYCAST_NO_DATA)
typedef struct {
    list shape, target, axes;
} operands;

static void read_operands(const int64_t **at, operands *given)
{
    given->shape = read_list(at);
    given->target = read_list(at);
    if (WHYCAST_AXES)
        given->axes = read_list(at);
}

static void print_operands(const operands *given)
{
    print_list(" ", given->shape.count, given->shape.numbers);
    print_list(" to ", given->target.count, given->target.numbers);
    if (WHYCAST_AXES)
        print_list(" axes ", given->axes.count, given->axes.numbers);
}
#endif

static void *room_for(size_t bytes)
{
    void *room = malloc(bytes);
    if (room == NULL) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return room;
}

#if !defined(WHYCAST_NO_SHAPE) || !defined(WHYCAST_NO_STRIDES)
/* What no result contains: room that was not written to, or that must not be. */
#define UNWRITTEN (INT64_MIN + 7)

static void print_result(const char *before, int refused, size_t count, const int64_t *numbers)
{
    if (refused)
        printf("%srefused", before);
    else
        print_list(before, count, numbers);
}

static int64_t *numbers_room(size_t count)
{
    int64_t *room = room_for((count + 1) * sizeof *room);
    for (size_t k = 0; k <= count; k++)
        room[k] = UNWRITTEN;
    return room;
}

/* Whether a result of some length is another than the one expected. */
static int differs(int status, size_t count, const int64_t *result, size_t room, list expected)
{
    if (status != 0 || expected.refused)
        return (status != 0) != expected.refused;
    if (result[room] != UNWRITTEN || count != expected.count)
        return 1;
    for (size_t k = 0; k < count; k++)
        if (expected.numbers[k] != ANY && result[k] != expected.numbers[k])
            return 1;
    return 0;
}

static void print_difference(int status, size_t count, const int64_t *result, size_t room,
                             list expected)
{
    print_result(": expected ", expected.refused, expected.count, expected.numbers);
    if (status == 0 && result[room] != UNWRITTEN)
        printf(", got a number past the end of the result\n");
    else if (status == 0 && count > room)
        printf(", got a rank of %zu\n", count);
    else {
        print_result(", got ", status != 0, count, result);
        printf("\n");
    }
}
#endif

static size_t summary(const char *name, size_t cases, size_t wrong)
{
    printf("%s: %zu cases, %zu wrong\n", name, cases, wrong);
    return wrong;
}

#ifndef WHYCAST_NO_SHAPE
static size_t check_shapes(void)
{
    const int64_t *at = shape_cases;
    size_t cases = 0, wrong = 0;
    while (at < shape_cases + sizeof shape_cases / sizeof *shape_cases) {
        size_t room = 0, rank = SIZE_MAX;
#if WHYCAST_TENSORS
        size_t count = (size_t)*at++;
        size_t *ranks = room_for(count * sizeof *ranks);
        const int64_t **shapes = room_for(count * sizeof *shapes);
        for (size_t m = 0; m < count; m++) {
            list shape = read_list(&at);
            ranks[m] = shape.count;
            shapes[m] = shape.numbers;
            room = shape.count > room ? shape.count : room;
        }
        list expected = read_list(&at);
        int64_t *result = numbers_room(room);
        int status = broadcast_shape(count, ranks, shapes, &rank, result);
#else
        operands given;
        read_operands(&at, &given);
        list expected = read_list(&at);
        room = given.shape.count > given.target.count ? given.shape.count : given.target.count;
        int64_t *result = numbers_room(room);
        int status = broadcast_shape(given.shape.count, given.shape.numbers, given.target.count,
                                     given.target.numbers AXES_OF(given), &rank, result);
#endif
        cases++;
        if (differs(status, rank, result, room, expected)) {
            wrong++;
            printf("broadcast_shape");
#if WHYCAST_TENSORS
            for (size_t m = 0; m < count; m++)
                print_list(" ", ranks[m], shapes[m]);
#else
            print_operands(&given);
#endif
            print_difference(status, rank, result, room, expected);
        }
        free(result);
#if WHYCAST_TENSORS
        free(shapes);
        free(ranks);
#endif
    }
    return summary("broadcast_shape", cases, wrong);
}
#endif

#ifndef WHYCAST_NO_STRIDES
static size_t check_strides(void)
{
    const int64_t *at = strides_cases;
    size_t cases = 0, wrong = 0;
    while (at < strides_cases + sizeof strides_cases / sizeof *strides_cases) {
        operands given;
        read_operands(&at, &given);
        list strides = read_list(&at);
        list expected = read_list(&at);
        size_t room = expected.refused ? given.target.count : expected.count;
        if (room < given.shape.count)
            room = given.shape.count;
        int64_t *result = numbers_room(room);
        int status = broadcast_strides(given.shape.count, given.shape.numbers, strides.numbers,
                                       given.target.count, given.target.numbers AXES_OF(given),
                                       result);
        cases++;
        if (differs(status, expected.count, result, room, expected)) {
            wrong++;
            printf("broadcast_strides");
            print_operands(&given);
            print_list(" strides ", strides.count, strides.numbers);
            print_difference(status, expected.refused ? room : expected.count, result, room,
                             expected);
        }
        free(result);
    }
    return summary("broadcast_strides", cases, wrong);
}
#endif

#ifndef WHYCAST_NO_DATA
/* No byte of an element of so few is this one. */
#define UNWRITTEN_BYTE 0xA5

static unsigned char byte_of(size_t place, size_t b)
{
    return (unsigned char)(place + 1 + 3 * b);
}

static int is_element(const unsigned char *bytes, size_t itemsize, size_t place)
{
    for (size_t b = 0; b < itemsize; b++)
        if (bytes[b] != byte_of(place, b))
            return 0;
    return 1;
}

/* The first place of the result that is not as expected; the length of the result if all are. */
static size_t first_wrong(const unsigned char *result, size_t itemsize, list expected)
{
    size_t k = 0;
    while (k < expected.count
           && is_element(result + k * itemsize, itemsize, (size_t)expected.numbers[k]))
        k++;
    return k;
}

static void print_element(const unsigned char *bytes, size_t itemsize, size_t size)
{
    for (size_t place = 0; place < size; place++)
        if (is_element(bytes, itemsize, place)) {
            printf(", got %zu\n", place);
            return;
        }
    printf(bytes[0] == UNWRITTEN_BYTE ? ", got nothing\n" : ", got no element of the data\n");
}

static size_t check_data(void)
{
    static const size_t itemsizes[] = {1, 2, 4, 8, 16};
    const int64_t *at = data_cases;
    size_t cases = 0, wrong = 0;
    while (at < data_cases + sizeof data_cases / sizeof *data_cases) {
        operands given;
        read_operands(&at, &given);
        list expected = read_list(&at);
        size_t itemsize = itemsizes[cases % (sizeof itemsizes / sizeof *itemsizes)];
        size_t size = 1, target_size = 1;
        for (size_t k = 0; k < given.shape.count; k++)
            size *= (size_t)given.shape.numbers[k];
        for (size_t k = 0; k < given.target.count; k++)
            target_size *= (size_t)given.target.numbers[k];
        /* What is refused is no reason to write beyond the target. */
        size_t room = (expected.refused ? target_size : expected.count) * itemsize;
        unsigned char *data = room_for(size * itemsize + 1);
        unsigned char *result = room_for(room + 1);
        memset(result, UNWRITTEN_BYTE, room + 1);
        for (size_t place = 0; place < size; place++)
            for (size_t b = 0; b < itemsize; b++)
                data[place * itemsize + b] = byte_of(place, b);
        int status = broadcast_data(itemsize, given.shape.count, given.shape.numbers, data,
                                    given.target.count, given.target.numbers AXES_OF(given),
                                    result);
        size_t k = status == 0 ? first_wrong(result, itemsize, expected) : expected.count;
        int is_past = result[room] != UNWRITTEN_BYTE;
        cases++;
        if ((status != 0) != expected.refused || k < expected.count || is_past) {
            wrong++;
            printf("broadcast_data");
            print_operands(&given);
            printf(" of %zu bytes each", itemsize);
            if ((status != 0) != expected.refused)
                printf(expected.refused ? ": expected refused, got accepted\n"
                                        : ": expected accepted, got refused\n");
            else if (is_past)
                printf(": expected %zu bytes, got one past the end of the result\n", room);
            else {
                printf(": at place %zu expected the element from place %" PRId64, k,
                       expected.numbers[k]);
                print_element(result + k * itemsize, itemsize, size);
            }
        }
        free(result);
        free(data);
    }
    return summary("broadcast_data", cases, wrong);
}
#endif

int main(void)
{
    size_t wrong = 0;
#ifndef WHYCAST_NO_SHAPE
    wrong += check_shapes();
#endif
#ifndef WHYCAST_NO_STRIDES
    wrong += check_strides();
#endif
#ifndef WHYCAST_NO_DATA
    wrong += check_data();
#endif
    return wrong != 0;
}
