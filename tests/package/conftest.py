# SPDX-License-Identifier: Apache-2.0
"""The source distribution, the wheel made of it, and its installation.

Each is built once, from a copy of the files that git knows or would add.

Slow, so ``make test`` leaves this folder out and ``make wheel-check`` runs it.
"""

import collections.abc
import json
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import typing
import zipfile

import debian_machine
import pytest
from debian_machine import PATIENCE, Placement, wait_for

ROOT = pathlib.Path(__file__).parents[2]

# Runs in the environment that has the wheel; answers name -> problem or ''.
LOAD_ALL = """
import importlib.metadata, json, sys
report = {}
for entry in importlib.metadata.distribution('compute-agent').entry_points:
    key = f'{entry.group}: {entry.name}'
    try:
        entry.load()
        origin = sys.modules[entry.module].__file__
        outside = not origin.startswith(sys.prefix)
        report[key] = f'comes from {origin}' if outside else ''
    except Exception as exc:
        report[key] = f'{type(exc).__name__}: {exc}'
print(json.dumps(report))
"""


def _run(*command: object, **how: typing.Any) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        **how,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope='session')
def repository_files() -> set[str]:
    """The files that git knows or would add; those behind links, too."""
    listed = _run(
        'git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard',
        cwd=ROOT,
    )  # fmt: skip
    return {
        file.relative_to(ROOT).as_posix()
        for name in listed.split('\0')
        if name and (ROOT / name).exists()
        for file in _files_at(ROOT / name)
    }


def _files_at(path: pathlib.Path) -> list[pathlib.Path]:
    """The file, or the files in the directory that a link leads to."""
    return [path] if path.is_file() else list(path.iterdir())


@pytest.fixture(scope='session')
def sdist(
    repository_files: set[str], tmp_path_factory: pytest.TempPathFactory
) -> pathlib.Path:
    """The path of the source distribution."""
    source = tmp_path_factory.mktemp('source') / 'compute-agent'
    for name in repository_files:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, source / name)
    built = tmp_path_factory.mktemp('sdist')
    _run(
        sys.executable, '-m', 'build', '--sdist', '--no-isolation',
        '--outdir', built, source,
    )  # fmt: skip
    (path,) = built.glob('*.tar.gz')
    return path


@pytest.fixture(scope='session')
def sdist_files(sdist: pathlib.Path) -> set[str]:
    """The names of the files in the source distribution."""
    with tarfile.open(sdist) as archive:
        return {
            member.name.partition('/')[2]
            for member in archive
            if not member.isdir()
        }


@pytest.fixture(scope='session')
def wheel(
    sdist: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> pathlib.Path:
    """The path of the wheel that pip builds; it downloads setuptools."""
    built = tmp_path_factory.mktemp('wheel')
    _run(
        sys.executable, '-m', 'pip', 'wheel', '--quiet', '--no-deps',
        '--wheel-dir', built, sdist,
    )  # fmt: skip
    (path,) = built.glob('*.whl')
    return path


@pytest.fixture(scope='session')
def wheel_files(wheel: pathlib.Path) -> set[str]:
    """The names of the files in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if name[-1] != '/'}


@pytest.fixture(scope='session')
def installed(
    wheel: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> pathlib.Path:
    """The Python of an environment that has the wheel.

    The dependencies are this environment's own, seen through a path file:
    installing them anew would take half a minute to prove what the test
    environment proves already.
    """
    home = tmp_path_factory.mktemp('environment')
    _run(sys.executable, '-m', 'venv', '--without-pip', home)
    python = home / 'bin' / 'python'
    _run(
        sys.executable, '-m', 'pip', '--python', python, 'install',
        '--quiet', '--no-deps', '--no-index', wheel,
    )  # fmt: skip
    packages = _run(
        python, '-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'
    ).strip()
    dependencies = sysconfig.get_path('purelib')
    (pathlib.Path(packages) / 'dependencies.pth').write_text(dependencies)
    return python


@pytest.fixture(scope='session')
def entry_points(
    installed: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> collections.abc.Mapping[str, str]:
    """Entry point → what went wrong when it was loaded from the wheel."""
    elsewhere = tmp_path_factory.mktemp('elsewhere')
    said = _run(installed, '-I', '-c', LOAD_ALL, cwd=elsewhere)
    found: dict[str, str] = json.loads(said)
    return found


@pytest.fixture(scope='session')
def placement(
    tmp_path_factory: pytest.TempPathFactory,
) -> collections.abc.Iterator[Placement]:
    """A placement that machines and containers reach at 127.0.0.1."""
    home = tmp_path_factory.mktemp('placement')
    port = debian_machine.free_port()
    conf = home / 'serve.conf'
    conf.write_text(
        f'[DEFAULT]\nstate_path = {home}\n'
        f'[placement]\nembedded = true\nembedded_port = {port}\n'
    )
    command = pathlib.Path(sys.executable).with_name('compute-agent')
    server = subprocess.Popen(
        [command, '--config-file', conf, 'placement', 'serve'],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        served = Placement(port)
        wait_for(lambda: served.get('/'))
        yield served
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE)
