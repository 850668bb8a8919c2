# SPDX-License-Identifier: Apache-2.0
# Everything a contributor runs. A machine with make and Python 3.11 or newer
# is enough: the first target used makes the environment in .venv.

PYTHON ?= python3
BIN := .venv/bin

# Where pyenv has Pythons that are not on the PATH.
empty :=
PYENV = $(subst $(empty) ,,$(addprefix :,\
    $(wildcard $(HOME)/.pyenv/versions/3.1[1-9]*/bin)))
# The one asked for, else the first that this machine has and that is new enough.
ASKED = $(if $(strip $(PYTHON)),\
    $(filter command environment,$(firstword $(origin PYTHON))))
FIND_PYTHON = PATH="$$PATH$(PYENV)" packaging/find_python.sh $(if $(ASKED),\
    '$(PYTHON)',python3 python3.14 python3.13 python3.12 python3.11)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check \
    --editable
PYTEST = $(BIN)/python -m pytest
# A test file is compiled once, and not by each worker of each run.
unexport PYTHONDONTWRITEBYTECODE

# Refuse another PYTHON than the one that .venv was made with.
ifneq ($(and $(ASKED),$(wildcard $(BIN)/python)),)
ifeq ($(filter clean help,$(MAKECMDGOALS)),)
VERSION = -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
HAVE := $(shell $(BIN)/python $(VERSION))
WANTED := $(shell PATH="$$PATH$(PYENV)"; '$(PYTHON)' $(VERSION))
ifneq ($(HAVE),$(WANTED))
$(error .venv has Python $(HAVE), and PYTHON=$(PYTHON) $(if $(WANTED),is \
    $(WANTED): "make clean" first,cannot be run))
endif
endif
endif

# A process for each processor; a file's tests share their servers. Files start
# in the order of their names, so the many short ones of tests/unit come last
# and no processor waits long for the other.
PARALLEL = --numprocesses=auto --dist=loadfile --no-loadscope-reorder
# Fewer examples of each property, and no test that is marked "long".
QUICK = COMPUTE_AGENT_EXAMPLES=0.05 $(PYTEST) $(PARALLEL) -m 'not long'
# Python 3.14 measures it at half the price.
COVERAGE = $(if $(COVERED),--cov --cov-report=term:skip-covered)
# Real servers and daemons mostly wait, so more of them than processors go on.
WAITING = --numprocesses=$(or $(WORKERS),3) --dist=loadfile \
    --no-loadscope-reorder
# Needs a build, or servers: not for every run.
SLOW_TESTS = tests/package tests/full
DECLARED = setup.cfg setup.py pyproject.toml

# A real Ironic has packages of its own, so it gets an environment beside ours.
# Another one is used where this names its "ironic" program.
ifndef COMPUTE_AGENT_IRONIC
export COMPUTE_AGENT_IRONIC := $(CURDIR)/.servers/ironic/bin/ironic
IRONIC := .servers/ironic.stamp
IRONIC_DATABASES := .servers/ironic-databases.stamp
endif

