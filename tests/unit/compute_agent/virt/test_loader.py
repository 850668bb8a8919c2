# SPDX-License-Identifier: Apache-2.0
"""Finding a driver and holding it to the contract, with real distributions.

Entry points are cached by each process, so one other process loads them all:
``tell`` is what it said of a driver's name.
"""

import collections
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import installed_package
import pytest

from compute_agent import deprecation
from compute_agent.virt import driver, loader

ROOT = pathlib.Path(__file__).parents[4]

LOAD = """
import json, sys
from oslo_config import cfg
from compute_agent import errors
from compute_agent.virt import loader

said = {'installed': [[i.name, str(i)] for i in loader.installed()]}
said['imported by listing'] = sorted(m for m in sys.modules if 'zoo' in m)
for name in sys.argv[1:]:
    conf = cfg.ConfigOpts()
    conf([])
    try:
        driver = loader.load(name, conf)
    except errors.ConfigError as exc:
        said[name] = str(exc)
    except Exception as exc:
        said[name] = repr(exc)
    else:
        said[name] = [type(driver).__name__, sorted(conf)]
    if name == 'keeper:owl.Owl':
        of_class, by_name = (
            {
                one.name: one.reference
                for one in loader.load_all([name], conf, by_name=only_name)
            }
            for only_name in (False, True)
        )
        said['references'] = [of_class, by_name]
    if name == 'good':
        said['imported by good'] = sorted(m for m in sys.modules if 'zoo' in m)
json.dump(said, sys.stdout)
"""

GOOD = """
from oslo_config import cfg
from compute_agent import deprecation, errors
from compute_agent.virt import driver

class Good(driver.ComputeDriver):
    @classmethod
    def register_opts(cls, conf):
        conf.register_opts([cfg.IntOpt('legs', default=4)])
    @classmethod
    def from_conf(cls, conf):
        assert conf.legs == 4
        return cls()
    def get_available_nodes(self):
        return []
    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        pass

class OtherNames(Good):
    def update_provider_tree(self, tree, name, allocs=None):
        pass

class Keeper(Good):
    @classmethod
    def for_target(cls, target):
        if target != 'owl.Owl':
            raise errors.ConfigError('name an animal: keeper:owl.Owl')
        return type('Owl', (cls,), {'__module__': 'zoo.owl'})

class Present(Good):
    contract_version = deprecation.CONTRACT_VERSION

class Loser(Good):
    @classmethod
    def for_target(cls, target):
        if target:
            return None
        return cls

class Forgetful(Good):
    @classmethod
    def from_conf(cls, conf):
        cls()

class Generous(Good):
    def get_traits(self, *args, **kwargs):
        return []
    def get_inventory(self, nodename, more=None):
        return {}
"""
BAD = """
import zoo
from compute_agent import errors
from compute_agent.virt import driver

class Incomplete(driver.ComputeDriver):
    def update_provider_tree(self, provider_tree, nodename):
        pass

class Mute(zoo.Good):
    update_provider_tree = driver.ComputeDriver.update_provider_tree

class TooFew(zoo.Good):
    def update_provider_tree(self, provider_tree):
        pass

class TooMany(zoo.Good):
    def get_inventory(self, nodename, everything):
        return {}
    def node_exists(self):
        return True

class FromTheFuture(zoo.Good):
    contract_version = '1.999'

class FromThePast(zoo.Good):
    contract_version = '0.9'

class Unversioned(zoo.Good):
    contract_version = 1

class Stranger:
    pass

class Unmade(zoo.Good):
    @classmethod
    def from_conf(cls, conf):
        raise RuntimeError('no such device')

class Misconfigured(zoo.Good):
    @classmethod
    def from_conf(cls, conf):
        raise errors.ConfigError('[zoo] legs: give an even number')

instance = zoo.Good()
"""
MODULES = {
    'zoo': GOOD,
    'zoo_bad': BAD,
    'zoo_broken': 'import there_is_no_such_module\n',
    'zoo_syntax': 'def (:\n',
}
DISTRIBUTIONS = {
    ('zoo', '1.0'): {
        'good': 'zoo:Good',
        'othernames': 'zoo:OtherNames',
        'generous': 'zoo:Generous',
        'keeper': 'zoo:Keeper',
        'loser': 'zoo:Loser',
        'forgetful': 'zoo:Forgetful',
        'incomplete': 'zoo_bad:Incomplete',
        'mute': 'zoo_bad:Mute',
        'toofew': 'zoo_bad:TooFew',
        'toomany': 'zoo_bad:TooMany',
        'stranger': 'zoo_bad:Stranger',
        'future': 'zoo_bad:FromTheFuture',
        'past': 'zoo_bad:FromThePast',
        'unversioned': 'zoo_bad:Unversioned',
        'present': 'zoo:Present',
        'unmade': 'zoo_bad:Unmade',
        'misconfigured': 'zoo_bad:Misconfigured',
        'instance': 'zoo_bad:instance',
        'broken': 'zoo_broken:Driver',
        'syntax': 'zoo_syntax:Driver',
        'nomodule': 'zoo_nowhere:Driver',
        'noclass': 'zoo:Nobody',
        'claimed': 'zoo:Good',
    },
    ('other-zoo', '2.0'): {'claimed': 'zoo:OtherNames'},
}


