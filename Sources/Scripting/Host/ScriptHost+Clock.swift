package import PropertyList

extension ScriptHost {
    /// A date's text in the user's time zone, with its offset from UTC.
    package func localText(_ date: PropertyListDate) -> String { values.clock.local(date) }

    /// A date for a table, to the minute in the user's zone, with `…` for seconds; midnight in UTC is a day, which is the
    /// same in all zones.
    package func shortText(_ date: PropertyListDate) -> String {
        let text = date.text
        if text.hasSuffix(" 00:00:00 +0000") { return String(text.dropLast(15)) }
        let local = localText(date)
        guard let mark = local.lastIndex(of: ":") else { return local }
        return local[..<mark] + (local[mark...].hasPrefix(":00 ") ? "" : "…")
    }

    /// Makes a text for the user, with dates in the user's time zone.
    package func showing<Value>(_ body: () throws -> Value) rethrows -> Value { try values.clock.showing(body) }
}
