# SPDX-License-Identifier: Apache-2.0
"""A program is run within its limits, and its failures are one line each."""

import errno
import os
import pathlib
import pwd
import subprocess
import threading
import time

import pytest

from compute_agent import errors
from drivers.exec import program


@pytest.fixture
def script(tmp_path):
    """Return a function that writes a shell script and returns its path."""

    def write(text, mode=0o755):
        path = tmp_path / 'program'
        path.write_text(f'#!/bin/sh\n{text}\n')
        path.chmod(mode)
        return str(path)

    return write


def run(path, question='{}', **options):
    return program.Program(path, **{'timeout': 20, **options}).run(
        'describe', question
    )


def told(path, **options):
    """Return the message about a failed run, without the path."""
    with pytest.raises(errors.DriverError) as caught:
        run(path, **options)
    return str(caught.value).replace(path, 'PROGRAM')


def test_it_gets_the_call_and_the_question(script):
    assert run(script('echo "$1:"; cat'), 'a question') == (
        'describe:\na question'
    )


def test_a_question_that_it_does_not_read_is_no_failure(script):
    assert run(script('echo answer'), 'x' * 1_000_000) == 'answer\n'


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        (
            'echo first >&2; echo "no card answers" >&2; exit 4',
            'PROGRAM describe: it ended with status 4: no card answers',
        ),
        (
            'exit 4',
            (
                'PROGRAM describe: it ended with status 4 and said nothing on '
                'stderr'
            ),
        ),
        (
            'kill -9 $$',
            (
                'PROGRAM describe: it was ended by signal 9 and said nothing on '
                'stderr'
            ),
        ),
        (
            'echo',
            'PROGRAM describe: it printed nothing; print a JSON object',
        ),
        (
            r"printf '\377'",
            'PROGRAM describe: its answer is not UTF-8; print UTF-8',
        ),
        (
            'exec head -c 17000000 /dev/zero',
            (
                'PROGRAM describe: it printed more than 16000000 bytes; print '
                'less'
            ),
        ),
        (
            "printf 'one\\033[31m\\r\\n two' >&2; exit 1",
            'PROGRAM describe: it ended with status 1: two',
        ),
    ],
)
def test_a_failure_is_one_line(script, text, expected):
    assert told(script(text)) == expected


def test_status_3_says_that_it_does_not_have_the_call(script):
    with pytest.raises(program.Unsupported):
        run(script('exit 3'))


@pytest.mark.catches('a program leaves processes behind')
def test_a_program_that_takes_too_long_is_ended_with_all_that_it_began(
    script, tmp_path
):
    path = script(f'sleep 1000 & echo $! > {tmp_path}/child; wait')
    assert told(path, timeout=3) == (
        'PROGRAM describe: it did not end within 3 s; make it quicker, or '
        'raise [exec] timeout'
    )
    wait_for_end(int((tmp_path / 'child').read_text()))


@pytest.mark.catches('a program leaves processes behind')
def test_what_a_program_leaves_running_is_ended(script, tmp_path):
    path = script(f'sleep 1000 & echo $! > {tmp_path}/child; echo done')
    assert run(path) == 'done\n'
    wait_for_end(int((tmp_path / 'child').read_text()))


@pytest.mark.catches('a program leaves processes behind')
def test_a_process_in_a_group_of_its_own_is_ended_too(script, tmp_path):
    path = script(f'echo $$ > {tmp_path}/child; timeout 900 sleep 1000')
    told(path, timeout=3)
    session = int((tmp_path / 'child').read_text())
    until = time.monotonic() + 10
    while in_session(session):
        assert time.monotonic() < until, 'something is still running'
        os.sched_yield()


def in_session(number):
    found = []
    for path in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            words = path.read_text().rpartition(')')[2].split()
        except OSError:
            continue
        if int(words[3]) == number and words[0] != 'Z':
            found.append(path)
    return found


def test_status_3_after_a_part_of_an_answer_is_a_failure(script):
    assert told(script("printf '{'; exit 3")) == (
        'PROGRAM describe: it ended with status 3 and said nothing on stderr'
    )


