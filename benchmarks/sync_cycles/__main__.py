# SPDX-License-Identifier: Apache-2.0
"""``make bench``: measure, and write results, tables and a plot.

The results are written after each group of cases, so that a run that is
stopped is not lost: ``--add-to`` goes on with them. ``--render`` makes tables
and plot again from a file.
"""

import contextlib
import datetime as dt
import itertools
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

from . import (
    agents,
    bench,
    contents,
    databases,
    machine,
    measurement,
    options,
    placement_server,
    plot,
    postgresql,
    report,
    scenarios,
)

_FAILURES = (
    agents.Failed,
    contents.Wrong,
    placement_server.Failed,
    subprocess.SubprocessError,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if all was measured, 1 if something failed."""
    asked = options.parser().parse_args(arguments)
    if asked.render:
        _write(_read(asked.render), asked.render)
        return 0
    # As Ctrl-C does: no server that was started outlives this.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    path = asked.add_to or new_path(asked.results)
    results = (
        _read(path)
        if asked.add_to
        else measurement.Results(machine=machine.described())
    )
    for database in asked.databases:
        groups = scenarios.groups(
            [database], asked.shapes, asked.nodes, asked.repeats
        )
        with _bench(database, asked.shapes) as on:
            for group in groups:
                _measure(on, group, results)
                _write(results, path)
    sys.stdout.write(f'{path.with_suffix(".md")}\n')
    return 1 if results.failures else 0


def _measure(
    on: bench.Bench, group: scenarios.Group, results: measurement.Results
) -> None:
    """Add what a group took to the results; if it fails, why."""
    try:
        for one in on.measured(group):
            if isinstance(one, measurement.Floor):
                results.floors.append(one)
                continue
            results.measurements.append(one)
            requests = sum(one.routes.values())
            sys.stderr.write(
                f'{group}: {one.scenario}: {one.wall:.3f} s, {requests} '
                f'request{"" if requests == 1 else "s"}\n'
            )
    except _FAILURES as exc:
        sys.stderr.write(f'{group}: FAILED: {exc}\n')
        failure = measurement.Failure(group=str(group), why=str(exc))
        results.failures.append(failure)


@contextlib.contextmanager
def _bench(
    database: str, shapes: Sequence[scenarios.Shape]
) -> Iterator[bench.Bench]:
    """Give what measures on this database."""
    with contextlib.ExitStack() as undo:
        folder = pathlib.Path(
            undo.enter_context(
                tempfile.TemporaryDirectory(prefix='compute-agent-bench-')
            )
        )
        folder.chmod(0o711)  # PostgreSQL's user goes through it
        known: databases.Databases = databases.SQLite(folder)
        if database == options.POSTGRESQL:
            server = postgresql.started(folder, placement_server.free_port())
            known = undo.enter_context(server)
        made = bench.Bench(known, folder, placement_server.free_port())
        made.prepare(crowded=scenarios.Shape.CROWDED in shapes)
        yield made


def _read(path: pathlib.Path) -> measurement.Results:
    data = json.loads(path.read_text(encoding='utf-8'))
    return measurement.Results.parsed(data)


def _write(results: measurement.Results, path: pathlib.Path) -> None:
    """Write the results, and the tables and the plot beside them."""
    image = path.with_suffix('.svg')
    text = json.dumps(results.data(), indent=1) + '\n'
    path.write_text(text, encoding='utf-8')
    image.write_text(plot.svg(results), encoding='utf-8')
    tables = report.markdown(results, image.name) + '\n'
    path.with_suffix('.md').write_text(tables, encoding='utf-8')


def new_path(folder: pathlib.Path) -> pathlib.Path:
    """Return where to write today's results; nothing is there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    today = f'{dt.datetime.now(dt.UTC):%F}'
    names = itertools.chain([today], (f'{today}-{i}' for i in range(2, 99)))
    paths = (folder / f'{name}.json' for name in names)
    return next(path for path in paths if not path.exists())


if __name__ == '__main__':
    sys.exit(main())
