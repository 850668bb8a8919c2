# SPDX-License-Identifier: Apache-2.0
"""A provider's contents as the text of one column, and back.

Pure: no I/O, configuration, logging or clock. The contents are inventories,
traits and aggregates.
"""

import functools
import json
from collections.abc import Mapping
from typing import Any

from ...tree import inventory, provider


def text(seen: provider.Provider) -> str:
    """Return a provider's contents as the text of one column."""
    inventories = {
        rc: list(i.to_record().values()) for rc, i in seen.inventories.items()
    }
    return json.dumps(
        [inventories, sorted(seen.traits), sorted(seen.aggregates)]
    )


@functools.lru_cache(maxsize=4096)
def fields(content: str) -> Mapping[str, Any]:
    """Return a provider's fields from their text.

    Cached, because many nodes are of one kind and have the same contents.
    """
    inventories, traits, aggregates = json.loads(content)
    order = list(inventory.Inventory.__dataclass_fields__)
    return {
        'inventories': {
            rc: inventory.Inventory(**dict(zip(order, i, strict=True)))
            for rc, i in inventories.items()
        },
        'traits': frozenset(traits),
        'aggregates': frozenset(aggregates),
    }
