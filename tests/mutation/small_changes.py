# SPDX-License-Identifier: Apache-2.0
"""Runs mutmut in a copy of the tree; prints the score and who survived.

``python -m tests.mutation.small_changes [DIRECTORY]``, or ``make mutmut``. What
is changed and which tests are asked stands in ``pyproject.toml``; why some may
survive, in ``SURVIVORS.md``. In a directory that is named it goes on where it
stopped. Exit 1 below 90 %.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from tests.mutation import trial

ENOUGH = 90  # percent
SURVIVED, UNTESTED = 0, 33  # mutmut's exit codes for a mutant


def main(directory: pathlib.Path) -> int:
    """Run; return 0 if enough were noticed."""
    trial.Copy(directory)
    mutants = directory / 'mutants'
    mutants.mkdir(exist_ok=True)  # Python forgets a path that is not there
    subprocess.run(
        [sys.executable, '-m', 'mutmut', 'run', '--max-children', '2'],
        cwd=directory,
        env={**os.environ, 'PYTHONPATH': str(mutants)},
        check=True,
    )
    found = results(mutants)
    left = [name for name, code in found.items() if not is_noticed(code)]
    for name in left:
        sys.stdout.write(f'{name}\n')
    score = 100 * (len(found) - len(left)) / len(found)
    sys.stdout.write(
        f'{len(found) - len(left)} of {len(found)} noticed, {score:.1f} %\n'
    )
    return 0 if score >= ENOUGH else 1


def results(mutants: pathlib.Path) -> dict[str, int | None]:
    """Return the exit code of each mutant's tests, by its name."""
    found: dict[str, int | None] = {}
    for path in sorted(mutants.rglob('*.py.meta')):
        found |= json.loads(path.read_text())['exit_code_by_key']
    return found


def is_noticed(code: int | None) -> bool:
    """Whether a test failed, or did not end."""
    return code not in {SURVIVED, UNTESTED, None}


if __name__ == '__main__':
    if sys.argv[1:]:
        sys.exit(main(pathlib.Path(sys.argv[1]).absolute()))
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(main(pathlib.Path(temporary)))
