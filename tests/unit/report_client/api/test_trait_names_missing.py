# SPDX-License-Identifier: Apache-2.0
"""Missing names: those that cannot be created, and the hint about others."""

import pytest

from report_client.api import trait_names

BOTH = ['CUSTOM_A', 'HW_NEW']


@pytest.mark.parametrize(
    ('create', 'in_the_way'), [(True, ['HW_NEW']), (False, BOTH)]
)
def test_a_standard_name_is_never_created(create, in_the_way):
    found = trait_names.not_creatable(BOTH, create=create)
    assert found == in_the_way


@pytest.mark.parametrize(
    ('missing', 'hint'),
    [
        (['HW_NEW'], ''),
        (BOTH, '; --create creates CUSTOM_A'),
        (['CUSTOM_A'], '; --create creates it'),
        (['CUSTOM_A', 'CUSTOM_B'], '; --create creates them'),
    ],
)
def test_what_create_would_create_is_said(missing, hint):
    assert trait_names.create_hint(missing) == hint
