/* The accelerator of the package: the proved programs of c/whycast.h on what Python calls with.

   This file is written by hand, and nothing of it is proved. It takes arguments apart, calls an
   entry point, which checks its arguments itself, and puts the answer together. What is not as plain
   as can be it leaves to the Python code, the last argument of each function: a subclass, an integer
   of more than 64 bits, a negative size, more shapes than there is room for, elements that are
   Python objects, and all errors. It calls no method that a user may have written before, so that
   nothing is asked twice.

   Nothing is static but what stays as it is, and of a list a copy is read: other threads may change
   it, and without the interpreter lock at any time.

   Python's limited API of 3.10, which setup.py names where there is one, and the struct in which
   NumPy shows an array to C programs. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>
#include <string.h>

#include "whycast.h"

enum { COUNT = 64, SIZES = 512, RANK = 64 };

/* Of more bytes than this other threads may run while they are written. */
enum { LONG = 1 << 15 };

typedef struct {
  PyObject *ndarray, *int64, *array_struct;
} state;

/* NumPy's PyArrayInterface: what the capsule of an attribute __array_struct__ leads to. */
typedef struct {
  int two, nd;
  char typekind;
  int itemsize, flags;
  intptr_t *shape, *strides;
  void *data;
  PyObject *descr;
} array_interface;

enum { C_CONTIGUOUS = 0x1, NOTSWAPPED = 0x200, WRITEABLE = 0x400 };

/* Whether `object` is a Python int or a numpy.int64, and which. */
static int as_integer(const state *own, PyObject *object, int64_t *value) {
  int overflow = 0;
  if (PyLong_CheckExact(object)) {
    *value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return !overflow;
  }
  if ((PyObject *) Py_TYPE(object) != own->int64) return 0;
  PyObject *plain = PyNumber_Index(object);
  if (!plain) {
    PyErr_Clear();
    return 0;
  }
  *value = PyLong_AsLongLongAndOverflow(plain, &overflow);
  Py_DECREF(plain);
  return !overflow;
}

/* The number of integers in a tuple or list, and which; -1 where it is not one of so many. */
static Py_ssize_t as_integers(const state *own, PyObject *object, int64_t *values, Py_ssize_t room) {
  PyObject *entries = PyTuple_CheckExact(object) ? Py_NewRef(object)
      : PyList_CheckExact(object) ? PyList_AsTuple(object) : NULL;
  if (!entries) return -1;
  Py_ssize_t count = PyTuple_Size(entries);
  if (count > room) count = -1;
  for (Py_ssize_t k = 0; k < count; k++) {
    if (!as_integer(own, PyTuple_GetItem(entries, k), values + k)) count = -1;
  }
  Py_DECREF(entries);
  return count;
}

static PyObject *as_tuple(const int64_t *values, int64_t count) {
  PyObject *result = PyTuple_New((Py_ssize_t) count);
  for (Py_ssize_t k = 0; result && k < count; k++) {
    PyObject *value = PyLong_FromLongLong(values[k]);
    /* The tuple takes the reference, or drops it. */
    if (!value || PyTuple_SetItem(result, k, value)) Py_CLEAR(result);
  }
  return result;
}

/* Answers from all arguments but the last; NULL, without an exception, where it leaves them. */
typedef PyObject *(*program)(const state *own, PyObject *const *arguments);

/* The answer of a program that takes so many arguments, or of the function that follows these. */
static PyObject *answer(PyObject *module, PyObject *const *arguments, Py_ssize_t count,
                        Py_ssize_t taken, program ask) {
  if (count != taken + 1) {
    PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", taken + 1, count);
    return NULL;
  }
  PyObject *result = ask(PyModule_GetState(module), arguments);
  if (result || PyErr_Occurred()) return result;
  return PyObject_CallFunctionObjArgs(arguments[taken], arguments[0],
                                      taken > 1 ? arguments[1] : NULL,
                                      taken > 2 ? arguments[2] : NULL, NULL);
}

/* The rank of the common shape of a tuple of shapes, and that shape; or a code below 0. */
static int64_t common_shape(const state *own, PyObject *shapes, int64_t *common) {
  int64_t sizes[SIZES], ranks[COUNT];
  const int64_t *starts[COUNT];
  int64_t *next = sizes;
  Py_ssize_t count = PyTuple_CheckExact(shapes) ? PyTuple_Size(shapes) : COUNT + 1;
  if (count > COUNT) return WHYCAST_CAPACITY_EXCEEDED;
  for (Py_ssize_t m = 0; m < count; m++) {
    Py_ssize_t rank = as_integers(own, PyTuple_GetItem(shapes, m), next, sizes + SIZES - next);
    if (rank < 0) return WHYCAST_CAPACITY_EXCEEDED;
    starts[m] = next;
    ranks[m] = rank;
    next += rank;
  }
  whycast_place place;
  return whycast_broadcast_shape(common, RANK, &place, starts, ranks, count);
}

static PyObject *shape_of(const state *own, PyObject *const *arguments) {
  int64_t common[RANK], rank = common_shape(own, arguments[0], common);
  return rank < 0 ? NULL : as_tuple(common, rank);
}

static PyObject *verdict(const state *own, PyObject *const *arguments) {
  int64_t common[RANK], rank = common_shape(own, arguments[0], common);
  return rank < 0 && rank != WHYCAST_NOT_BROADCASTABLE ? NULL : PyBool_FromLong(rank >= 0);
}

