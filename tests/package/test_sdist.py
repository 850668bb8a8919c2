# SPDX-License-Identifier: Apache-2.0
"""The source distribution: the whole repository, tests and docs included."""

# What the build adds.
ADDED = {'PKG-INFO'}


def _made_by_the_build(name):
    return name in ADDED or name.startswith('compute_agent.egg-info/')


def test_every_file_of_the_repository_is_in(sdist_files, repository_files):
    assert repository_files - sdist_files == set()


def test_no_other_file_is_in(sdist_files, repository_files):
    others = sdist_files - repository_files
    assert {name for name in others if not _made_by_the_build(name)} == set()


def test_tests_docs_and_the_unit_are_in(sdist_files):
    assert {
        'docs/index.md',
        'etc/compute-agent.service',
        'etc/compute-agent@.service',
        'tests/package/test_sdist.py',
    } <= sdist_files
