# SPDX-License-Identifier: Apache-2.0
"""What was read of a provider, for tests of what is remembered of it."""

from compute_agent.tree import provider


def reading(uuid: str, *traits: str, generation: int = 1) -> provider.Reading:
    """Return a reading of a root that has these traits and nothing else."""
    return provider.Reading(
        provider=provider.Provider(
            uuid=uuid,
            name=uuid,
            generation=generation,
            traits=frozenset(traits),
        ),
        root_uuid=uuid,
        read_at=1.0,
    )
