# SPDX-License-Identifier: Apache-2.0
"""Facts in a file: the output of ``compute-agent facts -f json``.

It reads the file. ``driver.py`` calls this to try rules on another host's
facts.
"""

import json
import pathlib
from collections.abc import Mapping
from typing import Any

from compute_agent import error_text, errors

from .facts import rows
from .facts.fact import Facts

MAX_SIZE = 16_000_000
_SHOWN = 200  # characters of a reason
_FIELDS = ('name', 'source', 'unknown')


def read(path: str) -> Facts:
    """Return the facts in a file.

    :raises errors.ConfigError: it cannot be read, or has something else
    """
    try:
        return rows.to_facts([_row(item) for item in _items(path)])
    except OSError as exc:
        raise errors.ConfigError(
            f'{path} cannot be read ({exc.strerror}); correct the path'
        ) from exc
    except (ValueError, RecursionError) as exc:
        raise errors.ConfigError(
            f'{path} is not the output of "compute-agent facts -f json": '
            f'{error_text.printable(str(exc)[:_SHOWN])}'
        ) from exc


def _items(path: str) -> list[Any]:
    with pathlib.Path(path).open('rb') as file:
        content = file.read(MAX_SIZE + 1)
    if len(content) > MAX_SIZE:
        raise ValueError(f'it is larger than {MAX_SIZE // 1_000_000} MB')
    found = json.loads(content)
    if isinstance(found, list):
        return found
    raise ValueError('it is not a list of facts')


def _row(item: object) -> rows.Row:
    if not isinstance(item, Mapping) or 'value' not in item:
        raise ValueError('an item is not a fact with name and value')
    name, source, unknown = (item.get(field, '') for field in _FIELDS)
    if not all(isinstance(text, str) for text in (name, source, unknown)):
        raise ValueError(f'{name!r} has fields that are no texts')
    return rows.Row(
        name=name, value=item['value'], source=source, unknown=unknown
    )
