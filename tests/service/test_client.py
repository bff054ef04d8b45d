"""`roughly.Client` and `roughly.AsyncClient`: the objects of an index, over a service; and what is tried again."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving_process import ADMIN, READ, serving

import roughly
from roughly import AsyncClient, Client, Index
from roughly.errors import IndexAway, InputError, InputMissing, ServiceRefused, SettingsError
from roughly.index.sweeps.sweep import SweepWriter
from roughly.service import client as module
from roughly.service.calls import NotAdded
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig

TEXT = "the quick brown fox jumps over the lazy dog while seven wise owls look on and say nothing at all"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with Index.create(tmp_path_factory.mktemp("client") / "a.db") as made:
        for day, name in (("2024-01-01", "old"), ("2024-02-01", "new")):
            sweeping = SweepWriter(made, day)
            sweeping.add([{"url": f"http://site.example/{name}", "text": TEXT, "title": "A page"}])
            sweeping.finish()
        yield made


@pytest.fixture(scope="module")
def address(index: Index) -> Iterator[str]:
    config = ServiceConfig(admin_tokens=frozenset({ADMIN}), read_tokens=frozenset({READ}), rate=0)
    with serving(ServedData(index=index), config) as http:
        yield str(http.base_url).rstrip("/")


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with Client(address, token=ADMIN) as made:
        yield made


def test_a_client_answers_as_the_index_does(client: Client, index: Index) -> None:
    assert client.ready()
    assert client.add({"doc_id": "a", "text": TEXT + " indeed"}).match is not None
    assert client.check(TEXT) == index.query(TEXT)
    assert client.check(
        {"text": TEXT, "date": "2024-01-02"}, limit=1, minimum=0.5, measure="containment"
    ) == index.query({"doc_id": "", "text": TEXT, "date": "2024-01-02"}, limit=1, minimum=0.5, measure="containment")
    assert client.get("a") == index.get("a") and client.get("nobody") is None
    assert client.text("a") == TEXT + " indeed" and client.text("nobody") is None
    entry = index.by_url("http://site.example/old")
    assert client.by_url("http://site.example/old") == entry and client.by_url("http://no.example/") == []
    assert client.cluster(entry[0].cluster_id) == index.cluster(entry[0].cluster_id) and client.cluster(10**9) == []
    assert client.stats() == index.stats()
    sweeps = roughly.Sweeps(index)
    assert client.lost("http://site.example/old") == sweeps.lost("http://site.example/old")
    assert client.copies("a") == sweeps.copies("a", limit=100)
    results = [{"doc_id": "x", "text": TEXT}, {"doc_id": "y", "text": TEXT + " indeed"}, {"doc_id": "z", "text": "no"}]
    assert client.group(results, show="longest", threshold=0.7) == roughly.group_results(
        results, show="longest", threshold=0.7
    )
    assert client.group(["a", entry[0].doc_id]) == roughly.group_results(["a", entry[0].doc_id], index=index)
    compared, expected = client.compare({"doc_id": "a"}, TEXT, context=3), roughly.compare(TEXT + " indeed", TEXT)
    assert (compared.resemblance, compared.kind) == (expected.scores.resemblance, expected.kind)
    assert compared.passages == expected.passages and compared.diff == expected.diff(3)
    assert client.compare(TEXT, TEXT, diff=False).diff is None
    assert client.revoke(["a"]) == ["a"] and client.remove(["a", "b"]) == ["a"] and client.remove("a") == []


def test_many_at_once_in_order(client: Client, index: Index) -> None:
    documents: list[Any] = [{"doc_id": f"m{n}", "text": f"{TEXT} {n}"} for n in range(23)]
    documents[7] = {"doc_id": "", "text": "no id"}
    told = list(client.adding(iter(documents), at_once=5))
    assert [one.doc_id if not isinstance(one, NotAdded) else one.number for one in told] == [
        8 if n == 7 else f"m{n}" for n in range(23)
    ]
    assert all(index.get(f"m{n}") for n in range(23) if n != 7)
    found = list(client.checking([TEXT, "never seen", {"text": TEXT}], at_once=2))
    assert [isinstance(one, list) and bool(one) for one in found] == [True, False, True]
    assert client.remove(["ü" * 900 + str(n) for n in range(50)]) == [], "more than an address holds"
    assert client.remove([f"m{n}" for n in range(23)]) == sorted(f"m{n}" for n in range(23) if n != 7)


def test_the_async_client_does_the_same(address: str, client: Client) -> None:
    async def documents() -> AsyncIterator[dict[str, str]]:
        for n in range(12):
            yield {"doc_id": f"y{n}", "text": f"{TEXT} {n}"}

    async def work() -> None:
        async with AsyncClient(address, token=ADMIN) as asked:
            assert await asked.ready()
            added = [one async for one in asked.adding(documents(), at_once=5)]
            assert [one.doc_id for one in added if not isinstance(one, NotAdded)] == [f"y{n}" for n in range(12)]
            some = await asyncio.gather(*(asked.check(f"{TEXT} {n}", limit=1) for n in range(12)))
            assert all(len(one) == 1 for one in some)
            assert await asked.check(TEXT) == client.check(TEXT)
            assert [one async for one in asked.checking([TEXT, "no"])] == list(client.checking([TEXT, "no"]))
            assert (await asked.get("y1")) == client.get("y1") and await asked.get("nobody") is None
            assert await asked.text("y1") == f"{TEXT} 1" and await asked.by_url("http://no.example/") == []
            assert await asked.cluster(10**9) == [] and await asked.stats() == client.stats()
            assert await asked.lost("http://site.example/old") == client.lost("http://site.example/old")
            assert await asked.copies("y1") == client.copies("y1")
            assert await asked.group(["y1", "y2"]) == client.group(["y1", "y2"])
            assert await asked.compare(TEXT, {"doc_id": "y1"}) == client.compare(TEXT, {"doc_id": "y1"})
            assert (await asked.add({"doc_id": "y0", "text": f"{TEXT} 0"})).status == "unchanged"
            assert await asked.revoke("nobody") == []
            assert len(await asked.remove(f"y{n}" for n in range(12))) == 12
            with pytest.raises(InputMissing):
                await asked.lost("http://never.example/")

    with ThreadPoolExecutor(1) as apart:  # another test of this process may have a browser, with a loop of its own
        apart.submit(asyncio.run, work()).result()


def test_both_clients_have_the_same_methods() -> None:
    def methods(kind: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(value).parameters)
            for name, value in vars(kind).items()
            if not name.startswith("_")
        }

    assert methods(Client) == methods(AsyncClient)


def test_errors_are_told_as_our_own(address: str, tmp_path: Path) -> None:
    with Client(address, token=READ) as client:
        with pytest.raises(ServiceRefused, match="right to write") as refused:
            client.add({"doc_id": "a", "text": "b"})
        assert refused.value.status == 403
        with pytest.raises(ServiceRefused, match="since"):
            client.check("x", since="some day")
        with pytest.raises(InputError, match="JSON"):
            client.check("\ud800")
        assert READ not in repr(client)
    with Client("http://127.0.0.1:9", retries=0) as client:
        assert not client.ready()
        with pytest.raises(IndexAway, match="is the service running"):
            client.stats()
    for wrong in ("127.0.0.1:80", "ftp://x"):
        with pytest.raises(SettingsError, match="no address"):
            Client(wrong)


def answered_by(
    monkeypatch: pytest.MonkeyPatch, answers: list[httpx.Response | Exception]
) -> tuple[Client, list[float]]:
    """A client whose requests get these answers, and how long it waited between them."""
    waits: list[float] = []
    monkeypatch.setattr(module.time, "sleep", waits.append)
    client = Client("http://service.example", retries=2)

    def send(request: httpx.Request) -> httpx.Response:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    client._http.close()
    client._http = httpx.Client(transport=httpx.MockTransport(send))
    return client, waits


def busy(seconds: str = "3") -> httpx.Response:
    return httpx.Response(503, headers={"retry-after": seconds}, json={"error": "away", "remedy": "wait"})


GONE = {"ids": ["a"]}
NOTHING = {"known": False, "matches": []}
CALLS: list[tuple[Callable[[Client], Any], dict[str, Any]]] = [
    (lambda client: client.remove("a"), GONE),
    (lambda client: client.check("x"), NOTHING),
]


@pytest.mark.parametrize(("call", "good"), CALLS)
def test_what_the_service_could_not_take_is_sent_again(
    monkeypatch: pytest.MonkeyPatch, call: Callable[[Client], Any], good: dict[str, Any]
) -> None:
    client, waits = answered_by(monkeypatch, [busy(), busy("99999"), httpx.Response(200, json=good)])
    call(client)
    assert waits[0] >= 3 and waits[1] <= 10
    client, waits = answered_by(monkeypatch, [busy(), busy(), busy()])
    with pytest.raises(IndexAway, match="away; wait"):
        call(client)
    assert len(waits) == 2
    client, waits = answered_by(monkeypatch, [httpx.ConnectError("refused"), httpx.Response(200, json=good)])
    call(client)


def test_what_may_have_arrived_is_sent_again_only_where_twice_is_once(monkeypatch: pytest.MonkeyPatch) -> None:
    client, _ = answered_by(
        monkeypatch, [httpx.ReadTimeout("slow"), httpx.Response(200, json={"known": False, "matches": []})]
    )
    assert client.check("x") == []
    client, waits = answered_by(monkeypatch, [httpx.ReadTimeout("slow"), httpx.Response(200, json=GONE)])
    with pytest.raises(IndexAway, match="cannot be reached"):
        client.remove("a")
    assert waits == []


def test_a_batch_whose_storage_failed_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    good = {"line": 1, "doc_id": "a", "cluster_id": 1, "status": "added", "match": None}
    failed = {"line": 1, "error": "the database is away", "code": 503}
    cut = httpx.Response(200, content=b"")
    answers = [httpx.Response(200, json=failed), cut, httpx.Response(200, content=json.dumps(good).encode() + b"\n")]
    client, waits = answered_by(monkeypatch, answers)
    assert [one.doc_id for one in client.adding([{"doc_id": "a", "text": "b"}]) if not isinstance(one, NotAdded)] == [
        "a"
    ]
    assert len(waits) == 2
