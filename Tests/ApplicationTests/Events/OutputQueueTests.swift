import Files
import Glibc
import Testing

@testable import Application

/// Streams whose readers are slow, or leave: the loop never waits for them.
@Suite("Output for slow readers")
struct OutputQueueTests {
    enum Kind: CaseIterable, Sendable { case pipe, socket }

    /// Both ends of a stream.
    private final class Stream {
        let output: StreamDescriptor
        let reader: StreamDescriptor
        private var isRead = true

        init(_ kind: Kind) throws {
            signal(SIGPIPE, SIG_IGN)
            var ends: [Int32] = [-1, -1]
            switch kind {
            case .pipe: try #require(Glibc.pipe(&ends) == 0)
            case .socket: try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            }
            (reader, output) = (StreamDescriptor(ends[0]), StreamDescriptor(ends[1]))
        }

        deinit {
            close(output.descriptor)
            if isRead { close(reader.descriptor) }
        }

        func leave() {
            isRead = false
            close(reader.descriptor)
        }
    }

    private static let piece = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    @Test("all arrives in its order when the reader begins late", arguments: Kind.allCases, [true, false])
    func lateReader(kind: Kind, atOnce: Bool) throws {
        let (stream, loop) = (try Stream(kind), try EventLoop())
        let queue = OutputQueue(stream.output, on: loop)
        var (drained, received): (Int, [UInt8]) = (0, [])
        queue.onDrained = { drained += 1 }
        let sent = Array(repeatElement(Self.piece, count: 2000).joined())
        for _ in 0..<2000 { queue.send(Self.piece, atOnce: atOnce) }
        #expect(queue.count > 0 && queue.count < sent.count && drained == 0)
        let reading = loop.watch(stream.reader.descriptor) { _ in received += stream.reader.read() }
        loop.run(until: { received.count == sent.count && queue.isEmpty })
        #expect(received == sent && drained == 1 && !queue.isBroken)
        // Without anything that waits, it is written when it is sent.
        queue.send([1, 2, 3], atOnce: atOnce)
        #expect(queue.isEmpty && stream.reader.read() == [1, 2, 3])
        reading.cancel()
    }

    @Test("a reader that leaves is told once, and nothing waits for it", arguments: Kind.allCases)
    func leavingReader(kind: Kind) throws {
        let (stream, loop) = (try Stream(kind), try EventLoop())
        let queue = OutputQueue(stream.output, on: loop)
        var broken = 0
        queue.onBroken = { broken += 1 }
        queue.onDrained = { Issue.record("nothing was read") }
        for _ in 0..<2000 { queue.send(Self.piece) }
        #expect(!queue.isEmpty && broken == 0)
        stream.leave()
        loop.run(until: { queue.isBroken })
        queue.send(Self.piece)
        queue.flush()
        #expect(broken == 1 && queue.isEmpty)
    }

    @Test("reading gives what is there, and nothing at the end", arguments: Kind.allCases)
    func end(kind: Kind) throws {
        let stream = try Stream(kind)
        #expect(stream.output.write(Self.piece[...]) == 1000)
        #expect(stream.reader.read() == Self.piece)
        var ends: [Int32] = [-1, -1]
        try #require(Glibc.pipe(&ends) == 0)
        close(ends[1])
        #expect(StreamDescriptor(ends[0]).read().isEmpty)
        close(ends[0])
    }

    @Test("a process whose status somebody else has taken has not succeeded")
    func unknownEnd() throws {
        let child = try ChildProcess(["/bin/true"])
        #expect(waitpid(child.processIdentifier, nil, 0) == child.processIdentifier)
        #expect(child.end() == .unknown)
    }

    @Test("the end of a process is told from a thread, also of one that is gone")
    func processEnd() throws {
        let loop = try EventLoop()
        let child = try ChildProcess(["/bin/sleep", "1000"])
        var told = 0
        for _ in 0..<2 {
            let reply = loop.reply { (_: Bool) in told += 1 }
            let expected = told + 1
            #expect(ProcessEnd.notify(of: child.processIdentifier) { reply.send(true) })
            if expected == 1 {
                loop.runOnce(timeout: 0)
                #expect(told == 0)
                kill(child.processIdentifier, SIGKILL)
                #expect(child.end() == .signaled(SIGKILL))
            }
            loop.run(until: { told == expected })
        }
    }
}
