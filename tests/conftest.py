"""Settings for all tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from command_line import Run

# The same examples in every run, without deadlines: a busy machine must not fail a slow example.
settings.register_profile("whycast", derandomize=True, deadline=None, max_examples=300)
# `make fuzz`
settings.register_profile("many", settings.get_profile("whycast"), max_examples=35_000)
settings.load_profile("whycast")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process."""
    # Import it late: most tests do not need it.
    from command_line import runner

    return runner(capsys)
