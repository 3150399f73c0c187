import Application
import Testing

@Suite("Monotonic time")
struct MonotonicTimeTests {
    @Test(
        "a moment moves by seconds, forward and back, and by no more than 30 years",
        arguments: [
            (0.0, 0), (1.5, 1_500_000_000), (-1, -1_000_000_000), (-0.25, -250_000_000),
            (.infinity, 946_080_000_000_000_000), (-.infinity, -946_080_000_000_000_000), (.nan, 0),
            (1e300, 946_080_000_000_000_000), (-1e300, -946_080_000_000_000_000),
        ] as [(Double, Int64)])
    func advanced(seconds: Double, nanoseconds: Int64) {
        let moment = MonotonicTime(nanoseconds: 5_000_000_000)
        #expect(moment.advanced(by: seconds).nanoseconds == 5_000_000_000 + nanoseconds)
        // At the clock's ends nothing traps.
        for end: Int64 in [.min, .max] { _ = MonotonicTime(nanoseconds: end).advanced(by: seconds) }
    }
}
