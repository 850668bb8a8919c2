# SPDX-License-Identifier: Apache-2.0
"""The part of an owner's record that nova-compute takes over.

Pure: no I/O, configuration, logging or clock. An agent that becomes a
companion gives the root back to nova-compute. Nothing is removed in placement:
the agent only stops to count the root, its inventory and nova's traits as its
own. The same goes for a child that nova-compute took over. An agent that
becomes a reporter gives up only what nova-compute adds without asking its
driver. ``cycle/describing/descriptions.py`` has the record changed, and
``cycle/node/node_planner.py`` leaves a node without what is given up.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from ...tree import assertion, names, provider
from ...tree.assertion import Claims, Key, Kind
from .. import nova_traits
from ..policy import Mode
from ..record import NOTHING, Record


def of_mode(
    mode: Mode, record: Record, node_uuid: str, providers: provider.Snapshot
) -> Record:
    """Return the part of a record that nova-compute takes over in a mode."""
    match mode:
        case Mode.COMPANION:
            return given_up(record, node_uuid, providers)
        case Mode.REPORTER:
            return given_up_by_reporter(record, node_uuid, providers)
        case Mode.OWNER:
            return NOTHING


def given_up(
    record: Record, node_uuid: str, providers: provider.Snapshot
) -> Record:
    """Return the part of a companion's record that concerns what is nova's.

    It is about the root, its inventory and the traits that nova decides, and
    about the children that nova-compute took over. The names stay in
    placement: nova-compute keeps or removes them.
    """
    taken = novas_children(record, providers) & record.created
    traits = (node_uuid, Kind.TRAIT)
    classes = (node_uuid, Kind.INVENTORY)
    ours = {
        traits: _novas(record.ours.get(traits, ())),
        classes: record.ours.get(classes, frozenset()),
        **{
            key: names for key, names in record.ours.items() if key[0] in taken
        },
    }
    claims: dict[Key, Claims] = {
        traits: _only_novas(record.claims.get(traits, {})),
        classes: record.claims.get(classes, {}),
        **{key: by for key, by in record.claims.items() if key[0] in taken},
    }
    return Record(
        created=record.created & {node_uuid, *taken},
        taken_over=record.taken_over & {node_uuid},
        ours={key: names for key, names in ours.items() if names},
        claims={
            key: by_source
            for key, by_source in claims.items()
            if any(by_source.values())
        },
    )


def given_up_by_reporter(
    record: Record, node_uuid: str, providers: provider.Snapshot
) -> Record:
    """Return the part of a reporter's record that is nova-compute's now.

    The agent added it while its mode was owner. It stays in placement. A root
    that nova-compute marked as its compute node is no longer the agent's to
    delete.
    """
    devices = {
        uuid
        for uuid, one in providers.items()
        if one.parent_uuid is not None
        and nova_traits.MANAGED_PCI in one.traits
    }
    root = providers.get(node_uuid)
    is_novas = root is not None and names.COMPUTE_NODE in root.traits
    key = (node_uuid, Kind.TRAIT)
    ours = {
        key: _of_nova_compute(record.ours.get(key, ())),
        **{k: found for k, found in record.ours.items() if k[0] in devices},
    }
    claims: dict[Key, Claims] = {
        key: {
            source: _of_nova_compute(found)
            for source, found in record.claims.get(key, {}).items()
        },
        **{k: by for k, by in record.claims.items() if k[0] in devices},
    }
    return Record(
        created=record.created
        & (devices | ({node_uuid} if is_novas else set())),
        ours={k: found for k, found in ours.items() if found},
        claims={k: by for k, by in claims.items() if any(by.values())},
    )


def left(record: Record, given: Record) -> Record:
    """Return a record without the part that is given up."""
    return dataclasses.replace(
        record,
        created=record.created - given.created,
        taken_over=record.taken_over - given.taken_over,
        ours={
            key: names - given.ours.get(key, frozenset())
            for key, names in record.ours.items()
        },
        claims={
            key: {
                source: names - given.claims.get(key, {}).get(source, set())
                for source, names in by_source.items()
            }
            for key, by_source in record.claims.items()
        },
    )


def novas_children(
    record: Record, providers: provider.Snapshot
) -> frozenset[str]:
    """Return the children that have a trait by which nova knows its own.

    The OWNER_NOVA that the agent itself adds to an owner's children is no such
    sign. A child that a driver reports is nova's, too: the driver says that
    nova gives the device to guests, and nova-compute finds that child by its
    name.
    """
    return frozenset(
        uuid
        for uuid, one in providers.items()
        if one.parent_uuid is not None
        and any(
            nova_traits.says_nova(trait)
            and not _is_the_agents(record, uuid, trait)
            for trait in one.traits
        )
    )


def _is_the_agents(record: Record, uuid: str, trait: str) -> bool:
    """Return True if the agent added a trait, and no other source claims it."""
    key = (uuid, Kind.TRAIT)
    return trait in record.ours.get(key, ()) and not any(
        trait in names
        for source, names in record.claims.get(key, {}).items()
        if source != assertion.AGENT
    )


def _of_nova_compute(found: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(nova_traits.is_nova_computes, found))


def _novas(names: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(nova_traits.is_novas, names))


def _only_novas(
    claims: Mapping[str, frozenset[str]],
) -> dict[str, frozenset[str]]:
    return {source: _novas(names) for source, names in claims.items()}