SAMPLE = etc/compute-agent.conf.sample
DRIVER_NAMESPACES = $(patsubst drivers/%/conf.py,compute_agent.drivers.%,\
    $(sort $(wildcard drivers/*/conf.py)))

.DEFAULT_GOAL := help
.PHONY: help alert-rules changelog release ansible-check roll-out-check run demo-ironic demo-fleet libvirt-packages database-packages exec-packages browser-packages explore-pictures bench-explore fleet-trials stack bench-outage bench-fleet bench-ironic test servers test-full test-servers test-examples test-rest test-pythons test-debian test-stateful churn chaos parity \
    companion companion-settings in-place nova-deb nova-deb-check nova-deb-packages test-planted mutmut lint types contracts collect wheel-check dist docs board-picture screens deb deb-check deb-packages container-check bench \
    bench-traits bench-tree bench-rows bench-libvirt bench-rules bench-ways sample \
    surface osc-words driver-checks check clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) \
	    | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

$(BIN)/python:
	@python=$$($(FIND_PYTHON)) && "$$python" -m venv .venv

.venv/run.stamp: $(DECLARED) | $(BIN)/python
	$(INSTALL) '.[embedded,explore]'
	@touch $@

.venv/fleet.stamp: $(DECLARED) | $(BIN)/python
	$(INSTALL) '.[embedded,explore,fleet]'
	@touch .venv/run.stamp $@

.venv/dev.stamp: $(DECLARED) | $(BIN)/python
	$(INSTALL) '.[embedded,explore,fleet,test,lint]'
	@touch .venv/run.stamp .venv/fleet.stamp $@

.venv/pythons.stamp: .venv/dev.stamp
	$(INSTALL) '.[pythons]'
	@touch $@

.venv/docs.stamp: .venv/dev.stamp
	$(INSTALL) '.[docs]'
	@touch $@

.venv/release.stamp: .venv/dev.stamp
	$(INSTALL) '.[release]'
	@touch $@

.venv/pictures.stamp: .venv/dev.stamp
	$(INSTALL) '.[pictures]'
	@touch $@

.venv/mutation.stamp: .venv/dev.stamp
	$(INSTALL) '.[mutation]'
	@touch $@

.servers/ironic.stamp: | $(BIN)/python
	$(BIN)/python -m venv .servers/ironic
	.servers/ironic/bin/python -m pip install --quiet \
	    --disable-pip-version-check 'ironic>=39'
	@touch $@

# In tests/full/test_ironic_changes.py, it has other databases than SQLite, too.
.servers/ironic-databases.stamp: .servers/ironic.stamp
	.servers/ironic/bin/python -m pip install --quiet \
	    --disable-pip-version-check psycopg2-binary PyMySQL
	@touch $@

# A real keystone for tests/full/keystone, and a placement that asks it.
.servers/keystone.stamp: | $(BIN)/python
	$(BIN)/python -m venv .servers/keystone
	.servers/keystone/bin/python -m pip install --quiet \
	    --disable-pip-version-check 'keystone>=30,<31' \
	    'openstack-placement>=16,<17' waitress
	@touch $@

# In tests/full/stack, this placement has its data in PostgreSQL.
.servers/keystone-postgresql.stamp: .servers/keystone.stamp
	.servers/keystone/bin/python -m pip install --quiet \
	    --disable-pip-version-check psycopg2-binary
	@touch $@

# Prometheus' own judge of alert rules, for tests/full/prometheus, and the server
# for "make board-picture". Any user may fetch them; nothing is installed.
.servers/prometheus.stamp:
	@mkdir -p .servers/prometheus
	@if ! command -v promtool >/dev/null; then \
	    cd .servers/prometheus && rm -f prometheus_*.deb && \
	    apt-get download --quiet=2 prometheus && \
	    dpkg-deb --fsys-tarfile prometheus_*.deb | \
	        tar -x --strip-components=3 ./usr/bin/promtool \
	            ./usr/bin/prometheus && \
	    rm -f prometheus_*.deb && ./promtool --version >/dev/null || { \
	        echo 'the tests of the alert rules need promtool, which Debian' \
	            'has in the package prometheus ("apt-get update" first);' \
	            'elsewhere put it on the PATH' >&2; \
	        exit 1; \
	    }; \
	fi
	@touch $@

# A real libvirtd for tests/full/libvirt: daemon and emulator come from the
# distribution, and libvirt-python is built with its library.
LIBVIRT_PACKAGES = libvirt-daemon libvirt-daemon-driver-qemu qemu-system-x86 \
    qemu-utils swtpm-tools libvirt-dev pkg-config gcc python3-dev
.servers/libvirt.stamp: .venv/dev.stamp
	@PATH="$$PATH:/usr/sbin"; \
	for program in libvirtd qemu-system-x86_64 swtpm_setup pkg-config gcc; do \
	    command -v $$program >/dev/null || { \
	        echo "the tests with a real libvirtd need $$program; on Debian:" \
	            'apt-get install --no-install-recommends' \
	            '$(LIBVIRT_PACKAGES)' >&2; \
	        exit 1; \
	    }; \
	done
	$(INSTALL) '.[libvirt]'
	@mkdir -p .servers && touch $@

libvirt-packages:
	@echo $(LIBVIRT_PACKAGES)

# Real databases for agents that share one, for tests/full/fleet and stack.
database-packages:
	@echo postgresql mariadb-server faketime

# For the drivers in other languages in etc/exec: tests/full/exec.
exec-packages:
	@echo jq golang-go

# A real browser for tests/full/explore: chromium comes from the distribution,
# and axe-core, which judges the accessibility of pages, from npm.
AXE = 4.14.1
.servers/browser.stamp: .venv/dev.stamp
	@for program in chromium chromedriver npm; do \
	    command -v $$program >/dev/null || { \
	        echo "the tests with a real browser need $$program; on Debian:" \
	            'apt-get install --no-install-recommends chromium' \
	            'chromium-driver npm' >&2; \
	        exit 1; \
	    }; \
	done
	$(INSTALL) '.[browser]'
	@rm -rf .servers/axe-core && mkdir -p .servers/axe-core
	@cd .servers/axe-core && npm pack --silent axe-core@$(AXE) >/dev/null && \
	    tar -x --strip-components=1 -f axe-core-$(AXE).tgz \
	        package/axe.min.js package/LICENSE && rm axe-core-$(AXE).tgz
	@touch $@

# Where npm is there already, Debian's would conflict with it.
browser-packages:
	@echo chromium chromium-driver $$(command -v npm >/dev/null || echo npm)

# OpenStack's client with the commands of osc-placement.
.servers/openstackclient.stamp: | $(BIN)/python
	$(BIN)/python -m venv .servers/openstackclient
	.servers/openstackclient/bin/python -m pip install --quiet \
	    --disable-pip-version-check python-openstackclient osc-placement
	@touch $@ .servers/openstackclient/installed

# Judges of the files in packaging/kubernetes, kolla and ansible.
.servers/roll-out.stamp: | $(BIN)/python
	$(BIN)/python -m venv .servers/roll-out
	.servers/roll-out/bin/python -m pip install --quiet \
	    --disable-pip-version-check ansible-core ansible-lint \
	    kubernetes-validate
	.servers/roll-out/bin/python -m pip install --quiet \
	    --disable-pip-version-check --no-deps kolla
	@touch $@

# The agent as a plugin of that client.
.servers/openstackclient-agent.stamp: $(DECLARED) .servers/openstackclient.stamp
	.servers/openstackclient/bin/python -m pip install --quiet \
	    --disable-pip-version-check --editable .
	@touch $@

# What the benchmark measures against: two peers, an environment each.
.servers/placement.stamp: | $(BIN)/python
	$(BIN)/python -m venv .servers/placement
	.servers/placement/bin/python -m pip install --quiet \
	    --disable-pip-version-check 'openstack-placement>=16,<17' \
	    pyuwsgi psycopg2-binary
	@touch $@

.servers/nova.stamp: | $(BIN)/python
	$(BIN)/python -m venv .servers/nova
	.servers/nova/bin/python -m pip install --quiet \
	    --disable-pip-version-check 'nova>=34,<35'
	@touch $@

.servers/nova-libvirt.stamp: .servers/nova.stamp .servers/libvirt.stamp
	.servers/nova/bin/python -m pip install --quiet \
	    --disable-pip-version-check 'libvirt-python>=9.0'
	@touch $@

# The classes with which nova-compute leaves the reporting to the agent.
.servers/nova-reporting.stamp: $(wildcard nova_reporting/*.* nova_reporting/nova/virt/*.py) .servers/nova-libvirt.stamp
	.servers/nova/bin/python -m pip install --quiet \
	    --disable-pip-version-check --no-deps --force-reinstall ./nova_reporting
	@touch $@

# The agent in nova's environment, where it runs nova's drivers.
.servers/nova-agent.stamp: $(DECLARED) .servers/nova-libvirt.stamp .servers/nova-reporting.stamp
	.servers/nova/bin/python -m pip install --quiet \
	    --disable-pip-version-check --editable '.[testing]'
	@touch $@

# One line that becomes the agent: Ctrl-C and SIGTERM reach it directly.
run: .venv/run.stamp  ## Run the agent here, with a placement of its own
	@exec $(BIN)/compute-agent --config-file etc/dev.conf run --show-tree

demo-ironic: .venv/run.stamp $(IRONIC)  ## The agent on a real Ironic with 20 fake nodes
	@exec $(BIN)/python -m demo

demo-fleet: .venv/fleet.stamp $(IRONIC)  ## Kill one of two agents of a real Ironic: the other goes on (PostgreSQL)
	@exec $(BIN)/python -m demo.fleet_demo

test: .venv/dev.stamp  ## Unit tests, functional tests on a real placement; minutes (COVERED=1 for coverage)
	$(QUICK) $(addprefix --ignore=,$(SLOW_TESTS)) $(COVERAGE)

# All but what is built of this checkout.
servers: $(IRONIC) $(IRONIC_DATABASES) .servers/browser.stamp .servers/keystone-postgresql.stamp .servers/nova-libvirt.stamp .servers/openstackclient.stamp .servers/prometheus.stamp

test-full: test-servers test-examples  ## Every test, all examples, real servers (--keep-going to run all of it)

test-servers: .venv/dev.stamp servers .servers/nova-agent.stamp .servers/openstackclient-agent.stamp  ## Tests with real servers, which mostly wait (WORKERS=2 for less load)
	$(PYTEST) $(WAITING) tests/full

test-examples: .venv/dev.stamp  ## Every test without real servers, all examples
	$(PYTEST) $(PARALLEL) $(addprefix --ignore=,$(SLOW_TESTS))

test-rest: .venv/dev.stamp  ## What "make test" leaves out of these: long tests, and all examples of each property
	$(PYTEST) $(PARALLEL) -m 'long or hypothesis' \
	    $(addprefix --ignore=,$(SLOW_TESTS))

test-pythons: .venv/pythons.stamp  ## "make test" from the wheel on each Python here, and with the lowest versions (ENVS=py313,lowest for less)
	PATH="$$PATH$(PYENV)" $(BIN)/tox run \
	    -e '$(or $(ENVS),py311,py312,py313,py314,lowest)'

test-debian:  ## "make test" and coverage in a clean Debian with its Python (SUITE=forky), as root with mmdebstrap
	packaging/in_debian.sh $(or $(SUITE),forky) make test COVERED=1

test-stateful: .venv/dev.stamp  ## Long random runs of agents among faults and other writers
	$(BIN)/python tests/stateful/run.py $(if $(PLANTED),--planted)

churn: .venv/dev.stamp  ## Two agents and twenty operators at one provider, ten minutes
	PYTHONPATH=.:tests/support $(BIN)/python tests/churn/churn.py

chaos: .venv/dev.stamp .servers/placement.stamp  ## An agent among churn, faults and kills on PostgreSQL, 15 minutes
	PYTHONPATH=.:tests/support $(BIN)/python tests/chaos/chaos.py

fleet-trials: .venv/dev.stamp $(IRONIC)  ## Accidents of the agents that hold a share, 50 of each (TRIALS='--database galera' or '--ironic --nodes 300' for others)
	PYTHONPATH=.:tests/support $(BIN)/python tests/full/fleet/accidents.py $(TRIALS)

stack: .servers/libvirt.stamp .servers/keystone-postgresql.stamp $(IRONIC)  ## A whole cloud and two daemons through days of accidents, an hour (root, PostgreSQL)
	PYTHONPATH=.:tests/support $(BIN)/python tests/full/stack/stack.py

bench-outage: .venv/dev.stamp .servers/placement.stamp  ## 200 agents come back after ten minutes without placement
	$(BIN)/python -m benchmarks.outage

parity: .servers/libvirt.stamp .servers/nova-libvirt.stamp  ## The libvirt driver beside nova-compute, ten minutes (CASES='swtpm …' for less)
	PYTHONPATH=.:tests/support $(BIN)/python tests/parity/parity.py $(CASES)

companion: .servers/nova-libvirt.stamp  ## A companion beside the real nova-compute, 50 minutes
	COMPUTE_AGENT_COMPANION_INTERVAL=10 COMPUTE_AGENT_COMPANION_SECONDS=1800 \
	    $(PYTEST) -s tests/full/companion/test_beside_nova.py

companion-settings: .servers/nova-libvirt.stamp  ## A companion beside nova-compute with each of its settings (CASES='swtpm …' for less)
	COMPUTE_AGENT_COMPANION_CASES='$(or $(CASES),all)' \
	    $(PYTEST) --numprocesses=auto tests/full/companion/test_settings.py

in-place: .servers/nova-reporting.stamp $(IRONIC)  ## An agent that reports where nova-compute starts guests: half an hour of both, 20 restarts, all settings, 100 nodes
	COMPUTE_AGENT_COMPANION_INTERVAL=10 COMPUTE_AGENT_COMPANION_SECONDS=1800 \
	    $(PYTEST) -s tests/full/companion/test_nova_reports_nothing.py -k test_nova_first
	COMPUTE_AGENT_COMPANION_RESTARTS=20 COMPUTE_AGENT_COMPANION_CASES=all \
	    COMPUTE_AGENT_COMPANION_NODES=100 $(PYTEST) -s \
	    $(addprefix tests/full/companion/test_,nova_reports_nothing.py \
	    reporter_settings.py same_candidates.py guest_starts.py migration.py \
	    ironic_beside_nova.py nova_manage_audit.py)

test-planted: .venv/dev.stamp  ## Plant known defects: does the test meant for each fail?
	$(PYTEST) $(PARALLEL) --planted $(addprefix --ignore=,$(SLOW_TESTS))

mutmut: .venv/mutation.stamp  ## Make each small change to core modules: does a test fail?
	$(BIN)/python -m tests.mutation.small_changes

lint: .venv/dev.stamp  ## Style, format and spelling
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/codespell

types: .venv/dev.stamp  ## Types, strictly
	$(BIN)/mypy

contracts: .venv/dev.stamp  ## Which module may import which
	$(BIN)/lint-imports

collect: .venv/dev.stamp  ## Each test file can be collected without the others
	$(BIN)/python tests/collect_alone.py

wheel-check: .venv/dev.stamp  ## Build sdist and wheel, and look at what is in them
	$(PYTEST) tests/package $(addprefix --ignore=tests/package/,ansible \
	    container deb roll_out)

roll-out-check: .venv/dev.stamp .servers/roll-out.stamp  ## The files for Kubernetes, Kolla and Ansible, as their own programs judge them
	$(PYTEST) tests/package/roll_out

# Three machines, and Ansible that reaches them by ssh.
ansible-check: .servers/roll-out.stamp .venv/dev.stamp  ## Type docs/afternoon.md on three clean machines (after "make deb"), as root
	$(PYTEST) tests/package/ansible

release: .venv/release.stamp .venv/docs.stamp  ## Build all that a release ships, twice, and compare (DIRTY=1 for a checkout with changes)
	packaging/release.sh

# The rules name a page of this repository; your pages have another address.
alert-rules:  ## Write the alert rules with the address of your pages to build (DOCS=https://…/monitoring.html)
	@test '$(DOCS)' || { echo 'DOCS= is the address of docs/monitoring.md' >&2; exit 1; }
	@mkdir -p build
	@sed 's|docs/monitoring\.md|$(DOCS)|' etc/prometheus/compute-agent.rules.yaml \
	    > build/compute-agent.rules.yaml

changelog: .venv/release.stamp  ## Write the changelog of the release notes to build/CHANGELOG.rst
	@mkdir -p build
	packaging/changelog.sh build/CHANGELOG.rst

# The wheel is made of the unpacked source distribution.
dist: .venv/dev.stamp  ## Build the source distribution and the wheel in dist/
	$(BIN)/python -m build --no-isolation

# Each warning is an error: a page that no list has, a link without a target.
docs: .venv/docs.stamp  ## Build the site in build/docs/html
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet \
	    -d build/docs/trees docs build/docs/html

# What "make deb" needs beside Python: Debian's tools, and libvirt's headers.
DEB_PACKAGES = debhelper dpkg-dev gcc libvirt-dev pkg-config python3-dev \
    python3-venv
deb-packages:
	@echo $(DEB_PACKAGES)

# Grafana's board is drawn from a run of agents, without Grafana.
board-picture: .venv/pictures.stamp .servers/prometheus.stamp  ## Draw docs/pictures/board.svg, minutes
	PYTHONPATH=.:tests/support $(BIN)/python -m docs.generators.board_picture

# The pages of "explore" as a browser shows them.
explore-pictures: .venv/dev.stamp .servers/browser.stamp  ## Draw docs/pictures/explore in a real browser
	COMPUTE_AGENT_PICTURES=1 $(PYTEST) tests/full/explore -k without_fault

# Screens of commands on a host that is made for it.
screens: .venv/dev.stamp  ## Write the terminals in docs/pictures/screens, minutes
	$(BIN)/python -m docs.generators.screens

deb: .venv/docs.stamp  ## Build the package for this Debian in build/deb
	rm -rf build/deb
	$(BIN)/sphinx-build --fail-on-warning --quiet -b man \
	    -d build/docs/trees docs build/docs/man
	$(BIN)/python -m build --no-isolation --outdir build/deb/wheel
	packaging/build_deb.sh

# The package is built on the release that it is for.
RELEASE ?= $(shell . /etc/os-release && echo $$VERSION_CODENAME)
deb-check: .venv/docs.stamp  ## Install, start, upgrade and purge package and wheel in a clean Debian (RELEASE=trixie), as root
	PACKAGES='$(DEB_PACKAGES)' packaging/in_debian.sh $(RELEASE) make deb
	rm -rf build/deb && mkdir -p build
	cp -r build/debian/$(RELEASE)/src/build/deb build/deb
	COMPUTE_AGENT_RELEASE=$(RELEASE) $(PYTEST) tests/package/deb

NOVA_DEB_PACKAGES = debhelper dh-python dpkg-dev pybuild-plugin-pyproject \
    python3-all python3-setuptools
nova-deb-packages:
	@echo $(NOVA_DEB_PACKAGES)

nova-deb:  ## Build the Debian package of nova's drivers in build/nova-deb
	packaging/nova_reporting/build_deb.sh

# Debian 12 has a nova that is too old.
nova-deb-check:  ## Load it with Debian's nova-compute (SUITE=trixie), as root
	PACKAGES='$(NOVA_DEB_PACKAGES)' packaging/in_debian.sh $(or $(SUITE),trixie) \
	    sh -ec 'packaging/nova_reporting/build_deb.sh; packaging/nova_reporting/check_deb.sh'
	rm -rf build/nova-deb && mkdir -p build
	cp -r build/debian/$(or $(SUITE),trixie)/src/build/nova-deb build

container-check: dist  ## Build the image and run its daemon, as root with buildah
	$(PYTEST) tests/package/container

bench-fleet: .venv/dev.stamp .servers/placement.stamp  ## Time cycles with and without a shared database, and a take-over (N=10000 for more)
	$(BIN)/python -m benchmarks.fleet $(if $(N),--nodes '$(N)') \
	    $(if $(REPEATS),--repeats '$(REPEATS)')

bench: .venv/run.stamp .servers/placement.stamp .servers/nova.stamp  ## Measure cycles beside nova-compute's (N=1,100 for less)
	$(BIN)/python -m benchmarks.sync_cycles $(if $(N),--nodes '$(N)') \
	    $(if $(SHAPES),--shapes '$(SHAPES)') \
	    $(if $(DATABASES),--databases '$(DATABASES)') \
	    $(if $(REPEATS),--repeats '$(REPEATS)') \
	    $(if $(RESULTS),--results '$(RESULTS)') \
	    $(if $(ADD_TO),--add-to '$(ADD_TO)')

bench-traits: .venv/run.stamp  ## Time "trait list" beside OpenStack's client
	$(BIN)/python -m benchmarks.trait_list

bench-tree: .venv/run.stamp .servers/nova.stamp  ## Time ProviderTree beside nova's (N=1000 for less)
	$(BIN)/python -m benchmarks.provider_trees \
	    $(if $(N),--providers '$(N)') $(if $(REPEATS),--repeats '$(REPEATS)')

bench-rows: .venv/run.stamp  ## Time reading a list of providers beside other ways to
	$(BIN)/python -m benchmarks.row_stream

bench-libvirt: .servers/libvirt.stamp  ## Time the libvirt driver's descriptions of a host
	PYTHONPATH=.:tests/support $(BIN)/python -m benchmarks.libvirt_host

bench-ironic: .venv/dev.stamp .servers/placement.stamp .servers/ironic.stamp  ## Time changes in Ironic until they are in placement, and what the agent costs it (N=10000 for more)
	PYTHONPATH=.:tests/support $(BIN)/python -m benchmarks.ironic_changes \
	    $(if $(N),--nodes '$(N)') $(if $(ROUNDS),--rounds '$(ROUNDS)')

bench-explore: .venv/dev.stamp .servers/placement.stamp  ## Time the first page of 50,000 providers, and cycles with 200 readers (PostgreSQL)
	$(BIN)/python -m benchmarks.explored $(if $(ONLY),--only '$(ONLY)')

bench-rules: .venv/dev.stamp  ## Time the host driver with 200 rules and 500 facts
	PYTHONPATH=.:tests/support $(BIN)/python -m benchmarks.host_rules

bench-ways: .venv/run.stamp .servers/placement.stamp  ## Time ways to ask placement that are not used
	$(BIN)/python -m benchmarks.alternatives

sample: .venv/dev.stamp  ## Write the sample configuration
	$(BIN)/oslo-config-generator --output-file $(SAMPLE) \
	    $(addprefix --namespace ,compute_agent $(DRIVER_NAMESPACES) oslo.log)

osc-words: .venv/dev.stamp .servers/openstackclient.stamp  ## Record what OpenStack's client answers to the commands of tests/osc_words
	PYTHONPATH=.:tests/support $(BIN)/python tests/support/osc_words.py \
	    .servers/openstackclient/bin/python

driver-checks: .venv/dev.stamp  ## Check the drivers of this package, and write the proofs that it ships
	PYTHONPATH=.:tests/support $(BIN)/python tests/support/driver_checks.py

surface: .venv/dev.stamp  ## Record the names that drivers may use, and the table of commands
	PYTHONPATH=.:tests/support $(BIN)/python tests/support/public_surface.py
	PYTHONPATH=.:tests/support $(BIN)/python tests/support/command_table.py

check: lint types contracts collect test wheel-check  ## All of these

clean:  ## Remove what these targets made, and the state of make run
	rm -rf .venv .servers .tox .run build dist *.egg-info .coverage .coverage.* \
	    .hypothesis .mypy_cache .pytest_cache .ruff_cache \
	    .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
