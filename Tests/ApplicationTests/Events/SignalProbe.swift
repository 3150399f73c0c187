import Application
import Foundation
import Testing

@Suite("SignalProbe", .enabled(if: Probe.log != nil, "runs in a process of its own, started by JobControlTests"))
struct SignalProbe {
    /// The life of an application that only tells what happens to it. Ends on SIGTERM and SIGHUP.
    @Test func live() throws {
        Probe.parkMainThread()
        SignalMask.blockAtLaunch()
        let loop = try EventLoop()
        let source = try SignalSource(poster: loop.poster)
        let terminal = Terminal()
        var machine = LifeCycleMachine()

        var poller: JobStatePoller?
        /// Looks by way of the poller, so that it knows what we know.
        func isInForeground() -> Bool { (poller?.refresh() ?? terminal.jobState) != .background }

        func handle(_ event: ApplicationEvent, _ cause: String) {
            let steps = (try? machine.handle(event)) ?? []
            if !steps.isEmpty { Probe.say("<\(cause): \(machine.state)>") }
            for step in steps {
                switch step {
                case .stopProcess:
                    ProcessStopper.stopUntilContinued()
                    handle(.resume(inForeground: isInForeground()), "after stop")
                case .exit: exit(0)
                default: break
                }
            }
        }

        poller = JobStatePoller(look: { terminal.jobState }) { jobState in
            handle(.resume(inForeground: jobState != .background), "poll")
        }
        loop.onSignal = { signal in
            switch signal {
            case .stop: handle(.suspend, "SIGTSTP")
            case .resume: handle(.resume(inForeground: isInForeground()), "SIGCONT")
            case .terminate, .hangUp: handle(.terminate(explicitly: false), signal.description)
            case .interrupt: Probe.say("<SIGINT>")
            default: break
            }
        }
        handle(.launch(inBackground: terminal.jobState == .background), "launch \(terminal.jobState)")
        poller?.start(on: loop, every: 0.02)
        loop.run { false }
        source.stop()
    }
}
