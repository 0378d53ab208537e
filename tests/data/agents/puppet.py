"""An agent that does what its task says: each line `[[…]]` of a message is a list of steps.

["say", EVENT] writes an event, ["raw", TEXT] a line that is none, ["warn", TEXT] one on stderr, ["exit", CODE] ends it,
["write", NAME, TEXT] writes a file of the worktree, ["out", NAME, TEXT] one of its artifacts, ["deaf"] reads no more,
["env", NAME] says the value of a variable, ["leak", NAME] complains about it on stderr.
Every command that it reads is said back as an event `heard`.
"""

import json
import os
import sys
import time
from typing import Any


def say(event: dict[str, Any]) -> None:
    print(json.dumps(event), flush=True)


def act(step: list[Any]) -> None:
    kind, *words = step
    if kind == "say":
        say(words[0])
    elif kind == "raw":
        print(words[0], flush=True)
    elif kind == "warn":
        print(words[0], file=sys.stderr, flush=True)
    elif kind == "exit":
        sys.exit(words[0])
    elif kind == "write":
        with open(words[0], "w") as file:
            file.write(words[1])
    elif kind == "out":
        with open(os.path.join(os.environ["COLONIZER_OUT_DIR"], words[0]), "w") as file:
            file.write(words[1])
    elif kind == "env":
        say({"type": "env", "name": words[0], "value": os.environ.get(words[0])})
    elif kind == "leak":
        print("what is", os.environ[words[0]], file=sys.stderr, flush=True)
    elif kind == "deaf":
        while True:
            time.sleep(60)


def main() -> None:
    say({"type": "status", "state": "idle"})
    for line in sys.stdin:
        command = json.loads(line)
        if command["type"] == "shutdown":
            break
        say({"type": "heard", "command": command})
        if command["type"] == "answer":
            say({"type": "question_answered", **{key: command[key] for key in ("question_id", "answers", "response")}})
        if command["type"] == "user_message":
            say({"type": "user_message", "id": command["id"], "text": command["text"]})
            for text in command["text"].splitlines():
                if text.startswith("[["):
                    for step in json.loads(text):
                        act(step)
    say({"type": "status", "state": "exited"})


main()
