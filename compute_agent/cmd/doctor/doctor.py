# SPDX-License-Identifier: Apache-2.0
"""``compute-agent doctor``: one line for each check, with its fix.

The checks run one after the other; none can hang or hide the others.
"""

import argparse
import functools
import threading
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence

from oslo_config import cfg

from ... import error_text, errors
from ...virt import failures
from ..app import command
from . import (
    certificate_checks,
    configuration_checks,
    finding,
    host_checks,
    placement_checks,
    state_checks,
)
from .finding import Check, Finding

if typing.TYPE_CHECKING:
    from .fleet_checks import Asked

Row = tuple['Check', 'Finding']
MOST = 20.0  # seconds for one check
# Check of the shared database → what carries it out.
_OF_FLEET: Mapping[str, Callable[['Asked'], Finding]] = {
    'shared database': lambda asked: asked.reachable(),
    'its tables': lambda asked: asked.tables(),
    'its rights': lambda asked: asked.rights(),
    'its commits': lambda asked: asked.commits(),
    'share': lambda asked: asked.share(),
}


class Doctor(command.Report):
    """Check whether an agent can do its work here.

    Each line is a check: ok, a warning, a failure with its fix, or why it
    could not be checked. Run it as the daemon's user. Nothing is written.
    Exit code 0: no failure, 1: a failure.
    """

    def report(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> command.Reported:
        """Run the checks; return their results."""
        rows = list(results([*self._checks()]))
        data = [
            {
                'check': check.name,
                'outcome': found.outcome.value,
                'said': found.said,
                'fix': found.fix,
            }
            for check, found in rows
        ]
        bad = any(f.outcome is finding.Outcome.FAILED for _, f in rows)
        return data, '\n'.join(_lines(rows)), int(bad)

    def _checks(self) -> Iterator[Check]:
        """Yield the checks, as far as the configuration can be read."""
        try:
            conf = self.conf()
        except errors.ConfigError as exc:
            broken = finding.failed(str(exc))
            yield Check(name='configuration', run=lambda: broken)
            yield Check(name='packages', run=configuration_checks.packages)
            unread = finding.not_checked('the configuration cannot be read')
            for name in ('state directory', 'driver', 'placement'):
                yield Check(name=name, run=lambda: unread)
            return
        yield from configuration_checks.checks(conf)
        yield from _checks_of(conf)


def _checks_of(conf: cfg.ConfigOpts) -> Iterator[Check]:
    yield from state_checks.checks(conf)
    yield from host_checks.checks(conf)
    yield from certificate_checks.checks(conf)
    yield from placement_checks.checks(conf)
    if conf.compute_agent.state_connection:
        yield from _checks_of_fleet(conf)


def _checks_of_fleet(conf: cfg.ConfigOpts) -> Iterator[Check]:
    """Yield the checks of the shared database.

    Its module is imported by a check, so that a missing package is a result.
    """

    @functools.cache
    def asked() -> 'Asked':
        from . import fleet_checks  # noqa: PLC0415 (an extra)

        return fleet_checks.Asked(conf, conf.compute_agent.state_connection)

    def run(ask: Callable[['Asked'], Finding]) -> Finding:
        return asked().closed_after(lambda: ask(asked()))

    for name, ask in _OF_FLEET.items():
        yield Check(name=name, run=functools.partial(run, ask))


def _lines(rows: list[Row]) -> Iterator[str]:
    width = max(len(check.name) for check, _ in rows)
    for check, found in rows:
        yield f'{check.name:<{width}}  {found.outcome.value:<11}  {found}'


def results(
    checks: Sequence[Check], seconds: float = MOST
) -> Iterator[tuple[Check, Finding]]:
    """Yield each check with its result.

    A check that takes longer goes on in its thread, and is left alone.
    """
    for check in checks:
        yield check, _bounded(check, seconds)


def _bounded(check: Check, seconds: float) -> Finding:
    made: list[Finding] = []
    thread = threading.Thread(
        target=lambda: made.append(_guarded(check)),
        name=f'check of {check.name}',
        daemon=True,
    )
    thread.start()
    thread.join(seconds)
    if not made:
        return finding.not_checked(f'no answer within {seconds:g} s')
    return made[0]


def _guarded(check: Check) -> Finding:
    """Return the result of a check; its errors are results, too."""
    try:
        return check.run()
    except errors.AgentError as exc:
        return finding.failed(str(exc))  # it has its own advice
    except failures.caught() as exc:  # the others go on
        return finding.not_checked(
            f'unexpected {type(exc).__name__}: {error_text.short(exc)}'
        )
