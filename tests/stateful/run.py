# SPDX-License-Identifier: Apache-2.0
"""Runs the stateful test many times over, in two processes; prints a table.

``python tests/stateful/run.py``, or ``make test-stateful``. Sequences and seed
come from COMPUTE_AGENT_SEQUENCES and COMPUTE_AGENT_SEED; each process takes
its share with a seed of its own. A failure prints seed and batch, which repeat
it together: COMPUTE_AGENT_SEED=3 COMPUTE_AGENT_BATCH=12. The agents act on the
double of placement, and now and then on both (test_stateful.py). As many
sequences of fleets (test_fleets.py) follow.

``run.py --planted``, or ``make test-stateful PLANTED=1``, plants each of the
faults that this agent once had, and those that the sequences of fleets must
find, and prints after how many sequences the runs found it
(``FORMER_FAULTS.md``). ``run.py --planted 'NAME' …`` plants these
defects of ``tests/mutation/planted``.
"""

import concurrent.futures
import importlib
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import tally as tallies

HERE = pathlib.Path(__file__).parent
TESTS = HERE.parent
PROCESSES = 2
ASKED = os.environ.get('COMPUTE_AGENT_SEQUENCES')
SEQUENCES = int(ASKED or '10000')
SEED = int(os.environ.get('COMPUTE_AGENT_SEED', '1'))


def main() -> int:
    """Run; return 0 if all sequences went well, or each fault was found."""
    if sys.argv[1:2] == ['--planted']:
        return plant(sys.argv[2:])
    total, codes = tallies.Tally(), []
    with tempfile.TemporaryDirectory() as directory:
        files = [pathlib.Path(directory, str(n)) for n in range(PROCESSES)]
        running = [_start(n, file) for n, file in enumerate(files)]
        codes = [process.wait() for process in running]
        for file in files:
            if file.exists():
                total.add(file)
    sys.stdout.write(f'{total}seeds {SEED} to {SEED + PROCESSES - 1}\n')
    return max(codes)


def plant(names: Sequence[str]) -> int:
    """Look for planted defects; return 0 if all of them are found.

    A sequence that fails for the agent as it is would prove nothing.
    """
    folders = (TESTS.parent, TESTS / 'mutation', TESTS / 'support')
    sys.path[:0] = map(str, folders)
    planted = importlib.import_module('planted').VARIANTS
    wanted: list[tuple[str, str]] = [('', 'sequences')] * (not names)
    wanted += [('', 'fleet_sequences')]
    wanted += [
        (says, 'fleet_sequences' if defect.in_fleets else 'sequences')
        for says, defect in planted.items()
        if says in names
        or (not names and (defect.in_runs or defect.in_fleets))
    ]
    wrong = 0
    with concurrent.futures.ProcessPoolExecutor(
        PROCESSES, initializer=logging.disable
    ) as pool:
        searches = {pool.submit(_search, *each): each[0] for each in wanted}
        for done in concurrent.futures.as_completed(searches):
            found, says = done.result(), searches[done]
            wrong += bool(found.failure) is not bool(says)
            sys.stdout.write(
                f'{found.sequences:4}  {says or "the agent as it is"}\n'
                f'      {found.failure or "no failure"}\n'
            )
            sys.stdout.flush()
    sys.stdout.write(f'{len(wanted) - wrong} of {len(wanted)} as expected\n')
    return int(wrong > 0)


def _search(says: str, by: str) -> Any:
    """Return the outcome of a search; '' is the agent as it is.

    :param by: the module of the sequences
    """
    planted = importlib.import_module('planted').VARIANTS
    sequences = importlib.import_module(by)
    most = int(ASKED) if ASKED else sequences.MOST
    return sequences.search(planted.get(says), most=most, seed=SEED)


def _start(number: int, file: pathlib.Path) -> 'subprocess.Popen[bytes]':
    share = (SEQUENCES + PROCESSES - 1) // PROCESSES
    told = {
        'COMPUTE_AGENT_SEQUENCES': share,
        'COMPUTE_AGENT_FLEETS': share,
        'COMPUTE_AGENT_SEED': SEED + number,
        'COMPUTE_AGENT_TALLY': file,
        'COMPUTE_AGENT_PLACEMENT': 'double',
    }
    return subprocess.Popen(
        [
            *(sys.executable, '-m', 'pytest', '-q', '--tb=short'),
            *('-p', 'no:cacheprovider', '-p', 'no:logging'),
            *(HERE / 'test_stateful.py', HERE / 'test_fleets.py'),
            *('-k', 'test_it_converges or test_a_fleet_that_stops'),
        ],
        env={**os.environ, **{key: str(told[key]) for key in told}},
    )


if __name__ == '__main__':
    sys.exit(main())
