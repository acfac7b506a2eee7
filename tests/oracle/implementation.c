/* A program that broadcasts tensors by SONNX's rule and answers lines of JSON, for the tests of the
   checks. Its argument names the way in which it is wrong; without one it is right.

   An element is a token: its hexadecimal digits, or a JSON string. What it means is of no account. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TENSORS = 64, MOST_AXES = 64 };

typedef struct {
    const char *text;
    size_t length;
} token;

typedef struct {
    token dtype;
    size_t rank;
    int64_t shape[MOST_AXES];
    bool strings;
    size_t count;
    token *elements;
} tensor;

static const char *wrong = "";

static bool is(const char *name) { return strcmp(wrong, name) == 0; }

static bool has_dtype(const tensor *x, const char *name) {
    return x->dtype.length == strlen(name) && memcmp(x->dtype.text, name, x->dtype.length) == 0;
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        exit(3);
    }
    return memory;
}

static const char *skip_to(const char *at, const char *what) {
    at = strstr(at, what);
    if (at == NULL) {
        exit(4);
    }
    return at + strlen(what);
}

/* The characters of a JSON string, from behind its first quotation mark. */
static token quoted(const char *at) {
    token found = {at, 0};
    while (at[found.length] != '"') {
        found.length += at[found.length] == '\\' ? 2 : 1;
    }
    return found;
}

static const char *read_tensor(const char *at, tensor *x) {
    x->dtype = quoted(skip_to(at, "\"dtype\": \""));
    at = skip_to(x->dtype.text, "\"shape\": [");
    x->count = 1;
    for (x->rank = 0; *at != ']'; x->rank++) {
        char *end;
        x->shape[x->rank] = strtoll(at, &end, 10);
        x->count *= (size_t)x->shape[x->rank];
        at = end + strspn(end, ", ");
    }
    at = skip_to(at, "\"elements\": ");
    x->elements = allocate(x->count, sizeof *x->elements);
    x->strings = *at == '[';
    at++;
    if (!x->strings) {
        const token all = quoted(at);
        for (size_t i = 0; i < x->count; i++) {
            const size_t width = all.length / x->count;
            x->elements[i] = (token){all.text + i * width, width};
        }
        return all.text + all.length;
    }
    for (size_t i = 0; i < x->count; i++) {
        x->elements[i] = quoted(at + strspn(at, ", ") + 1);
        at = x->elements[i].text + x->elements[i].length + 1;
    }
    return at;
}

/* The size on an axis of the common rank. */
static int64_t padded(const tensor *x, size_t rank, size_t axis) {
    return axis < rank - x->rank ? 1 : x->shape[axis - (rank - x->rank)];
}

static bool fits(int64_t own, int64_t common) {
    if (is("tiles divisors") && own > 0 && common % own == 0) {
        return true;
    }
    return own == common || own == 1;
}

static bool common_shape(size_t count, const tensor *xs, size_t *rank, int64_t *shape) {
    *rank = 0;
    for (size_t m = 0; m < count; m++) {
        *rank = xs[m].rank > *rank ? xs[m].rank : *rank;
    }
    for (size_t axis = 0; axis < *rank; axis++) {
        shape[axis] = padded(&xs[0], *rank, axis);
        for (size_t m = 1; m < count; m++) {
            const int64_t size = padded(&xs[m], *rank, axis);
            if (is("numpy's rule") ? shape[axis] == 1 : size > shape[axis]) {
                shape[axis] = size;
            }
        }
        for (size_t m = 0; m < count; m++) {
            if (!fits(padded(&xs[m], *rank, axis), shape[axis])) {
                return false;
            }
        }
    }
    return true;
}

static bool zeroed(size_t count, size_t rank, const int64_t *shape) {
    bool over_64 = false;
    for (size_t axis = 0; axis < rank; axis++) {
        over_64 = over_64 || shape[axis] > 64;
    }
    return is("zeros") || (is("wrong at rank 5") && rank == 5) ||
           (is("wrong at 9 tensors") && count == 9) || (is("wrong over 64") && over_64);
}

/* The exponent's bits of a floating-point type are all set: a NaN, or an infinity. */
static bool is_special(const tensor *x, token each) {
    if (has_dtype(x, "float32")) {
        return memcmp(each.text + 6, "7f", 2) == 0 && strchr("89abcdef", each.text[4]) != NULL;
    }
    return has_dtype(x, "float64") && memcmp(each.text + 14, "7f", 2) == 0 && each.text[12] == 'f';
}

