import Application
import Synchronization
import TestSupport
import Testing

@Suite("Parallel work")
struct ParallelWorkTests {
    @Test("each piece is done once, and handed on in order", arguments: [1, 2, 5], [0, 1, 2, 100])
    func order(width: Int, count: Int) throws {
        let done = Mutex<[Int]>([])
        var taken: [Int] = []
        try ParallelWork.forEach(count, width: width) { number in
            done.withLock { $0.append(number) }
            return number * number
        } consume: { number, square in
            #expect(square == number * number)
            taken.append(number)
        }
        #expect(taken == Array(0..<count))
        #expect(done.withLock { $0.sorted() } == taken)
    }

    @Test("the work is at most a few pieces ahead of what is taken")
    func ahead() throws {
        let begun = Mutex(0)
        try ParallelWork.forEach(200, width: 3) { _ in
            begun.withLock { $0 += 1 }
        } consume: { number, _ in
            #expect(begun.withLock { $0 } <= number + 12 + 3)
        }
        #expect(begun.withLock { $0 } == 200)
    }

    @Test("an error ends it: nothing is begun any more, and nobody works on")
    func stops() throws {
        struct Enough: Error {}
        let begun = Mutex(0)
        #expect(throws: Enough.self) {
            try ParallelWork.forEach(1000, width: 3) { _ in
                begun.withLock { $0 += 1 }
            } consume: { number, _ in
                if number == 10 { throw Enough() }
            }
        }
        let after = begun.withLock { $0 }
        #expect((11...30).contains(after))
    }

    @Test("there is a processor") func width() { #expect((1...8).contains(ParallelWork.width)) }
}
