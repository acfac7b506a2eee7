"""BroadcastError: its attributes, its text, and that it survives copy and pickle."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from plain_rule import Shape, agreed, e1, first_mismatch, prepend
from shape_strategies import shape_lists

import whycast
from whycast._errors import show_shape


def error_of(*shapes: Shape) -> whycast.BroadcastError:
    with pytest.raises(whycast.BroadcastError) as caught:
        whycast.broadcast_shapes(*shapes)
    return caught.value


def test_is_a_value_error_that_names_itself_as_callers_do() -> None:
    error = error_of((2,), (3,))
    assert isinstance(error, ValueError)
    assert f"{type(error).__module__}.{type(error).__qualname__}" == "whycast.BroadcastError"
    assert (error.__context__, error.__cause__) == (None, None)


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        (
            ((3, 4), (2, 5, 1)),
            "shapes do not broadcast (E1): axis 1 of the common rank 3, "
            "tensor 0 has size 3, expected 5 or 1\n"
            "  tensor 0:     >3<  4\n"
            "  tensor 1:  2  [5]  1",
        ),
        (
            ((100, 1), (7, 99, 2), (100, 5), ()),
            "shapes do not broadcast (E1): axis 1 of the common rank 3, "
            "tensor 1 has size 99, expected 100 or 1\n"
            "  tensor 0:     [100]  1\n"
            "  tensor 1:  7   >99<  2\n"
            "  tensor 2:     [100]  5\n"
            "  tensor 3:",
        ),
        (
            # The 1 that a 0 meets may be a prepended one.
            ((), (0,)),
            "shapes do not broadcast (E1): axis 0 of the common rank 1, "
            "tensor 1 has size 0, expected 1\n"
            "  tensor 0: [1]\n"
            "  tensor 1: >0<\n"
            "  by NumPy's rule, in whycast.numpy_rule, a size of 0 meets a 1: (0,)",
        ),
        (
            ((4,), (2,), (3,)),
            "shapes do not broadcast (E1): axis 0 of the common rank 1, "
            "tensor 1 has size 2, expected 4 or 1\n"
            "  tensor 0: [4]\n"
            "  tensor 1: >2<\n"
            "  tensor 2: >3<",
        ),
        (
            (*[(1,)] * 11, (2,), *[()] * 30, (3,), ()),
            "shapes do not broadcast (E1): axis 0 of the common rank 1, "
            "tensor 11 has size 2, expected 3 or 1\n"
            "  tensor 0:   1\n"
            "  tensor 1:   1\n"
            "  tensor 2:   1\n"
            "  tensor 3:   1\n"
            "  tensor 4:   1\n"
            "  tensor 5:   1\n"
            "  ...\n"
            "  tensor 11: >2<\n"
            "  ...\n"
            "  tensor 42: [3]\n"
            "  ... (44 tensors)",
        ),
        (
            ((6,) * 9 + (2,) + (6,) * 9, (1,) * 3 + (3,) + (1,) * 9),
            "shapes do not broadcast (E1): axis 9 of the common rank 19, "
            "tensor 0 has size 2, expected 3 or 1\n"
            "  tensor 0: ...  6   6   6   6   6  >2<  6   6   6   6   6  ...\n"
            "  tensor 1:              1   1   1  [3]  1   1   1   1   1  ...",
        ),
        (
            ((10**5000,), (3,)),
            "shapes do not broadcast (E1): axis 0 of the common rank 1, "
            "tensor 1 has size 3, expected 2**16609+ or 1\n"
            "  tensor 0: [2**16609+]\n"
            "  tensor 1:         >3<",
        ),
    ],
)
def test_text(shapes: tuple[Shape, ...], text: str) -> None:
    """[E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_010]"""
    assert str(error_of(*shapes)) == text


def test_text_of_source_index() -> None:
    with pytest.raises(whycast.BroadcastError) as caught:
        whycast.source_index((3, 1), (2, 4, 1), (0, 0, 0))
    assert str(caught.value) == (
        "shape (3, 1) does not broadcast to (2, 4, 1): axis 1 of the target's rank 3, "
        "the shape has size 3, expected 4 or 1\n"
        "  shape:      >3<  1\n"
        "  target:  2  [4]  1"
    )


@given(shape_lists())
def test_every_text_shows_the_size_at_fault_and_the_maximum(shapes: tuple[Shape, ...]) -> None:
    witness = e1(shapes)
    if witness is None:
        return
    error = error_of(*shapes)
    headline, *table = str(error).splitlines()
    if first_mismatch(shapes) is None:
        # Only a 0 that meets a 1 is in the way, and NumPy's rule is not against that.
        hint = "  by NumPy's rule, in whycast.numpy_rule, a size of 0 meets a 1: "
        assert table.pop() == f"{hint}{show_shape(agreed(shapes))}"
    assert f"axis {witness.axis} " in headline
    assert (
        f"tensor {witness.tensor} has size {witness.size}, expected {witness.maximum}" in headline
    )
    assert len(table) <= 8 + 5
    rows = {line.split(":")[0].strip(): line for line in table if ":" in line}
    assert f">{witness.size}<" in rows[f"tensor {witness.tensor}"]
    rank = max(map(len, shapes))
    for label, row in rows.items():
        size = prepend(shapes[int(label.removeprefix("tensor "))], rank)[witness.axis]
        assert (f"[{size}]" in row) == (size == witness.maximum)
        assert (f">{size}<" in row) == (size not in (1, witness.maximum))
    assert any(f"[{witness.maximum}]" in row for row in rows.values())
    # Marks of one column begin and end in line.
    assert len({row.index(mark) for row in rows.values() for mark in "]<" if mark in row}) == 1


def pickle_and_load(error: whycast.BroadcastError) -> whycast.BroadcastError:
    loaded = pickle.loads(pickle.dumps(error))
    assert isinstance(loaded, whycast.BroadcastError)
    return loaded


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle_and_load])
def test_copies_are_equal_in_all_but_identity(
    duplicate: Callable[[whycast.BroadcastError], whycast.BroadcastError],
) -> None:
    for error in (error_of((3, 4), (2, 5, 1)), _error_with_target()):
        twin = duplicate(error)
        assert type(twin) is whycast.BroadcastError
        assert twin is not error
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


def _error_with_target() -> whycast.BroadcastError:
    with pytest.raises(whycast.BroadcastError) as caught:
        whycast.source_index((3,), (2,), (0,))
    return caught.value
