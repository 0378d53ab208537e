"""Routes of tokens (spec 2.4)."""

from collections.abc import Mapping

from starlette.responses import Response

from colonizer_engines.lenient_json import encode
from colonizer_engines.mothership.api.bodies import Field, amount, count, read_json, shaped, text, texts
from colonizer_engines.mothership.api.replies import json_reply, raw_json
from colonizer_engines.mothership.api.routes import Call
from colonizer_engines.mothership.errors import Refusal
from colonizer_engines.mothership.tokens import digest, new_token

_NEW_TOKEN: Mapping[str, Field] = {
    "name": Field(text, required=True),
    "scope": Field(text, required=True),
    "orgs": Field(texts),
    "repos": Field(texts),
    "max_concurrent": Field(count, nullable=True),
    "budget_usd_per_day": Field(amount, nullable=True),
}


async def who_am_i(call: Call) -> Response:
    """GET `/api/tokens/self`."""
    token = call.caller.token
    if token is None:
        return json_reply({"owner": True, "scope": "owner", "orgs": [], "repos": []})
    return json_reply(
        {"owner": False, "name": token.name, "scope": token.scope, "orgs": token.orgs, "repos": token.repos}
    )


async def list_tokens(call: Call) -> Response:
    """GET `/api/tokens`: oldest first, without their secrets."""
    return json_reply(call.mothership.tokens.records())


async def make_token(call: Call) -> Response:
    """POST `/api/tokens`: the only time that the secret is shown."""
    body = shaped(await read_json(call.request), "NewToken", _NEW_TOKEN)
    mothership = call.mothership
    secret, record = new_token(body, mothership.fleet.change_moment())
    with mothership.store.transaction():
        mothership.store.put_token(digest(secret), record)
    mothership.tokens.add(digest(secret), record)
    return raw_json(b'{"token":' + encode(secret) + b"," + encode(record)[1:])


async def revoke_token(call: Call) -> Response:
    """DELETE `/api/tokens/{token}`: its sockets end at once."""
    mothership = call.mothership
    record = mothership.tokens.find(call.parameters["token"])
    if record is None:
        raise Refusal(404, "no such token")
    with mothership.store.transaction():
        mothership.store.delete_token(record.id)
    mothership.tokens.revoke(record.id)
    return json_reply({"ok": True})
