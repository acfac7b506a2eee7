"""Settings that hold for every test."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

# The same examples in every run; a busy machine must not turn a slow example into a failure.
settings.register_profile("whycast", derandomize=True, deadline=None, max_examples=300)
settings.load_profile("whycast")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let all tests ask the contracts of the programs that they call."""
    text = "ask the contract of each program of the kernel at each call"
    parser.addoption("--contracts", action="store_true", help=text)


@pytest.fixture(autouse=True, scope="session")
def watched_kernel(request: pytest.FixtureRequest) -> Iterator[None]:
    """Put a program that asks its contract in the place of each program, if that is wanted."""
    if not request.config.getoption("--contracts"):
        yield
        return
    import whycast
    from assurance import contracts

    if whycast.native:
        raise pytest.UsageError("--contracts: the accelerator is not the kernel: WHYCAST_NATIVE=0")
    with contracts.watched():
        yield
