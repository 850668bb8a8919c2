# SPDX-License-Identifier: Apache-2.0
"""The host driver's own time to read 200 rules and to apply them to 500 facts.

``make bench-rules`` runs this. The host is a recorded one, with local facts
until it has 500; its rules are the starter rules and others like them. *Cold*
is what a start costs: rules read and compiled, facts read, the first
description. Each time is also a multiple of the time that PyYAML takes to
load the same rules, measured in the same run. All times are processor times of
this thread, because a busy machine makes the others meaningless. It prints
figures and no verdict.
"""

import collections
import functools
import pathlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import host_facts
import yaml

from compute_agent.tree import provider_tree
from drivers.host import driver, rule_files
from drivers.host.facts import rows
from drivers.host.reading import local, reader

HOST = host_facts.TESTS / 'host_facts' / 'disks.yaml'
FACTS = 500
RULES = 200
RUNS = 15
NODE = 'cn1'
ROOT = '11111111-1111-4111-8111-111111111111'

#: Rules about the host, its disks, each device, and a local fact.
SHAPES = (
    """
- name: site-{0}
  when: "'avx2' in cpu.flags && cpu.cores >= {0} || cpu.vendor == 'ARM'"
  traits: ['CUSTOM_SITE_{0}_{{kernel.release}}']
""",
    """
- name: site-{0}
  when: block.exists(d, d.transport == 'nvme' && d.size_bytes > {0}000000000)
  traits: [CUSTOM_SITE_{0}, STORAGE_DISK_SSD: "block.all(d, !d.rotational)"]
""",
    """
- name: site-{0}
  for_each: block
  when: device.transport == 'nvme' && device.size_bytes > {0}000000000
  child: '{{node}}_site_{{device.name}}'
  traits: ['CUSTOM_SITE_{0}_{{device.model}}']
  inventory: {{CUSTOM_SITE_{0}: device.size_bytes / 1000000000}}
""",
    """
- name: site-{0}
  when: local.fact_{0} == 'value'
  traits: ['CUSTOM_SITE_{0}_{{local.fact_{0}}}']
""",
)
Times = dict[str, list[float]]


def write_rules(folder: pathlib.Path) -> None:
    """Write as many rules as are missing beside the starter rules."""
    folder.mkdir()
    starter = rule_files.read(str(folder), driver.WORDS, given=True).rules
    texts = [
        SHAPES[number % len(SHAPES)].format(number)
        for number in range(RULES - len(starter))
    ]
    (folder / 'site.yaml').write_text('rules:' + ''.join(texts))


def sources(folder: pathlib.Path) -> reader.Sources:
    """Return the sources of the host, with local facts until it has 500."""
    host = host_facts.make(HOST, folder)
    more = folder / 'facts.d'
    more.mkdir()
    lines = [f'fact-{n}=value' for n in range(FACTS - len(host.rows()))]
    (more / 'site').write_text('\n'.join(lines))
    found = host.sources()
    return reader.Sources(
        files=found.files,
        libvirt=found.libvirt,
        offloads=found.offloads,
        local=local.LocalFacts([str(more)]),
    )


def parts(
    of: reader.Sources, folder: pathlib.Path
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the parts of a start and of a later cycle, to be done in turn."""
    read = functools.partial(
        rule_files.read, str(folder), driver.WORDS, given=True
    )
    made: list[driver.HostDriver] = []
    files = [*rule_files.STARTER.glob('*.yaml'), *folder.iterdir()]

    def load() -> None:
        for path in files:
            yaml.load(path.read_text(), Loader=yaml.CSafeLoader)

    def start() -> None:
        made.append(
            driver.HostDriver(
                configured=NODE, hostname=NODE, of=of, read_rules=read
            )
        )

    def describe() -> None:
        tree = provider_tree.ProviderTree()
        tree.new_root(NODE, ROOT)
        made[-1].update_provider_tree(tree, NODE)

    yield 'PyYAML loads the rules', load
    yield 'rules are read and compiled', start
    yield 'first description', describe
    yield 'later description', describe


def measured(of: reader.Sources, folder: pathlib.Path) -> Times:
    """Return the seconds of processor time of each part, in each run."""
    found: Times = collections.defaultdict(list)
    for _ in range(RUNS):
        for title, part in parts(of, folder):
            began = time.thread_time()
            part()
            found[title].append(time.thread_time() - began)
    return found


def report(found: Times) -> Iterator[str]:
    """Yield a line for each part, and one for a start as a whole."""
    load, start, first, later = found.values()
    cold = [sum(both) for both in zip(start, first, strict=True)]
    floor = statistics.median(load)
    for title, seconds in {**found, 'cold': cold}.items():
        median = statistics.median(seconds)
        yield (
            f'{title}: {median * 1000:.1f} ms ({min(seconds) * 1000:.1f} to '
            f'{max(seconds) * 1000:.1f}), {median / floor:.2f} times PyYAML\n'
        )
    ratio = statistics.median(cold) / statistics.median(later)
    yield f'a start costs {ratio:.0f} later descriptions\n'


def main() -> int:
    """Print the figures."""
    with tempfile.TemporaryDirectory(prefix='bench-rules-') as made:
        folder = pathlib.Path(made)
        write_rules(folder / 'rules.d')
        of = sources(folder)
        facts = reader.FactReader(of).read()
        sys.stdout.write(
            f'{len(rows.of_facts(facts))} facts, {RULES} rules, {RUNS} runs\n'
        )
        sys.stdout.writelines(report(measured(of, folder / 'rules.d')))
    return 0


if __name__ == '__main__':
    sys.exit(main())