@pytest.fixture(scope='module')
def tell(tmp_path_factory):
    """Return what came of loading a driver: a text, or class and options."""
    site = tmp_path_factory.mktemp('site')
    for name, source in MODULES.items():
        (site / f'{name}.py').write_text(textwrap.dedent(source))
    for (name, version), points in DISTRIBUTIONS.items():
        lines = [f'{key} = {value}' for key, value in points.items()]
        text = '\n'.join(['[compute_agent.drivers]', *lines, ''])
        installed_package.install(site, name, version, points=text)
    every = [n for points in DISTRIBUTIONS.values() for n in points]
    targets = [
        'keeper:owl.Owl',
        'keeper:emu',
        'loser:emu',
        'good:owl.Owl',
        'nobody:owl',
    ]
    done = subprocess.run(
        [sys.executable, '-c', LOAD, *every, *targets, 'nobody'],
        env={
            **os.environ,
            'PYTHONPATH': f'{site}{os.pathsep}{ROOT}',
            'XDG_CACHE_HOME': str(site / 'cache'),
            'HOME': str(site),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def refused(tell, name, distribution='zoo 1.0'):
    """Return the refusal, which names driver and distribution in a line."""
    text = tell[name]
    assert isinstance(text, str), f'{name} was loaded: {text}'
    assert name in text
    assert distribution in text
    assert '\n' not in text
    return text


def test_a_driver_is_made_with_its_options_registered(tell):
    name, options = tell['good']
    assert name == 'Good'
    assert 'legs' in options


def test_arguments_may_have_other_names_and_more_of_them(tell):
    assert tell['othernames'][0] == 'OtherNames'
    assert tell['generous'][0] == 'Generous'


def test_the_text_after_a_colon_chooses_what_the_driver_runs(tell):
    assert tell['keeper:owl.Owl'][0] == 'Owl'


def test_a_driver_with_a_target_is_known_by_the_class_of_the_target(tell):
    of_class, by_name = tell['references']
    assert of_class == {'keeper:owl.Owl': 'zoo.owl:Owl'}
    assert by_name == of_class


@pytest.mark.parametrize('name', ['keeper:emu', 'keeper'])
def test_a_target_that_there_is_not_is_answered_by_the_driver(tell, name):
    assert tell[name] == (
        f'[DEFAULT] compute_driver = {name}: name an animal: keeper:owl.Owl'
    )


def test_a_target_without_a_class_is_refused(tell):
    assert 'for_target() of driver loser:emu' in tell['loser:emu']
    assert 'None is not a class' in tell['loser:emu']


def test_a_driver_that_is_not_returned_is_missed(tell):
    assert 'from_conf() returned None' in tell['forgetful']
    assert 'it must return the driver, as in' in tell['forgetful']


def test_a_driver_without_targets_says_what_to_leave_out(tell):
    assert tell['good:owl.Owl'] == (
        '[DEFAULT] compute_driver = good:owl.Owl: this driver takes no '
        'target: leave out ":owl.Owl"'
    )


def test_an_unknown_driver_with_a_target_is_told_by_its_name(tell):
    assert "no driver 'nobody' is installed" in tell['nobody:owl']


def test_all_installed_are_listed_and_none_is_imported(tell):
    listed = dict(tell['installed'])
    assert listed['good'] == 'zoo:Good of zoo 1.0'
    names = [name for name, _ in tell['installed']]
    assert names == sorted(names)
    assert names.count('claimed') == 2
    assert tell['imported by listing'] == []


def test_only_the_driver_that_is_asked_for_is_imported(tell):
    assert tell['imported by good'] == ['zoo']


def test_an_unknown_driver_lists_those_there_are(tell):
    text = tell['nobody']
    assert "'nobody'" in text
    assert '[DEFAULT] compute_driver' in text
    for name in ('good', 'generous', 'claimed', 'broken'):
        assert name in text
    assert text.count('claimed') == 1


def test_a_name_that_two_distributions_claim_names_both(tell):
    text = refused(tell, 'claimed')
    assert 'other-zoo 2.0' in text
    assert 'uninstall' in text


def test_a_class_with_methods_missing_names_them_all(tell):
    text = refused(tell, 'incomplete')
    assert 'from_conf is missing' in text
    assert 'get_available_nodes is missing' in text


def test_a_class_that_describes_nothing_is_told_how_to(tell):
    text = refused(tell, 'mute')
    for method in (
        'update_provider_tree',
        'get_inventory',
        'get_available_resource',
    ):
        assert method in text


def test_a_method_that_takes_too_little_is_shown(tell):
    text = refused(tell, 'toofew')
    assert 'update_provider_tree(self, provider_tree)' in text


def test_every_wrong_signature_is_shown_at_once(tell):
    text = refused(tell, 'toomany')
    assert 'get_inventory(self, nodename, everything)' in text
    assert 'node_exists(self)' in text


def test_a_class_of_another_family_is_told_which(tell):
    text = refused(tell, 'stranger')
    assert 'compute_agent.virt.driver.ComputeDriver' in text


def test_a_driver_says_which_version_of_the_contract_it_needs(tell):
    assert tell['present'][0] == 'Present'
    mine = deprecation.CONTRACT_VERSION
    assert (
        f'it needs version 1.999 of the contract, and this agent has {mine}: '
        'install a newer version of the compute-agent'
    ) in refused(tell, 'future')
    assert 'install a newer version of the driver' in refused(tell, 'past')
    assert f"1 is no version: write such as '{mine}'" in (
        refused(tell, 'unversioned')
    )


def test_what_is_no_class_is_refused(tell):
    assert 'not a class' in refused(tell, 'instance')


@pytest.mark.parametrize(
    ('name', 'why'),
    [
        ('broken', 'there_is_no_such_module'),
        ('syntax', 'SyntaxError'),
        ('nomodule', 'zoo_nowhere'),
        ('noclass', 'Nobody'),
    ],
)
def test_what_cannot_be_imported_says_why(tell, name, why):
    assert why in refused(tell, name)


def test_a_driver_that_cannot_be_made_says_why(tell):
    text = refused(tell, 'unmade')
    assert 'RuntimeError: no such device' in text


def test_a_drivers_own_word_on_its_options_is_passed_on(tell):
    assert tell['misconfigured'] == '[zoo] legs: give an even number'


def test_the_drivers_of_this_project_are_there_in_both_spellings(tell):
    names = {name for name, _ in tell['installed']}
    assert {
        'fake',
        'fake.FakeDriver',
        'libvirt',
        'libvirt.LibvirtDriver',
    } <= names


def test_the_metadata_of_a_distribution_is_read_once(monkeypatch):
    """It is parsed anew at each question, and each command loads drivers."""
    reads = collections.Counter()
    read = importlib.metadata.Distribution.metadata.fget

    def counted(self):
        reads[id(self)] += 1
        return read(self)

    monkeypatch.setattr(
        importlib.metadata.Distribution, 'metadata', property(counted)
    )
    found = loader.installed()
    assert len(found) > len(reads) > 0
    assert set(reads.values()) == {1}


# --- classes that are examined without calling them ---------------------------

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
    problems = ' '.join(loader.problems(names['Late']))
    assert ('update_provider_tree' in problems) is said
    assert ('cannot be called with 2 arguments' in problems) is said