/* The strides of the view of a tensor, from its shape, its strides and the target. */
static PyObject *strides_of(const state *own, PyObject *const *arguments) {
  int64_t shape[RANK], strides[RANK], target[RANK], view[RANK];
  Py_ssize_t rank = as_integers(own, arguments[0], shape, RANK);
  if (rank < 0 || as_integers(own, arguments[1], strides, RANK) != rank) return NULL;
  Py_ssize_t target_rank = as_integers(own, arguments[2], target, RANK);
  whycast_place place;
  if (target_rank < 0 ||
      whycast_broadcast_strides(view, &place, strides, shape, rank, target, target_rank)) {
    return NULL;
  }
  return as_tuple(view, target_rank);
}

/* An array in memory: its shape, of at most RANK sizes, and its number of bytes. */
typedef struct {
  PyObject *capsule;
  const array_interface *seen;
  int64_t shape[RANK], bytes;
} array;

/* Look at an array of a plain type; whether it is one. There may be an exception if it is not. */
static int look_at(const state *own, PyObject *object, array *found) {
  if ((PyObject *) Py_TYPE(object) != own->ndarray) return 0;
  found->capsule = PyObject_GetAttr(object, own->array_struct);
  found->seen = found->capsule ? PyCapsule_GetPointer(found->capsule, NULL) : NULL;
  if (!found->seen) {
    Py_CLEAR(found->capsule);
    return 0;
  }
  int rank = found->seen->nd;
  whycast_place place;
  for (int k = 0; k < rank && rank <= RANK; k++) found->shape[k] = found->seen->shape[k];
  found->bytes = rank > RANK
      ? -1 : whycast_byte_size(&place, found->shape, rank, found->seen->itemsize);
  if (found->bytes >= 0 && found->seen->typekind && strchr("biufcSU", found->seen->typekind)) return 1;
  Py_CLEAR(found->capsule);
  return 0;
}

/* Write the elements of `x`, broadcast, to `z`: None. */
static PyObject *copy(const array *z, const array *x) {
  const array_interface *to = z->seen, *from = x->seen;
  int differs = (to->flags ^ from->flags) & NOTSWAPPED;
  if (!(to->flags & from->flags & C_CONTIGUOUS) || !(to->flags & WRITEABLE) || differs ||
      to->typekind != from->typekind || to->itemsize != from->itemsize) {
    return NULL;
  }
  uintptr_t to_start = (uintptr_t) to->data, from_start = (uintptr_t) from->data;
  if (to_start < from_start + (uintptr_t) x->bytes && from_start < to_start + (uintptr_t) z->bytes) {
    return NULL;
  }
  PyThreadState *thread = z->bytes > LONG ? PyEval_SaveThread() : NULL;
  whycast_place place;
  int64_t code = whycast_broadcast(to->data, z->bytes, &place, from->data, x->bytes, x->shape,
                                   from->nd, z->shape, to->nd, to->itemsize);
  if (thread) PyEval_RestoreThread(thread);
  return code ? NULL : Py_NewRef(Py_None);
}

static PyObject *written(const state *own, PyObject *const *arguments) {
  array z, x;
  PyObject *result = NULL;
  if (look_at(own, arguments[0], &z)) {
    if (look_at(own, arguments[1], &x)) {
      result = copy(&z, &x);
      Py_DECREF(x.capsule);
    }
    Py_DECREF(z.capsule);
  }
  return result;
}

static int prepare(PyObject *module) {
  state *own = PyModule_GetState(module);
  PyObject *numpy = PyImport_ImportModule("numpy");
  if (!numpy) return -1;
  own->ndarray = PyObject_GetAttrString(numpy, "ndarray");
  own->int64 = PyObject_GetAttrString(numpy, "int64");
  own->array_struct = PyUnicode_InternFromString("__array_struct__");
  Py_DECREF(numpy);
  return own->ndarray && own->int64 && own->array_struct ? 0 : -1;
}

static int visit(PyObject *module, visitproc visit, void *arg) {
  state *own = PyModule_GetState(module);
  Py_VISIT(own->ndarray);
  Py_VISIT(own->int64);
  return 0;
}

static int clear(PyObject *module) {
  state *own = PyModule_GetState(module);
  Py_CLEAR(own->ndarray);
  Py_CLEAR(own->int64);
  Py_CLEAR(own->array_struct);
  return 0;
}

static void release(void *module) { clear(module); }

#define FUNCTION(name, taken, ask)                                                      \
  static PyObject *name(PyObject *module, PyObject *const *given, Py_ssize_t count) {  \
    return answer(module, given, count, taken, ask);                                   \
  }
FUNCTION(broadcast_shapes, 1, shape_of)
FUNCTION(compatible, 1, verdict)
FUNCTION(broadcast_strides, 3, strides_of)
FUNCTION(broadcast, 2, written)

#define METHOD(name) {#name, (PyCFunction) (void (*)(void)) name, METH_FASTCALL, NULL}
static PyMethodDef methods[] = {
  METHOD(broadcast_shapes), METHOD(compatible), METHOD(broadcast_strides), METHOD(broadcast),
  {NULL, NULL, 0, NULL},
};
static PyModuleDef_Slot slots[] = {
  {Py_mod_exec, prepare},
#ifdef Py_GIL_DISABLED
  {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
  {0, NULL},
};
static PyModuleDef definition = {
  PyModuleDef_HEAD_INIT, "whycast._native", NULL, sizeof(state), methods, slots, visit, clear, release,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
