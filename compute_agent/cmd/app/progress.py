# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stderr, if stderr is a terminal.

The bar appears only if there are more nodes than lines on the screen. It
disappears when the work is done. It shows the finished nodes, the writes to
placement, the nodes per second, and the time that remains.
"""

import contextlib
import shutil
import threading
import typing
from collections.abc import Callable, Iterator

from ... import error_text

_SPEED_SECONDS = 10.0  # the speed is that of the last so many seconds


class Advance(typing.Protocol):
    """Counts finished nodes."""

    def __call__(self, total: int, writes: int = 0, nodes: int = 1, /) -> None:
        """Count them.

        :param writes: the writes to placement for these nodes
        """


@contextlib.contextmanager
def bar(out: typing.TextIO, title: str) -> Iterator[Advance]:
    """Yield a function to call for each finished node.

    It takes the total, and the number of writes for this node, or for several.
    """
    with contextlib.ExitStack() as stack:
        yield _Bar(out, title, stack).advance


class _Bar:
    """The bar; it appears with the first finished node."""

    def __init__(
        self, out: typing.TextIO, title: str, stack: contextlib.ExitStack
    ) -> None:
        self._out = out
        self._title = title
        self._stack = stack
        self._lock = threading.Lock()
        self._step: Callable[[int, int], object] | None = None

    def advance(self, total: int, writes: int = 0, nodes: int = 1, /) -> None:
        """Count finished nodes; threads may share the bar."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            # The work goes on if the terminal hangs up.
            if self._step is None:
                self._step = self._appear(total)
            self._step(writes, nodes)

    def _appear(self, total: int) -> Callable[[int, int], object]:
        if not self._out.isatty() or total <= shutil.get_terminal_size().lines:
            return lambda _writes, _nodes: None
        from rich import console, progress  # noqa: PLC0415 (only here)

        shown = self._stack.enter_context(
            progress.Progress(
                progress.TextColumn('{task.description}'),
                progress.BarColumn(),
                progress.MofNCompleteColumn(),
                progress.TextColumn('{task.fields[sent]}'),
                progress.TextColumn('{task.fields[rate]}'),
                progress.TimeRemainingColumn(),
                console=console.Console(file=self._out),
                transient=True,
                speed_estimate_period=_SPEED_SECONDS,
            )
        )
        number = shown.add_task(self._title, total=total, sent='', rate='')
        (task,) = shown.tasks
        sent = 0

        def step(writes: int, nodes: int) -> None:
            nonlocal sent
            sent += writes
            rate = f'{task.speed:.0f}/s' if task.speed else ''
            told = error_text.counted(sent, 'write') if sent else ''
            shown.update(number, advance=nodes, sent=told, rate=rate)

        return step
