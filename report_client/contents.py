# SPDX-License-Identifier: Apache-2.0
"""What a provider holds, as Python: traits, aggregates, inventories.

One noun each in ``provider_trait.py``, ``provider_aggregate.py`` and
``provider_inventory.py``; this is all of them together. Each method says its
route, the codes it can meet and the microversion that has it. A change merges
what is there now and loses no change of another writer (``guarded.py``); it
returns the operation that was carried out, or that would change nothing and
was not sent. It remembers nothing.
"""

from . import provider_aggregate, provider_inventory, provider_trait


class Contents(
    provider_trait.ProviderTraits,
    provider_aggregate.ProviderAggregates,
    provider_inventory.ProviderInventories,
):
    """What the providers of one placement service hold.

    :param sleep: waits for so many seconds before another attempt
    """
