# SPDX-License-Identifier: Apache-2.0
"""The driver of a Linux host's facts, beside the driver of its guests.

It reads facts and applies rules to them: what these give is everything that it
declares. The node is the one that nova-compute has for the host.
"""

import functools
import typing
from collections.abc import Callable, Mapping, Sequence

from oslo_config import cfg

from compute_agent.tree import provider_tree
from compute_agent.virt import finding, host_facts, rule_results

from .. import host_files, host_name, one_host
from ..libvirtd import connection
from ..libvirtd import options as libvirtd_options
from . import conf as options
from . import events, saved_facts
from .facts import catalogue, fact, local, reader, rows
from .facts.devices import ethtool
from .rules import rules, vocabulary
from .rules.files import rule_files

#: The names that rules may use.
WORDS = vocabulary.Vocabulary.of_names(catalogue.ENTRIES)


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
        read_rules: rules.Read,
        heard: events.DeviceEvents | None = None,
    ) -> None:
        super().__init__(host_name.HostName(of.libvirt, configured, hostname))
        self._libvirt = of.libvirt
        self._facts = reader.FactReader(of)
        self._rules = rules.Rules(read_rules, WORDS)
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
            hostname=host_name.canonical(),
            of=reader.Sources(
                files=host_files.HostFiles(),
                libvirt=connection.Connection(
                    libvirtd_options.connection_uri(conf)
                ),
                offloads=ethtool.Ethtool(),
                local=local.LocalFacts(conf[options.GROUP].directories),
                events=heard,
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
        """Declare what the rules give; say which facts' files were refused."""
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
        facts = saved_facts.read(saved) if saved else self._facts.read()
        return self._rules.results(facts, nodename)

    def host_facts(self) -> host_facts.Listing:
        """Return the facts of the host, by name."""
        facts = self._facts.read()
        return host_facts.Listing(
            rows=tuple(rows.of_facts(facts)), faults=facts.faults
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
