import Application
import LineEditor
import Scripting

/// The states of an application and the transitions between them, drawn for a terminal: the current state and the way that
/// led to it are emphasised, by their lines as well as by colours.
struct StatesDiagram {
    let state: ApplicationState
    /// The ways that led to it, the latest last.
    let ways: [LifeCycleWay]
    let columns: Int

    static let width = 79

    /// A transition of the diagram.
    struct Edge: Hashable {
        let start: ApplicationState
        let end: ApplicationState

        init(_ start: ApplicationState, _ end: ApplicationState) { (self.start, self.end) = (start, end) }

        /// The transitions, with the callbacks on the way.
        static let all: [(edge: Edge, text: String)] = [
            (Edge(.notRunning, .inactive), "willFinishLaunching, didFinishLaunching"),
            (Edge(.inactive, .active), "didBecomeActive"),
            (Edge(.active, .inactive), "willResignActive"),
            (Edge(.inactive, .background), "didEnterBackground"),
            (Edge(.background, .inactive), "willEnterForeground"),
            (Edge(.background, .suspended), "no callback: the process stops"),
            (Edge(.suspended, .background), "no callback; by bg: didResumeInBackground"),
            (Edge(.background, .notRunning), "willTerminate"),
            (Edge(.suspended, .notRunning), "no callback: the memory is reclaimed"),
        ]
    }

    /// The transitions of the ways.
    private var taken: Set<Edge> {
        Set(ways.flatMap { way in zip(way.states, way.states.dropFirst()).map { Edge($0, $1) } })
    }

    /// The drawing, or the transitions as a list where it has no room, and below it the current state and the ways to it.
    var text: StyledText {
        var text = columns < Self.width ? list : drawing
        text.append("\n")
        let current = WrappedText.wrapped("\(Self.name(state)): \(Self.meaning(state))", to: columns)
        text.append(String(current.prefix(Self.name(state).count)), .success)
        text.append(current.dropFirst(Self.name(state).count) + "\n")
        for way in ways {
            let line = "  " + Self.cause(way) + "  " + Self.steps(way)
            text.append(WrappedText.wrapped(line, to: columns) + "\n")
        }
        return text
    }

    // MARK: Words

    static func name(_ state: ApplicationState) -> String {
        state == .notRunning ? "not running" : state.rawValue
    }

    private static func meaning(_ state: ApplicationState) -> String {
        switch state {
        case .notRunning: "not visible, receives no events, executes no code"
        case .inactive: "mostly visible, receives no events, executes code"
        case .active: "visible, receives events, executes code"
        case .background: "not visible, receives no events, executes code"
        case .suspended: "not visible, receives no events, executes no code; its memory stays"
        }
    }

    /// What caused a way, by its key or signal.
    private static func cause(_ way: LifeCycleWay) -> String {
        let text =
            switch way.cause {
            case .sigtstp: "Ctrl-Z (SIGTSTP)"
            case .sigcont: way.states.last == .background ? "bg (SIGCONT)" : "fg (SIGCONT)"
            default: way.cause.rawValue
            }
        return way.isSimulated ? "\(text), simulated" : text
    }

    private static func steps(_ way: LifeCycleWay) -> String {
        let steps = way.steps.map { step in
            switch step {
            case .callback(let callback): callback.rawValue
            case .save: "save"
            case .state(let state): name(state)
            }
        }
        return ([name(way.start)] + steps).joined(separator: " → ")
    }

    // MARK: The list

    private var list: StyledText {
        var text = StyledText()
        let taken = taken
        for state in ApplicationState.allCases {
            let isCurrent = state == self.state
            text.append("\(isCurrent ? "▶" : " ") \(Self.name(state))\n", isCurrent ? .success : .plain)
            for (edge, label) in Edge.all where edge.start == state {
                let line = "    \(taken.contains(edge) ? "━▶" : "─▷") \(Self.name(edge.end))  \(label)"
                text.append(
                    WrappedText.wrapped(line, to: columns) + "\n", taken.contains(edge) ? .emphasis : .dimmed)
            }
        }
        return text
    }

    // MARK: The drawing

