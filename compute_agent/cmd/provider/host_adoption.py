# SPDX-License-Identifier: Apache-2.0
"""A host that was installed anew, and takes the uuid it had before.

Its name stands in placement under that uuid. Only where the host's own file
says the uuid, and only while placement has nothing under the new one.
``provider_adopt.py`` is the command.
"""

from report_client.api import provider_query

from ... import errors
from ...cycle import identity
from ...tree.node import Node
from . import adoption


def of(case: adoption.Case) -> adoption.Adoption | None:
    """Return how the host takes the provider's uuid, None if it is no host's.

    :raises errors.Refused: it may not take it
    """
    for node in case.nodes:
        if node.name == case.one.name and node.uuid != case.one.uuid:
            _check(case, node)
            return _adoption(case, node)
    return None


def _adoption(case: adoption.Case, node: Node) -> adoption.Adoption:
    one, (place, _) = case.one, case.places
    return adoption.Adoption(
        plan=[
            f'this host, {node}, takes the uuid of provider {one.uuid}',
            f'  {identity.FILE_NAME} in {place}, or where nova put it: {node.uuid} becomes {one.uuid}; the old file is kept',
            '  what is recorded of the old uuid is dropped',
            '  what the provider has stays; from now on this agent reports it',
        ],
        data=case.data([one.uuid], node.uuid),
        act=lambda: _take(case, node),
    )


def _check(case: adoption.Case, node: Node) -> None:
    """Refuse what would leave something behind, or could not be read back."""
    title = adoption.title(case.one)
    by_uuid = case.agent.driver.get_nodenames_by_uuid()
    if not identity.has_host_uuid([n.name for n in case.nodes], by_uuid):
        raise errors.Refused(
            f'the driver says the uuid of node {node}, and no file of this '
            f'host: say {case.one.uuid} there, or rename or delete provider '
            f'{title}'
        )
    if case.one.parent_uuid is not None:
        raise errors.Refused(
            f'{title} is a child of {case.one.parent_uuid}, and a compute '
            'node is a root: rename it, or delete it'
        )
    query = provider_query.ProviderQuery(uuid=node.uuid)
    for own in case.service.list_providers(query):
        raise errors.Refused(
            f'this host is in placement already, as {adoption.title(own)}: if '
            f'{title} is the one to keep, delete that first '
            f'("compute-agent provider delete {own.uuid}")'
        )


def _take(case: adoption.Case, node: Node) -> str:
    """Forget the new uuid, of which placement has nothing, then change it.

    Cut off in between, the host has its new uuid and can be adopted again; the
    other way round, the record would have a node that nobody has.
    """
    case.agent.state.nodes.forget_with_record(node.uuid)
    kept = identity.adopt(case.one.uuid, *case.places)
    where = ', '.join(str(path) for path in kept)
    title = adoption.title(case.one)
    return f'this host is {title} now; its old uuid is kept in {where}'
