/* The code that runs the tables above: the same for every rule. */

/* No result contains these: memory without a write, and bytes of no element of the data. */
#define UNWRITTEN (INT64_MIN + 1)
#define FOREIGN (INT64_MIN + 2)

/* A list in a table: its length, or -1 for a refusal, then its numbers. */
typedef struct {
    int refused;
    size_t count;
    const int64_t *numbers;
} list;

/* A row of a table: the number of lists for a function, these lists, and its result. */
typedef struct {
    size_t count;
    list given[WHYCAST_LISTS], expected;
    size_t itemsize;
} row;

/* Calls a function on a row. The result has room for some numbers and one more, which must not
   change. Stores the count of numbers, if the function gives it. */
typedef int call(const row *asked, size_t room, size_t *count, int64_t *result);

static list read_list(const int64_t **at)
{
    list found = {**at < 0, **at < 0 ? 0 : (size_t)**at, *at + 1};
    *at += 1 + found.count;
    return found;
}

static void print_list(const char *before, list shown)
{
    printf(shown.refused ? "%srefused" : "%s(", before);
    for (size_t k = 0; k < shown.count; k++) {
        int64_t number = shown.numbers[k];
        fputs(k > 0 ? ", " : "", stdout);
        if (number > FOREIGN)
            printf("%" PRId64, number);
        else
            fputs(number == ANY ? "any" : number == FOREIGN ? "foreign" : "unwritten", stdout);
    }
    fputs(shown.refused ? "" : shown.count == 1 ? ",)" : ")", stdout);
}

static void *room_for(size_t bytes)
{
    void *room = malloc(bytes);
    if (room == NULL) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return room;
}

static size_t size_of(list shape)
{
    size_t size = 1;
    for (size_t k = 0; k < shape.count; k++)
        size *= (size_t)shape.numbers[k];
    return size;
}

static int differs(list got, list expected, int is_past)
{
    if (got.refused || expected.refused)
        return got.refused != expected.refused;
    if (is_past || got.count != expected.count)
        return 1;
    for (size_t k = 0; k < got.count; k++)
        if (expected.numbers[k] != ANY && got.numbers[k] != expected.numbers[k])
            return 1;
    return 0;
}

/* Calls a function on all rows of a table; prints the wrong rows and their number. */
static size_t check(const char *name, const int64_t *at, const int64_t *end, int is_data,
                    const char *const *words, call *function)
{
    static const size_t itemsizes[] = {1, 2, 4, 8, 16};
    size_t cases = 0, wrong = 0;
    while (at < end) {
        row asked;
        size_t room = 0;
        asked.count = (size_t)*at++;
        for (size_t m = 0; m < asked.count; m++) {
            asked.given[m] = read_list(&at);
            room = asked.given[m].count > room ? asked.given[m].count : room;
        }
        asked.expected = read_list(&at);
        asked.itemsize = itemsizes[cases++ % (sizeof itemsizes / sizeof *itemsizes)];
        /* Even a refused case must not write beyond the target. */
        if (is_data)
            room = asked.expected.refused ? size_of(asked.given[1]) : asked.expected.count;
        int64_t *result = room_for((room + 1) * sizeof *result);
        for (size_t k = 0; k <= room; k++)
            result[k] = UNWRITTEN;
        list got = {0, room, result};
        if (function(&asked, room, &got.count, result) != 0)
            got = (list){1, 0, NULL};
        int is_past = result[room] != UNWRITTEN;
        if (differs(got, asked.expected, is_past)) {
            wrong++;
            printf("%s", name);
            for (size_t m = 0; m < asked.count; m++)
                print_list(words == NULL ? " " : words[m], asked.given[m]);
            if (is_data)
                printf(" of %zu bytes each", asked.itemsize);
            print_list(": expected ", asked.expected);
            if (!got.refused && is_past)
                printf(", got one past the end of the result");
            else if (!got.refused && got.count > room)
                printf(", got a rank of %zu", got.count);
            else
                print_list(", got ", got);
            printf("\n");
        }
        free(result);
    }
    printf("%s: %zu cases, %zu wrong\n", name, cases, wrong);
    return wrong;
}

