# SPDX-License-Identifier: Apache-2.0
"""A tree of providers as a picture: boxes, lines between them, and bars.

Pure: it computes places and texts, and ``tree.svg`` writes them. The root is
at the left, its children to the right of it, one below the other; the pools
that share with the tree are below, with dashed lines.
"""

import dataclasses
import typing
from collections.abc import Mapping, Sequence

WIDTH = 268  # of a box, in units of the picture
_GAP = 44  # between two columns
_SPACE = 14  # between two boxes
_HEAD = 34  # height of a box without inventories
_LINE = 30  # height of an inventory
_LETTERS = 33  # of a name in a box
_POOL = 11  # fewer, where it says that the box is a pool
_MARGIN = 8

Data = dict[str, typing.Any]


@dataclasses.dataclass(slots=True, kw_only=True)
class _Box:
    """A provider in the picture; the place of its upper left corner."""

    row: Mapping[str, typing.Any]
    depth: int = 0
    top: float = 0.0

    @property
    def height(self) -> int:
        """The height of the box."""
        return _HEAD + _LINE * len(self.row['amounts'])

    @property
    def left(self) -> int:
        """The left edge of the box."""
        return _MARGIN + self.depth * (WIDTH + _GAP)

    @property
    def middle(self) -> float:
        """The height at which lines meet the box."""
        return self.top + _HEAD / 2


def picture(
    providers: Sequence[Mapping[str, typing.Any]],
    root_uuid: str,
    shown_uuid: str,
) -> Data:
    """Return the picture of a tree.

    :param providers: parents first, each with ``uuid``, ``name``, ``parent``
        and ``amounts``; providers of other trees share with this one
    :param shown_uuid: the provider that the picture highlights
    """
    boxes = {row['uuid']: _Box(row=row) for row in providers}
    children: dict[str, list[_Box]] = {}
    for box in boxes.values():
        parent = boxes.get(str(box.row['parent']))
        if parent is not None:
            box.depth = parent.depth + 1
            children.setdefault(parent.row['uuid'], []).append(box)
    bottom = float(_MARGIN)
    tops = [box for box in boxes.values() if box.row['parent'] not in boxes]
    root = boxes.get(root_uuid)
    ordered = sorted(tops, key=lambda box: box is not root)
    for top in ordered:
        bottom = _place(top, children, bottom)
    lines = [
        _line(boxes[uuid], child, 'edge')
        for uuid, few in children.items()
        for child in few
    ]
    if root is not None:
        lines += [_shared(root, box) for box in ordered if box is not root]
    depth = max((box.depth for box in boxes.values()), default=0)
    return {
        'width': 2 * _MARGIN + (depth + 1) * WIDTH + depth * _GAP,
        'height': bottom,
        'lines': lines,
        'boxes': [
            _box(box, is_shown=uuid == shown_uuid, is_pool=box in ordered[1:])
            for uuid, box in boxes.items()
        ],
    }


def _place(
    box: _Box, children: Mapping[str, Sequence[_Box]], top: float
) -> float:
    """Place a box and all below it; return where the next one may begin."""
    box.top = top
    end = top + box.height + _SPACE
    for child in children.get(box.row['uuid'], ()):
        top = _place(child, children, top)
    return max(top, end)


def _line(parent: _Box, child: _Box, kind: str) -> Data:
    begin = parent.left + WIDTH
    half = begin + _GAP / 2
    path = f'M{begin} {parent.middle:g}H{half:g}V{child.middle:g}H{child.left}'
    return {'path': path, 'kind': kind}


def _shared(root: _Box, pool: _Box) -> Data:
    x = root.left + WIDTH / 2
    path = f'M{x:g} {root.top + root.height:g}V{pool.top:g}'
    return {'path': path, 'kind': 'shared'}


def _box(box: _Box, *, is_shown: bool, is_pool: bool) -> Data:
    row = box.row
    name = row['name']
    most = _LETTERS - is_pool * _POOL
    short = name if len(name) <= most else f'{name[: most - 1]}…'
    return {
        'uuid': row['uuid'],
        'name': name,
        'short': short,
        'left': box.left,
        'top': box.top,
        'width': WIDTH,
        'height': box.height,
        'shown': is_shown,
        'pool': is_pool,
        'amounts': [
            {**amount, 'top': box.top + _HEAD + place * _LINE}
            for place, amount in enumerate(row['amounts'])
        ],
    }
