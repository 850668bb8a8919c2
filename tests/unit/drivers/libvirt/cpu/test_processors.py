# SPDX-License-Identifier: Apache-2.0
"""The text of /proc/cpuinfo gives common words, or none and the reason."""

import pytest

from drivers.libvirt.cpu import processors

TWO = (
    'processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: A CPU\n'
    'microcode\t: 0x1\nflags\t\t: fpu sse avx\nbugs\t\t: spectre_v1\n\n'
    'processor\t: 1\nvendor_id\t: GenuineIntel\nmodel name\t: A CPU\n'
    'microcode\t: 0x1\nflags\t\t: fpu sse avx\nbugs\t\t: spectre_v1\n\n'
)


def test_the_words_are_those_of_the_flags_line():
    assert processors.parse(TWO, 'x86').words == {'fpu', 'sse', 'avx'}


def test_the_maker_model_and_microcode_are_read():
    seen = processors.parse(TWO, 'x86')
    assert (seen.vendor, seen.model, seen.microcode) == (
        'GenuineIntel',
        'A CPU',
        '0x1',
    )


def test_a_word_that_one_processor_lacks_is_partial():
    seen = processors.parse(TWO.replace('avx', 'ss', 1), 'x86')
    assert seen.words == {'fpu', 'sse'}
    assert seen.partial == {'avx', 'ss'}


def test_vmx_flags_are_not_flags():
    text = TWO.replace('flags\t\t:', 'vmx flags\t:')
    assert processors.parse(text, 'x86').words is None


@pytest.mark.parametrize(
    ('line', 'word'),
    [
        ('POWER9 (architected), altivec supported', 'POWER9'),
        ('POWER9, altivec supported', 'POWER9'),
        ('POWER8NVL (raw), altivec supported', 'POWER8NVL'),
        ('POWER10', 'POWER10'),
    ],
)
def test_the_word_of_ppc64le_is_the_processors_name(line, word):
    text = f'processor\t: 0\ncpu\t\t: {line}\n\ntimebase\t: 512000000\n'
    assert processors.parse(text, 'ppc64le').words == {word}


@pytest.mark.parametrize(
    ('text', 'reason'),
    [
        (None, '/proc/cpuinfo cannot be read'),
        ('', '/proc/cpuinfo is cut off'),
        (TWO[:-5], '/proc/cpuinfo is cut off'),
        (TWO.replace('flags', 'flogs'), '/proc/cpuinfo has no line "flags"'),
        (
            TWO.replace('flags', 'flogs', 1),
            '/proc/cpuinfo has no "flags" for some processors',
        ),
        (
            TWO.replace('fpu sse avx', '', 1),
            '/proc/cpuinfo has no "flags" for some processors',
        ),
        ('\n', '/proc/cpuinfo has no line "flags"'),
    ],
)
def test_an_incomplete_text_gives_no_words(text, reason):
    seen = processors.parse(text, 'x86')
    assert seen.words is None
    assert seen.reason == reason


def test_a_machine_without_a_table_has_no_words():
    seen = processors.parse('processor\t: 0\nisa\t: rv64imafdc\n', None)
    assert seen.words is None
    assert seen.reason
