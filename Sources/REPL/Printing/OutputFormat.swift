/// How results are shown: `:out`.
enum OutputFormat: String, CaseIterable, Sendable {
    /// For reading: tables with columns, values unfolded.
    case table
    /// As Lua could read it again.
    case lua
    case json
    case csv
}
