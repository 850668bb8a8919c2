# SPDX-License-Identifier: Apache-2.0
"""A progress bar for whoever waits at a terminal; nothing for anybody else.

It stands on stderr, goes when the work is done, and comes only where there is
more than a screenful of nodes to wait for.
"""

import contextlib
import shutil
import threading
import typing
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def bar(out: typing.TextIO, what: str) -> Iterator[Callable[[int], None]]:
    """Give a function to call with the total each time one more is done."""
    with contextlib.ExitStack() as stack:
        yield _Bar(out, what, stack).advance


class _Bar:
    """The bar, which appears with the first node that is done."""

    def __init__(
        self, out: typing.TextIO, what: str, stack: contextlib.ExitStack
    ) -> None:
        self._out = out
        self._what = what
        self._stack = stack
        self._lock = threading.Lock()
        self._step: Callable[[], object] | None = None

    def advance(self, total: int) -> None:
        """Move one on; threads may share it."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            # A terminal that hung up is no reason to stop the work.
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
        task = shown.add_task(self._what, total=total)
        return lambda: shown.advance(task)
