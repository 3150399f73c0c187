import Application
import CPlatform
import Glibc
import Lua

/// Has scripts wait for standard input as they wait for a timer: signals, timers and other tasks go on meanwhile, so that
/// Ctrl-Z, Ctrl-C and SIGTERM mean what they always do. What the C library has read ahead is there at once.
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