def test_what_it_says_on_stderr_has_a_limit(script):
    path = script('exec head -c 17000000 /dev/zero >&2')
    assert told(path) == (
        'PROGRAM describe: it printed more than 16000000 bytes; print less'
    )


def wait_for_end(pid):
    """Wait until a process of another parent is gone, or a zombie."""
    path, until = pathlib.Path(f'/proc/{pid}/stat'), time.monotonic() + 10
    while is_running(path):
        assert time.monotonic() < until, 'it is still running'
        os.sched_yield()


def is_running(path):
    try:
        return path.read_text().rpartition(')')[2].split()[0] != 'Z'
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_status_3_with_a_word_is_a_failure(script):
    assert told(script('echo "curl: bad URL" >&2; exit 3')) == (
        'PROGRAM describe: it ended with status 3: curl: bad URL'
    )


def test_what_it_says_beside_its_answer_is_in_the_log(script, caplog):
    caplog.set_level('DEBUG')
    assert run(script('echo hm >&2; echo answer')) == 'answer\n'
    assert caplog.messages[-1].endswith('describe said: hm')


def test_a_program_that_its_user_may_not_run_is_told(script, monkeypatch):
    path = script('echo')

    def refuse(*_words, **_how):
        raise PermissionError(errno.EACCES, 'Permission denied')

    monkeypatch.setattr(subprocess, 'Popen', refuse)
    assert told(path) == (
        'PROGRAM describe: the user as whom it runs may not run it, or not '
        'enter its folder; move it to a folder that everybody may enter, or '
        'name another user in [exec] user'
    )


def test_it_gets_no_variable_of_the_agent(script, monkeypatch):
    monkeypatch.setenv('OS_PASSWORD', 'secret')
    found = run(script('env'), environment={'SLEDS': '/srv'}).splitlines()
    names = {line.partition('=')[0] for line in found}
    assert names - {'PWD', 'SHLVL', '_'} == {'PATH', 'LANG', 'HOME', 'SLEDS'}


def test_it_begins_in_the_root_folder(script):
    assert run(script('pwd')) == '/\n'


def test_closing_ends_a_call_and_refuses_the_next(script, tmp_path):
    path = script(f'mkfifo {tmp_path}/pipe; echo x > {tmp_path}/pipe')
    found = program.Program(path, timeout=600)
    failures = []

    def ask():
        try:
            found.run('describe', '{}')
        except errors.DriverError as exc:
            failures.append(str(exc))

    thread = threading.Thread(target=ask)
    thread.start()
    while not (tmp_path / 'pipe').exists():
        os.sched_yield()
    found.close()
    thread.join()
    assert failures == [
        f'{path} describe: it was ended by signal 9 and said nothing on stderr'
    ]
    with pytest.raises(errors.DriverError, match='the agent ends'):
        found.run('describe', '{}')


# --- trust --------------------------------------------------------------------


def test_a_program_that_others_may_change_is_not_run(script):
    assert told(script('echo', 0o777)) == (
        'the program PROGRAM is not run: users other than its owner may write '
        'to it; run "chmod go-w PROGRAM"'
    )


@pytest.mark.catches('a program in a folder that others may write to is run')
def test_a_program_in_a_folder_of_others_is_not_run(script, tmp_path):
    path = script('echo')
    tmp_path.chmod(0o777)
    assert told(path) == (
        'the program PROGRAM is not run: others can replace what is in the '
        f'folder {tmp_path}; run "chmod go-w {tmp_path}"'
    )


def away(tmp_path, script):
    """Return a folder, and a program in a folder of that one."""
    inside = tmp_path / 'outer' / 'inner'
    inside.mkdir(parents=True)
    path = inside / 'program'
    pathlib.Path(script('cat')).rename(path)
    return inside.parent, path


