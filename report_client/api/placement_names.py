# SPDX-License-Identifier: Apache-2.0
"""Base class for the names of one kind that a placement service knows.

``traits.py`` and ``resource_classes.py`` have the two kinds. A provider can
only get names that placement knows; custom ones can be created first.
"""

import abc
from collections.abc import Iterable, Mapping

from .. import errors
from ..http import placement
from .values import trait_names


class PlacementNames(abc.ABC):
    """The traits, or the resource classes, of one placement service."""

    def __init__(self, service: placement.Placement) -> None:
        self._service = service

    @abc.abstractmethod
    def unknown(self, wanted: Iterable[str]) -> dict[str, str]:
        """Return the names that placement does not know, with suggestions.

        :return: name → "; did you mean …?", or '' if no name is similar
        """

    @abc.abstractmethod
    def does_not_exist(
        self, unknown: Mapping[str, str]
    ) -> errors.DoesNotExist:
        """Return the error for names that placement does not know.

        :param unknown: names with suggestions, as ``unknown`` returns them
        """

    @abc.abstractmethod
    def add(self, name: str) -> bool:
        """Create a custom name; return True if it did not exist before."""

    def check(self, wanted: Iterable[str]) -> None:
        """Check that placement knows all of these names.

        :raises errors.DoesNotExist: placement lacks one of the names
        """
        unknown = self.unknown(wanted)
        if unknown:
            raise self.does_not_exist(unknown)

    def create_missing(self, wanted: Iterable[str], *, create: bool) -> None:
        """Create the names among these that placement does not know.

        :raises errors.DoesNotExist: an unknown name is a standard one, or
            ``create`` is False
        """
        unknown = self.unknown(wanted)
        impossible = trait_names.not_creatable(unknown, create=create)
        if impossible:
            why = self.does_not_exist({n: unknown[n] for n in impossible})
            raise errors.DoesNotExist(str(why), impossible)
        for name in unknown:
            self.add(name)
