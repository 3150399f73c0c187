public import PropertyList

/// A type of the program whose values predicates are evaluated for.
///
///     struct Lamp: PredicateRecord {
///         var room: String
///
///         func value(forKey key: String) -> PropertyListValue? {
///             key == "room" ? .string(room) : nil
///         }
///     }
public protocol PredicateRecord {
    /// Returns the value of a field.
    ///
    /// - Parameter key: The field's name; ``PredicateKeyPath/selfKey`` for the record itself, if it is representable as
    ///   a value.
    /// - Returns: The value, or nil when the record has none.
    func value(forKey key: String) -> PropertyListValue?
}
