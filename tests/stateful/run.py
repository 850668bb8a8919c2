# SPDX-License-Identifier: Apache-2.0
"""Runs the stateful test many times over, in two processes; prints a table.

``python tests/stateful/run.py``, or ``make test-stateful``. Sequences and seed
come from COMPUTE_AGENT_SEQUENCES and COMPUTE_AGENT_SEED; each process takes
its share with a seed of its own. A failure prints seed and batch, which repeat
it together: COMPUTE_AGENT_SEED=3 COMPUTE_AGENT_BATCH=12. The agents act on the
double of placement, and now and then on both (test_stateful.py).
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import tally as tallies

HERE = pathlib.Path(__file__).parent
PROCESSES = 2
SEQUENCES = int(os.environ.get('COMPUTE_AGENT_SEQUENCES', '10000'))
SEED = int(os.environ.get('COMPUTE_AGENT_SEED', '1'))


def main() -> int:
    """Run; return 0 if all sequences went well."""
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


def _start(number: int, file: pathlib.Path) -> 'subprocess.Popen[bytes]':
    share = (SEQUENCES + PROCESSES - 1) // PROCESSES
    told = {
        'COMPUTE_AGENT_SEQUENCES': share,
        'COMPUTE_AGENT_SEED': SEED + number,
        'COMPUTE_AGENT_TALLY': file,
        'COMPUTE_AGENT_PLACEMENT': 'double',
    }
    return subprocess.Popen(
        [
            *(sys.executable, '-m', 'pytest', '-q', '--tb=short'),
            *('-p', 'no:cacheprovider', '-p', 'no:logging'),
            *(HERE / 'test_stateful.py', '-k', 'test_it_converges'),
        ],
        env={**os.environ, **{key: str(told[key]) for key in told}},
    )


if __name__ == '__main__':
    sys.exit(main())
