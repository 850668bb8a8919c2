# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stderr, if stderr is a terminal.

The bar appears only if there are more nodes than lines on the screen. It
disappears when the work is done.
"""

import contextlib
import shutil
import threading
import typing
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def bar(out: typing.TextIO, title: str) -> Iterator[Callable[[int], None]]:
    """Yield a function to call, with the total, for each finished node."""
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
        self._step: Callable[[], object] | None = None

    def advance(self, total: int) -> None:
        """Count one more finished node; threads may share the bar."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            # The work goes on if the terminal hangs up.
            if self._step is None:
                self._step = self._appear(total)
            self._step()

    def _appear(self, total: int) -> Callable[[], object]:
        if not self._out.isatty() or total <= shutil.get_terminal_size().lines:
            return lambda: None
        from rich import console, progress  # noqa: PLC0415 (only here)

        shown = self._stack.enter_context(
            progress.Progress(
                progress.TextColumn('{task.description}'),
                progress.BarColumn(),
                progress.MofNCompleteColumn(),
                progress.TimeRemainingColumn(),
                console=console.Console(file=self._out),
                transient=True,
            )
        )
        task = shown.add_task(self._title, total=total)
        return lambda: shown.advance(task)
