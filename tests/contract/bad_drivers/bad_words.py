# SPDX-License-Identifier: Apache-2.0
"""Bad drivers for the rules about words: messages, names, options, evidence."""

import dataclasses

import os_traits
import rack
from bad import breaks
from oslo_config import cfg
from rack import Rack
from variants import Constant, Plant

from compute_agent import errors, testing
from compute_agent.testing.contract import making
from compute_agent.testing.contract.rules import claims, words
from compute_agent.virt.values import finding

TRAITS = os_traits.get_traits
CHECK_KNOWN = claims._check_known


def options_only():
    """A world whose driver is made from options that it reads."""
    world = rack.world()
    return testing.World(conf={'rack': {'slots': 3}}, seams=world.seams)


@breaks(
    'CA018',
    call='get_available_nodes() while network.nodes ends with a time-out',
    fix='write one printable line',
    weak=(
        'reads no message',
        Plant(words._check_line, lambda *_, **__: None),
    ),
)
class TellsInTwoLines(Rack):
    def ask(self, function, *arguments):
        try:
            return self.entries(function(*arguments))
        except OSError as exc:
            raise errors.DriverError(f'no answer:\n{exc}') from exc


@breaks(
    'CA019',
    call="update_provider_tree(…, 'rack-0'): the trait HW_RACK_AIR",
    fix='give it the prefix CUSTOM_',
    weak=(
        'believes that os-traits has it',
        Plant(os_traits.get_traits, lambda *_: [*TRAITS(), 'HW_RACK_AIR']),
    ),
)
class InventsAStandardTrait(Rack):
    def label(self, tree, node, traits):
        tree.declare_traits(node, *traits, 'HW_RACK_AIR')


@breaks(
    'CA020',
    call="new_child('gpu0 of 0', …)",
    fix='begin the name of a child with that of its root',
    weak=(
        'compares the name of a child with itself',
        Plant(
            words._roots,
            lambda said: {
                uuid: (uuid, name) for uuid, name, _ in said.providers
            },
        ),
    ),
)
class NamesCardsAlone(Rack):
    def card_name(self, node, card):
        return f'{card} of {node[-1]}'


@breaks(
    'CA020',
    call="new_child('rack-0gpu0', …)",
    fix='begin the name of a child with that of its root',
    weak=(
        'looks for the name of the root inside of other words',
        Plant(words._has_word, lambda text, word: word in text),
    ),
)
class RunsItsNamesTogether(Rack):
    def card_name(self, node, card):
        return f'{node}{card}'


@breaks(
    'CA024',
    call='authority: CUSTOM_* covers CUSTOM_OF_ANOTHER_WRITER',
    fix='name only traits that the driver decides now',
    weak=(
        'tries only traits that few drivers decide',
        Constant(claims, _ANOTHER='MISC_OF_ANOTHER_WRITER'),
    ),
)
class ClaimsAllCustomTraits(Rack):
    authority = ('CUSTOM_*',)


@breaks(
    'CA024',
    call='authority: CUSTOM_RACK_* is a pattern',
    fix='name each trait, or write the method evidence',
    weak=(
        'takes a pattern for a list of names',
        Plant(claims._check_pattern, lambda *_: None),
    ),
)
class ClaimsAPatternWithoutEvidence(Rack):
    authority = ('CUSTOM_RACK_*',)
    evidence = None  # so it is no finding.Evidence

    def label(self, tree, node, traits):
        tree.declare_traits(node, *traits, 'CUSTOM_RACK_MINE')


def last_found(of):
    """Return the decision about the last node only."""
    (*_, node) = of.get_available_nodes()
    return {one.trait: one.found for one in of.evidence(node)}


@breaks(
    'CA024',
    call='authority: CUSTOM_COOLED_BY_AIR covers CUSTOM_COOLED_BY_AIR: it is '
    'unknown by evidence',
    fix='name only traits that the driver decides now',
    weak=(
        'takes the evidence of the last node for that of all',
        Plant(claims._found, last_found),
    ),
)
class CannotTellOnOneNode(Rack):
    def evidence(self, nodename):
        found = super().evidence(nodename)
        if nodename == 'rack-0':
            unknown = finding.Found.UNKNOWN
            found[0] = dataclasses.replace(found[0], found=unknown, fact='')
        return found


@breaks(
    'CA024',
    call='authority: HW_CPU_X86_AVX2 covers HW_CPU_X86_AVX2: the driver says '
    'nothing of it',
    fix='name only traits that the driver decides now',
    weak=(
        'looks at patterns only',
        Plant(
            claims._check_known,
            lambda entry, *given: (
                CHECK_KNOWN(entry, *given) if entry.endswith('*') else []
            ),
        ),
    ),
)
class ClaimsWhatItNeverSays(Rack):
    authority = ('HW_CPU_X86_AVX2',)
    evidence = None  # so it is no finding.Evidence


@breaks(
    'CA025',
    call="evidence('rack-0'): it has no finding of CUSTOM_RACK",
    fix='return a finding for each trait',
    weak=(
        'compares findings with no trait',
        Plant(claims._check_findings, lambda *_: None),
    ),
)
class ProvesHalf(Rack):
    def evidence(self, nodename):
        return super().evidence(nodename)[:1]


class HasAnOption(Rack):
    """It reads its option, which no entry point lists."""

    @classmethod
    def register_opts(cls, conf):
        slots = cfg.IntOpt('slots', help='The number of slots of a rack.')
        conf.register_opts([slots], group='rack')


@breaks(
    'CA026',
    call='register_opts: [rack] slots: no entry point',
    fix='return it from list_opts()',
    weak=(
        'takes each option for listed',
        Plant(words._listed, words._own_options),
    ),
    world=options_only,
)
class KeepsItsOptionSecret(HasAnOption):
    @classmethod
    def from_conf(cls, conf):
        assert conf.rack.slots
        return cls()


def refuse(*_):
    """Refuse any options, as another reason might."""
    raise errors.ConfigError('refused')


@breaks(
    'CA027',
    call='from_conf(conf) with [rack] slots = no-such-value',
    fix='read every option in from_conf',
    weak=(
        'takes any refusal for one of the option',
        Plant(making.make_with, refuse),
    ),
    world=options_only,
)
class ReadsItsOptionLater(HasAnOption):
    """It would read the option when it describes a rack."""
