"""The examples of the kernel's specification, over each transport and in both eras of the protocol."""

import json
from typing import Any

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from colonizer_config.settings import KernelPreset
from colonizer_engines.kernel.wire import PRESETS
from engines.kernel.served import TRANSPORTS, reached
from recorded import Json, rows

pytestmark = pytest.mark.anyio

_TOOLS = rows("kernel/seed")

_ways = pytest.mark.parametrize("mode", ["auto", "legacy"])
_transports = pytest.mark.parametrize("transport", TRANSPORTS)


@_transports
@_ways
async def test_the_examples_of_the_specification_hold(transport: str, mode: str) -> None:
    async with reached(transport, mode) as client:
        modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        assert modern is (mode == "auto")
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(listed) == [tool["tool"] for tool in _TOOLS]
        for tool in _TOOLS:
            found = listed[tool["tool"]]
            assert (found.description, found.input_schema) == (tool["description"], tool["input_schema"])
            # Before 2026-07-28 what is structured is an object.
            fits = modern or tool["output_schema"]["type"] == "object"
            assert found.output_schema == (tool["output_schema"] if fits else None)
            # The client raises where what is structured does not fit the schema that is listed.
            answer = await client.call_tool(tool["tool"], tool["example"]["arguments"])
            _compare(tool["tool"], tool["example"]["value"], _value(answer, structured=fits))


@_ways
async def test_bad_arguments_fail_in_words_that_name_them(mode: str) -> None:
    async with reached("in process", mode) as client:
        await client.list_tools()
        outcome = dict(_TOOLS[1]["example"]["arguments"])
        for tool, arguments, field in (
            ("colony_record_outcome", outcome | {"human_feedback": 1.5}, "human_feedback"),
            ("colony_record_outcome", outcome | {"tests_passed": "perhaps"}, "tests_passed"),
            ("colony_record_outcome", outcome | {"agent_id": ""}, "agent_id"),
            ("colony_agent_profile", {}, "agent_id"),
            ("colony_agent_profile", {"agent_id": "a", "colour": "red"}, "colour"),
            ("colony_pheromone_query", {"location": "x", "signal_type": "joy"}, "signal_type"),
            ("colony_falsify_plan", {"plan_json": "{"}, "plan_json"),
        ):
            answer = await client.call_tool(tool, arguments)
            (block,) = answer.content
            assert answer.is_error
            assert answer.structured_content is None
            assert isinstance(block, TextContent)
            assert field in block.text
        assert (await client.call_tool("colony_status", {})).structured_content == await _status(client)
        for unknown in ("colony_nothing", "codomyrmex.colony_status", "operator_matrix"):
            with pytest.raises(MCPError) as problem:
                await client.call_tool(unknown, {})
            assert problem.value.code == -32602


async def test_half_a_surrogate_pair_goes_in_and_comes_out_as_a_replacement() -> None:
    plan = json.dumps({"action_type": "delete", "target": "\ud800", "rationale": "\udfff", "rollback_plan": "\ud800"})
    async with reached("over HTTP", "auto") as client:
        answer = await client.call_tool("colony_falsify_plan", {"plan_json": plan})
        assert "\ufffd" in json.dumps(_value(answer, structured=True), ensure_ascii=False)
        nan = json.dumps({"action_type": "x", "target": "t", "rationale": "r", "tests": float("nan")})
        _value(await client.call_tool("colony_falsify_plan", {"plan_json": nan}), structured=True)


async def test_a_client_is_told_which_kind_of_kernel_it_is() -> None:
    said = [
        {"preset": "seed", "law": {"kind": "proportional", "base": 0.1, "gone_at": 0.01}},
    ]
    async with reached("in process", "auto") as modern, reached("in process", "legacy") as before:
        assert [(modern.server_capabilities.extensions or {})["colonizer/kernel"]] == said
        assert [(before.server_capabilities.experimental or {})["colonizer/kernel"]] == said


def test_the_settings_name_every_kind_of_kernel() -> None:
    assert [preset.value for preset in KernelPreset] == list(PRESETS)


def _value(answer: CallToolResult, *, structured: bool) -> Any:
    """What was answered, the same twice where it is structured."""
    (block,) = answer.content
    assert not answer.is_error, block
    assert isinstance(block, TextContent)
    value = json.loads(block.text)
    if structured:
        assert answer.structured_content == value
    else:
        assert answer.structured_content is None
    return value


async def _status(client: Client) -> Any:
    return (await client.call_tool("colony_status", {})).structured_content


def _compare(tool: str, printed: Any, value: Any) -> None:
    """Compares what the specification prints with what a new kernel answers to its examples, made one after another.

    Its own figures are of different moments: those that no rule yields (trust 0.173, 9 calls used) are not compared.
    """
    match tool:
        case "colony_propose_action":
            assert value == printed
        case "colony_record_outcome":
            assert (value["status"], value["role"]) == (printed["status"], printed["role"])
            assert value["trust_score"] == 0.17
        case "colony_agent_profile":
            assert (value["agent_id"], value["role"]) == (printed["agent_id"], printed["role"])
            assert (value["total_proposals"], value["accepted_proposals"]) == (1, 1)
            assert len(value["consequence_history"]) == 1
        case "colony_falsify_plan":
            assert [_gist(row) for row in value["findings"]] == [_gist(row) for row in printed["findings"]]
            assert abs(value["severity_score"] - printed["severity_score"]) < 1e-9
            assert value["recommendation"] == printed["recommendation"]
        case "colony_pheromone_query":
            assert [row.keys() for row in value] == [row.keys() for row in printed]
            assert (value[0]["location"], value[0]["signal_type"]) == (printed[0]["location"], "failure")
            assert value[0]["decay_rate"] == printed[0]["decay_rate"]
        case "colony_pruning_report":
            assert (value["candidates"], value["total_candidates"]) == ([], 0)
        case _:
            assert value.keys() == printed.keys()
            assert value["tick_count"] == printed["tick_count"]
            assert value["role_distribution"] == {"sandbox": 1}
            assert (
                value["pheromone_summary"]["top_signals"][0].keys()
                == printed["pheromone_summary"]["top_signals"][0].keys()
            )
            assert value["budget_usage"]["llm_calls"]["max"] == printed["budget_usage"]["llm_calls"]["max"]


def _gist(finding: Json) -> tuple[str, str]:
    return finding["attack_vector"], finding["severity"]
