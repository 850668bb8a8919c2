# SPDX-License-Identifier: Apache-2.0
"""The pages by address, and their answers as HTML or, if asked, as JSON.

A page is a template and data; ``?format=json`` returns the data alone. An
error of placement or of a person's input is a line on the page. Whatever else
goes wrong is logged, and the page says no more than that.
"""

import logging
import re
import threading
import typing
from collections.abc import Callable, Mapping

from oslo_config import cfg

from report_client import errors as placement_errors

from ... import errors
from ...virt import failures
from . import (
    audit_page,
    cloud_page,
    history_page,
    plan_page,
    provider_page,
    providers_page,
    rendering,
    slow,
    why_not_page,
)
from .rendering import Reply
from .source import Source
from .this_agent import ThisAgent
from .values.gate import Asked

LOG = logging.getLogger(__name__)

_UUID = re.compile('/provider/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})')
_JSON = 'json'
_ANEW = 'no-cache'  # what a browser sends for Ctrl-F5
_BUSY = 'the answer takes long: ask again in some seconds'

Data = dict[str, typing.Any]
#: Makes the data of a page.
Page = Callable[[Asked], Data]


class Site:
    """The pages of one cloud.

    :param conf: the options of placement, nova, Ironic and this machine's
        agent
    :ivar stopping: to be set when the program ends
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._source = Source(conf)
        self._agent = ThisAgent(conf)
        self.stopping = threading.Event()
        workers = conf.compute.update_resources_max_workers
        holdings = cloud_page.Holdings(self._source, workers, self.stopping)
        why_not = why_not_page.WhyNot(self._source)
        plan = plan_page.Plan(self._agent)
        audit = audit_page.Audit(conf)
        self._pages: Mapping[str, tuple[str, Page]] = {
            '/': (
                'cloud',
                lambda asked: cloud_page.data(
                    self._source, self._agent, holdings, asked
                ),
            ),
            '/why-not': ('why-not', why_not.data),
            '/plan': ('plan', lambda _asked: plan.data()),
            '/audit': (
                'audit',
                lambda asked: audit.data(
                    everything=bool(asked.first('allocations'))
                ),
            ),
            '/providers': (
                'providers',
                lambda asked: providers_page.data(self._source, asked),
            ),
            '/history': (
                'history',
                lambda asked: history_page.data(self._agent, asked),
            ),
        }

    def __call__(self, asked: Asked) -> Reply:
        """Return the reply to a request that the gate let in."""
        file = rendering.file(asked.path)
        if file is not None:
            return file
        name, make = self._page(asked.path)
        if make is None:
            return rendering.text(404, 'there is no such page: open "/"')
        if asked.headers.get('cache-control') == _ANEW:
            self._source.forget()
            self._agent.forget()
        try:
            return self._made(asked, name, make)
        except failures.caught():
            LOG.exception('the page %s', name)
            return rendering.text(500, 'this page failed; the log says why')

    def _made(self, asked: Asked, name: str, make: Page) -> Reply:
        base = {
            'name': name,
            'where': self._source.where,
            'query': {k: v[0] for k, v in asked.query.items() if v},
        }
        try:
            data = make(asked)
        except slow.Pending as pending:
            if asked.first('format') == _JSON:
                return rendering.text(503, _BUSY)
            busy = {**base, 'seconds': round(pending.seconds)}
            return rendering.page('busy.html', busy)
        except errors.AgentError as exc:
            return self._failed(asked, base, exc)
        if asked.first('format') == _JSON:
            return rendering.as_json(data)
        return rendering.page(f'{name}.html', {**base, **data})

    def _page(self, path: str) -> tuple[str, Page | None]:
        if path in self._pages:
            return self._pages[path]
        found = _UUID.fullmatch(path)
        if found is None:
            return '', None
        uuid = found[1]
        return 'provider', lambda _asked: provider_page.data(
            self._source, self._agent, uuid
        )

    def _failed(
        self, asked: Asked, base: Data, exc: errors.AgentError
    ) -> Reply:
        """Return the page of an error that a person can understand."""
        status = 502 if isinstance(exc, errors.Unavailable) else 400
        if isinstance(exc, placement_errors.DoesNotExist):
            status = 404
        line = rendering.explained(exc)
        if asked.first('format') == _JSON:
            return rendering.text(status, line)
        return rendering.page('error.html', {**base, 'line': line}, status)
