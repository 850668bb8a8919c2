# SPDX-License-Identifier: Apache-2.0
"""A step for each of many, some at a time, in threads.

Pure but for the threads: it knows nothing of what the steps do. Each thread
takes the next one when it has done its own, so that thousands of quick steps
cost no more than the steps. For the resource tracker and the report client.
"""

import concurrent.futures
import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

_T = TypeVar('_T')


def each(
    some: Iterable[_T], step: Callable[[_T], object], *, workers: int
) -> None:
    """Take a step for each of these, in their order, some at a time.

    A step that fails, or an interrupt, ends it after the steps at work.

    :param workers: how many at a time
    """
    every = list(some)
    left, ended = iter(every), threading.Event()  # threads may share a list's

    def work() -> None:
        try:
            for one in left:
                if ended.is_set():
                    return
                step(one)
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
