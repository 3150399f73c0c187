import Application
import CPlatform
import Glibc
import Lua

/// Makes reads of standard input wait like a timer: signals, timers and other tasks run meanwhile. Input that the C
/// library has buffered is returned at once.
enum StandardInput {
    static func install(in host: ScriptHost) {
        let state = host.state
        let wait = state.makeFunction(LuaFunctionDeclaration("input")) { [unowned host] call in
            guard host.waitsForInput, cubby_input_is_empty() != 0 else { return call.returnsNothing() }
            host.commit()
            host.output.flush()
            return try host.scheduler.wait(call) { resume in
                var watch: LoopWatch?
                watch = host.loop.watch(STDIN_FILENO) { _ in
                    watch?.cancel()
                    resume()
                }
                return { watch?.cancel() }
            }
        }
        try? state.waitForInput(wait)
    }
}
