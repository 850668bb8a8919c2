# SPDX-License-Identifier: Apache-2.0
"""``compute-agent trait list`` beside ``openstack trait list``.

Both send requests to the same placement, in turn, so that a slow moment of the
machine affects both. OpenStack's client is installed once, in an environment of
its own. ``make bench-traits`` runs this. It prints figures and no verdict.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping, Sequence

from . import counting_placement, measure

RUNS = 9
CLIENT = pathlib.Path(__file__).parents[1] / '.servers' / 'openstackclient'
PACKAGES = ('python-openstackclient', 'osc-placement')
CONFIG = """
[placement]
auth_type = admin_token
endpoint = {url}
token = admin
"""
AUTH = (
    ('--os-auth-type', 'admin_token'),
    ('--os-token', 'admin'),
    ('--os-placement-api-version', '1.39'),
)


def client() -> pathlib.Path:
    """Return OpenStack's client; install it if it is missing."""
    program = CLIENT / 'bin' / 'openstack'
    done = CLIENT / 'installed'
    if not done.exists():
        sys.stderr.write(f'installing {" and ".join(PACKAGES)}\n')
        venv.create(CLIENT, clear=True, with_pip=True)
        python = str(CLIENT / 'bin' / 'python')
        pip = ('-m', 'pip', '--disable-pip-version-check', 'install', '-q')
        subprocess.run([python, *pip, *PACKAGES], check=True)  # noqa: S603
        done.touch()
    return program


def programs(folder: pathlib.Path, url: str) -> dict[str, Sequence[str]]:
    """Return the command lines to compare, by name."""
    config = folder / 'agent.conf'
    config.write_text(CONFIG.format(url=url), encoding='utf-8')
    ours = pathlib.Path(sys.executable).parent / 'compute-agent'
    command = ('trait', 'list', '-f', 'value')
    auth = [word for pair in AUTH for word in pair]
    return {
        'compute-agent': [str(ours), '--config-file', str(config), *command],
        'openstack': [str(client()), *auth, '--os-endpoint', url, *command],
    }


def run(
    words: Sequence[str],
    folder: pathlib.Path,
    server: counting_placement.CountingPlacement,
) -> tuple[measure.Run, bytes]:
    """Return the cost and the output of one run."""
    before = server.requests
    printed = folder / 'printed'
    with printed.open('wb') as out:
        began = time.perf_counter()
        process = subprocess.Popen(words, stdout=out, env=_environment(folder))  # noqa: S603
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f'{words[0]} ended with {process.returncode}')
    took = measure.Run(
        wall=wall,
        cpu=used.ru_utime + used.ru_stime,
        requests=server.requests - before,
    )
    return took, printed.read_bytes()


def compared(
    commands: Mapping[str, Sequence[str]],
    folder: pathlib.Path,
    server: counting_placement.CountingPlacement,
) -> dict[str, measure.Summary]:
    """Return each program's summary; they run in turn, after one warm-up."""
    answers = {
        tuple(sorted(run(words, folder, server)[1].split()))
        for words in commands.values()
    }
    if len(answers) != 1:
        raise SystemExit('the programs print different traits')
    runs: dict[str, list[measure.Run]] = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, words in commands.items():
            runs[name].append(run(words, folder, server)[0])
    return {name: measure.summary(each) for name, each in runs.items()}


def main() -> None:
    """Measure, and print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with counting_placement.started(folder / 'placement.sqlite') as server:
            commands = programs(folder, server.url)
            found = compared(commands, folder, server)
    sys.stdout.write(f'trait list\n{measure.table(found)}\n')


def _environment(folder: pathlib.Path) -> dict[str, str]:
    """Return an environment without the user's OpenStack variables."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith('OS_')}
    return {**kept, 'HOME': str(folder)}


if __name__ == '__main__':
    main()