static void print_element(const tensor *x, token each, bool zero) {
    if (zero && !x->strings) {
        for (size_t k = 0; k < each.length; k++) {
            putchar('0');
        }
    } else if (is("NaN canonical") && is_special(x, each)) {
        printf(has_dtype(x, "float32") ? "0000c07f" : "000000000000f87f");
    } else if (is("zero unsigned") && has_dtype(x, "float32") &&
               memcmp(each.text, "00000080", 8) == 0) {
        printf("00000000");
    } else if (x->strings) {
        printf("\"%.*s\"", (int)each.length, each.text);
    } else {
        printf("%.*s", (int)each.length, each.text);
    }
}

static void print_broadcast(const tensor *x, size_t rank, const int64_t *shape, bool zero) {
    size_t total = 1;
    for (size_t axis = 0; axis < rank; axis++) {
        total *= (size_t)shape[axis];
    }
    if (is("dtype changed") && has_dtype(x, "uint32")) {
        printf("{\"dtype\": \"int32\", \"shape\": [");
    } else {
        printf("{\"dtype\": \"%.*s\", \"shape\": [", (int)x->dtype.length, x->dtype.text);
    }
    for (size_t axis = 0; axis < rank; axis++) {
        printf(axis > 0 ? ", %lld" : "%lld", (long long)shape[axis]);
    }
    printf(x->strings ? "], \"elements\": [" : "], \"elements\": \"");
    int64_t index[MOST_AXES] = {0};
    bool grows = x->rank < rank;
    for (size_t axis = 0; axis < rank; axis++) {
        grows = grows || padded(x, rank, axis) != shape[axis];
    }
    for (size_t number = 0; number < total; number++) {
        size_t source = 0;
        for (size_t axis = rank - x->rank; axis < rank; axis++) {
            const int64_t own = padded(x, rank, axis);
            int64_t i = own == shape[axis] ? index[axis] : 0;
            if (is("last instead of first") && grows) {
                i = own == shape[axis] ? own - 1 - index[axis] : own - 1;
            }
            if (is("tiles divisors") && own > 0) {
                i = index[axis] % own;
            }
            if (is("swapped axes") && rank >= 2 && own == shape[axis] && axis + 2 >= rank &&
                x->rank >= 2 && shape[rank - 1] == shape[rank - 2] &&
                padded(x, rank, rank - 1) == padded(x, rank, rank - 2)) {
                i = index[axis + 1 == rank ? axis - 1 : axis + 1];
            }
            source = source * (size_t)own + (size_t)i;
        }
        if (x->strings && number > 0) {
            printf(", ");
        }
        print_element(x, x->elements[source], zero);
        for (size_t axis = rank; axis-- > 0 && ++index[axis] == shape[axis];) {
            index[axis] = 0;
        }
    }
    printf(x->strings ? "]}" : "\"}");
}

static void answer(const char *line) {
    static long lines = 0;
    tensor xs[MOST_TENSORS];
    size_t count = 0, rank;
    int64_t shape[MOST_AXES];
    for (const char *at = skip_to(line, "\"arrays\": ["); strstr(at, "\"dtype\"") != NULL;) {
        at = read_tensor(at, &xs[count++]);
    }
    lines++;
    if (is("prints garbage") && count == 3) {
        printf("broadcasting %zu tensors\n", count);
    }
    if (is("stops early") && lines == 100) {
        exit(0);
    }
    if (is("crashes") && count == 3) {
        abort();
    }
    if (is("hangs") && count == 3) {
        sleep(1000);
    }
    if (!common_shape(count, xs, &rank, shape)) {
        printf("{\"refused\": true}\n");
    } else {
        const bool zero = zeroed(count, rank, shape);
        printf("{\"arrays\": [");
        for (size_t m = 0; m < count; m++) {
            printf(m > 0 ? ", " : "");
            print_broadcast(&xs[m], rank, shape, zero);
        }
        printf("]}\n");
    }
    for (size_t m = 0; m < count; m++) {
        free(xs[m].elements);
    }
}

int main(int argc, char **argv) {
    char *line = NULL;
    size_t capacity = 0;
    wrong = argc > 1 ? argv[1] : "";
    while (getline(&line, &capacity, stdin) > 0) {
        answer(line);
        /* An answer that waits in a buffer is none. */
        fflush(stdout);
    }
    free(line);
    return 0;
}