#define CHECK(level, is_data, words)                                                        \
    check("broadcast_" #level, level##_cases,                                               \
          level##_cases + sizeof level##_cases / sizeof *level##_cases, is_data, words,     \
          call_##level)

#define LIST(m) asked->given[m].count, asked->given[m].numbers
#if WHYCAST_AXES
static const char *const operand_words[] = {" ", " to ", " axes ", " strides "};
#define STRIDES 3
#define TARGET LIST(1), LIST(2)
#else
static const char *const operand_words[] = {" ", " to ", " strides "};
#define STRIDES 2
#define TARGET LIST(1)
#endif

#ifndef WHYCAST_NO_SHAPE
static int call_shape(const row *asked, size_t room, size_t *count, int64_t *result)
{
    (void)room;
    *count = SIZE_MAX;
#if WHYCAST_TENSORS
    size_t ranks[WHYCAST_LISTS];
    const int64_t *shapes[WHYCAST_LISTS];
    for (size_t m = 0; m < asked->count; m++) {
        ranks[m] = asked->given[m].count;
        shapes[m] = asked->given[m].numbers;
    }
    return broadcast_shape(asked->count, ranks, shapes, count, result);
#else
    return broadcast_shape(LIST(0), TARGET, count, result);
#endif
}
#endif

#ifndef WHYCAST_NO_STRIDES
static int call_strides(const row *asked, size_t room, size_t *count, int64_t *result)
{
    *count = asked->expected.refused ? room : asked->expected.count;
    return broadcast_strides(LIST(0), asked->given[STRIDES].numbers, TARGET, result);
}
#endif

#ifndef WHYCAST_NO_DATA
/* No element of a small tensor contains this byte. */
#define UNWRITTEN_BYTE 0xA5

static unsigned char byte_of(size_t place, size_t b)
{
    return (unsigned char)(place + 1 + 3 * b);
}

/* Returns the place in the data of an element of the result. */
static int64_t place_of(const unsigned char *bytes, size_t itemsize, size_t size)
{
    for (size_t place = 0; place < size; place++) {
        size_t b = 0;
        while (b < itemsize && bytes[b] == byte_of(place, b))
            b++;
        if (b == itemsize)
            return (int64_t)place;
    }
    return bytes[0] == UNWRITTEN_BYTE ? UNWRITTEN : FOREIGN;
}

static int call_data(const row *asked, size_t room, size_t *count, int64_t *result)
{
    size_t itemsize = asked->itemsize, size = size_of(asked->given[0]);
    unsigned char *data = room_for(size * itemsize + 1);
    unsigned char *bytes = room_for(room * itemsize + 1);
    memset(bytes, UNWRITTEN_BYTE, room * itemsize + 1);
    for (size_t place = 0; place < size; place++)
        for (size_t b = 0; b < itemsize; b++)
            data[place * itemsize + b] = byte_of(place, b);
    int status = broadcast_data(itemsize, LIST(0), data, TARGET, bytes);
    *count = room;
    for (size_t k = 0; k < room; k++)
        result[k] = place_of(bytes + k * itemsize, itemsize, size);
    if (bytes[room * itemsize] != UNWRITTEN_BYTE)
        result[room] = FOREIGN;
    free(bytes);
    free(data);
    return status;
}
#endif

int main(void)
{
    size_t wrong = 0;
#ifndef WHYCAST_NO_SHAPE
    wrong += CHECK(shape, 0, WHYCAST_TENSORS ? NULL : operand_words);
#endif
#ifndef WHYCAST_NO_STRIDES
    wrong += CHECK(strides, 0, operand_words);
#endif
#ifndef WHYCAST_NO_DATA
    wrong += CHECK(data, 1, operand_words);
#endif
    return wrong != 0;
}
