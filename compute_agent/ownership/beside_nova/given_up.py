# SPDX-License-Identifier: Apache-2.0
"""The part of an owner's record that nova-compute takes over.

Pure: no I/O, configuration, logging or clock. An agent that becomes a
companion gives the root back to nova-compute. Nothing is removed in placement:
the agent only stops to count the root, its inventory and nova's traits as its
own. ``cycle/planning/descriptions.py`` has the record changed.
"""

from collections.abc import Iterable, Mapping

from ...tree.assertion import Kind
from ..record import Record
from . import nova_traits


def given_up(record: Record, node_uuid: str) -> Record:
    """Return the record of the root that is nova's while it is companion's.

    The names stay in placement: nova-compute keeps or removes them.
    """
    traits = (node_uuid, Kind.TRAIT)
    classes = (node_uuid, Kind.INVENTORY)
    ours = {
        traits: _novas(record.ours.get(traits, ())),
        classes: record.ours.get(classes, frozenset()),
    }
    claims = {
        traits: _only_novas(record.claims.get(traits, {})),
        classes: record.claims.get(classes, {}),
    }
    return Record(
        created=record.created & {node_uuid},
        taken_over=record.taken_over & {node_uuid},
        ours={key: names for key, names in ours.items() if names},
        claims={
            key: by_source
            for key, by_source in claims.items()
            if any(by_source.values())
        },
    )


def _novas(names: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(nova_traits.is_novas, names))


def _only_novas(
    claims: Mapping[str, frozenset[str]],
) -> dict[str, frozenset[str]]:
    return {source: _novas(names) for source, names in claims.items()}