    private var drawing: StyledText {
        let taken = taken
        var canvas = Canvas(columns: Self.width, rows: 14)
        canvas.box(0, 0, 15, ["not running", "no code"], isCurrent: state == .notRunning)
        canvas.box(37, 0, 12, ["inactive", "code"], isCurrent: state == .inactive)
        canvas.box(69, 0, 10, ["active", "events"], isCurrent: state == .active)
        canvas.box(36, 5, 14, ["background", "code"], isCurrent: state == .background)
        canvas.box(36, 10, 14, ["suspended", "no code"], isCurrent: state == .suspended)

        func isTaken(_ start: ApplicationState, _ end: ApplicationState) -> Bool { taken.contains(Edge(start, end)) }
        let launch = isTaken(.notRunning, .inactive)
        canvas.draw(16, 0, "willFinishLaunching", launch)
        canvas.arrow(15...36, 1, pointsRight: true, launch)
        canvas.draw(16, 2, "didFinishLaunching", launch)
        let becomes = isTaken(.inactive, .active)
        canvas.draw(50, 0, "didBecomeActive", becomes)
        canvas.arrow(49...68, 1, pointsRight: true, becomes)
        let resigns = isTaken(.active, .inactive)
        canvas.arrow(49...68, 2, pointsRight: false, resigns)
        canvas.draw(50, 3, "willResignActive", resigns)
        let leaves = isTaken(.inactive, .background)
        canvas.draw(20, 4, "didEnterBackground", leaves)
        canvas.draw(39, 4, leaves ? "▼" : "▽", leaves)
        let returns = isTaken(.background, .inactive)
        canvas.draw(46, 4, returns ? "▲" : "△", returns)
        canvas.draw(48, 4, "willEnterForeground", returns)
        let stops = isTaken(.background, .suspended)
        canvas.draw(21, 9, "stop, no callback", stops)
        canvas.draw(39, 9, stops ? "▼" : "▽", stops)
        let continues = isTaken(.suspended, .background)
        canvas.draw(46, 9, continues ? "▲" : "△", continues)
        canvas.draw(48, 9, "fg; bg: didResumeInBackground", continues)
        let ends = isTaken(.background, .notRunning)
        canvas.draw(17, 6, "willTerminate", ends)
        canvas.line(8...35, 7, ends)
        canvas.draw(17, 11, "memory reclaimed,", false)
        canvas.draw(17, 13, "no callback", false)
        canvas.line(8...35, 12, false)
        canvas.draw(7, 4, ends ? "▲" : "△", ends)
        for row in 5...6 { canvas.draw(7, row, ends ? "┃" : "│", ends) }
        canvas.draw(7, 7, ends ? "┣" : "├", ends)
        for row in 8...11 { canvas.draw(7, row, "│", false) }
        canvas.draw(7, 12, "└", false)
        return canvas.text
    }

    /// Characters with styles, in rows.
    private struct Canvas {
        private var cells: [[(character: Character, style: TextStyle)]]

        init(columns: Int, rows: Int) {
            cells = Array(repeating: Array(repeating: (" ", .plain), count: columns), count: rows)
        }

        /// Writes a text, emphasised if it is about a transition that was taken.
        mutating func draw(_ column: Int, _ row: Int, _ text: String, _ isTaken: Bool) {
            put(column, row, text, isTaken ? .emphasis : .dimmed)
        }

        mutating func line(_ columns: ClosedRange<Int>, _ row: Int, _ isTaken: Bool) {
            draw(columns.lowerBound, row, String(repeating: isTaken ? "━" : "─", count: columns.count), isTaken)
        }

        mutating func arrow(_ columns: ClosedRange<Int>, _ row: Int, pointsRight: Bool, _ isTaken: Bool) {
            line(columns, row, isTaken)
            let (taken, open) = pointsRight ? ("▶", "▷") : ("◀", "◁")
            draw(pointsRight ? columns.upperBound : columns.lowerBound, row, isTaken ? taken : open, isTaken)
        }

        /// A box of four rows around lines; that of the current state has double lines.
        mutating func box(_ column: Int, _ row: Int, _ width: Int, _ lines: [String], isCurrent: Bool) {
            let style = isCurrent ? TextStyle.success : .plain
            let signs = Array(isCurrent ? "╔═╗║╚╝" : "┌─┐│└┘")
            let edge = String(repeating: signs[1], count: width - 2)
            put(column, row, "\(signs[0])\(edge)\(signs[2])", style)
            for (place, line) in lines.enumerated() {
                put(column, row + 1 + place, "\(signs[3]) \(line.padded(to: width - 4)) \(signs[3])", style)
            }
            put(column, row + 1 + lines.count, "\(signs[4])\(edge)\(signs[5])", style)
        }

        private mutating func put(_ column: Int, _ row: Int, _ text: String, _ style: TextStyle) {
            for (place, character) in text.enumerated() where cells[row].indices.contains(column + place) {
                cells[row][column + place] = (character, style)
            }
        }

        var text: StyledText {
            var text = StyledText()
            for row in cells {
                let end = (row.lastIndex { $0.character != " " } ?? -1) + 1
                var (run, style) = ("", TextStyle.plain)
                for cell in row[..<end] {
                    if cell.style != style, cell.character != " " {
                        text.append(run, style)
                        (run, style) = ("", cell.style)
                    }
                    run.append(cell.character)
                }
                text.append(run, style)
                text.append("\n")
            }
            return text
        }
    }
}

/// `:states`, `:trace`.
extension PromptSession {
    func showStates() {
        let diagram = StatesDiagram(
            state: host.applicationState, ways: Array(host.lifeCycle.trail.latest), columns: printer.columns)
        page(PrintedValues(palette.apply(to: diagram.text)))
    }

    func trace(_ argument: String) {
        switch argument {
        case "on", "off":
            host.lifeCycle.isTraced = argument == "on"
            print(host.lifeCycle.isTraced ? "each callback is shown\n" : "callbacks are no longer shown\n")
        case "": print("callbacks are \(host.lifeCycle.isTraced ? "" : "not ")shown; :trace on or off\n")
        default: complain(":trace takes on or off, got '\(argument)'")
        }
    }
}
