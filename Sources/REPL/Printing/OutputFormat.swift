/// The format of results: `:out`.
enum OutputFormat: String, CaseIterable, Sendable {
    /// For people: tables with columns, values unfolded.
    case table
    /// Lua literals.
    case lua
    case json
    case csv
}
