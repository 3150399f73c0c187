/// A time zone that cannot be used.
package struct ZoneError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, and which names are near.
    package let description: String
}
