# SPDX-License-Identifier: Apache-2.0
"""A hostile or broken server harms no more than its own answer."""

import requests
from planted.catalogue import plant

from compute_agent import error_text
from compute_agent.dev import proof
from compute_agent.transport import (
    bounded_adapter,
    catalog,
    deadline,
    environment,
    protection,
)
from report_client import errors
from report_client.http.messages import codec, json_shapes


@plant(protection.protect, 'a session follows redirects')
def _(_protect, _made, _section):
    return None


@plant(proof.check, 'any service at the port is the embedded placement')
def _(_check, _database, _opened):
    return None


@plant(
    bounded_adapter.BoundedResponse.iter_content,
    'an answer may be of any size',
)
def _(_iter_content, self, *how, **named):
    return requests.Response.iter_content(self, *how, **named)


@plant(
    environment.Session.merge_environment_settings,
    'the environment says the same of every server',
)
def _(merge, self, url, *settings):
    first = vars(self).setdefault('_first', url)
    return merge(self, first, *settings)


@plant(
    bounded_adapter.BoundedAdapter.close,
    'idle connections outlive a request without an answer',
)
def _(_close, _self):
    return None


@plant(deadline.enforce, 'a connection is used for ever')
def _(enforce, manager, check_opened=deadline.accept, **_longest):
    return enforce(manager, check_opened)


@plant(catalog.Catalog.look_again, 'the catalog of an old token is used')
def _(_look_again, _self):
    return None


@plant(catalog.Catalog._everywhere, 'a new region is taken for the old one')
def _(_everywhere, _self, _catalog):
    return ()


@plant(catalog.Catalog._is_due, 'an outage asks keystone again and again')
def _(_is_due, _self):
    return True


@plant(protection.bound_wait, 'a server decides how long the agent sleeps')
def _(_bound, _answer, **_how):
    return None


@plant(error_text.without_credentials, 'messages show passwords of URLs')
def _(_without_credentials, text):
    return text


@plant(error_text.printable, 'names are printed as a server gave them')
def _(_printable, text):
    return text


@plant(
    json_shapes._is_broken,
    'half of a character passes for a name',
    in_runs=True,
)
def _(_is_broken, _text):
    return False


@plant(json_shapes.count, 'a number may be of any size', in_runs=True)
def _(count, value):
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and value > json_shapes.MOST else count(value)


@plant(
    json_shapes.known_names,
    'one name that makes no sense makes all names unknown',
)
def _(_known_names, value):
    return json_shapes.strings(value)


@plant(
    codec.listed_provider,
    'one row that makes no sense makes the list unknown',
)
def _(listed_provider, found, known):
    row = listed_provider(found, known)
    if row.fault:
        raise errors.MalformedAnswer(row.fault)
    return row
