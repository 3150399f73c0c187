package import Files

/// The reason why the kernel's fence is not in force.
package enum LandlockError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kernel has no Landlock, or it was disabled at boot.
    case unsupported
    /// Other threads exist already and would be unrestricted.
    case threads(Int)
    /// A required path cannot be opened.
    case path(FileError)
    /// The kernel refused a step, with this error number.
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
