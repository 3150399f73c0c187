import Wording

/// Draws a query's plan: one operator per line, with aligned figures.
struct ItemQueryPlanPrinter {
    /// Whether to show durations.
    var showsTimes = true

    /// Maximum length of a condition's text; a longer one is cut.
    private static let longestDetail = 60

    private struct Line {
        var label: String
        var rowsIn = "", rowsOut = "", time = "", note = ""
    }

    func text(of plan: ItemQueryPlan) -> String {
        var lines: [Line] = []
        add(plan, first: "", rest: "", to: &lines)
        func width(_ part: (Line) -> String) -> Int { lines.map { part($0).count }.max() ?? 0 }
        let (label, rowsIn, rowsOut, time) = (width(\.label), width(\.rowsIn), width(\.rowsOut), width(\.time))
        return lines.map { line in
            var text = line.label.padded(to: label) + "  " + line.rowsIn.padded(to: rowsIn, isRight: true)
            text += (line.rowsIn.isEmpty ? "   " : " → ") + line.rowsOut.padded(to: rowsOut, isRight: true)
            text += line.rowsOut == "1" ? " row " : " rows"
            if time > 0 { text += "  " + line.time.padded(to: time, isRight: true) }
            text += "  " + line.note
            while text.last == " " { text.removeLast() }
            return text
        }.joined(separator: "\n")
    }

    private func add(_ plan: ItemQueryPlan, first: String, rest: String, to lines: inout [Line]) {
        lines.append(
            Line(
                label: first + label(plan), rowsIn: plan.rowsIn?.grouped ?? "", rowsOut: plan.rowsOut.grouped,
                time: showsTimes ? plan.duration.map(Self.milliseconds) ?? "" : "", note: note(plan)))
        for (place, child) in plan.children.enumerated() {
            let isLast = place == plan.children.count - 1
            add(child, first: rest + (isLast ? "└ " : "├ "), rest: rest + (isLast ? "  " : "│ "), to: &lines)
        }
    }

    private func label(_ plan: ItemQueryPlan) -> String {
        var detail = VisibleText.line(plan.detail)
        if detail.count > Self.longestDetail { detail = detail.prefix(Self.longestDetail - 1) + "…" }
        return switch plan.operation {
        case .scan: "scan of all items"
        case .index: "index \(detail)"
        case .keys: "keys: \(detail)"
        case .filter: detail.isEmpty ? "filter" : "filter \(detail)"
        case .condition: detail
        case .all: "all of"
        case .any: "any of"
        case .not: "not"
        case .sort: "sort by \(detail)"
        case .offset: "offset \(detail)"
        case .limit: "limit \(detail)"
        }
    }

    private func note(_ plan: ItemQueryPlan) -> String {
        guard plan.operation == .filter else { return plan.note }
        let threads = plan.threads.counted("thread")
        return plan.note.isEmpty ? threads : "\(plan.note), \(threads)"
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let hundredths = Int(seconds) * 100_000 + Int(attoseconds / 10_000_000_000_000)
        let fraction = hundredths % 100
        return "\((hundredths / 100).grouped).\(fraction < 10 ? "0" : "")\(fraction) ms"
    }
}

extension String {
    fileprivate func padded(to width: Int, isRight: Bool = false) -> String {
        let spaces = String(repeating: " ", count: Swift.max(0, width - count))
        return isRight ? spaces + self : self + spaces
    }
}
