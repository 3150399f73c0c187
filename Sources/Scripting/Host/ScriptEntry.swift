/// An entry of an attached prompt, which runs beside the host's own scripts.
///
/// What its code writes goes to its front end, and it is stopped by itself.
package final class ScriptEntry {
    /// Its number among the entries of its prompt, from 1.
    package let number: Int
    package private(set) weak var frontEnd: (any HostFrontEnd)?
    /// What runs it; nil before it began.
    weak var task: ScriptTask?
    /// Whether its prompt has asked for its end: for the host's functions that take long.
    let isInterrupted: () -> Bool

    package init(number: Int, frontEnd: any HostFrontEnd, isInterrupted: @escaping () -> Bool = { false }) {
        self.number = number
        self.frontEnd = frontEnd
        self.isInterrupted = isInterrupted
    }
}
