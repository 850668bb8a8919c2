# SPDX-License-Identifier: Apache-2.0
"""Classes that the loader examines without calling them."""

import sys

import pytest

from compute_agent.virt import class_checks, driver

# As a module whose "from x import Tree" stands below "if TYPE_CHECKING:".
LATE = """
class Late(driver.ComputeDriver):
    @classmethod
    def from_conf(cls, conf: Conf) -> Self:
        return cls()
    def get_available_nodes(self) -> list[Name]:
        return []
    def update_provider_tree(self, tree: Tree, node{argument}) -> None:
        pass
"""


@pytest.mark.skipif(
    sys.version_info < (3, 14),
    reason='before Python 3.14 the class itself cannot be made',
)
@pytest.mark.parametrize(
    ('argument', 'said'), [('', False), (': Name, more: More', True)]
)
def test_annotations_may_name_what_only_type_checkers_import(argument, said):
    names = {'driver': driver}
    exec(LATE.format(argument=argument), names)
    problems = ' '.join(class_checks.problems(names['Late']))
    assert ('update_provider_tree' in problems) is said
    assert ('cannot be called with 2 arguments' in problems) is said
