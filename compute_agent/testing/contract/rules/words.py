# SPDX-License-Identifier: Apache-2.0
"""The rules about words: messages, names of traits and children, options."""

import contextlib
import importlib.metadata
import re
import typing
from collections.abc import Iterator, Mapping

import os_resource_classes
import os_traits
from oslo_config import cfg

from .... import conf as agent_conf
from .... import error_text, errors
from ....tree import names
from ....tree.assertion import Kind
from ....virt import driver as virt
from ...values.seam import RAISING
from ...values.verdict import Broken, DoesNotApply, NotTried
from .. import making, watch
from .. import world as worlds
from ..asking import Asking
from ..capability import Capability
from ..recorder import Said
from ..trial import Trial

#: The rule about messages; other rules report when it is broken.
MESSAGES = 'CA018'

_OPTS = 'oslo.config.opts'
_WRONG = 'no-such-value'
_FEWEST = 3  # words of a help text
_LONGEST = 500  # characters of a message


def messages_are_lines(trial: Trial) -> None:
    """Check the errors, notes and faults of a driver whose source fails."""
    trial.sync()
    trial.watch.clear()
    trial.cycle()
    seams = list({id(c.seam): c.seam for c in trial.watch.calls}.values())
    if not seams:
        raise NotTried('a cycle makes no call through the seams')
    for seam in seams:
        for fault in RAISING:
            failure = watch.Failure(seam=seam, fault=fault)
            with trial.watch.failing(failure):
                cycle = trial.cycle()
            why = f'while {seam} ends with {fault.value}'
            for call, exc in cycle.raised:
                check_error(f'{call} {why}', exc)
            for node, said in cycle.said.items():
                for text in (*said.notes, *said.faults):
                    call = f'note or fault of {node!r} {why}'
                    _check_line(call, text)
    if Capability.CHANGES in trial.capabilities:
        _check_changes(trial)


def _check_changes(trial: Trial) -> None:
    """Check the errors of ``changes`` while each source fails."""
    asking = Asking.begun(trial)
    since = asking.since
    for seam in trial.world.seams:
        for fault in RAISING:
            asking.since = since
            failure = watch.Failure(seam=seam, fault=fault)
            with trial.watch.failing(failure), contextlib.suppress(Exception):
                asking.ask()
            for call, exc in trial.recorder.raised:
                check_error(
                    f'{call} while {seam} ends with {fault.value}', exc
                )


def names_are_known(trial: Trial) -> None:
    """Check that each trait and class is standard or begins with CUSTOM_."""
    standard = {
        Kind.TRAIT: frozenset(os_traits.get_traits()),
        Kind.INVENTORY: frozenset(os_resource_classes.STANDARDS),
    }
    for node, said in trial.cycle().said.items():
        for (uuid, kind), one in said.asserted.items():
            for name in sorted(one.names) if kind in standard else ():
                if names.is_custom(name) or name in standard[kind]:
                    continue
                raise Broken(
                    f'update_provider_tree(…, {node!r})',
                    f'the {kind.value} {name} of provider '
                    f'{said.title(uuid)} is no standard name',
                    'give it the prefix CUSTOM_, or use a name of os-traits '
                    'or os-resource-classes',
                )


def children_are_named_after_roots(trial: Trial) -> None:
    """Check that the name of each child has the name of its root."""
    for said in trial.sync().said.values():
        roots = _roots(said)
        for uuid, name, parent in said.providers:
            if parent is None:
                continue
            root_uuid, root = roots[uuid]
            if not any(_has_word(name, one) for one in (root, root_uuid)):
                raise Broken(
                    f'new_child({name!r}, …)',
                    f'the name does not have the name of its root, {root}, '
                    'as a word',
                    'begin the name of a child with that of its root: names '
                    'are unique in the whole cloud, and a second host would '
                    'have the same child',
                )


def _has_word(text: str, word: str) -> bool:
    """Return True if a text has the word, and no longer word around it."""
    edges = rf'(?<![^\W_]){re.escape(word)}(?![^\W_])'
    return re.search(edges, text) is not None


def options_are_documented(trial: Trial) -> None:
    """Check that each option has a help text and is in the sample."""
    own = _own_options(trial.driver_class)
    if not own:
        raise DoesNotApply('the driver registers no option of its own')
    listed = _listed(trial.driver_class)
    for (group, name), opt in own.items():
        call = f'register_opts: [{group}] {name}'
        _check_help(call, opt.help or '')
        if (group, name) not in listed:
            raise Broken(
                call,
                'no entry point in the group oslo.config.opts lists it, so '
                'that no sample file has it',
                'return it from list_opts(), and name that function in an '
                'entry point of oslo.config.opts',
            )


