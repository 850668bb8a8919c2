# SPDX-License-Identifier: Apache-2.0
"""Plants the defects one by one, in two processes; prints who was caught.

``python -m tests.mutation [WORD ...]``: all, or those with any such word in
their name. First the tests must pass without any. Exit 1 if one survives.
"""

import functools
import pathlib
import queue
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence

from tests.mutation import defect, trial
from tests.mutation.defects import DEFECTS

PROCESSES = 2


class Trials:
    """The defects that are left, and the lines of the table."""

    def __init__(self, chosen: list[defect.Defect]) -> None:
        self._left: queue.SimpleQueue[defect.Defect] = queue.SimpleQueue()
        for one in chosen:
            self._left.put(one)
        self.caught: list[str] = []
        self.survived: list[str] = []
        self.errors: list[str] = []

    def work(self, copy: trial.Copy) -> None:
        """Try defects in one copy until none is left."""
        while not self.errors:
            try:
                self._try(copy, self._left.get_nowait())
            except queue.Empty:
                return
            except (defect.Moved, trial.NoVerdict) as exc:
                self.errors.append(str(exc))

    def _try(self, copy: trial.Copy, one: defect.Defect) -> None:
        start = time.monotonic()
        well = copy.read(one.file)
        copy.write(one.file, one.planted(well))
        try:
            failed = copy.run(one.tests).failed
        except trial.NoVerdict as exc:
            raise trial.NoVerdict(f'{one.name}: {exc}') from exc
        finally:
            copy.write(one.file, well)
        (self.survived if failed is None else self.caught).append(one.name)
        verdict = 'caught' if failed else 'SURVIVED'
        seconds = time.monotonic() - start
        by = (failed or ', '.join(one.tests)).removeprefix('tests/')
        _say(f'{verdict:8} {seconds:5.0f} s  {one.name}\n{"":19}{by}')


def main(words: list[str]) -> int:
    """Try them; return 0 if each was caught."""
    chosen = [
        one
        for one in DEFECTS
        if not words or any(word in one.name for word in words)
    ]
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        copies = [
            trial.Copy(pathlib.Path(directory, str(number)))
            for number in range(PROCESSES)
        ]
        _check(copies[0], chosen)
        _without_any(copies, chosen)
        trials = Trials(chosen)
        _side_by_side([functools.partial(trials.work, c) for c in copies])
    for line in trials.errors:
        _say(line)
    if trials.survived:
        _say(f'survived: {", ".join(trials.survived)}')
    seconds = time.monotonic() - start
    _say(f'{len(trials.caught)} of {len(chosen)} caught, {seconds:.0f} s')
    return 0 if len(trials.caught) == len(chosen) else 1


def _check(copy: trial.Copy, chosen: list[defect.Defect]) -> None:
    """Make sure that all can be planted, before any is."""
    try:
        for one in chosen:
            one.check(copy.root)
    except defect.Moved as exc:
        raise SystemExit(str(exc)) from exc


def _without_any(
    copies: list[trial.Copy], chosen: list[defect.Defect]
) -> None:
    """Make sure that the tests pass: who fails anyhow catches nothing."""
    tests = sorted({test for one in chosen for test in one.tests})
    problems: list[str] = []

    def run(copy: trial.Copy, share: tuple[str, ...]) -> None:
        try:
            failed = copy.run(share).failed if share else None
        except trial.NoVerdict as exc:
            problems.append(f'the tests do not run: {exc}')
            return
        if failed is not None:
            problems.append(f'{failed} fails without any defect')

    _side_by_side(
        [
            functools.partial(run, copy, tuple(tests[n :: len(copies)]))
            for n, copy in enumerate(copies)
        ]
    )
    if problems:
        raise SystemExit('\n'.join(problems))


def _side_by_side(tasks: Sequence[Callable[[], object]]) -> None:
    threads = [threading.Thread(target=task) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _say(line: str) -> None:
    sys.stdout.write(f'{line}\n')
    sys.stdout.flush()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
