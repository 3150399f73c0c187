import Application
package import Lua

/// A script that stands at a break, for its front end.
package final class ScriptBreak {
    /// Why the break ends without the user.
    package enum Ending: Sendable {
        /// Ctrl-C: the script is stopped.
        case interrupted
        /// The application ends, or what runs the script does.
        case ended
        /// The time of a handler of the life cycle is used up: it runs on while the user looks.
        case timeIsUp
        /// The next event of the life cycle waits for the handler.
        case eventWaits
    }

    /// The functions and their variables.
    package let stop: LuaBreak
    /// What runs, for the user: `the timer every 2.0 s`; nil for a chunk.
    package let title: String?
    unowned let host: ScriptHost
    /// The end of the handler's time, or of that in the background, in the life cycle.
    private let deadline: MonotonicTime?

    init(_ host: ScriptHost, _ stop: LuaBreak, deadline: MonotonicTime?) {
        self.host = host
        self.stop = stop
        self.deadline = deadline
        title = host.scheduler.current?.title
    }

    /// Set when the break must end, whatever the user does.
    package var ending: Ending? {
        let lifeCycle = host.lifeCycle
        if host.exitCode != nil || lifeCycle.deferredTermination != nil || lifeCycle.skipsHandlers { return .ended }
        if lifeCycle.cancelRequested { return .interrupted }
        if let deadline, deadline <= .now() { return .timeIsUp }
        if host.state.isUnwinding { return .ended }
        let waits = lifeCycle.queue.contains { next in
            if case .terminate = next.event { true } else { next.event == .suspend }
        }
        return waits ? .eventWaits : nil
    }

    /// Serves events once: signals, the life cycle, the front end's input.
    package func turn() {
        host.loop.runOnce(timeout: deadline.map { max($0.seconds(since: .now()), 0) })
    }

    /// Whether code that the user asked for runs: stopping what runs does not stop the script at the break.
    package var isEvaluating: Bool { host.scheduler.current?.isOfBreak ?? false }

    /// Takes back Ctrl-C, where the user means a line that is being typed.
    package func dropInterrupt() { host.lifeCycle.cancelRequested = false }

    /// Evaluates a text in a function.
    ///
    /// - Parameters:
    ///   - text: an expression or statements.
    ///   - call: the function's position in `stop.calls`.
    ///   - seconds: its time limit; nil for none: Ctrl-C stops it, and the end of a handler's time.
    ///   - willRun: called when it is compiled and about to run.
    /// - Returns: its values, or its error.
    package func evaluate(
        _ text: String, in call: Int, seconds: Double? = nil, willRun: () -> Void = {}
    ) -> Result<[LuaValue], LuaError> {
        let outer = host.foreground
        // Ctrl-C stops the text alone, also while that waits. Its changes are committed, as those of an entry are.
        defer {
            host.foreground = outer
            host.lifeCycle.cancelRequested = false
            host.commit()
        }
        do throws(LuaError) {
            let function = try stop.compile(text, in: call)
            host.foreground = nil
            willRun()
            let task = host.scheduler.start(function, stop.varargs(of: call), seconds: seconds, generation: 0)
            host.foreground = task
            return host.scheduler.finish(task)
        } catch {
            return .failure(error)
        }
    }

    /// How the script goes on.
    func decision(_ resume: LuaDebugger.Resume) -> LuaDebugger.Resume {
        // It is being stopped already, as deep as it must be.
        if host.state.isUnwinding { return .goOn }
        switch ending {
        case .interrupted:
            host.lifeCycle.cancelRequested = false
            return stopping
        case .ended:
            return .stop(LuaError(.cancelled, "the application has ended"), depth: 1)
        case .timeIsUp, .eventWaits: return .goOn
        case nil: return resume
        }
    }

    /// The way to stop the script.
    package var stopping: LuaDebugger.Resume {
        .stop(TaskScheduler.interruption, depth: host.scheduler.current?.depth ?? 1)
    }
}
