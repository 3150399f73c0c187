import Application
import Foundation
import Glibc
import Testing

@Suite("EventLoop")
struct EventLoopTests {
    /// A pipe that closes itself.
    final class Pipe {
        let reading: Int32
        private(set) var writing: Int32

        init() {
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            (reading, writing) = (ends[0], ends[1])
        }

        func put(_ byte: UInt8) {
            var byte = byte
            write(writing, &byte, 1)
        }

        func get() -> UInt8? {
            var byte: UInt8 = 0
            return read(reading, &byte, 1) == 1 ? byte : nil
        }

        func closeWriting() {
            if writing >= 0 { close(writing) }
            writing = -1
        }

        deinit {
            close(reading)
            closeWriting()
        }
    }

    @Test func timersFireInOrderAndOnce() throws {
        let loop = try EventLoop()
        var fired: [String] = []
        loop.after(0.002) { fired.append("b") }
        loop.after(0) { fired.append("a") }
        loop.after(0.004) { fired.append("c") }
        loop.after(0.003) { fired.append("never") }.cancel()
        #expect(loop.hasWork)
        loop.run { fired.count == 3 }
        #expect(fired == ["a", "b", "c"])
        #expect(!loop.hasWork)
        #expect(!loop.runOnce(timeout: 0))
    }

    @Test func aTimerThatAddsTimersDoesNotHoldTheTurn() throws {
        let loop = try EventLoop()
        unowned let sameLoop = loop  // its timer stays, and would hold it
        var count = 0
        func again() {
            count += 1
            sameLoop.after(0, handler: again)
        }
        loop.after(0, handler: again)
        loop.runOnce(timeout: 0)
        #expect(count == 1)
    }

    /// A stop is served before the next due timer and the next ready descriptor, however many there are.
    @Test func aSignalEndsTheTurn() throws {
        let loop = try EventLoop()
        var served: [String] = []
        loop.onSignal = { served.append("\($0)") }
        for number in 1...3 {
            loop.after(0) { [unowned loop] in
                served.append("timer \(number)")
                if number == 1 { loop.poster.post(.terminate) }
            }
        }
        loop.run { served.contains("SIGTERM") }
        #expect(served == ["timer 1", "SIGTERM"])
        loop.run { served.count == 4 }
        #expect(served == ["timer 1", "SIGTERM", "timer 2", "timer 3"])

        // Also when it is taken between two instructions of what runs.
        let pipes = (Pipe(), Pipe())
        pipes.0.put(1)
        pipes.1.put(1)
        served = []
        for pipe in [pipes.0, pipes.1] {
            loop.watch(pipe.reading) { [unowned loop] _ in
                _ = pipe.get()
                served.append("ready")
                loop.poster.post(.interrupt)
                loop.drainPending()
            }
        }
        loop.runOnce(timeout: 0)
        #expect(served == ["ready", "SIGINT"])
        loop.runOnce(timeout: 0)
        #expect(served == ["ready", "SIGINT", "ready", "SIGINT"])
    }

    @Test func urgentWorkPrecedesWhatIsDue() throws {
        let loop = try EventLoop()
        var served: [String] = []
        for number in 1...2 {
            loop.after(0) { [unowned loop] in
                served.append("timer \(number)")
                loop.urgently { served.append("urgent") }
            }
        }
        loop.runOnce(timeout: 0)
        #expect(served == ["timer 1", "urgent", "timer 2", "urgent"])
        loop.urgently { served.append("at once") }
        #expect(loop.hasWork)
        loop.runOnce()
        #expect(served.last == "at once")
    }

    @Test func aRepeatingTimerEndsWhenItIsCancelled() throws {
        let loop = try EventLoop()
        var count = 0
        var timer: LoopTimer?
        timer = loop.every(0) {
            count += 1
            if count == 3 { timer?.cancel() }
        }
        loop.run { timer?.isCancelled == true }
        loop.runOnce(timeout: 0.01)
        #expect(count == 3)
        #expect(!loop.hasWork)
    }

    @Test func aHandlerThatTurnsTheLoopIsNotEnteredAgain() throws {
        let loop = try EventLoop()
        var depth = 0
        var deepest = 0
        var other = 0
        let timer = loop.every(0.001) {
            depth += 1
            deepest = max(deepest, depth)
            let target = other + 3
            loop.run { other >= target }
            depth -= 1
        }
        loop.every(0.001) { other += 1 }
        loop.run { other >= 9 }
        timer.cancel()
        #expect(deepest == 1)
    }

    @Test func theFirstWaitIsPreparedOnce() throws {
        let loop = try EventLoop()
        var count = 0
        loop.onFirstWait = { count += 1 }
        loop.runOnce(timeout: 0)
        #expect(count == 0)
        loop.runOnce(timeout: 0.001)
        loop.runOnce(timeout: 0.001)
        #expect(count == 1)
    }

    @Test func watchesDescriptors() throws {
        let loop = try EventLoop()
        let pipe = Pipe()
        var got: [UInt8] = []
        var ended = false
        let watch = loop.watch(pipe.reading) { ready in
            if ready.contains(.readable), let byte = pipe.get() {
                got.append(byte)
            } else {
                ended = ready.contains(.hangUp)
            }
        }
        #expect(!loop.runOnce(timeout: 0))
        pipe.put(1)
        pipe.put(2)
        loop.run { got.count == 2 }
        watch.events = []
        pipe.put(3)
        #expect(!loop.runOnce(timeout: 0))
        watch.events = .readable
        loop.run { got.count == 3 }
        pipe.closeWriting()
        loop.run { ended }
        watch.cancel()
        #expect(!loop.runOnce(timeout: 0))
        #expect(got == [1, 2, 3])
    }

