# SPDX-License-Identifier: Apache-2.0
"""Call a function for each of many items, in parallel threads.

Pure, except for the threads. Each thread takes the next item when it has
finished one, so that thousands of quick calls have little overhead. The
resource tracker and the report client use it.
"""

import concurrent.futures
import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

_T = TypeVar('_T')


def each(
    items: Iterable[_T], step: Callable[[_T], object], *, workers: int
) -> None:
    """Call ``step`` for each item, in order, some of them in parallel.

    If a call fails or is interrupted, the calls in progress are finished and
    no others begin.

    :param workers: the number of parallel calls
    """
    every = list(items)
    # Threads may share a list's iterator.
    remaining, ended = iter(every), threading.Event()

    def work() -> None:
        try:
            for item in remaining:
                if ended.is_set():
                    return
                step(item)
        except BaseException:
            ended.set()
            raise

    workers = min(workers, len(every))
    if workers <= 1:
        work()
        return
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        try:
            working = [pool.submit(work) for _ in range(workers)]
            for future in concurrent.futures.as_completed(working):
                future.result()
        finally:
            ended.set()
