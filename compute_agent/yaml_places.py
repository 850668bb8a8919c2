# SPDX-License-Identifier: Apache-2.0
"""The places of a YAML file: the line of a node, and the node below another.

``yaml_file.py`` looks for the places of mistakes with it.
"""

import yaml

from . import yaml_problems


def line(place: yaml.Node | yaml.Event) -> int:
    """Return the line on which a node or an event begins."""
    return place.start_mark.line + 1 if place.start_mark is not None else 1


def entry(
    node: yaml.Node, step: yaml_problems.Step
) -> tuple[yaml.Node, yaml.Node] | None:
    """Return the key and value nodes of one step; an item is its own key."""
    if isinstance(node, yaml.MappingNode):
        # Merged pairs (<<) come before the mapping's own pairs, which win.
        for key, value in reversed(node.value):
            if key.value == step:
                return key, value
    elif isinstance(node, yaml.SequenceNode) and step in range(
        len(node.value)
    ):
        return node.value[step], node.value[step]
    return None
