# SPDX-License-Identifier: Apache-2.0
"""The world after everybody's first cycle, and a machine that begins there."""

import dataclasses

import authors as model
import machine
import station as stations
import tally as tallies
import world


@dataclasses.dataclass(frozen=True, slots=True)
class Boot:
    """The world after everybody's first cycle."""

    placement: object
    records: dict[str, bytes]
    authors: model.Authors


def booted(again) -> Boot:
    """Return the world after everybody's first cycles."""
    again.start(None)
    authors = model.Authors(again)
    records = {}
    for name in world.AGENTS:
        station = stations.Station(name, again, authors)
        station.driver.wanted = {n: world.first(n) for n in world.NODES[name]}
        station.start(None)
        station.agent.done()
        station.agent.done()
        records[name] = station.record()
        station.end()
    return Boot(again.database(), records, authors)


_KEPT: dict[type, Boot] = {}  # by kind of placement; the same for every test


def machine_on(again, counts=None) -> type[machine.Machine]:
    """Return a machine that acts on this placement.

    :param again: a ``Replay`` of the real one, its ``Double``, or ``Both``
    """
    kind = type(again)
    if kind not in _KEPT:
        _KEPT[kind] = booted(again)

    class Machine(machine.Machine):
        replay = again
        boot = _KEPT[kind]
        tally = counts or tallies.Tally()

    return Machine
