# SPDX-License-Identifier: Apache-2.0
"""The second driver of node n4: the rules of the driver host, over made-up facts.

Rules come and go, facts become unknown, devices come and go. ``world.Ruled``
is what the machine wants; what it should give is told to the judge, by a model
of its own (``_told``). The rules are evaluated and placed by the real code.
"""

import dataclasses
import functools
import pathlib
import tempfile

import world

from compute_agent import errors
from compute_agent.virt import driver as virt
from drivers.host import driver as host
from drivers.host import rule_files
from drivers.host.facts import fact

RULES = """
rules:
- name: ruled
  traits: [CUSTOM_RULED]
- name: gold
  when: security.tpm
  traits: [CUSTOM_GOLD]
- name: cards
  for_each: pci
  when: device.vendor == '8086'
  child: '{node}_card_{device.name}'
  traits: [CUSTOM_RED]
  inventory: {CUSTOM_LICENCE: 2}
"""
_SURELY = frozenset({'CUSTOM_RED', world.MARKER})


@functools.cache
def _compiled() -> tuple[rule_files.Rule, ...]:
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, 'a.yaml').write_text(RULES)
        found = rule_files.read(folder, host.WORDS, given=True, starter=False)
    return found.rules


class RuledDriver(virt.ComputeDriver):
    """Gives what rules give, and says what that was.

    :ivar wanted: what its rules and facts are; ``reload`` after a change
    :ivar told: what it said of the node in this cycle; None if it failed
    """

    def __init__(self) -> None:
        self.wanted = world.Ruled()
        self.told: dict[str, world.Given | None] = {}
        self._rules = rule_files.Rules(
            self._read, host.WORDS, clock=lambda: 0.0
        )

    @classmethod
    def from_conf(cls, conf):
        raise errors.ConfigError('a test makes this driver itself')

    def get_available_nodes(self):
        return [world.ALL_NODES[world.N4]]

    def get_nodenames_by_uuid(self):
        return {world.N4: world.ALL_NODES[world.N4]}

    def reload(self):
        self._rules.reload()

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        self.told[world.N4] = None
        if self.wanted.behaviour == 'raises':
            raise RuntimeError('the kernel does not answer')
        told = self._told(provider_tree)
        self._rules.place(provider_tree, nodename, self._facts())
        if self.wanted.behaviour == 'half':
            raise errors.DriverError('the kernel went away')
        self.told[world.N4] = told

    def _read(self):
        return rule_files.RuleSet(
            rules=tuple(
                dataclasses.replace(rule, enabled=rule.name in self.wanted.on)
                for rule in _compiled()
            )
        )

    def _facts(self):
        cards = self.wanted.cards
        return fact.Facts(
            facts={'security.tpm': _fact('security.tpm', self.wanted.gold)},
            devices={
                'pci': _fact('pci.devices', None)
                if cards is None
                else tuple(
                    fact.Device(
                        family='pci',
                        name=name,
                        facts={'vendor': _fact('pci.vendor', vendor)},
                    )
                    for name, vendor in sorted(cards.items())
                )
            },
        )

    # --- the model ------------------------------------------------------------

    def _told(self, tree):
        """Return what rules should give, for what is in the tree before."""
        wanted, given = self.wanted, world.Given()
        had = tree.data(world.N4).traits
        if 'ruled' in wanted.on:
            given.traits.add('CUSTOM_RULED')
        keeps = wanted.gold is None and 'CUSTOM_GOLD' in had
        if 'gold' in wanted.on and (wanted.gold or keeps):
            given.traits.add('CUSTOM_GOLD')
        if 'cards' in wanted.on:
            for uuid, name in world.CARDS.items():
                self._tell(tree, given, uuid, name)
        return given

    def _tell(self, tree, given, uuid, name):
        cards = self.wanted.cards
        letter = name[-1]
        if cards is None or cards.get(letter, '') is None:
            given.stays.add(uuid)
        elif cards.get(letter) == world.VENDOR:
            if tree.exists(uuid) and _is_another_s(tree.data(uuid)):
                given.stays.add(uuid)
                return
            place = world.Place(name, world.N4)
            place.said['trait'] = world.Said('declare', world.listed(_SURELY))
            licences = {'CUSTOM_LICENCE': (2, None)}
            place.said['inventory'] = world.Said('update', licences)
            given.places[uuid] = place


def _is_another_s(data) -> bool:
    """Whether a child has something, and not the trait of its rule."""
    return world.MARKER not in data.traits and bool(
        data.traits or data.inventory
    )


def _fact(name, value):
    return fact.Fact(
        name=name,
        value=value,
        source='made up',
        unknown='' if value is not None else 'not told',
    )
