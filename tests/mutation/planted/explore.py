# SPDX-License-Identifier: Apache-2.0
"""A page is for one person, and what it shows is never markup."""

from planted.catalogue import plant

from compute_agent.cmd.explore import rendering, web_server
from compute_agent.cmd.explore.values import gate


@plant(gate.Gate.judge, 'a page needs no token')
def _(judge, self, asked):
    found = judge(self, asked)
    return None if getattr(found, 'status', 0) == 403 else found


@plant(gate.Gate._enter, 'a token works more than once')
def _(enter, self, asked):
    token = self.token
    found = enter(self, asked)
    self.token = token
    return found


@plant(gate.foreign, 'any Host is this server')
def _(foreign, asked, hosts):
    found = foreign(asked, hosts)
    return None if found is not None and found.status == 421 else found


@plant(gate.foreign, 'a page of any site may ask')
def _(foreign, asked, hosts):
    found = foreign(asked, hosts)
    return None if found is not None and found.status == 403 else found


@plant(web_server.WebServer._channel, 'any number of connections is taken')
def _(_channel, _self, server, opened, *more, **named):
    web_server.waitress.channel.HTTPChannel(server, opened, *more, **named)


@plant(rendering._environment, 'a page takes names for markup')
def _(environment):
    return environment().overlay(autoescape=False)
