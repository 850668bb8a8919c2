# SPDX-License-Identifier: Apache-2.0
"""Compares the libvirt driver with the real nova-compute, case by case.

``make parity`` runs it from the checkout. For each case, nova-compute and the
agent report to an empty placement, one after the other, with one configuration
and one libvirtd. It prints the differences that
``accepted.yaml`` does not list, and the options of nova's that ``options.yaml``
does not know. Words on the command line choose cases.
"""

import dataclasses
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence

import cases
import decisions
import differences
import local_agent
import local_libvirt
import local_nova
import reported
import yaml

from compute_agent.dev import embedded_placement

MIB = 1 << 20
HERE = pathlib.Path(__file__).parent


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The outcome of one case, with all its differences."""

    case: str
    found: Sequence[differences.Difference]


class Comparison:
    """Both writers, and the placement that they share in turn."""

    def __init__(self, folder: pathlib.Path, url: str, libvirt: str) -> None:
        self._folder = folder
        self._placement = reported.Placement(url)
        self._nova = local_nova.LocalNova(folder / 'nova', url, libvirt)
        self._agent = local_agent.LocalAgent(folder / 'agent', url)
        self._nova.create_databases()

    def compare(self, case: cases.Case) -> Compared:
        """Return the differences of one case."""
        conf = self._folder / f'{case.name}.conf'
        case.write(conf)
        theirs = self._nova.report(case, conf)
        self._placement.empty()
        ours = self._agent.report(case.name, [self._nova.conf, conf])
        self._placement.empty()
        return Compared(
            case=case.name,
            found=list(differences.differences(theirs, ours, _memory_mib())),
        )


def accepted() -> list[differences.Accepted]:
    """Return the differences that are right."""
    text = (HERE / 'accepted.yaml').read_text()
    return [differences.Accepted.parse(one) for one in yaml.safe_load(text)]


def run(folder: pathlib.Path, names: Sequence[str]) -> int:
    """Compare these cases; return 0 if each difference is accepted."""
    right = accepted()
    unused = set(right)
    wrong = 0
    for outcome in _outcomes(folder, names):
        for one in outcome.found:
            covering = {a for a in right if a.covers(outcome.case, one)}
            unused -= covering
            if not covering:
                wrong += 1
                _say(f'  WRONG {one}')
    for flaw in () if names else decisions.flaws(local_nova.options()):
        wrong += 1
        _say(f'WRONG: {flaw}')
    for entry in () if names else unused - {a for a in right if a.by_host}:
        wrong += 1
        _say(f'WRONG: no case has this accepted difference: {entry.why}')
    _say(f'{wrong} wrong; logs are in {folder}')
    return 1 if wrong else 0


def _outcomes(
    folder: pathlib.Path, names: Sequence[str]
) -> Iterator[Compared]:
    database = folder / 'placement.sqlite'
    with (
        local_libvirt.running() as libvirtd,
        embedded_placement.EmbeddedPlacement(database, port=0) as placement,
    ):
        comparison = Comparison(folder, placement.url, libvirtd.uri)
        words = cases.words(libvirtd.uri, folder)
        for name in names or cases.names():
            began = time.monotonic()
            outcome = comparison.compare(cases.load(name, words))
            took = time.monotonic() - began
            _say(f'{name}: {len(outcome.found)} differences, {took:.0f} s')
            yield outcome


def _memory_mib() -> int:
    return os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') // MIB


def _say(line: str) -> None:
    sys.stdout.write(f'{line}\n')
    sys.stdout.flush()


def main() -> int:
    """Run; return 0 if nothing is wrong."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix='parity-'))
    return run(folder, sys.argv[1:])


if __name__ == '__main__':
    sys.exit(main())