def _check_help(call: str, text: str) -> None:
    if len(text.split()) < _FEWEST:
        raise Broken(
            call,
            f'its help is {text!r}',
            'say in full sentences what the option does, with its unit and '
            'bounds',
        )


def wrong_options_are_refused(trial: Trial) -> None:
    """Check that a value of the wrong type is refused with one line."""
    if trial.world.make is not None:
        raise NotTried('World.make makes the driver, not the options')
    typed = list(_typed(trial.driver_class))
    if not typed:
        raise DoesNotApply('any text is a value of every option')
    for group, name in typed:
        conf = {g: dict(given) for g, given in trial.world.conf.items()}
        conf.setdefault(group, {})[name] = _WRONG
        _check_refused(
            trial, conf, f'from_conf(conf) with [{group}] {name} = {_WRONG}'
        )


def _check_refused(trial: Trial, conf: worlds.Conf, call: str) -> None:
    try:
        making.make_with(trial.named, conf, trial.folder).close()
    except errors.ConfigError as exc:
        _check_line(call, str(exc))
        return
    raise Broken(
        call,
        'it made a driver',
        'read every option in from_conf, so that a wrong value is told at '
        'the start',
    )


# --- messages -----------------------------------------------------------------


def check_error(call: str, exc: Exception, *, number: str = '') -> None:
    """Check that an exception of a driver is a line for the operator.

    :param number: the rule that it breaks; empty for the rule that runs
    :raises Broken: it is no error of the agent's, or its text is no line
    """
    if not isinstance(exc, errors.AgentError):
        raise Broken(
            call,
            f'it raised {type(exc).__name__}',
            'raise errors.DriverError with a line for the operator: what '
            'failed, why, and what to do',
            number=number,
        )
    _check_line(call, str(exc), number=number)


def _check_line(call: str, text: str, *, number: str = '') -> None:
    is_line = text == error_text.printable(text) and '\n' not in text
    if not text.strip() or not is_line or len(text) > _LONGEST:
        raise Broken(
            call,
            f'the message is {text[:_LONGEST]!r}',
            f'write one printable line of at most {_LONGEST} characters',
            number=number,
        )


def _roots(said: Said) -> dict[str, tuple[str, str]]:
    """Return provider uuid → uuid and name of its root."""
    rows = {uuid: (name, parent) for uuid, name, parent in said.providers}

    def top(uuid: str) -> tuple[str, str]:
        name, parent = rows[uuid]
        return top(parent) if parent in rows else (uuid, name)

    return {uuid: top(uuid) for uuid in rows}


# --- options ------------------------------------------------------------------

_Options = Mapping[tuple[str, str], typing.Any]


class _Registered(cfg.ConfigOpts):
    """A ConfigOpts that remembers which options are registered."""

    def __init__(self) -> None:
        self.registered: dict[tuple[str, str], typing.Any] = {}
        super().__init__()

    def register_opt(
        self,
        opt: typing.Any,
        group: typing.Any = None,
        *args: typing.Any,
        **kwargs: typing.Any,
    ) -> bool:
        """Register an option, and remember it."""
        name = getattr(group, 'name', group) or 'DEFAULT'
        self.registered[name, opt.dest] = opt
        registered: bool = super().register_opt(opt, group, *args, **kwargs)
        return registered


def _own_options(driver_class: type[virt.ComputeDriver]) -> _Options:
    """Return the options of a driver that the agent itself does not have."""
    conf = _Registered()
    conf.registered.clear()
    driver_class.register_opts(conf)
    agents = {
        (_group(group), opt.dest)
        for group, opts in agent_conf.list_opts()
        for opt in opts
    }
    return {
        key: opt for key, opt in conf.registered.items() if key not in agents
    }


def _listed(driver_class: type[virt.ComputeDriver]) -> set[tuple[str, str]]:
    """Return the options that the driver's package offers for samples."""
    package = driver_class.__module__.partition('.')[0]
    return {
        (_group(group), opt.dest)
        for point in importlib.metadata.entry_points(group=_OPTS)
        if point.module.partition('.')[0] == package
        for group, opts in point.load()()
        for opt in opts
    }


def _group(group: object) -> str:
    return str(getattr(group, 'name', group) or 'DEFAULT')


def _typed(
    driver_class: type[virt.ComputeDriver],
) -> Iterator[tuple[str, str]]:
    """Yield the options for which not every text is a value."""
    for key, opt in _own_options(driver_class).items():
        try:
            opt.type(_WRONG)
        except ValueError:
            yield key
