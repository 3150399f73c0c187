import PropertyList

/// What the values of a column are, by the most frequent kind.
package enum PlotValueKind: Sendable, Hashable {
    case number
    case date
    /// Texts and truth values.
    case category
    /// None that can be drawn.
    case nothing
}

/// What a plot shows, completed where the caller leaves it open.
package struct PlotChoice: Sendable, Hashable {
    package var x: String
    package var y: String?
    package var kind: Plot.Kind
    /// Whether a column was chosen that the caller has not named.
    package var isChosen = false

    /// Chooses what is left open: a number is a histogram, a date and a number a line, a category and a number bars of
    /// sums, two numbers a scatter plot.
    ///
    /// - Parameters:
    ///   - x: the column across; nil to choose.
    ///   - y: the column upwards; nil for none, or to choose where the kind needs one.
    ///   - kind: nil to choose.
    ///   - columns: the columns to choose from, the preferred first, with what they hold.
    ///   - pairs: whether two columns that are left open are both chosen, as in a table of two or three columns.
    /// - Throws: ``PlotError`` where no column fits.
    package init(
        x: String?, y: String?, kind: Plot.Kind?, among columns: [(name: String, kind: PlotValueKind)],
        pairs: Bool = false
    ) throws(PlotError) {
        func first(_ kinds: [PlotValueKind], but name: String?) -> String? {
            for kind in kinds {
                if let found = columns.first(where: { $0.kind == kind && $0.name != name }) { return found.name }
            }
            return nil
        }
        func kinds(of name: String?) -> PlotValueKind? { columns.first { $0.name == name }?.kind }

        var (x, y) = (x, y)
        isChosen = x == nil
        if x == nil, y != nil, kind == nil || kind == .histogram { (x, y) = (y, nil) }
        if x == nil, y == nil, pairs, kind == nil {
            // A table of names or dates and numbers, as a grouping query gives.
            if let name = columns.first(where: { $0.kind != .nothing })?.name, let other = first([.number], but: name) {
                (x, y) = (name, other)
            }
        }
        if x == nil {
            x =
                switch kind {
                case .histogram?: first([.number, .date], but: y)
                case .bar?: first([.category, .date, .number], but: y)
                case .line?: first([.date, .number], but: y)
                case .scatter?: first([.number, .date], but: y)
                case nil: first([.number, .category, .date], but: y)
                }
        }
        guard let across = x ?? columns.first?.name else {
            throw PlotError("x", "there is no column to plot: give x a field or an expression")
        }
        if y == nil, kind == .line || kind == .scatter {
            guard let other = first([.number], but: across) else {
                throw PlotError(
                    "y", "a \(kind?.rawValue ?? "") plot needs numbers for y, and no other column has numbers")
            }
            (y, isChosen) = (other, true)
        }
        // Nothing else could be drawn.
        if !columns.contains(where: { $0.kind != .nothing && $0.name != across && $0.name != y }) { isChosen = false }
        self.x = across
        self.y = y
        if let kind {
            self.kind = kind
        } else {
            switch (kinds(of: across) ?? .nothing, y == nil) {
            case (.category, _): self.kind = .bar
            case (_, true): self.kind = .histogram
            case (.date, false): self.kind = .line
            case (_, false): self.kind = .scatter
            }
        }
    }
}
