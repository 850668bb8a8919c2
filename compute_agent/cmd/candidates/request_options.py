# SPDX-License-Identifier: Apache-2.0
"""The options of a request for candidates, and the request they describe.

The request consists of a flavor, from a file or from extra specs, of the
properties of an image, and of placement's parameters, for the unnamed group
and for named groups.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence

from report_client.api.values import trait_query
from report_client.candidates.values import flavor, query

from ... import extra_specs
from . import flavor_file, group_options


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_flavor(
        parser,
        "A flavor's extra spec: resources:RC=AMOUNT, trait:NAME=required "
        'or =forbidden, with or without the name of a group (resources1:RC, '
        'trait_NET:NAME), or group_policy=none or =isolate. May be repeated.',
        'A YAML or JSON file with resources and extra_specs, or the output '
        'of "openstack flavor show -f json".',
    )
    group_options.add(parser)
    _add_whole(parser)


def add_flavor(
    parser: argparse.ArgumentParser, properties: str, file: str
) -> None:
    """Add the options for a flavor and an image.

    :param properties: the help of --property
    :param file: the beginning of that of --flavor
    """
    parser.add_argument(
        '--property',
        action='append',
        default=[],
        dest='properties',
        metavar='KEY=VALUE',
        help=properties,
    )
    parser.add_argument(
        '--image-property',
        action='append',
        default=[],
        dest='image_properties',
        metavar='KEY=VALUE',
        help="An image's property: trait:NAME=required, or "
        'traits_required=NAME,NAME. May be repeated.',
    )
    parser.add_argument(
        '--flavor',
        metavar='FILE',
        help=f'{file} An extra spec given with --property replaces the one in '
        'the file.',
    )


def _add_whole(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--group-policy',
        choices=('none', 'isolate'),
        help='One provider may meet several of the named groups (none), or '
        'each group needs a provider of its own (isolate). Default: none, if '
        '--group is given.',
    )
    parser.add_argument(
        '--root-required',
        action='append',
        default=[],
        metavar='TRAIT,!TRAIT',
        help='Traits that the root of the tree must have; "!" forbids a '
        'trait. Nova adds !COMPUTE_STATUS_DISABLED to every request.',
    )
    parser.add_argument(
        '--same-subtree',
        action='append',
        default=[],
        metavar='GROUP,GROUP',
        help='Groups whose providers must be in one subtree, with one of '
        'these providers as its root.',
    )


def request(
    parsed_args: argparse.Namespace,
    find: Callable[[str], str],
    warn: Callable[[str], object],
    read: flavor_file.FlavorFile | None = None,
    limit: int | None = None,
) -> query.Request:
    """Return the request that the options describe.

    :param find: returns the uuid of a provider, given by name or uuid
    :param warn: called with a line for each property that is ignored
    :param read: a flavor that was read already
    :param limit: the largest number of candidates
    :raises errors.AgentError: an option is malformed, or the request is empty
    """
    wanted, own = extra_specs_of(parsed_args, read)
    for name in flavor.untranslated(wanted):
        warn(f'{name} is ignored: nova translates it, this command does not')
    return query.Request(
        groups=query.merge_groups(
            [
                *flavor.groups(wanted, own),
                *group_options.groups(parsed_args, find),
            ]
        ),
        group_policy=parsed_args.group_policy
        or flavor.group_policy(wanted)
        or _usual_policy(parsed_args),
        limit=limit,
        root_required=trait_query.TraitQuery.parse(parsed_args.root_required),
        same_subtree=tuple(
            tuple(name.strip() for name in text.split(','))
            for text in parsed_args.same_subtree
        ),
    )


def _usual_policy(parsed_args: argparse.Namespace) -> str | None:
    """Return the policy of groups that are options; flavors must say theirs."""
    return query.TOGETHER if group_options.has_groups(parsed_args) else None


def extra_specs_of(
    parsed_args: argparse.Namespace,
    read: flavor_file.FlavorFile | None = None,
) -> tuple[extra_specs.ExtraSpecs, Mapping[str, int]]:
    """Return the extra specs, and the amounts of the flavor's size.

    :param read: a flavor that was read already

    :raises errors.AgentError: the file or an option is malformed
    """
    own: Mapping[str, int] = {}
    properties: dict[str, str] = {}
    if parsed_args.flavor is not None:
        read = flavor_file.read(parsed_args.flavor)
    if read is not None:
        own, properties = read.amounts, dict(read.properties)
    given = _pairs(parsed_args.properties, '--property')
    for key, _ in given:
        properties.pop(key, None)
    image = _pairs(parsed_args.image_properties, '--image-property')
    return extra_specs.parse([*properties.items(), *given], image), own


def _pairs(texts: Sequence[str], option: str) -> list[tuple[str, str]]:
    return [extra_specs.pair(text, option) for text in texts]
