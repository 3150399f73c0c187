import Application
package import Lua

/// A script that is paused at a break, for its front end.
package final class ScriptBreak {
    /// Why a break ends without the user's decision.
    package enum Ending: Sendable {
        /// Ctrl-C: the script is stopped.
        case interrupted
        /// The application ends, or the script is being stopped already.
        case ended
        /// The time limit of a life-cycle handler has expired: it also counts the time of the break.
        case timeIsUp
        /// The next life-cycle event waits for the handler.
        case eventWaits
    }

    /// The stack frames and their variables.
    package let stop: LuaBreak
    /// The title of the running task: `the timer every 2.0 s`; nil for a chunk.
    package let title: String?
    unowned let host: ScriptHost
    /// The deadline of the life-cycle handler or the background time, in the life cycle.
    private let deadline: MonotonicTime?

    init(_ host: ScriptHost, _ stop: LuaBreak, deadline: MonotonicTime?) {
        self.host = host
        self.stop = stop
        self.deadline = deadline
        title = host.scheduler.current?.title
    }

    /// Set when the break must end, regardless of the user.
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

    /// Runs the loop once: signals, the life cycle, the front end's input.
    package func turn() {
        host.loop.runOnce(timeout: deadline.map { max($0.seconds(since: .now()), 0) })
    }

    /// Whether an evaluation is running: stopping it does not stop the paused script.
    package var isEvaluating: Bool { host.scheduler.current?.isOfBreak ?? false }

    /// Discards a Ctrl-C that is meant for the line being typed.
    package func dropInterrupt() { host.lifeCycle.cancelRequested = false }

    /// Evaluates a text in a function.
    ///
    /// - Parameters:
    ///   - text: an expression or statements.
    ///   - call: the function's position in `stop.calls`.
    ///   - kind: what the text may be.
    ///   - seconds: the time limit; nil for none: Ctrl-C stops it, and a handler's deadline.
    ///   - willRun: called after compilation, just before it runs.
    /// - Returns: its values, or its error.
    package func evaluate(
        _ text: String, in call: Int, as kind: LuaBreakText = .entry, seconds: Double? = nil,
        willRun: () -> Void = {}
    ) -> Result<[LuaValue], LuaError> {
        let outer = host.foreground
        // Ctrl-C stops only the evaluation, also while it waits. Its changes are committed like those of an entry.
        defer {
            host.foreground = outer
            host.lifeCycle.cancelRequested = false
            host.commit()
        }
        do throws(LuaError) {
            let function = try stop.compile(text, in: call, as: kind)
            host.foreground = nil
            willRun()
            let task = host.scheduler.start(function, stop.varargs(of: call), seconds: seconds, generation: 0)
            host.foreground = task
            return host.scheduler.finish(task)
        } catch {
            return .failure(error)
        }
    }

    /// How the script resumes: an ending comes first.
    func decision(_ resume: LuaDebugger.Resume) -> LuaDebugger.Resume {
        // The script is being stopped already, to the required depth.
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

    /// The decision that stops the script.
    package var stopping: LuaDebugger.Resume {
        .stop(TaskScheduler.interruption, depth: host.scheduler.current?.depth ?? 1)
    }
}
