# SPDX-License-Identifier: Apache-2.0
"""Decoding a long list of providers: at once, by ijson, by ``list_stream.py``.

Each way reads the same file, in the form that placement writes, and returns
the same rows. It runs in a process of its own. The ways take turns, so that a
slow moment of the machine affects all of them. ``make bench-rows`` runs this.
It prints figures and no verdict. It does not measure placement or the network.
"""

import dataclasses
import importlib
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from typing import IO

from report_client.http.messages import codec, list_stream

ROOT = pathlib.Path(__file__).parents[1]
PACKAGES = ROOT / '.servers' / 'ijson'
SIZES = (1_000, 10_000, 50_000)
REPEATS = 5
_RELATED = ('inventories', 'usages', 'aggregates', 'traits', 'allocations')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """The cost of one process.

    :ivar cpu: seconds of processor time
    :ivar grown: the increase of its peak memory, in MiB
    """

    cpu: float
    grown: float


def row(number: int, one: str) -> dict[str, object]:
    """Return a provider as placement lists it (1.14 and later)."""
    url = f'/resource_providers/{one}'
    links = [{'rel': 'self', 'href': url}]
    links += [{'rel': rel, 'href': f'{url}/{rel}'} for rel in _RELATED]
    return {
        'uuid': one,
        'name': f'compute-{number:05}.example.org',
        'generation': number % 50,
        'links': links,
        'parent_provider_uuid': None,
        'root_provider_uuid': one,
    }


def written(count: int) -> Iterator[str]:
    """Yield the body of a list of ``count`` providers, as placement sends it."""
    numbers = random.Random(count)  # noqa: S311 (the same list each time)
    yield '{"resource_providers": ['
    for number in range(count):
        one = uuid.UUID(int=numbers.getrandbits(128), version=4)
        yield ', ' * bool(number) + json.dumps(row(number, str(one)))
    yield ']}'


def at_once(body: IO[bytes]) -> list[codec.ListedProvider]:
    """Decode the whole body, then make rows of it."""
    return codec.listed_providers(json.loads(body.read()))


def by_ijson(body: IO[bytes]) -> list[codec.ListedProvider]:
    """Let ijson decode one row after another."""
    found = importlib.import_module('ijson').items(
        body, 'resource_providers.item', buf_size=list_stream.CHUNK
    )
    return [codec.listed_provider(one, {}) for one in found]


def by_rows(body: IO[bytes]) -> list[codec.ListedProvider]:
    """Decode one row after another, as the agent does."""
    return list_stream.listed_providers(
        iter(lambda: body.read(list_stream.CHUNK), b'')
    )


WAYS = {
    'json.loads': at_once,
    'ijson': by_ijson,
    'list_stream.py': by_rows,
}


def measured(way: str, path: pathlib.Path) -> None:
    """Read the list in one way; print the number of rows and the cost."""
    with path.open('rb') as body:
        before, began = _peak(), time.process_time()
        count = len(WAYS[way](body))
        cpu, grown = time.process_time() - began, _peak() - before
    sys.stdout.write(f'{count} {cpu} {grown}\n')


def took(way: str, path: pathlib.Path, count: int) -> Took:
    """Return the cost of one way, in a process of its own."""
    words = [sys.executable, '-m', 'benchmarks.row_stream', way, str(path)]
    paths = os.pathsep.join([str(ROOT), str(PACKAGES)])
    answer = subprocess.run(  # noqa: S603
        words,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, 'PYTHONPATH': paths},
    ).stdout.split()
    if int(answer[0]) != count:
        raise SystemExit(f'{way} read {answer[0]} rows of {count}')
    return Took(cpu=float(answer[1]), grown=float(answer[2]))


def compared(path: pathlib.Path, count: int) -> dict[str, Took]:
    """Return the medians of each way; the ways take turns."""
    runs: dict[str, list[Took]] = {way: [] for way in WAYS}
    for _ in range(REPEATS):
        for way, some in runs.items():
            some.append(took(way, path, count))
    return {
        way: Took(
            cpu=statistics.median(one.cpu for one in some),
            grown=statistics.median(one.grown for one in some),
        )
        for way, some in runs.items()
    }


def table(found: dict[int, dict[str, Took]]) -> str:
    """Return the medians as text, with their ratio to ``json.loads``."""
    lines = [
        f'{"rows":>7}  {"way":<14}  {"CPU":>9}  ratio  {"memory":>9}  ratio'
    ]
    for count, ways in found.items():
        base = ways['json.loads']
        lines += [
            f'{count:>7}  {way:<14}  {one.cpu * 1000:>6.0f} ms  '
            f'{one.cpu / base.cpu:>5.2f}  {one.grown:>5.1f} MiB  '
            f'{one.grown / base.grown:>5.2f}'
            for way, one in ways.items()
        ]
    return '\n'.join(lines)


def main() -> None:
    """Measure, and print the table; with arguments, be a measured process."""
    if sys.argv[1:]:
        measured(sys.argv[1], pathlib.Path(sys.argv[2]))
        return
    _install()
    found = {}
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / 'body.json'
        for count in SIZES:
            with path.open('w', encoding='ascii') as body:
                body.writelines(written(count))
            found[count] = compared(path, count)
    sys.stdout.write(f'{table(found)}\n')


def _install() -> None:
    """Install ijson beside the environment, if it is missing."""
    if not PACKAGES.exists():
        pip = ('-m', 'pip', '--disable-pip-version-check', 'install', '-q')
        words = (*pip, '--target', str(PACKAGES), 'ijson')
        subprocess.run([sys.executable, *words], check=True)  # noqa: S603


def _peak() -> float:
    """Return the most memory this process has had so far, in MiB."""
    status = pathlib.Path('/proc/self/status').read_text(encoding='ascii')
    line = next(x for x in status.splitlines() if x.startswith('VmHWM:'))
    return int(line.split()[1]) / 1024


if __name__ == '__main__':
    main()
