import Glibc
import TestSupport
import Testing

/// Faults for a sanitizer to find: `scripts/sanitize` runs each first, so that a run without a report means something.
@Suite(
    "Planted faults", .enabled(if: Project.environment("CUBBY_PLANT") != nil, "run by scripts/sanitize alone"))
struct PlantedFaultTests {
    @Test("a block that is read after it was given back")
    func useAfterFree() {
        let block = UnsafeMutablePointer<Int>.allocate(capacity: 4)
        block.initialize(repeating: 1, count: 4)
        block.deallocate()
        #expect(block[2] != 7)
    }

    @Test("a block that nobody gives back")
    func leak() {
        let block = UnsafeMutablePointer<Int>.allocate(capacity: 1000)
        block.initialize(repeating: 1, count: 1000)
        #expect(block[2] == 1)
    }

    @Test("a number that two threads write to")
    func race() {
        nonisolated(unsafe) let number = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        number.initialize(to: 0)
        OwnThread.run(times: 2) { number.pointee += 1 }
        number.deallocate()
    }
}
