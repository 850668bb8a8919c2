# SPDX-License-Identifier: Apache-2.0
"""The causes of removals of names and of deletions of providers.

Pure: no I/O, configuration, logging or clock. ``ownership/claims.py``,
``ownership/resolve.py``, ``cycle/planning/decide.py`` and ``diff/reshape.py``
find the cause; the operations carry it, and plan, log and ``explain`` print it.
"""

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any

from ..tree import assertion


class Reason(enum.Enum):
    """The rule that removes a name or a provider; see ``docs/ownership.md``.

    The value is the word that programs read.
    """

    #: This agent added the name, and no source claims it any more.
    UNCLAIMED = 'unclaimed'
    #: A source removed the name, or the provider, explicitly.
    REMOVED = 'removed'
    #: The trait is in the driver's authority and was not reported.
    AUTHORITY = 'authority'
    #: The trait is masked by [compute_agent] masked_traits.
    MASKED = 'masked'
    #: A source's complete list does not contain the name.
    COMPLETE_LIST = 'complete_list'
    #: The driver that reported it is not in compute_driver any more.
    DRIVER_GONE = 'driver_gone'
    #: The operator ordered the removal with --prune.
    PRUNED = 'pruned'
    #: The mark of an agent from which this one takes the node over.
    TAKEN_OVER = 'taken_over'
    #: The node that the provider was created for is gone.
    NODE_GONE = 'node_gone'
    #: The operator ordered the agent to leave the node.
    LEFT = 'left'
    #: The provider that has the name is deleted.
    PROVIDER_DELETED = 'provider_deleted'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The cause of the removal of one name or one provider.

    :ivar sources: the sources that decided it, such as the driver; empty if no
        source did, or if the record does not say which
    """

    reason: Reason
    sources: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the cause in the words that operators read."""
        sources = ' and '.join(map(assertion.title, self.sources))
        if self.reason is Reason.UNCLAIMED and sources:
            verb = 'reports' if len(self.sources) == 1 else 'report'
            return f'{sources} no longer {verb} it'
        return _WORDS[self.reason].format(sources or 'its source')

    def data(self) -> dict[str, Any]:
        """Return the cause as programs read it."""
        return {'reason': self.reason.value, 'sources': list(self.sources)}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Causes:
    """The causes of all removals in a plan.

    :ivar names: the causes by name, of each provider and kind
    :ivar providers: the causes by the uuid of the deleted provider
    """

    names: Mapping[assertion.Key, Mapping[str, Cause]] = dataclasses.field(
        default_factory=dict
    )
    providers: Mapping[str, Cause] = dataclasses.field(default_factory=dict)

    def by_name(self, uuid: str, kind: assertion.Kind) -> Mapping[str, Cause]:
        """Return the causes by name, of one provider and kind."""
        return self.names.get((uuid, kind), {})

    def with_earlier(self, earlier: 'Causes') -> 'Causes':
        """Return these causes, with the sources that an earlier plan knew.

        Only a cause without sources is replaced: the record no longer tells
        which source claimed the name.
        """
        if not earlier.names:
            return self
        return dataclasses.replace(
            self,
            names={
                key: {
                    name: earlier.names.get(key, {}).get(name, cause)
                    if cause == _SOURCE_UNKNOWN
                    else cause
                    for name, cause in causes.items()
                }
                for key, causes in self.names.items()
            },
        )

    def all_because(self, reason: Reason) -> 'Causes':
        """Return the same removals, with one reason for all of them."""
        cause = Cause(reason=reason)
        return Causes(
            names={
                key: dict.fromkeys(causes, cause)
                for key, causes in self.names.items()
            },
            providers=dict.fromkeys(self.providers, cause),
        )


NO_CAUSES = Causes()
_SOURCE_UNKNOWN = Cause(reason=Reason.UNCLAIMED)

_WORDS = {
    Reason.UNCLAIMED: 'no source claims it any more',
    Reason.REMOVED: 'removed by {}',
    Reason.AUTHORITY: '{} decides it and does not report it',
    Reason.MASKED: 'masked by masked_traits',
    Reason.COMPLETE_LIST: 'not in the complete list of {}',
    Reason.DRIVER_GONE: 'compute_driver does not name {} any more',
    Reason.PRUNED: 'removed by --prune',
    Reason.TAKEN_OVER: 'this agent takes the node over from that agent',
    Reason.NODE_GONE: 'its node is gone',
    Reason.LEFT: 'the agent leaves the node',
    Reason.PROVIDER_DELETED: 'its provider is deleted',
}
