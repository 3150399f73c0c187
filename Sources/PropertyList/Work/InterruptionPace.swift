/// Checks for an interruption once in 1,024 steps.
package struct InterruptionPace {
    private var steps: UInt32 = 0

    package init() {}

    /// Whether the work is interrupted, checked at each 1,024th call.
    package mutating func isDue() -> Bool {
        steps &+= 1
        return steps & 1023 == 0 && Interruption.isDue
    }
}
