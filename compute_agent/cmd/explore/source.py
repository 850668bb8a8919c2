# SPDX-License-Identifier: Apache-2.0
"""The pages' source: it reads placement with the account of the person.

Lists are kept for some seconds, so that paging and sorting ask nothing. The
modules ``*_page.py`` call it, from several threads.
"""

import contextlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent import futures

from oslo_config import cfg

from report_client.api import survey
from report_client.api.values import provider_query, trait_query
from report_client.http.messages import codec

from ... import errors
from ...tree import names
from ..wiring import named_providers, placement
from . import kept

SECONDS = 20.0  # for which a list is good
_LISTS = 3  # lists that are kept; each may be of a whole cloud

Rows = Sequence[codec.ListedProvider]


class Source:
    """One placement service, as the pages ask it."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.conf = conf
        self.service = placement.placement_service(conf)
        self.providers = named_providers.NamedProviders(self.service, conf)
        self.survey = survey.Survey(self.service)
        self.where = placement.where(conf)
        self._lists = kept.Kept[Rows](SECONDS, _LISTS)
        self._pool = futures.ThreadPoolExecutor(2, 'lists')
        self._traits = kept.Kept[Sequence[str]](SECONDS)
        self._pools = kept.Kept[frozenset[str]](SECONDS)

    def forget(self) -> None:
        """Read everything again when it is asked for."""
        for one in (self._lists, self._traits, self._pools):
            one.forget()

    def rows(self, query: provider_query.ProviderQuery | None = None) -> Rows:
        """Return the providers that meet a query, sorted by name."""
        path = query.path() if query is not None else ''
        return self._lists.get(
            path, lambda: self.providers.list_providers(query)
        )

    def names(self, wanted: Collection[str]) -> Mapping[str, str]:
        """Return the names of these providers, by uuid."""
        return {
            row.uuid: self.providers.title(row.uuid) or row.name
            for row in self.rows()
            if row.uuid in wanted
        }

    def read_ahead(self) -> None:
        """Begin to read what a table needs besides its list.

        Placement works on several requests at a time, and takes long for the
        list of a large cloud.
        """
        for read in (self.traits, self.pools):
            self._pool.submit(_quietly, read)

    def having(self, trait: str) -> Rows:
        """Return the providers with a trait."""
        query = trait_query.TraitQuery(required=(trait,))
        return self.rows(provider_query.ProviderQuery(traits=query))

    def traits(self) -> Sequence[str]:
        """Return the traits that some provider has."""
        return self._traits.get(
            '', lambda: self.survey.trait_names(associated=True)
        )

    def pools(self) -> frozenset[str]:
        """Return the uuids of the providers that share with others."""
        shares = names.MISC_SHARES_VIA_AGGREGATE
        return self._pools.get('', lambda: self.survey.with_trait(shares))

    def hosts(self) -> Rows:
        """Return the roots that are compute nodes.

        In a cloud without a marked compute node, these are all roots that
        share nothing.
        """
        roots = self.rows()
        if names.COMPUTE_NODE in self.traits():
            roots = self.having(names.COMPUTE_NODE)
        pools = self.pools()
        return [
            row
            for row in roots
            if row.parent_uuid is None and row.uuid not in pools
        ]

    def traits_like(self, text: str) -> Sequence[str]:
        """Return the traits in use that a person may mean.

        ``AVX-512`` means each that begins or goes on so, whatever is between
        its letters; a whole name means itself.
        """
        known = self.traits()
        whole = text.strip().upper()
        if whole in known or not _bare(whole):
            return [whole] if whole else []
        found = [name for name in known if _bare(whole) in _bare(name)]
        return found or [whole]


def _quietly(read: Callable[[], object]) -> None:
    """Read something that a page will ask for, and tell it of an error."""
    with contextlib.suppress(errors.AgentError):
        read()


def _bare(text: str) -> str:
    return re.sub('[^A-Z0-9]', '', text)
