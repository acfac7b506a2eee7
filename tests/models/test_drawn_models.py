"""Drawn models: what is said of their broadcasts, and explicit models, against what runs."""

from __future__ import annotations

from drawn_models import judge_all


def test_drawn_models() -> None:
    """[E_Broadcast_any_Derived_580] [E_Broadcast_any_Derived_600] [E_Broadcast_any_Derived_630]"""
    assert judge_all(range(300)) > 1000
