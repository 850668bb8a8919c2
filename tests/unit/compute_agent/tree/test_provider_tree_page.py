# SPDX-License-Identifier: Apache-2.0
"""Two pages have an entry for each method, and their examples run.

``docs/provider-tree.md`` has those for new drivers, ``docs/nova-calls.md`` the
others of nova's tree.

An example is a block of type ``pycon``. Each runs on the page's own tree, with
``plan()`` for the operations that the agent would send.
"""

import dataclasses
import doctest
import inspect
import pathlib
import re
import sys

import pytest
import yaml

from compute_agent.ownership import policy, record, resolve
from compute_agent.plan.diff import diff
from compute_agent.testing.contract.rules import catalogue
from compute_agent.tree import inventory, names, provider, provider_tree
from compute_agent.tree.assertion import DRIVER, Kind
from report_client.plan import render

DOCS = pathlib.Path(__file__).parents[4] / 'docs'
PAGE = DOCS / 'provider-tree.md'
NOVAS = DOCS / 'nova-calls.md'
TEXT = PAGE.read_text('utf-8')
TEXT += NOVAS.read_text('utf-8')
ENTRIES = dict(
    re.findall(
        r'^### `(\w+).*?`\n(.*?)(?=^##|\Z)', TEXT, re.DOTALL | re.MULTILINE
    )
)
SIGNATURES = dict(re.findall(r'^### `(\w+)(\(.*\))?`$', TEXT, re.MULTILINE))
FOR_THE_AGENT, FIELDS = (
    set(
        re.findall(
            r'`(\w+)`',
            ''.join(re.findall(r'^\| (`[^|]*) \|', section, re.MULTILINE)),
        )
    )
    for section in (
        TEXT.partition('## Methods and attributes for the agent')[2].partition(
            '\n# '
        )[0],
        TEXT.partition('## `ProviderData`')[2].partition('\n## ')[0],
    )
)
EXAMPLES = [
    pytest.param(block, id=f'{name}-{number}')
    for name, text in ENTRIES.items()
    for number, block in enumerate(
        re.findall(r'^```pycon\n(.*?)^```$', text, re.DOTALL | re.MULTILINE)
    )
]
(DRAWN,) = re.findall(r'^```yaml\n(.*?)^```$', TEXT, re.DOTALL | re.MULTILINE)
PROVIDERS = yaml.safe_load(DRAWN)
ROOT = PROVIDERS['cn1']['uuid']
# An operator added these to cn1, as the page says below the tree.
BY_HAND = {'CUSTOM_HAND', *PROVIDERS['cn1']['aggregates']}


def public(cls):
    """The public methods, properties and attributes of a class's objects."""
    return {n for n in (*dir(cls), *vars(cls())) if not n.startswith('_')}


def one_provider(name, row):
    """A provider of the page's tree."""
    parent = row.get('parent')
    return provider.Provider(
        uuid=row['uuid'],
        name=name,
        parent_uuid=PROVIDERS[parent]['uuid'] if parent else None,
        generation=row['generation'],
        inventories={
            rc: inventory.Inventory.from_record(given)
            for rc, given in row['inventory'].items()
        },
        traits=frozenset(row['traits']),
        aggregates=frozenset(row.get('aggregates', ())),
    )


def the_record(providers):
    """The record of the agent that created some of these providers."""
    created = {
        one.uuid
        for one in providers
        if PROVIDERS[one.name]['created by'] == 'this agent'
    }
    ours = {
        (one.uuid, kind): one.names_of(kind) - BY_HAND
        for one in providers
        for kind in Kind
        if one.uuid in created
    }
    return record.Record(
        created=frozenset(created),
        ours=ours,
        claims={key: {DRIVER: names} for key, names in ours.items()},
    )


class Page:
    """The tree of the page, and the plan that it comes to."""

    def __init__(self):
        self._given = [one_provider(*one) for one in PROVIDERS.items()]
        self.tree = provider_tree.ProviderTree.from_providers(self._given)
        self.tree.own = lambda: the_record(self._given)

    def plan(self):
        """Print the operations and the lines for the operator."""
        self.tree.reserve_set_aside()
        aside = map(str, self.tree.set_aside.values())
        resolved = resolve.resolve(
            self.tree,
            ROOT,
            the_record(self._given),
            policy.Policy(),
        )
        before, known = (
            self.tree.baseline,
            names.KnownNames(
                traits=frozenset(), resource_classes=frozenset({'PCPU'})
            ),
        )
        after, create, _ = diff.admit(before, resolved.after, known)
        operations = diff.operations(
            before, after, resolved.foreign, causes=resolved.causes
        )
        lines = [
            *map(render.line, (*create, *operations)),
            *(
                f'note: {n}'
                for n in (*self.tree.notes, *aside, *resolved.notes)
            ),
            *(f'not done: {f}' for f in self.tree.faults),
        ]
        uuids = self.tree.get_provider_uuids() + list(before)
        for each in lines:
            line = re.sub(rf' \(({"|".join(uuids)})\)', '', each)
            sys.stdout.write(f'{line}\n')


@pytest.mark.parametrize('example', EXAMPLES)
def test_each_example_prints_what_the_page_shows(example):
    page = Page()
    given = {'tree': page.tree, 'plan': page.plan}
    test = doctest.DocTestParser().get_doctest(
        example, given, PAGE.name, str(PAGE), 0
    )
    printed = []
    doctest.DocTestRunner(verbose=False).run(test, out=printed.append)
    assert not printed, ''.join(printed)


def test_each_public_method_and_attribute_has_its_place_on_the_page():
    assert set(ENTRIES) | FOR_THE_AGENT == public(provider_tree.ProviderTree)
    assert not set(ENTRIES) & FOR_THE_AGENT


def test_the_page_lists_the_fields_of_provider_data():
    fields = dataclasses.fields(provider_tree.ProviderData)
    assert {field.name for field in fields} == FIELDS


@pytest.mark.parametrize('name', SIGNATURES)
def test_each_entry_has_the_arguments_of_the_method(name):
    member = getattr(provider_tree.ProviderTree, name)
    if isinstance(member, property):
        assert SIGNATURES[name] == ''
        return
    _, *given = inspect.signature(member).parameters.values()
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in given]
    assert SIGNATURES[name] == str(inspect.Signature(bare))


@pytest.mark.parametrize('name', ENTRIES)
def test_each_entry_has_an_example_of_the_method_and_a_rule(name):
    examples = re.findall(
        r'^```pycon\n(.*?)^```$', ENTRIES[name], re.DOTALL | re.MULTILINE
    )
    assert any(f'tree.{name}' in example for example in examples)
    ((rule, page, anchor, number),) = re.findall(
        r'^Rule: \[(.+)\]\((\S+)#(\S+)\)(?:; (CA\d{3}))?$',
        ENTRIES[name],
        re.MULTILINE,
    )
    assert not number or number in catalogue.BY_NUMBER
    text = (DOCS / page).read_text('utf-8')
    section = next(
        part
        for part in re.split(r'^##+ ', text, flags=re.MULTILINE)
        if part.partition('\n')[0].lower().replace(' ', '-') == anchor
    )
    assert section.startswith(rule) or f'* **{rule}.**' in section
