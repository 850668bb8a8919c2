# SPDX-License-Identifier: Apache-2.0
"""Run checks one after the other; none can hang or hide the others."""

import threading
from collections.abc import Iterator, Sequence

from ... import error_text, errors
from . import finding
from .finding import Check, Finding

MOST = 20.0  # seconds for one check


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
    except (Exception, SystemExit) as exc:  # noqa: BLE001 (the others go on)
        return finding.not_checked(
            f'unexpected {type(exc).__name__}: {error_text.short(exc)}'
        )
