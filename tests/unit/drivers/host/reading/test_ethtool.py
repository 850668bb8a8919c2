# SPDX-License-Identifier: Apache-2.0
"""The kernel of this host tells the offloads of its interfaces."""

import pytest

from drivers.host.reading import net


def test_the_loopback_interface_has_offloads():
    """Every Linux since 2.6 segments for it."""
    try:
        found = net.Ethtool()('lo')
    except OSError as exc:
        pytest.skip(f'no loopback interface here: {exc}')
    assert {'sg', 'tso'} <= found


def test_an_interface_that_is_not_there_is_an_error():
    with pytest.raises(OSError, match='No such device'):
        net.Ethtool()('not-there')
