# SPDX-License-Identifier: Apache-2.0
"""The table of the kinds of contents that a provider has.

A kind knows how its names are checked, how its contents are changed and
written, and its words for people. ``provider_contents.py`` carries out
changes, and the commands ``provider trait``, ``inventory`` and ``aggregate``
read the table, too.
"""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from compute_agent.plan.operations import operations as ops
from compute_agent.tree import assertion, names

from ..http.messages import codec
from . import placement_names, resource_classes, traits
from .values import trait_names

_Content = TypeVar('_Content')
_Operation_co = TypeVar(
    '_Operation_co', bound=ops.SetOperation, covariant=True
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ContentKind(Generic[_Content, _Operation_co]):
    """One kind of contents: traits, aggregates or inventories.

    :ivar noun: the word for one name of this kind
    :ivar plural: the word for several names
    :ivar held: the words between "the provider has no" and a name that is not
        there to be removed; empty if that is not worth a remark
    :ivar check: returns the names that a caller gave, or raises InvalidName
    :ivar operation: returns the operation that replaces contents, from the
        provider, its new contents and those before
    :ivar without: returns contents without some names
    :ivar registry: the class that tells which names placement knows; None if
        it takes any
    """

    kind: assertion.Kind
    noun: str
    plural: str
    held: str
    check: Callable[[Iterable[str]], frozenset[str]]
    operation: Callable[
        [codec.ListedProvider, _Content, _Content], _Operation_co
    ]
    without: Callable[[_Content, frozenset[str]], _Content]
    registry: type[placement_names.PlacementNames] | None


#: A kind whose contents are only names.
NameKind = ContentKind[frozenset[str], _Operation_co]

TRAITS: NameKind[ops.SetTraits] = ContentKind(
    kind=assertion.Kind.TRAIT,
    noun='trait',
    plural='traits',
    held='trait',
    check=trait_names.check_all,
    operation=lambda target, after, before: ops.SetTraits(
        uuid=target.uuid, name=target.name, names=after, before=before
    ),
    without=lambda before, unwanted: before - unwanted,
    registry=traits.Traits,
)
AGGREGATES: NameKind[ops.SetAggregates] = ContentKind(
    kind=assertion.Kind.AGGREGATE,
    noun='aggregate',
    plural='aggregates',
    held='',
    check=names.check_aggregates,
    operation=lambda target, after, before: ops.SetAggregates(
        uuid=target.uuid, name=target.name, names=after, before=before
    ),
    without=lambda before, unwanted: before - unwanted,
    registry=None,
)
INVENTORIES: ContentKind[ops.Inventories, ops.SetInventories] = ContentKind(
    kind=assertion.Kind.INVENTORY,
    noun='resource class',
    plural='resource classes',
    held='inventory of',
    check=resource_classes.check_all,
    operation=lambda target, after, before: ops.SetInventories(
        uuid=target.uuid, name=target.name, inventories=after, before=before
    ),
    without=lambda before, unwanted: {
        rc: record for rc, record in before.items() if rc not in unwanted
    },
    registry=resource_classes.ResourceClasses,
)
