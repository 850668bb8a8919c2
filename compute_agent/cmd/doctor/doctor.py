# SPDX-License-Identifier: Apache-2.0
"""``compute-agent doctor``: one line for each check, with its fix."""

import argparse
import typing
from collections.abc import Iterator

from oslo_config import cfg

from ... import errors
from ..app import command
from . import (
    certificate_checks,
    configuration_checks,
    examination,
    finding,
    host_checks,
    placement_checks,
    state_checks,
)
from .finding import Check, Finding

Row = tuple['Check', 'Finding']


class Doctor(command.Report):
    """Check whether an agent can do its work here.

    Each line is a check: ok, a warning, a failure with its fix, or why it
    could not be checked. Run it as the daemon's user. Nothing is written.
    Exit code 0: no failure, 1: a failure.
    """

    def report(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> tuple[typing.Any, str | None, int]:
        """Run the checks; return their results."""
        rows = list(examination.results([*self._checks()]))
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


def _lines(rows: list[Row]) -> Iterator[str]:
    width = max(len(check.name) for check, _ in rows)
    for check, found in rows:
        yield f'{check.name:<{width}}  {found.outcome.value:<11}  {found}'
