"""Hold a function of the user's against a rule: one test for each stage of the cases.

``pytest --pyargs whycast.testing --whycast-target=module:function`` collects this file, and
``pytest --help`` has the other options. A deviation fails the test of each stage that met it.
"""

from __future__ import annotations

import warnings

import pytest

from whycast.testing import Report, TargetError, check
from whycast.testing._cases._case import Level, Stage
from whycast.testing._plugin import expected_failures, seconds_of, stages


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make the tests, and mark those that the user expects to fail."""
    if "stage" not in metafunc.fixturenames:
        return
    options = metafunc.config.option
    if getattr(options, "whycast_target", None) is None:
        # pytest skips a test that has no parameters.
        metafunc.parametrize(("level", "stage"), [])
        return
    failing = expected_failures(options.whycast_xfails)
    metafunc.parametrize(
        ("level", "stage"),
        [
            pytest.param(
                level,
                stage,
                id=name,
                marks=pytest.mark.xfail(strict=True, reason=f"listed in {options.whycast_xfails}")
                if name in failing
                else (),
            )
            for name, level, stage in stages(options)
        ],
    )


@pytest.fixture(scope="module")
def report(pytestconfig: pytest.Config) -> Report:
    """Ask all cases, once."""
    options = pytestconfig.option
    # Where the plugin is not loaded, nobody has asked for these tests, nor could have.
    if getattr(options, "whycast_target", None) is None:
        pytest.skip("no --whycast-target")
    try:
        return check(
            options.whycast_target,
            rule=options.whycast_rule,
            level=options.whycast_level,
            up_to=options.whycast_up_to,
            seconds=seconds_of(options.whycast_seconds),
        )
    except TargetError as error:
        pytest.fail(str(error), pytrace=False)


def test_stage(report: Report, level: Level, stage: Stage) -> None:
    """Nothing deviates, but for what the register of the built-in peers knows."""
    if here := report.met(level, stage):
        pytest.fail("\n".join(map(str, here)), pytrace=False)
    if not report.levels.get(level, {}).get(stage):
        pytest.skip(f"no cases of level {level}, stage {stage}")
    if rest := report.unasked.get(level, {}).get(stage):
        warnings.warn(f"level {level}, stage {stage}: no time for {rest:,} cases", stacklevel=1)


def test_run(report: Report) -> None:
    """It was not given up, and no register knows of what does not occur."""
    assert report.complete, "\n".join(report.notes)
    assert not report.stale, "\n".join(report.stale)
