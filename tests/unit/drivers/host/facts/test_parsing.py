# SPDX-License-Identifier: Apache-2.0
"""The texts of the kernel become values, or errors that name them."""

import pytest

from drivers.host.facts import parsing
from drivers.host.reading import cpu, kernel


@pytest.mark.parametrize(
    ('parse', 'text', 'value'),
    [
        (parsing.integer, '-1', -1),
        (parsing.hexadecimal, '0x8086', '8086'),
        (parsing.hexadecimal, 'A1', 'a1'),
        (parsing.switch, 'Y', True),
        (parsing.switch, '0', False),
        (parsing.chosen, 'always [madvise] never', 'madvise'),
        (parsing.numbers, '0-2,8', (0, 1, 2, 8)),
        (parsing.numbers, '', ()),
        (parsing.number, '16.0 GT/s PCIe', 16.0),
        (parsing.number, '480', 480.0),
        (parsing.kibibytes, '16 kB', 16384),
        (parsing.size, '32M', 33554432),
        (parsing.release, '6.8.0-45-generic', (6, 8, 0)),
        (parsing.release, '5.14-el9', (5, 14, 0)),
    ],
)
def test_a_text_has_one_value(parse, text, value):
    assert parse(text) == value


@pytest.mark.parametrize(
    ('parse', 'text'),
    [
        (parsing.integer, ''),
        (parsing.integer, '0x10'),
        (parsing.integer, '9' * 20),
        (parsing.hexadecimal, '0xzz'),
        (parsing.switch, 'maybe'),
        (parsing.chosen, 'always never'),
        (parsing.numbers, '1-'),
        (parsing.numbers, '0-1048576'),
        (parsing.number, 'Unknown'),
        (parsing.number, 'nan'),
        (parsing.number, '16.0GT/s'),
        (parsing.kibibytes, '16 MB'),
        (parsing.size, '32'),
        (parsing.release, 'next'),
    ],
)
def test_another_text_is_an_error(parse, text):
    with pytest.raises(ValueError):
        parse(text)


@pytest.mark.parametrize(
    ('texts', 'flags'),
    [
        (['flags : fpu avx2 avx', 'flags : fpu avx'], ('avx', 'fpu')),
        (['Features : fp asimd'], ('asimd', 'fp')),
        (['isa : rv64imafdc_zba_zbb'], ('rv64imafdc', 'zba', 'zbb')),
    ],
)
def test_only_the_features_that_each_processor_has_count(texts, flags):
    assert cpu.common_flags(cpu.blocks('\n\n'.join(texts))) == flags


def test_no_features_are_an_error_not_an_empty_list():
    with pytest.raises(ValueError, match='lists no features'):
        cpu.common_flags(cpu.blocks('cpu : POWER9\n'))


def test_the_command_line_has_quotes_repetitions_and_an_end():
    assert kernel.parameters('a=1 a=2 quiet b="x y" c=d=e -- f=1') == {
        'a': '2',
        'quiet': '',
        'b': 'x y',
        'c': 'd=e',
    }


def test_options_that_are_not_set_are_left_out():
    text = '# CONFIG_A is not set\nCONFIG_B=y\nCONFIG_C="a b"\n'
    assert kernel.options(text) == {'B': 'y', 'C': 'a b'}
