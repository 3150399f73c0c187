import CPlatform

/// What the program was started with.
package enum ProgramArguments {
    /// The program's name, and its arguments. The standard library's own list is empty where `/proc` is not mounted.
    package static let current: [String] = (0..<cubby_argument_count()).compactMap { index in
        cubby_argument(index).map { String(cString: $0) }
    }
}
