"""The list of programs, with the arguments, requirements and texts of each."""

from __future__ import annotations

from functools import partial
from typing import Any

from symbolic import programs as given
from symbolic import texts, texts_axes, texts_data
from symbolic.logic import Truth, at, both, product, some
from symbolic.programs import ANY, Program, sequences


def placed_before(*arguments: Any) -> Truth:
    """Require axes that are in range and distinct."""
    _, _, target, axes = arguments
    return texts_axes.are_distinct(axes, len(target))


def sized(shape: Any, rank: int, i: Any) -> Any:
    """Give the size on an axis of the expanded shape. [E_Broadcast_any_Step1_020]"""
    return at([texts.expanded_size(shape, rank, k) for k in range(rank)], i)


OF_SIZES = (
    Program("f", "any integers", lambda _: iter([(ANY, ANY, ANY)]), given.returned(texts.f)),
    Program("pad", "rank ≤ {rank}, to ranks from −1", given.of_rank, given.padded),
    Program("check_shape", "rank ≤ {rank}", sequences(1), lambda shape: given.checked([shape])),
    Program("check_shapes", "≤ 3 shapes, rank ≤ {rank}", given.shapes, given.checked),
    Program(
        "padded_size",
        "rank ≤ {rank}, any axis",
        given.sized,
        given.returned(sized),
        requires=lambda _, rank, i: both(i >= 0, i < rank),
    ),
    Program(
        "first_violation",
        "≤ 3 shapes, rank ≤ {rank}",
        given.shapes,
        given.first_violation,
        requires=lambda shapes: bool(shapes) and some([texts.negative(*shapes), texts.e1(shapes)]),
    ),
    Program(
        "broadcast_shapes",
        "≤ 3 shapes, rank ≤ {rank}",
        given.shapes,
        given.sonnx,
        by_contract=("first_violation",),
    ),
    Program(
        "source_index",
        "3 sequences, length ≤ {rank}",
        sequences(3),
        given.source,
        requires=lambda shape, target, _: given.are_shapes(shape, target),
    ),
    Program(
        "broadcast_strides",
        "3 sequences, length ≤ {rank}",
        sequences(3),
        given.view,
        requires=lambda shape, _, target: given.are_shapes(shape, target),
    ),
    Program(
        "row_major_strides",
        "rank ≤ {rank}",
        sequences(1),
        given.returned(texts.row_major),
        requires=given.are_shapes,
    ),
    Program("offset", "2 sequences, length ≤ {rank}", sequences(2), given.offset),
    Program(
        "first_mismatch",
        "≤ 3 shapes, rank ≤ {rank}",
        given.shapes,
        given.first_mismatch,
        requires=lambda shapes: some([texts.negative(*shapes), texts.incompatible(shapes)]),
    ),
    Program(
        "numpy_broadcast_shapes",
        "≤ 3 shapes, rank ≤ {rank}",
        given.shapes,
        given.numpy,
        by_contract=("first_mismatch",),
    ),
    Program(
        "check_axes",
        "≤ {rank} axes, any rank",
        given.axes_of_any_rank,
        given.accepted(texts_axes.sorted_axes),
    ),
    Program(
        "place_strides",
        "rank and target ≤ {rank}, any axes",
        given.views_along,
        texts_axes.placed,
        requires=placed_before,
    ),
    Program("kept_axes", "rank ≤ {rank}, ≤ {rank} axes", given.axes_of_rank, texts_axes.kept_axes),
    Program("p", "rank ≤ {rank}, ≤ {rank} axes", sequences(2), texts_axes.p_of),
    Program(
        "explicit_strides",
        "4 sequences, length ≤ {rank}",
        sequences(4),
        lambda shape, strides, target, axes: texts_axes.along(
            texts_axes.sorted_axes(axes, len(target)), shape, strides, target, axes
        ),
    ),
    Program("ngraph_strides", "4 sequences, length ≤ {rank}", sequences(4), texts_axes.ngraph),
    Program(
        "check_distinct",
        "≤ {rank} axes, any rank",
        given.axes_of_any_rank,
        given.accepted(texts_axes.distinct_axes),
    ),
    Program(
        "in_dim_strides",
        "4 sequences, length ≤ {rank}",
        sequences(4),
        lambda shape, strides, target, axes: texts_axes.along(
            texts_axes.distinct_axes(axes, len(target)), shape, strides, target, axes
        ),
    ),
    Program(
        "still_axes",
        "rank ≤ {rank}",
        sequences(1),
        lambda strides: texts_axes.listed([stride == 0 for stride in strides]),
        disjoint=True,
    ),
    Program(
        "repeated_axes", "3 sequences, length ≤ {rank}", sequences(3), texts_axes.repeated_axes
    ),
    Program(
        "repeated_trailing",
        "rank and target ≤ {rank}",
        sequences(2),
        texts_axes.repeated_trailing,
        requires=given.are_shapes,
    ),
    Program("expand_shape", "rank and target ≤ {rank}", sequences(2), texts.expand_shape),
    Program("mode_of", "each mode, and none", given.attributes, texts_axes.mode_of),
    Program(
        "view_without_axes",
        "rank and target ≤ {rank}, 3 modes",
        given.in_modes(given.views),
        texts_axes.without_axes,
        requires=lambda shape, _, target, mode: given.are_shapes(shape, target),
    ),
    Program(
        "view_along_axes",
        "rank and target ≤ {rank}, ≤ {rank} axes, 3 modes",
        given.in_modes(given.strided_axes),
        texts_axes.along_axes,
    ),
    Program("size", "rank ≤ {rank}", sequences(1), given.returned(product)),
    Program(
        "view_strides",
        "rank and target ≤ {rank}",
        given.views,
        given.returned(texts.view_strides),
        requires=lambda shape, _, target: texts.broadcasts_to(shape, target),
    ),
    Program(
        "broadcast_views",
        "≤ 3 shapes, rank ≤ {rank}, their strides",
        given.strided,
        given.all_views,
        by_contract=("broadcast_shapes",),
    ),
)


def moving(largest: int) -> tuple[Program, ...]:
    """List the programs that move elements, any ones; sizes are those up to the largest."""
    within = given.within(largest)
    return (
        Program(
            "broadcast_flat",
            f"rank and target ≤ {{rank}}, sizes ≤ {largest}, any elements",
            given.data(list, largest),
            partial(texts_data.flat_cases, texts_data.flat, largest),
            requires=lambda _, shape, target: within(shape, target),
            disjoint=True,
            most=3,
        ),
        Program(
            "broadcast_elements",
            f"rank and target ≤ {{rank}}, sizes ≤ {largest}, any elements",
            given.data(tuple, largest),
            partial(texts_data.flat_cases, texts_data.elements, largest),
            requires=lambda _, shape, target: both(
                within(shape, target), texts.broadcasts_to(shape, target)
            ),
            disjoint=True,
            most=3,
        ),
        Program(
            "broadcast_all",
            f"≤ 2 tensors, rank ≤ {{rank}}, sizes −1 to {largest - 1}, any elements",
            given.all_data(largest - 1),
            partial(texts_data.all_cases, largest - 1),
            requires=lambda shapes, _: given.within(largest - 1, least=-1)(*shapes),
            disjoint=True,
            most=2,
        ),
    )


def programs(largest: int = 3) -> tuple[Program, ...]:
    """List all programs: a call by contract is of one before."""
    return (*OF_SIZES, *moving(largest))
