# SPDX-License-Identifier: Apache-2.0
"""People are told what happened, once, and what they mistyped."""

from planted.catalogue import plant

from compute_agent import error_text
from compute_agent.cmd.plan import masks
from compute_agent.conf import misspelled
from compute_agent.cycle import news
from compute_agent.identity import identity
from drivers.ironic.nodes import staging
from report_client import errors as placement_errors


@plant(
    error_text.without_request_ids,
    'a reason with another request id is another reason',
)
def _(_without_request_ids, text):
    return text


@plant(news._log, 'each node of a mass has a line')
def _(_log, items):
    for item in items:
        news.LOG.log(item.level, '%s: %s', item.node, item.text)


@plant(masks.unmatched, 'a mask that matches no trait is not said')
def _(_unmatched, _masks, _results):
    return []


@plant(misspelled.lines, 'a misspelled option is not said')
def _(_lines, _conf):
    return []


@plant(staging._check_required, 'a trait that no source gives is staged')
def _(_check_required, _target, _wanted, _elsewhere):
    return None


@plant(
    identity.HostName._settle,
    "the name of nova's service becomes the node's name",
)
def _(_settle, _self, node, _hypervisor):
    return node.name


@plant(
    placement_errors.NameTaken.by,
    'a name that is taken is said, but not by whom',
)
def _(_by, cls, _other, name, _uuid):
    return cls(f'Conflicting resource provider name: {name} already exists.')
