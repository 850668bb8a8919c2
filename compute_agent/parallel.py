# SPDX-License-Identifier: Apache-2.0
"""Call a function for each of many items, in as many threads as it needs.

Pure, except for the threads and the two clocks that tell whether they wait.
Each thread takes the next item when it has finished one, so that thousands of
quick calls have little overhead. Threads that compute only slow each other
down, because Python runs one at a time; so a second thread begins when the
first one waits. The resource tracker and the report client use it.
"""

import concurrent.futures
import threading
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

_T = TypeVar('_T')

# Seconds between two looks at whether the threads wait: the shortest time, and
# the longest. It doubles while they compute, so that one slow read of a file does
# not count.
_SOON, _LATE = 0.01, 0.5
# They wait if they compute for less than this part of the time.
_BUSY = 0.7


def each(
    items: Iterable[_T], step: Callable[[_T], object], *, workers: int
) -> None:
    """Call ``step`` for each item, in order, some of them in parallel.

    If a call fails or is interrupted, the calls in progress are finished and
    no others begin.

    :param workers: the most parallel calls
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
            _run(pool, work, workers)
        finally:
            ended.set()


def _run(
    pool: concurrent.futures.Executor, work: Callable[[], None], workers: int
) -> None:
    """Have ``work`` run until it returns, in more threads while these wait.

    The number of threads doubles at each look that finds them waiting.
    """
    working = {pool.submit(work)}
    left, look = workers - 1, _SOON
    while working:
        wall, cpu = time.monotonic(), time.process_time()
        done, working = concurrent.futures.wait(
            working,
            timeout=look if left else None,
            return_when=concurrent.futures.FIRST_COMPLETED,
        )
        for future in done:
            future.result()
        computed = time.process_time() - cpu
        if done or computed >= _BUSY * (time.monotonic() - wall):
            look = min(2 * look, _LATE)
            continue
        look, new = _SOON, min(left, len(working))
        working |= {pool.submit(work) for _ in range(new)}
        left -= new
