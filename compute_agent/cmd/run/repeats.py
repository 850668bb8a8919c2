# SPDX-License-Identifier: Apache-2.0
"""Keep the same line about each of many nodes out of the daemon's log.

A line about a node names it as ``extra={'node': uuid}``. In each cycle, a
logging call in the code logs its line for the first two nodes only; at the end
of the cycle, one line has the number of the others. The history has each
write, and ``--debug`` logs every line. ``process.py`` installs it; it hears of
each cycle.
"""

import contextlib
import logging
import threading
from collections.abc import Iterator, Sequence

from ... import error_text
from ...cycle.node.node_result import NodeResult

LOG = logging.getLogger(__name__)

FEW = 2  # nodes whose lines come through

#: The loggers of lines about a node.
LOGGERS = (
    'compute_agent.cycle.departures.other_shares',
    'compute_agent.cycle.node.node_cycle',
    'compute_agent.cycle.node.setbacks',
    'report_client.apply.executor',
    'report_client.apply.settling',
    'report_client.observe.fallen',
    'report_client.observe.observer',
)

_Place = tuple[str, int]  # the logger's name, and the line of the code


@contextlib.contextmanager
def installed() -> Iterator['Repeats']:
    """Filter the lines about nodes; return what hears of the cycles."""
    made, loggers = Repeats(), [*map(logging.getLogger, LOGGERS)]
    for one in loggers:
        one.addFilter(made)
    try:
        yield made
    finally:
        for one in loggers:
            one.removeFilter(made)


class Repeats(logging.Filter):
    """Lets the lines about the first nodes through, and counts the others."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._nodes: dict[_Place, set[str]] = {}
        self._others: dict[_Place, tuple[str, set[str]]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if the line goes into the log."""
        node = getattr(record, 'node', None)
        is_debugged = logging.getLogger(record.name).isEnabledFor(
            logging.DEBUG
        )
        if node is None or is_debugged or record.levelno >= logging.ERROR:
            return True
        place = record.name, record.lineno
        with self._lock:
            nodes = self._nodes.setdefault(place, set())
            if node in nodes or len(nodes) < FEW:
                nodes.add(node)
                return True
            text = error_text.cut(record.getMessage(), 60)
            self._others.setdefault(place, (text, set()))[1].add(node)
            return False

    # --- a listener of cycles -------------------------------------------------

    def begin(self) -> None:
        """Forget the nodes of the cycle before."""
        with self._lock:
            self._nodes, self._others = {}, {}

    def end(self, results: Sequence[NodeResult]) -> None:  # noqa: ARG002
        """Log how many other nodes had such lines."""
        self._tell()

    def part_ended(self, results: Sequence[NodeResult]) -> None:  # noqa: ARG002
        """Log how many other nodes had such lines."""
        self._tell()

    def fail(self, exc: BaseException) -> None:  # noqa: ARG002
        """Log how many other nodes had such lines."""
        self._tell()

    def _tell(self) -> None:
        with self._lock:
            others, self._others, self._nodes = self._others, {}, {}
        for text, nodes in others.values():
            LOG.info(
                '%s more had such lines in this cycle as "%s"; "compute-agent '
                'history" has each write',
                error_text.counted(len(nodes), 'node'),
                text,
            )
