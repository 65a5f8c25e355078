"""What adapters put on the wire, caught before any socket, and the golden files that hold it."""

from __future__ import annotations

import base64
import io
import json
import os
from email import message_from_bytes
from pathlib import Path

import httpx2
from PIL import Image

from gensight.models import Part, Turn
from gensight.providers import Connection, Exchange

KEY = "sk-marked-key-0123456789"
GOLDEN = Path(__file__).with_name("golden")
#: Set to 1, the golden files are written instead of compared; look at each before committing it.
WRITE = "GENSIGHT_WRITE_GOLDEN"


def picture(kind="PNG", size=(48, 32), colour=(200, 30, 30)):
    data = io.BytesIO()
    Image.new("RGB", size, colour).save(data, format=kind)
    return data.getvalue()


PNG, JPEG = picture(), picture("JPEG", (64, 40), (20, 90, 160))
PICTURES = {"a PNG of 48x32": PNG, "a JPEG of 64x40": JPEG}


def turn(*parts, form="mask", **changes):
    """A turn of texts and pictures in this order."""
    made = tuple(
        Part("text", text=part) if isinstance(part, str) else Part("image", image=part)
        for part in parts
    )
    return Turn(made, {"kind": form}, **changes)


class Catcher:
    """A client that answers every request alike and remembers them."""

    def __init__(self, answer=None, status=200, host="https://provider.example"):
        self.requests = []
        self._answer, self._status = answer or {}, status
        client = httpx2.Client(transport=httpx2.MockTransport(self._caught), timeout=5.0)
        self.connection = Connection(KEY, host, client)

    def _caught(self, request):
        self.requests.append(request)
        return httpx2.Response(self._status, json=self._answer)

    @property
    def body(self):
        (request,) = self.requests
        return json.loads(request.content)


def sent(module, generation, asked):
    """Return the one request that a turn makes."""
    catcher = Catcher()
    module.connect(generation, catcher.connection).send(asked)
    (request,) = catcher.requests
    return request


def assert_golden(protocol, name, request):
    """Compare a request with its golden file: method, path, name of the key's header, body."""
    found = {
        "method": request.method,
        "path": request.url.path,
        "query": request.url.query.decode(),
        "key_header": [name for name, value in request.headers.items() if KEY in value],
        "body": _without_pictures(_body(request)),
    }
    path = GOLDEN / protocol / f"{name}.json"
    text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    if os.environ.get(WRITE) == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8")) == found


def _body(request):
    """Return a body of JSON, or the parts of a multipart one in their order."""
    kind = request.headers["content-type"]
    if not kind.startswith("multipart/form-data"):
        return json.loads(request.content)
    head = f"content-type: {kind}\r\n\r\n".encode()
    return [_part(part) for part in message_from_bytes(head + request.content).get_payload()]


def _part(part):
    name = part.get_param("name", header="content-disposition")
    data = part.get_payload(decode=True)
    if part.get_filename() is None:
        return {"name": name, "value": data.decode()}
    known = [what for what, picture_data in PICTURES.items() if picture_data == data]
    return {
        "name": name,
        "filename": part.get_filename(),
        "content-type": part.get_content_type(),
        "value": f"the bytes of {known[0]}" if known else "other bytes",
    }


def _without_pictures(value):
    if isinstance(value, dict):
        return {name: _without_pictures(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_without_pictures(member) for member in value]
    # Named, not hashed: encoders of other versions write other bytes for the same picture.
    for what, data in PICTURES.items():
        if value == base64.b64encode(data).decode():
            return f"{what} in base64"
        if value == base64.urlsafe_b64encode(data).decode():
            return f"{what} in base64 for URLs"
        if isinstance(value, str) and value.startswith("data:"):
            head, _, coded = value.partition(",")
            if coded == base64.b64encode(data).decode():
                return f"{head}, then {what}"
    return value


def answered(body, status=200, method="POST", url="https://provider.example/v1/x"):
    """Return a round trip with a body: bytes, or something to write as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Exchange(method, url, status=status, headers={}, body=data)
