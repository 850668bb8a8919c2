# SPDX-License-Identifier: Apache-2.0
"""The rules about a driver's life: made, its nodes' names, events, closed."""

import threading
import time
from collections.abc import Collection, Mapping, Sequence

from .... import error_text, errors
from ....tree import names
from ....virt import driver as virt
from ...values.verdict import Broken, NotTried
from .. import capability, describing, making
from ..trial import Trial

_FROM_CONF = 'from_conf(conf)'
_SECONDS = 10.0  # to wait for an event, or for a thread to end
_PAUSE = 0.01


def made_from_options(trial: Trial) -> None:
    """Check that a driver can be made, and asks no remote source meanwhile."""
    _check_declared(trial)
    trial.watch.clear()
    made = trial.make_driver()
    asked = [call for call in trial.watch.calls if call.seam.is_remote]
    if asked:
        raise Broken(
            _FROM_CONF,
            f'it called {asked[0]}',
            'ask remote sources in get_available_nodes, not before: an agent '
            'must start while they are away',
        )
    if not isinstance(made, trial.driver_class):
        raise Broken(
            _FROM_CONF,
            f'it returned a {type(made).__name__}',
            f'return a {trial.driver_class.__name__}',
        )


def _check_declared(trial: Trial) -> None:
    lacking = capability.missing(trial.declared, trial.driver_class)
    if lacking:
        raise Broken(
            'the declared capabilities',
            f'the driver declares {lacking[0].name}, and no method of it '
            'shows this',
            f'leave {lacking[0].name} out of the capabilities, or write the '
            'method',
        )


def nodes_have_names(trial: Trial) -> None:
    """Check the names, uuids and titles of the nodes."""
    driver = trial.make_driver()
    nodes = driver.get_available_nodes()
    _check_list(nodes)
    _check_uuids(driver, nodes)
    _check_titles('get_titles()', driver.get_titles(), nodes)
    _check_titles(
        'get_hypervisor_hostnames()',
        driver.get_hypervisor_hostnames(),
        nodes,
        may_be_empty=True,
    )


def _check_list(nodes: Sequence[str]) -> None:
    call = 'get_available_nodes()'
    if isinstance(nodes, str) or not isinstance(nodes, Sequence):
        raise Broken(call, f'it returned {nodes!r}', 'return a list of names')
    if not nodes:
        raise Broken(
            call,
            'the world has no node',
            'give the world at least one node, so that there is something to '
            'check',
        )
    for name in nodes:
        _check(call, names.check_provider_name, name)
    if len(set(nodes)) < len(nodes):
        twice = next(n for n in nodes if list(nodes).count(n) > 1)
        raise Broken(call, f'it has {twice} twice', 'name each node once')


def _check_uuids(driver: virt.ComputeDriver, nodes: Sequence[str]) -> None:
    call = 'get_nodenames_by_uuid()'
    by_uuid = driver.get_nodenames_by_uuid()
    for uuid, name in by_uuid.items():
        _check(call, lambda one: names.check_uuid(one, 'node'), uuid)
        if name not in nodes:
            raise Broken(
                call,
                f'{uuid} belongs to {name}, which get_available_nodes() does '
                'not have',
                'return the uuids of the nodes of the last list',
            )
    _check_each_has_one(call, nodes, list(by_uuid.values()))


def _check_each_has_one(
    call: str, nodes: Sequence[str], known: Sequence[str]
) -> None:
    """Check that each of several nodes has one uuid.

    :param known: the nodes with a uuid
    """
    for name in nodes:
        if known.count(name) > 1:
            raise Broken(
                call, f'{name} has two uuids', 'give each node one uuid'
            )
        if len(nodes) > 1 and name not in known and not names.is_uuid(name):
            raise Broken(
                call,
                f'{name} has no uuid, and it is not the only node',
                'return a uuid for each node: one that stays the same for '
                'ever, for example that of the source',
            )


def _check_titles(
    call: str,
    titles: Mapping[str, str],
    nodes: Sequence[str],
    *,
    may_be_empty: bool = False,
) -> None:
    for name, title in titles.items():
        if name not in nodes:
            raise Broken(
                call,
                f'it names {name}, which get_available_nodes() does not have',
                'return the titles of the nodes of the last list',
            )
        is_line = isinstance(title, str) and (
            title == error_text.printable(title)
        )
        if not is_line or not (title or may_be_empty):
            raise Broken(
                call,
                f'the title of {name} is {title!r}',
                'return titles of one printable line, and none for a node '
                'that has only its name',
            )


def _check(call: str, checked: object, value: str) -> None:
    try:
        checked(value)  # type: ignore[operator]
    except errors.AgentError as exc:
        raise Broken(
            call, str(exc), 'return names that placement accepts'
        ) from exc


def close_ends_threads(trial: Trial) -> None:
    """Check that no thread of the driver outlives close()."""
    before = set(threading.enumerate())
    driver = making.make(trial.named, trial.world, trial.folder)
    try:
        for node in driver.get_available_nodes():
            describing.describe(trial, driver, node)
        driver.subscribe(lambda: None)
        driver.changes(None)
    finally:
        driver.close()
    left = _after(before)
    if left:
        raise Broken(
            'close()',
            f'the thread {min(t.name for t in left)} still runs',
            'end and join every thread of the driver in close()',
        )
    making.make(trial.named, trial.world, trial.folder).close()


def events_wake(trial: Trial) -> None:
    """Check that an event calls ``wake``, but not after close()."""
    event = trial.world.event
    if event is None:
        raise NotTried('World.event is not given')
    driver = making.make(trial.named, trial.world, trial.folder)
    woken = threading.Event()
    try:
        for node in driver.get_available_nodes():
            describing.describe(trial, driver, node)
        driver.subscribe(woken.set)
        event()
        _check_woken(woken)
    finally:
        driver.close()
    woken.clear()
    event()
    if woken.wait(_PAUSE * 10):
        raise Broken(
            'close()',
            'wake was called after it',
            'stop listening in close(), and return when the last call ended',
        )


def _check_woken(woken: threading.Event) -> None:
    if not woken.wait(_SECONDS):
        raise Broken(
            'subscribe(wake)',
            f'wake was not called within {_SECONDS:g} s of an event',
            'call wake for each event that may change a description',
        )


def _after(before: Collection[threading.Thread]) -> set[threading.Thread]:
    """Return the threads that are new and do not end by themselves soon."""
    end = time.monotonic() + _SECONDS
    while True:
        left = {t for t in threading.enumerate() if t not in before}
        if not left or time.monotonic() > end:
            return left
        time.sleep(_PAUSE)
