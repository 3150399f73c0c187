"""Debugs a script by dap-python, a client of the Debug Adapter Protocol that checks what it receives against its models.

debug_client.py CUBBY FILE     breaks where line 3 of FILE calls breakpoint(), looks at everything, changes it, and lets it end
"""
import subprocess
import sys

from dap import Client, responses
from dap import events as event_kinds
from dap.base import ErrorResponse
from dap.handler import Handler


# Version 0.5 looks for the whole response in the bodies of these, which have none.
EMPTY = {"configurationDone", "launch", "next", "setExceptionBreakpoints", "disconnect"}


def take(handler, response, original=Handler.handle_response):
    return response if response.success and response.command in EMPTY else original(handler, response)


Handler.handle_response = take


class Session:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.client = Client("cubby", client_id="judge", lines_start_at1=True, columns_start_at1=True, path_format="path")
        self.seen = []

    def flush(self):
        self.process.stdin.write(self.client.send())
        self.process.stdin.flush()

    def wait(self, *kinds):
        """The next message of one of some kinds."""
        self.flush()
        while True:
            for index, message in enumerate(self.seen):
                if isinstance(message, kinds):
                    return self.seen.pop(index)
                assert not isinstance(message, ErrorResponse), message
            data = self.process.stdout.read1(1 << 16)
            assert data, f"the adapter has gone; {self.seen}"
            self.seen += self.client.receive(data)

    def ask(self, method, *arguments, **more):
        """The response to a request: its kind has the method's name."""
        getattr(self.client, method)(*arguments, **more)
        name = "".join(word.capitalize() for word in method.split("_")) + "Response"
        return self.wait(getattr(responses, name))


def main(cubby, path):
    session = Session([cubby, "debug", "--dap", path])
    session.client.launch()
    session.wait(event_kinds.InitializedEvent)
    found = session.ask("set_breakpoints", {"path": path}, breakpoints=[{"line": 3}])
    assert found.breakpoints[0].verified and found.breakpoints[0].line == 3, found
    # The event of a break there has numbers, as the specification says; version 0.5 takes strings.
    session.ask("set_breakpoints", {"path": path}, breakpoints=[])
    session.client.configuration_done()
    stopped = session.wait(event_kinds.StoppedEvent)
    assert stopped.reason == "breakpoint" and stopped.threadId == 1, stopped
    threads = session.ask("threads").threads
    assert [thread.id for thread in threads] == [1]
    frames = session.ask("stack_trace", 1).stackFrames
    assert frames[0].line == 3 and frames[0].source.path == path, frames
    scopes = session.ask("scopes", frames[0].id).scopes
    print(" ".join(scope.name for scope in scopes))
    for variable in session.ask("variables", scopes[0].variablesReference).variables:
        print(f"{variable.name}: {variable.type} = {variable.value}")
    print(session.ask("set_variable", scopes[0].variablesReference, "total", "40").value)
    print(session.ask("evaluate", "total + 1", frame_id=frames[0].id, context="watch").result)
    session.client.next(1)
    assert session.wait(event_kinds.StoppedEvent).reason == "step"
    session.client.continue_(1)
    print("exit", session.wait(event_kinds.ExitedEvent).exitCode)
    session.wait(event_kinds.TerminatedEvent)
    text = "".join(event.output for event in session.seen if isinstance(event, event_kinds.OutputEvent))
    print(text, end="")
    session.process.stdin.close()
    session.process.wait()


main(*sys.argv[1:])
