import Application
import Files
import Glibc
import Testing

@Suite("Presence and the end of input")
struct JobStateTests {
    @Test func tellsChangesOnly() throws {
        var answers: [Terminal.JobState] = [.foreground, .foreground, .background, .background, .foreground]
        var told: [Terminal.JobState] = []
        let poller = JobStatePoller(look: { answers.removeFirst() }, handler: { told.append($0) })
        while !answers.isEmpty { poller.check() }
        #expect(told == [.background, .foreground])
    }

    @Test func looksByItself() throws {
        let loop = try EventLoop()
        var looks = 0
        let poller = JobStatePoller(
            look: {
                looks += 1
                return looks > 3 ? .background : .foreground
            }, handler: { _ in })
        poller.start(on: loop, every: 0.001)
        loop.run { poller.last == .background }
        poller.stop()
        #expect(!loop.hasWork)
    }

    @Test func aPipeIsNoTerminal() {
        #expect(Terminal(descriptor: -1, isOwned: false).jobState == .headless)
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        defer { for end in ends { close(end) } }
        #expect(Terminal(descriptor: ends[0], isOwned: false).jobState == .headless)
    }

    @Test(
        arguments: [
            (0, 0, ReadyEvents.readable, .foreground, .endOfInput),
            (0, 0, [.readable, .hangUp], .foreground, .hangUp),
            (0, 0, [.readable, .hangUp], .headless, .endOfInput),
            (0, 0, .readable, .hungUp, .hangUp),
            (-1, EIO, .readable, .background, .inBackground),
            (-1, EIO, .readable, .foreground, .hangUp),
            (-1, EINTR, .readable, .foreground, .notYet),
            (-1, EAGAIN, .readable, .headless, .notYet),
            (-1, EBADF, .error, .headless, .failure(FileError(.read, "standard input", code: EBADF))),
        ] as [(Int, Int32, ReadyEvents, Terminal.JobState, InputEnd)])
    func classifies(count: Int, code: Int32, ready: ReadyEvents, jobState: Terminal.JobState, end: InputEnd) {
        #expect(InputEnd.classify(count: count, code: code, ready: ready, jobState: jobState) == end)
    }
}
