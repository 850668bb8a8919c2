# SPDX-License-Identifier: Apache-2.0
"""The decisions of ``options.yaml``, compared with the options of a nova."""

import pathlib
from collections.abc import Collection, Iterator, Mapping

import yaml

PATH = pathlib.Path(__file__).parent / 'options.yaml'


def decided() -> dict[str, list[str]]:
    """Return group → its options with a decision."""
    table = yaml.safe_load(PATH.read_text())
    found: dict[str, list[str]] = {}
    for part in (table['honoured'], *table['without_effect']):
        for group, options in part.items():
            if group != 'why':
                found.setdefault(group, []).extend(options)
    return found


def flaws(nova: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield a line for each option without a decision, and for each surplus.

    :param nova: group → its options
    """
    for group, options in decided().items():
        for option in sorted(set(nova.get(group, ())) - set(options)):
            yield f'options.yaml has no decision for [{group}] {option}'
        for option in sorted(set(options) - set(nova.get(group, ()))):
            yield f'nova has no option [{group}] {option}; see options.yaml'
