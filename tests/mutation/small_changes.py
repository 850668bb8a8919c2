# SPDX-License-Identifier: Apache-2.0
"""Runs mutmut in a copy of the tree; prints the score and the survivors.

``python -m tests.mutation.small_changes [DIRECTORY]``, or ``make mutmut``.
``pyproject.toml`` says which modules are changed and which tests are run,
``SURVIVORS.md`` why some changes may survive. In a named directory the run
resumes where it stopped. Exit 1 below 90 %.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
ENOUGH = 90  # percent
SURVIVED, UNTESTED = 0, 33  # mutmut's exit codes for a mutant


def main(directory: pathlib.Path) -> int:
    """Run mutmut there; return 0 if enough changes were noticed."""
    shutil.copytree(
        ROOT,
        directory,
        ignore=shutil.ignore_patterns(
            '.*', '__pycache__', '*.egg-info', 'build', 'dist', 'mutants'
        ),
        dirs_exist_ok=True,
    )
    mutants = directory / 'mutants'
    mutants.mkdir(exist_ok=True)  # Python drops a path that does not exist
    subprocess.run(
        [sys.executable, '-m', 'mutmut', 'run', '--max-children', '2'],
        cwd=directory,
        env={**os.environ, 'PYTHONPATH': str(mutants)},
        check=True,
    )
    found = results(mutants)
    survivors = [name for name, code in found.items() if not is_noticed(code)]
    for name in survivors:
        sys.stdout.write(f'{name}\n')
    noticed = len(found) - len(survivors)
    score = 100 * noticed / len(found)
    sys.stdout.write(f'{noticed} of {len(found)} noticed, {score:.1f} %\n')
    return 0 if score >= ENOUGH else 1


def results(mutants: pathlib.Path) -> dict[str, int | None]:
    """Return the exit code of each mutant's tests, by the mutant's name."""
    found: dict[str, int | None] = {}
    for path in sorted(mutants.rglob('*.py.meta')):
        found |= json.loads(path.read_text())['exit_code_by_key']
    return found


def is_noticed(code: int | None) -> bool:
    """Return True if a test failed, or did not end."""
    return code not in {SURVIVED, UNTESTED, None}


if __name__ == '__main__':
    if sys.argv[1:]:
        sys.exit(main(pathlib.Path(sys.argv[1]).absolute()))
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(main(pathlib.Path(temporary)))
