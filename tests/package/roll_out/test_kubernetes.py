# SPDX-License-Identifier: Apache-2.0
"""The objects for Kubernetes: valid, whole, and with the agent's own options."""

import base64
import configparser
import pathlib

import kustomized
import pytest
import yaml

from compute_agent.cmd.app import configuration, main

FOLDER = pathlib.Path(__file__).parents[3] / 'packaging' / 'kubernetes'
OVERLAYS = ('companion', 'region-one')
each_overlay = pytest.mark.parametrize('overlay', OVERLAYS)


@pytest.fixture
def objects(overlay):
    return kustomized.rendered(FOLDER / 'overlays' / overlay)


def workloads(objects):
    return [d for d in objects if d['kind'] in {'DaemonSet', 'Deployment'}]


@each_overlay
def test_kubernetes_own_schemas_know_every_word(judge, tmp_path, objects):
    file = tmp_path / 'objects.yaml'
    file.write_text(yaml.safe_dump_all(objects))
    judged = judge('kubernetes-validate', '--strict', file)
    assert judged.returncode == 0, judged.stdout + judged.stderr
    said = judged.stdout + judged.stderr
    assert said.count(' passed ') == len(objects), said


def test_a_word_of_nobody_is_refused(judge, tmp_path):
    (made, *_) = workloads(
        kustomized.rendered(FOLDER / 'overlays' / 'companion')
    )
    made['spec']['template']['spec']['hostNetworking'] = True
    file = tmp_path / 'objects.yaml'
    file.write_text(yaml.safe_dump(made))
    assert judge('kubernetes-validate', '--strict', file).returncode != 0


@each_overlay
def test_every_name_that_a_pod_uses_is_there(objects):
    there = {(doc['kind'], doc['metadata']['name']) for doc in objects}
    for doc in workloads(objects):
        pod = doc['spec']['template']['spec']
        assert ('ServiceAccount', pod['serviceAccountName']) in there
        mounted = {volume['name'] for volume in pod['volumes']}
        for volume in pod['volumes']:
            if 'configMap' in volume:
                assert ('ConfigMap', volume['configMap']['name']) in there
            if 'secret' in volume:
                assert ('Secret', volume['secret']['secretName']) in there
        for container in [*pod['containers'], *pod.get('initContainers', ())]:
            used = {mount['name'] for mount in container['volumeMounts']}
            assert used <= mounted
            assert container['resources']['limits']['memory']
            assert container['image'].startswith('registry.example.org/')


@each_overlay
def test_the_agent_reads_the_files_that_a_pod_gets(objects, tmp_path):
    """They are read in the order of the container's arguments."""
    data = {doc['metadata']['name']: doc.get('data') for doc in objects}
    for number, doc in enumerate(workloads(objects)):
        folders = []
        volumes = {
            volume['name']: volume
            for volume in doc['spec']['template']['spec']['volumes']
        }
        for name in ('conf', 'secret'):
            folder = tmp_path / f'{number}-{name}'
            folder.mkdir()
            kind = volumes[name]
            if name == 'conf':
                files = data[kind['configMap']['name']]
            else:
                files = {
                    key: base64.b64decode(text).decode()
                    for key, text in data[kind['secret']['secretName']].items()
                }
            for key, text in files.items():
                (folder / key).write_text(text)
            folders.append(str(folder))
        conf = configuration.load(
            main.GlobalOptions(
                config_files=[], config_dirs=folders, debug=False
            )
        )
        assert conf.compute_agent.metrics_bind.endswith(':9733')
        assert conf.placement.auth_type == 'password'
        assert conf.compute_driver


@pytest.mark.parametrize(
    'name', ['base/hypervisor/host.conf', 'base/ironic/share.conf']
)
def test_no_password_is_in_a_config_map(name):
    found = configparser.ConfigParser()
    found.read(FOLDER / name)
    options = {o for section in found for o in found[section]}
    assert not options & {'password', 'state_connection'}
