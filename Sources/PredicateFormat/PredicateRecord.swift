public import PropertyList

/// A value of a program's own that predicates judge by its fields.
///
///     struct Lamp: PredicateRecord {
///         var room: String
///
///         func value(forKey key: String) -> PropertyListValue? {
///             key == "room" ? .string(room) : nil
///         }
///     }
public protocol PredicateRecord {
    /// The value of a field, by the name that predicates call it.
    ///
    /// - Parameter key: The name; ``PredicateKeyPath/selfKey`` for the record itself, as far as it is a value.
    /// - Returns: The value, nil where the record has none.
    func value(forKey key: String) -> PropertyListValue?
}
