# SPDX-License-Identifier: Apache-2.0
"""The process of an agent that is measured: cycles on order, told by JSON.

Of the standard library alone: ``ours.py`` and ``nova_peer.py`` both serve by
it, in environments of their own, so both are measured alike. A line on the
standard input orders a cycle, a line on the standard output tells what it took.
"""

import json
import os
import pathlib
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

from . import cloud


class Order:
    """What the next cycle shall find.

    :ivar change: what the listing of the nodes says
    :ivar is_stale: whether what is remembered for 300 s is too old
    """

    def __init__(self, text: str) -> None:
        data = json.loads(text)
        self.change = cloud.Change(data['change'])
        self.is_stale = bool(data['is_stale'])


def serve(prepare: Callable[[Order], Callable[[], object]]) -> None:
    """Do the cycles that are ordered, until no more are.

    :param prepare: makes ready for a cycle, and returns what does it: that
        alone is measured
    """
    with os.fdopen(os.dup(1), 'w', encoding='utf-8') as answers:
        os.dup2(2, 1)  # what an agent prints is no answer
        _say(answers, {'ready': True})
        for line in sys.stdin:
            cycle = prepare(Order(line))
            _say(answers, _measured(cycle))


def _measured(cycle: Callable[[], object]) -> dict[str, float]:
    used = _processor_time()
    began = time.perf_counter()
    cycle()
    wall = time.perf_counter() - began
    return {
        'wall': wall,
        'cpu': _processor_time() - used,
        'peak_mib': _peak_mib(),
    }


def _processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _peak_mib() -> float:
    """Return the most memory this program had; rusage counts its parent's."""
    status = pathlib.Path('/proc/self/status').read_text(encoding='ascii')
    line = next(x for x in status.splitlines() if x.startswith('VmHWM:'))
    return int(line.split()[1]) / 1024


def _say(answers: Any, data: dict[str, Any]) -> None:
    answers.write(json.dumps(data) + '\n')
    answers.flush()
