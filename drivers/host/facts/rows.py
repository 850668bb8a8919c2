# SPDX-License-Identifier: Apache-2.0
"""Facts as rows for people and files, and back.

Pure: no I/O, configuration, logging or clock. The fact of a device has its
device between family and attribute: ``pci.0000:03:00.0.vendor``. Each family
of devices has a row ``FAMILY.devices`` with their names, so a list that is
empty is not taken for one that is unknown. A family that was not read
completely has a row ``FAMILY.*`` with the reason: facts of it that have no row
are unknown, not absent.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from compute_agent.virt.values import host_facts

from .fact import DEVICE_FAMILIES, Device, Fact, Facts, Value

_DEVICES = 'devices'
_OTHERS = '*'

Row = host_facts.Row


def of_facts(facts: Facts) -> list[Row]:
    """Return the rows, sorted by name."""
    rows = [_row(fact.name, fact) for fact in facts.facts.values()]
    for family, listed in facts.devices.items():
        if isinstance(listed, Fact):
            rows.append(_row(f'{family}.{_DEVICES}', listed))
        else:
            rows.extend(_of_devices(family, listed))
    rows.extend(
        Row(name=f'{family}.{_OTHERS}', value=None, source='', unknown=reason)
        for family, reason in facts.incomplete.items()
    )
    return sorted(rows, key=lambda row: row.name)


def to_facts(rows: Iterable[Row]) -> Facts:
    """Return the facts of rows that ``of_facts`` made.

    :raises ValueError: a name is not that of a fact
    """
    found: dict[str, Fact] = {}
    lists: dict[str, Fact] = {}
    attributes: dict[tuple[str, str], dict[str, Fact]] = {}
    incomplete: dict[str, str] = {}
    for row in rows:
        family, device, attribute = _split(row.name)
        if attribute == _OTHERS and row.unknown:
            incomplete[family] = row.unknown
        elif device:
            fact = _fact(f'{family}.{attribute}', row)
            attributes.setdefault((family, device), {})[attribute] = fact
        elif family in DEVICE_FAMILIES and attribute == _DEVICES:
            lists[family] = _fact(row.name, row)
        else:
            found[row.name] = _fact(f'{family}.{attribute}', row)
    devices = {
        family: fact if fact.unknown else _devices(fact, attributes)
        for family, fact in lists.items()
    }
    return Facts(facts=found, devices=devices, incomplete=incomplete)


def _fact(name: str, row: Row) -> Fact:
    """Return the fact of a row.

    :raises ValueError: the name is none, or the value is too large
    """
    made = Fact(
        name=name,
        value=_plain(row.value),
        source=row.source,
        unknown=row.unknown,
    )
    if made.unknown != row.unknown:
        raise ValueError(f'{name}: {made.unknown}')
    return made


def _of_devices(family: str, listed: Sequence[Device]) -> Iterator[Row]:
    yield Row(
        name=f'{family}.{_DEVICES}',
        value=tuple(device.name for device in listed),
        source=family,
        unknown='',
    )
    for device in listed:
        for attribute, fact in device.facts.items():
            yield _row(f'{family}.{device.name}.{attribute}', fact)


def _row(name: str, fact: Fact) -> Row:
    return Row(
        name=name,
        value=None if fact.unknown else fact.value,
        source=fact.source,
        unknown=fact.unknown,
    )


def _split(name: str) -> tuple[str, str, str]:
    family, _, rest = name.partition('.')
    device, dot, attribute = rest.rpartition('.')
    if dot and family not in DEVICE_FAMILIES:
        raise ValueError(f'{name!r} is not the name of a fact')
    return family, device, attribute


def _devices(
    listed: Fact, attributes: Mapping[tuple[str, str], Mapping[str, Fact]]
) -> tuple[Device, ...]:
    names = listed.value if isinstance(listed.value, tuple) else ()
    return tuple(
        Device(
            family=listed.family,
            name=str(name),
            facts=attributes.get((listed.family, str(name)), {}),
        )
        for name in names
    )


def _plain(value: object) -> Value:
    """Return JSON's value with tuples for its lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f'{value!r} is no value of a fact')