    @Test func aWatchThatAnotherCancelsInTheSameTurnIsNotCalled() throws {
        let loop = try EventLoop()
        let (first, second) = (Pipe(), Pipe())
        var calls: [String] = []
        var watches: [LoopWatch] = []
        for (name, pipe) in [("first", first), ("second", second)] {
            watches.append(
                loop.watch(pipe.reading) { _ in
                    calls.append(name)
                    for watch in watches { watch.cancel() }
                })
            pipe.put(1)
        }
        loop.runOnce(timeout: 0)
        #expect(calls == ["first"])
    }

    @Test func aClosedDescriptorIsAnErrorAndNoSpin() throws {
        let loop = try EventLoop()
        // A high number: the lowest free one is what the next test that opens something gets.
        let descriptor = fcntl(0, F_DUPFD, 900)
        close(descriptor)
        var seen: ReadyEvents = []
        var watch: LoopWatch?
        watch = loop.watch(descriptor) { ready in
            seen = ready
            watch?.cancel()
        }
        loop.runOnce(timeout: 0)
        #expect(seen.contains(.error))
    }

    @Test func otherThreadsReply() async throws {
        let loop = try EventLoop()
        var answers: [Int] = []
        let reply: EventReply<Int> = loop.reply { answers.append($0) }
        #expect(loop.hasWork)
        let box = Unmanaged.passRetained(reply)
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let reply = Unmanaged<EventReply<Int>>.fromOpaque(argument).takeRetainedValue()
                reply.send(42)
                reply.send(43)
                return nil
            }, box.toOpaque())
        loop.run { !answers.isEmpty }
        pthread_join(thread, nil)
        loop.runOnce(timeout: 0)
        #expect(answers == [42])
        #expect(!loop.hasWork)
    }

    @Test func aForgottenReplyIsNeitherAwaitedNorDelivered() throws {
        let loop = try EventLoop()
        var answers: [Int] = []
        let forgotten: EventReply<Int> = loop.reply { answers.append($0) }
        let awaited: EventReply<Int> = loop.reply { answers.append($0) }
        loop.forget(forgotten)
        forgotten.send(1)
        awaited.send(2)
        loop.run { !answers.isEmpty }
        #expect(answers == [2])
        #expect(!loop.hasWork)
    }

    @Test func whatManyThreadsPostAtOnceAllArrives() throws {
        let loop = try EventLoop()
        var count = 0
        loop.onSignal = { _ in count += 1 }
        let poster = loop.poster
        for _ in 1...4 {
            Thread.detachNewThread { for _ in 1...1000 { poster.post(.interrupt) } }
        }
        loop.run { count == 4000 }
        #expect(!loop.drainPending())
    }

    @Test func drainsWhatIsPostedAndNothingElse() throws {
        let loop = try EventLoop()
        let pipe = Pipe()
        var signals: [UnixSignal] = []
        var others = 0
        loop.onSignal = { signals.append($0) }
        loop.after(0) { others += 1 }
        loop.watch(pipe.reading) { _ in others += 1 }
        pipe.put(1)
        #expect(!loop.drainPending())
        for signal: UnixSignal in [.windowChange, .interrupt, .windowChange, .interrupt, .terminate] {
            loop.poster.post(signal)
        }
        #expect(loop.drainPending())
        #expect(signals == [.windowChange, .interrupt, .interrupt, .terminate])
        #expect(others == 0)
        loop.poster.wake()
        #expect(loop.runOnce(timeout: nil))
    }

    @Test("what was posted together is handled once, in its order, also when a handler drains")
    func nestedDrains() throws {
        let loop = try EventLoop()
        var seen: [Int] = []
        let second = loop.notifier { seen.append(2) }
        let first = loop.notifier {
            seen.append(1)
            second.notify()
            // A script that runs in a handler looks for posts like this, between two instructions.
            loop.drainPending()
            seen.append(3)
        }
        first.notify()
        second.notify()
        loop.runOnce(timeout: 0)
        #expect(seen == [1, 2, 3])
        #expect(!loop.drainPending())
    }

    @Test("a wall timer is called when its moment has come or has passed, and again at the next")
    func wallTimers() throws {
        let loop = try EventLoop()
        var calls = 0
        let start = loop.wallTime
        let timer = loop.at(start - 3600) { now in
            #expect(now >= start)
            calls += 1
            return calls < 2 ? now + 1 : now + 86400
        }
        #expect(loop.hasWork)
        loop.run { calls == 2 }
        #expect(!loop.runOnce(timeout: 0) || calls == 2)
        timer.cancel()
        #expect(!loop.hasWork)
    }

    @Test("wall timers are called in their order, but for cancelled ones, and also in nested turns")
    func wallTimerOrder() throws {
        let loop = try EventLoop()
        var calls: [String] = []
        var timers: [WallTimer] = []
        unowned let same = loop
        timers.append(
            loop.at(1) { _ in
                calls.append("first")
                same.run { calls.contains("second") }
                calls.append("end")
                return .max
            })
        timers.append(
            loop.at(2) { _ in
                calls.append("second"); return .max
            })
        let never = loop.at(1) { _ in
            calls.append("never"); return .max
        }
        never.cancel()
        loop.run { calls.contains("end") }
        #expect(calls == ["first", "second", "end"])
        timers.forEach { $0.cancel() }
    }
}
