/// What work throws that was given up because it had to stop.
package struct WorkStopped: Error, CustomStringConvertible {
    package init() {}

    package var description: String { Interruption.message }
}
