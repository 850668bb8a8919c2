# SPDX-License-Identifier: Apache-2.0
"""Numbers in the units of Grafana, as people read them. Pure."""

_BYTES = ('B', 'KiB', 'MiB', 'GiB')
_ENDINGS = {
    'percentunit': '%',
    'reqps': ' req/s',
    'cpm': ' c/m',
    'wpm': ' w/m',
}


def text(value: float, unit: str) -> str:
    """Return a value in a unit, such as ``percentunit``."""
    if unit == 's':
        return _seconds(value)
    if unit == 'bytes':
        return _bytes(value)
    if unit == 'percentunit':
        value *= 100
    return f'{value:.3g}{_ENDINGS.get(unit, "")}'


def _seconds(value: float) -> str:
    for limit, factor, name in (
        (1, 1e-3, 'ms'),
        (120, 1, 's'),
        (7200, 60, 'min'),
    ):
        if abs(value) < limit:
            return f'{value / factor:.3g} {name}' if value else '0 s'
    return f'{value / 3600:.3g} h'


def _bytes(value: float) -> str:
    for name in _BYTES[:-1]:
        if abs(value) < 1024:
            return f'{value:.3g} {name}'
        value /= 1024
    return f'{value:.3g} {_BYTES[-1]}'
