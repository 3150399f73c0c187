package import Files

/// Why the kernel's fence does not stand.
package enum LandlockError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kernel has no Landlock, or it was turned off at boot.
    case unsupported
    /// Other threads run already, and would stay outside.
    case threads(Int)
    /// A path that must be allowed cannot be opened.
    case path(FileError)
    /// The kernel refused; the step, and its error number.
    case refused(step: String, code: Int32)

    package var message: String {
        switch self {
        case .unsupported:
            "the kernel offers no Landlock (Linux 5.13 or newer, with landlock among the security modules)"
        case .threads(let count):
            "the sandbox must be closed before other threads begin; there are \(count)"
        case .path(let error): "the sandbox cannot let a path in: \(error.message)"
        case .refused(let step, let code): "the kernel refused \(step): \(SystemErrorText.describe(code))"
        }
    }

    package var description: String { message }
}
