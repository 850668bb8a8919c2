# SPDX-License-Identifier: Apache-2.0
"""Find providers by name or uuid, one or many.

A few are found with a request or two for each; for many, the whole list is
read once.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from compute_agent import errors as agent_errors
from compute_agent.tree import names

from .. import errors
from ..http import codec, list_stream, paths
from . import optimistic_update

FEW = 10  # words for which the list is not read as a whole

Found = codec.ListedProvider | agent_errors.AgentError


class ProviderLookup(optimistic_update.ProviderContents):
    """Finds the providers of one placement service."""

    def find(self, name_or_uuid: str) -> codec.ListedProvider:
        """Return the provider with this uuid or name.

        ``GET /resource_providers?name=`` (1.0): 200. A word that looks like a
        uuid is also looked up with ``?uuid=``.

        :raises errors.DoesNotExist: there is no such provider
        :raises errors.Ambiguous: one provider has this uuid and another has it
            as its name
        :raises agent_errors.InvalidName: no provider can have this name
        """
        return self._find(name_or_uuid)

    def find_all(self, words: Collection[str]) -> dict[str, Found]:
        """Return for each name or uuid its provider, or why there is none.

        The errors are those of ``find``. For more than a few words it sends
        one ``GET /resource_providers`` (1.14) instead of a request for each.

        :raises agent_errors.AgentError: placement did not answer
        """
        return self.find_in_placement(words)

    def find_in_placement(self, words: Collection[str]) -> dict[str, Found]:
        """Return what ``find_all`` returns, by the names in placement only."""
        wanted = dict.fromkeys(names.check_collection(words))
        find: Callable[[str], codec.ListedProvider] = self._find
        if len(wanted) > FEW:
            find = _in_list(self._rows(paths.PROVIDERS))
        return {word: _outcome(find, word) for word in wanted}

    def _find(self, name_or_uuid: str) -> codec.ListedProvider:
        names.check_provider_name(name_or_uuid)
        found: list[codec.ListedProvider] = []
        if names.is_uuid(name_or_uuid):
            found = self._rows(paths.by_uuid(name_or_uuid.lower()))
        rows = self._rows(paths.by_name(name_or_uuid))
        named = [row for row in rows if row.name == name_or_uuid]
        # MariaDB compares names without regard to case.
        alike = {row.name.lower(): row.name for row in rows}
        return _chosen(name_or_uuid, [*found, *named], alike)

    def _rows(
        self, path: str, needed: codec.Version = codec.OLDEST
    ) -> list[codec.ListedProvider]:
        rows = self._service.read(path, list_stream.listed_providers, needed)
        codec.check_rows(rows)
        return rows


def _in_list(
    rows: Iterable[codec.ListedProvider],
) -> Callable[[str], codec.ListedProvider]:
    """Return a function that finds a provider among these."""
    rows = list(rows)
    by_uuid = {row.uuid: row for row in rows}
    by_name = {row.name: row for row in rows}
    alike = {row.name.lower(): row.name for row in rows}

    def find(word: str) -> codec.ListedProvider:
        names.check_provider_name(word)
        uuid = word.lower() if names.is_uuid(word) else ''
        found = [by_uuid[uuid]] if uuid in by_uuid else []
        found += [by_name[word]] if word in by_name else []
        return _chosen(word, found, alike)

    return find


def _outcome(find: Callable[[str], codec.ListedProvider], word: str) -> Found:
    try:
        return find(word)
    except (errors.DoesNotExist, agent_errors.InvalidName) as exc:
        return exc


def _chosen(
    word: str,
    by_uuid_and_name: Sequence[codec.ListedProvider],
    alike: Mapping[str, str],
) -> codec.ListedProvider:
    """Return the one provider that a word means.

    :param alike: name in small letters → name, for a suggestion
    :raises errors.DoesNotExist: it means none
    :raises errors.Ambiguous: it means two
    """
    found = {row.uuid: row for row in by_uuid_and_name}
    if len(found) > 1:
        one, other = found.values()
        raise errors.Ambiguous(
            f'{word} is both the uuid of provider {one.name} and the name of '
            f'provider {other.uuid}: use {one.name} or {other.uuid}'
        )
    if found:
        return by_uuid_and_name[0]
    near = alike.get(word.lower())
    hint = f'; did you mean {near}?' if near else ''
    raise errors.DoesNotExist(f'no provider is called {word}{hint}')
