# SPDX-License-Identifier: Apache-2.0
"""The report that the daemon writes on SIGUSR2, also while a cycle hangs.

It is the file ``report.txt`` in the state directory; each signal writes it
anew. It says what the daemon does, how each node is, and where each thread
stands. A thread of its own writes it, because the one that takes the signals
must hear of a stop although the disk hangs. Neither options nor values of variables are in it, so no secrets.
"""

import importlib.metadata
import logging
import os
import pathlib
import sys
import threading
import traceback
from collections.abc import Iterator

from ... import error_text, errors, private_files
from ...cycle.node import node_result
from .status import DaemonStatus

LOG = logging.getLogger(__name__)

NAME = 'report.txt'
# The code that runs, also after an upgrade of the package beside it.
_VERSION = importlib.metadata.version('compute-agent')


class Report:
    """Writes what the daemon does into a file.

    :param folder: the state directory
    """

    def __init__(self, folder: pathlib.Path, status: DaemonStatus) -> None:
        self._path = folder / NAME
        self._status = status
        self._writer: threading.Thread | None = None

    def request(self) -> None:
        """Have a thread write the report, unless a thread still writes one."""
        if self._writer is None or not self._writer.is_alive():
            self._writer = threading.Thread(
                target=self.write, name='report', daemon=True
            )
            self._writer.start()

    def write(self) -> None:
        """Write the report, and log where it is, or why it is not there."""
        text = '\n'.join(
            [*self._daemon(), '', *self._nodes(), '', *_threads()]
        )
        temporary = self._path.with_name(f'{NAME}.new')
        try:
            temporary.unlink(missing_ok=True)
            private_files.write_new(
                temporary, f'{text}\n', private_files.PRIVATE
            )
            temporary.replace(self._path)
        except (OSError, errors.ConfigError) as exc:
            why = error_text.one_line(exc)
            LOG.error('the report cannot be written: %s', why)  # noqa: TRY400
        else:
            LOG.info('SIGUSR2: the report is in %s', self._path)

    def _daemon(self) -> Iterator[str]:
        status = self._status
        age = error_text.duration(status.age())
        yield (
            f'compute-agent {_VERSION}, process {os.getpid()}, runs for {age} '
            f'since {error_text.moment(status.started)}'
        )
        yield f'last: {status}'
        if status.running_since is None:
            yield 'no cycle runs now'
        else:
            yield f'a cycle runs since {error_text.moment(status.running_since)}'

    def _nodes(self) -> Iterator[str]:
        results = self._status.results
        yield 'Nodes:' if results else 'Nodes: no cycle had any yet'
        for result in results:
            yield f'  {node_result.line(result)}'
            if result.again_in is not None:
                again = error_text.duration(result.again_in)
                yield f'    refused operations: again {again} after the cycle'
            if result.held:
                yield f'    changes that wait for approval: {len(result.held)}'
            yield from (f'    {note}' for note in result.notes)


def _threads() -> Iterator[str]:
    """Yield each thread of the process and the lines at which it stands."""
    frames = sys._current_frames()  # noqa: SLF001 (there is no other way)
    yield 'Threads, the innermost call last:'
    for thread in threading.enumerate():
        yield f'  {thread.name}'
        frame = frames.get(thread.ident or 0)
        if frame is not None:
            for call in traceback.extract_stack(frame):
                yield f'    {call.filename}:{call.lineno} in {call.name}'
