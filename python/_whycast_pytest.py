"""Options of pytest for `pytest --pyargs whycast.testing`, which holds a function against a rule.

pytest loads this in every run, of whatever: it imports neither whycast nor NumPy before a target is
given, and stands outside of the package because an import of `whycast.testing` would do both.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

from pathlib import Path

import pytest

_TESTS = Path("whycast", "testing", "test_target.py").parts


def pytest_addoption(parser: pytest.Parser) -> None:
    """Say what there is to set; what it means is for `whycast.testing.check`."""
    group = parser.getgroup("whycast", "whycast (with --pyargs whycast.testing)")
    group.addoption(
        "--whycast-target",
        metavar="MODULE:FUNCTION",
        help="the function to hold against the verified one: module:function or file.py:function",
    )
    group.addoption(
        "--whycast-rule",
        metavar="RULE",
        default="sonnx",
        help="the rule that it should follow: sonnx (default), or another of those that "
        "`whycast check --help` lists",
    )
    group.addoption(
        "--whycast-level",
        metavar="LEVEL",
        default="data",
        help="what it is asked: verdict, shape, index, strides, data (default) or report",
    )
    group.addoption(
        "--whycast-up-to",
        action="store_true",
        help="ask at all levels up to that one, of those that the target offers",
    )
    group.addoption(
        "--whycast-seconds",
        metavar="S",
        default="5",
        help="how long to ask (default: 5); all: as long as the fixed cases take",
    )
    group.addoption(
        "--whycast-xfails",
        metavar="FILE",
        type=Path,
        help="which tests are to fail, and fail if they pass: an id in each line, as "
        "test_stage[sonnx-data-layouts]; comments after #",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Refuse options before a test is collected: what is wrong later is an error of a test."""
    options = session.config.option
    if options.whycast_target is not None:
        from whycast.testing import _plugin

        try:
            _plugin.check_options(options)
        except (OSError, ValueError) as error:
            raise pytest.UsageError(str(error)) from None
    elif options.pyargs and any(map(_is_named, session.config.args)):
        raise pytest.UsageError(
            "whycast.testing needs a function to test: --whycast-target=module:function"
        )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the tests out where they come along with others and there is nothing to test."""
    if config.option.whycast_target is None and collection_path.parts[-3:] == _TESTS:
        return True
    return None


def _is_named(argument: str) -> bool:
    name = argument.partition("::")[0]
    return name == "whycast.testing" or name.startswith("whycast.testing.")
