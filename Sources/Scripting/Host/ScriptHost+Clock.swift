package import PropertyList

extension ScriptHost {
    /// A date's text by the user's clock, with its offset from UTC.
    package func localText(_ date: PropertyListDate) -> String { values.clock.local(date) }

    /// Makes a text for a person, whose dates are by the user's clock.
    package func showing<Value>(_ body: () throws -> Value) rethrows -> Value { try values.clock.showing(body) }
}