@pytest.mark.catches('a program in a folder that others may replace is run')
@pytest.mark.parametrize('by', ['its path', 'a link', 'a link of a folder'])
def test_a_program_in_a_folder_that_others_may_replace_is_not_run(
    script, tmp_path, by
):
    """Who may write to a folder above can put another one in its place."""
    outer, path = away(tmp_path, script)
    outer.chmod(0o777)
    links = tmp_path / 'links'
    links.mkdir()
    (links / 'program').symlink_to(path)
    (links / 'inner').symlink_to('../outer/inner')
    named = {
        'its path': path,
        'a link': links / 'program',
        'a link of a folder': links / 'inner' / 'program',
    }[by]
    assert told(str(named)).endswith(f'run "chmod go-w {outer}"')


def test_a_link_that_others_may_replace_is_not_followed(script, tmp_path):
    links = tmp_path / 'links'
    links.mkdir()
    (links / 'program').symlink_to(script('echo'))
    links.chmod(0o777)
    assert told(str(links / 'program')).endswith(f'run "chmod go-w {links}"')


@pytest.mark.skipif(os.geteuid() != 0, reason='only root gives files away')
def test_a_program_in_a_folder_of_another_user_is_not_run(script, tmp_path):
    outer, path = away(tmp_path, script)
    os.chown(outer, pwd.getpwnam('nobody').pw_uid, -1)
    assert told(str(path)) == (
        f'the program PROGRAM is not run: user nobody owns the folder {outer} '
        'and can replace what is there; move it to a folder of root'
    )


def test_a_folder_like_tmp_keeps_a_program_of_its_owner(script, tmp_path):
    """In a folder with the sticky bit others cannot replace what is there."""
    outer, path = away(tmp_path, script)
    outer.chmod(0o1777)
    assert run(str(path)) == '{}'


def test_a_program_that_is_not_executable_is_not_run(script):
    assert told(script('echo', 0o644)) == (
        'the program PROGRAM is not run: it is not executable; run "chmod +x '
        'PROGRAM"'
    )


def test_a_missing_program_is_told(tmp_path):
    assert told(f'{tmp_path}/program') == (
        'the program PROGRAM is not run: No such file or directory; correct '
        'the path'
    )


def test_a_folder_is_no_program(tmp_path):
    assert told(str(tmp_path)) == (
        'the program PROGRAM is not run: it is not a regular file; give the '
        'path of a program'
    )


def test_a_script_without_its_first_line_is_told(tmp_path):
    path = tmp_path / 'program'
    path.write_text('echo\n')
    path.chmod(0o755)
    assert told(str(path)) == (
        'PROGRAM describe: it is no program; begin a script with a line that '
        'names its interpreter, such as #!/bin/sh'
    )


def test_a_script_whose_interpreter_is_missing_is_told(tmp_path):
    path = tmp_path / 'program'
    path.write_text('#!/no/such/interpreter\n')
    path.chmod(0o755)
    assert told(str(path)) == (
        'PROGRAM describe: the interpreter in its first line does not exist; '
        'install it'
    )


# --- the user -----------------------------------------------------------------


def test_an_unknown_user_is_refused():
    with pytest.raises(errors.ConfigError) as caught:
        program.account('nosuchuser')
    assert str(caught.value) == (
        '[exec] user = nosuchuser: there is no such user on this host; create '
        'it, or name another one'
    )


def test_root_runs_programs_as_nobody(monkeypatch):
    monkeypatch.setattr(os, 'geteuid', lambda: 0)
    nobody = pwd.getpwnam('nobody')
    found = program.account(None)
    assert (found.uid, found.gid) == (nobody.pw_uid, nobody.pw_gid)


def test_without_root_a_program_has_the_user_of_the_agent(monkeypatch):
    monkeypatch.setattr(os, 'geteuid', lambda: 4242)
    assert program.account(None) is None


def test_only_root_can_run_it_as_another_user(monkeypatch):
    monkeypatch.setattr(os, 'geteuid', lambda: 4242)
    with pytest.raises(errors.ConfigError) as caught:
        program.account('nobody')
    assert str(caught.value) == (
        '[exec] user = nobody: only an agent that runs as root can run '
        'programs as another user; remove the option'
    )


def test_the_own_user_needs_no_change():
    name = pwd.getpwuid(os.geteuid()).pw_name
    assert program.account(name) is None
