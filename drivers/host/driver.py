# SPDX-License-Identifier: Apache-2.0
"""The driver of a Linux host's facts, beside the driver of its guests.

It reads facts and applies rules to them: what these give is everything that it
declares. The node is the same that nova-compute has for the host. ``rules
test`` may give it a file of facts in their place: the output of
``compute-agent facts -f json`` on another host.
"""

import functools
import json
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from oslo_config import cfg

from compute_agent import error_text, errors, file_trust
from compute_agent.tree import provider_tree
from compute_agent.virt.values import finding, host_facts, rule_results

from .. import host_files, one_host
from ..libvirt_python import connection
from ..libvirt_python import options as libvirtd_options
from . import conf as options
from . import events, rule_files
from .facts import catalogue, fact, rows
from .facts.fact import Facts
from .reading import local, net, reader
from .rules import rule

MAX_SAVED = 16_000_000
_SHOWN = 200  # characters of a reason
_FIELDS = ('name', 'source', 'unknown')


def read_saved_facts(path: str) -> Facts:
    """Return the facts in a file.

    :raises errors.ConfigError: the file cannot be read, or has no facts
    """
    try:
        return rows.to_facts([_row(item) for item in _items(path)])
    except file_trust.Refused as exc:
        raise errors.ConfigError(
            f'{path} is not read: {exc.strerror}'
        ) from exc
    except OSError as exc:
        raise errors.ConfigError(
            f'{path} cannot be read ({exc.strerror}); correct the path'
        ) from exc
    except (ValueError, RecursionError) as exc:
        raise errors.ConfigError(
            f'{path} is not the output of "compute-agent facts -f json": '
            f'{error_text.printable(str(exc)[:_SHOWN])}'
        ) from exc


def _items(path: str) -> list[Any]:
    found = json.loads(file_trust.read(path, MAX_SAVED, named=True))
    if isinstance(found, list):
        return found
    raise ValueError('it is not a list of facts')


def _row(item: object) -> rows.Row:
    if not isinstance(item, Mapping) or 'value' not in item:
        raise ValueError('an item is not a fact with name and value')
    name, source, unknown = (item.get(field, '') for field in _FIELDS)
    if not all(isinstance(text, str) for text in (name, source, unknown)):
        raise ValueError(f'{name!r} has fields that are no texts')
    return rows.Row(
        name=name, value=item['value'], source=source, unknown=unknown
    )


#: The names that rules may use.
WORDS = rule.Vocabulary.of_names(catalogue.ENTRIES)


class HostDriver(one_host.OneHostDriver):
    """Describes the host that the agent runs on by its facts.

    :param configured: ``[DEFAULT] host``; may be empty
    :param hostname: the host's own name
    :param read_rules: reads the rules of all files
    :param heard: the events of devices, if ``subscribe`` is to start them
    """

    def __init__(
        self,
        *,
        configured: str,
        hostname: str,
        of: reader.Sources,
        read_rules: rule_files.Read,
        heard: events.DeviceEvents | None = None,
    ) -> None:
        super().__init__(one_host.HostName(of.libvirt, configured, hostname))
        self._libvirt = of.libvirt
        self._facts = reader.FactReader(of)
        self._rules = rule_files.Rules(read_rules, WORDS)
        self._events = heard

    @classmethod
    def register_opts(cls, conf: cfg.ConfigOpts) -> None:
        """Register ``[facts]``, ``[rules]`` and the options of libvirt's URI."""
        options.register_opts(conf)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> typing.Self:
        """Return the driver of this host.

        :raises errors.ConfigError: a rule file has a mistake
        """
        heard = events.DeviceEvents()
        folder, given = options.rules_directory(conf)
        return cls(
            configured=conf.host or '',
            hostname=one_host.canonical(),
            of=reader.Sources(
                files=host_files.HostFiles(),
                libvirt=connection.Connection(
                    libvirtd_options.connection_uri(conf)
                ),
                offloads=net.Ethtool(),
                local=local.LocalFacts(conf[options.GROUP].directories),
                events=heard,
                images_type=conf.libvirt.images_type or 'default',
            ),
            read_rules=functools.partial(
                rule_files.read, folder, WORDS, given=given
            ),
            heard=heard,
        )

    def subscribe(self, wake: Callable[[], object]) -> None:
        """Hear the kernel's events of devices; each calls ``wake``."""
        if self._events is not None:
            self._events.start(wake)

    def reload(self) -> None:
        """Read the rules again."""
        self._rules.reload()

    def close(self) -> None:
        """End the events and the connection to libvirt."""
        if self._events is not None:
            self._events.close()
        self._libvirt.close()

    def update_provider_tree(
        self,
        provider_tree: provider_tree.ProviderTree,
        nodename: str,
        allocations: Mapping[str, typing.Any] | None = None,  # noqa: ARG002
    ) -> None:
        """Declare what the rules give; report the refused files of facts."""
        facts = self._facts.read()
        for line in facts.faults:
            provider_tree.note(line)
        self._rules.place(provider_tree, nodename, facts)

    def evidence(self, nodename: str) -> Sequence[finding.Finding]:
        """Return the findings of the rules, and one for every fact.

        :raises errors.DriverError: the host has another name
        """
        self._check(nodename)
        facts = self._facts.read()
        return [
            *self._rules.findings(facts, nodename),
            *_facts_as_findings(facts),
        ]

    def try_rules(
        self, nodename: str, saved: str | None = None
    ) -> Sequence[rule_results.RuleResult]:
        """Return the results of all rules, here or with saved facts.

        :raises errors.ConfigError: the file of facts cannot be used
        """
        facts = read_saved_facts(saved) if saved else self._facts.read()
        return self._rules.results(facts, nodename)

    def host_facts(self) -> host_facts.Listing:
        """Return the facts of the host, by name."""
        facts = self._facts.read()
        return host_facts.Listing(
            rows=tuple(rows.of_facts(facts)),
            faults=(*facts.faults, *self._rules.left_out),
        )


def _facts_as_findings(facts: fact.Facts) -> list[finding.Finding]:
    """Return a finding without a trait for every fact."""
    return [
        finding.Finding(
            trait=None,
            found=finding.Found.UNKNOWN
            if row.unknown
            else finding.Found.PRESENT,
            fact=row.name,
            sources=(row.source,),
            reason=row.unknown,
        )
        for row in rows.of_facts(facts)
    ]
