/// An entry of an attached prompt, which runs concurrently with the host's own scripts.
///
/// Its output goes to its front end, and it is interrupted separately.
package final class ScriptEntry {
    /// Its number among the entries of its prompt, from 1.
    package let number: Int
    package private(set) weak var frontEnd: (any HostFrontEnd)?
    /// Its task; nil before the start.
    weak var task: ScriptTask?
    /// Whether its prompt has interrupted it; polled by long functions of the host.
    let isInterrupted: () -> Bool

    package init(number: Int, frontEnd: any HostFrontEnd, isInterrupted: @escaping () -> Bool = { false }) {
        self.number = number
        self.frontEnd = frontEnd
        self.isInterrupted = isInterrupted
    }
}
