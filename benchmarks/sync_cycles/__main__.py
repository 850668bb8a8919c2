# SPDX-License-Identifier: Apache-2.0
"""``make bench``: measure, and write results, tables and a plot.

The results are written after each group of cases, so that they survive if the
run is stopped: ``--add-to`` continues with them. ``--render`` makes the tables
and the plot again from a file.
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
    """Return 0 if everything was measured, 1 if a group failed."""
    asked = options.parser().parse_args(arguments)
    if asked.render:
        _write(_read(asked.render), asked.render)
        return 0
    _end_in_order()
    path = asked.add_to or new_path(asked.results)
    results = _gone_on(path) if asked.add_to else _begun()
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


def _end_in_order() -> None:
    """Make the signals that end this program end its servers too."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def end(number: int, _: object) -> None:
        for each in numbers:  # ending the servers takes seconds
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    for number in numbers:
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, end)


def _begun() -> measurement.Results:
    return measurement.Results(machine=machine.described())


def _gone_on(path: pathlib.Path) -> measurement.Results:
    """Return earlier results, to add others to them."""
    results = _read(path)
    try:
        results.machine = machine.gone_on(results.machine)
    except machine.Other as exc:
        raise SystemExit(f'nothing can be added to {path}: {exc}') from exc
    return results


def _measure(
    on: bench.Bench, group: scenarios.Group, results: measurement.Results
) -> None:
    """Add the measurements of a group, or its failure, to the results."""
    earlier = [f for f in results.failures if f.group != str(group)]
    results.failures[:] = earlier  # it is tried again
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
    """Yield a bench for this database."""
    with contextlib.ExitStack() as undo:
        folder = pathlib.Path(
            undo.enter_context(
                tempfile.TemporaryDirectory(prefix='compute-agent-bench-')
            )
        )
        folder.chmod(0o711)  # PostgreSQL's user must pass through it
        known: databases.Databases = databases.SQLite(folder)
        if database == options.POSTGRESQL:
            server = postgresql.started(folder, placement_server.free_port())
            known = undo.enter_context(server)
        made = bench.Bench(known, folder, placement_server.free_port())
        made.prepare(crowded=scenarios.Shape.CROWDED in shapes)
        yield made


def _read(path: pathlib.Path) -> measurement.Results:
    try:
        data = json.loads(path.read_text(encoding='utf-8'))
        return measurement.Results.parsed(data)
    except (OSError, LookupError, TypeError, ValueError) as exc:
        raise SystemExit(f'{path} is not a results file: {exc!r}') from exc


def _write(results: measurement.Results, path: pathlib.Path) -> None:
    """Write the results, and the tables and the plot beside them."""
    image = path.with_suffix('.svg')
    text = json.dumps(results.data(), indent=1) + '\n'
    beside = path.with_suffix('.new')
    beside.write_text(text, encoding='utf-8')
    beside.replace(path)  # the earlier file stays complete until here
    image.write_text(plot.svg(results), encoding='utf-8')
    tables = report.markdown(results, image.name) + '\n'
    path.with_suffix('.md').write_text(tables, encoding='utf-8')


def new_path(folder: pathlib.Path) -> pathlib.Path:
    """Return a new path for today's results."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        why = exc.strerror
        raise SystemExit(f'{folder} cannot be a directory: {why}') from exc
    today = f'{dt.datetime.now(dt.UTC):%F}'
    names = itertools.chain([today], (f'{today}-{i}' for i in range(2, 99)))
    paths = (folder / f'{name}.json' for name in names)
    return next(path for path in paths if not path.exists())


if __name__ == '__main__':
    sys.exit(main())
