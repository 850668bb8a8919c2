# SPDX-License-Identifier: Apache-2.0
"""Descriptors that a forked child of this process must not keep.

A driver, or a library of a driver, may fork, for example by multiprocessing.
The child inherits every descriptor, also those that close on exec, so it would
keep the locks and the ports of a daemon that has ended. The lock of the state
directory, the servers and the embedded placement name theirs here.
"""

import contextlib
import os
from collections.abc import Iterator

_NAMED: set[int] = set()


@contextlib.contextmanager
def closed_in_child(descriptor: int) -> Iterator[None]:
    """Close a descriptor in each child that is forked inside this context."""
    _NAMED.add(descriptor)
    try:
        yield
    finally:
        _NAMED.discard(descriptor)


def _close() -> None:
    """Put /dev/null in the place of each, so that no number is used again."""
    if not _NAMED:
        return
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for descriptor in _NAMED:
        os.dup2(null, descriptor, inheritable=False)
    os.close(null)


os.register_at_fork(after_in_child=_close)
