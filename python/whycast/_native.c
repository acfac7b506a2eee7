/* The accelerator: the proved programs of c/whycast.h on Python's arguments.

   This file is handwritten and not proved. It unpacks arguments, calls entry points, which check
   them, and packs the result: a tuple, views or a bool. Only `p` calls no entry point. It returns
   None to leave the question to Python, for example for a subclass, an integer of over 64 bits,
   more shapes than its arrays hold, or an entry point's error, except a mismatch in `compatible`.
   It calls no user's method, so none runs twice. Static data do not change after import. It reads a
   copy of a list, which other threads may change. It uses the limited API of Python 3.10, unless
   free-threaded (setup.py), and the API of NumPy 2.0. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <limits.h>
#include <stdint.h>
#include <string.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include "whycast.h"

enum { COUNT = 64, SIZES = 512, RANK = 64 };

/* Writing more bytes than this lets other threads run. */
enum { LONG = 1 << 15 };

/* NumPy's mark, a negative flag, to warn of a write; views inherit it. */
enum { MARK = INT_MIN };

/* Whether `object` is an int that fits into 64 bits, or a numpy.int64; writes its value. */
static int as_integer(PyObject *object, int64_t *value) {
  int overflow = 0;
  if (Py_TYPE(object) == &PyInt64ArrType_Type) {
    *value = ((PyInt64ScalarObject *) object)->obval;
    return 1;
  }
  if (!PyLong_CheckExact(object)) return 0;
  *value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return !overflow;
}

/* Writes the integers in a tuple or list. Returns their number; -1 for other objects or entries, or
   if there are more than `room`. */
static Py_ssize_t as_integers(PyObject *object, int64_t *values, Py_ssize_t room) {
  PyObject *entries = PyTuple_CheckExact(object) ? Py_NewRef(object)
      : PyList_CheckExact(object) ? PyList_AsTuple(object) : NULL;
  if (!entries) return -1;
  Py_ssize_t count = PyTuple_Size(entries);
  if (count > room) count = -1;
  for (Py_ssize_t k = 0; k < count; k++) {
    if (!as_integer(PyTuple_GetItem(entries, k), values + k)) count = -1;
  }
  Py_DECREF(entries);
  return count;
}

static PyObject *as_tuple(const int64_t *values, int64_t count) {
  PyObject *result = PyTuple_New((Py_ssize_t) count);
  for (Py_ssize_t k = 0; result && k < count; k++) {
    PyObject *value = PyLong_FromLongLong(values[k]);
    /* PyTuple_SetItem takes the reference, even if it fails. */
    if (!value || PyTuple_SetItem(result, k, value)) Py_CLEAR(result);
  }
  return result;
}

/* Returns NULL, without an exception, to leave the question to Python. */
typedef PyObject *(*program)(PyObject *const *arguments);

