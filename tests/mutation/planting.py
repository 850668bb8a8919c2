# SPDX-License-Identifier: Apache-2.0
"""Hooks that run tests with the defects planted that they must notice.

``pytest --planted`` registers them. They keep the tests that are marked
``catches('a defect')``. Each of those runs once as it is, when it must pass,
and once for each defect that it names, when it must fail. Only a failure of
the test itself counts: no error of a fixture, and none of a substitute; for a
check of ``tests/gauntlet``, only that of its verdict.
"""

import collections.abc
import typing

import planted
import pytest
import variants

MARK = 'catches'
FIXTURE = 'planted_defect'
AS_IT_IS = 'as it is'


@pytest.fixture(autouse=True)
def planted_defect(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> variants.Variant | None:
    """Plant this run's defect, if it has one."""
    defect: variants.Variant | None = getattr(request, 'param', None)
    if defect is not None:
        defect.plant(monkeypatch)
    return defect


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a marked test without a defect, and with each that it names."""
    names = list(_cases_by_defect(metafunc.definition))
    if names:
        metafunc.parametrize(
            FIXTURE,
            [None, *(planted.VARIANTS[name] for name in names)],
            ids=[AS_IT_IS, *names],
            indirect=True,
        )


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Keep the runs that a mark asks for; each defect must have one."""
    kept = [item for item in items if _is_asked_for(item)]
    dropped = [item for item in items if not _is_asked_for(item)]
    config.hook.pytest_deselected(items=dropped)
    items[:] = kept
    caught = {d.says for d in map(_defect_of, kept) if d is not None}
    missing = sorted(planted.VARIANTS.keys() - caught)
    is_whole = config.args_source is not config.ArgsSource.ARGS
    if missing and is_whole and not config.option.keyword:
        raise pytest.UsageError(
            f'no test is marked {MARK}(...) for these planted defects: '
            f'{"; ".join(missing)}'
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> collections.abc.Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the verdict of a run with a defect around."""
    report = yield
    defect = _defect_of(item)
    if defect is None or call.when != 'call' or report.skipped:
        return report
    if defect.broken:
        exc = defect.broken[0]
        why = f'{type(exc).__name__}: {exc}'
        _fail(report, f'the substitute of "{defect.says}" failed: {why}')
    elif report.passed:
        _fail(report, f'"{defect.says}" was planted and not noticed')
    elif not isinstance(
        typing.cast(pytest.ExceptionInfo[BaseException], call.excinfo).value,
        item.stash.get(variants.NOTICES_BY, BaseException),
    ):
        why = f'"{defect.says}" ended the test before its verdict'
        report.longrepr = f'{why}:\n{report.longreprtext}'
    else:
        report.outcome, report.longrepr = 'passed', None
    return report


def _fail(report: pytest.TestReport, why: str) -> None:
    report.outcome, report.longrepr = 'failed', why


def _cases_by_defect(item: typing.Any) -> dict[str, list[str]]:
    """Return the defects that a test names, and for which of its cases.

    :raises pytest.UsageError: there is no such defect
    """
    found: dict[str, list[str]] = {}
    for mark in item.iter_markers(MARK):
        (name,) = mark.args
        if name not in planted.VARIANTS:
            raise pytest.UsageError(
                f'{item.nodeid} is marked {MARK}({name!r}); tests/mutation/'
                'planted has no defect of that name'
            )
        case = mark.kwargs.get('case')
        found.setdefault(name, []).extend([] if case is None else [case])
    return found


def _defect_of(item: pytest.Item) -> variants.Variant | None:
    callspec = getattr(item, 'callspec', None)
    found: variants.Variant | None = (
        None if callspec is None else callspec.params.get(FIXTURE)
    )
    return found


def _is_asked_for(item: typing.Any) -> bool:
    """Return True for the cases that a mark names, or if it names none."""
    callspec = getattr(item, 'callspec', None)
    if callspec is None or FIXTURE not in callspec.params:
        return False
    defect, cases_by_defect = _defect_of(item), _cases_by_defect(item)
    if defect is None:
        wanted, suffix = list(cases_by_defect.values()), AS_IT_IS
    else:
        wanted, suffix = [cases_by_defect[defect.says]], defect.says
    case = callspec.id.removesuffix(suffix).removesuffix('-')
    return any(not cases or case in cases for cases in wanted)
