"""Asking models: the ledger that never loses a reply, and the turns of a request in order."""