/* The result of a program of `taken` arguments, or None. */
static PyObject *answer(PyObject *const *arguments, Py_ssize_t count, Py_ssize_t taken,
                        program ask) {
  if (count != taken) {
    PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", taken, count);
    return NULL;
  }
  PyObject *result = ask(arguments);
  return result || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

/* Writes the common shape of a tuple of shapes. Returns its rank, or a code below 0. */
static int64_t common_shape(PyObject *shapes, int64_t *common) {
  int64_t sizes[SIZES], ranks[COUNT];
  const int64_t *starts[COUNT];
  int64_t *next = sizes;
  Py_ssize_t count = PyTuple_CheckExact(shapes) ? PyTuple_Size(shapes) : COUNT + 1;
  if (count > COUNT) return WHYCAST_CAPACITY_EXCEEDED;
  for (Py_ssize_t m = 0; m < count; m++) {
    Py_ssize_t rank = as_integers(PyTuple_GetItem(shapes, m), next, sizes + SIZES - next);
    if (rank < 0) return WHYCAST_CAPACITY_EXCEEDED;
    starts[m] = next;
    ranks[m] = rank;
    next += rank;
  }
  whycast_place place;
  return whycast_broadcast_shape(common, RANK, &place, starts, ranks, count);
}

static PyObject *shape_of(PyObject *const *arguments) {
  int64_t common[RANK], rank = common_shape(arguments[0], common);
  return rank < 0 ? NULL : as_tuple(common, rank);
}

static PyObject *verdict(PyObject *const *arguments) {
  int64_t common[RANK], rank = common_shape(arguments[0], common);
  return rank < 0 && rank != WHYCAST_NOT_BROADCASTABLE ? NULL : PyBool_FromLong(rank >= 0);
}

/* The strides of a view, from shape, strides and target. */
static PyObject *strides_of(PyObject *const *arguments) {
  int64_t shape[RANK], strides[RANK], target[RANK], view[RANK];
  Py_ssize_t rank = as_integers(arguments[0], shape, RANK);
  if (rank < 0 || as_integers(arguments[1], strides, RANK) != rank) return NULL;
  Py_ssize_t target_rank = as_integers(arguments[2], target, RANK);
  whycast_place place;
  if (target_rank < 0 ||
      whycast_broadcast_strides(view, &place, strides, shape, rank, target, target_rank)) {
    return NULL;
  }
  return as_tuple(view, target_rank);
}

/* The axes of a target along which a shape repeats: their strides become 0. */
static PyObject *repeated_of(PyObject *const *arguments) {
  int64_t shape[RANK], strides[RANK], target[RANK], axes[RANK], count = 0;
  Py_ssize_t rank = as_integers(arguments[0], shape, RANK);
  Py_ssize_t target_rank = as_integers(arguments[1], target, RANK);
  whycast_place place;
  for (Py_ssize_t k = 0; k < rank; k++) strides[k] = 1;
  if (rank < 0 || target_rank < 0 ||
      whycast_broadcast_strides(axes, &place, strides, shape, rank, target, target_rank)) {
    return NULL;
  }
  for (Py_ssize_t k = 0; k < target_rank; k++) {
    if (!axes[k]) axes[count++] = k;
  }
  return as_tuple(axes, count);
}

/* Writes the axes of a rank without the given axes. Returns their number; -1 unless the given axes
   are axes of the rank, and increase. */
static Py_ssize_t kept_axes(int64_t *kept, Py_ssize_t rank, const int64_t *axes, Py_ssize_t count) {
  Py_ssize_t passed = 0;
  for (Py_ssize_t k = 0; k < rank; k++) {
    if (passed < count && axes[passed] == k) passed++;
    else kept[k - passed] = k;
  }
  return passed == count ? rank - count : -1;
}

/* The sizes of a shape without those on given axes. */
static PyObject *sizes_without(PyObject *const *arguments) {
  int64_t shape[RANK], axes[RANK], kept[RANK];
  Py_ssize_t rank = as_integers(arguments[0], shape, RANK);
  Py_ssize_t count = as_integers(arguments[1], axes, RANK);
  if (rank < 0 || count < 0) return NULL;
  count = kept_axes(kept, rank, axes, count);
  for (Py_ssize_t j = 0; j < count; j++) kept[j] = shape[kept[j]];
  return count < 0 ? NULL : as_tuple(kept, count);
}

/* A plain array of a legacy type of NumPy, with at least one byte an element; or NULL. */
static PyArrayObject *as_array(PyObject *object) {
  if (!PyArray_CheckExact(object)) return NULL;
  PyArrayObject *x = (PyArrayObject *) object;
  int is_known = PyArray_TYPE(x) >= 0 && PyArray_TYPE(x) < NPY_NTYPES_LEGACY;
  return is_known && PyArray_ITEMSIZE(x) > 0 && PyArray_NDIM(x) <= RANK ? x : NULL;
}

/* npy_intp and int64_t may differ. */
static void take(int64_t *values, const npy_intp *given, int rank) {
  for (int k = 0; k < rank; k++) values[k] = given[k];
}

/* A read-only view, or NULL if NumPy makes none. */
static PyObject *view_by(PyArrayObject *x, const int64_t *shape, const int64_t *strides,
                         int64_t rank) {
  npy_intp sizes[RANK], steps[RANK];
  for (int k = 0; k < rank; k++) {
    sizes[k] = (npy_intp) shape[k];
    steps[k] = (npy_intp) strides[k];
    if (sizes[k] != shape[k] || steps[k] != strides[k]) return NULL;
  }
  /* NumPy takes the references to dtype and x, even if it fails. */
  PyArray_Descr *dtype = (PyArray_Descr *) Py_NewRef((PyObject *) PyArray_DESCR(x));
  PyArrayObject *view = (PyArrayObject *) PyArray_NewFromDescr(
      &PyArray_Type, dtype, (int) rank, sizes, steps, PyArray_DATA(x), 0, NULL);
  if (view && PyArray_SetBaseObject(view, Py_NewRef((PyObject *) x))) Py_CLEAR(view);
  if (view) PyArray_CLEARFLAGS(view, MARK);
  else PyErr_Clear();
  return (PyObject *) view;
}

static PyObject *view_as(PyArrayObject *x, const int64_t *target, int64_t target_rank) {
  int64_t shape[RANK], strides[RANK], view[RANK];
  int rank = PyArray_NDIM(x);
  whycast_place place;
  take(shape, PyArray_DIMS(x), rank);
  take(strides, PyArray_STRIDES(x), rank);
  return whycast_broadcast_strides(view, &place, strides, shape, rank, target, target_rank)
      ? NULL : view_by(x, target, view, target_rank);
}

static PyObject *view_to(PyObject *const *arguments) {
  int64_t target[RANK];
  PyArrayObject *x = as_array(arguments[0]);
  Py_ssize_t rank = x ? as_integers(arguments[1], target, RANK) : -1;
  return rank < 0 ? NULL : view_as(x, target, rank);
}

/* The view of a tensor in the common shape of its own and a given shape. */
static PyObject *view_with(PyObject *const *arguments) {
  int64_t own[RANK], given[RANK], common[RANK];
  PyArrayObject *x = as_array(arguments[0]);
  Py_ssize_t rank = x ? as_integers(arguments[1], given, RANK) : -1;
  if (rank < 0) return NULL;
  take(own, PyArray_DIMS(x), PyArray_NDIM(x));
  whycast_place place;
  const int64_t ranks[] = {PyArray_NDIM(x), rank}, *shapes[] = {own, given};
  int64_t common_rank = whycast_broadcast_shape(common, RANK, &place, shapes, ranks, 2);
  return common_rank < 0 ? NULL : view_as(x, common, common_rank);
}

/* Inserts missing axes as sizes of 1, and broadcasts. This equals broadcasting along the axes:
   explicit_broadcast_to of why3/axes/unsqueeze.mlw, in_dim_some_transpose of in_dim_transpose.mlw
   and, for the axes that a tensor lacks, ngraph_explicit of ngraph.mlw. */
enum order { INCREASING, DISTINCT, LACKING };

static PyObject *view_along(PyObject *const *arguments, enum order order) {
  int64_t shape[RANK], strides[RANK] = {0}, view[RANK], target[RANK], given[RANK], kept[RANK];
  char taken[RANK] = {0};
  PyArrayObject *x = as_array(arguments[0]);
  Py_ssize_t rank = x ? as_integers(arguments[1], target, RANK) : -1;
  Py_ssize_t count = rank < 0 ? -1 : as_integers(arguments[2], given, RANK);
  if (count < 0) return NULL;
  const int64_t *axes = order == LACKING ? kept : given;
  if (order == LACKING) count = kept_axes(kept, rank, given, count);
  if (count != PyArray_NDIM(x)) return NULL;
  for (Py_ssize_t k = 0; k < rank; k++) shape[k] = 1;
  for (Py_ssize_t j = 0; j < count; j++) {
    int64_t axis = axes[j];
    if (axis < 0 || axis >= rank || taken[axis]) return NULL;
    if (order == INCREASING && j && axis < axes[j - 1]) return NULL;
    taken[axis] = 1;
    shape[axis] = PyArray_DIMS(x)[j];
    strides[axis] = PyArray_STRIDES(x)[j];
    /* nGraph grows no sizes. */
    if (order == LACKING && shape[axis] != target[axis]) return NULL;
  }
  whycast_place place;
  return whycast_broadcast_strides(view, &place, strides, shape, rank, target, rank)
      ? NULL : view_by(x, target, view, rank);
}

static PyObject *along(PyObject *const *arguments) { return view_along(arguments, INCREASING); }
static PyObject *placed(PyObject *const *arguments) { return view_along(arguments, DISTINCT); }
static PyObject *across(PyObject *const *arguments) { return view_along(arguments, LACKING); }

/* Whether all elements from `data` on are strings; on an axis of stride 0, visits one element. */
static int all_strings(const char *data, int rank, const npy_intp *shape, const npy_intp *strides) {
#ifdef Py_GIL_DISABLED
  return 0; /* Another thread may free an element meanwhile. */
#endif
  if (!rank) {
    PyObject *element;
    memcpy(&element, data, sizeof element);
    return element && (PyUnicode_CheckExact(element) || PyUnicode_Check(element));
  }
  npy_intp count = *strides || !*shape ? *shape : 1;
  while (count-- > 0) {
    if (!all_strings(data, rank - 1, shape + 1, strides + 1)) return 0;
    data += *strides;
  }
  return 1;
}

static PyArrayObject *as_tensor(PyObject *object) {
  PyArrayObject *x = as_array(object);
  int type = x ? PyArray_TYPE(x) : NPY_VOID;
  int is_plain = type <= NPY_DOUBLE || type == NPY_HALF || type == NPY_UNICODE;
  int is_strings = type == NPY_OBJECT &&
      all_strings(PyArray_DATA(x), PyArray_NDIM(x), PyArray_DIMS(x), PyArray_STRIDES(x));
  return is_plain || is_strings ? x : NULL;
}

static PyObject *views(PyObject *const *arguments) {
  int64_t sizes[SIZES], ranks[COUNT], common[RANK], *next = sizes;
  const int64_t *shapes[COUNT];
  Py_ssize_t count = PyTuple_CheckExact(arguments[0]) ? PyTuple_Size(arguments[0]) : COUNT + 1;
  if (count > COUNT) return NULL;
  for (Py_ssize_t m = 0; m < count; m++) {
    PyArrayObject *x = as_tensor(PyTuple_GetItem(arguments[0], m));
    if (!x || PyArray_NDIM(x) > sizes + SIZES - next) return NULL;
    ranks[m] = PyArray_NDIM(x);
    shapes[m] = next;
    take(next, PyArray_DIMS(x), PyArray_NDIM(x));
    next += ranks[m];
  }
  whycast_place place;
  int64_t rank = whycast_broadcast_shape(common, RANK, &place, shapes, ranks, count);
  PyObject *result = rank < 0 ? NULL : PyTuple_New(count);
  for (Py_ssize_t m = 0; result && m < count; m++) {
    PyArrayObject *x = (PyArrayObject *) PyTuple_GetItem(arguments[0], m);
    PyObject *view = view_as(x, common, rank);
    if (!view || PyTuple_SetItem(result, m, view)) Py_CLEAR(result);
  }
  return result;
}

/* Writes the shape, with 1 on repeated axes. Returns the number of bytes; -1 for objects, records
   or memory that is not row-major. */
static int64_t block(PyArrayObject *x, int64_t *shape) {
  if (PyArray_TYPE(x) == NPY_OBJECT || PyArray_TYPE(x) == NPY_VOID) return -1;
  int64_t bytes = PyArray_ITEMSIZE(x);
  take(shape, PyArray_DIMS(x), PyArray_NDIM(x));
  for (int k = PyArray_NDIM(x); k-- > 0;) {
    int64_t stride = PyArray_STRIDES(x)[k];
    if (!stride && shape[k]) shape[k] = 1;
    if (bytes && shape[k] > 1 && stride != bytes) return -1;
    /* The bytes of an array fit into npy_intp: no overflow. */
    bytes *= shape[k];
  }
  return bytes;
}

/* Broadcasts a tensor into an array; returns True. */
static PyObject *written(PyObject *const *arguments) {
  int64_t from[RANK], to[RANK];
  PyArrayObject *z = as_array(arguments[0]), *x = as_array(arguments[1]);
  if (!z || !x || !PyArray_EquivTypes(PyArray_DESCR(z), PyArray_DESCR(x))) return NULL;
  int wanted = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_WRITEABLE;
  if ((PyArray_FLAGS(z) & (wanted | MARK)) != wanted) return NULL;
  int64_t extent = block(x, from), room = PyArray_NBYTES(z);
  uintptr_t start = (uintptr_t) PyArray_DATA(z), source = (uintptr_t) PyArray_DATA(x);
  int overlaps = start < source + (uintptr_t) extent && source < start + (uintptr_t) room;
  if (extent < 0 || overlaps) return NULL;
  take(to, PyArray_DIMS(z), PyArray_NDIM(z));
  PyThreadState *thread = room > LONG ? PyEval_SaveThread() : NULL;
  whycast_place place;
  int64_t code = whycast_broadcast(PyArray_DATA(z), room, &place, PyArray_DATA(x), extent, from,
                                   PyArray_NDIM(x), to, PyArray_NDIM(z), PyArray_ITEMSIZE(z));
  if (thread) PyEval_RestoreThread(thread);
  return code ? NULL : Py_NewRef(Py_True);
}

static int prepare(PyObject *module) {
  (void) module;
  return PyArray_ImportNumPyAPI();
}

/* Each function's name, number of arguments and program. */
#define FUNCTIONS(EACH)                                                       \
  EACH(broadcast_shapes, 1, shape_of) EACH(compatible, 1, verdict)            \
  EACH(broadcast_strides, 3, strides_of) EACH(broadcast, 2, written)          \
  EACH(broadcast_to, 2, view_to) EACH(broadcast_views, 1, views)              \
  EACH(expand, 2, view_with) EACH(explicit, 3, along) EACH(in_dim, 3, placed) \
  EACH(ngraph, 3, across) EACH(p, 2, sizes_without) EACH(repeated, 2, repeated_of)

#define DEFINED(name, taken, ask)                                                       \
  static PyObject *name(PyObject *module, PyObject *const *given, Py_ssize_t count) {  \
    (void) module;                                                                     \
    return answer(given, count, taken, ask);                                           \
  }
FUNCTIONS(DEFINED)

#define METHOD(name, taken, ask) \
  {#name, (PyCFunction) (void (*)(void)) name, METH_FASTCALL, NULL},
static PyMethodDef methods[] = {FUNCTIONS(METHOD) {NULL, NULL, 0, NULL}};
static PyModuleDef_Slot slots[] = {
  {Py_mod_exec, prepare},
#ifdef Py_GIL_DISABLED
  {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
  {0, NULL},
};
static PyModuleDef definition = {
  PyModuleDef_HEAD_INIT, "whycast._native", NULL, 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
