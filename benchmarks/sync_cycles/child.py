# SPDX-License-Identifier: Apache-2.0
"""The process of a measured agent: it runs cycles on request.

The module uses only the standard library, because ``ours.py`` and
``nova_peer.py`` use it in different environments; so both are measured in the
same way. A line of JSON on stdin orders a cycle, and a line of JSON on stdout
has its cost.
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
    """The situation of the next cycle.

    :ivar change: the change in the listing of the nodes
    :ivar is_stale: True if data that is kept for 300 s has expired
    """

    def __init__(self, text: str) -> None:
        data = json.loads(text)
        self.change = cloud.Change(data['change'])
        self.is_stale = bool(data['is_stale'])


def serve(prepare: Callable[[Order], Callable[[], object]]) -> None:
    """Run a cycle for each order, until stdin ends.

    :param prepare: prepares a cycle and returns the function that runs it;
        only that function is measured
    """
    with os.fdopen(os.dup(1), 'w', encoding='utf-8') as answers:
        os.dup2(2, 1)  # the agent's own output goes to stderr
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
    """Return the peak memory of this program; rusage includes its parent's."""
    status = pathlib.Path('/proc/self/status').read_text(encoding='ascii')
    line = next(x for x in status.splitlines() if x.startswith('VmHWM:'))
    return int(line.split()[1]) / 1024


def _say(answers: Any, data: dict[str, Any]) -> None:
    answers.write(json.dumps(data) + '\n')
    answers.flush()
