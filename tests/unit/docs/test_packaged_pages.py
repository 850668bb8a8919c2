# SPDX-License-Identifier: Apache-2.0
"""The pages of a package link only to files that the package has."""

import pathlib
import re
import subprocess

import pytest

from compute_agent.monitoring.values import declared_metrics

ROOT = pathlib.Path(__file__).parents[3]
LINK = re.compile(r'\]\(([^)#:\s]+)(?:#[^)]*)?\)')
CODE = re.compile(r'```.*?```|`[^`]*`', re.DOTALL)


@pytest.fixture(scope='module')
def copied(tmp_path_factory):
    directory = tmp_path_factory.mktemp('package')
    subprocess.run([ROOT / 'packaging/copy_docs.sh', directory], check=True)
    return directory


def test_each_link_has_its_file(copied):
    links = [
        (page, link)
        for page in copied.rglob('*.md')
        for link in LINK.findall(CODE.sub('', page.read_text()))
    ]
    assert len(links) > 100
    missing = [
        f'{page.relative_to(copied)}: {link}'
        for page, link in links
        if not (page.parent / link).exists()
    ]
    assert missing == []


def test_the_package_list_has_all_that_is_copied_and_changes_no_name(copied):
    listed = (ROOT / 'packaging/debian/compute-agent.docs').read_text()
    assert {path.name for path in copied.iterdir()} <= set(listed.split())
    rules = (ROOT / 'packaging/debian/rules').read_text()
    (kept,) = re.findall(r'dh_compress (.*)', rules)
    suffixes = {path.suffix for path in copied.rglob('*') if path.is_file()}
    assert suffixes == set(kept.replace('-X', '').split())


def test_the_page_of_metrics_has_them_all(copied):
    page = (copied / 'docs/reference/metrics.rst').read_text()
    assert '.. metrics::' not in page
    for one in declared_metrics.ALL:
        assert f'\n``{one.full_name}``\n' in page
