/// Asks once in some thousand steps.
package struct InterruptionPace {
    private var steps: UInt32 = 0

    package init() {}

    /// Whether the work has to stop, asked at each 1,024th call.
    @inline(__always)
    package mutating func isDue() -> Bool {
        steps &+= 1
        return steps & 1023 == 0 && Interruption.isDue
    }
}
