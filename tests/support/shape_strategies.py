"""Shapes for property-based tests: mostly compatible, of any rank, with now and then a misfit."""

from __future__ import annotations

from hypothesis import strategies as st
from plain_rule import Shape

# Small sizes collide often enough to meet every case of the rule; a few lie beyond 64 bits.
SIZES = st.one_of(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2**70))


@st.composite
def shape_lists(
    draw: st.DrawFn,
    max_rank: int = 40,
    max_tensors: int = 40,
    *,
    min_tensors: int = 1,
    sizes: st.SearchStrategy[int] = SIZES,
) -> tuple[Shape, ...]:
    """Shapes cut from one common shape: axes dropped in front, sizes replaced by 1 or at random."""
    common = draw(st.lists(sizes, max_size=max_rank))
    shapes = []
    for _ in range(draw(st.integers(min_tensors, max_tensors))):
        rank = draw(st.integers(0, len(common)))
        # One bit per axis: a draw per axis of every tensor would be some thousand draws.
        kept = draw(st.integers(0, 2**rank - 1))
        own = common[len(common) - rank :]
        shapes.append([size if kept >> i & 1 else 1 for i, size in enumerate(own)])
    for _ in range(draw(st.sampled_from([0, 0, 1, 3]))):
        shape = draw(st.sampled_from(shapes))
        if shape:
            shape[draw(st.integers(0, len(shape) - 1))] = draw(sizes)
    return tuple(map(tuple, shapes))


@st.composite
def shapes_and_target(
    draw: st.DrawFn, max_rank: int = 8, min_size: int = 0, max_size: int = 4
) -> tuple[Shape, Shape]:
    """Shape and target: the one broadcasts to the other but for an occasional misfit."""
    sizes = st.integers(min_size, max_size)
    target = draw(st.lists(sizes, max_size=max_rank))
    rank = draw(st.integers(0, len(target)))
    shape = [draw(st.sampled_from([size, 1])) for size in target[len(target) - rank :]]
    if shape and draw(st.integers(0, 3)) == 0:
        shape[draw(st.integers(0, len(shape) - 1))] = draw(sizes)
    return tuple(shape), tuple(target)
