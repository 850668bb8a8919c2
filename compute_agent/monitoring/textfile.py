# SPDX-License-Identifier: Apache-2.0
"""The metrics as a file for the textfile collector of node_exporter.

A thread writes the file at the daemon's start, and at the begin and the end of
each cycle, so a slow or full disk delays no cycle, and a cycle that hangs is in
the file. A new file takes the place of the old one (rename), so a reader never
sees half of it. A failure is logged once, until a file is written again.
"""

import contextlib
import logging
import os
import pathlib
import threading
from collections.abc import Callable, Sequence

from .. import error_text
from ..cycle.node.node_result import NodeResult

LOG = logging.getLogger(__name__)

MODE = 0o644  # node_exporter is another user


class TextFile(threading.Thread):
    """Writes the file for the start and for each cycle; a listener of cycles.

    :param render: returns the text of the metrics
    """

    def __init__(
        self, path: pathlib.Path, render: Callable[[], bytes]
    ) -> None:
        super().__init__(name='metrics_textfile', daemon=True)
        self._path = path
        self._render = render
        self._due = threading.Event()
        self._ends = False
        self._is_broken = False

    def begin(self) -> None:
        """Have the file written: it says since when the cycle runs."""
        self._due.set()

    def end(self, results: Sequence[NodeResult]) -> None:
        """Have the file written."""
        del results
        self._due.set()

    def part_ended(self, results: Sequence[NodeResult]) -> None:
        """Have the file written."""
        self.end(results)

    def fail(self, exc: BaseException) -> None:
        """Have the file written."""
        del exc
        self._due.set()

    def close(self) -> None:
        """End the thread, without waiting for a disk; the file stays."""
        self._ends = True
        self._due.set()

    def run(self) -> None:
        """Write the file now, and whenever a cycle has begun or ended."""
        self._due.set()
        while self._due.wait() and not self._ends:
            self._due.clear()
            self.write()

    def write(self) -> None:
        """Write the file now; log the first of several failures."""
        try:
            _replace(self._path, self._render())
        except Exception as exc:  # noqa: BLE001 (nothing may end the thread)
            level = logging.DEBUG if self._is_broken else logging.ERROR
            self._is_broken = True
            LOG.log(
                level,
                '[compute_agent] metrics_textfile: %s cannot be written (%s); '
                'the daemon goes on, and tries again with each cycle',
                self._path,
                error_text.one_line(exc),
            )
        else:
            if self._is_broken:
                LOG.info('%s is written again', self._path)
            self._is_broken = False


def _replace(path: pathlib.Path, text: bytes) -> None:
    """Replace a file by a new one; the old one stays if this fails."""
    # node_exporter reads each file that ends in ".prom".
    new = path.with_name(f'.{path.name}.new')
    new.unlink(missing_ok=True)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(new, flags, MODE), 'wb') as file:
            os.fchmod(file.fileno(), MODE)  # whatever the umask
            file.write(text)
        new.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise
