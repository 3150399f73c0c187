import CPlatform

/// The command line.
package enum ProgramArguments {
    /// The program's name and its arguments. The standard library's list is empty without `/proc`.
    package static let current: [String] = (0..<cubby_argument_count()).compactMap { index in
        cubby_argument(index).map { String(cString: $0) }
    }
}
