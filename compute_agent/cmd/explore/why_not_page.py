# SPDX-License-Identifier: Apache-2.0
"""Why a flavor finds no host: candidates, and what keeps the others out.

The form takes a flavor's size and its extra specs, as they are written for
nova or as ``openstack flavor show`` prints them. The candidates are those of
``allocation candidate list --long``, and the reasons of one host those of
``allocation candidate why-not``.
"""

import argparse
import re
import time
from collections.abc import Mapping

from report_client.candidates import candidates
from report_client.candidates.values import query
from report_client.candidates.why_not import counts, why_not

from ... import errors
from ..candidates import candidates as command
from ..candidates import flavor_file, request_options
from . import slow
from .source import Source
from .this_agent import Data
from .values.gate import Asked

FIELDS = ('vcpus', 'ram', 'disk', 'specs', 'host')
_SHOWN = 200  # hosts that are shown with what they fail
_QUOTED = re.compile(r"""([\w:.-]+)\s*=\s*(?:'([^']*)'|"([^"]*)"|([^,\n]*))""")
_SIZES = {'vcpus': 'a number of processors', 'ram': 'MB', 'disk': 'GB'}
_LONGEST = 9  # digits of a size


class WhyNot:
    """Answers for flavors; one that takes long is worked on in a thread."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._slow = slow.Slow[Data](20.0, 4)

    def data(self, asked: Asked) -> Data:
        """Return the candidates for the flavor in the form.

        :raises errors.AgentError: the flavor is wrong, or placement did not
            answer
        :raises slow.Pending: placement takes long
        """
        form = {name: asked.first(name) for name in FIELDS}
        empty: Data = {
            'form': form,
            'request': '',
            'known_traits': list(self._source.traits()),
            'answer': None,
            'explained': None,
            'notes': [],
            'problem': '',
        }
        if not any(form[name] for name in FIELDS[:-1]):
            return empty
        notes: list[str] = []
        try:
            request = self._request(form, notes)
            found = self._slow.get(
                request.path(), lambda: self._answer(request)
            )
            explained = self._explained(form['host'], request)
        except slow.Pending:
            raise
        except errors.AgentError as exc:
            return {**empty, 'problem': str(exc), 'notes': notes}
        return {
            **empty,
            'request': request.path(),
            'answer': found,
            'explained': explained,
            'notes': notes,
        }

    def _request(
        self, form: Mapping[str, str], notes: list[str]
    ) -> query.Request:
        given = argparse.Namespace(
            properties=[],
            image_properties=[],
            flavor=None,
            of_groups=[],
            group_policy=None,
            root_required=[],
            same_subtree=[],
            limit=None,
        )
        return request_options.request(
            given,
            find=lambda name: self._source.providers.find(name).uuid,
            warn=notes.append,
            read=flavor_of(form),
        )

    def _answer(self, request: query.Request) -> Data:
        source = self._source
        search = candidates.Candidates(source.service)
        hosts = {row.uuid: row for row in source.hosts()}
        counting = counts.Counting(search, source.having, source.pools())
        found = counting.count(request, hosts)
        names = {
            row.uuid: source.providers.title(row.uuid) or row.name
            for row in source.rows()
        }
        view = command.View(found.answer, names)
        fails: dict[str, list[str]] = {
            uuid: [] for uuid in hosts if uuid not in found.fitting
        }
        for one in found.counts:
            for uuid in one.failing:
                fails[uuid].append(one.requirement.text)
        kept_out = sorted(
            fails.items(), key=lambda pair: (len(pair[1]), names[pair[0]])
        )
        return {
            'hosts': len(hosts),
            'fitting': len(found.fitting),
            'candidates': [
                dict(zip(command.View.COLUMNS, row, strict=True))
                for row in list(view.rows())[:_SHOWN]
            ],
            'requirements': [
                _requirement(one, len(hosts)) for one in found.counts
            ],
            'together': len(found.together),
            'kept_out': [
                {'host': names[uuid], 'uuid': uuid, 'fails': texts}
                for uuid, texts in kept_out[:_SHOWN]
            ],
            'more': max(0, len(kept_out) - _SHOWN),
        }

    def _explained(self, host: str, request: query.Request) -> Data | None:
        """Return why one host is no candidate, as ``why-not`` prints it."""
        if not host:
            return None
        source = self._source
        row = source.providers.find(host)
        found = why_not.WhyNot(source.service, time.time).explain(request, row)
        columns = command.WhyNot.COLUMNS
        return {
            'host': source.providers.title(row.uuid) or row.name,
            'uuid': row.uuid,
            'rows': [
                dict(zip(columns, each, strict=True))
                for each in command.why_not_rows(found)
            ],
            'doubts': list(found.doubts),
        }


def _requirement(one: counts.Count, hosts: int) -> Data:
    """Return a requirement with the number of hosts that fail it."""
    link = ''
    required = {'required': 'lacks', 'forbidden': 'has'}
    field = required.get(one.requirement.kind.value)
    if field is not None:
        link = f'/providers?{field}={one.requirement.names[0]}&kind=hosts'
    return {
        'requirement': one.requirement.text,
        'kind': one.requirement.kind.value,
        'names': list(one.requirement.names),
        'fails': len(one.failing),
        'unknown': len(one.unknown),
        'elsewhere': len(one.elsewhere),
        'share': round(100 * len(one.failing) / hosts, 2) if hosts else 0,
        'link': link,
    }


def flavor_of(form: Mapping[str, str]) -> flavor_file.FlavorFile:
    """Return the flavor that was filled in.

    :raises errors.AgentError: a field of the form is malformed
    """
    text = form['specs'].replace('\r\n', '\n').strip()
    pasted = flavor_file.FlavorFile(amounts={}, properties={})
    pairs = _pairs(text)
    if pairs is not None:
        pasted = flavor_file.FlavorFile(amounts={}, properties=pairs)
    elif text:
        pasted = flavor_file.parse(text, 'the pasted flavor')
    sizes = {
        rc: amount
        for rc, amount in (
            ('VCPU', _size(form, 'vcpus')),
            ('MEMORY_MB', _size(form, 'ram')),
            ('DISK_GB', _size(form, 'disk')),
        )
        if amount
    }
    return flavor_file.FlavorFile(
        amounts={**pasted.amounts, **sizes}, properties=pasted.properties
    )


def _pairs(text: str) -> dict[str, str] | None:
    """Return extra specs that are written KEY=VALUE; None for other forms."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not all('=' in line for line in lines) or text.startswith('{'):
        return None
    found: dict[str, str] = {}
    for line in lines:
        for key, *values in _QUOTED.findall(line):
            found[key] = next(filter(None, values), '').strip()
    return found


def _size(form: Mapping[str, str], name: str) -> int:
    text = form[name]
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST):
        raise errors.ConfigError(
            f'{name}: write a whole number, of {_SIZES[name]}'
        )
    return int(text)
