# SPDX-License-Identifier: Apache-2.0
"""``compute-agent facts``: what the driver knows of the host."""

import argparse
import fnmatch
import json
import typing
from collections.abc import Mapping

from oslo_config import cfg

from ..virt.values import host_facts as virt
from .app import configuration, listing

#: The driver whose facts are listed if the configured one has none.
_DRIVER = 'host'
_SHOWN = 60  # characters of a value in a table


class Facts(listing.Listing):
    """List the facts of the host: names, values and their sources.

    A fact that cannot be read is unknown, and its row says why. The formats
    json and yaml have whole values; the others shorten long ones. Placement is
    not asked.
    """

    COLUMNS = ('name', 'value', 'source', 'unknown')

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the pattern."""
        parser.add_argument(
            'pattern',
            nargs='?',
            default='*',
            metavar='PATTERN',
            help='List only the facts whose names match, for example "cpu.*" '
            'or "pci.*.driver".',
        )

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return the facts, and the lines about refused files."""
        conf = configuration.load(self.app.global_options, local=True)
        found = _facts(conf)
        is_whole = parsed_args.formatter in ('json', 'yaml')
        shown = [
            (
                row.name,
                _plain(row.value) if is_whole else _short(row.value),
                row.source,
                row.unknown,
            )
            for row in found.rows
            if fnmatch.fnmatchcase(row.name, parsed_args.pattern)
        ]
        for line in found.faults:
            self.say(line)
        return shown, None, 0


def _facts(conf: cfg.ConfigOpts) -> virt.Listing:
    """Return the facts of a configured driver, else of the driver ``host``."""
    driver = configuration.load_driver_of(conf, virt.HostFacts, _DRIVER)
    return typing.cast(virt.HostFacts, driver).host_facts()


def _plain(value: virt.Value) -> typing.Any:
    """Return a value with lists, as JSON and YAML have them."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _short(value: virt.Value) -> str:
    """Return a value as a text that fits into a table."""
    if value is None:
        return ''
    if isinstance(value, str):
        text = value
    elif isinstance(value, tuple) and not any(
        isinstance(item, (tuple, Mapping)) for item in value
    ):
        text = ' '.join(map(str, value))
    else:
        text = json.dumps(_plain(value), ensure_ascii=False)
    if len(text) <= _SHOWN:
        return text
    size = f' ({len(value)})' if isinstance(value, (tuple, Mapping)) else ''
    return f'{text[: _SHOWN - len(size) - 1]}…{size}'
