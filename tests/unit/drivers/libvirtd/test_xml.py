# SPDX-License-Identifier: Apache-2.0
"""XML with entities or a document type is refused; other bad text too."""

import pytest

from drivers.libvirtd import hypervisor, xml

LAUGHS = """<!DOCTYPE capabilities [
  <!ENTITY a "ha">
  <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
]><capabilities>&b;</capabilities>"""
OUTSIDE = """<!DOCTYPE capabilities [
  <!ENTITY secret SYSTEM "file:///etc/hostname">
]><capabilities>&secret;</capabilities>"""


def test_a_document_gives_its_root():
    assert xml.parse('<a><b/></a>', 'a host').tag == 'a'


@pytest.mark.parametrize('text', [LAUGHS, OUTSIDE, '<!DOCTYPE a><a/>'])
def test_entities_and_document_types_are_refused(text):
    with pytest.raises(hypervisor.Unanswered, match='XML of a host is refus'):
        xml.parse(text, 'a host')


@pytest.mark.parametrize('text', ['<a>', 'a', '<a/><b/>', '<a>\ud800</a>'])
def test_other_text_cannot_be_parsed(text):
    with pytest.raises(hypervisor.Unanswered, match='XML of a host cannot'):
        xml.parse(text, 'a host')


def test_an_empty_text_is_no_answer():
    with pytest.raises(hypervisor.Unanswered, match='does not tell the XML'):
        xml.parse('', 'a host')


def test_a_document_of_many_levels_is_refused():
    fine = '<a>' * xml.LEVELS + '</a>' * xml.LEVELS
    assert xml.parse(fine, 'a host').tag == 'a'
    with pytest.raises(hypervisor.Unanswered, match='more than 100 levels'):
        xml.parse(f'<a>{fine}</a>', 'a host')
