# SPDX-License-Identifier: Apache-2.0
"""Pass measurements of single calls to the functions that want them.

``transport/watched.py`` tells each request and ``virt/driver_calls.py`` each
call of a driver; the daemon's metrics count them. Without a watcher a
measurement is dropped. A watcher that fails never disturbs the call that it
watches.
"""

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

_T = TypeVar('_T')

LOG = logging.getLogger(__name__)


class Watchers(Generic[_T]):
    """The functions that get each measurement of a kind, in any thread."""

    def __init__(self) -> None:
        self._watchers: tuple[Callable[[_T], object], ...] = ()

    @contextlib.contextmanager
    def watching(self, watcher: Callable[[_T], object]) -> Iterator[None]:
        """Tell this watcher each measurement until the context ends."""
        self._watchers += (watcher,)
        try:
            yield
        finally:
            self._watchers = tuple(w for w in self._watchers if w != watcher)

    def tell(self, measured: _T) -> None:
        """Tell each watcher a measurement."""
        for watcher in self._watchers:
            try:
                watcher(measured)
            except Exception:
                LOG.debug('a watcher failed', exc_info=True)
