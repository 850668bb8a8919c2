# SPDX-License-Identifier: Apache-2.0
"""The resource classes that placement knows, and the custom ones among them.

Each docstring gives the route, its status codes and its microversion.
"""

from collections.abc import Iterable, Mapping

from compute_agent import error_text
from compute_agent import errors as agent_errors
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import names

from .. import errors
from ..http.messages import codec, codec_writes, list_stream, paths
from . import placement_names
from .values import trait_names


class ResourceClasses(placement_names.PlacementNames):
    """The resource classes of one placement service."""

    def names(self) -> list[str]:
        """Return all names, sorted.

        ``GET /resource_classes`` (1.2): 200.
        """
        return sorted(
            codec.resource_classes(self._service.get(paths.RESOURCE_CLASSES))
        )

    def unknown(self, wanted: Iterable[str]) -> dict[str, str]:
        """Return the classes that placement does not know, with suggestions.

        ``GET /resource_classes`` (1.2): 200.
        """
        classes = sorted(check_all(wanted))
        known = set(self.names())
        return {
            rc: _suggestion(rc, known) for rc in classes if rc not in known
        }

    def does_not_exist(
        self, unknown: Mapping[str, str]
    ) -> errors.DoesNotExist:
        """Return the error for classes that placement does not know."""
        hint = next(iter(unknown.values())) if len(unknown) == 1 else ''
        listed = ', '.join(unknown)
        return errors.DoesNotExist(
            f'placement knows no resource class {listed}{hint}'
        )

    def exists(self, name: str) -> bool:
        """Return True if placement knows a class.

        ``GET /resource_classes/{name}`` (1.2): 200 if it does, 404 if not.

        :raises agent_errors.InvalidName: the name is outside the grammar
        """
        rc = names.check_symbol(name, 'resource class')
        try:
            self._service.get(paths.resource_class(rc))
        except errors.NotFound:
            return False
        return True

    def add(self, name: str) -> bool:
        """Create a custom class; return True if it did not exist before.

        ``PUT /resource_classes/{name}`` (1.7): 201 created, 204 it existed.

        :raises agent_errors.InvalidName: it is not the name of a custom class
        """
        operation = ops.CreateResourceClass(name=check_custom(name, 'create'))
        request = codec_writes.request(operation, {})
        return self._service.reply(request).status == 201

    def remove(self, name: str) -> None:
        """Remove a custom class of which no provider has inventory.

        ``DELETE /resource_classes/{name}`` (1.2): 204, 404, 409.

        :raises agent_errors.InvalidName: it is not the name of a custom class
        :raises errors.DoesNotExist: there is no such class (404)
        :raises errors.InUse: providers have inventory of it (409)
        """
        path = paths.resource_class(check_custom(name, 'delete'))
        try:
            self._service.send(codec.Request(method='DELETE', path=path))
        except errors.NotFound as exc:
            hint = _suggestion(name, self.names())
            raise self.does_not_exist({name: hint}) from exc
        except errors.InUse as exc:
            raise errors.InUse(
                f'resource class {name} was not deleted: {self._holders(name)}'
            ) from exc

    def _holders(self, name: str) -> str:
        """Return the providers with free inventory of a class, as advice.

        Placement lists no providers whose inventory is allocated as a whole.
        """
        rows = self._service.read(
            paths.with_free(name), list_stream.listed_providers
        )
        if not rows:
            return 'providers have inventory of it; remove that first'
        titles = error_text.listed(map(str, rows))
        verb = 'has' if len(rows) == 1 else 'have'
        return f'{titles} {verb} inventory of it; remove that first'


def check_all(classes: Iterable[str]) -> frozenset[str]:
    """Return the set of these resource classes.

    :raises agent_errors.InvalidName: one of them is outside the grammar, or
        the argument is no collection
    """
    return frozenset(
        names.check_symbol(rc, 'resource class')
        for rc in names.check_collection(classes)
    )


def check_custom(name: str, verb: str) -> str:
    """Return the name of a custom resource class.

    :param verb: the action, for the message: "create" or "delete"
    :raises agent_errors.InvalidName: it is outside the grammar of such names
    """
    names.check_symbol(name, 'resource class')
    if not names.is_custom(name):
        raise agent_errors.InvalidName(
            f'cannot {verb} {name}: standard classes come with placement, and '
            f'the name of a custom one begins with {names.CUSTOM_PREFIX}'
        )
    return name


def _suggestion(rc: str, known: Iterable[str]) -> str:
    near = trait_names.nearest(rc, known)
    return f'; did you mean {near}?' if near else ''
