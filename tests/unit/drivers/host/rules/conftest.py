# SPDX-License-Identifier: Apache-2.0
"""A directory of rule files, and the facts of a small host."""

import pathlib
import typing

import pytest
import rule_cases

from drivers.host import rule_files
from drivers.host.rules.rule import Outcome

FACTS = {
    'facts': {
        'cpu.flags': ['sse2', 'avx'],
        'cpu.model_name': 'Xeon',
        'cpu.cores': 8,
        'kernel.config': {'KVM': 'm'},
    },
    'unknown': {'dmi.vendor': 'permission denied'},
    'devices': {
        'net': {'ens1': {'speed': 25000, 'driver': 'ice'}},
        'pci': {'0000:01:00.0': {'vendor': '8086'}},
    },
}


class Folder:
    """A directory of rule files; ``read`` reads it."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.facts = rule_cases.facts_of(FACTS)
        self.words = rule_cases.words_of(self.facts)

    def write(self, text: str, name: str = 'a.yaml') -> pathlib.Path:
        path = self.path / name
        path.write_text(text)
        return path

    def read(self, **options: typing.Any) -> rule_files.RuleSet:
        return rule_files.read(
            str(self.path),
            self.words,
            **{'given': True, 'starter': False, **options},
        )

    def outcomes(self) -> list[Outcome]:
        return rule_cases.outcomes(self.facts, self.read(), self.words)


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> Folder:
    return Folder(tmp_path)
