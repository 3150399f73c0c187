/// The error for an unusable time zone.
package struct ZoneError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem, and similar names.
    package let description: String
}
