/// The error of interrupted work.
package struct WorkStopped: Error, CustomStringConvertible {
    package init() {}

    package var description: String { Interruption.message }
}
