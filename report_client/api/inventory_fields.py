# SPDX-License-Identifier: Apache-2.0
"""Fields of inventories as a person writes them: ``VCPU=8 VCPU:reserved=1``.

Pure: no I/O, configuration, logging or clock. A number with too many digits
for placement is refused here. ``compute_agent.tree.inventory`` checks ranges,
because it knows the whole record.
"""

import re
from collections.abc import Iterable

from compute_agent import error_text, errors
from compute_agent.tree import inventory, names

TOTAL = 'total'
RATIO = 'allocation_ratio'
_WORD = re.compile(r'(?P<rc>[^:=]*)(:(?P<field>[^=]*))?=(?P<value>.*)')

# Plain digits only: int() and float() accept much more.
_WHOLE = re.compile(r'-?[0-9]+')
_DECIMAL = re.compile(r'-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?')
_LONGEST_RATIO = 60  # characters
_LONGEST_WHOLE = len(str(-inventory.MAX_INT))

Number = int | float


def parse(words: Iterable[str]) -> dict[str, dict[str, Number]]:
    """Return resource class → field → number.

    :param words: each is ``RC=TOTAL`` or ``RC:FIELD=VALUE``
    :raises errors.InvalidName: a word has another form, or a field is given
        twice
    """
    found: dict[str, dict[str, Number]] = {}
    for word in names.check_collection(words):
        parts = _WORD.fullmatch(word) if isinstance(word, str) else None
        if parts is None:
            raise errors.InvalidName(
                f'{error_text.excerpt(word)} is not a field of an inventory: write '
                'RC=TOTAL or RC:FIELD=VALUE, for example VCPU=8 '
                'VCPU:reserved=1'
            )
        rc = names.check_symbol(parts['rc'], 'resource class')
        field = TOTAL if parts['field'] is None else parts['field']
        fields = found.setdefault(rc, {})
        if field in fields:
            raise errors.InvalidName(f'{rc}:{field} is given twice: keep one')
        fields[field] = number(rc, field, parts['value'])
    return found


def number(rc: str, field: str, text: str) -> Number:
    """Return the value of a field.

    :raises errors.InvalidName: an inventory has no such field, or the value is
        not a number
    """
    if field not in inventory.FIELDS:
        raise errors.InvalidName(
            f'{rc}: an inventory has no {error_text.excerpt(field)}; it has '
            f'{", ".join(sorted(inventory.FIELDS))}'
        )
    form, kind = _DECIMAL, 'number'
    longest = _LONGEST_RATIO
    if field != RATIO:
        form, kind = _WHOLE, 'whole number'
        longest = _LONGEST_WHOLE
    if not form.fullmatch(text):
        raise errors.InvalidName(
            f'{rc}: {field} {error_text.excerpt(text)} is not a {kind}'
        )
    if len(text) > longest:
        raise errors.InvalidName(
            f'{rc}: {field} {error_text.excerpt(text)} is longer than any {kind} that '
            'placement takes'
        )
    return float(text) if field == RATIO else int(text)
