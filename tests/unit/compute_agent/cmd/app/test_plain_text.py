# SPDX-License-Identifier: Apache-2.0
"""Log lines have the text of a message, and nothing more of its arguments."""

import collections
import io
import json
import logging

import pytest
from oslo_config import cfg
from oslo_context import context
from oslo_log import formatters, log

from compute_agent.cmd.app import plain_text


class Account(collections.UserDict):
    """Shows its name, and holds more."""

    def __str__(self):
        return self['name']


class Endless:
    """Holds itself, so it cannot be written in full."""

    def __iter__(self):
        return iter([self])

    def __str__(self):
        return 'endless'


def as_json(text, *args, **more):
    record = logging.LogRecord('a', logging.INFO, '', 0, text, args, None)
    vars(record).update(more)
    assert plain_text.PlainText().filter(record)
    return json.loads(formatters.JSONFormatter().format(record))


@pytest.mark.parametrize(
    'args', [(Account(name='agent', password='s3cret'),), (Endless(),)]
)
def test_json_has_no_more_of_an_argument_than_the_message_has(args):
    made = as_json('asked as %s', *args)
    assert made['message'] == f'asked as {args[0]}'
    assert 's3cret' not in json.dumps(made)


@pytest.mark.parametrize(
    'message', [Account(name='agent', password='s3cret'), Endless()]
)
def test_json_has_no_more_of_an_object_than_its_text(message):
    made = as_json(message)
    assert made['message'] == made['msg'] == str(message)
    assert 's3cret' not in json.dumps(made)


@pytest.mark.parametrize('as_keys', [False, True])
def test_json_has_no_more_of_an_extra_value_than_its_text(as_keys):
    extra = {
        'account': Account(name='agent', password='s3cret'),
        'more': Endless(),
        'url': 'http://agent:s3cret@placement.example/',
        'seconds': 1.25,
    }
    more = (
        {**extra, 'extra_keys': list(extra)} if as_keys else {'extra': extra}
    )
    made = as_json('asked', **more)
    assert made['extra'] == {
        'account': 'agent',
        'more': 'endless',
        'url': made['extra']['url'],
        'seconds': 1.25,
    }
    assert 's3cret' not in json.dumps(made)


def test_json_has_the_context_of_a_request_without_its_token():
    asked = context.RequestContext(auth_token='s3cret', request_id='req-1')
    made = as_json('asked', context=asked, extra_keys=['context'])
    assert made['context']['request_id'] == 'req-1'
    assert 's3cret' not in json.dumps(made)


def test_json_has_numbers_and_texts_apart():
    made = as_json('%s is done in %.1f s', 'cn1', 1.25)
    assert made['msg'] == '%s is done in %.1f s'
    assert made['args'] == ['cn1', 1.25]


@pytest.fixture
def own_handler():
    """A logger with a handler of its own, as log_config_append may make it."""
    logger = logging.getLogger('compute_agent.of_a_test')
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(formatters.JSONFormatter())
    logger.propagate = False
    logger.addHandler(handler)
    yield logger, handler, out
    logger.removeHandler(handler)
    logger.propagate = True


def test_a_handler_of_any_logger_is_escaped_once(own_handler):
    logger, handler, out = own_handler
    plain_text.escape_logs()
    plain_text.escape_logs()
    logger.warning('it is %s', Endless())
    assert json.loads(out.getvalue())['message'] == 'it is endless'
    assert len(handler.filters) == 1


def in_lines():
    """Return the formatter of oslo.log's lines, with its default options."""
    conf = cfg.ConfigOpts()
    log.register_options(conf)
    conf([], default_config_files=[], default_config_dirs=[])
    return formatters.ContextFormatter(config=conf)


REFUSED = OSError('\x1b[2Jrefused at http://agent:s3cret@placement.example/')


@pytest.mark.parametrize('formatter', [in_lines, formatters.JSONFormatter])
def test_a_line_has_no_error_that_it_was_not_given(own_handler, formatter):
    logger, handler, out = own_handler
    handler.setFormatter(formatter())
    plain_text.escape_logs()
    plain_text.escape_logs()
    try:
        raise REFUSED
    except OSError as exc:
        logger.warning('the file cannot be read (%s)', exc)
    said = out.getvalue()
    assert said.count('refused at') == said.count('the file cannot') > 0
    assert '\x1b' not in said
    assert 's3cret' not in said


def test_an_error_that_a_line_was_given_has_its_traceback(own_handler):
    logger, handler, out = own_handler
    handler.setFormatter(in_lines())
    plain_text.escape_logs()
    try:
        raise OSError('refused')
    except OSError:
        logger.exception('unexpected')
    assert 'unexpected: OSError: refused' in out.getvalue()
    assert 'Traceback' in out.getvalue()
