# SPDX-License-Identifier: Apache-2.0
"""A stand-in for nova, where nova is not installed."""

import collections.abc
import importlib
import importlib.util
import logging
import pathlib
import sys
import types
import typing

import pytest
from oslo_config import cfg

from compute_agent.tree import provider_tree
from compute_agent.virt import driver, loader
from drivers.nova import process

SMALL_NOVA = pathlib.Path(__file__).parents[3] / 'support' / 'small_nova'
PARTS = ('nova', 'oslo_privsep')
UUID = '44444444-4444-4444-8444-444444444444'


class SmallNova:
    """The stand-in, and a configuration file of the agent."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._conf = folder / 'agent.conf'
        self.configure('')

    def configure(self, text: str) -> None:
        """Write the configuration file."""
        self._conf.write_text(text)

    def load(self, name: str) -> driver.ComputeDriver:
        """Return a driver as the agent loads it."""
        conf = cfg.ConfigOpts()
        conf([f'--config-file={self._conf}'], default_config_dirs=[])
        return loader.load(name, conf)

    def part(self, name: str) -> types.ModuleType:
        """Return a module of the stand-in."""
        return importlib.import_module(name)

    def tree(self, **inventory: typing.Any) -> provider_tree.ProviderTree:
        """Return a tree with the node, and with these records."""
        made = provider_tree.ProviderTree()
        made.new_root('cn1', UUID)
        made.update_inventory('cn1', inventory)
        return made


@pytest.fixture
def without_nova(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> collections.abc.Iterator[SmallNova]:
    """No nova at all."""
    if importlib.util.find_spec('nova') is not None:
        pytest.skip('nova itself is installed here')
    level = logging.getLogger('nova').level
    monkeypatch.setenv('OS_NOVA_DISABLE_EVENTLET_PATCHING', '')
    yield SmallNova(tmp_path)
    process._nova.cache_clear()
    logging.getLogger('nova').setLevel(level)
    for name in [n for n in sys.modules if n.split('.')[0] in PARTS]:
        del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture
def nova(
    without_nova: SmallNova, monkeypatch: pytest.MonkeyPatch
) -> SmallNova:
    """The stand-in, importable as nova is."""
    monkeypatch.syspath_prepend(SMALL_NOVA)
    return without_nova
