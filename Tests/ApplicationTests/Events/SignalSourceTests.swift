import Application
import Glibc
import Synchronization
import Testing

// One after another: a SIGCONT to any thread takes a SIGTSTP that waits back from all, and the other way round.
@Suite("SignalSource", .serialized)
struct SignalSourceTests {
    @Test(
        "Posts to the loop, then calls the interrupter",
        arguments: [
            UnixSignal.interrupt, .stop, .resume, .terminate, .hangUp, .windowChange,
        ])
    func posts(signal: UnixSignal) throws {
        // What the parent ignores (SIGINT, for a job in the background) stays ignored, and would never come.
        Glibc.signal(signal.rawValue, SIG_DFL)
        let loop = try EventLoop()
        let interrupted = Mutex<[UnixSignal]>([])
        let source = try SignalSource(poster: loop.poster) { signal in interrupted.withLock { $0.append(signal) } }
        var seen: [UnixSignal] = []
        loop.onSignal = { seen.append($0) }
        source.simulate(signal)
        loop.run { !seen.isEmpty }
        source.stop()
        source.stop()
        #expect(seen == [signal])
        #expect(interrupted.withLock { $0 } == [signal])
    }
}
