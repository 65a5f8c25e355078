"""Providers that live on loopback: they answer like the real ones, fail on demand, and bill.

One class per protocol, each a real HTTP server for real SDKs. Every fake keeps a journal of what it
was asked and what it charged, from a price list of its own: the bill that the runner's money is
compared with. Keep anything of `gensight.providers` out of here: a bill that shares code with the
books proves nothing.
"""
