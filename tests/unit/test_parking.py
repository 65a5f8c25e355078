"""What a workflow says of providers that take no requests for now."""

import time

from gensight.errors import ParkedError
from gensight.runner.book import Book, Stop, book_path
from gensight.runner.parking import EXIT_CODE, parked_lines


def park(ledger, provider, **changes):
    book = Book(book_path(ledger, provider))
    facts = {"scope": "provider", "kind": "quota", "detail": "no_money", "since": time.time()}
    book.stop(Stop(**facts | {"until": time.time() + 3600} | changes))
    book.close()


def test_only_stops_that_hold_of_the_providers_of_the_run(tmp_path):
    park(tmp_path, "openai")
    park(tmp_path, "google", until=None)
    park(tmp_path, "ark", until=time.time() - 1)
    park(tmp_path, "anthropic", scope="model:claude", kind="gone", until=None)
    park(tmp_path, "bfl")
    google, openai = parked_lines(tmp_path, {"openai", "google", "ark", "anthropic", None})
    assert google.startswith("google takes no requests until it is lifted (quota: no_money);")
    assert openai.startswith("openai takes no requests until 2")
    assert openai.endswith("gensight ledger lift openai")


def test_a_ledger_without_books(tmp_path):
    assert parked_lines(tmp_path / "none", {"openai"}) == []


def test_the_exit_code_is_the_one_of_a_job_that_finds_its_provider_parked():
    assert EXIT_CODE == ParkedError("x").exit_code == 75
